"""Finds free ranges of the platform and refused steps, computed in a process."""

from functools import partial
from typing import Any

from pyqtgraph.Qt import QtCore

from gui.models import Question, range_of, step_refusals
from gui.session import Mover
from rig.client import AXES, FreeRange
from rig.config import RigConfig
from rig.findings import Finding

_PATIENCE = 100  # ms a query must be stable before it is computed: a moving pose is not


class RangeFinder(QtCore.QObject):
    """Computes the results of the last query part by part; older queries are dropped.

    `changed` is emitted with each part.

    Args:
        config: the rig.
        mover: computes in a process.
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
        known = partial(self._known, self._question, part)
        if part:
            self._mover.preview(known, range_of, self._config, self._question, part)
        else:
            self._mover.preview(known, step_refusals, self._config, self._question)

    def _known(self, question: Question, part: str, answer: Any, error: Exception | None) -> None:
        self._computing = False
        current = question == self._question
        if current and error is None:
            if part:
                self.ranges[part] = answer
            else:
                self.refusals = answer
            self.changed.emit()
        if not self._timer.isActive():
            self._compute_next()
        if current and error is not None:  # to the log; this part stays unknown, and moves are checked again
            raise error
