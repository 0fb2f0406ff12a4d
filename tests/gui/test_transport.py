"""The transport bar: how fast, how far, and how long still, also of an engine that was running before the app."""

import math

import pytest
from pyqtgraph.Qt import QtCore, QtTest
from pytestqt.qtbot import QtBot
from shell_support import KEY, FakeSession, Panels, focus, key, make_event, make_status, press

from gui.models import Phase
from gui.shell.main_window import MainWindow
from rig.engine import Pace, Resume
from rig.findings import Code, Finding
from rig.states import State

START = 60_000  # ms, for a process that is started on a busy machine


def test_the_speed_is_what_the_engine_tells_and_what_is_typed_is_sent(
    panels: Panels, session: FakeSession, qtbot: QtBot
) -> None:
    bar = panels.motion.transport
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


def test_the_speed_keeps_the_keyboard_while_the_engine_answers_and_goes_back_where_it_is_refused(
    panels: Panels, session: FakeSession, qtbot: QtBot
) -> None:
    bar = panels.motion.transport
    session.take(make_status(State.RUNNING, motion="demo", path_time=5.0, path_duration=20.0, pace=0.4))
    focus(qtbot, bar.speed)
    session.busy = "follow"
    session.changed.emit()
    assert bar.speed.isEnabled() and bar.speed.hasFocus()
    session.busy, session.hold_answers = "", True
    bar.speed.selectAll()
    QtTest.QTest.keyClicks(bar.speed, "60")
    QtTest.QTest.keyClick(bar.speed, QtCore.Qt.Key.Key_Return)
    session.take(make_status(State.RUNNING, motion="demo", path_time=5.1, path_duration=20.0, pace=0.5))
    assert bar.speed.value() == pytest.approx(60.0)  # an earlier one's is not put in its place
    session.answer()
    session.take(make_status(State.RUNNING, motion="demo", path_time=5.2, path_duration=20.0, pace=0.6))
    assert bar.speed.value() == pytest.approx(60.0)
    session.hold_answers, session.refuse = False, "no"
    bar.speed.selectAll()
    QtTest.QTest.keyClicks(bar.speed, "80")
    QtTest.QTest.keyClick(bar.speed, QtCore.Qt.Key.Key_Return)
    assert session.commands == ["speed", "speed"] and bar.speed.value() == pytest.approx(60.0)


@pytest.mark.parametrize("taken", [True, False])
def test_a_motion_that_another_client_began_goes_on_once_it_is_taken_over(
    panels: Panels, session: FakeSession, qtbot: QtBot, taken: bool
) -> None:
    bar = panels.motion.transport
    paused = {"motion": "demo", "paused": True, "path_time": 6.0, "path_duration": 20.0}
    session.take(make_status(State.ENGAGED, begun_by="rig operate", **paused))
    assert bar.resume.isEnabled()
    press(bar.resume)
    assert session.sent == [] and bar.question is not None and "'rig operate'" in bar.question.text()
    take, leave = bar.question.buttons()
    press(take if taken else leave)
    assert session.sent == ([("resume", Resume(take_over=True), None)] if taken else [])
    session.sent.clear()
    session.take(make_status(State.ENGAGED, **paused))
    press(bar.resume)
    assert session.sent == [("resume", Resume(), None)]


def test_without_an_engine_there_is_no_speed(qtbot: QtBot, panels: Panels, session: FakeSession) -> None:
    bar = panels.motion.transport
    session.end()
    assert not bar.speed.isEnabled() and "Not now:" in bar.speed.toolTip()


def test_what_is_left_takes_the_pace_into_account_and_needs_an_end(panels: Panels, session: FakeSession) -> None:
    bar = panels.motion.transport
    session.take(make_status(State.RUNNING, motion="demo", path_time=5.0, path_duration=20.0, pace=0.5))
    assert "30.0" in bar.left.text() and bar.progress.value() == 250
    session.take(make_status(State.RUNNING, motion="stream", path_time=5.0, path_duration=math.inf))
    assert bar.left.text() == ""
    session.take(make_status(State.ENGAGED, motion="demo"))
    assert bar.left.text() == ""


def test_the_transport_is_in_view_on_every_page(whole_window: MainWindow, session: FakeSession) -> None:
    window = whole_window
    bar = window.motion.transport
    session.take(make_status(State.RUNNING, motion="demo", path_time=5.0, path_duration=20.0))
    for index in range(window.tabs.count()):
        window.tabs.setCurrentIndex(index)
        assert bar.isVisible() and bar.pause.isEnabled() and bar.hold.isEnabled()
        assert window.rect().contains(bar.geometry().translated(bar.parentWidget().mapTo(window, QtCore.QPoint())))
    assert "15.0" in bar.left.text() and bar.pause.property("next")
    assert bar.run.obstacle and bar.resume.obstacle
    session.take(make_status(State.ENGAGED, motion="demo", paused=True, path_time=6.0, path_duration=20.0))
    assert bar.resume.property("next") and not bar.pause.property("next")


def test_a_motion_whose_fmu_has_failed_is_not_resumed_next(panels: Panels, session: FakeSession) -> None:
    """One that failed in an earlier motion does not matter."""
    bar = panels.motion.transport
    failed = make_event(Finding(Code.REFERENCE_FMU_FAILED, within=(Finding.of_text("it ended"),)), t=6.0)
    for path_time, is_next in ((5.0, False), (3.0, True)):
        session.take(make_status(State.ENGAGED, motion="ship", paused=True, path_time=path_time,
                                 path_duration=math.inf, events=(failed,)))  # fmt: skip
        assert bool(bar.resume.property("next")) is is_next
        assert bool(bar.abandon.property("next")) is not is_next


def test_space_never_moves_the_machine(panels: Panels, session: FakeSession, qtbot: QtBot) -> None:
    session.take(make_status(State.ENGAGED, motion="demo", paused=True, path_time=6.0, path_duration=20.0))
    for button in (panels.motion.resume, panels.motion.abandon):
        focus(qtbot, button)
        key(KEY.Key_Space)
    assert session.sent == []


def test_a_line_moves_over_the_preview_of_the_motion_that_runs(
    panels: Panels, session: FakeSession, qtbot: QtBot
) -> None:
    motion = panels.motion
    motion._changed.start()
    qtbot.waitUntil(lambda: motion.preview.table is not None, timeout=START)
    session.take(make_status(State.RUNNING, motion="demo", path_time=5.0, path_duration=20.0))
    lines = motion.sights.plots._presents
    assert not any(line.isVisible() for line in lines)  # it was not run from here
    session.take(make_status(State.ENGAGED))
    press(motion.run)
    session.take(make_status(State.RUNNING, motion="demo", path_time=5.0, path_duration=20.0))
    assert all(line.isVisible() and line.value() == 5.0 for line in lines)
    motion.begin_template()  # whose curves it says nothing of
    session.take(make_status(State.RUNNING, motion="demo", path_time=6.0, path_duration=20.0))
    assert not any(line.isVisible() for line in lines)
    motion.templates.leave()
    session.take(make_status(State.RUNNING, motion="demo", path_time=7.0, path_duration=20.0))
    assert all(line.isVisible() and line.value() == 7.0 for line in lines)
    session.enter(Phase.DIED)
    assert not any(line.isVisible() for line in lines)
    session.enter(Phase.UP)
    session.take(make_status(State.ENGAGED, motion="demo"))
    assert not any(line.isVisible() for line in lines)
