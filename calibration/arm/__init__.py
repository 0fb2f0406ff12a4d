"""Bodies, rotors, friction and gains of a serial arm from measured positions and drive forces.

`prepare` filters records of motions, `TorqueModel` is the arm's torque as a regressor, `identify_arm` estimates its
unknowns with their covariance, and judges them by data that were not fitted, beside simpler models.
"""

from calibration.arm.estimate import UNKNOWN_GAIN, ArmAccuracy, ArmFit, ArmSettings, autocorrelation
from calibration.arm.identify import ArmIdentification, base_parameters_of, identify_arm
from calibration.arm.judgement import FORMULATIONS, ArmHoldOut, Formulation, Study, Whiteness, splits
from calibration.arm.samples import ArmRecord, ArmSamples, chosen_cutoff, drive_matrix, prepare
from calibration.arm.torque_model import FRICTION_TERMS, TorqueModel, body_regressor

__all__ = [
    "FORMULATIONS",
    "FRICTION_TERMS",
    "UNKNOWN_GAIN",
    "ArmAccuracy",
    "ArmFit",
    "ArmHoldOut",
    "ArmIdentification",
    "ArmRecord",
    "ArmSamples",
    "ArmSettings",
    "Formulation",
    "Study",
    "TorqueModel",
    "Whiteness",
    "autocorrelation",
    "base_parameters_of",
    "body_regressor",
    "chosen_cutoff",
    "drive_matrix",
    "identify_arm",
    "prepare",
    "splits",
]
