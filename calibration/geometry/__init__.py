"""Calibration of the geometry: joint positions and length offsets from measured poses and leg lengths."""

from calibration.geometry.calibrate import GeometryLimits, calibrate_geometry
from calibration.geometry.frames import Gauge
from calibration.geometry.measurements import (
    GeometryMeasurements,
    GeometryNoise,
    HomingRepeatability,
    KnownFrames,
    homing_repeatability,
    prepare_geometry,
)
from calibration.geometry.observability import PARAMETERS as GEOMETRY_PARAMETERS
from calibration.geometry.observability import GeometryPrior, Observability, PoseSigmas, UnobservableError
from calibration.geometry.planning import PosePlan, next_poses, workspace_poses
from calibration.geometry.result import (
    GeometryCalibration,
    GeometryWarning,
    HoldOut,
    LeftOut,
    PoseErrors,
    TrackerScale,
    geometry_covariance,
)

__all__ = [
    "GEOMETRY_PARAMETERS",
    "Gauge",
    "GeometryCalibration",
    "GeometryLimits",
    "GeometryMeasurements",
    "GeometryNoise",
    "GeometryPrior",
    "GeometryWarning",
    "HoldOut",
    "HomingRepeatability",
    "KnownFrames",
    "LeftOut",
    "Observability",
    "PoseErrors",
    "PosePlan",
    "PoseSigmas",
    "TrackerScale",
    "UnobservableError",
    "calibrate_geometry",
    "geometry_covariance",
    "homing_repeatability",
    "next_poses",
    "prepare_geometry",
    "workspace_poses",
]
