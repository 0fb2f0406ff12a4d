"""Computes free ranges of the platform and refused steps, in a thread."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from pyqtgraph.Qt import QtCore

from gui.session import Mover
from kinematics import JogFrame
from rig.client import AXES, LEGS, FreeRange, free_range, jogged, search_limit, step_refusal
from rig.config import RigConfig
from rig.findings import Finding

_PATIENCE = 100  # ms a query must be stable before it is computed: a moving pose is not


@dataclass(frozen=True, slots=True)
class Question:
    """All inputs of the results, SI: current pose, steps, their axes, and the moves' peak speeds."""

    pose: tuple[float, ...]
    translation: float
    rotation: float
    leg_step: float
    frame: JogFrame
    pivot: tuple[float, float, float]
    speed: float
    turn_speed: float

    def step(self, axis: str) -> float:
        """Return the step along, about or of an axis or leg."""
        if axis in LEGS:
            return self.leg_step
        return self.translation if axis in AXES[:3] else self.rotation

    @property
    def without_steps(self) -> "Question":
        """Return the inputs of the ranges."""
        return replace(self, translation=0.0, rotation=0.0, leg_step=0.0)


class RangeFinder(QtCore.QObject):
    """Computes the results of the last query part by part; older queries are dropped.

    `changed` is emitted with each part.

    Args:
        config: the rig.
        mover: computes in a thread.
    """

    changed = QtCore.Signal()

    def __init__(self, config: RigConfig, mover: Mover, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._config = config
        self._mover = mover
        self._question: Question | None = None
        self._parts: list[str] = []
        self._computing = False
        self.refusals: dict[str, Finding] = {}
        """Direction, as "+x" or "-leg3" → why its step would be refused."""
        self.ranges: dict[str, FreeRange] = {}
        """Direction → its free range."""
        self._timer = QtCore.QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PATIENCE)
        self._timer.timeout.connect(self._compute_next)

    @property
    def complete(self) -> bool:
        """Whether all results of the last query are known."""
        return self._question is not None and not self._parts and not self._computing and not self._timer.isActive()

    def ask(self, question: Question | None) -> None:
        """Start a query, unless it is the current one; None: clear the results."""
        before = self._question
        if question == before:
            return
        self._question = question
        self.refusals = {}
        same_way = question and before and question.without_steps == before.without_steps
        ways = [key for key in self._ways() if not (same_way and key in self.ranges)]
        self.ranges = {key: known for key, known in self.ranges.items() if key not in ways}
        self._parts = ["", *ways] if question else []
        if question:
            self._timer.start()
        self.changed.emit()

    def _ways(self) -> list[str]:
        return [f"{sign}{axis}" for axis in AXES for sign in "+-"]

    def _compute_next(self) -> None:
        """Compute the next part; only one is in progress at a time."""
        if self._computing or self._question is None or not self._parts:
            return
        self._computing = True
        part = self._parts.pop(0)
        job: Callable[[], Any] = partial(_range, self._config, self._question, part)
        if not part:
            job = partial(_refusals, self._config, self._question)
        self._mover.preview(job, partial(self._known, self._question, part))

    def _known(self, question: Question, part: str, answer: Any, error: Exception | None) -> None:
        self._computing = False
        if question == self._question:
            if error is not None:
                raise error
            if part:
                self.ranges[part] = answer
            else:
                self.refusals = answer
            self.changed.emit()
        if not self._timer.isActive():
            self._compute_next()


def _refusals(config: RigConfig, question: Question) -> dict[str, Finding]:
    """Return the steps that would be refused, and why."""
    here = np.array(question.pose)
    found = {}
    for axis in (*AXES, *LEGS):
        for sign, symbol in ((1, "+"), (-1, "-")):
            target = partial(_target, config, question, axis, sign * question.step(axis))
            if reason := step_refusal(config, here, target, question.speed, question.turn_speed):
                found[f"{symbol}{axis}"] = reason
    return found


def _range(config: RigConfig, question: Question, way: str) -> FreeRange:
    """Return the free range of a direction."""
    sign, axis = (1 if way[0] == "+" else -1), way[1:]
    most = search_limit(config, turning=axis in AXES[3:])

    def target(extent: float) -> Any:
        return _target(config, question, axis, sign * extent)

    return free_range(config, np.array(question.pose), target, most, question.speed, question.turn_speed)


def _target(config: RigConfig, question: Question, axis: str, step: float) -> Any:
    own = axis in LEGS  # a leg's length has neither frame nor pivot
    frame: JogFrame = "base" if own else question.frame
    return jogged(config, np.array(question.pose), axis, step, frame, (0.0, 0.0, 0.0) if own else question.pivot)
