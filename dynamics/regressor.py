"""The exact model as a regressor: forces = Y(motion) θ, linear in the inertial and friction parameters.

θ (COLUMNS,) lists, for the platform and then for each leg's lower and upper part, m, h = m r (3) and the inertia J
(xx, yy, zz, xy, xz, yz) about the origin of the body's own frame: the platform's origin, the base point, the platform
point. The frictions C_u, C_p, C_s, F_c follow the parts of each leg.

A drive's reflected mass m_r and frictions C_r, F_r are in no force but that of its own motor, which is linear in them
too: see `Regressor.drives`.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dynamics.arguments import batch
from dynamics.errors import DynamicsError
from dynamics.external import friction_signs
from dynamics.kernels.layout import OK, WORK_SIZE
from dynamics.kernels.regressor import (
    BODY,
    COLUMNS,
    LEG,
    LOWER,
    REGRESSOR_WORK,
    UNIVERSAL,
    UPPER,
    regressor_batch_kernel,
)
from dynamics.mechanism import Body, Friction, Mechanism
from dynamics.model import Dynamics, model_failure
from kinematics import Array, leg_kinematics

BODY_NAMES = ("m", "hx", "hy", "hz", "Jxx", "Jyy", "Jzz", "Jxy", "Jxz", "Jyz")
"""Names of the ten numbers of a body in θ."""
BODY_UNITS = ("kg", *("kg m",) * 3, *("kg m²",) * 6)
"""Their units."""
_FRICTIONS = ("universal", "prismatic", "spherical", "coulomb")
_FRICTION_UNITS = ("N m s/rad", "N s/m", "N m s/rad", "N")
DRIVE_PARAMETERS = (("reflected_mass", "kg"), ("viscous", "N s/m"), ("coulomb", "N"))
"""Names and units of a drive's own parameters, in the order of `Regressor.drives` and `drive_parameters`."""
INERTIA_ELEMENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Row and column of each element of J in θ."""

LINEAR_NAMES: tuple[str, ...] = (
    *(f"platform.{name}" for name in BODY_NAMES),
    *(
        name
        for leg in range(6)
        for name in (
            *(f"legs[{leg}].{part}.{name}" for part in ("lower", "upper") for name in BODY_NAMES),
            *(f"legs[{leg}].friction.{name}" for name in _FRICTIONS),
        )
    ),
)
"""Names of the elements of θ, legs counted from 0 as in the mechanism's file."""
LINEAR_UNITS: tuple[str, ...] = (*BODY_UNITS, *((*BODY_UNITS * 2, *_FRICTION_UNITS) * 6))
"""Their units."""

BODIES: tuple[slice, ...] = (
    slice(0, BODY),
    *(slice(BODY + LEG * leg + part, BODY + LEG * leg + part + BODY) for leg in range(6) for part in (LOWER, UPPER)),
)
"""Slices of θ of the thirteen bodies: the platform, then the lower and upper part of each leg."""
FRICTIONS: tuple[slice, ...] = tuple(slice(BODY + LEG * leg + UNIVERSAL, BODY + LEG * (leg + 1)) for leg in range(6))
"""Slices of θ of each leg's frictions."""


class Regressor:
    """Regressor Y for the geometry, gravity and load cells of a mechanism.

    The mechanism's inertias and frictions are not used, except the mass between load cell and joint
    (`LoadCell.mass_beyond`) and the drives' part of a "motor" cell's reading, which are taken as known.
    `coulomb_speed`, m/s, smooths Coulomb friction as in `Dynamics`.
    Working memory is allocated once, so an instance belongs to one thread.
    """

    def __init__(self, mechanism: Mechanism, coulomb_speed: float = 0.0) -> None:
        self._parameters = Dynamics(mechanism, coulomb_speed).parameters
        self._geometry, self._coulomb_speed = mechanism.geometry, coulomb_speed
        self._work, self._scratch = np.zeros(WORK_SIZE), np.zeros(REGRESSOR_WORK)

    def cells(self, motions: npt.ArrayLike) -> tuple[Array, Array]:
        """Y (n, 6, COLUMNS) and known (n, 6) N: the cells read Y θ + known in motions (n, 19), as `Dynamics.cells`.

        Raises as `Dynamics.inverse`.
        """
        return self._batch(motions, True)

    def forces(self, motions: npt.ArrayLike) -> Array:
        """Y (n, 6, COLUMNS): Y θ are the forces of the actuators on the rods in motions (n, 19).

        The motors' forces exceed them by the drives' own inertia and friction, see `drives`. Raises as
        `Dynamics.inverse`.
        """
        return self._batch(motions, False)[0]

    def drives(self, motions: npt.ArrayLike) -> Array:
        """L̈, L̇ and sign(L̇) (n, 6, 3) of the legs in motions (n, 19): of these a motor's force has m_r, C_r and F_r.

        The motors' forces are Y θ + Σ_k drives[:, :, k] p[:, k] with p of `drive_parameters`. Raises as
        `kinematics.leg_kinematics`.
        """
        legs = leg_kinematics(self._geometry, batch(motions, None)[0])
        signs = friction_signs(legs.velocity, self._coulomb_speed)
        return np.stack([legs.acceleration, legs.velocity, signs], axis=2)

    def _batch(self, motions: npt.ArrayLike, at_cells: bool) -> tuple[Array, Array]:
        samples, _ = batch(motions, None)
        out, known = np.empty((len(samples), 6, COLUMNS)), np.empty((len(samples), 6))
        status, sample = regressor_batch_kernel(
            self._parameters, samples, at_cells, self._work, self._scratch, out, known
        )
        if status != OK:
            raise model_failure(status, f"sample {sample}: ")
        return out, known


def linear_parameters(mechanism: Mechanism) -> Array:
    """Return θ (COLUMNS,) of a mechanism."""
    platform = Body(mechanism.mass, mechanism.center_of_mass, mechanism.inertia)
    parts = [linear_body(platform)]
    for leg in mechanism.legs:
        friction = [getattr(leg.friction, name) for name in _FRICTIONS]
        parts += [linear_body(leg.lower), linear_body(leg.upper), np.array(friction)]
    return np.concatenate(parts)


def drive_parameters(mechanism: Mechanism) -> Array:
    """Return m_r, C_r, F_r (6, 3) of the drives of a mechanism, as DRIVE_PARAMETERS."""
    return np.array([(leg.drive.mass, leg.drive.viscous, leg.drive.coulomb) for leg in mechanism.legs])


def with_drive_parameters(mechanism: Mechanism, values: npt.ArrayLike) -> Mechanism:
    """Return a mechanism with m_r, C_r, F_r (6, 3) of its drives, each in the form in which it is given.

    Raises DynamicsError for a wrong shape, or a number that is not finite or below 0.
    """
    given = np.asarray(values, dtype=np.float64)
    if given.shape != (6, len(DRIVE_PARAMETERS)):
        raise DynamicsError(f"drives: shape {given.shape}, must be (6, {len(DRIVE_PARAMETERS)})")
    for leg, numbers in enumerate(given.tolist()):
        for (name, unit), value in zip(DRIVE_PARAMETERS, numbers, strict=True):
            if not 0.0 <= value < np.inf:
                raise DynamicsError(f"legs[{leg}].drive.{name}: {value:g} {unit} must be finite and at least 0 {unit}")
    legs = tuple(
        replace(leg, drive=replace(leg.drive.with_mass(mass), viscous=viscous, coulomb=coulomb))
        for leg, (mass, viscous, coulomb) in zip(mechanism.legs, given.tolist(), strict=True)
    )
    return replace(mechanism, legs=legs, source="")


def with_linear_parameters(mechanism: Mechanism, theta: npt.ArrayLike) -> Mechanism:
    """Return a mechanism with the inertias and frictions θ (COLUMNS,).

    Raises DynamicsError for a wrong shape, a number that is not finite, or a body with a mass that is not above zero.
    """
    values = np.asarray(theta, dtype=np.float64)
    if values.shape != (COLUMNS,):
        raise DynamicsError(f"θ: shape {values.shape}, must be ({COLUMNS},)")
    if not np.isfinite(values).all():
        raise DynamicsError(f"θ: {LINEAR_NAMES[int(np.argmin(np.isfinite(values)))]} is not finite")
    bodies = [body_of(values[place]) for place in BODIES]
    legs = tuple(
        replace(
            leg,
            lower=bodies[1 + 2 * index],
            upper=bodies[2 + 2 * index],
            friction=Friction(*values[FRICTIONS[index]].tolist()),
        )
        for index, leg in enumerate(mechanism.legs)
    )
    platform = bodies[0]
    return replace(
        mechanism,
        mass=platform.mass,
        center_of_mass=platform.center_of_mass,
        inertia=platform.inertia,
        legs=legs,
        source="",
    )


def linear_body(body: Body) -> Array:
    """Return m, h, J (10,) of a body: J about the origin of its frame, by the parallel-axis theorem."""
    r = np.asarray(body.center_of_mass)
    about = np.asarray(body.inertia) + body.mass * (r @ r * np.eye(3) - np.outer(r, r))
    return np.concatenate([[body.mass], body.mass * r, [about[place] for place in INERTIA_ELEMENTS]])


def body_of(values: Array) -> Body:
    """Return the body of m, h, J (10,). Raises DynamicsError for a mass that is not above zero."""
    mass = float(values[0])
    if not mass > 0.0:
        raise DynamicsError(f"mass {mass:g} kg of a body must be above 0 kg")
    r = values[1:4] / mass
    about = second_moment(values)
    return Body(mass, r, about - mass * (r @ r * np.eye(3) - np.outer(r, r)))


def second_moment(values: Array) -> Array:
    """J (3, 3) of m, h, J (10,)."""
    about = np.empty((3, 3))
    for value, (i, j) in zip(values[4:10], INERTIA_ELEMENTS, strict=True):
        about[i, j] = about[j, i] = value
    return about


def pseudo_inertia(values: Array) -> Array:
    """Pseudo-inertia (4, 4) of m, h, J (10,): [[½ tr(J) 1 − J, h], [hᵀ, m]], the moments of the mass distribution.

    A body can exist if and only if this is positive semidefinite (Wensing, Kim & Slotine 2018, eq. 9).
    """
    about = second_moment(values)
    result = np.empty((4, 4))
    result[:3, :3] = 0.5 * np.trace(about) * np.eye(3) - about
    result[:3, 3] = result[3, :3] = values[1:4]
    result[3, 3] = values[0]
    return result


def from_pseudo_inertia(matrix: Array) -> Array:
    """m, h, J (10,) of a pseudo-inertia (4, 4); the inverse of `pseudo_inertia`."""
    moments = matrix[:3, :3]
    about = np.trace(moments) * np.eye(3) - moments
    return np.concatenate([[matrix[3, 3]], matrix[:3, 3], [about[place] for place in INERTIA_ELEMENTS]])


def deformed(body: Array, mass_factor: float, shift: Array, stretch: Array) -> Array:
    """Deform a body (10,): stretch it by a matrix (3, 3) about its centre of mass, shift it (3,) m and scale its mass.

    The mass distribution undergoes an affine map, so that the result is realisable if the body is.
    """
    moments = pseudo_inertia(body)
    center = moments[:3, 3] / moments[3, 3] if moments[3, 3] else np.zeros(3)
    about = moments[:3, :3] - moments[3, 3] * np.outer(center, center)
    mass, place = mass_factor * moments[3, 3], center + shift
    result = np.empty((4, 4))
    result[:3, :3] = mass_factor * stretch @ about @ stretch.T + mass * np.outer(place, place)
    result[:3, 3] = result[3, :3] = mass * place
    result[3, 3] = mass
    return from_pseudo_inertia(result)
