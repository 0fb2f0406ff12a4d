"""Calibration of the geometry: joint positions and length offsets from measured poses and leg lengths."""

from calibration.geometry.calibrate import GeometryLimits, calibrate_geometry
from calibration.geometry.frames import Gauge
from calibration.geometry.holdout import PoseErrors
from calibration.geometry.homing import HomingRepeatability, homing_repeatability
from calibration.geometry.measurements import GeometryMeasurements, GeometryNoise, KnownFrames, prepare_geometry
from calibration.geometry.observability import Observability, UnobservableError
from calibration.geometry.planning import PosePlan, next_poses
from calibration.geometry.result import GeometryCalibration, HoldOut, LeftOut

__all__ = [
    "Gauge",
    "GeometryCalibration",
    "GeometryLimits",
    "GeometryMeasurements",
    "GeometryNoise",
    "HoldOut",
    "HomingRepeatability",
    "KnownFrames",
    "LeftOut",
    "Observability",
    "PoseErrors",
    "PosePlan",
    "UnobservableError",
    "calibrate_geometry",
    "homing_repeatability",
    "next_poses",
    "prepare_geometry",
]
