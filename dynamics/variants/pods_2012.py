"""How the pods turn, where their mass is and with what inertia, after Pedrammehr, Mahboubkhah & Khani (2012).

Eqs. 1 to 28, 32 and 33, in their symbols. Eq. 21 is mended: its second term lacks c, it is ω_u ω_v c×l n.
"""

from dataclasses import dataclass

import numpy as np

from dynamics.mechanism import Mechanism
from dynamics.platform import (
    LegConstants,
    PlatformMotion,
    about,
    dot,
    leg_constants,
    outer,
    platform_motion,
    times,
)
from kinematics import Array


@dataclass(frozen=True, slots=True, eq=False)
class PodsInMotion:
    """The six pods in n motions; base axes, SI units.

    c (n, 6, 3) = u×v; T (n, 6, 3, 3) = [n v c′]; ω_u, ω_v, l̈ (n, 6); ω_l, α_l (n, 6, 3).
    L_d, L_u (n, 6, 3): mass centres from the base point; I_d, I_u (n, 6, 3, 3): what stands in eqs. 31 and 36.
    """

    motion: PlatformMotion
    constants: LegConstants
    c: Array
    T: Array
    omega_u: Array
    omega_v: Array
    omega_l: Array
    alpha_l: Array
    l_ddot: Array
    L_d: Array
    L_u: Array
    I_d: Array
    I_u: Array


def pods_in_motion(mechanism: Mechanism, motions: Array, *, own_centers: bool = False) -> PodsInMotion:
    """The pods in motions (n, 19).

    own_centers: inertias about each part's own centre of mass, without the parallel-axis terms of eqs. 32 and 33.
    Raises SingularityError where a leg has no length or lies along u.
    """
    motion, constants = platform_motion(mechanism.geometry, motions), leg_constants(mechanism)
    u = mechanism.geometry.universal_axes
    omega, alpha = motion.omega[:, None], motion.alpha[:, None]
    X_dot, X_ddot = motion.td[:, None], motion.tdd[:, None]

    # 3 to 5 Kinematics of the pods; eqs. 1 to 8 are `platform_motion`'s
    q, l_i, n, v = motion.q, motion.L[..., None], motion.s, motion.v
    L_dot, L_ddot, l_dot = motion.Sd, motion.Sdd, motion.Ld[..., None]  # eqs. 10, 11 from the platform's side
    c, c_prime = np.cross(u, v), np.cross(n, v)
    l_nc = motion.L * dot(n, c)
    omega_u = -dot(L_dot - l_dot * n, v) / l_nc  # eq. 13
    omega_v = dot(L_dot - l_dot * n, u) / l_nc  # eq. 14
    omega_l = omega_u[..., None] * u + omega_v[..., None] * v  # eq. 12
    turn = np.cross(omega_l, n)
    l_ddot = (
        dot(X_ddot, n)
        + dot(alpha, np.cross(q, n))
        + dot(X_dot, turn)
        + dot(omega, np.cross(np.cross(omega, q), n) + np.cross(q, turn))
    )  # eq. 9
    both = (omega_u * omega_v)[..., None]
    L_ddot_prime = (
        L_ddot
        - both * np.cross(c, l_i * n)
        - np.cross(omega_l, np.cross(omega_l, l_i * n))
        - 2.0 * l_dot * turn
        - l_ddot[..., None] * n
    )  # eq. 21, mended
    alpha_u = -dot(L_ddot_prime, v) / l_nc  # eq. 19
    alpha_v = dot(L_ddot_prime, u) / l_nc  # eq. 20
    alpha_l = alpha_u[..., None] * u + alpha_v[..., None] * v + both * c  # eq. 18

    # 6, 7 Mass centres and inertias
    T = np.stack([n, v, c_prime], axis=-1)  # eq. 28
    L_d = times(T, constants.r_d0)  # eq. 26
    L_u = l_i * n + times(T, constants.r_u0)  # eq. 27
    I_d0, I_u0 = constants.I_d0, constants.I_u0
    if not own_centers:
        I_d0, I_u0 = I_d0 + moved(constants.m_d, L_d), I_u0 + moved(constants.m_u, L_u)
    I_d, I_u = about(I_d0, T), about(I_u0, T)  # eqs. 32, 33
    return PodsInMotion(motion, constants, c, T, omega_u, omega_v, omega_l, alpha_l, l_ddot, L_d, L_u, I_d, I_u)


def moved(mass: Array, place: Array) -> Array:
    """The parallel-axis term of eqs. 32, 33 and 50, m (l·l 1 − l lᵀ), of masses (…) at places (…, 3)."""
    return mass[..., None, None] * (dot(place, place)[..., None, None] * np.eye(3) - outer(place, place))
