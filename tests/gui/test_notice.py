"""Refusals in the banner: whole, and with a button for the step that they ask for."""

import pytest
from pyqtgraph.Qt import QtCore
from shell_support import FakeSession, make_status, press

from gui.models import Action, Phase, repair_of
from gui.shell.main_window import MainWindow
from rig.findings import Code, Finding, Remedy
from rig.states import State


@pytest.mark.parametrize("code", Code)
def test_every_remedy_has_a_button(code: Code) -> None:
    """And none that is pressed at once brings torque."""
    repair = repair_of(Finding(code))
    assert (repair is None) == (code.remedy is Remedy.NONE)
    if repair is not None:
        assert repair.text and repair.action not in (Action.HOME, Action.ENGAGE, Action.RESUME, Action.MOVE)


def test_a_refusal_has_a_button_for_the_step_it_asks_for(window: MainWindow, session: FakeSession) -> None:
    notice = window.banner.notice
    session.take(make_status(State.FAULT, latched=True))
    session.refused.emit("follow", Finding(Code.FAULT_LATCHED))
    assert notice.isVisible() and notice.remedy_button.isVisible() and notice.remedy_button.text() == "Reset"
    assert notice.isAncestorOf(notice.remedy_button) and window.banner.isAncestorOf(notice)
    assert notice.height() >= notice.remedy_button.height() + notice.fontMetrics().height()
    press(notice.remedy_button)
    assert session.commands == ["reset"]
    session.refused.emit("report", "the disk is full")
    assert notice.isVisible() and not notice.remedy_button.isVisible()
    notice.remark("The report: a.html")
    assert not notice.remedy_button.isVisible()


def test_the_button_says_why_it_cannot_be_pressed_any_more(window: MainWindow, session: FakeSession) -> None:
    session.take(make_status(State.ENGAGED))
    session.refused.emit("report", Finding(Code.PROCESSOR_RESERVED))
    assert window.banner.notice.remedy_button.isEnabled()
    session.take(make_status(State.RUNNING))
    assert (
        not window.banner.notice.remedy_button.isEnabled() and "running" in window.banner.notice.remedy_button.obstacle
    )


def test_a_refusal_whose_step_was_taken_by_another_way_is_gone(window: MainWindow, session: FakeSession) -> None:
    notice = window.banner.notice
    session.take(make_status(State.RUNNING))
    session.refused.emit("report", Finding(Code.PROCESSOR_RESERVED))
    session.take(make_status(State.STOPPING))
    assert notice.isVisible()
    session.take(make_status(State.PARKED))  # by STOP
    assert not notice.isVisible() and notice.text() == ""
    session.refused.emit("leg test", Finding(Code.NOT_HOMED))
    session.take(make_status(State.PARKED))
    session.enter(Phase.DOWN)
    assert not notice.isVisible()
    session.refused.emit("home", Finding(Code.CONNECT_FIRST))  # whatever it says, it was not to be done when it came
    session.take(make_status(State.IDLE))
    session.refused.emit("home", Finding(Code.CONNECT_FIRST))
    session.take(make_status(State.IDLE))
    assert notice.isVisible()
    session.refused.emit("report", "the disk is full")
    session.take(make_status(State.ENGAGED))
    assert notice.isVisible()


def test_the_first_refusal_is_whole(window: MainWindow, session: FakeSession) -> None:
    notice = window.banner.notice
    session.take(make_status(State.ENGAGED))
    session.refused.emit("report", Finding(Code.PROCESSOR_RESERVED))
    label = notice._label
    window.repaint()
    places = [window.operate.mapTo(window, QtCore.QPoint()), window.tabs.mapTo(window, QtCore.QPoint())]
    assert label.height() >= label.heightForWidth(label.width()) > 2 * label.fontMetrics().height()
    assert notice._room.verticalScrollBar().maximum() == 0
    notice.clear()
    window.repaint()
    assert places == [window.operate.mapTo(window, QtCore.QPoint()), window.tabs.mapTo(window, QtCore.QPoint())]
    assert window.banner.figure("Rate") == "–" and not notice.isVisible()
