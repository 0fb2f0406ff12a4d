"""Dasgupta & Mruthyunjaya (1998), eqs. 1 to 37, scalar by scalar as printed: their number of operations.

§4.5 counted with MATLAB's function "flops", in a program with the vector and matrix equations as they appear and
nothing reused. They are written the same way here, and counted by its rule: every +, −, ×, ÷ and function value is
one, also with a zero; an inner product of n pairs is 2n, so that a product of two n×n matrices is 2n³.
"""

from typing import Any, NamedTuple

import numpy as np

from dynamics.mechanism import Leg, Mechanism
from dynamics.papers.counting import Operations, Parameter, count_operations, counted, interpreted
from dynamics.serial.chain import Matrix, Scalar, Vector, add, cross, scale, transpose
from kinematics import MOTION_FIELDS, Array, finite_array, quaternion_to_matrix, solve_kernel

_ZERO = Parameter(0.0)  # start of an inner product: one more operation
_PARTS = {"leg": "_leg", "platform": "_platform", "equations": "_equations", "constraints": "_constraints"}


class _Motion(NamedTuple):
    """The platform's t, ℜ, ṫ, ω, ẗ, α."""

    t: Vector
    R: Matrix
    td: Vector
    omega: Vector
    tdd: Vector
    alpha: Vector


class _Reaction(NamedTuple):
    """A leg's terms of the final system (q, s, K of eq. 21, f of eq. 18, D of eq. 24), and the rest for §3.3."""

    q: Vector
    s: Vector
    K: Vector
    f: Vector
    D: Scalar
    L_dot: Scalar
    W: Vector
    A: Vector
    r_d: Vector
    r_u: Vector
    a_d: Vector
    a_u: Vector
    I_d: Matrix
    C: Vector


class _Constraints(NamedTuple):
    """A leg's F_s, F_p and M_p, which act at r_u, F_c, F_u, M_u."""

    F_s: Vector
    F_p: Vector
    M_p: Vector
    F_c: Vector
    F_u: Vector
    M_u: Scalar
    r_u: Vector


def forces_1998(mechanism: Mechanism, motion: Array, wrench: Array | None = None) -> Array:
    """Compute actuator forces F (6,) N of eq. 37 at one motion (19,) under one wrench (6,), as model dasgupta-1998.

    Raises KinematicsError for a wrong shape or a number that is not finite.
    """
    state, load = _inputs(motion, wrench)
    forces, _ = _run(mechanism, _motion(state.tolist(), state), load.tolist())
    return np.array([float(force) for force in forces])


def constraints_1998(mechanism: Mechanism, motion: Array, wrench: Array | None = None) -> tuple[Array, Array, Array]:
    """Compute constraint forces of §3.3 at one motion (19,) under one wrench (6,), base axes, legs 1 to 6.

    F_u (6, 3) N of the base on the leg, F_c (6, 3) N across the prismatic joint, and the moment (6, 3) N m there of the
    lower on the upper part, r×F_p + M_p, about the base point.  Raises as `forces_1998`.
    """
    state, load = _inputs(motion, wrench)
    _, found = _run(mechanism, _motion(state.tolist(), state), load.tolist())
    base, guide, moment, force, place = (
        np.array([[float(x) for x in getattr(leg, name)] for leg in found])
        for name in ("F_u", "F_c", "M_p", "F_p", "r_u")
    )
    return base, guide, moment + np.cross(place, force)


def flops_1998(mechanism: Mechanism, motion: Array, wrench: Array | None = None) -> dict[str, Operations]:
    """Count operations of the printed equations at a motion (19,) under a wrench (6,), by the parts of §4.5.

    Keys "leg" (for each of six; eqs. 1–24), "platform" (eqs. 30–32 and the leg-independent terms of eq. 35),
    "equations" (the sums over the legs in eq. 35, H, its solution by elimination, eq. 37), "total"; and "constraints",
    not in the total: §3.3 for six legs. A friction coefficient of 0 costs nothing, as in the paper.  Raises as
    `forces_1998`.
    """
    state, load = _inputs(motion, wrench)
    given = _motion(counted(state), state), counted(load)
    counts = count_operations(_run, mechanism, *given, owners=_PARTS.values())
    legs, platform, equations, constraints = (counts[owner] for owner in _PARTS.values())
    leg = Operations(*(number // 6 for number in legs))
    total = legs.plus(platform).plus(equations)
    return {"leg": leg, "platform": platform, "equations": equations, "total": total, "constraints": constraints}


def _inputs(motion: Array, wrench: Array | None) -> tuple[Array, Array]:
    state = finite_array("motion", motion, 19, MOTION_FIELDS)
    return state, finite_array("wrench", np.zeros(6) if wrench is None else wrench, 6)


def _motion(numbers: Vector, state: Array) -> _Motion:
    """Form ℜ beforehand: eq. 38 is in §4.1, and §4.5 counts the legs of section 2, platform and final system."""
    made = type(numbers[0])
    rotation = [[made(x) for x in row] for row in quaternion_to_matrix(state[3:7]).tolist()]
    return _Motion(numbers[:3], rotation, numbers[7:10], numbers[10:13], numbers[13:16], numbers[16:19])


def _run(mechanism: Mechanism, motion: _Motion, wrench: Vector) -> tuple[list[Scalar], list[_Constraints]]:
    """Compute actuator forces and joint constraint forces."""
    geometry, g = mechanism.geometry, _constants(mechanism.gravity)
    places = zip(mechanism.legs, geometry.base_points, geometry.universal_axes, geometry.platform_points, strict=True)
    legs = [_leg(leg, _constants(b), _constants(k), _constants(p), g, motion) for leg, b, k, p in places]
    solved = _equations(legs, _platform(mechanism, g, motion, wrench))
    borne = [_constraints(leg, g, known, x_F) for leg, known, x_F in zip(mechanism.legs, legs, solved, strict=True)]
    return [F for _, F in solved], borne


def _leg(leg: Leg, b: Vector, k: Vector, p: Vector, g: Vector, motion: _Motion) -> _Reaction:
    """Section 2 of the paper."""
    omega, alpha = motion.omega, motion.alpha
    m_d, m_u = Parameter(leg.lower.mass), Parameter(leg.upper.mass)
    friction = leg.friction
    q = _apply(motion.R, p)
    S = _minus(add(q, motion.t), b)  # eq. 1
    L = _root(_inner(S, S))  # eq. 2
    s = [x / L for x in S]  # eq. 3
    S_dot = add(cross(omega, q), motion.td)  # eq. 4
    L_dot = _inner(s, S_dot)  # eq. 5
    W = [x / L for x in cross(s, S_dot)]  # eq. 6
    S_ddot = add(cross(alpha, q), cross(omega, cross(omega, q)), motion.tdd)  # eq. 7
    L_ddot = _inner(s, S_ddot) + L * _inner(W, W)  # eq. 8
    A = [x / L for x in _minus(cross(s, S_ddot), scale(2.0 * L_dot, W))]  # eq. 9, with the intended 2L̇W
    across = cross(k, s)
    norm = _root(_inner(across, across))
    y = [x / norm for x in across]
    T = transpose([s, y, cross(s, y)])  # eq. 10
    r_d = _apply(T, _constants(leg.lower.center_of_mass))  # eq. 11
    r_u = _apply(T, add([L, _ZERO, _ZERO], _constants(leg.upper.center_of_mass)))  # eq. 12
    a_d = add(cross(A, r_d), cross(W, cross(W, r_d)))  # eq. 13
    a_u = add(scale(L_ddot, s), cross(A, r_u), cross(W, cross(W, r_u)), scale(2.0 * L_dot, cross(W, s)))  # eq. 14
    I_d = _about(T, _table(leg.lower.inertia))  # eq. 15
    moved = [scale(m_u * (L * L), _constants(row)) for row in np.diag([0.0, 1.0, 1.0])]
    I_u = _about(T, _plus(_table(leg.upper.inertia), moved))  # eq. 16
    f = scale(friction.spherical, _minus(W, omega)) if friction.spherical else [0, 0, 0]  # eq. 18
    C = add(
        _minus(
            add(scale(m_d, cross(r_d, a_d)), scale(m_u, cross(r_u, a_u))),
            cross(add(scale(m_d, r_d), scale(m_u, r_u)), g),
        ),
        _apply(_plus(I_d, I_u), A),
        cross(W, _apply(_plus(I_d, I_u), W)),
        scale(friction.universal, W) if friction.universal else [0, 0, 0],
        f,
    )  # eq. 20
    K = [x / L for x in cross(C, s)]  # eq. 21
    D = m_u * _inner(s, _minus(a_u, g)) + (friction.prismatic * L_dot if friction.prismatic else 0)  # eq. 24
    return _Reaction(q, s, K, f, D, L_dot, W, A, r_d, r_u, a_d, a_u, I_d, C)


def _platform(mechanism: Mechanism, g: Vector, motion: _Motion, wrench: Vector) -> list[Scalar]:
    """Leg-independent terms of the right-hand side of eq. 35, (6,)."""
    omega, alpha, M = motion.omega, motion.alpha, Parameter(mechanism.mass)
    R = _apply(motion.R, _constants(mechanism.center_of_mass))  # eq. 30
    a = add(cross(alpha, R), cross(omega, cross(omega, R)), motion.tdd)  # eq. 31
    I_b = _about(motion.R, _table(mechanism.inertia))  # I, eq. 32
    force = add(_apply(motion.R, wrench[:3]), scale(M, _minus(g, a)))
    moment = _minus(scale(M, cross(R, _minus(g, a))), _apply(I_b, alpha))
    moment = _minus(moment, cross(omega, _apply(I_b, omega)))
    return force + add(moment, _apply(motion.R, wrench[3:]))


def _equations(legs: list[_Reaction], platform: Vector) -> list[tuple[Scalar, Scalar]]:
    """Solve eqs. 35 to 37: x and F of the legs."""
    moments = [_minus(cross(leg.q, leg.K), leg.f) for leg in legs]
    c = _minus(platform, add(*(leg.K for leg in legs)) + add(*moments))  # eq. 35
    H = transpose([[*leg.s, *cross(leg.q, leg.s)] for leg in legs])
    system = np.empty((6, 7), dtype=object)
    for row in range(6):
        system[row] = [*H[row], c[row]]
    interpreted(solve_kernel)(system)  # eq. 36
    return [(x, leg.D - x) for leg, x in zip(legs, system[:, 6], strict=True)]  # eq. 37


def _constraints(leg: Leg, g: Vector, known: _Reaction, solved: tuple[Scalar, Scalar]) -> _Constraints:
    """§3.3 for one leg; the paper does not say where F_p acts, the upper part's mass centre is used."""
    (x, F), s, friction = solved, known.s, leg.friction
    m_d, m_u = Parameter(leg.lower.mass), Parameter(leg.upper.mass)
    F_s = add(scale(x, s), known.K)  # eq. 21
    F_p = _minus(scale(m_u, _minus(known.a_u, g)), F_s)
    if friction.prismatic:
        F_p = add(F_p, scale(friction.prismatic * known.L_dot, s))  # eq. 26
    F_c = _minus(F_p, scale(F, s))  # eq. 28
    carried = _minus(add(scale(m_d, known.a_d), scale(m_u, known.a_u)), scale(Parameter(m_d + m_u), g))
    F_u = _minus(carried, F_s)  # eq. 27
    M_u = _inner(s, known.C)  # eq. 29
    M_p = _minus(scale(M_u, s), scale(m_d, cross(known.r_d, _minus(known.a_d, g))))
    M_p = _minus(M_p, add(_apply(known.I_d, known.A), cross(known.W, _apply(known.I_d, known.W))))
    M_p = _minus(M_p, cross(known.r_u, F_p))
    if friction.universal:
        M_p = _minus(M_p, scale(friction.universal, known.W))  # eq. 17
    return _Constraints(F_s, F_p, M_p, F_c, F_u, M_u, known.r_u)


def _constants(vector: Array) -> list[Scalar]:
    return [Parameter(x) for x in vector]


def _table(tensor: Array) -> list[list[Scalar]]:
    return [_constants(row) for row in tensor]


def _minus(a: Vector, b: Vector) -> list[Scalar]:
    return [x - y for x, y in zip(a, b, strict=True)]


def _plus(a: Matrix, b: Matrix) -> list[list[Scalar]]:
    return [add(row, other) for row, other in zip(a, b, strict=True)]


def _inner(a: Vector, b: Vector) -> Scalar:
    total: Scalar = _ZERO
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def _apply(matrix: Matrix, vector: Vector) -> list[Scalar]:
    return [_inner(row, vector) for row in matrix]


def _about(T: Matrix, tensor: Matrix) -> list[list[Scalar]]:
    """T I₀ Tᵀ."""
    return [_apply(T, row) for row in transpose([_apply(T, column) for column in transpose(tensor)])]


def _root(x: Any) -> Scalar:
    return x.sqrt() if hasattr(x, "sqrt") else x**0.5
