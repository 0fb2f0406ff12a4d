"""Moves and motions as the operator asks for them: checked apart from the window, then sent one after the other."""

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
from kinematics import Array, MotionTable
from rig.client import HOLD, HoldToRunMotion, MotionSequence, Order, Stage, checked_move, stages_of_run
from rig.engine import Abandon, Follow, Pace, Pause, Resume, Snapshot
from rig.findings import Code, Finding
from rig.states import MotionKind, State


class Mover(QtCore.QObject):
    """Drives a `rig.client.MotionSequence` by the session's signals.

    Signals: `progressed(text, fraction)`; `finished(cause)` with a `Finding` of why it ended early, None at its end.

    Args:
        session: the rig.
    """

    progressed = QtCore.Signal(str, float)
    finished = QtCore.Signal(object)

    def __init__(self, session: RigSession, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._checks = Worker("moves", self)
        self._looks = Worker("previews of moves", self)
        self._sequence = MotionSequence("")
        self._sequence.end()
        self._late_status = False
        self._forgetting = False
        """whether what is left of a motion that was stopped is to be abandoned once it stands"""
        self._stopping = False
        """whether statuses from before a stop may still come, that show what was stopped"""
        session.statusChanged.connect(self._follow)
        session.stopped.connect(lambda _category: self._end(Code.STOP_REQUESTED))
        session.died.connect(lambda: self._end(Code.ENGINE_ENDED))

    def left(self, status: Snapshot) -> float | None:
        """s until everything that was asked for is done; None where nothing is under way, or it has no end."""
        return self._sequence.left(status) if self.active else None

    def set_speed(self, part: float, done: Done) -> None:
        """Set the speed of motions, also of the one that is followed, as a part of full speed."""
        self._session.send(mark("speed"), Pace(part), done=done)

    @property
    def active(self) -> bool:
        """Whether motions are under way, or about to be sent."""
        return self._session.moving

    def move_to(
        self,
        name: str,
        target: Callable[[Array], Array],
        speed: float,
        rotation_speed: float,
        purpose: MotionKind = MotionKind.MOVE,
    ) -> None:
        """Move from where the reference is to `target(pose)` (7,), with minimum jerk and these peak speeds, m/s, rad/s.

        The move is checked like any trajectory first, without making the window wait.
        """
        config = self._session.config

        def plan(here: Array) -> list[Stage]:
            table = checked_move(config, here, target(here), speed, rotation_speed)
            return [Stage(name, table.duration, table, purpose, 1)]

        self._begin(name, plan)

    def run_held(self, name: str, plan: Callable[[Array], HoldToRunMotion], purpose: MotionKind) -> None:
        """Follow the way that `plan(pose)` gives as long as `RigSession.show_held` says that it is held."""

        def stages(here: Array) -> list[Stage]:
            way = plan(here)
            return [Stage(name, way.table.duration, way.table, purpose, 1, way.slowing)]

        self._begin(name, stages)

    def let_go(self) -> None:
        """Send nothing any more of a way that was held; one that is sent the engine brings to a stand by itself."""
        if self._sequence.stage is None:
            self._end(Code.RELEASED_BEFORE_START)

    def run(self, name: str, table: MotionTable, repeats: int) -> None:
        """Move to the start of a motion that was checked, rest there, then follow it `repeats` times."""
        config = self._session.config
        self._begin(name, lambda here: stages_of_run(config, here, name, table, repeats))

    def hold(self) -> None:
        """Stop on the path and hold there under power; the rest is forgotten, and what is on its way is stopped."""
        self._end(Code.STOP_REQUESTED)
        self._stop()

    def pause(self) -> None:
        """Slow down along the path and stand; see `MotionSequence.pause`."""
        if self._sequence.pause() is not None:
            # refused when the end came first: then the next status ends it all
            self._session.send(mark("pause"), Pause())
        else:
            self.progressed.emit(tr("{name}: pausing").format(name=self._sequence.name), 0.0)

    def resume(self, *, take_over: bool = False) -> None:
        """Go on along the path; `take_over`: also of a motion that was begun under another command lease."""
        self._sequence.resume()
        self._stopping = False
        self._session.send(mark("resume"), Resume(take_over))

    def abandon(self) -> None:
        """Have the engine forget a motion that is paused; nothing further is sent."""
        self._sequence.doubt(False)  # a status may come before the answer: the stage has not come to its end
        self._session.send(mark("abandon"), Abandon(), done=self._abandoned)

    def preview(self, job: Callable[[], Any], done: Callable[[Any, Exception | None], None]) -> None:
        """Look into moves that nobody has asked for, apart from the window and from the moves; see `Worker.submit`."""
        self._looks.submit(job, done)

    def close(self) -> None:
        """End the threads."""
        for worker in (self._checks, self._looks):
            worker.finish()
        for worker in (self._checks, self._looks):
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
        self._session.moving, self._forgetting, self._stopping = True, False, False
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
        """Send what the sequence orders, and say that it is over once it is."""
        if order is HOLD:
            self._stop()
        elif order is not None:
            done = partial(self._answered, sequence) if isinstance(order.command, Follow) else None
            self._session.send(order.what, order.command, order.samples, done)
        elif sequence.ended and sequence is self._sequence and self.active:
            self._session.moving = False
            self.finished.emit(sequence.cause)

    def _answered(self, sequence: MotionSequence, refusal: Finding | None) -> None:
        # a status that is on its way was perhaps taken before the motion began, and looks like its end; every one
        # asked for from now on is taken after
        self._late_status = self._session.asked_status
        self._send(sequence, sequence.answered(refusal))

    def _stop(self) -> None:
        self._forgetting = True
        self._session.stop(2, "hold")

    def _follow(self, status: Snapshot) -> None:
        if self._late_status:
            self._late_status = False
            return
        if self._forgetting and status.state not in (State.RUNNING, State.STOPPING):
            self._forgetting = False
            if status.resumable:
                self._session.send(mark("abandon"), Abandon())
                return
        runs = status.state is State.RUNNING or status.resumable
        self._stopping = self._stopping and status.state in (State.RUNNING, State.STOPPING)
        if not self.active:
            # of an engine that was taken over, or stopped elsewhere and resumed
            if runs and not (self._forgetting or self._stopping) and status.path_duration < math.inf:
                self._tell(status, [], status.path_time / max(status.path_duration, 1e-9))
            return
        sequence = self._sequence
        stage = sequence.stage
        order = sequence.take(status)
        if stage is not None and stage is sequence.stage and runs:
            parts = []
            if stage.number and sequence.repeats > 1:
                repeat = tr("repeat {number} of {repeats}")
                parts.append(repeat.format(number=stage.number, repeats=sequence.repeats))
            self._tell(status, parts, sequence.fraction(status))
        self._send(sequence, order)

    def _tell(self, status: Snapshot, parts: list[str], fraction: float) -> None:
        time = tr("{time:.1f} of {duration:.1f} s")
        said = [*parts, time.format(time=status.path_time, duration=status.path_duration)]
        said += [tr("paused")] if status.resumable else []
        self.progressed.emit(f"{status.motion}: {', '.join(said)}", fraction)

    def _end(self, cause: Code) -> None:
        self._stopping = self.active
        self._sequence.end(Finding(cause))
        self._send(self._sequence, None)
