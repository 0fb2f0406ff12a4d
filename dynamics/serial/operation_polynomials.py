"""Counts of operations as polynomials in the number of joints, taken from the algorithms as they run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from dynamics.counting import Operations, count_operations
from dynamics.serial.chain import Link, SerialChain
from dynamics.serial.vectors import solve_positive_definite

SAMPLES = range(2, 7)  # joints: five counts fix a polynomial of order 4
BEYOND = range(7, 9)
"""Joints beyond those that a law is fitted to: what is counted there tests it."""
_POWERS = ("", "n", "n²", "n³", "n⁴")


@dataclass(frozen=True, slots=True)
class Law:
    """A polynomial in the number n of joints; coefficients in rising powers."""

    coefficients: tuple[Fraction, ...]

    def at(self, joints: int) -> int:
        """Its value at n joints, rounded where a printed law is not whole."""
        return round(sum((c * joints**power for power, c in enumerate(self.coefficients)), start=Fraction(0)))

    @property
    def order(self) -> int:
        """Highest power."""
        return max((power for power, c in enumerate(self.coefficients) if c), default=0)

    def __add__(self, other: "Law") -> "Law":
        """Sum."""
        a, b = self.coefficients, other.coefficients
        width = max(len(a), len(b))
        padded = [(*x, *(Fraction(0),) * (width - len(x))) for x in (a, b)]
        return Law(tuple(x + y for x, y in zip(*padded, strict=True)))

    def times(self, factor: int) -> "Law":
        """A multiple of it."""
        return Law(tuple(factor * c for c in self.coefficients))

    def __str__(self) -> str:
        """As one writes it: 32n² − 32n."""
        text = ""
        for power in reversed(range(len(self.coefficients))):
            c = self.coefficients[power]
            if not c:
                continue
            size = abs(c)
            number = "" if size == 1 and power else f"{size}{' ' if size.denominator > 1 and power else ''}"
            sign = ("−" if c < 0 else "") if not text else (" − " if c < 0 else " + ")
            text += f"{sign}{number}{_POWERS[power]}"
        return text or "0"


Pair = tuple[Law, Law]
"""Multiplications and additions."""

NONE: Pair = (Law((Fraction(0),)), Law((Fraction(0),)))


def law(*coefficients: int | str) -> Law:
    """A law from its coefficients in rising powers, fractions as text."""
    return Law(tuple(Fraction(c) for c in coefficients))


def sum_laws(pairs: Sequence[Pair]) -> Pair:
    """Sum of pairs."""
    total = NONE
    for pair in pairs:
        total = total[0] + pair[0], total[1] + pair[1]
    return total


def interpolated(values: Sequence[int]) -> Law:
    """The polynomial through counts at SAMPLES."""
    matrix = [[Fraction(n) ** power for power in range(len(SAMPLES))] for n in SAMPLES]
    return Law(tuple(solve_positive_definite(matrix, [Fraction(v) for v in values])))


def degree(values: Sequence[int]) -> int:
    """Order of the polynomial through values at successive numbers of joints; one less than their number if none fits.

    An order below that is borne out by the values that were not needed to find it.
    """
    differences = list(values)
    for order in range(len(values)):
        differences = [b - a for a, b in pairwise(differences)]
        if not any(differences):
            return order
    return len(values) - 1


def general_chain(joints: int, principal: bool = False) -> SerialChain:
    """A chain of revolute joints none of whose numbers is 0, 1 or −1, without rotors, friction and joint offsets.

    Gravity is along z₀, as both papers have it. With `principal` the links' axes are their principal ones, as Turney,
    Mudge & Lee (1980, eq. 1.26) assume.
    """
    rng = np.random.default_rng(joints)
    links = []
    for _ in range(joints):
        inertia = np.diag(rng.uniform(1.0, 1.5, 3))
        if not principal:
            across = np.triu(rng.uniform(0.05, 0.1, (3, 3)), 1)
            inertia += across + across.T
        a, d, alpha = rng.uniform(0.2, 0.4, 3)
        center = rng.uniform(0.1, 0.2, 3).tolist()
        links.append(Link(a=a, d=d, alpha=alpha, mass=rng.uniform(2.0, 3.0), center=center, inertia=inertia.tolist()))
    return SerialChain(tuple(links), (0.0, 0.0, -9.8))


def counted_laws(run: Callable[[int], Callable[[], object]], owners: Sequence[str]) -> dict[str, Pair]:
    """Laws of what `run(n)` does, by owner as in `count_operations`; what has no owner stands under REST."""
    counts = [count_operations(run(n), owners=owners) for n in SAMPLES]
    laws = {}
    for owner in sorted({name for count in counts for name in count}):
        numbers = [count.get(owner, Operations()) for count in counts]
        laws[owner] = (
            interpolated([x.multiplications for x in numbers]),
            interpolated([x.additions for x in numbers]),
        )
    return laws
