"""Registers and coils of IAI's ROBO Cylinder controllers (PCON, ACON, SCON), by their maker's Modbus manual.

The driver uses function codes 3, 5 and 16. 32-bit values have their high word first. Positions are in 0.01 mm, speeds
in 0.01 mm/s, accelerations in 0.01 G. Bits of some registers are coils as well, the highest bit first.
"""

import struct
from enum import IntEnum
from typing import NamedTuple

from actuators.codec import READ_HOLDING, WRITE_MULTIPLE

METRE = 1e-5
"""m, unit of positions; of speeds m/s."""
GRAVITY = 0.0980665
"""m/s², unit of accelerations."""

WRITE_COIL = 5
STATUS = 0x9000
"""First register of the status block."""
STATUS_COILS = 0x0100
"""First coil of the status: bits of the status registers 1, 2 and extended, of position number, zones, inputs, outputs,
special inputs, and expanded system status."""
CONTROL_COILS = 0x0400
"""First coil of the control registers' bits."""
CONTROL = 0x0D00
"""First of the four control registers: device control 1 and 2, extended control, position number."""
MOVE = 0x9900
"""First register of the block whose write moves the slider."""
COIL_REPLY_LENGTH = MOVE_REPLY_LENGTH = 6


class Coil(IntEnum):
    """Coils written by function 5."""

    SERVO_ON = 0x0403
    ALARM_RESET = 0x0407
    HOME = 0x040B
    MODBUS_CONTROL = 0x0427
    """Commands come from Modbus, not from the inputs of the controller."""
    STOP = 0x042C


class Status1(IntEnum):
    """Bits of device status register 1."""

    EMERGENCY_STOP = 1 << 15
    READY = 1 << 13
    SERVO_ON = 1 << 12
    HEAVY_ALARM = 1 << 10
    LIGHT_ALARM = 1 << 9
    BRAKE_RELEASED = 1 << 7
    HOMED = 1 << 4
    IN_POSITION = 1 << 3


HOMING = 1 << 11
"""Bit of the extended status register."""
MODBUS_COMMANDS = 1 << 8
"""Bit of the extended status register: commands come from Modbus; so far as its maker's table tells."""
MOVING = 1 << 5
"""Bit of the extended status register."""

_STATUS = struct.Struct(">iHHHHHHIi")
STATUS_COUNT = _STATUS.size // 2
_MOVE = struct.Struct(">iIIH")
MOVE_COUNT = _MOVE.size // 2


class State(NamedTuple):
    """The status block: position, alarm code, ports of the inputs and outputs, three status registers, STAT, speed."""

    position: int
    alarm: int
    inputs: int
    outputs: int
    status_1: int
    status_2: int
    extended: int
    stat: int
    speed: int


class Target(NamedTuple):
    """Registers of a move: position, band of arrival, speed, acceleration."""

    position: int
    band: int
    speed: int
    acceleration: int


def coil_request(unit: int, coil: Coil, on: bool) -> bytes:
    """Message of function 5."""
    return struct.pack(">BBHH", unit, WRITE_COIL, coil, 0xFF00 if on else 0)


def status_request(unit: int) -> bytes:
    """Message that reads the status block."""
    return struct.pack(">BBHH", unit, READ_HOLDING, STATUS, STATUS_COUNT)


def move_request(unit: int, target: Target) -> bytes:
    """Message that moves the slider."""
    head = struct.pack(">BBHHB", unit, WRITE_MULTIPLE, MOVE, MOVE_COUNT, 2 * MOVE_COUNT)
    return head + move_bytes(target)


def move_bytes(target: Target) -> bytes:
    """The registers of the block that moves."""
    return _MOVE.pack(*target)


STATUS_REPLY_LENGTH = 3 + _STATUS.size


def state_of(unit: int, message: bytes) -> State | None:
    """State by a reply to `status_request`, None if it is none."""
    if len(message) != STATUS_REPLY_LENGTH or message[:3] != bytes((unit, READ_HOLDING, _STATUS.size)):
        return None
    return state_of_bytes(message[3:])


def state_of_bytes(data: bytes) -> State:
    """State by the registers of the status block."""
    return State(*_STATUS.unpack(data))


def state_bytes(state: State) -> bytes:
    """The registers of the status block."""
    return _STATUS.pack(*state)


def target_of(data: bytes) -> Target:
    """Target by a write to the whole block that moves."""
    return Target(*_MOVE.unpack(data))
