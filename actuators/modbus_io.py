"""Driver `modbus-io`: a block of digital inputs and outputs on Modbus, on TCP or a serial line."""

import math
import struct
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from actuators.addresses import LineTimes, ModbusAddress, ModbusOptions
from actuators.codec import (
    READ_COILS,
    READ_DISCRETE,
    READ_HOLDING,
    WRITE_COIL,
    WRITE_COILS,
    WRITE_MULTIPLE,
    WRITE_SINGLE,
    written,
)
from actuators.driver import InUnit, StationMember
from actuators.errors import ConfigurationError
from actuators.framing import CRC_LENGTH
from actuators.interface import Identity
from actuators.io_device import IoDevice, IoDriver, IoOptions, IoReading, Terminals
from actuators.profile import MAX_BITS, Address, Register, spans
from actuators.virtual.device import ILLEGAL_ADDRESS, MBAP_FRAMING, Framing, ModbusDevice, RegisterError
from actuators.virtual.drive import WIRE_FAULTS
from actuators.virtual.faults import FaultyDevice

_REFRESH = 0.1
"""s after which outputs are written again though none has changed"""
_REFRESHES = 3
"""times that they are written within the block's watchdog time, at least"""


class ModbusIoAddress(ModbusAddress, LineTimes):
    """A block of inputs and outputs; a channel is the address of its coil or discrete input, counted from 0."""

    read: Literal["discrete", "coils"] = "discrete"
    """Where the inputs are: discrete inputs (function 2), or coils (function 1)."""
    write: Literal[15, 5] = 15
    """Function that writes the outputs: 15, neighbours together, or 5, one coil at a time."""
    watchdog: Annotated[float, Field(gt=0.0, le=60.0), InUnit("s")] | None = None
    """Time without a write after which the block itself switches its outputs off, s; not given: it is not set here."""
    watchdog_register: Address | None = None
    """Holding register of that time; with `watchdog`."""
    watchdog_scale: Annotated[float, Field(gt=0.0, le=10.0), InUnit("s")] = 0.1
    """Time of one count of that register, s."""

    @model_validator(mode="after")
    def _whole_watchdog(self) -> Self:
        if (self.watchdog is None) != (self.watchdog_register is None):
            raise ValueError("watchdog and watchdog_register go together")
        if self.watchdog is not None and not 1 <= round(self.watchdog / self.watchdog_scale) <= 0xFFFF:
            low, high = self.watchdog_scale, 0xFFFF * self.watchdog_scale
            raise ValueError(f"watchdog {self.watchdog:g} s is outside {low:g}..{high:g} s of its register")
        return self


class ModbusIoOptions(IoOptions, ModbusOptions, ModbusIoAddress):
    """What a block needs to know."""

    @model_validator(mode="after")
    def _channels(self) -> Self:
        for name, channels in (("inputs", self.inputs), ("outputs", self.outputs)):
            twice = next((one for place, one in enumerate(channels) if one in channels[:place]), None)
            if twice is not None:
                raise ValueError(f"{name}: channel {twice} is there twice")
        both = set(self.inputs) & set(self.outputs) if self.read == "coils" else set()
        if both:
            raise ValueError(f"coil {min(both)} is an input and an output")
        if self.inputs and max(self.inputs) - min(self.inputs) >= MAX_BITS:
            raise ValueError(f"inputs: channels {min(self.inputs)} to {max(self.inputs)}, one request reads {MAX_BITS}")
        if not (self.inputs or self.outputs):
            raise ValueError("neither an input nor an output of it is used")
        return self

    @property
    def runs(self) -> list[range]:
        """Outputs that one message writes."""
        coils = [Register(address=channel) for channel in self.outputs]
        return [range(*span) for span in spans(coils, 0, MAX_BITS if self.write == WRITE_COILS else 1)]

    @property
    def watchdog_counts(self) -> int | None:
        """The watchdog's register."""
        return None if self.watchdog is None else round(self.watchdog / self.watchdog_scale)


class ModbusIo(StationMember, IoDevice):
    """A block on a connection of its own, or a unit on a serial line.

    A cycle has one exchange: it reads the inputs, or writes the outputs if one has changed, after `_REFRESH`, and three
    times within the block's watchdog time. A write that is not confirmed is repeated, after the inputs were read.
    """

    def __init__(self, options: ModbusIoOptions) -> None:
        """Make the block without connecting."""
        super().__init__(options.name, options.inputs, options.outputs, options.sample_period)
        self._options = options
        self._unit = options.unit
        self._runs = options.runs
        bus = options.bus(in_turn=len(self._runs) > 1)
        self._join(options, bus, options.place, options.unit, messages=max(1, len(self._runs)))
        self._first = min(self.inputs, default=0)
        count = max(self.inputs, default=-1) - self._first + 1
        function = READ_DISCRETE if options.read == "discrete" else READ_COILS
        self._read_request = struct.pack(">BBHH", options.unit, function, self._first, count)
        self._size = (count + 7) // 8
        self._refresh = _REFRESH if options.watchdog is None else min(_REFRESH, options.watchdog / _REFRESHES)
        self._requests: Sequence[bytes] = ()
        self._last = IoReading((), False, 0.0)
        self._forget()

    def _forget(self) -> None:
        self._states: tuple[bool, ...] | None = None
        """outputs that were written last"""
        self._confirmed = self._wrote = self._asked = False
        self._unread = False
        """whether the last request for the inputs has no good reply; a confirmed write does not make them fresh then"""
        self._written_at = -math.inf
        self._last = self._last._replace(inputs=(), fresh=False)

    @property
    def watchdog(self) -> bool:
        """See `IoDevice.watchdog`."""
        return self._options.watchdog is not None

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """See `Member.exchanges`: the longer of reading and writing."""
        reading = [(len(self._read_request) + CRC_LENGTH, 3 + self._size + CRC_LENGTH)] if self.inputs else []
        writing = [(len(one) + CRC_LENGTH, 6 + CRC_LENGTH) for one in self._writes((False,) * len(self.outputs))]
        return max(reading, writing, key=lambda messages: sum(map(sum, messages)))

    def connect(self, timeout: float) -> None:
        """See `IoDevice.connect`."""
        self.close()
        self._sampling.forget()
        self._forget()
        self._open(timeout)

    def identify(self) -> Identity:
        """See `IoDevice.identify`; a block of outputs alone is not asked for anything."""
        if self.inputs:
            _, function, first, count = struct.unpack(">BBHH", self._read_request)
            self._station.read_data(function, first, count, self._options.request_timeout)
        return Identity("", self.name, "", "")

    def configure(self) -> None:
        """See `IoDevice.configure`."""
        options, station, timeout = self._options, self._station, self._options.request_timeout
        self.switch_off()
        register, counts = options.watchdog_register, options.watchdog_counts
        if register is None or counts is None:
            return
        station.write(register, [counts], timeout, WRITE_SINGLE)
        (found,) = station.read(register, 1, timeout)
        if found != counts:
            raise ConfigurationError(
                f"{station.label} did not take the watchdog time {options.watchdog:g} s: register {register} reads "
                f"back {found}, not {counts}"
            )

    def switch_off(self) -> None:
        """See `IoDevice.switch_off`."""
        self._states, self._confirmed, self._wrote = (False,) * len(self.outputs), True, True  # so it reads next
        for run, request in zip(self._runs, self._writes((False,) * len(self.outputs)), strict=True):
            what = f"write of coils {run.start}..{run.stop - 1}"
            self._station.confirm(request, self._options.request_timeout, what)

    def begin(self, outputs: Sequence[bool], now: float) -> None:
        """See `IoDevice.begin`."""
        states = tuple(outputs)
        changed = bool(self.outputs) and states != self._states
        if not self._sampling.due(now, changed):
            return
        due = not self._confirmed or now - self._written_at >= self._refresh
        self._wrote = changed or not self.inputs or (bool(self.outputs) and due and not self._wrote)
        if self._wrote:
            self._states, self._confirmed, self._written_at = states, False, now
            self._requests = self._writes(states)
        else:
            self._requests, self._unread = (self._read_request,), True
        length = 6 if self._wrote else 3 + self._size
        sent = [self._station.ask(place, request, length) for place, request in enumerate(self._requests)]
        self._asked = all(sent)
        self.counters.sent += self._asked

    def finish(self, deadline: float) -> IoReading:
        """See `IoDevice.finish`; the confirmation of a write is a good reply, with the inputs of the last read."""
        if self._sampling.asked and self._collect(deadline):
            self.counters.received += 1
            self._unread &= self._wrote
            if not self._unread:
                self._sampling.received()
                self._last = self._last._replace(fresh=True, age=0.0)
                return self._last
        return self._last._replace(fresh=False, age=self._sampling.age)

    def _writes(self, states: Sequence[bool]) -> list[bytes]:
        """Messages that write the outputs."""
        on, found = dict(zip(self.outputs, states, strict=True)), []
        for run in self._runs:
            if self._options.write == WRITE_COIL:
                found.append(struct.pack(">BBHH", self._unit, WRITE_COIL, run.start, 0xFF00 * on[run.start]))
                continue
            size = (len(run) + 7) // 8
            data = sum(on[channel] << place for place, channel in enumerate(run)).to_bytes(size, "little")
            found.append(struct.pack(">BBHHB", self._unit, WRITE_COILS, run.start, len(run), size) + data)
        return found

    def _collect(self, deadline: float) -> bool:
        """Take the replies of this cycle; whether all are good."""
        good, asked, self._asked = self._asked, self._asked, False
        for place, request in enumerate(self._requests if asked else ()):
            reply = self._station.answer(place, deadline)
            if reply is None:
                self.counters.late += good
                good = False
            elif not (written(request, reply) == 0 if self._wrote else self._take(request, reply)):
                self._station.refuse(reply)
                good = False
        self._confirmed |= good and self._wrote
        return good

    def _take(self, request: bytes, reply: bytes) -> bool:
        """Take the inputs of a reply; False if it is none to the request."""
        if len(reply) != 3 + self._size or reply[:3] != request[:2] + bytes((self._size,)):
            return False
        bits = int.from_bytes(reply[3:], "little")
        self._last = self._last._replace(inputs=tuple([bool(bits >> one - self._first & 1) for one in self.inputs]))
        return True


class VirtualIo(ModbusDevice):
    """The virtual block: the channels of its options over what is wired to them; all outputs are off at power-up.

    With a watchdog register that was written, outputs are switched off as long after the last write.
    """

    def __init__(self, options: ModbusIoOptions, terminals: Terminals, framing: Framing = MBAP_FRAMING) -> None:
        """terminals: what is wired to it."""
        super().__init__(options.unit, framing=framing)
        self._terminals = terminals
        self._outputs = dict.fromkeys(options.outputs, False)
        self._watchdog, self._scale = 0, options.watchdog_scale
        self._written_at = 0.0
        reads = READ_DISCRETE if options.read == "discrete" else READ_COILS
        self.functions = frozenset({reads, READ_COILS, WRITE_COIL, READ_HOLDING, WRITE_SINGLE, WRITE_MULTIPLE})
        if options.write == WRITE_COILS:
            self.functions |= {WRITE_COILS}
        self._tables |= {reads: [], READ_COILS: []}
        inputs = options.inputs
        for channel in range(min(inputs, default=0), max(inputs, default=-1) + 1):
            self._tables[reads].append((channel, 1, partial(self._input, channel, wired=channel in inputs)))
        self._tables[READ_COILS] += [(channel, 1, partial(self._output, channel)) for channel in options.outputs]
        self._register = options.watchdog_register
        if self._register is not None:
            self._readable.append((self._register, 1, lambda: self._watchdog.to_bytes(2, "big")))

    def _input(self, channel: int, *, wired: bool) -> bytes:
        return bytes((wired and self._terminals.read(channel),))

    def _output(self, channel: int) -> bytes:
        return bytes((self._outputs[channel],))

    def tick(self, now: float) -> None:
        """See `VirtualDevice.tick`."""
        self.now = now
        if any(self._outputs.values()) and self._watchdog and now - self._written_at > self._watchdog * self._scale:
            self._switch(dict.fromkeys(self._outputs, False))

    def _switch(self, states: dict[int, bool]) -> None:
        for channel, on in states.items():
            self._outputs[channel] = on
            self._terminals.write(channel, on)

    def _write(self, address: int, data: bytes) -> None:
        if address != self._register or len(data) != 2:
            raise RegisterError(ILLEGAL_ADDRESS)
        self._watchdog, self._written_at = int.from_bytes(data, "big"), self.now

    def _write_bits(self, address: int, states: list[bool]) -> None:
        written_states = dict(enumerate(states, start=address))
        if not written_states.keys() <= self._outputs.keys():
            raise RegisterError(ILLEGAL_ADDRESS)
        self._written_at = self.now
        self._switch(written_states)


class FaultyIo(FaultyDevice):
    """A virtual block behind a wire that can fail."""

    def __init__(self, device: VirtualIo) -> None:
        """device: the block."""
        super().__init__(device)
        self.kinds = {name: kind for name, kind in WIRE_FAULTS.items() if name != "swap_unit"}


def io_twin(options: ModbusIoOptions, terminals: Terminals) -> FaultyDevice:
    """The virtual block."""
    return FaultyIo(VirtualIo(options, terminals, options.server_framing))


DRIVER = IoDriver(ModbusIoAddress, ModbusIoOptions, ModbusIo, io_twin)
"""The driver registered as `modbus-io`."""
