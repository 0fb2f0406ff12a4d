"""The frame clock: thirty frames per second, independent of data arrival."""

from typing import Protocol

import numpy as np
import numpy.typing as npt
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.models import CycleMeter, History
from gui.session.rig_session import RigSession

_INTERVAL = 33  # ms
_SLOW = 6
"""Frames between two updates of displayed numbers."""


class View(Protocol):
    """A view of telemetry."""

    def isVisible(self) -> bool:
        """Whether it is visible, also in a minimised window."""

    def window(self) -> QtWidgets.QWidget:
        """The window that it is in."""

    def refresh(self, history: History) -> None:
        """Show the current history."""


def seen(view: View) -> bool:
    """Whether a view is visible in a window that is on the screen: not minimised, nor on another desktop."""
    if not view.isVisible():
        return False
    handle = view.window().windowHandle()
    return handle is None or bool(handle.isExposed())


class FrameClock(QtCore.QObject):
    """Fetches telemetry, sends the engine the app's heartbeat, and refreshes the views that are seen.

    Signals: `slow(row)`: five times a second with the newest row, None without one.

    Args:
        session: source of rows.
        history: destination.
    """

    slow = QtCore.Signal(object)

    def __init__(self, session: RigSession, history: History, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self.meter = CycleMeter(session.config.period)
        self.views: list[View] = []
        """Refreshed in every frame if seen."""
        self._session = session
        self._history = history
        self._frames = 0
        self._last: np.void | None = None
        self._timer = QtCore.QTimer(self)
        self._timer.setTimerType(QtCore.Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_INTERVAL)
        self._timer.timeout.connect(self.tick)

    def start(self) -> None:
        """Start the clock."""
        self._timer.start()

    def stop(self) -> None:
        """Stop the clock."""
        self._timer.stop()

    def tick(self) -> None:
        """Process one frame."""
        self._session.beat()
        rows: npt.NDArray[np.void]
        rows, _dropped = self._session.poll_rows()
        if len(rows):
            if self._last is not None and rows["t"][0] < self._last["t"]:
                self.meter.clear()  # a new engine
            self._last = rows[-1]
            self.meter.add(rows)
            self._history.append(rows)
        for view in self.views:
            if seen(view):
                view.refresh(self._history)
        self._frames += 1
        if self._frames % _SLOW == 0:
            self.slow.emit(self._last)
