"""The guards: obstacles to a command, judged by a snapshot only; the same for engine, app and console."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rig.engine.messages import (
    Abandon,
    Connect,
    Disconnect,
    Engage,
    Follow,
    FollowSource,
    FollowStream,
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
from rig.engine.tare import zero_shift
from rig.findings import Code, Finding, Value
from rig.safety import TORQUE_STATES, at_legs
from rig.states import State

_TARE_TIME = 0.2  # s at rest before the cells' zero can be judged


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a command cannot be carried out now."""

    finding: Finding
    passing: bool = False
    """it passes within a few cycles, as a late reply does; the engine waits before it refuses"""

    @property
    def text(self) -> str:
        """Why, in words."""
        return self.finding.text


Guard = Callable[[Snapshot], Obstacle | None]


def obstacle(command: RigCommand, snapshot: Snapshot) -> Obstacle | None:
    """The obstacle to `command` in the situation of `snapshot`, or None.

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
    FollowSource: frozenset({State.ENGAGED}),
    FollowStream: frozenset({State.ENGAGED}),
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
    State.OFF: Code.CONNECT_FIRST,
    State.IDLE: Code.HOME_FIRST,
    State.HOMING: Code.WAIT_FOR_HOMING,
    State.PARKED: Code.ENGAGE_FIRST,
    State.ENGAGING: Code.WAIT_FOR_TORQUE,
    State.ENGAGED: Code.PARK_FIRST,
    State.RUNNING: Code.MOTION_RUNNING,
    State.PARKING: Code.WAIT_FOR_PARKING,
    State.STOPPING: Code.WAIT_FOR_STOP,
    State.FAULT: Code.FAULT_LATCHED,
    State.SINGLE_LEG: Code.WAIT_FOR_LEG_TEST,
}
"""Remedies by state, for commands that a state does not allow."""


def _elsewhere(command: RigCommand, snapshot: Snapshot) -> Finding:
    """Why the state does not allow a command, and the remedy."""
    if isinstance(command, Abandon) and snapshot.state is State.RUNNING:
        return Finding(Code.PAUSE_FIRST, details={"motion": snapshot.motion})
    return Finding(_code_elsewhere(command, snapshot))


def _code_elsewhere(command: RigCommand, snapshot: Snapshot) -> Code:
    state = snapshot.state
    if snapshot.held_for_fault:
        return Code.HELD_FOR_FAULT
    if state is State.FAULT:
        return _NEXT[state]
    match command:
        case Connect():
            return Code.ALREADY_CONNECTED
        case Reset():
            return Code.NO_FAULT
        case Home() if state is State.PARKED:
            return Code.ALREADY_HOMED
        case Pause():
            return Code.NO_MOTION
        case Resume() | Abandon():
            return Code.NOTHING_PAUSED
        case Engage() if state in (State.ENGAGED, State.RUNNING):
            return Code.ALREADY_ENGAGED
        case Park() if state is State.PARKED:
            return Code.ENGAGE_FIRST if snapshot.away else Code.ALREADY_PARKED
        case Park() if state in (State.OFF, State.IDLE):
            return Code.NO_TORQUE_TO_PARK
        case Disconnect() if state is State.OFF:
            return Code.NOT_CONNECTED
    return _NEXT[state]


# -- guards ----------------------------------------------------------------------------------------------------------


def _fresh(snapshot: Snapshot) -> Obstacle | None:
    if snapshot.silent:
        listed = ", ".join(map(str, snapshot.silent))
        return Obstacle(Finding(Code.LEGS_SILENT, details={"legs_listed": listed}), passing=True)
    return None


def _circuits_closed(snapshot: Snapshot) -> Obstacle | None:
    if snapshot.io is None or not snapshot.io.obstacles:
        return None
    found = snapshot.io.obstacles[0]
    return Obstacle(found, passing=found.code is Code.IO_UNKNOWN)


def _recorded(snapshot: Snapshot) -> Obstacle | None:
    fault = snapshot.recording_fault
    return Obstacle(Finding(Code.NOT_RECORDED, details={"text": fault})) if fault else None


def _torque_off(snapshot: Snapshot) -> Obstacle | None:
    return Obstacle(at_legs(Code.TORQUE_STILL_ON, snapshot.torque)) if snapshot.torque else None


def _torque_goes(snapshot: Snapshot) -> Obstacle | None:
    """A drive at rest that still reports torque was told, or is about to be, to take it off."""
    return Obstacle(at_legs(Code.TORQUE_STAYS_ON, snapshot.torque), passing=True) if snapshot.torque else None


def _torque_gone(snapshot: Snapshot) -> Obstacle | None:
    """Nobody supervises or records a drive any more afterwards."""
    if not snapshot.powered:
        return None
    return Obstacle(at_legs(Code.TORQUE_UNSUPERVISED, snapshot.powered), passing=True)


def _proven(snapshot: Snapshot) -> Obstacle | None:
    """Homing is the first motion of all six legs: each must have been seen to be the one that it is wired as."""
    lacking = snapshot.unproven
    return None if lacking is None else Obstacle(Finding(Code.PROVE_WIRING, within=(lacking.finding,)))


def _carried(snapshot: Snapshot) -> Obstacle | None:
    """On a line that does not carry the rate feedback would be missing, and the fault would not say why."""
    return Obstacle(Finding(Code.LOOP_REFUSED, details={"text": snapshot.lines})) if snapshot.lines else None


def _stable(snapshot: Snapshot) -> Obstacle | None:
    return Obstacle(Finding(Code.LOOP_REFUSED, details={"text": snapshot.loop})) if snapshot.loop else None


def _homed(snapshot: Snapshot) -> Obstacle | None:
    if not snapshot.homed:
        return Obstacle(Finding(Code.NOT_HOMED))
    return None if snapshot.pose_known else Obstacle(Finding(Code.POSE_UNKNOWN))


def _cells_fresh(snapshot: Snapshot) -> Obstacle | None:
    if snapshot.cells_silence is not None:
        return Obstacle(Finding(Code.CELLS_SILENT, details={"silence": snapshot.cells_silence}), passing=True)
    return None


def _cells_alive(snapshot: Snapshot) -> Obstacle | None:
    if snapshot.dead_cells:
        return Obstacle(Finding(Code.CELLS_DEAD, within=snapshot.dead_cells))
    return None


def _tared(snapshot: Snapshot) -> Obstacle | None:
    if snapshot.settled < _TARE_TIME:
        return Obstacle(Finding(Code.ZERO_NOT_JUDGED, bound=_TARE_TIME))
    model, residual = np.array(snapshot.force_model), np.array(snapshot.tare_residual)
    found = zero_shift(model, residual, snapshot.tare_bound)
    return None if found is None else Obstacle(found)


def _nothing_paused(snapshot: Snapshot) -> Obstacle | None:
    if snapshot.paused:
        return Obstacle(Finding(Code.MOTION_PAUSED, details={"motion": snapshot.motion}))
    return None


def _paused(snapshot: Snapshot) -> Obstacle | None:
    paused = snapshot.slowing if snapshot.state is State.RUNNING else snapshot.paused
    return None if paused else Obstacle(Finding(Code.NOTHING_PAUSED))


def _own_lease(snapshot: Snapshot) -> Obstacle | None:
    """A motion goes on under the lease that it was begun under, or by the word of whoever takes it over."""
    if not snapshot.begun_by:
        return None
    details: dict[str, Value] = {"motion": snapshot.motion, "client": snapshot.begun_by}
    return Obstacle(Finding(Code.BEGUN_BY_ANOTHER, details=details))


def _no_reset_under_way(snapshot: Snapshot) -> Obstacle | None:
    return Obstacle(Finding(Code.RESET_UNDER_WAY)) if snapshot.clearing else None


_GUARDS: dict[type[RigCommand], tuple[Guard, ...]] = {
    Disconnect: (_torque_goes,),
    Home: (_circuits_closed, _proven, _carried, _fresh, _recorded, _cells_fresh, _cells_alive, _torque_off),
    MoveLeg: (_circuits_closed, _carried, _fresh, _recorded, _torque_off),
    Engage: (_circuits_closed, _homed, _stable, _fresh, _recorded, _cells_fresh, _cells_alive, _tared, _torque_off),
    Follow: (_recorded, _nothing_paused, _fresh),
    FollowSource: (_recorded, _nothing_paused, _fresh),
    FollowStream: (_recorded, _nothing_paused, _fresh),
    Resume: (_paused, _fresh, _recorded, _own_lease),
    Abandon: (_paused,),
    Reset: (_no_reset_under_way,),
    Shutdown: (_torque_gone,),
}
"""What a command needs beside its state, in the order in which it is said."""

_LIFTED_BY: dict[Guard, str] = {_proven: "unproven", _own_lease: "take_over"}
"""Guards that a field of the command lifts: the operator's word."""
