"""A log of another program, read by its mapping: stamps and columns in SI, whatever is wrong named with its line."""

import csv
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kinematics import (
    Array,
    InputFileError,
    KinematicsError,
    NumberTextError,
    coordinates_to_pose,
    open_table,
    quaternion_from_rotation_vector,
    quaternion_multiply,
    quaternion_normalise,
    quaternion_to_matrix,
    read_number,
    read_numbers,
)
from rig.errors import InputError
from rig.importing.mapping import GROUPS, LogMapping, PoseColumns, factor_of, usual_mapping
from rig.recording import Origin

_DELIMITERS = ";\t,"
_NAMES_WITHIN = 200  # lines, in which the line of names is looked for
_LISTED = 20
_UNIT_NORM = 1e-2  # of a quaternion, as logs round it
_MISSING = frozenset({"", "nan", "na", "n/a", "null", "none", "-"})


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """What a log holds: n rows in the order of their stamps.

    t (n,): s, by the stamps, or by the rate that was given. groups: by the names of `LogMapping`'s tables: lengths
    (n, 6) m, poses (n, 7) in the base frame, forces (n, 6) N compression positive; rows not a number where a cell was
    empty. duplicates: rows that repeated another one whole and are left out. disordered: rows that came late and were
    put in their place. empty: cells without a number, by group.
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
        path: of the file; a pipe is read as well.
        mapping: what its columns are; None: those of this program's own tables.
        home: (7,) pose to which poses of frame "home" are.

    Raises:
        InputError: the file cannot be read, its columns are not those of the mapping, a cell is no number, stamps go
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
    if usual:  # a table of this program's has every column, whether anything is in it or not
        mapping = _with_numbers(mapping, values)
        values = values[:, [known.index(name) for name in mapping.columns]]
    return _log(path, origin, mapping, values, lines, home)


def _with_numbers(mapping: LogMapping, values: Array) -> LogMapping:
    """The mapping without forces and commands of which there is no row of numbers."""
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
    """Number from 0 of the line that names the columns; −1 where none does."""
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
    """Numbers (n, number wanted), not a number where a cell is empty, and the line of each row (n,)."""
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
        kept = np.ones(len(stamps), bool)
        kept[same] = False
        duplicates = len(same)
        t, values, lines = stamps[kept], values[kept], lines[kept]
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
    """Rows that come a little late are put in order; a clock that was set back, or a second log behind it, are not."""
    usual = float(np.median(np.abs(np.diff(stamps)))) if len(stamps) > 1 else 0.0
    late = np.maximum.accumulate(stamps) - stamps
    if len(stamps) > 1 and late.max() > 20.0 * usual:
        k = int(np.argmax(late > 20.0 * usual))
        raise InputError(
            f"{path}: line {int(lines[k])}: its time, {stamps[k]:.9g} s, is {late[k]:.3g} s before that of a row "
            f"above, rows come every {usual:.3g} s: the clock was set back, or it is two logs"
        )


def _poses(path: Path, table: PoseColumns, columns: Array, lines: Array, home: Array) -> Array:
    """Poses (n, 7) in the base frame, quaternions of unit norm without jumps of sign."""
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
                from scipy.spatial.transform import Rotation  # takes long to import, and few need it

                quaternion = Rotation.from_euler(table.rotation, angles).as_quat(scalar_first=True)
    except KinematicsError as error:
        raise InputError(f"{path}: {error}") from None
    if table.frame == "home":
        position = home[:3] + position @ quaternion_to_matrix(home[3:]).T
        quaternion = quaternion_multiply(home[3:], quaternion)
    return np.hstack([position, without_turns(quaternion)])


def without_turns(quaternions: Array) -> Array:
    """Quaternions (n, 4) with the sign of the one before: q and −q are one attitude, no filter must see a step."""
    turns = np.where(np.sum(quaternions[1:] * quaternions[:-1], axis=1) < 0.0, -1.0, 1.0)
    signed = quaternions.copy()
    signed[1:] *= np.cumprod(turns)[:, np.newaxis]
    return signed


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name if len(name) <= 40 else name[:40] + "…") for name in names[:12])
    return shown + (f" and {len(names) - 12} more" if len(names) > 12 else "")
