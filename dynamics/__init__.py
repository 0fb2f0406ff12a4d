"""Dynamics of a 6-UPS Stewart platform with the exact inertia of its legs, and the inertia of its drives.

Newton–Euler model of Dasgupta & Mruthyunjaya (1998), with the full spin and reaction of the universal joints. Frames
and arrays as in `kinematics`; a wrench is [force; moment] at the platform origin in platform axes; leg forces push.

For calls from other kernels: these functions do not allocate, return a status (OK or an error) and write their outputs
only if it is OK. Arrays are contiguous float64. `parameters` is `Dynamics.parameters` (or `Mechanism.array`), `work` is
np.zeros(WORK_SIZE), owned by one thread:

    inverse_kernel(parameters, motion (19,), wrench (6,), work, forces (6,)) -> status
    forces_kernel(motion (19,), wrench (6,), work, forces (6,)) -> status; `work` already holds the parameters
    cells_kernel(parameters, motion (19,), wrench (6,), work, forces (6,), cells (6,)) -> status
    acceleration_kernel(parameters, state (13,), forces (6,), wrench (6,), work, acceleration (6,)) -> status
    rk4_kernel(parameters, state (13,) in and out, forces (6,), forces_end (6,), wrench (6,), dt, work) -> status
    frozen_kernel(state (13,), wrench (6,), work, frozen (FROZEN_SIZE,)) -> status; `work` already holds the parameters

Status 1…6: the universal joint of that leg is singular; the other errors are SINGULAR and NOT_FINITE. `layout` says
where `parameters` and `work` have what.
"""

from dynamics import papers, serial
from dynamics.arguments import UNIT_TOLERANCE
from dynamics.batch import BatchError, inverse_batch
from dynamics.closed_form import (
    Energy,
    TaskSpace,
    closed_form_equations,
    closed_form_pods,
    friction_power,
    mechanical_energy,
    supplied_power,
    task_space_equations,
)
from dynamics.errors import ArmError, DynamicsError, MechanismError, NoPathError, SingularityError
from dynamics.external import (
    PAYLOAD,
    friction_signs,
    payload_wrenches,
    residual_from_wrench,
    rotor_spin_forces,
    switched_friction,
    wrench_from_residual,
)
from dynamics.kernels import layout
from dynamics.kernels.batch import NOT_UNIT
from dynamics.kernels.cells import cell_and_terms_kernel, cells_kernel
from dynamics.kernels.forward import (
    DRIFT,
    FROZEN_SIZE,
    MOBILITY,
    acceleration_kernel,
    frozen_acceleration_kernel,
    frozen_kernel,
    rk4_kernel,
    without_leg_friction,
)
from dynamics.kernels.inverse import forces_kernel, inverse_kernel
from dynamics.kernels.layout import NOT_FINITE, OK, SINGULAR, WORK_SIZE
from dynamics.mechanism import (
    Body,
    Drive,
    Friction,
    Leg,
    LegLimits,
    LoadCell,
    MachineSize,
    Mechanism,
    machine_size,
    pose_limits,
    without_friction,
)
from dynamics.mechanism_file import (
    format_mechanism,
    format_tables,
    load_mechanism,
    mechanism_names,
    mechanism_tables,
    parse_mechanism,
    parse_tables,
    with_spherical_ends,
)
from dynamics.model import (
    REACTION_UNITS,
    TERMS,
    CycleForces,
    Dynamics,
    EquationsMethod,
    InverseResult,
    ReactionPeak,
    base_loads,
    equations_of_motion,
    forward_dynamics,
    leg_reactions,
    model_failure,
    reaction_peaks,
)
from dynamics.path_conditioning import (
    BentPath,
    BestPath,
    PathQuality,
    Singularity,
    best_path,
    find_singularities,
    massless_legs,
    opposite_sides,
    path_quality,
)
from dynamics.regressor import (
    BODIES,
    BODY_NAMES,
    BODY_UNITS,
    DRIVE_PARAMETERS,
    FRICTIONS,
    INERTIA_ELEMENTS,
    LINEAR_NAMES,
    LINEAR_UNITS,
    Regressor,
    body_of,
    deformed,
    drive_parameters,
    from_pseudo_inertia,
    linear_body,
    linear_parameters,
    pseudo_inertia,
    with_drive_parameters,
    with_linear_parameters,
)

__all__ = [
    "BODIES",
    "BODY_NAMES",
    "BODY_UNITS",
    "DRIFT",
    "DRIVE_PARAMETERS",
    "FRICTIONS",
    "FROZEN_SIZE",
    "INERTIA_ELEMENTS",
    "LINEAR_NAMES",
    "LINEAR_UNITS",
    "MOBILITY",
    "NOT_FINITE",
    "NOT_UNIT",
    "OK",
    "PAYLOAD",
    "REACTION_UNITS",
    "SINGULAR",
    "TERMS",
    "UNIT_TOLERANCE",
    "WORK_SIZE",
    "ArmError",
    "BatchError",
    "BentPath",
    "BestPath",
    "Body",
    "CycleForces",
    "Drive",
    "Dynamics",
    "DynamicsError",
    "Energy",
    "EquationsMethod",
    "Friction",
    "InverseResult",
    "Leg",
    "LegLimits",
    "LoadCell",
    "MachineSize",
    "Mechanism",
    "MechanismError",
    "NoPathError",
    "PathQuality",
    "ReactionPeak",
    "Regressor",
    "Singularity",
    "SingularityError",
    "TaskSpace",
    "acceleration_kernel",
    "base_loads",
    "best_path",
    "body_of",
    "cell_and_terms_kernel",
    "cells_kernel",
    "closed_form_equations",
    "closed_form_pods",
    "deformed",
    "drive_parameters",
    "equations_of_motion",
    "find_singularities",
    "forces_kernel",
    "format_mechanism",
    "format_tables",
    "forward_dynamics",
    "friction_power",
    "friction_signs",
    "from_pseudo_inertia",
    "frozen_acceleration_kernel",
    "frozen_kernel",
    "inverse_batch",
    "inverse_kernel",
    "layout",
    "leg_reactions",
    "linear_body",
    "linear_parameters",
    "load_mechanism",
    "machine_size",
    "massless_legs",
    "mechanical_energy",
    "mechanism_names",
    "mechanism_tables",
    "model_failure",
    "opposite_sides",
    "papers",
    "parse_mechanism",
    "parse_tables",
    "path_quality",
    "payload_wrenches",
    "pose_limits",
    "pseudo_inertia",
    "reaction_peaks",
    "residual_from_wrench",
    "rk4_kernel",
    "rotor_spin_forces",
    "serial",
    "supplied_power",
    "switched_friction",
    "task_space_equations",
    "with_drive_parameters",
    "with_linear_parameters",
    "with_spherical_ends",
    "without_friction",
    "without_leg_friction",
    "wrench_from_residual",
]
