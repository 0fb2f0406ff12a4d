"""The app on real processes: the operator's first minute, and an engine that is killed."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyqtgraph.Qt import QtCore, QtWidgets
from shell_support import KEY, key, make_settings, press

from gui.application import app_config
from gui.main_window import MainWindow
from gui.rig_session import RigSession
from gui.rules import Action, Phase
from rig.recording import open_recording
from rig.states import State

pytestmark = pytest.mark.realtime

_START = 180_000  # ms; the first start on a machine compiles the kernels
_STEP = 20_000  # ms
_SHORT = {"type": "minimum-jerk", "start": [0.0] * 6, "end": [0.0, 0.0, 0.01, 0.0, 0.0, 0.0], "duration": 3.0}


@pytest.fixture
def live(qtbot: Any, tmp_path: Path) -> Iterator[MainWindow]:
    """The app as it starts, recordings in a folder of the test's own."""
    # patience for a shared machine: a drive that waits too long there says nothing about the app
    config = app_config("virtual").changed({"drives": {"watchdog": 0.3}, "safety": {"heartbeat": 2.0}})
    window = MainWindow(RigSession(config, tmp_path), make_settings(tmp_path))
    window.show()
    qtbot.waitUntil(lambda: window.complete, timeout=_STEP)
    yield window
    window.close_now()
    window.deleteLater()
    QtWidgets.QApplication.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)


def _state(window: MainWindow) -> State | None:
    status = window.session.status
    return None if status is None else status.state


def _reach(window: MainWindow, qtbot: Any, state: State, timeout: int = _STEP) -> None:
    qtbot.waitUntil(lambda: _state(window) is state, timeout=timeout)


def _press_when_possible(qtbot: Any, button: QtWidgets.QPushButton) -> None:
    qtbot.waitUntil(button.isEnabled, timeout=_STEP)
    press(button)


def _engage(window: MainWindow, qtbot: Any) -> None:
    buttons = window.operate.buttons
    press(buttons[Action.CONNECT])
    _reach(window, qtbot, State.IDLE, _START)
    _press_when_possible(qtbot, buttons[Action.HOME])
    _reach(window, qtbot, State.PARKED)
    settled = window.session.status.t + 0.3  # s; the cells' zero is judged at rest
    qtbot.waitUntil(lambda: window.session.status.t > settled, timeout=_STEP)
    _press_when_possible(qtbot, window.operate.arm)
    press(buttons[Action.ENGAGE])
    _reach(window, qtbot, State.ENGAGED)


def test_the_first_minute(live: MainWindow, qtbot: Any) -> None:
    session, motion = live.session, live.motion
    assert live.banner.state_text == "Off"
    _engage(live, qtbot)
    motion.editor.set_value({"frame": "home", "pivot": [0.0] * 3, "parts": [_SHORT]}, Path())
    qtbot.waitUntil(lambda: motion.run.isEnabled(), timeout=_STEP)
    live.tabs.setCurrentWidget(live.live_page)
    motion.run.click()
    _reach(live, qtbot, State.RUNNING)
    qtbot.waitUntil(lambda: len(live.history) > 100, timeout=_STEP)
    qtbot.waitUntil(lambda: live.banner.figure("Rate") != "–", timeout=_STEP)

    live.tabs.setCurrentWidget(live.log)
    live.log.search.setFocus()
    key(KEY.Key_Escape, live)
    qtbot.waitUntil(lambda: _state(live) in (State.STOPPING, State.PARKED), timeout=_STEP)
    _reach(live, qtbot, State.PARKED)
    stops = [entry for entry in live.log.model.entries if entry.code == "OPERATOR_STOP"]
    assert stops and all(
        "category 1" in entry.text for entry in stops
    )  # by the flag or by the link: whichever came first
    assert not live.mover.active

    recording = session.recording
    assert recording is not None
    _press_when_possible(qtbot, live.operate.buttons[Action.DISCONNECT])
    qtbot.waitUntil(lambda: session.phase is Phase.DOWN, timeout=_STEP)
    opened = open_recording(recording)
    assert opened.complete and len(opened.rows) > 500
    with qtbot.waitSignal(live.reports.finished, timeout=_START) as made:
        live.open_file = lambda _path: True
        _press_when_possible(qtbot, live.report)
    assert made.args == [str(recording.with_suffix(".html")), ""]


def test_an_engine_that_is_killed_is_said_at_once_and_can_be_started_again(live: MainWindow, qtbot: Any) -> None:
    session = live.session
    _engage(live, qtbot)
    pid = session.engine_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: live.banner.state_text == "Engine died", timeout=1000)
    assert "in state ENGAGED" in live.banner.detail
    _press_when_possible(qtbot, live.operate.buttons[Action.CONNECT])
    qtbot.waitUntil(lambda: _state(live) not in (None, State.OFF), timeout=_START)
    assert _state(live) in (State.IDLE, State.FAULT)
    assert session.engine_pid not in (None, pid)
