"""Platform and legs in whole arrays: the vectors from which models that are read rather than timed are written.

Arrays lead with the n samples, then the six legs. Base axes, SI units. Symbols as in `dynamics.kernels.legs`.
"""

from dataclasses import dataclass

import numpy as np

from dynamics.errors import SingularityError
from dynamics.mechanism import Mechanism
from kinematics import (
    MINIMUM_LENGTH,
    MINIMUM_SINE,
    SINGULAR_CONDITION,
    Array,
    Geometry,
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
    """Matrices (…, i, j) with i and j exchanged."""
    return matrix.swapaxes(-1, -2)


def about(tensor: Array, axes: Array) -> Array:
    """T I Tᵀ: tensors (…, 3, 3) of a body's own axes, which are the columns of T (…, 3, 3), in base axes."""
    return np.asarray(axes @ tensor @ transpose(axes))


@dataclass(frozen=True, slots=True, eq=False)
class LegConstants:
    """What belongs to the six legs, leg by leg.

    m_d, m_u, C_u, C_p, C_s, F_c (6,), r_d0, r_u0 (6, 3), I_d0, I_u0 (6, 3, 3); inertias about each part's own centre of
    mass, axes of D and U.
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


def leg_constants(mechanism: Mechanism) -> LegConstants:
    """The legs of a mechanism, side by side."""
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
    """The vectors of motions (n, 19). Ṡ = ω×q + ṫ, L̇ = s·Ṡ, S̈ = α×q + ω×(ω×q) + ẗ.

    Raises SingularityError, naming sample and leg, where a leg has no length or lies along u.
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
            f"sample {sample}: leg {leg + 1} has no length or lies along the fixed axis of its universal joint: "
            "its spin is undefined"
        )
    w = omega[:, None]
    turning = np.cross(w, q)
    Sd = turning + td[:, None]
    Sdd = np.cross(alpha[:, None], q) + np.cross(w, turning) + tdd[:, None]
    return PlatformMotion(R, td, omega, tdd, alpha, q, S, Sd, Sdd, L, dot(s, Sd), s, across / n[..., None])


def leg_matrices(motion: PlatformMotion) -> Array:
    """H (n, 6, 6) of `kinematics.leg_matrix` for every sample: columns [s_i; q_i×s_i]."""
    return transpose(np.concatenate([motion.s, np.cross(motion.q, motion.s)], axis=-1))


def solve_legs(H: Array, c: Array) -> Array:
    """x (n, 6) of H x = c, H (n, 6, 6), c (n, 6). Raises SingularityError, naming the sample, where H is singular."""
    scaled = H / np.abs(H).max(axis=-1, keepdims=True)
    singular = np.linalg.cond(scaled) > SINGULAR_CONDITION
    if singular.any():
        raise SingularityError(
            f"sample {int(np.argmax(singular))}: the platform is singular here: H has a condition number above "
            f"{SINGULAR_CONDITION:g}, the leg forces are not determined"
        )
    return np.asarray(np.linalg.solve(H, c[..., None])[..., 0])
