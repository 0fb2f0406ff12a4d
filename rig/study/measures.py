"""Conditioning along a motion and in a box around it: the leg matrix, its measures, singularities, static poses."""

from dataclasses import dataclass

import numpy as np

from dynamics import BatchError, Mechanism, Singularity, find_singularities, inverse_batch, papers, pose_limits
from kinematics import (
    Array,
    Geometry,
    PoseFault,
    PoseLimits,
    assess_poses,
    condition_numbers,
    coordinates_to_pose,
    leg_kinematics,
    leg_matrices,
    pose_to_coordinates,
    strokes_beyond,
)
from rig.errors import FieldError
from rig.motions import SampledMotion
from rig.papers import rank_correlation

DECADES = (1.0, 1e1, 1e2, 1e3, 1e4)
"""Lower ends of the ranges of the condition number that are told apart; the last has no upper end."""
NEAR_SINGULAR = 1e2
"""Condition number from which §5.2 of the 1998 paper calls a pose near-singular."""
_SEARCHED = 1e2  # of the condition number: below it at all samples no singularity is near
_DRAWN = 4000


@dataclass(frozen=True, slots=True, eq=False)
class PathMeasures:
    """Measures of the leg matrix H along a motion, n samples.

    length: m, the characteristic length ℓ, RMS distance of the platform joints from their centroid.
    condition (n,): σmax/σmin of H with moments in N m, as in the papers.  scaled (n,): with moments over ℓ.
    determinant (n,): det H, m³.  singular_values (n, 6): of H with moments over ℓ, greatest first.
    singularities: those that the motion passes, and places near one.
    """

    length: float
    condition: Array
    scaled: Array
    determinant: Array
    singular_values: Array
    singularities: tuple[Singularity, ...]

    @property
    def manipulability(self) -> Array:
        """Yoshikawa's √det(H Hᵀ) (n,) of H with moments over ℓ: the product of the singular values, |det H|/ℓ³."""
        return np.asarray(self.singular_values.prod(axis=1))

    @property
    def amplification(self) -> Array:
        """Norm of the leg forces, N, at most, of a load of 1 N, or of 1 N at the distance ℓ: 1/σmin (n,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / self.singular_values[:, -1])


@dataclass(frozen=True, slots=True)
class Decade:
    """Poses with a condition number from `least` to ten times that; the last decade has no upper end.

    share: part of all poses.  median, greatest: of the poses' largest leg force, N; None without poses.
    """

    least: float
    count: int
    share: float
    median: float | None
    greatest: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Static poses drawn evenly from a box of coordinates, those that the mechanism's limits allow.

    low, high (6,): the box, m and rad, base frame.  drawn: number of poses drawn.  beyond: how many of them are beyond
        strokes or joint angles and left out.
    coordinates (n, 6), condition (n,), forces (n,): largest leg force, N; by_1998: by the printed equations of 1998.
    decades: the poses by condition number.  correlation: Spearman's, of condition number and force; None below 3 poses.
    across: part of the poses with det H of another sign than the motion's start, beyond a singularity.
    """

    low: Array
    high: Array
    drawn: int
    beyond: int
    coordinates: Array
    condition: Array
    forces: Array
    by_1998: Array
    decades: tuple[Decade, ...]
    correlation: float | None
    across: float


@dataclass(frozen=True, slots=True)
class Exceeded:
    """A limit of the mechanism that the motion exceeds most at a time, s.

    limit: "length", "velocity", "acceleration", "force", "universal angle" or "spherical angle".
    leg: 1 to 6; 0 where the worst leg is not known.  value, bound: m, m/s, m/s², N or rad.
    """

    limit: str
    leg: int
    time: float
    value: float
    bound: float


def path_measures(geometry: Geometry, motion: SampledMotion) -> PathMeasures:
    """Compute the measures along a motion; see `PathMeasures`."""
    length, poses = geometry.platform_radius, motion.motions[:, :7]
    matrices = leg_matrices(geometry, poses)
    scaling = np.array([1.0, 1.0, 1.0, length, length, length])[:, None]
    condition, determinant = condition_numbers(geometry, poses), np.linalg.det(matrices)
    return PathMeasures(
        length=length,
        condition=condition,
        scaled=condition_numbers(geometry, poses, length),
        determinant=determinant,
        singular_values=np.linalg.svd(matrices / scaling, compute_uv=False),
        singularities=_singularities(geometry, motion, condition, np.sign(determinant)),
    )


def _singularities(geometry: Geometry, motion: SampledMotion, condition: Array, side: Array) -> tuple[Singularity, ...]:
    """Find singularities between the samples; nothing is searched where the condition number is far from any."""
    if len(motion.times) < 2 or (condition.max() < _SEARCHED and (side == side[0]).all()):
        return ()
    moving = np.append(True, np.diff(condition) != 0.0)  # a rest would be a peak at each of its samples
    if np.count_nonzero(moving) < 2:
        return ()
    return find_singularities(geometry, motion.at, motion.times[moving], least_condition=NEAR_SINGULAR)


def by_decade(condition: Array, forces: Array) -> tuple[Decade, ...]:
    """Sort poses by condition number (n,), with their largest leg force (n,)."""
    found = []
    for place, least in enumerate(DECADES):
        most = DECADES[place + 1] if place + 1 < len(DECADES) else np.inf
        chosen = forces[(condition >= least) & (condition < most)]
        median, greatest = (float(np.median(chosen)), float(chosen.max())) if len(chosen) else (None, None)
        found.append(Decade(least, len(chosen), len(chosen) / max(len(forces), 1), median, greatest))
    return tuple(found)


def path_box(mechanism: Mechanism, motions: Array, margin: Array | None = None) -> tuple[Array, Array]:
    """Return the box (6,), (6,) about the coordinates of motions (n, 19), widened on every side by `margin` (6,).

    margin: m and rad; None for a quarter of the platform joints' radius and 0.2 rad.
    """
    coordinates = pose_to_coordinates(motions[:, :7])
    coordinates[:, 3:] = np.unwrap(coordinates[:, 3:], axis=0)
    if margin is None:
        margin = np.repeat([0.25 * mechanism.geometry.platform_radius, 0.2], 3)
    return coordinates.min(axis=0) - margin, coordinates.max(axis=0) + margin


def static_poses(
    mechanism: Mechanism, low: Array, high: Array, start: Array, *, count: int = _DRAWN, seed: int = 0
) -> Box:
    """Draw poses from a box of coordinates (6,) to (6,), and compute condition numbers and static leg forces.

    start (7,): the pose with whose side of singularities theirs is compared.
    Raises FieldError for a box of no size, or with no pose within the mechanism's limits.
    """
    if not ((low <= high).all() and (low < high).any() and np.isfinite([low, high]).all()):
        raise FieldError("box", f"from {low.tolist()} to {high.tolist()}, each end must be above its beginning")
    coordinates = np.random.default_rng(seed).uniform(low, high, (count, 6))
    poses = coordinates_to_pose(coordinates)
    limits = _limits(mechanism)
    allowed = assess_poses(mechanism.geometry, poses, limits, threads=1).reachable
    if not allowed.any():
        raise FieldError("box", f"none of {count} poses in it is within the strokes and joint angles of the mechanism")
    motions = np.zeros((np.count_nonzero(allowed), 19))
    motions[:, :7] = poses[allowed]
    try:
        forces = inverse_batch(mechanism, motions, threads=1)
    except BatchError as error:
        forces = error.forces
    known = np.isfinite(forces).all(axis=1)
    motions, condition = motions[known], condition_numbers(mechanism.geometry, motions[known, :7])
    peaks = np.abs(forces[known]).max(axis=1)
    sides = np.sign(np.linalg.det(leg_matrices(mechanism.geometry, np.vstack([start, motions[:, :7]]))))
    return Box(
        low=low,
        high=high,
        drawn=count,
        beyond=count - int(np.count_nonzero(allowed)),
        coordinates=coordinates[allowed][known],
        condition=condition,
        forces=peaks,
        by_1998=np.abs(papers.variant_forces("dasgupta-1998", mechanism, motions)).max(axis=1),
        decades=by_decade(condition, peaks),
        correlation=rank_correlation(condition, peaks) if len(peaks) > 2 else None,
        across=float(np.mean(sides[1:] != sides[0])),
    )


def _limits(mechanism: Mechanism) -> PoseLimits:
    """Return strokes and joint angles; without a home, from which angles count, strokes alone."""
    limits = pose_limits(mechanism, same_side=False)
    return limits if mechanism.geometry.home is not None else PoseLimits(limits.lengths, same_side=False)


def exceeded_limits(mechanism: Mechanism, motion: SampledMotion, forces: Array) -> tuple[Exceeded, ...]:
    """Return each limit of the mechanism that the motion, or its leg forces (n, 6), exceed, at its worst sample."""
    legs = leg_kinematics(mechanism.geometry, motion.motions)
    found: list[Exceeded] = []
    for name, values in (
        ("velocity", np.abs(legs.velocity)),
        ("acceleration", np.abs(legs.acceleration)),
        ("force", np.abs(forces)),
    ):
        bounds = np.array([np.inf if one is None or getattr(one, name) is None else getattr(one, name)
                           for one in mechanism.limits])  # fmt: skip
        over = values / bounds
        sample, place = divmod(int(over.argmax()), 6)
        if over[sample, place] > 1.0:
            time = float(motion.times[sample])
            found.append(Exceeded(name, place + 1, time, float(values[sample, place]), float(bounds[place])))
    if all(one is None for one in mechanism.limits):
        return tuple(found)
    limits = _limits(mechanism)
    assessed = assess_poses(mechanism.geometry, motion.motions[:, :7], limits, threads=1)
    worst = int(assessed.stroke_margin.argmin())
    if assessed.stroke_margin[worst] < 0.0:
        leg = int(strokes_beyond(mechanism.geometry, motion.motions[worst : worst + 1, :7], limits)[0])
        length, bound = float(legs.length[worst, abs(leg) - 1]), float(limits.lengths[abs(leg) - 1, int(leg > 0)])
        found.append(Exceeded("length", abs(leg), float(motion.times[worst]), length, bound))
    for fault, name, angles, allowed in (
        (PoseFault.UNIVERSAL, "universal angle", assessed.universal_angle, limits.universal_angles),
        (PoseFault.SPHERICAL, "spherical angle", assessed.spherical_angle, limits.spherical_angles),
    ):
        broken = np.flatnonzero(assessed.faults & fault)
        if len(broken):
            at = broken[int(angles[broken].argmax())]
            found.append(Exceeded(name, 0, float(motion.times[at]), float(angles[at]), float(allowed.min())))
    return tuple(found)
