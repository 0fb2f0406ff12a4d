"""The live view, through its real widgets."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from configured import stroke
from live_rows import MECHANISM, RATE, latest, live_rows
from live_views import panel_of, value_of
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets
from pytestqt.qtbot import QtBot
from shell_support import make_settings

from gui.live import LiveView
from gui.live.builtin_pages import TimingPage
from gui.live.plot_page import PlotPage
from gui.live.plot_panel import PlotPanel
from gui.live.readout import StrokeBars
from gui.models.timeline import Excerpt, History
from gui.widgets.theme import DARK, LIGHT
from rig.telemetry import CycleFlag


def _click(qtbot: QtBot, button: QtWidgets.QWidget, modifier: object = QtCore.Qt.KeyboardModifier.NoModifier) -> None:
    qtbot.mouseClick(button, QtCore.Qt.MouseButton.LeftButton, modifier)


def test_curves_hold_what_was_measured_and_what_the_model_says(view: LiveView, history: History) -> None:
    view.bar.window.setCurrentText("1 s")
    view.refresh(history)
    forces = panel_of(view, "Forces")
    rows = latest(history, 1.0)
    assert forces.span == pytest.approx((5999 / RATE - 1.0, 5999 / RATE))
    for series, name in enumerate(("force_measured", "force_model")):
        for leg in range(6):
            t, force = forces.curves[series].points(leg)
            np.testing.assert_array_equal(t, rows["t"])
            np.testing.assert_array_equal(force, rows[name][:, leg])
    assert forces.curves[0].pens[2].style() == QtCore.Qt.PenStyle.SolidLine
    assert forces.curves[1].pens[2].style() == QtCore.Qt.PenStyle.DashLine
    assert forces.curves[0].pens[2].color().name().upper() == "#009E73"
    low, high = forces.view.viewRange()[1]
    assert low < rows["force_model"].min() and high > rows["force_measured"].max()
    residual = panel_of(view, "Forces", 1)
    assert (residual.curves[0].points(0)[1] == 0.25).all()


def test_terms_tracking_and_pose(view: LiveView, history: History) -> None:
    view.bar.window.setCurrentText("1 s")
    view.refresh(history)
    rows = latest(history, 1.0)
    gravity = panel_of(view, "Terms", 1)
    assert gravity.panel.title == "Gravity"
    _, drawn = gravity.curves[0].points(4)
    assert (drawn.min(), drawn.max()) == (rows["terms"][:, 1, 4].min(), rows["terms"][:, 1, 4].max())
    total = panel_of(view, "Terms", 5)
    assert total.curves[0].points(4)[1][-1] == pytest.approx(rows["force_model"][-1, 4])
    error = panel_of(view, "Tracking")
    np.testing.assert_allclose(error.curves[0].points(5)[1], 6.0)  # µm
    before = rows.copy()
    before["flags"] = 0
    assert np.isnan(error.panel.series[0].extract(Excerpt(before).cut(0, 10))).all()  # nothing to track before homing
    assert (panel_of(view, "Tracking", 1).curves[0].points(0)[1] == 4.0).all()
    x = panel_of(view, "Pose")
    np.testing.assert_allclose(x.curves[0].points(0)[1], 11.0)  # mm
    np.testing.assert_allclose(x.curves[1].points(0)[1], 10.0)
    assert panel_of(view, "Pose", 1).panel.label == "θx, °"


def test_implied_wrench_is_shown(view: LiveView, history: History) -> None:
    for _ in range(2):
        view.refresh(history)
    force = panel_of(view, "External wrench")
    from gui.models.live import wrench_of

    expected = wrench_of(MECHANISM.geometry, latest(history, 0.5))[0]
    np.testing.assert_allclose(force.curves[0].points(2)[1], expected[2])
    np.testing.assert_allclose(view.values.wrench.mean, expected)
    assert view.values.wrench.values[2].text().startswith(f"{expected[2]:.1f}".replace("-", "−"))
    view.set_mechanism(None)
    assert view.values.wrench.values[2].text() == "–"


def test_timing_histogram_counts_every_cycle(view: LiveView, history: History) -> None:
    rows = live_rows(500, 6000)
    rows["period"][7] += 1e-3
    history.append(rows)
    view.bar.window.setCurrentText("5 s")
    view.refresh(history)
    page = view.pages["Timing"]
    view.tabs.setCurrentWidget(page)
    period = page.histograms["Period error"]
    assert period.counts.sum() == 2501
    assert period.counts[-1] == 1 or period.counts[-2] == 1
    assert period.edges[-1] > 1000.0  # µs
    assert "2501 cycles shown, 0 skipped" in page.missed.text()


def test_freeze_holds_the_picture_and_lets_go(qtbot: QtBot, view: LiveView, history: History) -> None:
    view.refresh(history)
    _click(qtbot, view.bar.freeze)
    forces = panel_of(view, "Forces")
    held = forces.curves[0].points(0)[0][-1]
    history.append(live_rows(500, 6000))
    view.refresh(history)
    assert forces.curves[0].points(0)[0][-1] == held
    forces.view.setXRange(3.0, 4.0, padding=0)
    forces.view.sigRangeChangedManually.emit([True, False])
    residual = panel_of(view, "Forces", 1)
    assert residual.span == pytest.approx((3.0, 4.0))
    assert residual.curves[0].points(0)[0][0] == pytest.approx(3.0)
    _click(qtbot, view.bar.freeze)
    view.refresh(history)
    assert forces.curves[0].points(0)[0][-1] == 6499 / RATE
    assert forces.span[1] == pytest.approx(6499 / RATE)


def test_clear_begins_with_an_empty_picture(
    qtbot: QtBot, live_view: Callable[[int, int], LiveView], history: History
) -> None:
    view = live_view(1700, 700)
    timing = view.pages["Timing"]
    assert isinstance(timing, TimingPage) and view.platform_split.drawn is not None
    view.tabs.setCurrentWidget(timing)
    view.refresh(history)
    forces = panel_of(view, "Forces")
    _click(qtbot, view.bar.clear)
    for _ in range(6):  # although no new rows come
        view.refresh(history)
        assert len(forces.curves[0].points(0)[0]) == 0
        assert view.values.moment.text() == "No data" and ">1</b>" not in forces.header.text()
        assert np.isnan(view.values.strokes.lengths).all() and view.values.wrench.values[2].text() == "–"
        assert view.platform_split.drawn.picture.scene is not None and not view.platform_split.drawn.picture.scene.known
    view.tabs.setCurrentWidget(timing)
    assert not timing.histograms["Lateness"].counts.any() and "99 %" not in timing.histograms["Lateness"].header.text()
    assert timing.missed.text() == "No cycles to count"
    view.tabs.setCurrentWidget(view.pages["Forces"])
    history.append(live_rows(10, 6000))
    view.refresh(history)
    assert len(forces.curves[0].points(0)[0]) == 10
    _click(qtbot, view.bar.clear)
    history.append(live_rows(20))  # another engine: its clock begins anew
    view.refresh(history)
    assert len(forces.curves[0].points(0)[0]) == 20
    other = Excerpt(live_rows(5))
    view.clear()
    view.refresh(other)
    assert len(forces.curves[0].points(0)[0]) == 5


def test_what_is_forgotten_is_not_shown_any_more(view: LiveView, history: History) -> None:
    view.refresh(history)
    history.clear()
    for _ in range(6):
        view.refresh(history)
    assert view.values.moment.text() == "No data" and np.isnan(view.values.strokes.lengths).all()
    assert view.values.wrench.values[2].text() == "–"


def test_values_are_those_of_the_newest_row(view: LiveView, history: History) -> None:
    rows = live_rows(1, 6000)
    rows["force_measured"] += 100.0
    rows["length"] = 0.52
    history.append(rows)
    view.refresh(history)
    newest = 120.0 + np.sin(12.0)
    assert value_of("2", f"{newest:.1f}", f"{newest - 100.0:.1f}") in panel_of(view, "Forces").header.text()
    assert view.values.moment.text() == "12.000 s" and view.values.strokes.lengths[1] == 0.52


def test_numbers_that_need_two_lines_are_not_cut(live_view: Callable[[int, int], LiveView], history: History) -> None:
    view = live_view(980, 640)
    rows = live_rows(500, 6000)
    rows["terms"][:, 0] = -1234.5
    history.append(rows)
    inertia, gravity = panel_of(view, "Terms"), panel_of(view, "Terms", 1)
    view.refresh(history)
    QtWidgets.QApplication.processEvents()
    assert inertia.header.height() >= inertia.header.heightForWidth(inertia.header.width())
    assert gravity.header.height() == inertia.header.height() > 20
    assert gravity.plot.mapTo(view, QtCore.QPoint()).y() == inertia.plot.mapTo(view, QtCore.QPoint()).y()


def test_means_are_called_means_and_end_as_their_curve_does(view: LiveView) -> None:
    history = History(30_000)
    rows = live_rows(6007)
    rows["force_residual"] = np.random.default_rng(3).normal(size=(6007, 6))
    history.append(rows)
    view.tabs.setCurrentWidget(view.pages["External wrench"])
    view.refresh(history)
    force = panel_of(view, "External wrench")
    times, values = force.curves[0].points(2)
    text = force.header.text()
    assert value_of("Fz", f"{values[-1]:.2f}".replace("-", "−")) in text
    assert f"means over {1e3 * (times[-1] - times[-2]):.0f} ms" in text
    middle = len(times) // 2
    force.hovered.emit(float(times[middle]))
    view.refresh(history)
    assert value_of("Fz", f"{values[middle]:.2f}".replace("-", "−")) in force.header.text()


def test_legs_are_chosen_one_by_one_or_alone(qtbot: QtBot, view: LiveView, history: History) -> None:
    view.refresh(history)
    forces = panel_of(view, "Forces")
    _click(qtbot, view.bar.legs.buttons[1])
    assert forces.curves[1].shown == [True, False, True, True, True, True]
    assert ">2</b>" not in forces.header.text() and ">3</b>" in forces.header.text()
    view.bar.legs.set_legs([False, False, False, True, False, False])
    low, high = forces.view.viewRange()[1]
    assert 38 < low < 39 and 41 < high < 42
    _click(qtbot, view.bar.legs.all)
    assert all(forces.curves[0].shown)
    assert all(panel_of(view, "Terms").curves[0].shown)


def test_shift_shows_one_leg_alone(monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, view: LiveView) -> None:
    shift = QtCore.Qt.KeyboardModifier.ShiftModifier
    monkeypatch.setattr(QtGui.QGuiApplication, "keyboardModifiers", lambda: shift)
    _click(qtbot, view.bar.legs.buttons[4], shift)
    assert view.bar.legs.legs == [False] * 4 + [True, False]


def test_what_is_chosen_is_kept(tmp_path: Path, qtbot: QtBot, view: LiveView) -> None:
    settings = make_settings(tmp_path)
    view.bar.window.setCurrentText("30 s")
    view.bar.legs.set_legs([True, False, True, False, False, False])
    view.chooser.boxes["massless"].click()
    view.tabs.setCurrentWidget(view.pages["Pose"])
    view.bar.platform.setChecked(True)
    assert view.platform_split.platform is not None
    view.platform_split.platform.colouring.setCurrentIndex(2)
    view.save(settings, "live")
    other = LiveView(DARK)
    qtbot.addWidget(other)
    try:
        other.restore(settings, "live")
        other.set_mechanism(MECHANISM)
        other.bar.platform.setChecked(True)
        assert other.bar.seconds == 30.0 and other.bar.legs.legs == view.bar.legs.legs
        assert other.models.chosen == ("massless",) and other.tabs.currentWidget() is other.pages["Pose"]
        assert other.platform_split.platform is not None and other.platform_split.platform.colouring.currentIndex() == 2
        for key in ("window", "legs", "models", "page", "colouring"):
            settings.setValue(f"live/{key}", "nonsense")
        other.restore(settings, "live")
        assert other.bar.seconds == 30.0 and other.models.chosen == ()
    finally:
        other.close()
        other.close_worker()


def test_strokes_are_bars_between_the_limits(view: LiveView, history: History) -> None:
    for _ in range(5):
        view.refresh(history)
    low, high = stroke(MECHANISM.legs[0])
    assert view.values.strokes.used[0] == pytest.approx(100 * (0.500001 - low) / (high - low))
    assert not view.values.strokes.grab().isNull()
    view.set_mechanism(None)
    assert np.isnan(view.values.strokes.used).all()


def test_lengths_counted_from_anywhere_are_not_shown(view: LiveView, history: History) -> None:
    view.refresh(history)
    rows = live_rows(1, 6000)
    rows["flags"], rows["length"] = CycleFlag.FRESH, 0.0
    history.append(rows)
    for _ in range(5):
        view.refresh(history)
    assert np.isnan(view.values.strokes.lengths).all() and np.isnan(view.values.strokes.used).all()


def test_every_digit_of_a_long_leg_is_shown_and_the_bars_do_not_jump(qtbot: QtBot) -> None:
    bars = StrokeBars(DARK)
    qtbot.addWidget(bars)
    bars.resize(180, bars.minimumHeight())
    rows = live_rows(4)
    rows["length"] = np.array([0.47038, 1.47038, 2.47038, 0.47038])[:, None]
    pictures = []
    for row in range(4):
        bars.show_rows(rows[row : row + 1])
        pictures.append(bars.grab().toImage())
    assert pictures[1] != pictures[2]  # by their first digits alone
    room = [[image.pixelColor(x, 11).name() for x in range(180)].count(DARK.raised.lower()) for image in pictures]
    assert room[0] > room[1] == room[2] == room[3] > 80


def test_what_is_no_number_does_no_harm(view: LiveView) -> None:
    rows = live_rows(3000)
    for name in ("pose", "condition", "force_model", "force_residual"):
        rows[name] = np.nan
    history = History(3000)
    history.append(rows)
    for page in view.pages.values():
        view.tabs.setCurrentWidget(page)
        for _ in range(5):
            view.refresh(history)
        assert not view.grab().isNull()
    view.refresh(History(10))


def test_numbers_catch_up_when_data_stop(view: LiveView, history: History) -> None:
    view.refresh(history)
    history.append(live_rows(50, 6000))
    view.refresh(history)
    assert view.values.moment.text().startswith("11.998 s")  # five times slower than the curves
    for _ in range(5):
        view.refresh(history)
    assert view.values.moment.text().startswith("12.098 s")


def test_nothing_is_drawn_twice(monkeypatch: pytest.MonkeyPatch, view: LiveView, history: History) -> None:
    view.refresh(history)
    drawn: list[PlotPanel] = []
    monkeypatch.setattr(PlotPanel, "draw", lambda panel, *_args: drawn.append(panel))
    view.refresh(history)
    assert drawn == []
    history.append(live_rows(1, 6000))
    view.refresh(history)
    assert len(drawn) == 2  # the page that is seen, no other


def test_a_zoomed_value_axis_stays_until_fit(qtbot: QtBot, view: LiveView, history: History) -> None:
    view.refresh(history)
    forces = panel_of(view, "Forces")
    forces.view.setYRange(0.0, 5.0, padding=0)
    forces.view.sigRangeChangedManually.emit([False, True])
    history.append(live_rows(10, 6000))
    view.refresh(history)
    assert forces.view.viewRange()[1] == [0.0, 5.0]
    _click(qtbot, view.bar.fit)
    assert forces.view.viewRange()[1][1] > 60


def test_themes_and_accessible_names(view: LiveView, history: History) -> None:
    view.set_theme(LIGHT)
    view.refresh(history)
    controls = [QtWidgets.QAbstractButton, QtWidgets.QComboBox]
    for kind in controls:
        for control in view.bar.findChildren(kind):
            assert control.accessibleName(), control
    for page in view.pages.values():
        panels = page.panels if isinstance(page, PlotPage) else page.histograms.values()
        for panel in panels:
            assert panel.plot.accessibleName()
            unit = panel.panel.unit if isinstance(panel, PlotPanel) else "cycles"
            assert panel.plot.getAxis("left").labelText == unit
