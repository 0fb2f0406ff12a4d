"""Calibrated parameters in a dated file, whatever was calibrated, and a mechanism with them."""

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tomlkit
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from calibration.errors import CalibrationError, CalibrationFileError
from calibration.file import file_fault, write_new_file
from dynamics import Mechanism, MechanismError, mechanism_tables, parse_tables
from kinematics import Array, InputFileError, MissingFileError, add_toml_entry, parse_toml, read_text, toml_item

FILE_VERSION = 1
_HEADER = (
    "Calibrated parameters of a Stewart platform rig, over those of its mechanism's file.",
    'Name this file in a configuration: parameters = ["FILE"]. sigma is one standard deviation.',
)
_LARGEST = 1e12
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
    """What a calibration found, as a file of a given date holds it.

    kind: of calibration, such as "inertia" or "geometry". mechanism: name of the one that was calibrated.
    parameters: those that `overlaid` puts over the mechanism's own. nuisance: what was estimated beside them and is
    told only. covariance: of the parameters, (n, n), or None where they are told one by one.
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
        """Covariance (n, n) of the parameters; diagonal where they are told one by one."""
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
    for line in _HEADER:
        document.add(tomlkit.comment(line))
    add_toml_entry(document, "version", FILE_VERSION)
    add_toml_entry(document, "kind", file.kind)
    add_toml_entry(document, "date", file.date)
    add_toml_entry(document, "mechanism", file.mechanism)
    document.add("parameters", _rows(file.parameters))
    if file.nuisance:
        document.add("nuisance", _rows(file.nuisance))
    if file.covariance is not None:
        add_toml_entry(document, "covariance", _packed(file.covariance))
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
    """What the text of a parameter file holds; `name` stands for the file in messages.

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
    covariance = None if file.covariance is None else _unpacked(file.covariance, len(named))
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
    """The mechanism with the values of parameter files over its own, later files over earlier ones.

    Zeros of load cells are no matter of a mechanism's, see `cell_zeros`. The result has no file: its `source` is empty.

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
            if cell_of(each.name) is None and not _put(tables, each.name, each.value)
        ]
    if faults:
        raise CalibrationError(faults)
    try:
        return parse_tables(tables, source=mechanism.name, evaluate_only=bool(mechanism.warnings))
    except MechanismError as error:
        raise CalibrationError(list(error.faults)) from None


def covariance_of(files: Iterable[ParameterFile], places: Mapping[str, int], before: Array) -> Array:
    """Covariance (n, n) of numbers by parameter files, in SI units; `places` says by name where each number stands.

    before (n, n): what is known of numbers that no file has. A later file replaces what an earlier one says of a
    number, with its correlations. Parameters without a place are left out.
    """
    whole = before.copy()
    for file in files:
        rows = [row for row, each in enumerate(file.parameters) if each.name in places]
        here = [places[file.parameters[row].name] for row in rows]
        own = file.full_covariance
        whole[here, :] = whole[:, here] = 0.0
        whole[np.ix_(here, here)] = own[np.ix_(rows, rows)]
    return whole


def cell_zeros(files: Iterable[ParameterFile]) -> Array:
    """Zeros (6,) N of the load cells, `load_cells[0].offset` …, that parameter files find beyond their calibration."""
    zeros = np.zeros(6)
    for file in files:
        for each in file.parameters:
            leg = cell_of(each.name)
            if leg is not None:
                zeros[leg] = each.value
    return zeros


def cell_of(name: str) -> int | None:
    """Index of the leg whose load cell's zero a parameter of this name is, or None."""
    match = re.fullmatch(r"load_cells\[([0-5])\]\.offset", name)
    return None if match is None else int(match[1])


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


def _packed(covariance: Array) -> str:
    """The rows of L up to the diagonal, L Lᵀ = covariance, as float32 in base64.

    How well combinations of parameters are known shows only in many digits, too many to read.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = np.asarray(np.linalg.qr((vectors * np.sqrt(np.maximum(values, 0.0))).T, mode="r")).T
    return base64.b64encode(root[np.tril_indices(len(root))].astype("<f4").tobytes()).decode("ascii")


def _unpacked(text: str, count: int) -> Array | None:
    try:
        values = np.frombuffer(base64.b64decode(text, validate=True), "<f4").astype(np.float64)
    except ValueError:
        return None
    if len(values) != count * (count + 1) // 2 or not np.isfinite(values).all():
        return None
    root = np.zeros((count, count))
    root[np.tril_indices(count)] = values
    covariance: Array = root @ root.T
    return covariance
