"""Driver `loadstar`: a sensor or an interface of Loadstar, with one load cell on a port of its own, in ASCII.

A reading is a whole number of thousandths of a pound; its line ends with carriage return and line feed. `O0W0` starts
a stream of readings that a carriage return ends; `W` requests one.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from actuators.addresses import Baud
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
from actuators.bus import HalfDuplexBus
from actuators.cell_device import CellDriver, DeviceReading
from actuators.errors import ConnectError, ProtocolError
from actuators.interface import Identity
from actuators.virtual.drive import Cell
from actuators.wire import SerialEndpoint

_POUND = 4.4482216152605  # N
_MILLIPOUND = 1e-3 * _POUND
_VALUE = re.compile(rb"-?\d{1,9}")
_REQUEST = re.compile(rb"([A-Z0-9]*)\r")
_ACKNOWLEDGED = b"A"
_LARGEST = 10**9 - 1
_LINE_END = b"\r\n"
_USUAL = len("-123456\r\n")
_ASK, _STREAM = b"W\r", b"O0W0\r"
_CONVERSION = 1.0 / 150.0  # s, of sensors without the high speed option, about
_PORT_BUFFER = 1000  # bytes that any port keeps
_SILENT = 0.25  # s without a line, after which a stream has ended; longer than any sends none


class LoadstarAddress(AsciiAddress):
    """A sensor on its own serial port, or behind a TCP port that forwards its bytes.

    baud: 9600, or 230400 with the high speed option.
    """

    baud: Baud = 9600
    polarity: Literal[-1, 1] = 1
    """1 if compression is positive, -1 if tension is."""
    stream: bool = True
    """Whether the sensor streams its readings, each once; otherwise it is polled and may repeat a reading."""

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
    """A sensor on its own port that is asked for each reading."""

    end = _LINE_END
    usual = _USUAL
    vendor = "Loadstar"

    def __init__(self, options: LoadstarOptions) -> None:
        """Make the device without connecting."""
        super().__init__(options, _ASK)
        self._newton = options.polarity * _MILLIPOUND
        self._begun = b""
        """bytes of an incomplete line"""

    def connect(self, timeout: float) -> None:
        """See `CellDevice.connect`; an earlier stream is ended."""
        super().connect(timeout)
        self._quieten(timeout)

    def _quieten(self, timeout: float) -> None:
        """End a stream within `timeout` s, and drop its last lines. Raises ConnectError, ProtocolError."""
        deadline = self._bus.now() + timeout
        self._send(END)
        last = line = self._line(deadline)
        while line not in (None, _ACKNOWLEDGED):
            last, line = line, self._line(deadline)
        if last is None:
            raise ConnectError(
                f"{self._station.label} did not answer within {timeout:g} s (no reply to end of a stream)"
            )
        if line is None:
            raise ProtocolError(f"{self._station.label} answered the end of a stream with something else: {last!r}")

    def _send(self, message: bytes) -> None:
        """Send a message without an answer; earlier bytes are dropped."""
        self._bus.overhear()
        self._begun = b""
        if self._bus.wire is not None:
            self._bus.wire.send(message)

    def _line(self, deadline: float) -> bytes | None:
        """The next line by `deadline`, s on the wire's clock, without its end; None if there is none."""
        while True:
            self._begun += self._bus.overhear()
            line, end, rest = self._begun.partition(_LINE_END)
            if end:
                self._begun = rest
                return line.removeprefix(b"\n")  # of a line whose carriage return was dropped by `_send`
            wire = self._bus.wire
            if wire is None or not wire.connected or len(line) > LONGEST or wire.now() >= deadline:
                return None
            wire.wait(deadline, ())

    @property
    def _bus(self) -> HalfDuplexBus:
        assert self.line is not None
        return self.line

    def _force(self, answer: bytes) -> float | None:
        return int(answer) * self._newton if _VALUE.fullmatch(answer) else None


class LoadstarStream(Loadstar):
    """A sensor on its own port that streams its readings.

    The last complete line of a cycle counts, once. Its time follows from the bytes after it, or else is the middle of
    the time since the port was read before; the line's transmission time is subtracted. A line without its beginning
    looks like a reading, as there is no checksum.
    """

    def __init__(self, options: LoadstarOptions) -> None:
        """Make the device without connecting."""
        super().__init__(options)
        endpoint = options.endpoint
        self._byte_time = endpoint.byte_time if isinstance(endpoint, SerialEndpoint) else 0.0
        self._forget()

    def _forget(self) -> None:
        self._begun = b""
        self._cut = False
        """whether the present line is incomplete at its beginning"""
        self._read_at = self._cycle_read = -math.inf
        """time of the last reading of the port, s on its clock, and of its cycle"""
        self._new = self._measured = math.nan
        """force that no cycle has reported yet, N, and when the last one was measured, s"""
        self._retry_at = math.inf
        """s, when the stream is started again if no line comes before"""

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """See `CellDevice.exchanges`: nothing is requested in a cycle."""
        return ()

    def connect(self, timeout: float) -> None:
        """See `CellDevice.connect`; the stream is begun."""
        super().connect(timeout)
        self._begin_stream(timeout)

    def identify(self) -> Identity:
        """See `CellDevice.identify`; the stream continues after it."""
        if self.connected:
            self._quieten(self._options.request_timeout)
        identity = super().identify()
        self._begin_stream(self._options.request_timeout)
        return identity

    def _begin_stream(self, timeout: float) -> None:
        """Start the stream within `timeout` s, and take its first line. Raises ConnectError."""
        self._forget()
        deadline = self._bus.now() + timeout
        self._send(_STREAM)
        force = None
        while force is None:
            line = self._line(deadline)
            if line is None:
                raise ConnectError(f"{self._station.label} did not answer within {timeout:g} s (no reply to stream)")
            force = self._force(line)
        self._new = force

    def begin(self, now: float) -> None:
        """See `CellDevice.begin`: nothing is sent, unless the stream has ended."""
        if now - self._cycle_read > _SILENT:  # what came in a pause is old, and a port does not keep all of it
            received = self._bus.overhear()
            self._cut = self._cut or len(received) > _PORT_BUFFER
            self._begun = (self._begun + received).rpartition(_LINE_END)[2]
            if self._cycle_read > -math.inf:
                self._new = math.nan
            self._retry_at = now + _SILENT
        elif now >= self._retry_at:
            self._send(_STREAM)
            self.counters.sent += 1
            self._cut, self._retry_at = True, now + 2.0 * _SILENT
        self._now = self._cycle_read = now
        self._sampling.due(now)

    def finish(self, deadline: float) -> DeviceReading:
        """See `CellDevice.finish`: nothing is waited for."""
        del deadline
        self._read()
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

    def _read(self) -> None:
        """Read the bytes since the last call."""
        previously, clock = self._read_at, self._bus.now()
        timed = math.isfinite(clock)
        self._read_at = clock if timed else self._now
        byte_time = self._byte_time if timed else 0.0
        *lines, self._begun = (self._begun + self._bus.overhear()).split(_LINE_END)
        if len(self._begun) > LONGEST:
            self._begun = b""
            self.counters.rejected += 1
        if self._cut and lines:
            del lines[0]
            self._cut = False
        for line in lines:
            force = self._force(line)
            if force is None:
                self.counters.rejected += 1
                continue
            self.counters.received += 1
            self._new, self._retry_at = force, self._now + _SILENT
            own = (len(line) + len(_LINE_END)) * byte_time
            late = len(self._begun) * byte_time
            if not late and math.isfinite(previously):
                late = 0.5 * min(self._read_at - previously, max(_CONVERSION, own))
            self._measured = self._read_at - late - own


class VirtualLoadstar(AsciiTwin):
    """A sensor with one cell. It is unknown what a real one sends without a value: this one sends nothing."""

    def __init__(self, cell: Cell, *, unit: int = 1, polarity: int = 1, byte_time: float = 0.0) -> None:
        """polarity: see `LoadstarAddress`. byte_time: s; a stream's line is complete before the next one begins."""
        super().__init__(cell, unit, AsciiFraming(_REQUEST, b"\r" + bytes(range(48, 91)), _LINE_END, unit))
        self._newton = polarity * _MILLIPOUND
        self._byte_time = byte_time
        self._next = math.inf
        """s, when the stream's next line is sent; infinite without a stream"""
        self._lines = b""

    def tick(self, now: float) -> None:
        """Let time pass: the stream goes on. now: s; never goes back."""
        super().tick(now)
        if now >= self._next:
            line = self._stream_line
            pause = self._pause(line)
            self._next += pause * math.ceil((now - self._next) / pause + 1e-9)
            self._lines += line

    @property
    def _stream_line(self) -> bytes:
        return self.reading + _LINE_END if self.reading else b""

    def _pause(self, line: bytes) -> float:
        """Time from a line to the next, s."""
        return max(_CONVERSION, 1.05 * len(line) * self._byte_time)

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
            self._next = self.now + self._pause(self._stream_line)
        elif message[1:] not in (_ASK[:-1], b"O0W1"):
            return message[:1] + _ACKNOWLEDGED
        return message[:1] + self.reading if self.reading else b""

    def _value(self) -> bytes:
        value = self._cell.cell / self._newton
        return f"{round(value)}".encode() if math.isfinite(value) and abs(value) <= _LARGEST else b""


def _device(options: LoadstarOptions) -> Loadstar:
    return LoadstarStream(options) if options.stream else Loadstar(options)


def _twin(options: LoadstarOptions, cells: Sequence[Cell]) -> FaultyAsciiCell:
    """The virtual sensor of one cell. Raises ConfigurationError."""
    cell = only_cell(cells, "a Loadstar sensor")
    endpoint = options.endpoint
    byte_time = endpoint.byte_time if isinstance(endpoint, SerialEndpoint) else 0.0
    return FaultyAsciiCell(VirtualLoadstar(cell, unit=options.unit, polarity=options.polarity, byte_time=byte_time))


DRIVER = CellDriver(LoadstarAddress, LoadstarAddress, LoadstarOptions, _device, _twin)
"""What is registered as `loadstar`."""
