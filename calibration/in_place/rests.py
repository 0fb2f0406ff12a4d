"""Load-cell readings while the platform rests at known poses, and their checks."""

from dataclasses import dataclass

import numpy as np

from calibration.cells import CELLS, cells_in_words, exchanged_pairs
from calibration.errors import CalibrationError
from dynamics import Dynamics, DynamicsError, Mechanism
from kinematics import Array

FEWEST_RESTS = 8
"""Poses at rest."""

_AT_REST = np.array([1e-3] * 3 + [5e-3] * 3)  # m/s, rad/s, below which the platform rests
_MOST_PAIRED = 300  # of the rests, evenly chosen: pairs are many


@dataclass(frozen=True, slots=True, eq=False)
class Rests:
    """Rests of the platform, in the order of time.

    poses (n, 7): of the platform in the base frame. readings (n, 6): mean raw reading of each cell, raw units. noise
    (n, 6): standard deviation of one sample, raw units. counts (n,): samples of each mean. twists (n, 6): m/s, rad/s,
    as measured; zero if left out.
    """

    poses: Array
    readings: Array
    noise: Array
    counts: Array
    twists: Array | None = None

    def __len__(self) -> int:
        return len(self.poses)


def check_rests(rests: Rests) -> None:
    """Refuse rests that are too few, not finite, of wrong shapes, or in motion.

    Raises:
        CalibrationError: with all reasons.
    """
    n = len(rests)
    shapes: list[tuple[str, Array, tuple[int, ...]]] = [
        ("poses", rests.poses, (n, 7)),
        ("readings", rests.readings, (n, CELLS)),
        ("noise", rests.noise, (n, CELLS)),
        ("counts", rests.counts, (n,)),
    ]
    if rests.twists is not None:
        shapes.append(("twists", rests.twists, (n, 6)))
    faults = [
        f"{name}: shape {np.shape(values)}, must be {shape}"
        for name, values, shape in shapes
        if np.shape(values) != shape
    ]
    if faults:
        raise CalibrationError(faults)
    if n < FEWEST_RESTS:
        raise CalibrationError(
            f"{n} poses at rest, at least {FEWEST_RESTS} are needed to fit gain and offset and to judge them"
        )
    for name, values, _ in shapes:
        rows = np.flatnonzero(~np.isfinite(np.reshape(values, (n, -1))).all(axis=1))
        if len(rows):
            faults.append(f"{name}: not finite at pose {', '.join(str(row + 1) for row in rows[:10])}")
    if faults:
        raise CalibrationError(faults)
    if (rests.counts < 1).any():
        faults.append("counts: every reading is the mean of 1 sample at least")
    silent = ~(rests.noise > 0.0).all(axis=0)
    faults += [
        f"load cell {leg + 1}: no noise at all: it repeats itself, or its noise is not known"
        for leg in np.flatnonzero(silent)
    ]
    if rests.twists is not None:
        moving = np.flatnonzero((np.abs(rests.twists) > _AT_REST).any(axis=1))
        faults += [
            f"pose {row + 1}: the platform moves, {1e3 * np.abs(rests.twists[row, :3]).max():.2g} mm/s and "
            f"{1e3 * np.abs(rests.twists[row, 3:]).max():.2g} mrad/s; at rest it is below 1 mm/s and 5 mrad/s"
            for row in moving
        ]
    if faults:
        raise CalibrationError(faults)


def cell_forces(mechanism: Mechanism, poses: Array) -> Array:
    """Forces (n, 6) N, compression positive, that the cells see at rest at poses (n, 7).

    Raises:
        CalibrationError: a pose without leg forces, as a singular one.
    """
    motions = np.zeros((len(poses), 19))
    motions[:, :7] = poses
    try:
        return Dynamics(mechanism).cells(motions)
    except DynamicsError as error:
        raise CalibrationError(f"the poses are none of {mechanism.name}: {error}") from None


def robust_lines(forces: Array, readings: Array) -> tuple[Array, Array, Array]:
    """Slope, intercept and scatter of readings (n,) against forces (n, k), (k,) each, by medians (Theil and Sen).

    Up to 29 % of the readings may be outliers. The scatter is that of a normal distribution with the same median
    absolute deviation.
    """
    some = np.linspace(0, len(forces) - 1, min(len(forces), _MOST_PAIRED)).astype(np.intp)
    first, second = (some[each] for each in np.triu_indices(len(some), 1))
    run = forces[second] - forces[first]
    rise = (readings[second] - readings[first])[:, np.newaxis]
    apart = np.abs(run) > 1e-3 * np.ptp(forces, axis=0)
    slopes = np.nanmedian(np.where(apart, rise / np.where(apart, run, 1.0), np.nan), axis=0)
    left = readings[:, np.newaxis] - slopes * forces
    intercepts = np.median(left, axis=0)
    return slopes, intercepts, 1.4826 * np.median(np.abs(left - intercepts), axis=0)


def exchanged_cells(forces: Array, readings: Array) -> str:
    """Text of cells that fit another leg's force much better than their own; empty if none do."""
    cost = np.array([robust_lines(forces, readings[:, cell])[2] for cell in range(CELLS)]) ** 2
    return cells_in_words(exchanged_pairs(cost))
