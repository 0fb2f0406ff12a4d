"""Functional mock-up units (FMI 2.0 and 3.0, co-simulation): a mechanism's exact model as one, and foreign ones run."""

from rig.fmu.build import SYSTEM, build_unit, longest_stable_step
from rig.fmu.foreign import FmuError, ForeignUnit, read_description
from rig.fmu.unit import MODELS, VERSIONS, FmiVersion, Unit, UnitModel, Variable, inverse_unit, plant_unit

__all__ = [
    "MODELS",
    "SYSTEM",
    "VERSIONS",
    "FmiVersion",
    "FmuError",
    "ForeignUnit",
    "Unit",
    "UnitModel",
    "Variable",
    "build_unit",
    "inverse_unit",
    "longest_stable_step",
    "plant_unit",
    "read_description",
]
