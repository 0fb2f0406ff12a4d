"""The app's clock: thirty times a second, apart from when data arrive."""

from typing import Protocol

import numpy as np
import numpy.typing as npt
from pyqtgraph.Qt import QtCore

from gui.models import CycleMeter, History
from gui.session.rig_session import RigSession

_INTERVAL = 33  # ms
_SLOW = 6
"""Frames between two updates of figures that a person reads."""


class View(Protocol):
    """Something that shows telemetry."""

    def isVisible(self) -> bool:
        """Whether anybody can see it."""

    def refresh(self, history: History) -> None:
        """Show the history as it is now."""


class FrameClock(QtCore.QObject):
    """Fetches telemetry, shows the engine that the app is alive, and repaints what is in view.

    Signals: `slow(row)` five times a second with the newest row, None when there is none.

    Args:
        session: where rows come from.
        history: where they go.
    """

    slow = QtCore.Signal(object)

    def __init__(self, session: RigSession, history: History, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self.meter = CycleMeter(session.config.period)
        self.views: list[View] = []
        """refreshed in every frame in which they are visible"""
        self._session = session
        self._history = history
        self._frames = 0
        self._last: np.void | None = None
        self._timer = QtCore.QTimer(self)
        self._timer.setTimerType(QtCore.Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_INTERVAL)
        self._timer.timeout.connect(self.tick)

    def start(self) -> None:
        """Begin to tick."""
        self._timer.start()

    def stop(self) -> None:
        """Stop ticking."""
        self._timer.stop()

    def tick(self) -> None:
        """One frame."""
        self._session.beat()
        rows: npt.NDArray[np.void]
        rows, _dropped = self._session.poll_rows()
        if len(rows):
            if self._last is not None and rows["t"][0] < self._last["t"]:
                self.meter.clear()  # another engine
            self._last = rows[-1]
            self.meter.add(rows)
            self._history.append(rows)
        for view in self.views:
            if view.isVisible():
                view.refresh(self._history)
        self._frames += 1
        if self._frames % _SLOW == 0:
            self.slow.emit(self._last)
