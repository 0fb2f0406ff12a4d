"""Driver `mantracourt`: a DSC or DCell module with one load cell, asked in ASCII.

A request names a station, `!001:SYS?`, and ends with a carriage return; so does the answer, a number with a sign and a
fixed count of digits.
"""

import math
import re
from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator

from actuators.ascii_cell import (
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

_VALUE = re.compile(rb"[+-]\d{1,12}(\.\d{1,9})?")
_DIGITS, _DECIMALS = 5, 3
_REFUSED = b"?"
_REQUEST = re.compile(rb"!(\d{3}):([A-Z0-9]+)\?\r")


class MantracourtAddress(AsciiAddress):
    """A module on a serial line, several on each, or behind a TCP port that passes the bytes of one on.

    unit: its station number, 1 to 255. reply_timeout: as the maker says, an answer comes within 50 ms.
    """

    baud: Baud = 115_200
    scale: Annotated[float, Field(ge=-1e6, le=1e6)] = 1.0
    """N, compression positive, for each of the units that the module is calibrated in."""

    @model_validator(mode="after")
    def _as_the_module_has_it(self) -> Self:
        if not 1 <= self.unit <= 255:
            raise ValueError(f"unit: {self.unit} is outside 1..255: to 0 all modules listen, and none answers")
        if not self.scale:
            raise ValueError("scale: 0, must not be")
        return self


class MantracourtOptions(MantracourtAddress, AsciiOptions):
    """What one module's driver needs to know."""


class Mantracourt(AsciiCell):
    """A module on a serial line."""

    usual = len("+00032.100\r")
    vendor = "Mantracourt"

    def __init__(self, options: MantracourtOptions) -> None:
        """Make the device without connecting."""
        super().__init__(options, f"!{options.unit:03d}:SYS?\r".encode())
        self._scale = options.scale

    def _force(self, answer: bytes) -> float | None:
        if answer == _REFUSED:
            return math.nan
        return float(answer) * self._scale if _VALUE.fullmatch(answer) else None


class VirtualMantracourt(AsciiTwin):
    """A module over one cell; a cell without a value, and whatever else is asked, is refused."""

    def __init__(self, cell: Cell, *, unit: int = 1, scale: float = 1.0) -> None:
        """scale: N for each of its units."""
        super().__init__(cell, unit, AsciiFraming(_REQUEST, b"!"))
        self._scale = scale

    def answer(self, message: bytes) -> bytes:
        """See `VirtualDevice.answer`."""
        if message[0] != self.unit:
            return b""
        return message[:1] + (self.said if message[1:] == b"SYS" else _REFUSED)

    def _value(self) -> bytes:
        value = self._cell.cell / self._scale
        if not abs(value) < 10**_DIGITS - 0.5 * 10**-_DECIMALS:
            return _REFUSED
        return f"{value:+0{_DIGITS + _DECIMALS + 2}.{_DECIMALS}f}".encode()


def _twin(options: MantracourtOptions, cells: Sequence[Cell]) -> FaultyAsciiCell:
    """The virtual module of one cell. Raises ConfigurationError."""
    cell = only_cell(cells, "a Mantracourt module")
    return FaultyAsciiCell(VirtualMantracourt(cell, unit=options.unit, scale=options.scale))


DRIVER = CellDriver(MantracourtAddress, MantracourtAddress, MantracourtOptions, Mantracourt, _twin)
"""What is registered as `mantracourt`."""
