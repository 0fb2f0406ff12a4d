"""Modbus TCP frames of fixed shape, packed and unpacked by one precompiled struct each.

A frame is the MBAP header (transaction, protocol 0, length of what follows, unit) and the PDU (function code, data).
Everything but the transaction id and the registers is the same in every cycle and is packed as one constant.
"""

import struct
from collections.abc import Sequence
from operator import itemgetter

from actuators.profile import FORMATS, AmplifierProfile, Register, ServoProfile, WordOrder

HEADER = struct.Struct(">HHHB")
"""MBAP header: transaction, protocol, length, unit."""
READ_HOLDING = 3
READ_INPUT = 4
WRITE_SINGLE = 6
WRITE_MULTIPLE = 16
READ_WRITE = 23
EXCEPTION_LENGTH = 3
"""MBAP length field of an exception reply."""

EXCEPTIONS = {
    1: "illegal function",
    2: "illegal data address",
    3: "illegal data value",
    4: "device failure",
    5: "acknowledge",
    6: "device busy",
    8: "memory parity error",
    10: "gateway path unavailable",
    11: "gateway target did not respond",
}
"""Exception codes in words."""


def exception_text(code: int) -> str:
    """Exception code and its meaning."""
    return f"exception {code:02X} ({EXCEPTIONS.get(code, 'unknown')})"


class Block:
    """Registers of one contiguous range as a struct: values come and go in the order given, gaps are padding."""

    def __init__(self, registers: Sequence[Register], word_order: WordOrder) -> None:
        """word_order: of 32-bit registers that do not state their own."""
        ordered = sorted(registers, key=lambda register: register.address)
        self.address = ordered[0].address
        self.count = ordered[-1].address + ordered[-1].words - self.address
        self.order = [ordered.index(register) for register in registers]
        """Place in the struct of each register given."""
        self.format = ""
        swap = list(range(2 * self.count))
        offset = 0
        for register in ordered:
            start = 2 * (register.address - self.address)
            self.format += f"{start - offset}x" * (start > offset) + FORMATS[register.type]
            offset = start + 2 * register.words
            if register.words == 2 and (register.word_order or word_order) == "little":
                swap[start:offset] = [start + 2, start + 3, start, start + 1]
        self.swapped = swap != sorted(swap)
        """True if some register has its lower word first."""
        self._swap = itemgetter(*swap)

    def swap_words(self, data: bytes) -> bytes:
        """Turn the range's bytes on the wire into upper-word-first order, or back; it is its own inverse."""
        return bytes(self._swap(data)) if self.swapped else data

    def pack(self, values: Sequence[int | float]) -> bytes:
        """Bytes on the wire of raw values in the order of the registers; struct.error if one does not fit."""
        return self.swap_words(struct.pack(">" + self.format, *(values[place] for place in _inverse(self.order))))

    def unpack(self, data: bytes) -> tuple[int | float, ...]:
        """Raw values in the order of the registers, from the range's bytes on the wire."""
        values = struct.unpack(">" + self.format, self.swap_words(data))
        return tuple(values[place] for place in self.order)


class FixedCodec:
    """Reply side of an exchange that reads one block with one function code."""

    def __init__(self, block: Block, unit: int, function: int) -> None:
        """unit: Modbus unit id. function: FC3, FC4 or FC23."""
        self.read_block = block
        self._reply_head = struct.pack(">HHBBB", 0, 3 + 2 * block.count, unit, function, 2 * block.count)
        self._exception_head = struct.pack(">HBB", EXCEPTION_LENGTH, unit, function | 0x80)
        self._reply = struct.Struct(">2s7s" + block.format)
        self._pick_reply = itemgetter(*(2 + place for place in block.order))
        self._place_reply = itemgetter(*_inverse(block.order))
        self.reply_length = 3 + 2 * block.count
        """MBAP length field of a good reply."""

    def decode(self, frame: bytes) -> tuple[int | float, ...] | None:
        """Unpack a reply to raw values in the order of the block's registers; None if it is not such a reply."""
        if len(frame) != self._reply.size or frame[2:9] != self._reply_head:
            return None
        if self.read_block.swapped:
            frame = frame[:9] + self.read_block.swap_words(frame[9:])
        picked: tuple[int | float, ...] = self._pick_reply(self._reply.unpack(frame))
        return picked

    def exception_code(self, frame: bytes) -> int | None:
        """Code of an exception reply to this exchange; None if it is none."""
        return frame[8] if len(frame) == EXCEPTION_LENGTH + 6 and frame[4:8] == self._exception_head else None

    def encode_reply(self, transaction: bytes, values: tuple[int | float, ...]) -> bytes:
        """Device side: pack a reply. values: raw, in the order of the block's registers."""
        frame = self._reply.pack(transaction, self._reply_head, *self._place_reply(values))
        if self.read_block.swapped:
            return frame[:9] + self.read_block.swap_words(frame[9:])
        return frame


class ReadingCodec(FixedCodec):
    """FC3 exchange of an amplifier: raw (status, sample, six forces)."""

    def __init__(self, profile: AmplifierProfile, unit: int) -> None:
        """unit: Modbus unit id."""
        reading = profile.reading
        block = Block([reading.status, reading.sample, *reading.forces], profile.word_order)
        super().__init__(block, unit, READ_HOLDING)
        self._request = struct.pack(">HHBBHH", 0, 6, unit, READ_HOLDING, block.address, block.count)

    def encode(self, transaction: int) -> bytes:
        """Pack a request."""
        return transaction.to_bytes(2, "big") + self._request


class ExchangeCodec(FixedCodec):
    """FC23 exchange of a servo: the command block written and the feedback block read in one transaction.

    Raw feedback: status, error, sequence, position, velocity, force (if the drive has it), auxiliary registers.
    Raw command: control, mode, sequence, force, position, velocity.
    """

    def __init__(self, profile: ServoProfile, unit: int) -> None:
        """unit: Modbus unit id."""
        feedback, command = profile.feedback, profile.command
        read = [feedback.status, feedback.error, feedback.sequence, feedback.position, feedback.velocity]
        read += [feedback.force] if feedback.force else []
        super().__init__(Block([*read, *feedback.auxiliary.values()], profile.word_order), unit, READ_WRITE)
        write = [command.control, command.mode, command.sequence, command.force, command.position, command.velocity]
        self.write_block = block = Block(write, profile.word_order)
        self._request_head = struct.pack(
            ">HHBBHHHHB",
            0,
            11 + 2 * block.count,
            unit,
            READ_WRITE,
            self.read_block.address,
            self.read_block.count,
            block.address,
            block.count,
            2 * block.count,
        )
        self._request = struct.Struct(">2s15s" + block.format)
        self._pick_request = itemgetter(*(2 + place for place in block.order))
        self._place_request = itemgetter(*_inverse(block.order))

    def encode(self, transaction: int, values: tuple[int | float, ...]) -> bytes:
        """Pack a request. values: raw command; struct.error if one does not fit its register."""
        frame = self._request.pack(transaction.to_bytes(2, "big"), self._request_head, *self._place_request(values))
        if self.write_block.swapped:
            return frame[:17] + self.write_block.swap_words(frame[17:])
        return frame

    def decode_request(self, frame: bytes) -> tuple[int | float, ...] | None:
        """Device side: unpack the raw command of exactly this exchange's request; None for any other frame."""
        if len(frame) != self._request.size or frame[2:17] != self._request_head:
            return None
        if self.write_block.swapped:
            frame = frame[:17] + self.write_block.swap_words(frame[17:])
        picked: tuple[int | float, ...] = self._pick_request(self._request.unpack(frame))
        return picked


def _inverse(order: Sequence[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)
