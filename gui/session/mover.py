"""Moves and motions requested by the operator: checked in a process, then sent one by one."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pyqtgraph.Qt import QtCore

from gui.session.rig_session import RigSession
from gui.session.session_state import Done, finding_of
from gui.session.workers import Worker
from gui.texts import finding_text, mark, tr
from kinematics import Array, MotionTable, interpreted
from rig.client import HOLD, HoldToRunMotion, MotionSequence, Order, Stage, approach, checked_move, stages_of_run
from rig.engine import Abandon, Follow, Pace, Pause, Resume, Snapshot
from rig.findings import Code, Finding
from rig.states import MotionKind, State


class Mover(QtCore.QObject):
    """Drives a `rig.client.MotionSequence` by the session's signals.

    Signals: `progressed(text, fraction)`; `finished(cause)` `Finding` if it ended early, else None.

    Args:
        session: the rig.
    """

    progressed = QtCore.Signal(str, float)
    finished = QtCore.Signal(object)

    def __init__(self, session: RigSession, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._checks = Worker("moves", self)
        self._preview_worker = Worker("previews of moves", self)
        self._sequence = MotionSequence("")
        self._sequence.end()
        self._late_status = False
        self._abandoning = False
        """Whether the rest of a stopped motion is abandoned once the platform stands."""
        self._stopping = False
        """Whether statuses from before a stop may still arrive."""
        session.statusChanged.connect(self._follow)
        session.stopped.connect(lambda _category: self._end(Code.STOP_REQUESTED))
        session.died.connect(lambda: self._end(Code.ENGINE_DIED))

    def left(self, status: Snapshot) -> float | None:
        """Return the s until everything requested is done; None if nothing is in progress, or it has no end."""
        return self._sequence.left(status) if self.active else None

    def set_speed(self, part: float, done: Done) -> None:
        """Set the speed of motions, including the current one, as a fraction of full speed."""
        self._session.send(mark("speed"), Pace(part), done=done)

    @property
    def active(self) -> bool:
        """Whether motions are in progress, or about to be sent."""
        return self._session.moving

    def move_to(
        self,
        name: str,
        target: Callable[[Array], Array],
        speed: float,
        rotation_speed: float,
        purpose: MotionKind = MotionKind.MOVE,
    ) -> None:
        """Move from the reference to `target(pose)` (7,), with minimum jerk and these peak speeds, m/s, rad/s.

        The move is first checked like any trajectory, in a process.
        """
        config = self._session.config

        def plan(here: Array) -> list[Stage]:
            with interpreted():  # one pose
                there = target(here)
            table = self._checks.compute(checked_move, config, here, there, speed, rotation_speed)
            return [Stage(name, table.duration, table, purpose, 1)]

        self._begin(name, plan)

    def run_hold_to_run(self, name: str, plan: Callable[[Array], HoldToRunMotion], purpose: MotionKind) -> None:
        """Follow the path of `plan(pose)`, computed in a process, while `RigSession.signal_hold` reports a hold."""

        def stages(here: Array) -> list[Stage]:
            way = self._checks.compute(plan, here)
            return [Stage(name, way.table.duration, way.table, purpose, 1, way.slowing)]

        self._begin(name, stages)

    def release(self) -> None:
        """Send nothing more of a hold-to-run motion; the engine itself stops one already sent."""
        if self._sequence.stage is None:
            self._end(Code.RELEASED_BEFORE_START)

    def run(self, name: str, table: MotionTable, repeats: int) -> None:
        """Move to the start of a checked motion, rest there, then follow it `repeats` times."""
        config = self._session.config
        approaching = partial(self._checks.compute, approach)
        self._begin(name, lambda here: stages_of_run(config, here, name, table, repeats, approaching))

    def hold(self) -> None:
        """Stop on the path and hold there under power; drop the rest, and stop what is on its way."""
        self._end(Code.STOP_REQUESTED)
        self._stop()

    def pause(self) -> None:
        """Slow down along the path to a stop; see `MotionSequence.pause`."""
        if self._sequence.pause() is not None:
            # refused if the end came first: then the next status ends the sequence
            self._session.send(mark("pause"), Pause())
        else:
            self.progressed.emit(tr("{name}: pausing").format(name=self._sequence.name), 0.0)

    def resume(self, *, take_over: bool = False) -> None:
        """Continue along the path; `take_over`: even if the motion started under another command lease."""
        self._sequence.resume()
        self._stopping = False
        self._session.send(mark("resume"), Resume(take_over))

    def abandon(self) -> None:
        """Make the engine drop a paused motion; nothing further is sent."""
        self._sequence.doubt(False)  # a status may arrive before the answer: the stage has not ended
        self._session.send(mark("abandon"), Abandon(), done=self._abandoned)

    def preview(
        self, done: Callable[[Any, Exception | None], None], function: Callable[..., Any], *arguments: object
    ) -> None:
        """Compute function(*arguments), then call `done`, separately from the moves; see `Worker`."""
        self._preview_worker.submit(partial(self._preview_worker.compute, function, *arguments), done)

    def close(self) -> None:
        """End the threads."""
        for worker in (self._checks, self._preview_worker):
            worker.finish()
        for worker in (self._checks, self._preview_worker):
            worker.join(2.0)

    def _abandoned(self, refusal: Finding | None) -> None:
        if refusal is not None:
            self._sequence.doubt(True)
        else:
            self._end(Code.ABANDON_REQUESTED)

    def _begin(self, name: str, plan: Callable[[Array], list[Stage]]) -> None:
        status = self._session.status
        if self.active or status is None:
            return
        self._session.moving, self._abandoning, self._stopping = True, False, False
        self._sequence = sequence = MotionSequence(name)
        self.progressed.emit(tr("{name}: checking").format(name=name), 0.0)
        here = np.array(status.reference)
        self._checks.submit(lambda: plan(here), partial(self._planned, sequence))

    def _planned(self, sequence: MotionSequence, stages: list[Stage] | None, error: Exception | None) -> None:
        if sequence.ended:  # stopped meanwhile
            return
        if stages is None:
            assert error is not None
            cause = finding_of(error)
            self._session.log("error", "app", f"{sequence.name}: {finding_text(cause)}")
            sequence.end(cause)
        self._send(sequence, sequence.begin(stages or []))

    def _send(self, sequence: MotionSequence, order: Order | None) -> None:
        """Send a sequence's order, and report its end."""
        if order is HOLD:
            self._stop()
        elif order is not None:
            done = partial(self._answered, sequence) if isinstance(order.command, Follow) else None
            self._session.send(order.what, order.command, order.samples, done)
        elif sequence.ended and sequence is self._sequence and self.active:
            self._session.moving = False
            self.finished.emit(sequence.cause)

    def _answered(self, sequence: MotionSequence, refusal: Finding | None) -> None:
        # A status on its way may predate the motion and look like its end; those requested from now on do not.
        self._late_status = self._session.status_pending
        self._send(sequence, sequence.answered(refusal))

    def _stop(self) -> None:
        self._abandoning = True
        self._session.stop(2, "hold")

    def _follow(self, status: Snapshot) -> None:
        if self._late_status:
            self._late_status = False
            return
        if self._abandoning and status.state not in (State.RUNNING, State.STOPPING):
            self._abandoning = False
            if status.resumable:
                self._session.send(mark("abandon"), Abandon())
                return
        runs = status.state is State.RUNNING or status.resumable
        self._stopping = self._stopping and status.state in (State.RUNNING, State.STOPPING)
        if not self.active:
            # from an engine that was taken over, or stopped elsewhere and resumed
            if runs and not (self._abandoning or self._stopping) and status.path_duration < math.inf:
                self._report_progress(status, [], status.path_time / max(status.path_duration, 1e-9))
            return
        sequence = self._sequence
        stage = sequence.stage
        order = sequence.take(status)
        if stage is not None and stage is sequence.stage and runs:
            parts = []
            if stage.number and sequence.repeats > 1:
                repeat = tr("repeat {number} of {repeats}")
                parts.append(repeat.format(number=stage.number, repeats=sequence.repeats))
            self._report_progress(status, parts, sequence.fraction(status))
        self._send(sequence, order)

    def _report_progress(self, status: Snapshot, parts: list[str], fraction: float) -> None:
        time = tr("{time:.1f} of {duration:.1f} s")
        texts = [*parts, time.format(time=status.path_time, duration=status.path_duration)]
        texts += [tr("paused")] if status.resumable else []
        self.progressed.emit(f"{status.motion}: {', '.join(texts)}", fraction)

    def _end(self, cause: Code) -> None:
        self._stopping = self.active
        self._sequence.end(Finding(cause))
        self._send(self._sequence, None)
