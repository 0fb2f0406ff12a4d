"""Calibration of the geometry: the robust fit, legs whose columns were exchanged, and the result."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from calibration.cells import read_only
from calibration.errors import CalibrationError
from calibration.geometry.frames import (
    Gauge,
    RigidMotion,
    best_fit,
    into_mechanism,
    linear_start,
    nominal_unknowns,
    placed,
    placed_poses,
    rigid_tangents,
    start,
    turning,
)
from calibration.geometry.measurements import GeometryMeasurements, GeometryNoise, Prepared, prepare_geometry
from calibration.geometry.model import SCALE, UNKNOWNS, Equations, Readings, linearise, moved
from calibration.geometry.observability import (
    PARAMETERS,
    GeometryPrior,
    Observability,
    PoseSigmas,
    Posterior,
    UnknownsPrior,
    UnobservableError,
    inverse,
    observability,
    pose_sigmas,
    posterior,
    shortcomings,
    unobservable_directions,
)
from calibration.geometry.result import (
    GeometryCalibration,
    GeometryWarning,
    HoldOut,
    LeftOut,
    TrackerScale,
    joined,
    noise_rms,
    pose_errors,
)
from calibration.parameters import Parameter
from kinematics import Array, Geometry, figure_and_bound

_BETTER = 3.0  # times nearer, RMS, than the order given
_ALIKE = 1.2  # times the least misfit: orders that a symmetric mechanism does not tell apart; the fewest exchanges
_ORDERS = np.array(list(permutations(range(6))))
_ROUNDING = 1e-12
"""m², a misfit that counts as none: those of exact joints are rounding, of either sign"""


def exchanged_legs(x: Array, nominal: Array, gauge: Gauge) -> str:
    """Text of exchanged columns, from estimated joints (6, 7) and the nominal ones; empty if none.

    An exchange that is a symmetry of the mechanism, such as every leg for the next pair's, cannot be detected where
    the tracker's frame is unknown.
    """
    total = np.zeros(len(_ORDERS))
    for part, free in ((slice(0, 3), gauge.base), (slice(3, 6), gauge.platform)):
        total += _misfits(x[:, part], nominal[:, part], free)
    least = max(float(total.min()), _ROUNDING)
    if total[0] < _BETTER**2 * least:
        return ""
    moves = (_ORDERS[total < _ALIKE * least] != np.arange(6)).sum(axis=1)
    order = _ORDERS[total < _ALIKE * least][int(moves.argmin())]
    wrong = [leg for leg in range(6) if order[leg] != leg]
    if len(wrong) == 2:
        return f"columns l{wrong[0] + 1} and l{wrong[1] + 1} are exchanged"
    return "columns of legs are exchanged: " + ", ".join(f"l{leg + 1} is leg {order[leg] + 1}'s" for leg in wrong)


def _misfits(points: Array, nominal: Array, free: bool) -> Array:
    """Sum of squares (720,), m², of points (6, 3) against every order of the nominal ones, best-fitted if free."""
    taken = nominal[_ORDERS]
    if not free:
        return np.asarray(((points - taken) ** 2).sum(axis=(1, 2)))
    a, b = points - points.mean(axis=0), taken - taken.mean(axis=1, keepdims=True)
    cross = np.einsum("ia,kib->kab", a, b)
    values = np.linalg.svd(cross, compute_uv=False)
    values[:, 2] *= np.sign(np.linalg.det(cross))
    return np.asarray((a**2).sum() + (b**2).sum(axis=(1, 2)) - 2.0 * values.sum(axis=1))


Mask = npt.NDArray[np.bool_]

_ITERATIONS = 200
_REFITS = 10
_NEGLIGIBLE = 1e-8  # m; a step below it changes nothing that any tracker measures
_NO_GAIN = 1e-9  # of the cost
_DAMPINGS, _FIRST_DAMPING, _LEAST_DAMPING = 30, 1e-8, 1e-12
_NO_INFORMATION = 1e-13  # of the greatest eigenvalue: rounding
_FALSE_ALARM = 1e-3  # that any row of good data is called an outlier
_SOFT = 4.0  # times the degrees of freedom: the cost at which a row counts half


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Fitted unknowns (6, 7), tracker's scale and poses (n, 7), the equations there, and the mask (n,) of fitted rows.

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
        """Information (43, 43) of the fitted rows, without the prior."""
        return self.equations.normal(self.fitted.astype(np.float64))[0]


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """Unknowns restricted to rigid motions: the nominal joints in measured frames that are to be found."""

    nominal: Array
    gauge: Gauge

    def tangents(self, x: Array) -> Array:
        """Free changes (43, m)."""
        return np.vstack([rigid_tangents(x, self.gauge), np.zeros((1, 6 * len(self.gauge.free)))])

    def snapped(self, x: Array) -> Array:
        """The rigid copy of the nominal joints nearest to `x` (6, 7)."""
        rigid = x.copy()
        for part in self.gauge.free:
            rigid[:, part] = best_fit(self.nominal[:, part], x[:, part]).apply(self.nominal[:, part])
        return rigid


@dataclass(frozen=True, slots=True, eq=False)
class FitStart:
    """Start values of a fit.

    x: unknowns (6, 7), measured frames, m. poses (n, 7). scale: the tracker's; it is fixed where only the place of the
    nominal joints is fitted.
    """

    x: Array
    poses: Array
    scale: float = 0.0


def fit(
    readings: Readings,
    begun: FitStart,
    known: UnknownsPrior,
    *,
    among: Mask | None = None,
    outliers: bool = True,
    frames: Frames | None = None,
    step_done: Callable[[], None] = lambda: None,
) -> Fit:
    """Fit unknowns (6, 7) and scale; with `frames` only the place of the nominal joints.

    First the rows have Cauchy's weights at the scale of the median row. Then rows beyond a bound that good rows exceed
    in one of a thousand data sets are left out, and the others have full weight.

    Args:
        readings: what was measured.
        begun: start values.
        known: the prior.
        among: rows (n,) that may be fitted; all if left out.
        outliers: whether to leave out outliers; otherwise all rows of `among` have full weight.
        frames: the nominal joints, if only their place is to be found.
        step_done: called after every step; an exception of it ends the fit.

    Raises:
        CalibrationError: no minimum was reached.
    """
    from scipy.special import chdtri  # takes long to import, and few need it

    allowed = np.ones(len(readings), dtype=bool) if among is None else among
    state = _State(readings, begun.x, begun.scale, begun.poses, known, frames, step_done)
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
    components = readings.measured * int(allowed.sum())
    return max(components - unknowns, 1) / components


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
            observable = values > _NO_INFORMATION * values[-1]
            along = vectors[:, observable].T @ (tangents.T @ right)
            for _ in range(_DAMPINGS):
                step = -tangents @ (vectors[:, observable] @ (along / (values[observable] + damping * values[-1])))
                gained = self._take(step, weights, before)
                if gained is not None:
                    damping *= 0.1 if damping > _LEAST_DAMPING else 0.0
                    break
                damping = max(10.0 * damping, _FIRST_DAMPING)
            else:
                return  # nothing near is better: the least that rounding allows
            self.step_done()
            if np.abs(step).max() < _NEGLIGIBLE or (damping <= _FIRST_DAMPING and gained < _NO_GAIN):
                return
        raise CalibrationError(
            f"the fit found no minimum in {_ITERATIONS} steps, the last one of {np.abs(step).max():g} m"
        )

    def _take(self, step: Array, weights: Array, before: float) -> float | None:
        """Take a step; the relative decrease of the cost `before`, or None, without a step, if it would rise."""
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


_UNLIKELY = 1e-3  # probability by chance of residuals, or of departures from the drawing, that widens their sigmas
_OUTSIDE = 2.58  # standard deviations: one scale in a hundred is farther from 0, of those that the prior allows
_ENOUGH = 0.05  # a change of the scale's sigma that makes no odds
_POOR_START = 10.0  # times the stated noise
_MIX = 7919  # a prime: rows are dealt to the folds in an order that has nothing to do with the measurement's
_SCALE_AT_FIRST = 1e-3
_ROUNDS = 5  # of widening the prior


@dataclass(frozen=True, slots=True)
class GeometryLimits:
    """Acceptance limits of a calibration.

    position, m, rotation, rad: greatest standard deviation along an axis of the pose computed from lengths
        (`PoseSigmas`).
    change: farthest, m, that a joint may lie from its nominal place, or an offset be from zero.
    left_out: part of the rows that may be outliers.
    misfit: greatest ratio of the median row's residuals to the stated noise.
    """

    position: float = 0.5e-3
    rotation: float = 2e-3
    change: float = 20e-3
    left_out: float = 0.2
    misfit: float = 30.0

    def faults(self) -> list[str]:
        """Invalid values, one text each."""
        return [
            f"greatest {name} sigma of poses: {value:g} {unit}, must be finite and above 0"
            for name, value, unit in (("position", self.position, "m"), ("rotation", self.rotation, "rad"))
            if not 0.0 < value < np.inf
        ]


def calibrate_geometry(
    geometry: Geometry,
    measurements: GeometryMeasurements,
    *,
    length_offsets: ArrayLike = (0.0,) * 6,
    noise: GeometryNoise | None = None,
    prior: GeometryPrior | None = None,
    limits: GeometryLimits | None = None,
    workspace: ArrayLike | None = None,
    hold_out: float = 0.2,
    progress: Callable[[float], None] = lambda _part: None,
) -> GeometryCalibration:
    """Joint positions and length offsets from measured poses and leg lengths, with their covariance.

    The estimate is the maximum a posteriori of geometry, tracker's scale and poses (`calibration.geometry.model`,
    `.observability`): lengths and poses are noisy, the scale is unknown, the drawing is the prior. Directions that the
    poses do not determine stay as drawn, with the drawing's tolerances. Where tracker's and target's frame are unknown,
    a gauge fixes the mechanism's frames (`calibration.geometry.frames`). Outliers are found, left out and named. Noise,
    tolerances and scale that are clearly greater than stated are widened.

    Args:
        geometry: the nominal one. Without a home, poses must be whole and at least 20.
        measurements: at least 12 poses.
        length_offsets: (6,) the nominal ones, m.
        noise: standard deviations of the readings; the defaults of `GeometryNoise` if left out.
        prior: tolerances of the drawing and of the tracker's scale; the defaults of `GeometryPrior` if left out.
        limits: acceptance limits.
        workspace: (n, 7) poses at which the pose's uncertainty is judged; the measured ones if left out.
        hold_out: part of the rows that is predicted at a time by a fit to the others, above 0 and at most 0.5.
        progress: called with the part done, 0 to 1, after every step; an exception of it ends the calibration.

    Raises:
        UnobservableError: poses of the workspace would be uncertain beyond the limits; the error names the directions
            that the measured poses do not determine.
        CalibrationError: measurements that cannot be used or give no valid geometry: exchanged legs (named), another
            mechanism's data, too many outliers. All reasons at once.
    """
    noise, prior, limits = noise or GeometryNoise(), prior or GeometryPrior(), limits or GeometryLimits()
    faults = [*prior.faults(), *limits.faults()]
    if not 0.0 < hold_out <= 0.5:
        faults.append(f"hold-out: {hold_out:g} of the rows, must be above 0 and at most 0.5")
    offsets = np.asarray(length_offsets, dtype=np.float64)
    if offsets.shape != (6,) or not np.isfinite(offsets).all():
        faults.append(f"nominal length offsets: {length_offsets!r}, must be six finite numbers, m")
    judged = None if workspace is None else np.asarray(workspace, dtype=np.float64)
    if judged is not None and (judged.ndim != 2 or judged.shape[1] != 7 or not np.isfinite(judged).all()):
        faults.append(f"poses of the workspace: shape {judged.shape}, must be (n, 7), n ≥ 1, and finite")
    if faults:
        raise CalibrationError(faults)
    prepared = prepare_geometry(geometry, measurements, noise, offsets)
    folds = max(2, round(1.0 / hold_out))
    steps = _Steps(progress, 2 * folds + 3)
    targets_scale = None if prepared.targets is None else prepared.targets.scale
    known = UnknownsPrior(prior, nominal_unknowns(geometry), prepared.gauge, targets_scale)
    first = _found(geometry, prepared, known, limits, steps)
    estimate = _estimate(prepared, first, known, limits, steps)
    chosen = estimate.poses if judged is None else judged
    sigmas = pose_sigmas(estimate.x, chosen, estimate.posterior.covariance, prepared.gauge)
    _require_accurate(prepared, estimate, sigmas, limits)
    found, x = estimate.found, estimate.x
    hold_out_errors = _hold_out(prepared, estimate, folds, steps) if prepared.readings.measured == 6 else None
    values, drawn = x.copy(), known.nominal.copy()
    values[:, 6] += offsets
    drawn[:, 6] = offsets
    covariance = read_only(estimate.posterior.covariance)
    sigma = np.sqrt(np.diag(covariance))
    return GeometryCalibration(
        geometry=Geometry(x[:, :3], geometry.universal_axes, x[:, 3:6], geometry.home),
        length_offsets=read_only(values[:, 6]),
        parameters=tuple(
            Parameter(name, "m", float(drawn.flat[index]), float(values.flat[index]), float(sigma[index]))
            for index, name in enumerate(PARAMETERS)
        ),
        covariance=covariance,
        scale=estimate.scale,
        prior=prior,
        tolerances_widened=estimate.tolerances_widened,
        widened=estimate.widened,
        gauge=prepared.gauge,
        tracker=read_only(estimate.base.inverse.pose / np.array([*[1.0 - found.scale] * 3, 1.0, 1.0, 1.0, 1.0])),
        target=read_only(estimate.platform.pose),
        chi_square=estimate.chi_square,
        freedom=estimate.freedom,
        probability=estimate.probability,
        observability=estimate.seen,
        pose_sigmas=sigmas,
        judged_at_measured=judged is None,
        fitted=int(found.fitted.sum()),
        left_out=_left_out(prepared, estimate),
        hold_out=hold_out_errors,
        warnings=tuple(_warnings(estimate, hold_out_errors)),
    )


class _Steps:
    """Progress by fits, whose number of steps is unknown: each step reduces what is left of its fit."""

    def __init__(self, progress: Callable[[float], None], fits: int) -> None:
        self._progress, self._fits, self._done, self._part = progress, fits, 0, 0.0

    def step(self) -> None:
        self._part += 0.1 * (1.0 - self._part)
        self._progress((self._done + self._part) / self._fits)

    def next(self) -> None:
        self._done, self._part = self._done + 1, 0.0
        self._progress(min(self._done / self._fits, 1.0))


def _usable(prepared: Prepared) -> Mask:
    usable = np.ones(len(prepared.readings), dtype=bool)
    usable[list(prepared.left_out)] = False
    return usable


def _hardly(known: UnknownsPrior, limits: GeometryLimits) -> UnknownsPrior:
    """A weak prior that keeps joints within the limits."""
    tolerances = GeometryPrior(limits.change, limits.change, max(_SCALE_AT_FIRST, known.prior.scale))
    return replace(known, prior=tolerances)


def _found(geometry: Geometry, prepared: Prepared, known: UnknownsPrior, limits: GeometryLimits, steps: _Steps) -> Fit:
    """The best fit with a weak prior, from the nominal joints and, if that is poor, from a linear start."""
    readings, gauge, usable, hardly = prepared.readings, prepared.gauge, _usable(prepared), _hardly(known, limits)
    faults = [
        "leg lengths: most rows fit no pose of the nominal mechanism near its home; are they of this mechanism, the "
        "legs in order, and is its home in its file?"
    ]
    found = None
    begun = start(geometry, readings, gauge)
    if begun is not None:
        try:
            if gauge.free:
                frames = Frames(known.nominal, gauge)
                rigid = fit(readings, FitStart(*begun), hardly, among=usable, frames=frames, step_done=steps.step)
                begun = rigid.x, rigid.poses
            steps.next()
            found = fit(readings, FitStart(*begun), hardly, among=usable, step_done=steps.step)
        except CalibrationError as error:
            faults = list(error.faults)
        steps.next()
    if found is None or found.misfit > _POOR_START:
        linear = linear_start(readings.rows(usable))
        if linear is not None:
            with suppress(CalibrationError):
                begin = FitStart(linear, readings.poses)
                other = fit(readings, begin, hardly, among=usable, step_done=steps.step)
                found = other if found is None or other.misfit < found.misfit else found
    if found is None:
        raise CalibrationError(faults)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Estimate:
    """A fit and what follows from it, in the mechanism's frames.

    readings: those fitted, with `widened` times the stated noise. known: the prior that was used.
    base, platform: motions of joints from measured frames to these. x (6, 7), poses (n, 7). chi_square, freedom: at the
    stated noise. tolerances_widened: factor on the tolerances.
    """

    found: Fit
    readings: Readings
    known: UnknownsPrior
    base: RigidMotion
    platform: RigidMotion
    x: Array
    poses: Array
    seen: Observability
    posterior: Posterior
    widened: float
    tolerances_widened: float
    scale: TrackerScale | None
    chi_square: float
    freedom: float
    probability: float


def _estimate(prepared: Prepared, first: Fit, known: UnknownsPrior, limits: GeometryLimits, steps: _Steps) -> _Estimate:
    """Estimate the geometry from a fit with a weak prior; inconsistent noise and prior are widened.

    The scale's prior sigma is at least √(k² − σ²), the most likely one, k ± σ being the scale by the data alone: a
    prior that the data contradict has no effect. Noise and tolerances have many degrees of freedom, and are widened
    where they are improbable.

    Raises CalibrationError for a fit that cannot be used, with all reasons.
    """
    _require_together(prepared, first, known, limits)
    found, stated, targets_scale = first, known.prior, known.targets_scale
    chi_square, freedom, probability = _chi_square(prepared, first, _hardly(known, limits))
    widened = float(np.sqrt(chi_square / freedom)) if probability < _UNLIKELY else 1.0
    readings = prepared.readings.noisier(widened)
    targets_scale = None if targets_scale is None else (targets_scale[0], targets_scale[1] * widened)
    tolerances = scales = 1.0
    for _ in range(_ROUNDS):
        known = replace(known, prior=stated.wider(tolerances, scales), targets_scale=targets_scale)
        begin = FitStart(found.x, found.poses, found.scale)
        found = fit(readings, begin, known, among=_usable(prepared), step_done=steps.step)
        base, platform = into_mechanism(found.x, known.nominal, known.gauge)
        x, turn = placed(found.x, base, platform), turning(base, platform)
        information = turn @ found.information @ turn.T
        after = posterior(information, x, found.scale, known)
        departed = float(np.sqrt(after.departure / after.data_directions)) if after.improbable < _UNLIKELY else 1.0
        alone, spread = after.scale_alone
        likely = max(1.0, float(np.sqrt(max(alone**2 - spread**2, 0.0))) / stated.scale) if spread < np.inf else 1.0
        if departed == 1.0 and abs(likely / scales - 1.0) < _ENOUGH:
            break
        tolerances, scales = tolerances * departed, likely
    steps.next()
    chi_square, freedom, probability = _chi_square(prepared, found, known, widened)
    scale = None
    if prepared.readings.arms.any():
        value = found.scale / (1.0 - found.scale)
        off = alone / float(np.hypot(spread, stated.scale))
        scale = TrackerScale(value, after.scale_sigma, stated.scale, off, abs(off) > _OUTSIDE)
    poses = placed_poses(found.poses, base, platform)
    estimate = _Estimate(
        found,
        readings,
        known,
        base,
        platform,
        x,
        poses,
        observability(information, x, known),
        after,
        widened,
        known.prior.joints / stated.joints,
        scale,
        chi_square,
        freedom,
        probability,
    )
    if faults := _faults(prepared, estimate, limits):
        raise CalibrationError(faults)
    return estimate


def _require_together(prepared: Prepared, first: Fit, known: UnknownsPrior, limits: GeometryLimits) -> None:
    """Raise CalibrationError for exchanged legs, and for lengths that do not belong to the poses."""
    base, platform = into_mechanism(first.x, known.nominal, known.gauge)
    exchange = exchanged_legs(placed(first.x, base, platform), known.nominal, known.gauge)
    if exchange:
        raise CalibrationError(
            f"{exchange}: in that order the joints lie more than three times nearer to the mechanism's"
        )
    if first.misfit > limits.misfit:
        misfit, most = figure_and_bound(first.misfit, limits.misfit, ".3g")
        raise CalibrationError(
            f"lengths and poses do not belong together: the residuals are {misfit} times the stated noise, "
            f"at most {most}; is the scalar first in the quaternions (qw), are rows of both the same poses, "
            "and frames as stated?"
        )


def _faults(prepared: Prepared, estimate: _Estimate, limits: GeometryLimits) -> list[str]:
    """Faults: outliers and changes beyond the limits."""
    fitted, rows, faults = estimate.found.fitted, prepared.rows, []
    out = len(rows) - int(fitted.sum())
    if out > limits.left_out * len(rows):
        faults.append(
            f"{out} of {len(rows)} rows do not fit the others, at most {limits.left_out:.0%} may be outliers: "
            + ", ".join(row for row, used in zip(rows, fitted, strict=True) if not used)
        )
    change = np.abs(estimate.x - estimate.known.nominal).ravel()
    worst = int(change.argmax())
    if change[worst] > limits.change:
        figure, most = figure_and_bound(1e3 * change[worst], 1e3 * limits.change, ".3g")
        faults.append(
            f"{PARAMETERS[worst]} is {figure} mm from nominal, at most {most} mm is "
            "taken for an error of manufacture: data of another mechanism, or of other frames than stated?"
        )
    return faults


def _require_accurate(prepared: Prepared, estimate: _Estimate, sigmas: PoseSigmas, limits: GeometryLimits) -> None:
    """Raise UnobservableError where poses would be too uncertain, with the unobservable directions and a remedy."""
    found = (
        ("position", 1e3 * sigmas.worst_position, 1e3 * limits.position, "mm"),
        ("rotation", 1e3 * sigmas.worst_rotation, 1e3 * limits.rotation, "mrad"),
    )
    beyond = [(name, *figure_and_bound(value, most, ".3g"), unit) for name, value, most, unit in found if value > most]
    if not beyond:
        return
    weak, count = estimate.seen.weak, len(prepared.readings)
    directions = "1 direction" if weak.shape[1] == 1 else f"{weak.shape[1]} directions"
    raise UnobservableError(
        [
            *(
                f"{name} of the pose that the lengths would tell: standard deviation {value} {unit} along the worst "
                f"axis, at most {most} {unit}"
                for name, value, most, unit in beyond
            ),
            f"{directions} of the geometry cannot be told from these {count} poses better than the drawing's "
            "tolerances do. Unseen is what moves:",
            *(f"  {line}" for line in unobservable_directions(weak, estimate.x, estimate.poses, estimate.known)),
            *shortcomings(prepared.readings, estimate.poses),
        ],
        estimate.seen,
        sigmas,
        (limits.position, limits.rotation),
    )


def _chi_square(
    prepared: Prepared, found: Fit, known: UnknownsPrior, widened: float = 1.0
) -> tuple[float, float, float]:
    """χ² of the fitted rows at the stated noise, its degrees of freedom, and the probability of more by chance.

    The targets' own consistency is included. A direction that data and prior determine equally takes half a degree:
    the residuals r of y = H θ + e at the most likely θ have E[rᵀ R⁻¹ r] = n − tr(C Hᵀ R⁻¹ H), C its covariance.
    """
    from scipy.special import chdtrc  # takes long to import, and few need it

    information = found.information
    total = information + known.terms(found.x, found.scale)[1]
    chi_square = widened**2 * float(found.equations.cost[found.fitted].sum())
    freedom = prepared.readings.measured * int(found.fitted.sum()) - float(np.trace(inverse(total) @ information))
    if prepared.targets is not None:
        chi_square += prepared.targets.chi_square
        freedom += prepared.targets.freedom
    return chi_square, freedom, float(chdtrc(freedom, chi_square))


def _hold_out(prepared: Prepared, estimate: _Estimate, folds: int, steps: _Steps) -> HoldOut | None:
    """Pose errors of every fitted row, each by a fit without it."""
    readings, found, known = estimate.readings, estimate.found, estimate.known
    chosen, frames = np.flatnonzero(found.fitted), Frames(known.nominal, known.gauge)
    dealt = np.argsort((chosen * _MIX) % len(readings), kind="stable")
    before, after = [], []
    rows: list[int] = []
    for part in range(folds):
        unseen = np.zeros(len(readings), dtype=bool)
        unseen[chosen[dealt[part::folds]]] = True
        rows += np.flatnonzero(unseen).tolist()
        among = found.fitted & ~unseen
        fitting = partial(fit, readings, known=known, among=among, outliers=False, step_done=steps.step)
        other = fitting(begun=FitStart(found.x, found.poses, found.scale))
        steps.next()
        whole = other.information + known.terms(other.x, other.scale)[1]
        after.append(pose_errors(readings.rows(unseen), other.x, other.scale, inverse(whole)))
        rigid = known.nominal
        if known.gauge.free:
            begun = frames.snapped(found.x)
            begun[:, 6] = 0.0
            for column in {0, 3} - {part_.start for part_ in known.gauge.free}:
                begun[:, column : column + 3] = known.nominal[:, column : column + 3]
            rigid = fitting(begun=FitStart(begun, found.poses), frames=frames).x
        steps.next()
        before.append(pose_errors(readings.rows(unseen), rigid))
    order = np.argsort(rows)
    names = tuple(prepared.rows[row] for row in sorted(rows))
    noise = noise_rms(prepared.readings.rows(found.fitted))
    return HoldOut(folds, names, joined(before, order), joined(after, order), *noise)


def _left_out(prepared: Prepared, estimate: _Estimate) -> tuple[LeftOut, ...]:
    found, measured = estimate.found, prepared.readings.measured
    cost = estimate.widened**2 * found.equations.cost
    return tuple(
        LeftOut(
            prepared.rows[row],
            prepared.left_out.get(row)
            or f"its pose and lengths disagree by {np.sqrt(cost[row] / measured):.3g} times the stated noise",
        )
        for row in map(int, np.flatnonzero(~found.fitted))
    )


def _warnings(estimate: _Estimate, errors: HoldOut | None) -> list[GeometryWarning]:
    misfit = float(np.sqrt(estimate.chi_square / estimate.freedom))
    warnings = []
    if estimate.widened > 1.0:
        warnings.append(GeometryWarning("noise-exceeded", misfit, 1.0))
    elif estimate.probability > 1.0 - _UNLIKELY:
        warnings.append(GeometryWarning("noise-overstated", misfit, 1.0))
    if estimate.tolerances_widened > 1.0:
        warnings.append(GeometryWarning("tolerances-exceeded", estimate.tolerances_widened, 1.0))
    if estimate.scale is not None and estimate.scale.outside:
        warnings.append(GeometryWarning("scale-outside-prior", abs(estimate.scale.off), _OUTSIDE))
    if errors is not None and not errors.after.position_rms < errors.before.position_rms:
        warnings.append(
            GeometryWarning("no-better-than-nominal", errors.after.position_rms, errors.before.position_rms)
        )
    return warnings
