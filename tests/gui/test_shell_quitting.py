"""The question whether to quit, and an app that is closed or stalls at the wrong moment."""

import socket
from typing import Any

from configured import endpoints
from live_app import STEP, connect, left_over, press_when_possible, status_of
from pyqtgraph.Qt import QtWidgets
from shell_support import FakeSession, asked, choose, make_status

from gui.models.rules import Action, Phase
from gui.shell.main_window import MainWindow
from rig.recording import open_recording
from rig.states import State


def _question(window: MainWindow, session: FakeSession, qtbot: Any) -> QtWidgets.QMessageBox:
    session.take(make_status(State.ENGAGED))
    window.close()
    return asked(window, qtbot)


def test_a_question_closed_by_its_frame_means_stay(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    _question(window, session, qtbot).close()
    assert window.closing.question is None and window.isVisible() and not session.ended_by_window
    assert session.stops == []
    choose(_question(window, session, qtbot), "Stop and quit")  # it can be asked again
    session.take(make_status(State.PARKED))
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=60_000)


def test_whoever_connects_again_is_not_asked_any_longer(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    _question(window, session, qtbot)
    session.enter(Phase.STARTING)
    assert window.closing.question is None and not session.ended_by_window


def test_the_question_says_what_the_answer_would_do_now(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    question = _question(window, session, qtbot)
    session.take(make_status(State.PARKED))
    assert question.text().startswith("The rig no longer has torque.")
    session.take(make_status(State.RUNNING))
    assert question.text().startswith("The rig has torque") and "Stop the rig" in question.text()
    choose(question, "Stop and quit")
    assert session.stops == [(1, "closing the window")] and not session.ended_by_window
    session.take(make_status(State.PARKED))
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=60_000)
    assert session.ended_by_window


def test_whoever_closes_twice_is_asked_once(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    question = _question(window, session, qtbot)
    window.close()
    assert asked(window, qtbot) is question and question.isVisible() and session.stops == []


def test_an_engine_that_dies_under_the_question(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    question = _question(window, session, qtbot)
    session.enter(Phase.DIED)
    assert question.text().startswith("The engine has died")
    choose(question, "Quit")
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=60_000)
    assert session.ended_by_window and session.stops == []


def test_quit_never_ends_an_engine_with_torque(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    choose(_question(window, session, qtbot), "Stop and quit")
    window.motion.amplitude.setValue(40.0)
    session.take(make_status(State.PARKED))
    qtbot.waitUntil(lambda: window.motion.document.question is not None, timeout=60_000)
    session.take(make_status(State.RUNNING))  # somebody has begun anew meanwhile
    session.stops.clear()
    choose(window.motion.document.question, "Discard the changes")
    assert asked(window, qtbot).text().startswith("The rig has torque")
    assert session.stops == [] and not session.ended_by_window


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
    assert f"cannot listen on {host}:{port}" in live.banner.notice.text()
    assert not list(live.session.folder.glob("*.mcap")) and left_over(computing=False) == []
    connect(live, qtbot)
    live.close()  # without torque nothing is asked
    qtbot.waitUntil(lambda: not live.isVisible(), timeout=STEP)
    assert live.closing.question is None and left_over() == []
    (recording,) = live.session.folder.glob("*.mcap")
    assert open_recording(recording).complete


def test_an_app_that_stalled_takes_its_lease_again_and_disconnects(live: MainWindow, qtbot: Any) -> None:
    connect(live, qtbot)
    live.views.clock.stop()  # no sign of life any more
    qtbot.waitUntil(lambda: status_of(live).lease == "", timeout=STEP)
    press_when_possible(qtbot, live.operate.buttons[Action.DISCONNECT])
    qtbot.waitUntil(lambda: live.session.phase is Phase.DOWN, timeout=STEP)
    assert live.session.recording is not None
    recording = open_recording(live.session.recording)
    assert recording.complete and "cycles" in recording.closing
