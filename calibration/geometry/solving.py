"""The fit: Gauss–Newton with Levenberg's damping, rows weighted so that gross errors do not count, then left out."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.errors import CalibrationError
from calibration.geometry.frames import Gauge, best_fit, rigid_tangents
from calibration.geometry.model import SCALE, UNKNOWNS, Equations, Readings, linearise, moved
from calibration.geometry.prior import UnknownsPrior
from kinematics import Array

Mask = npt.NDArray[np.bool_]

_ITERATIONS = 200
_REFITS = 10
_STILL = 1e-8  # m; a step below it changes nothing that any tracker measures
_NO_GAIN = 1e-9  # of the cost
_DAMPINGS, _FIRST_DAMPING, _LEAST_DAMPING = 30, 1e-8, 1e-12
_NO_INFORMATION = 1e-13  # of the greatest eigenvalue: rounding
_FALSE_ALARM = 1e-3  # that any row of good data is called an outlier
_SOFT = 4.0  # times the degrees of freedom: the cost at which a row counts half


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Unknowns (6, 7), tracker's scale and poses (n, 7) that fit, the equations there, and which rows (n,) were fitted.

    misfit: standard deviation of the residuals over the readings' noise, from the median row.
    """

    x: Array
    scale: float
    poses: Array
    equations: Equations
    fitted: Mask
    misfit: float

    @property
    def information(self) -> Array:
        """(43, 43): of the fitted rows alone, without the prior."""
        return self.equations.normal(self.fitted.astype(np.float64))[0]


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """Unknowns that only move as rigid bodies: the nominal joints in measured frames yet to be found."""

    nominal: Array
    gauge: Gauge

    def tangents(self, x: Array) -> Array:
        """Changes (43, m) that are open."""
        return np.vstack([rigid_tangents(x, self.gauge), np.zeros((1, 6 * len(self.gauge.free)))])

    def snapped(self, x: Array) -> Array:
        """The rigid copy of the nominal joints nearest to `x` (6, 7)."""
        rigid = x.copy()
        for part in self.gauge.free:
            rigid[:, part] = best_fit(self.nominal[:, part], x[:, part]).apply(self.nominal[:, part])
        return rigid


def fit(
    readings: Readings,
    x: Array,
    poses: Array,
    known: UnknownsPrior,
    *,
    scale: float = 0.0,
    among: Mask | None = None,
    outliers: bool = True,
    frames: Frames | None = None,
    step_done: Callable[[], None] = lambda: None,
) -> Fit:
    """Fit unknowns (6, 7) and scale, from these and poses (n, 7) on; with `frames` only where the nominal joints are.

    First every row counts the less, the worse it fits (Cauchy's weights, at the scale of the median row); then rows
    beyond a bound that good rows pass once in a thousand data sets are left out, and the rest counts in full.

    Args:
        readings: what was measured.
        x: start of the unknowns, measured frames, m.
        poses: start of the poses.
        known: the prior, which counts as the rows do.
        scale: start of the tracker's scale; with `frames` it stays.
        among: rows (n,) that may be fitted; all if left out.
        outliers: whether to look for rows to leave out; otherwise all of `among` count in full.
        frames: the nominal joints, if only their place is to be found.
        step_done: called after every step; what it raises ends the fit.

    Raises:
        CalibrationError: no minimum was reached.
    """
    from scipy.special import chdtri  # takes long to import, and few need it

    allowed = np.ones(len(readings), dtype=bool) if among is None else among
    state = _State(readings, x, scale, poses, known, frames, step_done)
    redundancy = _redundancy(readings, allowed, frames)
    middle = float(chdtri(readings.measured, 0.5)) * redundancy
    if outliers:

        def soft(cost: Array) -> Array:
            scale = max(1.0, float(np.median(cost[allowed])) / middle)
            return np.asarray(allowed / (1.0 + cost / (_SOFT * readings.measured * scale)))

        state.minimise(soft)
    bound = float(chdtri(readings.measured, _FALSE_ALARM / allowed.sum()))

    def belonging() -> Mask:
        scale = max(1.0, float(np.median(state.equations.cost[allowed])) / middle)
        return np.asarray(allowed & (state.equations.cost <= bound * scale))

    fitted = belonging() if outliers else allowed
    for _ in range(_REFITS):
        weights = fitted.astype(np.float64)
        state.minimise(lambda _cost, weights=weights: weights)  # type: ignore[misc]
        before, fitted = fitted, belonging() if outliers else allowed
        if np.array_equal(before, fitted):
            break
    misfit = float(np.sqrt(np.median(state.equations.cost[fitted]) / middle))
    return Fit(state.x, state.scale, state.poses, state.equations, fitted, misfit)


def _redundancy(readings: Readings, allowed: Mask, frames: Frames | None) -> float:
    """Part of the noise that stays in the residuals."""
    unknowns = UNKNOWNS if frames is None else 6 * len(frames.gauge.free)
    told = readings.measured * int(allowed.sum())
    return max(told - unknowns, 1) / told


class _State:
    """The iteration: unknowns, poses and the equations at them."""

    def __init__(
        self,
        readings: Readings,
        x: Array,
        scale: float,
        poses: Array,
        known: UnknownsPrior,
        frames: Frames | None,
        step_done: Callable[[], None],
    ) -> None:
        self.readings, self.x, self.scale, self.poses, self.known = readings, x, scale, poses, known
        self.frames, self.step_done = frames, step_done
        for _ in range(3):  # poses that fit the start
            self.equations = linearise(readings, x, self.poses, scale)
            self.poses = moved(self.poses, self.equations.pose_change(np.zeros(UNKNOWNS + 1)))
        self.equations = linearise(readings, x, self.poses, scale)

    def minimise(self, weigh: Callable[[Array], Array]) -> None:
        damping = 0.0
        for _ in range(_ITERATIONS):
            weights = weigh(self.equations.cost)
            matrix, right = self.equations.normal(weights)
            prior_cost, prior_matrix, prior_right = self.known.terms(self.x, self.scale)
            matrix, right = matrix + prior_matrix, right + prior_right
            before = float(weights @ self.equations.cost) + prior_cost
            tangents = np.eye(UNKNOWNS + 1) if self.frames is None else self.frames.tangents(self.x)
            values, vectors = np.linalg.eigh(tangents.T @ matrix @ tangents)
            told = values > _NO_INFORMATION * values[-1]
            along = vectors[:, told].T @ (tangents.T @ right)
            for _ in range(_DAMPINGS):
                step = -tangents @ (vectors[:, told] @ (along / (values[told] + damping * values[-1])))
                gained = self._take(step, weights, before)
                if gained is not None:
                    damping *= 0.1 if damping > _LEAST_DAMPING else 0.0
                    break
                damping = max(10.0 * damping, _FIRST_DAMPING)
            else:
                return  # nothing near is better: the least that rounding allows
            self.step_done()
            if np.abs(step).max() < _STILL or (damping <= _FIRST_DAMPING and gained < _NO_GAIN):
                return
        raise CalibrationError(
            f"the fit found no minimum in {_ITERATIONS} steps, the last one of {np.abs(step).max():g} m"
        )

    def _take(self, step: Array, weights: Array, before: float) -> float | None:
        """Go there; the part of the cost `before` that is gained, or None, staying, if it would rise."""
        x, scale = self.x + step[:SCALE].reshape(self.x.shape), self.scale + float(step[SCALE])
        if self.frames is not None:
            x = self.frames.snapped(x)
        poses = moved(self.poses, self.equations.pose_change(step))
        equations = linearise(self.readings, x, poses, scale)
        after = float(weights @ equations.cost) + self.known.terms(x, scale)[0]
        if not after <= before * (1.0 + 1e-9) + 1e-12:
            return None
        self.x, self.scale, self.poses, self.equations = x, scale, poses, equations
        return (before - after) / max(before, 1.0)
