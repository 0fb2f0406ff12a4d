"""Platforms, poses and an independent complex-step model of the legs, for the kinematics tests."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kinematics import Array, Geometry, joint_angles, leg_lengths, quaternion_from_rotation_vector, quaternion_multiply

LEVEL = (1.0, 0.0, 0.0, 0.0)

DASGUPTA_1998 = Geometry(
    base_points=[[0.6, 0.2, 0], [0.1, 0.5, 0.1], [-0.3, 0.3, 0.1], [-0.3, -0.4, 0], [0.2, -0.3, -0.05], [0.5, -0.2, 0]],
    universal_axes=[
        [-0.8141, 0.2714, 0], [0.2308, 0.9231, 0.3077], [0.9535, 0.2860, 0.0953], [1.0, 0, 0], [0.7071, 0.7071, 0],
        [-0.9535, 0.2860, -0.0953],
    ],
    platform_points=[
        [0.3, 0, 0.1], [0.3, 0.2, 0], [0, 0.3, 0], [-0.2, 0.1, -0.1], [-0.15, -0.2, -0.05], [0.15, -0.15, -0.05],
    ],
)  # fmt: skip
"""The test manipulator of Dasgupta & Mruthyunjaya (1998) and Pedrammehr et al. (2012)."""


def hexapod(base_radius: float, platform_radius: float, height: float, spread: Array | None = None) -> Geometry:
    """Joints in pairs on two circles, platform pairs between base pairs; `spread` (2, 6, 2): angles, heights."""
    off = np.zeros((2, 6, 2)) if spread is None else spread
    base_angles = np.radians([-12.0, 12.0, 108.0, 132.0, 228.0, 252.0]) + off[0, :, 0]
    platform_angles = np.radians([-45.0, 45.0, 75.0, 165.0, 195.0, 285.0]) + off[1, :, 0]
    axes = np.stack([-np.sin(base_angles), np.cos(base_angles), np.zeros(6)], axis=1)
    return Geometry(
        _circle(base_radius, base_angles, off[0, :, 1]),
        axes,
        _circle(platform_radius, platform_angles, off[1, :, 1]),
        home=[0.0, 0.0, height],
    )


def lab_hexapod() -> Geometry:
    """Base joints on 0.35 m, platform joints on 0.22 m, home 0.45 m up; stroke 0.40 to 0.62 m."""
    return hexapod(0.35, 0.22, 0.45)


def random_hexapod(seed: int) -> Geometry:
    """A platform of realistic size and shape, no two legs alike."""
    random = np.random.default_rng(seed)
    spread = random.normal(size=(2, 6, 2)) * [0.08, 0.02]
    return hexapod(random.uniform(0.3, 0.6), random.uniform(0.18, 0.35), random.uniform(0.4, 0.8), spread)


def _circle(radius: float, angles: Array, heights: Array) -> Array:
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), heights], axis=1)


def directions(random: np.random.Generator, count: int) -> Array:
    vectors = random.normal(size=(count, 3))
    unit: Array = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def displaced(random: np.random.Generator, poses: Array, distance: float, angle: float) -> Array:
    """Each pose moved by `distance` and turned by `angle`, both in random directions."""
    count = len(poses)
    turns = quaternion_from_rotation_vector(directions(random, count) * angle)
    return np.hstack([poses[:, :3] + directions(random, count) * distance, quaternion_multiply(turns, poses[:, 3:])])


def random_poses(random: np.random.Generator, home: Array, count: int, distance: float, angle: float) -> Array:
    """Poses up to `distance` along each axis and up to `angle` about a random one from home."""
    turns = quaternion_from_rotation_vector(directions(random, count) * random.uniform(0.0, angle, (count, 1)))
    positions = home[:3] + random.uniform(-distance, distance, (count, 3))
    return np.hstack([positions, quaternion_multiply(turns, np.tile(home[3:], (count, 1)))])


def reachable_poses(random: np.random.Generator, geometry: Geometry, count: int) -> Array:
    """Poses of the lab hexapod within its stroke (0.40 to 0.62 m) and joint angles (0.87 and 0.70 rad)."""
    poses = np.empty((0, 7))
    while len(poses) < count:
        tried = random_poses(random, geometry.home_pose, 4 * count, 0.2, 0.8)
        lengths, angles = leg_lengths(geometry, tried), joint_angles(geometry, tried)
        within = (lengths > 0.40) & (lengths < 0.62) & (angles.universal < 0.87) & (angles.spherical < 0.70)
        poses = np.vstack([poses, tried[within.all(axis=1)]])
    return poses[:count]


def random_motion(random: np.random.Generator, geometry: Geometry) -> Array:
    pose = random_poses(random, geometry.home_pose, 1, 0.1, 0.4)[0]
    return np.concatenate([pose, random.normal(size=12)])


def pose_error(found: Array, true: Array) -> float:
    """Larger of the position error, m, and the angle between the orientations, rad."""
    quaternion = found[3:] * np.sign(found[3:] @ true[3:])
    return float(max(np.abs(found[:3] - true[:3]).max(), 2.0 * np.abs(quaternion - true[3:]).max()))


Complex = npt.NDArray[np.complex128]


class LegFrames:
    """Length and axes of each leg as analytic functions of time, along a motion frozen at t = 0 to second order.

    The platform's place is t + v t + a t²/2, its orientation Exp(ω t + α t²/2) R: at t = 0 these have the motion's
    twist and acceleration. Derivatives come from complex steps, exact to rounding, and for the second order from a
    five-point difference of those.
    """

    def __init__(self, geometry: Geometry, motion: Array, rotation: Array) -> None:
        self.geometry, self.motion, self.rotation = geometry, motion, rotation

    def vectors(self, time: complex) -> Complex:
        motion = self.motion
        turn = motion[10:13] * time + motion[16:19] * time**2 / 2
        place = motion[:3] + motion[7:10] * time + motion[13:16] * time**2 / 2
        joints = (_rodrigues(turn) @ self.rotation @ self.geometry.platform_points.T).T
        vectors: Complex = joints + place - self.geometry.base_points
        return vectors

    def lengths(self, time: complex) -> Complex:
        return _norm(self.vectors(time))

    def axes(self, time: complex) -> Complex:
        """T = [s v s×v] of each leg, (6, 3, 3)."""
        s = self.vectors(time) / self.lengths(time)[:, None]
        v = np.cross(self.geometry.universal_axes, s)
        v = v / _norm(v)[:, None]
        return np.stack([s, v, np.cross(s, v)], axis=-1)

    def speeds(self, time: float) -> Array:
        return np.asarray(self.lengths(time + 1e-30j).imag / 1e-30)

    def angular_velocities(self, time: float) -> Array:
        rates = self.axes(time + 1e-30j).imag / 1e-30
        spin = rates @ np.swapaxes(self.axes(time).real, 1, 2)
        return np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=-1)


def derivative(function: Callable[[float], Array], step: float = 3e-4) -> Array:
    """Derivative at 0 by the five-point difference."""
    near, far = function(step) - function(-step), function(2 * step) - function(-2 * step)
    result: Array = (8.0 * near - far) / (12.0 * step)
    return result


def _norm(vectors: Complex) -> Complex:
    norm: Complex = np.sqrt(np.sum(vectors * vectors, axis=-1))
    return norm


def _rodrigues(turn: Complex) -> Complex:
    """Rotation matrix of a rotation vector that may be complex, by the series of sin and cos."""
    x, y, z = turn
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    result = np.eye(3, dtype=np.complex128)
    term = np.eye(3, dtype=np.complex128)
    for order in range(1, 16):
        term = term @ skew / order
        result = result + term
    return result
