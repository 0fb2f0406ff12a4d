"""What a configuration says of ROBO Cylinders: where each one is, and how all of them move."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from actuators.driver import DriveOptions, DriveSettings
from actuators.endpoint import Parity
from actuators.line_address import Baud, LineTimes
from actuators.modbus_address import ModbusOptions, RtuAddress


class IaiAddress(RtuAddress):
    """A controller on a serial line (RS-485), several on each, or behind a TCP port that passes a line's bytes on.

    unit: its axis number plus 1, 1 to 16.
    """

    baud: Baud = 38400
    parity: Parity = "none"
    """As the controller's parameters say it; by everything that is known there is none."""
    stop_bits: Literal[1, 2] = 1

    @model_validator(mode="after")
    def _as_the_controller_has_it(self) -> Self:
        if not 1 <= self.unit <= 16:
            raise ValueError(f"unit: {self.unit} is outside 1..16, an axis number plus 1")
        return self


class IaiSettings(DriveSettings, LineTimes):
    """What all of a rig have in common."""

    acceleration: Annotated[float, Field(ge=0.1, le=30.0)] = 2.94
    """With which a slider goes to each target, m/s²; no more than the model bears with its load."""
    speed: Annotated[float, Field(ge=1e-3, le=5.0)] = 0.3
    """Greatest with which it goes there, m/s; no more than the model's own."""
    lookahead: Annotated[float, Field(ge=0.0, le=1.0)] = 0.1
    """By how much of its way, s at the present speed, each target lies beyond where it is to be: no less than half the
    speed over the acceleration, or it slows down towards each. So far it runs on when nobody tells it anything."""


class IaiOptions(DriveOptions, IaiSettings, IaiAddress, ModbusOptions):
    """What one controller's driver needs to know."""
