"""An open chain of links in standard Denavit–Hartenberg form, and what every formulation of its dynamics shares.

Joint i turns about or slides along z of frame i − 1; frame i is fixed in link i. Vectors and tensors of link i are in
its own axes, "i", as in Turney, Mudge & Lee (1980), cited as 001; Lee, Chung, Mudge & Turney (1982) is 000.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dynamics.errors import DynamicsError
from dynamics.serial.vectors import Matrix, Scalar, Values, cosine, sine

Joint = Literal["revolute", "prismatic"]

_NO_INERTIA = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@dataclass(frozen=True, slots=True)
class Link:
    """Link i with joint i before it. SI units: m, rad, kg, kg m².

    `a`, `alpha`, `d`, `theta` are the Denavit–Hartenberg parameters of T = Rot_z(θ) Trans_z(d) Trans_x(a) Rot_x(α);
    the joint variable adds to `theta` (revolute) or to `d` (prismatic). `mass`; `center` (3,) r̄ from the origin
    of frame i; `inertia` (3, 3) about the centre of mass, axes of frame i. `motor_inertia` is the rotor's at the
    joint (gear ratio squared times J; its gyroscopic moments are left out), kg m² or kg; `viscous` N m s/rad or N s/m
    and `coulomb` N m or N are the joint's friction.

    Raises DynamicsError for a joint of another kind, wrong shapes, numbers that are not finite, a negative mass or
    friction, or an inertia that is not symmetric.
    """

    joint: Joint = "revolute"
    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    mass: float = 0.0
    center: Sequence[float] = (0.0, 0.0, 0.0)
    inertia: Sequence[Sequence[float]] = _NO_INERTIA
    motor_inertia: float = 0.0
    viscous: float = 0.0
    coulomb: float = 0.0
    cos_alpha: float = field(init=False, repr=False)
    sin_alpha: float = field(init=False, repr=False)
    second_moment: Matrix = field(init=False, repr=False)
    """K = ∫ d dᵀ dm about the centre of mass (3, 3), kg m²: ½ Tr(I) E − I (001 §5)."""
    pseudo_inertia: Matrix = field(init=False, repr=False)
    """J of 001 eq. 1.28 (4, 4): [K + m r̄ r̄ᵀ, m r̄; m r̄ᵀ, m], with the products of inertia eq. 1.26 leaves out."""

    def __post_init__(self) -> None:
        """Check the numbers and form the constants that the formulations need."""
        if self.joint not in ("revolute", "prismatic"):
            raise DynamicsError(f"joint: {self.joint!r}, must be 'revolute' or 'prismatic'")
        for name in ("a", "alpha", "d", "theta", "mass", "motor_inertia", "viscous", "coulomb"):
            value = float(getattr(self, name))
            if not math.isfinite(value):
                raise DynamicsError(f"{name}: {value} is not finite")
            if value < 0.0 and name in ("mass", "motor_inertia", "viscous", "coulomb"):
                raise DynamicsError(f"{name}: {value}, must not be negative")
            object.__setattr__(self, name, value)
        center, inertia = np.asarray(self.center, dtype=float), np.asarray(self.inertia, dtype=float)
        if center.shape != (3,) or inertia.shape != (3, 3):
            raise DynamicsError(f"center and inertia: shapes {center.shape}, {inertia.shape}, must be (3,), (3, 3)")
        if not (np.isfinite(center).all() and np.isfinite(inertia).all()):
            raise DynamicsError(f"center {center.tolist()} m, inertia {inertia.tolist()} kg m²: not finite")
        if np.abs(inertia - inertia.T).max() > 1e-12 * np.abs(inertia).max():
            raise DynamicsError(f"inertia: {inertia.tolist()} kg m² is not symmetric")
        moment = 0.5 * np.trace(inertia) * np.eye(3) - inertia
        pseudo = np.empty((4, 4))
        pseudo[:3, :3] = moment + self.mass * np.outer(center, center)
        pseudo[:3, 3] = pseudo[3, :3] = self.mass * center
        pseudo[3, 3] = self.mass
        object.__setattr__(self, "center", tuple(center.tolist()))
        object.__setattr__(self, "inertia", _rows(inertia))
        object.__setattr__(self, "second_moment", _rows(moment))
        object.__setattr__(self, "pseudo_inertia", _rows(pseudo))
        object.__setattr__(self, "cos_alpha", math.cos(self.alpha))
        object.__setattr__(self, "sin_alpha", math.sin(self.alpha))

    @property
    def revolute(self) -> bool:
        """Whether the joint turns; otherwise it slides."""
        return self.joint == "revolute"


@dataclass(frozen=True, slots=True)
class SerialChain:
    """Links in order from the base, and gravity (3,) m/s² in base axes.

    Everywhere q, qd, qdd are the n joint variables and their rates (rad or m), and a tool wrench (6,) is
    [force; moment], N and N m, that the surroundings exert on the last link at the origin of its frame, in its axes.

    Raises DynamicsError for a chain without links or a gravity that is not three finite numbers.
    """

    links: tuple[Link, ...]
    gravity: Sequence[float] = (0.0, 0.0, -9.80665)

    def __post_init__(self) -> None:
        """Check that there is something to move."""
        if not self.links:
            raise DynamicsError("links: none, must be at least 1")
        gravity = tuple(float(g) for g in self.gravity)
        if len(gravity) != 3 or not all(map(math.isfinite, gravity)):
            raise DynamicsError(f"gravity: {gravity} m/s², must be 3 finite numbers")
        object.__setattr__(self, "links", tuple(self.links))
        object.__setattr__(self, "gravity", gravity)

    def __len__(self) -> int:
        """Number n of joints."""
        return len(self.links)


def _rows(matrix: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def scalars(name: str, values: Values, count: int) -> list[Scalar]:
    """`values` as a list of `count` scalars, integers made floats; raises DynamicsError naming `name`."""
    array = values.tolist() if isinstance(values, np.ndarray) else values
    numbers = [float(x) if isinstance(x, int) else x for x in array]
    if len(numbers) != count:
        raise DynamicsError(f"{name}: {len(numbers)} numbers, must be {count}")
    if not all(math.isfinite(x) for x in numbers):
        raise DynamicsError(f"{name}: {numbers} is not finite")
    return numbers


def rotation(link: Link, q: Scalar) -> list[list[Scalar]]:
    """R from frame i to frame i − 1 (001 eq. 1.10), all of it in the scalar type of the joint variable."""
    scalar = type(q)
    theta = q + link.theta if link.revolute else scalar(link.theta)
    c, s = cosine(theta), sine(theta)
    ca, sa = scalar(link.cos_alpha), scalar(link.sin_alpha)
    return [[c, -ca * s, sa * s], [s, ca * c, -sa * c], [scalar(0.0), sa, ca]]


def displacement(link: Link, q: Scalar) -> list[Scalar]:
    """r_i (3,) m, from the origin of frame i − 1 to that of frame i, axes of frame i (001 eq. 1.14)."""
    d = link.d if link.revolute else q + link.d
    return [link.a, d * link.sin_alpha, d * link.cos_alpha]


def transformation(link: Link, q: Scalar) -> list[list[Scalar]]:
    """T (4, 4) from frame i to frame i − 1 (000 eq. 2.1, 001 eq. 1.13)."""
    scalar = type(q)
    rows = rotation(link, q)
    d = scalar(link.d) if link.revolute else q + link.d
    position = [link.a * rows[0][0], link.a * rows[1][0], d]
    zero, one = scalar(0.0), scalar(1.0)
    return [[*row, p] for row, p in zip(rows, position, strict=True)] + [[zero, zero, zero, one]]


def joint_load(link: Link, qd: Scalar, qdd: Scalar) -> Scalar:
    """What rotor and friction of a joint take, N m or N: J q̈ + B q̇ + F_c sign(q̇)."""
    load = link.motor_inertia * qdd + link.viscous * qd
    if link.coulomb != 0.0 and qd != 0.0:
        load = load + (link.coulomb if qd > 0.0 else -link.coulomb)
    return load


def tool_reaction(wrench: Values | None, scalar: type) -> tuple[list[Scalar], list[Scalar]]:
    """f and n (3,) that the last link exerts on what is beyond it, in its axes: the opposite of the tool wrench."""
    if wrench is None:
        return [scalar(0.0)] * 3, [scalar(0.0)] * 3
    negative = [-x for x in scalars("wrench", wrench, 6)]
    return negative[:3], negative[3:]
