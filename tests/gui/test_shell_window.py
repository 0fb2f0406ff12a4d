"""The window itself: closing it, its settings, its menus."""

from pathlib import Path
from typing import Any

import pytest
from pyqtgraph.Qt import QtGui, QtWidgets
from shell_support import FakeSession, make_settings, make_status, press

from gui.main_window import MainWindow
from gui.theme import DARK, LIGHT
from rig.states import State


def test_without_torque_closing_ends_everything_and_goes(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    session.take(make_status(State.PARKED))
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=2000)
    assert session.ended_by_window and session.stops == []


def test_closing_while_engaged_stops_flushes_then_asks(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    session.take(make_status(State.RUNNING))
    window.close()
    assert window.isVisible() and session.stops == [(1, "closing the window")]
    session.take(make_status(State.STOPPING))
    assert "disconnect" not in session.commands
    session.take(make_status(State.PARKED))
    assert session.commands == ["disconnect"]
    qtbot.waitUntil(lambda: window.closing.question is not None, timeout=2000)
    stay = next(button for button in window.closing.question.buttons() if button.text() == "Stay")
    press(stay)
    assert window.isVisible() and not session.ended_by_window


def test_quit_after_the_question(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    session.take(make_status(State.ENGAGED))
    window.close()
    session.take(make_status(State.PARKED))
    qtbot.waitUntil(lambda: window.closing.question is not None, timeout=2000)
    press(next(button for button in window.closing.question.buttons() if button.text() == "Quit"))
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=2000)
    assert session.ended_by_window


def test_a_stop_that_is_overdue_is_asked_about_all_the_same(
    window: MainWindow, session: FakeSession, qtbot: Any
) -> None:
    session.take(make_status(State.RUNNING))
    window.closing.rest_timer.setInterval(10)
    window.close()
    qtbot.waitUntil(lambda: window.closing.question is not None, timeout=2000)
    assert "did not come to rest" in window.closing.question.text()
    press(next(button for button in window.closing.question.buttons() if button.text() == "Stay"))


def test_settings_and_layout_are_kept(window: MainWindow, session: FakeSession, qtbot: Any, tmp_path: Path) -> None:
    window.use_theme("light")
    window.jog.translation.set_si(0.0025)
    window.jog.frame.setCurrentIndex(1)
    window.tabs.setCurrentWidget(window.log)
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=2000)
    again = FakeSession(session.config, tmp_path)
    other = MainWindow(again, make_settings(tmp_path))
    try:
        assert other.theme is LIGHT and other.tabs.currentWidget() is other.log
        assert other.jog.translation.si() == pytest.approx(0.0025)
        assert other.jog.frame.currentData() == "platform"
        other.use_theme(DARK.name)
    finally:
        other.close_now()


def test_dark_and_light(window: MainWindow) -> None:
    application = QtWidgets.QApplication.instance()
    for theme in (LIGHT, DARK):
        window.use_theme(theme.name)
        role = QtGui.QPalette.ColorRole.Window
        assert application.palette().color(role).name() == theme.window.lower()


def test_first_steps_do_not_block_the_window(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    window.show_first_steps()
    assert QtWidgets.QApplication.activeModalWidget() is None
    press(window.stop_button)
    assert session.stops == [(1, "button")]
