"""The dated calibration file: TOML that a person can read, checked whole, written once."""

import base64
import os
import reprlib
import statistics
import tempfile
from datetime import date
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
import tomlkit
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from tomlkit.items import Table

from calibration.cells import CELLS, CellCalibration, Drift, Load, LoadCellCalibration, Provenance, Tare, read_only
from calibration.errors import CalibrationError, CalibrationFileError
from kinematics import (
    Array,
    InputFileError,
    MissingFileError,
    add_toml_entry,
    fault_reason,
    parse_toml,
    read_text,
)

FILE_VERSION = 1
"""Version of the layout this software writes and reads."""

_HEADER = (
    "Load-cell calibration of a Stewart platform rig.",
    "force = polarity * gain * (reading - offset), N, compression positive; gain in N per unit of the reading.",
)

_LARGEST = 1e9  # of any reading, force or count
_UNLIKE = 4.0
"""Largest ratio of a gain to the median gain of the six equal cells, and of the median to a gain."""

_Number = Annotated[float, Field(ge=-_LARGEST, le=_LARGEST, allow_inf_nan=False)]
_Positive = Annotated[float, Field(ge=1e-3, le=1e7, allow_inf_nan=False)]
_Gain = Annotated[float, Field(ge=1e-7, le=1e7, allow_inf_nan=False)]
_Gravity = Annotated[float, Field(ge=1.0, le=30.0, allow_inf_nan=False)]
_Size = Annotated[float, Field(ge=0.0, le=_LARGEST, allow_inf_nan=False)]
_Count = Field(le=int(_LARGEST))
_Text = Annotated[str, StringConstraints(max_length=1000)]
_Six = Annotated[list[_Number], Field(min_length=CELLS, max_length=CELLS)]
_SixSizes = Annotated[list[_Size], Field(min_length=CELLS, max_length=CELLS)]


def _sign(value: int) -> int:
    if value not in (1, -1):
        raise ValueError("must be 1 or -1")
    return value


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class _Provenance(_Table):
    operator: _Text = ""
    place: _Text = ""
    masses: _Text = ""
    source: _Text = ""
    note: _Text = ""


class _Tare(_Table):
    before: _Six
    after: _Six
    noise_before: _SixSizes
    noise_after: _SixSizes
    samples_before: Annotated[int, Field(ge=2), _Count]
    samples_after: Annotated[int, Field(ge=2), _Count]
    drift: _Six
    drift_bound: _SixSizes


class _Cell(_Table):
    leg: Annotated[int, Field(ge=1, le=CELLS)]
    serial: _Text = ""
    gain: _Gain
    offset: _Number
    polarity: Annotated[int, AfterValidator(_sign)]
    gain_standard_error: _Size
    offset_standard_error: _Size
    residual_rms: _Size
    residual_max: _Size
    nonlinearity: _Size
    hysteresis: _Size | None = None
    repeatability: _Size | None = None
    range: _Positive
    n: Annotated[int, Field(ge=3), _Count]


class _File(_Table):
    version: Annotated[int, Field(ge=FILE_VERSION, le=FILE_VERSION)]
    kind: Literal["load-cells"]
    date: date
    unit: _Text
    load: Load
    gravity: _Gravity
    provenance: _Provenance = _Provenance()
    tare: _Tare
    cells: Annotated[list[_Cell], Field(min_length=CELLS, max_length=CELLS)]
    covariance: str | None = None

    @model_validator(mode="after")
    def _each_leg_once(self) -> Self:
        legs = sorted(cell.leg for cell in self.cells)
        if legs != list(range(1, CELLS + 1)):
            raise ValueError(f"cells: legs must be 1 to 6, each once, got {legs}")
        return self

    @model_validator(mode="after")
    def _covariance_of_cells(self) -> Self:
        if self.covariance is not None and unpacked_covariance(self.covariance, 2 * CELLS) is None:
            raise ValueError(f"covariance: not that of {CELLS} gains and {CELLS} offsets")
        return self

    @model_validator(mode="after")
    def _alike(self) -> Self:
        median = statistics.median(cell.gain for cell in self.cells)
        least, greatest = median / _UNLIKE, median * _UNLIKE
        unlike = [
            f"gain {cell.gain:g} of leg {cell.leg} must be {least:g} to {greatest:g} N per reading unit"
            for cell in self.cells
            if not least <= cell.gain <= greatest
        ]
        if unlike:
            raise ValueError(
                f"cells: {'; '.join(unlike)}: a quarter to four times the median of the six, which are equal cells"
            )
        return self


_COMMENTS = {
    "unit": "of the readings",
    "load": "how the masses loaded the cell",
    "gravity": "m/s²",
    "before": "mean reading of each unloaded cell",
    "noise_before": "standard deviation of one sample, reading units",
    "drift": "N, after - before",
    "drift_bound": "N, what the drift was judged by",
    "gain": "N per reading unit",
    "offset": "reading at zero force",
    "polarity": "+1: compression raises the reading, -1: lowers it",
    "gain_standard_error": "N per reading unit",
    "offset_standard_error": "reading units",
    "residual_rms": "N",
    "residual_max": "N",
    "nonlinearity": "% of range",
    "hysteresis": "% of range",
    "repeatability": "% of range, standard deviation",
    "range": "N",
    "n": "readings fitted",
    "covariance": "of the six gains and the six offsets",
}


def calibration_file_name(day: date) -> str:
    """Name of the file of a day: ``cells-2026-11-21.toml``."""
    return f"cells-{day.isoformat()}.toml"


def format_cell_calibration(calibration: LoadCellCalibration) -> str:
    """Text of the calibration file.

    Raises:
        CalibrationError: a calibration without tare and drift (the identity), or with values a file may not hold.
    """
    before, after, moved = calibration.tare_before, calibration.tare_after, calibration.drift
    if before is None or after is None or moved is None:
        raise CalibrationError("a calibration without tare and drift is not kept in a file; leave it out of the config")
    provenance = calibration.provenance
    document = tomlkit.document()
    for line in _HEADER:
        document.add(tomlkit.comment(line))
    _add_entries(
        document,
        version=FILE_VERSION,
        kind="load-cells",
        date=calibration.date,
        unit=calibration.unit,
        load=calibration.load,
        gravity=calibration.gravity,
    )
    if calibration.covariance is not None:
        _add_entries(document, covariance=packed_covariance(calibration.covariance))
    document.add("provenance", _table(**{name: getattr(provenance, name) for name in _Provenance.model_fields}))
    tare = _table(
        before=before.offset.tolist(),
        after=after.offset.tolist(),
        noise_before=before.noise.tolist(),
        noise_after=after.noise.tolist(),
        samples_before=before.n,
        samples_after=after.n,
        drift=moved.force.tolist(),
        drift_bound=moved.bound.tolist(),
    )
    document.add("tare", tare)
    cells = tomlkit.aot()
    for leg, (serial, cell) in enumerate(zip(calibration.serials, calibration.cells, strict=True), start=1):
        fitted = {name: getattr(cell, name) for name in _Cell.model_fields if name not in ("leg", "serial")}
        cells.append(_table(leg=leg, serial=serial, **fitted))
    document.add("cells", cells)
    text = tomlkit.dumps(document)
    parse_cell_calibration(text, "calibration")
    return text


def parse_cell_calibration(text: str, name: str = "calibration") -> LoadCellCalibration:
    """Parse the text of a calibration file; messages call the file `name`.

    Raises:
        CalibrationFileError: not TOML, another version, unknown or missing keys, values out of bounds: all at once.
    """
    try:
        content = parse_toml(text)
    except InputFileError as error:
        raise CalibrationFileError(name, str(error)) from None
    version = content.get("version")
    if isinstance(version, int) and not isinstance(version, bool) and version != FILE_VERSION:
        raise CalibrationFileError(name, f"version {version} of the layout; this software reads {FILE_VERSION}")
    try:
        file = _File.model_validate(content)
    except ValidationError as error:
        raise CalibrationFileError(name, [file_fault(dict(item)) for item in error.errors()]) from None
    rows = sorted(file.cells, key=lambda row: row.leg)
    tares = file.tare
    return LoadCellCalibration(
        tuple(CellCalibration(**row.model_dump(exclude={"leg", "serial"})) for row in rows),
        file.date,
        unit=file.unit,
        load=file.load,
        gravity=file.gravity,
        tare_before=Tare(read_only(tares.before), read_only(tares.noise_before), tares.samples_before),
        tare_after=Tare(read_only(tares.after), read_only(tares.noise_after), tares.samples_after),
        drift=Drift(read_only(tares.drift), read_only(tares.drift_bound)),
        serials=tuple(row.serial for row in rows),
        provenance=Provenance(**file.provenance.model_dump()),
        covariance=None if file.covariance is None else unpacked_covariance(file.covariance, 2 * CELLS),
    )


def load_cell_calibration(path: str | Path) -> LoadCellCalibration:
    """Read a calibration file.

    Raises:
        CalibrationFileError: no such file, unreadable, or anything `parse_cell_calibration` refuses.
    """
    try:
        text = read_text(path)
    except MissingFileError:
        raise CalibrationFileError(str(path), "no such calibration file") from None
    except InputFileError as error:
        raise CalibrationFileError(str(path), str(error)) from None
    return parse_cell_calibration(text, str(path))


def save_cell_calibration(path: str | Path, calibration: LoadCellCalibration) -> None:
    """Write a new calibration file, whole or not at all; an existing file is never touched.

    Raises:
        CalibrationFileError: the file exists already, or the folder cannot be written.
        CalibrationError: see `format_cell_calibration`.
    """
    write_new_file(path, format_cell_calibration(calibration))


def write_new_file(path: str | Path, text: str) -> None:
    """Write a new calibration file, whole or not at all; an existing file is never touched.

    Raises:
        CalibrationFileError: the file exists already, or the folder cannot be written.
    """
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fchmod(file.fileno(), 0o644)
                os.fsync(file.fileno())
            target.hardlink_to(temporary)  # unlike a rename, never replaces
        finally:
            Path(temporary).unlink()
    except FileExistsError:
        raise CalibrationFileError(
            str(path),
            "exists already and calibrations are never overwritten: a config or a recording may refer to it; "
            f"give another name, for example {target.stem}-2{target.suffix}",
        ) from None
    except OSError as error:
        raise CalibrationFileError(str(path), f"cannot be written: {error.strerror}") from None


def _table(**values: object) -> Table:
    table = tomlkit.table()
    _add_entries(table, **values)
    return table


def _add_entries(table: tomlkit.TOMLDocument | Table, **values: object) -> None:
    for key, value in values.items():
        if value is not None:
            add_toml_entry(table, key, value, _COMMENTS.get(key, ""))


def file_fault(item: dict[str, object]) -> str:
    """One line of a pydantic fault: place in the file, what is wrong, the value found."""
    location = item["loc"]
    place = ""
    for part in location if isinstance(location, tuple) else ():
        place += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if place else str(part)
    reason, value = fault_reason(item), item["input"]
    if place and isinstance(value, str | int | float) and item["type"] not in ("missing", "extra_forbidden"):
        reason += f", got {reprlib.repr(value)}"
    return f"{place}: {reason}" if place else reason


def packed_covariance(covariance: Array) -> str:
    """Text of a covariance (n, n): the rows of L up to the diagonal, L Lᵀ = covariance, as float32 in base64.

    Many digits are needed for the variances of combinations of parameters.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = np.asarray(np.linalg.qr((vectors * np.sqrt(np.maximum(values, 0.0))).T, mode="r")).T
    return base64.b64encode(root[np.tril_indices(len(root))].astype("<f4").tobytes()).decode("ascii")


def unpacked_covariance(text: str, count: int) -> Array | None:
    """Covariance (count, count) of a text of `packed_covariance`; None if it is not one."""
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
