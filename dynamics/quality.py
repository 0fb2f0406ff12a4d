"""How good a path is: conditioning, singularities on the way, what part of the leg forces the legs themselves take.

Dasgupta & Mruthyunjaya (1998), section 5, figures 4 to 10.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dynamics.batch import BatchError, inverse_batch
from dynamics.errors import DynamicsError
from dynamics.mechanism import Body, Leg, Mechanism
from kinematics import Array, Geometry, PoseAssessment, PoseLimits, assess_poses

PosesAt = Callable[[Array], Array]
"""Poses (n, 7), or motions (n, 19), at times (n,) s: `Trajectory.motion`, for one."""

_NOTHING = Body(0.0, np.zeros(3), np.zeros((3, 3)))


@dataclass(frozen=True, slots=True, eq=False)
class PathQuality:
    """A path, sample by sample; six legs.

    condition (n,): condition number of H, moments in N m divided by the characteristic length.
    side (n,): sign of det H; it changes where the path crosses a singularity.
    forces (n, 6): actuator forces F of the exact model, N; NaN at a singularity.
    massless (n, 6): forces F₀ with massless legs and frictionless joints, N.
    dynamic (n, 6): F_d = F − F₀, N, what the legs' inertia and friction add.
    """

    condition: Array
    side: npt.NDArray[np.int8]
    forces: Array
    massless: Array
    dynamic: Array

    @property
    def dynamic_fraction(self) -> Array:
        """F_d/F (n, 6)."""
        return np.asarray(self.dynamic / self.forces)

    @property
    def median_dynamic_fraction(self) -> Array:
        """Median of |F_d/F| over the path, by leg (6,)."""
        return np.asarray(np.nanmedian(np.abs(self.dynamic_fraction), axis=0))

    @property
    def sign_changes(self) -> npt.NDArray[np.bool_]:
        """Whether each leg's force changes its sign on the way (6,)."""
        signs = np.sign(self.forces)
        return np.asarray((signs.max(axis=0) > 0) & (signs.min(axis=0) < 0))


@dataclass(frozen=True, slots=True)
class Singularity:
    """A singularity on a path, or a place near one.

    time: s.  condition: condition number of H there.  crossed: whether det H changes sign, so that the path passes
    through; otherwise the condition number has a peak there, and the path passes by.
    """

    time: float
    condition: float
    crossed: bool


def massless_legs(mechanism: Mechanism) -> Mechanism:
    """The mechanism with legs of no mass and no joint friction, the platform as it is."""
    legs = tuple(Leg(_NOTHING, _NOTHING, limits=leg.limits) for leg in mechanism.legs)
    return replace(mechanism, legs=legs)


def path_quality(mechanism: Mechanism, motions: npt.ArrayLike, *, characteristic_length: float = 1.0) -> PathQuality:
    """Conditioning and leg forces of a path given by its motions (n, 19), no external wrench.

    Raises DynamicsError, KinematicsError for motions or a length that cannot be.
    """
    samples = np.asarray(motions, dtype=np.float64)
    assessment = _assess(mechanism.geometry, samples[..., :7], characteristic_length)
    forces = _forces(mechanism, samples)
    massless = _forces(massless_legs(mechanism), samples)
    return PathQuality(assessment.condition, assessment.side, forces, massless, forces - massless)


def find_singularities(
    geometry: Geometry,
    poses_at: PosesAt,
    times: npt.ArrayLike,
    *,
    characteristic_length: float = 1.0,
    tolerance: float = 1e-6,
    least_condition: float = 1e3,
) -> tuple[Singularity, ...]:
    """Singularities between the samples of a path, in order of time.

    Where det H has different signs at two neighbouring `times` (n,), s, its zero is found by bisection; where the
    condition number has a peak between samples, the peak by golden section, and two zeros if det H changes sign there
    and back. Peaks below `least_condition` are left out. A pair of zeros so near each other that the samples around
    show no peak is not found: sample finely enough for the condition number to be smooth.

    tolerance: s, of the times found.
    Raises DynamicsError for times that do not increase.
    """
    t = np.asarray(times, dtype=np.float64)
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0.0).all():
        raise DynamicsError("times: must be at least two, increasing, in s")

    def at(moments: Array) -> PoseAssessment:
        return _assess(geometry, poses_at(moments)[:, :7], characteristic_length)

    def conditioning(moment: float) -> float:
        return float(1.0 / at(np.array([moment])).condition[0])

    def zero(low: float, high: float) -> Singularity:
        side = at(np.array([low])).side[0]
        while high - low > tolerance:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if at(np.array([middle])).side[0] == side else (low, middle)
        moment = float(0.5 * (low + high))
        return Singularity(moment, 1.0 / conditioning(moment), True)

    samples = at(t)
    found = [zero(t[k], t[k + 1]) for k in np.flatnonzero(samples.side[:-1] != samples.side[1:])]
    peaks = [
        k
        for k in range(1, len(t) - 1)
        if samples.condition[k] >= max(samples.condition[k - 1], samples.condition[k + 1])
        and samples.side[k - 1] == samples.side[k] == samples.side[k + 1]
    ]
    for k in peaks:
        low, high = float(t[k - 1]), float(t[k + 1])
        from scipy import optimize  # takes long to import, and few need it

        best = optimize.minimize_scalar(
            conditioning, bracket=(low, float(t[k]), high), method="golden", options={"xtol": tolerance / high}
        )
        moment = float(best.x)
        if at(np.array([moment])).side[0] != samples.side[k]:
            found += [zero(low, moment), zero(moment, high)]
        elif 1.0 / float(best.fun) >= least_condition:
            found.append(Singularity(moment, 1.0 / float(best.fun), False))
    return tuple(sorted(found, key=lambda singularity: singularity.time))


def _assess(geometry: Geometry, poses: Array, characteristic_length: float) -> PoseAssessment:
    limits = PoseLimits(characteristic_length=characteristic_length, same_side=False)
    return assess_poses(geometry, poses, limits, threads=1)


def _forces(mechanism: Mechanism, motions: Array) -> Array:
    try:
        return inverse_batch(mechanism, motions, threads=1)
    except BatchError as error:
        if not np.isfinite(motions).all():
            raise
        return error.forces
