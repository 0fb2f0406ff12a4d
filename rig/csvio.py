"""Numeric tables as CSV: strict reading that reports every fault with its line, and atomic writing.

All values are SI; columns are named in the first line, and `t` is the time in s.
"""

import csv
import io
import math
import os
import shutil
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, Literal, TextIO

import numpy as np
import numpy.typing as npt
import orjson

from rig.errors import InputError

Array = npt.NDArray[np.float64]
Column = npt.NDArray[Any]

MOTION = (
    "x", "y", "z", "qw", "qx", "qy", "qz",
    "vx", "vy", "vz", "wx", "wy", "wz",
    "ax", "ay", "az", "alx", "aly", "alz",
)  # fmt: skip
"""Platform pose, twist and acceleration in the base frame: the canonical motion row."""
POSE = MOTION[:7]
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
"""External wrench at the platform origin, platform axes."""

REACTIONS = ("top", "base", "universal_moment", "prismatic_force", "guide_force", "prismatic_moment")
"""Joint reactions, three columns per leg: base axes, N and N m."""

_LISTED_FAULTS = 20
_LONGEST_FAULT = 200  # characters
_UNIT_NORM = 1e-6
_LINKS = 40  # the kernel's limit
_CHUNK = 20_000
"""numbers written before another thread may run: some 2 ms of work"""
_NUMBERS = {"f": np.float64, "i": np.int64, "u": np.uint64}
"""array type for each kind of number"""


def per_leg(prefix: str, axes: Sequence[str] = ("",)) -> tuple[str, ...]:
    """Return column names of the six legs: `per_leg("f")` is f1…f6, `per_leg("top", "xyz")` top1x, top1y, …, top6z."""
    return tuple(f"{prefix}{leg}{axis}" for leg in range(1, 7) for axis in axes)


def optional_groups(required: Sequence[str]) -> list[Sequence[str]]:
    """Return the groups of columns that commands write, without those that `required` has a column of.

    As `optional` of `read_table` they let a command read a table that another one has written.
    """
    legs = (per_leg(name) for name in ("f", "l", "v", "a", "c", "massless", "dynamic"))
    groups = (MOTION[:7], MOTION[7:13], MOTION[13:], WRENCH, *legs, *(per_leg(name, "xyz") for name in REACTIONS))
    return [group for group in groups if not set(group) & set(required)]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of a CSV file: `times` (n,), s, and any column by name."""

    path: Path
    names: tuple[str, ...]
    values: Array
    """(n, number of names)."""

    @property
    def times(self) -> Array:
        """Return column `t` (n,), s."""
        return self.columns(("t",))[:, 0]

    def columns(self, names: Sequence[str]) -> Array:
        """Return the named columns, (n, len(names)), C-contiguous."""
        return np.ascontiguousarray(self.values[:, [self.names.index(name) for name in names]])

    def has(self, names: Sequence[str]) -> bool:
        """Return whether all of the columns exist."""
        return set(names) <= set(self.names)


def read_table(
    path: Path,
    required: Sequence[str] | Callable[[tuple[str, ...]], Sequence[str]],
    optional: Sequence[Sequence[str]] = (),
    *,
    increasing: bool = False,
    timed: bool = True,
) -> Table:
    """Read a CSV file with the `required` columns and, if it is `timed`, `t`, in any order.

    A callable `required` is called with the names in the file and returns the required ones, or raises. A pipe can be
    read too, once.

    Each group of `optional` columns may be present as a whole; any other column is a fault. Quaternions are checked for
    unit norm and then normalised to the last bit. With `increasing`, times must increase from row to row.

    Raises:
        InputError: no such file, or its faults with their lines.
    """
    from kinematics import InputFileError, open_table  # imported here: writing a table needs no kernels

    faults = _Faults()
    try:
        with open_table(path) as file:
            rows = csv.reader(file)
            names = tuple(name.strip() for name in next(rows, []))
            wanted = required(names) if callable(required) else required
            wrong = _header_faults(names, ("t", *wanted) if timed else wanted, optional)
            if wrong:
                raise InputError(f"{path}: the first line must name the columns:", wrong)
            values, lines = _parse(rows, names, faults)
    except InputFileError as error:
        raise InputError(f"cannot read {path}: {error}") from None
    except csv.Error as error:
        raise InputError(f"{path} is not CSV: {error}") from None
    if not faults.count and not len(values):
        faults.add("no rows below the header")
    table = Table(path, names, values)
    if not faults.count:
        for row, text in _row_faults(table, increasing):
            faults.add(f"line {lines[row]}: {text}")
    if faults.count:
        raise InputError(f"{path} cannot be used:", faults.listed())
    if table.has(POSE[3:]):
        quaternion = [table.names.index(name) for name in POSE[3:]]
        table.values[:, quaternion] /= np.linalg.norm(table.values[:, quaternion], axis=1, keepdims=True)
    return table


def _header_faults(names: Sequence[str], required: Sequence[str], optional: Sequence[Sequence[str]]) -> list[str]:
    if len(names) == 1 and ";" in names[0]:
        return ["columns are separated by semicolons, must be by commas; decimals have a point then"]
    faults = [f"column {name!r} is there twice" for name in dict.fromkeys(names) if names.count(name) > 1]
    missing = [name for name in required if name not in names]
    if missing:
        faults.append(f"missing: {', '.join(missing)}")
    known = set(required)
    for group in optional:
        known.update(group)
        absent = [name for name in group if name not in names]
        if absent and len(absent) < len(group):
            faults.append(f"missing: {', '.join(absent)} ({group[0]}…{group[-1]} go together)")
    unknown = [name or "(no name)" for name in dict.fromkeys(names) if name not in known]
    if unknown:
        faults.append(f"unknown: {', '.join(unknown)}")
    return faults


class _Faults:
    """Faults of a file: the first few, and their total number."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self.count = 0

    def add(self, fault: str) -> None:
        """Add a fault; a long one is truncated."""
        self.count += 1
        if len(self._first) < _LISTED_FAULTS:
            self._first.append(fault if len(fault) <= _LONGEST_FAULT else fault[:_LONGEST_FAULT] + "…")

    def listed(self) -> list[str]:
        """Return one line for each."""
        more = self.count - len(self._first)
        return self._first + ([f"and {more} more"] if more > 0 else [])


def _parse(rows: Iterable[Sequence[str]], names: Sequence[str], faults: _Faults) -> tuple[Array, "array[int]"]:
    """Return numbers of all rows (n, number of names) and the line of each, converted while reading."""
    from kinematics import NumberTextError, read_number, read_numbers  # see above

    values, lines = array("d"), array("q")
    for line, row in enumerate(rows, start=2):
        if not row:
            continue
        if len(row) != len(names):
            hint = "; commas separate columns, decimals have a point" if len(row) > len(names) else ""
            faults.add(f"line {line}: {len(row)} fields, not {len(names)}{hint}")
            continue
        try:
            values.extend(read_numbers(row))
        except NumberTextError:
            for name, text in zip(names, row, strict=True):
                try:
                    read_number(text)
                except NumberTextError as error:
                    faults.add(f"line {line}: {name} = {error}")
        else:
            lines.append(line)
    numbers_read = np.frombuffer(values) if values else np.empty(0)
    return numbers_read.reshape(-1, len(names)), lines


def _row_faults(table: Table, increasing: bool) -> Iterator[tuple[int, str]]:
    if table.has(POSE[3:]):
        norms = np.linalg.norm(table.columns(POSE[3:]), axis=1)
        for row in np.flatnonzero(np.abs(norms - 1.0) > _UNIT_NORM):
            yield int(row), f"the quaternion's norm is {norms[row]:.9g}, not 1 within {_UNIT_NORM:g}"
    if increasing:
        for row in np.flatnonzero(np.diff(table.times) <= 0.0) + 1:
            before, now = table.times[row - 1 : row + 1]
            yield int(row), f"t = {now:.9g} s does not increase, the row before has {before:.9g} s"


def check_output(path: Path) -> None:
    """Refuse an output file that cannot be written, before any work is done.

    Raises:
        InputError: its folder does not exist or is not writable, or `path` is a folder or another user's link.
    """
    target = _followed(path)
    if target.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    if not target.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {target.parent}")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise InputError(f"cannot write {path}: permission denied")


def check_folder(folder: Path, names: Iterable[str] = ()) -> None:
    """Refuse a folder that cannot be created or written to, before any work is done; creates nothing.

    Args:
        folder: it need not exist.
        names: files that will be written into it; each is checked like `check_output`.

    Raises:
        InputError: with the reason.
    """
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise InputError(f"cannot make the folder {folder}: {there} is a file")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"cannot write to the folder {there}: permission denied")
    if there == folder:
        for name in names:
            check_output(folder / name)


def check_whole_folder(folder: Path, marker: str, what: str, *, force: bool = False) -> None:
    """Refuse a folder for `whole_folder` before any work is done.

    Args:
        folder: to write.
        marker: file that each such folder holds.
        what: what it is, with its article: "the study".
        force: an earlier one there may be replaced.

    Raises:
        InputError: it holds anything but such a folder's files, or its own folder is not there or not writable.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"cannot make the folder {folder}: it is a file or a link")
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / marker).is_file():
            raise InputError(f"cannot write {what} to {folder}: the folder holds something else")
        if not force:
            one = what.replace("the ", "a ", 1)
            raise InputError(f"cannot write {what} to {folder}: it holds {one} already; --force replaces it")
    check_folder(folder.absolute().parent)


@contextmanager
def whole_folder(folder: Path, marker: str, what: str, *, force: bool = False) -> Iterator[Path]:
    """Give a folder to fill, which takes the place of `folder` only once it is complete; see `check_whole_folder`.

    Raises:
        InputError: as `check_whole_folder`, or a file cannot be written; `folder` is unchanged then.
    """
    check_whole_folder(folder, marker, what, force=force)
    temporary = folder.with_name(f".{folder.name}.{os.urandom(4).hex()}.part")
    try:
        temporary.mkdir(parents=True)
        yield temporary
        if not folder.exists():
            temporary.rename(folder)
            return
        aside = folder.with_name(f".{folder.name}.{os.urandom(4).hex()}.old")
        folder.rename(aside)
        try:
            temporary.rename(folder)
        except OSError:
            aside.rename(folder)
            raise
        shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise InputError(f"cannot write {what} to {folder}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _followed(path: Path) -> Path:
    """Resolve the target of writing to `path`. Links of other users are not followed, except the system's."""
    target = path
    for _ in range(_LINKS):
        if not target.is_symlink():
            return target
        owner = target.lstat().st_uid
        if owner not in _trusted():
            raise InputError(f"cannot write {path}: {target} is a symbolic link that user {owner} has put there")
        target = target.parent / target.readlink()
    raise InputError(f"cannot write {path}: more than {_LINKS} symbolic links")


def _trusted() -> tuple[int, ...]:
    """Return the users whose links are followed."""
    return os.geteuid(), 0


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a text file for writing that gets its name only once it is complete.

    On any error, no partial file is left, and an existing file is unchanged.

    Raises:
        InputError: the file cannot be written.
    """
    with _whole(path, encoding="utf-8", newline="") as file:
        yield file


@contextmanager
def whole_binary_file(path: Path) -> Iterator[BinaryIO]:
    """Like `whole_file`, for bytes."""
    with _whole(path, "b") as file:
        yield file


@contextmanager
def _whole(path: Path, kind: Literal["", "b"] = "", **options: str) -> Iterator[Any]:
    check_output(path)
    if path.exists() and not path.is_file():  # a device or a pipe cannot be renamed over
        with open(path, f"w{kind}", **options) as device:  # type: ignore[call-overload]
            yield device
        return
    target = _followed(path)
    temporary = target.with_name(f".{target.name}.{os.urandom(4).hex()}.part")  # unique, so that it may be removed
    try:
        with open(temporary, f"x{kind}", **options) as file:  # type: ignore[call-overload]
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with suppress(OSError):  # e.g. its name is too long to exist
            temporary.unlink(missing_ok=True)


def write_table(path: Path, names: Sequence[str], values: Array) -> None:
    """Write `values` (n, number of names) under their names; see `write_columns`."""
    write_columns(path, names, list(values.T))


def write_columns(path: Path, names: Sequence[str], columns: Sequence[Column]) -> None:
    """Write columns (n,) under their names; see `write_blocks`."""
    write_blocks(path, names, [columns])


def write_blocks(path: Path, names: Sequence[str], blocks: Iterable[Sequence[Column]]) -> None:
    """Write successive blocks of columns (n,) under their names, with every number in full precision.

    Raises:
        InputError: the file cannot be written; no file is left then, nor when getting a block fails.
    """
    rows = max(1, _CHUNK // len(names))
    heading = io.StringIO()
    csv.writer(heading, lineterminator="\n").writerow(names)
    with whole_binary_file(path) as file:
        file.write(heading.getvalue().encode())
        for columns in blocks:
            if len({len(column) for column in columns}) > 1:
                raise ValueError(f"columns of different lengths: {[len(column) for column in columns]}")
            for start in range(0, len(columns[0]), rows):
                file.write(_lines([column[start : start + rows] for column in columns]))
                time.sleep(0)  # otherwise a window would wait 5 ms for the interpreter lock


def _lines(columns: Sequence[Column]) -> bytes:
    """Return lines of columns (n,) of numbers, each as the shortest text with full precision."""
    parts = []
    for kind, group in groupby(columns, key=lambda column: column.dtype.kind):
        if kind not in _NUMBERS:
            raise TypeError(f"columns are of floats or of integers, not of {columns[0].dtype}")
        values = np.stack(list(group), axis=1, dtype=_NUMBERS[kind])
        if kind == "f" and np.isinf(values).any():  # JSON has no infinity
            parts.append([b",".join(map(_number, row)) for row in values.tolist()])
        else:
            text = orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY)
            parts.append(text[2:-2].replace(b"null", b"nan").split(b"],["))
    return b"".join(b",".join(line) + b"\n" for line in zip(*parts, strict=True))


def _number(value: float) -> bytes:
    return orjson.dumps(value) if math.isfinite(value) else str(value).encode()
