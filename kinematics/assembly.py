"""Every pose of a platform with given leg lengths: its assembly modes, up to forty.

The equations of the legs are solved over the complex numbers, where a general platform has exactly forty solutions:
those of a random complex platform are followed, one path each, while it is turned into the platform asked for. Every
isolated solution is then the end of a path, except for an unlucky choice of probability zero (coefficient-parameter
continuation; Sommese & Wampler, The Numerical Solution of Systems of Polynomials, 2005, ch. 7). Real ends are poses.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kinematics.arrays import LEGS, Array, finite_array, single
from kinematics.assembly_endpoints import End, Endpoints, follow_paths, repeated, unpaired
from kinematics.assembly_equations import ASSEMBLY_FIELDS, Complex
from kinematics.assembly_start import SOLUTIONS, general_start
from kinematics.errors import KinematicsError
from kinematics.geometry import Geometry
from kinematics.jacobian import leg_rows_kernel
from kinematics.rotations import quaternion_from_rotation_vector, quaternion_multiply, quaternion_to_matrix

_TOLERANCES = (1e-6, 1e-8, 1e-9)  # of the prediction of a path, for the first, second and later attempts
_NEARLY_REAL = 1e-4  # imaginary part of an x of norm 1 from which a real pose is looked for
_RESIDUAL = 1e-11  # largest leg-length error of a pose, of the platform's size
_SAME_POSE = 1e-7
_POLISHING_STEPS = 30


@dataclass(frozen=True, slots=True, eq=False)
class AssemblyModes:
    """The poses of a platform with given leg lengths, and how sure it is that they are all.

    poses (m, 7): from the highest to the lowest (then by x, y, orientation); quaternions with qw ≥ 0.
    residuals (m,): largest leg-length error of each pose, m.
    multiplicities (m,): how many paths end there, 1 for a regular pose, more where assembly modes meet (det H = 0).
    real, complex, infinite, failed: how the forty paths ended: in a pose, in a solution that is not real, in none, or
        nobody knows.
    continuum: whether solutions were met that are not isolated: the platform can move with its legs held.
    complete: whether these are all the poses; `statement` says why, or why not.
    """

    poses: Array
    residuals: Array
    multiplicities: npt.NDArray[np.int64]
    real: int
    complex: int
    infinite: int
    failed: int
    continuum: bool
    complete: bool
    statement: str

    def __len__(self) -> int:
        return len(self.poses)


@dataclass(slots=True, eq=False)
class _Mode:
    pose: Array
    residual: float
    multiplicity: int


def assembly_modes(geometry: Geometry, lengths: npt.ArrayLike, *, seed: int = 0, attempts: int = 3) -> AssemblyModes:
    """Every real pose in which the legs have the `lengths` (6,), m, each with its residual.

    Joint limits, strokes and legs in each other's way do not count, and a platform below its base is a mode as well.
    `seed`, at least 0, chooses the random platform from which the paths start; it has no influence on the poses beyond
    rounding. Where paths fail, or the solutions found contradict each other, this is begun anew, more carefully, up to
    `attempts` times in all; if that does not help, the poses of all attempts are given and `complete` is False.
    Raises KinematicsError for a wrong shape, a number that is not finite, a length not positive, or a seed or number
    of attempts out of bounds.
    """
    target = single("leg lengths", finite_array("leg lengths", lengths, LEGS))
    for leg, length in enumerate(target, start=1):
        if not length > 0.0:
            raise KinematicsError(f"leg lengths: leg {leg} is {length:g} m, must be above 0 m")
    if seed < 0:
        raise KinematicsError(f"seed: {seed}, must be at least 0")
    if attempts < 1:
        raise KinematicsError(f"attempts: {attempts}, must be at least 1")
    size = _size(geometry, target)
    platform = _platform(geometry, target, size)
    modes: list[_Mode] = []
    for attempt in range(attempts):
        tolerance = _TOLERANCES[min(attempt, len(_TOLERANCES) - 1)]
        endpoints = follow_paths(general_start(seed, attempt), platform, tolerance)
        found = _real_modes(geometry, target, size, endpoints)
        doubt = _doubt(endpoints)
        modes = found if not doubt else _union(modes, found)
        if not doubt or endpoints.count(End.CONTINUUM):
            break
    return _result(modes, found, endpoints, doubt, attempt + 1)


def _size(geometry: Geometry, lengths: Array) -> float:
    """Root mean square of base and platform radius and leg length, m: the unit in which the equations are solved."""
    squares = [np.var(points, axis=0).sum() for points in (geometry.base_points, geometry.platform_points)]
    return float(np.sqrt((sum(squares) + np.mean(lengths**2)) / 3.0))


def _platform(geometry: Geometry, lengths: Array, size: float) -> Complex:
    """The platform as (6, 7) rows [b, p, d] of `assembly_equations`, of size 1, its points about their centres."""
    rows = np.empty((LEGS, ASSEMBLY_FIELDS), np.complex128)
    rows[:, 0:3] = (geometry.base_points - geometry.base_points.mean(axis=0)) / size
    rows[:, 3:6] = (geometry.platform_points - geometry.platform_points.mean(axis=0)) / size
    rows[:, 6] = (lengths / size) ** 2
    return rows


def _real_modes(geometry: Geometry, lengths: Array, size: float, endpoints: Endpoints) -> list[_Mode]:
    modes: list[_Mode] = []
    for x, end in zip(endpoints.points, endpoints.ends, strict=True):
        if end in (End.FAILED, End.INFINITE):
            continue
        turned = x * np.exp(-1j * np.angle(x[np.argmax(np.abs(x))]))
        imaginary = float(np.abs(turned.imag).max())
        if end is not End.CONTINUUM and imaginary > _NEARLY_REAL:
            continue
        start = _pose(geometry, turned.real, size)
        pose, residual = _polished(geometry, lengths, start)
        # a root that is real stays where it is; one that is not may lead to a pose that another path ends in
        stays = pose_distance(pose, start, size) <= 1e-6 + 10.0 * imaginary
        if residual <= _RESIDUAL * size and (stays or end is End.CONTINUUM):
            _add(modes, _Mode(pose, residual, 1))
    return modes


def _add(modes: list[_Mode], mode: _Mode) -> None:
    size = 1.0
    for other in modes:
        if pose_distance(other.pose, mode.pose, size) < _SAME_POSE:
            other.multiplicity += mode.multiplicity
            return
    modes.append(mode)
