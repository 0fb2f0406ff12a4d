"""Estimation of an arm's torque model: weighted, robust, physically consistent, with an honest covariance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibration.arm.consistent import all_consistent, nearest_body_parameters
from calibration.arm.samples import ArmSamples, drive_matrix
from calibration.arm.torque_model import BODY, FRICTION_TERMS, TorqueModel, sides
from calibration.errors import CalibrationError
from calibration.inertia.prior import body_covariance, exists
from dynamics import Body, linear_body, serial
from kinematics import Array

_LARGEST = 1e3  # of what is as good as unknown
_HUBER = 2.0
"""standard deviations beyond which a residual's weight falls"""
_ROUNDS = 8
_SETTLED = 1e-4
"""mean square of a step, in standard deviations, at which the rounds end"""
_FEWEST = 20
"""rows in motion by which a residual is judged; with less all rows are"""
_REST_TIME = 0.5
"""s, correlation time of friction at rest, which no law describes"""
_GAIN_ROUNDS = 12
_FLAT, _THICK = 1e-4, 1e-2
"""least over largest principal second moment: below the former a body is flat, the latter is then taken"""
_ROUNDING = 1e-9
UNKNOWN_GAIN = 3.0
"""σ of the logarithm of a gain that is not known"""


@dataclass(frozen=True, slots=True)
class ArmAccuracy:
    """What is known of an arm before, one standard deviation each.

    mass: part of each body's mass; center: m, each axis of a centre of mass; inertia: part of each principal second
    moment about it. friction: part of each coefficient and of each rotor's inertia, or of what the forces suggest where
    that is more. offset: part of each drive's RMS force. gain: part of each drive's gain.
    """

    mass: float = 0.3
    center: float = 0.05
    inertia: float = 0.5
    friction: float = 1.0
    offset: float = 0.05
    gain: float = 0.0

    def __post_init__(self) -> None:
        """Refuse standard deviations that are none."""
        faults = [
            f"{each.name}: {value:g} must be finite and {'at least' if each.name == 'gain' else 'above'} 0, at most "
            f"{_LARGEST:g}"
            for each in fields(self)
            if not (
                math.isfinite(value := getattr(self, each.name))
                and (value > 0.0 or (each.name == "gain" and value == 0.0))
                and value <= _LARGEST
            )
        ]
        if faults:
            raise CalibrationError(faults)


@dataclass(frozen=True, slots=True)
class ArmSettings:
    """Settings of the estimation.

    accuracy: what is known before. friction: terms beside Coulomb and viscous friction (`FRICTION_TERMS`), or "auto":
    those that predict best, by cross-validation within the fitted data. smoothing: v₀ of Coulomb friction over the RMS
    speed; None: chosen the same way. rotors, coupling: as `TorqueModel`; with_friction: its `friction`. robust: Huber's
    weights. consistent: bodies that can exist and friction that is not negative.
    """

    accuracy: ArmAccuracy = ArmAccuracy()
    friction: Literal["auto"] | tuple[str, ...] = ()
    smoothing: float | None = None
    rotors: bool = True
    coupling: bool = True
    with_friction: bool = True
    robust: bool = True
    consistent: bool = True

    def __post_init__(self) -> None:
        """Refuse unknown terms and smoothing that is none."""
        if self.friction != "auto" and (unknown := set(self.friction) - set(FRICTION_TERMS)):
            raise CalibrationError(f"friction: {', '.join(sorted(unknown))}: must be of {', '.join(FRICTION_TERMS)}")
        if self.smoothing is not None and not 1e-4 <= self.smoothing <= 1.0:
            raise CalibrationError(f"smoothing: {self.smoothing:g} of the RMS speed, must be 0.0001 to 1")


@dataclass(frozen=True, slots=True, eq=False)
class ArmFit:
    """A fitted torque model.

    x (p,): its unknowns. gains (n,): estimated gain of each drive over the stated one. covariance (p + k, p + k): of x,
    and of the logarithms of the gains where these are estimated; data_covariance: the part by the residual alone.
    before (p,): the prior's mean; before_sigma (p,): its standard deviations. residual (m, n): drive forces of the
    fitted rows, N m or N. weights (m, n): of the fitted rows, 1/(N m)². sigma (n,): the residual's standard deviation
    in motion. correlation (n,): rows per independent row, see `correlation_length`. consistent: whether all bodies can
    exist and no friction is negative; moved: whether that took a constraint. effective: number of unknowns that the
    data determine.
    """

    model: TorqueModel
    x: Array
    gains: Array
    covariance: Array
    data_covariance: Array
    before: Array
    before_sigma: Array
    residual: Array
    weights: Array = field(repr=False)
    sigma: Array
    correlation: Array
    consistent: bool
    moved: bool
    effective: float

    @property
    def bodies(self) -> Array:
        """The numbers (10 n,) of all bodies."""
        return self.x[: BODY * len(self.model.arm.joints)]


def model_scales(samples: ArmSamples, coupling: bool = True) -> Array:
    """RMS speed (number of sides,) of each motor and joint with friction."""
    rows = np.array([side.row for side in sides(samples.arm, coupling=coupling)])
    rms: Array = np.sqrt(np.mean((samples.qd @ rows.T) ** 2, axis=0))
    return rms


def prior_of(samples: ArmSamples, model: TorqueModel, accuracy: ArmAccuracy) -> tuple[Array, Array]:
    """Mean (p,) and covariance (p, p) of a model's unknowns before the data.

    Bodies by the arm, see `_stated_body`; where its file has none, one of the mean mass of the others between its joint
    and the next.
    Raises CalibrationError for an arm without any body that can exist.
    """
    arm = samples.arm
    mean, covariance = np.zeros(len(model)), np.zeros((len(model), len(model)))
    bodies = [_stated_body(arm, i) for i in range(len(arm))]
    known = [each for each in bodies if exists(each)]
    if not known:
        raise CalibrationError(
            f"{arm.name}: no joint has a body that can exist: give masses, centres and inertias, however roughly, "
            "since motion and forces alone do not tell all of them"
        )
    usual = float(np.mean([each[0] for each in known]))
    for i, body in enumerate(bodies):
        place = model.parameters.bodies[i]
        given = exists(body)
        mean[place] = body if given else _some_body(arm, i, usual)
        spread = (accuracy.mass, accuracy.center, accuracy.inertia) if given else (1.0, 4.0 * accuracy.center, 1.0)
        covariance[place, place] = body_covariance(mean[place], *spread)
    strength = np.sqrt(np.mean((samples.drives + samples.known) ** 2, axis=0))
    jerky = np.sqrt(np.mean(samples.qdd**2, axis=0))
    geared = arm.transmission is not None
    coefficients: dict[str, tuple[Array, Array]] = {}
    reach = np.array([np.abs(side.row[side.index]) for side in model.sides])
    at = strength[[side.index for side in model.sides]] / reach
    n_motors = len(model.motors)
    own = [side.index for side in model.sides if not side.motor]
    stated = {
        name: np.concatenate([_stated(arm, name, geared), [getattr(arm.joints[index], name) for index in own]])
        for name in ("viscous", "coulomb")
    }
    typical = {
        "viscous": 0.2 * at / model.scales,
        "coulomb": 0.2 * at,
        "viscous_asymmetry": 0.05 * at / model.scales,
        "coulomb_asymmetry": 0.05 * at,
        "power": 0.2 * at,
        "stribeck": 0.1 * at,
    }
    for name, size in typical.items():
        value = stated.get(name, np.zeros(len(model.sides)))
        coefficients[name] = value, np.maximum(accuracy.friction * value, size)
    coefficients["load"] = np.zeros(len(model.sides)), np.full(len(model.sides), 0.1)
    rotor = _stated(arm, "inertia", geared)
    motion = np.abs(np.array([side.row for side in model.motors]) @ np.diag(jerky)).max(axis=1)
    coefficients["inertia"] = rotor, np.maximum(accuracy.friction * rotor, 0.2 * at[:n_motors] / motion)
    coefficients["offset"] = (
        np.array([joint.offset for joint in arm.joints]),
        accuracy.offset * np.maximum(strength, np.abs([joint.offset for joint in arm.joints])),
    )
    for name, (value, sigma) in coefficients.items():
        labels = {
            "inertia": ("rotor_inertia", "motor_inertia"),
            "viscous": ("motor_viscous", "viscous"),
            "coulomb": ("motor_coulomb", "coulomb"),
        }.get(name, (name,))
        places = np.sort(np.concatenate([model.places(label) for label in labels]))
        if len(places):
            mean[places] = value
            covariance[places, places] = sigma**2
    return mean, covariance


def _stated(arm: serial.Arm, name: str, geared: bool) -> Array:
    """Inertia, viscous or Coulomb friction (n,) of the motors; at the joints of an arm without transmission."""
    at_joints = np.array([getattr(joint, "motor_inertia" if name == "inertia" else name) for joint in arm.joints])
    at_motors = getattr(arm, "rotor_inertia" if name == "inertia" else f"motor_{name}")
    at_motors = np.zeros(len(arm.joints)) if at_motors is None else np.asarray(at_motors)
    own = [side.index for side in sides(arm) if not side.motor] if name != "inertia" else []
    at_joints[own] = 0.0  # these are unknowns by themselves
    order = {"inertia": 2, "viscous": 2, "coulomb": 1}[name]
    ratio = np.abs(np.diag(arm.motor_ratios)) if geared else np.ones(len(arm.joints))
    whole: Array = at_motors + at_joints / ratio**order
    return whole


def _stated_body(arm: serial.Arm, i: int) -> Array:
    """The numbers (10,) of a body by the arm's file, made a little thick where these are of a plane or a line.

    A tenth as thick as it is large: nothing could be estimated of a flat body, and files are flat by rounded moments.
    A point mass is spread as `_some_body` is.
    """
    joint = arm.joints[i]
    body = linear_body(Body(joint.mass, joint.center, joint.inertia))
    seconds, axes = np.linalg.eigh(0.5 * np.trace(joint.inertia) * np.eye(3) - joint.inertia)
    if joint.mass <= 0.0 or seconds[0] > _FLAT * seconds[2] or seconds[0] < -_ROUNDING * seconds[2]:
        return body
    if seconds[2] <= 0.0:
        return linear_body(Body(joint.mass, joint.center, _spread(arm, i, joint.mass)[1]))
    thick = axes @ np.diag(np.maximum(seconds, _THICK * seconds[2])) @ axes.T
    return linear_body(Body(joint.mass, joint.center, np.trace(thick) * np.eye(3) - thick))


def _some_body(arm: serial.Arm, i: int, mass: float) -> Array:
    """The numbers (10,) of a body that reaches from joint i to the next."""
    following, inertia = _spread(arm, i, mass)
    return linear_body(Body(mass, 0.5 * following, inertia))


def _spread(arm: serial.Arm, i: int, mass: float) -> tuple[Array, Array]:
    """Place (3,) of the joint behind joint i, and inertia (3, 3) of a body that reaches there."""
    following = arm.joints[i + 1].position if i + 1 < len(arm.joints) else np.asarray(arm.tip_position)
    sizes = [float(np.linalg.norm(joint.position)) for joint in arm.joints]
    length = max(float(np.linalg.norm(following)), 0.2 * max(sizes), 1e-2)
    return np.asarray(following), mass * (0.3 * length) ** 2 * np.eye(3)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Rows of a problem that are fitted, and its prior with the gains that are estimated.

    columns (m, n, p); stated, known (m, n): drive forces as stated, and those of known loads. breaks: where the rows
    have gaps. information (p + k, p + k), mean (p + k,): the prior.
    """

    columns: Array
    stated: Array
    known: Array
    breaks: NDArray[np.intp]
    information: Array
    mean: Array

    def linearised(self, z: Array) -> tuple[Array, Array]:
        """Slopes (m, n, p + k) and residual (m, n) of the stated drive forces, of which e^λ times one is the force.

        The force by the model over the gain is compared with what is measured, so that no noise is in the columns.
        """
        size, count = self.columns.shape[2], len(z) - self.columns.shape[2]
        force = self.columns @ z[:size] + self.known
        if not count:
            return self.columns, self.stated - force
        shrink = np.exp(-z[size:])
        slopes = np.zeros((*self.stated.shape, size + count))
        slopes[:, :, :size] = self.columns * shrink[:, np.newaxis]
        slopes[:, np.arange(count), size + np.arange(count)] = -force * shrink
        return slopes, self.stated - force * shrink


def _noise(data: _Rows, residual: Array, still: Array) -> tuple[Array, Array]:
    """Standard deviation (n,) of the residual in motion, and its correlation (n,) in rows.

    The latter of the residual winsorised at four standard deviations, so that single outliers do not make it white.
    still (m, n): variance by friction at rest, by which rests are distinguished from motion.
    """
    spread, correlation = np.empty(residual.shape[1]), np.empty(residual.shape[1])
    for k in range(residual.shape[1]):
        moving = still[:, k] <= 0.1 * float(np.max(still[:, k]))
        if np.count_nonzero(moving) < _FEWEST:
            moving[:] = True
        values = residual[moving, k]
        spread[k] = max(1.4826 * float(np.median(np.abs(values))), 0.5 * float(np.std(values)), 1e-12)
        cleaned = np.where(moving, np.clip(residual[:, k], -4.0 * spread[k], 4.0 * spread[k]), 0.0)
        correlation[k] = correlation_length(np.split(cleaned, data.breaks))
    return spread, correlation


class Problem:
    """Samples as a weighted least-squares problem of one model: columns, forces and prior, for any subset of rows."""

    def __init__(
        self, samples: ArmSamples, model: TorqueModel, settings: ArmSettings, rows: Array, bodies: Array | None = None
    ) -> None:
        self.samples, self.model, self.settings = samples, model, settings
        self.columns = samples.columns(model, rows, bodies)
        self.mean, covariance = prior_of(samples, model, settings.accuracy)
        self.information = np.linalg.inv(covariance)
        self.before_sigma = np.sqrt(np.diag(covariance))
        self._reach = self._undetermined_friction()

    def _undetermined_friction(self) -> list[tuple[int, Array]]:
        """Place of each Coulomb coefficient, and squares (T, n) of the drive force that it leaves open at rest."""
        if not self.model.friction:
            return []
        places = np.sort(np.concatenate([self.model.places("motor_coulomb"), self.model.places("coulomb")]))
        share = np.maximum(1.0 - np.abs(self.samples.signs(self.model)), 0.0) ** 2 / 3.0  # a filtered sign overshoots
        acting = np.array([side.row for side in self.model.sides]) @ drive_matrix(self.samples.arm).T
        return [(int(place), share[:, k, np.newaxis] * acting[k] ** 2) for k, place in enumerate(places)]

    def open_variance(self, x: Array) -> Array:
        """Variance (T, n) of the drive forces by friction at rest, which lies anywhere up to Coulomb friction."""
        result = np.zeros_like(self.samples.drives)
        for place, squares in self._reach:
            result += x[place] ** 2 * squares
        return result

    def fit(self, rows: NDArray[np.bool_] | None = None) -> ArmFit:
        """Estimate the model from the rows (T,) that are chosen; None: all.

        Raises CalibrationError where no bodies that can exist explain the forces.
        """
        chosen = np.arange(len(self.samples.t)) if rows is None else np.flatnonzero(rows)
        data = self._rows(chosen)
        information, n = data.information, self.samples.drives.shape[1]
        count = len(data.mean) - len(self.model)
        z = self._first(data)
        spread = np.maximum(np.std(data.stated, axis=0), 1e-12) * 0.3
        correlation = np.ones(n)
        still = self.open_variance(self.mean)[chosen]
        robust = np.ones_like(data.stated)
        lasting = max(1.0, _REST_TIME * self.samples.rate)
        for _ in range(_GAIN_ROUNDS if count else _ROUNDS):
            slopes, residual = data.linearised(z)
            weights = robust / (spread**2 * correlation + still * lasting)
            flat = slopes.reshape(-1, len(z))
            matrix = flat.T @ (weights.reshape(-1, 1) * flat) + information
            step = np.linalg.solve(matrix, flat.T @ (weights * residual).ravel() + information @ (data.mean - z))
            z = z + step
            residual = data.linearised(z)[1]
            spread, correlation = _noise(data, residual, still)
            still = self.open_variance(z)[chosen]
            if self.settings.robust:
                size_of = np.abs(residual) / np.sqrt(spread**2 + still)
                robust = np.minimum(1.0, _HUBER / np.maximum(size_of, 1e-12))
            if float(step @ matrix @ step) < _SETTLED * len(z):
                break
        weights = robust / (spread**2 * correlation + still * lasting)
        return self._finished(data, z, weights, spread, correlation)

    def judged(self, fit: ArmFit) -> tuple[Array, Array]:
        """Measured and predicted joint forces (T, n) at all rows, the measured ones by the estimated gains."""
        back = np.linalg.inv(drive_matrix(self.samples.arm)).T
        return (self.samples.drives * fit.gains) @ back, (self.columns @ fit.x + self.samples.known) @ back

    def _rows(self, chosen: NDArray[np.intp]) -> _Rows:
        """Rows (m,) with the prior of the unknowns, and of the gains where these are estimated."""
        size, gain_sigma = len(self.model), self.settings.accuracy.gain
        count = self.samples.drives.shape[1] if gain_sigma > 0.0 else 0
        information = np.zeros((size + count, size + count))
        information[:size, :size] = self.information
        information[size:, size:] = np.eye(count) / max(gain_sigma, 1e-300) ** 2
        return _Rows(
            self.columns[chosen],
            self.samples.drives[chosen],
            self.samples.known[chosen],
            np.flatnonzero((np.diff(chosen) != 1) | (np.diff(self.samples.record[chosen]) != 0)) + 1,
            information,
            np.concatenate([self.mean, np.zeros(count)]),
        )

    def _first(self, data: _Rows) -> Array:
        """Where the iteration begins: the prior's mean, or with unknown gains a linear estimate of them.

        stated · γ − W x = known is linear in x and the gains γ, but takes the noise of `stated` into its columns.
        """
        size, n = len(self.model), data.stated.shape[1]
        if len(data.mean) == size or self.settings.accuracy.gain < 1.0 or not data.known.any():
            return data.mean.copy()
        scale = np.maximum(np.std(data.stated, axis=0), 1e-12)
        rows = np.zeros((len(data.stated), n, size + n))
        rows[:, :, :size] = -data.columns
        rows[:, np.arange(n), size + np.arange(n)] = data.stated
        rows, right = rows / scale[:, np.newaxis], data.known / scale
        flat = rows.reshape(-1, size + n)
        ridge = np.concatenate([1e-2 / self.before_sigma**2, np.zeros(n)])
        offset = ridge * data.mean
        gains = np.linalg.solve(flat.T @ flat + np.diag(ridge), flat.T @ right.ravel() + offset)
        if not (gains[size:] > 0.0).all():
            return data.mean.copy()
        return np.concatenate([gains[:size], np.log(gains[size:])])

    def _finished(self, data: _Rows, z: Array, weights: Array, spread: Array, correlation: Array) -> ArmFit:
        """The fit at the unconstrained estimate z, with its covariance, moved to bodies that can exist."""
        size = len(self.model)
        slopes, residual = data.linearised(z)
        normal = np.einsum("tjp,tj,tjq->pq", slopes, weights, slopes, optimize=True)
        matrix = normal + data.information
        scores = np.einsum("tjp,tj->tp", slopes, weights * residual)
        inverse = np.linalg.inv(matrix)
        effective = float(np.trace(inverse @ normal))
        independent = float(np.sum(len(residual) / correlation))  # rows
        middle = long_run_covariance(np.split(scores, data.breaks), float(np.max(correlation)))
        by_data = inverse @ middle @ inverse * independent / max(independent - effective, 0.25 * independent)
        bodies, positive = self.model.parameters.bodies, self.model.parameters.positive
        moved = not all_consistent(z, bodies, positive)
        if moved and self.settings.consistent:
            start = data.mean.copy()
            for place in positive:
                start[place] = np.maximum(start[place], 0.1 * self.before_sigma[place])
            z = nearest_body_parameters(z, matrix, start, bodies, positive)
            residual = data.linearised(z)[1]
        gains = np.exp(z[size:]) if len(z) > size else np.ones(residual.shape[1])
        return ArmFit(
            model=self.model,
            x=z[:size],
            gains=gains,
            covariance=by_data + inverse @ data.information @ inverse,
            data_covariance=by_data,
            before=self.mean,
            before_sigma=self.before_sigma,
            residual=residual * gains,
            weights=weights,
            sigma=spread,
            correlation=correlation,
            consistent=all_consistent(z, bodies, positive),
            moved=moved,
            effective=effective,
        )

    def bootstrap(self, fit: ArmFit, count: int, seed: int = 0) -> Array:
        """Covariance (p + k, p + k) of x and of the gains' logarithms by a bootstrap of blocks of rows.

        At the weights of a fit to all rows. Blocks of neighbouring rows are drawn with replacement and the unknowns
        estimated anew from each draw, with the same prior: so it is to be held against `ArmFit.data_covariance`.
        """
        data = self._rows(np.arange(len(self.samples.t)))
        z = np.concatenate([fit.x, np.log(fit.gains)])[: len(data.mean)]
        slopes, residual = data.linearised(z)
        pull = data.information @ (data.mean - z)
        length = max(4.0 * float(np.max(fit.correlation)), 0.1 * self.samples.rate)
        blocks: list[NDArray[np.intp]] = []
        for number in np.unique(self.samples.record):
            here = np.flatnonzero(self.samples.record == number)
            blocks += np.array_split(here, max(2, round(len(here) / length)))
        normals = np.stack(
            [np.einsum("tjp,tj,tjq->pq", slopes[b], fit.weights[b], slopes[b], optimize=True) for b in blocks]
        )
        rights = np.stack([np.einsum("tjp,tj->p", slopes[b], fit.weights[b] * residual[b]) for b in blocks])
        generator = np.random.Generator(np.random.PCG64(seed))
        found = np.empty((count, len(z)))
        for draw in range(count):
            times = np.bincount(generator.integers(len(blocks), size=len(blocks)), minlength=len(blocks))
            normal = np.tensordot(times, normals, 1) + data.information
            found[draw] = np.linalg.solve(normal, times @ rights + pull)
        covariance: Array = np.cov(found.T)
        return covariance


def correlation_length(parts: Sequence[Array]) -> float:
    """Rows per independent row, 1 + 2 Σ ρ with the autocorrelation ρ, up to where it is first below 0.05.

    parts: (m,) each, rows without a gap.
    """
    rho = autocorrelation(parts)
    small = np.flatnonzero(rho < 0.05)
    last = int(small[0]) if len(small) else len(rho)
    return float(max(1.0, 1.0 + 2.0 * np.sum(rho[1:last])))


def autocorrelation(parts: Sequence[Array]) -> Array:
    """Autocorrelation ρ (k,) at lags of 0 to k − 1 rows, with k of the longest part; 0 but for ρ₀ of rows of zeros.

    parts: (m,) each, rows without a gap and without their mean; no product is of two parts.
    """
    longest = max(map(len, parts))
    length = 1 << (2 * longest - 1).bit_length()
    total = np.zeros(longest)
    for part in parts:
        spectrum = np.abs(np.fft.rfft(part, length)) ** 2
        total[: len(part)] += np.fft.irfft(spectrum, length)[: len(part)]
    if not total[0] > 0.0:
        total[0] = 1.0
    rho: Array = total / total[0]
    return rho


def long_run_covariance(parts: Sequence[Array], correlation: float) -> Array:
    """Covariance (p, p) of the sum of scores (m, p) that are correlated between rows (Newey & West 1987).

    Bartlett's weights over twelve times the correlation of the rows; at least over 4 (N / 100)^(2/9) lags, at most over
    a quarter of the longest part, of N rows.
    """
    longest = max(map(len, parts))
    lags = int(np.clip(round(12.0 * correlation), 4.0 * (longest / 100.0) ** (2.0 / 9.0), max(2.0, longest / 4.0)))
    kernel = np.maximum(0.0, 1.0 - np.arange(lags + 1) / (lags + 1.0))
    total = np.zeros((parts[0].shape[1],) * 2)
    for part in parts:
        length = 1 << (2 * len(part) - 1).bit_length()
        weights = np.zeros(length)
        here = kernel[: len(part)]
        weights[: len(here)] = here
        weights[length - len(here) + 1 :] = here[:0:-1]
        spectrum = np.fft.rfft(part, length, axis=0) * np.fft.rfft(weights).real[:, np.newaxis]
        total += part.T @ np.fft.irfft(spectrum, length, axis=0)[: len(part)]
    return 0.5 * (total + total.T)
