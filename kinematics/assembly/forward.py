"""Forward kinematics: the pose of the platform from its leg lengths, on the branch of the guess.

A 6-UPS platform has up to forty poses with the same leg lengths; a plain Newton iteration may converge to any of them.
The pose wanted is the one reached from the guess when the leg lengths change linearly from those at the guess to the
targets. One Newton run over the whole path is accepted only if it contracts from its first step on as inside its
Newton–Kantorovich ball (Deuflhard, Newton Methods for Nonlinear Problems, 2004, §2.1 and §5.1: the joint displacements
shrink at least fourfold), makes no large step and keeps the sign of det H. Otherwise a shorter part of the path is
tried, and the next part starts from there.
"""

from math import cos, inf, sin, sqrt

import numpy as np
import numpy.typing as npt

from kinematics.arrays import LEGS, Array, checked_poses, finite_array, single
from kinematics.compiled import inlined, kernel, solve_kernel
from kinematics.errors import AssemblyModeError, ConvergenceError, KinematicsError
from kinematics.geometry import Geometry
from kinematics.leg import determinant_kernel, leg_rows_kernel

CONVERGED, EXHAUSTED, CROSSED, INVALID = 0, 1, 2, 3
"""Status of `forward_kinematics_kernel`: found; steps exhausted; singularity on the path; invalid input."""
_DIVERGED = 4

FORWARD_WORK = 6 * 7 + 6 * 3 + 6 + 7 + 7
"""Length of the working array of `forward_kinematics_kernel`: Hᵀ and lengths, joints, targets, two poses."""

_CONTRACTION = 0.25
_LARGEST_ROTATION = 0.5  # rad, of one Newton step
_LARGEST_MOVE = 0.5  # of the leg's length, joint displacement in one Newton step
_WAYPOINT_TOLERANCE = 1e-6  # of the mean leg length: waypoints need not be exact
_SMALLEST_PART = 1e-6


@kernel
def _move(geometry: Array, rows: Array, joints: Array) -> tuple[float, bool]:
    """Update `joints` (6, 3), the platform points in base axes, from `rows`.

    Returns the largest joint displacement, m, and whether it is too large for one step.
    """
    farthest = 0.0
    too_far = False
    for i in range(6):
        square = 0.0
        for k in range(3):
            place = geometry[i, k] + rows[i, 6] * rows[i, k]
            square += (place - joints[i, k]) ** 2
            joints[i, k] = place
        too_far |= not square <= (_LARGEST_MOVE * rows[i, 6]) ** 2
        farthest = max(farthest, square)
    return sqrt(farthest), too_far


@kernel
def _turn(pose: Array, x: float, y: float, z: float) -> None:
    """Rotate `pose` by the rotation vector (x, y, z), rad, base axes, and normalise its quaternion."""
    square = x * x + y * y + z * z
    angle = sqrt(square)
    k = 0.5 - square / 48.0 if angle < 1e-4 else sin(0.5 * angle) / angle
    rw, rx, ry, rz = cos(0.5 * angle), k * x, k * y, k * z
    qw, qx, qy, qz = pose[3], pose[4], pose[5], pose[6]
    nw = rw * qw - rx * qx - ry * qy - rz * qz
    nx = rw * qx + rx * qw + ry * qz - rz * qy
    ny = rw * qy - rx * qz + ry * qw + rz * qx
    nz = rw * qz + rx * qy - ry * qx + rz * qw
    norm = sqrt(nw * nw + nx * nx + ny * ny + nz * nz)
    pose[3], pose[4], pose[5], pose[6] = nw / norm, nx / norm, ny / norm, nz / norm


@kernel
def _newton(
    geometry: Array, targets: Array, pose: Array, tolerance: float, budget: int, side: float, rows: Array, joints: Array
) -> tuple[int, int, float]:
    """Run Newton's method to the leg lengths `targets`; return status, steps used and det H at the end.

    `side` is the required sign of det H, 0 if not yet known. Every step solves Hᵀ [Δt; Δφ] = ΔL with the exact
    Jacobian; one more step follows after convergence, for a pose accurate to rounding.
    """
    previous = 0.0
    for step in range(budget):
        leg_rows_kernel(geometry, pose, rows)
        moved, too_far = _move(geometry, rows, joints)
        residual = 0.0
        for i in range(6):
            rows[i, 6] = targets[i] - rows[i, 6]
            residual = max(residual, abs(rows[i, 6]))
        agrees = residual <= tolerance
        if (step > 0 and too_far) or (step > 1 and not agrees and moved > _CONTRACTION * previous):
            return _DIVERGED, step, side
        previous = moved
        determinant = solve_kernel(rows)
        if side == 0.0:
            side = determinant
        if not ((determinant > 0.0 and side > 0.0) or (determinant < 0.0 and side < 0.0)):
            return CROSSED, step, determinant
        x, y, z = rows[3, 6], rows[4, 6], rows[5, 6]
        if not x * x + y * y + z * z <= _LARGEST_ROTATION**2:
            return _DIVERGED, step, determinant
        for k in range(3):
            pose[k] += rows[k, 6]
        _turn(pose, x, y, z)
        side = determinant
        if agrees:
            return CONVERGED, step + 1, determinant
    return EXHAUSTED, budget, side


@kernel
def _usable(lengths: Array, pose: Array, tolerance: float) -> bool:
    usable = 0.0 < tolerance < inf
    for i in range(6):
        usable &= 0.0 < lengths[i] < inf
    for k in range(7):
        usable &= abs(pose[k]) < inf
    return usable and pose[3] ** 2 + pose[4] ** 2 + pose[5] ** 2 + pose[6] ** 2 > 0.0


@inlined
def _copy(pose: Array, to: Array) -> None:
    for k in range(7):
        to[k] = pose[k]


@kernel
def _largest_difference(geometry: Array, lengths: Array, pose: Array, rows: Array) -> float:
    leg_rows_kernel(geometry, pose, rows)
    residual = 0.0
    for i in range(6):
        residual = max(residual, abs(lengths[i] - rows[i, 6]))
    return residual


@kernel
def forward_kinematics_kernel(
    geometry: Array, lengths: Array, pose: Array, tolerance: float, iterations: int, work: Array
) -> tuple[int, int, float, float]:
    """Compute the pose with the leg lengths (6,), m, on the branch of the guess in `pose` (7,).

    Returns (status, Newton steps used, largest leg-length error in m, det H in m³), the last two at the final
    iterate. With status CONVERGED `pose` receives the result, its quaternion of unit norm; with EXHAUSTED (more than
    `iterations` steps needed), CROSSED (det H changes sign on the path) or INVALID (a number that is not finite, a
    length or tolerance not positive) the guess is unchanged. `work` (FORWARD_WORK,) is working space.
    """
    if not _usable(lengths, pose, tolerance):
        return INVALID, 0, inf, 0.0
    rows = work[:42].reshape((6, 7))
    joints = work[42:60].reshape((6, 3))
    targets, guess, anchor = work[60:66], work[66:73], work[73:80]
    _copy(pose, guess)
    used = 0
    side = 0.0
    part = 1.0
    while True:
        _copy(pose, anchor)
        leg_rows_kernel(geometry, pose, rows)
        mean = 0.0
        for i in range(6):
            mean += rows[i, 6] / 6.0
            targets[i] = lengths[i] if part == 1.0 else rows[i, 6] + part * (lengths[i] - rows[i, 6])
        bound = tolerance if part == 1.0 else max(tolerance, _WAYPOINT_TOLERANCE * mean)
        status, spent, determinant = _newton(geometry, targets, pose, bound, iterations - used, side, rows, joints)
        used += spent
        if status == CONVERGED:
            side = determinant
            if part == 1.0:
                break
            part = min(1.0, 2.0 * part / (1.0 - part))
        elif status == EXHAUSTED:
            break
        else:
            used += spent == 0  # a rejected first step was computed too
            _copy(anchor, pose)
            part *= 0.5
            if part < _SMALLEST_PART:
                break
    residual = _largest_difference(geometry, lengths, pose, rows)
    if status == CONVERGED:
        return CONVERGED, used, residual, determinant
    _copy(guess, pose)
    return CROSSED if status == CROSSED else EXHAUSTED, used, residual, determinant


def forward_kinematics(
    geometry: Geometry,
    lengths: npt.ArrayLike,
    guess: npt.ArrayLike,
    *,
    tolerance: float = 1e-13,
    iterations: int = 100,
) -> Array:
    """Compute the pose (7,) with leg `lengths` (6,), m, on the branch of the `guess` (7,).

    Newton's method with the exact Jacobian until all legs are within `tolerance`, m, in at most `iterations` steps;
    where one run from the guess to the lengths is not safe, the path is divided. The quaternion's sign follows that of
    the guess.
    Raises KinematicsError for a wrong shape, a number that is not finite, a length or bound not positive;
    AssemblyModeError if the guess is across a singularity from home (if the geometry has one), or a singularity
    lies between it and the lengths; ConvergenceError, with the steps used and the residual, if no pose was
    found, as for lengths without a pose.
    """
    target = single("leg lengths", finite_array("leg lengths", lengths, LEGS))
    for leg, length in enumerate(target, start=1):
        if not length > 0.0:
            raise KinematicsError(f"leg lengths: leg {leg} is {length:g} m, must be above 0 m")
    rounding = 8.0 * float(np.finfo(np.float64).eps * target.max())
    if not rounding <= tolerance < np.inf:
        raise KinematicsError(
            f"tolerance: {tolerance:g} m, must be finite and at least {rounding:.2g} m, the rounding of these lengths"
        )
    if iterations < 1:
        raise KinematicsError(f"iterations: {iterations}, must be at least 1")
    pose = single("guess", checked_poses("guess", guess))
    work = np.zeros(FORWARD_WORK)  # the first step reads the places before it, whatever they are
    side = determinant_kernel(geometry.array, pose, np.empty((6, 7)))
    if geometry.home is not None:
        home = geometry.home.copy()  # writeable: a read-only array would make numba compile again
        at_home = determinant_kernel(geometry.array, home, np.empty((6, 7)))
        if not side * at_home > 0.0:
            raise AssemblyModeError(
                f"the guess is across a singularity from home: det H is {side:.3g} m³ there, {at_home:.3g} m³ at home",
                0,
                _largest_difference(geometry.array, target, pose, np.empty((6, 7))),
            )
    status, used, residual, determinant = forward_kinematics_kernel(
        geometry.array, target, pose, float(tolerance), int(iterations), work
    )
    if status == CONVERGED:
        return pose
    stopped = (
        f"forward kinematics stopped after {used} of {iterations} Newton steps with a leg length {residual:.3g} m off, "
        f"tolerance {tolerance:g} m; det H {determinant:.3g} m³, {side:.3g} m³ at the guess"
    )
    if status == CROSSED:
        raise AssemblyModeError(
            f"a singular pose stands between the guess and these lengths: {stopped}", used, residual
        )
    raise ConvergenceError(stopped, used, residual)
