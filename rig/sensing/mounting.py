"""Readings carried to the platform: by where a sensor sits on it, and where a tracker stands."""

import numpy as np
import numpy.typing as npt

from kinematics import angles_to_matrix, matrix_to_quaternion, quaternion_to_matrix
from rig.config import SensorOptions
from rig.recording import SensorSeries
from rig.telemetry import QUATERNION


def platform_poses(series: SensorSeries, options: SensorOptions) -> npt.NDArray[np.float64]:
    """Poses (n, 7) of the platform in the base frame by a tracker's: of its target, in its own frame."""
    frame = angles_to_matrix(np.array(options.frame_rotation))
    target = angles_to_matrix(np.array(options.rotation))
    position, place = np.array(options.position), np.array(options.frame_position)
    found = np.empty_like(series.values)
    for row, values in zip(found, series.values, strict=True):
        rotation = frame @ quaternion_to_matrix(values[QUATERNION] / np.linalg.norm(values[QUATERNION])) @ target.T
        row[:3] = place + frame @ values[:3] - rotation @ position
        row[QUATERNION] = matrix_to_quaternion(rotation)
    return found


def specific_forces(series: SensorSeries, options: SensorOptions) -> npt.NDArray[np.float64]:
    """Specific forces (n, 3) at an IMU's place, m/s², in the platform's axes."""
    found: npt.NDArray[np.float64] = series.values[:, :3] @ angles_to_matrix(np.array(options.rotation)).T
    return found
