"""A platform whose joints are not where they should be, and a tracker that looks at it: the truth of a test."""

from dataclasses import dataclass

import numpy as np

from calibration import GeometryCalibration, GeometryMeasurements, GeometryNoise
from dynamics import Mechanism, pose_limits
from kinematics import (
    Array,
    Geometry,
    angles_to_matrix,
    assess_poses,
    leg_lengths,
    matrix_to_quaternion,
    quaternion_from_rotation_vector,
    quaternion_multiply,
    quaternion_to_matrix,
)

TRACKER = (angles_to_matrix([0.3, -1.0, 2.0]), np.array([3.0, -2.0, 1.0]))
TARGET = (angles_to_matrix([-1.3, 0.5, 1.0]), np.array([0.10, -0.05, 0.07]))
TARGETS = np.array([[0.15, 0.0, 0.04], [-0.1, 0.14, 0.05], [-0.09, -0.15, 0.03], [0.02, 0.05, 0.16]])


def reachable_poses(
    mechanism: Mechanism, count: int, random: np.random.Generator, *, turn: float = 0.35, way: float = 0.12
) -> Array:
    """Poses (count, 7) about home within the mechanism's limits, evenly drawn."""
    home = mechanism.geometry.home_pose
    limits = pose_limits(mechanism)
    found = np.zeros((0, 7))
    while len(found) < count:
        place = home[:3] + random.uniform(-way, way, (400, 3))
        turned = quaternion_from_rotation_vector(random.uniform(-turn, turn, (400, 3)))
        poses = np.hstack([place, quaternion_multiply(turned, np.tile(home[3:], (400, 1)))])
        found = np.concatenate([found, poses[assess_poses(mechanism.geometry, poses, limits).reachable]])
    return found[:count]


@dataclass(frozen=True, eq=False)
class Platform:
    """The true joints and length offsets."""

    geometry: Geometry
    offsets: Array

    @property
    def unknowns(self) -> Array:
        return np.hstack([self.geometry.base_points, self.geometry.platform_points, self.offsets[:, None]])

    def measured(
        self,
        poses: Array,
        random: np.random.Generator,
        noise: GeometryNoise,
        *,
        frames: tuple[tuple[Array, Array], tuple[Array, Array]] = (TRACKER, TARGET),
    ) -> GeometryMeasurements:
        """What a tracker of a frame of its own and noisy encoders say at poses (n, 7)."""
        n = len(poses)
        (a, at), (b, bt) = frames
        rotation = quaternion_to_matrix(poses[:, 3:])
        place = (poses[:, :3] + rotation @ bt) @ a.T + at + random.normal(0.0, noise.position, (n, 3))
        turn = quaternion_from_rotation_vector(random.normal(0.0, noise.rotation, (n, 3)))
        turned = quaternion_multiply(turn, matrix_to_quaternion(a @ rotation @ b))
        return GeometryMeasurements(self.lengths(poses, random, noise), poses=np.hstack([place, turned]))

    def targets(self, poses: Array, random: np.random.Generator, noise: GeometryNoise) -> GeometryMeasurements:
        """The same of targets' points."""
        a, at = TRACKER
        rotation = quaternion_to_matrix(poses[:, 3:])
        points = poses[:, None, :3] + np.einsum("kab,jb->kja", rotation, TARGETS)
        points = points @ a.T + at + random.normal(0.0, noise.position, points.shape)
        return GeometryMeasurements(self.lengths(poses, random, noise), points=points)

    def lengths(self, poses: Array, random: np.random.Generator, noise: GeometryNoise) -> Array:
        exact: Array = leg_lengths(self.geometry, poses) + self.offsets
        return exact + random.normal(0.0, noise.length, exact.shape)


def built(nominal: Geometry, random: np.random.Generator, error: float = 2e-3) -> Platform:
    """A platform built to the drawing with errors of that standard deviation, m, of joints and offsets."""
    return Platform(
        Geometry(
            nominal.base_points + random.normal(0.0, error, (6, 3)),
            nominal.universal_axes,
            nominal.platform_points + random.normal(0.0, error, (6, 3)),
            nominal.home,
        ),
        random.normal(0.0, error, 6),
    )


def onto(points: Array, target: Array) -> Array:
    """Points (6, 3) moved rigidly to where they are nearest to the target (Horn's quaternion, no SVD)."""
    p, q = points - points.mean(axis=0), target - target.mean(axis=0)
    m = p.T @ q
    d = np.array([m[1, 2] - m[2, 1], m[2, 0] - m[0, 2], m[0, 1] - m[1, 0]])
    n = np.block([[np.array([[np.trace(m)]]), d[None]], [d[:, None], m + m.T - np.trace(m) * np.eye(3)]])
    rotation = quaternion_to_matrix(np.linalg.eigh(n)[1][:, -1])
    return np.asarray(p @ rotation.T + target.mean(axis=0))


def aligned_errors(found: Array, true: Array, radius: float) -> Array:
    """Errors (n, 6) of poses (n, 7), position and rotation, with both frames where the sum of squares is least.

    Rotations count at a radius, m. The frames move each pose by its own adjoint: derived here from the poses alone.
    """
    back = true[:, 3:] * [1.0, -1.0, -1.0, -1.0]
    turn = quaternion_multiply(found[:, 3:], back)
    errors = np.hstack([found[:, :3] - true[:, :3], 2.0 * turn[:, 1:] * np.sign(turn[:, :1])])
    rotation, weights = quaternion_to_matrix(true[:, 3:]), np.repeat([1.0, radius], 3)
    moves = np.zeros((len(true), 6, 12))
    moves[:, :3, :3] = moves[:, 3:, 3:6] = np.eye(3)
    for axis in range(3):
        moves[:, :3, 3 + axis] = np.cross(np.eye(3)[axis], true[:, :3])
    moves[:, :3, 6:9] = moves[:, 3:, 9:] = rotation
    a, b = (weights[:, None] * moves).reshape(-1, 12), (weights * errors).ravel()
    left = b - a @ np.linalg.lstsq(a, b, rcond=None)[0]
    return np.asarray(left.reshape(-1, 6) / weights)


def in_gauge(platform: Platform, nominal: Geometry) -> Array:
    """The true 42 numbers in the frames that the calibration agrees on."""
    base = onto(platform.geometry.base_points, nominal.base_points)
    joints = onto(platform.geometry.platform_points, nominal.platform_points)
    return np.hstack([base, joints, platform.offsets[:, None]]).ravel()


def estimates(result: GeometryCalibration) -> tuple[Array, Array]:
    """Values and sigmas (42,)."""
    return np.array([each.value for each in result.parameters]), np.array([each.sigma for each in result.parameters])
