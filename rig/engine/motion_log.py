"""The present motion; its beginning and its end are reported once each."""

import math
from collections.abc import Callable
from dataclasses import replace

from rig.engine.reference import Reference
from rig.recording import MotionRecord
from rig.safety import Cause, StateMachine
from rig.states import PATHLESS, MotionKind, MotionOutcome, State, StopSeverity

_MOVING = (State.RUNNING, State.PARKING, State.HOMING, State.SINGLE_LEG)


class MotionLog:
    """Follows the motion of an engine, in its cyclic thread.

    Args:
        machine, reference: observed parts.
        report: receives the record of a motion at its beginning and at its end.

    `latest` is the record of the present or last motion, None before the first.
    """

    def __init__(self, machine: StateMachine, reference: Reference, report: Callable[[MotionRecord], None]) -> None:
        self._machine = machine
        self._reference = reference
        self._report = report
        self._under_way = self._begun = False
        self._paused = self._slowed = False
        self._stops = 0
        self._name = ""
        self._cause: Cause | None = None
        """first cause of the stop of the present motion, or None"""
        self.latest: MotionRecord | None = None

    @property
    def id(self) -> int:
        """Id of the present motion, 0 if there is none."""
        return self.latest.id if self._under_way and self.latest is not None else 0

    @property
    def name(self) -> str:
        """Name of the last path."""
        return self._name

    def begin(
        self,
        t: float,
        name: str,
        kind: MotionKind,
        duration: float = 0.0,
        amplitude: float = 1.0,
        thresholds: str = "",
    ) -> None:
        """Begin another motion, of `duration` s, from the cycle after `t` (s) on.

        A paused motion is abandoned. Where the drives move legs there is no path, and no duration.
        """
        self.abandon(t)
        number = 1 if self.latest is None else self.latest.id + 1
        self.latest = MotionRecord(
            number, kind, MotionOutcome.UNDERWAY, t, math.nan, 0.0, duration, name, amplitude, thresholds
        )
        self._name = self._name if kind in PATHLESS else name
        self._under_way, self._begun, self._paused, self._slowed = True, False, False, False
        self._cause = None
        self._stops = self._machine.stops

    def abandon(self, t: float) -> None:
        """Drop the rest of a paused motion at `t` (s)."""
        if self._under_way:
            self._end(t, MotionOutcome.ABANDONED)

    def stopped(self, cause: Cause | None) -> None:
        """Note a stop of the rig for `cause`, which ends the motion unless it is resumed."""
        self._cause = cause

    def let_go(self, t: float) -> None:
        """Drop a hold-to-run motion that is at rest at `t` (s)."""
        if self._under_way:
            stopped = self._machine.stops != self._stops
            self._end(t, MotionOutcome.STOPPED if stopped else MotionOutcome.FINISHED)

    def follow(self, t: float) -> None:
        """Check in the cycle at `t` (s) whether a motion has begun or ended."""
        if not self._under_way:
            return
        if not self._begun and self.latest is not None:
            self._begun = True
            self.latest = replace(self.latest, start=t)
            self._report(self.latest)
        if self._reference.moving:
            self._slowed = self._reference.slowing
        if self._machine.state in _MOVING:
            self._paused, self._cause = False, None
            return
        outcome = self._outcome()
        if outcome is not None:
            self._end(t, outcome)

    def _outcome(self) -> MotionOutcome | None:
        """Outcome of the motion; None while it may continue."""
        machine, kind = self._machine, MotionKind.RUN if self.latest is None else self.latest.kind
        if machine.latched:
            return MotionOutcome.FAULT
        if kind in PATHLESS:
            reached = State.PARKED if kind == MotionKind.HOMING else State.IDLE
            stopped = machine.state is not reached or machine.stops != self._stops
            return MotionOutcome.STOPPED if stopped else MotionOutcome.FINISHED
        if machine.state is State.ENGAGED:
            self._paused = self._reference.paused
            if self._paused:
                return None
            return MotionOutcome.FINISHED if self._ended and kind != MotionKind.PARK else MotionOutcome.STOPPED
        if machine.state is State.STOPPING and machine.stop is StopSeverity.CATEGORY_2:
            return None  # held afterwards, and may be resumed
        if machine.state is State.PARKED and kind == MotionKind.PARK and self._ended and not self._paused:
            return MotionOutcome.FINISHED
        return MotionOutcome.ABANDONED if self._paused else MotionOutcome.STOPPED

    @property
    def _ended(self) -> bool:
        """Whether the path was followed to its end, or, where it has none, until it ended by itself."""
        return not self._slowed or self._reference.path_time >= self._reference.path_duration

    def _end(self, t: float, outcome: MotionOutcome) -> None:
        latest = self.latest
        if latest is not None:
            reached = self._path_time(latest, outcome)
            self.latest = replace(latest, outcome=outcome, end=max(t, latest.start), reached=reached)
            if self._cause is not None:
                cause = self._cause
                self.latest = replace(self.latest, cause_code=cause.code, cause=cause.text, finding=cause.finding)
            self._under_way = False
            self._report(self.latest)

    def _path_time(self, latest: MotionRecord, outcome: MotionOutcome) -> float:
        finished = outcome is MotionOutcome.FINISHED and math.isfinite(latest.duration)
        return latest.duration if finished else min(self._reference.path_time, latest.duration)
