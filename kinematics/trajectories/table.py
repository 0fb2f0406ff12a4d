"""Sampled trajectory for the cycle: a table of coordinates, interpolated with two continuous derivatives."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinematics.arrays import Array
from kinematics.compiled import kernel
from kinematics.errors import TrajectoryError
from kinematics.rotations import coordinates_to_motion_kernel, motion_to_coordinates
from kinematics.trajectories.base import NO_THRESHOLDS, Thresholds, Trajectory, time_span

MOST_SAMPLES = 2_000_000
"""Limit of a trajectory: 288 MB, an hour at 500 Hz."""
_BLOCK = 50_000  # samples per block, which bounds the temporary memory


@dataclass(frozen=True, slots=True, eq=False)
class MotionTable:
    """Evenly spaced samples of a trajectory: the platform origin's coordinates in the base frame.

    step: s between samples.  samples (n,18): [q, q̇, q̈] with q = [x y z θx θy θz], m and rad, angles
    continuous.  amplitude: scale about the start pose of the samples, 1 for the original motion.
    thresholds: requirements on runs, as far as its file gives them.
    """

    step: float
    samples: Array
    amplitude: float = 1.0
    thresholds: Thresholds = NO_THRESHOLDS

    @property
    def duration(self) -> float:
        """Trajectory time covered, s."""
        return (len(self.samples) - 1) * self.step

    def motion(self, path_time: ArrayLike, rate: ArrayLike = 1.0, acceleration: ArrayLike = 0.0) -> Array:
        """Compute the motion (n,19) at the trajectory times `path_time` (n,), s, by `table_motion_kernel`.

        `rate` and `acceleration` (n,) or one for all: first and second derivative of the trajectory time with respect
        to real time, - and 1/s.  TrajectoryError for values that are not finite or times outside the table.
        """
        s, sd, sdd = np.broadcast_arrays(
            np.atleast_1d(np.asarray(path_time, dtype=np.float64)),
            np.asarray(rate, dtype=np.float64),
            np.asarray(acceleration, dtype=np.float64),
        )
        if s.ndim != 1:
            raise TrajectoryError(f"path times: shape {s.shape}, must be (n,)")
        if not (np.isfinite(sd).all() and np.isfinite(sdd).all()):
            raise TrajectoryError("the rate and acceleration of the path time must be finite")
        out = np.empty((len(s), 19))
        bad = _table_motions_kernel(self.samples, self.step, s.copy(), sd.copy(), sdd.copy(), out)
        if bad >= 0:
            raise TrajectoryError(f"path time {s[bad]:g} s is outside the table's 0 to {self.duration:g} s")
        return out


def tabulate(trajectory: Trajectory | MotionTable, step: float) -> MotionTable:
    """Sample `trajectory`, or resample a table, at most `step` s apart, in a whole number of steps.

    At the samples the table equals the trajectory, at its amplitude, in position, speed and acceleration.  An
    acceleration jump between two samples becomes a finite slope; position, speed and acceleration stay
    consistent.
    Raises TrajectoryError for a step under 1e-6 s or one that needs more than 2 million samples, and where θy, in base
    axes, is within 0.06° of ±90°.
    """
    time_span("step", step)
    intervals = max(1, math.ceil(trajectory.duration / step * (1.0 - 1e-9)))
    if intervals + 1 > MOST_SAMPLES:
        raise TrajectoryError(
            f"{trajectory.duration:g} s in steps of {step:g} s need {intervals + 1} samples, at most {MOST_SAMPLES}"
        )
    step = trajectory.duration / intervals
    samples = np.empty((intervals + 1, 18))
    for first in range(0, intervals + 1, _BLOCK):
        rows = samples[first : first + _BLOCK]
        times = np.minimum(np.arange(first, first + len(rows)) * step, trajectory.duration)
        rows[:, :6], rows[:, 6:12], rows[:, 12:] = motion_to_coordinates(trajectory.motion(times))
    for angle in range(3, 6):
        samples[:, angle] = np.unwrap(samples[:, angle])
    if trajectory.amplitude != 1.0 and isinstance(trajectory, Trajectory):
        start = samples[0, :6].copy()
        for first in range(0, intervals + 1, _BLOCK):
            rows = samples[first : first + _BLOCK]
            rows[:] = scaled(rows, start, trajectory.amplitude)
    return MotionTable(step, samples, trajectory.amplitude, trajectory.thresholds)


def scaled(samples: Array, start: Array, amplitude: float) -> Array:
    """Scale samples (n, 18) of a table about the coordinates `start` (6,); unchanged for an amplitude of 1."""
    result = amplitude * samples
    result[:, :6] += (1.0 - amplitude) * start
    return result


@kernel
def table_motion_kernel(samples: Array, step: float, s: float, sd: float, sdd: float, out: Array) -> int:
    """Compute the motion at time `s` of a table into `out` (19,); return 0, or 1 with `out` unchanged if s is outside.

    `sd`, `sdd`: first and second derivative of s with respect to real time, to run the path at another speed:
    q̇ = q' ṡ, q̈ = q'' ṡ² + q' s̈.  Between samples a quintic Hermite polynomial: two continuous derivatives.
    """
    last = samples.shape[0] - 1
    if not (0.0 <= s <= last * step):
        return 1
    row = min(int(s / step), last - 1)
    u = s / step - row
    left, right = samples[row], samples[row + 1]
    for i in range(6):
        v0, v1 = step * left[6 + i], step * right[6 + i]
        a0, a1 = step * step * left[12 + i], step * step * right[12 + i]
        d = right[i] - left[i] - v0 - 0.5 * a0
        v = v1 - v0 - a0
        a = a1 - a0
        c3 = 10.0 * d - 4.0 * v + 0.5 * a
        c4 = -15.0 * d + 7.0 * v - a
        c5 = 6.0 * d - 3.0 * v + 0.5 * a
        first = (v0 + u * (a0 + u * (3.0 * c3 + u * (4.0 * c4 + u * 5.0 * c5)))) / step
        second = (a0 + u * (6.0 * c3 + u * (12.0 * c4 + u * 20.0 * c5))) / (step * step)
        out[i] = left[i] + u * (v0 + u * (0.5 * a0 + u * (c3 + u * (c4 + u * c5))))
        out[6 + i] = first * sd
        out[12 + i] = second * sd * sd + first * sdd
    coordinates_to_motion_kernel(out, out)
    return 0


@kernel
def _table_motions_kernel(samples: Array, step: float, s: Array, sd: Array, sdd: Array, out: Array) -> int:
    """Fill `out` (n,19) row by row; return the first row outside the table, or -1."""
    for row in range(s.shape[0]):
        if table_motion_kernel(samples, step, s[row], sd[row], sdd[row], out[row]) != 0:
            return row
    return -1
