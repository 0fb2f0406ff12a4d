"""Protocol of Pololu's Jrk G2: commands, variables and settings, as bytes on the wire.

A message begins with the device's number, followed by commands in the compact form, each a command byte from 80h on and
its data below 80h. The framing converts it to the bytes on the wire. Replies have no head, no length and no checksum;
their numbers have the low byte first.
"""

import functools
import operator
import struct
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from itertools import zip_longest
from typing import ClassVar, NamedTuple

from actuators.framing import LineFraming, ReplyScan
from actuators.virtual.device import Framing

SERIAL_FORM = 0xAA
"""First byte of a command for one of several devices, before its number."""
TARGET, STOP = 0xC0, 0xFF
TARGET_BELOW, TARGET_ABOVE = 0xE0, 0xE1
"""The commands that set a target by its distance from the middle in steps of `COARSE`; 0 below it is STOP."""
MIDDLE, COARSE = 2048, 16
GET_OCCURRED, GET_CHOPPED = 0xB5, 0xEC
"""The commands that read and clear the errors that occurred, and the count of limited currents."""
GET_SETTINGS, GET_VARIABLES, GET_RAM_SETTINGS, CLEAR_ERRORS = 0xE3, 0xE5, 0xEA, 0xB3
SET_RAM_SETTINGS = 0xE6
"""The command that overrides settings until the next power-up: offset, count, so many bytes without their highest bits,
and a byte of these."""
FORCE_DUTY_TARGET, FORCE_DUTY = 0xF2, 0xF4
"""The commands that set the duty in place of the position loop, from -600 to 600."""
MOST_WRITTEN = 7
"""Settings that one command overrides, bytes."""
MOST_READ = 15
"""Bytes, of variables or settings that are read at once."""
FULL_DUTY = 600
COUNTS = 4095
"""The greatest target and scaled feedback."""
TIMEOUT_UNIT = 0.01  # s
_DATA = {
    TARGET: 1,
    TARGET_BELOW: 1,
    TARGET_ABOVE: 1,
    GET_SETTINGS: 2,
    GET_VARIABLES: 2,
    GET_RAM_SETTINGS: 2,
    SET_RAM_SETTINGS: 3,
    FORCE_DUTY_TARGET: 2,
    FORCE_DUTY: 2,
}
"""Data bytes of each command, without the settings of one that overrides some; 0 for those not listed."""


class Error(IntFlag):
    """Bits of the errors that halt the motor."""

    AWAITING_COMMAND = 1 << 0
    NO_POWER = 1 << 1
    MOTOR_DRIVER = 1 << 2
    INPUT_INVALID = 1 << 3
    INPUT_DISCONNECT = 1 << 4
    FEEDBACK_DISCONNECT = 1 << 5
    SOFT_OVERCURRENT = 1 << 6
    SERIAL_SIGNAL = 1 << 7
    SERIAL_OVERRUN = 1 << 8
    SERIAL_BUFFER_FULL = 1 << 9
    SERIAL_CRC = 1 << 10
    SERIAL_PROTOCOL = 1 << 11
    SERIAL_TIMEOUT = 1 << 12
    HARD_OVERCURRENT = 1 << 13


ERROR_TEXTS = {
    Error.AWAITING_COMMAND: "no target since it was started or stopped",
    Error.NO_POWER: "no power for the motor",
    Error.MOTOR_DRIVER: "the motor driver has failed",
    Error.INPUT_INVALID: "the input is invalid",
    Error.INPUT_DISCONNECT: "the input is disconnected",
    Error.FEEDBACK_DISCONNECT: "the feedback is disconnected",
    Error.SOFT_OVERCURRENT: "the current is too high",
    Error.SERIAL_SIGNAL: "the serial signal is bad: another speed or a broken wire",
    Error.SERIAL_OVERRUN: "serial bytes came too fast",
    Error.SERIAL_BUFFER_FULL: "the serial buffer is full",
    Error.SERIAL_CRC: "a serial command had a wrong checksum",
    Error.SERIAL_PROTOCOL: "a serial command was not understood",
    Error.SERIAL_TIMEOUT: "no target within the serial time-out",
    Error.HARD_OVERCURRENT: "the motor driver limits the current",
}


class Setting(IntEnum):
    """Offset of a setting in the EEPROM."""

    OPTIONS_1 = 0x01
    OPTIONS_2 = 0x02
    INPUT_MODE = 0x03
    FEEDBACK_MODE = 0x18
    FEEDBACK_MINIMUM = 0x1D
    FEEDBACK_MAXIMUM = 0x1F
    SERIAL_TIMEOUT = 0x26
    DEVICE_NUMBER = 0x28
    ERROR_ENABLE = 0x2A
    PID_PERIOD = 0x5A
    ACCELERATION_FORWARD = 0x60
    ACCELERATION_REVERSE = 0x62
    DECELERATION_FORWARD = 0x64
    DECELERATION_REVERSE = 0x66
    DUTY_FORWARD = 0x68
    DUTY_REVERSE = 0x6A


CRC_ENABLED = 1 << 1
"""Of OPTIONS_1: commands must have a checksum."""
FEEDBACK_INVERTED = 1 << 2
"""Of OPTIONS_2."""
INPUT_SERIAL, FEEDBACK_ANALOG, FEEDBACK_FREQUENCY = 0, 1, 2
SETTINGS = 0x76
"""Bytes of all settings."""

_STATE = struct.Struct("<HHHHhhhB")
_HEALTH = struct.Struct("<HHHBHh")
_HALTING = struct.Struct("<H")
_LIFE = struct.Struct("<HH")
STATE_AT, HEALTH_AT, HALTING_AT = 0x00, 0x10, 0x12
"""Offset of the variables that a cycle reads."""
UPTIME_AT, DIGITAL_AT = 0x20, 0x2C
_VARIABLES = struct.Struct("<HHHHhhhBxHHHBHh5xI4xHHB4xh")
"""All variables up to the last duty: those of a cycle, up time, analog readings, digital readings, last duty."""
_NO_READING = 0xFFFF
"""Of an analog pin that is not measured."""
_READING = 16
"""Analog reading of a count of the feedback."""
PINS = {"scl": 0, "sda": 1, "rc": 4, "aux": 5, "fbt": 7}
"""Bit of the variable with the pins' digital readings, by the maker's name, of those that are free for it."""
READ_DIGITAL = 2 * bytes((GET_VARIABLES, DIGITAL_AT, 1))
"""The commands that read the pins twice."""
DIGITAL_LENGTH = 2
CLEARED_LENGTH = _HALTING.size
"""Bytes of the reply to CLEAR_ERRORS: the errors that halted the motor."""
HALTING_LENGTH = 2 * _HALTING.size
VARIABLES_LENGTH = _STATE.size + _HEALTH.size


class Variables(NamedTuple):
    """What a cycle reads: of the position loop, and of the rest."""

    input: int
    target: int
    feedback: int
    scaled: int
    integral: int
    duty_target: int
    duty: int
    low_current: int
    periods: int
    halting: int
    occurred: int
    flags: int
    supply: int
    """mV"""
    current: int
    """mA"""


READ_HALTING = 2 * bytes((GET_VARIABLES, HALTING_AT, _HALTING.size))
"""The commands that read the halting errors twice."""
READ_VARIABLES = bytes((GET_VARIABLES, STATE_AT, _STATE.size, GET_VARIABLES, HEALTH_AT, _HEALTH.size))
"""The commands that read `Variables`."""


READ_LIFE = 2 * bytes((GET_VARIABLES, HEALTH_AT, _LIFE.size))
"""The commands that read the position loop's counter and the halting errors twice."""
LIFE_LENGTH = 2 * _LIFE.size


def life_of(data: bytes) -> tuple[int, int, bytes]:
    """Both counts in the reply to `READ_LIFE`, and the errors as the reply to `READ_HALTING` has them."""
    first, halting, again, halting_again = _LIFE.unpack(data[: _LIFE.size]) + _LIFE.unpack(data[_LIFE.size :])
    return first, again, _HALTING.pack(halting) + _HALTING.pack(halting_again)


def halting_of(data: bytes) -> int:
    """The errors in the reply to CLEAR_ERRORS, or in the first part of that to `READ_HALTING`."""
    return int(_HALTING.unpack_from(data)[0])


def variables_of(data: bytes) -> Variables:
    """The variables in the reply to `READ_VARIABLES`."""
    return Variables(*_STATE.unpack_from(data), *_HEALTH.unpack_from(data, _STATE.size))


def state_bytes(variables: Variables, uptime: float = 0.0, pins: int = 0) -> bytes:
    """Device side: all variables up to the last duty, from the first on.

    uptime: s, since power-up. pins: the digital readings.
    """
    since, feedback = int(uptime * 1e3) & 0xFFFFFFFF, variables.feedback * _READING
    return _VARIABLES.pack(*variables, since, _NO_READING, feedback, pins, variables.duty)


def target_command(target: int) -> bytes:
    """The command that sets the target, 0 to 4095, and lets the motor run."""
    return bytes((TARGET | target & 0x1F, target >> 5))


def settings_command(first: int, count: int) -> bytes:
    """The command that reads settings, at most 15 bytes of them."""
    return bytes((GET_SETTINGS, first, count))


def scaled_of(feedback: int, low: int, high: int, *, inverted: bool) -> int:
    """Scaled value of a feedback, from low…high to 0…4095."""
    if high == low:
        return 0
    scaled = round((min(max(feedback, low), high) - low) * COUNTS / (high - low))
    return COUNTS - scaled if inverted else scaled


def crc7(data: bytes) -> int:
    """Checksum that follows a command on the wire."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc ^ 0x91) >> 1 if crc & 1 else crc >> 1
    return crc


def command_length(command: bytes) -> int:
    """Bytes of the first command in the compact form, more than there are where it is not whole.

    0 for one that overrides more settings than it may.
    """
    code = command[0]
    size = 1 + _DATA.get(TARGET if TARGET <= code < 0xE0 else code, 0)
    if code == SET_RAM_SETTINGS and len(command) > 2:
        return size + command[2] if command[2] <= MOST_WRITTEN else 0
    return size


def duty_of(data: bytes) -> int:
    """The duty in the data of a command that forces one, -600 to 600."""
    value = data[0] | data[1] << 7
    return min(max(value - (value >> 13 << 14), -FULL_DUTY), FULL_DUTY)


def overrides_of(data: bytes) -> tuple[int, bytes]:
    """Offset and bytes of the settings in the data of a command that overrides some."""
    offset, _, *low, high = data
    return offset, bytes([byte | (high >> place & 1) << 7 for place, byte in enumerate(low)])


@dataclass(frozen=True)
class PololuLine(LineFraming):
    """Framing of commands, and of replies by their length.

    compact: without the device's number, for a single one on a line. crc: a checksum after each command.
    """

    compact: bool = False
    crc: bool = False

    @property
    def description(self) -> str:
        """See `LineFraming.description`."""
        return f"Pololu's protocol{' in short' * self.compact}{' with checksums' * self.crc}"

    overhead: ClassVar[int] = 0
    names_sender: ClassVar[bool] = False
    names_request: ClassVar[bool] = False

    def frame(self, message: bytes) -> bytes:
        """See `LineFraming.frame`: several commands, each by itself."""
        number, rest = message[0], message[1:]
        out = b""
        while rest:
            size = command_length(rest)
            command, rest = rest[:size], rest[size:]
            one = command if self.compact else bytes((SERIAL_FORM, number, command[0] & 0x7F)) + command[1:]
            out += one + bytes((crc7(one),)) if self.crc else one
        return out

    def scan(self, data: bytes, message: bytes, length: int) -> ReplyScan | None:
        """See `LineFraming.scan`: as many bytes as are expected; their sender is unknown.

        Of more bytes none is taken: without a checksum nobody can tell which of them are the reply.
        """
        del message
        if len(data) < length:
            return None
        return ReplyScan(data if len(data) == length else b"")


EVERYONE = 0x80
"""In place of a device's number in a message: that of a command in the compact form, which every device takes."""


@dataclass(frozen=True)
class PololuFraming(Framing):
    """The device's side of `PololuLine`: it takes both forms."""

    crc: bool = False
    everyone: ClassVar[int] = EVERYONE

    def length(self, received: bytes) -> int:
        """See `Framing.length`: of one command."""
        return self._command(received)[0]

    def message(self, frame: bytes) -> bytes:
        """See `Framing.message`: the commands in the compact form, all for one device."""
        number, commands = -1, b""
        while frame:
            size, called, command = self._command(frame)
            if size <= 0 or number not in (-1, called):
                return b""
            number, commands, frame = called, commands + command, frame[size:]
        return bytes((number,)) + commands if commands else b""

    def reply(self, message: bytes, request: bytes) -> bytes:
        """See `Framing.reply`: the bytes alone."""
        del request
        return message[1:]

    def collide(self, replies: list[bytes]) -> bytes:
        """See `Framing.collide`: the maker's guide joins the devices' lines by an AND gate."""
        together = zip_longest(*replies, fillvalue=0xFF)
        return bytes([functools.reduce(operator.and_, each) for each in together])

    def _command(self, received: bytes) -> tuple[int, int, bytes]:
        """Length of the first command (0: incomplete, -1: none begins here), its device, and its compact form."""
        if not received:
            return 0, -1, b""
        addressed = received[0] == SERIAL_FORM
        if received[0] < 0x80:
            return -1, -1, b""
        if addressed and len(received) < 3:
            return 0, -1, b""
        code = received[2] | 0x80 if addressed else received[0]
        start = 3 if addressed else 1
        size = command_length(bytes((code,)) + received[start:])
        if not size:
            return -1, -1, b""
        size += start - 1
        whole = size + self.crc
        if len(received) < whole:
            return 0, -1, b""
        number = received[1] if addressed else EVERYONE
        if self.crc and received[size] != crc7(received[:size]):
            return -1, -1, b""
        data = received[start:size]
        return (whole, number, bytes((code,)) + data) if all(byte < 0x80 for byte in data) else (-1, -1, b"")
