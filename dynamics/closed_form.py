"""Closed-form equations of motion of platform and legs, M(X) [ẗ; α] + h(X, Ẋ), split by cause; mechanical energy."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dynamics.arguments import WRENCH_FIELDS, checked
from dynamics.errors import DynamicsError, SingularityError
from dynamics.mechanism import Mechanism
from kinematics import (
    MINIMUM_LENGTH,
    MINIMUM_SINE,
    SINGULAR_CONDITION,
    Array,
    Geometry,
    leg_kinematics,
    quaternion_to_matrix,
)


def dot(a: Array, b: Array) -> Array:
    """a·b of vectors (…, 3)."""
    return np.asarray(np.einsum("...k,...k->...", a, b))


def times(matrix: Array, vector: Array) -> Array:
    """Matrices (…, i, j) times vectors (…, j)."""
    return np.asarray(np.einsum("...ij,...j->...i", matrix, vector))


def outer(a: Array, b: Array) -> Array:
    """a bᵀ of vectors (…, 3)."""
    return np.asarray(a[..., :, None] * b[..., None, :])


def skew(a: Array) -> Array:
    """ã (…, 3, 3) of vectors (…, 3): ã b = a×b."""
    matrix = np.zeros((*a.shape, 3))
    matrix[..., 2, 1] = a[..., 0]
    matrix[..., 0, 2] = a[..., 1]
    matrix[..., 1, 0] = a[..., 2]
    return matrix - transpose(matrix)


def transpose(matrix: Array) -> Array:
    """Transpose of matrices (…, i, j)."""
    return matrix.swapaxes(-1, -2)


def about(tensor: Array, axes: Array) -> Array:
    """T I Tᵀ: tensors I (…, 3, 3) in body axes, the columns of T (…, 3, 3), transformed to base axes."""
    return np.asarray(axes @ tensor @ transpose(axes))


@dataclass(frozen=True, slots=True, eq=False)
class LegConstants:
    """Constants of the six legs.

    m_d, m_u, C_u, C_p, C_s, F_c (6,), r_d0, r_u0 (6, 3), I_d0, I_u0 (6, 3, 3); inertias about the parts' centres of
    mass, axes of D and U. m_r, C_r, F_r (6,): reflected mass and friction of the drives.
    """

    m_d: Array
    m_u: Array
    r_d0: Array
    r_u0: Array
    I_d0: Array
    I_u0: Array
    C_u: Array
    C_p: Array
    C_s: Array
    F_c: Array
    m_r: Array
    C_r: Array
    F_r: Array


def leg_constants(mechanism: Mechanism) -> LegConstants:
    """Stack the constants of a mechanism's six legs."""
    legs = mechanism.legs
    return LegConstants(
        m_d=np.array([leg.lower.mass for leg in legs]),
        m_u=np.array([leg.upper.mass for leg in legs]),
        r_d0=np.array([leg.lower.center_of_mass for leg in legs]),
        r_u0=np.array([leg.upper.center_of_mass for leg in legs]),
        I_d0=np.array([leg.lower.inertia for leg in legs]),
        I_u0=np.array([leg.upper.inertia for leg in legs]),
        C_u=np.array([leg.friction.universal for leg in legs]),
        C_p=np.array([leg.friction.prismatic for leg in legs]),
        C_s=np.array([leg.friction.spherical for leg in legs]),
        F_c=np.array([leg.friction.coulomb for leg in legs]),
        m_r=np.array([leg.drive.mass for leg in legs]),
        C_r=np.array([leg.drive.viscous for leg in legs]),
        F_r=np.array([leg.drive.coulomb for leg in legs]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PlatformMotion:
    """Motions of the platform and of the platform points.

    R (n, 3, 3), ṫ, ω, ẗ, α (n, 3): rotation, velocities and accelerations of the platform.
    q, S, Ṡ, S̈, s, v (n, 6, 3): q = R p, leg vector S = q + t − b and its derivatives, s its direction,
    v = (u×s)/‖u×s‖; L, L̇ (n, 6) its length and s·Ṡ.
    """

    R: Array
    td: Array
    omega: Array
    tdd: Array
    alpha: Array
    q: Array
    S: Array
    Sd: Array
    Sdd: Array
    L: Array
    Ld: Array
    s: Array
    v: Array


def platform_motion(geometry: Geometry, motions: Array) -> PlatformMotion:
    """Compute the vectors of motions (n, 19). Ṡ = ω×q + ṫ, L̇ = s·Ṡ, S̈ = α×q + ω×(ω×q) + ẗ.

    Raises SingularityError with the sample and leg if a leg has zero length or lies along u.
    """
    R = quaternion_to_matrix(motions[:, 3:7])
    t, td, omega, tdd, alpha = (motions[:, at : at + 3] for at in (0, 7, 10, 13, 16))
    q = np.einsum("nij,lj->nli", R, geometry.platform_points)
    S = q + t[:, None] - geometry.base_points
    L = np.linalg.norm(S, axis=-1)
    s = S / np.maximum(L, MINIMUM_LENGTH)[..., None]
    across = np.cross(geometry.universal_axes, s)
    n = np.linalg.norm(across, axis=-1)
    singular = ~((L >= MINIMUM_LENGTH) & (n >= MINIMUM_SINE))
    if singular.any():
        sample, leg = np.argwhere(singular)[0]
        raise SingularityError(
            f"leg {leg + 1} has no length or lies along the fixed axis of its universal joint: its spin is undefined",
            f"sample {sample}: ",
        )
    w = omega[:, None]
    turning = np.cross(w, q)
    Sd = turning + td[:, None]
    Sdd = np.cross(alpha[:, None], q) + np.cross(w, turning) + tdd[:, None]
    return PlatformMotion(R, td, omega, tdd, alpha, q, S, Sd, Sdd, L, dot(s, Sd), s, across / n[..., None])


def leg_matrices(motion: PlatformMotion) -> Array:
    """H (n, 6, 6) of all samples, as `kinematics.leg_matrix`: columns [s_i; q_i×s_i]."""
    return transpose(np.concatenate([motion.s, np.cross(motion.q, motion.s)], axis=-1))


def solve_legs(H: Array, c: Array) -> Array:
    """Solve H x = c for x (n, 6); H (n, 6, 6), c (n, 6). Raises SingularityError with the sample if H is singular."""
    scaled = H / np.abs(H).max(axis=-1, keepdims=True)
    singular = np.linalg.cond(scaled) > SINGULAR_CONDITION
    if singular.any():
        raise SingularityError(
            f"the platform is singular here: H has a condition number above {SINGULAR_CONDITION:g}, the leg forces are "
            "not determined",
            f"sample {int(np.argmax(singular))}: ",
        )
    return np.asarray(np.linalg.solve(H, c[..., None])[..., 0])


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
    """M (…, 6, 6) and h (…, 6) in one or many states (…, 13): eqs. 48 and 51, base axes about the platform origin.

    `coulomb_speed` (m/s) as in `Dynamics`. Raises DynamicsError for a wrong shape or a number that is not finite,
    SingularityError if a leg has zero length or lies along its universal joint's fixed axis.
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
    """Compute the vectors of states (n, 13) with zero acceleration: S̈ is then ω×(ω×q)."""
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


def _sliding(legs: LegConstants, speed: Array, coulomb_speed: float) -> Array:
    """Friction (n, 6) N of prismatic joints and drives at leg speeds (n, 6) m/s."""
    return (legs.C_p + legs.C_r) * speed + coulomb_force(legs.F_c + legs.F_r, speed, coulomb_speed)


def _pods(mechanism: Mechanism, motion: PlatformMotion, coulomb_speed: float) -> tuple[Array, Array, Array]:
    """As `closed_form_pods`, from the output of `zero_acceleration_motion`."""
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
    Q += pods.m_r[:, None, None] * outer(n, n)

    omega_l = times(Gamma, motion.Sd)
    turning = motion.Sdd  # ω×(ω×q)
    turn = np.cross(omega_l, n)
    convective = turning - l_i * np.cross(omega_l, turn) - 2.0 * l_dot * turn
    across = 1.0 - dot(u, n) ** 2
    both = dot(omega_l, u) * dot(omega_l, v)  # ω_u ω_v, since u and v are orthogonal
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
    axial += pods.m_r * l_ddot_0[..., 0]
    axial += _sliding(pods, motion.Ld, coulomb_speed)
    return Q, axial[..., None] * n + times(transpose(Gamma), N_0), spherical


@dataclass(frozen=True, slots=True, eq=False)
class TaskSpace:
    """Equations of motion in n states, wrenches [force; moment] in base axes about the platform origin, N and N m.

    twist (n, 6): ν, m/s and rad/s.  rotation (n, 3, 3): platform to base.  leg_matrix (n, 6, 6): H.
    platform_mass, leg_mass (n, 6, 6): contributions of the platform and the six legs to M.
    platform_coriolis, leg_coriolis (n, 6, 6): contributions to C; Ṁ − 2C is skew for each.
    platform_gravity, leg_gravity (n, 6): contributions to g, the wrench that balances their weight.
    friction (n, 6): f, the wrench that overcomes friction of joints and drives.
    """

    twist: Array
    rotation: Array
    leg_matrix: Array
    platform_mass: Array
    leg_mass: Array
    platform_coriolis: Array
    leg_coriolis: Array
    platform_gravity: Array
    leg_gravity: Array
    friction: Array

    @property
    def mass(self) -> Array:
        """M (n, 6, 6), symmetric positive definite."""
        return self.platform_mass + self.leg_mass

    @property
    def coriolis(self) -> Array:
        """C (n, 6, 6)."""
        return self.platform_coriolis + self.leg_coriolis

    @property
    def gravity(self) -> Array:
        """g (n, 6)."""
        return self.platform_gravity + self.leg_gravity

    @property
    def bias(self) -> Array:
        """h = C ν + g + f (n, 6)."""
        return times(self.coriolis, self.twist) + self.gravity + self.friction

    def terms(self, accelerations: npt.ArrayLike, wrenches: npt.ArrayLike | None = None) -> Array:
        """H F (n, 5, 6) split by cause in the order of `TERMS`, for accelerations [ẗ; α] (n, 6) under wrenches (n, 6).

        Platform inertia, gravity, leg inertia, friction, external; their sum is H F. Wrenches in platform axes; one
        (6,) of either applies to all. Raises DynamicsError for a wrong shape or a number that is not finite.
        """
        acceleration = self._samples("accelerations", accelerations, ("ax", "ay", "az", "alx", "aly", "alz"))
        wrench = self._samples("wrenches", np.zeros(6) if wrenches is None else wrenches, WRENCH_FIELDS)
        external = [times(self.rotation, wrench[:, :3]), times(self.rotation, wrench[:, 3:])]
        return np.stack(
            [
                times(self.platform_mass, acceleration) + times(self.platform_coriolis, self.twist),
                self.gravity,
                times(self.leg_mass, acceleration) + times(self.leg_coriolis, self.twist),
                self.friction,
                -np.concatenate(external, axis=-1),
            ],
            axis=1,
        )

    def leg_terms(self, accelerations: npt.ArrayLike, wrenches: npt.ArrayLike | None = None) -> Array:
        """Leg forces (n, 5, 6) N by cause: H⁻¹ times `terms`. Raises SingularityError if H is singular."""
        terms = self.terms(accelerations, wrenches)
        H = np.repeat(self.leg_matrix, terms.shape[1], axis=0)
        return solve_legs(H, terms.reshape(-1, 6)).reshape(terms.shape)

    def _samples(self, name: str, values: npt.ArrayLike, fields: tuple[str, ...]) -> Array:
        array = checked(name, values, 6, fields)
        if array.ndim == 2 and len(array) != len(self.twist):
            raise DynamicsError(f"{name}: {len(array)} samples, must be as many as states, {len(self.twist)}")
        return np.broadcast_to(array, self.twist.shape)


def task_space_equations(mechanism: Mechanism, states: npt.ArrayLike, coulomb_speed: float = 0.0) -> TaskSpace:
    """Compute the equations of motion of a mechanism in states (n, 13), or one (13,): see TaskSpace.

    `coulomb_speed` (m/s) smooths Coulomb friction as in `Dynamics`. Raises DynamicsError for a wrong shape or a number
    that is not finite, SingularityError if a leg has zero length or lies along its universal joint's fixed axis.
    """
    batch = np.atleast_2d(checked("states", states, 13))
    motion = zero_acceleration_motion(mechanism, batch)
    platform_mass, platform_coriolis, platform_gravity = _platform(mechanism, motion)
    leg_mass, leg_coriolis, leg_gravity, friction = _legs(mechanism, motion, coulomb_speed)
    return TaskSpace(
        twist=batch[:, 7:13],
        rotation=motion.R,
        leg_matrix=leg_matrices(motion),
        platform_mass=platform_mass,
        leg_mass=leg_mass,
        platform_coriolis=platform_coriolis,
        leg_coriolis=leg_coriolis,
        platform_gravity=platform_gravity,
        leg_gravity=leg_gravity,
        friction=friction,
    )


def _concatenated(left: Array, right: Array) -> Array:
    """[left right] of matrices (…, 3, 3)."""
    return np.concatenate([np.broadcast_to(left, right.shape), right], axis=-1)


def _platform(mechanism: Mechanism, motion: PlatformMotion) -> tuple[Array, Array, Array]:
    """The platform's M, C (n, 6, 6) and g (n, 6): J = [1, −r̃], Ω = [0, 1]."""
    m, r, omega = mechanism.mass, motion.R @ mechanism.center_of_mass, motion.omega
    inertia = about(mechanism.inertia, motion.R)
    J = _concatenated(np.eye(3), -skew(r))
    J_rate = _concatenated(np.zeros((3, 3)), -skew(np.cross(omega, r)))
    M, C = m * transpose(J) @ J, m * transpose(J) @ J_rate
    M[:, 3:, 3:] += inertia
    C[:, 3:, 3:] += skew(omega) @ inertia
    return M, C, -m * times(transpose(J), mechanism.gravity)


def _legs(mechanism: Mechanism, motion: PlatformMotion, coulomb_speed: float) -> tuple[Array, Array, Array, Array]:
    """The six legs' M, C (n, 6, 6), g and f (n, 6), summed."""
    legs, u, g = leg_constants(mechanism), mechanism.geometry.universal_axes, mechanism.gravity
    s, v, L, Ld = motion.s, motion.v, motion.L[..., None], motion.Ld[..., None]
    T = np.stack([s, v, np.cross(s, v)], axis=-1)
    r_d, r_u = times(T, legs.r_d0), L * s + times(T, legs.r_u0)
    m_d, m_u = legs.m_d[:, None, None], legs.m_u[:, None, None]
    inertia = about(legs.I_d0 + legs.I_u0, T)

    Gamma = pod_jacobian(mechanism, motion)
    W = times(Gamma, motion.Sd)
    sd = np.cross(W, s)
    # Γ = (1 + k s uᵀ) s̃/L with k = μ/(1−μ²), μ = u·s, so k̇ = μ̇ (1+μ²)/(1−μ²)²
    mu, mu_rate = dot(u, s), dot(u, sd)
    k, k_rate = mu / (1.0 - mu**2), mu_rate * (1.0 + mu**2) / (1.0 - mu**2) ** 2
    spin = outer(s, np.broadcast_to(u, s.shape))
    spin_rate = k_rate[..., None, None] * spin + k[..., None, None] * outer(sd, np.broadcast_to(u, s.shape))
    turned = (np.eye(3) + k[..., None, None] * spin) @ skew(sd)
    Gamma_rate = (spin_rate @ skew(s) + turned - Ld[..., None] * Gamma) / L[..., None]

    B_d = -skew(r_d) @ Gamma
    B_u = outer(s, s) - skew(r_u) @ Gamma
    B_d_rate = -skew(np.cross(W, r_d)) @ Gamma - skew(r_d) @ Gamma_rate
    B_u_rate = outer(sd, s) + outer(s, sd) - skew(times(B_u, motion.Sd)) @ Gamma - skew(r_u) @ Gamma_rate
    turn = transpose(Gamma)
    Q = m_d * transpose(B_d) @ B_d + m_u * transpose(B_u) @ B_u + turn @ inertia @ Gamma
    N = m_d * transpose(B_d) @ B_d_rate + m_u * transpose(B_u) @ B_u_rate
    N += turn @ (inertia @ Gamma_rate + skew(W) @ inertia @ Gamma)
    m_r = legs.m_r[:, None, None]
    Q += m_r * outer(s, s)
    N += m_r * outer(s, sd)

    omega = motion.omega[:, None]
    E = _concatenated(np.eye(3), -skew(motion.q))
    E_rate = _concatenated(np.zeros((3, 3)), -skew(np.cross(omega, motion.q)))
    down = transpose(E)
    mass, coriolis = down @ Q @ E, down @ (Q @ E_rate + N @ E)
    weight = times(m_d * transpose(B_d) + m_u * transpose(B_u), g)
    spherical = legs.C_s[:, None] * (W - omega)
    sliding = _sliding(legs, motion.Ld, coulomb_speed)
    resisting = sliding[..., None] * s + times(turn, legs.C_u[:, None] * W + spherical)
    friction = times(down, resisting).sum(axis=1)
    friction[:, 3:] -= spherical.sum(axis=1)
    return mass.sum(axis=1), coriolis.sum(axis=1), -times(down, weight).sum(axis=1), friction


class Energy(NamedTuple):
    """Kinetic and potential energy (n,), J; the potential is zero with all masses at the base frame's origin."""

    kinetic: Array
    potential: Array


def mechanical_energy(mechanism: Mechanism, states: npt.ArrayLike) -> Energy:
    """Compute the energy (n,) of platform and legs in states (n, 13), or one (13,).

    T = ½ Σ m v·v + ω·Iω, V = −Σ m g·r over the bodies, each about its centre of mass, and ½ m_r L̇² of each drive.
    Raises DynamicsError for a wrong shape or a number that is not finite, SingularityError if a leg has zero length
    or lies along its universal joint's fixed axis.
    """
    batch, motion = _motion(mechanism, states)
    legs, b, g = leg_constants(mechanism), mechanism.geometry.base_points, mechanism.gravity
    W, s, L = _leg_angular_velocities(mechanism, batch), motion.s, motion.L[..., None]
    T = np.stack([s, motion.v, np.cross(s, motion.v)], axis=-1)
    r, omega = motion.R @ mechanism.center_of_mass, motion.omega
    r_d, r_u = times(T, legs.r_d0), L * s + times(T, legs.r_u0)
    v_p, v_d = motion.td + np.cross(omega, r), np.cross(W, r_d)
    v_u = motion.Ld[..., None] * s + np.cross(W, r_u)
    kinetic = mechanism.mass * dot(v_p, v_p) + dot(omega, times(about(mechanism.inertia, motion.R), omega))
    kinetic += (legs.m_d * dot(v_d, v_d) + legs.m_u * dot(v_u, v_u)).sum(axis=1)
    kinetic += dot(W, times(about(legs.I_d0 + legs.I_u0, T), W)).sum(axis=1)
    kinetic += (legs.m_r * motion.Ld**2).sum(axis=1)
    potential = -mechanism.mass * (batch[:, :3] + r) @ g
    potential -= (legs.m_d * ((b + r_d) @ g) + legs.m_u * ((b + r_u) @ g)).sum(axis=1)
    return Energy(0.5 * kinetic, potential)


def friction_power(mechanism: Mechanism, states: npt.ArrayLike, coulomb_speed: float = 0.0) -> Array:
    """Power (n,) W dissipated by friction of joints and drives in states (n, 13), or one (13,); never negative.

    C_u W·W + C_s ‖W−ω‖² + (C_p + C_r) L̇² + (F_c + F_r) |L̇| over the legs; `coulomb_speed` (m/s) as in `Dynamics`.
    Raises as `mechanical_energy`.
    """
    batch, motion = _motion(mechanism, states)
    legs, W = leg_constants(mechanism), _leg_angular_velocities(mechanism, batch)
    relative = W - motion.omega[:, None]
    sliding = _sliding(legs, motion.Ld, coulomb_speed)
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


def _leg_angular_velocities(mechanism: Mechanism, states: Array) -> Array:
    """The legs' angular velocities W (n, 6, 3)."""
    motions = np.hstack([states, np.zeros((len(states), 6))])
    return leg_kinematics(mechanism.geometry, motions).angular_velocity
