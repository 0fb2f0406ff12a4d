"""What an operator can do now, and why not: the single source of every control's enabled state.

It evaluates the engine's own guards in advance, and adds what only the app knows.
"""

from dataclasses import dataclass
from enum import Enum, auto

from gui.texts import finding_text, mark, tr
from rig.engine import (
    TORQUE_STATES,
    Abandon,
    Compiling,
    Connect,
    Disconnect,
    Engage,
    Follow,
    FollowStream,
    Home,
    Pace,
    Park,
    Pause,
    Reset,
    Resume,
    RigCommand,
    Shutdown,
    Snapshot,
)
from rig.engine import obstacle as engine_obstacle
from rig.findings import Code, Finding, Remedy
from rig.states import State

STATE_WORDS: dict[State, str] = {
    State.OFF: tr("Off"),
    State.IDLE: tr("Idle"),
    State.HOMING: tr("Homing"),
    State.SINGLE_LEG: tr("Testing a leg"),
    State.PARKED: tr("Parked"),
    State.ENGAGING: tr("Engaging"),
    State.ENGAGED: tr("Engaged"),
    State.RUNNING: tr("Running"),
    State.PARKING: tr("Parking"),
    State.STOPPING: tr("Stopping"),
    State.FAULT: tr("Fault"),
}
"""Displayed names of the rig's states, used everywhere."""


def state_word(value: int) -> str:
    """Return the displayed name of a recorded state; its number if this version does not know it."""
    try:
        return STATE_WORDS[State(int(value))]
    except ValueError:
        return str(int(value))


class Phase(Enum):
    """Life cycle of the engine process."""

    DOWN = auto()
    STARTING = auto()
    UP = auto()
    ENDING = auto()
    DIED = auto()


class Action(Enum):
    """Operator actions; the value is the displayed name in English."""

    CONNECT = mark("Connect")
    HOME = mark("Home")
    ENGAGE = mark("Engage")
    PARK = mark("Park")
    RESET = mark("Reset")
    DISCONNECT = mark("Disconnect")
    MOVE = mark("Move")
    FOLLOW = mark("Follow")
    PAUSE = mark("Pause")
    RESUME = mark("Resume")
    ABANDON = mark("Abandon")
    SPEED = mark("Speed")
    HOLD = mark("Hold here")
    INJECT = mark("Inject")
    REPORT = mark("Report")


@dataclass(frozen=True, slots=True)
class Holder:
    """An engine not owned by the app that controls the drives, as last polled."""

    pid: int
    owner_alive: bool
    """Whether the process that started it is alive."""
    status: Snapshot | None
    """None if it does not answer."""

    @property
    def words(self) -> str:
        """Return who owns it, what it does, and for how long, as text."""
        if self.status is None:
            return tr("An engine (process {pid}) has these drives and does not answer.").format(pid=self.pid)
        owner = tr("its app is running") if self.owner_alive else tr("its app has ended")
        lease = (
            tr("{lease!r} commands it").format(lease=self.status.lease)
            if self.status.lease
            else tr("no client commands it")
        )
        left = self.status.hold_left
        engine = (
            tr("An engine (process {pid}) has these drives: state {state}, {owner}, {lease}.")
            if left is None
            else tr(
                "An engine (process {pid}) has these drives: state {state}, {owner}, {lease}, {left:.0f} s left until "
                "it takes the torque off and ends."
            )
        )
        return engine.format(pid=self.pid, state=STATE_WORDS[self.status.state], owner=owner, lease=lease, left=left)


@dataclass(frozen=True, slots=True)
class Situation:
    """All inputs of the rules."""

    phase: Phase = Phase.DOWN
    status: Snapshot | None = None
    """The engine's latest, None before the first."""
    busy: str = ""
    """Request in progress, as text; empty without."""
    following: bool = False
    """Whether that request is for a motion to be followed."""
    moving: bool = False
    """Whether a move or a sequence of motions is in progress, pauses between two included."""
    virtual: bool = True
    paced: bool = False
    """Whether it is a virtual rig in paced time, which may wait for the CPU, unlike a machine."""
    recording: str = ""
    """Path of the current or last recording."""
    silent: bool = False
    """Whether the engine runs but does not answer."""
    armed: bool = False
    """Whether the first of the two steps to Engage has been taken."""
    death: str = ""
    """What is known about the crash of the engine and the drives' reaction."""
    holder: Holder | None = None
    """An engine not owned by the app that controls the drives."""
    compiling: Compiling | None = None
    """Progress of a start that has to compile the model first."""


_COMMANDS: dict[Action, RigCommand] = {
    Action.CONNECT: Connect(),
    Action.HOME: Home(unproven=True),  # the button asks for confirmation if the wiring is not proven
    Action.ENGAGE: Engage(),
    Action.PARK: Park(),
    Action.RESET: Reset(),
    Action.MOVE: Follow("motion", 1.0),
    Action.FOLLOW: FollowStream("stream", "ring"),
    Action.PAUSE: Pause(),
    Action.RESUME: Resume(take_over=True),  # the button asks before taking over another client's motion
    Action.ABANDON: Abandon(),
    Action.SPEED: Pace(1.0),
}
"""The engine command of each action."""

_NOT_STARTED = {
    Phase.DOWN: Code.CONNECT_FIRST,
    Phase.STARTING: Code.ENGINE_STARTING,
    Phase.ENDING: Code.ENGINE_ENDING,
    Phase.DIED: Code.ENGINE_DIED,
}


def obstacle(action: Action, now: Situation) -> str:
    """Why `action` cannot be done now, as text; empty if it can."""
    found = finding_against(action, now)
    return "" if found is None else finding_text(found)


def finding_against(action: Action, now: Situation) -> Finding | None:
    """Why `action` cannot be done now; None if it can."""
    if action is Action.REPORT:
        return finding_against_heavy_work(now) if now.recording else Finding(Code.NOTHING_RECORDED)
    if action is Action.INJECT:
        return _against_injection(now)
    if now.holder is not None and action in (Action.CONNECT, Action.DISCONNECT):
        return _against_found_engine(now, now.holder)
    if action is Action.CONNECT and now.phase in (Phase.DOWN, Phase.DIED):
        return None
    if now.phase is not Phase.UP:
        return Finding(Code.ENGINE_FOUND if now.holder else _NOT_STARTED[now.phase])
    if now.status is None:
        return Finding(Code.ENGINE_UNHEARD)
    if action is Action.HOLD and (now.moving or now.status.state is State.RUNNING):
        return None  # a stop is always possible
    if now.silent and action is not Action.DISCONNECT:  # Disconnect also ends a silent engine
        return Finding(Code.ENGINE_NOT_ANSWERING)
    if action is Action.PAUSE and _between_motions(now, now.status):
        return None
    if now.busy:
        return _under_way(now)
    if action is Action.HOLD:
        return Finding(Code.NO_MOTION)
    command = ending(now.status)[0] if action is Action.DISCONNECT else _COMMANDS[action]
    found = engine_obstacle(command, now.status)
    return None if found is None or found.passing else found.finding


def _under_way(now: Situation) -> Finding:
    return Finding(Code.REQUEST_UNDER_WAY, details={"request": tr(now.busy)})


def ending(status: Snapshot) -> list[RigCommand]:
    """Return the commands, in order, for the engine to release the drives and to end."""
    return [Disconnect(), Shutdown()] if status.state in (State.IDLE, State.PARKED) else [Shutdown()]


def _between_motions(now: Situation, status: Snapshot) -> bool:
    """Whether the next motion of a sequence is on its way to the engine."""
    waiting = not now.busy or now.following
    return now.moving and waiting and status.state in (State.ENGAGED, State.RUNNING) and not status.paused


def fmu_has_failed(now: Situation) -> bool:
    """Whether the FMU of the present motion has failed: there is nothing to resume."""
    if now.status is None:
        return False
    begun = now.status.t - now.status.path_time
    return any(one.finding.code is Code.REFERENCE_FMU_FAILED and one.t >= begun for one in now.status.events)


def _against_found_engine(now: Situation, holder: Holder) -> Finding | None:
    """Why the engine that was found can be neither taken over nor ended."""
    if now.busy:
        return _under_way(now)
    if holder.status is None:
        return Finding(Code.FOUND_ENGINE_SILENT, details={"pid": holder.pid})
    lease = holder.status.lease
    return Finding(Code.FOUND_ENGINE_COMMANDED, details={"client": lease}) if lease else None


def _against_injection(now: Situation) -> Finding | None:
    if not now.virtual:
        return Finding(Code.FAULTS_VIRTUAL_ONLY)
    return None if now.phase in (Phase.UP, Phase.DIED) else Finding(Code.VIRTUAL_RIG_DOWN)


def heavy_work_obstacle(now: Situation) -> str:
    """Why CPU-heavy work cannot be started now, as text; empty if it can."""
    found = finding_against_heavy_work(now)
    return "" if found is None else finding_text(found)


def finding_against_heavy_work(now: Situation) -> Finding | None:
    """Same as a finding; None if it can."""
    if now.paced:
        return None
    if now.phase is Phase.UP and now.status is not None and now.status.state in TORQUE_STATES:
        return Finding(Code.PROCESSOR_RESERVED)
    return None


_PRESSED = {
    Remedy.CONNECT: Action.CONNECT,
    Remedy.DISCONNECT: Action.DISCONNECT,
    Remedy.RECONNECT: Action.DISCONNECT,
    Remedy.PARK: Action.PARK,
    Remedy.PAUSE: Action.PAUSE,
    Remedy.RESET: Action.RESET,
}
"""Remedies that a button next to the refusal carries out at once; none enables torque."""
_SHOWN = {
    Remedy.HOME: tr("Show Home"),
    Remedy.ENGAGE: tr("Show Engage"),
    Remedy.RESUME: tr("Show Resume"),
    Remedy.STOP: tr("Show STOP"),
    Remedy.MOVE_TO_START: tr("Show Motion"),
    Remedy.TEST_LEGS: tr("Set up …"),
    Remedy.ZERO_CELLS: tr("Set up …"),
}
"""Remedies that enable torque or take several steps: the button leads to their control."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Action of a button next to a refusal.

    action: carried out at once; None if the button leads to the control of the `remedy`. text: of the button.
    """

    remedy: Remedy
    action: Action | None
    text: str


def repair_of(finding: Finding) -> Repair | None:
    """Return the repair of a finding; None if the operator can do nothing about it."""
    remedy = finding.remedy
    if remedy in _PRESSED:
        action = _PRESSED[remedy]
        return Repair(remedy, action, tr(action.value))
    return Repair(remedy, None, _SHOWN[remedy]) if remedy in _SHOWN else None


def is_repaired(repair: Repair, now: Situation) -> bool:
    """Whether a repair has been done, by whatever means."""
    state = State.OFF if now.status is None or now.phase is not Phase.UP else now.status.state
    match repair.remedy:
        case Remedy.CONNECT:
            return state is not State.OFF
        case Remedy.DISCONNECT | Remedy.RECONNECT:
            return state is State.OFF
        case Remedy.PARK:
            return state not in TORQUE_STATES
        case Remedy.PAUSE:
            return state is not State.RUNNING
        case Remedy.HOME:
            return state not in (State.OFF, State.IDLE, State.HOMING)
        case Remedy.ENGAGE:
            return state in (State.ENGAGED, State.RUNNING)
        case Remedy.RESUME:
            return now.status is None or not now.status.paused
        case Remedy.STOP:
            return now.status is None or not now.status.held_for_fault
        case Remedy.RESET:
            return state is not State.FAULT
    return False
