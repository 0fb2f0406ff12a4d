"""Modbus messages of fixed layout, packed and unpacked by one precompiled struct; and text of frames."""

import math
import struct
from collections.abc import Callable, Sequence
from operator import itemgetter

from actuators.amplifier_profile import AmplifierProfile
from actuators.framing import CRC_LENGTH, EXCEPTION_LENGTH, HEADER, MBAP, crc16, exception_text
from actuators.profile import FORMATS, Register, WordOrder
from actuators.servo_profile import ServoProfile


def _bytes(words: int, order: WordOrder) -> tuple[int, ...]:
    """Where the bytes of a value are on the wire, the most significant first."""
    places = range(words) if order.startswith("big") else reversed(range(words))
    swapped = order.endswith("swapped")
    return tuple(2 * place + (byte ^ swapped) for place in places for byte in (0, 1))


READ_COILS = 1
READ_DISCRETE = 2
READ_HOLDING = 3
READ_INPUT = 4
WRITE_COIL = 5
WRITE_SINGLE = 6
DIAGNOSE = 8
WRITE_COILS = 15
WRITE_MULTIPLE = 16
READ_WRITE = 23
IDENTIFY = 43


class Block:
    """Registers of one contiguous range as a struct: values are in the given order, gaps are padding."""

    def __init__(
        self, registers: Sequence[Register], word_order: WordOrder, span: tuple[int, int] | None = None
    ) -> None:
        """word_order: of registers of 32 and 64 bits without an own one.

        span: first register and the one behind the last, where the range is longer than the registers.
        """
        ordered = sorted(registers, key=lambda register: register.address)
        first, end = span or (ordered[0].address, ordered[-1].address + ordered[-1].words)
        self.address = first
        self.count = end - first
        self.order = [ordered.index(register) for register in registers]
        """Place in the struct of each register given."""
        self.format = ""
        swap = list(range(2 * self.count))
        offset = 0
        for register in ordered:
            start = 2 * (register.address - self.address)
            self.format += f"{start - offset}x" * (start > offset) + FORMATS[register.type]
            offset = start + 2 * register.words
            if register.words > 1:
                swap[start:offset] = [
                    start + place for place in _bytes(register.words, register.word_order or word_order)
                ]
        self.format += f"{2 * self.count - offset}x" * (2 * self.count > offset)
        self.swapped = swap != sorted(swap)
        """True if the bytes of some register are not in their natural order."""
        self._swap = itemgetter(*swap)

    def byte_places(self, register: Register, word_order: WordOrder) -> tuple[int, ...]:
        """Where the bytes of one of the registers are in it, the most significant first."""
        return (0, 1) if register.words == 1 else _bytes(register.words, register.word_order or word_order)

    def swap_bytes(self, data: bytes) -> bytes:
        """Turn the range's bytes on the wire into their natural order, or back; it is its own inverse."""
        return bytes(self._swap(data)) if self.swapped else data

    def pack(self, values: Sequence[int | float]) -> bytes:
        """Bytes on the wire of raw values in the order of the registers; struct.error if one does not fit."""
        return self.swap_bytes(struct.pack(">" + self.format, *(values[place] for place in _inverse(self.order))))

    def unpack(self, data: bytes) -> tuple[int | float, ...]:
        """Raw values in the order of the registers, from the range's bytes on the wire."""
        values = struct.unpack(">" + self.format, self.swap_bytes(data))
        return tuple(values[place] for place in self.order)


class FixedCodec:
    """Reply side of an exchange that reads one block with one function code; its request is constant."""

    def __init__(
        self,
        registers: Sequence[Register | None],
        word_order: WordOrder,
        unit: int,
        function: int,
        missing: Sequence[int | float] = (),
    ) -> None:
        """registers: those read, None = missing. unit: Modbus unit id. function: FC3, FC4 or FC23.

        missing: raw values of the first registers if they are missing.
        """
        given = [place for place, register in enumerate(registers) if register is not None]
        gaps = [place for place, register in enumerate(registers) if register is None]
        self.read_block = block = Block([one for one in registers if one is not None], word_order)
        self._reply_head = bytes((unit, function, 2 * block.count))
        self._exception_head = bytes((unit, function | 0x80))
        self._reply = struct.Struct(">3s" + block.format)
        places = {place: 1 + block.order[order] for order, place in enumerate(given)}
        places |= {place: 1 + len(given) + order for order, place in enumerate(gaps)}
        self._pick_reply = itemgetter(*(places[place] for place in range(len(registers))))
        self._missing = tuple(missing[place] for place in gaps)
        self._place_reply = itemgetter(*(given[order] for order in _inverse(block.order)))
        self.reply_length = 3 + 2 * block.count
        """Bytes of a good reply."""

    @property
    def reply_head(self) -> bytes:
        """What every good reply begins with."""
        return self._reply_head

    def decode(self, message: bytes) -> tuple[int | float, ...] | None:
        """Unpack a reply to raw values in the order of the registers; None if it is not such a reply."""
        if len(message) != self.reply_length or not message.startswith(self._reply_head):
            return None
        if self.read_block.swapped:
            message = message[:3] + self.read_block.swap_bytes(message[3:])
        values = self._reply.unpack(message)
        picked: tuple[int | float, ...] = self._pick_reply(values + self._missing if self._missing else values)
        return picked

    def values(self, data: bytes) -> tuple[int | float, ...]:
        """Raw values in the order of the registers, from the block's bytes on the wire."""
        values = self.decode(self._reply_head + data)
        assert values is not None, "as many bytes as the block has"
        return values

    def exception_code(self, message: bytes) -> int | None:
        """Code of an exception reply to this exchange; None if it is none."""
        return message[2] if len(message) == EXCEPTION_LENGTH and message.startswith(self._exception_head) else None

    def encode_reply(self, values: tuple[int | float, ...]) -> bytes:
        """Device side: pack a reply. values: raw, in the order of the registers."""
        message = self._reply.pack(self._reply_head, *self._place_reply(values))
        if self.read_block.swapped:
            return message[:3] + self.read_block.swap_bytes(message[3:])
        return message


_NO_STATUS = (0, -1)
"""Raw status and sample of an amplifier without them."""


class ReadingCodec(FixedCodec):
    """FC3 exchange of an amplifier: raw (status, sample, six forces)."""

    def __init__(self, profile: AmplifierProfile, unit: int) -> None:
        """unit: Modbus unit id."""
        super().__init__(profile.reading.registers, profile.word_order, unit, READ_HOLDING, _NO_STATUS)
        self.request = struct.pack(">BBHH", unit, READ_HOLDING, self.read_block.address, self.read_block.count)
        """The request, the same in every cycle."""


def written(request: bytes, reply: bytes) -> int | None:
    """Result of a reply to a message that only writes: 0 for done, an exception's code, None for no such reply."""
    if reply == request[: len(reply)] and len(reply) == 6:
        return 0
    return refused(request, reply)


def refused(request: bytes, reply: bytes) -> int | None:
    """The exception's code of a reply to a message, None where it is none."""
    is_refusal = len(reply) == EXCEPTION_LENGTH and reply[:2] == bytes((request[0], request[1] | 0x80))
    return reply[2] if is_refusal else None


LACKING = (0, 0, -1, math.nan, math.nan, math.nan)
"""Raw feedback of values that a servo does not report."""


class ExchangeCodec(FixedCodec):
    """A cycle's exchange with a servo: the command block is written, the feedback block read.

    Raw feedback: status, error, sequence, position, velocity, force, auxiliary registers; if the drive lacks
    them, error 0, sequence -1 and NaN. Raw command: control, mode, sequence, force, position, velocity; those that the
    drive lacks are not sent, and decode to 0.

    `requests`: bytes of each message of a cycle, `replies` of each good reply; the last reply is the feedback.
    """

    def __init__(self, profile: ServoProfile, unit: int) -> None:
        """profile: a plain one. unit: Modbus unit id."""
        feedback, command, functions = profile.feedback, profile.command, profile.functions
        self.together = functions.exchange == "together"
        read = [*feedback.registers, *feedback.auxiliary.values()]
        super().__init__(read, profile.word_order, unit, READ_WRITE if self.together else functions.read, LACKING)
        given = [place for place, register in enumerate(command.registers) if register is not None]
        self.write_block = block = Block([one for one in command.registers if one is not None], profile.word_order)
        reading = (self.read_block.address, self.read_block.count)
        written = (block.address, block.count, 2 * block.count)
        if self.together:
            head = struct.pack(">BBHHHHB", unit, READ_WRITE, *reading, *written)
        else:
            head = struct.pack(">BBHHB", unit, WRITE_MULTIPLE, *written)
        self._head, self._start = head, len(head)
        self._request = struct.Struct(f">{len(head)}s" + block.format)
        self._read_request = struct.pack(">BBHH", unit, functions.read, *reading)
        # one register after the other a drive acts on: set-points are there before torque, a stop before another mode
        singles = [command.registers[place] for place in (3, 4, 5, 0, 1, 2)] if functions.write == WRITE_SINGLE else []
        self._singles = [
            (struct.pack(">BBH", unit, WRITE_SINGLE, one.address), 2 * (one.address - block.address))
            for one in singles
            if one is not None and not self.together
        ]
        writes = [(6, 6)] * len(self._singles) or [(self._request.size, 6)]
        lengths = [(self._request.size, self.reply_length)] if self.together else [*writes, (6, self.reply_length)]
        self.requests, self.replies = (tuple(length) for length in zip(*lengths, strict=True))
        order = _inverse(block.order)
        self._place_request = itemgetter(*(given[place] for place in order))
        self._none = (0,) if len(given) < len(command.registers) else ()
        places = {given[place]: offset for offset, place in enumerate(order, start=1)}
        self._pick_request = itemgetter(*(places.get(place, -1) for place in range(len(command.registers))))

    def encode(self, values: tuple[int | float, ...]) -> tuple[bytes, ...]:
        """Pack the messages of a cycle. values: raw command; struct.error if one does not fit its register."""
        message = self._request.pack(self._head, *self._place_request(values))
        if self.write_block.swapped:
            message = message[: self._start] + self.write_block.swap_bytes(message[self._start :])
        if self.together:
            return (message,)
        if not self._singles:
            return message, self._read_request
        data = message[self._start :]
        return *(head + data[place : place + 2] for head, place in self._singles), self._read_request

    def decode_request(self, message: bytes) -> tuple[int | float, ...] | None:
        """Device side: unpack the raw command of exactly this exchange's write; None for any other request."""
        if len(message) != self._request.size or not message.startswith(self._head):
            return None
        if self.write_block.swapped:
            return self.decode_command(message[self._start :])
        picked: tuple[int | float, ...] = self._pick_request(self._request.unpack(message) + self._none)
        return picked

    def decode_command(self, data: bytes) -> tuple[int | float, ...]:
        """Device side: unpack the raw command from all the command registers."""
        values = struct.unpack(">" + self.write_block.format, self.write_block.swap_bytes(data))
        picked: tuple[int | float, ...] = self._pick_request((b"", *values, *self._none))
        return picked

    @property
    def request_data(self) -> int:
        """Offset of the command's registers in a request, bytes."""
        return self._start


def _inverse(order: Sequence[int]) -> list[int]:
    """Place in the registers given of each in the struct."""
    return sorted(range(len(order)), key=order.__getitem__)


_READS = {1: "coils", 2: "inputs", 3: "registers", 4: "input registers"}
_LONGEST = 254


def tcp_frame_text(data: bytes, *, sent: bool) -> str:
    """Text of a frame of Modbus TCP; sent: to the device."""
    if len(data) < HEADER.size + 1:
        return f"{len(data)} bytes, no frame"
    transaction, protocol, size, _ = HEADER.unpack_from(data)
    if protocol or size != len(data) - MBAP.size:
        return "no frame of Modbus TCP"
    return f"transaction {transaction}, {_message(data[MBAP.size :], sent=sent)}"


def rtu_frame_text(data: bytes, *, sent: bool) -> str:
    """Text of a frame of Modbus RTU; sent: to the device."""
    message, checksum = data[:-CRC_LENGTH], data[-CRC_LENGTH:]
    if len(message) < 2:
        return f"{len(data)} bytes, no frame"
    if crc16(message) != checksum:
        return f"{len(data)} bytes, wrong checksum"
    return _message(message, sent=sent)


def tcp_frames(data: bytes) -> tuple[list[bytes], bytes]:
    """Split bytes into complete frames of Modbus TCP and the rest; bytes that are no frame count as one."""
    frames: list[bytes] = []
    while len(data) >= HEADER.size:
        _, protocol, size, _ = HEADER.unpack_from(data)
        if protocol or not 2 <= size <= _LONGEST:
            return [*frames, data], b""
        if len(data) < MBAP.size + size:
            break
        frames.append(data[: MBAP.size + size])
        data = data[MBAP.size + size :]
    return frames, data


def _message(message: bytes, *, sent: bool) -> str:
    unit, function, rest = message[0], message[1], message[2:]
    if function & 0x80:
        words = f"function {function & 0x7F} refused: {exception_text(rest[0])}" if len(rest) == 1 else "no message"
        return f"unit {unit}: {words}"
    describe = (_REQUESTS if sent else _REPLIES).get(function)
    try:
        words = describe(function, rest) if describe is not None else f"function {function}, {len(rest)} bytes"
    except (IndexError, ValueError):
        words = f"function {function}, {len(rest)} bytes that are not its own"
    return f"unit {unit}: {words}"


def _word(data: bytes, place: int) -> int:
    if len(data) < place + 2:
        raise ValueError("too short")
    return data[place] << 8 | data[place + 1]


def _words(data: bytes) -> str:
    return " ".join(data[place : place + 2].hex() for place in range(0, len(data), 2))


def _asks(function: int, rest: bytes) -> str:
    return f"read {_word(rest, 2)} {_READS[function]} from {_word(rest, 0)}"


def _gives(function: int, rest: bytes) -> str:
    if rest[0] != len(rest) - 1:
        raise ValueError("another length")
    return f"{_READS.get(function, 'registers')} {_words(rest[1:])}"


def _writes(function: int, rest: bytes) -> str:
    what = "coil" if function == 5 else "register"
    return f"write {what} {_word(rest, 0)} = {_word(rest, 2):04x}"


def _writes_many(_function: int, rest: bytes) -> str:
    return f"write {_word(rest, 2)} registers from {_word(rest, 0)}: {_words(rest[5:])}"


def _wrote_many(_function: int, rest: bytes) -> str:
    return f"wrote {_word(rest, 2)} registers from {_word(rest, 0)}"


def _writes_and_asks(_function: int, rest: bytes) -> str:
    written = f"write {_word(rest, 6)} registers from {_word(rest, 4)}: {_words(rest[9:])}"
    return f"{written}; read {_word(rest, 2)} registers from {_word(rest, 0)}"


_Describe = Callable[[int, bytes], str]
_REQUESTS: dict[int, _Describe] = {1: _asks, 2: _asks, 3: _asks, 4: _asks, 5: _writes, 6: _writes, 16: _writes_many}
_REQUESTS[23] = _writes_and_asks
_REPLIES: dict[int, _Describe] = {1: _gives, 2: _gives, 3: _gives, 4: _gives, 5: _writes, 6: _writes, 16: _wrote_many}
_REPLIES[23] = _gives
