"""Equations of motion of platform and legs in closed form, M(X) [ẗ; α] + h(X, Ẋ) = H F + wrench.

After Pedrammehr, Mahboubkhah & Khani (2012), eqs. 41 to 43, 48 and 51, in their symbols. Each pod's force on its top
is F_i = −F_act n + Q_i (Ẍ + α×q_i) + V_i. Eqs. 42 and 43 as printed are not right, even with the inertias about each
part's own centre of mass and eq. 25's last term −ω_u ω_v/√(1−(u·n)²): they let go of m_u n·(α_l×L_u) in eq. 39, of
l̈ m_u L_u×n in eq. 36, of most of the pod's spin and of what turns about n; `dynamics.variants.compact_2012` has them,
term by term. Written out again,

    ω_l = Γ L̇                Γ = (1 + n uᵀ (u·n)/(1−(u·n)²)) ñ/l
    α_l = Γ (Ẍ + α×q) + α_0    α_0 = Γ [ω×(ω×q) − ω_l×(ω_l×l n) − 2l̇ ω_l×n] − n ω_u ω_v/√(1−(u·n)²)
    l̈   = n·(Ẍ + α×q) + l̈_0    l̈_0 = n·[ω×(ω×q)] + l (ω_l·ω_l − (ω_l·n)²)
    Q   = m_u n nᵀ + Γᵀ J Γ + m_u [n (L_u×n)ᵀ Γ + Γᵀ (L_u×n) nᵀ],     J = I_d + I_u − m_d L̃_d² − m_u L̃_u²
    V   = {m_u n·[α_0×L_u + ω_l×(ω_l×L_u) + l̈_0 n − G] + C_p l̇ + F_c sign l̇} n + Γᵀ N_0
    N_0 = J α_0 + ω_l×(I_d+I_u) ω_l + m_d L_d×[ω_l×(ω_l×L_d) − G]
          + m_u L_u×[ω_l×(ω_l×L_u) + 2l̇ ω_l×n + l̈_0 n − G] + C_s (ω_l−ω) + C_u ω_l

for Γᵀ N = [N×n − (N·n)(c×n)/(c·n)]/l, the part of eq. 40 across the pod. Q is symmetric.
"""

import numpy as np
import numpy.typing as npt

from dynamics.arguments import checked
from dynamics.mechanism import Mechanism
from dynamics.platform import (
    PlatformMotion,
    about,
    dot,
    leg_constants,
    outer,
    platform_motion,
    skew,
    times,
    transpose,
)
from kinematics import Array


def closed_form_pods(
    mechanism: Mechanism, states: npt.ArrayLike, coulomb_speed: float = 0.0
) -> tuple[Array, Array, Array]:
    """Q_i (n, 6, 3, 3) kg, V_i (n, 6, 3) N and the moments C_s (ω_l−ω) (n, 6, 3) N m of the pods in states (n, 13).

    Base axes. `coulomb_speed` (m/s) as in `Dynamics`. Raises as `closed_form_equations`.
    """
    return _pods(
        mechanism, zero_acceleration_motion(mechanism, np.atleast_2d(checked("states", states, 13))), coulomb_speed
    )


def closed_form_equations(
    mechanism: Mechanism, states: npt.ArrayLike, coulomb_speed: float = 0.0
) -> tuple[Array, Array]:
    """M (…, 6, 6) and h (…, 6) in states (…, 13), one or many: eqs. 48 and 51, base axes about the platform origin.

    `coulomb_speed` (m/s) as in `Dynamics`. Raises DynamicsError for a wrong shape or a number that is not finite,
    SingularityError where a leg has no length or lies along its universal joint's fixed axis.
    """
    given = checked("states", states, 13)
    motion = zero_acceleration_motion(mechanism, np.atleast_2d(given))
    Q, V, spherical = _pods(mechanism, motion, coulomb_speed)
    m_p, r = mechanism.mass, motion.R @ mechanism.center_of_mass
    I_p = about(mechanism.inertia, motion.R)
    q_skew, r_skew, omega, G = skew(motion.q), skew(r), motion.omega, mechanism.gravity
    M = np.empty((len(r), 6, 6))
    M[:, :3, :3] = m_p * np.eye(3) + Q.sum(axis=1)
    M[:, :3, 3:] = -m_p * r_skew - (Q @ q_skew).sum(axis=1)
    M[:, 3:, :3] = transpose(M[:, :3, 3:])
    M[:, 3:, 3:] = I_p - m_p * r_skew @ r_skew - (q_skew @ Q @ q_skew).sum(axis=1)
    turning = m_p * (np.cross(omega, np.cross(omega, r)) - G)
    h = np.empty((len(r), 6))
    h[:, :3] = turning + V.sum(axis=1)
    h[:, 3:] = np.cross(r, turning) + np.cross(omega, times(I_p, omega))
    h[:, 3:] += (np.cross(motion.q, V) - spherical).sum(axis=1)
    return M.reshape(*given.shape[:-1], 6, 6), h.reshape(*given.shape[:-1], 6)


def zero_acceleration_motion(mechanism: Mechanism, states: Array) -> PlatformMotion:
    """The vectors of states (n, 13), without acceleration: S̈ is then ω×(ω×q)."""
    return platform_motion(mechanism.geometry, np.hstack([states, np.zeros((len(states), 6))]))


def pod_jacobian(mechanism: Mechanism, motion: PlatformMotion) -> Array:
    """Γ (n, 6, 3, 3), rad/m, of ω_l = Γ L̇: a pod's angular velocity from its top's velocity."""
    n, u = motion.s, mechanism.geometry.universal_axes
    un = dot(u, n)
    spin = (un / (1.0 - un**2))[..., None, None] * outer(n, np.broadcast_to(u, n.shape))
    return np.asarray((np.eye(3) + spin) @ skew(n) / motion.L[..., None, None])


def coulomb_force(F_c: Array, speed: Array, coulomb_speed: float) -> Array:
    """F_c sign(L̇), or F_c tanh(L̇/coulomb_speed) where that is above zero; N."""
    return F_c * (np.tanh(speed / coulomb_speed) if coulomb_speed > 0.0 else np.sign(speed))


def _pods(mechanism: Mechanism, motion: PlatformMotion, coulomb_speed: float) -> tuple[Array, Array, Array]:
    """`closed_form_pods` of what `zero_acceleration_motion` has made of the states."""
    pods, u, G = leg_constants(mechanism), mechanism.geometry.universal_axes, mechanism.gravity
    n, v, l_i, l_dot = motion.s, motion.v, motion.L[..., None], motion.Ld[..., None]
    T = np.stack([n, v, np.cross(n, v)], axis=-1)
    L_d, L_u = times(T, pods.r_d0), l_i * n + times(T, pods.r_u0)
    m_d, m_u = pods.m_d[:, None], pods.m_u[:, None]
    I_l = about(pods.I_d0 + pods.I_u0, T)
    d_skew, u_skew = skew(L_d), skew(L_u)
    J = I_l - m_d[..., None] * d_skew @ d_skew - m_u[..., None] * u_skew @ u_skew
    Gamma = pod_jacobian(mechanism, motion)
    lever = times(transpose(Gamma), np.cross(L_u, n))
    Q = transpose(Gamma) @ J @ Gamma + m_u[..., None] * (outer(n, n) + outer(n, lever) + outer(lever, n))

    omega_l = times(Gamma, motion.Sd)
    turning = motion.Sdd  # ω×(ω×q)
    turn = np.cross(omega_l, n)
    convective = turning - l_i * np.cross(omega_l, turn) - 2.0 * l_dot * turn
    across = 1.0 - dot(u, n) ** 2
    both = dot(omega_l, u) * dot(omega_l, v)  # ω_u ω_v, for u and v are at right angles
    alpha_0 = times(Gamma, convective) - (both / np.sqrt(across))[..., None] * n
    l_ddot_0 = dot(n, turning)[..., None] + l_i * (dot(omega_l, omega_l) - dot(omega_l, n) ** 2)[..., None]
    along = l_ddot_0 * n - G
    swing_u = np.cross(omega_l, np.cross(omega_l, L_u))
    spherical = pods.C_s[:, None] * (omega_l - motion.omega[:, None])
    N_0 = (
        times(J, alpha_0)
        + np.cross(omega_l, times(I_l, omega_l))
        + m_d * np.cross(L_d, np.cross(omega_l, np.cross(omega_l, L_d)) - G)
        + m_u * np.cross(L_u, swing_u + 2.0 * l_dot * turn + along)
        + spherical
        + pods.C_u[:, None] * omega_l
    )
    axial = pods.m_u * dot(n, np.cross(alpha_0, L_u) + swing_u + along)
    axial += pods.C_p * motion.Ld + coulomb_force(pods.F_c, motion.Ld, coulomb_speed)
    return Q, axial[..., None] * n + times(transpose(Gamma), N_0), spherical
