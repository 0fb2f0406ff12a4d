"""Pages are built a little at a time: whatever somebody does meanwhile is done between two parts."""

import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from pyqtgraph.Qt import QtCore, QtTest, QtWidgets
from shell_support import LEFT, FakeSession, build_until, built_on, make_settings, make_status, press
from standing import pressable, standing

from gui.live import Plot
from gui.shell.main_window import MainWindow
from gui.widgets import THEMES, IncrementalBuild
from rig.states import State

_STAGES = ("_shapes", "live", "recordings", "runs_page")
"""what the window has once the work on it has begun, in this order"""


def _plots() -> set[Plot]:
    return {widget for widget in QtWidgets.QApplication.allWidgets() if isinstance(widget, Plot)}


def test_a_job_goes_on_once_in_each_turn_of_the_event_loop(qapp: QtWidgets.QApplication) -> None:
    done: list[object] = []

    def job(name: str) -> Iterator[None]:
        for number in range(3):
            done.append((name, number))
            yield

    owner = QtCore.QObject()
    parts = IncrementalBuild(owner)
    parts.finished.connect(lambda: done.append("finished"))
    other = QtCore.QTimer(owner)
    other.timeout.connect(lambda: done.append("other"))
    other.start(0)
    parts.replace(job("a"), job("b"))
    parts.start(0)
    while not parts.done:
        qapp.processEvents()
    other.stop()
    own = [each for each in done if each != "other"]
    assert own == [*[(name, number) for name in "ab" for number in range(3)], "finished"]
    between = [b for a, b in pairwise(done) if a != "other"]
    assert between.count("other") >= 6  # behind each part


def test_no_part_makes_more_than_a_few_plots(window: MainWindow, qapp: QtWidgets.QApplication) -> None:
    """A plot takes some 20 ms."""
    earlier, counts = _plots(), [0]
    turns = QtCore.QTimer(window)
    turns.timeout.connect(lambda: counts.append(len(_plots() - earlier)))
    turns.start(0)
    window.views.building.start(0)
    while not window.complete:
        qapp.processEvents()
    turns.stop()
    made = [after - before for before, after in pairwise(counts)]
    assert sum(made) >= 40 and max(made) <= 2


def test_nothing_that_can_be_pressed_moves_while_pages_are_built(window: MainWindow) -> None:
    for page in (window.jog, window.views.live_page, window.motion):
        window.tabs.setCurrentWidget(page)
        QtWidgets.QApplication.processEvents()
    before, moved = standing(pressable(window)), []
    for _ in built_on(window):
        now = standing(pressable(window))
        moved += now.moved_since(before)
        before = now
    assert not moved, "\n".join(moved)


def test_what_is_pressed_meanwhile_acts(window: MainWindow, session: FakeSession) -> None:
    session.take(make_status(State.RUNNING, path_duration=20.0))
    parts, pause = built_on(window), window.motion.pause
    QtTest.QTest.mousePress(pause, LEFT)
    for _ in range(20):
        next(parts)
    QtTest.QTest.mouseRelease(pause, LEFT)
    assert session.commands.count("pause") == 1 and not window.complete
    press(window.stop_button)
    assert session.stops == [(1, "button")] and not window.complete


def test_a_page_that_is_being_built_is_looked_at_and_left(window: MainWindow) -> None:
    page = window.views.live_page
    window.tabs.setCurrentWidget(page)
    build_until(window, "live")
    assert [each.text() for each in page.findChildren(QtWidgets.QLabel) if each.isVisible()] == [
        "This page is loading …"
    ]
    window.tabs.setCurrentWidget(window.views.log)
    build_until(window, "dashboards")
    window.tabs.setCurrentWidget(page)
    for _ in built_on(window):
        pass
    assert window.views.live.isVisible() and not page._coming.isVisible()
    assert window.views.recordings.isVisible() is False
    window.tabs.setCurrentWidget(window.views.recordings_page)
    assert window.views.recordings.isVisible()


@pytest.mark.parametrize("stage", ["live", "recordings"])
def test_another_theme_meanwhile_is_taken_by_all(window: MainWindow, stage: str) -> None:
    build_until(window, stage)
    other = THEMES["light"]
    window.appearance.use(other.name)
    for _ in built_on(window):
        pass
    plots = [*window.views.live.findChildren(Plot), *window.views.recordings.findChildren(Plot)]
    assert len(plots) >= 40
    assert {plot.backgroundBrush().color().name() for plot in plots} == {other.surface.lower()}


@pytest.mark.parametrize("stage", _STAGES)
def test_the_window_is_closed_while_it_builds(session: FakeSession, tmp_path: Path, stage: str) -> None:
    before = set(threading.enumerate())
    made = MainWindow(session, make_settings(tmp_path))
    try:
        made.show()
        build_until(made, stage)
        made.close()
        assert session.ended_by_window
        QtWidgets.QApplication.processEvents()
        assert not made.isVisible()
    finally:
        made.close_now()
        made.deleteLater()
        QtWidgets.QApplication.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)
        QtWidgets.QApplication.instance().setStyleSheet("")
    for thread in set(threading.enumerate()) - before:
        thread.join(60.0)
        assert not thread.is_alive(), thread.name
