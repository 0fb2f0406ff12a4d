"""A payload's mass, centre of mass and inertia, from what the load cells read beyond the model of the bare platform.

The payload puts the wrench Y θ on the platform, linear in θ = (m, m c, J), see `dynamics.payload_wrenches`; the cells
see r = b + C Y θ − τ₁ Ḟ₁ − τ₂ Ḟ₂ + noise. b are the offsets of their zero, τ₁ is the lag of their readings F₁, τ₂ that
of the drives' forces F₂ behind the motion: drives that hold a force for a cycle are half of one late, and the friction
between drive and cell is not. Either would look like inertia. At rest Y has no column for J, and no lag shows.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.errors import CalibrationError
from dynamics import Mechanism
from kinematics import Array

STATIC = 4
"""Numbers of θ that poses at rest can tell: mass and first moments."""

_TOLD = 0.25
"""of the payload's mass: a direction whose standard uncertainty is greater, moments divided by the joints' radius and
inertias by its square, is not told"""
_LAG = 1e-3  # s, of the size that lags have
_CLEAR = 3.0  # standard uncertainties that a mass must be from nothing
_SHARE = 0.3  # of a direction's greatest component, from which on others are named
_ROUNDING = 1e-9  # of a direction that is one of lags and offsets only
_PLACES = tuple(f"center_of_mass[{axis}]" for axis in range(3))
_TENSOR = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_NAMES = ("mass", *_PLACES, *(f"inertia[{i}][{j}]" for i, j in _TENSOR))


@dataclass(frozen=True, slots=True, eq=False)
class PayloadSamples:
    """Independent samples: residual (n, 6) N, design (n, 6, 10) = C Y, N per unit of θ, variance (n,) N² of each.

    slopes (n, 6, 2) N/s: of the cells' readings and of the drives' forces, zero at rest.
    """

    residual: Array
    design: Array
    slopes: Array
    variance: Array

    def __len__(self) -> int:
        return len(self.residual)


@dataclass(frozen=True, slots=True, eq=False)
class CellZero:
    """What the six cells read beyond the model without the payload: mean (6,) N and its covariance (6, 6) N²."""

    mean: Array
    covariance: Array


@dataclass(frozen=True, slots=True, eq=False)
class PayloadEstimate:
    """θ (k,), k being STATIC or 10, and its covariance (k, k); platform axes, inertia about the platform's origin.

    chi_square: reduced, of `freedom` degrees; the covariance is multiplied by it where it is above 1.
    """

    theta: Array
    covariance: Array
    chi_square: float
    freedom: int
    samples: int

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


def fit_payload(
    samples: PayloadSamples, mechanism: Mechanism, *, inertia: bool, zero: CellZero | None = None
) -> PayloadEstimate:
    """Weighted least squares of the payload.

    Args:
        samples: of the loaded platform.
        mechanism: of the bare one, whose joints' radius makes masses, moments and inertias comparable.
        inertia: whether J is estimated as well.
        zero: the cells' zero, estimated along; left out, it is taken to be right.

    Raises:
        CalibrationError: the samples do not tell a direction of θ, which is named with the motion that would; there is
            no payload, or one of negative mass.
    """
    count = len(_NAMES) if inertia else STATIC
    if not len(samples):
        raise CalibrationError("payload: no samples")
    weights = 1.0 / np.sqrt(samples.variance)
    design = (samples.design[:, :, :count] * weights[:, None, None]).reshape(-1, count)
    values = (samples.residual * weights[:, None]).ravel()
    lags = samples.slopes.shape[2] if samples.slopes.any() else 0
    if lags:
        design = np.column_stack([design, (-samples.slopes * weights[:, None, None]).reshape(-1, lags)])
    if zero is not None:
        known = design.shape[1]
        root = np.linalg.inv(np.linalg.cholesky(zero.covariance))
        offsets = (weights[:, None, None] * np.eye(6)).reshape(-1, 6)
        design = np.block([[design, offsets], [np.zeros((6, known)), root]])
        values = np.concatenate([values, root @ zero.mean])
    radius = float(np.linalg.norm(mechanism.geometry.platform_points, axis=1).mean())
    scale = np.concatenate([[1.0], np.full(3, radius), np.full(6, radius**2)])[:count]
    scales = np.concatenate([1.0 / scale, np.full(lags, _LAG), np.ones(design.shape[1] - count - lags)])
    u, s, vt = np.linalg.svd(design * scales, full_matrices=False)
    told = s > s[0] * max(design.shape) * np.finfo(float).eps
    inverse = np.where(told, 1.0 / np.where(told, s, 1.0), 0.0)
    solution = scales * (vt.T @ (inverse * (u.T @ values)))
    covariance = (scales[:, None] * vt.T * inverse**2) @ (vt * scales)
    freedom = max(len(values) - design.shape[1], 1)
    chi_square = float(np.sum((values - design @ solution) ** 2)) / freedom
    found = PayloadEstimate(
        theta=solution[:count],
        covariance=covariance[:count, :count] * max(1.0, chi_square),
        chi_square=chi_square,
        freedom=freedom,
        samples=len(samples),
    )
    _refuse_nothing(found)
    _refuse_untold(s, vt, told, count, found.mass, inertia)
    return found


def _refuse_untold(s: Array, vt: Array, told: npt.NDArray[np.bool_], count: int, mass: float, inertia: bool) -> None:
    limit = _TOLD * max(abs(mass), np.finfo(float).tiny)
    faults = []
    names: list[str] = []
    for value, direction, known in zip(s, vt, told, strict=True):
        sigma = 1.0 / value if known else math.inf
        share = np.abs(direction[:count])
        greatest = float(share.max())
        if greatest < _ROUNDING or sigma * greatest <= limit:
            continue
        weak = [_NAMES[place] for place in np.flatnonzero(share >= _SHARE * greatest)]
        names += weak
        spread = "" if math.isinf(sigma) else f" (± {sigma * greatest:.2g} kg beside a mass of {mass:.2g} kg, scaled)"
        faults.append(f"payload: these data do not tell {' with '.join(weak)}{spread}")
    if faults:
        raise CalibrationError([*faults, *_remedies(names, inertia)])


def _remedies(names: Sequence[str], inertia: bool) -> list[str]:
    """Which motions would tell these components."""
    found = []
    if any(name in ("mass", *_PLACES) for name in names):
        found.append(
            "what would: rest at poses in which gravity has other directions in the platform, such as level, rx = "
            "±10 deg and ry = ±10 deg"
        )
    turns = sorted({axis for name in names if name.startswith("inertia") for axis in (int(name[8]), int(name[11]))})
    if turns and inertia:
        axes = ", ".join("r" + "xyz"[axis] for axis in turns)
        found.append(f"what would: a motion that turns to and fro about {axes}, fast and in no fixed proportion")
    return found


def _refuse_nothing(found: PayloadEstimate) -> None:
    sigma = math.sqrt(float(found.covariance[0, 0]))
    if abs(found.mass) < _CLEAR * sigma:
        raise CalibrationError(f"payload: none is found, its mass would be {found.mass:.3g} ± {sigma:.2g} kg")
    if found.mass < 0.0:
        raise CalibrationError(
            f"payload: {found.mass:.3g} ± {sigma:.2g} kg: the platform is lighter than its model, which is to be "
            "corrected before a payload is weighed"
        )


def loaded_platform(mechanism: Mechanism, estimate: PayloadEstimate) -> tuple[tuple[str, ...], Array, Array]:
    """Names, values (k,) and covariance (k, k) of the platform with its payload: what a mechanism's file says of it.

    `platform.mass`, `platform.center_of_mass[…]` and, where it was estimated, `platform.inertia[…][…]` about the centre
    of mass, SI. The bare platform counts as known; the covariance is carried over linearly.
    Raises CalibrationError where the inertia is that of no body.
    """
    names = tuple(f"platform.{name}" for name in _NAMES[: len(estimate.theta)])
    values = _with_platform(mechanism, estimate.theta)
    if estimate.has_inertia:
        moments = np.linalg.eigvalsh(_matrix(values[STATIC:]))
        if moments[0] <= 0.0 or moments[0] + moments[1] < moments[2]:
            shown = ", ".join(f"{value:.3g}" for value in moments)
            raise CalibrationError(
                f"payload: the platform with it would have principal moments of inertia {shown} kg m², which no body "
                "has: the motion does not tell the inertia well enough, or the model is wrong in something else"
            )
    return names, values, _carried(lambda theta: _with_platform(mechanism, theta), estimate)


def nominal_platform(mechanism: Mechanism, count: int) -> Array:
    """The first `count` of the bare platform's mass, centre of mass and inertia, as of `loaded_platform`."""
    return _with_platform(mechanism, np.zeros(count))


def payload_names(count: int) -> tuple[str, ...]:
    """Names of the payload's own numbers, those of `payload_values`."""
    return tuple(f"payload.{name}" for name in _NAMES[:count])


def payload_values(theta: Array) -> Array:
    """Mass, kg, centre of mass, m, and inertia about it, kg m², of θ (k,); k is STATIC or 10."""
    m, h = theta[0], theta[1:STATIC]
    center = h / m
    return np.concatenate([[m], center, theta[STATIC:] - _tensor(_moved(m, center))[: len(theta) - STATIC]])


def payload_sigma(estimate: PayloadEstimate) -> Array:
    """Standard uncertainties (k,) of `payload_values`."""
    return np.sqrt(np.diag(_carried(payload_values, estimate)))


def _carried(function: Callable[[Array], Array], estimate: PayloadEstimate) -> Array:
    """Covariance of a function of θ, by its central differences."""
    steps = np.maximum(np.abs(estimate.theta), 1e-3) * 1e-6
    columns = [
        (function(estimate.theta + step) - function(estimate.theta - step)) / (2.0 * size)
        for step, size in zip(np.diag(steps), steps, strict=True)
    ]
    jacobian = np.column_stack(columns)
    carried: Array = jacobian @ estimate.covariance @ jacobian.T
    return carried


def _with_platform(mechanism: Mechanism, theta: Array) -> Array:
    mass, center = mechanism.mass, mechanism.center_of_mass
    total = mass + theta[0]
    place = (mass * center + theta[1:STATIC]) / total
    values = [[total], place]
    if len(theta) > STATIC:
        about_origin = mechanism.inertia + _moved(mass, center)
        values.append(_tensor(about_origin - _moved(total, place)) + theta[STATIC:])
    return np.concatenate(values)


def _moved(mass: float, arm: Array) -> Array:
    """Inertia (3, 3) of a mass at `arm`."""
    moved: Array = mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return moved


def _tensor(matrix: Array) -> Array:
    return np.array([matrix[place] for place in _TENSOR])


def _matrix(tensor: Array) -> Array:
    xx, yy, zz, xy, xz, yz = tensor
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
