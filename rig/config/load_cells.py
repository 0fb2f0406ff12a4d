"""Section [load_cells] of a rig's configuration."""

from typing import Annotated, Literal

from pydantic import model_validator

from actuators import TcpAddress
from kinematics import Force, Time
from rig.config.sections import Section, Text, within


class AmplifierAddress(Section, TcpAddress):
    """A load-cell amplifier of its own."""

    profile: Text = "generic-amplifier"
    """Name of a shipped register profile, or a TOML file relative to the configuration's folder."""


class CellAddress(AmplifierAddress):
    """The load-cell device of one leg."""

    profile: Text = "generic-cell"


class LoadCells(Section):
    """Where the load cells are read, and what is expected of them."""

    source: Literal["drive", "amplifier", "devices"] = "drive"
    noise: Annotated[Force, within(1e-6, 1e4, "N")] = 0.5
    """Expected standard deviation of a reading, N."""
    range: Annotated[Force, within(0.1, 1e7, "N")] = 800.0
    """End of a cell's scale, N: a reading at or beyond it means nothing."""
    calibration: Text | None = None
    """Calibration file, relative to the configuration's folder."""
    sample_period: Annotated[Time, within(0.0, 1.0, "s")] = 0.0
    """Time between two exchanges with devices that are slower than the cycle, s; 0: one in every cycle."""
    amplifier: AmplifierAddress | None = None
    """The device that reads all six cells."""
    devices: tuple[CellAddress, CellAddress, CellAddress, CellAddress, CellAddress, CellAddress] | None = None
    """The devices that read one cell each, legs 1 to 6 in this order."""

    @property
    def places(self) -> dict[str, AmplifierAddress]:
        """Addresses of the cells' own devices by the name of each in this section; none where the drives read them."""
        if self.devices is not None:
            return {f"devices[{leg}]": address for leg, address in enumerate(self.devices, start=1)}
        return {} if self.amplifier is None else {"amplifier": self.amplifier}

    @model_validator(mode="after")
    def _consistent(self) -> "LoadCells":
        if self.source == "amplifier" and self.amplifier is None:
            raise ValueError('source is "amplifier", but [load_cells.amplifier] with host and port is missing')
        if self.source == "devices" and self.devices is None:
            raise ValueError('source is "devices", but devices, six of them with host and port, are missing')
        for source, given in (("amplifier", self.amplifier), ("devices", self.devices)):
            if given is not None and self.source != source:
                what = "an amplifier is" if source == "amplifier" else "devices are"
                raise ValueError(f'{what} described, but source is "{self.source}"')
        if self.sample_period and self.source == "drive":
            raise ValueError('sample_period is of devices, but source is "drive": see drives.sample_period')
        return self
