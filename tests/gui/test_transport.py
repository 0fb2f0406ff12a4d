"""The transport bar: how fast, how far, and how long still, also of an engine that was running before the app."""

import math

import pytest
from pyqtgraph.Qt import QtCore, QtTest
from pytestqt.qtbot import QtBot
from shell_support import FakeSession, focus, make_status

from gui.shell.main_window import MainWindow
from rig.engine import Pace
from rig.states import State


def test_the_speed_is_what_the_engine_tells_and_what_is_typed_is_sent(
    window: MainWindow, session: FakeSession, qtbot: QtBot
) -> None:
    bar = window.motion.transport
    session.take(make_status(State.RUNNING, motion="demo", path_time=5.0, path_duration=20.0, pace=0.4))
    assert bar.speed.isEnabled() and bar.speed.value() == pytest.approx(40.0) and session.sent == []
    focus(qtbot, bar.speed)
    bar.speed.selectAll()
    QtTest.QTest.keyClicks(bar.speed, "60")
    assert session.sent == []  # not before it is typed to its end
    session.take(make_status(State.RUNNING, motion="demo", path_time=5.1, path_duration=20.0, pace=0.4))
    assert bar.speed.text().startswith("60")
    QtTest.QTest.keyClick(bar.speed, QtCore.Qt.Key.Key_Return)
    assert session.sent == [("speed", Pace(0.6), None)]


def test_without_an_engine_there_is_no_speed(qtbot: QtBot, window: MainWindow, session: FakeSession) -> None:
    bar = window.motion.transport
    session.end()
    assert not bar.speed.isEnabled() and "Not now:" in bar.speed.toolTip()


def test_what_is_left_takes_the_pace_into_account_and_needs_an_end(window: MainWindow, session: FakeSession) -> None:
    bar = window.motion.transport
    session.take(make_status(State.RUNNING, motion="demo", path_time=5.0, path_duration=20.0, pace=0.5))
    assert "30.0" in bar.left.text() and bar.progress.value() == 250
    session.take(make_status(State.RUNNING, motion="stream", path_time=5.0, path_duration=math.inf))
    assert bar.left.text() == ""
    session.take(make_status(State.ENGAGED, motion="demo"))
    assert bar.left.text() == ""
