"""What an operator can do now, and why the rest cannot be done: one place for every control's enabled state.

The engine's own guards are asked beforehand, so that nobody has to try; the rest is what the app knows beside them.
"""

from dataclasses import dataclass
from enum import Enum, auto

from gui.session.found_engine import Holder
from gui.texts import mark, tr
from rig.engine import (
    TORQUE_STATES,
    Abandon,
    Compiling,
    Connect,
    Disconnect,
    Engage,
    Follow,
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
from rig.states import State


class Phase(Enum):
    """Whether there is an engine."""

    DOWN = auto()
    STARTING = auto()
    UP = auto()
    ENDING = auto()
    DIED = auto()


class Action(Enum):
    """What the operator can ask for; the value is its name for a person, in English."""

    CONNECT = mark("Connect")
    HOME = mark("Home")
    ENGAGE = mark("Engage")
    PARK = mark("Park")
    RESET = mark("Reset")
    DISCONNECT = mark("Disconnect")
    MOVE = mark("Move")
    PAUSE = mark("Pause")
    RESUME = mark("Resume")
    ABANDON = mark("Abandon")
    SPEED = mark("Speed")
    HOLD = mark("Hold here")
    INJECT = mark("Inject")
    REPORT = mark("Report")


@dataclass(frozen=True, slots=True)
class Situation:
    """All that the rules look at."""

    phase: Phase = Phase.DOWN
    status: Snapshot | None = None
    """the engine's latest, None as long as there is none"""
    busy: str = ""
    """request under way, in words; empty when there is none"""
    moving: bool = False
    """a move or a sequence of motions was asked for and has not come to its end, be it between two of them"""
    virtual: bool = True
    paced: bool = False
    """it is a virtual rig in paced time, which may wait for the processor as no machine may"""
    recording: str = ""
    """path of the present or last recording"""
    silent: bool = False
    """the engine runs, but does not answer"""
    armed: bool = False
    """the first of the two steps to Engage has been taken"""
    death: str = ""
    """what is known of an engine that died, and of what the drives did then"""
    holder: Holder | None = None
    """an engine that has the drives though the app has none"""
    compiling: Compiling | None = None
    """how far a start is that has to compile the model first"""


_COMMANDS: dict[Action, RigCommand] = {
    Action.CONNECT: Connect(),
    Action.HOME: Home(unproven=True),  # its button asks for that word where the wiring is not proven
    Action.ENGAGE: Engage(),
    Action.PARK: Park(),
    Action.RESET: Reset(),
    Action.MOVE: Follow("motion", 1.0),
    Action.PAUSE: Pause(),
    Action.RESUME: Resume(take_over=True),  # what another client began is asked about before
    Action.ABANDON: Abandon(),
    Action.SPEED: Pace(1.0),
}
"""What the engine is asked for, whatever it then is called or looks like."""

_NOT_STARTED = {
    Phase.DOWN: tr("connect first"),
    Phase.STARTING: tr("the engine is starting"),
    Phase.ENDING: tr("the engine is ending"),
    Phase.DIED: tr("the engine has died: restart it first"),
}


def obstacle(action: Action, now: Situation) -> str:
    """Why `action` cannot be done now, in words; empty when it can."""
    if action is Action.REPORT:
        return _report_obstacle(now)
    if action is Action.INJECT:
        return _injection_obstacle(now)
    if now.holder is not None and action in (Action.CONNECT, Action.DISCONNECT):
        return _holder_obstacle(now, now.holder)
    if action is Action.CONNECT and now.phase in (Phase.DOWN, Phase.DIED):
        return ""
    if now.phase is not Phase.UP:
        return tr("an engine has the drives: take it over first") if now.holder else _NOT_STARTED[now.phase]
    if now.status is None:
        return tr("the engine has not answered yet")
    if action is Action.HOLD and (now.moving or now.status.state is State.RUNNING):
        return ""  # a stop waits for nothing
    if now.silent and action is not Action.DISCONNECT:  # which ends an engine that does not hear as well
        return tr("the engine does not answer")
    if action is Action.PAUSE and _at_a_seam(now, now.status):
        return ""
    if now.busy:
        return tr("{request} is under way").format(request=tr(now.busy))
    if action is Action.HOLD:
        return tr("no motion is running")
    command = ending(now.status)[0] if action is Action.DISCONNECT else _COMMANDS[action]
    found = engine_obstacle(command, now.status)
    return "" if found is None or found.passing else found.text


def ending(status: Snapshot) -> list[RigCommand]:
    """What the engine is told, one after the other, when it is to leave the drives and to end."""
    return [Disconnect(), Shutdown()] if status.state in (State.IDLE, State.PARKED) else [Shutdown()]


def _at_a_seam(now: Situation, status: Snapshot) -> bool:
    """Whether the next motion of a sequence is on its way to the engine."""
    waiting = not now.busy or now.busy.startswith("follow ")
    return now.moving and waiting and status.state in (State.ENGAGED, State.RUNNING) and not status.paused


def _holder_obstacle(now: Situation, holder: Holder) -> str:
    """Why the engine that was found can be neither taken over nor ended."""
    if now.busy:
        return tr("{request} is under way").format(request=tr(now.busy))
    if holder.status is None:
        return tr("it does not answer; `kill -9 {pid}` ends it, and nobody commands the drives then").format(
            pid=holder.pid
        )
    return tr("{lease!r} commands it").format(lease=holder.status.lease) if holder.status.lease else ""


def _injection_obstacle(now: Situation) -> str:
    if not now.virtual:
        return tr("faults can be injected into a virtual rig only")
    return "" if now.phase in (Phase.UP, Phase.DIED) else tr("the virtual rig is not running: connect first")


def _report_obstacle(now: Situation) -> str:
    if not now.recording:
        return tr("nothing has been recorded yet")
    return heavy_work_obstacle(now)


_MENDS = (
    (mark("reset first"), Action.RESET),
    (mark("disconnect, connect and home"), Action.DISCONNECT),
    (mark("restart it first"), Action.CONNECT),
    (mark("take it over first"), Action.CONNECT),
    (mark("disconnect first"), Action.DISCONNECT),  # before that which is the end of it
    (mark("connect first"), Action.CONNECT),
    (mark("the engine is not running"), Action.CONNECT),
    (mark("park first"), Action.PARK),
    (mark("park or stop first"), Action.PARK),
    (mark("pause it first"), Action.PAUSE),
)
"""What a refusal asks for in so many words, and the action that is meant; nothing that brings torque is among it."""


def remedy_action(reason: str) -> Action | None:
    """The action that a refusal asks for; None where it asks for none, or for one that brings torque."""
    return next((action for phrase, action in _MENDS if phrase in reason or tr(phrase) in reason), None)


def remedy_applied(action: Action, now: Situation) -> bool:
    """Whether what a refusal asked for, see `remedy_action`, has come about, be it by another way."""
    state = State.OFF if now.status is None or now.phase is not Phase.UP else now.status.state
    return {
        Action.RESET: state is not State.FAULT,
        Action.CONNECT: state is not State.OFF,
        Action.DISCONNECT: state is State.OFF,
        Action.PARK: state not in TORQUE_STATES,
        Action.PAUSE: state is not State.RUNNING,
    }[action]


def heavy_work_obstacle(now: Situation) -> str:
    """Why nothing that keeps the processor busy for long can be begun now, in words; empty when it can."""
    if now.paced:
        return ""
    if now.phase is Phase.UP and now.status is not None and now.status.state in TORQUE_STATES:
        return tr("while the drives have torque the processor belongs to the engine: park or stop first")
    return ""
