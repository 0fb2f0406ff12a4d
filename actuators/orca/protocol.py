"""The ORCA motor's registers, modes and frames, by its maker's orcaSDK 1.1.0 and orca-api.

In registers a 32-bit value has its low word first; in the motor command stream (function 100) it is big-endian as a
whole. Positions are in µm, forces in mN.
"""

import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from actuators.codec import READ_HOLDING, WRITE_MULTIPLE, WRITE_SINGLE
from actuators.virtual.device import RtuFraming

STREAM = 100
"""Motor command stream: one set-point to the motor, and what it measures back."""
READ_STREAM = 104
WRITE_STREAM = 105
"""Register accesses whose replies carry the same; of the older SDK and firmware."""
CONNECTION = 65
"""Changes baud and interframe delay; of the older SDK and firmware."""

FRAMING = RtuFraming(fixed={STREAM: 9, READ_STREAM: 7, WRITE_STREAM: 11, CONNECTION: 12})

METRE = 1e-6
"""m, unit of positions."""
NEWTON = 1e-3
"""N, unit of forces."""

LARGEST_SERIAL = 0xFFFFFFFF

REGISTERS = 973
"""Number of registers."""


class Register(IntEnum):
    """Registers that are used here; of those of 32 bits the address of the low word."""

    CONTROL = 0
    CONTROL_1 = 1
    CONTROL_3 = 3
    FORCE_COMMAND = 28
    POSITION_COMMAND = 30
    COMMS_TIMEOUT = 163
    MODE = 317
    MOTOR_STATUS = 321
    BOARD_TEMPERATURE = 336
    SUPPLY = 338
    POSITION = 342
    SPEED = 344
    FORCE = 348
    POWER = 350
    SERIAL = 406
    VERSION = 408
    STATOR = 418
    ERRORS = 432
    LATCHED_ERRORS = 433


SETUP = {
    "PC_PGAIN": 133,
    "PC_IGAIN": 134,
    "PC_DVGAIN": 135,
    "PC_DEGAIN": 136,
    "PC_FSATU": 137,
    "USER_MAX_TEMP": 139,
    "USER_MAX_FORCE": 140,
    "USER_MAX_POWER": 142,
    "SAFETY_DGAIN": 143,
    "USER_MAX_COIL_TEMP": 147,
    "TEMP_ERR_HYSTERESIS": 148,
    "PC_SOFTSTART_PERIOD": 150,
    "POS_MAX_VEL": 153,
    "POS_MAX_ACCEL": 154,
    "POS_MAX_DECEL": 155,
    "FORCE_FILT": 166,
    "POS_FILT": 167,
    "ZERO_MODE": 171,
    "AUTO_ZERO_FORCE_N": 172,
    "AUTO_ZERO_SPEED_MMPS": 177,
}
"""Registers that may be set before the motor is given power, by the maker's names."""
WIDE = frozenset(("PC_FSATU", "USER_MAX_FORCE"))
"""Those of them that have 32 bits."""


class MotorMode(IntEnum):
    """Value of `Register.MODE`, and of `Register.CONTROL_3` to change it."""

    SLEEP = 1
    FORCE = 2
    POSITION = 3
    HAPTIC = 4
    KINEMATIC = 5
    AUTO_ZERO = 55


CLEAR_ERRORS = 0x2
"""Bit of `Register.CONTROL`."""
ZERO_POSITION = 0x4
"""Bit of `Register.CONTROL`."""
APPLY_GAINS = 0x400
"""Bit of `Register.CONTROL_1`: the position controller takes the gains that were written."""
ZEROED = 0x1
"""Bit of `Register.MOTOR_STATUS`: an auto-zero is complete."""
ZEROING = 0x2
"""Bit of `Register.MOTOR_STATUS`: one is under way."""

SHAFT_IMAGE_FAILED = 0x0200
COMMS_TIMEOUT = 0x0800
AUTO_ZERO_FAILED = 0x2000
ERROR_TEXTS = {
    0x0001: "configuration invalid",
    0x0020: "force control clipping",
    0x0040: "too hot",
    0x0080: "force limit exceeded",
    0x0100: "power limit exceeded",
    SHAFT_IMAGE_FAILED: "shaft image failed",
    0x0400: "supply voltage invalid",
    COMMS_TIMEOUT: "no command within the watchdog's time",
    AUTO_ZERO_FAILED: "auto-zero failed",
}
"""Bits of `Register.ERRORS` in words."""

SLEEP_CODE = 0x00
FORCE_CODE = 0x1C
POSITION_CODE = 0x1E
"""What a stream frame is for. Any code that the motor does not know puts it to sleep; whether it takes a force in
position mode, or a position in force mode, its maker does not say: neither is sent here."""

_STREAM_REQUEST = struct.Struct(">BBBi")
_STREAM_REPLY = struct.Struct(">BBiiHBHH")
STREAM_REPLY_LENGTH = _STREAM_REPLY.size
"""Bytes of a reply's message to function 100."""


class Measured(NamedTuple):
    """What a stream reply says: position µm, force mN, power W, temperature °C, supply mV, bits of `ERROR_TEXTS`."""

    position: int
    force: int
    power: int
    temperature: int
    supply: int
    errors: int


def stream_request(unit: int, code: int, value: int) -> bytes:
    """Message of function 100; value: mN for `FORCE_CODE`, µm for `POSITION_CODE`."""
    return _STREAM_REQUEST.pack(unit, STREAM, code, value)


def stream_reply(unit: int, measured: Measured) -> bytes:
    """Message that answers function 100."""
    return _STREAM_REPLY.pack(unit, STREAM, *measured)


def stream_values(unit: int, message: bytes) -> Measured | None:
    """Values of a reply to function 100, None if it is none."""
    if len(message) != STREAM_REPLY_LENGTH or message[0] != unit or message[1] != STREAM:
        return None
    return Measured(*_STREAM_REPLY.unpack(message)[2:])


def low_first(value: int) -> tuple[int, int]:
    """The two registers of a 32-bit value."""
    return value & 0xFFFF, value >> 16 & 0xFFFF


def wide_value(low: int, high: int) -> int:
    """The signed 32-bit value of two registers."""
    value = high << 16 | low
    return value - (1 << 32) if value & 1 << 31 else value


def read_request(unit: int, address: int, count: int) -> bytes:
    """Message that reads registers."""
    return struct.pack(">BBHH", unit, READ_HOLDING, address, count)


def write_request(unit: int, address: int, value: int) -> bytes:
    """Message that writes one register."""
    return struct.pack(">BBHH", unit, WRITE_SINGLE, address, value)


def writes_request(unit: int, address: int, values: Sequence[int]) -> bytes:
    """Message that writes consecutive registers."""
    head = struct.pack(">BBHHB", unit, WRITE_MULTIPLE, address, len(values), 2 * len(values))
    return head + struct.pack(f">{len(values)}H", *values)


def read_values(unit: int, function: int, count: int, message: bytes) -> tuple[int, ...] | None:
    """The registers in a reply that reads `count` of them, None if it is none."""
    if len(message) != 3 + 2 * count or message[:3] != bytes((unit, function, 2 * count)):
        return None
    return struct.unpack_from(f">{count}H", message, 3)
