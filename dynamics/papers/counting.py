"""Operation counts of the real algorithms: a scalar that counts its operations, and runs of the platform's kernels.

Counted are multiplications, additions (and subtractions), divisions and function values (root, sine, cosine) that
involve a `Counted` number. A plain number is a constant of the mechanism or a literal: sums and products of
constants are formed beforehand and cost nothing; adding a plain 0 or multiplying by a plain 0, 1 or −1 costs
nothing either. A change of sign is free.
"""

import math
import sys
from collections.abc import Callable, Iterable
from types import FunctionType, SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamics.errors import DynamicsError
from dynamics.kernels.inverse import inverse_kernel
from dynamics.kernels.layout import LANES, OK, WORK_SIZE
from dynamics.mechanism import Mechanism
from kinematics import (
    CONVERGED,
    FORWARD_WORK,
    LEG_COLUMNS,
    MOTION_FIELDS,
    Array,
    Geometry,
    finite_array,
    forward_kinematics_kernel,
    inverse_kinematics_kernel,
    leg_lengths,
)

REST = "rest"
"""Key of operations outside all named functions."""


class Operations(NamedTuple):
    """Numbers of operations."""

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    functions: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self)

    def plus(self, other: "Operations") -> "Operations":
        """Sum, kind by kind."""
        return Operations(*(a + b for a, b in zip(self, other, strict=True)))


class _Tally:
    """Operations by owning function."""

    def __init__(self, owners: Iterable[str]) -> None:
        self.owners = frozenset(owners)
        self.counts: dict[str, list[int]] = {}

    def note(self, kind: int) -> None:
        """Count one operation for the innermost owner on the stack."""
        owners, counts = self.owners, self.counts
        frame = sys._getframe(2) if owners else None
        owner = REST
        while frame is not None:
            name = frame.f_code.co_name
            if name in owners:
                owner = name
                break
            frame = frame.f_back
        if owner not in counts:
            counts[owner] = [0, 0, 0, 0]
        counts[owner][kind] += 1


class Parameter(float):
    """A constant of the mechanism that counts even if its value is 0 or 1."""


def _structure(x: Any, *values: int) -> bool:
    return type(x) is not Counted and not isinstance(x, Parameter) and x in values


class Counted:
    """A float that counts the operations on it while `count_operations` runs; any real number converts to one."""

    __slots__ = ("value",)
    __array_ufunc__ = None  # numpy scalars defer to this class
    __hash__ = None  # type: ignore[assignment]

    tally: ClassVar[_Tally | None] = None

    def __init__(self, value: Any) -> None:
        self.value = float(value)

    def __repr__(self) -> str:
        return f"Counted({self.value!r})"

    def __float__(self) -> float:
        return self.value

    @classmethod
    def _made(cls, kind: int, value: float) -> "Counted":
        if cls.tally is not None:
            cls.tally.note(kind)
        made = cls.__new__(cls)
        made.value = value
        return made

    def __add__(self, other: Any) -> "Counted":
        if type(other) is Counted:  # the most frequent case
            return self._made(1, self.value + other.value)
        return self if _structure(other, 0) else self._made(1, self.value + float(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Counted":
        if type(other) is Counted:
            return self._made(1, self.value - other.value)
        return self if _structure(other, 0) else self._made(1, self.value - float(other))

    def __rsub__(self, other: Any) -> "Counted":
        return -self if _structure(other, 0) else self._made(1, float(other) - self.value)

    def __mul__(self, other: Any) -> "Counted | int":
        if type(other) is Counted:
            return self._made(0, self.value * other.value)
        if _structure(other, 0):
            return 0
        if _structure(other, 1, -1):
            return self if other > 0 else -self
        return self._made(0, self.value * float(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Counted":
        if _structure(other, 1, -1):
            return self if other > 0 else -self
        return self._made(2, self.value / float(other))

    def __rtruediv__(self, other: Any) -> "Counted":
        return self._made(2, float(other) / self.value)

    def __pow__(self, exponent: int) -> "Counted | int":
        power: Counted | int = self
        for _ in range(exponent - 1):
            power = power * self
        return power

    def __neg__(self) -> "Counted":
        return Counted(-self.value)

    def __abs__(self) -> "Counted":
        return Counted(abs(self.value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counted | float | int) and self.value == float(other)

    def __lt__(self, other: Any) -> bool:
        return self.value < float(other)

    def __le__(self, other: Any) -> bool:
        return self.value <= float(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > float(other)

    def __ge__(self, other: Any) -> bool:
        return self.value >= float(other)

    @property
    def real(self) -> "Counted":
        """Return itself, as every real number does."""
        return self

    @property
    def imag(self) -> float:
        """Return 0, as every real number does."""
        return 0.0

    def sqrt(self) -> "Counted":
        """Square root."""
        return self._made(3, math.sqrt(self.value))

    def cos(self) -> "Counted":
        """Cosine."""
        return self._made(3, math.cos(self.value))

    def sin(self) -> "Counted":
        """Sine."""
        return self._made(3, math.sin(self.value))

    def tanh(self) -> "Counted":
        """Hyperbolic tangent."""
        return self._made(3, math.tanh(self.value))


def counted(values: Iterable[float]) -> list[Counted]:
    """Convert numbers to counting scalars."""
    return [Counted(x) for x in values]


def count_operations(
    function: Callable[..., object], *arguments: object, owners: Iterable[str] = ()
) -> dict[str, Operations]:
    """Count the operations of one call by the innermost called function in `owners`; key REST for all others.

    Arguments whose arithmetic is to be counted are `Counted`. Not reentrant.
    """
    if Counted.tally is not None:
        raise DynamicsError("a count is running already")
    tally = _Tally(owners)
    Counted.tally = tally
    try:
        function(*arguments)
    finally:
        Counted.tally = None
    return {owner: Operations(*numbers) for owner, numbers in tally.counts.items()}


def sum_operations(counts: dict[str, Operations], *owners: str) -> Operations:
    """Sum over the named owners, or over all if none is named."""
    total = Operations()
    for owner in owners or counts:
        total = total.plus(counts.get(owner, Operations()))
    return total


def _function(name: str) -> Callable[[Any], Any]:
    def evaluate(x: Any) -> Any:
        return getattr(x, name)() if isinstance(x, Counted) else getattr(math, name)(x)

    return evaluate


_FUNCTIONS = {name: _function(name) for name in ("sqrt", "cos", "sin", "tanh")}


def interpreted(kernel: Any, made: dict[Any, FunctionType] | None = None) -> FunctionType:
    """Return a kernel, and all kernels it calls, as Python functions, for arguments the compiler cannot take."""
    made = {} if made is None else made
    if kernel in made:
        return made[kernel]
    source: FunctionType = kernel.py_func
    names = dict(source.__globals__)
    copy = FunctionType(source.__code__, names, source.__name__, source.__defaults__, source.__closure__)
    made[kernel] = copy
    for name in source.__code__.co_names:
        value = names.get(name)
        if hasattr(value, "py_func"):
            names[name] = interpreted(value, made)
        elif value is math:
            names[name] = SimpleNamespace(**{**vars(math), **_FUNCTIONS})
        elif name in _FUNCTIONS and value is getattr(math, name):
            names[name] = _FUNCTIONS[name]
    return copy


PLATFORM_PARTS = {
    "legs": ("legs_motion", "legs_load"),
    "platform": ("load_motion", "right_hand_side"),
    "equations": ("leg_matrix", "solve", "inverse"),
}
"""Functions of the platform's inverse dynamics, in the three parts that Dasgupta & Mruthyunjaya (1998, §4.5) count."""


def platform_operations(
    mechanism: Mechanism, motion: Array, wrench: Array | None = None, *, general: bool = True
) -> dict[str, Operations]:
    """Count the operations of the exact inverse dynamics, `inverse_kernel` run in Python on `Counted`, by part.

    Keys "leg" (for each of six), "platform" and "equations" as in PLATFORM_PARTS, and "total". Copies in the kernel's
    vector lanes beyond the sixth are not counted. Every number of motion (19,), wrench (6,) and mechanism counts, zero
    or not, except friction and gravity, where zeros cost nothing. Not `general`: zeros and ones of the mechanism cost
    nothing, and what its numbers make among themselves is formed beforehand; the legs then differ, and "leg" is the
    mean of the kernel's lanes, rounded down; leg 6 fills three of the eight. Raises DynamicsError if the forces are not
    determined.
    """
    state = counted(finite_array("motion", motion, 19, MOTION_FIELDS).tolist())
    load = counted(np.zeros(6) if wrench is None else finite_array("wrench", wrench, 6))
    parameters = [(Parameter if general else float)(x) for x in mechanism.array]
    work: list[object] = [0.0] * WORK_SIZE
    forces: list[object] = [0.0] * 6
    statuses = []

    def run() -> None:
        statuses.append(interpreted(inverse_kernel)(parameters, state, load, work, forces))

    counts = count_operations(run, owners=[name for names in PLATFORM_PARTS.values() for name in names])
    if statuses != [OK]:
        raise DynamicsError(f"motion: the leg forces are not determined there (status {statuses[0]})")
    lanes = sum_operations(counts, *PLATFORM_PARTS["legs"])
    leg = Operations(*(number // LANES for number in lanes))
    platform = sum_operations(counts, *PLATFORM_PARTS["platform"])
    equations = sum_operations(counts, *PLATFORM_PARTS["equations"])
    total = Operations(*(6 * a + b + c for a, b, c in zip(leg, platform, equations, strict=True)))
    return {"leg": leg, "platform": platform, "equations": equations, "total": total}


def kinematics_operations(geometry: Geometry, motion: Array, guess: Array) -> dict[str, Operations]:
    """Count the operations of inverse and forward kinematics at a motion (19,) of the platform.

    Keys "inverse": `inverse_kinematics_kernel`, lengths, speeds and accelerations of the legs; "forward":
    `forward_kinematics_kernel`, the pose alone, from the pose `guess` (7,). Raises DynamicsError if either fails.
    """
    state = finite_array("motion", motion, 19, MOTION_FIELDS)
    joints = _objects(geometry.array, Parameter)
    pose = _objects(finite_array("guess", guess, 7), Counted)
    lengths = _objects(leg_lengths(geometry, state[:7]), Counted)
    statuses = []

    def inverse() -> None:
        legs = np.empty((6, LEG_COLUMNS), dtype=object)
        statuses.append(interpreted(inverse_kinematics_kernel)(joints, _objects(state, Counted), legs))

    def forward() -> None:
        work = _objects(np.zeros(FORWARD_WORK), float)
        statuses.append(interpreted(forward_kinematics_kernel)(joints, lengths, pose, 1e-13, 100, work)[0])

    counts = {name: sum_operations(count_operations(run)) for name, run in (("inverse", inverse), ("forward", forward))}
    if statuses != [0, CONVERGED]:
        raise DynamicsError(f"motion: no kinematics there (statuses {statuses})")
    return counts


def _objects(values: Array, made: Callable[[float], object]) -> npt.NDArray[np.object_]:
    array = np.empty(values.shape, dtype=object)
    for place, value in np.ndenumerate(values):
        array[place] = made(value)
    return array
