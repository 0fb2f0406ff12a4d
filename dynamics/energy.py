"""Energy of platform and legs, and the power that changes it: d(T+V)/dt = F·L̇ + wrench·twist − friction's power."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dynamics.arguments import WRENCH_FIELDS, checked
from dynamics.closed_form import coulomb_force, zero_acceleration_motion
from dynamics.errors import DynamicsError
from dynamics.mechanism import Mechanism
from dynamics.platform import PlatformMotion, about, dot, leg_constants, times
from kinematics import Array, leg_kinematics


class Energy(NamedTuple):
    """Kinetic and potential energy (n,), J; the potential is zero where all masses lie at the base frame's origin."""

    kinetic: Array
    potential: Array


def mechanical_energy(mechanism: Mechanism, states: npt.ArrayLike) -> Energy:
    """Energy (n,) of platform and legs in states (n, 13), or one (13,).

    T = ½ Σ m v·v + ω·Iω, V = −Σ m g·r, body by body, each about its own centre of mass.
    Raises DynamicsError for a wrong shape or a number that is not finite, SingularityError where a leg has no length
    or lies along its universal joint's fixed axis.
    """
    batch, motion = _motion(mechanism, states)
    legs, b, g = leg_constants(mechanism), mechanism.geometry.base_points, mechanism.gravity
    W, s, L = _turning(mechanism, batch), motion.s, motion.L[..., None]
    T = np.stack([s, motion.v, np.cross(s, motion.v)], axis=-1)
    r, omega = motion.R @ mechanism.center_of_mass, motion.omega
    r_d, r_u = times(T, legs.r_d0), L * s + times(T, legs.r_u0)
    v_p, v_d = motion.td + np.cross(omega, r), np.cross(W, r_d)
    v_u = motion.Ld[..., None] * s + np.cross(W, r_u)
    kinetic = mechanism.mass * dot(v_p, v_p) + dot(omega, times(about(mechanism.inertia, motion.R), omega))
    kinetic += (legs.m_d * dot(v_d, v_d) + legs.m_u * dot(v_u, v_u)).sum(axis=1)
    kinetic += dot(W, times(about(legs.I_d0 + legs.I_u0, T), W)).sum(axis=1)
    potential = -mechanism.mass * (batch[:, :3] + r) @ g
    potential -= (legs.m_d * ((b + r_d) @ g) + legs.m_u * ((b + r_u) @ g)).sum(axis=1)
    return Energy(0.5 * kinetic, potential)


def friction_power(mechanism: Mechanism, states: npt.ArrayLike, coulomb_speed: float = 0.0) -> Array:
    """Power (n,) W that the joints' friction takes in states (n, 13), or one (13,); never negative.

    C_u W·W + C_s ‖W−ω‖² + C_p L̇² + F_c |L̇| over the legs; `coulomb_speed` (m/s) as in `Dynamics`. Raises as
    `mechanical_energy`.
    """
    batch, motion = _motion(mechanism, states)
    legs, W = leg_constants(mechanism), _turning(mechanism, batch)
    relative = W - motion.omega[:, None]
    sliding = legs.C_p * motion.Ld + coulomb_force(legs.F_c, motion.Ld, coulomb_speed)
    return np.asarray((legs.C_u * dot(W, W) + legs.C_s * dot(relative, relative) + sliding * motion.Ld).sum(axis=1))


def supplied_power(
    mechanism: Mechanism, states: npt.ArrayLike, forces: npt.ArrayLike, wrenches: npt.ArrayLike | None = None
) -> Array:
    """Power (n,) W of leg forces (n, 6) and of wrenches (n, 6) in platform axes, in states (n, 13): F·L̇ + wrench·twist.

    Raises as `mechanical_energy`.
    """
    batch, motion = _motion(mechanism, states)
    push = np.atleast_2d(checked("forces", forces, 6, ("f1", "f2", "f3", "f4", "f5", "f6")))
    load = np.atleast_2d(np.zeros(6) if wrenches is None else checked("wrenches", wrenches, 6, WRENCH_FIELDS))
    for name, values in (("forces", push), ("wrenches", load)):
        if len(values) not in (1, len(batch)):
            raise DynamicsError(f"{name}: {len(values)} samples, must be as many as states, {len(batch)}")
    force, moment = times(motion.R, load[:, :3]), times(motion.R, load[:, 3:])
    return dot(push, motion.Ld) + dot(force, motion.td) + dot(moment, motion.omega)


def _motion(mechanism: Mechanism, states: npt.ArrayLike) -> tuple[Array, PlatformMotion]:
    batch = np.atleast_2d(checked("states", states, 13))
    return batch, zero_acceleration_motion(mechanism, batch)


def _turning(mechanism: Mechanism, states: Array) -> Array:
    """The legs' angular velocities W (n, 6, 3)."""
    motions = np.hstack([states, np.zeros((len(states), 6))])
    return leg_kinematics(mechanism.geometry, motions).angular_velocity
