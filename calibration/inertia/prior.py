"""Prior of the parameters: the drawing's bodies, with a stated accuracy."""

import math
from dataclasses import dataclass, fields

import numpy as np

from calibration.errors import CalibrationError
from dynamics import (
    BODIES,
    FRICTIONS,
    LINEAR_NAMES,
    Drive,
    Mechanism,
    deformed,
    from_pseudo_inertia,
    linear_parameters,
    machine_size,
    pseudo_inertia,
)
from kinematics import Array

SIZE = 10
_ROWS, _COLUMNS = np.tril_indices(4, -1)


def exists(body: Array) -> bool:
    """Whether a distribution of positive mass has these moments, none of it confined to a plane."""
    return bool(np.linalg.eigvalsh(pseudo_inertia(body))[0] > 0.0)


def unconstrained(body: Array) -> Array:
    """Ten unconstrained numbers of a body that exists: P = L Lᵀ, with the logarithm of L's diagonal.

    Log-Cholesky parameters (Rucker & Wensing 2022), of a pseudo-inertia P that is positive definite.
    """
    root = np.linalg.cholesky(pseudo_inertia(body))
    return np.concatenate([np.log(np.diag(root)), root[_ROWS, _COLUMNS]])


def from_unconstrained(numbers: Array) -> Array:
    """The body (10,) of ten numbers, see `unconstrained`."""
    root = np.diag(np.exp(numbers[:4]))
    root[_ROWS, _COLUMNS] = numbers[4:]
    return from_pseudo_inertia(root @ root.T)


def unconstrained_jacobian(numbers: Array) -> Array:
    """Derivative (10, 10) of `from_unconstrained`."""
    root = np.diag(np.exp(numbers[:4]))
    root[_ROWS, _COLUMNS] = numbers[4:]
    result = np.empty((SIZE, SIZE))
    for k in range(SIZE):
        change = np.zeros((4, 4))
        if k < 4:
            change[k, k] = root[k, k]
        else:
            change[_ROWS[k - 4], _COLUMNS[k - 4]] = 1.0
        half = change @ root.T
        result[:, k] = from_pseudo_inertia(half + half.T)
    return result


_STEP = 1e-6
_EVEN = 1.0 / math.sqrt(3.0)
"""Standard deviation of a uniform distribution by its half width, as for a drawing's tolerance."""
_SYMMETRIC = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_LARGEST = 1e3  # of what is as good as unknown; far above that nothing can be computed
_SHEAR = 0.25  # of a body's mass against its stretch
DRIVE_GAIN, DRIVE_OFFSET = 0.02, 2.0
"""One standard deviation of a drive's gain, and of its force at zero, N."""
DRIVE_NOISE = 0.2
"""N, white noise of a drive's force about its commanded one."""
FRICTION_SHARE, FRICTION_TIME = 0.005, 0.1
"""Part of friction that no law describes, and its correlation time, s."""
LAW_SHARE = 0.08
"""Relative error of friction by selected laws, whose shapes are approximate."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Accuracy of the mechanism's file and of the sensors, one standard deviation each.

    mass, inertia: part of each body's mass, and of the principal second moments about its centre and of each drive's
    inertia. center: m, each axis of a centre of mass. friction: part of each coefficient; `least_…` where that is less.
    offset: N, zero of a cell; drift: N/s of it; lag: s, of a cell behind the encoders; gain, part of a cell's;
    `cross_talk`; joints, m, each axis of a joint's place; lengths, m, of what an encoder reads; compliance, m/N, of a
    leg. All of them are estimated.
    By default masses, inertias, centres and gains are even within 20 %, 20 %, 3 mm and 1 %, the rest as written below.
    """

    mass: float = 0.2 * _EVEN
    center: float = 3e-3 * _EVEN
    inertia: float = 0.2 * _EVEN
    friction: float = 0.5
    least_damping: float = 0.01
    """N m s/rad, of universal and spherical joints"""
    least_prismatic: float = 5.0
    """N s/m"""
    least_coulomb: float = 1.0
    """N"""
    offset: float = 5.0
    drift: float = 0.01
    lag: float = 3e-3
    gain: float = 0.01 * _EVEN
    cross_talk: float = 5e-3
    """part of a neighbouring leg's force that a cell reads too"""
    joints: float = 3e-5
    lengths: float = 3e-5
    compliance: float = 1e-7

    @classmethod
    def of(cls, mechanism: Mechanism, **stated: float) -> "Accuracy":
        """The `stated` values, else the defaults times the mechanism's size.

        Raises CalibrationError for an invalid standard deviation.
        """
        size = machine_size(mechanism)
        damping, joint = size.force / size.speed, size.force * size.length**2 / size.speed
        factors = dict.fromkeys(("center", "joints", "lengths"), size.length)
        factors |= dict.fromkeys(("least_coulomb", "offset", "drift"), size.force)
        factors |= {"least_prismatic": damping, "least_damping": joint, "compliance": size.length / size.force}
        return cls(**{name: getattr(STATED, name) * factor for name, factor in factors.items()} | stated)

    def __post_init__(self) -> None:
        """Refuse invalid standard deviations."""
        faults = [
            f"{field.name}: {value:g} must be finite and above 0, at most {_LARGEST:g}"
            for field in fields(self)
            if not (math.isfinite(value := getattr(self, field.name)) and 0.0 < value <= _LARGEST)
        ]
        if faults:
            raise CalibrationError(faults)


STATED = Accuracy()
"""Default accuracy of a machine of the lab-hexapod's size."""


@dataclass(frozen=True, slots=True)
class DriveParameter:
    """A parameter of a drive in the mechanism's file: of leg 0 to 5, its value there and prior standard deviation.

    column: of `Regressor.drives`, whose unit is `scale` times the parameter's.
    """

    leg: int
    column: int
    name: str
    unit: str
    scale: float
    value: float
    sigma: float


def drive_priors(mechanism: Mechanism, accuracy: Accuracy) -> list[DriveParameter]:
    """The parameters of all drives that a mechanism's file gives: inertia, in its own form, and friction."""
    found = []
    for leg, each in enumerate(mechanism.legs):
        drive = each.drive
        if drive == Drive():
            continue
        name, unit, value = "reflected_mass", "kg", drive.mass
        if drive.inertia is not None:
            name, unit, value = "inertia", "kg m²", drive.inertia
        rows = [
            (0, name, unit, drive.mass / value if value else 1.0, value, accuracy.inertia * value),
            (1, "viscous", "N s/m", 1.0, drive.viscous, accuracy.least_prismatic),
            (2, "coulomb", "N", 1.0, drive.coulomb, accuracy.least_coulomb),
        ]
        for column, name, unit, scale, value, sigma in rows:
            spread = max(accuracy.friction * value, sigma) if column else sigma
            if spread:
                found.append(DriveParameter(leg, column, f"legs[{leg}].drive.{name}", unit, scale, value, spread))
    return found


def prior(mechanism: Mechanism, accuracy: Accuracy) -> tuple[Array, Array]:
    """Mean (n,) and covariance (n, n) of the parameters θ of `dynamics.linear_parameters`.

    A body's ten are correlated, as they are where its mass distribution is stretched, sheared and moved.
    Raises CalibrationError where a body of the mechanism cannot exist.
    """
    theta = linear_parameters(mechanism)
    covariance = np.zeros((len(theta), len(theta)))
    faults = []
    for place in BODIES:
        name = LINEAR_NAMES[place.start].rpartition(".")[0]
        if not exists(theta[place]):
            faults.append(f"{name}: no body has this mass and inertia, or it has no volume: nothing can be known of it")
            continue
        covariance[place, place] = body_covariance(theta[place], accuracy.mass, accuracy.center, accuracy.inertia)
    if faults:
        raise CalibrationError(faults)
    least = np.array([accuracy.least_damping, accuracy.least_prismatic, accuracy.least_damping, accuracy.least_coulomb])
    for place in FRICTIONS:
        sigma = np.maximum(accuracy.friction * theta[place], least)
        covariance[place, place] = np.diag(sigma**2)
    return theta, covariance


def body_covariance(body: Array, mass: float, center: float, inertia: float) -> Array:
    """Covariance (10, 10) of a body (10,), to first order.

    One standard deviation each: of the mass, as a part of it; of each axis of the centre of mass, m; of the principal
    second moments about it, as a part of them.
    """
    sigma = np.concatenate(
        [
            [mass],
            np.full(3, center),
            np.full(3, 0.5 * inertia),  # a moment is quadratic in the stretch
            np.full(3, 0.5 * _SHEAR * inertia),
        ]
    )
    slopes = np.empty((SIZE, SIZE))
    for k in range(SIZE):
        ends = []
        for sign in (1.0, -1.0):
            numbers = np.zeros(SIZE)
            numbers[k] = sign * _STEP
            stretch = np.eye(3)
            for value, (i, j) in zip(numbers[4:], _SYMMETRIC, strict=True):
                stretch[i, j] += value
                if i != j:
                    stretch[j, i] += value
            ends.append(deformed(body, 1.0 + numbers[0], numbers[1:4], stretch))
        slopes[:, k] = (ends[0] - ends[1]) / (2.0 * _STEP)
    scaled = slopes * sigma
    covariance: Array = scaled @ scaled.T
    return covariance
