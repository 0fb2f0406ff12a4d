"""States, stop categories and faults of the rig: the vocabulary of the engine, telemetry, recordings and the app."""

from enum import IntEnum


class State(IntEnum):
    """State of the rig (one state machine for six legs)."""

    OFF = 0
    IDLE = 1
    HOMING = 2
    PARKED = 3
    ENGAGING = 4
    ENGAGED = 5
    RUNNING = 6
    PARKING = 7
    STOPPING = 8
    FAULT = 9
    SINGLE_LEG = 10
    """one leg moves, the others are held by their brakes"""


class StopSeverity(IntEnum):
    """Severity of a stop in ascending order (IEC 60204-1 numbers its categories in descending order)."""

    NONE = 0
    CATEGORY_2 = 1
    """Decelerate along the path, then hold under power."""
    CATEGORY_1 = 2
    """Decelerate, brakes on, torque off."""
    QUICK_STOP = 3
    """The drives' own quick stop: the feedback is not trusted."""
    CATEGORY_0 = 4
    """Torque off at once."""


class FaultCode(IntEnum):
    """First cause of a stop or fault."""

    NONE = 0
    OPERATOR_STOP = 1
    COMMUNICATION_LOST = 2
    DRIVE_FAULT = 3
    DRIVE_WATCHDOG = 4
    DRIVE_RESTARTED = 5
    FEEDBACK_INVALID = 6
    FEEDBACK_FROZEN = 7
    POSITION_JUMP = 8
    FOLLOWING_ERROR = 9
    FORCE_RESIDUAL = 10
    LOAD_CELL = 11
    LENGTH_LIMIT = 12
    SPEED_LIMIT = 13
    FORCE_LIMIT = 14
    CONDITIONING = 15
    REFERENCE_INVALID = 16
    OVERRUN = 17
    RECORDING = 18
    CLIENT_LOST = 19
    HOMING_FAILED = 20
    STOP_OVERDUE = 21
    HOST_SUSPENDED = 22
    INTERNAL_ERROR = 23
    RUNAWAY = 24
    TORQUE_LOST = 25
    TORQUE_UNEXPECTED = 26
    BRAKES_SLIP = 27
    OVERSPEED = 28
    TEMPERATURE = 29
    SUPPLY_VOLTAGE = 30
    WIRING = 31
    COMMUNICATION_DISTURBED = 32
    STREAM = 33
    EMERGENCY_STOP = 34
    SAFE_TORQUE_OFF = 35
    INPUTS_OUTPUTS = 36


class MotionKind(IntEnum):
    """Purpose of a motion."""

    RUN = 1
    """a trajectory"""
    JOG = 2
    """a step along or about an axis"""
    LEG_STEP = 3
    """a step of one leg's length"""
    MOVE = 4
    """to a requested pose"""
    APPROACH = 5
    """to a run's start"""
    PARK = 6
    """home, to be parked there"""
    HOMING = 7
    """six legs search their references"""
    LEG_TEST = 8
    """one leg moves, forth and back"""


PATHLESS = frozenset({MotionKind.HOMING, MotionKind.LEG_TEST})
"""Kinds of motion in which the drives move legs without a platform path."""


class MotionOutcome(IntEnum):
    """How a motion ended."""

    UNDERWAY = 0
    """In motion or paused."""
    FINISHED = 1
    STOPPED = 2
    ABANDONED = 3
    """Paused, and then stopped, parked or abandoned."""
    FAULT = 4


def cause_text(code: int, text: str) -> str:
    """Return the common text of a stop cause: the kind of fault, and the finding.

    Args:
        code: a `FaultCode`, 0 for none.
        text: text of the finding.
    """
    return f"{fault_name(code)}: {text}" if code else text


def fault_name(code: int) -> str:
    """Return a kind of fault as text."""
    return enum_name(FaultCode, code).lower().replace("_", " ")


def enum_name(kind: type[IntEnum], value: int) -> str:
    """Return the name of an enum's member, or the number if this version has no such member."""
    try:
        return kind(int(value)).name
    except ValueError:
        return str(int(value))
