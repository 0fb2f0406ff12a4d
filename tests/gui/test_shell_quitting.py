"""The question whether to quit, and an app that is closed or stalls at the wrong moment."""

import socket
from typing import Any

from configured import endpoints
from live_app import STEP, connect, left_over, press_when_possible, status_of
from pyqtgraph.Qt import QtWidgets
from shell_support import FakeSession, asked, choose, make_status

from gui.session.rules import Action, Phase
from gui.shell.main_window import MainWindow
from rig.recording import open_recording
from rig.states import State


def _question(window: MainWindow, session: FakeSession, qtbot: Any) -> QtWidgets.QMessageBox:
    session.take(make_status(State.ENGAGED))
    window.close()
    session.take(make_status(State.PARKED))
    return asked(window, qtbot)


def test_a_question_closed_by_its_frame_means_stay(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    _question(window, session, qtbot).close()
    assert window.closing.question is None and window.isVisible() and not session.ended_by_window
    choose(_question(window, session, qtbot), "Quit")  # it can be asked again
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=2000)


def test_whoever_connects_again_is_not_asked_any_longer(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    _question(window, session, qtbot)
    session.enter(Phase.STARTING)
    assert window.closing.question is None and not session.ended_by_window


def test_quit_never_ends_an_engine_with_torque(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    question = _question(window, session, qtbot)
    session.take(make_status(State.RUNNING))
    session.stops.clear()
    choose(question, "Quit")
    assert session.stops == [(1, "closing the window")] and not session.ended_by_window
    session.take(make_status(State.PARKED))
    choose(asked(window, qtbot), "Quit")
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=2000)
    assert session.ended_by_window


def test_closed_while_the_engine_starts_nothing_is_left(live: MainWindow, qtbot: Any) -> None:
    press_when_possible(qtbot, live.operate.buttons[Action.CONNECT])
    assert live.session.phase is Phase.STARTING
    live.close()
    qtbot.waitUntil(lambda: not live.isVisible(), timeout=180_000)
    assert left_over() == []


def test_a_port_that_is_taken_leaves_nothing_behind(live: MainWindow, qtbot: Any) -> None:
    host, port = endpoints(live.session.config)[2]
    with socket.create_server((host, port)):
        press_when_possible(qtbot, live.operate.buttons[Action.CONNECT])
        qtbot.waitUntil(lambda: live.session.phase is Phase.DOWN, timeout=180_000)
    assert f"cannot listen on {host}:{port}" in live.notice.text()
    assert not list(live.session.folder.glob("*.mcap")) and left_over() == []
    connect(live, qtbot)
    live.close()  # without torque nothing is asked
    qtbot.waitUntil(lambda: not live.isVisible(), timeout=STEP)
    assert live.closing.question is None and left_over() == []
    (recording,) = live.session.folder.glob("*.mcap")
    assert open_recording(recording).complete


def test_an_app_that_stalled_takes_its_lease_again_and_disconnects(live: MainWindow, qtbot: Any) -> None:
    connect(live, qtbot)
    live.clock.stop()  # no sign of life any more
    qtbot.waitUntil(lambda: status_of(live).lease == "", timeout=STEP)
    press_when_possible(qtbot, live.operate.buttons[Action.DISCONNECT])
    qtbot.waitUntil(lambda: live.session.phase is Phase.DOWN, timeout=STEP)
    assert live.session.recording is not None
    recording = open_recording(live.session.recording)
    assert recording.complete and "cycles" in recording.closing
