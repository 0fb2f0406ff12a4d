"""Driver `mantracourt`: a DSC or DCell module with one load cell, which is asked and answers in ASCII.

A request names a station, `!001:SYS?`, and ends with a carriage return; so does the answer, a number with a sign and a
fixed count of digits. Nothing tells whose answer it is, or that it came undamaged: characters that are none of a
number's are noticed, a digit that became another one is not.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from actuators.cell_device import CellDevice, CellDriver, CellOptions, DeviceReading
from actuators.endpoint import Parity
from actuators.errors import ConfigurationError, ConnectError, ProtocolError
from actuators.half_duplex import HalfDuplexBus
from actuators.interface import Identity
from actuators.line_address import Baud, LineAddress, LineOptions, LineTimes
from actuators.line_framing import Look
from actuators.sampling import Sampling
from actuators.station import Station
from actuators.virtual.device import VirtualDevice
from actuators.virtual.fault_kinds import WIRE_FAULTS
from actuators.virtual.faults import FaultyDevice
from actuators.virtual.port import Cell

_END = b"\r"
_LONGEST = 32  # bytes of an answer
_VALUE = re.compile(rb"[+-]\d{1,12}(\.\d{1,9})?")
_DIGITS, _DECIMALS = 5, 3
_USUAL = len("+00032.100\r")
_REFUSED = b"?"
_REQUEST = re.compile(rb"!(\d{3}):([A-Z0-9]+)\?\r")


class AsciiLine:
    """Requests and answers that end with a carriage return."""

    overhead = 0

    def frame(self, message: bytes) -> bytes:
        """See `LineFraming.frame`."""
        return message

    def look(self, data: bytes, message: bytes, length: int) -> Look | None:
        """See `LineFraming.look`: the answer without its end."""
        del message, length
        answer, end, rest = data.partition(_END)
        if end:
            return Look(answer, more=bool(rest)) if answer else Look(b"")
        return None if len(data) < _LONGEST else Look(b"")


_LINE = AsciiLine()


class MantracourtAddress(LineAddress, LineTimes):
    """A module on a serial line, several on each, or behind a TCP port that passes the bytes of one on.

    unit: its station number, 1 to 255.
    """

    baud: Baud = 115_200
    parity: Parity = "none"
    stop_bits: Literal[1, 2] = 1
    turnaround: Annotated[float, Field(ge=0.0, le=1.0)] | None = 0.0
    reply_timeout: Annotated[float, Field(ge=1e-3, le=10.0)] = 0.05
    """As the maker says: an answer comes within 50 ms."""
    scale: Annotated[float, Field(ge=-1e6, le=1e6)] = 1.0
    """N, compression positive, for each of the units that the module is calibrated in."""

    @model_validator(mode="after")
    def _as_the_module_has_it(self) -> Self:
        if not 1 <= self.unit <= 255:
            raise ValueError(f"unit: {self.unit} is outside 1..255: to 0 all modules listen, and none answers")
        if not self.scale:
            raise ValueError("scale: 0, must not be")
        return self


class MantracourtOptions(CellOptions, MantracourtAddress, LineOptions):
    """What one module's driver needs to know."""


class Mantracourt(CellDevice):
    """A module on a serial line; what it says has no counter: a conversion that is read twice looks like two."""

    def __init__(self, options: MantracourtOptions) -> None:
        """Make the device without connecting."""
        super().__init__(options.name, 1)
        self._options = options
        bus = options.line(_LINE)
        self._station = Station(bus, f"{options.name} at {options.place}", options.unit, self.counters)
        self.line = bus if isinstance(bus, HalfDuplexBus) else None
        self._request = f"!{options.unit:03d}:SYS?\r".encode()
        self._sampling = Sampling(options.sample_period)
        self._last = DeviceReading((math.nan,), False, 0.0)
        self._now = 0.0
        self._sent = False

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """See `CellDevice.exchanges`."""
        return [(len(self._request), _USUAL)]

    @property
    def connected(self) -> bool:
        """See `CellDevice.connected`."""
        return self._station.connected

    @property
    def overdue(self) -> bool:
        """See `CellDevice.overdue`."""
        return self._sampling.overdue

    def connect(self, timeout: float) -> None:
        """See `CellDevice.connect`."""
        self.close()
        self._sampling.forget()
        try:
            self._station.open(timeout)
        except ConnectError as error:
            raise ConnectError(f"{self.name}: {error}") from error

    def identify(self) -> Identity:
        """See `CellDevice.identify`: it only has to answer."""
        timeout = self._options.request_timeout
        answer = self._station.request(self._request, _USUAL, timeout, "reading")
        if answer != _REFUSED and not _VALUE.fullmatch(answer):
            raise ProtocolError(f"{self._station.label} answered a reading with something else: {answer!r}")
        return Identity("Mantracourt", f"module {self._options.unit:03d}", "", "")

    def begin(self, now: float) -> None:
        """See `CellDevice.begin`."""
        self._now = now
        if self._sampling.due(now):
            self._sent = self._station.ask(0, self._request, _USUAL)
            self.counters.sent += self._sent

    def finish(self, deadline: float) -> DeviceReading:
        """See `CellDevice.finish`."""
        force = self._finish(deadline) if self._sampling.asked else None
        if force is None:
            return replace(self._last, fresh=False, age=self._sampling.age)
        self.counters.received += 1
        self._sampling.received()
        self._last = DeviceReading((force,), True, 0.0, offset=self._station.carried_after(self._now))
        return self._last

    def close(self) -> None:
        """See `CellDevice.close`."""
        self._sent = False
        self._station.close()

    def _finish(self, deadline: float) -> float | None:
        """The force, N, not a number where the module has none; None after counting why there is no answer."""
        if not self._sent:
            return None
        self._sent = False
        answer = self._station.answer(0, deadline)
        if answer is None:
            self.counters.late += 1
            return None
        if answer == _REFUSED:
            return math.nan
        if not _VALUE.fullmatch(answer):
            self.counters.rejected += 1
            return None
        return float(answer) * self._options.scale


class AsciiFraming:
    """The module's side of `AsciiLine`; a message is the station's number and what is asked."""

    def length(self, received: bytes) -> int:
        """See `Framing.length`."""
        place = received.find(_END)
        if place < 0:
            return 0 if received[:1] in (b"", b"!") and len(received) < _LONGEST else -1
        return place + 1 if received.startswith(b"!") else -1

    def message(self, frame: bytes) -> bytes:
        """See `Framing.message`."""
        found = _REQUEST.fullmatch(frame)
        station = int(found[1]) if found else 0
        return bytes((station,)) + found[2] if found and station <= 255 else b""

    def reply(self, message: bytes, request: bytes) -> bytes:
        """See `Framing.reply`."""
        del request
        return message[1:] + _END


class VirtualMantracourt(VirtualDevice):
    """A module over one cell; a cell without a value, and whatever else is asked, is refused."""

    def __init__(self, cell: Cell, *, unit: int = 1, scale: float = 1.0) -> None:
        """scale: N for each of its units."""
        super().__init__(unit, AsciiFraming())
        self._cell = cell
        self._scale = scale
        self._kept: bytes | None = None

    @property
    def hung(self) -> bool:
        """See `VirtualDevice.hung`."""
        return self._kept is not None

    @hung.setter
    def hung(self, hung: bool) -> None:
        if hung != self.hung:
            self._kept = self._value() if hung else None

    def answer(self, message: bytes) -> bytes:
        """See `VirtualDevice.answer`."""
        if message[0] != self.unit:
            return b""
        if message[1:] != b"SYS":
            return message[:1] + _REFUSED
        return message[:1] + (self._value() if self._kept is None else self._kept)

    def _value(self) -> bytes:
        value = self._cell.cell / self._scale
        if not abs(value) < 10**_DIGITS - 0.5 * 10**-_DECIMALS:
            return _REFUSED
        return f"{value:+0{_DIGITS + _DECIMALS + 2}.{_DECIMALS}f}".encode()


class FaultyMantracourt(FaultyDevice):
    """A virtual module that can fail."""

    def __init__(self, module: VirtualMantracourt) -> None:
        """module: the device."""
        super().__init__(module)
        self.kinds = {name: kind for name, kind in WIRE_FAULTS.items() if name != "swap_unit"}


def _twin(options: MantracourtOptions, cells: Sequence[Cell]) -> FaultyMantracourt:
    """The virtual module of one cell. Raises ConfigurationError."""
    if len(cells) != 1:
        raise ConfigurationError(f"a Mantracourt module reads 1 of the load cells, not {len(cells)}")
    return FaultyMantracourt(VirtualMantracourt(cells[0], unit=options.unit, scale=options.scale))


DRIVER = CellDriver(MantracourtAddress, MantracourtAddress, MantracourtOptions, Mantracourt, _twin)
"""What is registered as `mantracourt`."""
