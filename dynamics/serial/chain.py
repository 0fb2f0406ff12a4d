"""An open chain of links in standard Denavit–Hartenberg form, vector functions on lists, and the PUMA 560."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from dynamics.errors import DynamicsError

Scalar: TypeAlias = Any  # float, a numpy scalar, Counted: anything with +, −, × and an optional cos() and sin()
Vector: TypeAlias = Sequence[Scalar]
Matrix: TypeAlias = Sequence[Sequence[Scalar]]
Values: TypeAlias = Iterable[Scalar]  # arguments of callers: a list, a tuple or an array


def cosine(x: Scalar) -> Scalar:
    """cos x, by the scalar's own method if it has one."""
    return x.cos() if hasattr(x, "cos") else math.cos(x)


def sine(x: Scalar) -> Scalar:
    """sin x, by the scalar's own method if it has one."""
    return x.sin() if hasattr(x, "sin") else math.sin(x)


def add(first: Vector, second: Vector, *others: Vector) -> list[Scalar]:
    """Sum of vectors."""
    if len(first) == len(second) == 3:  # the most frequent case: several times as fast
        (x, y, z), (u, v, w) = first, second
        total = [x + u, y + v, z + w]
    else:
        total = [x + y for x, y in zip(first, second, strict=True)]
    for other in others:
        total = [x + y for x, y in zip(total, other, strict=True)]
    return total


def scale(factor: Scalar, vector: Vector) -> list[Scalar]:
    """A scalar times a vector."""
    return [factor * x for x in vector]


def dot(a: Vector, b: Vector) -> Scalar:
    """Scalar product, of any length."""
    if len(a) == len(b) == 3:  # as in `add`
        (x, y, z), (u, v, w) = a, b
        return x * u + y * v + z * w
    pairs = zip(a, b, strict=True)
    x, y = next(pairs)
    total = x * y
    for x, y in pairs:
        total = total + x * y
    return total


def cross(a: Vector, b: Vector) -> list[Scalar]:
    """Vector product a×b."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def transpose(matrix: Matrix) -> list[list[Scalar]]:
    """Transpose a matrix."""
    return [list(column) for column in zip(*matrix, strict=True)]


def apply(matrix: Matrix, vector: Vector) -> list[Scalar]:
    """Matrix times vector."""
    if len(vector) == 3:
        u, v, w = vector
        return [x * u + y * v + z * w for x, y, z in matrix]
    return [dot(row, vector) for row in matrix]


def apply_transposed(matrix: Matrix, vector: Vector) -> list[Scalar]:
    """Transposed matrix times vector."""
    if len(matrix) == len(vector) == 3:
        u, v, w = vector
        return [x * u + y * v + z * w for x, y, z in zip(*matrix, strict=True)]
    return [dot(column, vector) for column in zip(*matrix, strict=True)]


def multiply(a: Matrix, b: Matrix) -> list[list[Scalar]]:
    """Product of two matrices."""
    columns = transpose(b)
    return [[dot(row, column) for column in columns] for row in a]


def solve_positive_definite(matrix: Matrix, right: Vector) -> list[Scalar]:
    """Solve M x = b by Gaussian elimination without pivoting, which a positive definite M does not need."""
    n = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(n):
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i][k + 1 :] = [x - factor * y for x, y in zip(rows[i][k + 1 :], rows[k][k + 1 :], strict=True)]
    solution: list[Scalar] = [None] * n
    for k in reversed(range(n)):
        value = rows[k][n]
        for j in range(k + 1, n):
            value = value - rows[k][j] * solution[j]
        solution[k] = value / rows[k][k]
    return solution


Joint = Literal["revolute", "prismatic"]

_NO_INERTIA = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@dataclass(frozen=True, slots=True)
class Link:
    """Link i with joint i before it. SI units: m, rad, kg, kg m².

    `a`, `alpha`, `d`, `theta` are the Denavit–Hartenberg parameters of T = Rot_z(θ) Trans_z(d) Trans_x(a) Rot_x(α);
    the joint variable adds to `theta` (revolute) or to `d` (prismatic). `mass`; `center` (3,) r̄ from the origin
    of frame i; `inertia` (3, 3) about the centre of mass, axes of frame i. `motor_inertia` is the rotor's at the
    joint (gear ratio squared times J; gyroscopic moments are neglected), kg m² or kg; `viscous` N m s/rad or N s/m
    and `coulomb` N m or N are the joint's friction.

    Raises DynamicsError for an unknown kind of joint, wrong shapes, numbers that are not finite, a negative mass or
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
    """J of 001 eq. 1.28 (4, 4): [K + m r̄ r̄ᵀ, m r̄; m r̄ᵀ, m], with the products of inertia that eq. 1.26 omits."""

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

    q, qd, qdd are always the n joint variables and their rates (rad or m), and a tool wrench (6,) is
    [force; moment], N and N m, exerted by the surroundings on the last link at the origin of its frame, in its axes.

    Raises DynamicsError for a chain without links or a gravity that is not three finite numbers.
    """

    links: tuple[Link, ...]
    gravity: Sequence[float] = (0.0, 0.0, -9.80665)

    def __post_init__(self) -> None:
        """Check links and gravity."""
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
    """Return `values` as a list of `count` scalars, integers made floats; raises DynamicsError naming `name`."""
    array = values.tolist() if isinstance(values, np.ndarray) else values
    numbers = [float(x) if isinstance(x, int) else x for x in array]
    if len(numbers) != count:
        raise DynamicsError(f"{name}: {len(numbers)} numbers, must be {count}")
    if not all(math.isfinite(x) for x in numbers):
        raise DynamicsError(f"{name}: {numbers} is not finite")
    return numbers


def rotation(link: Link, q: Scalar) -> list[list[Scalar]]:
    """R from frame i to frame i − 1 (001 eq. 1.10), in the scalar type of the joint variable."""
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
    """Load of a joint's rotor and friction, N m or N: J q̈ + B q̇ + F_c sign(q̇)."""
    load = link.motor_inertia * qdd + link.viscous * qd
    if link.coulomb != 0.0 and qd != 0.0:
        load = load + (link.coulomb if qd > 0.0 else -link.coulomb)
    return load


def tool_reaction(wrench: Values | None, scalar: type) -> tuple[list[Scalar], list[Scalar]]:
    """f and n (3,) that the last link exerts on its surroundings, in its axes: the opposite of the tool wrench."""
    if wrench is None:
        return [scalar(0.0)] * 3, [scalar(0.0)] * 3
    negative = [-x for x in scalars("wrench", wrench, 6)]
    return negative[:3], negative[3:]


_RIGHT = 0.5 * math.pi

# a m, alpha rad, d m, mass kg, centre m, principal inertias kg m²
_LINKS = (
    (0.0, _RIGHT, 0.0, 0.0, (0.0, 0.0, 0.0), (0.0, 0.35, 0.0)),
    (0.4318, 0.0, 0.0, 17.40, (-0.3638, 0.006, 0.2275), (0.130, 0.524, 0.539)),
    (0.0203, -_RIGHT, 0.15005, 4.80, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125)),
    (0.0, _RIGHT, 0.4318, 0.82, (0.0, 0.019, 0.0), (1.8e-3, 1.3e-3, 1.8e-3)),
    (0.0, -_RIGHT, 0.0, 0.34, (0.0, 0.0, 0.0), (0.3e-3, 0.4e-3, 0.3e-3)),
    (0.0, 0.0, 0.0, 0.09, (0.0, 0.0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
)
# gear ratio, rotor kg m², viscous N m s/rad and Coulomb N m friction at the motor (mean of both directions)
_DRIVES = (
    (62.6111, 200e-6, 1.48e-3, 0.415),
    (107.815, 200e-6, 0.817e-3, 0.0985),
    (53.7063, 200e-6, 1.38e-3, 0.1185),
    (76.0364, 33e-6, 71.2e-6, 0.01405),
    (71.923, 33e-6, 82.6e-6, 0.01188),
    (76.686, 33e-6, 36.7e-6, 0.00723),
)


def puma(*, rotors: bool = True, friction: bool = False, payload: float = 0.0, gravity: float = 9.8) -> SerialChain:
    """The six-joint PUMA 560, base axes with z up, angles as in standard Denavit–Hartenberg form.

    `rotors` and `friction` add the drives' contributions at the joints; `payload` is a point mass, kg, at the centre of
    mass of link 6; `gravity` is |g|, m/s² (9.8 in 000).
    """
    links = []
    for index, ((a, alpha, d, mass, center, inertias), drive) in enumerate(zip(_LINKS, _DRIVES, strict=True)):
        ratio, rotor, viscous, coulomb = drive
        xx, yy, zz = inertias
        links.append(
            Link(
                a=a,
                alpha=alpha,
                d=d,
                mass=mass + (payload if index == len(_LINKS) - 1 else 0.0),
                center=center,
                inertia=((xx, 0.0, 0.0), (0.0, yy, 0.0), (0.0, 0.0, zz)),
                motor_inertia=ratio**2 * rotor if rotors else 0.0,
                viscous=ratio**2 * viscous if friction else 0.0,
                coulomb=ratio * coulomb if friction else 0.0,
            )
        )
    return SerialChain(tuple(links), (0.0, 0.0, -gravity))
