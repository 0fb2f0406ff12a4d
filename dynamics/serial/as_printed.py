"""The papers' algorithms as printed, where they differ from those used here.

As counted by their tables, correct but more expensive:
* 000 table 1 (Lee et al. 1982): D, H and G by eqs. 3.8–3.10 with every trace by four 4×4 products, all formed.
* 000 table 2: the recursion with ω×(ω×b) as ω(ω·b) − b(ω·ω), ω·ω formed once for each link.
* 001 table 3 (Turney et al. 1980): the recursion of §3 with eqs. 3.17 and 3.18 by the matrix A_i of §5.
And with the errors in print: 001 §3 and §5, 000 eq. 3.10.
"""

from collections.abc import Callable
from typing import Any

from dynamics.serial.chain import (
    Link,
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
    multiply,
    rotation,
    scalars,
    scale,
    transpose,
)
from dynamics.serial.lagrangian import (
    LagrangeCoefficients,
    Products,
    add_up,
    chain_products,
    differentiated,
    first_derivatives,
    lagrange_coefficients,
)
from dynamics.serial.recursions import (
    angular_acceleration,
    angular_velocity,
    center_acceleration,
    gyroscopic_moment,
    inertial_force,
    inertial_moment,
    inertial_moment_of_matrix,
    inward,
    matrix_center_acceleration,
    matrix_origin_acceleration,
    origin_acceleration,
    rotated_acceleration,
    turning_matrix,
)
from dynamics.serial.torque_control import Gain, lagrange_control, servo_acceleration


def gravity_term(pull: Scalar, derivative: Matrix, center: Vector) -> Scalar:
    """−m_j g ∂T₀ʲ/∂q_i r̄_j with g = (0, 0, −|g|, 0): m_j |g| times the third row, times r̄_j (4,)."""
    return dot(scale(pull, derivative[2]), center)


def printed_trace(before: Matrix, after: Matrix, J: Matrix, front: Matrix, back: Matrix) -> Scalar:
    """Tr{(before · after) J (front · back)ᵀ}: four 4×4 products, 256 multiplications; 195 additions with the trace."""
    product = multiply(multiply(multiply(before, after), J), transpose(multiply(front, back)))
    return add_up(*(product[i][i] for i in range(4)))


def inertia_trace(before: Matrix, after: Matrix, J: Matrix, front: Matrix, back: Matrix) -> Scalar:
    """Tr{∂T₀ᵏ/∂q_j J_k (∂T₀ᵏ/∂q_i)ᵀ}, eq. 3.8."""
    return printed_trace(before, after, J, front, back)


def velocity_trace(before: Matrix, after: Matrix, J: Matrix, front: Matrix, back: Matrix) -> Scalar:
    """Tr{∂²T₀ᵐ/∂q_j∂q_k J_m (∂T₀ᵐ/∂q_i)ᵀ}, eq. 3.9."""
    return printed_trace(before, after, J, front, back)


def lagrange_coefficients_as_printed(chain: SerialChain, q: Values) -> LagrangeCoefficients:
    """Compute D, H and G at a posture q (n,) of a chain with gravity along z₀, as 000 table 1 counts them.

    Sums over j ≤ k, since D and H are symmetric; H for every i from 1 to n, as in eq. 3.9, with ∂T₀ᵐ/∂q_i = 0 for
    i > m (eq. 2.6). The sign of G is that of eq. 3.6, not of 3.10.
    """
    n = len(chain)
    positions = scalars("q", q, n)
    T = chain_products(chain, positions)
    scalar = type(positions[0])
    unit = [[scalar(float(r == c)) for c in range(4)] for r in range(4)]
    zero = [[scalar(0.0)] * 4 for _ in range(4)]
    first = first_derivatives(chain, T)

    def root(i: int) -> Matrix:
        return T[0, i - 1] if i > 1 else unit

    def turned(i: int, m: int) -> Matrix:
        return differentiated(chain.links[i - 1], T[i - 1, m]) if i <= m else zero

    D: list[list[Scalar]] = [[0 for _ in range(n)] for _ in range(n)]
    H: list[list[list[Scalar]]] = [[[0 for _ in range(n)] for _ in range(n)] for _ in range(n)]
    G: list[Scalar] = [0] * n
    for m, link in enumerate(chain.links, start=1):
        J = [[scalar(x) for x in row] for row in link.pseudo_inertia]
        center = [*map(scalar, link.center), scalar(1.0)]
        for i in range(1, m + 1):
            G[i - 1] = add_up(G[i - 1], gravity_term(-link.mass * chain.gravity[2], first[m, i], center))
            for j in range(1, i + 1):
                trace = inertia_trace(root(j), turned(j, m), J, root(i), turned(i, m))
                D[i - 1][j - 1] = D[j - 1][i - 1] = add_up(D[j - 1][i - 1], trace)
        for i in range(1, n + 1):
            for k in range(1, m + 1):
                for j in range(1, k + 1):
                    before, after = _second(chain, first, turned(k, m), j, k, root(k))
                    trace = velocity_trace(before, after, J, root(i), turned(i, m))
                    H[i - 1][j - 1][k - 1] = H[i - 1][k - 1][j - 1] = add_up(H[i - 1][j - 1][k - 1], trace)
        D[m - 1][m - 1] = D[m - 1][m - 1] + link.motor_inertia
    return LagrangeCoefficients(D, H, G)


def _second(chain: SerialChain, first: Products, turned: Matrix, j: int, k: int, root: Matrix) -> tuple[Matrix, Matrix]:
    """The two factors of ∂²T₀ᵐ/∂q_j∂q_k: ∂T₀ᵏ⁻¹/∂q_j and Q_k T_{k−1}ᵐ, or with Q_k twice if j = k."""
    if j == k:
        return root, differentiated(chain.links[k - 1], turned)
    return first[k - 1, j], turned


def computed_torque_as_printed(
    chain: SerialChain, desired: tuple[Values, Values, Values], q: Values, qd: Values, kp: Gain, kv: Gain
) -> list[Scalar]:
    """`computed_torque_lagrange` as 000 table 1 counts it."""
    return lagrange_control(chain, desired, q, qd, kp, kv, lagrange_coefficients_as_printed)


def _printed_gravity(G: Vector) -> list[Scalar]:
    """000 eq. 3.10 as printed: + Σ m_j g ∂T₀ʲ/∂q_i r̄_j, with g of eq. 3.5."""
    return [-x for x in G]


def _coefficients_with_printed_gravity(chain: SerialChain, q: Values) -> LagrangeCoefficients:
    coefficients = lagrange_coefficients(chain, q)
    return coefficients._replace(G=_printed_gravity(coefficients.G))


def lagrange_control_as_printed(
    chain: SerialChain, desired: tuple[Values, Values, Values], q: Values, qd: Values, kp: Gain, kv: Gain
) -> list[Scalar]:
    """Evaluate 000 eq. 4.1 with eqs. 3.8 to 3.10 as printed: `computed_torque_lagrange` with the sign of G reversed."""
    return lagrange_control(chain, desired, q, qd, kp, kv, _coefficients_with_printed_gravity)


Turn = Callable[[Matrix, Vector, Vector, Scalar, Scalar], tuple[Vector, Vector]]
"""α_i and ω_i from R, α_{i−1}, ω_{i−1}, θ̇_i, θ̈_i."""
Load = Callable[[Link, Matrix, Vector, Vector, Vector, Vector], tuple[Vector, Vector, tuple[Vector, ...]]]
"""a_i, m_i ā_i and the link's moments from the link, R, r_i, ω_i, α_i, a_{i−1}."""


def _recursion(chain: SerialChain, q: Values, qd: Values, qdd: Values, turn: Turn, load: Load) -> list[Scalar]:
    n = len(chain)
    positions, rates, accelerations = scalars("q", q, n), scalars("qd", qd, n), scalars("qdd", qdd, n)
    scalar = type(positions[0])
    omega: Vector = [scalar(0.0)] * 3
    alpha = omega
    a: Vector = [scalar(-g) for g in chain.gravity]
    rotations, displacements, forces, moments = [], [], [], []
    for link, x, xd, xdd in zip(chain.links, positions, rates, accelerations, strict=True):
        R, r = rotation(link, x), displacement(link, x)
        alpha, omega = turn(R, alpha, omega, xd, xdd)
        a, force, own = load(link, R, r, omega, alpha, a)
        rotations.append(R)
        displacements.append(r)
        forces.append(force)
        moments.append(own)
    return inward(chain, rotations, displacements, forces, moments, rates, accelerations, None)


def _turn(R: Matrix, alpha: Vector, omega: Vector, qd: Scalar, qdd: Scalar) -> tuple[Vector, Vector]:
    return angular_acceleration(R, alpha, omega, qd, qdd), angular_velocity(R, omega, qd)


def _printed_turn(R: Matrix, alpha: Vector, omega: Vector, qd: Scalar, qdd: Scalar) -> tuple[Vector, Vector]:
    """001 eq. 3.16 as printed: ω_i, in its own axes, instead of ω_{i−1}."""
    turned = angular_velocity(R, omega, qd)
    return angular_acceleration(R, alpha, turned, qd, qdd), turned


def _printed_point(_link: Link, r: Vector) -> Vector:
    """001 eq. 3.18 as printed: r_i instead of r̄_i."""
    return r


def _printed_matrix(omega: Vector, alpha: Vector) -> list[list[Scalar]]:
    """A_i of 001 §5 as printed: α_z instead of α_x."""
    A = turning_matrix(omega, alpha)
    A[2][1] = omega[2] * omega[1] + alpha[2]
    return A


def _moment_of_text(A: Matrix, K: Matrix) -> list[Scalar]:
    """Tr{A_i K_i σᵀ} as the sentence after 001 eq. 5.2 has it, (A K)_yz − (A K)_zy for n_x: the opposite."""
    return [-x for x in inertial_moment_of_matrix(A, K)]


def _moment_about_pivot(link: Link, r: Vector) -> list[list[Scalar]]:
    """K_i about the i−1th origin, as the sentence on it says; its matrix is that about the centre of mass."""
    lever = add(link.center, r)
    return [
        [x + link.mass * a * b for x, b in zip(row, lever, strict=True)]
        for row, a in zip(link.second_moment, lever, strict=True)
    ]


def matrix_point_acceleration(A: Matrix, center: Vector, a: Vector) -> list[Scalar]:
    """ā_i = A_i r̄_i + a_i: 001 eq. 3.18 with the matrix of §5, as table 3 counts it."""
    return add(apply(A, center), a)


def _own_moments(link: Link, omega: Vector, alpha: Vector) -> tuple[Vector, ...]:
    return inertial_moment(link.inertia, alpha), gyroscopic_moment(link.inertia, omega)


def newton_euler_as_counted(chain: SerialChain, q: Values, qd: Values, qdd: Values) -> list[Scalar]:
    """Compute joint forces τ (n,) of a chain of revolute joints, as 001 table 3 counts them: a_i and ā_i by A_i."""

    def load(link: Link, R: Matrix, r: Vector, omega: Vector, alpha: Vector, a: Vector) -> Any:
        A = turning_matrix(omega, alpha)
        origin = matrix_origin_acceleration(A, r, rotated_acceleration(R, a))
        force = inertial_force(link.mass, matrix_point_acceleration(A, link.center, origin))
        return origin, force, _own_moments(link, omega, alpha)

    return _recursion(chain, q, qd, qdd, _turn, load)


def squared_rate(omega: Vector) -> Scalar:
    """ω·ω, once for each link."""
    return dot(omega, omega)


def _expanded(omega: Vector, square: Scalar, alpha: Vector, place: Vector) -> list[Scalar]:
    """ω×(ω×b) + α×b as ω(ω·b) − b(ω·ω) + α×b."""
    along, across = scale(dot(omega, place), omega), scale(square, place)
    return add([x - y for x, y in zip(along, across, strict=True)], cross(alpha, place))


def expanded_origin_acceleration(
    R: Matrix, a: Vector, omega: Vector, square: Scalar, alpha: Vector, r: Vector
) -> list[Scalar]:
    """000 eq. 3.23, as table 2 counts it."""
    return add(_expanded(omega, square, alpha, r), apply_transposed(R, a))


def expanded_center_acceleration(
    a: Vector, omega: Vector, square: Scalar, alpha: Vector, center: Vector
) -> list[Scalar]:
    """000 eq. 3.24, as table 2 counts it."""
    return add(_expanded(omega, square, alpha, center), a)


def computed_torque_expanded(
    chain: SerialChain, desired: tuple[Values, Values, Values], q: Values, qd: Values, kp: Gain, kv: Gain
) -> list[Scalar]:
    """`computed_torque` for a chain of revolute joints, as 000 table 2 counts it."""
    n = len(chain)
    position, rate = scalars("q", q, n), scalars("qd", qd, n)

    def load(link: Link, R: Matrix, r: Vector, omega: Vector, alpha: Vector, a: Vector) -> Any:
        square = squared_rate(omega)
        origin = expanded_origin_acceleration(R, a, omega, square, alpha, r)
        center = expanded_center_acceleration(origin, omega, square, alpha, link.center)
        return origin, inertial_force(link.mass, center), _own_moments(link, omega, alpha)

    return _recursion(chain, position, rate, servo_acceleration(desired, position, rate, kp, kv), _turn, load)


def newton_euler_as_printed(
    chain: SerialChain, q: Values, qd: Values, qdd: Values, barred: bool = False
) -> list[Scalar]:
    """Compute 001 eqs. 3.15–3.21 as printed, with errors in 3.16 and 3.18, for a chain of revolute joints.

    barred: with r̄_i in eq. 3.18, of which a scan could have lost the bars.
    """

    def load(link: Link, R: Matrix, r: Vector, omega: Vector, alpha: Vector, a: Vector) -> Any:
        origin = origin_acceleration(R, a, omega, alpha, r)
        place = link.center if barred else _printed_point(link, r)
        force = inertial_force(link.mass, center_acceleration(origin, omega, alpha, place))
        return origin, force, _own_moments(link, omega, alpha)

    return _recursion(chain, q, qd, qdd, _printed_turn, load)


def modified_newton_euler_as_printed(
    chain: SerialChain, q: Values, qd: Values, qdd: Values, text: bool = False, pivot: bool = False
) -> list[Scalar]:
    """Compute 001 eqs. 5.1 and 5.2 as printed, with an error in an entry of A_i.

    text: with the sign of Tr{A_i K_i σᵀ} of the sentence after eq. 5.2, not that of the equation.  pivot: with K_i
    about the i−1th origin, as its sentence says, not as its matrix.  Uses eqs. 3.15 and 3.16 (corrected); for a chain
    of revolute joints; R n_i at the end of 5.2 is R n_{i+1}.
    """
    trace = _moment_of_text if text else inertial_moment_of_matrix

    def load(link: Link, R: Matrix, r: Vector, omega: Vector, alpha: Vector, a: Vector) -> Any:
        A = _printed_matrix(omega, alpha)
        carried = rotated_acceleration(R, a)
        force = inertial_force(link.mass, matrix_center_acceleration(A, link.center, r, carried))
        K = _moment_about_pivot(link, r) if pivot else link.second_moment
        return matrix_origin_acceleration(A, r, carried), force, (trace(A, K),)

    return _recursion(chain, q, qd, qdd, _turn, load)
