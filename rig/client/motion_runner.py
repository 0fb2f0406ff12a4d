"""Motions in the foreground: their sequence, and waiting for them with progress."""

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kinematics import Array, MotionTable
from rig.client.motions import approach, ends
from rig.client.rig import Rig
from rig.config import RigConfig
from rig.engine import Compiling, Follow, Pause, Snapshot, Stop
from rig.errors import RefusedError, RunFaultError
from rig.findings import Code, Finding, Value, stop_cause
from rig.states import MotionKind, State

REST = 0.5
"""s of rest at the start of a motion, so that the platform is at rest when it begins"""


@dataclass(frozen=True, slots=True)
class Stage:
    """One motion, or the rest before it."""

    name: str
    """empty for a rest"""
    duration: float
    """s"""
    table: MotionTable | None = None
    """None also for a motion that has already begun"""
    purpose: MotionKind = MotionKind.RUN
    number: int = 0
    """number of the repetition, from 1; 0 for the move to the start"""
    slowing: float | None = None
    """of a hold-to-run motion, see `Follow`"""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be sent."""

    what: str
    command: Follow | Pause | Stop
    samples: Array | None = None


PAUSE = Order("pause", Pause())
HOLD = Order("hold", Stop(2))


def stages_of_run(
    config: RigConfig,
    here: Array,
    name: str,
    table: MotionTable,
    repeats: int = 1,
    approaching: Callable[[RigConfig, Array, Array], MotionTable | None] = approach,
) -> list[Stage]:
    """Stages from the pose `here` (7,) to the start of a motion, a rest there, then the motion `repeats` times.

    approaching: does what `approach` does, such as in another process.

    Raises:
        RefusedError: the move to the start, or back to it, is outside the limits.
    """
    start, end = ends(table)
    stages = _way(approaching(config, here, start), "move to the start")
    if stages:
        stages.append(Stage("", REST))
    back = _way(approaching(config, end, start), "back to the start") if repeats > 1 else []
    for number in range(1, repeats + 1):
        stages += [*(back if number > 1 else []), Stage(name, table.duration, table, MotionKind.RUN, number)]
    return stages


def _way(table: MotionTable | None, name: str) -> list[Stage]:
    return [] if table is None else [Stage(name, table.duration, table, MotionKind.APPROACH)]


class MotionSequence:
    """Remaining stages of a move, or of a motion with its repetitions.

    Args:
        name: of the whole, for display.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.stage: Stage | None = None
        """the present one"""
        self.repeats = 0
        """total number of repetitions"""
        self.followed = 0
        """completed repetitions"""
        self.ended = False
        self.cause: Finding | None = None
        """after the end: why it ended early, None when it is complete"""
        self.pausing = False
        """whether a pause was requested"""
        self._left: list[Stage] = []
        self._whole = 0.0  # s, of all stages at full speed
        self._accepted = False
        self._doubted = False
        self._resumed = -math.inf
        self._rests_until = 0.0

    def begin(self, stages: Sequence[Stage]) -> Order | None:
        """Begin the stages; returns the first order."""
        if self.ended:
            return None
        if self.pausing:
            return self._end(Finding(Code.PAUSED_BEFORE_START))
        self._left = list(stages)
        self._whole = sum(stage.duration for stage in stages)
        self.repeats = max((stage.number for stage in stages), default=0)
        return self._next()

    def under_way(self, stage: Stage) -> None:
        """Begin with a stage that the engine already follows."""
        self.stage, self._accepted, self.repeats, self._whole = stage, True, stage.number, stage.duration

    def answered(self, refusal: Finding | None = None) -> Order | None:
        """The sent motion was accepted, or refused; returns the next order.

        A motion that was accepted after the end is to be stopped: it was sent before the end.
        """
        if self.ended:
            return None if refusal else HOLD
        if refusal:
            return self._end(refusal)
        self._accepted = True
        return PAUSE if self.pausing else None

    def take(self, status: Snapshot) -> Order | None:
        """Evaluate a status requested after the last answer; returns the next order."""
        stage = self.stage
        if self.ended or stage is None:
            return None
        if not stage.name:
            return self._rest(status)
        if not self._accepted or self._doubted or status.state is State.RUNNING or status.paused:
            return None
        if status.state is not State.ENGAGED:
            return self._end(stop_finding(status))
        if self.pausing and self._left:
            return self._end(Finding(Code.ENDED_BEFORE_PAUSE, details={"motion": stage.name}))
        self.followed = max(self.followed, stage.number)
        order = self._next()
        self._rests_until = status.t + REST
        return order

    def left(self, status: Snapshot) -> float | None:
        """Remaining time, s, at the present speed, with the move to the start, rests and repetitions.

        None for a motion without an end.
        """
        if self.stage is None:
            return None
        ahead = sum(_lasts(stage, status.pace) for stage in self._left)
        return _finite(ahead + self._left_of_stage(status, status.pace))

    def fraction(self, status: Snapshot) -> float:
        """Progress of the whole, 0 to 1."""
        ahead = sum(stage.duration for stage in self._left) + self._left_of_stage(status, 1.0)
        return min(1.0, max(0.0, 1.0 - ahead / self._whole)) if 0.0 < self._whole < math.inf else 0.0

    def _left_of_stage(self, status: Snapshot, pace: float) -> float:
        stage = self.stage
        if stage is None or self.ended:
            return 0.0
        if not stage.name:
            return max(0.0, self._rests_until - status.t)
        whole = _lasts(stage, pace)
        moving = self._accepted and (status.state is State.RUNNING or status.paused)
        return whole * max(0.0, 1.0 - status.path_time / max(status.path_duration, 1e-9)) if moving else whole

    def pause(self) -> Order | None:
        """Decelerate to rest; after a motion that ends before, no other begins.

        While a motion is being sent to the engine there is no order yet: it is paused once it has begun.
        """
        self.pausing = True
        return PAUSE if self._accepted or self.ended else None

    def resume(self, t: float = -math.inf) -> None:
        """The motion continues, from rig time `t`, s, or before."""
        self.pausing, self._resumed = False, t

    def paused(self, status: Snapshot) -> bool:
        """Whether a status shows the requested pause, also after the motion's end."""
        return status.paused and not self.ended and (self.pausing or status.t < self._resumed)

    def doubt(self, accepted: bool) -> None:
        """Whether the present motion is the engine's: not while it is asked to forget it."""
        self._doubted = not accepted

    def end(self, cause: Finding | None = None) -> None:
        """End the sequence; no further orders."""
        if not self.ended:
            self.ended, self.cause = True, cause
            self._left = []

    def _end(self, cause: Finding | None = None) -> Order | None:
        self.end(cause)
        return None

    def _next(self) -> Order | None:
        self._accepted = False
        if not self._left:
            return self._end()
        self.stage = stage = self._left.pop(0)
        table = stage.table
        if table is None:
            return None
        command = Follow(stage.name, table.step, stage.purpose, table.amplitude, stage.slowing, table.thresholds)
        return Order(f"follow {stage.name!r}", command, table.samples)

    def _rest(self, status: Snapshot) -> Order | None:
        if status.state is not State.ENGAGED:
            return self._end(stop_finding(status))
        if self.pausing:
            return self._end(Finding(Code.PAUSED_BEFORE_START))
        return self._next() if status.t >= self._rests_until else None


def stop_finding(status: Snapshot) -> Finding:
    """Why the rig does not move: the cause of a stop or fault, or its state."""
    if status.finding is not None:
        return stop_cause(status.finding)
    return Finding(Code.IN_STATE, details={"state": status.state.name})


def _lasts(stage: Stage, pace: float) -> float:
    """Duration of a stage, s; only runs are affected by the speed."""
    return stage.duration / pace if stage.purpose == MotionKind.RUN and stage.name else stage.duration


def _finite(time: float) -> float | None:
    return time if time < math.inf else None


PATIENCE = 10.0
"""s of additional waiting"""
AT_REST = (State.OFF, State.IDLE, State.PARKED, State.FAULT)
"""States in which no drive has torque."""


PHASES = (
    "starting the engine",
    "checking",
    "connecting",
    "homing",
    "at rest",
    "engaging",
    "moving to the start",
    "running",
    "stopping",
    "parking",
    "reporting",
)
"""Phases of a run and of zeroing the cells; compilation has other ones, with its numbers."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run."""

    phase: str
    fraction: float
    """of the motion, 0 to 1"""


Report = Callable[[Progress], None]


def compiling_progress(now: Compiling) -> Progress:
    """Progress of a start that has to compile the model, as progress of the run."""
    return Progress(now.words, 0.0 if now.finished else now.done / now.total)


def perform(
    rig: Rig,
    table: MotionTable,
    name: str,
    report: Report | None = None,
    repeats: int = 1,
    sequence: MotionSequence | None = None,
) -> None:
    """Move an engaged rig to the start of a motion and follow it `repeats` times, each time from its start.

    `sequence` receives the stages, so that another thread can pause it. Raises as `carry_out`.
    """
    here = np.array(rig.status().reference)
    stages = stages_of_run(rig.config, here, name, table, repeats)
    carry_out(rig, MotionSequence(name) if sequence is None else sequence, stages, report)


def move_to_start(rig: Rig, table: MotionTable, report: Report | None = None) -> None:
    """Move an engaged rig to a motion's start, and rest there. Raises as `carry_out`."""
    here = np.array(rig.status().reference)
    carry_out(rig, MotionSequence("move to the start"), stages_of_run(rig.config, here, "", table)[:-1], report)


def follow(
    rig: Rig, table: MotionTable, name: str, report: Report | None = None, purpose: MotionKind = MotionKind.RUN
) -> None:
    """Follow a motion that starts at the platform's pose, to its end. Raises as `carry_out`."""
    carry_out(rig, MotionSequence(name), [Stage(name, table.duration, table, purpose, 1)], report)


def begin(rig: Rig, table: MotionTable, name: str) -> None:
    """ENGAGED → RUNNING: begin to follow a motion that starts at the platform's pose."""
    rig.request(Follow(name, table.step, amplitude=table.amplitude, thresholds=table.thresholds), table.samples)


def finish(rig: Rig, report: Report | None = None) -> None:
    """Wait until the motion has ended. Raises as `carry_out`."""
    begun = rig.status()
    sequence = MotionSequence(begun.motion)
    sequence.under_way(Stage(begun.motion, begun.path_duration - begun.path_time, number=1))
    _drive(rig, sequence, None, report)


def carry_out(rig: Rig, sequence: MotionSequence, stages: list[Stage], report: Report | None = None) -> None:
    """Send the motions of a sequence one after the other, each after the end of the one before.

    Raises:
        RunFaultError: a motion was stopped, or the sequence ended early.
        RefusedError: the engine refused a motion.
        HardwareError: a motion did not come to its end in time.
        InterruptedRunError: Ctrl-C.
    """
    _drive(rig, sequence, sequence.begin(stages), report)


def _drive(rig: Rig, sequence: MotionSequence, order: Order | None, report: Report | None) -> None:
    while True:
        if order is not None:
            rig.request(order.command, order.samples)
            if sequence.answered() is not None:
                with contextlib.suppress(RefusedError):  # the end came first: then the next status ends it all
                    rig.request(Pause())
        if sequence.ended:
            break
        order = _until_next(rig, sequence, report)
    if sequence.cause is not None:
        found = Finding(Code.MOTION_ENDED_EARLY, details={"motion": sequence.name}, within=(sequence.cause,))
        raise RunFaultError(found)


def _until_next(rig: Rig, sequence: MotionSequence, report: Report | None) -> Order | None:
    """Wait until the present stage has ended; what is to be sent then. A pause lasts as long as it lasts."""
    stage = sequence.stage
    assert stage is not None
    order: Order | None = None
    pace = 1.0  # which the first look puts right

    def done(status: Snapshot) -> bool:
        nonlocal order
        refuse_fault(status)
        if sequence.ended or sequence.paused(status) or status.pace != pace:
            return True
        if stage.name and (status.paused or status.state in AT_REST):
            ended = status.last_motion
            cause = status.paused_for or (None if ended is None else ended.finding)
            why = Finding(Code.NO_REASON) if cause is None else stop_cause(cause)
            where: dict[str, Value] = {"motion": status.motion, "time": status.path_time}
            raise RunFaultError(Finding(Code.MOTION_STOPPED, details=where, within=(why,)))
        if report is not None and stage.name:
            report(_progress(sequence, stage, status))
        order = sequence.take(status)
        return order is not None or sequence.ended or sequence.stage is not stage

    what = f"the motion {stage.name!r} to end" if stage.name else f"{stage.duration:g} s to pass"
    while True:
        status = rig.wait(done, stage.duration / pace + PATIENCE, what)
        if sequence.paused(status):
            rig.wait(lambda status: not sequence.paused(status), math.inf, "the motion to go on")
        elif status.pace == pace or sequence.ended:
            return order
        pace = status.pace  # what is left takes another time


def _progress(sequence: MotionSequence, stage: Stage, status: Snapshot) -> Progress:
    fraction = min(1.0, status.path_time / max(status.path_duration, 1e-9))
    if stage.number == 0:
        return Progress("moving to the start", sequence.followed / max(sequence.repeats, 1))
    if sequence.repeats == 1:
        return Progress("running", fraction)
    return Progress(f"running {stage.number} of {sequence.repeats}", (stage.number - 1 + fraction) / sequence.repeats)


def refuse_fault(status: Snapshot) -> None:
    """Raise RunFaultError where a fault or somebody stops the rig, or has stopped it for a fault."""
    if status.state is State.FAULT or (status.state is State.STOPPING and status.latched):
        raise RunFaultError(_at_cause(Code.RUN_FAULT, status))
    if status.state is State.STOPPING:
        raise RunFaultError(_at_cause(Code.RUN_STOPPED, status))


def _at_cause(code: Code, status: Snapshot) -> Finding:
    """A finding on the first cause of a stop, and when it was found."""
    return Finding(code, details={"time": status.cause_t}, within=(stop_finding(status),))
