"""In which order motions are sent: to the start, a rest there, the motion, its repeats, and what a pause does to them.

A `MotionSequence` sends and waits for nothing itself. Whoever drives it, an operation in the foreground or the app by
its signals, sends the orders that it gives, tells it how they were answered, and shows it every status from then on.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kinematics import Array, MotionTable
from rig.client.motions import approach, ends
from rig.config import RigConfig
from rig.engine import Follow, Pause, Snapshot, Stop
from rig.states import MotionKind, State

REST = 0.5
"""s at the start of a motion, so that the platform stands still when it begins"""


@dataclass(frozen=True, slots=True)
class Stage:
    """One motion to be followed, or the rest before it."""

    name: str
    """empty for the rest"""
    duration: float
    """s"""
    table: MotionTable | None = None
    """None also for a motion that has begun already"""
    purpose: MotionKind = MotionKind.RUN
    number: int = 0
    """which repeat of the motion it is, from 1; 0 for what brings the platform to its start"""
    slowing: float | None = None
    """of one that goes on only as long as it is held, see `Follow`"""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be sent."""

    what: str
    command: Follow | Pause | Stop
    samples: Array | None = None


PAUSE = Order("pause", Pause())
HOLD = Order("hold", Stop(2))


def stages_of_run(config: RigConfig, here: Array, name: str, table: MotionTable, repeats: int = 1) -> list[Stage]:
    """From the pose `here` (7,) to the start of a motion, a rest there, then the motion `repeats` times.

    Raises:
        RefusedError: the way to the start, or back to it, is outside the limits.
    """
    start, end = ends(table)
    stages = _way(config, here, start, "move to the start")
    if stages:
        stages.append(Stage("", REST))
    back = _way(config, end, start, "back to the start") if repeats > 1 else []
    for number in range(1, repeats + 1):
        stages += [*(back if number > 1 else []), Stage(name, table.duration, table, MotionKind.RUN, number)]
    return stages


def _way(config: RigConfig, here: Array, there: Array, name: str) -> list[Stage]:
    table = approach(config, here, there)
    return [] if table is None else [Stage(name, table.duration, table, MotionKind.APPROACH)]


class MotionSequence:
    """What is still to be done of a move, or of a motion with its repeats.

    Args:
        name: of it all, for a person.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.stage: Stage | None = None
        """the present one"""
        self.repeats = 0
        """how many times the motion is followed in all"""
        self.followed = 0
        """how many times it was"""
        self.over = False
        self.reason = ""
        """once it is over: why it did not go to its end, empty where it did"""
        self.pausing = False
        """a pause was asked for"""
        self._left: list[Stage] = []
        self._whole = 0.0  # s, of all stages at full speed
        self._accepted = False
        self._doubted = False
        self._resumed = -math.inf
        self._rests_until = 0.0

    def begin(self, stages: Sequence[Stage]) -> Order | None:
        """Take up the stages; what to send first."""
        if self.over:
            return None
        if self.pausing:
            return self._ended("paused before it began")
        self._left = list(stages)
        self._whole = sum(stage.duration for stage in stages)
        self.repeats = max((stage.number for stage in stages), default=0)
        return self._next()

    def under_way(self, stage: Stage) -> None:
        """Take up a stage that the engine follows already."""
        self.stage, self._accepted, self.repeats, self._whole = stage, True, stage.number, stage.duration

    def answered(self, reason: str = "") -> Order | None:
        """The motion that was sent was accepted, or refused for a `reason`; what to send now.

        One that was accepted after all was over is to be held: it was on its way while it was to be stopped.
        """
        if self.over:
            return None if reason else HOLD
        if reason:
            return self._ended(reason)
        self._accepted = True
        return PAUSE if self.pausing else None

    def take(self, status: Snapshot) -> Order | None:
        """Look at a status that was asked for after the last answer; what to send now."""
        stage = self.stage
        if self.over or stage is None:
            return None
        if not stage.name:
            return self._rest(status)
        if not self._accepted or self._doubted or status.state is State.RUNNING or status.paused:
            return None
        if status.state is not State.ENGAGED:
            return self._ended(_cause(status))
        if self.pausing and self._left:
            return self._ended(f"{stage.name!r} came to its end before it could pause")
        self.followed = max(self.followed, stage.number)
        order = self._next()
        self._rests_until = status.t + REST
        return order

    def left(self, status: Snapshot) -> float | None:
        """s until all of it is done at the present speed, the way to the start, rests and repeats among it.

        None of what has no end of its own.
        """
        if self.stage is None:
            return None
        ahead = sum(_lasts(stage, status.pace) for stage in self._left)
        return _finite(ahead + self._left_of_stage(status, status.pace))

    def fraction(self, status: Snapshot) -> float:
        """Part of all of it that is done, 0 to 1."""
        ahead = sum(stage.duration for stage in self._left) + self._left_of_stage(status, 1.0)
        return min(1.0, max(0.0, 1.0 - ahead / self._whole)) if 0.0 < self._whole < math.inf else 0.0

    def _left_of_stage(self, status: Snapshot, pace: float) -> float:
        stage = self.stage
        if stage is None or self.over:
            return 0.0
        if not stage.name:
            return max(0.0, self._rests_until - status.t)
        whole = _lasts(stage, pace)
        moving = self._accepted and (status.state is State.RUNNING or status.paused)
        return whole * max(0.0, 1.0 - status.path_time / max(status.path_duration, 1e-9)) if moving else whole

    def pause(self) -> Order | None:
        """Slow down and stand; a motion that comes to its end before is not followed by another.

        Nothing is to be sent yet where a motion is on its way to the engine: it is paused as soon as it has begun.
        """
        self.pausing = True
        return PAUSE if self._accepted or self.over else None

    def resume(self, t: float = -math.inf) -> None:
        """The motion goes on; at rig time `t`, s, it does so already."""
        self.pausing, self._resumed = False, t

    def paused(self, status: Snapshot) -> bool:
        """Whether a status shows the motion in a pause that was asked for, be it one that has come to its end since."""
        return status.paused and not self.over and (self.pausing or status.t < self._resumed)

    def doubt(self, accepted: bool) -> None:
        """Whether the present motion is the engine's: not while it is asked to forget it."""
        self._doubted = not accepted

    def end(self, reason: str) -> None:
        """Nothing further is sent."""
        if not self.over:
            self.over, self.reason = True, reason
            self._left = []

    def _ended(self, reason: str) -> Order | None:
        self.end(reason)
        return None

    def _next(self) -> Order | None:
        self._accepted = False
        if not self._left:
            return self._ended("")
        self.stage = stage = self._left.pop(0)
        table = stage.table
        if table is None:
            return None
        command = Follow(stage.name, table.step, stage.purpose, table.amplitude, stage.slowing, table.thresholds)
        return Order(f"follow {stage.name!r}", command, table.samples)

    def _rest(self, status: Snapshot) -> Order | None:
        if status.state is not State.ENGAGED:
            return self._ended(_cause(status))
        if self.pausing:
            return self._ended("paused before it began")
        return self._next() if status.t >= self._rests_until else None


def _cause(status: Snapshot) -> str:
    return status.cause_text or f"the rig is in state {status.state.name}"


def _lasts(stage: Stage, pace: float) -> float:
    """s that a stage takes; only runs are followed slower."""
    return stage.duration / pace if stage.purpose == MotionKind.RUN and stage.name else stage.duration


def _finite(time: float) -> float | None:
    return time if time < math.inf else None
