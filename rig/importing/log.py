"""Reading of another program's log by its mapping: column assignment, stamps and columns in SI."""

import csv
import hashlib
import re
from collections.abc import Mapping, Sequence
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from kinematics import (
    Array,
    Frequency,
    InputFileError,
    KinematicsError,
    NumberTextError,
    Time,
    coordinates_to_pose,
    fault_reason,
    open_table,
    parse_toml,
    quaternion_from_rotation_vector,
    quaternion_multiply,
    quaternion_normalise,
    quaternion_to_matrix,
    read_number,
    read_numbers,
    read_quantity,
    read_text,
    within,
)
from rig.csvio import POSE, per_leg
from rig.errors import InputError
from rig.recording import Origin

GROUPS = ("lengths", "pose", "commanded_lengths", "commanded_pose", "forces")
"""Tables of a mapping that name columns, besides `time`."""

_ROTATIONS = ("wxyz", "xyzw", "vector")
_EULER = re.compile(r"(?!.*([xyzXYZ])\1)(?:[xyz]{3}|[XYZ]{3})")
_GIVEN = re.compile(r"(?P<group>[a-z_]+)\s*=\s*(?P<columns>[^\[\]]+?)\s*(?:\[(?P<units>[^\[\]]+)\])?\s*")
_DEFAULTS: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("lengths", (per_leg("l"),)),
    ("pose", (POSE, tuple(f"pose_{k}" for k in range(1, 8)))),
    ("commanded_pose", (tuple(f"reference_{k}" for k in range(1, 8)),)),
    ("forces", (per_leg("f"), per_leg("force_measured_"))),
)
"""Default columns: those of this program's own tables."""


def _rotation(text: str) -> str:
    if text not in _ROTATIONS and _EULER.fullmatch(text) is None:
        raise ValueError(
            f'{text!r} is no rotation: "wxyz" or "xyzw" of a quaternion, "vector", or three axes in the order of their '
            'columns, "xyz" about fixed, "XYZ" about moving axes'
        )
    return text


class _Unit:
    """Validator of a unit's spelling: the SI unit of a quantity or another one of its dimension."""

    def __init__(self, si: str) -> None:
        self.si = si

    def __call__(self, text: str) -> str:
        factor_of(text, self.si)
        return text


def factor_of(unit: str, si: str) -> float:
    """Return one `unit` in SI units. Raises ValueError for a unit of another dimension or an unknown one."""
    if unit == si:
        return 1.0
    try:
        return read_quantity(f"1 {unit}", (si,))
    except ValueError as error:
        raise ValueError(f"{unit!r} is no unit for {si}: {error}") from None


_Name = Annotated[str, Field(min_length=1)]
_Six = tuple[_Name, _Name, _Name, _Name, _Name, _Name]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TimeColumn(_Table):
    """Time of each row: a column of time stamps, or a constant rate."""

    column: _Name | None = None
    unit: Annotated[str, AfterValidator(_Unit("s"))] = "s"
    rate: Annotated[Frequency, within(1e-3, 1e6, "Hz")] | None = None
    """Sampling rate of a log without time stamps."""
    stamps: Literal["auto", "sampled", "even"] = "auto"
    """Sampling times: as stamped, or even with late stamps; "auto": determined from the motion."""
    gap: Annotated[Time, within(1e-6, 1e3, "s")] | None = None
    """Maximum interval that is not a gap; left out: 1.5 times the usual one."""

    @model_validator(mode="after")
    def _either(self) -> "TimeColumn":
        if (self.column is None) == (self.rate is None):
            raise ValueError("needs either column or rate")
        return self


class LegColumns(_Table):
    """Six leg lengths, legs 1 to 6: column plus `offset` is the leg's length."""

    columns: _Six
    unit: Annotated[str, AfterValidator(_Unit("m"))] = "m"
    offset: tuple[float, ...] = (0.0,) * 6
    """One per leg, in `unit`."""

    @model_validator(mode="before")
    @classmethod
    def _spread(cls, data: Any) -> Any:
        return _spread_offset(data)

    @model_validator(mode="after")
    def _of_six(self) -> Any:
        _check_six(self.offset)
        return self


class ForceColumns(_Table):
    """Six leg forces, legs 1 to 6: column plus `offset`, in `unit`."""

    columns: _Six
    unit: Annotated[str, AfterValidator(_Unit("N"))] = "N"
    offset: tuple[float, ...] = (0.0,) * 6
    positive: Literal["compression", "tension"] = "compression"
    """Sign convention of the columns."""

    @model_validator(mode="before")
    @classmethod
    def _spread(cls, data: Any) -> Any:
        return _spread_offset(data)

    @model_validator(mode="after")
    def _of_six(self) -> Any:
        _check_six(self.offset)
        return self


class PoseColumns(_Table):
    """Position x, y, z and a rotation: three columns, or four of a quaternion."""

    columns: Annotated[tuple[_Name, ...], Field(min_length=6, max_length=7)]
    unit: Annotated[str, AfterValidator(_Unit("m"))] = "m"
    angle: Annotated[str, AfterValidator(_Unit("rad"))] = "rad"
    rotation: Annotated[str, AfterValidator(_rotation)] = ""
    """Left out: "xyz" for three columns (R = Rz·Ry·Rx), "wxyz" for four."""
    frame: Literal["base", "home"] = "base"
    """Zero of the coordinates: the base's origin, or the platform's home pose, as in a trajectory file."""

    @model_validator(mode="before")
    @classmethod
    def _usual_rotation(cls, data: Any) -> Any:
        if isinstance(data, AnyMapping) and "rotation" not in data and isinstance(data.get("columns"), list | tuple):
            return {**data, "rotation": "wxyz" if len(data["columns"]) == 7 else "xyz"}
        return data

    @model_validator(mode="after")
    def _fits(self) -> "PoseColumns":
        wanted = 7 if self.rotation in ("wxyz", "xyzw") else 6
        if len(self.columns) != wanted:
            raise ValueError(f"rotation {self.rotation!r} takes {wanted} columns, there are {len(self.columns)}")
        return self


class LogMapping(_Table):
    """Meaning of a log's columns; without a header line columns are named by number, from "1" on."""

    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    """Column separator; left out: the most frequent of semicolon, tab, comma and blank in the header line."""
    names: bool = True
    """Whether a header line names the columns; lines before it are skipped."""
    skip: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Lines to skip: below the header, for example units, or without a header at the file's beginning."""
    encoding: Literal["utf-8", "latin-1", "cp1252", "utf-16"] = "utf-8"
    corrected: bool = False
    """Whether lengths and forces are already corrected by the drive offsets and cell zeros of the configuration's
    parameter files."""
    time: TimeColumn = TimeColumn(column="t")
    lengths: LegColumns | None = None
    pose: PoseColumns | None = None
    commanded_lengths: LegColumns | None = None
    commanded_pose: PoseColumns | None = None
    forces: ForceColumns | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns to read."""
        found = [] if self.time.column is None else [self.time.column]
        for group in GROUPS:
            if (table := getattr(self, group)) is not None:
                found += table.columns
        return tuple(found)


def load_mapping(path: Path | None, given: Sequence[str] = ()) -> LogMapping | None:
    """Return the mapping of a TOML file, overridden by options; None if neither gives one.

    Args:
        path: of the file.
        given: `GROUP=COLUMN,COLUMN,… [UNIT]`, of a pose `[UNIT,ANGLE]`, of time `time=COLUMN [UNIT]`.

    Raises:
        InputError: the mapping is invalid, with every reason.
    """
    if path is None and not given:
        return None
    data: dict[str, Any] = {}
    if path is not None:
        try:
            data = parse_toml(read_text(path))
        except InputFileError as error:
            raise InputError(f"mapping {path}: {error}") from None
    for text in given:
        group, table = _given(text)
        data[group] = {**(data[group] if isinstance(data.get(group), dict) else {}), **table}
    return parse_mapping(data, "columns" if path is None else f"mapping {path}")


def parse_mapping(data: AnyMapping[str, Any], what: str) -> LogMapping:
    """Parse the mapping from a TOML file's tables. Raises InputError, with every reason; `what` is its name."""
    faults = []
    try:
        mapping = LogMapping.model_validate(data)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            place = ".".join(str(part) for part in item["loc"])
            text = fault_reason(item)
            faults.append(f"{place}: {text}" if place else text)
        raise InputError(f"{what} cannot be used:", faults) from None
    twice = [name for name in dict.fromkeys(mapping.columns) if mapping.columns.count(name) > 1]
    faults += [f"column {name!r} is named twice" for name in twice]
    if mapping.lengths is None and mapping.pose is None:
        faults.append("neither lengths nor pose: measured motion is needed, six leg lengths or a pose")
    if faults:
        raise InputError(f"{what} cannot be used:", faults)
    return mapping


def usual_mapping(names: Sequence[str]) -> LogMapping | None:
    """Return the mapping of a table with this program's own names (`rig export`, `rig ik`, `rig fk`), else None."""
    there = set(names)
    found: dict[str, Any] = {}
    for group, candidates in _DEFAULTS:
        columns = next((each for each in candidates if there.issuperset(each)), None)
        if columns is not None:
            found[group] = {"columns": list(columns)}
    if "t" not in there or not {"lengths", "pose"} & found.keys():
        return None
    corrected = {"corrected": True} if "force_measured_1" in there else {}
    return LogMapping.model_validate(corrected | found)


def _given(text: str) -> tuple[str, dict[str, Any]]:
    match = _GIVEN.fullmatch(text)
    known = ("time", *GROUPS)
    if match is None or match["group"] not in known:
        raise InputError(
            f"--columns {text!r}: must be GROUP=COLUMN,COLUMN,… with its unit behind it in brackets where that is not "
            f"SI, as in lengths=a,b,c,d,e,f [mm]; groups are {', '.join(known)}"
        )
    group = match["group"]
    columns = [name.strip() for name in match["columns"].split(",")]
    units = [unit.strip() for unit in (match["units"] or "").split(",") if unit.strip()]
    if len(units) > (2 if group.endswith("pose") else 1):
        raise InputError(f"--columns {text!r}: {len(units)} units, one goes with {group}")
    table: dict[str, Any] = dict(zip(("unit", "angle"), units, strict=False))
    if group != "time":
        return group, table | {"columns": columns}
    if len(columns) != 1:
        raise InputError(f"--columns {text!r}: {len(columns)} columns, time is one")
    return group, table | {"column": columns[0]}


def _spread_offset(data: Any) -> Any:
    """Apply a single offset to all legs."""
    if isinstance(data, AnyMapping) and isinstance(data.get("offset"), int | float):
        return {**data, "offset": [data["offset"]] * 6}
    return data


def _check_six(offset: tuple[float, ...]) -> None:
    if len(offset) != 6:
        raise ValueError(f"offset: {len(offset)} numbers, must be one, or one for each of six legs")
    if not all(abs(value) < float("inf") for value in offset):
        raise ValueError("offset: must be finite")


_DELIMITERS = ";\t,"
_NAMES_WITHIN = 200  # lines searched for the line of names
_LISTED = 20
_UNIT_NORM = 1e-2  # tolerance of a quaternion's norm, for rounding in logs
_MISSING = frozenset({"", "nan", "na", "n/a", "null", "none", "-"})


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """Content of a log: n rows sorted by their stamps.

    t (n,): s, by the stamps, or by the given rate. groups: by the names of `LogMapping`'s tables: lengths (n, 6) m,
    poses (n, 7) in the base frame, forces (n, 6) N compression positive; NaN rows for empty cells. duplicates:
    identical rows that were dropped. disordered: late rows that were sorted in. empty: cells without a number, by
    group.
    """

    origin: Origin
    mapping: LogMapping
    t: Array
    groups: Mapping[str, Array]
    duplicates: int
    disordered: int
    empty: Mapping[str, int]


def read_log(path: Path, mapping: LogMapping | None, home: Array) -> Log:
    """Read a log.

    Args:
        path: of the file; may be a pipe.
        mapping: of its columns; None: that of this program's own tables.
        home: (7,) home pose, for poses of frame "home".

    Raises:
        InputError: the file cannot be read, its columns do not match the mapping, a cell is not a number, stamps go
            back, or different rows have one stamp; with the lines.
    """
    try:
        with open_table(path) as file:
            data = file.buffer.read()
    except InputFileError as error:
        raise InputError(f"cannot read {path}: {error}") from None
    text = _text(path, data, "utf-8" if mapping is None else mapping.encoding)
    rows, names, first = _rows(path, text, mapping)
    usual = mapping is None
    if mapping is None:
        mapping = usual_mapping(names)
        if mapping is None:
            raise InputError(
                f"{path}: says nothing of which columns are which by its names ({_some(names)}): give --columns or "
                "--mapping"
            )
    missing = [name for name in mapping.columns if name not in names]
    if missing:
        raise InputError(f"{path}: there is no column {_some(missing)}; there are {_some(names)}")
    repeated = [name for name in mapping.columns if names.count(name) > 1]
    if repeated:
        raise InputError(f"{path}: column {_some(repeated)} is there more than once")
    known = mapping.columns
    values, lines = _numbers(path, rows, names, known, first)
    origin = Origin(path.name, hashlib.sha256(data).hexdigest(), len(data), len(values))
    if usual:  # a table of this program has every column, even an empty one
        mapping = _with_numbers(mapping, values)
        values = values[:, [known.index(name) for name in mapping.columns]]
    return _log(path, origin, mapping, values, lines, home)


def _with_numbers(mapping: LogMapping, values: Array) -> LogMapping:
    """Return the mapping without forces and commands that have no rows of numbers."""
    empty: dict[str, None] = {}
    for group in ("commanded_lengths", "commanded_pose", "forces"):
        if (table := getattr(mapping, group)) is not None:
            places = [mapping.columns.index(name) for name in table.columns]
            if not np.isfinite(values[:, places]).all(axis=1).any():
                empty[group] = None
    return mapping.model_copy(update=empty)


def _text(path: Path, data: bytes, encoding: str) -> str:
    try:
        return data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        at = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}: line {at}: byte 0x{data[error.start]:02x} is not {encoding}; another encoding (latin-1, cp1252, "
            "utf-16) can be said in the mapping"
        ) from None


def _rows(path: Path, text: str, mapping: LogMapping | None) -> tuple[list[list[str]], list[str], int]:
    """Rows of cells below the names, the names, and the line of the first row."""
    lines = text.splitlines()
    at = _line_of_names(path, lines, mapping)
    delimiter = None if mapping is None else mapping.delimiter
    if delimiter is None:
        there = lines[min(max(at, 0) + (0 if mapping is None or mapping.names else mapping.skip), len(lines) - 1)]
        counts = {each: there.count(each) for each in _DELIMITERS}
        delimiter = max(counts, key=lambda each: counts[each]) if any(counts.values()) else " "
    below = at + 1 + (0 if mapping is None else mapping.skip)

    def cells(part: Sequence[str]) -> list[list[str]]:
        if delimiter == " ":
            return [line.split() for line in part]
        return [[cell.strip() for cell in row] for row in csv.reader(part, delimiter=delimiter)]

    try:
        rows = cells(lines[below:])
        names = cells([lines[at]])[0] if at >= 0 else [str(k) for k in range(1, max(map(len, rows), default=0) + 1)]
    except csv.Error as error:
        raise InputError(f"{path} is not CSV: {error}") from None
    return rows, names, below + 1


def _line_of_names(path: Path, lines: Sequence[str], mapping: LogMapping | None) -> int:
    """Index from 0 of the line that names the columns; −1 if none."""
    if not any(line.strip() for line in lines):
        raise InputError(f"{path}: is empty")
    if mapping is None:
        return next(k for k, line in enumerate(lines) if line.strip())
    if not mapping.names:
        return -1
    known = [sum(name in line for name in mapping.columns) for line in lines[:_NAMES_WITHIN]]
    at = int(np.argmax(known))
    if not known[at]:
        raise InputError(
            f"{path}: none of the first {len(known)} lines names the columns {_some(mapping.columns)}; a log without "
            "names has them by number, with names = false in the mapping"
        )
    return at


def _numbers(
    path: Path, rows: list[list[str]], names: list[str], wanted: Sequence[str], first: int
) -> tuple[Array, Array]:
    """Numbers (n, number wanted), NaN for an empty cell, and the line of each row (n,)."""
    places = [names.index(name) for name in wanted]
    values: list[list[float]] = []
    lines: list[int] = []
    faults: list[str] = []
    count = 0
    for line, row in enumerate(rows, start=first):
        if not any(row):
            continue
        wrong = []
        if len(row) != len(names):
            wrong = [f"line {line}: {len(row)} cells, the line of names has {len(names)}"]
        else:
            cells = [row[place] for place in places]
            try:
                values.append(read_numbers(cells))
                lines.append(line)
            except NumberTextError:
                found = []
                for name, cell in zip(wanted, cells, strict=True):
                    try:
                        found.append(np.nan if cell.lower() in _MISSING else read_number(cell))
                    except NumberTextError as error:
                        wrong.append(f"line {line}: {name} = {error}")
                if not wrong:
                    values.append(found)
                    lines.append(line)
        count += len(wrong)
        faults += wrong[: _LISTED - len(faults)]
    if count:
        more = [f"and {count - len(faults)} more"] if count > len(faults) else []
        raise InputError(f"{path} cannot be used:", [*faults, *more])
    if not values:
        raise InputError(f"{path}: no rows below the names")
    return np.array(values), np.array(lines)


def _log(path: Path, origin: Origin, mapping: LogMapping, values: Array, lines: Array, home: Array) -> Log:
    time = mapping.time
    duplicates = disordered = 0
    if time.column is None:
        assert time.rate is not None
        t = np.arange(len(values)) / time.rate
    else:
        stamps = factor_of(time.unit, "s") * values[:, mapping.columns.index(time.column)]
        if not np.isfinite(stamps).all():
            bad = lines[~np.isfinite(stamps)]
            raise InputError(f"{path}: {len(bad)} rows have no time, the first in line {int(bad[0])}")
        _refuse_clock_set_back(path, stamps, lines)
        disordered = int(np.count_nonzero(stamps < np.maximum.accumulate(stamps)))
        order = np.argsort(stamps, kind="stable")
        stamps, values, lines = stamps[order], values[order], lines[order]
        same = np.flatnonzero(np.diff(stamps) == 0.0) + 1
        alike = np.array([np.array_equal(values[k], values[k - 1], equal_nan=True) for k in same], dtype=bool)
        if not alike.all():
            k = int(same[~alike][0])
            raise InputError(
                f"{path}: {np.count_nonzero(~alike)} rows have the time of the row before and other values, the first "
                f"in line {int(lines[k])} (t = {stamps[k]:.9g} s): stamps that are too coarse; give its rate instead "
                "(time.rate), if its rows are even"
            )
        distinct = np.ones(len(stamps), bool)
        distinct[same] = False
        duplicates = len(same)
        t, values, lines = stamps[distinct], values[distinct], lines[distinct]
    groups, empty = {}, {}
    for group in GROUPS:
        table = getattr(mapping, group)
        if table is None:
            continue
        columns = values[:, [mapping.columns.index(name) for name in table.columns]]
        empty[group] = int(np.count_nonzero(np.isnan(columns)))
        known = ~np.isnan(columns).any(axis=1)
        if not known.any():
            raise InputError(f"{path}: {group} has no row with a number in all of its columns")
        if isinstance(table, PoseColumns):
            taken = np.full((len(values), 7), np.nan)
            taken[known] = _poses(path, table, columns[known], lines[known], home)
        else:
            unit = factor_of(table.unit, "m" if group.endswith("lengths") else "N")
            taken = unit * (columns + np.array(table.offset))
            if getattr(table, "positive", "compression") == "tension":
                taken = -taken
        groups[group] = taken
    return Log(origin, mapping, t, groups, duplicates, disordered, empty)


def _refuse_clock_set_back(path: Path, stamps: Array, lines: Array) -> None:
    """Reject a clock that was set back, or a second log after the first; rows slightly late are sorted."""
    usual = float(np.median(np.abs(np.diff(stamps)))) if len(stamps) > 1 else 0.0
    late = np.maximum.accumulate(stamps) - stamps
    if len(stamps) > 1 and late.max() > 20.0 * usual:
        k = int(np.argmax(late > 20.0 * usual))
        raise InputError(
            f"{path}: line {int(lines[k])}: its time, {stamps[k]:.9g} s, is {late[k]:.3g} s before that of a row "
            f"above, rows come every {usual:.3g} s: the clock was set back, or it is two logs"
        )


def _poses(path: Path, table: PoseColumns, columns: Array, lines: Array, home: Array) -> Array:
    """Poses (n, 7) in the base frame, unit quaternions with continuous sign."""
    position = factor_of(table.unit, "m") * columns[:, :3]
    turned = columns[:, 3:]
    try:
        if table.rotation in ("wxyz", "xyzw"):
            norms = np.linalg.norm(turned, axis=1)
            bad = np.flatnonzero(np.abs(norms - 1.0) > _UNIT_NORM)
            if len(bad):
                raise InputError(
                    f"{path}: {len(bad)} quaternions are not of unit norm, the first in line {int(lines[bad[0]])}: "
                    f"{norms[bad[0]]:.6g}, must be 1 within {_UNIT_NORM:g}"
                )
            quaternion = quaternion_normalise(turned if table.rotation == "wxyz" else turned[:, [3, 0, 1, 2]])
        else:
            angles = factor_of(table.angle, "rad") * turned
            most = float(np.abs(angles).max())
            if most > 4.0 * np.pi:
                raise InputError(
                    f"{path}: an angle of {most:.4g} rad in {_some(table.columns[3:])}, must be at most 4π: is it in "
                    "degrees? ([…,deg], or angle in the mapping)"
                )
            if table.rotation == "vector":
                quaternion = quaternion_from_rotation_vector(angles)
            elif table.rotation == "xyz":
                quaternion = coordinates_to_pose(np.hstack([position, angles]))[:, 3:]
            else:
                from scipy.spatial.transform import Rotation  # slow to import, rarely needed

                quaternion = Rotation.from_euler(table.rotation, angles).as_quat(scalar_first=True)
    except KinematicsError as error:
        raise InputError(f"{path}: {error}") from None
    if table.frame == "home":
        position = home[:3] + position @ quaternion_to_matrix(home[3:]).T
        quaternion = quaternion_multiply(home[3:], quaternion)
    return np.hstack([position, without_turns(quaternion)])


def without_turns(quaternions: Array) -> Array:
    """Make the sign of quaternions (n, 4) continuous: q and −q are one attitude, but a filter would see a step."""
    turns = np.where(np.sum(quaternions[1:] * quaternions[:-1], axis=1) < 0.0, -1.0, 1.0)
    signed = quaternions.copy()
    signed[1:] *= np.cumprod(turns)[:, np.newaxis]
    return signed


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name if len(name) <= 40 else name[:40] + "…") for name in names[:12])
    return shown + (f" and {len(names) - 12} more" if len(names) > 12 else "")
