"""Dynamics of a 6-UPS Stewart platform with the exact inertia of its legs.

Newton–Euler after Dasgupta & Mruthyunjaya (1998), its universal joints' spin and reaction in full. Frames and arrays
are those of `kinematics`; a wrench is [force; moment] at the platform origin in platform axes; leg forces push.

For other kernels (no allocation; each returns a status, OK or what went wrong, and writes its outputs only with OK),
all arrays contiguous float64. `parameters` is `Dynamics.parameters` (or `Mechanism.array`), `work` is
np.zeros(WORK_SIZE), owned by one thread:

    inverse_kernel(parameters, motion (19,), wrench (6,), work, forces (6,)) -> status
    cells_kernel(parameters, motion (19,), wrench (6,), work, forces (6,), cells (6,)) -> status
    acceleration_kernel(parameters, state (13,), forces (6,), wrench (6,), work, acceleration (6,)) -> status
    rk4_kernel(parameters, state (13,) in and out, forces (6,), forces_end (6,), wrench (6,), dt, work) -> status
    frozen_kernel(state (13,), wrench (6,), work, frozen (FROZEN_SIZE,)) -> status, of parameters put into `work` before

A status 1…6 is the leg whose universal joint is singular; SINGULAR and NOT_FINITE are the others.
"""

from dynamics.batch import BatchError, inverse_batch
from dynamics.closed_form import closed_form_equations, closed_form_pods
from dynamics.counting import Counted, Operations, count_operations, kinematics_operations, platform_operations
from dynamics.energy import Energy, friction_power, mechanical_energy, supplied_power
from dynamics.equations import EquationsMethod, equations_of_motion, forward_dynamics
from dynamics.errors import DynamicsError, MechanismError, NoPathError, SingularityError
from dynamics.kernels.batch import NOT_UNIT
from dynamics.kernels.cells import cells_kernel
from dynamics.kernels.forward import acceleration_kernel, rk4_kernel
from dynamics.kernels.frozen import (
    DRIFT,
    FROZEN_SIZE,
    MOBILITY,
    frozen_acceleration_kernel,
    frozen_kernel,
    without_leg_friction,
)
from dynamics.kernels.inverse import inverse_kernel
from dynamics.kernels.layout import NOT_FINITE, OK, SINGULAR, WORK_SIZE
from dynamics.limits import pose_limits
from dynamics.loading import load_mechanism, mechanism_names, parse_mechanism
from dynamics.mechanism import Body, Friction, Leg, LegLimits, LoadCell, Mechanism
from dynamics.model import TERMS, CycleForces, Dynamics, InverseResult
from dynamics.path_family import BentPath, BestPath, best_path, opposite_sides
from dynamics.quality import PathQuality, Singularity, find_singularities, massless_legs, path_quality
from dynamics.reactions import REACTION_UNITS, ReactionPeak, base_loads, reaction_peaks
from dynamics.serial import (
    BEYOND,
    ERROR_BOUND,
    SAMPLES,
    ChainSimulation,
    ControlStudy,
    Joint,
    LagrangeCoefficients,
    Law,
    Link,
    LinkStates,
    ModifiedChain,
    NewtonEulerSaving,
    OperationRow,
    OperationTable,
    PlatformRow,
    SerialChain,
    StrobingCost,
    StrobingEffort,
    chain_acceleration,
    check_gains,
    computed_torque,
    computed_torque_as_printed,
    computed_torque_lagrange,
    coriolis_matrix,
    counted_order,
    counted_table,
    iterative_newton_euler,
    iterative_newton_euler_as_printed,
    lagrange_coefficients,
    lagrange_control_as_printed,
    lagrange_euler,
    leg_chain,
    leg_joints,
    link_poses,
    link_states,
    modified_chain,
    modified_newton_euler,
    modified_newton_euler_as_printed,
    newton_euler,
    newton_euler_as_printed,
    newton_euler_in_base_axes,
    newton_euler_saving,
    operation_tables,
    platform_table,
    puma,
    puma_study,
    serial_leg_forces,
    simulate_chain,
    standard_chain,
    strobed_bias,
    strobed_coriolis,
    strobed_gravity,
    strobed_mass_matrix,
    strobing_costs,
    strobing_effort,
)
from dynamics.spherical_ends import with_spherical_ends
from dynamics.task_space import TaskSpace, task_space_equations
from dynamics.variants import MODELS, variant_cells, variant_forces
from dynamics.variants.compact_2012 import (
    EVERY_TERM,
    Mend,
    compact_forces,
    compact_pods,
    tangential_accelerations,
)
from dynamics.variants.dasgupta_flops import flops_1998

__all__ = [
    "BEYOND",
    "DRIFT",
    "ERROR_BOUND",
    "EVERY_TERM",
    "FROZEN_SIZE",
    "MOBILITY",
    "MODELS",
    "NOT_FINITE",
    "NOT_UNIT",
    "OK",
    "REACTION_UNITS",
    "SAMPLES",
    "SINGULAR",
    "TERMS",
    "WORK_SIZE",
    "BatchError",
    "BentPath",
    "BestPath",
    "Body",
    "ChainSimulation",
    "ControlStudy",
    "Counted",
    "CycleForces",
    "Dynamics",
    "DynamicsError",
    "Energy",
    "EquationsMethod",
    "Friction",
    "InverseResult",
    "Joint",
    "LagrangeCoefficients",
    "Law",
    "Leg",
    "LegLimits",
    "Link",
    "LinkStates",
    "LoadCell",
    "Mechanism",
    "MechanismError",
    "Mend",
    "ModifiedChain",
    "NewtonEulerSaving",
    "NoPathError",
    "OperationRow",
    "OperationTable",
    "Operations",
    "PathQuality",
    "PlatformRow",
    "ReactionPeak",
    "SerialChain",
    "Singularity",
    "SingularityError",
    "StrobingCost",
    "StrobingEffort",
    "TaskSpace",
    "acceleration_kernel",
    "base_loads",
    "best_path",
    "cells_kernel",
    "chain_acceleration",
    "check_gains",
    "closed_form_equations",
    "closed_form_pods",
    "compact_forces",
    "compact_pods",
    "computed_torque",
    "computed_torque_as_printed",
    "computed_torque_lagrange",
    "coriolis_matrix",
    "count_operations",
    "counted_order",
    "counted_table",
    "equations_of_motion",
    "find_singularities",
    "flops_1998",
    "forward_dynamics",
    "friction_power",
    "frozen_acceleration_kernel",
    "frozen_kernel",
    "inverse_batch",
    "inverse_kernel",
    "iterative_newton_euler",
    "iterative_newton_euler_as_printed",
    "kinematics_operations",
    "lagrange_coefficients",
    "lagrange_control_as_printed",
    "lagrange_euler",
    "leg_chain",
    "leg_joints",
    "link_poses",
    "link_states",
    "load_mechanism",
    "massless_legs",
    "mechanical_energy",
    "mechanism_names",
    "modified_chain",
    "modified_newton_euler",
    "modified_newton_euler_as_printed",
    "newton_euler",
    "newton_euler_as_printed",
    "newton_euler_in_base_axes",
    "newton_euler_saving",
    "operation_tables",
    "opposite_sides",
    "parse_mechanism",
    "path_quality",
    "platform_operations",
    "platform_table",
    "pose_limits",
    "puma",
    "puma_study",
    "reaction_peaks",
    "rk4_kernel",
    "serial_leg_forces",
    "simulate_chain",
    "standard_chain",
    "strobed_bias",
    "strobed_coriolis",
    "strobed_gravity",
    "strobed_mass_matrix",
    "strobing_costs",
    "strobing_effort",
    "supplied_power",
    "tangential_accelerations",
    "task_space_equations",
    "variant_cells",
    "variant_forces",
    "with_spherical_ends",
    "without_leg_friction",
]
