"""Pedrammehr, Mahboubkhah & Khani (2012), Improved dynamic equations for the generally configured Stewart platform
manipulator: eqs. 1 to 40 and 45 to 50 as printed, but for eq. 21; equation numbers and symbols are the paper's.

What is wrong with it: eqs. 32, 33 and 50 move the inertias by the theorem of parallel axes, although eqs. 31 and 49
have m r×a already, and do so with components in base axes of what is then rotated from local axes. What is mended: the
second term of eq. 21 lacks c, it is ω_u ω_v c×l n.
"""

import numpy as np

from dynamics.mechanism import Mechanism
from dynamics.platform import about, dot, leg_constants, leg_matrices, outer, platform_motion, solve_legs, times
from dynamics.variants.reactions import LegReactions, beyond_cells
from kinematics import Array


def pedrammehr_2012(mechanism: Mechanism, motions: Array, wrenches: Array) -> LegReactions:
    """Actuator forces F_act and joint reactions of motions (n, 19) and wrenches (n, 6) in platform axes.

    The paper gives no force at the base joint: it is Newton's law for the whole pod, with eqs. 29 and 30. What lies
    beyond a load cell turns with the pod's ω_l and α_l of eqs. 12 and 18.
    """
    motion, pods = platform_motion(mechanism.geometry, motions), leg_constants(mechanism)
    u, G = mechanism.geometry.universal_axes, mechanism.gravity
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
    )[..., None]  # eq. 9
    both = (omega_u * omega_v)[..., None]
    L_ddot_prime = (
        L_ddot
        - both * np.cross(c, l_i * n)
        - np.cross(omega_l, np.cross(omega_l, l_i * n))
        - 2.0 * l_dot * turn
        - l_ddot * n
    )  # eq. 21, mended
    alpha_u = -dot(L_ddot_prime, v) / l_nc  # eq. 19
    alpha_v = dot(L_ddot_prime, u) / l_nc  # eq. 20
    alpha_l = alpha_u[..., None] * u + alpha_v[..., None] * v + both * c  # eq. 18

    # 6 Acceleration of the mass centres
    T = np.stack([n, v, c_prime], axis=-1)  # eq. 28
    L_d = times(T, pods.r_d0)  # eq. 26
    L_u = l_i * n + times(T, pods.r_u0)  # eq. 27
    L_d_ddot = np.cross(alpha_l, L_d) + np.cross(omega_l, np.cross(omega_l, L_d))  # eq. 29
    L_u_ddot = (
        np.cross(alpha_l, L_u) + np.cross(omega_l, np.cross(omega_l, L_u)) + 2.0 * l_dot * turn + l_ddot * n
    )  # eq. 30

    # 7 Dynamics of pods
    m_d, m_u = pods.m_d[:, None], pods.m_u[:, None]
    I_d = about(pods.I_d0 + moved(pods.m_d, L_d), T)  # eq. 32
    I_u = about(pods.I_u0 + moved(pods.m_u, L_u), T)  # eq. 33
    friction = pods.C_s[:, None] * (omega_l - omega)
    N = (
        -np.cross(m_u * L_u + m_d * L_d, G)
        + m_u * np.cross(L_u, L_u_ddot)
        + m_d * np.cross(L_d, L_d_ddot)
        + times(I_u + I_d, alpha_l)
        + np.cross(omega_l, times(I_u + I_d, omega_l))
        + friction
        + pods.C_u[:, None] * omega_l
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
    moment += (friction - np.cross(q, across)).sum(axis=1)  # eq. 49
    n_F = solve_legs(leg_matrices(motion), np.concatenate([force, moment], axis=-1))
    F_act = -n_F + pods.m_u * dot(n, L_u_ddot - G) + pods.C_p * motion.Ld  # eq. 39
    base = m_d * (L_d_ddot - G) + m_u * (L_u_ddot - G) - (n_F[..., None] * n + across)
    beyond = beyond_cells(mechanism, T, motion.L, l_ddot[..., 0], omega_l, alpha_l)
    return LegReactions(n, F_act, n_F, across, base, beyond)


def moved(mass: Array, place: Array) -> Array:
    """The parallel-axis term of eqs. 32, 33 and 50, m (l·l 1 − l lᵀ), of masses (…) at places (…, 3)."""
    return mass[..., None, None] * (dot(place, place)[..., None, None] * np.eye(3) - outer(place, place))
