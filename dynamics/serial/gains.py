"""Feedback gains of a computed-torque law, and when they make the error vanish (Lee et al. 1982 = 000, after eq. 4.3).

With an exact model ë + K_v ė + K_p e = 0 (000 eq. 4.3). If (a) K_v is symmetric and non-negative definite, (b) K_p is
symmetric and positive definite, and (c) the rank of [K_v | K_p K_v | … | K_p^{n−1} K_v] is n, e goes to zero.
"""

import numpy as np

from dynamics.errors import DynamicsError
from dynamics.serial.vectors import Matrix, Scalar, Values, Vector, apply
from kinematics import Array

Gain = Scalar | Matrix
"""A number, the same for all joints, or a matrix (n, n)."""

_ROUNDING = 1e-12  # relative, of symmetry and of eigenvalues


def gain_matrix(name: str, gain: Gain, joints: int) -> Array:
    """A gain as a matrix (n, n) of floats, a number on its diagonal.

    Raises DynamicsError, with the gain's name, for another shape or numbers that are not finite.
    """
    matrix: Array = np.array(gain, dtype=float)
    if matrix.ndim == 0:
        matrix = matrix * np.eye(joints)
    if matrix.shape != (joints, joints):
        raise DynamicsError(f"{name}: shape {matrix.shape}, must be a number or ({joints}, {joints})")
    if not np.isfinite(matrix).all():
        raise DynamicsError(f"{name}: {matrix.tolist()} is not finite")
    return matrix


def check_gains(kp: Gain, kv: Gain, joints: int) -> None:
    """Refuse gains under which the error need not vanish; K_p 1/s², K_v 1/s, numbers or matrices (n, n).

    Raises DynamicsError that names the condition (a), (b) or (c) of 000 and the number that breaks it.
    """
    position, velocity = gain_matrix("K_p", kp, joints), gain_matrix("K_v", kv, joints)
    for name, condition, matrix, unit in (("K_v", "a", velocity, "1/s"), ("K_p", "b", position, "1/s²")):
        size, skew = np.abs(matrix).max(), np.abs(matrix - matrix.T).max()
        if skew > _ROUNDING * size:
            raise DynamicsError(f"{name}: not symmetric, by {skew:g} {unit} (condition {condition})")
        least = float(np.linalg.eigvalsh(matrix)[0])
        if name == "K_p" and least <= _ROUNDING * size:
            raise DynamicsError(f"K_p: least eigenvalue {least:g} 1/s², must be above 0 1/s² (condition b)")
        if least < -_ROUNDING * joints * size:
            raise DynamicsError(f"K_v: least eigenvalue {least:g} 1/s, must be at least 0 1/s (condition a)")
    rank = damped_rank(position, velocity)
    if rank < joints:
        raise DynamicsError(
            f"K_p and K_v: rank of [K_v | K_p K_v | …] is {rank}, must be {joints}: what is not damped goes on "
            "swinging (condition c)"
        )


def damped_rank(position: Array, velocity: Array) -> int:
    """Rank of [K_v | K_p K_v | … | K_p^{n−1} K_v] (n, n²); scaled, which leaves it as it is."""
    stiffness = position / np.abs(position).max()
    block = velocity / max(float(np.abs(velocity).max()), np.finfo(float).tiny)
    blocks = [block]
    for _ in range(len(position) - 1):
        block = stiffness @ block
        blocks.append(block)
    return int(np.linalg.matrix_rank(np.hstack(blocks)))


def fed_back(gain: Gain, error: Vector) -> Vector:
    """A gain times an error (n,)."""
    if np.ndim(gain) == 0:
        return [gain * x for x in error]
    return apply(gain, error)


def servo_acceleration(desired: tuple[Values, Values, Values], q: Vector, qd: Vector, kp: Gain, kv: Gain) -> Vector:
    """q̈ᵈ + K_v (q̇ᵈ − q̇) + K_p (qᵈ − q), the bracket of 000 eq. 4.1."""
    error = [x - now for x, now in zip(desired[0], q, strict=True)]
    slip = [xd - rate for xd, rate in zip(desired[1], qd, strict=True)]
    terms = zip(desired[2], fed_back(kv, slip), fed_back(kp, error), strict=True)
    return [xdd + damping + stiffness for xdd, damping, stiffness in terms]
