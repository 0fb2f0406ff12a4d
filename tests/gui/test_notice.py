"""Refusals below the steps: whole, and with a button for the step that they ask for."""

import pytest
from shell_support import FakeSession, make_status, press

from gui.session import Action, Phase, mending
from gui.shell.main_window import MainWindow
from rig.states import State


@pytest.mark.parametrize(
    ("reason", "action"),
    [
        ("follow: a fault is latched: reset first", Action.RESET),
        ("the engine has died: restart it first", Action.CONNECT),
        ("disconnect: park first", Action.PARK),
        ("the app holds its drives: park, then disconnect first", Action.DISCONNECT),
        ("home: connect first", Action.CONNECT),
        ("while the drives have torque the processor belongs to the engine: park or stop first", Action.PARK),
        ("abandon: 'demo' is running: pause it first", Action.PAUSE),
        ("the platform is not homed any more: disconnect, connect and home", Action.DISCONNECT),
        ("run: engage first", None),  # which would bring torque
        ("the disk is full", None),
    ],
)
def test_the_step_that_a_refusal_asks_for(reason: str, action: Action | None) -> None:
    assert mending(reason) is action


def test_a_refusal_has_a_button_for_the_step_it_asks_for(window: MainWindow, session: FakeSession) -> None:
    notice = window.notice
    session.take(make_status(State.FAULT, latched=True))
    session.refused.emit("follow", "a fault is latched: reset first")
    assert notice.isVisible() and notice.mend.isVisible() and notice.mend.text() == "Reset"
    assert notice.height() >= notice.mend.height() + notice.fontMetrics().height()
    press(notice.mend)
    assert session.commands == ["reset"]
    session.refused.emit("report", "the disk is full")
    assert notice.isVisible() and not notice.mend.isVisible()
    notice.remark("The report: a.html")
    assert not notice.mend.isVisible()


def test_the_button_says_why_it_cannot_be_pressed_any_more(window: MainWindow, session: FakeSession) -> None:
    session.take(make_status(State.ENGAGED))
    session.refused.emit("report", "while the drives have torque: park or stop first")
    assert window.notice.mend.isEnabled()
    session.take(make_status(State.PARKED))
    assert not window.notice.mend.isEnabled() and window.notice.mend.obstacle
    session.enter(Phase.DOWN)
    assert "connect first" in window.notice.mend.obstacle
