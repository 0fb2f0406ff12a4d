"""Driver `mantracourt`: a DSC or DCell module with one load cell, asked in ASCII or Modbus RTU by its version.

In ASCII a request names a station, `!001:SYS?`, and ends with a carriage return; so does the answer, a number with a
sign and a fixed count of digits. In Modbus each value is a float in the two registers at twice its number in the
maker's list of commands, the low word first. Which number the reading has is not known here.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Self

from pydantic import Field, model_validator

from actuators.addresses import LAST_RTU_UNIT, Baud
from actuators.amplifier import Amplifier, AmplifierOptions, AmplifierReading, amplifier_twin
from actuators.amplifier_profile import AmplifierProfile, ReadingMap
from actuators.ascii_cell import (
    AsciiAddress,
    AsciiCell,
    AsciiFraming,
    AsciiOptions,
    AsciiTwin,
    FaultyAsciiCell,
    only_cell,
)
from actuators.cell_device import CellDevice, CellDriver
from actuators.driver import InUnit
from actuators.profile import Register
from actuators.virtual.drive import Cell
from actuators.virtual.faults import FaultyDevice

_LAST_REGISTERS = 0xFFFE
_VALUE = re.compile(rb"[+-]\d{1,12}(\.\d{1,9})?")
_DIGITS, _DECIMALS = 5, 3
_REFUSED = b"?"
_REQUEST = re.compile(rb"!(\d{3}):([A-Z0-9]+(?:\?|=[^\r]*)?)\r")


class MantracourtAddress(AsciiAddress):
    """A module on a serial line, possibly shared, or behind a TCP port that forwards its bytes.

    unit: its station number, 1 to 255. reply_timeout: the maker states 50 ms for an answer.
    """

    baud: Baud = 115_200
    scale: Annotated[float, Field(ge=-1e6, le=1e6), InUnit("N")] = 1.0
    """Force, N, compression positive, of one unit of the module's calibration; not 0."""
    modbus_number: Annotated[int, Field(ge=0, le=_LAST_REGISTERS // 2)] | None = None
    """Number of the reading SYS in the maker's list, for a module with Modbus; not given: ASCII."""

    @model_validator(mode="after")
    def _as_the_module_has_it(self) -> Self:
        if not 1 <= self.unit <= 255:
            raise ValueError(f"unit: {self.unit} is outside 1..255: to 0 all modules listen, and none answers")
        if not self.scale:
            raise ValueError("scale: 0, must not be")
        if self.modbus_number is not None and self.unit > LAST_RTU_UNIT:
            raise ValueError(f"unit: {self.unit} is outside 1..{LAST_RTU_UNIT}, the units of a Modbus line")
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
    """A module with one cell; it refuses a cell without a value, and all other requests, settings among them."""

    def __init__(self, cell: Cell, *, unit: int = 1, scale: float = 1.0) -> None:
        """scale: N for each of its units."""
        super().__init__(cell, unit, AsciiFraming(_REQUEST, b"!"))
        self._scale = scale

    def answer(self, message: bytes) -> bytes:
        """See `VirtualDevice.answer`."""
        if message[0] != self.unit:
            return b""
        return message[:1] + (self.reading if message[1:] == b"SYS?" else _REFUSED)

    def _value(self) -> bytes:
        value = self._cell.cell / self._scale
        if not abs(value) < 10**_DIGITS - 0.5 * 10**-_DECIMALS:
            return _REFUSED
        return f"{value:+0{_DIGITS + _DECIMALS + 2}.{_DECIMALS}f}".encode()


class MantracourtInModbus(Amplifier):
    """A module on a Modbus line."""

    def __init__(self, options: AmplifierOptions, *, turned: bool) -> None:
        """Make the device without connecting. turned: whether its value is positive in tension."""
        super().__init__(options)
        self._turned = turned

    def _finish(self, deadline: float) -> AmplifierReading | None:
        reading = super()._finish(deadline)
        if reading is None or not self._turned:
            return reading
        return replace(reading, forces=tuple([-force for force in reading.forces]))


class _Turned:
    """A cell whose signal is positive in tension."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell

    @property
    def cell(self) -> float:
        """See `Cell.cell`."""
        return -self._cell.cell


def _in_modbus(options: MantracourtOptions) -> AmplifierOptions | None:
    """What the driver of one that speaks Modbus needs to know, None where it speaks ASCII."""
    if options.modbus_number is None:
        return None
    force = Register(address=2 * options.modbus_number, type="f32", scale=abs(options.scale))
    profile = AmplifierProfile(name="mantracourt", word_order="little", reading=ReadingMap(forces=[force]))
    shared = {name: getattr(options, name) for name in AmplifierOptions.model_fields if hasattr(options, name)}
    own = {"profile": profile, "framing": "rtu", "turnaround": options.turnaround or None}
    return AmplifierOptions(**shared | own)


def _device(options: MantracourtOptions) -> CellDevice:
    in_modbus = _in_modbus(options)
    return Mantracourt(options) if in_modbus is None else MantracourtInModbus(in_modbus, turned=options.scale < 0.0)


def _twin(options: MantracourtOptions, cells: Sequence[Cell]) -> FaultyDevice:
    """The virtual module of one cell. Raises ConfigurationError."""
    cell, in_modbus = only_cell(cells, "a Mantracourt module"), _in_modbus(options)
    if in_modbus is not None:
        return amplifier_twin(in_modbus, [_Turned(cell) if options.scale < 0.0 else cell])
    return FaultyAsciiCell(VirtualMantracourt(cell, unit=options.unit, scale=options.scale))


DRIVER = CellDriver(MantracourtAddress, MantracourtAddress, MantracourtOptions, _device, _twin)
"""What is registered as `mantracourt`."""
