"""CAN frames as text, and their meaning on CANopen (CiA 301): identifiers, SDO, PDO mapping, emergencies.

On every wire a frame is a line of the SLCAN protocol, `t` with three hexadecimal digits of the identifier, the length
and the data: a serial adapter and a twin on a pseudo-terminal speak it, and `CanWire` translates it for python-can.
"""

import struct
from dataclasses import dataclass

from actuators.errors import ConfigurationError
from actuators.virtual.device import Framing
from actuators.wire import SerialEndpoint

CAN_SCHEME = "can://"
CAN_BIT_RATE = 1_000_000
"""Bit rate of a bus unless another is given, bit/s."""

NMT, SYNC, EMERGENCY = 0x000, 0x080, 0x080
RPDO_1, TPDO_1, RPDO_2, TPDO_2, RPDO_3, TPDO_3 = 0x200, 0x180, 0x300, 0x280, 0x400, 0x380
SDO_REPLY, SDO_REQUEST, HEARTBEAT = 0x580, 0x600, 0x700
"""Identifiers of the predefined connection set; a node's number is added."""
NODE = 0x7F
"""Bits of an identifier that are the node's number."""
FUNCTION = 0x780

NMT_START, NMT_PREPARE = 0x01, 0x80
"""NMT commands: to operational, to pre-operational."""
BOOTED, OPERATIONAL, PRE_OPERATIONAL = 0x00, 0x05, 0x7F
"""NMT states, as in heartbeats."""

_STUFFED = 5.7
"""bit times a character of SLCAN takes as a part of its frame, whatever its length, with some stuff bits"""
_LONGEST = 27  # characters of a line


@dataclass(frozen=True, slots=True)
class CanEndpoint(SerialEndpoint):
    """A CAN bus: `device` is can://INTERFACE/CHANNEL of python-can, `baud` its bit rate.

    In place of a bus, a virtual rig serves it on a pseudo-terminal, as an SLCAN adapter on a serial port would.
    """

    @property
    def byte_time(self) -> float:
        """How long a character of a frame's line takes on the bus, s."""
        return _STUFFED / self.baud

    @property
    def bauds(self) -> tuple[int, ...]:
        """Bit rates of CANopen (CiA 301), the highest first."""
        return 1_000_000, 800_000, 500_000, 250_000, 125_000

    @property
    def settings(self) -> str:
        """Bit rate in words."""
        return f"{self.baud} bit/s"


def frame_bits(size: int) -> float:
    """Bits on the bus of a frame with `size` bytes of data, the gap behind it and a stuff bit for every five."""
    bits = 47 + 8 * size
    return bits + (bits - 13) / 5


def line_of(identifier: int, data: bytes) -> bytes:
    """The line of a frame with a standard identifier."""
    return b"t%03X%d" % (identifier, len(data)) + data.hex().upper().encode() + b"\r"


def frame_of(line: bytes) -> tuple[int, bytes] | None:
    """Identifier and data of a line without its end; None for what is no frame with a standard identifier."""
    start = line.rfind(b"t")
    if start < 0:
        return None
    try:
        identifier, length = int(line[start + 1 : start + 4], 16), int(line[start + 4 : start + 5])
        data = bytes.fromhex(line[start + 5 :].decode("ascii"))
    except ValueError:
        return None
    return (identifier, data) if len(data) == length and identifier < 0x800 else None


class CanFraming(Framing):
    """How a twin separates frames (`Framing`). A message is the node that is called, 0 for all, and the frame."""

    everyone = 0

    def length(self, received: bytes) -> int:
        """See `Framing.length`."""
        return received.find(b"\r") + 1 or (0 if len(received) <= _LONGEST else -1)

    def message(self, frame: bytes) -> bytes:
        """See `Framing.message`: nothing for the commands of an adapter, which needs none here."""
        found = frame_of(frame[:-1])
        if found is None:
            return b""
        identifier, data = found
        to_all = identifier in (NMT, SYNC) or identifier & FUNCTION == HEARTBEAT
        return bytes((0 if to_all else identifier & NODE,)) + identifier.to_bytes(2, "big") + data

    def reply(self, message: bytes, request: bytes) -> bytes:
        """See `Framing.reply`: a message of lines already."""
        del request
        return message[1:]


CAN_FRAMING = CanFraming()


@dataclass(frozen=True, slots=True)
class Object:
    """An entry of the object dictionary. code: of `struct`."""

    index: int
    sub: int
    code: str

    @property
    def size(self) -> int:
        """Bytes of its value."""
        return struct.calcsize("<" + self.code)

    @property
    def mapping(self) -> int:
        """Entry of a PDO's mapping: index, sub-index, bits."""
        return self.index << 16 | self.sub << 8 | 8 * self.size

    @property
    def name(self) -> str:
        """Index and sub-index, as manuals write them."""
        return f"{self.index:04X}h:{self.sub}"

    def pack(self, value: int) -> bytes:
        """Bytes of a value; struct.error if it does not fit."""
        return struct.pack("<" + self.code, value)

    def unpack(self, data: bytes) -> int:
        """Value of bytes; struct.error for another length."""
        (value,) = struct.unpack("<" + self.code, data)
        return int(value)


DEVICE_NAME = (0x1008, 0)
DEVICE_TYPE = Object(0x1000, 0, "I")
CONSUMER_HEARTBEAT = Object(0x1016, 1, "I")
PRODUCER_HEARTBEAT = Object(0x1017, 0, "H")
VENDOR, PRODUCT, REVISION, SERIAL = (Object(0x1018, sub, "I") for sub in range(1, 5))
ABORT_CONNECTION = Object(0x6007, 0, "h")
ERROR_CODE = Object(0x603F, 0, "H")
CONTROL = Object(0x6040, 0, "H")
STATUS = Object(0x6041, 0, "H")
QUICK_STOP_OPTION = Object(0x605A, 0, "h")
FAULT_OPTION = Object(0x605E, 0, "h")
MODE = Object(0x6060, 0, "b")
MODE_DISPLAY = Object(0x6061, 0, "b")
POSITION = Object(0x6064, 0, "i")
VELOCITY = Object(0x606C, 0, "i")
TARGET_TORQUE = Object(0x6071, 0, "h")
TARGET_POSITION = Object(0x607A, 0, "i")
HOMING_METHOD = Object(0x6098, 0, "b")
CYCLE_TIME, CYCLE_EXPONENT = Object(0x60C2, 1, "B"), Object(0x60C2, 2, "b")
INPUTS = Object(0x60FD, 0, "I")
OUTPUTS, OUTPUTS_MASK = Object(0x60FE, 1, "I"), Object(0x60FE, 2, "I")
"""Digital outputs, and which of them the bus switches."""

MAPPED = {
    RPDO_1: (0x1400, (CONTROL, TARGET_POSITION, TARGET_TORQUE), 1),
    RPDO_2: (0x1401, (MODE,), 255),
    TPDO_1: (0x1800, (STATUS, POSITION, ERROR_CODE), 1),
    TPDO_2: (0x1801, (VELOCITY, MODE_DISPLAY), 1),
}
"""PDO → its communication parameters, what is mapped, its transmission type: 1 at every SYNC, 255 at once.

The mapping's parameters are 200h behind those of the communication.
"""
MAPPED_OUTPUTS = {RPDO_3: (0x1402, (OUTPUTS,), 1)}
MAPPED_INPUTS = {TPDO_3: (0x1802, (INPUTS,), 1)}
"""The same of drives with digital outputs and inputs that are used."""
MAPPING = 0x200
PDO_OFF = 0x80000000


def codes(objects: tuple[Object, ...]) -> struct.Struct:
    """Values of mapped objects as one struct."""
    return struct.Struct("<" + "".join(each.code for each in objects))


WATCHDOG_ERRORS = frozenset((0x8130, 0x8140))
"""Heartbeat lost; recovered from a loss of the bus."""
_ERRORS = {
    0x0000: "no error",
    0x2310: "continuous over-current",
    0x3210: "DC link over-voltage",
    0x3220: "DC link under-voltage",
    0x4210: "over-temperature of the device",
    0x5530: "EEPROM",
    0x6320: "parameter",
    0x7121: "motor blocked",
    0x7300: "sensor",
    0x7305: "incremental sensor 1",
    0x8110: "CAN overrun",
    0x8130: "heartbeat of this computer lost",
    0x8140: "recovered from bus off",
    0x8611: "following error",
}
_CLASSES = {
    0x1: "generic",
    0x2: "current",
    0x3: "voltage",
    0x4: "temperature",
    0x5: "hardware",
    0x6: "software",
    0x7: "additional modules",
    0x8: "monitoring",
    0x9: "external",
    0xF: "of the maker's own",
}


def error_text(code: int) -> str:
    """An error code of CiA 301 and 402 in words, else its class."""
    known = _ERRORS.get(code) or f"{_CLASSES.get(code >> 12, 'unknown')} error, see the drive's manual"
    return f"{known} ({code:04X}h)" if code else known


ABORTS = {
    0x05030000: "toggle bit not alternated",
    0x05040000: "no answer in time",
    0x05040001: "unknown command",
    0x06010000: "unsupported access",
    0x06010002: "read only",
    0x06020000: "no such object",
    0x06040041: "cannot be mapped",
    0x06040042: "too long for the PDO",
    0x06070010: "wrong length",
    0x06090011: "no such sub-index",
    0x06090030: "value out of range",
    0x08000022: "not in this state of the device",
}
READ_ONLY, NO_OBJECT, WRONG_LENGTH, NOT_NOW = 0x06010002, 0x06020000, 0x06070010, 0x08000022
UNKNOWN_COMMAND = 0x05040001


def parsed(url: str) -> tuple[str, str]:
    """Interface and channel of can://INTERFACE/CHANNEL. Raises ConfigurationError."""
    interface, slash, channel = url.removeprefix(CAN_SCHEME).partition("/")
    if not (url.startswith(CAN_SCHEME) and interface and slash and channel):
        raise ConfigurationError(f"{url!r}: must be can://INTERFACE/CHANNEL, as can://socketcan/can0")
    return interface, channel
