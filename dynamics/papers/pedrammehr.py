"""Pedrammehr, Mahboubkhah & Khani (2012) as printed, in both forms, with the rotation and mass centres of the pods."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from dynamics.arguments import batch
from dynamics.closed_form import (
    LegConstants,
    PlatformMotion,
    about,
    dot,
    leg_constants,
    leg_matrices,
    outer,
    platform_motion,
    skew,
    solve_legs,
    times,
)
from dynamics.mechanism import Mechanism
from dynamics.papers.reactions import LegReactions, beyond_cells
from kinematics import Array


@dataclass(frozen=True, slots=True, eq=False)
class PodsInMotion:
    """The six pods in n motions; base axes, SI units.

    c (n, 6, 3) = u×v; T (n, 6, 3, 3) = [n v c′]; ω_u, ω_v, l̈ (n, 6); ω_l, α_l (n, 6, 3).
    L_d, L_u (n, 6, 3): mass centres from the base point; I_d, I_u (n, 6, 3, 3): inertias of eqs. 31 and 36.
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


def pods_in_motion(
    mechanism: Mechanism, motions: Array, *, own_centers: bool = False, own_axes: bool = False
) -> PodsInMotion:
    """Compute the pods' kinematics in motions (n, 19).

    own_centers: inertias about each part's own centre of mass, without the parallel-axis terms of eqs. 32 and 33.
    own_axes: components of those terms in the pod's axes, in which they are added, not in base axes as printed.
    Raises SingularityError if a leg has zero length or lies along u.
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
    )  # eq. 21, corrected
    alpha_u = -dot(L_ddot_prime, v) / l_nc  # eq. 19
    alpha_v = dot(L_ddot_prime, u) / l_nc  # eq. 20
    alpha_l = alpha_u[..., None] * u + alpha_v[..., None] * v + both * c  # eq. 18

    # 6, 7 Mass centres and inertias
    T = np.stack([n, v, c_prime], axis=-1)  # eq. 28
    L_d = times(T, constants.r_d0)  # eq. 26
    L_u = l_i * n + times(T, constants.r_u0)  # eq. 27
    I_d0, I_u0 = constants.I_d0, constants.I_u0
    if not own_centers:
        places = [times(T.swapaxes(-1, -2), L) if own_axes else L for L in (L_d, L_u)]
        I_d0, I_u0 = I_d0 + moved(constants.m_d, places[0]), I_u0 + moved(constants.m_u, places[1])
    I_d, I_u = about(I_d0, T), about(I_u0, T)  # eqs. 32, 33
    return PodsInMotion(motion, constants, c, T, omega_u, omega_v, omega_l, alpha_l, l_ddot, L_d, L_u, I_d, I_u)


def moved(mass: Array, place: Array) -> Array:
    """The parallel-axis term of eqs. 32, 33 and 50, m (l·l 1 − l lᵀ), of masses (…) at places (…, 3)."""
    return mass[..., None, None] * (dot(place, place)[..., None, None] * np.eye(3) - outer(place, place))


def pedrammehr_2012(mechanism: Mechanism, motions: Array, wrenches: Array, *, mended: bool = False) -> LegReactions:
    """Compute actuator forces F_act and joint reactions of motions (n, 19) and wrenches (n, 6) in platform axes.

    The paper gives no force at the base joint; it follows from Newton's law for the whole pod, with eqs. 29 and 30.
    The mass beyond a load cell rotates with the pod's ω_l and α_l of eqs. 12 and 18.
    mended: inertias about each part's own centre of mass in eqs. 32, 33 and 50; the result equals the exact model.
    """
    pods = pods_in_motion(mechanism, motions, own_centers=True) if mended else pods_in_motion(mechanism, motions)
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
    I_p0 = mechanism.inertia if mended else mechanism.inertia + moved(np.array(m_p), r)
    I_p = about(I_p0, motion.R)  # eq. 50
    force = times(motion.R, wrenches[:, :3]) - m_p * (X_g_ddot - G) - across.sum(axis=1)  # eq. 45
    moment = times(motion.R, wrenches[:, 3:]) - m_p * np.cross(r, X_g_ddot - G)
    moment -= times(I_p, spin_up) + np.cross(w, times(I_p, w))
    moment += (friction - np.cross(motion.q, across)).sum(axis=1)  # eq. 49
    n_F = solve_legs(leg_matrices(motion), np.concatenate([force, moment], axis=-1))
    F_act = -n_F + constants.m_u * dot(n, L_u_ddot - G) + constants.C_p * motion.Ld  # eq. 39
    base = m_d * (L_d_ddot - G) + m_u * (L_u_ddot - G) - (n_F[..., None] * n + across)
    beyond = beyond_cells(mechanism, pods.T, motion.L, pods.l_ddot, omega_l, alpha_l)
    return LegReactions(n, F_act, n_F, across, base, beyond)


class Mend(StrEnum):
    """Corrections of eqs. 42 and 43 as printed."""

    LOWER = "m_d L_d×[ω_l×(ω_l×L_d)], which has L_u at its end"
    SPIN_RATE = "−ω_u ω_v/√(1−(u·n)²) at the end of eq. 25, for −ω_u ω_v"
    SWING = "m_u n·(α_l×L_u) of eq. 39, which is missing"
    EXTENSION = "l̈ m_u L_u×n of eq. 36, which is missing"
    SPIN = "the moments of α_l·n, all but n·(I_u+I_d) n of which are missing"
    ALONG = "the moments along n of (n×L̈)/l, ω_l×(ω_l×L) and 2l̇ ω_l×n, which are missing"
    INERTIA = "inertias about each part's own centre of mass, for those of eqs. 32, 33 and 50"


EVERY_TERM = tuple(mend for mend in Mend if mend is not Mend.INERTIA)
"""Corrections that make eqs. 42 and 43 equal to eq. 40, with any inertias."""


def compact_pods(
    mechanism: Mechanism, motions: npt.ArrayLike, mends: Collection[Mend] = (), *, own_axes: bool = False
) -> tuple[Array, Array, PodsInMotion]:
    """Compute Q_i (n, 6, 3, 3) kg and V_i (n, 6, 3) N of eqs. 42 and 43 in motions (n, 19), base axes, and the pods.

    As printed, except for the corrections; own_axes as in `pods_in_motion`. Raises as `variant_forces`.
    """
    samples, _ = batch(motions, None)
    pods = pods_in_motion(mechanism, samples, own_centers=Mend.INERTIA in mends, own_axes=own_axes)
    u, G = mechanism.geometry.universal_axes, mechanism.gravity
    motion, constants, omega_l = pods.motion, pods.constants, pods.omega_l
    n, l_i, l_dot = motion.s, motion.L[..., None], motion.Ld[..., None]
    L_d, L_u, I_l = pods.L_d, pods.L_u, pods.I_u + pods.I_d
    m_d, m_u = constants.m_d[:, None], constants.m_u[:, None]
    swing_d, swing_u = (np.cross(omega_l, np.cross(omega_l, L)) for L in (L_d, L_u))
    coriolis = 2.0 * l_dot * np.cross(omega_l, n)
    turning = np.cross(motion.omega[:, None], np.cross(motion.omega[:, None], motion.q))
    centripetal = np.cross(omega_l, np.cross(omega_l, l_i * n))
    S = np.cross(n, turning - centripetal - coriolis)  # appendix 1
    S_d, S_u = (np.cross(L, np.cross(L, S)) for L in (L_d, L_u))
    spin, spin_0 = _tangential(u, pods, S, mended=Mend.SPIN_RATE in mends)  # eq. 25, α_t = spin·(Ẍ + α×q) + spin_0

    # moments about the base point, N_i of eq. 36: `slope` times Ẍ + α×q, and the rest
    n_skew, arms = skew(n), m_u[..., None] * _squared(L_u) + m_d[..., None] * _squared(L_d)
    of_spin = times(I_l, n)
    slope = (I_l - arms) @ n_skew / l_i[..., None]
    convective_d = swing_d if Mend.LOWER in mends else swing_u
    rest = (
        -np.cross(m_u * L_u + m_d * L_d, G)
        - (m_u * S_u + m_d * S_d) / l_i
        + m_u * np.cross(L_u, swing_u + coriolis)
        + m_d * np.cross(L_d, convective_d)
        + times(I_l, S) / l_i
        + np.cross(omega_l, times(I_l, omega_l))
        + constants.C_u[:, None] * omega_l
        + constants.C_s[:, None] * (omega_l - motion.omega[:, None])
    )
    l_ddot_0 = dot(turning - centripetal, n)
    if Mend.EXTENSION in mends:
        slope = slope + m_u[..., None] * outer(np.cross(L_u, n), n)
        rest = rest + m_u * l_ddot_0[..., None] * np.cross(L_u, n)

    # their part along n: m_i of eq. 37
    along, along_rest = times(slope.swapaxes(-1, -2), n), dot(rest, n)
    if Mend.ALONG not in mends:
        along = along - times((I_l @ n_skew).swapaxes(-1, -2), n) / l_i
        missing = m_u * np.cross(L_u, swing_u + coriolis) + m_d * np.cross(L_d, convective_d) + times(I_l, S) / l_i
        along_rest = along_rest - dot(missing, n)
    axial_inertia = dot(n, of_spin)
    if Mend.SPIN in mends:
        of_spin = of_spin - times(arms, n)
        axial_inertia = dot(n, of_spin)
        slope = slope + outer(of_spin, spin)
        rest = rest + of_spin * spin_0[..., None]
    along = along + axial_inertia[..., None] * spin
    along_rest = along_rest + axial_inertia * spin_0

    # eq. 40: [N×n − (N·n)(c×n)/(c·n)]/l, and the part along n from eq. 39
    lever = np.cross(pods.c, n) / dot(pods.c, n)[..., None] / l_i
    Q = m_u[..., None] * outer(n, n) - n_skew @ slope / l_i[..., None] - outer(lever, along)
    axial = constants.m_u * (dot(n, swing_u - G) + l_ddot_0) + constants.C_p * motion.Ld
    if Mend.SWING in mends:
        arm = np.cross(L_u, n)
        Q = Q + m_u[..., None] * outer(n, times((n_skew / l_i[..., None]).swapaxes(-1, -2), arm))
        Q = Q + m_u[..., None] * outer(n, dot(arm, n)[..., None] * spin)
        axial = axial + constants.m_u * dot(arm, S / l_i + n * spin_0[..., None])
    V = axial[..., None] * n + np.cross(rest, n) / l_i - lever * along_rest[..., None]
    return Q, V, pods


def compact_forces(
    mechanism: Mechanism,
    motions: npt.ArrayLike,
    wrenches: npt.ArrayLike | None = None,
    mends: Collection[Mend] = (),
    *,
    own_axes: bool = False,
) -> Array:
    """Actuator forces (n, 6) N, pushing positive, of motions (n, 19) by eqs. 48 and 51 with Q_i and V_i as printed.

    Arguments and errors as of `variant_forces`; `mends` are corrections applied to eqs. 42, 43 and 50, own_axes as in
    `pods_in_motion`, and for the platform likewise.
    """
    samples, loads = batch(motions, wrenches)
    Q, V, pods = compact_pods(mechanism, samples, mends, own_axes=own_axes)
    motion, m_p = pods.motion, mechanism.mass
    omega, r = motion.omega, motion.R @ mechanism.center_of_mass
    I_p0 = mechanism.inertia
    if Mend.INERTIA not in mends:
        I_p0 = I_p0 + moved(np.array(m_p), mechanism.center_of_mass if own_axes else r)
    I_p = about(I_p0, motion.R)
    top = motion.tdd[:, None] + np.cross(motion.alpha[:, None], motion.q)
    across = times(Q, top) + V
    turning = motion.tdd + np.cross(motion.alpha, r) + np.cross(omega, np.cross(omega, r)) - mechanism.gravity
    force = m_p * turning - times(motion.R, loads[:, :3]) + across.sum(axis=1)  # eq. 48
    friction = pods.constants.C_s[:, None] * (pods.omega_l - omega[:, None])
    moment = m_p * np.cross(r, turning) + times(I_p, motion.alpha) + np.cross(omega, times(I_p, omega))
    moment += (np.cross(motion.q, across) - friction).sum(axis=1) - times(motion.R, loads[:, 3:])  # eq. 51
    return solve_legs(leg_matrices(motion), np.concatenate([force, moment], axis=-1))


def tangential_accelerations(mechanism: Mechanism, motions: npt.ArrayLike, *, mended: bool) -> tuple[Array, Array]:
    """α_t (n, 6) rad/s² in motions (n, 19): by eq. 25, as printed or corrected, and by eqs. 18 to 20, α_l·n."""
    samples, _ = batch(motions, None)
    pods = pods_in_motion(mechanism, samples)
    motion, omega_l, u = pods.motion, pods.omega_l, mechanism.geometry.universal_axes
    n, l_i = motion.s, motion.L[..., None]
    convective = np.cross(omega_l, np.cross(omega_l, l_i * n)) + 2.0 * motion.Ld[..., None] * np.cross(omega_l, n)
    across = np.cross(n, motion.Sdd - convective) / l_i  # α_n, eq. 23
    return _spin_up(u, pods, across, mended=mended), dot(pods.alpha_l, n)


def _spin_up(u: Array, pods: PodsInMotion, across: Array, *, mended: bool) -> Array:
    """Eq. 25: α_t from α_n (n, 6, 3)."""
    sine = 1.0 - dot(u, pods.motion.s) ** 2
    rates = pods.omega_u * pods.omega_v
    return dot(across, u) * dot(u, pods.motion.s) / sine - (rates / np.sqrt(sine) if mended else rates)


def _tangential(u: Array, pods: PodsInMotion, S: Array, *, mended: bool) -> tuple[Array, Array]:
    """Eq. 25 with α_n = (n×(Ẍ + α×q) + S)/l: its slope (n, 6, 3) over Ẍ + α×q, 1/m, and the rest (n, 6)."""
    n, length = pods.motion.s, pods.motion.L
    un = dot(u, n)
    slope = (un / (1.0 - un**2) / length)[..., None] * np.cross(u, n)
    return slope, _spin_up(u, pods, S / length[..., None], mended=mended)


def _squared(L: Array) -> Array:
    """L̃² (…, 3, 3)."""
    return np.asarray(skew(L) @ skew(L))
