"""Cost of the live views: `make bench`, or this file under `xvfb-run -a`.

18 curves of 5000 points and the platform in three dimensions, thirty times a second while data arrive at 500 Hz,
beside the same curves as pyqtgraph draws them by default; and the main window with both in view, published models laid
over the forces or not.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
import pytest
from pyqtgraph.Qt import QtCore, QtWidgets

from dynamics import load_mechanism
from gui.live import LiveView, PlatformView
from gui.models import LEG_COLOURS
from gui.models.timeline import History
from gui.session.rig_session import RigSession
from gui.shell.appearance import dress
from gui.shell.main_window import MainWindow
from gui.widgets import run_all
from gui.widgets.theme import DARK
from rig.config.rig_config import load_config
from rig.telemetry import ROW

RATE = 500
SECONDS = 10
"""of data on the screen: 5000 points a curve"""
MEASURED = 6.0  # s
INTERVAL = 33  # ms


def telemetry(count: int) -> npt.NDArray[np.void]:
    """Rows (count,) of a rig at `RATE`, its legs and platform on sines."""
    random = np.random.default_rng(1)
    rows = np.zeros(count, ROW)
    t = np.arange(count) / RATE
    rows["t"] = t
    rows["cycle"] = np.arange(count)
    rows["period"] = 1 / RATE
    wave = np.sin(2 * np.pi * t[:, None] * np.array([0.5, 0.7, 0.9, 0.6, 0.8, 1.1]))
    rows["force_model"] = 40 + 30 * wave
    rows["force_measured"] = rows["force_model"] + random.normal(0, 0.5, (count, 6))
    rows["force_residual"] = rows["force_measured"] - rows["force_model"]
    rows["length"] = 0.5 + 0.05 * wave
    rows["pose"][:, :3] = [0, 0, 0.45] + 0.02 * wave[:, :3]
    rows["pose"][:, 3] = 1
    rows["reference"][:, :7] = rows["pose"]
    return rows


def _run(tick: Callable[[], None]) -> tuple[float, float]:
    """Frames a second and share of one core while a timer calls `tick`."""
    application = QtWidgets.QApplication.instance()
    frames = 0

    def frame() -> None:
        nonlocal frames
        tick()
        frames += 1

    timer = QtCore.QTimer()
    timer.setTimerType(QtCore.Qt.TimerType.PreciseTimer)
    timer.setInterval(INTERVAL)
    timer.timeout.connect(frame)
    timer.start()
    loop = QtCore.QEventLoop()
    QtCore.QTimer.singleShot(1000, loop.quit)
    loop.exec()  # everything shown once
    frames, cpu, begun = 0, time.process_time(), time.perf_counter()
    QtCore.QTimer.singleShot(int(1000 * MEASURED), loop.quit)
    loop.exec()
    elapsed, busy = time.perf_counter() - begun, time.process_time() - cpu
    timer.stop()
    assert application is not None
    return frames / elapsed, busy / elapsed


class _Feed:
    """Hands out rows as they come at 500 Hz."""

    def __init__(self) -> None:
        self._rows = telemetry(RATE * (SECONDS + 20))
        self._given = RATE * SECONDS
        self.first = self._rows[: self._given]
        self._begun = time.perf_counter()

    def new(self) -> npt.NDArray[np.void]:
        due = RATE * SECONDS + int(RATE * (time.perf_counter() - self._begun))
        rows = self._rows[self._given : due]
        self._given = due
        return rows


def _window(*widgets: QtWidgets.QWidget) -> QtWidgets.QWidget:
    window = QtWidgets.QWidget()
    row = QtWidgets.QHBoxLayout(window)
    for widget in widgets:
        row.addWidget(widget, 1)
    window.resize(1880, 1000)
    window.show()
    return window


def _ours() -> tuple[float, float]:
    mechanism = load_mechanism("lab-hexapod")
    live, platform = LiveView(DARK), PlatformView(DARK)
    live.set_mechanism(mechanism)
    platform.set_mechanism(mechanism)
    window = _window(live, platform)
    feed, history = _Feed(), History(60 * RATE)
    history.append(feed.first)

    def tick() -> None:
        history.append(feed.new())
        live.refresh(history)
        platform.refresh(history)

    figures = _run(tick)
    window.close()
    return figures


def _defaults(width: int) -> tuple[float, float]:
    plots = [pg.PlotWidget(), pg.PlotWidget()]
    curves = []
    for plot, fields in zip(plots, (("force_measured", "force_model"), ("force_residual",)), strict=True):
        for field in fields:
            for leg, colour in enumerate(LEG_COLOURS):
                curves.append((plot.plot(pen=pg.mkPen(colour, width=width)), field, leg))
    column = QtWidgets.QWidget()
    layout = QtWidgets.QVBoxLayout(column)
    for plot in plots:
        layout.addWidget(plot)
    window = _window(column, QtWidgets.QWidget())
    feed, history = _Feed(), History(60 * RATE)
    history.append(feed.first)

    def tick() -> None:
        history.append(feed.new())
        rows = history.window((history.end or 0.0) - SECONDS, history.end or 0.0)
        for curve, field, leg in curves:
            curve.setData(np.array(rows["t"]), np.array(rows[field][:, leg]))

    figures = _run(tick)
    window.close()
    return figures


class _Frames:
    """A view that counts how often the clock of frames comes by."""

    def __init__(self, window: QtWidgets.QWidget) -> None:
        self._window = window
        self.count = 0

    def isVisible(self) -> bool:
        return True

    def window(self) -> QtWidgets.QWidget:
        return self._window

    def refresh(self, _history: History) -> None:
        self.count += 1


@pytest.fixture
def window(qapp: QtWidgets.QApplication, tmp_path: Path) -> Iterator[MainWindow]:
    """The main window of a rig that is not connected, curves and platform beside each other in view."""
    session = RigSession(load_config("virtual"), tmp_path)
    made = MainWindow(session, QtCore.QSettings(str(tmp_path / "gui.ini"), QtCore.QSettings.Format.IniFormat))
    made.resize(1920, 1040)
    made.show()
    while not made.complete:
        qapp.processEvents()
    made.tabs.setCurrentWidget(made.views.live_page)
    qapp.processEvents()
    yield made
    made.close_now()
    made.deleteLater()
    QtWidgets.QApplication.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)


def _in_window(window: MainWindow) -> tuple[float, float]:
    """Frames a second of its own clock and share of one core, while rows arrive."""
    window.views.history.clear()
    feed, frames = _Feed(), _Frames(window)
    window.views.history.append(feed.first)
    window.views.clock.views.append(frames)
    begun = time.perf_counter()
    _, share = _run(lambda: window.views.history.append(feed.new()))
    elapsed = time.perf_counter() - begun
    window.views.clock.views.remove(frames)
    return frames.count / elapsed, share


def test_main_window_with_curves_platform_and_models(window: MainWindow) -> None:
    assert window.views.live.platform_split.drawn is not None
    print(
        f"\nmain window {window.width()} × {window.height()} px, 18 curves of {RATE * SECONDS} points and the platform"
    )
    for models in ((), ("dasgupta-1998",), ("dasgupta-1998", "pedrammehr-2012", "massless")):
        for model, box in window.views.live.chooser.boxes.items():
            if model != "exact":
                box.setChecked(model in models)
        fps, share = _in_window(window)
        print(f"  {len(models)} published models on: {fps:.1f} fps, {100 * share:.0f} % of a core")
        assert fps >= 29.5
        assert share <= (0.70 if models else 0.60)


def test_live_views_beside_pyqtgraph_defaults(qapp: QtWidgets.QApplication) -> None:
    run_all(dress(qapp, DARK))
    fps, share = _ours()
    print(f"\n18 curves of {RATE * SECONDS} points at {1000 / INTERVAL:.0f} Hz, {RATE} rows a second arriving")
    print(f"  live view and platform ({qapp.platformName()}): {fps:.1f} fps, {100 * share:.0f} % of a core")
    for width in (1, 2):
        other_fps, other_share = _defaults(width)
        print(
            f"  pyqtgraph defaults, {width} px, curves alone: {other_fps:.1f} fps, {100 * other_share:.0f} % of a core"
            f" ({other_share / share:.1f} times ours)"
        )
    assert fps >= 28.0
    assert share <= 0.60
