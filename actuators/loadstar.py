"""Driver `loadstar`: a sensor or an interface of Loadstar, with one load cell on a port of its own, in ASCII.

Requests end with a carriage return, lines of answers with carriage return and line feed. There are two series, by their
maker's pages "Basic Command Set for iLoad Digital Sensors" and "DI-100U / DI-1000U Command Set". A reading of the first
is a whole number of thousandths of a pound, one of the second a decimal in the unit that the interface reports.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

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
from actuators.errors import ConnectError, IdentityError, ProtocolError
from actuators.interface import Identity
from actuators.virtual.drive import Cell
from actuators.wire import SerialEndpoint

_POUND = 4.4482216152605  # N
_KILOGRAM = 9.80665  # N
_UNITS = {
    "lb": _POUND,
    "lbf": _POUND,
    "kg": _KILOGRAM,
    "kgf": _KILOGRAM,
    "g": 1e-3 * _KILOGRAM,
    "n": 1.0,
    "kn": 1e3,
    "oz": _POUND / 16.0,
}
"""N, units of force by their names in lower case."""
_REQUEST = re.compile(rb"([ -~]*)\r")
_ACKNOWLEDGED, _ERROR = b"A", b"E"
_LARGEST = 10**9 - 1
_LINE_END = b"\r\n"
_ASK = b"W\r"
_FAST = 9600  # baud, above which a sensor has the high speed option
_FAST_CONVERSION = 1.0 / 500.0  # s
_PORT_BUFFER = 1000  # bytes that any port keeps
_SILENT = 0.25  # s without a line, after which a stream has ended, or a question has no answer; longer than any takes


@dataclass(frozen=True, slots=True)
class Series:
    """A series of sensors: its commands, and how it writes a reading. W is a reading of each."""

    model: bytes
    identity: bytes
    capacity: bytes
    stream: bytes
    """begins a stream of readings"""
    value: re.Pattern[bytes]
    usual: int
    """bytes of a usual line"""
    conversion: float
    """s, without the high speed option, about"""

    def converts_in(self, baud: int) -> float:
        """Time of a conversion, s."""
        return self.conversion if baud <= _FAST else _FAST_CONVERSION


SERIES: Mapping[str, Series] = {
    "iload": Series(b"SS0", b"SS1", b"SLC", b"O0W0", re.compile(rb"-?\d{1,9}"), len("-123456\r\n"), 1.0 / 150.0),
    "di-1000": Series(
        b"MODEL", b"ID", b"LC", b"WC", re.compile(rb" {0,12}-?\d{1,9}(\.\d{1,9})?"), len("-123.4567\r\n"), 1.0 / 70.0
    ),
}
_USUAL_SERIES = "iload"


class LoadstarAddress(AsciiAddress):
    """A sensor on its own serial port, or behind a TCP port that forwards its bytes.

    baud: 9600, or 230400 with the high speed option.
    """

    baud: Baud = 9600
    polarity: Literal[-1, 1] = 1
    """1 if compression is positive, -1 if tension is."""
    stream: bool = True
    """Whether the sensor streams its readings, each once; otherwise it is polled and may repeat a reading."""
    series: Literal["iload", "di-1000"] | None = None
    """Series that the sensor must be of: "iload", or "di-1000" for the interfaces DI-100 and DI-1000; not given: it is
    asked, and a virtual one is an iLoad."""
    serial: str | None = None
    """Identity that the sensor must have; not given: any."""

    @property
    def alone(self) -> bool:
        """See `DriveAddress.alone`: they have no numbers."""
        return True

    @property
    def reading_time(self) -> float:
        """See `DriveAddress.reading_time`: of a stream's line or its conversion."""
        endpoint = self.endpoint
        if not (self.stream and isinstance(endpoint, SerialEndpoint)):
            return 0.0
        return max(self.expected.usual * endpoint.byte_time, self.expected.converts_in(self.baud))

    @property
    def expected(self) -> Series:
        """The series that it is planned for."""
        return SERIES[self.series or _USUAL_SERIES]


class LoadstarOptions(LoadstarAddress, AsciiOptions):
    """What one sensor's driver needs to know."""


class Loadstar(AsciiCell):
    """A sensor on its own port that is asked for each reading."""

    end = _LINE_END
    vendor = "Loadstar"

    def __init__(self, options: LoadstarOptions) -> None:
        """Make the device without connecting."""
        super().__init__(options, _ASK)
        self._own = options
        self._take_series(options.series or _USUAL_SERIES, 1e-3 * _POUND, "lb")
        self._begun = b""
        """bytes of an incomplete line"""

    def _take_series(self, name: str, newton: float, unit: str) -> None:
        """Take the series of that name, whose readings are in `newton` N; unit: of its capacity, in words."""
        self._series = SERIES[name]
        self.usual = self._series.usual
        self._newton, self._unit = self._own.polarity * newton, unit

    def connect(self, timeout: float) -> None:
        """See `CellDevice.connect`; an earlier stream is ended, and the sensor is asked what it is.

        Raises IdentityError: another series or identity. ProtocolError: an unknown unit, or not that of its series.
        """
        super().connect(timeout)
        self._quieten(timeout)
        deadline = self._bus.now() + timeout
        model = self._answer(b"MODEL", deadline)
        series = "di-1000" if "DI-1" in model else "iload"
        if self._own.series not in (None, series):
            says = f"says its model is {model!r}" if model else "does not say its model"
            raise IdentityError(f"{self._station.label} {says}: it is of the series {series}, not {self._own.series}")
        unit = self._answer(b"UNITS", deadline)
        if series == "di-1000" and not unit:
            unit = self._answer(b"UNIT", deadline)
        factor = _UNITS.get(unit.lower())
        if series == "di-1000" and factor is None:
            raise ProtocolError(f"{self._station.label} reads in {unit!r}, must be one of {', '.join(_UNITS)}")
        if series == "iload" and factor not in (None, _POUND):
            raise ProtocolError(f"{self._station.label} reads in {unit!r}, must be lb, as all of the series iload do")
        if series == "iload" or factor is None:
            self._take_series(series, 1e-3 * _POUND, "lb")
        else:
            self._take_series(series, factor, unit)
        if self._own.serial is not None and self._own.serial != (found := self._identity(deadline)):
            raise IdentityError(f"{self._station.label} has the identity {found!r}, expected {self._own.serial!r}")

    def identify(self) -> Identity:
        """See `CellDevice.identify`: model and capacity, and what identifies it."""
        super().identify()
        deadline = self._bus.now() + self._options.request_timeout
        model, capacity = (self._answer(each, deadline) for each in (self._series.model, self._series.capacity))
        product = ", ".join(filter(None, (model or "load cell", capacity and f"{capacity} {self._unit}")))
        return Identity(self.vendor, product, self._identity(deadline), "")

    def _identity(self, deadline: float) -> str:
        return self._answer(self._series.identity, deadline)

    def _answer(self, question: bytes, deadline: float) -> str:
        """The answer to a question, empty without one by `deadline` (s) or if it is refused."""
        self._send(question + END)
        until = min(deadline, self._bus.now() + _SILENT)
        while (line := self._line(until)) == _ACKNOWLEDGED:
            pass  # of an earlier carriage return
        return "" if line in (None, _ERROR) else line.decode("ascii", "replace").strip()

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
        return float(answer) * self._newton if self._series.value.fullmatch(answer) else None


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
        self._send(self._series.stream + END)
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
            self._send(self._series.stream + END)
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
                late = 0.5 * min(self._read_at - previously, max(self._series.converts_in(self._own.baud), own))
            self._measured = self._read_at - late - own


class VirtualLoadstar(AsciiTwin):
    """A sensor with one cell, of either series.

    The manual leaves open what it sends without a value, and for an unknown command: this one sends nothing, and E.
    The formats of a time with its reading and of a temperature are guesses. Averaging is stored and has no effect.
    """

    models: ClassVar = {"iload": b"iLoad", "di-1000": b"FCM DI-1000"}
    capacity = 200.0 * _POUND
    """N"""
    temperature = 25.0
    """°C"""

    def __init__(
        self, cell: Cell, *, series: str = _USUAL_SERIES, unit: int = 1, polarity: int = 1, identity: str = "",
        baud: int = _FAST, byte_time: float = 0.0, force_unit: str = "LB",
    ) -> None:  # fmt: skip
        """Switch it on.

        series, polarity, baud: see `LoadstarAddress`. identity: what it answers to the request for one. byte_time: s;
        a stream's line is complete before the next one begins. force_unit: of readings and capacity of a "di-1000".
        """
        super().__init__(cell, unit, AsciiFraming(_REQUEST, b"\r" + bytes(range(32, 127)), _LINE_END, unit))
        self._series, self._decimal = SERIES[series], series == "di-1000"
        self._force_unit = force_unit if self._decimal else "lb"
        self._newton = _UNITS[self._force_unit.lower()] if self._decimal else 1e-3 * _POUND
        self._polarity = polarity
        self._byte_time, self._conversion = byte_time, self._series.converts_in(baud)
        self._identity = identity.encode()
        self._averaged = 32
        self._zero, self._zeroed_at = 0.0, 0.0
        """force at which it was tared, N, and when, s"""
        self._timed = False
        """whether the stream's lines have the time"""
        self._next = math.inf
        """s, when the stream's next line is sent; infinite without a stream"""
        self._lines = b""
        self._commands: Mapping[bytes, Callable[[bytes], bytes]] = {
            **(self._of_interfaces if self._decimal else self._of_sensors),
            b"": lambda _: _ACKNOWLEDGED,
            b"?": lambda _: b" ".join(sorted(self._commands)[1:]),
            b"CT0": self._tare,
            b"W": lambda _: self.reading,
            self._series.model: lambda _: self.models[series],
            self._series.identity: lambda _: self._identity,
            self._series.capacity: lambda _: f"{self.capacity / _UNITS[self._force_unit.lower()]:.1f}".encode(),
            self._series.stream: lambda _: self._begin_stream(timed=False),
        }

    @property
    def _of_interfaces(self) -> Mapping[bytes, Callable[[bytes], bytes]]:
        """Commands of the series "di-1000" alone."""
        return {
            b"TARE": self._tare,
            b"UNIT": lambda _: self._force_unit.encode(),
            b"UNITS": lambda _: self._force_unit.encode(),
            b"R": lambda _: f"{round(self._cell.cell / self.capacity * 2**22)}".encode() if self.reading else b"",
        }

    @property
    def _of_sensors(self) -> Mapping[bytes, Callable[[bytes], bytes]]:
        """Commands of the series "iload" alone."""
        return {
            b"O0W1": lambda _: self.reading,
            b"O0T1": lambda _: self._line(timed=True),
            b"O0T0": lambda _: self._begin_stream(timed=True),
            b"O0S2": lambda _: f"{self.temperature:.1f}".encode(),
            b"CS1": self._rename,
            b"CPS": self._average,
        }

    def _tare(self, _given: bytes) -> bytes:
        if math.isfinite(self._cell.cell):
            self._zero, self._zeroed_at = self._cell.cell, self.now
        return b"Tared" if self._decimal else _ACKNOWLEDGED

    def _rename(self, given: bytes) -> bytes:
        self._identity = given
        return _ACKNOWLEDGED

    def _average(self, given: bytes) -> bytes:
        """CPS: 32 to 1023."""
        if not (given.isdigit() and 32 <= int(given) <= 1023):
            return _ERROR
        self._averaged = int(given)
        return _ACKNOWLEDGED

    def _begin_stream(self, *, timed: bool) -> bytes:
        self._timed = timed
        line = self._line(timed=timed)
        self._next = self.now + self._pause(line)
        return line

    def _line(self, *, timed: bool) -> bytes:
        """A reading, with the time since it was tared if `timed`, ms; empty without one."""
        time = f"{round((self.now - self._zeroed_at) * 1e3)} ".encode() if timed else b""
        return time + self.reading if self.reading else b""

    def tick(self, now: float) -> None:
        """Let time pass: the stream goes on. now: s; never goes back."""
        super().tick(now)
        if now >= self._next:
            line = self._line(timed=self._timed)
            pause = self._pause(line)
            self._next += pause * math.ceil((now - self._next) / pause + 1e-9)
            self._lines += line + _LINE_END if line else b""

    def _pause(self, line: bytes) -> float:
        """Time from a line to the next, s."""
        return max(self._conversion, 1.05 * len(line + _LINE_END) * self._byte_time)

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
        command, _, given = message[1:].partition(b" ")
        act = self._commands.get(command.upper())
        answer = _ERROR if act is None else act(given)
        return message[:1] + answer if answer else b""

    def _value(self) -> bytes:
        value = self._polarity * (self._cell.cell - self._zero) / self._newton
        if not (math.isfinite(value) and abs(value) <= _LARGEST):
            return b""
        return (f"{value:.4f}" if self._decimal else f"{round(value)}").encode()


def _device(options: LoadstarOptions) -> Loadstar:
    return LoadstarStream(options) if options.stream else Loadstar(options)


def _twin(options: LoadstarOptions, cells: Sequence[Cell]) -> FaultyAsciiCell:
    """The virtual sensor of one cell. Raises ConfigurationError."""
    cell = only_cell(cells, "a Loadstar sensor")
    endpoint = options.endpoint
    twin = VirtualLoadstar(
        cell,
        series=options.series or _USUAL_SERIES,
        unit=options.unit,
        polarity=options.polarity,
        identity=options.serial or "VIRTUAL",
        baud=options.baud,
        byte_time=endpoint.byte_time if isinstance(endpoint, SerialEndpoint) else 0.0,
    )
    return FaultyAsciiCell(twin)


DRIVER = CellDriver(LoadstarAddress, LoadstarAddress, LoadstarOptions, _device, _twin)
"""What is registered as `loadstar`."""
