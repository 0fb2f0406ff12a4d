"""Section [load_cells] of a rig's configuration."""

from typing import Annotated, Literal

from pydantic import model_validator

from actuators import TcpAddress
from kinematics import Force
from rig.config.sections import Section, Text, within


class AmplifierAddress(Section, TcpAddress):
    """A six-channel load-cell amplifier of its own."""

    profile: Text = "generic-amplifier"
    """Name of a shipped register profile, or a TOML file relative to the configuration's folder."""


class LoadCells(Section):
    """Where the load cells are read, and what is expected of them."""

    source: Literal["drive", "amplifier"] = "drive"
    noise: Annotated[Force, within(1e-6, 1e4, "N")] = 0.5
    """Expected standard deviation of a reading, N."""
    range: Annotated[Force, within(0.1, 1e7, "N")] = 800.0
    """End of a cell's scale, N: a reading at or beyond it means nothing."""
    calibration: Text | None = None
    """Calibration file, relative to the configuration's folder."""
    amplifier: AmplifierAddress | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "LoadCells":
        if self.source == "amplifier" and self.amplifier is None:
            raise ValueError('source is "amplifier", but [load_cells.amplifier] with host and port is missing')
        if self.source == "drive" and self.amplifier is not None:
            raise ValueError('an amplifier is described, but source is "drive"')
        return self
