"""The equations of motion at the platform, cause by cause: inertia, Coriolis, gravity, friction, external wrench.

    M(X) ν̇ + C(X, ν) ν + g(X) + f(X, ν) = H F + wrench            ν = [ṫ; ω]

in the quasi-velocities ν, base axes about the platform origin, as `closed_form_equations` and `Dynamics` have M and h:
h = C ν + g + f. Each body k has v_k = J_k ν for its centre of mass and ω_k = Ω_k ν, so that

    M = Σ m J_kᵀ J_k + Ω_kᵀ I Ω_k,     C = Σ m J_kᵀ J̇_k + Ω_kᵀ (I Ω̇_k + ω̃_k I Ω_k)

With this C, Ṁ − 2C is skew-symmetric: İ − 2 ω̃ I = −(I ω̃ + ω̃ I) is. The legs' bodies turn with their tops,
J_k = B_k E and Ω_k = Γ E with E = [1, −q̃] for Ṡ = E ν: B_d = −r̃_d Γ, B_u = s sᵀ − r̃_u Γ.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dynamics.arguments import WRENCH_FIELDS, checked
from dynamics.closed_form import coulomb_force, pod_jacobian, zero_acceleration_motion
from dynamics.errors import DynamicsError
from dynamics.mechanism import Mechanism
from dynamics.platform import (
    PlatformMotion,
    about,
    dot,
    leg_constants,
    leg_matrices,
    outer,
    skew,
    solve_legs,
    times,
    transpose,
)
from kinematics import Array


@dataclass(frozen=True, slots=True, eq=False)
class TaskSpace:
    """Equations of motion in n states, wrenches [force; moment] in base axes about the platform origin, N and N m.

    twist (n, 6): ν, m/s and rad/s.  rotation (n, 3, 3): platform to base.  leg_matrix (n, 6, 6): H.
    platform_mass, leg_mass (n, 6, 6): the platform's and the six legs' share of M.
    platform_coriolis, leg_coriolis (n, 6, 6): their shares of C; Ṁ − 2C is skew for each.
    platform_gravity, leg_gravity (n, 6): their shares of g, what it takes to hold their weight.
    friction (n, 6): f, what it takes to move all joints.
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
        """H F (n, 5, 6) cause by cause, in the order of `TERMS`, of accelerations [ẗ; α] (n, 6) under wrenches (n, 6).

        Platform inertia, gravity, leg inertia, friction, external; they sum to H F. Wrenches in platform axes; one
        (6,) of either counts for all. Raises DynamicsError for a wrong shape or a number that is not finite.
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
        """Leg forces (n, 5, 6) N cause by cause: `terms` carried to the legs. Raises SingularityError where H is."""
        terms = self.terms(accelerations, wrenches)
        H = np.repeat(self.leg_matrix, terms.shape[1], axis=0)
        return solve_legs(H, terms.reshape(-1, 6)).reshape(terms.shape)

    def _samples(self, name: str, values: npt.ArrayLike, fields: tuple[str, ...]) -> Array:
        array = checked(name, values, 6, fields)
        if array.ndim == 2 and len(array) != len(self.twist):
            raise DynamicsError(f"{name}: {len(array)} samples, must be as many as states, {len(self.twist)}")
        return np.broadcast_to(array, self.twist.shape)


def task_space_equations(mechanism: Mechanism, states: npt.ArrayLike, coulomb_speed: float = 0.0) -> TaskSpace:
    """Equations of motion of a mechanism in states (n, 13), or one (13,): see TaskSpace.

    `coulomb_speed` (m/s) smooths Coulomb friction as in `Dynamics`. Raises DynamicsError for a wrong shape or a number
    that is not finite, SingularityError where a leg has no length or lies along its universal joint's fixed axis.
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


def _beside(left: Array, right: Array) -> Array:
    """[left right] of matrices (…, 3, 3)."""
    return np.concatenate([np.broadcast_to(left, right.shape), right], axis=-1)


def _platform(mechanism: Mechanism, motion: PlatformMotion) -> tuple[Array, Array, Array]:
    """The platform's M, C (n, 6, 6) and g (n, 6): J = [1, −r̃], Ω = [0, 1]."""
    m, r, omega = mechanism.mass, motion.R @ mechanism.center_of_mass, motion.omega
    inertia = about(mechanism.inertia, motion.R)
    J = _beside(np.eye(3), -skew(r))
    J_rate = _beside(np.zeros((3, 3)), -skew(np.cross(omega, r)))
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

    omega = motion.omega[:, None]
    E = _beside(np.eye(3), -skew(motion.q))
    E_rate = _beside(np.zeros((3, 3)), -skew(np.cross(omega, motion.q)))
    down = transpose(E)
    mass, coriolis = down @ Q @ E, down @ (Q @ E_rate + N @ E)
    weight = times(m_d * transpose(B_d) + m_u * transpose(B_u), g)
    spherical = legs.C_s[:, None] * (W - omega)
    sliding = legs.C_p * motion.Ld + coulomb_force(legs.F_c, motion.Ld, coulomb_speed)
    resisting = sliding[..., None] * s + times(turn, legs.C_u[:, None] * W + spherical)
    friction = times(down, resisting).sum(axis=1)
    friction[:, 3:] -= spherical.sum(axis=1)
    return mass.sum(axis=1), coriolis.sum(axis=1), -times(down, weight).sum(axis=1), friction
