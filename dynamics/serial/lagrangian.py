"""Lagrange–Euler formulation (Turney, Mudge & Lee 1980 = 001, §2 and appendix; 000 §3.1), for both joint types.

`lagrange_euler` follows the appendix of 001, of order n³; `lagrange_coefficients` forms D, H and G as in 000, of
order n⁴. In 4×4 matrices a prismatic joint differs only in its Q.

Errors in print:
* 001 §2 gives the potential energy as −Σ g z₀ᵀ T m r̄ and then takes τ with −∂P.E./∂θ: two wrong signs that cancel.
* 001 eq. 2.6 lacks θ̇_j θ̇_k; the first sum of 000 eq. 3.6 has q̇_j for q̈_j.
* 000 eq. 3.10 has the opposite sign of eq. 3.6: with g = (0, 0, −|g|, 0), G_i = −Σ m_j g ∂T₀ʲ/∂q_i r̄_j.
* 000 eqs. 2.13 and 2.14 sum from the joint on, not from 1.
* 001 eq. 1.26, 000 eq. 2.20: principal axes only; otherwise J_xy = m r̄_x r̄_y − I_xy.
"""

from typing import NamedTuple

from dynamics.serial.chain import (
    Link,
    Matrix,
    Scalar,
    SerialChain,
    Values,
    Vector,
    dot,
    joint_load,
    multiply,
    scalars,
    scale,
    tool_reaction,
    transformation,
)

Products = dict[tuple[int, int], Matrix]


class LagrangeCoefficients(NamedTuple):
    """Coefficients of τ_i = Σ_j D_ij q̈_j + Σ_jk H_ijk q̇_j q̇_k + G_i, without friction.

    D (n, n) including rotors, H (n, n, n) symmetric in j and k (Christoffel symbols), G (n,), as nested lists.
    """

    D: list[list[Scalar]]
    H: list[list[list[Scalar]]]
    G: list[Scalar]


def differentiated(link: Link, T: Matrix) -> list[list[Scalar]]:
    """Q T (001 eq. 1.11): rows interchanged and negated, no arithmetic. The zeros are the matrix's own."""
    zero = T[3][0]
    nothing = [zero, zero, zero, zero]
    if link.revolute:
        return [[-x for x in T[1]], list(T[0]), nothing, nothing]
    return [nothing, nothing, list(T[3]), nothing]


def chain_products(chain: SerialChain, q: Vector) -> Products:
    """T_jⁱ for all 0 ≤ j < i ≤ n (001 eq. 1.15), key (j, i)."""
    n = len(chain)
    T: Products = {(i, i + 1): transformation(chain.links[i], q[i]) for i in range(n)}
    for width in range(2, n + 1):
        for j in range(n - width + 1):
            T[j, j + width] = multiply(T[j, j + width - 1], T[j + width - 1, j + width])
    return T


def first_derivatives(chain: SerialChain, T: Products) -> Products:
    """∂T₀ⁱ/∂q_j = T₀ʲ⁻¹ Q_j T_{j−1}ⁱ for 1 ≤ j ≤ i ≤ n, key (i, j)."""
    derivatives: Products = {}
    for i in range(1, len(chain) + 1):
        for j in range(1, i + 1):
            turned = differentiated(chain.links[j - 1], T[j - 1, i])
            derivatives[i, j] = turned if j == 1 else multiply(T[0, j - 1], turned)
    return derivatives


def second_derivatives(chain: SerialChain, T: Products, first: Products) -> dict[tuple[int, int, int], Matrix]:
    """∂²T₀ⁱ/∂q_j ∂q_k for 1 ≤ j ≤ k ≤ i ≤ n (001 eq. 1.12, appendix), key (i, j, k)."""
    derivatives: dict[tuple[int, int, int], Matrix] = {}
    for i in range(1, len(chain) + 1):
        for k in range(1, i + 1):
            link = chain.links[k - 1]
            for j in range(1, k + 1):
                if j == 1:
                    derivatives[i, j, k] = differentiated(chain.links[0], first[i, k])
                elif j == k:
                    twice = differentiated(link, differentiated(link, T[k - 1, i]))
                    derivatives[i, j, k] = multiply(T[0, k - 1], twice)
                else:
                    derivatives[i, j, k] = multiply(first[k - 1, j], differentiated(link, T[k - 1, i]))
    return derivatives


def weighted_sum(terms: list[tuple[Scalar, Matrix]]) -> list[list[Scalar]]:
    """Σ factor · matrix."""
    return [[dot([factor for factor, _ in terms], [M[r][c] for _, M in terms]) for c in range(4)] for r in range(4)]


def kinetic_matrix(
    i: int,
    J: Matrix,
    qd: Vector,
    qdd: Vector,
    first: Products,
    second: dict[tuple[int, int, int], Matrix],
) -> list[list[Scalar]]:
    """{Σ_j ∂T₀ⁱ/∂q_j q̈_j + Σ_jk ∂²T₀ⁱ/∂q_j∂q_k q̇_j q̇_k} J_i."""
    terms = [(qdd[j - 1], first[i, j]) for j in range(1, i + 1)]
    for k in range(1, i + 1):
        terms.append((qd[k - 1] * qd[k - 1], second[i, k, k]))
        twice = qd[k - 1] + qd[k - 1]
        terms.extend((twice * qd[j - 1], second[i, j, k]) for j in range(1, k))
    return multiply(weighted_sum(terms), J)


def trace_of_product(A: Matrix, B: Matrix) -> Scalar:
    """Compute Tr{A Bᵀ}, forming only the diagonal."""
    return dot([x for row in A for x in row], [x for row in B for x in row])


def gravity_force(gravity: Vector, derivative: Matrix, link: Link) -> Scalar:
    """−gᵀ ∂T₀^q/∂q_i m_q r̄_q (001 eq. 2.8; 000 eq. 3.6), gravity in any direction."""
    weight = link.pseudo_inertia[3]
    pulls = [dot(row, scale(-g, weight)) for g, row in zip(gravity, derivative, strict=False) if g != 0.0]
    return add_up(*pulls) if pulls else 0.0


def tool_force(T: Matrix, derivative: Matrix, force: Vector, moment: Vector) -> Scalar:
    """Generalised force of f and n on the last link's surroundings: T⁻¹ ∂T/∂q_i is the twist of the tool per q̇_i."""
    columns = [[T[r][c] for r in range(3)] for c in range(3)]

    def turned(row: int, column: int) -> Scalar:
        return dot(columns[row], [derivative[r][column] for r in range(3)])

    return dot(force, [turned(0, 3), turned(1, 3), turned(2, 3)]) + dot(
        moment, [turned(2, 1), turned(0, 2), turned(1, 0)]
    )


def lagrange_euler(
    chain: SerialChain, q: Values, qd: Values, qdd: Values, wrench: Values | None = None, gravity: Values | None = None
) -> list[Scalar]:
    """Joint forces τ (n,), N m or N, of a motion q, qd, qdd (n,) under a tool wrench (6,).

    `gravity` (3,) m/s², base axes, replaces the chain's. Rotors and friction of the joints are included.
    Raises DynamicsError for wrong lengths or numbers that are not finite. Source: 001 eqs. 2.7–2.10, appendix.
    """
    n = len(chain)
    positions, rates, accelerations = scalars("q", q, n), scalars("qd", qd, n), scalars("qdd", qdd, n)
    down = chain.gravity if gravity is None else list(gravity)
    T = chain_products(chain, positions)
    first = first_derivatives(chain, T)
    second = second_derivatives(chain, T, first)
    tau = [joint_load(link, xd, xdd) for link, xd, xdd in zip(chain.links, rates, accelerations, strict=True)]
    for i, link in enumerate(chain.links, start=1):
        kinetic = kinetic_matrix(i, link.pseudo_inertia, rates, accelerations, first, second)
        for j in range(1, i + 1):
            motion = trace_of_product(kinetic, first[i, j])
            tau[j - 1] = add_up(tau[j - 1], motion, gravity_force(down, first[i, j], link))
    if wrench is not None:
        f, m = tool_reaction(wrench, type(positions[0]))
        for j in range(1, n + 1):
            tau[j - 1] = tau[j - 1] + tool_force(T[0, n], first[n, j], f, m)
    return tau


def add_up(*terms: Scalar) -> Scalar:
    """Sum the links' contributions at a joint."""
    return sum(terms[1:], start=terms[0])


def lagrange_coefficients(chain: SerialChain, q: Values, gravity: Values | None = None) -> LagrangeCoefficients:
    """Compute D, H and G of τ = D q̈ + H(q, q̇) + G at a posture q (n,). Source: 000 eqs. 3.8–3.10, 001 eq. 2.11.

    `gravity` (3,) m/s², base axes, replaces the chain's.
    """
    n = len(chain)
    down = chain.gravity if gravity is None else list(gravity)
    T = chain_products(chain, scalars("q", q, n))
    first = first_derivatives(chain, T)
    second = second_derivatives(chain, T, first)
    D: list[list[Scalar]] = [[0 for _ in range(n)] for _ in range(n)]
    H: list[list[list[Scalar]]] = [[[0 for _ in range(n)] for _ in range(n)] for _ in range(n)]
    G: list[Scalar] = [0] * n
    for m, link in enumerate(chain.links, start=1):
        inertia_terms(m, link, first, D)
        velocity_terms(m, link, first, second, H)
        for i in range(1, m + 1):
            G[i - 1] = add_up(G[i - 1], gravity_force(down, first[m, i], link))
        D[m - 1][m - 1] = D[m - 1][m - 1] + link.motor_inertia
    for i in range(n):
        for j in range(i):
            D[i][j] = D[j][i]
            for h in range(n):
                H[h][i][j] = H[h][j][i]
    return LagrangeCoefficients(D, H, G)


def inertia_terms(m: int, link: Link, first: Products, D: list[list[Scalar]]) -> None:
    """Add link m's Tr{∂T₀ᵐ/∂q_j J_m (∂T₀ᵐ/∂q_i)ᵀ} to D_ij, i ≤ j ≤ m (000 eq. 3.8)."""
    for j in range(1, m + 1):
        moved = multiply(first[m, j], link.pseudo_inertia)
        for i in range(1, j + 1):
            D[i - 1][j - 1] = add_up(D[i - 1][j - 1], trace_of_product(moved, first[m, i]))


def velocity_terms(
    m: int, link: Link, first: Products, second: dict[tuple[int, int, int], Matrix], H: list[list[list[Scalar]]]
) -> None:
    """Add link m's Tr{∂²T₀ᵐ/∂q_j∂q_k J_m (∂T₀ᵐ/∂q_i)ᵀ} to H_ijk, j ≤ k ≤ m, i ≤ m (000 eq. 3.9)."""
    for k in range(1, m + 1):
        for j in range(1, k + 1):
            moved = multiply(second[m, j, k], link.pseudo_inertia)
            for i in range(1, m + 1):
                H[i - 1][j - 1][k - 1] = add_up(H[i - 1][j - 1][k - 1], trace_of_product(moved, first[m, i]))
