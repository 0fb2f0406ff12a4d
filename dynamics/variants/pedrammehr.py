"""Pedrammehr, Mahboubkhah & Khani (2012), eqs. 1 to 40 and 45 to 50 as printed, but for eq. 21.

Improved dynamic equations for the generally configured Stewart platform manipulator; equation numbers and symbols are
the paper's.

What is wrong with it: eqs. 32, 33 and 50 move the inertias by the theorem of parallel axes, although eqs. 31 and 49
have m r×a already, and do so with components in base axes of what is then rotated from local axes. What is mended: the
second term of eq. 21 lacks c, it is ω_u ω_v c×l n.
"""

import numpy as np

from dynamics.mechanism import Mechanism
from dynamics.platform import about, dot, leg_matrices, solve_legs, times
from dynamics.variants.pods_2012 import moved, pods_in_motion
from dynamics.variants.reactions import LegReactions, beyond_cells
from kinematics import Array


def pedrammehr_2012(mechanism: Mechanism, motions: Array, wrenches: Array) -> LegReactions:
    """Actuator forces F_act and joint reactions of motions (n, 19) and wrenches (n, 6) in platform axes.

    The paper gives no force at the base joint: it is Newton's law for the whole pod, with eqs. 29 and 30. What lies
    beyond a load cell turns with the pod's ω_l and α_l of eqs. 12 and 18.
    """
    pods = pods_in_motion(mechanism, motions)
    motion, constants, G = pods.motion, pods.constants, mechanism.gravity
    omega, l_i, n = motion.omega[:, None], motion.L[..., None], motion.s
    omega_l, alpha_l, L_d, L_u = pods.omega_l, pods.alpha_l, pods.L_d, pods.L_u
    c, I_d, I_u = pods.c, pods.I_d, pods.I_u

    # 6 Acceleration of the mass centres
    L_d_ddot = np.cross(alpha_l, L_d) + np.cross(omega_l, np.cross(omega_l, L_d))  # eq. 29
    L_u_ddot = (
        np.cross(alpha_l, L_u)
        + np.cross(omega_l, np.cross(omega_l, L_u))
        + 2.0 * motion.Ld[..., None] * np.cross(omega_l, n)
        + pods.l_ddot[..., None] * n
    )  # eq. 30

    # 7 Dynamics of pods
    m_d, m_u = constants.m_d[:, None], constants.m_u[:, None]
    friction = constants.C_s[:, None] * (omega_l - omega)
    N = (
        -np.cross(m_u * L_u + m_d * L_d, G)
        + m_u * np.cross(L_u, L_u_ddot)
        + m_d * np.cross(L_d, L_d_ddot)
        + times(I_u + I_d, alpha_l)
        + np.cross(omega_l, times(I_u + I_d, omega_l))
        + friction
        + constants.C_u[:, None] * omega_l
    )  # eq. 36
    m = (dot(N, n) / dot(c, n))[..., None]  # eq. 37
    across = (np.cross(N, n) - m * np.cross(c, n)) / l_i  # eq. 38, of F = (n·F) n + across

    # 8 Dynamics of the moving platform, for the six n·F
    m_p, r = mechanism.mass, motion.R @ mechanism.center_of_mass  # eq. 47
    w, spin_up = motion.omega, motion.alpha
    X_g_ddot = motion.tdd + np.cross(spin_up, r) + np.cross(w, np.cross(w, r))  # eq. 46
    I_p = about(mechanism.inertia + moved(np.array(m_p), r), motion.R)  # eq. 50
    force = times(motion.R, wrenches[:, :3]) - m_p * (X_g_ddot - G) - across.sum(axis=1)  # eq. 45
    moment = times(motion.R, wrenches[:, 3:]) - m_p * np.cross(r, X_g_ddot - G)
    moment -= times(I_p, spin_up) + np.cross(w, times(I_p, w))
    moment += (friction - np.cross(motion.q, across)).sum(axis=1)  # eq. 49
    n_F = solve_legs(leg_matrices(motion), np.concatenate([force, moment], axis=-1))
    F_act = -n_F + constants.m_u * dot(n, L_u_ddot - G) + constants.C_p * motion.Ld  # eq. 39
    base = m_d * (L_d_ddot - G) + m_u * (L_u_ddot - G) - (n_F[..., None] * n + across)
    beyond = beyond_cells(mechanism, pods.T, motion.L, pods.l_ddot, omega_l, alpha_l)
    return LegReactions(n, F_act, n_F, across, base, beyond)
