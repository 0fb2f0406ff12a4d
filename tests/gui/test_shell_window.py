"""The window itself: closing it, its settings, its menus."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets
from shell_support import FakeSession, asked, choose, make_settings, make_status, press

from gui.application import errors_logged
from gui.models.rules import Action, Phase
from gui.shell.guide import FIRST_STEPS
from gui.shell.main_window import MainWindow
from gui.widgets.theme import DARK, LIGHT
from rig.config.rig_config import load_config
from rig.engine import Snapshot
from rig.errors import HardwareError
from rig.states import State
from rig.telemetry import ROW


def _died(session: FakeSession) -> None:
    session.take(make_status(State.ENGAGED))
    session.enter(Phase.DIED)


@pytest.mark.parametrize(
    "reach",
    [
        *(
            pytest.param(lambda session, state=state: session.take(make_status(state)), id=state.name)
            for state in (State.OFF, State.IDLE, State.PARKED, State.FAULT)
        ),
        pytest.param(_died, id="DIED"),
    ],
)
def test_without_torque_closing_ends_everything_and_goes(
    window: MainWindow, session: FakeSession, qtbot: Any, reach: Callable[[FakeSession], None]
) -> None:
    reach(session)
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=60_000)
    assert session.ended_by_window and session.stops == [] and window.closing.question is None


@pytest.mark.parametrize(
    ("status", "rest"),
    [
        pytest.param(make_status(State.HOMING), State.IDLE, id="homing"),
        pytest.param(make_status(State.RUNNING), State.PARKED, id="running"),
        pytest.param(make_status(State.ENGAGED, paused=True, motion="demo"), State.PARKED, id="paused"),
    ],
)
def test_closing_with_torque_asks_then_stops_flushes_and_goes(
    window: MainWindow, session: FakeSession, qtbot: Any, status: Snapshot, rest: State
) -> None:
    session.take(status)
    window.close()
    choose(asked(window, qtbot), "Stay")
    assert window.isVisible() and session.stops == [] and session.commands == []
    window.close()
    choose(asked(window, qtbot), "Stop and quit")
    assert window.isVisible() and session.stops == [(1, "closing the window")]
    session.take(make_status(State.STOPPING))
    assert session.commands == []
    session.take(make_status(rest))
    assert session.commands == ["disconnect"]
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=60_000)
    assert session.ended_by_window


def test_a_stop_that_is_overdue_is_asked_about_all_the_same(
    window: MainWindow, session: FakeSession, qtbot: Any
) -> None:
    session.take(make_status(State.RUNNING))
    window.closing.rest_timer.setInterval(10)
    window.close()
    choose(asked(window, qtbot), "Stop and quit")
    question = asked(window, qtbot)
    assert "did not come to rest" in question.text()
    choose(question, "Stay")
    assert window.isVisible() and not session.ended_by_window


def test_settings_and_layout_are_kept(window: MainWindow, session: FakeSession, qtbot: Any, tmp_path: Path) -> None:
    window.appearance.use("light")
    window.jog.steps.translation.set_si(0.0025)
    window.jog.steps.frame.setCurrentIndex(1)
    window.tabs.setCurrentWidget(window.views.log)
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=60_000)
    again = FakeSession(session.config, tmp_path)
    other = MainWindow(again, make_settings(tmp_path))
    try:
        assert other.appearance.theme is LIGHT and other.tabs.currentWidget() is other.views.log
        assert other.jog.steps.translation.si() == pytest.approx(0.0025)
        assert other.jog.steps.frame.currentData() == "platform"
        other.appearance.use(DARK.name)
    finally:
        other.close_now()


_SENSELESS = f"""
[General]
theme=1, 2
geometry=hello
splitter=1, 2
motion%20splitter=@Invalid()
tab=@Point(3 4)
[jog]
of%20virtual\\translation=abc
frame=1, 2
[live]
platform%20beside=yes
splitter=hello
window=1, 2
models=@Point(3 4)
page=1, 2
colouring=@Invalid()
[recordings]
platform%20beside=yes
splitter=1, 2
folder={"x" * 300}
speed=1, 2
"""


def test_settings_that_make_no_sense_are_left_out(session: FakeSession, qtbot: Any, tmp_path: Path) -> None:
    (tmp_path / "gui.ini").write_text(_SENSELESS)
    window = MainWindow(session, make_settings(tmp_path))
    try:
        qtbot.waitUntil(lambda: window.complete, timeout=60_000)
        assert window.appearance.theme is DARK and (window.width(), window.height()) == (1280, 800)
        assert window.tabs.currentWidget() is window.motion and window.views.recordings.list.folder == tmp_path
        for view in (window.views.live, window.views.recordings.live):
            assert view.platform_split.platform is not None  # who takes up the sizes
    finally:
        window.close_now()


def test_dark_and_light(whole_window: MainWindow, qtbot: Any) -> None:
    application = QtWidgets.QApplication.instance()
    for theme in (LIGHT, DARK):
        whole_window.appearance.use(theme.name)
        qtbot.waitUntil(lambda: whole_window.appearance.dressing.done)
        role = QtGui.QPalette.ColorRole.Window
        assert application.palette().color(role).name() == theme.window.lower()


def test_first_steps_do_not_block_the_window(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    window.menus.help.show_about()
    window.menus.help.show_page(FIRST_STEPS)
    assert QtWidgets.QApplication.activeModalWidget() is None
    press(window.stop_button)
    assert session.stops == [(1, "button")]


def test_a_refusal_stays_whole_until_a_request_is_accepted(window: MainWindow, session: FakeSession) -> None:
    session.take(make_status(State.FAULT, latched=True, cause="leg 1: drive fault 4711"))
    session.refuse = "the cause is still there:\n  leg 1: drive fault 4711\n  leg 2: drive fault 4711"
    press(window.operate.buttons[Action.RESET])
    assert session.commands == ["reset"] and window.banner.notice.isVisible()
    assert window.banner.notice.text() == f"reset: RuntimeError: {session.refuse}"
    assert window.banner.notice._label.height() >= window.banner.notice._label.heightForWidth(
        window.banner.notice._label.width()
    )
    session.refuse = ""
    press(window.operate.buttons[Action.RESET])
    assert (
        session.commands == ["reset"] * 2 and window.banner.notice.text() == "" and not window.banner.notice.isVisible()
    )


def test_a_refusal_can_be_dismissed(window: MainWindow, session: FakeSession) -> None:
    session.refused.emit("home", "first")
    session.refused.emit("home", "second")
    assert window.banner.notice.text() == "home: second"
    press(window.banner.notice.dismiss)
    assert window.banner.notice.text() == "" and not window.banner.notice.isVisible()


def test_figures_of_an_engine_that_does_not_answer_are_not_shown(window: MainWindow, session: FakeSession) -> None:
    rows = np.zeros(501, ROW)
    rows["t"], rows["period"] = np.arange(501) * 0.002, 0.002
    window.views.clock.meter.add(rows)
    names = ("Rate", "Overruns", "Jitter")
    session.take(make_status(State.PARKED))
    window.views.clock.slow.emit(None)
    assert "–" not in [window.banner.figure(name) for name in names]
    session._take_status(None, HardwareError("no answer"))
    window.views.clock.slow.emit(None)
    assert [window.banner.figure(name) for name in names] == ["–"] * 3


def test_the_look_cannot_be_changed_under_torque_and_says_why(window: MainWindow, session: FakeSession) -> None:
    session.take(make_status(State.ENGAGED))
    assert not any(action.isEnabled() for action in window.menus.view.schemes.actions())
    for action in window.menus.view.schemes.actions():
        assert "have torque" in action.toolTip() and action.toolTip() == action.statusTip()
    session.take(make_status(State.PARKED))
    assert all(
        action.isEnabled() and "torque" not in action.toolTip() for action in window.menus.view.schemes.actions()
    )


def test_errors_of_slots_are_in_the_log_once_and_printed_each_time(
    window: MainWindow, session: FakeSession, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, _error, _trace: printed.append(kind))
    before = sys.excepthook

    def divide(by: int) -> None:
        raise ValueError("odd") if by % 2 else ZeroDivisionError("zero")

    with errors_logged(session):
        for by in (0, 0, 1, 0, 1):
            QtCore.QTimer.singleShot(0, lambda by=by: divide(by))
        qtbot.waitUntil(lambda: len(printed) == 5, timeout=60_000)
    assert sys.excepthook is before
    entries = [entry for entry in window.views.log.model.entries if entry.text.startswith("internal error")]
    assert [(entry.level, entry.source) for entry in entries] == [("error", "app")] * 2
    assert entries[0].text.startswith("internal error at test_shell_window.py:")
    assert [entry.text.rpartition(": ")[2] for entry in entries] == ["zero", "odd"]


def test_checks_that_are_off_stay_in_view(qapp: QtWidgets.QApplication, qtbot: Any, tmp_path: Path) -> None:
    config = load_config("virtual").changed({"safety": {"off": ["force_residual", "tare_shift"]}})
    session = FakeSession(config, tmp_path)
    window = MainWindow(session, make_settings(tmp_path))
    window.views.building.stop()
    with qtbot.waitExposed(window):
        window.show()
    (badge,) = window.banner.findChildren(QtWidgets.QLabel, "off")
    for state in (State.OFF, State.ENGAGED, State.FAULT):
        session.take(make_status(state))
        assert badge.isVisible()
        assert badge.text().splitlines() == ["CHECKS OFF", "force_residual", "tare_shift"]
        assert badge.accessibleName() == "Checks switched off: force_residual, tare_shift"
    window.close_now()
    session.close()


def test_nothing_is_said_of_checks_that_are_on(window: MainWindow) -> None:
    assert window.banner.findChildren(QtWidgets.QLabel, "off") == []


def test_a_small_screen_has_stop_and_every_page(whole_window: MainWindow) -> None:
    window = whole_window
    for size in ((1024, 700), (940, 500)):  # the other: 1920x1080 at scale 2
        window.resize(*size)
        QtWidgets.QApplication.processEvents()
        assert (window.width(), window.height()) == size
        stop = window.stop_button
        assert window.rect().contains(stop.geometry().translated(stop.parentWidget().mapTo(window, QtCore.QPoint())))
        (area,) = [each for each in window.findChildren(QtWidgets.QScrollArea) if each.widget() is window.docking.side]
        for index in range(window.tabs.count()):
            window.tabs.setCurrentIndex(index)
            QtWidgets.QApplication.processEvents()  # the area takes what this page needs
            page = window.tabs.currentWidget()
            assert page.width() >= page.minimumSizeHint().width() and page.height() >= page.minimumSizeHint().height()
            across, down = area.horizontalScrollBar().maximum(), area.verticalScrollBar().maximum()
            assert window.tabs.width() - area.viewport().width() == across
            assert window.tabs.height() - area.viewport().height() == down


def test_the_guide_asks_for_the_focus_until_it_has_it(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window manager refuses it where it takes a key in the window for newer than the wish to see the guide."""
    window.menus.help.show_page("first-run.md")
    guide = window.menus.help.guide
    assert guide is not None
    asked: list[str] = []
    monkeypatch.setattr(guide, "activateWindow", lambda: asked.append("focus"))
    monkeypatch.setattr(guide, "isActiveWindow", lambda: len(asked) == 3)
    window.menus.help.show_page("README.md")
    for times in (2, 3, 3):
        assert guide._again.isActive()
        guide._again.timeout.emit()
        assert len(asked) == times
    assert not guide._again.isActive()
    monkeypatch.setattr(guide, "isActiveWindow", lambda: False)
    window.menus.help.show_page("README.md")
    while guide._again.isActive():
        guide._again.timeout.emit()
    assert len(asked) < 10  # whoever never gets it bothers nobody for long
    window.menus.help.show_page("README.md")
    guide.close()
    assert not guide._again.isActive()


class Knot:
    """Garbage that only a search finds: it names itself. It says in which thread it was found."""

    def __init__(self, found_in: list[int]) -> None:
        self.found_in = found_in
        self.itself = self

    def __del__(self) -> None:
        self.found_in.append(threading.get_ident())


def test_garbage_is_searched_for_in_the_thread_of_the_windows_alone(qtbot: Any) -> None:
    found_in: list[int] = []
    Knot(found_in)
    worker = threading.Thread(target=lambda: [[] for _ in range(200_000)])  # a search a few thousand objects
    worker.start()
    worker.join(60.0)
    assert not worker.is_alive() and not found_in
    kept: list[list[int]] = [[] for _ in range(100_000)]
    qtbot.waitUntil(lambda: bool(found_in), timeout=60_000)
    assert found_in == [threading.get_ident()] and kept
