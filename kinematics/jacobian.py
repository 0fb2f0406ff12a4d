"""The matrix H of the platform: leg forces to platform wrench, and its transpose, platform twist to leg speeds."""

import numpy as np
import numpy.typing as npt

from kinematics.arrays import LEGS, MOTION_FIELDS, Array, checked_poses, finite_array, single
from kinematics.compiled import cross, kernel, rotate, rotation_matrix, solve_kernel, spectral_condition_kernel
from kinematics.errors import KinematicsError, SingularityError
from kinematics.geometry import Geometry
from kinematics.leg import leg_vector_kernel
from kinematics.rotations import quaternion_to_matrix

SINGULAR_CONDITION = 1e12
"""From this condition number on a pose counts as singular: no digit that matters survives a solution."""


@kernel
def leg_rows_kernel(geometry: Array, pose: Array, rows: Array) -> None:
    """Rows [s, q×s, L] of the six legs at a pose (7,), base axes, into `rows` (6, 7): Hᵀ and the leg lengths."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_matrix(pose[3], pose[4], pose[5], pose[6])
    for i in range(6):
        qx, qy, qz = rotate(
            r00, r01, r02, r10, r11, r12, r20, r21, r22, geometry[i, 6], geometry[i, 7], geometry[i, 8]
        )  # fmt: skip
        length, sx, sy, sz = leg_vector_kernel(
            geometry[i, 0], geometry[i, 1], geometry[i, 2], qx, qy, qz, pose[0], pose[1], pose[2]
        )
        rows[i, 0], rows[i, 1], rows[i, 2] = sx, sy, sz
        rows[i, 3], rows[i, 4], rows[i, 5] = cross(qx, qy, qz, sx, sy, sz)
        rows[i, 6] = length


@kernel
def leg_matrix_kernel(geometry: Array, pose: Array, out: Array) -> None:
    """H at a pose (7,) into `out` (6, 6): column i is [s_i; q_i×s_i], base axes, moments about the platform origin."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_matrix(pose[3], pose[4], pose[5], pose[6])
    for i in range(6):
        qx, qy, qz = rotate(
            r00, r01, r02, r10, r11, r12, r20, r21, r22, geometry[i, 6], geometry[i, 7], geometry[i, 8]
        )  # fmt: skip
        _, sx, sy, sz = leg_vector_kernel(
            geometry[i, 0], geometry[i, 1], geometry[i, 2], qx, qy, qz, pose[0], pose[1], pose[2]
        )
        out[0, i], out[1, i], out[2, i] = sx, sy, sz
        out[3, i], out[4, i], out[5, i] = cross(qx, qy, qz, sx, sy, sz)


@kernel
def determinant_kernel(geometry: Array, pose: Array, rows: Array) -> float:
    """det H at a pose (7,), m³; `rows` (6, 7) is working space. Its sign tells the sides of a singularity apart."""
    leg_rows_kernel(geometry, pose, rows)
    return solve_kernel(rows)


@kernel
def condition_number_kernel(geometry: Array, pose: Array, characteristic_length: float, work: Array) -> float:
    """σmax/σmin of H at a pose (7,), its moment rows divided by the length, m; `work` (6, 6) is working space."""
    leg_matrix_kernel(geometry, pose, work)
    for i in range(3, 6):
        for j in range(6):
            work[i, j] /= characteristic_length
    return spectral_condition_kernel(work)


@kernel
def _condition_batch(geometry: Array, poses: Array, characteristic_length: float, work: Array, out: Array) -> None:
    for sample in range(poses.shape[0]):
        out[sample] = condition_number_kernel(geometry, poses[sample], characteristic_length, work)


def leg_matrix(geometry: Geometry, pose: npt.ArrayLike) -> Array:
    """H (6, 6) at a pose (7,): H F is the wrench [force; moment] that leg forces F (6,) put on the platform.

    Base axes, moments about the platform origin, N and N m from N; column i is [s_i; q_i×s_i]. Its transpose gives the
    leg speeds of a twist [v; ω]. Dasgupta & Mruthyunjaya (1998), eq. 36.
    Raises KinematicsError for a wrong shape, a number that is not finite, a quaternion not of unit norm.
    """
    matrix = np.empty((LEGS, 6))
    leg_matrix_kernel(geometry.array, single("pose", checked_poses("pose", pose)), matrix)
    return matrix


@kernel
def _matrix_batch(geometry: Array, poses: Array, out: Array) -> None:
    for sample in range(poses.shape[0]):
        leg_matrix_kernel(geometry, poses[sample], out[sample])


def leg_matrices(geometry: Geometry, poses: npt.ArrayLike) -> Array:
    """H (n, 6, 6) at each of the poses (n, 7): see `leg_matrix`, which raises as well."""
    batch = checked_poses("pose", poses).reshape(-1, 7)
    out = np.empty((len(batch), 6, LEGS))
    _matrix_batch(geometry.array, np.ascontiguousarray(batch), out)
    return out


def condition_numbers(geometry: Geometry, poses: npt.ArrayLike, characteristic_length: float = 1.0) -> Array:
    """Condition number of H at each of the poses (n, 7), (n,): see `condition_number`."""
    if not (np.isfinite(characteristic_length) and characteristic_length > 0.0):
        raise KinematicsError(f"characteristic length: {characteristic_length} m, must be finite and above 0 m")
    batch = checked_poses("pose", poses).reshape(-1, 7)
    out = np.empty(len(batch))
    _condition_batch(geometry.array, batch, float(characteristic_length), np.empty((6, 6)), out)
    return out


def condition_number(geometry: Geometry, pose: npt.ArrayLike, characteristic_length: float = 1.0) -> float:
    """σmax/σmin of H at a pose (7,), infinite at a singularity.

    H mixes forces and moments, so the number depends on the unit of length: its moment rows are first divided by
    `characteristic_length`, m. The 1998 paper's figures are for 1 m; the platform's radius makes the number compare
    poses, not units.
    Raises KinematicsError as `leg_matrix`, and for a length that is not finite and positive.
    """
    poses = single("pose", checked_poses("pose", pose))
    return float(condition_numbers(geometry, poses, characteristic_length)[0])


def forward_twist(geometry: Geometry, pose: npt.ArrayLike, leg_velocities: npt.ArrayLike) -> Array:
    """Twist [v; ω] (6,) of the platform, base axes, m/s and rad/s, whose leg speeds are `leg_velocities` (6,), m/s.

    Solves Hᵀ [v; ω] = L̇ at a pose (7,); Dasgupta & Mruthyunjaya (1998), eq. 5. Raises KinematicsError for a wrong
    shape, a number that is not finite, a quaternion not of unit norm; SingularityError, naming the pose, where the
    condition number of H reaches SINGULAR_CONDITION.
    """
    start = single("pose", checked_poses("pose", pose))
    system = np.empty((LEGS, 7))
    leg_rows_kernel(geometry.array, start, system)
    system[:, 6] = single("leg velocities", finite_array("leg velocities", leg_velocities, LEGS))
    return _solved(geometry, start, system)


def forward_acceleration(
    geometry: Geometry, pose: npt.ArrayLike, twist: npt.ArrayLike, leg_accelerations: npt.ArrayLike
) -> Array:
    """Acceleration [a; α] (6,) of the platform origin and of its rotation, base axes, m/s² and rad/s².

    pose (7,), twist (6,): as found by `forward_kinematics` and `forward_twist`.  leg_accelerations (6,): L̈, m/s².
    Solves Hᵀ [a; α] = L̈ − s·(ω×(ω×q)) − ‖Ṡ − L̇ s‖²/L; Dasgupta & Mruthyunjaya (1998), eqs. 7 and 8.
    Raises as `forward_twist`.
    """
    start = single("pose", checked_poses("pose", pose))
    moving = single("twist", finite_array("twist", twist, 6, MOTION_FIELDS[7:13]))
    system = np.empty((LEGS, 7))
    leg_rows_kernel(geometry.array, start, system)
    directions, lengths = system[:, :3], system[:, 6].copy()
    omega = moving[3:]
    turning = np.cross(omega, geometry.platform_points @ quaternion_to_matrix(start[3:]).T)
    speeds = moving[:3] + turning
    across = speeds - (speeds * directions).sum(axis=1)[:, None] * directions
    system[:, 6] = single("leg accelerations", finite_array("leg accelerations", leg_accelerations, LEGS))
    system[:, 6] -= (directions * np.cross(omega, turning)).sum(axis=1) + (across**2).sum(axis=1) / lengths
    return _solved(geometry, start, system)


def _solved(geometry: Geometry, pose: Array, system: Array) -> Array:
    """x (6,) of the system (6, 7) of a pose; SingularityError where none should be taken."""
    condition = condition_number(geometry, pose)
    if condition >= SINGULAR_CONDITION:
        place = ", ".join(f"{name} = {value:.6g}" for name, value in zip(MOTION_FIELDS[:7], pose, strict=True))
        raise SingularityError(
            f"the platform is singular at this pose: condition number {condition:.3g}, must be below "
            f"{SINGULAR_CONDITION:g} ({place})"
        )
    solve_kernel(system)
    return system[:, 6].copy()
