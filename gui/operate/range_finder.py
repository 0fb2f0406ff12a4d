"""Asks, apart from the window, how far the platform can go from where it is and which steps would be refused."""

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

_PATIENCE = 100  # ms that a question stands before it is looked into: a pose that changes is not


@dataclass(frozen=True, slots=True)
class Question:
    """All that the answers depend on, SI: where the platform is, the steps, their axes, and the moves' peak speeds."""

    pose: tuple[float, ...]
    translation: float
    rotation: float
    leg_step: float
    frame: JogFrame
    pivot: tuple[float, float, float]
    speed: float
    turn_speed: float

    def step(self, axis: str) -> float:
        """How far a step along, about or of an axis or leg goes."""
        if axis in LEGS:
            return self.leg_step
        return self.translation if axis in AXES[:3] else self.rotation

    @property
    def without_steps(self) -> "Question":
        """What the ranges depend on."""
        return replace(self, translation=0.0, rotation=0.0, leg_step=0.0)


class RangeFinder(QtCore.QObject):
    """Looks one part after the other into the last question; what was asked before is forgotten.

    `changed` is emitted with each part that is known.

    Args:
        config: the rig.
        mover: which looks, in a thread.
    """

    changed = QtCore.Signal()

    def __init__(self, config: RigConfig, mover: Mover, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._config = config
        self._mover = mover
        self._question: Question | None = None
        self._parts: list[str] = []
        self._looking = False
        self.refusals: dict[str, Finding] = {}
        """direction, as "+x" or "-leg3" → why its step would be refused, of those that would"""
        self.ranges: dict[str, FreeRange] = {}
        """direction → how far it is free"""
        self._timer = QtCore.QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PATIENCE)
        self._timer.timeout.connect(self._look)

    @property
    def complete(self) -> bool:
        """Whether all is known of the last question."""
        return self._question is not None and not self._parts and not self._looking and not self._timer.isActive()

    def ask(self, question: Question | None) -> None:
        """Look into a question, unless it is the last one; None: nothing is to be known."""
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

    def _look(self) -> None:
        """The next part, once the one before is known: no more than one is ever under way."""
        if self._looking or self._question is None or not self._parts:
            return
        self._looking = True
        part = self._parts.pop(0)
        job: Callable[[], Any] = partial(_range, self._config, self._question, part)
        if not part:
            job = partial(_refusals, self._config, self._question)
        self._mover.preview(job, partial(self._known, self._question, part))

    def _known(self, question: Question, part: str, answer: Any, error: Exception | None) -> None:
        self._looking = False
        if question == self._question:
            if error is not None:
                raise error
            if part:
                self.ranges[part] = answer
            else:
                self.refusals = answer
            self.changed.emit()
        if not self._timer.isActive():
            self._look()


def _refusals(config: RigConfig, question: Question) -> dict[str, Finding]:
    """The steps that would be refused, and why."""
    here = np.array(question.pose)
    found = {}
    for axis in (*AXES, *LEGS):
        for sign, symbol in ((1, "+"), (-1, "-")):
            target = partial(_target, config, question, axis, sign * question.step(axis))
            if reason := step_refusal(config, here, target, question.speed, question.turn_speed):
                found[f"{symbol}{axis}"] = reason
    return found


def _range(config: RigConfig, question: Question, way: str) -> FreeRange:
    """How far a way is free."""
    sign, axis = (1 if way[0] == "+" else -1), way[1:]
    most = search_limit(config, turning=axis in AXES[3:])

    def target(extent: float) -> Any:
        return _target(config, question, axis, sign * extent)

    return free_range(config, np.array(question.pose), target, most, question.speed, question.turn_speed)


def _target(config: RigConfig, question: Question, axis: str, step: float) -> Any:
    own = axis in LEGS  # a leg's length has neither frame nor pivot
    frame: JogFrame = "base" if own else question.frame
    return jogged(config, np.array(question.pose), axis, step, frame, (0.0, 0.0, 0.0) if own else question.pivot)
