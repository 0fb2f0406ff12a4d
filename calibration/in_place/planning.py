"""Poses in which the platform's weight loads the legs as differently as the limits allow, and a path through them."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from calibration.cells import CELLS
from calibration.errors import CalibrationError
from calibration.in_place.rests import FEWEST_RESTS, cell_forces
from dynamics import Mechanism, pose_limits
from kinematics import (
    Array,
    KinematicsError,
    Placement,
    assess_poses,
    leg_lengths,
    reach_box,
)

Mask = NDArray[np.bool_]

_BATCH = 4000
_BATCHES = 50
_ON_THE_WAY = 12  # poses looked at between two
_UNKNOWN = 1e3  # times the noise: what offset and gain are known to before
_SPEED, _ACCELERATION = 1.875, 5.7735  # greatest of a minimum-jerk move of unit length and duration
_PART = 0.4  # of a leg's limits that a move may use
_WITHOUT_LIMIT = (0.1, 0.5)  # m/s, m/s²: where a leg states none
_SHORTEST = 1.0  # s, of a move


@dataclass(frozen=True, slots=True, eq=False)
class WeightPlan:
    """Way-points (k, 6), m and rad from home, from home and back to it; holds (k,): mask of the poses to measure.

    moves (k − 1,) s: duration of each move. forces (n, 6) N: on the cells at the n poses. gain_sigma (6,) and
    offset_sigma (6,): standard deviation of a gain per N of noise of a mean (1/N), and of an offset by it, expected.
    """

    way_points: Array
    holds: Mask
    moves: Array
    forces: Array
    gain_sigma: Array
    offset_sigma: Array


def plan_weight_poses(
    mechanism: Mechanism,
    count: int,
    *,
    margin: float = 0.05,
    turn: float = 0.35,
    candidates: int = 2000,
    seed: int = 0,
    progress: Callable[[float], None] = lambda _part: None,
) -> WeightPlan:
    """Choose random poses within the limits that determine gains and offsets best, in an order of short moves.

    D-optimal: each in turn adds most to the logarithm of the determinant of the six cells' information. A straight move
    between two poses keeps to the limits at every point checked; else the path goes through home.

    Args:
        mechanism: with a home and limits of its legs' lengths.
        count: how many, at least `FEWEST_RESTS`.
        margin: part of the stroke, distance of every leg from its ends.
        turn: rad, greatest turn about each axis.
        candidates: number of random poses to choose from.
        seed: of the random poses; the same gives the same.
        progress: receives the part that is done, 0 to 1.

    Raises:
        CalibrationError: no home, no limits, too few poses, or no such poses.
    """
    faults = []
    if count < FEWEST_RESTS:
        faults.append(f"{count} poses, must be at least {FEWEST_RESTS}")
    if not (isfinite(margin) and 0.0 <= margin < 0.5):
        faults.append(f"margin: {margin:g} of the stroke, must be at least 0 and below 0.5")
    if mechanism.geometry.home is None or any(each is None or each.length is None for each in mechanism.limits):
        faults.append(f"{mechanism.name}: needs a home and limits of its legs' lengths")
    if faults:
        raise CalibrationError(faults)
    drawn = _drawn(mechanism, max(candidates, count), margin, turn, np.random.default_rng(seed))
    forces = cell_forces(mechanism, _poses(mechanism, drawn))
    chosen = _chosen(forces, count, progress)
    points, holds = _ordered(mechanism, drawn[chosen], margin)
    information = _information(forces[chosen])
    sigma = np.sqrt(np.diagonal(np.linalg.inv(information), axis1=1, axis2=2))
    return WeightPlan(
        points, holds, _durations(mechanism, points), cell_forces(mechanism, _poses(mechanism, points[holds])),
        sigma[:, 0], sigma[:, 1],
    )  # fmt: skip


def _poses(mechanism: Mechanism, coordinates: Array) -> Array:
    """Poses (n, 7) in the base frame of coordinates (n, 6) from home."""
    nothing = np.zeros_like(coordinates)
    placement = Placement("home", home=mechanism.geometry.home_pose)
    return np.ascontiguousarray(placement.to_motion(coordinates, nothing, nothing)[:, :7])


def _fits(mechanism: Mechanism, coordinates: Array, margin: float) -> Mask:
    limits = pose_limits(mechanism)
    poses = _poses(mechanism, coordinates)
    reserve = margin * np.ptp(limits.lengths, axis=1)
    lengths = leg_lengths(mechanism.geometry, poses)
    inside = (lengths >= limits.lengths[:, 0] + reserve) & (lengths <= limits.lengths[:, 1] - reserve)
    fits = inside.all(axis=1)
    fits[fits] = assess_poses(mechanism.geometry, poses[fits], limits).reachable
    return np.asarray(fits, dtype=np.bool_)


def _drawn(mechanism: Mechanism, count: int, margin: float, turn: float, random: np.random.Generator) -> Array:
    """Coordinates (count, 6) from home within the limits, those of force included; fewer if not enough were found."""
    home = mechanism.geometry.home_pose
    try:
        low, high = reach_box(mechanism.geometry, (0.0, 0.0, 0.0), pose_limits(mechanism).lengths[:, 1])
    except KinematicsError as error:
        raise CalibrationError(f"no poses to choose from: {error}") from None
    most = np.array([np.inf if each is None or each.force is None else each.force for each in mechanism.limits])
    reach = np.maximum(np.abs(low - home[:3]), np.abs(high - home[:3]))
    found = np.zeros((0, 6))
    for _ in range(_BATCHES):
        each = np.hstack([random.uniform(-reach, reach, (_BATCH, 3)), random.uniform(-turn, turn, (_BATCH, 3))])
        each = each[_fits(mechanism, each, margin)]
        if len(each):
            loads = np.abs(cell_forces(mechanism, _poses(mechanism, each)))
            found = np.concatenate([found, each[(loads <= _PART * most).all(axis=1)]])
        if len(found) >= count:
            return found[:count]
    if not len(found):
        raise CalibrationError(f"no pose keeps to the limits with {100 * margin:g} % of the stroke left")
    return found


def _information(forces: Array) -> Array:
    """Information (6, 2, 2) on slope and offset, per unit of variance."""
    rows = np.stack([forces, np.ones_like(forces)], axis=2)
    information: Array = np.einsum("nia,nib->iab", rows, rows)
    return information


def _chosen(forces: Array, count: int, progress: Callable[[float], None]) -> list[int]:
    scale = float(np.abs(forces).max())
    rows = np.stack([forces / scale, np.ones_like(forces)], axis=2)
    information = np.tile(np.eye(2) / _UNKNOWN**2, (CELLS, 1, 1))
    free = np.ones(len(forces), dtype=bool)
    chosen: list[int] = []
    for step in range(count):
        gain = np.log1p(np.einsum("nia,iab,nib->ni", rows, np.linalg.inv(information), rows)).sum(axis=1)
        best = int(np.argmax(np.where(free, gain, -np.inf)))
        free[best] = False
        chosen.append(best)
        information = information + np.einsum("ia,ib->iab", rows[best], rows[best])
        progress((step + 1) / count)
    return chosen


def _ordered(mechanism: Mechanism, points: Array, margin: float) -> tuple[Array, Mask]:
    """Order all points from home and back, always to the nearest that a straight move reaches."""
    home = np.zeros(6)
    left = list(range(len(points)))
    way, holds = [home], [False]
    while left:
        nearest = sorted(left, key=lambda each: float(np.linalg.norm(points[each] - way[-1])))
        to = next((each for each in nearest if _straight(mechanism, way[-1], points[each], margin)), None)
        if to is None:
            if not way[-1].any():
                raise CalibrationError(
                    f"{mechanism.name}: no straight move leads from home to {len(left)} of the poses"
                )
            if not _straight(mechanism, way[-1], home, margin):
                raise CalibrationError(f"{mechanism.name}: no straight move leads from a pose back home")
            way, holds = [*way, home], [*holds, False]
            continue
        left.remove(to)
        way, holds = [*way, points[to]], [*holds, True]
    return np.array([*way, home]), np.array([*holds, False])


def _straight(mechanism: Mechanism, start: Array, end: Array, margin: float) -> bool:
    parts = np.linspace(0.0, 1.0, _ON_THE_WAY)[1:-1, np.newaxis]
    return bool(_fits(mechanism, start + parts * (end - start), 0.5 * margin).all())


def _durations(mechanism: Mechanism, points: Array) -> Array:
    """Durations (k − 1,), s, of minimum-jerk moves with at most `_PART` of the legs' speeds and accelerations."""
    limits = [(each.velocity, each.acceleration) if each is not None else (None, None) for each in mechanism.limits]
    speed = np.array([_PART * (limit[0] or _WITHOUT_LIMIT[0]) for limit in limits])
    acceleration = np.array([_PART * (limit[1] or _WITHOUT_LIMIT[1]) for limit in limits])
    parts = np.linspace(0.0, 1.0, _ON_THE_WAY)[:, np.newaxis]
    found = []
    for start, end in pairwise(points):
        lengths = leg_lengths(mechanism.geometry, _poses(mechanism, start + parts * (end - start)))
        way = np.abs(np.diff(lengths, axis=0)).max(axis=0) * (_ON_THE_WAY - 1)  # as if all of it were its steepest part
        need = np.maximum(_SPEED * way / speed, np.sqrt(_ACCELERATION * way / acceleration))
        found.append(max(_SHORTEST, float(np.ceil(10.0 * need.max()) / 10.0)))
    return np.array(found)
