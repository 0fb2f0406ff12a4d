"""Gain, offset and polarity of the load cells in place: the platform's known weight, in many poses, loads them."""

from calibration.in_place.estimate import InPlaceCalibration, WeightSigmas, calibrate_in_place
from calibration.in_place.planning import WeightPlan, plan_weight_poses
from calibration.in_place.rests import FEWEST_RESTS, Rests

__all__ = [
    "FEWEST_RESTS",
    "InPlaceCalibration",
    "Rests",
    "WeightPlan",
    "WeightSigmas",
    "calibrate_in_place",
    "plan_weight_poses",
]
