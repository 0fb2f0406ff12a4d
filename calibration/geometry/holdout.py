"""How far poses computed from the leg lengths are off the measured ones, on poses that were not fitted."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.geometry.model import LEG, SCALE, Readings, length_derivatives, pose_slopes
from kinematics import (
    Array,
    Geometry,
    KinematicsError,
    forward_kinematics,
    quaternion_conjugate,
    quaternion_multiply,
    rotation_vector_from_quaternion,
)


@dataclass(frozen=True, slots=True, eq=False)
class PoseErrors:
    """Computed minus measured poses: position (n, 3), m, of the target's origin, and rotation (n, 3), rad.

    NaN in rows to whose lengths the geometry has no pose. Measured poses are noisy themselves: that is in here too.
    Of points the target's origin is their centre. expected (n, 6): standard deviations of both, by geometry, scale and
    noise; NaN where not asked for.
    """

    position: Array
    rotation: Array
    expected: Array

    @property
    def found(self) -> int:
        """Rows that have a pose."""
        return int(np.isfinite(self.position[:, 0]).sum())

    @property
    def position_rms(self) -> float:
        """RMS of the distance, m; NaN without any row."""
        return _rms(self.position)

    @property
    def rotation_rms(self) -> float:
        """RMS of the angle, rad; NaN without any row."""
        return _rms(self.rotation)

    @property
    def over_expected(self) -> float:
        """RMS of all components over their standard deviations: about 1 where these are true; NaN without any row."""
        over = np.hstack([self.position, self.rotation]) / self.expected
        return float(np.sqrt(np.nanmean(over**2))) if np.isfinite(over).any() else float("nan")

    @property
    def position_worst(self) -> float:
        """Greatest distance, m; NaN without any row."""
        return float(np.nanmax(np.linalg.norm(self.position, axis=1))) if self.found else float("nan")


def _rms(rows: Array) -> float:
    good = rows[np.isfinite(rows[:, 0])]
    return float(np.sqrt((good**2).sum(axis=1).mean())) if len(good) else float("nan")


def pose_errors(readings: Readings, x: Array, scale: float = 0.0, covariance: Array | None = None) -> PoseErrors:
    """Errors of the poses that the lengths have with joints and offsets `x` (6, 7), in measured frames.

    scale: of the tracker, taken off the measured places. covariance (43, 43): of `x` and scale, if known.
    """
    geometry = Geometry(x[:, :3], np.tile([1.0, 0.0, 0.0], (6, 1)), x[:, 3:6])
    n, measured = len(readings), readings.in_metres(scale)
    errors, poses = np.full((n, 6), np.nan), measured.copy()
    for row, lengths in enumerate(readings.lengths):
        try:
            poses[row] = forward_kinematics(geometry, lengths - x[:, LEG - 1], measured[row])
        except KinematicsError:
            continue
        turn = quaternion_multiply(poses[row, 3:], quaternion_conjugate(measured[row, 3:]))
        errors[row, 3:] = rotation_vector_from_quaternion(turn / np.linalg.norm(turn))
        errors[row, :3] = poses[row, :3] - measured[row, :3]
    expected = np.full((n, 6), np.nan)
    if covariance is not None:
        slopes = np.zeros((n, 6, SCALE + 1))
        slopes[:, :, :SCALE], slopes[:, :3, SCALE] = pose_slopes(x, poses), readings.arms
        by_length = np.linalg.inv(length_derivatives(x, poses)[2])
        variance = np.einsum("kai,ij,kaj->ka", slopes, covariance, slopes, optimize=True)
        variance += readings.length_sigma**2 * (by_length**2).sum(axis=2)
        expected = np.sqrt(variance + np.linalg.inv(readings.information)[:, range(6), range(6)])
    return PoseErrors(errors[:, :3], errors[:, 3:], expected)


def noise_rms(readings: Readings) -> tuple[float, float]:
    """RMS of the measured poses' own noise as stated: distance, m, and angle, rad."""
    variances = np.linalg.inv(readings.information)[:, range(6), range(6)].mean(axis=0)
    return float(np.sqrt(variances[:3].sum())), float(np.sqrt(variances[3:].sum()))


def joined(parts: list[PoseErrors], order: NDArray[np.intp]) -> PoseErrors:
    """Errors of several sets of rows as one, put into an order."""
    return PoseErrors(
        np.concatenate([part.position for part in parts])[order],
        np.concatenate([part.rotation for part in parts])[order],
        np.concatenate([part.expected for part in parts])[order],
    )
