"""Register accesses beside an ORCA motor's stream, and what registers say of the motor."""

from collections.abc import Sequence
from enum import Enum

from actuators.codec import READ_HOLDING, WRITE_MULTIPLE, WRITE_SINGLE
from actuators.interface import Status
from actuators.orca.protocol import (
    CLEAR_ERRORS,
    COMMS_TIMEOUT,
    METRE,
    NEWTON,
    ZEROED,
    MotorMode,
    Register,
    low_first,
    read_request,
    wide_value,
    write_request,
    writes_request,
)

MOTION_WORDS = Register.FORCE + 2 - Register.POSITION
"""Registers from the position to the force."""
STATUS_WORDS = Register.MOTOR_STATUS + 1 - Register.MODE
"""From the mode to the motor's status."""
ERROR_WORDS = 2
"""Errors there are, and those that are latched."""


class Access(Enum):
    """What is told or asked beside the set-point."""

    CLEAR = ("clear", WRITE_SINGLE, 0)
    SET_POINTS = ("set-points", WRITE_MULTIPLE, 0)
    MODE = ("mode", WRITE_SINGLE, 0)
    STATUS = ("status", READ_HOLDING, STATUS_WORDS)
    ERRORS = ("errors", READ_HOLDING, ERROR_WORDS)

    def __init__(self, _name: str, function: int, words: int) -> None:
        """function: its code. words: registers that the reply has."""
        self.function = function
        self.words = words
        self.reply_length = 3 + 2 * words if words else 6
        """bytes of a good reply's message"""

    def request(self, unit: int, mode: int, set_points: tuple[int, int]) -> bytes:
        """The message that tells or asks it. mode: to command. set_points: force, mN, and position, µm."""
        if self is Access.CLEAR:
            return write_request(unit, Register.CONTROL, CLEAR_ERRORS)
        if self is Access.SET_POINTS:
            force, position = map(low_first, set_points)
            return writes_request(unit, Register.FORCE_COMMAND, (*force, *position))
        if self is Access.MODE:
            return write_request(unit, Register.CONTROL_3, mode)
        return read_request(unit, Register.MODE if self is Access.STATUS else Register.ERRORS, self.words)


def motion_of(words: Sequence[int]) -> tuple[float, float]:
    """Position, m, and force, N, of the registers from the one to the other."""
    force = Register.FORCE - Register.POSITION
    return wide_value(words[0], words[1]) * METRE, wide_value(words[force], words[force + 1]) * NEWTON


def status_of(mode: int, motor_status: int, errors: int, latched: int) -> Status:
    """What registers say; a motor that zeroes itself is homed once it has come out of that mode."""
    status = Status.FAULT if latched else Status.READY
    if latched & COMMS_TIMEOUT:
        status |= Status.WATCHDOG
    if mode != MotorMode.SLEEP:
        status |= Status.ENABLED | Status.QUICK_STOP if errors else Status.ENABLED
    if mode == MotorMode.AUTO_ZERO:
        status |= Status.HOMING
    elif motor_status & ZEROED:
        status |= Status.HOMED
    return status
