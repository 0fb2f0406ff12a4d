"""Dashboards over live telemetry and over a replay: what their plots show, keep, and leave behind."""

import csv
import gc
import weakref
from pathlib import Path

import numpy as np
import pytest
from dashboard_views import file_of, kept_dashboards
from live_rows import MECHANISM, latest, live_rows
from live_views import value_of
from pyqtgraph.Qt import QtCore, QtWidgets
from pytestqt.qtbot import QtBot
from shell_support import make_settings

from gui.dashboard import DashboardPage, Dashboards
from gui.dashboard.board import SignalPlot
from gui.dashboard.layout import Dashboard, Side
from gui.dashboard.signals import SIGNALS, signal_of
from gui.live import LiveView
from gui.models.live import wrench_of
from gui.models.timeline import Floats, History, Replay, Segment
from gui.widgets.theme import DARK, LIGHT
from rig.cell_models import model_differences
from rig.recording import READING, SensorSeries, series_of
from rig.telemetry import CHANNELS, ROW, SensorChannels

_LONG = 60_000  # ms, where kernels have to be compiled first
_NONE = QtCore.Qt.KeyboardModifier.NoModifier
_CTRL, _ALT = QtCore.Qt.KeyboardModifier.ControlModifier, QtCore.Qt.KeyboardModifier.AltModifier
_FORCES = tuple(f"force_measured.{leg}" for leg in range(1, 7))


def test_legs_values_and_cursors_are_those_of_the_view(
    boards: DashboardPage, boards_view: LiveView, boards_history: History
) -> None:
    boards.add([*_FORCES, "force_residual.2"], own=True)
    boards_view.bar.legs.set_legs([False, True, True, False, False, False])
    boards.add(["exchange_time"], own=True)
    first, second = boards.board.plots
    assert first.curves[0].shown == [False, True, True, False, False, False]
    for _ in range(6):
        boards_view.refresh(boards_history)
    newest = latest(boards_history, 0.0)[-1]
    assert value_of("2", f"{newest['force_measured'][1]:.2f}", "0.25") in first.header.text()
    assert ">1</b>" not in first.header.text() and value_of("Exchange", "200") in second.header.text()
    assert boards.choice.moment.text() == "11.998 s" and not boards_view.values.isVisible()
    boards_view.set_cursors(4.0, 5.0)
    assert boards.choice.moment.text().endswith("Δt = B − A = +1.000 s") and "B − A" in first.header.text()
    boards.add(["period"], own=True)
    assert boards.board.plots[2].cursor.isVisible() and boards.board.plots[2].cursor.value() == 5.0
    boards_view.cursors.click(3.0)
    boards_view.cursors.point(None)
    boards_view.bar.legs.set_legs([True] * 6)


def test_freezing_holds_all_plots_and_new_ones_show_what_is_held(
    boards: DashboardPage, boards_view: LiveView, boards_history: History
) -> None:
    boards.add(["lateness"], own=True)
    boards_view.bar.freeze.setChecked(True)
    boards_history.append(live_rows(500, 6000))
    boards.add(["cycle"], own=True)
    boards_view.refresh(boards_history)
    ends = [plot.curves[0].points(0)[0][-1] for plot in boards.board.plots]
    assert ends == [5999 / 500] * 2
    boards_view.bar.freeze.setChecked(False)
    boards_view.refresh(boards_history)
    assert boards.board.plots[1].curves[0].points(0)[1][-1] == 6499.0


def test_a_plot_that_is_removed_leaves_nothing_behind(
    boards: DashboardPage, boards_view: LiveView, boards_history: History
) -> None:
    boards.add([*_FORCES], own=True)
    boards.add(["cycle"], own=True)
    boards_view.refresh(boards_history)
    plot = boards.board.plots[0]
    left = [weakref.ref(plot), weakref.ref(plot.view), weakref.ref(plot.curves[0])]
    boards.remove(plot.place)
    del plot
    for _ in range(3):  # what was connected to it goes after it
        QtWidgets.QApplication.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)
    gc.collect()
    assert [each() for each in left] == [None] * len(left)
    boards_view.refresh(boards_history)
    assert [each.signals for each in boards.board.plots] == [("cycle",)] == [each.signals for each in boards.panels]


def test_sizes_are_kept_and_another_page_shows_the_same(boards: DashboardPage, qtbot: QtBot, tmp_path: Path) -> None:
    boards.add(["cycle"], own=True)
    boards.add(["motion"], own=True)
    boards.move((1, 0), Side.ABOVE)
    row = boards.board.rows.widget(0)
    row.setSizes([300, 100])
    row.splitterMoved.emit(300, 1)
    boards.keep_sizes()
    first, second = kept_dashboards(boards)["Dashboard"].rows[0].plots
    assert first.share == pytest.approx(3 * second.share, rel=0.2)
    settings = make_settings(tmp_path)
    boards.choice.signals.setChecked(False)
    boards.save(settings, "here")
    boards.choice.signals.setChecked(True)
    other = DashboardPage(Dashboards(tmp_path / "dashboards.toml"), LIGHT)
    qtbot.addWidget(other)
    other.restore(settings, "here")
    other.resize(900, 500)
    other.show()
    assert other.choice.name == "Dashboard" and [plot.signals for plot in other.board.plots] == [
        ("cycle",),
        ("motion",),
    ]
    assert not other.tree.isVisible()
    left, right = other.board.rows.widget(0).sizes()
    assert left > 2 * right


def test_many_plots_come_one_after_the_other(
    boards: DashboardPage, boards_view: LiveView, boards_history: History, qtbot: QtBot
) -> None:
    keys = [key for leg in range(1, 7) for key in (f"length.{leg}", f"velocity.{leg}")]
    board = Dashboard("many").with_plots(())
    for key in keys:
        board = board.with_plots([key])
    file_of(boards).add(board)
    boards.choice.choose("many")
    assert 0 < len(boards.board.plots) < len(keys) and not boards.board.complete  # STOP comes in between
    boards_view.refresh(boards_history)
    qtbot.waitUntil(lambda: boards.board.complete, timeout=60_000)
    assert [plot.signals for plot in boards.panels] == [(key,) for key in keys]
    boards_view.refresh(boards_history)
    assert all(len(plot.curves[0].points(0)[0]) for plot in boards.board.plots)


def test_nothing_is_drawn_that_is_not_in_view(
    boards: DashboardPage, boards_view: LiveView, boards_history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    boards.add(["cycle"], own=True)
    drawn: list[str] = []
    monkeypatch.setattr(SignalPlot, "draw", lambda plot, *_times: drawn.append(plot.signals[0]))
    view = LiveView(DARK, replayed=True)
    view.add_page("Dashboards", other := DashboardPage(file_of(boards), DARK))
    try:
        other.choice.read()
        view.refresh(boards_history)
        assert len(other.panels) == 1 and drawn == []
        view.tabs.setCurrentWidget(other)
        view._redraw()
        assert "cycle" in drawn
    finally:
        view.close_worker()
        view.deleteLater()


IMU = SensorChannels("imu", "imu", *zip(*CHANNELS["imu"], strict=True))
TRACKER = SensorChannels("tracker", "pose", *zip(*CHANNELS["pose"], strict=True))
CABINET = SensorChannels("cabinet", "scalar", ("temperature", "supply"), ("°C", "V"))


def _series(channels: SensorChannels, rate: float, values: list[float]) -> SensorSeries:
    rows = np.zeros(int(6.0 * rate), READING)
    rows["t"] = np.arange(len(rows)) / rate
    rows["values"][:, : len(values)] = values
    return series_of(channels, [rows])


def test_readings_of_external_sensors_are_plotted_by_the_sensors_names(
    boards: DashboardPage, boards_view: LiveView, boards_history: History
) -> None:
    quarter = float(np.sqrt(0.5))
    series = (
        _series(IMU, 250.0, [0.0, 0.0, 9.8, 0.0, 0.5]),
        _series(TRACKER, 100.0, [0.1, 0.0, 0.0, quarter, 0.0, 0.0, quarter]),
        _series(CABINET, 0.5, [21.5, 24.0]),
    )
    segment = Segment(np.zeros(3, ROW), np.array([-0.5, 2.0, 7.5]), 0)

    def values(key: str) -> Floats:
        signal = signal_of(key)
        return np.asarray(signal.quantity.values(segment, boards.sources)[:, signal.column])

    try:
        boards_view.set_sensors([IMU, TRACKER, CABINET], lambda: series)
        boards.tree.choose(["imu.imu.force.z", "pose.tracker.angle.z", "scalar.cabinet.temperature [°C]"])
        chosen = boards.tree.chosen
        assert chosen == ("imu.imu.force.z", "pose.tracker.angle.z", "scalar.cabinet.temperature [°C]")
        boards.add(chosen, own=True)
        boards_view.refresh(boards_history)
        assert [plot.panel.label for plot in boards.board.plots] == [
            "imu: specific force, m/s²",
            "tracker: angle, °",
            "cabinet: temperature, °C",
        ]
        assert values(chosen[0])[1] == pytest.approx(9.8)
        assert np.isnan(values(chosen[0])[[0, 2]]).all()  # before the first, and a second after the last
        assert values("imu.imu.rate.y")[1] == pytest.approx(np.degrees(0.5))
        assert values("pose.tracker.position.x")[1] == pytest.approx(100.0)
        assert values(chosen[1])[1] == pytest.approx(90.0)
        assert values("scalar.cabinet.supply [V]").tolist()[1:] == [24.0, 24.0]  # a slow sensor's is not old so soon
        for absent in ("imu.other.rate.y", "scalar.cabinet.supply [mV]", "scalar.cabinet.pressure"):
            assert np.isnan(values(absent)).all()
    finally:
        boards_view.set_sensors([], tuple)


def test_a_dashboard_keeps_signals_of_a_sensor_that_is_not_there(
    boards: DashboardPage, boards_view: LiveView, boards_history: History
) -> None:
    try:
        boards_view.set_sensors([CABINET], lambda: (_series(CABINET, 2.0, [21.5, 24.0]),))
        boards.add(["scalar.cabinet.temperature [°C]"], own=True)
        boards_view.set_sensors([], tuple)
        boards.choice.read()
        boards_view.refresh(boards_history)
        assert not boards.choice.fault
        (plot,) = boards.board.plots
        assert np.isnan(plot.curves[0].points(0)[1]).all()
        boards.tree.choose(["scalar.cabinet.temperature [°C]"])
        assert boards.tree.chosen == ()  # not offered
    finally:
        boards_view.set_sensors([], tuple)


def test_over_a_replay_with_its_present_and_its_numbers(boards: DashboardPage, qtbot: QtBot, tmp_path: Path) -> None:
    boards.add(["force_measured.1", "force_measured.2"], own=True)
    view = LiveView(DARK, replayed=True, alone=DashboardPage(file_of(boards), DARK))
    try:
        other = view.pages["Dashboards"]
        assert isinstance(other, DashboardPage)
        other.choice.read()
        replay = Replay(live_rows(3000))
        replay.seek(2.0)
        view.refresh(replay.excerpt)
        view.show_span(1.0, 4.0)
        (plot,) = other.board.plots
        assert plot.span == pytest.approx((1.0, 4.0)) and plot.present.value() == 2.0
        assert plot.curves[0].points(1)[0][-1] == pytest.approx(4.0)  # also what comes after the present
        view.bar.legs.set_legs([False] + [True] * 5)
        view.export_table(tmp_path / "t.csv")
        qtbot.waitUntil((tmp_path / "t.csv").exists, timeout=60_000)
        with open(tmp_path / "t.csv", encoding="utf-8") as file:
            head, *rows = list(csv.reader(file))
        assert head == ["t [s]", "Force measured: Force measured 2 [N]"] and len(rows) == 1501
        assert float(rows[0][1]) == pytest.approx(20.0 + np.sin(1.0))
    finally:
        view.close_worker()
        view.deleteLater()


def test_models_and_wrench_are_worked_out_while_a_plot_shows_them(
    boards: DashboardPage, boards_view: LiveView, boards_history: History, qtbot: QtBot, tmp_path: Path
) -> None:
    boards.add(["force_massless.1", "residual_massless.1", "force_model.1", "external_force.x"], own=True)
    boards.add(["external_moment.z"], own=True)
    boards_view.fit()

    def shown(key: str) -> Floats:
        panels = boards.panels_with()(boards.sources)
        quantity = SIGNALS[key].quantity
        series = next(each for panel in panels for each in panel.series if each.name == quantity.title)
        return np.asarray(series.extract(segment)[:, 0])

    def computed() -> bool:
        boards_view.refresh(boards_history)
        return bool(np.isfinite(shown("force_massless.1")).all())

    segment = boards.segment(boards_history).copy()
    assert not computed()
    qtbot.waitUntil(computed, timeout=_LONG)
    assert boards_view.models.chosen == ("massless",)
    rows = segment.rows
    less = model_differences(MECHANISM, rows["reference"], ["massless"])["massless"][:, 0]
    assert np.abs(less).max() > 0.1
    np.testing.assert_allclose(shown("force_massless.1"), rows["force_model"][:, 0] + less)
    np.testing.assert_allclose(shown("residual_massless.1"), rows["force_residual"][:, 0] - less)
    wrench = wrench_of(MECHANISM.geometry, rows)
    assert np.isfinite(wrench).all()
    np.testing.assert_allclose(shown("external_force.x"), wrench[:, 0])
    np.testing.assert_allclose(shown("external_moment.z"), wrench[:, 5])
    boards_view.export_table(tmp_path / "t.csv")
    qtbot.waitUntil((tmp_path / "t.csv").exists, timeout=_LONG)
    assert "Force by massless 1 [N]" in (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()[0]
    assert "force_massless.1" in kept_dashboards(boards)[boards.choice.name].rows[0].plots[0].signals
    boards.remove((0, 0))
    boards_view.refresh(boards_history)
    assert boards_view.models.chosen == ()
