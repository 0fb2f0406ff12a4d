"""Trajectories given as poses over time, from a CSV file."""

import csv
import math
import time
from collections.abc import Callable
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from kinematics.arrays import MOTION_FIELDS, POSE, Array, checked_poses
from kinematics.errors import InputFileError, KinematicsError, TrajectoryError
from kinematics.inputs import open_table, read_number, read_numbers
from kinematics.rotations import pose_to_coordinates
from kinematics.trajectories.base import SHORTEST, Placement, Trajectory, bounded

_COLUMNS = ("t", *MOTION_FIELDS[POSE])
_IGNORED = {*MOTION_FIELDS[POSE.stop :], "fx", "fy", "fz", "mx", "my", "mz"}
_UNIT = 1e-6
_LONGEST_SAID = 60  # characters
_MOST_FAULTS = 20  # listed; a file with more is broken throughout
_BLOCK = 250  # rows read between two moments at which another thread may go first: some 1 ms of work
_LEAST_ROWS = {True: 2, False: 6}  # by rest_ends: a quintic without end conditions needs six points


class Poses(Trajectory):
    """Smooth motion through `poses` (n,7) at `times` (n,) s, which need not be evenly spaced; time restarts at 0.

    A quintic spline of the coordinates [x y z θx θy θz], angles unwrapped: four continuous derivatives, every pose met
    exactly.  `rest_ends`: start and end with zero speed and acceleration (at least two poses); otherwise the ends
    follow their neighbours (not-a-knot, at least six poses).
    Raises TrajectoryError for too few poses, times less than 1 µs apart, non-finite values, quaternions that are not
    unit to 1e-6, and θy within 0.06° of ±90°.
    """

    def __init__(
        self, times: ArrayLike, poses: ArrayLike, *, rest_ends: bool = True, placement: Placement | None = None
    ) -> None:
        t = np.asarray(times, dtype=np.float64)
        if t.ndim != 1 or not np.isfinite(t).all():
            raise TrajectoryError("times: must be (n,) finite numbers, s")
        if len(t) < _LEAST_ROWS[rest_ends]:
            raise TrajectoryError(f"{len(t)} poses, must be at least {_LEAST_ROWS[rest_ends]}")
        early = np.diff(t) < SHORTEST
        if early.any():
            row = int(np.argmax(early)) + 1
            raise TrajectoryError(
                f"times: {t[row]:g} s follows {t[row - 1]:g} s, must be at least {SHORTEST:g} s later"
            )
        try:
            checked = checked_poses("poses", poses)
            if checked.shape != (len(t), 7):
                raise TrajectoryError(f"poses: shape {checked.shape}, must be ({len(t)}, 7) as there are times")
            coordinates = pose_to_coordinates(checked)
        except TrajectoryError:
            raise
        except KinematicsError as error:
            raise TrajectoryError(str(error)) from None
        bounded("poses", float(np.abs(coordinates[:, :3]).max()), "m")
        coordinates[:, 3:] = np.unwrap(coordinates[:, 3:], axis=0)
        super().__init__(float(t[-1] - t[0]), placement)
        from scipy.interpolate import make_interp_spline  # takes long to import, and few need it

        rest = [(1, np.zeros(6)), (2, np.zeros(6))]
        # In units of the mean interval: the end conditions are then scaled like the values they stand beside.
        self._scale = (len(t) - 1) / self.duration
        self._spline = make_interp_spline(
            (t - t[0]) * self._scale,
            coordinates,
            k=5,
            bc_type=(rest, rest) if rest_ends else None,  # type: ignore[arg-type]  # the stubs know cubics only
        )

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        u = np.clip(t * self._scale, self._spline.t[0], self._spline.t[-1])
        return self._spline(u), self._spline(u, nu=1) * self._scale, self._spline(u, nu=2) * self._scale**2


def read_poses(path: Path) -> tuple[Array, Array]:
    """Times (n,) s and poses (n,7) of a CSV file with the columns t, x, y, z, qw, qx, qy, qz, in any order.

    Columns of a longer motion file (velocities, accelerations, wrench) may be there and are not used.
    Raises TrajectoryError listing the faults with their line numbers.
    """
    blocks = [np.empty((0, len(_COLUMNS)))]
    try:
        with open_table(path) as file:
            reader = csv.reader(file)
            lines = ((reader.line_num, row) for row in reader if any(map(str.strip, row)))
            header = [cell.strip() for cell in next(lines, (0, []))[1]]
            faults = _header_faults(header)
            listed, count = faults[:_MOST_FAULTS], len(faults)
            usable, last = not faults, -math.inf
            while block := list(islice(lines, _BLOCK)):
                if usable:  # else only whether the rest is CSV at all
                    table, faults = _block(block, header, last)
                    listed += faults[: _MOST_FAULTS - len(listed)]
                    count += len(faults)
                    last = float(table[-1, 0]) if len(table) else last
                    blocks.append(table)
                time.sleep(0)  # without it a window would wait 5 ms whenever it has let go of the interpreter
    except InputFileError as error:
        raise TrajectoryError(f"{path}: {error}") from None
    except csv.Error as error:
        raise TrajectoryError(f"{path}: cannot be read as CSV: {error}") from None
    if not header:
        raise TrajectoryError(f"{path}: is empty, must start with the header {','.join(_COLUMNS)}")
    if count:
        if count > len(listed):
            listed.append(f"and {count - len(listed)} more")
        raise TrajectoryError(f"{path}: not a usable file of poses:\n" + "\n".join(f"  {fault}" for fault in listed))
    whole = np.concatenate(blocks)
    return whole[:, 0], whole[:, 1:]


def _header_faults(header: list[str]) -> list[str]:
    if len(header) == 1 and ";" in header[0]:
        return ["line 1: columns are separated by semicolons, must be by commas; decimals have a point then"]
    faults = [f"line 1: column {name} is missing" for name in _COLUMNS if name not in header]
    faults += [
        f"line 1: column {_said(name)} is unknown" for name in header if name not in _COLUMNS and name not in _IGNORED
    ]
    faults += [f"line 1: column {name} occurs twice" for name in sorted({n for n in header if header.count(n) > 1})]
    return faults


def _block(block: list[tuple[int, list[str]]], header: list[str], last: float) -> tuple[Array, list[str]]:
    """Rows with their line numbers as numbers (n,8), those that can be read, and faults; `last` s is the time before.

    All at once where nothing is wrong, otherwise row by row.
    """
    places = [header.index(name) for name in _COLUMNS]
    table = _numbers([row for _line, row in block], len(header), itemgetter(*places))
    if table is not None and _plausible(table, last):
        return table, []
    values: list[list[float]] = []
    faults: list[str] = []
    for line, row in block:
        found = _row_faults(row, len(header), places, values, last)
        faults += [f"line {line}: {fault}" for fault in found]
    return np.array(values, dtype=np.float64).reshape(-1, len(_COLUMNS)), faults


def _numbers(rows: list[list[str]], width: int, pick: Callable[[list[str]], tuple[str, ...]]) -> Array | None:
    """What `pick` takes of each row, (n,8); None if not all are numbers or a row is not `width` long."""
    if any(len(row) != width for row in rows):
        return None
    try:
        numbers = np.array(read_numbers(list(chain.from_iterable(map(pick, rows)))), dtype=np.float64)
    except ValueError:
        return None
    return numbers.reshape(-1, len(_COLUMNS))


def _plausible(table: Array, last: float) -> bool:
    """Whether no row is at fault. A norm near its bound, where rounding decides, is left to `_row_faults`."""
    if not np.isfinite(table).all():
        return False
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(table[:, 4:8], axis=1)
        steps = np.diff(table[:, 0], prepend=last)
    return bool((np.abs(norms - 1.0) < 0.999 * _UNIT).all() and (steps >= SHORTEST).all())


def _said(text: str) -> str:
    """A cell as it is quoted: a file that is no table of poses may have a hundred kilobytes in one."""
    return repr(text if len(text) <= _LONGEST_SAID else f"{text[:_LONGEST_SAID]}…")


def _row_faults(row: list[str], width: int, places: list[int], values: list[list[float]], last: float) -> list[str]:
    """Faults of one row; a row that can be read is added to `values`, which follow the time `last` s."""
    if len(row) != width:
        hint = "; commas separate columns, decimals have a point" if len(row) > width else ""
        return [f"{len(row)} values, must be {width}{hint}"]
    numbers, faults = [], []
    for name, place in zip(_COLUMNS, places, strict=True):
        try:
            number = read_number(row[place])
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            faults.append(f"{name} is {_said(row[place].strip())}, must be a finite number")
        numbers.append(number)
    if faults:
        return faults
    before = values[-1][0] if values else last
    if numbers[0] - before < SHORTEST:
        faults.append(f"t is {numbers[0]:g} s after {before:g} s, must be at least {SHORTEST:g} s later")
    norm = math.hypot(*numbers[4:8])
    if abs(norm - 1.0) > _UNIT:
        faults.append(f"quaternion norm is {norm:.9g}, must be 1 within {_UNIT:g}")
    values.append(numbers)
    return faults
