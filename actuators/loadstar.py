"""Driver `loadstar`: a sensor or an interface of Loadstar, with one load cell on a port of its own, asked in ASCII.

`W` asks for one reading, a whole number of thousandths of a pound; its line ends with carriage return and line feed.
"""

import math
import re
from collections.abc import Sequence
from typing import Literal

from actuators.ascii_cell import (
    END,
    AsciiAddress,
    AsciiCell,
    AsciiFraming,
    AsciiOptions,
    AsciiTwin,
    FaultyAsciiCell,
    only_cell,
)
from actuators.cell_device import CellDriver
from actuators.line_address import Baud
from actuators.virtual.port import Cell

_POUND = 4.4482216152605  # N
_MILLIPOUND = 1e-3 * _POUND
_VALUE = re.compile(rb"-?\d{1,9}")
_REQUEST = re.compile(rb"([A-Z0-9]*)\r")
_ACKNOWLEDGED = b"A"
_LARGEST = 10**9 - 1
_LINE_END = b"\r\n"


class LoadstarAddress(AsciiAddress):
    """A sensor on a serial port of its own, or behind a TCP port that passes its bytes on.

    baud: 9600, or 230400 of those with the high speed option.
    """

    baud: Baud = 9600
    polarity: Literal[-1, 1] = 1
    """1 where compression is positive, -1 where tension is."""

    @property
    def alone(self) -> bool:
        """See `DriveAddress.alone`: they have no numbers."""
        return True


class LoadstarOptions(AsciiOptions, LoadstarAddress):
    """What one sensor's driver needs to know."""


class Loadstar(AsciiCell):
    """A sensor on a port of its own."""

    end = _LINE_END
    usual = len("-12345\r\n")
    vendor = "Loadstar"

    def __init__(self, options: LoadstarOptions) -> None:
        """Make the device without connecting."""
        super().__init__(options, b"W\r")
        self._newton = options.polarity * _MILLIPOUND

    def connect(self, timeout: float) -> None:
        """See `CellDevice.connect`; a stream that somebody had begun is ended."""
        super().connect(timeout)
        self._station.request(END, self.usual, timeout, "end of a stream")

    def _force(self, answer: bytes) -> float | None:
        return int(answer) * self._newton if _VALUE.fullmatch(answer) else None


class VirtualLoadstar(AsciiTwin):
    """A sensor over one cell. What a real one says without a value is not known: this one says nothing."""

    def __init__(self, cell: Cell, *, unit: int = 1, polarity: int = 1) -> None:
        """polarity: see `LoadstarAddress`."""
        super().__init__(cell, unit, AsciiFraming(_REQUEST, b"\r" + bytes(range(48, 91)), _LINE_END, unit))
        self._newton = polarity * _MILLIPOUND

    def answer(self, message: bytes) -> bytes:
        """See `VirtualDevice.answer`."""
        if message[1:] in (b"W", b"O0W1"):
            return message[:1] + self.said if self.said else b""
        return message[:1] + _ACKNOWLEDGED

    def _value(self) -> bytes:
        value = self._cell.cell / self._newton
        return f"{round(value)}".encode() if math.isfinite(value) and abs(value) <= _LARGEST else b""


def _twin(options: LoadstarOptions, cells: Sequence[Cell]) -> FaultyAsciiCell:
    """The virtual sensor of one cell. Raises ConfigurationError."""
    cell = only_cell(cells, "a Loadstar sensor")
    return FaultyAsciiCell(VirtualLoadstar(cell, unit=options.unit, polarity=options.polarity))


DRIVER = CellDriver(LoadstarAddress, LoadstarAddress, LoadstarOptions, Loadstar, _twin)
"""What is registered as `loadstar`."""
