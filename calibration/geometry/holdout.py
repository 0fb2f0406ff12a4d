"""How far poses computed from the leg lengths are off the measured ones, on poses that were not fitted."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.geometry.model import LEG, Readings
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
    Of points the target's origin is their centre.
    """

    position: Array
    rotation: Array

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
    def position_worst(self) -> float:
        """Greatest distance, m; NaN without any row."""
        return float(np.nanmax(np.linalg.norm(self.position, axis=1))) if self.found else float("nan")


def _rms(rows: Array) -> float:
    good = rows[np.isfinite(rows[:, 0])]
    return float(np.sqrt((good**2).sum(axis=1).mean())) if len(good) else float("nan")


def pose_errors(readings: Readings, x: Array) -> PoseErrors:
    """Errors of the poses that the lengths have with joints and offsets `x` (6, 7), in measured frames."""
    geometry = Geometry(x[:, :3], np.tile([1.0, 0.0, 0.0], (6, 1)), x[:, 3:6])
    position, rotation = np.full((len(readings), 3), np.nan), np.full((len(readings), 3), np.nan)
    for row, (lengths, measured) in enumerate(zip(readings.lengths, readings.poses, strict=True)):
        try:
            pose = forward_kinematics(geometry, lengths - x[:, LEG - 1], measured)
        except KinematicsError:
            continue
        position[row] = pose[:3] - measured[:3]
        turn = quaternion_multiply(pose[3:], quaternion_conjugate(measured[3:]))
        rotation[row] = rotation_vector_from_quaternion(turn / np.linalg.norm(turn))
    return PoseErrors(position, rotation)


def noise_rms(readings: Readings) -> tuple[float, float]:
    """RMS of the measured poses' own noise as stated: distance, m, and angle, rad."""
    variances = np.linalg.inv(readings.information)[:, range(6), range(6)].mean(axis=0)
    return float(np.sqrt(variances[:3].sum())), float(np.sqrt(variances[3:].sum()))


def joined(parts: list[PoseErrors], order: NDArray[np.intp]) -> PoseErrors:
    """Errors of several sets of rows as one, put into an order."""
    return PoseErrors(
        np.concatenate([part.position for part in parts])[order],
        np.concatenate([part.rotation for part in parts])[order],
    )
