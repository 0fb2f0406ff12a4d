"""Inertias and frictions from measured forces, and the design of motions for it.

`identify` estimates the exact model's parameters from stretches of a recording, with their covariance;
`design_excitation` designs the motion for it; `base_parameters` gives the combinations of parameters that forces
identify.
"""

from calibration.inertia.departures import FRICTION_SHAPES, friction_shapes
from calibration.inertia.design import THETA, neighbours
from calibration.inertia.estimate import Identification, IdentificationSettings, identify
from calibration.inertia.excitation import Excitation, ExcitationSettings, design_excitation
from calibration.inertia.holdout import ForceHoldOut, hold_out
from calibration.inertia.least_squares import BaseParameters, base_parameters
from calibration.inertia.parameter_report import BODY_NUMBERS, reported_parameters
from calibration.inertia.prior import Accuracy
from calibration.inertia.samples import ForceRecord

__all__ = [
    "BODY_NUMBERS",
    "FRICTION_SHAPES",
    "THETA",
    "Accuracy",
    "BaseParameters",
    "Excitation",
    "ExcitationSettings",
    "ForceHoldOut",
    "ForceRecord",
    "Identification",
    "IdentificationSettings",
    "base_parameters",
    "design_excitation",
    "friction_shapes",
    "hold_out",
    "identify",
    "neighbours",
    "reported_parameters",
]
