"""Operating any rig: the single steps, each with its waiting, and the usual course of a run made of them."""

from typing import Literal

from kinematics import MotionTable
from rig.client.motion_runner import AT_REST, PATIENCE, REST, Progress, Report, perform, refuse_fault
from rig.client.rig import Rig
from rig.engine import Connect, Disconnect, Engage, Home, Park, Reset, Shutdown, Snapshot, Stop
from rig.errors import InterruptedRunError, LeaseLostError, RunFaultError
from rig.runtime import StopRequest
from rig.states import State, StopSeverity

_LOOK_AND_RESET = (
    "Drives whose engine has died stop so. Look at the machine; then reset them: `rig run --reset`, or `reset` at the "
    "prompt of `rig operate`"
)


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
    """Do a whole run from OFF to OFF around one motion.

    Args:
        rig: in state OFF.
        table: the motion, from `prepare_motion`.
        name: of the motion, for events.
        report: told the progress now and then.
        repeats: how many times the motion is run, each time from its start.
        reset: whether a fault that the drives have from before is reset first; the operator's word.
        unproven: see `home`.

    Raises:
        RunFaultError: the run ended in a fault.
        RefusedError: a guard said no.
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
    leave(rig)


def connect_and_home(rig: Rig, report: Report, *, reset: bool = False, unproven: bool = False) -> None:
    """Bring a rig from OFF to PARKED, at rest; `reset`, `unproven`: see `connect`, `home`. Raises as `run_motion`."""
    report(Progress("connecting", 0.0))
    connect(rig, reset=reset)
    report(Progress("homing", 0.0))
    home(rig, unproven=unproven)


# -- single steps: each raises as `run_motion` ---------------------------------------------------------------------


def connect(rig: Rig, *, reset: bool = False) -> None:
    """OFF → IDLE: whoever interrupts by then is heard before anything moves.

    Args:
        rig: in state OFF.
        reset: whether the operator wants a fault reset that the drives have from before, as after an engine's death.
    """
    status = connect_for_state(rig)
    if status.state is State.IDLE:
        return
    if not reset:
        before = f"the drives were in a fault before they were connected: {status.cause_text}"
        raise RunFaultError(f"{before}. {_LOOK_AND_RESET}")
    clear(rig)


def connect_for_state(rig: Rig) -> Snapshot:
    """OFF → IDLE, or FAULT where the drives have one from before: connect them; the first snapshot that says which."""
    begun = rig.status().cycles
    rig.request(Connect())

    def looked_at(status: Snapshot) -> bool:
        return status.state is State.FAULT or (status.state is State.IDLE and status.cycles > begun)

    return rig.wait(looked_at, PATIENCE, "state IDLE")


def clear(rig: Rig) -> None:
    """FAULT → IDLE: reset a fault that the drives have from before; the operator's word."""
    rig.request(Reset())
    _reach(rig, State.IDLE, PATIENCE)


def home(rig: Rig, *, unproven: bool = False) -> None:
    """IDLE → PARKED, at rest for long enough to be engaged.

    unproven: the operator's word that the legs may move though no test of them, as they are wired, is on record.
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
    """Let a rig that is parked stand for long enough to be engaged."""
    now = rig.status()
    if now.state is State.PARKED and now.settled < REST:
        let_pass(rig, REST - now.settled)


def stop(rig: Rig, category: StopRequest = 1) -> None:
    """Stop whatever the rig is doing, and wait: for standing under power (2), or until no drive has torque (1, 0).

    A first Ctrl-C meanwhile asks for no more than that, and it needs no lease.

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
    """Whether a stop has done what it was asked for: standing under power (2), or no torque (1, 0)."""
    held = status.state is State.ENGAGED or (status.latched and status.stop is StopSeverity.CATEGORY_2)
    return status.state in AT_REST or (category == 2 and held)


def bring_to_rest(rig: Rig, category: Literal[0, 1] = 1) -> None:
    """Stop whatever the rig is doing by a stop of `category`, wait until no drive has torque, and end the engine.

    Raises:
        HardwareError: the rig did not come to rest in time.
    """
    stop(rig, category)
    leave(rig)


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
    """Let the rig be for `duration` s of its time."""
    end = rig.status().t + duration

    def passed(status: Snapshot) -> bool:
        refuse_fault(status)
        return status.t >= end

    rig.wait(passed, duration + PATIENCE, f"{duration:g} s to pass")
