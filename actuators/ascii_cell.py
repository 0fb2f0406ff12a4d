"""Common parts of devices with one load cell and an ASCII protocol.

An answer is a number in characters, with a terminator. It has no sender and no checksum: wrong characters are detected,
a changed digit is not. It has no counter either: a conversion that is read twice looks like two.
"""

import math
import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from actuators.addresses import LineAddress, LineOptions, LineTimes, ReplyTimeout, Turnaround
from actuators.cell_device import CellOptions, DeviceReading, StationCells
from actuators.errors import ConfigurationError, ProtocolError
from actuators.framing import LineFraming, ReplyScan
from actuators.interface import Identity
from actuators.virtual.device import Framing, VirtualDevice
from actuators.virtual.drive import WIRE_FAULTS, Cell
from actuators.virtual.faults import FaultyDevice
from actuators.wire import Parity

END = b"\r"
LONGEST = 32
"""Bytes of an answer, at most."""


@dataclass(frozen=True)
class AsciiLine(LineFraming):
    """Requests that end with a carriage return, and answers that end with `end`."""

    end: bytes = END

    @property
    def description(self) -> str:
        """See `LineFraming.description`."""
        return f"ASCII, answers with {self.end!r}"

    overhead: ClassVar[int] = 0
    names_sender: ClassVar[bool] = False
    names_request: ClassVar[bool] = False

    def frame(self, message: bytes) -> bytes:
        """See `LineFraming.frame`."""
        return message

    def scan(self, data: bytes, message: bytes, length: int) -> ReplyScan | None:
        """See `LineFraming.scan`: the answer without its end; none if more came, as its sender is then unknown."""
        del message, length
        answer, end, rest = data.partition(self.end)
        if end:
            return ReplyScan(b"" if rest else answer)
        return None if len(data) < LONGEST else ReplyScan(b"")


class AsciiAddress(LineAddress, LineTimes):
    """A device on a serial line, or behind a TCP port that passes the bytes of one on."""

    parity: Parity = "none"
    stop_bits: Literal[1, 2] = 1
    turnaround: Turnaround | None = 0.0
    reply_timeout: ReplyTimeout = 0.05


class AsciiOptions(CellOptions, AsciiAddress, LineOptions):
    """What the driver of such a device needs to know."""


class AsciiCell(StationCells):
    """A device with one cell; the maker's protocol is in the class variables and `_force`.

    `end`: of an answer. `usual`: bytes of a usual one. `vendor`: as given by `identify`.
    """

    end = END
    usual = 12
    vendor = ""

    def __init__(self, options: AsciiOptions, request: bytes) -> None:
        """Make the device without connecting. request: the question for a reading."""
        super().__init__(options, 1, options.line(AsciiLine(self.end)), options.place, options.unit)
        self._options = options
        self._request = request
        self._last = DeviceReading((math.nan,), False, 0.0)
        self._sent = False

    @abstractmethod
    def _force(self, answer: bytes) -> float | None:
        """The force of an answer, N; NaN if it reports that there is none. None: it is no answer."""

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """See `CellDevice.exchanges`."""
        return [(len(self._request), self.usual)]

    def identify(self) -> Identity:
        """See `CellDevice.identify`: it only has to answer."""
        timeout = self._options.request_timeout
        answer = self._station.request(self._request, self.usual, timeout, "reading")
        if self._force(answer) is None:
            raise ProtocolError(f"{self._station.label} answered a reading with something else: {answer!r}")
        return Identity(self.vendor, f"load cell {self._options.unit}", "", "")

    def begin(self, now: float) -> None:
        """See `CellDevice.begin`."""
        self._now = now
        if self._sampling.due(now):
            self._sent = self._station.ask(0, self._request, self.usual)
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
        super().close()

    def _finish(self, deadline: float) -> float | None:
        """The force, N; None after counting the failure."""
        if not self._sent:
            return None
        self._sent = False
        answer = self._station.answer(0, deadline)
        if answer is None:
            self.counters.late += 1
            return None
        force = self._force(answer)
        if force is None:
            self.counters.rejected += 1
        return force


class AsciiTwin(VirtualDevice):
    """A virtual device with one cell; its reading freezes while it hangs."""

    def __init__(self, cell: Cell, unit: int, framing: "AsciiFraming") -> None:
        """cell: the measured one."""
        super().__init__(unit, framing)
        self._cell = cell
        self._frozen: bytes | None = None

    @property
    def hung(self) -> bool:
        """See `VirtualDevice.hung`."""
        return self._frozen is not None

    @hung.setter
    def hung(self, hung: bool) -> None:
        if hung != self.hung:
            self._frozen = self._value() if hung else None

    @property
    def reading(self) -> bytes:
        """The reading that it sends."""
        return self._value() if self._frozen is None else self._frozen

    @abstractmethod
    def _value(self) -> bytes:
        """Its reading now, in characters."""


@dataclass(frozen=True)
class AsciiFraming(Framing):
    """The device's side of `AsciiLine`; a message is the device's number and the request.

    request: of a whole frame; its groups are the device's number, if any, and the request. start: bytes with which a
    frame can begin. end: of an answer. number: of the device, where requests have none.
    """

    request: "re.Pattern[bytes]"
    start: bytes
    end: bytes = END
    number: int = 0

    def pause(self, baud: int, byte_time: float) -> float:
        """See `Framing.pause`: none, as somebody may type it."""
        del baud, byte_time
        return math.inf

    def length(self, received: bytes) -> int:
        """See `Framing.length`."""
        if not received:
            return 0
        place = received.find(END)
        if received[:1] not in self.start:
            return -1
        return place + 1 if place >= 0 else 0 if len(received) < LONGEST else -1

    def message(self, frame: bytes) -> bytes:
        """See `Framing.message`."""
        found = self.request.fullmatch(frame)
        if found is None:
            return b""
        *numbers, asked = found.groups()
        number = int(numbers[0]) if numbers else self.number
        return bytes((number,)) + asked if number <= 255 else b""

    def reply(self, message: bytes, request: bytes) -> bytes:
        """See `Framing.reply`."""
        del request
        return message[1:] + self.end


class FaultyAsciiCell(FaultyDevice):
    """A virtual device that can fail."""

    def __init__(self, device: AsciiTwin) -> None:
        """device: the device."""
        super().__init__(device)
        self.kinds = {name: kind for name, kind in WIRE_FAULTS.items() if name != "swap_unit"}


def only_cell(cells: Sequence[Cell], what: str) -> Cell:
    """The one cell of a device; what: text of the device. Raises ConfigurationError if there are several."""
    if len(cells) != 1:
        raise ConfigurationError(f"{what} reads 1 of the load cells, not {len(cells)}")
    return cells[0]
