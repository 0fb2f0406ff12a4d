"""Frames of a tracker and of a mechanism: transforms between them, the gauge, and start values of a fit."""

from dataclasses import dataclass

import numpy as np

from calibration.geometry.model import LEG, UNKNOWNS, Readings
from kinematics import Array, Geometry, KinematicsError, forward_kinematics, matrix_to_quaternion, quaternion_to_matrix

BASE, PLATFORM = slice(0, 3), slice(3, 6)
"""Columns of a leg's unknowns."""


@dataclass(frozen=True, slots=True, eq=False)
class Gauge:
    """Which of the two frames are agreed on (above); one that is not is the measurement's own."""

    base: bool = True
    platform: bool = True

    @property
    def free(self) -> tuple[slice, ...]:
        """Columns of the joints whose frame the gauge fixes."""
        return tuple(part for part, free in ((BASE, self.base), (PLATFORM, self.platform)) if free)


@dataclass(frozen=True, slots=True, eq=False)
class RigidMotion:
    """y = R x + t: rotation (3, 3), translation (3,), m."""

    rotation: Array
    translation: Array

    def apply(self, points: Array) -> Array:
        """Transform points (…, 3)."""
        return points @ self.rotation.T + self.translation

    @property
    def inverse(self) -> "RigidMotion":
        """The inverse motion."""
        return RigidMotion(self.rotation.T, -self.translation @ self.rotation)

    @property
    def pose(self) -> Array:
        """The motion as a pose (7,)."""
        return np.concatenate([self.translation, matrix_to_quaternion(self.rotation)])


IDENTITY = RigidMotion(np.eye(3), np.zeros(3))


def nearest_rotation(matrix: Array) -> Array:
    """Rotation (3, 3) nearest to a matrix, of least ‖R − M‖."""
    u, _, vt = np.linalg.svd(matrix)
    signs = np.array([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    return np.asarray((u * signs) @ vt)


def best_fit(points: Array, onto: Array) -> RigidMotion:
    """The rigid motion of `points` (n, 3) onto `onto` (n, 3) with the least sum of squares."""
    centre, target = points.mean(axis=0), onto.mean(axis=0)
    rotation = nearest_rotation((onto - target).T @ (points - centre))
    return RigidMotion(rotation, target - rotation @ centre)


def rigid_tangents(x: Array, gauge: Gauge) -> Array:
    """Orthonormal changes (42, 6 or 12 or 0) of the unknowns (6, 7) as the frames that the gauge fixes move."""
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
    """Orthonormal changes (42, 30 or 36 or 42) of the unknowns that satisfy the gauge, at nominal ones `x`."""
    tangents = rigid_tangents(x, gauge)
    if not tangents.shape[1]:
        return np.eye(UNKNOWNS)
    return np.linalg.qr(tangents, mode="complete")[0][:, tangents.shape[1] :]


def into_mechanism(x: Array, nominal: Array, gauge: Gauge) -> tuple[RigidMotion, RigidMotion]:
    """Motions that bring joints (6, 7) from measured frames into the base's and the platform's frame."""
    motions = {part.start: best_fit(x[:, part], nominal[:, part]) for part in gauge.free}
    return motions.get(BASE.start, IDENTITY), motions.get(PLATFORM.start, IDENTITY)


def placed(x: Array, base: RigidMotion, platform: RigidMotion) -> Array:
    """Joints (6, 7) after motions of the base's and the platform's."""
    return np.concatenate([base.apply(x[:, BASE]), platform.apply(x[:, PLATFORM]), x[:, 6:]], axis=1)


def placed_poses(poses: Array, base: RigidMotion, platform: RigidMotion) -> Array:
    """Convert poses (n, 7) of the target in the tracker's frame to those of the platform in the base's."""
    rotation = quaternion_to_matrix(poses[:, 3:])
    places = base.apply(poses[:, :3] + rotation @ platform.inverse.translation)
    return np.hstack([places, matrix_to_quaternion(base.rotation @ rotation @ platform.rotation.T)])


def turning(base: RigidMotion, platform: RigidMotion) -> Array:
    """Rotation (43, 43) of changes of the unknowns with their frames; the tracker's scale does not change."""
    leg, whole = np.eye(LEG), np.eye(UNKNOWNS + 1)
    leg[BASE, BASE], leg[PLATFORM, PLATFORM] = base.rotation, platform.rotation
    whole[:UNKNOWNS, :UNKNOWNS] = np.kron(np.eye(6), leg)
    return whole


_ROUNDS = 4
_FAR = 5.0  # times the median: rows that a start is made without
_ALTERNATIONS = 50
_TURNED = np.radians(5.0)  # less of a change in orientation tells less than positions do
_LEAST_LINEAR = 20  # rows, for seventeen unknowns


def nominal_unknowns(geometry: Geometry) -> Array:
    """Unknowns (6, 7) of the drawing's joints, with zero offsets."""
    return np.hstack([geometry.base_points, geometry.platform_points, np.zeros((6, 1))])


def nominal_poses(geometry: Geometry, readings: Readings) -> Array:
    """Poses (n, 7) of the nominal mechanism with the measured lengths; NaN where it has none.

    From home, or where the geometry has none from the measured poses.
    """
    found = np.full((len(readings), 7), np.nan)
    for row, lengths in enumerate(readings.lengths):
        guesses = [readings.poses[row]] if geometry.home is None else [geometry.home]
        if row and np.isfinite(found[row - 1]).all():
            guesses.append(found[row - 1])
        for guess in guesses:
            try:
                found[row] = forward_kinematics(geometry, lengths, guess)
                break
            except KinematicsError:
                continue
    return found


def start(geometry: Geometry, readings: Readings, gauge: Gauge) -> tuple[Array, Array] | None:
    """Start values: unknowns (6, 7) in measured frames and poses (n, 7); None where the nominal geometry gives none.

    The nominal mechanism's poses X of the measured lengths and the measured ones M differ by the frames, M = A X B.
    """
    nominal = nominal_unknowns(geometry)
    nominals = nominal_poses(geometry, readings)
    good = np.asarray(np.isfinite(nominals).all(axis=1))
    if good.sum() < max(4, len(good) // 2):
        return None
    if readings.measured == 6:
        base, target = _between(nominals[good], readings.poses[good], gauge)
        return placed(nominal, base, target.inverse), readings.poses
    filled = nominals.copy()
    filled[~good] = nominals[good][0]
    if readings.tilt:
        return nominal, filled
    base, target = _by_positions(nominals[good], readings.poses[good, :3])
    poses = filled.copy()
    poses[:, :3] = readings.poses[:, :3]
    turned = base.rotation @ quaternion_to_matrix(filled[:, 3:])
    poses[:, 3:] = matrix_to_quaternion(turned)
    return placed(nominal, base, target.inverse), poses


def _between(x: Array, m: Array, gauge: Gauge) -> tuple[RigidMotion, RigidMotion]:
    """Solve M = A X B for A and B, with poses (n, 7), without outliers."""
    inliers = np.ones(len(x), dtype=bool)
    base, target = IDENTITY, IDENTITY
    for _ in range(_ROUNDS):
        base, target = _frames(x[inliers], m[inliers], gauge)
        arm = quaternion_to_matrix(x[:, 3:]) @ target.translation
        miss = np.linalg.norm(base.apply(x[:, :3] + arm) - m[:, :3], axis=1)
        inliers = miss <= _FAR * np.median(miss)
    return base, target


def _frames(x: Array, m: Array, gauge: Gauge) -> tuple[RigidMotion, RigidMotion]:
    r, rm = quaternion_to_matrix(x[:, 3:]), quaternion_to_matrix(m[:, 3:])
    if gauge.base and gauge.platform and _spread(r) < _TURNED:
        base, offset = _by_positions(x, m[:, :3])
        rotation = nearest_rotation(np.einsum("kba,cb,kcd->ad", r, base.rotation, rm))
        return base, RigidMotion(rotation, offset.translation)
    eye = np.eye(3)
    a = b = eye
    if gauge.base and gauge.platform:
        rows = [np.hstack([np.kron(eye, mk.T), -np.kron(rk, eye)]) for rk, mk in zip(r, rm, strict=True)]
        null = np.linalg.svd(np.vstack(rows))[2][-1].reshape(2, 3, 3)
        null = null * np.sign(np.linalg.det(null[1]))
        a, b = nearest_rotation(null[0]).T, nearest_rotation(null[1])
    for _ in range(_ALTERNATIONS if gauge.base and gauge.platform else 1):
        if gauge.base:
            a = nearest_rotation(np.einsum("kab,kcb->ac", rm, r @ b))
        if gauge.platform:
            b = nearest_rotation(np.einsum("kba,kbc->ac", a @ r, rm))
    translations = m[:, :3] - x[:, :3] @ a.T  # = A R t_B + t_A
    columns = [a @ r] if gauge.platform else []
    columns += [np.broadcast_to(eye, r.shape)] if gauge.base else []
    shift: Array = np.zeros(0)
    if columns:
        shift = np.asarray(
            np.linalg.lstsq(np.concatenate(columns, axis=2).reshape(-1, 3 * len(columns)), translations.ravel())[0],
            dtype=np.float64,
        )
    at_target = shift[:3] if gauge.platform else np.zeros(3)
    at_base = shift[-3:] if gauge.base else np.zeros(3)
    return RigidMotion(a, at_base), RigidMotion(b, at_target)


def _by_positions(x: Array, positions: Array) -> tuple[RigidMotion, RigidMotion]:
    """A, and the place of the one target on the platform as B's translation, from positions (n, 3) alone."""
    r = quaternion_to_matrix(x[:, 3:])
    target = np.zeros(3)
    base = IDENTITY
    for _ in range(_ALTERNATIONS):
        base = best_fit(x[:, :3] + r @ target, positions)
        arms = base.inverse.apply(positions) - x[:, :3]
        target = np.einsum("kba,kb->a", r, arms) / len(r)
    return base, RigidMotion(np.eye(3), target)


def _spread(rotations: Array) -> float:
    """Greatest angle, rad, of rotations (n, 3, 3) from their mean."""
    traces = np.einsum("ab,kab->k", nearest_rotation(rotations.mean(axis=0)), rotations)
    return float(np.arccos(np.clip(0.5 * (traces - 1.0), -1.0, 1.0)).max())


def linear_start(readings: Readings) -> Array | None:
    """Unknowns (6, 7) from the poses alone, without any nominal joints; None with too few rows, or part of the poses.

    (l − o)² = ‖t + R p − b‖² is linear in o, p, b, the nine products b pᵀ and one constant.
    """
    if readings.measured < 6 or len(readings) < _LEAST_LINEAR:
        return None
    centre = readings.poses[:, :3].mean(axis=0)
    t, r = readings.poses[:, :3] - centre, quaternion_to_matrix(readings.poses[:, 3:])
    x = np.zeros((6, LEG))
    for leg, length in enumerate(readings.lengths.T):
        rows = np.column_stack(
            [-2.0 * t, 2.0 * np.einsum("kba,kb->ka", r, t), 2.0 * length, -2.0 * r.reshape(-1, 9), np.ones(len(t))]
        )
        x[leg] = np.linalg.lstsq(rows, length**2 - (t * t).sum(axis=1))[0][:LEG]
    x[:, :3] += centre
    return x
