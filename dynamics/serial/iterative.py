"""Newton–Euler iteration of a chain in modified Denavit–Hartenberg form, both kinds of joint, as 003 prints it.

Each function is one equation; R is R_{i+1}^i, from frame i + 1 to frame i, so that 003's R_i^{i+1} is its transpose.
Vectors of link i are in frame i.

Where the print is wrong:
* §2.3 gives prismatic joints no N_i and no n_i; every turning joint below them needs both (eq. 2-5).
* §2.2 has m for m_i; §§2.1 and 2.3 call one vector r_{i+1} and p_{i+1}, and r_c and p_c another.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynamics.serial.chain import joint_load, scalars, tool_reaction
from dynamics.serial.modified_dh import ModifiedChain, modified_displacement, modified_rotation, tip_rotation
from dynamics.serial.recursion import (
    Z,
    center_acceleration,
    force_from_above,
    gyroscopic_moment,
    inertial_force,
    inertial_moment,
    link_force,
    link_moment,
    moment_from_above,
    turning_acceleration,
)
from dynamics.serial.vectors import Matrix, Scalar, Values, Vector, add, apply_transposed, cross, dot, scale
from kinematics import Array


def turning_velocity(R: Matrix, omega: Vector, qd: Scalar) -> list[Scalar]:
    """§2.1: ω_{i+1} = R_i^{i+1} ω_i + θ̇_{i+1} z, revolute."""
    return add(apply_transposed(R, omega), scale(qd, Z))


def carried_velocity(R: Matrix, v: Vector, omega: Vector, p: Vector) -> list[Scalar]:
    """§2.1: v_{i+1} = R_i^{i+1} (v_i + ω_i × p_{i+1}), revolute."""
    return apply_transposed(R, add(v, cross(omega, p)))


def sliding_velocity(qd: Scalar) -> list[Scalar]:
    """§2.1: ḋ_{i+1} z, which a prismatic joint adds to v_{i+1}."""
    return scale(qd, Z)


def turning_rate(R: Matrix, alpha: Vector, omega: Vector, qd: Scalar, qdd: Scalar) -> list[Scalar]:
    """§2.1: ω̇_{i+1} = R_i^{i+1} ω̇_i + θ̈_{i+1} z + R_i^{i+1} ω_i × θ̇_{i+1} z, revolute."""
    return add(apply_transposed(R, alpha), scale(qdd, Z), cross(apply_transposed(R, omega), scale(qd, Z)))


def carried_acceleration(R: Matrix, a: Vector, alpha: Vector, omega: Vector, p: Vector) -> list[Scalar]:
    """§2.1: v̇_{i+1} = R_i^{i+1} (v̇_i + ω̇_i × p_{i+1} + ω_i × (ω_i × p_{i+1})), revolute."""
    return apply_transposed(R, add(a, turning_acceleration(omega, alpha, p)))


def sliding_acceleration(omega: Vector, qd: Scalar, qdd: Scalar) -> list[Scalar]:
    """§2.1: d̈_{i+1} z + 2 ω_{i+1} × ḋ_{i+1} z, which a prismatic joint adds to v̇_{i+1}."""
    return add(scale(qdd, Z), cross(omega, scale(2.0 * qd, Z)))


def moment_of_force(p: Vector, force: Vector) -> list[Scalar]:
    """p_c × F_i and p_{i+1} × R f_{i+1}, in 2-5."""
    return cross(p, force)


@dataclass(frozen=True, slots=True)
class _Link:
    """What the outward iteration leaves of a link."""

    R: Matrix
    p: Vector
    omega: Vector
    v: Vector
    alpha: Vector
    a: Vector
    center: Vector


def _outward(chain: ModifiedChain, q: Vector, qd: Vector, qdd: Vector, base: Vector) -> list[_Link]:
    """§2.1, from link 1 to link N; `base` is v̇_0."""
    zero: list[Scalar] = [type(q[0])(0.0)] * 3
    omega, v, alpha, a = zero, zero, zero, list(base)
    states = []
    for link, x, xd, xdd in zip(chain.links, q, qd, qdd, strict=True):
        R, p = modified_rotation(link, x), modified_displacement(link, x)
        v, a = carried_velocity(R, v, omega, p), carried_acceleration(R, a, alpha, omega, p)
        if link.revolute:
            alpha = turning_rate(R, alpha, omega, xd, xdd)
            omega = turning_velocity(R, omega, xd)
        else:
            alpha, omega = apply_transposed(R, alpha), apply_transposed(R, omega)
            v, a = add(v, sliding_velocity(xd)), add(a, sliding_acceleration(omega, xd, xdd))
        states.append(_Link(R, p, omega, v, alpha, a, center_acceleration(a, omega, alpha, link.center)))
    return states


def _inward(
    chain: ModifiedChain, states: list[_Link], wrench: Values | None, prismatic_moments: bool
) -> list[tuple[Vector, Vector]]:
    """2-4 and 2-5, from link N to link 1: f_i and n_i; the tip's are the opposite of the wrench."""
    f, n = tool_reaction(wrench, type(states[0].omega[0]))
    R: Matrix = tip_rotation(chain)
    p: Vector = [chain.tip_a, 0.0, 0.0]
    loads: list[tuple[Vector, Vector]] = []
    for link, state in zip(reversed(chain.links), reversed(states), strict=True):
        force = inertial_force(link.mass, state.center)
        above = force_from_above(R, f)
        if link.revolute or prismatic_moments:
            own = inertial_moment(link.inertia, state.alpha), gyroscopic_moment(link.inertia, state.omega)
            levers = moment_of_force(link.center, force), moment_of_force(p, above)
            n = link_moment(*own, moment_from_above(R, n), *levers)
        else:
            n = [type(f[0])(0.0)] * 3
        f = link_force(force, above)
        loads.append((f, n))
        R, p = state.R, state.p
    return loads[::-1]


def _forces(chain: ModifiedChain, loads: list[tuple[Vector, Vector]], qd: Vector, qdd: Vector) -> list[Scalar]:
    """2-6: τ_i = zᵀ n_i, revolute; zᵀ f_i, prismatic; and what rotor and friction take."""
    return [
        dot(Z, n if link.revolute else f) + joint_load(link, xd, xdd)
        for link, (f, n), xd, xdd in zip(chain.links, loads, qd, qdd, strict=True)
    ]


def iterative_newton_euler(
    chain: ModifiedChain,
    q: Values,
    qd: Values,
    qdd: Values,
    wrench: Values | None = None,
    gravity: Values | None = None,
) -> list[Scalar]:
    """Joint forces τ (n,), N m or N, of a motion q, qd, qdd (n,) under a wrench (6,) at the tip.

    `gravity` (3,) m/s², axes of frame 0, replaces the chain's. Rotors and friction of the joints are included.
    Raises DynamicsError for wrong lengths or numbers that are not finite. Source: 003 §2, v̇_0 = −g.
    """
    return _joint_forces(chain, q, qd, qdd, wrench, gravity, prismatic_moments=True)


def iterative_newton_euler_as_printed(
    chain: ModifiedChain, q: Values, qd: Values, qdd: Values, wrench: Values | None = None
) -> list[Scalar]:
    """The same by §2.3 as printed: links of prismatic joints have no N_i, and pass no n_i on."""
    return _joint_forces(chain, q, qd, qdd, wrench, None, prismatic_moments=False)


def _joint_forces(
    chain: ModifiedChain,
    q: Values,
    qd: Values,
    qdd: Values,
    wrench: Values | None,
    gravity: Values | None,
    prismatic_moments: bool,
) -> list[Scalar]:
    n = len(chain)
    positions, rates, accelerations = scalars("q", q, n), scalars("qd", qd, n), scalars("qdd", qdd, n)
    scalar = type(positions[0])
    down = chain.gravity if gravity is None else scalars("gravity", gravity, 3)
    states = _outward(chain, positions, rates, accelerations, [scalar(-g) for g in down])
    return _forces(chain, _inward(chain, states, wrench, prismatic_moments), rates, accelerations)


@dataclass(frozen=True, slots=True, eq=False)
class LinkStates:
    """Motion and load of every link of a chain at one instant; row i − 1 is link i, in axes of its own frame i.

    angular_velocity ω (n, 3) rad/s; velocity v (n, 3) m/s of the frame's origin; angular_acceleration ω̇ (n, 3) rad/s²;
    acceleration v̇ (n, 3) m/s² of the origin and center_acceleration v̇_c (n, 3) m/s² of the centre of mass, both those
    of the motion, without the −g that 003 §2.4 adds to them; force f (n, 3) N and moment n (n, 3) N m that link i − 1
    exerts on link i, at the origin of frame i; joint_force τ (n,) N m or N, with rotors and friction.
    """

    angular_velocity: Array
    velocity: Array
    angular_acceleration: Array
    acceleration: Array
    center_acceleration: Array
    force: Array
    moment: Array
    joint_force: Array


def link_states(chain: ModifiedChain, q: Values, qd: Values, qdd: Values, wrench: Values | None = None) -> LinkStates:
    """Velocities, accelerations, forces and moments of all links in a motion q, qd, qdd (n,) under a wrench (6,).

    Raises DynamicsError for wrong lengths or numbers that are not finite. Source: 003 §§2.1, 2.2. A chain in standard
    form is turned by `modified_chain`; its frames are then those of the modified form.
    """
    n = len(chain)
    positions, rates, accelerations = scalars("q", q, n), scalars("qd", qd, n), scalars("qdd", qdd, n)
    up = -np.array(chain.gravity)
    states = _outward(chain, positions, rates, accelerations, up.tolist())
    loads = _inward(chain, states, wrench, prismatic_moments=True)
    lifts = []
    for state in states:
        up = np.array(state.R).T @ up
        lifts.append(up)

    def rows(part: Callable[[_Link], Vector]) -> Array:
        return np.array([part(state) for state in states], dtype=float)

    return LinkStates(
        angular_velocity=rows(lambda state: state.omega),
        velocity=rows(lambda state: state.v),
        angular_acceleration=rows(lambda state: state.alpha),
        acceleration=rows(lambda state: state.a) - lifts,
        center_acceleration=rows(lambda state: state.center) - lifts,
        force=np.array([f for f, _ in loads], dtype=float),
        moment=np.array([moment for _, moment in loads], dtype=float),
        joint_force=np.array(_forces(chain, loads, rates, accelerations), dtype=float),
    )
