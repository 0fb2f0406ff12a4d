"""Whatever the rig does by itself, everything that can be pressed stays where it is, and no page scrolls."""

import pytest
from happenings import happenings
from pyqtgraph.Qt import QtCore, QtWidgets
from shell_support import FakeSession
from standing import pressable, standing

from gui.shell.main_window import MainWindow

_SIZES = {"least": (1024, 700), "usual": (1280, 800)}


def _settle() -> None:
    """Have everything placed, without its being painted."""
    for _ in range(4):  # from the innermost to the window
        QtWidgets.QApplication.sendPostedEvents(None, QtCore.QEvent.Type.LayoutRequest)


@pytest.mark.parametrize("size", list(_SIZES))
def test_nothing_that_can_be_pressed_moves_by_itself(whole_window: MainWindow, session: FakeSession, size: str) -> None:
    window, moved = whole_window, []
    window.resize(*_SIZES[size])
    for index in range(window.tabs.count()):
        window.tabs.setCurrentIndex(index)
        window.notice.clear()
        QtWidgets.QApplication.processEvents()
        _settle()
        widgets = pressable()
        before = standing(widgets)
        for name, event in happenings(window, session).items():
            event()
            _settle()
            now = standing(widgets)
            moved += [f"{window.tabs.tabText(index)}, {name}: {each}" for each in now.moved_since(before)]
            before = now
    assert not moved, "\n".join(moved)
    assert (window.width(), window.height()) == _SIZES[size]
