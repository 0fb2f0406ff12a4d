"""Closing the window on real processes: asked before the rig is stopped, the recording whole, no process left."""

import os
import signal
from typing import Any

from live_app import STEP, engage, left_over, run, state_of, status_of
from shell_support import asked, choose, press

from gui.models.rules import Action
from gui.shell.main_window import MainWindow
from rig.recording import Recording, open_recording
from rig.states import FaultCode, State


def _answer(window: MainWindow, qtbot: Any, text: str) -> str:
    """Press a button of the question; what it said."""
    question = asked(window, qtbot, STEP)
    said = str(question.text())
    choose(question, text)
    return said


def _until_gone(window: MainWindow, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=STEP)
    assert left_over() == []


def _recorded(window: MainWindow) -> Recording:
    assert window.session.recording is not None
    recording = open_recording(window.session.recording)
    assert recording.complete and recording.dropped == 0
    return recording


def test_with_torque_on_the_motion_goes_on_until_the_question_is_answered_and_who_stays_loses_nothing(
    live: MainWindow, qtbot: Any
) -> None:
    engage(live, qtbot)
    run(live, qtbot)
    live.close()
    asked(live, qtbot, STEP)
    cycles = status_of(live).cycles
    qtbot.waitUntil(lambda: status_of(live).cycles > cycles + 50, timeout=STEP)
    assert state_of(live) is State.RUNNING
    said = _answer(live, qtbot, "Stay")
    assert said.startswith("The rig has torque") and str(live.session.recording) in said
    assert live.isVisible() and state_of(live) is State.RUNNING

    live.close()
    _answer(live, qtbot, "Stop and quit")
    _until_gone(live, qtbot)
    recording = _recorded(live)
    assert recording.rows["state"][-1] == State.PARKED
    stops = [event for event in recording.events if event.code]
    assert stops and {event.code for event in stops} == {FaultCode.OPERATOR_STOP}


def test_a_stop_over_the_question_is_said_by_it(live: MainWindow, qtbot: Any) -> None:
    engage(live, qtbot)
    live.close()
    question = asked(live, qtbot, STEP)
    press(live.stop_button)
    qtbot.waitUntil(lambda: question.text().startswith("The rig no longer has torque"), timeout=STEP)
    choose(question, "Quit")
    _until_gone(live, qtbot)
    assert _recorded(live).rows["state"][-1] == State.PARKED


def test_an_engine_that_dies_while_it_is_stopped_for_closing(live: MainWindow, qtbot: Any) -> None:
    engage(live, qtbot)
    run(live, qtbot)
    os.kill(live.session.engine_pid or 0, signal.SIGSTOP)  # so that the stop cannot be done
    live.close()
    _answer(live, qtbot, "Stop and quit")
    os.kill(live.session.engine_pid or 0, signal.SIGKILL)
    assert "The engine has died" in _answer(live, qtbot, "Stay")
    assert live.isVisible() and live.operate.buttons[Action.CONNECT].text() == "&1  Restart engine"
    assert state_of(live) is State.RUNNING  # the last that was known
    live.close()
    _until_gone(live, qtbot)
