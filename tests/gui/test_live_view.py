"""The live view, through its real widgets."""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from live_rows import MECHANISM, RATE, live_rows
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets
from pytestqt.qtbot import QtBot
from shell_support import make_settings

from gui.history import Excerpt, History
from gui.live import LiveView
from gui.live.plot_page import PlotPage
from gui.live.plot_panel import PlotPanel
from gui.theme import DARK, LIGHT


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[LiveView]:
    live = LiveView(DARK)
    qtbot.addWidget(live)
    live.set_mechanism(MECHANISM)
    live.resize(1080, 640)
    with qtbot.waitExposed(live):
        live.show()
    yield live
    live.close()
    live.close_worker()


@pytest.fixture
def history() -> History:
    filled = History(30_000)
    filled.append(live_rows(6000, offset=0.25))
    return filled


def _panel(view: LiveView, page: str, number: int = 0) -> PlotPanel:
    plots = view.pages[page]
    assert isinstance(plots, PlotPage)
    view.tabs.setCurrentWidget(plots)
    return plots.panels[number]


def _click(qtbot: QtBot, button: QtWidgets.QWidget, modifier: object = QtCore.Qt.KeyboardModifier.NoModifier) -> None:
    qtbot.mouseClick(button, QtCore.Qt.MouseButton.LeftButton, modifier)


def test_curves_hold_what_was_measured_and_what_the_model_says(view: LiveView, history: History) -> None:
    view.bar.window.setCurrentText("1 s")
    view.refresh(history)
    forces = _panel(view, "Forces")
    rows = history.latest(1.0)
    assert forces.span == pytest.approx((5999 / RATE - 1.0, 5999 / RATE))
    for series, name in enumerate(("force_measured", "force_model")):
        for leg in range(6):
            t, force = forces.curves[series][leg].getData()
            np.testing.assert_array_equal(t, rows["t"])
            np.testing.assert_array_equal(force, rows[name][:, leg])
    assert forces.curves[0][2].opts["pen"].style() == QtCore.Qt.PenStyle.SolidLine
    assert forces.curves[1][2].opts["pen"].style() == QtCore.Qt.PenStyle.DashLine
    assert forces.curves[0][2].opts["pen"].color().name().upper() == "#009E73"
    low, high = forces.view.viewRange()[1]
    assert low < rows["force_model"].min() and high > rows["force_measured"].max()
    residual = _panel(view, "Forces", 1)
    assert (residual.curves[0][0].getData()[1] == 0.25).all()


def test_terms_tracking_and_pose(view: LiveView, history: History) -> None:
    view.bar.window.setCurrentText("1 s")
    view.refresh(history)
    rows = history.latest(1.0)
    gravity = _panel(view, "Terms", 1)
    assert gravity.panel.title == "Gravity"
    _, drawn = gravity.curves[0][4].getData()
    assert (drawn.min(), drawn.max()) == (rows["terms"][:, 1, 4].min(), rows["terms"][:, 1, 4].max())
    total = _panel(view, "Terms", 5)
    assert total.curves[0][4].getData()[1][-1] == pytest.approx(rows["force_model"][-1, 4])
    error = _panel(view, "Tracking")
    np.testing.assert_allclose(error.curves[0][5].getData()[1], 6.0)  # µm
    before = rows.copy()
    before["flags"] = 0
    assert np.isnan(error.panel.series[0].extract(Excerpt(before).cut(0, 10))).all()  # nothing to track before homing
    assert (_panel(view, "Tracking", 1).curves[0][0].getData()[1] == 4.0).all()
    x = _panel(view, "Pose")
    np.testing.assert_allclose(x.curves[0][0].getData()[1], 11.0)  # mm
    np.testing.assert_allclose(x.curves[1][0].getData()[1], 10.0)
    assert "deg" in _panel(view, "Pose", 1).panel.label


def test_implied_wrench_is_shown(view: LiveView, history: History) -> None:
    for _ in range(2):
        view.refresh(history)
    force = _panel(view, "External wrench")
    from gui.live.wrench import wrench_of

    expected = wrench_of(MECHANISM.geometry, history.latest(0.5))[0]
    np.testing.assert_allclose(force.curves[0][2].getData()[1], expected[2])
    np.testing.assert_allclose(view.wrench.mean, expected)
    assert view.wrench.values[2].text().startswith(f"{expected[2]:.1f}".replace("-", "−"))
    view.set_mechanism(None)
    assert view.wrench.values[2].text() == "–"


def test_timing_histogram_counts_every_cycle(view: LiveView, history: History) -> None:
    rows = live_rows(500, 6000)
    rows["period"][7] += 1e-3
    history.append(rows)
    view.bar.window.setCurrentText("5 s")
    view.refresh(history)
    page = view.pages["Timing"]
    view.tabs.setCurrentWidget(page)
    period = page.histograms["Period error"]  # type: ignore[union-attr]
    assert period.counts.sum() == 2501
    assert period.counts[-1] == 1 or period.counts[-2] == 1
    assert period.edges[-1] > 1000.0  # µs
    assert "2501 cycles shown, 0 skipped" in page.missed.text()  # type: ignore[union-attr]


def test_freeze_holds_the_picture_and_lets_go(qtbot: QtBot, view: LiveView, history: History) -> None:
    view.refresh(history)
    _click(qtbot, view.bar.freeze)
    forces = _panel(view, "Forces")
    held = forces.curves[0][0].getData()[0][-1]
    history.append(live_rows(500, 6000))
    view.refresh(history)
    assert forces.curves[0][0].getData()[0][-1] == held
    forces.view.setXRange(3.0, 4.0, padding=0)
    forces.view.sigRangeChangedManually.emit([True, False])
    residual = _panel(view, "Forces", 1)
    assert residual.span == pytest.approx((3.0, 4.0))
    assert residual.curves[0][0].getData()[0][0] == pytest.approx(3.0)
    _click(qtbot, view.bar.freeze)
    view.refresh(history)
    assert forces.curves[0][0].getData()[0][-1] == 6499 / RATE
    assert forces.span[1] == pytest.approx(6499 / RATE)


def test_clear_begins_with_an_empty_picture(qtbot: QtBot, view: LiveView, history: History) -> None:
    view.refresh(history)
    _click(qtbot, view.bar.clear)
    forces = _panel(view, "Forces")
    assert len(forces.curves[0][0].getData()[0]) == 0
    assert view.moment.text() == "No data"
    history.append(live_rows(10, 6000))
    view.refresh(history)
    assert len(forces.curves[0][0].getData()[0]) == 10
    history.append(live_rows(20))  # another engine: its clock begins anew
    view.refresh(history)
    assert len(forces.curves[0][0].getData()[0]) == 20


def test_legs_are_chosen_one_by_one_or_alone(qtbot: QtBot, view: LiveView, history: History) -> None:
    view.refresh(history)
    forces = _panel(view, "Forces")
    _click(qtbot, view.bar.legs.buttons[1])
    assert [curve.isVisible() for curve in forces.curves[1]] == [True, False, True, True, True, True]
    assert ">2</b>" not in forces.header.text() and ">3</b>" in forces.header.text()
    view.bar.legs.set_legs([False, False, False, True, False, False])
    low, high = forces.view.viewRange()[1]
    assert 38 < low < 39 and 41 < high < 42
    _click(qtbot, view.bar.legs.all)
    assert all(curve.isVisible() for curve in forces.curves[0])
    assert all(curve.isVisible() for curve in _panel(view, "Terms").curves[0])


def test_shift_shows_one_leg_alone(monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, view: LiveView) -> None:
    shift = QtCore.Qt.KeyboardModifier.ShiftModifier
    monkeypatch.setattr(QtGui.QGuiApplication, "keyboardModifiers", lambda: shift)
    _click(qtbot, view.bar.legs.buttons[4], shift)
    assert view.bar.legs.legs == [False] * 4 + [True, False]


def test_cursors_are_linked_and_show_values(qtbot: QtBot, view: LiveView, history: History) -> None:
    view.refresh(history)
    forces, residual = _panel(view, "Forces"), _panel(view, "Forces", 1)
    assert not forces.cursor.isVisible()
    forces.pointed.emit(10.001)
    view.refresh(history)
    assert forces.cursor.isVisible() and residual.cursor.isVisible()
    assert residual.cursor.value() == 10.001
    assert view.moment.text().startswith(f"{10.0:.3f} s") or view.moment.text().startswith("10.002 s")
    expected = 20 + np.sin(10.0)
    assert f">2</b></span>&nbsp;{expected:.1f}/\u2060{expected - 0.25:.1f}" in forces.header.text()
    forces.pointed.emit(None)
    view.refresh(history)
    assert view.cursors.at is None and not residual.cursor.isVisible()


def test_however_far_the_mouse_moves_values_are_written_once_a_refresh(
    monkeypatch: pytest.MonkeyPatch, view: LiveView, history: History
) -> None:
    for _ in range(2):
        view.refresh(history)
    forces = _panel(view, "Forces")
    written: list[PlotPanel] = []
    monkeypatch.setattr(PlotPanel, "show_values", lambda panel, *_args: written.append(panel))
    for t in np.linspace(3.0, 11.0, 100):
        forces.pointed.emit(float(t))
    assert written == []
    view.refresh(history)
    assert len(written) == 2 and view.moment.text() == "11.000 s, cursor"  # the page that is seen, no other


def test_a_cursor_where_the_history_does_not_reach_has_no_values(view: LiveView) -> None:
    history = History(2000)
    history.append(live_rows(2000))
    view.refresh(history)
    forces = _panel(view, "Forces")
    forces.pinned.emit(1.0)
    forces.pointed.emit(3.5)
    view.refresh(history)
    assert "–" not in forces.header.text()
    history.append(live_rows(1000, 2000))  # what A stood at, 1 s, is gone
    for _ in range(5):
        view.refresh(history)
    assert history.times[0] == 2.0
    assert "B − A" in forces.header.text() and ">3</b></span>&nbsp;–/\u2060–" in forces.header.text()
    assert view.moment.text() == "3.500 s, cursor B\nΔt = B − A = +2.500 s"
    history.append(live_rows(100))  # another engine: its clock begins anew
    for _ in range(5):
        view.refresh(history)
    assert view.moment.text() == "No data at 3.500 s, cursor B\nΔt = B − A = +2.500 s"
    assert ">3</b></span>&nbsp;–/\u2060–" in forces.header.text()
    assert np.isnan(view.strokes.lengths).all() and view.wrench.values[2].text() == "–"
    view.set_cursor(0.1)
    forces.pinned.emit(0.1)
    view.clear()
    assert view.moment.text() == "No data"


def test_the_mouse_moves_the_cursor(qtbot: QtBot, view: LiveView, history: History) -> None:
    view.refresh(history)
    forces = _panel(view, "Forces")
    centre = forces.view.sceneBoundingRect().center()
    forces.plot.scene().sigMouseMoved.emit(centre)
    assert view.cursors.b == pytest.approx(sum(forces.span) / 2, abs=0.02)
    QtWidgets.QApplication.sendEvent(forces.plot.viewport(), QtCore.QEvent(QtCore.QEvent.Type.Leave))
    assert view.cursors.b is None


def test_export_writes_what_is_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, qtbot: QtBot, view: LiveView, history: History
) -> None:
    view.bar.window.setCurrentText("1 s")
    view.bar.legs.set_legs([True, False, False, False, False, True])
    view.refresh(history)
    target = tmp_path / "shown"
    monkeypatch.setattr(QtWidgets.QFileDialog, "getSaveFileName", lambda *_args: (str(target), ""))
    _click(qtbot, view.bar.csv)
    assert view.bar.note.text() == "Writing shown.csv …"
    history.append(live_rows(100, 6000))
    history.clear()  # what was shown when it was asked for is what is written
    qtbot.waitUntil(lambda: view.bar.note.text() == "Saved shown.csv", timeout=20_000)
    history.append(live_rows(6000, offset=0.25))
    with open(tmp_path / "shown.csv", encoding="utf-8") as file:
        names, *lines = list(csv.reader(file))
    assert names == [
        "t [s]",
        "Leg force: measured leg 1 [N]",
        "Leg force: measured leg 6 [N]",
        "Leg force: model leg 1 [N]",
        "Leg force: model leg 6 [N]",
        "Residual: residual leg 1 [N]",
        "Residual: residual leg 6 [N]",
    ]
    rows = history.latest(1.0)
    np.testing.assert_allclose(np.array(lines, float)[:, 0], rows["t"])
    np.testing.assert_allclose(np.array(lines, float)[:, 2], rows["force_measured"][:, 5])
    _click(qtbot, view.bar.png)
    qtbot.waitUntil(lambda: view.bar.note.text() == "Saved shown.png", timeout=20_000)
    picture = QtGui.QImage(str(tmp_path / "shown.png"))
    assert (picture.width(), picture.height()) == (view.body.width(), view.body.height())


def test_export_of_histograms_and_a_disk_that_refuses(
    tmp_path: Path, qtbot: QtBot, view: LiveView, history: History
) -> None:
    view.refresh(history)
    view.tabs.setCurrentWidget(view.pages["Timing"])
    view.export(tmp_path / "timing.csv")
    qtbot.waitUntil(lambda: view.bar.note.text() == "Saved timing.csv", timeout=20_000)
    lines = (tmp_path / "timing.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("Period error: from [µs],Period error: to [µs],Period error: cycles [1]")
    assert len(lines) == 61
    view.export(tmp_path / "nowhere" / "timing.csv")
    qtbot.waitUntil(lambda: view.bar.note.text() == "Not saved: No such file or directory", timeout=20_000)
    view.export(tmp_path / "nowhere" / "picture.png")
    qtbot.waitUntil(lambda: view.bar.note.text() == "Not saved: the picture could not be written", timeout=20_000)


def test_a_file_begun_is_finished_before_the_view_ends(tmp_path: Path, view: LiveView, history: History) -> None:
    view.refresh(history)
    view.export(tmp_path / "last.csv")
    view.close_worker()
    assert len((tmp_path / "last.csv").read_text(encoding="utf-8").splitlines()) == 5002
    view.close_worker()


@pytest.mark.parametrize("page", ["Terms", "Tracking", "Pose", "External wrench"])
def test_every_page_can_be_exported(tmp_path: Path, qtbot: QtBot, view: LiveView, history: History, page: str) -> None:
    view.refresh(history)
    shown = view.pages[page]
    assert isinstance(shown, PlotPage)
    view.tabs.setCurrentWidget(shown)
    view.export(tmp_path / "page.csv")
    qtbot.waitUntil(lambda: view.bar.note.text() == "Saved page.csv", timeout=20_000)
    values = np.loadtxt(tmp_path / "page.csv", delimiter=",", skiprows=1)
    columns = [panel.panel.series[0].extract(shown.stretch(history)) for panel in shown.panels]
    np.testing.assert_allclose(values[:, 1 : 1 + columns[0].shape[1]], columns[0], rtol=1e-8)
    assert values.shape[0] == 5001


def test_what_is_chosen_is_kept(tmp_path: Path, qtbot: QtBot, view: LiveView) -> None:
    settings = make_settings(tmp_path)
    view.bar.window.setCurrentText("30 s")
    view.bar.legs.set_legs([True, False, True, False, False, False])
    view.chooser.boxes["massless"].click()
    view.tabs.setCurrentWidget(view.pages["Pose"])
    view.bar.platform.setChecked(True)
    assert view.beside.platform is not None
    view.beside.platform.colouring.setCurrentIndex(2)
    view.save(settings, "live")
    other = LiveView(DARK)
    qtbot.addWidget(other)
    try:
        other.restore(settings, "live")
        other.set_mechanism(MECHANISM)
        other.bar.platform.setChecked(True)
        assert other.bar.seconds == 30.0 and other.bar.legs.legs == view.bar.legs.legs
        assert other.models.chosen == ("massless",) and other.tabs.currentWidget() is other.pages["Pose"]
        assert other.beside.platform is not None and other.beside.platform.colouring.currentIndex() == 2
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
    low, high = MECHANISM.legs[0].limits.length  # type: ignore[union-attr, misc]
    assert view.strokes.used(0) == pytest.approx((0.500001 - low) / (high - low))
    assert not view.strokes.grab().isNull()
    view.set_mechanism(None)
    assert view.strokes.used(0) is None


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
    assert view.moment.text().startswith("11.998 s")  # five times slower than the curves
    for _ in range(5):
        view.refresh(history)
    assert view.moment.text().startswith("12.098 s")


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
    forces = _panel(view, "Forces")
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
            assert panel.plot.getAxis("left").labelText
