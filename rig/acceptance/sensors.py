"""External sensors, an accelerometer and a tracker: from files, aligned in time with a recording, or recorded."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline
from scipy.signal import butter, sosfiltfilt

from kinematics import COORDINATES, angles_to_matrix, pose_to_coordinates
from rig.acceptance.numbers import NotMeasurableError
from rig.csvio import POSE, read_table
from rig.errors import InputError
from rig.findings import Code, Finding

Floats: TypeAlias = npt.NDArray[np.float64]

SPECIFIC_FORCE = ("ax", "ay", "az")
"""Columns of an accelerometer: specific force in platform axes, m/s²; at rest, level, az is +9.8."""
_RATE = 200.0  # Hz, of the search for the offset
_LATE = 0.1  # s, behind the command, of a recorded sensor: more is another mounting or clock, not a delay
_ALIKE = 0.7  # least correlation of a file with the recording that it is of
_MATTERS = 0.05  # of the motion's power, from which on a column must correlate by itself
_ALIKE_ALONE = 0.3  # least correlation of such a column, which may be noisy but not another one
_SCALES = (0.5, 2.0)  # of the file's motion, of that commanded; beyond, its unit is another
_LONGEST_GAP = 0.05  # s, between two samples of a file within a motion
_FILTER, _PASSED = 4, 0.4  # order, and edge as a fraction of the rig's rate, of what keeps a faster file from aliasing


@dataclass(frozen=True, slots=True)
class Alignment:
    """The offset of a file's clock: its time minus the rig's, s, with σ; correlation of the two motions, up to 1.

    used: whether times are corrected by it. Those of a recorded sensor are rig time already: its offset is the delay of
    the motion behind the command.
    """

    offset: float
    sigma: float
    correlation: float
    used: bool = True


class Channel(NamedTuple):
    """A recorded sensor: its name, rig times (n,) s, and values (n, k) as the columns of its file would be."""

    name: str
    times: Floats
    values: Floats


def _of_source(found: Alignment, source: Path | Channel, what: str) -> Alignment:
    """The alignment with a source. Raises InputError for a recorded sensor that shows the motion at another time."""
    if isinstance(source, Path):
        return found
    if abs(found.offset) > _LATE:
        raise InputError(
            f"{what}: shows the motion {found.offset:.3g} s behind the command, must be within {_LATE:g} s: are its "
            "rotation, delay and clock in [[sensors]] right?"
        )
    return replace(found, used=False)


def _measured(kind: str, source: Path | Channel, columns: Sequence[str]) -> tuple[Floats, Floats, str]:
    """Times (n,), values (n, k) and name of a file or a recorded sensor. Raises InputError for an unusable one."""
    if isinstance(source, Channel):
        what = f"{kind}, sensor {source.name!r}"
        if len(source.times) < 2:
            raise InputError(f"{what}: the recording has no readings of it")
        return source.times, source.values.copy(), what
    table = read_table(source, columns, increasing=True)
    return table.times, table.columns(columns), f"{kind} {source}"


def aligned(
    times: Floats, values: Floats, file_times: Floats, file_values: Floats, what: str, columns: Sequence[str], unit: str
) -> Alignment:
    """Find the offset of a file's clock by its signals (m, k), which are those of the rig (n, k) at another time.

    The offset has the mean delay between them: what is delayed as a whole cannot be told from another clock.

    Args:
        times, values: of the rig. file_times, file_values: of the file.
        what: the file, for errors. columns (k,): names of the signals. unit: their unit.

    Raises InputError where the file does not show the motion, has another unit, or other axes.
    """
    if len(file_times) < 2:
        raise InputError(f"{what}: {len(file_times)} row, must be at least 2")
    rig, file = (_sampled(t, y) for t, y in ((times, values), (file_times, file_values)))
    size = 2 ** math.ceil(math.log2(len(rig) + len(file)))
    spectrum = sum(np.fft.rfft(file[:, k], size) * np.fft.rfft(rig[:, k], size).conj() for k in range(values.shape[1]))
    correlation = np.fft.irfft(spectrum, size)
    best = int(correlation.argmax())
    shift = (best if best < size // 2 else best - size) / _RATE
    offset = file_times[0] - times[0] + shift
    grid = np.arange(times[0], times[-1], 1.0 / _RATE)
    inside = (grid + offset >= file_times[0]) & (grid + offset <= file_times[-1])
    sigma = alike = math.nan
    for _ in range(3):  # by the least squares of the difference
        here = _at(grid[inside], times, values)
        there = _at(grid[inside] + offset, file_times, file_values)
        here, there = here - here.mean(axis=0), there - there.mean(axis=0)
        slope = np.gradient(here, 1.0 / _RATE, axis=0)
        steep = float((slope**2).sum())
        alike = float((here * there).sum() / math.sqrt(float((here**2).sum() * (there**2).sum()) or 1.0))
        if not alike >= _ALIKE:
            break
        left = there - here
        change = float((slope * left).sum()) / steep
        sigma = math.sqrt(float((left**2).mean()) / steep)
        offset -= change
    if not alike >= _ALIKE:
        raise InputError(
            f"{what}: does not show the motion of this recording: a correlation of {alike:.2f}, must be at least "
            f"{_ALIKE:g}"
        )
    scale = float((here * there).sum() / (here**2).sum())
    if not _SCALES[0] <= scale <= _SCALES[1]:
        raise InputError(
            f"{what}: shows {scale:.3g} times the motion of this recording, must be {_SCALES[0]:g} to {_SCALES[1]:g} "
            f"times: is it in {unit}?"
        )
    power = (here**2).sum(axis=0)
    for column in np.flatnonzero(power > _MATTERS * power.sum()).tolist():
        one, other = here[:, column], there[:, column]
        own = float(one @ other / math.sqrt(float(one @ one) * float(other @ other) or 1.0))
        if not own >= _ALIKE:
            raise InputError(
                f"{what}: its {columns[column]} does not show the motion of this recording: a correlation of "
                f"{own:.2f}, must be at least {_ALIKE_ALONE:g}; are its axes the stated ones?"
            )
    return Alignment(float(offset), sigma, alike)


def _sampled(times: Floats, values: Floats) -> Floats:
    grid = np.arange(times[0], times[-1], 1.0 / _RATE)
    sampled = _at(grid, times, values)
    found: Floats = sampled - sampled.mean(axis=0)
    return found


def _at(grid: Floats, times: Floats, values: Floats) -> Floats:
    return np.stack([np.interp(grid, times, column) for column in values.T], axis=1)


class _File:
    """Signals (n, k) of a file at any times: a cubic spline, so that nothing of a slow file's motion is lost.

    A file that is faster than the rig is low-pass filtered first, without delay.
    """

    def __init__(self, sensor: str, times: Floats, values: Floats, rate: float) -> None:
        self._sensor, self._times = sensor, times
        step = float(np.median(np.diff(times)))
        faster = _PASSED * rate * step
        if faster < _PASSED and len(times) > 6 * _FILTER:
            values = sosfiltfilt(butter(_FILTER, 2.0 * faster, output="sos"), values, axis=0)
        self._spline = CubicSpline(times, values)

    def covers(self, times: Floats) -> bool:
        """Whether the file has all times (n,) of its own clock."""
        return bool(times[0] >= self._times[0] and times[-1] <= self._times[-1])

    def at(self, times: Floats) -> Floats:
        """The signals at times (n,) of its own clock. Raises NotMeasurableError for a gap in there."""
        first = max(0, int(np.searchsorted(self._times, times[0])) - 1)
        gap = float(np.diff(self._times[first : int(np.searchsorted(self._times, times[-1])) + 1]).max(initial=0.0))
        if gap > _LONGEST_GAP:
            raise NotMeasurableError(
                Finding(Code.ACCEPT_SENSOR_GAP, value=gap, bound=_LONGEST_GAP, details={"sensor": self._sensor})
            )
        found: Floats = self._spline(times)
        return found


class Accelerometer:
    """An accelerometer on the platform, its axes along the platform's: columns t, ax, ay, az of a CSV file.

    Or a recorded sensor's, in the platform's axes.

    Args:
        source: the file, or the recorded sensor.
        position: (3,) m, of the sensor, platform frame.
        gravity: (3,) m/s², base frame.
        times, commanded: of the whole recording, (n,) s and (n, 6) coordinates, to align it with.

    Raises InputError for a file that cannot be used.
    """

    def __init__(
        self, source: Path | Channel, position: Floats, gravity: Floats, times: Floats, commanded: Floats
    ) -> None:
        there, forces, what = _measured("accelerometer", source, SPECIFIC_FORCE)
        self._position, self._gravity = position, gravity
        expected = self._expected(times, commanded)
        found = aligned(times, expected, there, forces, what, SPECIFIC_FORCE, "m/s², specific force")
        self.alignment = _of_source(found, source, what)
        self._offset = found.offset if self.alignment.used else 0.0
        self._file = _File("accelerometer", there, forces, 1.0 / float(np.median(np.diff(times))))

    def accelerations(self, times: Floats, commanded: Floats) -> Floats:
        """Accelerations (n, 6) of the platform's origin at the rig's times (n,), base axes; NaN for the rotations.

        All are NaN where the file does not have these times. The attitude, and the acceleration of the sensor about the
        origin, are those commanded (n, 6). Raises NotMeasurableError where the file has a gap.
        """
        found = np.full((len(times), 6), np.nan)
        there = times + self._offset
        if not self._file.covers(there):
            return found
        force = self._file.at(there)
        rotations = angles_to_matrix(commanded[:, 3:])
        found[:, :3] = np.einsum("nij,nj->ni", rotations, force) + self._gravity - self._around(times, rotations)
        return found

    def _around(self, times: Floats, rotations: Floats) -> Floats:
        if not self._position.any():
            return np.zeros((len(times), 3))
        place = rotations @ self._position
        step = times[1] - times[0]
        around: Floats = np.gradient(np.gradient(place, step, axis=0), step, axis=0)
        return around

    def _expected(self, times: Floats, commanded: Floats) -> Floats:
        """Specific force (n, 3) of the commanded motion."""
        rotations = angles_to_matrix(commanded[:, 3:])
        place = commanded[:, :3] + rotations @ self._position
        motion = np.gradient(np.gradient(place, times, axis=0), times, axis=0)
        expected: Floats = np.einsum("nji,nj->ni", rotations, motion - self._gravity)
        return expected


class Tracker:
    """A tracker's poses of the platform in the base frame: columns t, x, y, z, qw, qx, qy, qz of a CSV file.

    Args: as `Accelerometer`.
    """

    def __init__(self, source: Path | Channel, times: Floats, commanded: Floats) -> None:
        there, poses, what = _measured("tracker", source, POSE)
        signs = np.sign((poses[1:, 3:] * poses[:-1, 3:]).sum(axis=1))
        poses[1:, 3:] *= np.cumprod(np.where(signs == 0.0, 1.0, signs))[:, np.newaxis]
        found = aligned(times, commanded, there, pose_to_coordinates(poses), what, COORDINATES, "m")
        self.alignment = _of_source(found, source, what)
        self._offset = found.offset if self.alignment.used else 0.0
        self._file = _File("tracker", there, poses, 1.0 / float(np.median(np.diff(times))))

    def poses(self, times: Floats) -> Floats:
        """Poses (n, 7) at the rig's times (n,). Raises NotMeasurableError where the sensor has none, or a gap."""
        there = times + self._offset
        if not self._file.covers(there):
            raise NotMeasurableError(Finding(Code.ACCEPT_NOT_COVERED, details={"sensor": "tracker"}))
        poses = self._file.at(there)
        poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
        return poses
