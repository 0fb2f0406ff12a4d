"""What a chain's link states and joint forces must be, by other ways: differences of poses, energies, virtual work."""

from dataclasses import replace

import numpy as np

from dynamics import (
    Joint,
    LinkStates,
    ModifiedChain,
    SerialChain,
    iterative_newton_euler,
    iterative_newton_euler_as_printed,
    link_poses,
    link_states,
    modified_chain,
    newton_euler,
)
from kinematics import Array
from rig.papers.chains import random_chain

_SIZES = range(2, 8)
_STEP = 1e-5
"""Of the differences, s or rad or m."""

Case = tuple[ModifiedChain, Array, Array, Array]


def _mixed_chain(rng: np.random.Generator, joints: int) -> SerialChain:
    """A random chain whose every second joint slides, the first one turning."""
    chain = random_chain(rng, joints)
    kinds: tuple[Joint, ...] = ("revolute", "prismatic")
    return replace(chain, links=tuple(replace(link, joint=kinds[i % 2]) for i, link in enumerate(chain.links)))


def cases() -> list[Case]:
    """Chains of 2 to 7 joints of both kinds, without rotors and friction, and a motion q, q̇, q̈ (n,) of each."""
    made = []
    for joints in _SIZES:
        rng = np.random.default_rng(400 + joints)
        chain = modified_chain(_mixed_chain(rng, joints))
        bare = tuple(replace(link, motor_inertia=0.0, viscous=0.0) for link in chain.links)
        made.append((replace(chain, links=bare), *rng.normal(size=(3, joints))))
    return made


def _ahead(case: Case, time: float) -> tuple[ModifiedChain, Array, Array]:
    chain, q, qd, qdd = case
    return chain, q + time * qd + 0.5 * time**2 * qdd, qd + time * qdd


def _states(case: Case, time: float = 0.0) -> tuple[LinkStates, Array]:
    """The states at an instant, and the links' poses (n, 4, 4)."""
    chain, q, qd = _ahead(case, time)
    return link_states(chain, q, qd, case[3]), link_poses(chain, q)[:-1]


def _based(poses: Array, vectors: Array) -> Array:
    """Vectors (n, 3) of the links in axes of the base."""
    turned: Array = np.einsum("nij,nj->ni", poses[:, :3, :3], vectors)
    return turned


def _worst(ours: Array, right: Array) -> float:
    return float(np.abs(ours - right).max() / np.abs(right).max())


def velocity_error(case: Case) -> float:
    """Largest difference of ω and v from differences of the links' poses, relative to the largest."""
    states, poses = _states(case)
    (_, before), (_, after) = _states(case, -_STEP), _states(case, _STEP)
    rate = (after - before) / (2.0 * _STEP)
    turning = rate[:, :3, :3] @ np.swapaxes(poses[:, :3, :3], 1, 2)
    omega = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], axis=1)
    return max(
        _worst(_based(poses, states.angular_velocity), omega), _worst(_based(poses, states.velocity), rate[:, :3, 3])
    )


def acceleration_error(case: Case) -> float:
    """Largest difference of ω̇ and v̇ from differences of ω and v, relative to the largest."""
    states, poses = _states(case)
    (first, before), (last, after) = _states(case, -_STEP), _states(case, _STEP)
    gaps = []
    for name, rate in (("angular_velocity", "angular_acceleration"), ("velocity", "acceleration")):
        change = _based(after, getattr(last, name)) - _based(before, getattr(first, name))
        gaps.append(_worst(_based(poses, getattr(states, rate)), change / (2.0 * _STEP)))
    return max(gaps)


def _centers(case: Case, time: float) -> Array:
    """Velocities (n, 3) of the centres of mass, axes of the base, by differences of their places."""

    def places(at: float) -> Array:
        chain, q, _ = _ahead(case, at)
        poses = link_poses(chain, q)[:-1]
        return poses[:, :3, 3] + _based(poses, np.array([link.center for link in chain.links]))

    step = 1e-3
    # of fourth order: its own differences are taken once more
    near, far = (places(time + k * step) - places(time - k * step) for k in (1, 2))
    velocity: Array = (8.0 * near - far) / (12.0 * step)
    return velocity


def center_error(case: Case) -> float:
    """Largest difference of v̇_c from second differences of the centres' places, relative to the largest."""
    states, poses = _states(case)
    step = 1e-3
    near, far = (_centers(case, k * step) - _centers(case, -k * step) for k in (1, 2))
    return _worst(_based(poses, states.center_acceleration), (8.0 * near - far) / (12.0 * step))


def _kinetic(chain: ModifiedChain, q: Array, qd: Array) -> float:
    states = link_states(chain, q, qd, np.zeros(len(chain)))
    energy = 0.0
    for link, omega, v in zip(chain.links, states.angular_velocity, states.velocity, strict=True):
        center = v + np.cross(omega, link.center)
        energy += 0.5 * (link.mass * center @ center + omega @ np.array(link.inertia) @ omega)
    return float(energy)


def _potential(chain: ModifiedChain, q: Array) -> float:
    poses = link_poses(chain, q)[:-1]
    heights = poses[:, :3, 3] + _based(poses, np.array([link.center for link in chain.links]))
    return float(-np.array([link.mass for link in chain.links]) @ heights @ np.array(chain.gravity))


def _momenta(chain: ModifiedChain, q: Array, qd: Array) -> Array:
    """∂T/∂q̇ (n,), exact: T is a square in q̇."""
    units = np.eye(len(chain))
    return np.array([0.5 * (_kinetic(chain, q, qd + e) - _kinetic(chain, q, qd - e)) for e in units])


def lagrange_error(case: Case) -> float:
    """Largest difference of τ from d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q of the links' energies, relative to the largest."""
    chain, q, qd, qdd = case
    ahead, behind = (_momenta(*_ahead(case, sign * _STEP)) for sign in (1.0, -1.0))
    force = (ahead - behind) / (2.0 * _STEP)
    for i, e in enumerate(_STEP * np.eye(len(chain))):
        kinetic = _kinetic(chain, q + e, qd) - _kinetic(chain, q - e, qd)
        force[i] -= (kinetic - _potential(chain, q + e) + _potential(chain, q - e)) / (2.0 * _STEP)
    return _worst(np.array(iterative_newton_euler(chain, q, qd, qdd)), force)


def gravity_error(case: Case) -> float:
    """Largest difference of τ at rest from the gradient of the potential energy, relative to the largest."""
    chain, q, _, _ = case
    still = np.zeros(len(chain))
    slopes = [_potential(chain, q + e) - _potential(chain, q - e) for e in _STEP * np.eye(len(chain))]
    return _worst(np.array(iterative_newton_euler(chain, q, still, still)), np.array(slopes) / (2.0 * _STEP))


def contact_error(case: Case) -> float:
    """Largest difference of what a contact adds to τ from its virtual work, relative to the largest."""
    chain, q, qd, qdd = case
    wrench = np.random.default_rng(len(chain)).normal(scale=20.0, size=6)
    bare, loaded = (np.array(iterative_newton_euler(chain, q, qd, qdd, load)) for load in (None, wrench))
    tip = link_poses(chain, q)[-1]
    work = []
    for e in _STEP * np.eye(len(chain)):
        rate = np.linalg.solve(tip, link_poses(chain, q + e)[-1] - link_poses(chain, q - e)[-1]) / (2.0 * _STEP)
        twist = np.array([*rate[:3, 3], rate[2, 1], rate[0, 2], rate[1, 0]])
        work.append(-(twist @ wrench))
    return _worst(loaded - bare, np.array(work))


def prismatic_error(case: Case) -> float:
    """Largest difference of τ by §2.3 as printed from τ by eqs. 2-4 to 2-6, relative to the largest."""
    chain, q, qd, qdd = case
    printed = np.array(iterative_newton_euler_as_printed(chain, q, qd, qdd))
    return _worst(printed, np.array(iterative_newton_euler(chain, q, qd, qdd)))


def standard_form_error() -> float:
    """Largest difference of τ from that of the recursion in standard form, relative to the largest; with a contact."""
    worst = 0.0
    for joints in _SIZES:
        rng = np.random.default_rng(500 + joints)
        chain = _mixed_chain(rng, joints)
        q, qd, qdd = rng.normal(size=(3, joints))
        wrench = rng.normal(scale=20.0, size=6)
        ours = np.array(iterative_newton_euler(modified_chain(chain), q, qd, qdd, wrench))
        worst = max(worst, _worst(ours, np.array(newton_euler(chain, q, qd, qdd, wrench))))
    return worst
