"""The frame clock: what it fetches always, and what it refreshes only while somebody can see it."""

from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets
from pytestqt.qtbot import QtBot
from shell_support import FakeSession

from gui.models.timeline import History
from gui.session.frame_clock import FrameClock
from rig.config.rig_config import load_config


class _Handle:
    """A window of the screen, or of none."""

    exposed = True

    def isExposed(self) -> bool:
        return self.exposed


class _Top(QtWidgets.QWidget):  # type: ignore[misc]
    """A window whose handle is given."""

    handle: Any = None

    def windowHandle(self) -> Any:
        return self.handle


class _Sight(QtWidgets.QWidget):  # type: ignore[misc]
    """Counts how often it is refreshed."""

    refreshed = 0

    def refresh(self, _history: History) -> None:
        self.refreshed += 1


def test_views_of_a_minimised_window_are_not_refreshed(qtbot: QtBot, tmp_path: Path) -> None:
    session = FakeSession(load_config("virtual"), tmp_path)
    clock = FrameClock(session, History(10))
    told: list[object] = []
    clock.slow.connect(told.append)
    window = _Top()
    qtbot.addWidget(window)
    sight = _Sight(window)
    clock.views.append(sight)
    clock.tick()
    assert sight.refreshed == 0  # not shown yet
    window.setAttribute(QtCore.Qt.WidgetAttribute.WA_DontShowOnScreen)
    window.show()
    clock.tick()
    assert sight.refreshed == 1  # a window without a handle of its own
    window.handle = _Handle()
    clock.tick()
    assert sight.refreshed == 2
    window.handle.exposed = False
    for _ in range(6):
        clock.tick()
    assert sight.refreshed == 2 and len(told) == 1  # what the engine and the banner need goes on
    window.handle.exposed = True
    clock.tick()
    assert sight.refreshed == 3
    session.close()
