"""All poses of a platform with given leg lengths: its assembly modes, up to forty."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kinematics.arrays import LEGS, Array, finite_array, single
from kinematics.assembly.continuation import (
    ASSEMBLY_FIELDS,
    SOLUTIONS,
    Complex,
    End,
    Endpoints,
    follow_paths,
    general_start,
    repeated,
    unpaired,
)
from kinematics.errors import KinematicsError
from kinematics.geometry import Geometry
from kinematics.leg import leg_rows_kernel
from kinematics.rotations import (
    quaternion_conjugate,
    quaternion_from_rotation_vector,
    quaternion_multiply,
    quaternion_normalise,
    quaternion_to_matrix,
)

_NEARLY_REAL = 1e-4  # largest imaginary part of an x of norm 1 that may be near a real pose
_RESIDUAL = 1e-12  # largest leg-length error of a pose, relative to the platform's size
_SAME = 1e-9  # distance below which two poses are one, relative to the size, and rad
_SAME_SINGULAR = 1e-5
_POLISHING_STEPS = 40


@dataclass(slots=True, eq=False)
class AssemblyMode:
    """A pose (7,), its largest leg-length error, m, its multiplicity (paths that end there), and whether it is regular.

    A pose on a continuum is an example near the end of a path: its multiplicity is 0.
    """

    pose: Array
    residual: float
    multiplicity: int
    regular: bool


def platform_size(geometry: Geometry, lengths: Array) -> float:
    """Root mean square of base radius, platform radius and leg length, m: the equations' unit of length."""
    squares = [np.var(points, axis=0).sum() for points in (geometry.base_points, geometry.platform_points)]
    return float(np.sqrt((sum(squares) + np.mean(lengths**2)) / 3.0))


def scaled_platform(geometry: Geometry, lengths: Array, size: float) -> Complex:
    """Rows [b, p, d] (6, 7) of `assembly_equations`: in units of the size, points about their centres."""
    rows = np.empty((LEGS, ASSEMBLY_FIELDS), np.complex128)
    rows[:, 0:3] = (geometry.base_points - geometry.base_points.mean(axis=0)) / size
    rows[:, 3:6] = (geometry.platform_points - geometry.platform_points.mean(axis=0)) / size
    rows[:, 6] = (lengths / size) ** 2
    return rows


def real_modes(geometry: Geometry, lengths: Array, endpoints: Endpoints) -> list[AssemblyMode]:
    """Return the distinct poses at the ends of the paths, refined by Newton's method on the leg lengths (6,), m."""
    size = platform_size(geometry, lengths)
    modes: list[AssemblyMode] = []
    for x, end in zip(endpoints.points, endpoints.ends, strict=True):
        if end in (End.FAILED, End.INFINITE):
            continue
        turned = x * np.exp(-1j * np.angle(x[np.argmax(np.abs(x))]))
        imaginary = float(np.abs(turned.imag).max())
        if end is not End.CONTINUUM and imaginary > _NEARLY_REAL:
            continue
        start = _pose(geometry, turned.real, size)
        pose, residual = _polished(geometry, lengths, start)
        # Newton leaves a real solution in place, but may move a complex one to a pose already found.
        stays = _distance(pose, start, size) <= 1e-6 + 10.0 * imaginary
        if residual <= _RESIDUAL * size and (stays or end is End.CONTINUUM):
            _add(modes, AssemblyMode(pose, residual, int(end is not End.CONTINUUM), end is End.REGULAR), size)
    return modes


def union(modes: list[AssemblyMode], others: list[AssemblyMode], size: float) -> list[AssemblyMode]:
    """Merge two lists; every pose occurs once."""
    result = list(modes)
    for mode in others:
        if not any(_same_pose(mode, known, size) for known in result):
            result.append(mode)
    return result


def sorted_modes(modes: list[AssemblyMode], size: float) -> list[AssemblyMode]:
    """Sort from the highest pose to the lowest, then by x, y and orientation, independent of the order of paths."""
    grid = 1e-7  # much coarser than rounding, so that poses of equal height are ordered by the other coordinates
    return sorted(modes, key=lambda mode: _order(mode.pose, grid, size))


def _order(pose: Array, grid: float, size: float) -> tuple[float, ...]:
    x, y, z = np.round(pose[:3] / (grid * size))
    return (-float(z), float(x), float(y), *(-np.round(pose[3:] / grid)).tolist())


def _add(modes: list[AssemblyMode], mode: AssemblyMode, size: float) -> None:
    for known in modes:
        if _same_pose(mode, known, size):
            known.multiplicity += mode.multiplicity
            return
    modes.append(mode)


def _same_pose(mode: AssemblyMode, other: AssemblyMode, size: float) -> bool:
    bound = _SAME if mode.regular and other.regular else _SAME_SINGULAR
    return _distance(mode.pose, other.pose, size) < bound


def _distance(pose: Array, other: Array, size: float) -> float:
    turn = quaternion_multiply(pose[3:], quaternion_conjugate(other[3:]))[1:]
    return float(max(np.linalg.norm(pose[:3] - other[:3]) / size, 2.0 * np.linalg.norm(turn)))


def _pose(geometry: Geometry, x: Array, size: float) -> Array:
    """Pose (7,) of a real solution x (8,)."""
    e, g = x[:4], x[4:]
    quaternion = e / np.linalg.norm(e)
    place = quaternion_multiply(g, quaternion_conjugate(e))[1:] / (e @ e) * size
    place += geometry.base_points.mean(axis=0)
    place -= quaternion_to_matrix(quaternion) @ geometry.platform_points.mean(axis=0)
    return np.concatenate([place, quaternion])


def _polished(geometry: Geometry, lengths: Array, start: Array) -> tuple[Array, float]:
    """Return the pose of smallest residual, m, in a Newton run from `start`; its quaternion has qw ≥ 0.

    At a singular pose its steps have least norm, and it stops when they no longer help.
    """
    pose, best, least = start, start, np.inf
    rows = np.empty((LEGS, 7))
    for _ in range(_POLISHING_STEPS):
        leg_rows_kernel(geometry.array, pose, rows)
        errors = lengths - rows[:, 6]
        residual = float(np.abs(errors).max())
        if not residual < least:
            break
        best, least = pose, residual
        step = np.linalg.lstsq(rows[:, :6], errors, rcond=1e-9)[0]
        turned = quaternion_multiply(quaternion_from_rotation_vector(step[3:]), pose[3:])
        pose = np.concatenate([pose[:3] + step[:3], quaternion_normalise(turned)])
    sign = best[3:][np.abs(best[3:]) > 1e-9][0]
    return np.concatenate([best[:3], np.copysign(1.0, sign) * best[3:]]), least


_TOLERANCES = (1e-6, 1e-8, 1e-9)  # prediction error of a path, for the first, second and later attempts


@dataclass(frozen=True, slots=True, eq=False)
class AssemblyModes:
    """The poses of a platform with given leg lengths, and whether the list is complete.

    poses (m, 7): from the highest to the lowest (then by x, y, orientation); quaternions with qw ≥ 0.
    residuals (m,): largest leg-length error of each pose, m.
    multiplicities (m,): number of paths that end there: 1 for a regular pose, more where assembly modes meet
        (det H = 0), 0 for an example of a continuum, on which the platform moves with locked legs.
    real, complex, infinite, continuum, failed: how many of the forty paths ended in a pose, a complex solution, no
        pose, a solution that is not isolated, or failed.
    complete: whether these are all poses; `statement` says why, or why not.
    """

    poses: Array
    residuals: Array
    multiplicities: npt.NDArray[np.int64]
    real: int
    complex: int
    infinite: int
    continuum: int
    failed: int
    complete: bool
    statement: str

    def __len__(self) -> int:
        return len(self.poses)


def assembly_modes(geometry: Geometry, lengths: npt.ArrayLike, *, seed: int = 0, attempts: int = 3) -> AssemblyModes:
    """Compute all real poses with the leg `lengths` (6,), m, each with its residual.

    Joint limits, strokes and leg collisions are ignored, and a platform below its base is a mode as well.
    `seed`, at least 0, selects the random start platform of the paths; it affects the poses only by rounding.
    If paths fail, or the solutions contradict each other, the computation is repeated with a tighter tolerance, up to
    `attempts` times in all; after that the poses of all attempts are returned and `complete` is False. It is also False
    if solutions are not isolated, as for a platform that can move with locked legs; of those only examples are
    returned.
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
    size = platform_size(geometry, target)
    platform = scaled_platform(geometry, target, size)
    modes: list[AssemblyMode] = []
    for attempt in range(attempts):
        tolerance = _TOLERANCES[min(attempt, len(_TOLERANCES) - 1)]
        endpoints = follow_paths(general_start(seed, attempt), platform, tolerance)
        found = real_modes(geometry, target, endpoints)
        doubts = _reasons_incomplete(endpoints)
        if not doubts:
            modes = found
            break
        modes = union(modes, found, size)
        if endpoints.count(End.CONTINUUM):
            break  # no gain: other paths end in other poses of the continuum
    return _result(sorted_modes(modes, size), sum(mode.multiplicity for mode in found), endpoints, doubts)


def _reasons_incomplete(endpoints: Endpoints) -> list[str]:
    """Return the reasons why the list of solutions may be incomplete, empty if none."""
    doubts = []
    if failed := endpoints.count(End.FAILED):
        doubts.append(f"{failed} paths were lost")
    if twice := repeated(endpoints):
        doubts.append(f"{twice} paths ended in a solution that another had found")
    if continuum := endpoints.count(End.CONTINUUM):
        doubts.append(
            f"{continuum} paths end in solutions that are not isolated (a platform that can move with its legs held "
            "has endlessly many poses)"
        )
    elif alone := unpaired(endpoints):
        doubts.append(f"{alone} solutions were found without their complex conjugates")
    return doubts


def _result(modes: list[AssemblyMode], real: int, endpoints: Endpoints, doubts: list[str]) -> AssemblyModes:
    infinite, continuum, failed = (endpoints.count(end) for end in (End.INFINITE, End.CONTINUUM, End.FAILED))
    finite = SOLUTIONS - infinite - continuum - failed
    ends = (
        f"of {SOLUTIONS} paths {real} end in real poses, {finite - real} in complex solutions, {infinite} at infinity"
    )
    if doubts:
        statement = f"{'incomplete' if continuum else 'perhaps incomplete'}: {', '.join(doubts)}; {ends}"
    elif endpoints.count(End.REGULAR) == SOLUTIONS:
        statement = f"complete: all {SOLUTIONS} solutions that a platform can have are found, {real} of them real"
    else:
        statement = f"complete with probability one: {ends}, none is lost"
    return AssemblyModes(
        poses=np.array([mode.pose for mode in modes]).reshape(-1, 7),
        residuals=np.array([mode.residual for mode in modes]),
        multiplicities=np.array([mode.multiplicity for mode in modes], dtype=np.int64),
        real=real,
        complex=finite - real,
        infinite=infinite,
        continuum=continuum,
        failed=failed,
        complete=not doubts,
        statement=statement,
    )
