"""Sequences of motions in the foreground: sent and waited for, with the progress told."""

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinematics import MotionTable
from rig.client.rig import Rig
from rig.client.sequence import MotionSequence, Order, Stage, stages_of_run
from rig.engine import Compiling, Follow, Pause, Snapshot
from rig.errors import RefusedError, RunFaultError
from rig.states import MotionKind, State

PATIENCE = 10.0
"""s beyond what is waited for"""
AT_REST = (State.OFF, State.IDLE, State.PARKED, State.FAULT)
"""States in which no drive has torque."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is."""

    phase: str
    fraction: float
    """of the motion, 0 to 1"""


Report = Callable[[Progress], None]


def compiling_progress(now: Compiling) -> Progress:
    """A start that has to compile the model first, as the progress of what it is a start of."""
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

    `sequence` is that which it becomes, for whoever pauses it from another thread. Raises as `carry_out`.
    """
    here = np.array(rig.status().reference)
    stages = stages_of_run(rig.config, here, name, table, repeats)
    carry_out(rig, MotionSequence(name) if sequence is None else sequence, stages, report)


def move_to_start(rig: Rig, table: MotionTable, report: Report | None = None) -> None:
    """Move an engaged rig to where a motion starts, and let it rest there. Raises as `carry_out`."""
    here = np.array(rig.status().reference)
    carry_out(rig, MotionSequence("move to the start"), stages_of_run(rig.config, here, "", table)[:-1], report)


def follow(
    rig: Rig, table: MotionTable, name: str, report: Report | None = None, purpose: MotionKind = MotionKind.RUN
) -> None:
    """Follow a motion that starts where the platform is, to its end. Raises as `carry_out`."""
    carry_out(rig, MotionSequence(name), [Stage(name, table.duration, table, purpose, 1)], report)


def begin(rig: Rig, table: MotionTable, name: str) -> None:
    """ENGAGED → RUNNING: begin to follow a motion that starts where the platform is."""
    rig.request(Follow(name, table.step, amplitude=table.amplitude, thresholds=table.thresholds), table.samples)


def finish(rig: Rig, report: Report | None = None) -> None:
    """Wait until the motion that was begun has come to its end. Raises as `carry_out`."""
    begun = rig.status()
    sequence = MotionSequence(begun.motion)
    sequence.under_way(Stage(begun.motion, begun.path_duration - begun.path_time, number=1))
    _drive(rig, sequence, None, report)


def carry_out(rig: Rig, sequence: MotionSequence, stages: list[Stage], report: Report | None = None) -> None:
    """Send the motions of a sequence one after the other, each once the one before has come to its end.

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
        if sequence.over:
            break
        order = _until_next(rig, sequence, report)
    if sequence.reason:
        raise RunFaultError(f"{sequence.name!r} ended early: {sequence.reason}")


def _until_next(rig: Rig, sequence: MotionSequence, report: Report | None) -> Order | None:
    """Wait until the present stage has ended; what is to be sent then. A pause lasts as long as it lasts."""
    stage = sequence.stage
    assert stage is not None
    order: Order | None = None
    pace = 1.0  # which the first look puts right

    def done(status: Snapshot) -> bool:
        nonlocal order
        refuse_fault(status)
        if sequence.over or sequence.paused(status) or status.pace != pace:
            return True
        if stage.name and (status.paused or status.state in AT_REST):
            ended = status.last_motion
            why = status.pause_text or ("" if ended is None else ended.cause_text) or "for no reason given"
            raise RunFaultError(f"the motion {status.motion!r} was stopped at {status.path_time:.3f} s: {why}")
        if report is not None and stage.name:
            report(_progress(sequence, stage, status))
        order = sequence.take(status)
        return order is not None or sequence.over or sequence.stage is not stage

    what = f"the motion {stage.name!r} to end" if stage.name else f"{stage.duration:g} s to pass"
    while True:
        status = rig.wait(done, stage.duration / pace + PATIENCE, what)
        if sequence.paused(status):
            rig.wait(lambda status: not sequence.paused(status), math.inf, "the motion to go on")
        elif status.pace == pace or sequence.over:
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
        raise RunFaultError(f"the run ended in a fault at {status.cause_t:.3f} s: {status.cause_text}")
    if status.state is State.STOPPING:
        raise RunFaultError(f"the run was stopped at {status.cause_t:.3f} s: {status.cause_text}")
