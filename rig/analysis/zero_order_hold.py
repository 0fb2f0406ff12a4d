"""Effect of forces held between commands, at the instant of a reading and between readings.

Encoders give the mean acceleration over a period, cells read instants. The difference is the deviation of drive force
and Coulomb friction from their means; a leg may reverse within a cycle.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from actuators import Mode
from dynamics import Dynamics, friction_signs
from kinematics import Geometry, leg_matrices, leg_matrix
from rig.analysis.smoothing import Floats
from rig.recording import RecordingError

LEAD = 24
"""rows after which the forces no longer depend on commands before the first row, given drive dead times and lags"""
TRAIL = 3
"""rows at the end whose period needs later rows of the model"""

_SUBSTEPS = 20  # per period
_PLACES = (np.arange(_SUBSTEPS) + 0.5) / _SUBSTEPS
_ROUNDS = 6
"""iterations for speeds within a period and their friction, each halving the error"""
_MEAN = (np.array([13.0, -1.0]) / 24.0, np.array([802.0, -93.0, 11.0]) / 1440.0)
"""Weights of the 4 or 6 samples about a period, from the middle, for the mean of their polynomial over the period."""


def net_hold_force(
    rows: npt.NDArray[np.void], model: Dynamics, period: float, drives: Mapping[str, Any]
) -> tuple[Floats, Floats]:
    """Compute the forces that accelerate the platform beyond the reference, for legs with force-controlled drives.

    From telemetry rows (n), `period` s apart, without a gap: drive forces minus the model's at the reference,
    with Coulomb friction at the measured speeds, at the instants of the rows (n, 6) N by leg, and as mean until the
    next row (n, 6) N; 0 for the other legs. Raises as `drive_forces`.
    """
    commanded = (rows["mode"] == Mode.FORCE) & np.isfinite(rows["force_command"])
    if not commanded.any():
        nothing = np.zeros((2, len(rows), 6))
        return nothing[0], nothing[1]
    here, mean, course = _held_forces(np.where(commanded, rows["force_command"], 0.0), period, drives)
    friction = np.array([leg.coulomb for leg in model.mechanism.legs])
    smooth = rows["terms"].sum(axis=1) - friction * friction_signs(rows["velocity_reference"], model.coulomb_speed)
    net = here - smooth - friction * friction_signs(rows["velocity"], model.coulomb_speed)
    mean -= _mean_between(smooth) + friction * _mean_signs(rows["velocity"], course, friction, model, period)
    mean[-1] = net[-1]  # no later row
    return np.where(commanded, net, 0.0), np.where(commanded, mean, 0.0)


def _mean_signs(speeds: Floats, course: Floats, friction: Floats, model: Dynamics, period: float) -> Floats:
    """Mean signs of Coulomb friction (n, 6) from each row to the next, for speeds (n, 6) m/s at the rows.

    Between two rows the speed follows from the forces, corrected to match the measured speeds at both rows: course
    (places, n, 6) N of the drive in the period that begins with a row, friction (6,) N.
    """
    geometry = model.mechanism.geometry
    home, matrix = geometry.home_pose, leg_matrix(geometry, geometry.home_pose)
    mobility = matrix.T @ np.linalg.solve(model.mass_matrix(home), matrix)  # 1/kg, m/s² of the legs by N
    gained = np.diff(speeds, axis=0, append=speeds[-1:])
    part = _PLACES[:, np.newaxis, np.newaxis]
    straight = speeds + part * gained
    signs = friction_signs(straight, model.coulomb_speed)
    for _ in range(_ROUNDS):
        impulse = (course - friction * signs) * (period / _SUBSTEPS)  # N s
        until = np.cumsum(impulse, axis=0) - 0.5 * impulse
        bent = straight + (until - part * impulse.sum(axis=0)) @ mobility.T
        signs += 0.5 * (friction_signs(bent, model.coulomb_speed) - signs)
    mean: Floats = signs.mean(axis=0)
    return mean


def twists(geometry: Geometry, poses: Floats, speeds: Floats) -> Floats:
    """Twists (n, 6), base axes, from leg speeds (n, 6) m/s at poses (n, 7): Hᵀ [v; ω] = L̇."""
    found = np.zeros((len(poses), 6))
    some = np.flatnonzero(speeds.any(axis=1))
    if len(some):
        rates = leg_matrices(geometry, poses[some]).transpose(0, 2, 1)
        found[some] = np.linalg.solve(rates, speeds[some, :, np.newaxis])[:, :, 0]
    return found


def _mean_between(values: Floats) -> Floats:
    """Means of values (n, 6) from each row to the next, by the polynomial through the neighbouring rows, (n, 6)."""
    mean = values.copy()
    mean[:-1] = 0.5 * (values[:-1] + values[1:])
    for reach, weights in enumerate(_MEAN, start=1):
        count = len(values) - 2 * reach - 1
        if count > 0:
            mean[reach : reach + count] = sum(
                weight * (values[reach - k : reach - k + count] + values[reach + 1 + k : reach + 1 + k + count])
                for k, weight in enumerate(weights)
            )
    return mean


def drive_forces(commands: Floats, period: float, drives: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Compute forces (n, 6) N of drives about the times when commands (n, 6) are computed, `period` s apart.

    The first is their mean over the periods before and after, weighted as accelerations in a second difference of
    lengths; the second is their deviation from it at the instant. A command is sent with the exchange of the next
    cycle, takes effect after the drives' dead time, and is reached with the lag of their force loop.

    drives: of the configuration, with `delay`, s, and `force_bandwidth`, Hz.
    Raises RecordingError without these.
    """
    forces, mean, course = _held_forces(commands, period, drives)
    rising = np.tensordot(_PLACES, course, axes=1) / _SUBSTEPS
    falling = mean - rising
    about = falling + np.vstack([rising[:1], rising[:-1]])
    return about, forces - about


def _held_forces(commands: Floats, period: float, drives: Mapping[str, Any]) -> tuple[Floats, Floats, Floats]:
    """Compute forces (n, 6) N of drives when commands (n, 6) are computed, and their mean over the following period.

    The third (places, n, 6) is their course in that period, at `_PLACES`. See `drive_forces`.
    """
    delay, bandwidth = drives.get("delay"), drives.get("force_bandwidth")
    if not isinstance(delay, int | float) or not isinstance(bandwidth, int | float) or not bandwidth > 0:
        raise RecordingError("the recording does not say the drives' delay and force_bandwidth")
    whole = int(delay // period)
    early = delay - whole * period  # fraction of a period with the previous command
    lag = 1.0 / (2.0 * math.pi * bandwidth)
    newer = _delayed(commands, 1 + whole)  # commands that take effect in the period after a row
    older = _delayed(commands, 2 + whole)
    early_decay, late = math.exp(-early / lag), math.exp(-(period - early) / lag)
    # f(k+1) = newer + (middle − newer) late, middle = older + (f(k) − older) kept
    steps = older * (1.0 - early_decay) * late + newer * (1.0 - late)
    forces = np.vstack([commands[:1], steps[:-1]])
    reach, left = 1, early_decay * late  # each step and the decayed previous one, then two, four …
    while reach < len(forces) and left > 0.0:
        forces[reach:] += left * forces[:-reach]
        reach, left = 2 * reach, left * left
    middle = older + (forces - older) * early_decay
    mean = older * early + (forces - older) * lag * (1.0 - early_decay)
    mean = (mean + newer * (period - early) + (middle - newer) * lag * (1.0 - late)) / period
    course = np.empty((_SUBSTEPS, *commands.shape))
    for place, since in enumerate((_PLACES * period).tolist()):
        if since < early:
            course[place] = older + (forces - older) * math.exp(-since / lag)
        else:
            course[place] = newer + (middle - newer) * math.exp(-(since - early) / lag)
    return forces, mean, course


def _delayed(values: Floats, rows: int) -> Floats:
    """Each row's value that many rows earlier; the first row's if there is none."""
    return np.vstack([np.repeat(values[:1], rows, axis=0), values[:-rows]])
