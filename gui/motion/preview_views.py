"""Views of a previewed motion: curves of pose, stroke, speed and force, and the animated machine."""

import time
from collections.abc import Callable

import numpy as np
import pyqtgraph as pg
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.live import PlatformView, Plot, ReplayBar
from gui.models import Curves, Floats, Preview, Replay, Timeline, largest_amount, tightest
from gui.scene import Shapes
from gui.texts import tr
from gui.widgets import LEG_COLOURS, Theme
from kinematics import Array
from rig.config import RigConfig

_PLOTS = (
    (tr("Position, mm"), 3),
    (tr("Angles, °"), 3),
    (tr("Leg length, mm"), 6),
    (tr("Leg speed, mm/s"), 6),
    (tr("Drive force, N"), 6),
)
"""Titles, and number of curves: one per axis or leg."""
_FROM_HOME = tr("From home, mm")
_LETTERS = "9pt"  # of titles
_GRID = 63  # opacity of grid lines, of 255
_NEAR = 0.25  # fraction of the curves' height: a nearer limit is included in the axis


class PreviewPlots(QtWidgets.QWidget):
    """Five plots over the motion's time; a dashed line is a limit, a dotted one the worst sample.

    Created with the first motion, to not delay the window.

    Args:
        config: the rig, for its limits.
        theme: colours.
    """

    def __init__(self, config: RigConfig, theme: Theme, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self._config = config
        self._theme = theme
        self.setAccessibleName(tr("Preview of the motion: pose, stroke, speed and predicted forces over time"))
        self._grid = QtWidgets.QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(4)
        self.curves: list[list[pg.PlotDataItem]] = []
        self._limits: list[list[pg.InfiniteLine]] = []
        self._plots: list[Plot] = []
        self._markers: list[pg.InfiniteLine] = []
        self._presents: list[pg.InfiniteLine] = []
        self._from_home = False

    def _make(self) -> None:
        for index, (title, count) in enumerate(_PLOTS):
            plot = Plot(tr("{title} over time").format(title=title))
            plot.setMinimumSize(148, 80)
            for side in ("left", "bottom"):
                plot.getAxis(side).setGrid(_GRID)
            plot.view.setMouseEnabled(x=True, y=False)
            if index + 2 >= len(_PLOTS):  # the lowest of its column
                plot.getAxis("bottom").setLabel("s")
            self._grid.addWidget(plot, index // 2, index % 2)
            self._plots.append(plot)
            self.curves.append([pg.PlotDataItem(skipFiniteCheck=True) for _ in range(count)])
            for curve in self.curves[-1]:
                plot.view.addItem(curve)
            self._limits.append([])
            marker = pg.InfiniteLine(angle=90)
            marker.setVisible(False)
            plot.add(marker)
            self._markers.append(marker)
            present = pg.InfiniteLine(angle=90)
            present.setVisible(False)
            plot.add(present)
            self._presents.append(present)
        self._legend = QtWidgets.QLabel()
        self._legend.setAlignment(QtCore.Qt.AlignmentFlag.AlignCenter)
        self._legend.setWordWrap(True)
        self._grid.addWidget(self._legend, 2, 1)
        self._add_limits()
        self.set_theme(self._theme)

    def _add_limits(self) -> None:
        wanted: set[tuple[int, float]] = set()  # the legs of a mechanism may differ
        for limits in (leg.limits for leg in self._config.machine.legs if leg.limits is not None):
            if limits.length is not None:
                wanted |= {(2, 1e3 * length) for length in limits.length}
            if limits.velocity is not None:
                wanted |= {(3, 1e3 * limits.velocity), (3, -1e3 * limits.velocity)}
            if limits.force is not None:
                wanted |= {(4, limits.force), (4, -limits.force)}
        for index, value in sorted(wanted):
            line = pg.InfiniteLine(value, angle=0)
            self._plots[index].add(line)
            self._limits[index].append(line)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        if not self._plots:
            return
        for plot, curves, limits, marker in zip(self._plots, self.curves, self._limits, self._markers, strict=True):
            plot.dress(theme)
            for curve, colour in zip(curves, theme.axis_colours() if len(curves) == 3 else LEG_COLOURS, strict=True):
                curve.setPen(theme.pen(colour))
            for line in limits:
                line.setPen(theme.pen(theme.error, dashed=True))
            marker.setPen(pg.mkPen(theme.error, width=1, style=QtCore.Qt.PenStyle.DotLine))
        for present in self._presents:
            present.setPen(pg.mkPen(theme.text, width=2))
        self._write_titles()
        self._write_legend()

    def _write_titles(self) -> None:
        for plot, (title, _count) in zip(self._plots, _PLOTS, strict=True):
            plot.set_title(title, _LETTERS, self._theme.text)
        if self._from_home:
            self._plots[0].set_title(_FROM_HOME, _LETTERS, self._theme.text)

    def _write_legend(self) -> None:
        def entry(colour: str, text: str) -> str:
            return f'<span style="color:{colour}">▬</span>&nbsp;{text}'

        legs = " ".join(entry(LEG_COLOURS[leg], _unbroken(tr("leg {leg}").format(leg=leg + 1))) for leg in range(6))
        axes = " ".join(map(entry, self._theme.axis_colours(), ("x/θx", "y/θy", "z/θz")))
        limit = entry(
            self._theme.error, _unbroken(tr("limit (dashed)")) + ", " + _unbroken(tr("worst sample (dotted)"))
        )
        self._legend.setText(
            "<br>".join((tr("Pose: {axes}").format(axes=axes), tr("Legs: {legs}").format(legs=legs), limit))
        )

    def show_preview(self, preview: Preview) -> None:
        """Show a preview; clear the plots without curves."""
        if not self._plots:
            self._make()
        curves = preview.curves
        if curves is not None and curves.from_home != self._from_home:
            self._from_home = curves.from_home
            self._write_titles()
        empty = np.zeros((0, 6))
        series = _series(curves) if curves is not None else [empty] * len(_PLOTS)
        times = curves.t if curves is not None else np.zeros(0)
        for lines, values in zip(self.curves, series, strict=True):
            for index, line in enumerate(lines):
                line.setData(times, values[:, index])
        for plot, limits, values in zip(self._plots, self._limits, series, strict=True):
            if limits and len(values):
                plot.view.setYRange(*_with_near(values, [line.value() for line in limits]))
        worst = tightest(preview.verdict) if preview.verdict is not None else None
        for marker in self._markers:
            marker.setVisible(worst is not None and curves is not None)
            if worst is not None:
                marker.setValue(worst.time)

    def show_present(self, t: float | None) -> None:
        """Draw a line at the present, s along the motion; None removes it."""
        for present in self._presents:
            present.setVisible(t is not None)
            if t is not None:
                present.setValue(t)


def _with_near(values: Array, limits: list[float]) -> tuple[float, float]:
    """Return minimum and maximum, including the limits near them."""
    low, high = float(values.min()), float(values.max())
    margin = _NEAR * (high - low)
    near = [limit for limit in limits if low - margin <= limit <= high + margin]
    return min(low, *near, high), max(high, *near, low)


def _series(curves: Curves) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    return [
        1e3 * curves.coordinates[:, :3],
        np.degrees(curves.coordinates[:, 3:]),
        1e3 * curves.lengths,
        1e3 * curves.speeds,
        curves.forces,
    ]


def _unbroken(text: str) -> str:
    return text.replace(" ", "&nbsp;")


_COARSE = 200.0
"""mm; below it the swept volume is shown in hundredths."""
_NONE = tr("There is no motion that can be evaluated")


class MotionPlayer(QtWidgets.QWidget):
    """Plays a motion; the frame clock calls `refresh` while it is visible.

    Args:
        config: the rig.
        theme: colours.
        shapes: custom meshes.
        clock: returns the playback time, s.
    """

    def __init__(
        self,
        config: RigConfig,
        theme: Theme,
        shapes: Shapes | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.setAccessibleName(tr("The motion in space"))
        self._clock = clock
        self._live = False
        self.replay: Replay | None = None
        self.view = PlatformView(theme, compact=True, expected=True)
        self.view.set_shapes(shapes or Shapes())
        self.view.set_mechanism(config.machine)
        self.bar = ReplayBar("motion", _NONE, narrow=True)
        self.envelope = QtWidgets.QLabel(_NONE)
        self.envelope.setAccessibleName(tr("Space of the platform's edge, mm"))
        self.envelope.setWordWrap(True)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.view, 1)
        layout.addWidget(self.envelope)
        layout.addWidget(self.bar)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Update the minimum height: texts and controls wrap by width."""
        super().resizeEvent(event)
        self.setMinimumHeight(self.layout().minimumHeightForWidth(self.width()))

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.view.set_theme(theme)

    def show_preview(self, preview: Preview) -> None:
        """Show a motion at its beginning, a refused one at its worst sample, and without one the home pose."""
        rows = preview.rows
        playing = self.replay is not None and self.replay.playing
        self.replay = None if rows is None else Replay(rows)
        if self.replay is not None and rows is not None:
            self.replay.excerpt.peak_force = largest_amount(rows["force_model"])
            if preview.verdict is not None and not preview.verdict.passed:
                worst = tightest(preview.verdict)
                self.replay.seek(0.0 if worst is None else worst.time)
        self.view.reset_scale()
        self.bar.set_replay(self.replay)
        swept = preview.swept
        self.view.set_swept(swept, None if rows is None else np.ascontiguousarray(rows["pose"]))
        self.envelope.setText(_NONE if swept is None else _extent(swept.rings))
        if self.replay is None:
            self.view.show_row(None)
            return
        self.view.refresh(self.replay.excerpt)
        if playing:  # continue playing while the motion is edited
            self.replay.play()

    def show_present(self, t: float | None, *, live: bool) -> None:
        """Show the live machine if `live`, and the present, s along the motion; None: on the way to its start."""
        self._live = live
        self.bar.setEnabled(not live and self.replay is not None)
        if live and self.replay is not None:
            self.replay.pause()
            self.replay.seek(self.replay.begin if t is None else t)
            self.bar.show_position()

    def refresh(self, history: Timeline) -> None:
        """Show the history's present while the motion runs; else advance the playback."""
        if self._live and len(history):
            self.view.refresh(history)
            return
        if self.replay is None:
            return
        if self.replay.playing:
            self.replay.advance(self._clock())
            self.bar.show_position()
        self.view.refresh(self.replay.excerpt)


def _extent(rings: Floats) -> str:
    low, high = 1e3 * rings.min(axis=(0, 1)), 1e3 * rings.max(axis=(0, 1))
    digits = 0 if np.max(high - low) >= _COARSE else 2
    spans = (f"{name} {a:.{digits}f} … {b:.{digits}f} mm" for name, a, b in zip("xyz", low, high, strict=True))
    return tr("The plate's edge stays within {spans}").format(spans=", ".join(spans).replace("-", "−"))


_ROOMY = 900
"""px of width from which on both are shown."""


class PreviewViews(QtWidgets.QStackedWidget):
    """Shows previews as curves and as animation: in tabs, or in a splitter if wide enough.

    Args:
        config: the rig.
        theme: colours.
    """

    def __init__(self, config: RigConfig, theme: Theme) -> None:
        super().__init__()
        self.space: MotionPlayer | None = None
        self.plots = PreviewPlots(config, theme)
        self._shown = Preview()
        self.tabs = QtWidgets.QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.setAccessibleName(tr("Views of the motion"))
        self.splitter = QtWidgets.QSplitter()
        self.splitter.setChildrenCollapsible(False)
        self.addWidget(self.tabs)
        self.addWidget(self.splitter)
        self.tabs.addTab(self.plots, tr("Curves"))

    def show_in_space(self, space: MotionPlayer) -> None:
        """Add the animation in front; it is created later, as it takes time."""
        self.space = space
        self._lay_out(self.width() >= _ROOMY)
        space.show_preview(self._shown)

    def show_preview(self, preview: Preview) -> None:
        """Show a preview; clear the views without one."""
        self._shown = preview
        self.plots.show_preview(preview)
        if self.space is not None:
            self.space.show_preview(preview)

    def show_present(self, t: float | None, *, live: bool = False) -> None:
        """Show the present of the running motion, s along it, None without; `live`: show the live machine."""
        self.plots.show_present(t)
        if self.space is not None:
            self.space.show_present(t, live=live)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.plots.set_theme(theme)
        if self.space is not None:
            self.space.set_theme(theme)

    def close_worker(self) -> None:
        """Finish writing pictures."""
        if self.space is not None:
            self.space.view.close_worker()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Arrange both for the new width."""
        super().resizeEvent(event)
        if self.space is not None and (self.width() >= _ROOMY) != (self.currentWidget() is self.splitter):
            self._lay_out(self.width() >= _ROOMY)

    def _lay_out(self, side_by_side: bool) -> None:
        space = self.space
        assert space is not None
        if side_by_side:
            both: tuple[QtWidgets.QWidget, ...] = (space, self.plots)
            for place, widget in enumerate(both):
                self.splitter.insertWidget(place, widget)
                widget.show()
            self.splitter.setSizes([self.width() // 2, self.width() // 2])
            self.setCurrentWidget(self.splitter)
        else:
            self.tabs.insertTab(0, space, tr("In space"))
            self.tabs.insertTab(1, self.plots, tr("Curves"))
            self.tabs.setCurrentIndex(0)
            self.setCurrentWidget(self.tabs)

    def minimumSizeHint(self) -> QtCore.QSize:
        """The tabs' hint: a splitter is only used if it fits."""
        return QtCore.QSize(self.tabs.minimumSizeHint())
