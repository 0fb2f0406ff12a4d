"""A platform of complex numbers with its forty solutions, where the paths to a real platform's solutions begin."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from kinematics.arrays import Array
from kinematics.assembly.equations import ASSEMBLY_FIELDS, UNKNOWNS, Complex, linearised_kernel
from kinematics.assembly.tracking import ARRIVED, track_all_kernel
from kinematics.errors import ConvergenceError

SOLUTIONS = 40
"""Number of solutions of a general platform (Ronga & Vust, Lazard, Mourrain), and the most any can have isolated."""

_LOOPS = 100
_TOLERANCE = 1e-6
_SAME = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """A general platform (6, 7), see `assembly_equations`, and its solutions (40, 8), each of norm 1."""

    platform: Complex
    solutions: Complex


def projective_distances(points: Complex, x: Complex) -> Array:
    """Distance of each of points (n, 8) from x (8,), all of norm 1, as multiples of which they are the same pose."""
    along = points @ x.conj()
    distances: Array = np.linalg.norm(points - along[:, np.newaxis] * x, axis=1)
    return distances


@lru_cache(maxsize=64)
def general_start(seed: int, attempt: int = 0) -> Start:
    """A random platform and its forty solutions; the same for the same seed and attempt, both at least 0.

    One solution is chosen and the leg lengths made to fit. The others are found by monodromy: solutions carried round
    a random loop of platforms come back as other ones. A general platform has exactly forty, so forty are all.
    Raises ConvergenceError if they are not all found, which no seed is known to lead to.
    """
    random = np.random.default_rng([seed, attempt])
    platform, first = _solved_platform(random)
    found = first[np.newaxis]
    for _ in range(_LOOPS):
        stops = [platform, _normal(random, 6, ASSEMBLY_FIELDS), _normal(random, 6, ASSEMBLY_FIELDS), platform]
        points = found.copy()
        for here, there in pairwise(stops):
            statuses = np.empty(len(points))
            track_all_kernel(here, there - here, 0j, 1 + 0j, points, _TOLERANCE, statuses)
            points = points[statuses == ARRIVED]
        for point in points:
            if projective_distances(found, point).min() > _SAME:
                found = np.vstack([found, point])
        if len(found) >= SOLUTIONS:
            break
    if len(found) != SOLUTIONS:
        raise ConvergenceError(
            f"seed {seed}: {len(found)} solutions of the starting platform found, must be {SOLUTIONS}", _LOOPS, np.nan
        )
    return Start(platform, found)


def _solved_platform(random: np.random.Generator) -> tuple[Complex, Complex]:
    """A random platform with squared leg lengths such that a random x (8,) is a solution."""
    platform = _normal(random, 6, ASSEMBLY_FIELDS)
    x = _normal(random, UNKNOWNS)
    e, g = x[:4], x[4:]
    square = e @ e
    g -= (e @ g) / square * e
    x /= np.linalg.norm(x)
    system = np.empty((UNKNOWNS, UNKNOWNS + 1), np.complex128)
    linearised_kernel(platform, np.zeros_like(platform), 0j, x, False, system)
    platform[:, 6] -= system[:6, 8] / (x[:4] @ x[:4])
    return platform, x


def _normal(random: np.random.Generator, *shape: int) -> Complex:
    values: Complex = (random.normal(size=shape) + 1j * random.normal(size=shape)) * np.sqrt(0.5)
    return values
