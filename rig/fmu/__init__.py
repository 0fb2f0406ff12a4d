"""Functional mock-up units (FMI 2.0 and 3.0, co-simulation): a mechanism's exact model as one, and foreign ones run."""

from rig.fmu.build import SYSTEM, build_unit, longest_stable_step
from rig.fmu.foreign import FmuEndedError, FmuError, ForeignUnit, failure_of, same_names, step_time
from rig.fmu.motion import MotionUnit, check_motion_unit
from rig.fmu.reference import LARGEST_SHARE, Pacing, ReferenceProcess, platform_state
from rig.fmu.unit import MODELS, VERSIONS, FmiVersion, Unit, UnitModel, Variable, inverse_unit, plant_unit

__all__ = [
    "LARGEST_SHARE",
    "MODELS",
    "SYSTEM",
    "VERSIONS",
    "FmiVersion",
    "FmuEndedError",
    "FmuError",
    "ForeignUnit",
    "MotionUnit",
    "Pacing",
    "ReferenceProcess",
    "Unit",
    "UnitModel",
    "Variable",
    "build_unit",
    "check_motion_unit",
    "failure_of",
    "inverse_unit",
    "longest_stable_step",
    "plant_unit",
    "platform_state",
    "same_names",
    "step_time",
]
