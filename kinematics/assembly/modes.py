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
from kinematics.assembly.endpoints import End, Endpoints, follow_paths, repeated, unpaired
from kinematics.assembly.poses import AssemblyMode, platform_size, real_modes, scaled_platform, sorted_modes, union
from kinematics.assembly.start import SOLUTIONS, general_start
from kinematics.errors import KinematicsError
from kinematics.geometry import Geometry

_TOLERANCES = (1e-6, 1e-8, 1e-9)  # of the prediction of a path, for the first, second and later attempts


@dataclass(frozen=True, slots=True, eq=False)
class AssemblyModes:
    """The poses of a platform with given leg lengths, and how sure it is that they are all.

    poses (m, 7): from the highest to the lowest (then by x, y, orientation); quaternions with qw ≥ 0.
    residuals (m,): largest leg-length error of each pose, m.
    multiplicities (m,): how many paths end there: 1 for a regular pose, more where assembly modes meet (det H = 0), 0
        for one pose of many between which the platform can move with its legs held.
    real, complex, infinite, continuum, failed: how many of the forty paths ended in a pose, in a solution that is not
        real, in no pose at all, on solutions that are not isolated, and nobody knows where.
    complete: whether these are all the poses; `statement` says how that is known, or why not.
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
    """Every real pose in which the legs have the `lengths` (6,), m, each with its residual.

    Joint limits, strokes and legs in each other's way do not count, and a platform below its base is a mode as well.
    `seed`, at least 0, chooses the random platform from which the paths start; it has no influence on the poses beyond
    rounding. Where paths fail, or the solutions contradict each other, this is done anew, more carefully, up to
    `attempts` times in all; if that does not help, the poses of all attempts are given and `complete` is False. It is
    False as well where solutions are not isolated, as for a platform that can move with its legs held: of those only
    examples are given.
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
        doubts = _doubts(endpoints)
        if not doubts:
            modes = found
            break
        modes = union(modes, found, size)
        if endpoints.count(End.CONTINUUM):
            break  # nothing to gain: other paths end in other poses of the continuum
    return _result(sorted_modes(modes, size), sum(mode.multiplicity for mode in found), endpoints, doubts)


def _doubts(endpoints: Endpoints) -> list[str]:
    """Why the list of solutions may lack some, empty if there is no reason to think so."""
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
