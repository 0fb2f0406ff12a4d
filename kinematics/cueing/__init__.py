"""Motion cueing: from a vehicle's motion to that of a platform, within the bounds of its legs."""

from kinematics.cueing.limiter import BRAKING, LIMITED, MotionBounds
from kinematics.cueing.tuning import (
    Tuning,
    blended,
    load_tuning,
    parse_tuning,
    tuning_changes,
    tuning_names,
    tuning_source,
    tuning_text,
    tuning_values,
)
from kinematics.cueing.washout import FLAGS, INPUT_LIMITED, TILT_LIMITED, VEHICLE, Washout, discretised

__all__ = [
    "BRAKING",
    "FLAGS",
    "INPUT_LIMITED",
    "LIMITED",
    "TILT_LIMITED",
    "VEHICLE",
    "MotionBounds",
    "Tuning",
    "Washout",
    "blended",
    "discretised",
    "load_tuning",
    "parse_tuning",
    "tuning_changes",
    "tuning_names",
    "tuning_source",
    "tuning_text",
    "tuning_values",
]
