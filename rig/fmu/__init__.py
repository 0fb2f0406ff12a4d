"""A mechanism's exact model as a functional mock-up unit (FMI 2.0 and 3.0, co-simulation), without Python in it."""

from rig.fmu.build import SYSTEM, build_unit, longest_stable_step
from rig.fmu.unit import MODELS, VERSIONS, FmiVersion, Unit, UnitModel, Variable, inverse_unit, plant_unit

__all__ = [
    "MODELS",
    "SYSTEM",
    "VERSIONS",
    "FmiVersion",
    "Unit",
    "UnitModel",
    "Variable",
    "build_unit",
    "inverse_unit",
    "longest_stable_step",
    "plant_unit",
]
