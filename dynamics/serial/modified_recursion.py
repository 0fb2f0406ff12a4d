"""Modified Newton–Euler recursion (Turney, Mudge & Lee 1980 = 001, §5): one matrix A_i for ω×(ω×b) + α×b.

Where the print is wrong:
* A_i's last row, second column has ω_z ω_y + α_z; it is + α_x.
* K_i is about the centre of mass, in principal axes; not "about the i−1th origin", and elsewhere it needs −I_xy too.
* the contribution to n_x is (A K)_zy − (A K)_yz, not the opposite.
* eq. 5.2 ends in R n_i; it is R n_{i+1}.
"""

from dynamics.serial.chain import SerialChain, displacement, rotation, scalars
from dynamics.serial.recursion import (
    angular_acceleration,
    angular_velocity,
    inertial_force,
    inward,
    sliding_acceleration,
)
from dynamics.serial.vectors import Matrix, Scalar, Values, Vector, add, apply, apply_transposed, dot


def turning_matrix(omega: Vector, alpha: Vector) -> list[list[Scalar]]:
    """A_i = ω ωᵀ − Tr{ω ωᵀ} E + αᵀσ, mended, so that A b = ω×(ω×b) + α×b."""
    x, y, z = omega
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    ax, ay, az = alpha
    return [[-(yy + zz), xy - az, xz + ay], [xy + az, -(zz + xx), yz - ax], [xz - ay, yz + ax, -(xx + yy)]]


def rotated_acceleration(R: Matrix, a: Vector) -> list[Scalar]:
    """R a_{i−1}, in both lines of 5.1."""
    return apply_transposed(R, a)


def matrix_origin_acceleration(A: Matrix, r: Vector, carried: Vector) -> list[Scalar]:
    """5.1: a_i = A_i r_i + R a_{i−1}."""
    return add(apply(A, r), carried)


def matrix_center_acceleration(A: Matrix, center: Vector, r: Vector, carried: Vector) -> list[Scalar]:
    """5.1: ā_i = A_i (r̄_i + r_i) + R a_{i−1}, of which f_i takes m_i times."""
    return add(apply(A, add(center, r)), carried)


def inertial_moment_of_matrix(A: Matrix, K: Matrix) -> list[Scalar]:
    """Tr{A_i K_i σᵀ} in 5.2, mended: ∫ d×(A d) dm, the skew part of A K."""
    x, y, z = A
    return [dot(z, K[1]) - dot(y, K[2]), dot(x, K[2]) - dot(z, K[0]), dot(y, K[0]) - dot(x, K[1])]


def modified_newton_euler(
    chain: SerialChain,
    q: Values,
    qd: Values,
    qdd: Values,
    wrench: Values | None = None,
    gravity: Values | None = None,
) -> list[Scalar]:
    """Joint forces τ (n,) as `newton_euler` has them, with less arithmetic. Source: 001 eqs. 3.15, 3.16, 5.1, 5.2."""
    n = len(chain)
    positions, rates, accelerations = scalars("q", q, n), scalars("qd", qd, n), scalars("qdd", qdd, n)
    scalar = type(positions[0])
    omega = alpha = [scalar(0.0)] * 3
    a = [scalar(-g) for g in (chain.gravity if gravity is None else gravity)]
    rotations, displacements, forces, moments = [], [], [], []
    for link, x, xd, xdd in zip(chain.links, positions, rates, accelerations, strict=True):
        R, r = rotation(link, x), displacement(link, x)
        carried = rotated_acceleration(R, a)
        if link.revolute:
            alpha = angular_acceleration(R, alpha, omega, xd, xdd)
            omega = angular_velocity(R, omega, xd)
        else:
            alpha = apply_transposed(R, alpha)
            omega = apply_transposed(R, omega)
            carried = add(carried, sliding_acceleration(R, omega, xd, xdd))
        A = turning_matrix(omega, alpha)
        a = matrix_origin_acceleration(A, r, carried)
        rotations.append(R)
        displacements.append(r)
        forces.append(inertial_force(link.mass, matrix_center_acceleration(A, link.center, r, carried)))
        moments.append((inertial_moment_of_matrix(A, link.second_moment),))

    return inward(chain, rotations, displacements, forces, moments, rates, accelerations, wrench)
