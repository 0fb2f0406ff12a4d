"""Newton–Euler recursions of a chain: in link axes, in base axes, and modified (Turney, Mudge & Lee 1980 = 001)."""

from collections.abc import Sequence

from dynamics.serial.chain import (
    Matrix,
    Scalar,
    SerialChain,
    Values,
    Vector,
    add,
    apply,
    apply_transposed,
    cross,
    displacement,
    dot,
    joint_load,
    multiply,
    rotation,
    scalars,
    scale,
    tool_reaction,
    transpose,
)

Z = (0, 0, 1)


def angular_velocity(R: Matrix, omega: Vector, qd: Scalar) -> list[Scalar]:
    """3.15: ω_i = R (ω_{i−1} + θ̇_i z), revolute."""
    return apply_transposed(R, add(omega, scale(qd, Z)))


def angular_acceleration(R: Matrix, alpha: Vector, omega: Vector, qd: Scalar, qdd: Scalar) -> list[Scalar]:
    """3.16, corrected: α_i = R (α_{i−1} + ω_{i−1} × z θ̇_i + θ̈_i z), revolute."""
    return apply_transposed(R, add(alpha, scale(qd, cross(omega, Z)), scale(qdd, Z)))


def turning_acceleration(omega: Vector, alpha: Vector, r: Vector) -> list[Scalar]:
    """Acceleration ω×(ω×r) + α×r of a point at r that rotates with the link."""
    return add(cross(omega, cross(omega, r)), cross(alpha, r))


def origin_acceleration(R: Matrix, a: Vector, omega: Vector, alpha: Vector, r: Vector) -> list[Scalar]:
    """3.17: a_i = ω_i×(ω_i×r_i) + α_i×r_i + R a_{i−1}."""
    return add(turning_acceleration(omega, alpha, r), apply_transposed(R, a))


def sliding_acceleration(R: Matrix, omega: Vector, qd: Scalar, qdd: Scalar) -> list[Scalar]:
    """003, prismatic rows: R d̈_i z + 2 ω_i × R ḋ_i z, with z of frame i − 1 the third row of R."""
    return add(scale(qdd, R[2]), cross(omega, scale(2.0 * qd, R[2])))


def center_acceleration(a: Vector, omega: Vector, alpha: Vector, center: Vector) -> list[Scalar]:
    """3.18, corrected: ā_i = ω_i×(ω_i×r̄_i) + α_i×r̄_i + a_i."""
    return add(turning_acceleration(omega, alpha, center), a)


def inertial_force(mass: float, acceleration: Vector) -> list[Scalar]:
    """F_i = m_i ā_i, first term of 3.19."""
    return scale(mass, acceleration)


def force_from_above(R: Matrix, f: Vector) -> list[Scalar]:
    """R f_{i+1}, in 3.19 and 3.20, with R of joint i + 1."""
    return apply(R, f)


def moment_from_above(R: Matrix, n: Vector) -> list[Scalar]:
    """R n_{i+1}, in 3.20, with R of joint i + 1."""
    return apply(R, n)


def inertial_moment(inertia: Matrix, alpha: Vector) -> list[Scalar]:
    """I_i α_i, in 3.20."""
    return apply(inertia, alpha)


def gyroscopic_moment(inertia: Matrix, omega: Vector) -> list[Scalar]:
    """ω_i × I_i ω_i, in 3.20."""
    return cross(omega, apply(inertia, omega))


def moment_of_inertial_force(center: Vector, r: Vector, force: Vector) -> list[Scalar]:
    """(r̄_i + r_i) × m_i ā_i, in 3.20."""
    return cross(add(center, r), force)


def moment_of_force_above(r: Vector, force: Vector) -> list[Scalar]:
    """r_i × R f_{i+1}, in 3.20."""
    return cross(r, force)


def link_force(force: Vector, above: Vector) -> list[Scalar]:
    """3.19: f_i = m_i ā_i + R f_{i+1}, force of link i − 1 on link i."""
    return add(force, above)


def link_moment(*terms: Vector) -> list[Scalar]:
    """3.20: n_i, moment of link i − 1 on link i about the origin of frame i − 1, as the sum of its terms."""
    return add(*terms)


def joint_force(R: Matrix, load: Vector) -> Scalar:
    """3.21: τ_i = (R z)ᵀ n_i, revolute; (R z)ᵀ f_i, prismatic (003 eq. 2-6)."""
    return dot(R[2], load)


def inward(
    chain: SerialChain,
    rotations: Sequence[Matrix],
    displacements: Sequence[Vector],
    forces: Sequence[Vector],
    moments: Sequence[Sequence[Vector]],
    rates: Vector,
    accelerations: Vector,
    wrench: Values | None,
) -> list[Scalar]:
    """3.19–3.21 from the last link to the first: joint forces τ (n,) from each link's inertial force and moments."""
    n = len(chain)
    tau: list[Scalar] = [None] * n
    f, m = tool_reaction(wrench, type(rates[0]))
    for i in reversed(range(n)):
        link, r = chain.links[i], displacements[i]
        if i + 1 < n:
            f, m = force_from_above(rotations[i + 1], f), moment_from_above(rotations[i + 1], m)
        lever = moment_of_inertial_force(link.center, r, forces[i])
        m = link_moment(*moments[i], lever, moment_of_force_above(r, f), m)
        f = link_force(forces[i], f)
        tau[i] = joint_force(rotations[i], m if link.revolute else f) + joint_load(link, rates[i], accelerations[i])
    return tau


def newton_euler(
    chain: SerialChain,
    q: Values,
    qd: Values,
    qdd: Values,
    wrench: Values | None = None,
    gravity: Values | None = None,
) -> list[Scalar]:
    """Compute joint forces τ (n,), N m or N, of a motion q, qd, qdd (n,) under a tool wrench (6,).

    `gravity` (3,) m/s², base axes, replaces the chain's. Rotors and friction of the joints are included.
    Raises DynamicsError for wrong lengths or numbers that are not finite. Source: 001 eqs. 3.15–3.21.
    """
    n = len(chain)
    positions, rates, accelerations = scalars("q", q, n), scalars("qd", qd, n), scalars("qdd", qdd, n)
    scalar = type(positions[0])
    omega = alpha = [scalar(0.0)] * 3
    a = [scalar(-g) for g in (chain.gravity if gravity is None else gravity)]  # gravity, as base acceleration
    rotations, displacements, forces, moments = [], [], [], []
    for link, x, xd, xdd in zip(chain.links, positions, rates, accelerations, strict=True):
        R, r = rotation(link, x), displacement(link, x)
        if link.revolute:
            alpha = angular_acceleration(R, alpha, omega, xd, xdd)
            omega = angular_velocity(R, omega, xd)
            a = origin_acceleration(R, a, omega, alpha, r)
        else:
            alpha = apply_transposed(R, alpha)
            omega = apply_transposed(R, omega)
            a = add(origin_acceleration(R, a, omega, alpha, r), sliding_acceleration(R, omega, xd, xdd))
        rotations.append(R)
        displacements.append(r)
        forces.append(inertial_force(link.mass, center_acceleration(a, omega, alpha, link.center)))
        moments.append((inertial_moment(link.inertia, alpha), gyroscopic_moment(link.inertia, omega)))

    return inward(chain, rotations, displacements, forces, moments, rates, accelerations, wrench)


def newton_euler_in_base_axes(chain: SerialChain, q: Values, qd: Values, qdd: Values) -> list[Scalar]:
    """Compute joint forces τ (n,), N m, of a motion q, qd, qdd (n,), all joints revolute; rotors and friction included.

    Raises DynamicsError for wrong lengths or numbers that are not finite. Source: 001 eqs. 3.3–3.13.
    """
    n = len(chain)
    positions, rates, accelerations = scalars("q", q, n), scalars("qd", qd, n), scalars("qdd", qdd, n)
    scalar = type(positions[0])
    omega: Vector = [scalar(0.0)] * 3
    alpha = f = moment = omega
    a: Vector = [scalar(-g) for g in chain.gravity]  # gravity, as base acceleration
    turned = [[scalar(float(r == c)) for c in range(3)] for r in range(3)]
    outward = []
    for link, x, xd, xdd in zip(chain.links, positions, rates, accelerations, strict=True):
        z = transpose(turned)[2]
        turned = multiply(turned, rotation(link, x))
        r, center = apply(turned, displacement(link, x)), apply(turned, link.center)
        inertia = multiply(multiply(turned, link.inertia), transpose(turned))
        alpha = add(alpha, cross(omega, scale(xd, z)), scale(xdd, z))  # 3.4
        omega = add(omega, scale(xd, z))  # 3.3
        a = add(turning_acceleration(omega, alpha, r), a)  # 3.7
        force = inertial_force(link.mass, center_acceleration(a, omega, alpha, center))  # 3.8, 3.9
        own = add(inertial_moment(inertia, alpha), gyroscopic_moment(inertia, omega))  # 3.10
        outward.append((z, r, center, force, own))
    tau: list[Scalar] = [None] * n
    for i in reversed(range(n)):
        z, r, center, force, own = outward[i]
        moment = add(own, moment_of_inertial_force(center, r, force), moment_of_force_above(r, f), moment)  # 3.12
        f = add(force, f)  # 3.9
        tau[i] = dot(z, moment) + joint_load(chain.links[i], rates[i], accelerations[i])  # 3.13
    return tau


def turning_matrix(omega: Vector, alpha: Vector) -> list[list[Scalar]]:
    """A_i = ω ωᵀ − Tr{ω ωᵀ} E + αᵀσ, corrected, so that A b = ω×(ω×b) + α×b."""
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
    """5.1: ā_i = A_i (r̄_i + r_i) + R a_{i−1}; m_i times this is in f_i."""
    return add(apply(A, add(center, r)), carried)


def inertial_moment_of_matrix(A: Matrix, K: Matrix) -> list[Scalar]:
    """Tr{A_i K_i σᵀ} in 5.2, corrected: ∫ d×(A d) dm, the skew part of A K."""
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
    """Joint forces τ (n,) as `newton_euler`, with fewer operations. Source: 001 eqs. 3.15, 3.16, 5.1, 5.2."""
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
