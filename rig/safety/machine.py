"""The rig's state machine: transitions, severity of stops, and the latched cause.

It is independent of drives and motion. Each cycle it gets the `Conditions` and gives the state; causes of stops are
passed to `trip`, operators' requests to `enter` and `reset`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rig.findings import Code, Finding, Value
from rig.states import FaultCode, State, StopSeverity

DRIVE_STATES = frozenset({State.HOMING, State.SINGLE_LEG})
"""States in which the drives close the loop, leg by leg."""
TORQUE_STATES = DRIVE_STATES | {State.ENGAGING, State.ENGAGED, State.RUNNING, State.PARKING, State.STOPPING}
"""States in which a drive may carry torque."""
LAW_STATES = TORQUE_STATES - {State.HOMING}
"""States in which a control law commands the drives, apart from stops."""
LEGS = range(1, 7)
# Looked up once: a member that is looked up in its class takes 50 ns.
_STOPPING, _HOMING, _ENGAGING, _RUNNING, _PARKING = (
    State.STOPPING, State.HOMING, State.ENGAGING, State.RUNNING, State.PARKING,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cause:
    """Cause of a stop; the first one is latched until reset."""

    finding: Finding
    t: float = 0.0
    """s, rig time"""

    @property
    def code(self) -> FaultCode:
        """The kind of fault."""
        return self.finding.fault

    @property
    def leg(self) -> int:
        """1…6, or 0 for the whole rig."""
        return self.finding.root.leg

    @property
    def text(self) -> str:
        """Text of the finding."""
        return self.finding.text


def at_legs(code: Code, legs: Sequence[int], **details: float | str) -> Finding:
    """A finding at some legs (1…6); with one leg it belongs to that."""
    bound = details.pop("bound", None)
    named: dict[str, Value] = {**details, "legs": list(legs)}
    return Finding(code, legs[0] if len(legs) == 1 else 0, bound=None if bound is None else float(bound), details=named)


class Conditions(NamedTuple):
    """Inputs of the state machine in a cycle."""

    t: float
    """s, rig time"""
    torque: Sequence[int]
    """legs (1…6) whose drive reports torque"""
    standstill: bool
    """every leg is at rest, by trustworthy feedback"""
    moving: bool
    """the reference is still moving"""
    missing: Sequence[int] = ()
    """legs, 1…6, that are homing"""
    unsought: Sequence[int] = ()
    """those of them that report a reference, but were not seen to search it"""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Largest durations of transitional states, s."""

    homing: float
    stop: float
    enable: float = 0.3
    """until a commanded drive has torque"""
    engage: float = 2.0
    """until the platform is at rest under torque"""
    settle: float = 0.2
    """time at rest before a state counts as reached"""
    torque_off: float = 0.5
    """until a drive reports its commanded torque off"""
    brake: float = 0.0
    """for which the brakes close under torque, before it is switched off at rest"""


class StateMachine:
    """States, stop categories and the first cause (see the safety page of the documentation for the table)."""

    def __init__(self, deadlines: Deadlines) -> None:
        self.deadlines = deadlines
        self.state = State.OFF
        self.stop = StopSeverity.NONE
        self.cause: Cause | None = None
        self.latched = False
        self.homed = False
        self.stops = 0
        """number of requested stops while connected, with or without anything to stop"""
        self._entered = 0.0
        self._stop_since = 0.0
        self._rest_since: float | None = None
        self._closing_since: float | None = None

    @property
    def torque_allowed(self) -> bool:
        """Whether the drives may have torque."""
        return self.state in TORQUE_STATES and self.stop is not StopSeverity.CATEGORY_0

    @property
    def closing(self) -> bool:
        """Whether the brakes are to close, as the torque is about to be switched off at rest."""
        return self._closing_since is not None

    # -- what an operator asks for; the guards are the engine's ------------------------------------------------------

    def enter(self, state: State, t: float) -> None:
        """Enter `state` at rig time `t`; entering anything but STOPPING or FAULT ends a stop."""
        self.state = state
        self._entered = t
        self._rest_since = self._closing_since = None
        if state not in (State.STOPPING, State.FAULT):
            self.stop = StopSeverity.NONE
            if not self.latched:
                self.cause = None

    def reset(self, t: float) -> None:
        """Reset: drop the latched cause; the rig is IDLE, without torque."""
        self.latched = False
        self.cause = None
        self.enter(State.IDLE, t)

    # -- stops -------------------------------------------------------------------------------------------------------

    def trip(self, cause: Cause, category: StopSeverity, *, latch: bool = True) -> bool:
        """Stop for `cause` with at least `category`; True when this changed anything.

        The severity only rises until standstill; the first latched cause stays. Without torque a latched cause leads to
        FAULT at once, and a stop that does not latch has no effect.
        """
        if self.state is State.OFF:
            return False
        self.stops += 1
        if latch and not self.latched:
            self.cause, self.latched = cause, True
            changed = True
        else:
            changed = False
        if self.state not in TORQUE_STATES:
            if changed and self.state is not State.FAULT:
                self.enter(State.FAULT, cause.t)
            return changed
        if self.state in DRIVE_STATES and category is not StopSeverity.CATEGORY_0:
            category = StopSeverity.QUICK_STOP  # the drives close the loop, leg by leg: only they can decelerate
        elif self.state is State.ENGAGING and category is StopSeverity.CATEGORY_2:
            category = StopSeverity.CATEGORY_1  # a drive that has no torque yet holds nothing
        if self.cause is None:
            self.cause = cause
        if category > self.stop:
            self._raise(category, cause.t)
            changed = True
        return changed

    def _raise(self, category: StopSeverity, t: float) -> None:
        self.stop = category
        self._stop_since = t
        if self.state is not State.STOPPING:
            self.state = State.STOPPING
            self._entered = t
        self._rest_since = self._closing_since = None

    # -- the passing of time -----------------------------------------------------------------------------------------

    def update(self, now: Conditions) -> Cause | None:
        """Update the transitional states; returns a cause for the caller to trip with."""
        if self.state is _STOPPING:
            return self._update_stopping(now)
        if self.state is _HOMING and now.t - self._entered > self.deadlines.homing:
            return self._homing_overdue(now)
        if self.state is _ENGAGING:
            if len(now.torque) == len(LEGS) and self._settled(now):
                self.enter(State.ENGAGED, now.t)
            elif now.t - self._entered > self.deadlines.engage + self.deadlines.settle:
                return Cause(Finding(Code.NOT_AT_REST, bound=self.deadlines.engage), now.t)
        elif self.state is _RUNNING and not now.moving:
            self.enter(State.ENGAGED, now.t)
        elif self.state is _PARKING:
            at_rest = self.closing or (not now.moving and self._settled(now))
            if at_rest and self._closed(now.t):
                self.enter(State.PARKED, now.t)
        return None

    def _update_stopping(self, now: Conditions) -> Cause | None:
        late = now.t - self._stop_since
        if self.stop is StopSeverity.CATEGORY_2:
            if not now.moving and now.standstill:
                self._stop_since = math.inf  # done: from here on it holds, and cannot be late any more
                if not self.latched:
                    self.enter(State.ENGAGED, now.t)
            elif late > self.deadlines.stop:
                return Cause(Finding(Code.STOP_2_OVERDUE, bound=self.deadlines.stop), now.t)
            return None
        if self.stop is StopSeverity.CATEGORY_1:
            if self.closing or (not now.moving and now.standstill):
                if self._closed(now.t):
                    self._torque_off(now.t)
            elif late > self.deadlines.stop:
                return Cause(Finding(Code.STOP_1_OVERDUE, bound=self.deadlines.stop), now.t)
            return None
        if self.stop is StopSeverity.QUICK_STOP:
            if not now.torque and self._settled(now):
                self._torque_off(now.t)
            elif late > self.deadlines.stop:
                return Cause(Finding(Code.QUICK_STOP_OVERDUE, bound=self.deadlines.stop), now.t)
            return None
        if now.torque and not self.latched and late > self.deadlines.torque_off:
            return Cause(at_legs(Code.TORQUE_OFF_OVERDUE, now.torque, bound=self.deadlines.torque_off), now.t)
        if not now.torque or late > self.deadlines.torque_off:
            self._torque_off(now.t)
        return None

    def _homing_overdue(self, now: Conditions) -> Cause:
        leg = now.missing[0] if len(now.missing) == 1 else 0
        bound = self.deadlines.homing
        details: dict[str, Value] = {"legs": list(now.missing), "unsought": ", ".join(map(str, now.unsought))}
        return Cause(Finding(Code.HOMING_OVERDUE, leg, bound=bound, details=details), now.t)

    def _torque_off(self, t: float) -> None:
        if self.latched:
            self.enter(State.FAULT, t)
        else:
            self.enter(State.PARKED if self.homed else State.IDLE, t)

    def _closed(self, t: float) -> bool:
        """Whether the brakes have had their time to close since the first call at this rest."""
        if not self.deadlines.brake:
            return True
        if self._closing_since is None:
            self._closing_since = t
        return t - self._closing_since >= self.deadlines.brake

    def _settled(self, now: Conditions) -> bool:
        if not now.standstill:
            self._rest_since = None
            return False
        if self._rest_since is None:
            self._rest_since = now.t
        return now.t - self._rest_since >= self.deadlines.settle

    def dwell(self, t: float) -> float:
        """Duration of the present state, s."""
        return t - self._entered
