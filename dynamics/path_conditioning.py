"""Path quality (conditioning and singularities), and the best of a family of paths between two poses."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from dynamics.batch import BatchError, inverse_batch
from dynamics.errors import DynamicsError, NoPathError, SingularityError
from dynamics.mechanism import NO_BODY, Leg, Mechanism
from kinematics import (
    Array,
    Geometry,
    PoseAssessment,
    PoseFault,
    PoseLimits,
    Trajectory,
    assess_poses,
    coordinates_to_pose,
    finite_array,
    minimum_jerk,
    strokes_beyond,
)

PosesAt = Callable[[Array], Array]
"""Function that returns poses (n, 7), or motions (n, 19), at times (n,) s, such as `Trajectory.motion`."""


@dataclass(frozen=True, slots=True, eq=False)
class PathQuality:
    """Quality of a path, sample by sample; six legs.

    condition (n,): condition number of H, moments in N m divided by the characteristic length.
    side (n,): sign of det H; it changes where the path crosses a singularity.
    forces (n, 6): actuator forces F of the exact model, N; NaN at a singularity.
    massless (n, 6): forces F₀ with massless legs and frictionless joints, N.
    dynamic (n, 6): F_d = F − F₀, N, due to the legs' inertia and friction.
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
        """Whether each leg's force changes its sign along the path (6,)."""
        signs = np.sign(self.forces)
        return np.asarray((signs.max(axis=0) > 0) & (signs.min(axis=0) < 0))


@dataclass(frozen=True, slots=True)
class Singularity:
    """A singularity on a path, or a place near one.

    time: s.  condition: condition number of H there.  crossed: whether det H changes sign, so that the path passes
    through; otherwise the condition number has a peak there.
    """

    time: float
    condition: float
    crossed: bool


def massless_legs(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism with massless legs without joint friction, and the same platform."""
    legs = tuple(Leg(NO_BODY, NO_BODY, limits=leg.limits) for leg in mechanism.legs)
    return replace(mechanism, legs=legs)


def path_quality(mechanism: Mechanism, motions: npt.ArrayLike, *, characteristic_length: float = 1.0) -> PathQuality:
    """Compute conditioning and leg forces of a path given by its motions (n, 19), without external wrench.

    Raises DynamicsError, KinematicsError for invalid motions or an invalid length.
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

    Where det H has different signs at two neighbouring `times` (n,), s, bisection finds its zero. Where the condition
    number has a peak between samples, golden-section search finds the peak, or two zeros if det H changes sign there
    and back. Peaks below `least_condition` are left out. A pair of zeros so close that the samples around show no peak
    is not found: sample finely enough for the condition number to be smooth.

    tolerance: of the times, s.
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
        from scipy import optimize  # slow to import, rarely needed

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


Objective = Literal["condition", "force"]

_PLAIN = 1e-2  # cost of the largest coefficients: the straightest of paths with equal peaks wins
_REFUSED = 1e6  # cost of a path that breaks a limit: far above the logarithm of any peak
_GENERATIONS = 120
_POPULATION = 8  # per coefficient


class BentPath(Trajectory):
    """A straight line in the six coordinates plus sines, from rest to rest.

    q = start + s (end − start) + Σ_k c_k sin(kπ s), s = 10u³ − 15u⁴ + 6u⁵, u = t/duration; coefficients c (K, 6), m and
    rad. Without coefficients it is `kinematics.MinimumJerk`.
    """

    def __init__(
        self, start: npt.ArrayLike, end: npt.ArrayLike, duration: float, coefficients: npt.ArrayLike | None = None
    ) -> None:
        """`start` and `end` (6,): [x y z θx θy θz], m and rad, R = Rz Ry Rx, platform in base."""
        super().__init__(duration, None)
        self.start = finite_array("start", start, 6)
        self.end = finite_array("end", end, 6)
        bends = np.zeros((0, 6)) if coefficients is None else np.asarray(coefficients, dtype=np.float64)
        self.coefficients = finite_array("coefficients", bends, 6)

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        s, rate, second = minimum_jerk(t / self.duration)
        rate, second = rate / self.duration, second / self.duration**2
        way = self.end - self.start
        waves = math.pi * np.arange(1, len(self.coefficients) + 1)
        phase = np.outer(s, waves)
        bend = np.sin(phase) @ self.coefficients
        slope = way + (waves * np.cos(phase)) @ self.coefficients
        curve = -(waves**2 * np.sin(phase)) @ self.coefficients
        q = self.start + np.outer(s, way) + bend
        return q, rate[:, None] * slope, rate[:, None] ** 2 * curve + second[:, None] * slope


@dataclass(frozen=True, slots=True, eq=False)
class BestPath:
    """The best path found, compared with the straight path.

    path: the trajectory.  times (n,), s: where it was evaluated.
    peak, straight_peak: greatest condition number, or leg force (N), over those times, of this path and of the
        straight path to the requested end pose.
    end_moved (6,): its end minus the requested end, m and rad; zeros without end freedom.
    """

    path: BentPath
    times: Array
    objective: Objective
    peak: float
    straight_peak: float
    end_moved: Array


def opposite_sides(mechanism: Mechanism, start: npt.ArrayLike, end: npt.ArrayLike) -> bool:
    """Return whether det H has different signs at two places (6,) [x y z θx θy θz].

    If so, every path between them crosses a singularity: det H is continuous, and no leg passes through length 0.
    """
    ends = np.vstack([finite_array("start", start, 6), finite_array("end", end, 6)])
    sides = assess_poses(mechanism.geometry, coordinates_to_pose(ends), PoseLimits(same_side=False), threads=1).side
    return bool(sides[0] * sides[1] <= 0)


def best_path(
    mechanism: Mechanism,
    start: npt.ArrayLike,
    end: npt.ArrayLike,
    duration: float,
    *,
    objective: Objective = "condition",
    limits: PoseLimits | None = None,
    greatest_force: float = math.inf,
    reach: npt.ArrayLike = (0.2, 0.2, 0.2, 0.3, 0.3, 0.3),
    end_freedom: npt.ArrayLike = (0.0,) * 6,
    terms: int = 2,
    samples: int = 61,
    seed: int = 0,
    threads: int | None = None,
) -> BestPath:
    """Find the `BentPath` from `start` to `end` (6,) in `duration` s with the least peak of the objective.

    Differential evolution over the coefficients, then Nelder–Mead; the result is deterministic. Paths that cross a
    singularity, or violate the limits at a sample, are rejected.

    objective: "condition", of H with the limits' characteristic length, or "force", the greatest of any leg.
    limits: of the poses, None for none.  greatest_force: limit of every leg's force, N.
    reach (6,): greatest coefficient of each coordinate, m and rad.
    end_freedom (6,): how far each coordinate of the end may move from `end`, m and rad: for tasks that do not
        need all six.
    terms: number of sines.  samples: along the path.  seed: of the search.  threads: as for `inverse_batch`.
    Raises SingularityError if start and end lie on opposite sides of a singularity and the end has no freedom;
    NoPathError, with the limits that the nearest path exceeds, if no path within the limits is found.
    """
    freedom = finite_array("end freedom", end_freedom, 6)
    free = np.flatnonzero(freedom)
    search = _Search(
        mechanism,
        finite_array("start", start, 6),
        finite_array("end", end, 6),
        float(duration),
        objective,
        limits if limits is not None else PoseLimits(same_side=False),
        float(greatest_force),
        terms,
        np.linspace(0.0, float(duration), samples),
        free,
        np.concatenate([np.tile(finite_array("reach", reach, 6), terms), freedom[free]]),
        threads,
    )
    if not len(free) and opposite_sides(mechanism, start, end):
        raise SingularityError(
            "start and end lie on opposite sides of a singularity (det H changes sign): every path between them "
            "passes through one; give the end some freedom"
        )
    most = search.most
    if not (most > 0.0).all():
        raise DynamicsError(f"reach and end_freedom: {most.min():g}, must be above 0, in m and rad")
    from scipy import optimize  # slow to import, rarely needed

    found: Any = optimize.differential_evolution(
        cast("Any", search.costs),  # vectorized, which scipy's type hints lack
        bounds=optimize.Bounds(-most, most),
        maxiter=_GENERATIONS,
        popsize=_POPULATION,
        init="sobol",
        x0=np.zeros(len(most)),
        seed=seed,
        polish=False,
        vectorized=True,
        updating="deferred",
        tol=1e-4,
    )
    polished: Any = optimize.minimize(
        search.cost,
        found.x,
        method="Nelder-Mead",
        bounds=optimize.Bounds(-most, most),
        options={"maxfev": 60 * len(most), "xatol": 1e-6, "fatol": 1e-6},
    )
    coefficients = polished.x if polished.fun < found.fun else found.x
    cost = min(float(polished.fun), float(found.fun))
    if cost >= _REFUSED:
        exceeded = search.exceeded(search.path(coefficients))
        raise NoPathError(
            "no path of the family keeps to the limits from start to end; on the nearest one:\n  "
            + "\n  ".join(exceeded)
        )
    path = search.path(coefficients)
    return BestPath(
        path=path,
        times=search.times,
        objective=objective,
        peak=search.peak(path),
        straight_peak=search.peak(BentPath(search.start, search.end, search.duration)),
        end_moved=path.end - search.end,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Cost function of a path of the family."""

    mechanism: Mechanism
    start: Array
    end: Array
    duration: float
    objective: Objective
    limits: PoseLimits
    greatest_force: float
    terms: int
    times: Array
    free: npt.NDArray[np.intp]
    most: Array
    threads: int | None

    def path(self, x: Array) -> BentPath:
        """Make the path from coefficients (6 terms + free coordinates,)."""
        end = self.end.copy()
        end[self.free] += x[6 * self.terms :]
        return BentPath(self.start, end, self.duration, x[: 6 * self.terms].reshape(self.terms, 6))

    def costs(self, columns: Array) -> Array:
        """Logarithm of the peak of each path, one per column; above _REFUSED if it violates a limit."""
        paths = [self.path(x) for x in columns.T]
        if self.objective == "condition" and math.isinf(self.greatest_force):
            poses = coordinates_to_pose(np.concatenate([path.coordinates(self.times)[0] for path in paths]))
            motions = None
        else:
            motions = np.concatenate([path.motion(self.times) for path in paths])
            poses = motions[:, :7]
        shape = (len(paths), len(self.times))
        assessment = assess_poses(self.mechanism.geometry, poses, self.limits, threads=self.threads)
        side = assessment.side.reshape(shape)
        broken = np.count_nonzero(assessment.faults.reshape(shape), axis=1)
        broken = broken + np.count_nonzero(side != side[:, :1], axis=1)
        peaks = assessment.condition.reshape(shape).max(axis=1)
        if motions is not None:
            forces = np.abs(_forces_along(self.mechanism, motions, self.threads)).reshape(shape[0], -1).max(axis=1)
            over = np.maximum(np.minimum(forces, 1e300) / self.greatest_force, 1.0)
            broken = broken + np.where(over > 1.0, 1.0 + np.log(over), 0.0)  # slope towards the limits
            peaks = forces if self.objective == "force" else peaks
        cost = np.log(np.minimum(peaks, 1e300)) + _PLAIN * ((columns / self.most[:, None]) ** 2).mean(axis=0)
        return np.asarray(np.where(broken > 0, _REFUSED * (1.0 + broken) + cost, cost))

    def cost(self, x: Array) -> float:
        """Cost of one path."""
        return float(self.costs(x[:, None])[0])

    def peak(self, path: BentPath) -> float:
        """Peak of the objective along a path, ignoring the limits."""
        if self.objective == "force":
            return float(np.abs(_forces_along(self.mechanism, path.motion(self.times), 1)).max())
        poses = path.motion(self.times)[:, :7]
        return float(assess_poses(self.mechanism.geometry, poses, self.limits, threads=1).condition.max())

    def exceeded(self, path: BentPath) -> list[str]:
        """Return the limits that a path exceeds, each with its worst value along it and its bound."""
        motions, limits = path.motion(self.times), self.limits
        assessed = assess_poses(self.mechanism.geometry, motions[:, :7], limits, threads=1)
        found = []
        if assessed.stroke_margin.min() < 0.0:
            worst = int(assessed.stroke_margin.argmin())
            leg = int(strokes_beyond(self.mechanism.geometry, motions[worst : worst + 1, :7], limits)[0])
            found.append(
                f"stroke: leg {abs(leg)} too {'long' if leg > 0 else 'short'} by "
                f"{-assessed.stroke_margin[worst]:.4g} m at t = {self.times[worst]:.4g} s"
            )
        for fault, what, value, bound in (
            (
                PoseFault.UNIVERSAL,
                "universal angle",
                f"{assessed.universal_angle.max():.4g} rad",
                f"at most {_span(limits.universal_angles)} rad",
            ),
            (
                PoseFault.SPHERICAL,
                "spherical angle",
                f"{assessed.spherical_angle.max():.4g} rad",
                f"at most {_span(limits.spherical_angles)} rad",
            ),
            (
                PoseFault.CLEARANCE,
                "clearance",
                f"{assessed.clearance.min():.4g} m",
                f"at least {limits.clearance:.4g} m",
            ),
            (
                PoseFault.CONDITION,
                "condition number",
                f"{assessed.condition.max():.4g}",
                f"at most {limits.condition:.4g}",
            ),
        ):
            if (assessed.faults & fault).any():
                found.append(f"{what}: {value}, must be {bound}")
        if (assessed.side != assessed.side[0]).any() or (assessed.faults & PoseFault.SIDE).any():
            found.append("singularity: det H changes its sign")
        force = float(np.abs(_forces_along(self.mechanism, motions, 1)).max())
        if force > self.greatest_force:
            found.append(f"leg force: {force:.4g} N, must be at most {self.greatest_force:.4g} N")
        return found


def _span(angles: Array) -> str:
    """Format one bound for all legs, or the range from least to greatest."""
    low, high = float(angles.min()), float(angles.max())
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}, by leg,"


def _forces_along(mechanism: Mechanism, motions: Array, threads: int | None) -> Array:
    """Leg forces (n, 6), infinite if not determined."""
    try:
        return inverse_batch(mechanism, motions, threads=threads)
    except BatchError as error:
        return np.nan_to_num(error.forces, nan=np.inf)
