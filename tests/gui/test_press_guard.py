"""A press that began before its button moved, or came to mean something else, does nothing."""

from collections.abc import Callable, Iterator

import pytest
from pyqtgraph.Qt import QtCore, QtTest, QtWidgets
from pytestqt.qtbot import QtBot
from shell_support import LEFT, FakeSession, make_status

from gui.shell.main_window import MainWindow
from gui.widgets import GuardedButton, PressGuard
from rig.states import State


@pytest.fixture
def button(qtbot: QtBot) -> Iterator[GuardedButton]:
    """In a window of its own, with the guard of the app."""
    window = QtWidgets.QWidget()
    qtbot.addWidget(window)
    window.resize(300, 200)
    made = GuardedButton("Run demo", parent=window)
    made.setGeometry(20, 20, 120, 40)
    guard = PressGuard(window)
    with qtbot.waitExposed(window):
        window.show()
    yield made
    guard.remove()


def _taller(button: GuardedButton) -> None:
    button.resize(button.width(), button.height() + 5)


@pytest.mark.parametrize(
    ("change", "clicks"),
    [
        (lambda button: None, 1),
        (lambda button: button.move(20, 25), 0),
        (_taller, 0),
        (lambda button: button.setAccessibleName("Run sine"), 0),
        (lambda button: button.parentWidget().move(button.parentWidget().pos() + QtCore.QPoint(0, 30)), 0),
    ],
)
def test_a_button_that_changed_under_the_press_is_not_pressed(
    button: GuardedButton, change: Callable[[GuardedButton], None], clicks: int
) -> None:
    pressed = []
    button.clicked.connect(lambda: pressed.append(True))
    # as the window system tells them: to the window first
    window, place = button.window().windowHandle(), button.mapTo(button.window(), button.rect().center())
    QtTest.QTest.mousePress(window, LEFT, QtCore.Qt.KeyboardModifier.NoModifier, place)
    assert button.isDown()
    change(button)
    QtTest.QTest.mouseRelease(window, LEFT, QtCore.Qt.KeyboardModifier.NoModifier, place)
    assert len(pressed) == clicks and not button.isDown()
    QtTest.QTest.mouseClick(button, LEFT)
    assert len(pressed) == clicks + 1


def test_run_is_not_pressed_for_another_motion_than_it_named(window: MainWindow, session: FakeSession) -> None:
    motion = window.motion
    session.take(make_status(State.ENGAGED))
    clicked = []
    motion.run.set_obstacle("")
    motion.run.clicked.connect(lambda: clicked.append(motion.run.accessibleName()))
    QtTest.QTest.mousePress(motion.run, LEFT)
    motion.transport.show_motion("sine", 6.0)  # a file has been read meanwhile
    QtTest.QTest.mouseRelease(motion.run, LEFT)
    assert clicked == []
    QtTest.QTest.mouseClick(motion.run, LEFT)
    assert clicked == ["Run sine, 6 s"]


def test_stop_acts_whatever_happens_to_its_button(window: MainWindow, session: FakeSession) -> None:
    session.take(make_status(State.RUNNING, path_duration=20.0))
    QtTest.QTest.mousePress(window.stop_button, LEFT)
    assert session.stops == [(1, "button")]
