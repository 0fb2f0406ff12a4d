"""Dynamics of open chains of revolute and prismatic joints: five formulations, simulation, computed torque, a PUMA.

After Turney, Mudge & Lee (1980), Lee, Chung, Mudge & Turney (1982), and the common Newton–Euler iteration with
prismatic joints, in standard and modified Denavit–Hartenberg form.
"""

from dynamics.serial.as_printed import (
    computed_torque_as_printed,
    lagrange_control_as_printed,
    modified_newton_euler_as_printed,
    newton_euler_as_printed,
)
from dynamics.serial.chain import Joint, Link, SerialChain, puma
from dynamics.serial.iterative import (
    LinkStates,
    ModifiedChain,
    iterative_newton_euler,
    iterative_newton_euler_as_printed,
    link_poses,
    link_states,
    modified_chain,
    standard_chain,
)
from dynamics.serial.lagrangian import LagrangeCoefficients, lagrange_coefficients, lagrange_euler
from dynamics.serial.legs_as_chains import leg_chain, leg_joints, serial_leg_forces
from dynamics.serial.recursions import modified_newton_euler, newton_euler, newton_euler_in_base_axes
from dynamics.serial.torque_control import (
    ERROR_BOUND,
    ChainSimulation,
    ControlStudy,
    chain_acceleration,
    check_gains,
    computed_torque,
    computed_torque_lagrange,
    coriolis_matrix,
    puma_study,
    quintic,
    rk4_step,
    simulate_chain,
    strobed_bias,
    strobed_coriolis,
    strobed_gravity,
    strobed_mass_matrix,
)

__all__ = [
    "ERROR_BOUND",
    "ChainSimulation",
    "ControlStudy",
    "Joint",
    "LagrangeCoefficients",
    "Link",
    "LinkStates",
    "ModifiedChain",
    "SerialChain",
    "chain_acceleration",
    "check_gains",
    "computed_torque",
    "computed_torque_as_printed",
    "computed_torque_lagrange",
    "coriolis_matrix",
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
    "puma",
    "puma_study",
    "quintic",
    "rk4_step",
    "serial_leg_forces",
    "simulate_chain",
    "standard_chain",
    "strobed_bias",
    "strobed_coriolis",
    "strobed_gravity",
    "strobed_mass_matrix",
]
