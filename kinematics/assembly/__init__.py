"""From leg lengths to poses: forward kinematics on the branch of a guess, and all assembly modes."""

from kinematics.assembly.forward import (
    CONVERGED,
    CROSSED,
    EXHAUSTED,
    FORWARD_WORK,
    INVALID,
    forward_kinematics,
    forward_kinematics_kernel,
)
from kinematics.assembly.modes import AssemblyModes, assembly_modes

__all__ = [
    "CONVERGED",
    "CROSSED",
    "EXHAUSTED",
    "FORWARD_WORK",
    "INVALID",
    "AssemblyModes",
    "assembly_modes",
    "forward_kinematics",
    "forward_kinematics_kernel",
]
