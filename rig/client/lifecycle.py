"""Operation of any rig: single steps with their waiting, and the usual sequence of a run."""

from contextlib import suppress
from typing import Literal

from kinematics import MotionTable
from rig.client.motion_runner import AT_REST, PATIENCE, REST, Progress, Report, perform, refuse_fault, stop_finding
from rig.client.rig import Rig
from rig.engine import Connect, Disconnect, Engage, Home, Park, Reset, Shutdown, Snapshot, Stop
from rig.errors import HardwareError, InterruptedRunError, LeaseLostError, RunFaultError
from rig.findings import Code, Finding
from rig.runtime import StopRequest
from rig.states import State, StopSeverity


def run_motion(
    rig: Rig,
    table: MotionTable,
    name: str,
    report: Report,
    repeats: int = 1,
    *,
    reset: bool = False,
    unproven: bool = False,
) -> None:
    """Do a whole run from OFF to OFF with one motion.

    Args:
        rig: in state OFF.
        table: the motion, from `prepare_motion`.
        name: of the motion, for events.
        report: receives the progress.
        repeats: number of repetitions, each from the start.
        reset: the operator's permission to reset an earlier fault of the drives first.
        unproven: see `home`.

    Raises:
        RunFaultError: the run ended in a fault.
        RefusedError: a guard refused a command.
        HardwareError: a drive is silent, or a state was not reached in time.
        InterruptedRunError: Ctrl-C; the rig still has to be brought to rest with `bring_to_rest`.
    """
    connect_and_home(rig, report, reset=reset, unproven=unproven)
    report(Progress("engaging", 0.0))
    engage(rig)
    perform(rig, table, name, report, repeats)
    let_pass(rig, REST)
    report(Progress("parking", 1.0))
    park(rig)
    refuse_fault(_compared(rig))
    leave(rig)


def connect_and_home(rig: Rig, report: Report, *, reset: bool = False, unproven: bool = False) -> None:
    """Bring a rig from OFF to PARKED, at rest; `reset`, `unproven`: see `connect`, `home`. Raises as `run_motion`."""
    report(Progress("connecting", 0.0))
    connect(rig, reset=reset)
    report(Progress("homing", 0.0))
    home(rig, unproven=unproven)


# -- single steps: each raises as `run_motion` ---------------------------------------------------------------------


def connect(rig: Rig, *, reset: bool = False) -> None:
    """OFF → IDLE; an interruption until then takes effect before anything moves.

    Args:
        rig: in state OFF.
        reset: the operator's permission to reset an earlier fault of the drives, as after an engine's death.
    """
    status = connect_for_state(rig)
    if status.state is State.IDLE:
        return
    if not reset:
        raise RunFaultError(Finding(Code.FAULT_BEFORE_CONNECTION, within=(stop_finding(status),)))
    clear(rig)


def connect_for_state(rig: Rig) -> Snapshot:
    """Connect: OFF → IDLE, or FAULT for an earlier fault of the drives; returns the first snapshot in that state."""
    begun = rig.status().cycles
    rig.request(Connect())

    def checked(status: Snapshot) -> bool:
        return status.state is State.FAULT or (status.state is State.IDLE and status.cycles > begun)

    return rig.wait(checked, PATIENCE, "state IDLE")


def clear(rig: Rig) -> None:
    """FAULT → IDLE: reset an earlier fault of the drives, with the operator's permission."""
    rig.request(Reset())
    _reach(rig, State.IDLE, PATIENCE)


def home(rig: Rig, *, unproven: bool = False) -> None:
    """IDLE → PARKED, at rest for long enough to be engaged.

    unproven: the operator's permission to move legs without a recorded test of their wiring.
    """
    rig.request(Home(unproven))
    _reach(rig, State.PARKED, rig.config.safety.homing_timeout + PATIENCE)
    let_pass(rig, REST)


def engage(rig: Rig) -> None:
    """PARKED → ENGAGED."""
    rig.request(Engage())
    _reach(rig, State.ENGAGED, PATIENCE)


def park(rig: Rig) -> None:
    """ENGAGED → PARKED: home, brakes on, torque off."""
    rig.request(Park())
    begun = rig.status()
    _reach(rig, State.PARKED, PATIENCE + begun.path_duration)


def settle(rig: Rig) -> None:
    """Wait until a parked rig has rested long enough to be engaged."""
    now = rig.status()
    if now.state is State.PARKED and now.settled < REST:
        let_pass(rig, REST - now.settled)


def stop(rig: Rig, category: StopRequest = 1) -> None:
    """Stop the rig, and wait: for rest under power (2), or until no drive has torque (1, 0).

    A first Ctrl-C meanwhile has no further effect. No lease is needed.

    Raises:
        HardwareError: the rig did not come to rest in time.
    """
    rig.request(Stop(category))

    def come_to_rest() -> None:
        rig.wait(lambda status: has_stopped(status, category), PATIENCE, "the rig to come to rest")

    try:
        come_to_rest()
    except (InterruptedRunError, LeaseLostError):
        come_to_rest()


def has_stopped(status: Snapshot, category: StopRequest) -> bool:
    """Whether a stop is complete: at rest under power (2), or no torque (1, 0)."""
    holding = status.state is State.ENGAGED or (status.latched and status.stop is StopSeverity.CATEGORY_2)
    return status.state in AT_REST or (category == 2 and holding)


def bring_to_rest(rig: Rig, category: Literal[0, 1] = 1) -> Finding | None:
    """Stop the rig by a stop of `category`, wait until no drive has torque, and end the engine.

    Returns:
        The legs whose exchange explains what was measured in motion before a fault; None if there are none.

    Raises:
        HardwareError: the rig did not come to rest in time.
    """
    stop(rig, category)
    lacking = None
    with suppress(HardwareError, InterruptedRunError):
        lacking = _compared(rig).unproven
    leave(rig)
    return lacking.finding if lacking is not None and lacking.finding.code is Code.EXCHANGED_IN_MOTION else None


def _compared(rig: Rig) -> Snapshot:
    """Wait until what was measured in motion has been compared with other wirings."""
    return rig.wait(lambda status: not status.comparing, PATIENCE, "the comparison with other wirings")


def leave(rig: Rig) -> None:
    """Close the drives and end the engine; the rig must be without torque."""
    if rig.status().state in (State.IDLE, State.PARKED):
        rig.request(Disconnect())
    rig.request(Shutdown())


def _reach(rig: Rig, state: State, timeout: float) -> None:
    def reached(status: Snapshot) -> bool:
        refuse_fault(status)
        return status.state is state

    rig.wait(reached, timeout, f"state {state.name}")


def let_pass(rig: Rig, duration: float) -> None:
    """Wait for `duration` s of the rig's time."""
    end = rig.status().t + duration

    def passed(status: Snapshot) -> bool:
        refuse_fault(status)
        return status.t >= end

    rig.wait(passed, duration + PATIENCE, f"{duration:g} s to pass")
