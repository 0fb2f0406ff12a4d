"""What a configuration says of ROBO Cylinders: where each one is, and how all of them move."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from actuators.driver import DriveOptions, DriveSettings, InUnit
from actuators.endpoint import Parity
from actuators.line_address import Baud, LineTimes
from actuators.modbus_address import ModbusOptions, RtuAddress


class IaiAddress(RtuAddress):
    """A controller on a serial line (RS-485), several on each, or behind a TCP port that passes a line's bytes on.

    unit: its axis number plus 1, 1 to 16.
    """

    baud: Baud = 38400
    parity: Parity = "none"
    """Parity of the serial line, as the controller's parameters have it; usually none."""
    stop_bits: Literal[1, 2] = 1

    @model_validator(mode="after")
    def _as_the_controller_has_it(self) -> Self:
        if not 1 <= self.unit <= 16:
            raise ValueError(f"unit: {self.unit} is outside 1..16, an axis number plus 1")
        return self


class IaiSettings(DriveSettings, LineTimes):
    """What all of a rig have in common."""

    acceleration: Annotated[float, Field(ge=0.1, le=30.0), InUnit("m/s^2")] = 2.94
    """Acceleration of a slider towards each target, m/s^2; no more than its model may have with its load."""
    speed: Annotated[float, Field(ge=1e-3, le=5.0), InUnit("m/s")] = 0.3
    """Greatest speed of a slider, m/s; no more than its model may have."""
    lookahead: Annotated[float, Field(ge=0.0, le=1.0), InUnit("s")] = 0.1
    """How far each target is ahead of the reference, s at the present speed: at least half the speed over the
    acceleration, or the slider slows down towards each target. It runs on so far when this computer is silent."""


class IaiOptions(DriveOptions, IaiSettings, IaiAddress, ModbusOptions):
    """What one controller's driver needs to know."""
