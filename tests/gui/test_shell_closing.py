"""Closing the window on real processes: the rig comes to rest, the recording is whole, and no process is left."""

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from live_app import STEP, connect, engage, left_over, press_when_possible, reach, run, state_of
from shell_support import press

from gui.main_window import MainWindow
from gui.rules import Action, Phase
from rig.engine import TORQUE_STATES
from rig.recording import Recording, open_recording
from rig.states import FaultCode, State

pytestmark = pytest.mark.realtime


def _answer(window: MainWindow, qtbot: Any, text: str) -> str:
    """Press a button of the question; what it said."""
    qtbot.waitUntil(lambda: window.closing.question is not None, timeout=STEP)
    question = window.closing.question
    said = str(question.text())
    press(next(button for button in question.buttons() if button.text() == text))
    return said


def _until_gone(window: MainWindow, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=STEP)
    assert left_over() == []


def _recorded(window: MainWindow) -> Recording:
    assert window.session.recording is not None
    recording = open_recording(window.session.recording)
    assert recording.complete and recording.dropped == 0
    return recording


def _running(window: MainWindow, qtbot: Any) -> None:
    engage(window, qtbot)
    run(window, qtbot)


def _paused(window: MainWindow, qtbot: Any) -> None:
    _running(window, qtbot)
    press_when_possible(qtbot, window.motion.pause)
    qtbot.waitUntil(lambda: window.banner.state_text == "Paused", timeout=STEP)


def _homing(window: MainWindow, qtbot: Any) -> None:
    connect(window, qtbot)
    press_when_possible(qtbot, window.operate.buttons[Action.HOME])
    reach(window, qtbot, State.HOMING)


@pytest.mark.parametrize("reach_state", [_running, _paused, _homing])
def test_with_torque_on_the_rig_is_stopped_and_the_recording_closed_before_the_question(
    live: MainWindow, qtbot: Any, reach_state: Callable[[MainWindow, Any], None]
) -> None:
    reach_state(live, qtbot)
    live.close()
    assert live.isVisible()
    said = _answer(live, qtbot, "Quit")
    assert said.startswith(f"The rig was stopped and the recording is closed.\n{live.session.recording}")
    _until_gone(live, qtbot)
    recording = _recorded(live)
    assert recording.rows["state"][-1] not in TORQUE_STATES
    assert recording.rows["state"][-1] == (State.IDLE if reach_state is _homing else State.PARKED)
    stops = [event for event in recording.events if event.code]
    assert stops and {event.code for event in stops} == {FaultCode.OPERATOR_STOP}


def test_who_stays_goes_on_where_the_rig_was_left(live: MainWindow, qtbot: Any) -> None:
    _running(live, qtbot)
    first = live.session.recording
    live.close()
    _answer(live, qtbot, "Stay")
    assert live.isVisible() and live.session.phase is Phase.DOWN
    _recorded(live)
    connect(live, qtbot)
    assert live.session.recording != first
    live.close()  # without torque nothing is asked
    _until_gone(live, qtbot)
    assert live.closing.question is None
    _recorded(live)


def test_while_the_engine_starts(live: MainWindow, qtbot: Any) -> None:
    press(live.operate.buttons[Action.CONNECT])
    assert live.session.phase is Phase.STARTING
    live.close()
    _until_gone(live, qtbot)
    assert live.closing.question is None


def test_in_a_fault(live: MainWindow, qtbot: Any) -> None:
    engage(live, qtbot)
    live.session.inject("encoder_nan", 2, None, 0.5)
    reach(live, qtbot, State.FAULT)
    live.close()
    _until_gone(live, qtbot)
    assert live.closing.question is None
    assert _recorded(live).rows["state"][-1] == State.FAULT


def test_after_the_engine_has_died(live: MainWindow, qtbot: Any) -> None:
    engage(live, qtbot)
    os.kill(live.session.engine_pid or 0, signal.SIGKILL)
    qtbot.waitUntil(lambda: live.session.phase is Phase.DIED, timeout=STEP)
    live.close()
    _until_gone(live, qtbot)
    assert live.closing.question is None
    assert _recorded(live).rows["state"][-1] == State.ENGAGED


def test_an_engine_that_dies_while_it_is_stopped_for_closing(live: MainWindow, qtbot: Any) -> None:
    _running(live, qtbot)
    os.kill(live.session.engine_pid or 0, signal.SIGSTOP)  # so that the stop cannot be done
    live.close()
    os.kill(live.session.engine_pid or 0, signal.SIGKILL)
    assert "The engine has died" in _answer(live, qtbot, "Stay")
    assert live.isVisible() and live.operate.buttons[Action.CONNECT].text() == "&1  Restart engine"
    assert state_of(live) is State.RUNNING  # the last that was known
    live.close()
    _until_gone(live, qtbot)
