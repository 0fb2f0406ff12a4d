"""Chains in modified Denavit–Hartenberg form: frame i is fixed in link i and joint i moves about its own z.

The textbook's form, in which the iterative Newton–Euler equations are commonly written (003); `chain` has the standard
one, whose frame i stands at joint i + 1. Both ways from one to the other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynamics.errors import DynamicsError
from dynamics.serial.chain import Link, SerialChain, scalars
from dynamics.serial.vectors import Scalar, Values, cosine, sine
from kinematics import Array


@dataclass(frozen=True, slots=True)
class ModifiedChain:
    """Links in order from the base, and gravity (3,) m/s² in axes of frame 0.

    A link's `a` and `alpha` are those before its joint: T_i^{i−1} = Rot_x(α_{i−1}) Trans_x(a_{i−1}) Rot_z(θ_i)
    Trans_z(d_i). Its `center` and `inertia` are in frame i, at the joint. `tip_alpha` rad and `tip_a` m lead from frame
    N to the tip, frame N + 1: Rot_x(α_N) Trans_x(a_N). Everywhere q, qd, qdd are the n joint variables and their rates
    (rad or m), and a wrench (6,) is [force; moment], N and N m, that the surroundings exert on the tip, in its axes:
    −f_{N+1} and −n_{N+1} of 003.

    Raises DynamicsError for a chain without links, or a gravity or tip that is not finite.
    """

    links: tuple[Link, ...]
    gravity: Sequence[float] = (0.0, 0.0, -9.80665)
    tip_a: float = 0.0
    tip_alpha: float = 0.0

    def __post_init__(self) -> None:
        """Check what a standard chain checks, and the tip."""
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
    """R_i^{i−1} (3, 3), from frame i to frame i − 1, all of it in the scalar type of the joint variable."""
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
    """The same chain in modified form: frame 0 is the same, and the tip is the standard form's last frame."""
    links = []
    a = alpha = 0.0
    for link in chain.links:
        turn = _turn(link.alpha)
        center = turn @ np.array(link.center) + np.array([link.a, 0.0, 0.0])
        links.append(_link(link, a, alpha, center, turn @ np.array(link.inertia) @ turn.T))
        a, alpha = link.a, link.alpha
    return ModifiedChain(tuple(links), chain.gravity, a, alpha)


def standard_chain(chain: ModifiedChain) -> SerialChain:
    """The same chain in standard form: its last frame is the tip, its base frame that of joint 1, gravity in its axes.

    Joint variables and forces are the same. Where `a` and `alpha` of the first link are not 0 the base frames differ.
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
