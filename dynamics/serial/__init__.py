"""Dynamics of open chains of revolute and prismatic joints: five formulations, simulation, computed torque, a PUMA.

After Turney, Mudge & Lee (1980), Lee, Chung, Mudge & Turney (1982), and the Newton–Euler iteration with prismatic
joints as commonly published, in standard Denavit–Hartenberg form and in the modified one.
"""

from dynamics.serial.as_printed import (
    computed_torque_as_printed,
    lagrange_control_as_printed,
    modified_newton_euler_as_printed,
    newton_euler_as_printed,
)
from dynamics.serial.base_axes import newton_euler_in_base_axes
from dynamics.serial.chain import Joint, Link, SerialChain
from dynamics.serial.gains import check_gains
from dynamics.serial.iterative import LinkStates, iterative_newton_euler, iterative_newton_euler_as_printed, link_states
from dynamics.serial.lagrangian import LagrangeCoefficients, lagrange_coefficients, lagrange_euler
from dynamics.serial.legs_as_chains import leg_chain, leg_joints, serial_leg_forces
from dynamics.serial.modified_dh import ModifiedChain, link_poses, modified_chain, standard_chain
from dynamics.serial.modified_recursion import modified_newton_euler
from dynamics.serial.operation_polynomials import BEYOND, SAMPLES, Law, general_chain
from dynamics.serial.puma_560 import puma
from dynamics.serial.recursion import newton_euler
from dynamics.serial.simulation import ChainSimulation, rk4_step, simulate_chain
from dynamics.serial.strobed import (
    chain_acceleration,
    coriolis_matrix,
    strobed_bias,
    strobed_coriolis,
    strobed_gravity,
    strobed_mass_matrix,
)
from dynamics.serial.strobing_cost import StrobingCost, StrobingEffort, strobing_costs, strobing_effort
from dynamics.serial.tables import (
    NewtonEulerSaving,
    OperationRow,
    OperationTable,
    PlatformRow,
    counted_order,
    counted_table,
    newton_euler_saving,
    operation_tables,
    platform_table,
)
from dynamics.serial.torque_control import (
    ERROR_BOUND,
    ControlStudy,
    computed_torque,
    computed_torque_lagrange,
    puma_study,
)

__all__ = [
    "BEYOND",
    "ERROR_BOUND",
    "SAMPLES",
    "ChainSimulation",
    "ControlStudy",
    "Joint",
    "LagrangeCoefficients",
    "Law",
    "Link",
    "LinkStates",
    "ModifiedChain",
    "NewtonEulerSaving",
    "OperationRow",
    "OperationTable",
    "PlatformRow",
    "SerialChain",
    "StrobingCost",
    "StrobingEffort",
    "chain_acceleration",
    "check_gains",
    "computed_torque",
    "computed_torque_as_printed",
    "computed_torque_lagrange",
    "coriolis_matrix",
    "counted_order",
    "counted_table",
    "general_chain",
    "iterative_newton_euler",
    "iterative_newton_euler_as_printed",
    "lagrange_coefficients",
    "lagrange_control_as_printed",
    "lagrange_euler",
    "leg_chain",
    "leg_joints",
    "link_poses",
    "link_states",
    "modified_chain",
    "modified_newton_euler",
    "modified_newton_euler_as_printed",
    "newton_euler",
    "newton_euler_as_printed",
    "newton_euler_in_base_axes",
    "newton_euler_saving",
    "operation_tables",
    "platform_table",
    "puma",
    "puma_study",
    "rk4_step",
    "serial_leg_forces",
    "simulate_chain",
    "standard_chain",
    "strobed_bias",
    "strobed_coriolis",
    "strobed_gravity",
    "strobed_mass_matrix",
    "strobing_costs",
    "strobing_effort",
]
