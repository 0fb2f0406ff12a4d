"""Chains in modified Denavit–Hartenberg form, and their iterative Newton–Euler dynamics."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynamics.errors import DynamicsError
from dynamics.serial.chain import (
    Link,
    Matrix,
    Scalar,
    SerialChain,
    Values,
    Vector,
    add,
    apply_transposed,
    cosine,
    cross,
    dot,
    joint_load,
    scalars,
    scale,
    sine,
    tool_reaction,
)
from dynamics.serial.recursions import (
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
from kinematics import Array


@dataclass(frozen=True, slots=True)
class ModifiedChain:
    """Links in order from the base, and gravity (3,) m/s² in axes of frame 0.

    A link's `a` and `alpha` precede its joint: T_i^{i−1} = Rot_x(α_{i−1}) Trans_x(a_{i−1}) Rot_z(θ_i) Trans_z(d_i).
    Its `center` and `inertia` are in frame i, at the joint. `tip_alpha` rad and `tip_a` m lead from frame N to the tip,
    frame N + 1: Rot_x(α_N) Trans_x(a_N). q, qd, qdd are always the n joint variables and their rates (rad or m), and a
    wrench (6,) is [force; moment], N and N m, exerted by the surroundings on the tip, in its axes: −f_{N+1} and
    −n_{N+1} of 003.

    Raises DynamicsError for a chain without links, or a gravity or tip that is not finite.
    """

    links: tuple[Link, ...]
    gravity: Sequence[float] = (0.0, 0.0, -9.80665)
    tip_a: float = 0.0
    tip_alpha: float = 0.0

    def __post_init__(self) -> None:
        """Check as a standard chain does, and check the tip."""
        checked = SerialChain(tuple(self.links), self.gravity)
        object.__setattr__(self, "links", checked.links)
        object.__setattr__(self, "gravity", checked.gravity)
        for name in ("tip_a", "tip_alpha"):
            value = float(getattr(self, name))
            if not math.isfinite(value):
                raise DynamicsError(f"{name}: {value} is not finite")
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        """Number n of joints."""
        return len(self.links)


def modified_rotation(link: Link, q: Scalar) -> list[list[Scalar]]:
    """R_i^{i−1} (3, 3), from frame i to frame i − 1, in the scalar type of the joint variable."""
    scalar = type(q)
    theta = q + link.theta if link.revolute else scalar(link.theta)
    c, s = cosine(theta), sine(theta)
    ca, sa = scalar(link.cos_alpha), scalar(link.sin_alpha)
    return [[c, -s, scalar(0.0)], [ca * s, ca * c, -sa], [sa * s, sa * c, ca]]


def modified_displacement(link: Link, q: Scalar) -> list[Scalar]:
    """p_i^{i−1} (3,) m, from the origin of frame i − 1 to that of frame i, axes of frame i − 1."""
    scalar = type(q)
    d = scalar(link.d) if link.revolute else q + link.d
    return [scalar(link.a), -link.sin_alpha * d, link.cos_alpha * d]


def tip_rotation(chain: ModifiedChain) -> list[list[float]]:
    """R_{N+1}^N (3, 3), from the tip's frame to that of the last link."""
    rotation: list[list[float]] = _turn(chain.tip_alpha).tolist()
    return rotation


def link_poses(chain: ModifiedChain, q: Values) -> Array:
    """Poses (n + 1, 4, 4) of frames 1 … N and of the tip in frame 0, at a posture q (n,); m.

    Raises DynamicsError for a wrong length or numbers that are not finite.
    """
    poses, pose = [], np.eye(4)
    steps = [
        (modified_rotation(link, x), modified_displacement(link, x))
        for link, x in zip(chain.links, scalars("q", q, len(chain)), strict=True)
    ]
    for rotation, displacement in (*steps, (tip_rotation(chain), [chain.tip_a, 0.0, 0.0])):
        step = np.eye(4)
        step[:3, :3], step[:3, 3] = rotation, displacement
        pose = pose @ step
        poses.append(pose)
    return np.array(poses)


def modified_chain(chain: SerialChain) -> ModifiedChain:
    """Convert to modified form: frame 0 stays the same, and the tip is the standard form's last frame."""
    links = []
    a = alpha = 0.0
    for link in chain.links:
        turn = _turn(link.alpha)
        center = turn @ np.array(link.center) + np.array([link.a, 0.0, 0.0])
        links.append(_link(link, a, alpha, center, turn @ np.array(link.inertia) @ turn.T))
        a, alpha = link.a, link.alpha
    return ModifiedChain(tuple(links), chain.gravity, a, alpha)


def standard_chain(chain: ModifiedChain) -> SerialChain:
    """Convert to standard form: the last frame is the tip, the base frame is that of joint 1, gravity in its axes.

    Joint variables and forces are the same. The base frames differ if `a` or `alpha` of the first link is not 0.
    """
    steps = [(link.a, link.alpha) for link in chain.links[1:]] + [(chain.tip_a, chain.tip_alpha)]
    links = []
    for link, (a, alpha) in zip(chain.links, steps, strict=True):
        turn = _turn(alpha).T
        center = turn @ (np.array(link.center) - np.array([a, 0.0, 0.0]))
        links.append(_link(link, a, alpha, center, turn @ np.array(link.inertia) @ turn.T))
    return SerialChain(tuple(links), (_turn(chain.links[0].alpha).T @ np.array(chain.gravity)).tolist())


def _turn(alpha: float) -> Array:
    c, s = math.cos(alpha), math.sin(alpha)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _link(link: Link, a: float, alpha: float, center: Array, inertia: Array) -> Link:
    symmetric = 0.5 * (inertia + inertia.T)
    return replace(link, a=a, alpha=alpha, center=center.tolist(), inertia=symmetric.tolist())


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
    """Results of the outward iteration for a link."""

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
    """2-6: τ_i = zᵀ n_i, revolute; zᵀ f_i, prismatic; plus rotor and friction."""
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
    """Compute joint forces τ (n,), N m or N, of a motion q, qd, qdd (n,) under a wrench (6,) at the tip.

    `gravity` (3,) m/s², axes of frame 0, replaces the chain's. Rotors and friction of the joints are included.
    Raises DynamicsError for wrong lengths or numbers that are not finite. Source: 003 §2, v̇_0 = −g.
    """
    return _joint_forces(chain, q, qd, qdd, wrench, gravity, prismatic_moments=True)


def iterative_newton_euler_as_printed(
    chain: ModifiedChain, q: Values, qd: Values, qdd: Values, wrench: Values | None = None
) -> list[Scalar]:
    """As `iterative_newton_euler` by §2.3 as printed: links of prismatic joints have no N_i, and pass no n_i on."""
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
    """Motion and load of all links of a chain at one instant; row i − 1 is link i, in axes of its own frame i.

    angular_velocity ω (n, 3) rad/s; velocity v (n, 3) m/s of the frame's origin; angular_acceleration ω̇ (n, 3) rad/s²;
    acceleration v̇ (n, 3) m/s² of the origin and center_acceleration v̇_c (n, 3) m/s² of the centre of mass, both
    without the −g that 003 §2.4 adds; force f (n, 3) N and moment n (n, 3) N m that link i − 1
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

    Raises DynamicsError for wrong lengths or numbers that are not finite. Source: 003 §§2.1, 2.2. Convert a chain in
    standard form with `modified_chain`; the frames are then those of the modified form.
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
