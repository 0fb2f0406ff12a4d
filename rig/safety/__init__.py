"""Safety of the rig: state machine, and checks of feedback, references and motions."""

from rig.safety.brake_check import RestMonitor
from rig.safety.cell_checks import no_force
from rig.safety.cell_model import CellModel
from rig.safety.drive_checks import TorqueChecks, Traffic, TrafficCheck
from rig.safety.feedback import LONG_PERIOD, FeedbackMonitor
from rig.safety.input_checks import OPEN, InputChecks
from rig.safety.limits import START_DISTANCE, ReferenceCheck, check_kernel, continue_kernel
from rig.safety.machine import (
    LAW_STATES,
    LEGS,
    TORQUE_STATES,
    Cause,
    Conditions,
    Deadlines,
    StateMachine,
    at_legs,
)
from rig.safety.measured_bounds import MeasuredBounds
from rig.safety.stability import (
    MASS_ERROR,
    LawBandwidth,
    LoopVerdict,
    check_loop,
    judge_sag,
    law_bandwidth,
    leg_masses,
    position_integral,
    task_bandwidth_of_margin,
    virtual_integral,
    with_bandwidth,
    with_task_bandwidth,
)
from rig.safety.trajectory_check import (
    AT_ENDS,
    LimitCheck,
    TrajectoryVerdict,
    check_slowing,
    check_trajectory,
)
from rig.safety.trip import Act, LegReference, Recheck, Report, Trip, no_recheck
from rig.safety.wiring_check import Exchange, ExchangeCheck, ExchangeSearch, exchanges_found, leg_pair

__all__ = [
    "AT_ENDS",
    "LAW_STATES",
    "LEGS",
    "LONG_PERIOD",
    "MASS_ERROR",
    "OPEN",
    "START_DISTANCE",
    "TORQUE_STATES",
    "Act",
    "Cause",
    "CellModel",
    "Conditions",
    "Deadlines",
    "Exchange",
    "ExchangeCheck",
    "ExchangeSearch",
    "FeedbackMonitor",
    "InputChecks",
    "LawBandwidth",
    "LegReference",
    "LimitCheck",
    "LoopVerdict",
    "MeasuredBounds",
    "Recheck",
    "ReferenceCheck",
    "Report",
    "RestMonitor",
    "StateMachine",
    "TorqueChecks",
    "Traffic",
    "TrafficCheck",
    "TrajectoryVerdict",
    "Trip",
    "at_legs",
    "check_kernel",
    "check_loop",
    "check_slowing",
    "check_trajectory",
    "continue_kernel",
    "exchanges_found",
    "judge_sag",
    "law_bandwidth",
    "leg_masses",
    "leg_pair",
    "no_force",
    "no_recheck",
    "position_integral",
    "task_bandwidth_of_margin",
    "virtual_integral",
    "with_bandwidth",
    "with_task_bandwidth",
]
