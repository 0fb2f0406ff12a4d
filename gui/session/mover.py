"""Moves and motions as the operator asks for them: checked, brought to their start, followed, repeated."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from pyqtgraph.Qt import QtCore

from gui.session.rig_session import RigSession
from gui.session.workers import Worker
from kinematics import Array, MotionTable
from rig.client import approach, checked_move, ends
from rig.config import RigConfig
from rig.engine import Abandon, Follow, Pause, Resume, Snapshot
from rig.states import State


@dataclass(frozen=True, slots=True)
class Stage:
    """One motion to be followed."""

    name: str
    table: MotionTable


class Mover(QtCore.QObject):
    """Sends motions one after the other, each once the one before has come to its end.

    Signals: `progressed(text, fraction)`; `finished(text)` with "" when all went to the end, else why not.

    Args:
        session: the rig.
    """

    progressed = QtCore.Signal(str, float)
    finished = QtCore.Signal(str)

    def __init__(self, session: RigSession, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._checks = Worker("moves", self)
        self._left: list[Stage] = []
        self._current: Stage | None = None
        self._repeats = 1
        self._accepted = False
        self._late_status = False
        self._pausing = False
        self._number = 0
        self._label = ""
        session.statusChanged.connect(self._follow)
        session.stopped.connect(lambda _category: self._end("stopped"))
        session.died.connect(lambda: self._end("the engine has died"))

    @property
    def active(self) -> bool:
        """Whether motions are under way, or about to be sent."""
        return self._session.moving

    def move_to(self, name: str, target: Callable[[Array], Array], speed: float, rotation_speed: float) -> None:
        """Move from where the reference is to `target(pose)` (7,), with minimum jerk and these peak speeds, m/s, rad/s.

        The move is checked like any trajectory first, without making the window wait.
        """
        if self.active or self._session.status is None:
            return
        here = np.array(self._session.status.reference)
        config = self._session.config
        self._begin(name)
        self._checks.submit(
            lambda: checked_move(config, here, target(here), speed, rotation_speed),
            partial(self._checked, self._number),
        )

    def run(self, name: str, table: MotionTable, repeats: int) -> None:
        """Move to the start of a motion that was checked, then follow it `repeats` times."""
        status = self._session.status
        if self.active or status is None:
            return
        self._begin(name)
        here = np.array(status.reference)
        start, end = ends(table)
        config = self._session.config

        def plan() -> list[Stage]:
            back = _approach(config, end, start, "back to the start") if repeats > 1 else []
            stages = _approach(config, here, start, "move to the start")
            for number in range(repeats):
                stages += [*(back if number else []), Stage(name, table)]
            return stages

        self._checks.submit(plan, partial(self._planned, self._number))

    def hold(self) -> None:
        """Stop on the path and hold there under power; nothing further is sent, and what is on its way is stopped."""
        self._end("stopped")
        self._session.stop(2, "hold")

    def pause(self) -> None:
        """Slow down along the path and stand; a motion that comes to its end before is not followed by another.

        A motion that is on its way to the engine is paused as soon as it has begun.
        """
        self._pausing = True
        if self._accepted or not self.active:
            self._session.send("pause", Pause())  # refused when the end came first: then the next status ends it all
        else:
            self.progressed.emit(f"{self._label}: pausing", 0.0)

    def resume(self) -> None:
        """Go on along the path."""
        self._pausing = False
        self._session.send("resume", Resume())

    def abandon(self) -> None:
        """Have the engine forget a motion that is paused; nothing further is sent."""
        self._accepted = False  # a status may come before the answer: the stage has not come to its end
        self._session.send("abandon", Abandon(), done=self._abandoned)

    def _abandoned(self, reason: str) -> None:
        if reason:
            self._accepted = self._current is not None
        else:
            self._end("abandoned")

    def close(self) -> None:
        """End the thread."""
        self._checks.finish()
        self._checks.join(2.0)

    def _begin(self, name: str) -> None:
        self._session.moving = True
        self._number += 1
        self._accepted = False
        self._pausing = False
        self._label = name
        self._left = []
        self._current = None
        self.progressed.emit(f"{name}: checking", 0.0)

    def _checked(self, number: int, table: MotionTable | None, error: Exception | None) -> None:
        self._planned(number, None if table is None else [Stage(self._label, table)], error)

    def _planned(self, number: int, stages: list[Stage] | None, error: Exception | None) -> None:
        if not self.active or number != self._number:  # stopped meanwhile
            return
        if stages is None:
            text = str(error)
            self._session.log("error", "app", f"{self._label}: {text}")
            self._end(text)
            return
        if self._pausing:
            self._end("paused before it began")
            return
        self._left = stages
        self._repeats = self._to_come()
        self._next()

    def _next(self) -> None:
        if not self._left:
            self._end("")
            return
        self._current = self._left.pop(0)
        self._accepted = False
        table = self._current.table
        self._session.send(
            f"follow {self._current.name!r}",
            Follow(self._current.name, table.step),
            table.samples,
            partial(self._answered, self._current),
        )

    def _answered(self, stage: Stage, reason: str) -> None:
        if stage is not self._current:  # it was to be stopped while it was on its way
            if not reason:
                self._session.stop(2, "hold")
        elif reason:
            self._end(reason)
        else:
            self._accepted = True
            # one that is on its way was perhaps taken before the motion began, and looks like its end; every status
            # asked for from now on is taken after
            self._late_status = self._session.asked_status
            if self._pausing:
                self._session.send("pause", Pause())

    def _follow(self, status: Snapshot) -> None:
        if not (self.active and self._accepted and self._current is not None):
            return
        if self._late_status:
            self._late_status = False
            return
        if status.state is State.RUNNING or status.paused:
            fraction = min(1.0, status.path_time / max(status.path_duration, 1e-9))
            number = self._repeats - self._to_come()
            several = self._repeats > 1 and self._current.name == self._label
            repeat = f"repeat {number} of {self._repeats}, " if several else ""
            pause = ", paused" if status.paused else ""
            time = f"{status.path_time:.1f} of {status.path_duration:.1f} s"
            self.progressed.emit(f"{status.motion}: {repeat}{time}{pause}", fraction)
        elif status.state is State.ENGAGED and self._pausing and self._left:
            self._end(f"{self._current.name!r} came to its end before it could pause")
        elif status.state is State.ENGAGED:
            self._next()
        else:
            self._end(status.cause or f"the rig is in state {status.state.name}")

    def _to_come(self) -> int:
        """How many times the motion itself is still to be sent."""
        return sum(stage.name == self._label for stage in self._left)

    def _end(self, reason: str) -> None:
        if self.active:
            self._session.moving = False
            self._left, self._current = [], None
            self.finished.emit(reason)


def _approach(config: RigConfig, here: Array, there: Array, name: str) -> list[Stage]:
    table = approach(config, here, there)
    return [] if table is None else [Stage(name, table)]
