"""Exchange of a servo whose registers are anywhere: several messages a cycle, by a stated grouping.

The status of such a drive is one wide number: the status word in its lowest 16 bits, then 16 for each of
`feedback.words`, then a bit for each coil and discrete input that is read. So is its control: the control word, then a
bit for each coil, and last one for the trigger. What a signal means is then a mask and a value of that number.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from actuators.codec import (
    LACKING,
    READ_COILS,
    READ_DISCRETE,
    READ_HOLDING,
    READ_WRITE,
    WRITE_COIL,
    WRITE_COILS,
    WRITE_MULTIPLE,
    WRITE_SINGLE,
    Block,
    refused,
    written,
)
from actuators.profile import MAX_BITS, MAX_READ, MAX_WRITE, BitMap, Register, spans
from actuators.servo_profile import ServoProfile

TRIGGER = 6
"""Place of the trigger among the values that are written."""
ACKNOWLEDGE = "acknowledge"
"""Name among the signals of the status of what answers a handover."""


INPUT, OUTPUT = "input ", "output "
"""Before the name of a digital input among the signals of the status, and of an output among those of the control."""


class Signals:
    """Where the signals of a profile are in the wide status and the wide control."""

    def __init__(self, profile: ServoProfile) -> None:
        """profile: any."""
        self.status_words = tuple(profile.feedback.words)
        given = profile.status.given
        handover = profile.command.handover
        if handover is not None and handover.acknowledge is not None:
            given[ACKNOWLEDGE] = handover.acknowledge
        given |= {INPUT + name: signal for name, signal in profile.inputs.items()}
        inputs = [_input(signal) for signal in given.values() if signal.pattern is None]
        self.inputs = tuple(dict.fromkeys(inputs))
        """(function, address) of each bit that is read, in the order of the wide status."""
        self.status = {name: self._place(signal) for name, signal in given.items()}
        """name → mask and value."""
        bits = profile.control_signals | {OUTPUT + name: signal for name, signal in profile.outputs.items()}
        self.coils = tuple(signal.coil for signal in bits.values() if signal.coil is not None)
        """Address of each coil that is written, in the order of the wide control."""
        self.control = {
            name: 1 << (16 + self.coils.index(signal.coil) if signal.bit is None else signal.bit)
            for name, signal in bits.items()
        }
        """name → mask."""
        self.low = sum(self.control[name] for name, signal in bits.items() if signal.active == "low")
        """Bits of the control that are active low."""
        self.trigger = 1 << 16 + len(self.coils)

    def _place(self, signal: BitMap) -> tuple[int, int]:
        if signal.pattern is None:
            start = 16 * (1 + len(self.status_words)) + self.inputs.index(_input(signal))
            return 1 << start, (signal.active == "high") << start
        start = 0 if signal.word is None else 16 * (1 + self.status_words.index(signal.word))
        mask, value = signal.pattern
        return mask << start, value << start


def _input(signal: BitMap) -> tuple[int, int]:
    if signal.coil is not None:
        return READ_COILS, signal.coil
    assert signal.discrete is not None
    return READ_DISCRETE, signal.discrete


@dataclass(frozen=True, slots=True)
class Written:
    """A range of registers that is written. places: of each, which of the values written it is; see `MappedCodec`."""

    block: Block
    places: Sequence[int]
    rank: int


@dataclass(frozen=True, slots=True)
class Read:
    """A range that is read. places: where its values go among all that are read; of bits, one for each."""

    function: int
    address: int
    count: int
    block: Block | None
    places: Sequence[int]

    @property
    def size(self) -> int:
        """Bytes of its data."""
        return (self.count + 7) // 8 if self.block is None else 2 * self.count

    def pack(self, values: Sequence[int | float]) -> bytes:
        """Device side: what is there of all that is read: bytes on the wire, of bits one each."""
        if self.block is not None:
            return self.block.pack([values[place] for place in self.places])
        bits = bytearray(self.count)
        for place, offset in zip(self.places[::2], self.places[1::2], strict=True):
            bits[offset] = int(values[place])
        return bytes(bits)

    def take(self, data: bytes, into: list[int | float]) -> None:
        """Unpack its data."""
        if self.block is not None:
            for place, value in zip(self.places, self.block.unpack(data), strict=True):
                into[place] = value
            return
        bits = int.from_bytes(data, "little")
        for place, offset in zip(self.places[::2], self.places[1::2], strict=True):
            into[place] = bits >> offset & 1


_RANK_OF_MODE, _RANK_OF_CONTROL, _RANK_OF_TRIGGER = 1, 2, 3


class MappedCodec:
    """A cycle's messages with a servo of any profile, and its raw values.

    Raw feedback: wide status, error, sequence, position, velocity, force, auxiliary registers; see `codec.LACKING` for
    what is missing. Raw command: wide control, mode, sequence, force, position, velocity.

    The values written are those of the raw command, the first one the control word alone, then the trigger, then the
    constants.

    Ranges are written before any is read: set-points and constants, then the mode, then what has the control word or
    its coils, last what has the trigger, so that a drive acts on what is there. Neighbours are written together, and
    nothing between. They are read together as `Functions.gap` says, by function, in the order of addresses. With
    function 23, the last range written and the first one of holding registers read are one message.
    """

    def __init__(self, profile: ServoProfile, unit: int) -> None:
        """unit: Modbus unit id."""
        self.signals = signals = Signals(profile)
        self._unit = unit
        handover = profile.command.handover
        self._trigger = None if handover is None else handover.trigger
        self._constants = [constant.value for constant in profile.command.constants]
        self.writes = self._grouped(profile)
        self.reads = self._readings(profile)
        functions = profile.functions
        coils = [Register(address=coil) for coil in signals.coils]
        most = MAX_BITS if functions.coils == WRITE_COILS else 1
        self._coil_runs = [range(*span) for span in spans(coils, 0, most)]
        self._single = functions.write == WRITE_SINGLE
        holding = [place for place, read in enumerate(self.reads) if read.function == READ_HOLDING]
        together = functions.exchange == "together" and self.writes and not self._coil_runs
        self._merged = bool(together and holding and self.writes[-1].block.count <= MAX_WRITE)
        """whether the last write and the first read are one message"""
        if self._merged:
            self.reads.insert(0, self.reads.pop(holding[0]))
        self._read_requests = [
            struct.pack(">BBHH", unit, read.function, read.address, read.count) for read in self.reads
        ]
        sample = self.encode((0,) * 6)
        self.requests = tuple(len(request) for request in sample)
        """Bytes of each message of a cycle."""
        self.reads_from = len(sample) - len(self.reads)
        """Place of the first message that is answered with feedback."""
        self.replies = (6,) * self.reads_from + tuple(3 + read.size for read in self.reads)
        """Bytes of each good reply."""
        self.together = len(sample) == 1
        """Whether a cycle is one message."""
        self._count = 6 + len(signals.status_words) + len(signals.inputs) + len(profile.feedback.auxiliary)

    def _grouped(self, profile: ServoProfile) -> list[Written]:
        """The ranges of registers that are written."""
        command = profile.command
        ranks = (_RANK_OF_CONTROL, _RANK_OF_MODE, 0, 0, 0, 0)
        items = [
            (register, place, ranks[place]) for place, register in enumerate(command.registers) if register is not None
        ]
        if self._trigger is not None:
            items.append((self._trigger.register, TRIGGER, _RANK_OF_TRIGGER))
        items += [(one.register, place, 0) for place, one in enumerate(command.constants, start=TRIGGER + 1)]
        single = profile.functions.write == WRITE_SINGLE
        found = []
        for first, end in spans([register for register, _, _ in items], 0, 1 if single else MAX_WRITE):
            inside = [item for item in items if first <= item[0].address < end]
            block = Block([register for register, _, _ in inside], profile.word_order)
            found.append(Written(block, [place for _, place, _ in inside], max(rank for _, _, rank in inside)))
        return sorted(found, key=lambda one: one.rank)

    def _readings(self, profile: ServoProfile) -> list[Read]:
        """The ranges that are read."""
        feedback, signals, gap = profile.feedback, self.signals, profile.functions.gap
        places = {place: one for place, one in enumerate(feedback.registers) if one is not None}
        places |= dict(enumerate((feedback.words[name] for name in signals.status_words), start=6))
        behind = 6 + len(signals.status_words) + len(signals.inputs)
        places |= dict(enumerate(feedback.auxiliary.values(), start=behind))
        found = []
        for function, registers in sorted(profile.tables().items()):
            for first, end in spans([*registers.values()], gap, MAX_READ, pairs=bool(profile.functions.pairs)):
                inside = [
                    place
                    for place, one in places.items()
                    if first <= one.address < end and any(one is other for other in registers.values())
                ]
                block = Block([places[place] for place in inside], profile.word_order, (first, end))
                found.append(Read(function, first, end - first, block, inside))
        for function in (READ_COILS, READ_DISCRETE):
            addresses = [address for kind, address in signals.inputs if kind == function]
            for first, end in spans([Register(address=address) for address in addresses], gap, MAX_BITS):
                pairs = []
                for place, (kind, address) in enumerate(signals.inputs, start=6 + len(signals.status_words)):
                    if kind == function and first <= address < end:
                        pairs += [place, address - first]
                found.append(Read(function, first, end - first, None, pairs))
        return found

    def encode(self, values: tuple[int | float, ...]) -> tuple[bytes, ...]:
        """Pack the messages of a cycle. values: raw command; struct.error if one does not fit its register."""
        unit, found, control = self._unit, list[bytes](), int(values[0])
        trigger: int | float = 0
        if self._trigger is not None:
            trigger = self._trigger.value if control & self.signals.trigger else self._trigger.idle
        written = (control & 0xFFFF, *values[1:], trigger, *self._constants)
        coils_sent = not self._coil_runs
        for place, write in enumerate(self.writes):
            if write.rank == _RANK_OF_TRIGGER and not coils_sent:
                found += self._coils(control)
                coils_sent = True
            block = write.block
            data = block.pack([written[one] for one in write.places])
            if self._merged and place == len(self.writes) - 1:
                read = self.reads[0]
                head = (unit, READ_WRITE, read.address, read.count, block.address, block.count, len(data))
                found.append(struct.pack(">BBHHHHB", *head) + data)
            elif self._single:
                found.append(struct.pack(">BBH", unit, WRITE_SINGLE, block.address) + data)
            else:
                found.append(struct.pack(">BBHHB", unit, WRITE_MULTIPLE, block.address, block.count, len(data)) + data)
        if not coils_sent:
            found += self._coils(control)
        return *found, *self._read_requests[self._merged :]

    def _coils(self, control: int) -> list[bytes]:
        found = []
        for run in self._coil_runs:
            states = [control >> 16 + self.signals.coils.index(coil) & 1 for coil in run]
            if len(run) == 1:
                found.append(struct.pack(">BBHH", self._unit, WRITE_COIL, run[0], 0xFF00 * states[0]))
            else:
                data = sum(state << place for place, state in enumerate(states)).to_bytes((len(run) + 7) // 8, "little")
                found.append(struct.pack(">BBHHB", self._unit, WRITE_COILS, run[0], len(run), len(data)) + data)
        return found

    def part(self, place: int, request: bytes, reply: bytes) -> bytes | int | None:
        """Data of the reply to the message at `place`, an exception's code, or None for no such reply."""
        if place < self.reads_from:
            done = written(request, reply)
            return b"" if done == 0 else done
        read = self.reads[place - self.reads_from]
        if len(reply) == 3 + read.size and reply[:3] == bytes((self._unit, request[1], read.size)):
            return reply[3:]
        return refused(request, reply)

    def decode(self, parts: Sequence[bytes]) -> tuple[int | float, ...]:
        """Raw feedback of the data of each read, in their order."""
        words, inputs = len(self.signals.status_words), len(self.signals.inputs)
        values: list[int | float] = [*LACKING, *[0] * (self._count - 6)]
        for read, data in zip(self.reads, parts, strict=True):
            read.take(data, values)
        status = int(values[0])
        for place in range(words):
            status |= int(values[6 + place]) << 16 * (1 + place)
        for place in range(inputs):
            status |= int(values[6 + words + place]) << 16 * (1 + words) + place
        return status, *values[1:6], *values[6 + words + inputs :]

    def spread(self, raw: Sequence[int | float]) -> list[int | float]:
        """Device side: what is read, one by one, of raw feedback; see `Read.pack`."""
        words, status = len(self.signals.status_words), int(raw[0])
        bits = 16 * (1 + words)
        inputs = [status >> bits + place & 1 for place in range(len(self.signals.inputs))]
        return [
            status & 0xFFFF,
            *raw[1:6],
            *(status >> 16 * place & 0xFFFF for place in range(1, 1 + words)),
            *inputs,
            *raw[6:],
        ]

    def observe(self, ask: Callable[[int, int, int], bytes]) -> tuple[int | float, ...]:
        """Raw feedback, read without a command. ask: the data of a read by function, address, count."""
        return self.decode([ask(read.function, read.address, read.count) for read in self.reads])


def flags_value(flags: int, places: Mapping[int, tuple[int, int]]) -> int:
    """Device side: the wide status that has `flags`. places: mask and value by flag."""
    word = 0
    for flag, (mask, value) in places.items():
        if flags & flag:
            word = word & ~mask | value
        elif not word & mask and (value == 0 or mask & mask - 1 == 0):
            word |= mask & ~value
    return word
