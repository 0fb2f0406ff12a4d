"""Rotations of the platform: quaternions (w first), matrices, rotation vectors and the angles [θx θy θz].

R rotates platform axes to base axes.  Angles follow R = Rz(θz) Ry(θy) Rx(θx) (1998 eq. 38).  Functions take arrays
with any leading axes; the last axes are the quantity.  A motion is the 19 numbers of a pose, a twist and an
acceleration, all vectors in base axes:

    [x y z, qw qx qy qz, vx vy vz, wx wy wz, ax ay az, alx aly alz]    m, rad, s

and coordinates are [x y z θx θy θz], with their first and second derivatives.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinematics.arrays import Array
from kinematics.compiled import kernel
from kinematics.errors import KinematicsError

_LEAST_COSINE = 1e-3  # of θy: within 0.06° of ±90° the angles and their rates are ill-defined
_ORTHONORMAL = 1e-6  # largest deviation of RᵀR from the identity
_UNIT = 1e-6  # largest deviation of a quaternion's norm from 1


def _checked(name: str, value: ArrayLike, *shape: int) -> Array:
    """Return `value` as a finite float array whose last axes have `shape`."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise KinematicsError(f"{name} is not a regular array of numbers ({error})") from None
    if array.shape[array.ndim - len(shape) :] != shape or array.ndim < len(shape):
        expected = ", ".join(map(str, shape))
        raise KinematicsError(f"{name} must have the shape (…, {expected}), not {array.shape}")
    if not np.isfinite(array).all():
        raise KinematicsError(f"{name} holds a value that is not finite")
    return array


def _checked_quaternion(name: str, value: ArrayLike) -> Array:
    array = _checked(name, value, 4)
    deviation = np.abs(np.linalg.norm(array, axis=-1) - 1.0)
    if deviation.size and deviation.max() > _UNIT:
        raise KinematicsError(f"{name} must have the norm 1 to {_UNIT:g}, but is off by {deviation.max():.3g}")
    return array


def _checked_cosine(theta_y: Array) -> Array:
    cosine = np.cos(theta_y)
    if cosine.size and np.abs(cosine).min() < _LEAST_COSINE:
        worst = float(theta_y.flat[int(np.abs(cosine).argmin())])
        raise KinematicsError(
            f"θy = {math.degrees(worst):.3f}° is too near ±90°, where θx and θz cannot be told apart"
            f" (|cos θy| must be at least {_LEAST_COSINE:g})"
        )
    return cosine


def quaternion_normalise(quaternion: ArrayLike) -> Array:
    """Normalise `quaternion` (…,4).  KinematicsError for a zero or non-finite one."""
    array = _checked("quaternion", quaternion, 4)
    norm = np.linalg.norm(array, axis=-1, keepdims=True)
    if norm.size and norm.min() == 0.0:
        raise KinematicsError("quaternion is zero: it stands for no rotation")
    return np.asarray(array / norm, dtype=np.float64)


def quaternion_conjugate(quaternion: ArrayLike) -> Array:
    """Conjugate of `quaternion` (…,4): the inverse rotation for a unit quaternion."""
    array = np.array(_checked("quaternion", quaternion, 4))
    array[..., 1:] *= -1.0
    return array


def quaternion_multiply(first: ArrayLike, second: ArrayLike) -> Array:
    """Hamilton product of two quaternions (…,4): R(first second) = R(first) R(second)."""
    a, b = np.broadcast_arrays(_checked("first", first, 4), _checked("second", second, 4))
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def quaternion_to_matrix(quaternion: ArrayLike) -> Array:
    """Rotation matrix (…,3,3) of a unit quaternion (…,4).  KinematicsError if its norm is not 1 to 1e-6."""
    array = _checked("quaternion", quaternion, 4)
    if array.ndim == 1:
        return np.array(_matrix_rows(*_unit_numbers(array))).reshape(3, 3)
    unit = quaternion_normalise(_checked_quaternion("quaternion", array))
    return np.stack(_matrix_rows(*np.moveaxis(unit, -1, 0)), axis=-1).reshape((*unit.shape[:-1], 3, 3))


def _unit_numbers(quaternion: Array) -> list[float]:
    """The numbers of one quaternion (4,), normalised, as `_checked_quaternion` has it, in a fraction of its time."""
    numbers: list[float] = quaternion.tolist()
    w, x, y, z = numbers
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    if abs(norm - 1.0) > _UNIT:
        _checked_quaternion("quaternion", quaternion)
    return [number / norm for number in numbers]


def _matrix_rows(w: Any, x: Any, y: Any, z: Any) -> list[Any]:
    """The nine numbers of a rotation matrix, row by row: floats, or arrays of them."""
    return [
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    ]  # fmt: skip


def _checked_matrix(value: ArrayLike) -> Array:
    matrix = _checked("rotation matrix", value, 3, 3)
    deviation = np.abs(np.swapaxes(matrix, -1, -2) @ matrix - np.eye(3))
    if deviation.size and deviation.max() > _ORTHONORMAL:
        raise KinematicsError(
            f"rotation matrix is not orthonormal: RᵀR is off the identity by {deviation.max():.3g},"
            f" allowed {_ORTHONORMAL:g}"
        )
    if deviation.size and np.linalg.det(matrix).min() < 0.0:
        raise KinematicsError("rotation matrix has the determinant -1: it mirrors")
    return matrix


def matrix_to_quaternion(matrix: ArrayLike) -> Array:
    """Unit quaternion (…,4), w ≥ 0, of a rotation matrix (…,3,3).  KinematicsError if it is not a rotation."""
    from scipy.spatial.transform import Rotation  # slow to import, rarely needed

    checked = _checked_matrix(matrix)
    flat = Rotation.from_matrix(checked.reshape(-1, 3, 3)).as_quat(canonical=True, scalar_first=True)
    return np.asarray(flat, dtype=np.float64).reshape((*checked.shape[:-2], 4))


def quaternion_from_rotation_vector(vector: ArrayLike) -> Array:
    """Unit quaternion (…,4) of a rotation by ‖vector‖ rad about `vector` (…,3)."""
    array = _checked("rotation vector", vector, 3)
    half = 0.5 * np.linalg.norm(array, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * array], axis=-1)


def rotation_vector_from_quaternion(quaternion: ArrayLike) -> Array:
    """Rotation vector (…,3), rad, at most π, of a unit quaternion (…,4).  KinematicsError if it is not unit."""
    array = _checked_quaternion("quaternion", quaternion)
    array = np.where(array[..., :1] < 0.0, -array, array)
    sine = np.linalg.norm(array[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, array[..., :1])
    small = sine < 1e-150
    return array[..., 1:] * np.where(small, 2.0, angle / np.where(small, 1.0, sine))


def angles_to_quaternion(angles: ArrayLike) -> Array:
    """Unit quaternion (…,4) of the angles [θx θy θz] (…,3), rad; continuous in the angles, its sign may be either."""
    half = 0.5 * _checked("angles", angles, 3)
    (cx, cy, cz), (sx, sy, sz) = np.moveaxis(np.cos(half), -1, 0), np.moveaxis(np.sin(half), -1, 0)
    return np.stack(
        [
            cx * cy * cz + sx * sy * sz,
            sx * cy * cz - cx * sy * sz,
            cx * sy * cz + sx * cy * sz,
            cx * cy * sz - sx * sy * cz,
        ],
        axis=-1,
    )


def angles_to_matrix(angles: ArrayLike) -> Array:
    """Rotation matrix (…,3,3) of the angles [θx θy θz] (…,3), rad: R = Rz(θz) Ry(θy) Rx(θx) (1998 eq. 38)."""
    return quaternion_to_matrix(angles_to_quaternion(angles))


def matrix_to_angles(matrix: ArrayLike) -> Array:
    """Angles [θx θy θz] (…,3), rad, of a rotation matrix (…,3,3), θy within ±90°.

    KinematicsError if the matrix is not a rotation, or θy is within 0.06° of ±90°.
    """
    m = _checked_matrix(matrix)
    theta_y = np.arctan2(-m[..., 2, 0], np.hypot(m[..., 0, 0], m[..., 1, 0]))
    _checked_cosine(theta_y)
    theta_x = np.arctan2(m[..., 2, 1], m[..., 2, 2])
    theta_z = np.arctan2(m[..., 1, 0], m[..., 0, 0])
    return np.stack([theta_x, theta_y, theta_z], axis=-1)


def quaternion_to_angles(quaternion: ArrayLike) -> Array:
    """Angles [θx θy θz] (…,3), rad, of a unit quaternion (…,4).  Errors as `matrix_to_angles`."""
    return matrix_to_angles(quaternion_to_matrix(quaternion))


def angle_rates_to_angular_velocity(angles: ArrayLike, rates: ArrayLike) -> Array:
    """Angular velocity ω (…,3), rad/s, base axes, from the angles and their rates (…,3).

    ω = θ̇z ẑ + θ̇y Rz ŷ + θ̇x Rz Ry x̂.
    """
    _, ty, tz = np.moveaxis(_checked("angles", angles, 3), -1, 0)
    dx, dy, dz = np.moveaxis(_checked("rates", rates, 3), -1, 0)
    along = dx * np.cos(ty)
    return np.stack(
        [along * np.cos(tz) - dy * np.sin(tz), along * np.sin(tz) + dy * np.cos(tz), dz - dx * np.sin(ty)], axis=-1
    )


def _convective(angles: Array, rates: Array) -> Array:
    """Part of α due to the angle rates alone (zero angle accelerations)."""
    _, ty, tz = np.moveaxis(angles, -1, 0)
    dx, dy, dz = np.moveaxis(rates, -1, 0)
    sy, cy, sz, cz = np.sin(ty), np.cos(ty), np.sin(tz), np.cos(tz)
    return np.stack(
        [
            -dx * (sz * cy * dz + cz * sy * dy) - cz * dz * dy,
            dx * (cz * cy * dz - sz * sy * dy) - sz * dz * dy,
            -cy * dy * dx,
        ],
        axis=-1,
    )


def angle_accelerations_to_angular_acceleration(angles: ArrayLike, rates: ArrayLike, accelerations: ArrayLike) -> Array:
    """Angular acceleration α = ω̇ (…,3), rad/s², base axes, from the angles, their rates and accelerations (…,3)."""
    checked_angles, checked_rates = _checked("angles", angles, 3), _checked("rates", rates, 3)
    linear = angle_rates_to_angular_velocity(checked_angles, accelerations)
    return linear + _convective(checked_angles, checked_rates)


def angular_velocity_to_angle_rates(angles: ArrayLike, angular_velocity: ArrayLike) -> Array:
    """Angle rates (…,3), rad/s, from the angles and ω (…,3) in base axes.

    KinematicsError if θy is within 0.06° of ±90°.
    """
    _, ty, tz = np.moveaxis(_checked("angles", angles, 3), -1, 0)
    wx, wy, wz = np.moveaxis(_checked("angular velocity", angular_velocity, 3), -1, 0)
    dx = (wx * np.cos(tz) + wy * np.sin(tz)) / _checked_cosine(ty)
    return np.stack([dx, wy * np.cos(tz) - wx * np.sin(tz), wz + dx * np.sin(ty)], axis=-1)


def angular_acceleration_to_angle_accelerations(
    angles: ArrayLike, rates: ArrayLike, angular_acceleration: ArrayLike
) -> Array:
    """Angle accelerations (…,3), rad/s², from the angles, their rates and α (…,3) in base axes.

    KinematicsError if θy is within 0.06° of ±90°.
    """
    checked_angles, checked_rates = _checked("angles", angles, 3), _checked("rates", rates, 3)
    alpha = _checked("angular acceleration", angular_acceleration, 3)
    return angular_velocity_to_angle_rates(checked_angles, alpha - _convective(checked_angles, checked_rates))


def pose_difference(pose_a: ArrayLike, pose_b: ArrayLike) -> Array:
    """Step from `pose_b` to `pose_a` (…,7): [p_a − p_b, rotation vector of R_a R_bᵀ] (…,6), m and rad, base axes.

    KinematicsError for non-finite poses or quaternions that are not unit to 1e-6.
    """
    a, b = _checked("pose_a", pose_a, 7), _checked("pose_b", pose_b, 7)
    turned = quaternion_multiply(
        _checked_quaternion("quaternion of pose_a", a[..., 3:]),
        quaternion_conjugate(_checked_quaternion("quaternion of pose_b", b[..., 3:])),
    )
    vector = rotation_vector_from_quaternion(quaternion_normalise(turned))
    return np.concatenate([np.broadcast_to(a[..., :3] - b[..., :3], vector.shape), vector], axis=-1)


def coordinates_to_pose(coordinates: ArrayLike) -> Array:
    """Pose (…,7) of the coordinates [x y z θx θy θz] (…,6)."""
    q = _checked("coordinates", coordinates, 6)
    return np.concatenate([q[..., :3], angles_to_quaternion(q[..., 3:])], axis=-1)


def pose_to_coordinates(pose: ArrayLike) -> Array:
    """Coordinates [x y z θx θy θz] (…,6) of a pose (…,7).  Errors as `matrix_to_angles`."""
    p = _checked("pose", pose, 7)
    return np.concatenate([p[..., :3], quaternion_to_angles(p[..., 3:])], axis=-1)


def motion_of_derivatives(pose: ArrayLike, first: ArrayLike, second: ArrayLike) -> Array:
    """Motion (…,19) of poses (…,7) and the first and second time derivatives of their seven numbers.

    The quaternion's norm may differ from 1, as after a low-pass on each component: ω and α are those of its
    attitude, from q̇ = ½ ω q. The quaternion's sign must be continuous between samples.
    """
    p, dp, ddp = (_checked(name, value, 7) for name, value in (("pose", pose), ("rate", first), ("change", second)))
    norm = np.linalg.norm(p[..., 3:], axis=-1, keepdims=True)
    back = quaternion_conjugate(p[..., 3:] / norm)
    turned = [quaternion_multiply(value[..., 3:] / norm, back) for value in (dp, ddp)]
    rate, change = (2.0 * value[..., 1:] for value in turned)
    # if the norm n changes, q̈ q* contains 2 ṅ/n times q̇ q* in addition to ω̇/2
    change = change - 2.0 * turned[0][..., :1] * rate
    return np.concatenate(
        [p[..., :3], p[..., 3:] / norm, dp[..., :3], rate, ddp[..., :3], change],
        axis=-1,
    )


@kernel
def coordinates_to_motion_kernel(state: Array, out: Array) -> None:
    """Compute the motion of `state` (18,), the coordinates, their rates and accelerations (six each), into `out` (19,).

    `state` may be the first 18 elements of `out` itself.
    """
    hx, hy, hz = 0.5 * state[3], 0.5 * state[4], 0.5 * state[5]
    vx, vy, vz, dx, dy, dz = state[6], state[7], state[8], state[9], state[10], state[11]
    ax, ay, az, ddx, ddy, ddz = state[12], state[13], state[14], state[15], state[16], state[17]
    chx, shx, chy, shy, chz, shz = math.cos(hx), math.sin(hx), math.cos(hy), math.sin(hy), math.cos(hz), math.sin(hz)
    cy, sy = chy * chy - shy * shy, 2.0 * shy * chy
    cz, sz = chz * chz - shz * shz, 2.0 * shz * chz
    out[0], out[1], out[2] = state[0], state[1], state[2]
    out[3] = chx * chy * chz + shx * shy * shz
    out[4] = shx * chy * chz - chx * shy * shz
    out[5] = chx * shy * chz + shx * chy * shz
    out[6] = chx * chy * shz - shx * shy * chz
    out[7], out[8], out[9] = vx, vy, vz
    out[10] = dx * cy * cz - dy * sz
    out[11] = dx * cy * sz + dy * cz
    out[12] = dz - dx * sy
    out[13], out[14], out[15] = ax, ay, az
    out[16] = ddx * cy * cz - ddy * sz - dx * (sz * cy * dz + cz * sy * dy) - cz * dz * dy
    out[17] = ddx * cy * sz + ddy * cz + dx * (cz * cy * dz - sz * sy * dy) - sz * dz * dy
    out[18] = ddz - ddx * sy - cy * dy * dx


@kernel
def _motions_kernel(states: Array, out: Array) -> None:
    for row in range(states.shape[0]):
        coordinates_to_motion_kernel(states[row], out[row])


def coordinates_to_motion(coordinates: ArrayLike, rates: ArrayLike, accelerations: ArrayLike) -> Array:
    """Motion (…,19) from the coordinates [x y z θx θy θz], their rates and accelerations, each (…,6), SI units."""
    parts = [
        _checked("coordinates", coordinates, 6),
        _checked("coordinate rates", rates, 6),
        _checked("coordinate accelerations", accelerations, 6),
    ]
    states = np.concatenate(parts, axis=-1)
    out = np.empty((*states.shape[:-1], 19))
    _motions_kernel(states.reshape(-1, 18), out.reshape(-1, 19))
    return out


def motion_to_coordinates(motion: ArrayLike) -> tuple[Array, Array, Array]:
    """Coordinates, their rates and accelerations, each (…,6), of a motion (…,19): inverse of `coordinates_to_motion`.

    Angles are in ±180°, θy in ±90°; unwrap a time series along its time axis.  KinematicsError if θy is within
    0.06° of ±90°, or a quaternion is not unit to 1e-6.
    """
    m = _checked("motion", motion, 19)
    q = pose_to_coordinates(m[..., :7])
    rates = angular_velocity_to_angle_rates(q[..., 3:], m[..., 10:13])
    accelerations = angular_acceleration_to_angle_accelerations(q[..., 3:], rates, m[..., 16:19])
    return (
        q,
        np.concatenate([m[..., 7:10], rates], axis=-1),
        np.concatenate([m[..., 13:16], accelerations], axis=-1),
    )
