"""Frames of a tracker and of a mechanism: what is between them, and the gauge that says where the mechanism's are.

A tracker has a frame of its own, and so has the target on the platform. Leg lengths and measured poses do not tell
where in them the base's and the platform's frames are: twelve of the 42 numbers mean nothing until that is agreed on.
Agreed is that the calibrated joints of the base lie on the nominal ones as well as a rigid motion can bring them
there, by the sum of squares, and those of the platform likewise:

    Σ (b_i − b⁰_i) = 0        Σ (b⁰_i − b̄⁰) × b_i = 0
"""

from dataclasses import dataclass

import numpy as np

from calibration.geometry.model import LEG, UNKNOWNS
from kinematics import Array, matrix_to_quaternion, quaternion_to_matrix

BASE, PLATFORM = slice(0, 3), slice(3, 6)
"""Columns of a leg's unknowns."""


@dataclass(frozen=True, slots=True, eq=False)
class Gauge:
    """Which of the two frames are agreed on (above); one that is not is the measurement's own."""

    base: bool = True
    platform: bool = True

    @property
    def free(self) -> tuple[slice, ...]:
        """Columns of the joints whose frame is agreed on."""
        return tuple(part for part, free in ((BASE, self.base), (PLATFORM, self.platform)) if free)


@dataclass(frozen=True, slots=True, eq=False)
class RigidMotion:
    """y = R x + t: rotation (3, 3), translation (3,), m."""

    rotation: Array
    translation: Array

    def apply(self, points: Array) -> Array:
        """Points (…, 3) moved."""
        return points @ self.rotation.T + self.translation

    @property
    def inverse(self) -> "RigidMotion":
        """The motion back."""
        return RigidMotion(self.rotation.T, -self.translation @ self.rotation)

    @property
    def pose(self) -> Array:
        """As a pose (7,)."""
        return np.concatenate([self.translation, matrix_to_quaternion(self.rotation)])


IDENTITY = RigidMotion(np.eye(3), np.zeros(3))


def nearest_rotation(matrix: Array) -> Array:
    """Rotation (3, 3) nearest to a matrix, of least ‖R − M‖."""
    u, _, vt = np.linalg.svd(matrix)
    signs = np.array([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    return np.asarray((u * signs) @ vt)


def best_fit(points: Array, onto: Array) -> RigidMotion:
    """The rigid motion of `points` (n, 3) that brings them nearest to `onto` (n, 3) by the sum of squares."""
    centre, target = points.mean(axis=0), onto.mean(axis=0)
    rotation = nearest_rotation((onto - target).T @ (points - centre))
    return RigidMotion(rotation, target - rotation @ centre)


def rigid_tangents(x: Array, gauge: Gauge) -> Array:
    """(42, 6 or 12 or 0): changes of the unknowns (6, 7) as the frames that are agreed on move; orthonormal."""
    columns = []
    for part in gauge.free:
        points = x[:, part] - x[:, part].mean(axis=0)
        for axis in np.eye(3):
            for change in (np.broadcast_to(axis, (6, 3)), np.cross(axis, points)):
                column = np.zeros((6, LEG))
                column[:, part] = change
                columns.append(column.reshape(UNKNOWNS))
    if not columns:
        return np.zeros((UNKNOWNS, 0))
    return np.linalg.qr(np.stack(columns, axis=1))[0]


def allowed_changes(x: Array, gauge: Gauge) -> Array:
    """(42, 30 or 36 or 42): orthonormal changes of the unknowns that leave the gauge fulfilled, at nominal ones `x`."""
    tangents = rigid_tangents(x, gauge)
    if not tangents.shape[1]:
        return np.eye(UNKNOWNS)
    return np.linalg.qr(tangents, mode="complete")[0][:, tangents.shape[1] :]


def into_mechanism(x: Array, nominal: Array, gauge: Gauge) -> tuple[RigidMotion, RigidMotion]:
    """What brings joints (6, 7) in measured frames into the base's and the platform's frame."""
    motions = {part.start: best_fit(x[:, part], nominal[:, part]) for part in gauge.free}
    return motions.get(BASE.start, IDENTITY), motions.get(PLATFORM.start, IDENTITY)


def placed(x: Array, base: RigidMotion, platform: RigidMotion) -> Array:
    """Joints (6, 7) with the base's and the platform's moved."""
    return np.concatenate([base.apply(x[:, BASE]), platform.apply(x[:, PLATFORM]), x[:, 6:]], axis=1)


def placed_poses(poses: Array, base: RigidMotion, platform: RigidMotion) -> Array:
    """Poses (n, 7) of the target in the tracker's frame as the platform's in the base's."""
    rotation = quaternion_to_matrix(poses[:, 3:])
    places = base.apply(poses[:, :3] + rotation @ platform.inverse.translation)
    return np.hstack([places, matrix_to_quaternion(base.rotation @ rotation @ platform.rotation.T)])


def turning(base: RigidMotion, platform: RigidMotion) -> Array:
    """(43, 43): how changes of the unknowns turn with their frames; the tracker's scale does not."""
    leg, whole = np.eye(LEG), np.eye(UNKNOWNS + 1)
    leg[BASE, BASE], leg[PLATFORM, PLATFORM] = base.rotation, platform.rotation
    whole[:UNKNOWNS, :UNKNOWNS] = np.kron(np.eye(6), leg)
    return whole
