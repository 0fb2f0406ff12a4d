"""Where the paths of `assembly_tracking` end, whatever kind of end it is."""

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from kinematics.assembly.equations import UNKNOWNS, Complex, linearised_kernel
from kinematics.assembly.start import Start, projective_distances
from kinematics.assembly.tracking import (
    ARRIVED,
    TRACKING_WORK,
    loop_kernel,
    normalise_kernel,
    track_all_kernel,
    track_kernel,
)

REGULAR = 1e-8
"""Smallest over largest singular value of the equations' Jacobian above which a solution counts as regular."""

_BEFORE_END = 0.05
_RADII = tuple(10.0**-k for k in range(2, 14))
_NEAR_END = 1e-6
_SINGULAR_RESIDUAL = 1e-12
_INFINITE = 1e-9  # |e·e| of an x of norm 1; for a real pose it is above 1e-3
_STEP_ALONG = 0.02
_CONTINUUM_RESIDUAL = 1e-11


class End(Enum):
    """What a path ends in: a solution by itself, several that meet, one of infinitely many, no pose, nothing found."""

    REGULAR = auto()
    SINGULAR = auto()
    CONTINUUM = auto()
    INFINITE = auto()
    FAILED = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Endpoints:
    """The ends of all paths: x (n, 8), each of norm 1, and their kinds."""

    points: Complex
    ends: tuple[End, ...]

    def count(self, end: End) -> int:
        """How many paths end so."""
        return self.ends.count(end)


def follow_paths(start: Start, platform: Complex, tolerance: float) -> Endpoints:
    """Follow every solution of the start to the `platform` (6, 7), see `assembly_equations`.

    A path to a regular solution is followed to its end. Where several paths meet, or at infinity, the equations are
    singular: such an end is worked out from loops around it (Cauchy's integral; Morgan, Sommese & Wampler, Computing
    singular solutions to nonlinear analytic systems, 1991).
    """
    change = platform - start.platform
    before = start.solutions.copy()
    statuses = np.empty(len(before))
    track_all_kernel(start.platform, change, 0j, 1.0 - _BEFORE_END + 0j, before, tolerance, statuses)
    points, arrivals = before.copy(), np.empty(len(before))
    track_all_kernel(start.platform, change, 1.0 - _BEFORE_END + 0j, 1.0 + 0j, points, tolerance, arrivals)
    ends = []
    for path in range(len(points)):
        if statuses[path] != ARRIVED:
            ends.append(End.FAILED)
            continue
        end = End.REGULAR
        if arrivals[path] != ARRIVED or (
            not _is_infinite(points[path]) and _regularity(platform, points[path])[0] <= REGULAR
        ):
            end = _singular_end(start.platform, change, before[path], points[path], tolerance)
        if end is not End.FAILED and _is_infinite(points[path]):
            end = End.INFINITE
        elif end is End.SINGULAR and _is_continuum(platform, points[path]):
            end = End.CONTINUUM
        ends.append(end)
    return Endpoints(points, tuple(ends))


def repeated(endpoints: Endpoints) -> int:
    """How many regular solutions were reached by a second path: as many paths as must have lost their way."""
    points = endpoints.points[[end is End.REGULAR for end in endpoints.ends]]
    near = [np.count_nonzero(projective_distances(points[:path], points[path]) < 1e-7) for path in range(len(points))]
    return int(np.count_nonzero(near))


def unpaired(endpoints: Endpoints) -> int:
    """How many solutions were found without their complex conjugate, which is one too."""
    finite = [end in (End.REGULAR, End.SINGULAR) for end in endpoints.ends]
    points = endpoints.points[finite]
    return sum(bool(projective_distances(points, point.conj()).min() > 1e-5) for point in points)


def _regularity(platform: Complex, x: Complex) -> tuple[float, Complex]:
    """Smallest over largest singular value of the Jacobian at x, and the direction that belongs to the smallest.

    Its rows are balanced first: where the legs are long beside the platform, their equations are nearly the same.
    """
    jacobian = _linearised(platform, x)[:, :UNKNOWNS]
    jacobian[1:6] -= jacobian[0]
    jacobian[7] = x.conj()
    jacobian /= np.linalg.norm(jacobian, axis=1, keepdims=True) + np.finfo(np.float64).tiny
    _, values, directions = np.linalg.svd(jacobian)
    return float(values[-1] / values[0]), directions[-1].conj()


def _linearised(platform: Complex, x: Complex) -> Complex:
    system = np.empty((UNKNOWNS, UNKNOWNS + 1), np.complex128)
    linearised_kernel(platform, np.zeros_like(platform), 0j, x, False, system)
    return system


def _singular_end(start: Complex, change: Complex, before: Complex, end: Complex, tolerance: float) -> End:
    """Work out a singular end into `end` (8,), from loops of ever smaller radius until one gives a solution."""
    x, mean = before.copy(), np.empty_like(before)
    work = np.empty(TRACKING_WORK, np.complex128)
    here = _BEFORE_END
    for radius in _RADII:
        if track_kernel(start, change, 1.0 - here + 0j, 1.0 - radius + 0j, x, tolerance, work)[0] != ARRIVED:
            break
        here = radius
        if not loop_kernel(start, change, radius, x.copy(), tolerance, mean):
            continue
        normalise_kernel(mean)
        if np.abs(_linearised(start + change, mean)[:7, 8]).max() < _SINGULAR_RESIDUAL:
            end[:] = mean
            return End.SINGULAR
    end[:] = x
    return End.INFINITE if here <= _NEAR_END and _is_infinite(x) else End.FAILED


def _is_infinite(x: Complex) -> bool:
    return bool(abs(x[:4] @ x[:4]) < _INFINITE)


def _is_continuum(platform: Complex, x: Complex) -> bool:
    """Whether there are solutions at a distance from x (8,), singular, in the direction in which it is singular."""
    _, direction = _regularity(platform, x)
    point = x + _STEP_ALONG * direction
    fixed = np.stack([x.conj(), direction.conj()])
    for _ in range(12):
        system = _linearised(platform, point)
        matrix = np.vstack([system[:7, :UNKNOWNS], fixed])
        step = np.linalg.lstsq(matrix, np.concatenate([system[:7, 8], [0.0, 0.0]]), rcond=1e-10)[0]
        point = point + step
    return bool(np.abs(_linearised(platform, point)[:7, 8]).max() < _CONTINUUM_RESIDUAL)
