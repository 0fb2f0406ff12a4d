"""Calibrated parameters of any kind in a dated file, and a mechanism with them."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import tomlkit
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from calibration.errors import CalibrationError, CalibrationFileError
from calibration.file import file_fault, packed_covariance, unpacked_covariance, write_new_file
from dynamics import Mechanism, MechanismError, mechanism_tables, parse_tables
from kinematics import Array, InputFileError, MissingFileError, add_toml_entry, parse_toml, read_text, toml_item

FILE_VERSION = 1
ARM_KIND = "arm"
"""Kind of a file with the parameters of a serial arm."""
_HEADER = (
    "Calibrated parameters of a Stewart platform rig, over those of its mechanism's file.",
    'Name this file in a configuration: parameters = ["FILE"]. sigma is one standard deviation.',
)
_ARM_HEADER = ("Identified parameters of a serial arm, by their names in its file. sigma is one standard deviation.",)
_LARGEST = 1e12
_MAX_DEVIATION = 0.5
"""largest relative error of a reading by gain and cross-talk: far more than any load cell has"""
_CELL = re.compile(r"load_cells\[(?P<leg>[0-5])\]\.(?P<what>offset|gain|cross_talk\[(?P<other>[0-5])\])")
_PATH = re.compile(r"([A-Za-z_]+)((?:\[\d+\])*)$")

Text = Annotated[str, StringConstraints(max_length=2000)]
Number = Annotated[float, Field(ge=-_LARGEST, le=_LARGEST, allow_inf_nan=False)]
_Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One estimate: its name, a path in the mechanism's file; its nominal and estimated value and one σ, in `unit`."""

    name: str
    unit: str
    nominal: float
    value: float
    sigma: float


@dataclass(frozen=True, slots=True, eq=False)
class ParameterFile:
    """Result of a calibration, as in a dated file.

    kind: of calibration, such as "inertia" or "geometry". mechanism: name of the one that was calibrated.
    parameters: those by which `overlaid` replaces the mechanism's. nuisance: estimated too, for information only.
    covariance: of the parameters, (n, n), or None where only their σ are given.
    provenance: who, from what, by which software; texts by name. findings: numbers of the result by name.
    """

    kind: str
    date: date
    mechanism: str
    parameters: tuple[Parameter, ...]
    nuisance: tuple[Parameter, ...] = ()
    covariance: Array | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)
    findings: Mapping[str, float | bool] = field(default_factory=dict)

    @property
    def full_covariance(self) -> Array:
        """Covariance (n, n) of the parameters; diagonal where only their σ are given."""
        return np.diag([each.sigma**2 for each in self.parameters]) if self.covariance is None else self.covariance


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class _Parameter(_Table):
    name: _Name
    unit: Text
    nominal: Number
    value: Number
    sigma: Annotated[float, Field(ge=0.0, le=_LARGEST, allow_inf_nan=False)]


class _File(_Table):
    version: Annotated[int, Field(ge=FILE_VERSION, le=FILE_VERSION)]
    kind: _Name
    date: date
    mechanism: Text
    provenance: dict[str, Text] = {}
    findings: dict[str, bool | Number] = {}
    parameters: Annotated[list[_Parameter], Field(min_length=1, max_length=10_000)]
    nuisance: Annotated[list[_Parameter], Field(max_length=10_000)] = []
    covariance: str | None = None


def format_parameters(file: ParameterFile) -> str:
    """Text of a parameter file. Raises CalibrationError for values that a file may not hold."""
    document = tomlkit.document()
    for line in _ARM_HEADER if file.kind == ARM_KIND else _HEADER:
        document.add(tomlkit.comment(line))
    add_toml_entry(document, "version", FILE_VERSION)
    add_toml_entry(document, "kind", file.kind)
    add_toml_entry(document, "date", file.date)
    add_toml_entry(document, "mechanism", file.mechanism)
    document.add("parameters", _rows(file.parameters))
    if file.nuisance:
        document.add("nuisance", _rows(file.nuisance))
    if file.covariance is not None:
        add_toml_entry(document, "covariance", packed_covariance(file.covariance))
    for name, values in (("provenance", file.provenance), ("findings", file.findings)):
        if values:
            table = tomlkit.table()
            for key, entry in values.items():
                add_toml_entry(table, key, entry)
            document.add(name, table)
    text = tomlkit.dumps(document)
    parse_parameters(text, "parameters")
    return text


def parse_parameters(text: str, name: str = "parameters") -> ParameterFile:
    """Parse the text of a parameter file; messages call the file `name`.

    Raises:
        CalibrationFileError: not TOML, another version, unknown or missing keys, values out of bounds, a name twice.
    """
    try:
        content = parse_toml(text)
    except InputFileError as error:
        raise CalibrationFileError(name, str(error)) from None
    try:
        file = _File.model_validate(content)
    except ValidationError as error:
        raise CalibrationFileError(name, [file_fault(dict(item)) for item in error.errors()]) from None
    named = [each.name for each in file.parameters]
    twice = sorted({each for each in named if named.count(each) > 1})
    faults = [f"parameters: {each} is there twice" for each in twice]
    covariance = None if file.covariance is None else unpacked_covariance(file.covariance, len(named))
    if file.covariance is not None and covariance is None:
        faults.append(f"covariance: not that of {len(named)} parameters")
    if faults:
        raise CalibrationFileError(name, faults)
    parameters = tuple(Parameter(**each.model_dump()) for each in file.parameters)
    return ParameterFile(
        kind=file.kind,
        date=file.date,
        mechanism=file.mechanism,
        parameters=parameters,
        nuisance=tuple(Parameter(**each.model_dump()) for each in file.nuisance),
        covariance=covariance,
        provenance=file.provenance,
        findings=file.findings,
    )


def load_parameters(path: str | Path) -> ParameterFile:
    """Read a parameter file. Raises CalibrationFileError: no such file, or anything `parse_parameters` refuses."""
    try:
        text = read_text(path)
    except MissingFileError:
        raise CalibrationFileError(str(path), "no such parameter file") from None
    except InputFileError as error:
        raise CalibrationFileError(str(path), str(error)) from None
    return parse_parameters(text, str(path))


def save_parameters(path: str | Path, file: ParameterFile) -> None:
    """Write a new parameter file, whole or not at all; an existing one is never touched.

    Raises CalibrationFileError where it exists or cannot be written; CalibrationError as `format_parameters`.
    """
    write_new_file(path, format_parameters(file))


def parameters_line(names: Sequence[str]) -> str:
    """The line of a configuration that names parameter files, relative to its folder or not."""
    document = tomlkit.document()
    document.add("parameters", tomlkit.item(list(names)))
    return tomlkit.dumps(document).strip()


def overlaid(mechanism: Mechanism, files: Iterable[ParameterFile]) -> Mechanism:
    """The mechanism with the values of parameter files, later files over earlier ones.

    Errors of load cells are not part of a mechanism, see `cell_errors`. The result's `source` is empty.

    Raises:
        CalibrationError: a file of another mechanism, names that the mechanism's file does not have, or a result that
            the mechanism's file may not hold; all at once.
    """
    tables = mechanism_tables(mechanism)
    faults: list[str] = []
    for file in files:
        if file.mechanism != mechanism.name:
            faults.append(f"parameters of {file.mechanism!r}, the mechanism is {mechanism.name!r}")
            continue
        faults += [
            f"{file.kind}: {each.name} is no number of a mechanism's file"
            for each in file.parameters
            if cell_parameter(each.name) is None and not _put(tables, each.name, each.value)
        ]
    if faults:
        raise CalibrationError(faults)
    try:
        return parse_tables(tables, source=mechanism.name, evaluate_only=bool(mechanism.warnings))
    except MechanismError as error:
        raise CalibrationError(list(error.faults)) from None


def covariance_of(files: Iterable[ParameterFile], places: Mapping[str, int], before: Array) -> Array:
    """Covariance (n, n) of numbers from parameter files, in SI units; `places`: index of each number by name.

    before (n, n): prior covariance, for numbers that no file has. A later file replaces an earlier one's numbers with
    their correlations. Parameters without a place are left out.
    """
    whole = before.copy()
    for file in files:
        rows = [row for row, each in enumerate(file.parameters) if each.name in places]
        here = [places[file.parameters[row].name] for row in rows]
        own = file.full_covariance
        whole[here, :] = whole[:, here] = 0.0
        whole[np.ix_(here, here)] = own[np.ix_(rows, rows)]
    return whole


@dataclass(frozen=True, slots=True, eq=False)
class CellErrors:
    """Errors of the load cells beyond their calibration, from parameter files: reading = `matrix` · force + `zeros`.

    zeros: (6,) N. matrix: (6, 6), 1 + gain on its diagonal, cross-talk off it. inverse: None where that is one.
    """

    zeros: Array
    matrix: Array
    inverse: Array | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        level = np.array_equal(self.matrix, np.eye(6))
        object.__setattr__(self, "inverse", None if level else np.linalg.inv(self.matrix))

    def __bool__(self) -> bool:
        """Whether there are any errors."""
        return bool(self.zeros.any()) or self.inverse is not None

    def same(self, other: "CellErrors") -> bool:
        """Whether both are equal."""
        return np.array_equal(self.zeros, other.zeros) and np.array_equal(self.matrix, other.matrix)

    def corrected(self, readings: Array) -> Array:
        """Forces (…, 6) N of calibrated readings (…, 6) N; a non-finite reading affects no other cell."""
        forces: Array = readings - self.zeros
        if self.inverse is None:
            return forces
        corrected: Array = forces @ self.inverse.T
        if not math.isfinite(corrected.sum()):
            known = np.isfinite(forces)
            corrected = np.where(known, np.where(known, forces, 0.0) @ self.inverse.T, forces)
        return corrected

    def after(self, first: "CellErrors") -> "CellErrors":
        """The first errors combined with these, which are those of forces corrected by the first."""
        return CellErrors(first.zeros + first.matrix @ self.zeros, first.matrix @ self.matrix)


def cell_errors(files: Iterable[ParameterFile]) -> CellErrors:
    """Errors of the cells by the last file of each: `load_cells[0].offset`, `.gain`, `.cross_talk[1]`.

    Raises CalibrationError for gains and cross-talk that cannot be inverted.
    """
    zeros, matrix = np.zeros(6), np.eye(6)
    for file in files:
        for each in file.parameters:
            cell = cell_parameter(each.name)
            if cell is None:
                continue
            if cell.of is None:
                zeros[cell.leg] = each.value
            else:
                matrix[cell.leg, cell.of] = each.value + (cell.leg == cell.of)
    deviation = np.abs(matrix - np.eye(6)).sum(axis=1)
    if not (deviation < _MAX_DEVIATION).all():
        worst = int(np.argmax(deviation))
        raise CalibrationError(
            f"load_cells[{worst}]: gain and cross-talk of {deviation[worst]:.3g} in all, must be "
            f"below {_MAX_DEVIATION:g}"
        )
    return CellErrors(zeros, matrix)


class CellParameter(NamedTuple):
    """A parameter of a leg's load cell (index): its zero, or its gain error to the force of leg `of`."""

    leg: int
    of: int | None


def cell_parameter(name: str) -> CellParameter | None:
    """The load-cell parameter of this name, or None."""
    match = _CELL.fullmatch(name)
    if match is None:
        return None
    leg = int(match["leg"])
    other = match["other"]
    if other is not None and int(other) == leg:
        return None
    return CellParameter(leg, None if match["what"] == "offset" else leg if other is None else int(other))


def _put(tables: dict[str, Any], name: str, value: float) -> bool:
    """Set the number of that name; a symmetric tensor's element is set on both sides. False where there is none."""
    place: Any = tables
    steps: list[str | int] = []
    for part in name.split("."):
        match = _PATH.match(part)
        if match is None:
            return False
        steps += [match[1], *map(int, re.findall(r"\d+", match[2]))]
    tensor: Any = None
    for step in steps[:-1]:
        tensor = place
        try:
            place = place[step]
        except (KeyError, IndexError, TypeError):
            return False
    last = steps[-1]
    if "limits" in steps:  # what the machine may do is decided, not calibrated
        return False
    known = last in place if isinstance(place, dict) else isinstance(last, int) and last < len(place)
    if not known or not isinstance(place[last], float):
        return False
    place[last] = value
    if len(steps) > 2 and steps[-3] == "inertia":
        tensor[last][steps[-2]] = value
    return True


def _rows(parameters: Sequence[Parameter]) -> tomlkit.items.Item:
    """A list of parameters, a line for each."""
    names = ("name", "unit", "nominal", "value", "sigma")
    array = tomlkit.array()
    array.extend([toml_item({name: getattr(each, name) for name in names}) for each in parameters])
    return array.multiline(True)
