"""The guards: what stands against a command, judged by a snapshot alone; the same for engine, app and console."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rig.engine.messages import (
    Abandon,
    Connect,
    Disconnect,
    Engage,
    Follow,
    Home,
    MoveLeg,
    Pace,
    Park,
    Pause,
    Reset,
    Resume,
    RigCommand,
    Shutdown,
    Stop,
)
from rig.engine.snapshot import Snapshot
from rig.engine.tare import describe_shift
from rig.engine.wiring import PROVE
from rig.safety import TORQUE_STATES, name_legs
from rig.states import State

_CUT_OFF = "press the emergency stop or cut the drive's supply, then ask again"
_TARE_TIME = 0.2  # s at rest before the cells' zero can be judged


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a command cannot be carried out now."""

    text: str
    passing: bool = False
    """it goes by itself within a few cycles, for which the engine waits before it refuses: a late reply"""


Guard = Callable[[Snapshot], Obstacle | None]


def obstacle(command: RigCommand, snapshot: Snapshot) -> Obstacle | None:
    """What stands against `command` in the situation of `snapshot`; None where nothing does.

    Whether a motion itself is allowed, and starts where the platform is, is for the check of motions to say.
    """
    state = snapshot.state
    if state not in STATES_OF[type(command)]:
        return Obstacle(_elsewhere(command, snapshot))
    for guard in _GUARDS.get(type(command), ()):
        word = _LIFTED_BY.get(guard)
        if word is not None and getattr(command, word):
            continue
        found = guard(snapshot)
        if found is not None:
            return found
    return None


def missing_feedback(command: RigCommand, snapshot: Snapshot) -> Obstacle | None:
    """What feedback `command` lacks that it needs."""
    guards = _GUARDS.get(type(command), ())
    found = (guard(snapshot) for guard in (_fresh, _cells_fresh) if guard in guards)
    return next((one for one in found if one is not None), None)


# -- states ----------------------------------------------------------------------------------------------------------

STATES_OF: dict[type[RigCommand], frozenset[State]] = {
    Connect: frozenset({State.OFF}),
    Disconnect: frozenset({State.IDLE, State.PARKED}),
    Home: frozenset({State.IDLE}),
    MoveLeg: frozenset({State.IDLE}),
    Engage: frozenset({State.PARKED}),
    Follow: frozenset({State.ENGAGED}),
    Pause: frozenset({State.RUNNING}),
    Resume: frozenset({State.ENGAGED, State.RUNNING}),
    Abandon: frozenset({State.ENGAGED}),
    Pace: frozenset(State),
    Park: frozenset({State.ENGAGED}),
    Stop: frozenset(State),
    Reset: frozenset({State.FAULT}),
    Shutdown: frozenset(State) - TORQUE_STATES,
}
"""The states in which each command is allowed."""

_NEXT = {
    State.OFF: "connect first",
    State.IDLE: "home first",
    State.HOMING: "wait until homing is done",
    State.PARKED: "engage first",
    State.ENGAGING: "wait until the drives have torque",
    State.ENGAGED: "park first",
    State.RUNNING: "a motion is running",
    State.PARKING: "wait until the platform is parked",
    State.STOPPING: "wait until the stop is done",
    State.FAULT: "a fault is latched: reset first",
    State.SINGLE_LEG: "wait until the leg is tested",
}
"""What is to be done, or waited for, in a state that does not allow something."""


def _elsewhere(command: RigCommand, snapshot: Snapshot) -> str:
    """Why the state does not allow a command, and what is to be done about it."""
    state = snapshot.state
    if snapshot.held_for_fault:
        return "held for a fault: press STOP, then reset"
    if state is State.FAULT:
        return _NEXT[state]
    match command:
        case Connect():
            return "the drives are connected"
        case Reset():
            return "there is no fault to reset"
        case Home() if state is State.PARKED:
            return "homed; disconnect to home again"
        case Pause():
            return "no motion is running"
        case Abandon() if state is State.RUNNING:
            return f"{snapshot.motion!r} is running: pause it first"
        case Resume() | Abandon():
            return "nothing is paused"
        case Engage() if state in (State.ENGAGED, State.RUNNING):
            return "the drives have torque already"
        case Park() if state is State.PARKED:
            return "engage first" if snapshot.away else "the platform is parked"
        case Park() if state in (State.OFF, State.IDLE):
            return "the drives have no torque"
        case Disconnect() if state is State.OFF:
            return "the drives are not connected"
    return _NEXT[state]


# -- guards ----------------------------------------------------------------------------------------------------------


def _fresh(snapshot: Snapshot) -> Obstacle | None:
    if snapshot.silent:
        return Obstacle(f"no fresh feedback of leg {', '.join(map(str, snapshot.silent))}", passing=True)
    return None


def _recorded(snapshot: Snapshot) -> Obstacle | None:
    return Obstacle(f"nothing is being recorded: {snapshot.recording_fault}") if snapshot.recording_fault else None


def _torque_off(snapshot: Snapshot) -> Obstacle | None:
    return Obstacle(f"{name_legs(snapshot.torque)}: the drive still has torque") if snapshot.torque else None


def _torque_goes(snapshot: Snapshot) -> Obstacle | None:
    """A drive at rest that still reports torque was told, or is about to be, to take it off."""
    found = _torque_off(snapshot)
    return None if found is None else Obstacle(f"{found.text}; {_CUT_OFF}", passing=True)


def _torque_gone(snapshot: Snapshot) -> Obstacle | None:
    """Nobody supervises or records a drive any more afterwards."""
    if not snapshot.powered:
        return None
    text = f"{name_legs(snapshot.powered)}: the drive still has torque, and would be neither supervised nor recorded"
    return Obstacle(f"{text}; {_CUT_OFF}", passing=True)


def _proven(snapshot: Snapshot) -> Obstacle | None:
    """Homing is the first motion of all six legs: each must have been seen to be the one that it is wired as."""
    return None if snapshot.unproven is None else Obstacle(f"{snapshot.unproven.text}; {PROVE}")


def _stable(snapshot: Snapshot) -> Obstacle | None:
    return Obstacle(snapshot.loop) if snapshot.loop else None


def _homed(snapshot: Snapshot) -> Obstacle | None:
    if not snapshot.homed:
        return Obstacle("the platform is not homed any more: disconnect, connect and home")
    return None if snapshot.pose_known else Obstacle("the measured pose is not known: disconnect, connect and home")


def _cells_fresh(snapshot: Snapshot) -> Obstacle | None:
    if snapshot.cells_silence is not None:
        return Obstacle(f"no fresh reading of the load cells{snapshot.cells_silence}", passing=True)
    return None


def _cells_alive(snapshot: Snapshot) -> Obstacle | None:
    if snapshot.dead_cells:
        return Obstacle("; ".join(snapshot.dead_cells))
    return None


def _tared(snapshot: Snapshot) -> Obstacle | None:
    if snapshot.settled < _TARE_TIME:
        return Obstacle(f"the load cells' zero is not judged yet, {_TARE_TIME:g} s at rest are needed")
    model, residual = np.array(snapshot.force_model), np.array(snapshot.tare_residual)
    reason = describe_shift(model, residual, snapshot.tare_bound)
    return Obstacle(reason) if reason else None


def _nothing_paused(snapshot: Snapshot) -> Obstacle | None:
    if snapshot.paused:
        return Obstacle(f"{snapshot.motion!r} is paused: resume it, abandon it, or park")
    return None


def _paused(snapshot: Snapshot) -> Obstacle | None:
    stands = snapshot.slowing if snapshot.state is State.RUNNING else snapshot.paused
    return None if stands else Obstacle("nothing is paused")


def _own_lease(snapshot: Snapshot) -> Obstacle | None:
    """A motion goes on under the lease that it was begun under, or by the word of whoever takes it over."""
    if not snapshot.begun_by:
        return None
    begun = f"{snapshot.motion!r} was begun by {snapshot.begun_by!r} under a command lease that has ended"
    return Obstacle(f"{begun}: take it over to go on with it, abandon it, or park")


def _no_reset_under_way(snapshot: Snapshot) -> Obstacle | None:
    return Obstacle("a reset is under way") if snapshot.clearing else None


_GUARDS: dict[type[RigCommand], tuple[Guard, ...]] = {
    Disconnect: (_torque_goes,),
    Home: (_proven, _fresh, _recorded, _cells_fresh, _cells_alive, _torque_off),
    MoveLeg: (_fresh, _recorded, _torque_off),
    Engage: (_homed, _stable, _fresh, _recorded, _cells_fresh, _cells_alive, _tared, _torque_off),
    Follow: (_recorded, _nothing_paused, _fresh),
    Resume: (_paused, _fresh, _recorded, _own_lease),
    Abandon: (_paused,),
    Reset: (_no_reset_under_way,),
    Shutdown: (_torque_gone,),
}
"""What a command needs beside its state, in the order in which it is said."""

_LIFTED_BY: dict[Guard, str] = {_proven: "unproven", _own_lease: "take_over"}
"""Guards that a field of the command lifts: the operator's word."""
