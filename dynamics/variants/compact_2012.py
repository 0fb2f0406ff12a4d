"""Pedrammehr, Mahboubkhah & Khani (2012), the compact form: eqs. 25, 41 to 43, 48 and 51 as printed, and mended.

The pods' forces are F_i = −F_act n + Q_i (Ẍ + α×q_i) + V_i (eq. 41), which should be eq. 40. As printed Q_i and V_i are
not: `Mend` names what they lack, each by itself. With all of them they are eq. 40, and with the inertias about each
part's own centre of mass the exact model. `dynamics.closed_form` has the form that is used, which needs none.

Slips of the print that leave no doubt are read as they are meant: (L_u + I_d) in eq. 42 is I_u + I_d, and 2ω_l×l n in
S_i of appendix 1 is 2ω_l×l̇ n, as eq. 23 has it. n uᵀ n uᵀ in eq. 42's last bracket is (u·n) n uᵀ, and right.
"""

from collections.abc import Collection
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from dynamics.arguments import batch
from dynamics.mechanism import Mechanism
from dynamics.platform import about, dot, leg_matrices, outer, skew, solve_legs, times
from dynamics.variants.pods_2012 import PodsInMotion, moved, pods_in_motion
from kinematics import Array


class Mend(StrEnum):
    """What is mended of eqs. 42 and 43 as printed."""

    LOWER = "m_d L_d×[ω_l×(ω_l×L_d)], which has L_u at its end"
    SPIN_RATE = "−ω_u ω_v/√(1−(u·n)²) at the end of eq. 25, for −ω_u ω_v"
    SWING = "m_u n·(α_l×L_u) of eq. 39, which is missing"
    EXTENSION = "l̈ m_u L_u×n of eq. 36, which is missing"
    SPIN = "the moments of α_l·n, all but n·(I_u+I_d) n of which are missing"
    ALONG = "the moments along n of (n×L̈)/l, ω_l×(ω_l×L) and 2l̇ ω_l×n, which are missing"
    INERTIA = "inertias about each part's own centre of mass, for those of eqs. 32, 33 and 50"


EVERY_TERM = tuple(mend for mend in Mend if mend is not Mend.INERTIA)
"""What makes eqs. 42 and 43 eq. 40, with whatever inertias."""


def compact_pods(
    mechanism: Mechanism, motions: npt.ArrayLike, mends: Collection[Mend] = ()
) -> tuple[Array, Array, PodsInMotion]:
    """Q_i (n, 6, 3, 3) kg and V_i (n, 6, 3) N of eqs. 42 and 43 in motions (n, 19), base axes, and the pods.

    As printed, but for what is mended. Raises as `variant_forces`.
    """
    samples, _ = batch(motions, None)
    pods = pods_in_motion(mechanism, samples, own_centers=Mend.INERTIA in mends)
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

    # what of them is along n: m_i of eq. 37
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

    # eq. 40: [N×n − (N·n)(c×n)/(c·n)]/l, and what is along n from eq. 39
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
) -> Array:
    """Actuator forces (n, 6) N, pushing positive, of motions (n, 19) by eqs. 48 and 51 with Q_i and V_i of the print.

    Arguments and errors as of `variant_forces`; `mends` are applied to eqs. 42, 43 and 50.
    """
    samples, loads = batch(motions, wrenches)
    Q, V, pods = compact_pods(mechanism, samples, mends)
    motion, m_p = pods.motion, mechanism.mass
    omega, r = motion.omega, motion.R @ mechanism.center_of_mass
    I_p0 = mechanism.inertia if Mend.INERTIA in mends else mechanism.inertia + moved(np.array(m_p), r)
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
    """α_t (n, 6) rad/s² by eq. 25, as printed or mended, and by eqs. 18 to 20, α_l·n, in motions (n, 19)."""
    samples, _ = batch(motions, None)
    pods = pods_in_motion(mechanism, samples)
    motion, omega_l, u = pods.motion, pods.omega_l, mechanism.geometry.universal_axes
    n, l_i = motion.s, motion.L[..., None]
    convective = np.cross(omega_l, np.cross(omega_l, l_i * n)) + 2.0 * motion.Ld[..., None] * np.cross(omega_l, n)
    across = np.cross(n, motion.Sdd - convective) / l_i  # α_n, eq. 23
    return _spin_up(u, pods, across, mended=mended), dot(pods.alpha_l, n)


def _spin_up(u: Array, pods: PodsInMotion, across: Array, *, mended: bool) -> Array:
    """Eq. 25: α_t of α_n (n, 6, 3)."""
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
