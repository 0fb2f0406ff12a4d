"""The cursors of the plots, and the values at them."""

from collections.abc import Callable

import numpy as np
import pytest
from live_rows import live_rows
from live_views import panel_of, value_of
from pyqtgraph.Qt import QtCore, QtWidgets
from pytestqt.qtbot import QtBot

from gui.live import LiveView
from gui.live.plot_panel import PlotPanel
from gui.models.live import Cursors
from gui.models.timeline import History


def test_cursors_by_three_clicks() -> None:
    cursors = Cursors()
    cursors.point(1.0)
    assert (cursors.at, cursors.apart) == (1.0, None)
    cursors.click(1.0)
    cursors.point(None)
    assert (cursors.at, cursors.apart) == (1.0, None)
    assert cursors.point(3.0) and (cursors.at, cursors.apart) == (3.0, 2.0)
    cursors.click(3.5)
    assert not cursors.point(9.0) and not cursors.point(None)
    assert (cursors.a, cursors.b, cursors.apart) == (1.0, 3.5, 2.5)
    cursors.click(4.0)
    assert (cursors.a, cursors.at) == (None, 4.0)
    cursors.point(None)
    assert cursors.at is None


def test_cursors_are_linked_and_show_values(qtbot: QtBot, view: LiveView, history: History) -> None:
    view.refresh(history)
    forces, residual = panel_of(view, "Forces"), panel_of(view, "Forces", 1)
    assert not forces.cursor.isVisible()
    forces.hovered.emit(10.001)
    view.refresh(history)
    assert forces.cursor.isVisible() and residual.cursor.isVisible()
    assert residual.cursor.value() == 10.001
    assert view.values.moment.text().startswith(f"{10.0:.3f} s") or view.values.moment.text().startswith("10.002 s")
    expected = 20 + np.sin(10.0)
    assert value_of("2", f"{expected:.1f}", f"{expected - 0.25:.1f}") in forces.header.text()
    forces.hovered.emit(None)
    view.refresh(history)
    assert view.cursors.at is None and not residual.cursor.isVisible()


def test_however_far_the_mouse_moves_values_are_written_once_a_refresh(
    monkeypatch: pytest.MonkeyPatch, view: LiveView, history: History
) -> None:
    for _ in range(2):
        view.refresh(history)
    forces = panel_of(view, "Forces")
    written: list[PlotPanel] = []
    monkeypatch.setattr(PlotPanel, "show_values", lambda panel, *_args: written.append(panel))
    for t in np.linspace(3.0, 11.0, 100):
        forces.hovered.emit(float(t))
    assert written == []
    view.refresh(history)
    assert len(written) == 2 and view.values.moment.text() == "11.000 s, cursor"  # the page that is seen, no other


def test_a_cursor_where_the_history_does_not_reach_has_no_values(view: LiveView) -> None:
    history = History(2000)
    history.append(live_rows(2000))
    view.refresh(history)
    forces = panel_of(view, "Forces")
    forces.clicked.emit(1.0)
    forces.hovered.emit(3.5)
    view.refresh(history)
    assert "–" not in forces.header.text()
    history.append(live_rows(1000, 2000))  # what A stood at, 1 s, is gone
    for _ in range(5):
        view.refresh(history)
    assert history.times[0] == 2.0
    assert "B − A" in forces.header.text() and value_of("3", "–", "–") in forces.header.text()
    assert view.values.moment.text() == "3.500 s, cursor B\nΔt = B − A = +2.500 s"
    history.append(live_rows(100))  # another engine: its clock begins anew
    for _ in range(5):
        view.refresh(history)
    assert view.values.moment.text() == "No data at 3.500 s, cursor B\nΔt = B − A = +2.500 s"
    assert value_of("3", "–", "–") in forces.header.text()
    assert np.isnan(view.values.strokes.lengths).all() and view.values.wrench.values[2].text() == "–"
    forces.hovered.emit(0.1)
    forces.clicked.emit(0.1)
    view.clear()
    assert view.values.moment.text() == "No data"


def test_the_mouse_moves_the_cursor(qtbot: QtBot, view: LiveView, history: History) -> None:
    view.refresh(history)
    forces = panel_of(view, "Forces")
    centre = forces.view.sceneBoundingRect().center()
    forces.plot.scene().sigMouseMoved.emit(centre)
    assert view.cursors.b == pytest.approx(sum(forces.span) / 2, abs=0.02)
    QtWidgets.QApplication.sendEvent(forces.plot.viewport(), QtCore.QEvent(QtCore.QEvent.Type.Leave))
    assert view.cursors.b is None


def test_differences_between_the_cursors(live_view: Callable[[int, int], LiveView], history: History) -> None:
    view = live_view(1000, 700)
    view.refresh(history)
    forces = panel_of(view, "Forces")
    forces.clicked.emit(1.0)
    assert forces.mark.isVisible() and forces.mark.value() == 1.0 and not forces.cursor.isVisible()
    assert view.values.moment.text() == "1.000 s, cursor A"
    forces.hovered.emit(2.5)
    view.refresh(history)
    assert view.values.moment.text() == "2.500 s, cursor B\nΔt = B − A = +1.500 s"
    difference = f"{np.sin(2.5) - np.sin(1.0):.1f}".replace("-", "−")
    text = forces.header.text()
    assert "B − A" in text and value_of("3", difference, difference) in text
    forces.clicked.emit(0.5)
    forces.hovered.emit(None)
    view.refresh(history)
    assert "Δt = B − A = −0.500 s" in view.values.moment.text()
    forces.clicked.emit(0.5)
    forces.hovered.emit(None)
    view.refresh(history)
    assert not forces.mark.isVisible() and view.values.moment.text() == "11.998 s"
    assert "B − A" not in forces.header.text()


def test_the_mouse_sets_a_cursor(qtbot: QtBot, live_view: Callable[[int, int], LiveView], history: History) -> None:
    view = live_view(1000, 700)
    view.refresh(history)
    forces = panel_of(view, "Forces")
    middle = forces.plot.mapFromScene(forces.view.sceneBoundingRect().center())
    qtbot.mouseClick(forces.plot.viewport(), QtCore.Qt.MouseButton.LeftButton, pos=middle)
    assert view.cursors.a == pytest.approx(sum(forces.span) / 2, abs=0.05)
