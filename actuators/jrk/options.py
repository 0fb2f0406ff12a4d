"""What a configuration says of Jrk G2 controllers: where each one is, and what its counts mean."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from actuators.driver import DriveOptions, DriveSettings, InUnit
from actuators.endpoint import Parity
from actuators.jrk.protocol import COUNTS, PololuLine
from actuators.line_address import Baud, LineAddress, LineOptions, LineTimes, Turnaround

_MOST_BAUD = 115_385


class JrkAddress(LineAddress):
    """A controller on a serial port (its own USB port, or TTL lines), several on each, or behind a TCP port.

    unit: its device number, 11 as it is delivered.
    """

    unit: Annotated[int, Field(strict=True, ge=0, le=127)] = 11
    baud: Baud = 9600
    parity: Parity = "none"
    stop_bits: Literal[1, 2] = 1

    @model_validator(mode="after")
    def _as_the_controller_has_it(self) -> Self:
        if self.parity != "none" or self.stop_bits != 1:
            raise ValueError(f"parity {self.parity!r}, stop_bits {self.stop_bits}: a Jrk G2 has no parity, and 1")
        if self.baud > _MOST_BAUD:
            raise ValueError(f"baud: {self.baud}, must be at most {_MOST_BAUD}")
        return self


class JrkSettings(DriveSettings, LineTimes):
    """What all of a rig have in common."""

    turnaround: Turnaround | None = 0.0
    """Silence between two frames, s: a Jrk G2 needs none."""
    crc: bool = False
    """Whether commands have a checksum, as the controller is set: "Enable CRC for commands"."""
    stroke: Annotated[float, Field(ge=1e-3, le=10.0), InUnit("m")] = 0.3
    """How much longer the leg is at a scaled feedback of 4095 than at 0, m."""
    home: Annotated[int, Field(strict=True, ge=0, le=COUNTS)] = 2048
    """Scaled feedback where the leg has its length at home."""
    homing_speed: Annotated[float, Field(ge=1e-3, le=1.0), InUnit("m/s")] = 0.02
    """Speed of the target on its way home, m/s."""
    lead: Annotated[float, Field(ge=0.0, le=1.0), InUnit("s")] = 0.0
    """How far each target is ahead, s at the present speed: the lag of the controller's own loop."""

    @property
    def framing(self) -> PololuLine:
        """Of the line."""
        return PololuLine(crc=self.crc)


class JrkOptions(DriveOptions, JrkSettings, JrkAddress, LineOptions):
    """What one controller's driver needs to know."""
