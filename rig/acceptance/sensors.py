"""Files of sensors beside the rig: an accelerometer's and a tracker's, aligned in time with a recording."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kinematics import angles_to_matrix, pose_to_coordinates
from rig.csvio import POSE, read_table
from rig.errors import InputError

Floats: TypeAlias = npt.NDArray[np.float64]

SPECIFIC_FORCE = ("ax", "ay", "az")
"""Columns of an accelerometer: specific force in platform axes, m/s²; at rest, level, az is +9.8."""
_RATE = 200.0  # Hz, of the search for the offset
_ALIKE = 0.7  # least correlation of a file with the recording that it is of


@dataclass(frozen=True, slots=True)
class Alignment:
    """The offset of a file's clock: its time minus the rig's, s, with σ; correlation of the two motions, up to 1."""

    offset: float
    sigma: float
    correlation: float


def aligned(times: Floats, values: Floats, file_times: Floats, file_values: Floats, what: str) -> Alignment:
    """Find the offset of a file's clock by its signals (m, k), which are those of the rig (n, k) at another time.

    The offset has the mean delay between them: what is delayed as a whole cannot be told from another clock.

    Raises InputError where the file does not show the motion.
    """
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
        power = float((slope**2).sum())
        alike = float((here * there).sum() / math.sqrt(float((here**2).sum() * (there**2).sum()) or 1.0))
        if not alike >= _ALIKE:
            break
        left = there - here
        change = float((slope * left).sum()) / power
        sigma = math.sqrt(float((left**2).mean()) / power)
        offset -= change
    if not alike >= _ALIKE:
        raise InputError(
            f"{what}: does not show the motion of this recording: a correlation of {alike:.2f}, must be at least "
            f"{_ALIKE:g}"
        )
    return Alignment(float(offset), sigma, alike)


def _sampled(times: Floats, values: Floats) -> Floats:
    grid = np.arange(times[0], times[-1], 1.0 / _RATE)
    sampled = _at(grid, times, values)
    found: Floats = sampled - sampled.mean(axis=0)
    return found


def _at(grid: Floats, times: Floats, values: Floats) -> Floats:
    return np.stack([np.interp(grid, times, column) for column in values.T], axis=1)


class Accelerometer:
    """An accelerometer on the platform, its axes along the platform's: columns t, ax, ay, az of a CSV file.

    Args:
        path: the file.
        position: (3,) m, of the sensor, platform frame.
        gravity: (3,) m/s², base frame.
        times, commanded: of the whole recording, (n,) s and (n, 6) coordinates, to align it with.

    Raises InputError for a file that cannot be used.
    """

    def __init__(self, path: Path, position: Floats, gravity: Floats, times: Floats, commanded: Floats) -> None:
        table = read_table(path, SPECIFIC_FORCE, increasing=True)
        self._times, self._forces = table.times, table.columns(SPECIFIC_FORCE)
        self._position, self._gravity = position, gravity
        self.alignment = aligned(
            times, self._expected(times, commanded), self._times, self._forces, f"accelerometer {path}"
        )

    def accelerations(self, times: Floats, commanded: Floats) -> Floats:
        """Accelerations (n, 6) of the platform's origin at the rig's times (n,), base axes; NaN for the rotations.

        The attitude, and the acceleration of the sensor about the origin, are those commanded (n, 6).
        """
        found = np.full((len(times), 6), np.nan)
        there = times + self.alignment.offset
        if there[0] < self._times[0] or there[-1] > self._times[-1]:
            return found
        force = _at(there, self._times, self._forces)
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

    def __init__(self, path: Path, times: Floats, commanded: Floats) -> None:
        table = read_table(path, POSE, increasing=True)
        self._times, self._poses = table.times, table.columns(POSE)
        signs = np.sign((self._poses[1:, 3:] * self._poses[:-1, 3:]).sum(axis=1))
        self._poses[1:, 3:] *= np.cumprod(np.where(signs == 0.0, 1.0, signs))[:, np.newaxis]
        tracked = pose_to_coordinates(self._poses)
        self.alignment = aligned(times, commanded, self._times, tracked, f"tracker {path}")

    def poses(self, times: Floats) -> Floats:
        """Poses (n, 7) at the rig's times (n,). Raises InputError where the file has none."""
        there = times + self.alignment.offset
        if there[0] < self._times[0] or there[-1] > self._times[-1]:
            raise InputError("the tracker's file does not cover the motion")
        poses = _at(there, self._times, self._poses)
        poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
        return poses
