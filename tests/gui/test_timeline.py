"""The timeline of a recording: states, flags, zoom from the whole to a millisecond, and two cursors to be dragged."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyqtgraph.Qt import QtCore, QtGui, QtTest
from pytestqt.qtbot import QtBot
from recorded_runs import make_runs

from gui.live import RecordingsView
from gui.live.timeline_bar import SHORTEST, StateSpan, TimelineBar
from gui.widgets.theme import DARK, LIGHT
from rig.recording import RecordedEvent

LEFT = QtCore.Qt.MouseButton.LeftButton
STATES = (StateSpan("PARKED", 0.0, 2.0), StateSpan("RUNNING", 2.0, 8.0), StateSpan("FAULT", 8.0, 10.0))
EVENTS = (RecordedEvent(4.0, 20, 0, "all is well"), RecordedEvent(8.0, 40, 5, "nothing is well"))


@pytest.fixture
def bar(qtbot: QtBot) -> TimelineBar:
    made = TimelineBar(DARK)
    qtbot.addWidget(made)
    made.resize(1000, made.height())
    with qtbot.waitExposed(made):
        made.show()
    made.show_recording(STATES, EVENTS, 0.0, 10.0)
    return made


def _turn(bar: TimelineBar, x: int, notches: int) -> None:
    place = QtCore.QPointF(x, 20)
    none = QtCore.QPoint()
    event = QtGui.QWheelEvent(
        place, place, none, QtCore.QPoint(0, 120 * notches), QtCore.Qt.MouseButton.NoButton,
        QtCore.Qt.KeyboardModifier.NoModifier, QtCore.Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    bar.wheelEvent(event)


def _drag(bar: TimelineBar, begin: int, end: int, y: int = 20) -> None:
    QtTest.QTest.mousePress(bar, LEFT, pos=QtCore.QPoint(begin, y))
    for x in (begin + (end - begin) // 2, end):
        bar.mouseMoveEvent(
            QtGui.QMouseEvent(
                QtCore.QEvent.Type.MouseMove, QtCore.QPointF(x, y), LEFT, LEFT, QtCore.Qt.KeyboardModifier.NoModifier
            )
        )
    QtTest.QTest.mouseRelease(bar, LEFT, pos=QtCore.QPoint(end, y))


def test_the_wheel_zooms_about_the_pointer_down_to_a_millisecond_and_back(bar: TimelineBar) -> None:
    _turn(bar, 400, 1)
    assert bar.t_at(400) == pytest.approx(4.0) and bar.span[1] - bar.span[0] == pytest.approx(8.0)
    _turn(bar, 400, 200)
    assert bar.span[1] - bar.span[0] == pytest.approx(SHORTEST) and bar.span[0] <= 4.0 <= bar.span[1]
    _turn(bar, 400, -400)
    assert bar.span == (0.0, 10.0)


def test_cursors_are_dragged_and_say_how_far_apart_they_are(bar: TimelineBar, qtbot: QtBot) -> None:
    assert bar.cursors == pytest.approx([10 / 3, 20 / 3])
    with qtbot.waitSignal(bar.measured, timeout=1000):
        _drag(bar, 333, 200)
    _drag(bar, 667, 850)
    assert bar.cursors == pytest.approx([2.0, 8.5]) and bar.span == (0.0, 10.0)
    assert "Δt = B − A = +6.5000 s" in bar.words and bar.accessibleDescription() == bar.words
    _drag(bar, 850, 2000)
    assert bar.cursors[1] == 10.0


def test_a_click_moves_the_replay_and_one_on_a_flag_shows_its_event(bar: TimelineBar, qtbot: QtBot) -> None:
    with qtbot.waitSignal(bar.clicked, timeout=1000) as clicked:
        QtTest.QTest.mouseClick(bar, LEFT, pos=QtCore.QPoint(500, 20))
    assert clicked.args == [5.0]
    with qtbot.waitSignal(bar.flagged, timeout=1000) as flagged, qtbot.assertNotEmitted(bar.clicked):
        QtTest.QTest.mouseClick(bar, LEFT, pos=QtCore.QPoint(801, 4))
    assert flagged.args == [1]


def test_the_line_is_moved_and_a_double_click_shows_all(bar: TimelineBar, qtbot: QtBot) -> None:
    bar.zoom_to(2.0, 4.0)
    with qtbot.assertNotEmitted(bar.clicked):
        _drag(bar, 500, 250, y=35)
    assert bar.span == pytest.approx((2.5, 4.5))
    QtTest.QTest.mouseDClick(bar, LEFT, pos=QtCore.QPoint(500, 35))
    assert bar.span == (0.0, 10.0)


def test_states_have_colours_and_names(bar: TimelineBar) -> None:
    for theme in (DARK, LIGHT):
        bar.set_theme(theme)
        picture = bar.grab().toImage()
        at = {x: picture.pixelColor(x, 14).name() for x in (100, 450, 950)}
        assert at == {100: "#0072b2", 450: "#007a59", 950: "#9b1111"}
        inside = {picture.pixelColor(x, 20).name() for x in range(420, 580)}
        assert len(inside) > 1  # letters


def test_without_a_recording_there_is_nothing_to_hold(qtbot: QtBot) -> None:
    made = TimelineBar(DARK)
    qtbot.addWidget(made)
    assert not made.isEnabled() and made.words == "Open a recording first"
    _turn(made, 10, 3)
    made.grab()
    assert made.span == (0.0, 0.0)


@pytest.fixture
def view(qtbot: QtBot, tmp_path: Path) -> Iterator[RecordingsView]:
    make_runs(tmp_path / "a.mcap", (0.0, 3.0))
    made = RecordingsView(DARK)
    qtbot.addWidget(made)
    made.set_folder(tmp_path)
    made.resize(1140, 700)
    with qtbot.waitExposed(made):
        made.show()
    made.open(tmp_path / "a.mcap")
    qtbot.waitUntil(lambda: made.opened is not None, timeout=60_000)
    yield made
    made.close_worker()


def test_curves_show_the_times_and_cursors_of_the_timeline(view: RecordingsView) -> None:
    timeline, live = view.timeline, view.live
    panel = live.pages["Forces"].panels[0]
    timeline.zoom_to(5.0, 5.5)
    assert panel.span == pytest.approx((5.0, 5.5))
    timeline.measure(5.1, 5.3)
    assert live.cursors.apart == pytest.approx(0.2)
    timeline.flagged.emit(0)
    assert view.replay is not None and view.replay.position == view.opened.recording.events[0].t  # type: ignore[union-attr]
    timeline.clicked.emit(6.0)
    assert view.replay.position == 6.0
    timeline.zoom_to(6.0, 6.0)
    assert panel.span[1] - panel.span[0] == pytest.approx(SHORTEST)


def test_keys_fetch_move_and_zoom(bar: TimelineBar) -> None:
    bar.setFocus()
    bar.zoom_to(8.0, 9.0)  # neither cursor is in view
    QtTest.QTest.keyClick(bar, QtCore.Qt.Key.Key_B)
    assert bar.cursors == pytest.approx([10 / 3, 8.5])
    QtTest.QTest.keyClick(bar, QtCore.Qt.Key.Key_Right)
    assert bar.cursors[1] == pytest.approx(8.501)
    QtTest.QTest.keyClick(bar, QtCore.Qt.Key.Key_Left, QtCore.Qt.KeyboardModifier.ShiftModifier)
    assert bar.cursors[1] == pytest.approx(8.491)
    QtTest.QTest.keyClick(bar, QtCore.Qt.Key.Key_Plus)
    assert bar.span[1] - bar.span[0] == pytest.approx(0.8) and bar.span[0] < bar.cursors[1] < bar.span[1]
    QtTest.QTest.keyClick(bar, QtCore.Qt.Key.Key_B)  # it is in view, and stays
    assert bar.cursors[1] == pytest.approx(8.491)
    QtTest.QTest.keyClick(bar, QtCore.Qt.Key.Key_0)
    assert bar.span == (0.0, 10.0)
    QtTest.QTest.keyClick(bar, QtCore.Qt.Key.Key_A)
    QtTest.QTest.keyClick(bar, QtCore.Qt.Key.Key_Right)
    assert bar.cursors == pytest.approx([10 / 3 + 0.01, 8.491])


def test_the_right_button_puts_a_cursor_there(bar: TimelineBar) -> None:
    bar.zoom_to(8.0, 9.0)
    put_a, put_b, _line, between, whole = bar.menu_at(8.25).actions()
    put_a.trigger()
    assert bar.cursors == pytest.approx([8.25, 20 / 3])
    between.trigger()
    assert bar.span == pytest.approx((20 / 3, 8.25))
    whole.trigger()
    put_b.trigger()
    assert bar.span == (0.0, 10.0) and bar.cursors == pytest.approx([8.25, 8.25])
    assert not bar.menu_at(1.0).actions()[3].isEnabled()


def test_cursors_and_times_are_the_same_on_the_curves(view: RecordingsView, qtbot: QtBot, tmp_path: Path) -> None:
    timeline, live = view.timeline, view.live
    assert live.cursors.a is None and live.cursors.b is None
    timeline.measure(1.0, 2.0)
    assert (live.cursors.a, live.cursors.b) == (1.0, 2.0)
    page = live.pages["Forces"]
    page.moved.emit(0.5, 1.5)
    assert timeline.span == pytest.approx((0.5, 1.5))
    page.clicked.emit(0.8)  # the third click takes both away; the next two put them there
    assert timeline.cursors == pytest.approx([1.0, 2.0])
    page.clicked.emit(0.8)
    assert timeline.cursors == pytest.approx([0.8, 2.0])
    page.clicked.emit(1.2)
    assert timeline.cursors == pytest.approx([0.8, 1.2]) and live.cursors.apart == pytest.approx(0.4)
    view.open(tmp_path / "a.mcap")
    qtbot.waitUntil(lambda: live.cursors.a is None, timeout=60_000)
    assert live.cursors.b is None and not live.cursors.fixed


def test_a_film_is_proposed_to_end_with_the_motion_that_it_begins_in(view: RecordingsView) -> None:
    for position, until in ((1.0, 3.0), (4.5, 7.0), (3.5, view.timeline.span[1])):
        assert view.replay is not None
        view.replay.seek(position)
        view.film.begin()
        assert view.film.dialog is not None and view.film.dialog.end.si() == pytest.approx(until)
        view.film.dialog.reject()
