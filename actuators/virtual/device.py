"""What a virtual device is, how it finds requests among bytes, and the server side of Modbus."""

import contextlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar, Literal, Protocol

from actuators.codec import (
    DIAGNOSE,
    IDENTIFY,
    READ_COILS,
    READ_DISCRETE,
    READ_HOLDING,
    READ_INPUT,
    READ_WRITE,
    WRITE_COIL,
    WRITE_COILS,
    WRITE_MULTIPLE,
    WRITE_SINGLE,
    Block,
)
from actuators.errors import ConfigurationError
from actuators.framing import CRC_LENGTH, HEADER, MBAP, crc16, silence
from actuators.profile import MAX_BITS, RANGES, IdentityMap, Number, Register, WordOrder

_MIN_LENGTH, _MAX_LENGTH = 2, 254  # of the MBAP length field
BROADCAST = 0
"""The unit by which all devices on a line of Modbus RTU are called."""


class Framing(ABC):
    """The frames of one protocol, on the side that answers; a message is what is in them, for Modbus a unit id and PDU.

    `everyone`: the number by which all devices on a line are called, None if there is none.
    """

    everyone: ClassVar[int | None] = None

    @abstractmethod
    def length(self, received: bytes) -> int:
        """Length of the first frame of what was received; 0 = not whole yet, -1 = this is not the start of one."""

    @abstractmethod
    def message(self, frame: bytes) -> bytes:
        """The message in a request's frame, b"" where it is none."""

    @abstractmethod
    def reply(self, message: bytes, request: bytes) -> bytes:
        """The frame of a reply's message to the request in a frame."""

    def collide(self, replies: list[bytes]) -> bytes:
        """What arrives of replies that devices on a line send at once."""
        return b"".join(replies)

    def pause(self, baud: int, byte_time: float) -> float | None:
        """Silence that ends a frame on a serial line with characters of `byte_time` s, s; None: not specified."""
        del baud, byte_time
        return None


class MbapFraming(Framing):
    """Modbus TCP: a header with a transaction id, which the reply repeats, and the length."""

    def length(self, received: bytes) -> int:
        """See `Framing.length`."""
        if len(received) < HEADER.size:
            return 0
        _, protocol, length, _ = HEADER.unpack_from(received)
        if protocol or not _MIN_LENGTH <= length <= _MAX_LENGTH:
            return -1
        size: int = length + MBAP.size
        return size if len(received) >= size else 0

    def message(self, frame: bytes) -> bytes:
        """See `Framing.message`."""
        size = len(frame) - MBAP.size
        return frame[6:] if size > 1 and frame[2:6] == b"\0\0" + size.to_bytes(2, "big") else b""

    def reply(self, message: bytes, request: bytes) -> bytes:
        """See `Framing.reply`."""
        return request[:4] + len(message).to_bytes(2, "big") + message


class RtuFraming(Framing):
    """Modbus RTU: a checksum. Frames have the length that their function code says.

    One with a function code that is not known ends where its checksum is right.
    """

    everyone = BROADCAST
    _COUNT_AT: Mapping[int, int] = {15: 6, WRITE_MULTIPLE: 6, READ_WRITE: 10}
    """function code → place of the number of bytes that follow it"""

    def __init__(self, fixed: Mapping[int, int] | None = None) -> None:
        """fixed: length of the frames of a device's own function codes, with unit id and checksum."""
        self._fixed = {function: 8 for function in (1, 2, 3, 4, 5, WRITE_SINGLE)} | dict(fixed or {})

    def length(self, received: bytes) -> int:
        """See `Framing.length`."""
        if len(received) < 2 + CRC_LENGTH:
            return 0
        function = received[1]
        if function in self._COUNT_AT:
            place = self._COUNT_AT[function]
            size = place + 1 + received[place] + CRC_LENGTH if len(received) > place else 0
        elif function in self._fixed:
            size = self._fixed[function]
        else:
            size = next((n for n in range(2 + CRC_LENGTH, len(received) + 1) if self.message(received[:n])), 0)
            return size or (0 if len(received) < _MAX_LENGTH else -1)
        if not size or len(received) < size:
            return 0
        return size if self.message(received[:size]) else -1

    def pause(self, baud: int, byte_time: float) -> float:
        """See `Framing.pause`: 3.5 characters, 1.75 ms above 19200 baud.

        See `TwinServer` for where it is one. Shorter silences within a frame, from 1.5 characters on, are let pass.
        """
        return silence(baud, round(byte_time * baud))

    def message(self, frame: bytes) -> bytes:
        """See `Framing.message`."""
        data, checksum = frame[:-CRC_LENGTH], frame[-CRC_LENGTH:]
        return data if len(data) >= 2 and crc16(data) == checksum else b""

    def reply(self, message: bytes, request: bytes) -> bytes:
        """See `Framing.reply`."""
        return message + crc16(message)


MBAP_FRAMING = MbapFraming()
RTU_FRAMING = RtuFraming()


ILLEGAL_FUNCTION = 1
ILLEGAL_ADDRESS = 2
ILLEGAL_VALUE = 3
DEVICE_FAILURE = 4
GATEWAY_NO_RESPONSE = 11

_BUSY = 6
_LAST_FUNCTION = 127
_WRITES = frozenset((WRITE_COIL, WRITE_SINGLE, WRITE_COILS, WRITE_MULTIPLE))

_ECHO = b"\0\0"
_IDENTIFICATION, _REGULAR, _LAST_STREAM = 14, 2, 3
"""Of function 43: its kind, the conformity level of streamed regular objects, the last code of a stream."""
_MAX_READ = 125
_MAX_WRITE = 123
_MAX_READ_WRITE = 121
_MAX_WRITTEN_BITS = 1968
Ranges = list[tuple[int, int, Callable[[], bytes]]]
"""(first, count, what is there now) of each: two bytes a register, or one a bit."""


class Responder(Protocol):
    """What a server needs of a device."""

    @property
    def framing(self) -> Framing:
        """How its requests are separated."""

    def tick(self, now: float) -> None:
        """Let time pass: `now` in s on the server's clock; never goes back."""

    def passes(self, now: float) -> bool:
        """Let `now` (s) pass on the wire alone, where its devices have nothing to do until then; whether that is so.

        What the wire carries by then is `due`, and a request that comes then may be given to `respond`, without a tick.
        """

    def respond(self, frame: bytes) -> bytes:
        """Answer one request frame; b"" = silence. Raises LinkClosedError to have the connection closed."""

    def due(self) -> bytes:
        """Return bytes that are to be sent now, held back or of its own accord; b"" if there are none.

        Raises LinkClosedError to have the connection closed.
        """

    @property
    def next_event(self) -> float:
        """When it has something to do or to send by itself, s on the server's clock; infinite if nothing is known."""


class RegisterError(Exception):
    """A request is answered with exception `code`."""

    def __init__(self, code: int) -> None:
        """code: Modbus exception code."""
        super().__init__(code)
        self.code = code


class VirtualDevice(ABC):
    """One device: it answers messages, each of which begins with the number of the unit that is called."""

    def __init__(self, unit: int, framing: Framing) -> None:
        """unit: by which it is called. framing: of its wire."""
        if not 0 <= unit <= 255:
            raise ConfigurationError(f"unit id {unit} is outside 0..255")
        self.unit = unit
        self.framing = framing
        self.now = 0.0

    @property
    @abstractmethod
    def hung(self) -> bool:
        """Whether the application hangs: it goes on answering, what it says stands, and nothing is carried out."""

    @hung.setter
    @abstractmethod
    def hung(self, hung: bool) -> None: ...

    def tick(self, now: float) -> None:
        """Let time pass: `now` in s; never goes back."""
        self.now = now

    def passes(self, now: float) -> bool:
        """See `Responder.passes`: it answers at once, by what there is at that time."""
        del now
        return False

    def due(self) -> bytes:
        """See `Responder.due`: a device answers at once."""
        return b""

    @property
    def next_event(self) -> float:
        """See `Responder.next_event`."""
        return math.inf

    def respond(self, frame: bytes) -> bytes:
        """Answer one request frame; b"" for what is no frame for this device. Never raises."""
        message = self.framing.message(frame)
        reply = self.answer(message) if message else b""
        return self.framing.reply(reply, frame) if reply else b""

    @abstractmethod
    def answer(self, message: bytes) -> bytes:
        """Answer one message; b"" for one that is not for this device. Never raises."""

    def refusal(self, message: bytes) -> bytes:
        """What it answers to any message while it is busy; b"" = nothing."""
        del message
        return b""


class ModbusDevice(VirtualDevice):
    """A device with 16-bit registers behind function codes 3, 4 (the same registers), 6, 16 and 23, or some of them.

    One with input registers of their own, coils (1, 5, 15) or discrete inputs (2) has them in `_tables`. One that knows
    function 8 sends back what it is sent, by sub-function 0; one that knows 43 streams its `identification` (14).

    A write is carried out as a whole or, answered with an exception, not at all. Frames for another unit id are not
    answered, or with the gateway exception 0B. On a line, unit 0 is a broadcast: functions 5, 6, 15 and 16 are carried
    out, the others ignored, and none is answered. A function code above 127 is that of an exception's reply, and no
    request: it is not answered, as every reply to it would be one to another function.
    """

    functions: frozenset[int] = frozenset((READ_HOLDING, READ_INPUT, WRITE_SINGLE, WRITE_MULTIPLE, READ_WRITE))
    """Function codes that it knows."""
    identification: tuple[str, ...] = ()
    """Texts of the objects from 0 on: vendor, product, revision."""

    def __init__(
        self, unit: int, wrong_unit: Literal["silent", "gateway"] = "silent", framing: Framing = MBAP_FRAMING
    ) -> None:
        """unit: Modbus unit id 0..255. framing: of its wire."""
        super().__init__(unit, framing)
        self._wrong_unit = wrong_unit
        self._readable: Ranges = []
        """of holding registers"""
        self._tables: dict[int, Ranges] = {READ_HOLDING: self._readable}
        """by the function that reads them; input registers that are not here are the holding registers"""
        self._image: dict[int, list[bytes]] | None = None
        """what those ranges held when the application hung; None while it runs"""

    @property
    def hung(self) -> bool:
        """See `VirtualDevice.hung`: registers stand, writes do nothing."""
        return self._image is not None

    @hung.setter
    def hung(self, hung: bool) -> None:
        if hung != self.hung:
            images = {key: [render() for _, _, render in ranges] for key, ranges in self._tables.items()}
            self._image = images if hung else None

    def refusal(self, message: bytes) -> bytes:
        """See `VirtualDevice.refusal`: an exception."""
        unit, function = message[0], message[1]
        return b"" if unit != self.unit or function > _LAST_FUNCTION else bytes((unit, function | 0x80, _BUSY))

    def answer(self, message: bytes) -> bytes:
        """See `VirtualDevice.answer`; a message is a unit id and a PDU."""
        unit, function = message[0], message[1]
        if function > _LAST_FUNCTION:
            return b""
        if unit == BROADCAST and unit == self.framing.everyone:
            if function in _WRITES:
                with contextlib.suppress(RegisterError):
                    self._serve(function, message[2:])
            return b""
        try:
            if unit != self.unit:
                if self._wrong_unit == "silent":
                    return b""
                raise RegisterError(GATEWAY_NO_RESPONSE)
            data = self._serve(function, message[2:])
        except RegisterError as error:
            function |= 0x80
            data = bytes((error.code,))
        return bytes((unit, function)) + data

    @abstractmethod
    def _write(self, address: int, data: bytes) -> None:
        """Write consecutive registers, all or none. Raises RegisterError."""

    def _serve(self, function: int, data: bytes) -> bytes:
        """Carry out one request; data: the PDU after its function code."""
        if function not in self.functions:
            raise RegisterError(ILLEGAL_FUNCTION)
        if function in (READ_HOLDING, READ_INPUT):
            address, count = _numbers(data, 2, exact=True)
            _check(1 <= count <= _MAX_READ)
            return bytes((2 * count,)) + self._read(address, count, function)
        if function in (READ_COILS, READ_DISCRETE):
            address, count = _numbers(data, 2, exact=True)
            _check(1 <= count <= MAX_BITS)
            bits = self._read(address, count, function, width=1)
            packed = sum(bit << place for place, bit in enumerate(bits)).to_bytes((count + 7) // 8, "little")
            return bytes((len(packed),)) + packed
        if function == WRITE_COIL:
            address, state = _numbers(data, 2, exact=True)
            _check(state in (0, 0xFF00))
            self._take_bits(address, [state != 0])
            return data
        if function == WRITE_COILS:
            address, count = _numbers(data, 2)
            size = (count + 7) // 8
            _check(1 <= count <= _MAX_WRITTEN_BITS and len(data) == 5 + size and data[4] == size)
            packed_bits = int.from_bytes(data[5:], "little")
            self._take_bits(address, [bool(packed_bits >> place & 1) for place in range(count)])
            return data[:4]
        if function == WRITE_SINGLE:
            address, _ = _numbers(data, 2, exact=True)
            self._take(address, data[2:])
            return data
        if function == WRITE_MULTIPLE:
            address, count = _numbers(data, 2)
            _check(1 <= count <= _MAX_WRITE and len(data) == 5 + 2 * count and data[4] == 2 * count)
            self._take(address, data[5:])
            return data[:4]
        if function == DIAGNOSE:
            if data[:2] != _ECHO:
                raise RegisterError(ILLEGAL_FUNCTION)
            return data
        if function == IDENTIFY:
            return self._identify(data)
        if function == READ_WRITE:
            address, count, write_address, write_count = _numbers(data, 4)
            _check(1 <= count <= _MAX_READ and 1 <= write_count <= _MAX_READ_WRITE)
            _check(len(data) == 9 + 2 * write_count and data[8] == 2 * write_count)
            self._read(address, count)  # an address that cannot be read must not leave the write done
            self._take(write_address, data[9:])
            return bytes((2 * count,)) + self._read(address, count)
        raise RegisterError(ILLEGAL_FUNCTION)

    def _identify(self, data: bytes) -> bytes:
        """Answer function 43: all objects from the one that is asked for, or all where there is no such one."""
        if data[:1] != bytes((_IDENTIFICATION,)):
            raise RegisterError(ILLEGAL_FUNCTION)
        _check(len(data) == 3 and 1 <= data[1] <= _LAST_STREAM)
        first = data[2] if data[2] < len(self.identification) else 0
        texts = [text.encode("ascii") for text in self.identification[first:]]
        listed = b"".join(bytes((place, len(text))) + text for place, text in enumerate(texts, start=first))
        return bytes((data[0], data[1], _REGULAR, 0, 0, len(texts))) + listed

    def _take(self, address: int, data: bytes) -> None:
        if self._image is None:
            self._write(address, data)

    def _take_bits(self, address: int, states: list[bool]) -> None:
        if self._image is None:
            self._write_bits(address, states)

    def _write_bits(self, address: int, states: list[bool]) -> None:
        """Write consecutive coils, all or none. Raises RegisterError."""
        raise RegisterError(ILLEGAL_ADDRESS)

    def _read(self, address: int, count: int, function: int = READ_HOLDING, width: int = 2) -> bytes:
        """What is in consecutive registers, two bytes each, or bits, one each. Raises RegisterError."""
        if function not in self._tables:
            function = READ_HOLDING
        out = bytearray(width * count)
        covered: set[int] = set()
        for place, (start, words, render) in enumerate(self._tables[function]):
            low, high = max(address, start), min(address + count, start + words)
            if low < high:
                data = render() if self._image is None else self._image[function][place]
                inside = data[width * (low - start) : width * (high - start)]
                out[width * (low - address) : width * (high - address)] = inside
                covered.update(range(low, high))
        if len(covered) != count:
            raise RegisterError(ILLEGAL_ADDRESS)
        return bytes(out)

    def _add_identity(self, identity: IdentityMap, order: WordOrder, texts: dict[str, str]) -> None:
        """Make an identity readable. Raises ConfigurationError for a text or number that does not fit.

        order: of numbers of more than one word. A number that the map does not expect is that in its text, or 1.
        """
        for name, field in identity.read.items():
            text = texts[name]
            if isinstance(field, Number):
                number = 1 if field.expect is None else field.expect
                if name == "serial":
                    number = _number(text, field.base)
                if number != field.masked(number) or number >= 1 << 16 * field.words:
                    raise ConfigurationError(f"{name} {text!r} does not fit into a {field.type}")
                data = Block([field], order).pack([number])
                self._readable.append((field.address, field.words, partial(bytes, data)))
                continue
            raw = text.encode("ascii", "replace").ljust(2 * field.length, b"\0")
            if len(raw) > 2 * field.length:
                raise ConfigurationError(f"{name} {text!r} does not fit into {field.length} registers")
            self._readable.append((field.address, field.length, partial(bytes, raw)))


class Sensor:
    """A quantity on its way into a register: rounded to the resolution, never wrapped."""

    __slots__ = ("_high", "_invalid", "_low", "_scale", "_whole")

    def __init__(self, register: Register) -> None:
        """register: its type, scale and invalid value are used."""
        self._low, self._high = RANGES[register.type]
        self._scale = register.scale
        self._invalid = register.invalid
        self._whole = not register.floating

    def encode(self, value: float) -> tuple[int | float, bool]:
        """Raw value, and whether it says what `value` is."""
        raw = value / self._scale
        if self._low <= raw <= self._high:  # False for NaN
            if not self._whole:
                return raw, True
            counts = round(raw)
            if counts != self._invalid:
                return counts, True
        if self._invalid is not None:
            return self._invalid, False
        if not self._whole:
            return math.nan, False
        return (self._high if raw > 0.0 else self._low), False


def _number(text: str, base: int) -> int:
    """The number that a serial number is, or ends with; 1 where it has none."""
    try:
        return int(text, base)
    except ValueError:
        digits = text[len(text.rstrip("0123456789")) :]
        return int(digits) if digits else 1


def _numbers(data: bytes, count: int, *, exact: bool = False) -> list[int]:
    _check(len(data) == 2 * count if exact else len(data) > 2 * count)
    return [int.from_bytes(data[2 * i : 2 * i + 2], "big") for i in range(count)]


def _check(condition: bool) -> None:
    if not condition:
        raise RegisterError(ILLEGAL_VALUE)
