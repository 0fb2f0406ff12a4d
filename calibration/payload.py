"""Mass, centre of mass and inertia of a payload from load cells, with the nuisance parameters of the rig."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.cells import CELLS, LoadCellCalibration
from calibration.effects import GAINS, GEOMETRY, GEOMETRY_PLACES, geometry_slopes, moved_models
from calibration.errors import CalibrationError
from calibration.inertia import BODY_NUMBERS, FRICTION_SHAPES, THETA, Accuracy, neighbours
from calibration.parameters import ParameterFile, covariance_of
from dynamics import (
    BODIES,
    FRICTIONS,
    Body,
    Dynamics,
    Mechanism,
    linear_body,
    machine_size,
    payload_wrenches,
    residual_from_wrench,
)
from kinematics import Array

CALIBRATED_CELLS = {"gain": 5e-4, "cross_talk": 5e-4}
"""Accuracy of the cells where no calibration file gives it: that of a calibrated cell."""
_ZEROS = slice(THETA, THETA + CELLS)
_PLACES = slice(_ZEROS.stop, _ZEROS.stop + GEOMETRY)
_GAINS = slice(_PLACES.stop, _PLACES.stop + CELLS)
_TALK = slice(_GAINS.stop, _GAINS.stop + 2 * CELLS)
_SIZE = _TALK.stop
_ELEMENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_PRODUCT = 0.25  # of the uncertainty of a moment of inertia, that of a product
_STEP = 1e-6  # of a number's size
_FRICTION_NAMES = ("universal", "prismatic", "spherical", "coulomb")


class Nuisance:
    """Nuisance parameters of a rig and their prior covariance.

    Args:
        mechanism: the model behind the residuals, with the values of `files`.
        files: its calibrations; a later one replaces an earlier one's parameters.
        accuracy: of parameters that no file has; None: the usual.
        calibration: of the cells, or None where nothing is known but `accuracy`.

    Raises CalibrationError for files whose parameters have no valid covariance.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        files: Sequence[ParameterFile] = (),
        accuracy: Accuracy | None = None,
        calibration: LoadCellCalibration | None = None,
    ) -> None:
        accuracy = Accuracy.of(mechanism, **CALIBRATED_CELLS) if accuracy is None else accuracy
        self.mechanism, self.accuracy = mechanism, accuracy
        names = _names()
        before = np.diag(_before(mechanism, accuracy, calibration) ** 2)
        gains = None if calibration is None else calibration.gain_covariance
        if gains is not None:
            before[_GAINS, _GAINS] = gains
        covariance = covariance_of(files, names, before)
        estimated = {each.name for file in files for each in file.parameters}
        self.identified = "platform.mass" in estimated
        """Whether a parameter file has the platform's mass."""
        self.gains_absorbed = self.identified and estimated.isdisjoint(GAINS)
        """Whether it was identified with gains taken as exact; its masses then include the gains' errors."""
        linear = np.eye(_SIZE)
        for number, place in enumerate(BODIES):
            linear[place, place] = _linear_slopes(_body(mechanism, number))
        self.covariance: Array = linear @ covariance @ linear.T
        self.root = _root(self.covariance)
        cells = slice(_GAINS.start, _TALK.stop)
        self.scales = _root(self.covariance[cells, cells])

    def columns(self, regressor: Array, places: Array, bare: Array, carried: Array) -> Array:
        """Effect of each nuisance of unit prior variance on the cells (m, 6, k) N; first those of `root`.

        Gains and cross-talk have separate columns for the payload's forces and for the rig's own. Masses and gains of
        the rig are known only together, which determines a common gain at second order only.

        Args:
            regressor: (m, 6, THETA), `dynamics.Regressor.cells`, filtered as the residuals were.
            places: (m, 6, GEOMETRY), see that.
            bare, carried: (m, 6) N, forces on the cells by the rig itself, and by the payload.
        """
        zeros = np.broadcast_to(np.eye(CELLS), (len(regressor), CELLS, CELLS))
        if self.gains_absorbed:
            bare = np.zeros_like(bare)
        own = np.concatenate([regressor, zeros, places, _scaled(bare)], axis=2) @ self.root
        return np.concatenate([own, _scaled(carried) @ self.scales], axis=2)

    def geometry_slopes(self, motions: Array, theta: Array) -> Array:
        """Derivatives of the cells by the geometry with a payload θ (k,): see `effects.geometry_slopes`."""
        loads = payload_wrenches(motions, self.mechanism.gravity)[:, :, : len(theta)] @ theta
        return geometry_slopes(self._moved, motions, loads)

    @cached_property
    def _moved(self) -> list[Dynamics]:
        return moved_models(self.mechanism)


def _scaled(forces: Array) -> Array:
    """Derivatives (m, 6, 18) of the readings by gains and cross-talk, at forces (m, 6) N."""
    scaled = np.zeros((len(forces), CELLS, 3 * CELLS))
    for leg in range(CELLS):
        scaled[:, leg, leg] = forces[:, leg]
        for side, other in enumerate(neighbours(leg)):
            scaled[:, leg, CELLS + 2 * leg + side] = forces[:, other]
    return scaled


def _names() -> dict[str, int]:
    """Index of each parameter of a file among the nuisances, by name."""
    found: dict[str, int] = {}
    for number, place in enumerate(BODIES):
        owner = "platform" if number == 0 else f"legs[{(number - 1) // 2}].{('lower', 'upper')[(number - 1) % 2]}"
        found |= {f"{owner}.{name}": place.start + k for k, (name, _) in enumerate(BODY_NUMBERS)}
    for leg, place in enumerate(FRICTIONS):
        found |= {f"legs[{leg}].friction.{name}": place.start + k for k, name in enumerate(_FRICTION_NAMES)}
        found[f"load_cells[{leg}].offset"] = _ZEROS.start + leg
        found[f"load_cells[{leg}].gain"] = _GAINS.start + leg
        for side, other in enumerate(neighbours(leg)):
            found[f"load_cells[{leg}].cross_talk[{other}]"] = _TALK.start + 2 * leg + side
    found |= {name: _PLACES.start + place for name, place in GEOMETRY_PLACES.items()}
    return found


def _before(mechanism: Mechanism, accuracy: Accuracy, calibration: LoadCellCalibration | None) -> Array:
    """Prior standard deviations of all numbers, in the order of `_names`."""
    sigma = np.empty(_SIZE)
    for number, place in enumerate(BODIES):
        body = _body(mechanism, number)
        moments = np.diag(body.inertia)
        sigma[place] = [
            accuracy.mass * body.mass,
            *[accuracy.center if body.mass else 0.0] * 3,
            *(accuracy.inertia * np.abs(moments)),
            *[_PRODUCT * accuracy.inertia * np.abs(moments).mean()] * 3,
        ]
    least = [accuracy.least_damping, accuracy.least_prismatic, accuracy.least_damping, accuracy.least_coulomb]
    for leg, place in enumerate(FRICTIONS):
        values = [getattr(mechanism.legs[leg].friction, name) for name in _FRICTION_NAMES]
        sigma[place] = np.maximum(accuracy.friction * np.array(values), least)
    sigma[_ZEROS] = accuracy.offset
    if calibration is not None and calibration.drift is not None:
        errors = np.array([cell.offset_standard_error * cell.gain for cell in calibration.cells])
        sigma[_ZEROS] = np.hypot(errors, calibration.drift.force)
    sigma[_GAINS], sigma[_TALK] = accuracy.gain, accuracy.cross_talk
    sigma[_PLACES] = accuracy.joints
    sigma[_PLACES][-CELLS:] = accuracy.lengths
    return sigma


def _body(mechanism: Mechanism, number: int) -> Body:
    if number == 0:
        return Body(mechanism.mass, mechanism.center_of_mass, mechanism.inertia)
    leg = mechanism.legs[(number - 1) // 2]
    return leg.upper if (number - 1) % 2 else leg.lower


def _linear_slopes(body: Body) -> Array:
    """Derivative (10, 10) of m, h, J (see `dynamics.linear_body`) by mass, centre and the inertia about it."""
    numbers = np.concatenate([[body.mass], body.center_of_mass, [body.inertia[place] for place in _ELEMENTS]])

    def linear(values: Array) -> Array:
        inertia = np.empty((3, 3))
        for value, (i, j) in zip(values[4:], _ELEMENTS, strict=True):
            inertia[i, j] = inertia[j, i] = value
        return linear_body(Body(values[0], values[1:4], inertia))

    steps = np.diag(np.maximum(np.abs(numbers), 1e-3) * _STEP)
    columns = [(linear(numbers + step) - linear(numbers - step)) / (2.0 * step.sum()) for step in steps]
    return np.column_stack(columns)


def _root(covariance: Array) -> Array:
    """L with L Lᵀ = covariance, without zero columns."""
    scale = np.sqrt(np.diag(covariance))
    scale = np.where(scale > 0.0, scale, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    positive = values > np.finfo(float).eps * len(values)
    root: Array = scale[:, np.newaxis] * (vectors[:, positive] * np.sqrt(values[positive]))
    return root


STATIC = 4
"""Length of θ for poses at rest: mass and first moments."""
DRIFT_TIME = 0.25
"""s, over which residuals in motion are averaged, to find their part that is slower than noise"""

_MAX_SIGMA = 0.25
"""of the payload's mass: directions of greater standard uncertainty, moments divided by the joints' radius and inertias
by its square, count as unidentifiable"""
_BEYOND = (2.0, 2.0, 0.02, 2.0)
"""σ of what friction has beyond the model by `FRICTION_SHAPES` but the first, and of its part that is the same both
ways; N, times the machine's size, but per N of load"""
_ACCELERATION = 0.01
"""part of each component of the acceleration in motion: it is known by the reference and the encoders' differences, and
cells read an instant of forces that are held"""
_CLEAR = 3.0  # standard uncertainties that a mass must be from nothing
_SHARE = 0.3  # of a direction's greatest component, from which on others are named
_LARGEST_CHI_SQUARE = 4.0  # reduced; a greater one is no scatter that enlarges uncertainties, but another rig
_CHANCE = 1e-6  # probability that noise alone is refused
_ROUNDS = 3
_UNSEEN = 1e-3  # standard deviations, by which a nuisance must move all readings together to count
_SINGULAR = 1e-12  # of the best told direction
_PAYLOAD_PLACES = tuple(f"center_of_mass[{axis}]" for axis in range(3))
_TENSOR = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_NAMES = ("mass", *_PAYLOAD_PLACES, *(f"inertia[{i}][{j}]" for i, j in _TENSOR))
_BODY = len(_NAMES)


@dataclass(frozen=True, slots=True, eq=False)
class PayloadSamples:
    """Independent samples (n), with the payload where `loaded` (n,) and without it.

    residual (n, 6) N: cells less the model of the bare platform. forces (n, 6) N: what the cells read. motion (n, 19).
    design (n, 6, 10) = C Y, N per unit of θ. regressor (n, 6, THETA): `dynamics.Regressor.cells`. slopes (n, 6, 2) N/s:
    of the cells' readings and of the drives' forces, zero at rest. friction (n, 6, 4): `FRICTION_SHAPES` of the legs,
    zero at rest. variance (n, 6) N², of each. moving (n,): whether in motion. t (n,) s, on the clock of `recording`
    (n,), a number of each.
    """

    residual: Array
    forces: Array
    motion: Array
    design: Array
    regressor: Array
    slopes: Array
    friction: Array
    variance: Array
    loaded: npt.NDArray[np.bool_]
    moving: npt.NDArray[np.bool_]
    t: Array
    recording: npt.NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.residual)

    def select(self, chosen: npt.NDArray[np.bool_]) -> "PayloadSamples":
        """The samples of a mask (n,)."""
        return PayloadSamples(*(getattr(self, name)[chosen] for name in PayloadSamples.__slots__))

    def joined(self, other: "PayloadSamples") -> "PayloadSamples":
        """These samples followed by others."""
        return PayloadSamples(
            *(np.concatenate([getattr(self, name), getattr(other, name)]) for name in PayloadSamples.__slots__)
        )


@dataclass(frozen=True, slots=True)
class PayloadFit:
    """Reduced χ² of the samples at rest or in motion, and its degrees of freedom.

    Their variances were multiplied by it where it is above 1. Both are 0 where the samples leave no freedom.
    """

    chi_square: float
    freedom: float


@dataclass(frozen=True, slots=True, eq=False)
class PayloadEstimate:
    """θ (k,), k being STATIC or 10; platform axes, inertia about the platform's origin.

    platform (10,): m, h, J of the bare platform less the mechanism's. joint (10 + k, 10 + k): covariance of
    it and θ. rest, motion: how the samples at rest and in motion fit. before, after (6,) N: RMS of the loaded samples
    by cell beyond the model and nuisances, without and with the payload.
    """

    theta: Array
    platform: Array
    joint: Array
    rest: PayloadFit
    motion: PayloadFit
    before: Array
    after: Array

    @property
    def covariance(self) -> Array:
        """Of θ, (k, k)."""
        return self.joint[_BODY:, _BODY:]

    @property
    def mass(self) -> float:
        """Payload's mass, kg."""
        return float(self.theta[0])

    @property
    def center_of_mass(self) -> Array:
        """(3,) m, platform axes."""
        place: Array = self.theta[1:STATIC] / self.theta[0]
        return place

    @property
    def has_inertia(self) -> bool:
        """Whether the inertia was estimated."""
        return len(self.theta) > STATIC

    @property
    def chi_square(self) -> float:
        """The greater of the two, reduced."""
        return max(self.rest.chi_square, self.motion.chi_square)


class UnidentifiablePayloadError(CalibrationError):
    """Samples that do not determine all the requested parameters of a payload."""


class _Solution(NamedTuple):
    """Solution: θ (k,), nuisances (m,), a root (m + k, m + k) of the covariance of nuisances and θ.

    root (k, k): of the information on θ, scaled by `_scale`. left, leverage (n, 6): residuals N, and leverages.
    """

    theta: Array
    nuisances: Array
    spread: Array
    root: Array
    left: Array
    leverage: Array


def fit_payload(
    samples: PayloadSamples, nuisance: Nuisance, *, inertia: bool, zero_change: float = 0.0
) -> PayloadEstimate:
    """Weighted least squares of the payload with the nuisance parameters, which have their prior.

    Where the reduced χ² at rest or in motion is above 1, the variances of those samples are multiplied by it; above 4
    the result is refused.

    Args:
        samples: with the payload, and without it where such were recorded.
        nuisance: effects on the cells beyond the model.
        inertia: whether J is estimated as well.
        zero_change: N, standard deviation of the change of each cell's zero between recordings.

    Raises:
        UnidentifiablePayloadError: the samples, or the known parameters of the rig, do not determine a direction of θ;
            the error names a remedy.
        CalibrationError: no model with these nuisances fits; there is no payload, or one of negative mass.
    """
    count = _BODY if inertia else STATIC
    if not samples.loaded.any():
        raise CalibrationError("payload: no samples")
    mechanism = nuisance.mechanism
    scales = np.ones(2)
    theta = np.zeros(count)
    places = nuisance.geometry_slopes(samples.motion, theta)
    for number in range(_ROUNDS):
        if number == 1:  # what a joint's place does goes with the load
            places[samples.loaded] = nuisance.geometry_slopes(samples.motion[samples.loaded], theta)
        columns = _columns(samples, nuisance, places, zero_change, theta)
        solution = _solved(samples, columns, count, mechanism, scales)
        fits = [_fit_of(samples, solution, moving) for moving in (False, True)]
        scales = np.array([max(1.0, fit.chi_square) for fit in fits])
        theta = solution.theta
    _refuse_misfit(fits)
    to_platform = np.zeros((_BODY, columns.shape[2]))
    to_platform[:, : nuisance.root.shape[1]] = nuisance.root[:_BODY]
    joint = np.vstack([to_platform @ solution.spread[:-count], solution.spread[-count:]])
    before = solution.left + samples.design[:, :, : len(theta)] @ theta
    found = PayloadEstimate(
        theta=theta,
        platform=to_platform @ solution.nuisances,
        joint=joint @ joint.T,
        rest=fits[0],
        motion=fits[1],
        before=np.sqrt(np.mean(before[samples.loaded] ** 2, axis=0)),
        after=np.sqrt(np.mean(solution.left[samples.loaded] ** 2, axis=0)),
    )
    alone = _root_alone(samples, count, scales)
    _refuse_nothing(found, alone)
    _refuse_unidentifiable(solution.root, alone, mechanism, count, found.mass, inertia)
    return found


def _columns(samples: PayloadSamples, nuisance: Nuisance, places: Array, zero_change: float, theta: Array) -> Array:
    """All nuisances of unit prior variance, (n, 6, k)."""
    accuracy = nuisance.accuracy
    # the model's forces: those that were read have the noise in them, which a gain that is free would make smaller
    carried = np.where(samples.loaded[:, np.newaxis], samples.design[:, :, : len(theta)] @ theta, 0.0)
    parts = [nuisance.columns(samples.regressor, places, samples.forces - samples.residual, carried)]
    own = np.eye(CELLS)
    if samples.moving.any():
        parts.append(_ACCELERATION * _accelerated(samples, nuisance.mechanism, theta))
    if samples.slopes.any():
        parts += [-accuracy.lag * samples.slopes[:, :, [way]] * own for way in (0, 1)]
    for number in np.unique(samples.recording):
        here = samples.recording == number
        since = np.where(here, samples.t - samples.t[here].mean(), 0.0)
        parts.append(accuracy.drift * since[:, np.newaxis, np.newaxis] * own)
        if zero_change and number != samples.recording.min():
            parts.append(zero_change * here[:, np.newaxis, np.newaxis] * own)
    shapes = [*(samples.friction[:, :, k] for k in range(1, len(FRICTION_SHAPES)))]
    shapes.append(np.repeat(samples.moving[:, np.newaxis], CELLS, axis=1).astype(np.float64))
    rubbed = np.array([leg.load_cell.reads_friction for leg in nuisance.mechanism.legs])
    if rubbed.any():
        unit = machine_size(nuisance.mechanism).force
        beyond = np.array(_BEYOND) * [unit, unit, 1.0, unit]
        parts += [sigma * (shape * rubbed)[:, :, np.newaxis] * own for sigma, shape in zip(beyond, shapes, strict=True)]
    return np.concatenate(parts, axis=2)


def _accelerated(samples: PayloadSamples, mechanism: Mechanism, theta: Array) -> Array:
    """Derivatives of the readings by a relative error of each component of the acceleration, (n, 6, 6) N."""
    body = np.tile(_linear_platform(mechanism), (len(samples), 1))
    body[samples.loaded, : len(theta)] += theta
    to_cells = residual_from_wrench(mechanism.geometry, samples.motion[:, :7])
    columns = np.zeros((len(samples), CELLS, 6))
    for axis in range(6):
        motion = samples.motion.copy()
        motion[:, 7:] = 0.0
        motion[samples.moving, 13 + axis] = samples.motion[samples.moving, 13 + axis]
        wrenches = payload_wrenches(motion, np.zeros(3)) @ body[:, :, np.newaxis]
        columns[:, :, axis] = (to_cells @ wrenches)[:, :, 0]
    return columns


def _solved(samples: PayloadSamples, columns: Array, count: int, mechanism: Mechanism, scales: Array) -> _Solution:
    from scipy.linalg import solve_triangular  # takes long to import, and few need it

    weights = _weights(samples, scales)
    seen = np.sum((columns * weights[:, :, np.newaxis]) ** 2, axis=(0, 1)) > _UNSEEN**2
    significant, size = np.flatnonzero(seen), int(np.count_nonzero(seen))
    design = np.where(samples.loaded[:, np.newaxis, np.newaxis], samples.design[:, :, :count], 0.0)
    scale = _scale(mechanism, count)
    whole = np.concatenate([columns[:, :, significant], design / scale], axis=2)
    rows = (whole * weights[:, :, np.newaxis]).reshape(-1, size + count)
    stacked = np.zeros((len(rows) + size, size + count + 1))
    stacked[:size, :size] = np.eye(size)
    stacked[size:, :-1], stacked[size:, -1] = rows, (samples.residual * weights).ravel()
    triangle = _triangle(stacked)
    upper, cross = triangle[:size, :size], triangle[:size, size : size + count]
    root = triangle[size : size + count, size : size + count]
    u, s, vt = np.linalg.svd(root)
    inverse = np.where(s > s[0] * _SINGULAR, 1.0 / np.where(s > 0.0, s, 1.0), 0.0)
    theta = vt.T @ (inverse * (u.T @ triangle[size : size + count, -1]))
    found = np.append(solve_triangular(upper, triangle[:size, -1] - cross @ theta), theta)
    spread = np.zeros((size + count, size + count))  # its square is the covariance
    spread[:size, :size] = solve_triangular(upper, np.eye(size))
    spread[:size, size:] = -spread[:size, :size] @ cross @ (vt.T * inverse)
    spread[size:, size:] = vt.T * inverse
    leverage = np.sum((rows @ spread) ** 2, axis=1).reshape(-1, CELLS)
    left = samples.residual - whole @ found
    nuisances = np.zeros(columns.shape[2])
    nuisances[significant] = found[:size]
    places = np.append(significant, columns.shape[2] + np.arange(count))
    every = np.eye(columns.shape[2] + count)
    every[np.ix_(places, places)] = spread
    every[columns.shape[2] :] /= scale[:, np.newaxis]
    return _Solution(theta / scale, nuisances, every, root, left, leverage)


def _weights(samples: PayloadSamples, scales: Array) -> Array:
    weights: Array = 1.0 / np.sqrt(samples.variance * scales[samples.moving.astype(int)][:, np.newaxis])
    return weights


def _scale(mechanism: Mechanism, count: int) -> Array:
    """Scale (count,) that makes masses, moments and inertias comparable: powers of 1/radius of the joints."""
    radius = float(np.linalg.norm(mechanism.geometry.platform_points, axis=1).mean())
    return np.concatenate([[1.0], np.full(3, 1.0 / radius), np.full(6, 1.0 / radius**2)])[:count]


def _root_alone(samples: PayloadSamples, count: int, scales: Array) -> Array:
    """R (k, k) of the information RᵀR on θ without nuisances."""
    weights = _weights(samples, scales)[samples.loaded]
    rows = samples.design[samples.loaded][:, :, :count] * weights[:, :, np.newaxis]
    rows = np.concatenate([rows.reshape(-1, count), np.zeros((count, count))])
    return _triangle(rows)


def _triangle(rows: Array) -> Array:
    root: Array = np.asarray(np.linalg.qr(rows, mode="r"))
    return root


def _fit_of(samples: PayloadSamples, solution: _Solution, moving: bool) -> PayloadFit:
    """How samples at rest or in motion fit, by each and, in motion, by their means over `DRIFT_TIME`."""
    chosen = samples.moving == moving
    freedom = float(np.sum(1.0 - solution.leverage[chosen]))
    if freedom < 1.0:
        return PayloadFit(0.0, 0.0)
    whitened = solution.left[chosen] / np.sqrt(samples.variance[chosen])
    found = float(np.sum(whitened**2)) / freedom
    if moving:
        spans = np.stack(
            [samples.recording[chosen], samples.loaded[chosen], np.floor(samples.t[chosen] / DRIFT_TIME)], axis=1
        )
        _, where, counts = np.unique(spans, axis=0, return_inverse=True, return_counts=True)
        sums = np.zeros((len(counts), CELLS))
        np.add.at(sums, where.reshape(-1), whitened)
        slow = float(np.mean(sums**2 / counts[:, np.newaxis])) * whitened.size / freedom
        found = max(found, slow)
    return PayloadFit(found, freedom)


def _refuse_misfit(fits: Sequence[PayloadFit]) -> None:
    """Refuse residuals that neither noise nor nuisances within their priors explain."""
    from scipy.special import chdtri  # takes long to import, and few need it

    faults = []
    for fit, what in zip(fits, ("at rest", "in motion"), strict=True):
        if not fit.freedom:
            continue
        bound = max(_LARGEST_CHI_SQUARE, float(chdtri(fit.freedom, _CHANCE)) / fit.freedom)
        if fit.chi_square > bound:
            faults.append(
                f"payload: the model does not fit the samples {what}: reduced chi-square {fit.chi_square:.3g}, at most "
                f"{bound:.3g}"
            )
    if faults:
        raise CalibrationError(
            [
                *faults,
                "why it may be: something else touches the platform, the payload moves on it, the cells' noise is more "
                "than stated (--noise), their zeros changed between the recordings (--zero-change), or the mechanism's "
                "file is of another rig",
            ]
        )


def _refuse_unidentifiable(
    root: Array, alone: Array, mechanism: Mechanism, count: int, mass: float, inertia: bool
) -> None:
    """Refuse directions of θ that the motions, or the known parameters of the rig, do not determine."""
    limit = _MAX_SIGMA * max(abs(mass), np.finfo(float).tiny)
    scaled_alone = alone / _scale(mechanism, count)
    faults = []
    names: list[str] = []
    of_rig = False
    _, s, vt = np.linalg.svd(root)
    for value, direction in zip(s, vt, strict=True):
        greatest = float(np.abs(direction).max())
        if value > s[0] * _SINGULAR and greatest / value <= limit:
            continue
        sigma = math.inf if value <= s[0] * _SINGULAR else greatest / value
        weak = [_NAMES[place] for place in np.flatnonzero(np.abs(direction) >= _SHARE * greatest)]
        by_model = float(np.linalg.norm(scaled_alone @ direction))
        if by_model and greatest / by_model <= limit:
            of_rig = True
            faults.append(
                f"payload: the rig is not known well enough to tell {' with '.join(weak)} (± {sigma:.2g} kg beside a "
                f"mass of {mass:.2g} kg, scaled)"
            )
            continue
        names += weak
        spread = "" if math.isinf(sigma) else f" (± {sigma:.2g} kg beside a mass of {mass:.2g} kg, scaled)"
        faults.append(f"payload: these data do not tell {' with '.join(weak)}{spread}")
    if faults:
        raise UnidentifiablePayloadError([*faults, *([_RIG_REMEDY] if of_rig else []), *_remedies(names, inertia)])


_RIG_REMEDY = (
    "what would: a recording of the same rig without the payload (--before), at rest and in motion as with it, or a "
    "rig that is identified"
)


def _remedies(names: Sequence[str], inertia: bool) -> list[str]:
    """Motions that would determine these components."""
    found = []
    if any(name in ("mass", *_PAYLOAD_PLACES) for name in names):
        found.append(
            "what would: rest at poses in which gravity has other directions in the platform, such as level, rx = "
            "±10 deg and ry = ±10 deg"
        )
    turns = sorted({axis for name in names if name.startswith("inertia") for axis in (int(name[8]), int(name[11]))})
    if turns and inertia:
        axes = ", ".join("r" + "xyz"[axis] for axis in turns)
        found.append(f"what would: a motion that turns to and fro about {axes}, fast and in no fixed proportion")
    return found


def _refuse_nothing(found: PayloadEstimate, alone: Array) -> None:
    sigma = math.sqrt(float(found.covariance[0, 0]))
    if abs(found.mass) < _CLEAR * sigma:
        faults = [f"payload: none is found, its mass would be {found.mass:.3g} ± {sigma:.2g} kg"]
        if abs(alone[0, 0]) * sigma > 2.0 * _CLEAR:
            faults.append(_RIG_REMEDY)
        raise CalibrationError(faults)
    if found.mass < 0.0:
        raise CalibrationError(
            f"payload: {found.mass:.3g} ± {sigma:.2g} kg: the platform is lighter than its model, which is to be "
            "corrected before a payload is weighed"
        )


def loaded_platform(mechanism: Mechanism, estimate: PayloadEstimate) -> tuple[tuple[str, ...], Array, Array]:
    """Names, values (k,) and covariance (k, k) of the platform with its payload, for a mechanism's file.

    `platform.mass`, `platform.center_of_mass[…]` and, where it was estimated, `platform.inertia[…][…]` about the centre
    of mass, SI. The bare platform is that of the fit; the covariance is that of platform and payload, propagated
    linearly.
    Raises CalibrationError where no body has the inertia.
    """
    names = tuple(f"platform.{name}" for name in _NAMES[: len(estimate.theta)])
    count, platform = len(estimate.theta), _linear_platform(mechanism)
    both = np.concatenate([estimate.platform, estimate.theta])

    def loaded(numbers: Array) -> Array:
        return _with_payload(platform + numbers[:_BODY], numbers[_BODY:])

    values = loaded(both)
    if estimate.has_inertia:
        moments = np.linalg.eigvalsh(_matrix(values[STATIC:]))
        if moments[0] <= 0.0 or moments[0] + moments[1] < moments[2]:
            shown = ", ".join(f"{value:.3g}" for value in moments)
            raise CalibrationError(
                f"payload: the platform with it would have principal moments of inertia {shown} kg m², which no body "
                "has: the motion does not tell the inertia well enough, or the model is wrong in something else"
            )
    return names, values[:count], _carried(loaded, both, estimate.joint)


def nominal_platform(mechanism: Mechanism, count: int) -> Array:
    """The first `count` of the bare platform's mass, centre of mass and inertia, as of `loaded_platform`."""
    return _with_payload(_linear_platform(mechanism), np.zeros(count))


def payload_names(count: int) -> tuple[str, ...]:
    """Names of the payload's own numbers, those of `payload_values`."""
    return tuple(f"payload.{name}" for name in _NAMES[:count])


def payload_values(theta: Array) -> Array:
    """Mass, kg, centre of mass, m, and inertia about it, kg m², of θ (k,); k is STATIC or 10."""
    return _with_payload(np.zeros(_BODY), theta)


def payload_sigma(estimate: PayloadEstimate) -> Array:
    """Standard uncertainties (k,) of `payload_values`."""
    return np.sqrt(np.diag(_carried(payload_values, estimate.theta, estimate.covariance)))


def _carried(function: Callable[[Array], Array], at: Array, known: Array) -> Array:
    """Covariance of a function of numbers whose covariance is known, by its central differences."""
    steps = np.maximum(np.abs(at), 1e-3) * 1e-6
    columns = [
        (function(at + step) - function(at - step)) / (2.0 * size)
        for step, size in zip(np.diag(steps), steps, strict=True)
    ]
    jacobian = np.column_stack(columns)
    carried: Array = jacobian @ known @ jacobian.T
    return carried


def _linear_platform(mechanism: Mechanism) -> Array:
    return linear_body(Body(mechanism.mass, mechanism.center_of_mass, mechanism.inertia))


def _with_payload(platform: Array, theta: Array) -> Array:
    """Mass, centre of mass and, where θ (k,) has it, inertia about it (k,), of m, h, J (10,) of a platform with θ."""
    total = platform[: len(theta)] + theta
    place = total[1:STATIC] / total[0]
    return np.concatenate([total[:1], place, total[STATIC:] - _tensor(_moved(total[0], place))[: len(theta) - STATIC]])


def _moved(mass: float, arm: Array) -> Array:
    """Inertia (3, 3) of a mass at `arm`."""
    moved: Array = mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return moved


def _tensor(matrix: Array) -> Array:
    return np.array([matrix[place] for place in _TENSOR])


def _matrix(tensor: Array) -> Array:
    xx, yy, zz, xy, xz, yz = tensor
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
