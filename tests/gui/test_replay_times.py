"""Which times of a recording its curves show, with real mouse wheel and keys."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from live_rows import BEGIN, END, MOTION, write_moving
from pyqtgraph.Qt import QtCore, QtGui, QtTest, QtWidgets
from pytestqt.qtbot import QtBot

from gui.live import RecordingsView
from gui.live.plot_panel import PlotPanel
from gui.models.timeline import History
from gui.widgets.theme import DARK

LIVE = History(1)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_moving(tmp_path_factory.mktemp("moving") / "run.mcap")


@pytest.fixture
def view(qtbot: QtBot, recording: Path) -> Iterator[RecordingsView]:
    made = RecordingsView(DARK)
    qtbot.addWidget(made)
    made.resize(1140, 700)
    with qtbot.waitExposed(made):
        made.show()
    made.open(recording)
    qtbot.waitUntil(lambda: made.opened is not None, timeout=60_000)
    made.refresh(LIVE)
    yield made
    made.close()
    made.close_worker()


def _panel(view: RecordingsView) -> PlotPanel:
    return view.live.pages["Forces"].panels[0]


def _wheel(panel: PlotPanel, turns: int) -> None:
    """Turn the wheel over the middle of the plot; towards oneself is negative."""
    viewport = panel.plot.viewport()
    place = QtCore.QPointF(viewport.rect().center())
    for _ in range(abs(turns)):
        event = QtGui.QWheelEvent(
            place, QtCore.QPointF(viewport.mapToGlobal(place.toPoint())), QtCore.QPoint(),
            QtCore.QPoint(0, 120 if turns > 0 else -120), QtCore.Qt.MouseButton.NoButton,
            QtCore.Qt.KeyboardModifier.NoModifier, QtCore.Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QtWidgets.QApplication.sendEvent(viewport, event)


def test_a_recording_opens_on_its_motion(view: RecordingsView) -> None:
    panel = _panel(view)
    t0, t1 = panel.span
    assert view.replay is not None and view.replay.position == MOTION == panel.present.value()
    assert t0 <= MOTION and t1 - t0 == pytest.approx(view.live.bar.seconds)
    times = panel.curves[0].points(0)[0]
    assert times[0] == pytest.approx(t0, abs=0.05) and times[-1] == pytest.approx(t1, abs=0.05)


def test_fit_shows_all_of_it(qtbot: QtBot, view: RecordingsView) -> None:
    panel = _panel(view)
    _wheel(panel, 8)
    qtbot.mouseClick(view.live.bar.fit, QtCore.Qt.MouseButton.LeftButton)
    assert panel.span == (BEGIN, END)
    times, force = panel.curves[0].points(5)
    assert (times[0], times[-1]) == (pytest.approx(BEGIN, abs=0.05), pytest.approx(END, abs=0.05))
    low, high = panel.view.viewRange()[1]
    assert low <= 9.0 and high >= force.max()


def test_the_wheel_reaches_the_whole_file_and_no_further(view: RecordingsView) -> None:
    panel = _panel(view)
    _wheel(panel, 5)
    assert panel.span[1] - panel.span[0] < view.live.bar.seconds
    _wheel(panel, -40)
    assert panel.span == (BEGIN, END)


def test_an_event_is_gone_to_with_a_double_click_and_with_enter(qtbot: QtBot, view: RecordingsView) -> None:
    for row, t, act in ((1, 33.0, "mouse"), (0, BEGIN, "keys")):
        view.tabs.setCurrentWidget(view.events)
        view.events.setFocus()
        view.events.setCurrentCell(row, 3)
        if act == "mouse":
            place = view.events.visualItemRect(view.events.item(row, 3)).center()
            qtbot.mouseClick(view.events.viewport(), QtCore.Qt.MouseButton.LeftButton, pos=place)
            qtbot.mouseDClick(view.events.viewport(), QtCore.Qt.MouseButton.LeftButton, pos=place)
        else:
            QtTest.QTest.keyClick(view.events, QtCore.Qt.Key.Key_Return)
        assert view.tabs.currentWidget() is view.live
        view.refresh(LIVE)
        panel = _panel(view)
        assert view.replay is not None and view.replay.position == t == panel.present.value()
        assert panel.span[0] <= t < panel.span[1]


def test_times_that_were_chosen_go_along_with_a_present_that_leaves_them(view: RecordingsView) -> None:
    panel = _panel(view)
    length = panel.span[1] - panel.span[0]
    assert view.replay is not None
    view.replay.seek(panel.span[1] - 0.1)
    view.refresh(LIVE)
    assert panel.span[0] < MOTION
    view.bar.time.setValue(5.0)
    view.refresh(LIVE)
    assert panel.span[0] <= 5.0 == panel.present.value() < panel.span[1]
    assert panel.span[1] - panel.span[0] == pytest.approx(length)
