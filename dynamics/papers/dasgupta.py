"""Dasgupta & Mruthyunjaya (1998) as printed, and with massless legs; equation numbers and symbols are the paper's."""

from collections.abc import Collection
from enum import StrEnum

import numpy as np

from dynamics.closed_form import about, dot, leg_constants, leg_matrices, platform_motion, solve_legs, times
from dynamics.mechanism import Mechanism
from dynamics.papers.reactions import LegReactions, beyond_cells
from kinematics import Array, leg_kinematics


def massless(mechanism: Mechanism, motions: Array, wrenches: Array) -> LegReactions:
    """Compute leg forces F₀ from constraints alone, of motions (n, 19) and wrenches (n, 6): H F₀ = −c₀ (eq. 41).

    The `mass_beyond` of a load cell is part of its leg, which is massless: cell and joint carry the same force, joints
    have no friction, and the force is constant along the leg. Every cell reads F₀ at any location.
    """
    motion = platform_motion(mechanism.geometry, motions)
    rotation, omega, alpha = motion.R, motion.omega, motion.alpha
    F_ext, M_ext = wrenches[:, :3], wrenches[:, 3:]
    M, g = mechanism.mass, mechanism.gravity
    R = rotation @ mechanism.center_of_mass  # eq. 30
    a = np.cross(alpha, R) + np.cross(omega, np.cross(omega, R)) + motion.tdd  # eq. 31
    I_b = about(mechanism.inertia, rotation)  # I, eq. 32
    force = times(rotation, F_ext) + M * (g - a)
    moment = M * np.cross(R, g - a) - times(I_b, alpha) - np.cross(omega, times(I_b, omega)) + times(rotation, M_ext)
    c_0 = np.concatenate([force, moment], axis=-1)
    F_0 = solve_legs(leg_matrices(motion), -c_0)
    return LegReactions(
        motion.s, F_0, -F_0, np.zeros_like(motion.s), F_0[..., None] * motion.s, beyond=np.zeros_like(F_0)
    )


class Mend1998(StrEnum):
    """Corrections of the equations of 1998; with all three the forces are exact."""

    SPIN = "eqs. 6, 9: the spin that a universal joint forces, for none"
    INERTIA = "eq. 16: the upper part's inertia once, for twice"
    MOMENT = "eq. 20: the universal joint's moment along u×v, for that along s"


def dasgupta_1998(
    mechanism: Mechanism, motions: Array, wrenches: Array, mends: Collection[Mend1998] = ()
) -> LegReactions:
    """Compute actuator forces F and joint reactions of motions (n, 19) and wrenches (n, 6) in platform axes.

    The mass beyond a load cell rotates with the leg's W and A of eqs. 6 and 9, which have no spin as printed.
    """
    motion, legs = platform_motion(mechanism.geometry, motions), leg_constants(mechanism)
    g = mechanism.gravity
    omega, alpha = motion.omega, motion.alpha

    # 2.1 Kinematics of a leg; eqs. 1 to 5 and 7 are `platform_motion`'s
    q, s, S_dot, S_ddot, L_dot = motion.q, motion.s, motion.Sd, motion.Sdd, motion.Ld[..., None]
    L = motion.L[..., None]
    W = np.cross(s, S_dot) / L  # eq. 6
    L_ddot = dot(s, S_ddot)[..., None] + L * dot(W, W)[..., None]  # eq. 8
    A = (np.cross(s, S_ddot) - 2.0 * L_dot * W) / L  # eq. 9
    if Mend1998.SPIN in mends:
        turning = leg_kinematics(mechanism.geometry, motions)
        W, A, L_ddot = turning.angular_velocity, turning.angular_acceleration, turning.acceleration[..., None]

    # 2.2 Leg acceleration and inertia
    y = motion.v  # (k×s)/‖k×s‖
    T = np.stack([s, y, np.cross(s, y)], axis=-1)  # eq. 10
    r_d = times(T, legs.r_d0)  # eq. 11
    r_u = L * s + times(T, legs.r_u0)  # eq. 12
    a_d = np.cross(A, r_d) + np.cross(W, np.cross(W, r_d))  # eq. 13
    a_u = L_ddot * s + np.cross(A, r_u) + np.cross(W, np.cross(W, r_u)) + 2.0 * L_dot * np.cross(W, s)  # eq. 14
    I_d = about(legs.I_d0, T)  # eq. 15
    moved = 0.0 if Mend1998.INERTIA in mends else _parallel_axes(legs.m_u, motion.L)
    I_u = about(legs.I_u0 + moved, T)  # eq. 16

    # 2.3 Dynamic equations for a leg
    m_d, m_u = legs.m_d[:, None], legs.m_u[:, None]
    f = legs.C_s[:, None] * (W - omega[:, None])
    C = (
        m_d * np.cross(r_d, a_d)
        + m_u * np.cross(r_u, a_u)
        - np.cross(m_d * r_d + m_u * r_u, g)
        + times(I_d + I_u, A)
        + np.cross(W, times(I_d + I_u, W))
        + legs.C_u[:, None] * W
        + f
    )  # eq. 20
    K = np.cross(C, s) / L  # eq. 21
    if Mend1998.MOMENT in mends:
        c_u = np.cross(mechanism.geometry.universal_axes, y)
        K = K - (dot(C, s) / dot(c_u, s))[..., None] * np.cross(c_u, s) / L
    D = legs.m_u * dot(s, a_u - g) + legs.C_p * motion.Ld  # eq. 24

    # 3 Kinematics and dynamics of the platform
    M, R = mechanism.mass, motion.R @ mechanism.center_of_mass  # eq. 30
    a = np.cross(alpha, R) + np.cross(omega, np.cross(omega, R)) + motion.tdd  # eq. 31
    I_b = about(mechanism.inertia, motion.R)  # I, eq. 32
    force = times(motion.R, wrenches[:, :3]) + M * (g - a) - K.sum(axis=1)
    moment = M * np.cross(R, g - a) - times(I_b, alpha) - np.cross(omega, times(I_b, omega))
    moment += times(motion.R, wrenches[:, 3:]) - (np.cross(q, K) - f).sum(axis=1)
    c = np.concatenate([force, moment], axis=-1)  # eq. 35
    x = solve_legs(leg_matrices(motion), c)  # eq. 36

    # 3.3 Constraint forces
    F_u = m_d * (a_d - g) + m_u * (a_u - g) - (x[..., None] * s + K)  # eqs. 21, 27
    beyond = beyond_cells(mechanism, T, motion.L, L_ddot[..., 0], W, A)
    return LegReactions(s, D - x, x, K, F_u, beyond)  # eq. 37


def _parallel_axes(m_u: Array, L: Array) -> Array:
    """The term that eq. 16 adds to I_u0 (n, 6, 3, 3) for lengths L (n, 6): m_u L² perpendicular to the leg."""
    moved: Array = (m_u * L**2)[..., None, None] * np.diag([0.0, 1.0, 1.0])
    return moved
