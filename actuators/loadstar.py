"""Driver `loadstar`: a sensor or an interface of Loadstar, with one load cell on a port of its own, in ASCII.

A reading is a whole number of thousandths of a pound; its line ends with carriage return and line feed. `O0W0` has the
sensor send one after the other by itself until it is sent a carriage return, `W` asks for one.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from actuators.ascii_cell import (
    END,
    LONGEST,
    AsciiAddress,
    AsciiCell,
    AsciiFraming,
    AsciiOptions,
    AsciiTwin,
    FaultyAsciiCell,
    only_cell,
)
from actuators.cell_device import CellDriver, DeviceReading
from actuators.endpoint import SerialEndpoint
from actuators.errors import ConnectError, ProtocolError
from actuators.half_duplex import HalfDuplexBus
from actuators.interface import Identity
from actuators.line_address import Baud
from actuators.virtual.port import Cell

_POUND = 4.4482216152605  # N
_MILLIPOUND = 1e-3 * _POUND
_VALUE = re.compile(rb"-?\d{1,9}")
_REQUEST = re.compile(rb"([A-Z0-9]*)\r")
_ACKNOWLEDGED = b"A"
_LARGEST = 10**9 - 1
_LINE_END = b"\r\n"
_USUAL = len("-12345\r\n")
_ASK, _STREAM = b"W\r", b"O0W0\r"
_CONVERSION = 1.0 / 150.0  # s, of sensors without the high speed option, about


class LoadstarAddress(AsciiAddress):
    """A sensor on a serial port of its own, or behind a TCP port that passes its bytes on.

    baud: 9600, or 230400 of those with the high speed option.
    """

    baud: Baud = 9600
    polarity: Literal[-1, 1] = 1
    """1 where compression is positive, -1 where tension is."""
    stream: bool = True
    """Whether the sensor sends its readings by itself, each once; else it is asked, and may say the same one twice."""

    @property
    def alone(self) -> bool:
        """See `DriveAddress.alone`: they have no numbers."""
        return True

    @property
    def reading_time(self) -> float:
        """See `DriveAddress.reading_time`: of a stream's line."""
        endpoint = self.endpoint
        return _USUAL * endpoint.byte_time if self.stream and isinstance(endpoint, SerialEndpoint) else 0.0


class LoadstarOptions(LoadstarAddress, AsciiOptions):
    """What one sensor's driver needs to know."""


class Loadstar(AsciiCell):
    """A sensor on a port of its own that is asked for each reading."""

    end = _LINE_END
    usual = _USUAL
    vendor = "Loadstar"

    def __init__(self, options: LoadstarOptions) -> None:
        """Make the device without connecting."""
        super().__init__(options, _ASK)
        self._newton = options.polarity * _MILLIPOUND

    def connect(self, timeout: float) -> None:
        """See `CellDevice.connect`; a stream that somebody had begun is ended."""
        super().connect(timeout)
        self._quieten(timeout)

    def _quieten(self, timeout: float) -> None:
        """End a stream within `timeout` s, and let its last line pass. Raises ConnectError, ProtocolError."""
        bus = self._station.bus
        deadline = bus.now() + timeout
        answer = self._station.request(END, self.usual, timeout, "end of a stream")
        while answer != _ACKNOWLEDGED:
            if bus.now() >= deadline:
                raise ProtocolError(
                    f"{self._station.label} answered the end of a stream with something else: {answer!r}"
                )
            answer = self._station.request(END, self.usual, timeout, "end of a stream")

    def _force(self, answer: bytes) -> float | None:
        return int(answer) * self._newton if _VALUE.fullmatch(answer) else None


class LoadstarStream(Loadstar):
    """A sensor on a port of its own that sends its readings by itself.

    Of what has come in a cycle the last whole line counts, once. When it was sent follows from what has come after it,
    or else is taken to be the middle of the time since the port was looked at before; the line's own time on the wire
    comes before that. A line that lost its beginning passes for a reading, as nothing protects it.
    """

    def __init__(self, options: LoadstarOptions) -> None:
        """Make the device without connecting."""
        super().__init__(options)
        endpoint = options.endpoint
        self._byte_time = endpoint.byte_time if isinstance(endpoint, SerialEndpoint) else 0.0
        self._forget()

    def _forget(self) -> None:
        self._begun = b""
        """what has come of a line that is not whole"""
        self._looked = -math.inf
        """when the port was looked at last, s, by the cycles' time"""
        self._new = self._measured = math.nan
        """force that no cycle has reported yet, N, and when the last one was measured, s"""

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """See `CellDevice.exchanges`: nothing is asked in a cycle."""
        return ()

    def connect(self, timeout: float) -> None:
        """See `CellDevice.connect`; the stream is begun."""
        super().connect(timeout)
        self._begin_stream(timeout)

    def identify(self) -> Identity:
        """See `CellDevice.identify`; the stream goes on after it."""
        identity = super().identify()
        self._begin_stream(self._options.request_timeout)
        return identity

    def _begin_stream(self, timeout: float) -> None:
        """Have it talk within `timeout` s: from the first line on, which is whole then. Raises as `connect`."""
        self._forget()
        deadline = self._bus.now() + timeout
        while not self._station.ask(0, _STREAM, self.usual) or (answer := self._station.answer(0, deadline)) is None:
            if not self.connected or self._bus.now() >= deadline:
                raise ConnectError(f"{self._station.label} did not answer within {timeout:g} s (no reply to stream)")
            self._quieten(timeout)
        first = self._force(answer)
        self._new = math.nan if first is None else first

    def begin(self, now: float) -> None:
        """See `CellDevice.begin`: nothing is sent."""
        self._now = now
        self._sampling.due(now)

    def finish(self, deadline: float) -> DeviceReading:
        """See `CellDevice.finish`: nothing is waited for."""
        del deadline
        self._look()
        if not self._sampling.asked or math.isnan(self._new):
            return replace(self._last, fresh=False, age=self._sampling.age)
        self._sampling.received()
        offset = self._measured - self._now if math.isfinite(self._measured) else 0.0
        self._last = DeviceReading((self._new,), True, 0.0, offset=offset)
        self._new = math.nan
        return self._last

    def close(self) -> None:
        """See `CellDevice.close`; the stream is ended."""
        wire = self._bus.wire
        if wire is not None and self.connected:
            wire.send(END)
        self._forget()
        super().close()

    @property
    def _bus(self) -> HalfDuplexBus:
        assert self.line is not None
        return self.line

    def _look(self) -> None:
        """Take what has come since the last look."""
        looked_before, clock = self._looked, self._bus.now()
        timed = math.isfinite(clock)
        self._looked = clock if timed else self._now
        byte_time = self._byte_time if timed else 0.0
        *lines, self._begun = (self._begun + self._bus.overhear()).split(_LINE_END)
        if len(self._begun) > LONGEST:
            self._begun = b""
            self.counters.rejected += 1
        for line in lines:
            force = self._force(line)
            if force is None:
                self.counters.rejected += 1
                continue
            self.counters.received += 1
            self._new = force
            own = (len(line) + len(_LINE_END)) * byte_time
            late = len(self._begun) * byte_time
            if not late and math.isfinite(looked_before):
                late = 0.5 * min(self._looked - looked_before, max(_CONVERSION, own))
            self._measured = self._looked - late - own


class VirtualLoadstar(AsciiTwin):
    """A sensor over one cell. What a real one says without a value is not known: this one says nothing."""

    def __init__(self, cell: Cell, *, unit: int = 1, polarity: int = 1, period: float = _CONVERSION) -> None:
        """polarity: see `LoadstarAddress`. period: s between two lines of a stream."""
        super().__init__(cell, unit, AsciiFraming(_REQUEST, b"\r" + bytes(range(48, 91)), _LINE_END, unit))
        self._newton = polarity * _MILLIPOUND
        self._period = period
        self._next = math.inf
        """when the stream's next line is sent, s; there is none while it is infinite"""
        self._lines = b""

    def tick(self, now: float) -> None:
        """Let time pass: the stream goes on. now: s; never goes back."""
        super().tick(now)
        if now >= self._next:
            self._next += self._period * math.ceil((now - self._next) / self._period + 1e-9)
            self._lines += self.said + _LINE_END if self.said else b""

    def due(self) -> bytes:
        """See `Responder.due`: lines of the stream."""
        lines, self._lines = self._lines, b""
        return lines

    @property
    def next_event(self) -> float:
        """See `Responder.next_event`: the next line of the stream."""
        return self._next

    def answer(self, message: bytes) -> bytes:
        """See `VirtualDevice.answer`; every carriage return ends a stream."""
        self._next, self._lines = math.inf, b""
        if message[1:] == _STREAM[:-1]:
            self._next = self.now + self._period
        elif message[1:] not in (_ASK[:-1], b"O0W1"):
            return message[:1] + _ACKNOWLEDGED
        return message[:1] + self.said if self.said else b""

    def _value(self) -> bytes:
        value = self._cell.cell / self._newton
        return f"{round(value)}".encode() if math.isfinite(value) and abs(value) <= _LARGEST else b""


def _device(options: LoadstarOptions) -> Loadstar:
    return LoadstarStream(options) if options.stream else Loadstar(options)


def _twin(options: LoadstarOptions, cells: Sequence[Cell]) -> FaultyAsciiCell:
    """The virtual sensor of one cell. Raises ConfigurationError."""
    cell = only_cell(cells, "a Loadstar sensor")
    period = max(_CONVERSION, 1.05 * options.reading_time)  # a line is whole before the next one begins
    return FaultyAsciiCell(VirtualLoadstar(cell, unit=options.unit, polarity=options.polarity, period=period))


DRIVER = CellDriver(LoadstarAddress, LoadstarAddress, LoadstarOptions, _device, _twin)
"""What is registered as `loadstar`."""
