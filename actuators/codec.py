"""Modbus messages of fixed shape, packed and unpacked by one precompiled struct each.

A message is a unit id and a PDU (function code, data), whatever frames it on the wire. Everything but the registers is
the same in every cycle and is packed as one constant.
"""

import struct
from collections.abc import Sequence
from operator import itemgetter

from actuators.framing import EXCEPTION_LENGTH
from actuators.profile import FORMATS, AmplifierProfile, Register, ServoProfile, WordOrder

READ_HOLDING = 3
READ_INPUT = 4
WRITE_SINGLE = 6
WRITE_MULTIPLE = 16
READ_WRITE = 23


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
        self._reply_head = bytes((unit, function, 2 * block.count))
        self._exception_head = bytes((unit, function | 0x80))
        self._reply = struct.Struct(">3s" + block.format)
        self._pick_reply = itemgetter(*(1 + place for place in block.order))
        self._place_reply = itemgetter(*_inverse(block.order))
        self.reply_length = 3 + 2 * block.count
        """Bytes of a good reply."""

    def decode(self, message: bytes) -> tuple[int | float, ...] | None:
        """Unpack a reply to raw values in the order of the block's registers; None if it is not such a reply."""
        if len(message) != self.reply_length or not message.startswith(self._reply_head):
            return None
        if self.read_block.swapped:
            message = message[:3] + self.read_block.swap_words(message[3:])
        picked: tuple[int | float, ...] = self._pick_reply(self._reply.unpack(message))
        return picked

    def exception_code(self, message: bytes) -> int | None:
        """Code of an exception reply to this exchange; None if it is none."""
        return message[2] if len(message) == EXCEPTION_LENGTH and message.startswith(self._exception_head) else None

    def encode_reply(self, values: tuple[int | float, ...]) -> bytes:
        """Device side: pack a reply. values: raw, in the order of the block's registers."""
        message = self._reply.pack(self._reply_head, *self._place_reply(values))
        if self.read_block.swapped:
            return message[:3] + self.read_block.swap_words(message[3:])
        return message


class ReadingCodec(FixedCodec):
    """FC3 exchange of an amplifier: raw (status, sample, six forces)."""

    def __init__(self, profile: AmplifierProfile, unit: int) -> None:
        """unit: Modbus unit id."""
        reading = profile.reading
        block = Block([reading.status, reading.sample, *reading.forces], profile.word_order)
        super().__init__(block, unit, READ_HOLDING)
        self.request = struct.pack(">BBHH", unit, READ_HOLDING, block.address, block.count)
        """The request, the same in every cycle."""


class ExchangeCodec(FixedCodec):
    """FC23 exchange of a servo: the command block written and the feedback block read in one transaction.

    Raw feedback: status, error, sequence, position, velocity, force (if the drive has it), auxiliary registers.
    Raw command: control, mode, sequence, force, position, velocity; a set-point that the drive lacks is not sent, and
    decodes to 0.
    """

    def __init__(self, profile: ServoProfile, unit: int) -> None:
        """unit: Modbus unit id."""
        feedback, command = profile.feedback, profile.command
        read = [feedback.status, feedback.error, feedback.sequence, feedback.position, feedback.velocity]
        read += [feedback.force] if feedback.force else []
        super().__init__(Block([*read, *feedback.auxiliary.values()], profile.word_order), unit, READ_WRITE)
        given = [place for place, register in enumerate(command.registers) if register is not None]
        self.write_block = block = Block([one for one in command.registers if one is not None], profile.word_order)
        self._request_head = struct.pack(
            ">BBHHHHB",
            unit,
            READ_WRITE,
            self.read_block.address,
            self.read_block.count,
            block.address,
            block.count,
            2 * block.count,
        )
        self._request = struct.Struct(">11s" + block.format)
        self.request_length = self._request.size
        """Bytes of a request."""
        order = _inverse(block.order)
        self._place_request = itemgetter(*(given[place] for place in order))
        self._none = (0,) if len(given) < len(command.registers) else ()
        places = {given[place]: offset for offset, place in enumerate(order, start=1)}
        self._pick_request = itemgetter(*(places.get(place, -1) for place in range(len(command.registers))))

    def encode(self, values: tuple[int | float, ...]) -> bytes:
        """Pack a request. values: raw command; struct.error if one does not fit its register."""
        message = self._request.pack(self._request_head, *self._place_request(values))
        if self.write_block.swapped:
            return message[:11] + self.write_block.swap_words(message[11:])
        return message

    def decode_request(self, message: bytes) -> tuple[int | float, ...] | None:
        """Device side: unpack the raw command of exactly this exchange's request; None for any other."""
        if len(message) != self.request_length or not message.startswith(self._request_head):
            return None
        if self.write_block.swapped:
            message = message[:11] + self.write_block.swap_words(message[11:])
        picked: tuple[int | float, ...] = self._pick_request(self._request.unpack(message) + self._none)
        return picked

    def decode_command(self, data: bytes) -> tuple[int | float, ...]:
        """Device side: unpack the raw command that the whole of the command registers holds."""
        picked: tuple[int | float, ...] = self._pick_request(
            (b"", *struct.unpack(">" + self.write_block.format, self.write_block.swap_words(data)), *self._none)
        )
        return picked


def _inverse(order: Sequence[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)
