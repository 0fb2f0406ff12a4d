"""Leg kinematics: lengths, rates and joint angles of a motion, and the matrix H, whose transpose is the Jacobian."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kinematics.arrays import LEGS, MOTION_FIELDS, Array, checked_poses, finite_array, single
from kinematics.compiled import (
    cross,
    kernel,
    leg_axes,
    leg_direction,
    leg_rates,
    point_motion,
    rotate,
    rotation_matrix,
    solve_kernel,
    spectral_condition_kernel,
)
from kinematics.errors import KinematicsError, SingularityError
from kinematics.geometry import Geometry

MINIMUM_LENGTH = 1e-9
"""A leg shorter than this, m, has no direction."""
MINIMUM_SINE = 1e-6
"""Least ‖u×s‖, the sine of the angle between the universal joint's fixed axis and the leg: below, spin is undefined."""

LEG_COLUMNS = 13
"""Columns of the output of `inverse_kinematics_kernel`: L, L̇, L̈, s, W·s, W, A."""


@kernel
def leg_vector_kernel(
    bx: float, by: float, bz: float, qx: float, qy: float, qz: float, tx: float, ty: float, tz: float
) -> tuple[float, float, float, float]:
    """Length and direction of a leg, (L, sx, sy, sz), of S = q + t − b; the direction is zero if L < MINIMUM_LENGTH."""
    length, _, sx, sy, sz = leg_direction(bx, by, bz, qx, qy, qz, tx, ty, tz)
    if not length >= MINIMUM_LENGTH:
        return length, 0.0, 0.0, 0.0
    return length, sx, sy, sz


@kernel
def inverse_kinematics_kernel(geometry: Array, motion: Array, out: Array) -> int:
    """Compute the motion of the six legs at a platform motion (19,), into `out` (6, 13): L, L̇, L̈, s, W·s, W, A.

    Returns 0, or the number 1…6 of the first leg that lies along its universal joint's fixed axis (or has zero length);
    `out` is then invalid.
    """
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_matrix(motion[3], motion[4], motion[5], motion[6])
    for i in range(6):
        qx, qy, qz = rotate(
            r00, r01, r02, r10, r11, r12, r20, r21, r22, geometry[i, 6], geometry[i, 7], geometry[i, 8]
        )  # fmt: skip
        length, inverse, sx, sy, sz = leg_direction(
            geometry[i, 0], geometry[i, 1], geometry[i, 2], qx, qy, qz, motion[0], motion[1], motion[2]
        )
        vx, vy, vz, wx, wy, wz, sine, slope = leg_axes(geometry[i, 3], geometry[i, 4], geometry[i, 5], sx, sy, sz)
        if not (length >= MINIMUM_LENGTH and sine >= MINIMUM_SINE):
            return i + 1
        dx, dy, dz, ex, ey, ez = point_motion(
            qx, qy, qz, motion[7], motion[8], motion[9], motion[10], motion[11], motion[12],
            motion[13], motion[14], motion[15], motion[16], motion[17], motion[18],
        )  # fmt: skip
        speed, hv, hw = rotate(sx, sy, sz, vx, vy, vz, wx, wy, wz, dx, dy, dz)
        es, ev, ew = rotate(sx, sy, sz, vx, vy, vz, wx, wy, wz, ex, ey, ez)
        acceleration, Ws, Wv, Ww, As, Av, Aw = leg_rates(length, inverse, slope, hv, hw, speed, es, ev, ew)
        out[i, 0], out[i, 1], out[i, 2] = length, speed, acceleration
        out[i, 3], out[i, 4], out[i, 5] = sx, sy, sz
        out[i, 6] = Ws
        out[i, 7], out[i, 8], out[i, 9] = rotate(sx, vx, wx, sy, vy, wy, sz, vz, wz, Ws, Wv, Ww)
        out[i, 10], out[i, 11], out[i, 12] = rotate(sx, vx, wx, sy, vy, wy, sz, vz, wz, As, Av, Aw)
    return 0


@kernel
def leg_lengths_kernel(geometry: Array, pose: Array, out: Array) -> None:
    """Compute the lengths of the six legs at a pose (7,), m, into `out` (6,)."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_matrix(pose[3], pose[4], pose[5], pose[6])
    for i in range(6):
        qx, qy, qz = rotate(
            r00, r01, r02, r10, r11, r12, r20, r21, r22, geometry[i, 6], geometry[i, 7], geometry[i, 8]
        )  # fmt: skip
        out[i], _, _, _ = leg_vector_kernel(
            geometry[i, 0], geometry[i, 1], geometry[i, 2], qx, qy, qz, pose[0], pose[1], pose[2]
        )


@kernel
def _inverse_batch(geometry: Array, motions: Array, out: Array) -> tuple[int, int]:
    for sample in range(motions.shape[0]):
        leg = inverse_kinematics_kernel(geometry, motions[sample], out[sample])
        if leg != 0:
            return sample, leg
    return -1, 0


@kernel
def _lengths_batch(geometry: Array, poses: Array, out: Array) -> None:
    for sample in range(poses.shape[0]):
        leg_lengths_kernel(geometry, poses[sample], out[sample])


@kernel
def _directions_batch(geometry: Array, poses: Array, out: Array) -> None:
    """Compute directions s of the legs in base axes, then in platform axes, into `out` (n, 2, 6, 3)."""
    for sample in range(poses.shape[0]):
        pose = poses[sample]
        r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_matrix(pose[3], pose[4], pose[5], pose[6])
        for i in range(6):
            qx, qy, qz = rotate(
                r00, r01, r02, r10, r11, r12, r20, r21, r22, geometry[i, 6], geometry[i, 7], geometry[i, 8]
            )  # fmt: skip
            _, sx, sy, sz = leg_vector_kernel(
                geometry[i, 0], geometry[i, 1], geometry[i, 2], qx, qy, qz, pose[0], pose[1], pose[2]
            )
            base, platform = out[sample, 0, i], out[sample, 1, i]
            base[0], base[1], base[2] = sx, sy, sz
            platform[0], platform[1], platform[2] = rotate(r00, r10, r20, r01, r11, r21, r02, r12, r22, sx, sy, sz)


@dataclass(frozen=True, slots=True, eq=False)
class LegMotion:
    """Motion of the six legs, vectors in the base frame; batches have a leading sample axis.

    length, velocity, acceleration (…, 6): m, m/s, m/s².
    direction (…, 6, 3): unit vector s from the base point to the platform point.
    spin (…, 6): W·s, rad/s, the rotation about the leg's own axis imposed by its universal joint.
    angular_velocity, angular_acceleration (…, 6, 3): W, rad/s, and A, rad/s², of both parts of the leg.
    """

    length: Array
    velocity: Array
    acceleration: Array
    direction: Array
    spin: Array
    angular_velocity: Array
    angular_acceleration: Array


@dataclass(frozen=True, slots=True, eq=False)
class JointAngles:
    """Angles of the legs from their directions at home, rad, (…, 6) each.

    universal: seen from the base; spherical: seen from the platform.
    """

    universal: Array
    spherical: Array


def leg_kinematics(geometry: Geometry, motion: npt.ArrayLike) -> LegMotion:
    """Compute lengths, speeds, accelerations, directions and rotations of the legs at the platform's motion.

    motion: (19,) or (n, 19), [x y z, qw qx qy qz, v, ω, a, α], platform in base, base axes, SI.
    Raises KinematicsError for a wrong shape, a number that is not finite, a quaternion not of unit norm;
    SingularityError, with the leg, if it lies along its universal joint's fixed axis.
    """
    motions = checked_poses("motion", motion, len(MOTION_FIELDS))
    batch = motions.reshape(-1, len(MOTION_FIELDS))
    out = np.empty((len(batch), LEGS, LEG_COLUMNS))
    sample, leg = _inverse_batch(geometry.array, batch, out)
    if leg:
        raise _singular_leg(geometry, batch[sample], leg, f"sample {sample}, " if motions.ndim == 2 else "")
    out = out.reshape(*motions.shape[:-1], LEGS, LEG_COLUMNS)
    return LegMotion(
        length=out[..., 0],
        velocity=out[..., 1],
        acceleration=out[..., 2],
        direction=out[..., 3:6],
        spin=out[..., 6],
        angular_velocity=out[..., 7:10],
        angular_acceleration=out[..., 10:13],
    )


def leg_lengths(geometry: Geometry, pose: npt.ArrayLike) -> Array:
    """Compute distances (…, 6) from base point to platform point of each leg, m, at poses (7,) or (n, 7).

    Raises KinematicsError for a wrong shape, a number that is not finite, a quaternion not of unit norm.
    """
    poses = checked_poses("pose", pose)
    lengths = np.empty((*poses.shape[:-1], LEGS))
    _lengths_batch(geometry.array, poses.reshape(-1, 7), lengths.reshape(-1, LEGS))
    return lengths


def leg_strokes(geometry: Geometry, pose: npt.ArrayLike) -> Array:
    """Compute the leg extensions from home (…, 6), m, at poses (7,) or (n, 7).

    Raises KinematicsError as `leg_lengths`, and if the geometry has no home.
    """
    return leg_lengths(geometry, pose) - leg_lengths(geometry, geometry.home_pose)


def joint_angles(geometry: Geometry, pose: npt.ArrayLike) -> JointAngles:
    """Compute the angle between each leg's axis and its home direction, at poses (7,) or (n, 7), rad.

    The universal joint's angle is in the base frame, the spherical joint's in the platform frame.
    Raises KinematicsError as `leg_lengths`, and if the geometry has no home; SingularityError if a leg has zero length.
    """
    poses = checked_poses("pose", pose)
    now = _directions(geometry, poses)
    home = _directions(geometry, geometry.home_pose)
    angles = np.arctan2(np.linalg.norm(np.cross(now, home), axis=-1), np.sum(now * home, axis=-1))
    return JointAngles(universal=angles[..., 0, :], spherical=angles[..., 1, :])


def _directions(geometry: Geometry, poses: Array) -> Array:
    directions = np.empty((*poses.shape[:-1], 2, LEGS, 3))
    _directions_batch(geometry.array, poses.reshape(-1, 7), directions.reshape(-1, 2, LEGS, 3))
    missing = ~directions[..., 0, :, :].any(axis=-1)
    if missing.any():
        leg = int(np.argwhere(missing)[0][-1]) + 1
        raise SingularityError(f"leg {leg} has no direction: its length is below {MINIMUM_LENGTH:g} m")
    return directions


def _singular_leg(geometry: Geometry, motion: Array, leg: int, where: str) -> SingularityError:
    length = leg_lengths(geometry, motion[:7])[leg - 1]
    if length < MINIMUM_LENGTH:
        return SingularityError(f"leg {leg}: length {length:.3g} m, must be at least {MINIMUM_LENGTH:g} m", where)
    return SingularityError(
        f"leg {leg} stands along its universal joint's fixed axis: sine of the angle between them below "
        f"{MINIMUM_SINE:g}, the leg's spin is undefined there",
        where,
    )


SINGULAR_CONDITION = 1e12
"""A pose counts as singular from this condition number on: a solution has no significant digits."""


@kernel
def leg_rows_kernel(geometry: Array, pose: Array, rows: Array) -> None:
    """Compute rows [s, q×s, L] of the six legs at a pose (7,), base axes, into `rows` (6, 7): Hᵀ and leg lengths."""
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
    """H at a pose (7,) into `out` (6, 6): columns [s_i; q_i×s_i], base axes, moments about the platform origin."""
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
    """Compute det H at a pose (7,), m³; `rows` (6, 7) is working space. Its sign changes across a singularity."""
    leg_rows_kernel(geometry, pose, rows)
    return solve_kernel(rows)


@kernel
def condition_number_kernel(geometry: Array, pose: Array, characteristic_length: float, work: Array) -> float:
    """Compute σmax/σmin of H at a pose (7,), moment rows divided by the length, m; `work` (6, 6) is working space."""
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
    """Compute H (6, 6) at a pose (7,): H F is the wrench [force; moment] of leg forces F (6,) on the platform.

    Base axes, moments about the platform origin, N and N m from N; column i is [s_i; q_i×s_i]. Its transpose maps the
    twist [v; ω] to leg speeds. Dasgupta & Mruthyunjaya (1998), eq. 36.
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
    """Compute H (n, 6, 6) at poses (n, 7); errors as `leg_matrix`."""
    batch = checked_poses("pose", poses).reshape(-1, 7)
    out = np.empty((len(batch), 6, LEGS))
    _matrix_batch(geometry.array, np.ascontiguousarray(batch), out)
    return out


def condition_numbers(geometry: Geometry, poses: npt.ArrayLike, characteristic_length: float = 1.0) -> Array:
    """Compute the condition numbers of H (n,) at poses (n, 7): see `condition_number`."""
    if not (np.isfinite(characteristic_length) and characteristic_length > 0.0):
        raise KinematicsError(f"characteristic length: {characteristic_length} m, must be finite and above 0 m")
    batch = checked_poses("pose", poses).reshape(-1, 7)
    out = np.empty(len(batch))
    _condition_batch(geometry.array, batch, float(characteristic_length), np.empty((6, 6)), out)
    return out


def condition_number(geometry: Geometry, pose: npt.ArrayLike, characteristic_length: float = 1.0) -> float:
    """Compute σmax/σmin of H at a pose (7,), infinite at a singularity.

    H mixes forces and moments, so the number depends on the unit of length: its moment rows are first divided by
    `characteristic_length`, m. The 1998 paper uses 1 m; with the platform's radius the number compares poses,
    independent of units.
    Raises KinematicsError as `leg_matrix`, and for a length that is not finite and positive.
    """
    poses = single("pose", checked_poses("pose", pose))
    return float(condition_numbers(geometry, poses, characteristic_length)[0])


def forward_twist(geometry: Geometry, pose: npt.ArrayLike, leg_velocities: npt.ArrayLike) -> Array:
    """Compute the twist [v; ω] (6,) of the platform, base axes, m/s and rad/s, from `leg_velocities` (6,), m/s.

    Solves Hᵀ [v; ω] = L̇ at a pose (7,); Dasgupta & Mruthyunjaya (1998), eq. 5. Raises KinematicsError for a wrong
    shape, a number that is not finite, a quaternion not of unit norm; SingularityError, with the pose, if the
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
    """Compute the platform's linear and angular acceleration [a; α] (6,), base axes, m/s² and rad/s².

    pose (7,), twist (6,): as found by `forward_kinematics` and `forward_twist`.  leg_accelerations (6,): L̈, m/s².
    Solves Hᵀ [a; α] = L̈ − s·(ω×(ω×q)) − ‖Ṡ − L̇ s‖²/L; Dasgupta & Mruthyunjaya (1998), eqs. 7 and 8.
    Raises as `forward_twist`.
    """
    start = single("pose", checked_poses("pose", pose))
    moving = single("twist", finite_array("twist", twist, 6, MOTION_FIELDS[7:13]))
    system = np.empty((LEGS, 7))
    leg_rows_kernel(geometry.array, start, system)
    directions, lengths = system[:, :3], system[:, 6].copy()
    arms = geometry.base_points + lengths[:, None] * directions - start[:3]
    wx, wy, wz = moving[3:].tolist()
    turn = np.array([[0.0, wz, -wy], [-wz, 0.0, wx], [wy, -wx, 0.0]])  # q @ turn = ω×q
    turning = arms @ turn
    speeds = moving[:3] + turning
    across = speeds - (speeds * directions).sum(axis=1)[:, None] * directions
    system[:, 6] = single("leg accelerations", finite_array("leg accelerations", leg_accelerations, LEGS))
    system[:, 6] -= (directions * (turning @ turn)).sum(axis=1) + (across**2).sum(axis=1) / lengths
    return _solved(geometry, start, system)


def _solved(geometry: Geometry, pose: Array, system: Array) -> Array:
    """Solve the system (6, 7) of a pose for x (6,); SingularityError if it is singular."""
    conditions = np.empty(1)
    _condition_batch(geometry.array, pose.reshape(1, 7), 1.0, np.empty((6, 6)), conditions)
    condition = float(conditions[0])
    if condition >= SINGULAR_CONDITION:
        place = ", ".join(f"{name} = {value:.6g}" for name, value in zip(MOTION_FIELDS[:7], pose, strict=True))
        raise SingularityError(
            f"the platform is singular at this pose: condition number {condition:.3g}, must be below "
            f"{SINGULAR_CONDITION:g} ({place})"
        )
    solve_kernel(system)
    return system[:, 6].copy()
