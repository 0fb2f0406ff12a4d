"""From measured poses and leg lengths to joint positions and length offsets."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibration.errors import CalibrationError
from calibration.geometry.exchange import exchanged_legs
from calibration.geometry.frames import Gauge, into_mechanism, placed, placed_poses, turning
from calibration.geometry.holdout import joined, noise_rms, pose_errors
from calibration.geometry.measurements import GeometryMeasurements, GeometryNoise, Prepared, prepare_geometry
from calibration.geometry.model import UNKNOWNS, linearise
from calibration.geometry.observability import (
    PARAMETERS,
    Observability,
    UnobservableError,
    observability,
    shortcomings,
    untold,
)
from calibration.geometry.result import GeometryCalibration, HoldOut, LeftOut
from calibration.geometry.solving import Fit, Frames, Mask, fit
from calibration.geometry.starting import linear_start, nominal_unknowns, start
from calibration.parameters import Parameter
from calibration.taring import read_only
from kinematics import Array, Geometry, figure_and_bound

_WIDENED_BELOW = 1e-3  # probability of the residuals by chance
_POOR_START = 10.0  # times the stated noise
_MIX = 7919  # a prime: rows are dealt to the folds in an order that has nothing to do with the measurement's


@dataclass(frozen=True, slots=True)
class GeometryLimits:
    """What a calibration must keep to.

    sigma: greatest standard deviation, m, of the geometry along any direction: beyond, the drawing tells more.
    change: farthest, m, that a joint may lie from its nominal place, or an offset be from zero.
    left_out: part of the rows that may be outliers.
    misfit: greatest residuals of the median row, over the stated noise.
    """

    sigma: float = 2e-3
    change: float = 20e-3
    left_out: float = 0.2
    misfit: float = 30.0


def calibrate_geometry(
    geometry: Geometry,
    measurements: GeometryMeasurements,
    *,
    length_offsets: ArrayLike = (0.0,) * 6,
    noise: GeometryNoise | None = None,
    limits: GeometryLimits | None = None,
    hold_out: float = 0.2,
    progress: Callable[[float], None] = lambda _part: None,
) -> GeometryCalibration:
    """Joint positions and length offsets from measured poses and leg lengths, with their covariance.

    The lengths and the poses are both taken as noisy: the estimate is the most likely one of geometry and poses
    together (`calibration.geometry.model`). Where tracker's and target's frame are unknown, the mechanism's are agreed
    on by a gauge (`calibration.geometry.frames`). Rows that do not belong are found, left out and named.

    Args:
        geometry: the nominal one. Without a home, poses must be whole and at least 20.
        measurements: at least 12 poses.
        length_offsets: (6,) the nominal ones, m.
        noise: standard deviations of the readings; the defaults of `GeometryNoise` if left out.
        limits: what is refused.
        hold_out: part of the rows that is predicted at a time by a fit to the others, above 0 and at most 0.5.
        progress: called with the part done, 0 to 1, after every step; what it raises ends the calibration.

    Raises:
        CalibrationError: measurements that cannot be used, or that no trustworthy geometry comes from: poses that leave
            directions of the geometry open (named), exchanged legs (named), another mechanism's data, too many
            outliers. All reasons at once.
    """
    noise, limits = noise or GeometryNoise(), limits or GeometryLimits()
    if not 0.0 < hold_out <= 0.5:
        raise CalibrationError(f"hold-out: {hold_out:g} of the rows, must be above 0 and at most 0.5")
    offsets = np.asarray(length_offsets, dtype=np.float64)
    if offsets.shape != (6,) or not np.isfinite(offsets).all():
        raise CalibrationError(f"nominal length offsets: {length_offsets!r}, must be six finite numbers, m")
    prepared = prepare_geometry(geometry, measurements, noise, offsets)
    readings, gauge, nominal = prepared.readings, prepared.gauge, nominal_unknowns(geometry)
    folds = max(2, round(1.0 / hold_out))
    steps = _Steps(progress, 2 * folds + 2)
    usable = np.ones(len(readings), dtype=bool)
    usable[list(prepared.left_out)] = False
    found = _found(geometry, prepared, usable, limits, steps)
    base, platform = into_mechanism(found.x, nominal, gauge)
    x, seen = placed(found.x, base, platform), _seen(found.information, found.x, nominal, gauge)
    faults = _faults(prepared, found, x, nominal, seen, limits)
    if faults:
        raise CalibrationError(faults)
    chi_square, freedom = _chi_square(prepared, found, seen)
    from scipy.special import chdtrc  # takes long to import, and few need it

    probability = float(chdtrc(freedom, chi_square))
    widened = float(np.sqrt(chi_square / freedom)) if probability < _WIDENED_BELOW else 1.0
    held = _hold_out(prepared, found, nominal, gauge, folds, steps) if readings.measured == 6 else None
    values, drawn = x.copy(), nominal.copy()
    values[:, 6] += offsets
    drawn[:, 6] = offsets
    covariance = read_only(widened**2 * seen.covariance)
    sigma = np.sqrt(np.diag(covariance))
    return GeometryCalibration(
        geometry=Geometry(x[:, :3], geometry.universal_axes, x[:, 3:6], geometry.home),
        length_offsets=read_only(values[:, 6]),
        parameters=tuple(
            Parameter(name, "m", float(drawn.flat[index]), float(values.flat[index]), float(sigma[index]))
            for index, name in enumerate(PARAMETERS)
        ),
        covariance=covariance,
        widened=widened,
        gauge=gauge,
        tracker=read_only(base.inverse.pose),
        target=read_only(platform.pose),
        chi_square=chi_square,
        freedom=freedom,
        probability=probability,
        observability=seen,
        fitted=int(found.fitted.sum()),
        left_out=_left_out(prepared, found),
        hold_out=held,
        warnings=tuple(_warnings(chi_square / freedom, probability, held)),
    )


class _Steps:
    """Progress by fits: each comes nearer to its end with every step, without its number being known."""

    def __init__(self, progress: Callable[[float], None], fits: int) -> None:
        self._progress, self._fits, self._done, self._part = progress, fits, 0, 0.0

    def step(self) -> None:
        self._part += 0.1 * (1.0 - self._part)
        self._progress((self._done + self._part) / self._fits)

    def next(self) -> None:
        self._done, self._part = self._done + 1, 0.0
        self._progress(min(self._done / self._fits, 1.0))


def _found(geometry: Geometry, prepared: Prepared, usable: Mask, limits: GeometryLimits, steps: _Steps) -> Fit:
    """The best fit from the nominal joints, and where that is poor from none."""
    readings, gauge, nominal = prepared.readings, prepared.gauge, nominal_unknowns(geometry)
    faults = [
        "leg lengths: most rows fit no pose of the nominal mechanism near its home; are they of this mechanism, the "
        "legs in order, and is its home in its file?"
    ]
    found = None
    begun = start(geometry, readings, gauge)
    if begun is not None:
        try:
            if gauge.free:
                rigid = fit(readings, *begun, among=usable, frames=Frames(nominal, gauge), step_done=steps.step)
                begun = rigid.x, rigid.poses
            steps.next()
            found = fit(readings, *begun, among=usable, step_done=steps.step)
        except CalibrationError as error:
            _require_told_there(prepared, *begun, nominal, limits)
            faults = list(error.faults)
        steps.next()
    if found is None or found.scale > _POOR_START:
        linear = linear_start(readings.rows(usable))
        if linear is not None:
            with suppress(CalibrationError):
                other = fit(readings, linear, readings.poses, among=usable, step_done=steps.step)
                found = other if found is None or other.scale < found.scale else found
    if found is None:
        raise CalibrationError(faults)
    return found


def _require_told_there(prepared: Prepared, x: Array, poses: Array, nominal: Array, limits: GeometryLimits) -> None:
    """Raise UnobservableError where poses (n, 7) leave something open at unknowns (6, 7) in measured frames."""
    gauge, readings = prepared.gauge, prepared.readings
    usable = np.ones(len(readings))
    usable[list(prepared.left_out)] = 0.0
    information = linearise(readings, x, poses).normal(usable)[0]
    _require_told(prepared, x, poses, nominal, _seen(information, x, nominal, gauge), limits)


def _seen(information: Array, x: Array, nominal: Array, gauge: Gauge) -> Observability:
    """Observability in the mechanism's frames, from information and unknowns in measured ones."""
    base, platform = into_mechanism(x, nominal, gauge)
    turn = turning(base, platform)
    return observability(turn @ information @ turn.T, placed(x, base, platform), nominal, gauge)


def _require_told(
    prepared: Prepared, x: Array, poses: Array, nominal: Array, seen: Observability, limits: GeometryLimits
) -> None:
    """Raise UnobservableError where the poses do not tell a direction: it names them, and what the poses lack."""
    weak = seen.weak(limits.sigma)
    if not weak.shape[1]:
        return
    frames = into_mechanism(x, nominal, prepared.gauge)
    there = placed_poses(poses, *frames)
    directions = "1 direction" if weak.shape[1] == 1 else f"{weak.shape[1]} directions"
    faults = [
        f"{directions} of the geometry cannot be told from these {len(poses)} poses (standard deviation above "
        f"{1e3 * limits.sigma:g} mm). Unseen is what moves:",
        *(f"  {line}" for line in untold(weak, placed(x, *frames), there, nominal, prepared.gauge)),
        *shortcomings(prepared.readings, there),
    ]
    raise UnobservableError(faults, seen, limits.sigma) from None


def _faults(
    prepared: Prepared, found: Fit, x: Array, nominal: Array, seen: Observability, limits: GeometryLimits
) -> list[str]:
    """Every reason why the result cannot be used, but for what the poses do not tell: UnobservableError is of that."""
    rows = prepared.rows
    exchange = exchanged_legs(x, nominal, prepared.gauge)
    if exchange:
        return [f"{exchange}: in that order the joints lie more than three times nearer to the mechanism's"]
    if found.scale > limits.misfit:
        scale, most = figure_and_bound(found.scale, limits.misfit, ".3g")
        return [
            f"lengths and poses do not belong together: the residuals are {scale} times the stated noise, "
            f"at most {most}; is the scalar first in the quaternions (qw), are rows of both the same poses, "
            "and frames as stated?"
        ]
    _require_told(prepared, found.x, found.poses, nominal, seen, limits)
    faults = []
    out = len(rows) - int(found.fitted.sum())
    if out > limits.left_out * len(rows):
        faults.append(
            f"{out} of {len(rows)} rows do not fit the others, at most {limits.left_out:.0%} may be outliers: "
            + ", ".join(row for row, kept in zip(rows, found.fitted, strict=True) if not kept)
        )
    change = np.abs(x - nominal).ravel()
    worst = int(change.argmax())
    if change[worst] > limits.change:
        figure, most = figure_and_bound(1e3 * change[worst], 1e3 * limits.change, ".3g")
        faults.append(
            f"{PARAMETERS[worst]} is {figure} mm from nominal, at most {most} mm is "
            "taken for an error of manufacture: data of another mechanism, or of other frames than stated?"
        )
    return faults


def _chi_square(prepared: Prepared, found: Fit, seen: Observability) -> tuple[float, int]:
    """χ² of the fitted rows and its degrees of freedom, what the targets tell of each other included."""
    chi_square = float(found.equations.cost[found.fitted].sum())
    values = np.linalg.eigvalsh(found.information)
    told = int((values > 1e-13 * values[-1]).sum())
    freedom = prepared.readings.measured * int(found.fitted.sum()) - min(told, UNKNOWNS)
    if prepared.targets is not None:
        chi_square += prepared.targets.chi_square
        freedom += prepared.targets.freedom
    return chi_square, freedom


def _hold_out(
    prepared: Prepared, found: Fit, nominal: Array, gauge: Gauge, folds: int, steps: _Steps
) -> HoldOut | None:
    """Pose errors of every fitted row, each by a fit that had not seen it."""
    readings, chosen = prepared.readings, np.flatnonzero(found.fitted)
    dealt = np.argsort((chosen * _MIX) % len(readings), kind="stable")
    before, after = [], []
    rows: list[int] = []
    for part in range(folds):
        unseen = np.zeros(len(readings), dtype=bool)
        unseen[chosen[dealt[part::folds]]] = True
        rows += np.flatnonzero(unseen).tolist()
        among = found.fitted & ~unseen
        x = fit(readings, found.x, found.poses, among=among, outliers=False, step_done=steps.step).x
        steps.next()
        after.append(pose_errors(readings.rows(unseen), x))
        frames = Frames(nominal, gauge)
        if gauge.free:
            begun = frames.snapped(found.x)
            begun[:, 6] = 0.0
            for column in {0, 3} - {part_.start for part_ in gauge.free}:
                begun[:, column : column + 3] = nominal[:, column : column + 3]
            rigid = fit(
                readings, begun, found.poses, among=among, outliers=False, frames=frames, step_done=steps.step
            ).x
        else:
            rigid = nominal
        steps.next()
        before.append(pose_errors(readings.rows(unseen), rigid))
    order = np.argsort(rows)
    names = tuple(prepared.rows[row] for row in sorted(rows))
    return HoldOut(folds, names, joined(before, order), joined(after, order), *noise_rms(readings.rows(found.fitted)))


def _left_out(prepared: Prepared, found: Fit) -> tuple[LeftOut, ...]:
    cost, measured = found.equations.cost, prepared.readings.measured
    return tuple(
        LeftOut(
            prepared.rows[row],
            prepared.left_out.get(row)
            or f"its pose and lengths disagree by {np.sqrt(cost[row] / measured):.3g} times the stated noise",
        )
        for row in map(int, np.flatnonzero(~found.fitted))
    )


def _warnings(reduced: float, probability: float, held: HoldOut | None) -> list[str]:
    warnings = []
    if probability < _WIDENED_BELOW:
        warnings.append(
            f"the residuals are {np.sqrt(reduced):.3g} times the stated noise: noisier readings, or something that the "
            "model does not have; all sigmas are widened by as much"
        )
    if probability > 1.0 - _WIDENED_BELOW:
        warnings.append(
            f"the residuals are {np.sqrt(reduced):.3g} times the stated noise, which is less than chance allows: the "
            "noise stated is too great, and so are all sigmas"
        )
    if held is not None and not held.after.position_rms < held.before.position_rms:
        warnings.append("on poses that were not fitted the calibrated geometry is no better than the nominal one")
    return warnings
