"""M, C and G by strobing the Newton–Euler recursion with unit inputs (Turney, Mudge & Lee 1980 = 001, end of §3).

Where the print is wrong: with q̇_j = q̇_k = 1 and all else zero the recursion gives C_jj + C_kk + 2 C_jk, not C_jk;
the first two, strobed each alone, have to come off.
"""

from collections.abc import Callable
from dataclasses import replace

from dynamics.serial.chain import SerialChain, scalars
from dynamics.serial.modified_recursion import modified_newton_euler
from dynamics.serial.vectors import Scalar, Values, solve_positive_definite

Recursion = Callable[..., list[Scalar]]

_WEIGHTLESS = (0.0, 0.0, 0.0)


def _unit(n: int, scalar: type, *ones: int) -> list[Scalar]:
    return [scalar(1.0 if i in ones else 0.0) for i in range(n)]


def strobed_mass_matrix(
    chain: SerialChain, q: Values, recursion: Recursion = modified_newton_euler
) -> list[list[Scalar]]:
    """M(q) (n, n), rotors included: column j is τ for q̈_j = 1, q̇ = 0, no gravity.

    The links below joint j stand still and M is symmetric, so that the recursion runs over the links from j on alone,
    n(n + 1)/2 in all (001 §6). `recursion` is `newton_euler`, `modified_newton_euler` or `lagrange_euler`.
    """
    n = len(chain)
    posture = scalars("q", q, n)
    scalar = type(posture[0])
    M: list[list[Scalar]] = [[None] * n for _ in range(n)]
    for j in range(n):
        above = replace(chain, links=chain.links[j:])
        column = recursion(above, posture[j:], _unit(n - j, scalar), _unit(n - j, scalar, 0), gravity=_WEIGHTLESS)
        for i, force in enumerate(column, start=j):
            M[i][j] = M[j][i] = force
    return M


def strobed_coriolis(
    chain: SerialChain, q: Values, recursion: Recursion = modified_newton_euler
) -> list[list[list[Scalar]]]:
    """C (n, n, n) with C^i_jk = C^i_kj, of Σ_jk C^i_jk q̇_j q̇_k; friction left out."""
    n = len(chain)
    posture = scalars("q", q, n)
    smooth = replace(chain, links=tuple(replace(link, viscous=0.0, coulomb=0.0) for link in chain.links))
    scalar = type(posture[0])
    still = _unit(n, scalar)

    def strobe(*moving: int) -> list[Scalar]:
        return recursion(smooth, posture, _unit(n, scalar, *moving), still, gravity=_WEIGHTLESS)

    C: list[list[list[Scalar]]] = [[[None] * n for _ in range(n)] for _ in range(n)]
    alone = [strobe(j) for j in range(n)]
    for j in range(n):
        for k in range(j + 1):
            both = strobe(j, k) if j != k else alone[j]
            for i in range(n):
                C[i][j][k] = C[i][k][j] = both[i] if j == k else 0.5 * (both[i] - alone[j][i] - alone[k][i])
    return C


def coriolis_matrix(C: list[list[list[Scalar]]], qd: Values) -> list[list[Scalar]]:
    """C(q, q̇) (n, n) with C_ij = Σ_k C^i_jk q̇_k: Ṁ − 2C is skew, for the C^i_jk are Christoffel symbols."""
    rates = list(qd)
    return [[sum(x * rate for x, rate in zip(row, rates, strict=True)) for row in plane] for plane in C]


def strobed_gravity(chain: SerialChain, q: Values, recursion: Recursion = modified_newton_euler) -> list[Scalar]:
    """G(q) (n,): τ of the chain at rest."""
    still = [0.0] * len(chain)
    return recursion(chain, q, still, still)


def strobed_bias(
    chain: SerialChain,
    q: Values,
    qd: Values,
    wrench: Values | None = None,
    recursion: Recursion = modified_newton_euler,
) -> list[Scalar]:
    """C q̇ + G with friction and tool wrench (n,): τ of q̈ = 0 (001 §7)."""
    return recursion(chain, q, qd, [0.0] * len(chain), wrench)


def chain_acceleration(
    chain: SerialChain,
    q: Values,
    qd: Values,
    tau: Values,
    wrench: Values | None = None,
    recursion: Recursion = modified_newton_euler,
) -> list[Scalar]:
    """Joint accelerations q̈ (n,) under joint forces τ (n,): M⁻¹(τ − C − G), M strobed (001 §7)."""
    torque = scalars("tau", tau, len(chain))
    bias = strobed_bias(chain, q, qd, wrench, recursion)
    net = [t - b for t, b in zip(torque, bias, strict=True)]
    return solve_positive_definite(strobed_mass_matrix(chain, q, recursion), net)
