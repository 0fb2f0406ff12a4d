"""One plot of the live views: curves over rig time, their values beside the title, a cursor."""

import math

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.history import Floats, Rows, Timeline
from gui.live.axis_range import AxisRange
from gui.live.decimation import decimate, stride_for
from gui.live.series import LEGS, Panel, Series
from gui.theme import Theme

_AXIS_WIDTH = 62  # px, the same everywhere, so that plots one above the other agree in time
_BINS = 2 / 3
"""bins a pixel, at most: each of them is two points"""


class PlotPanel(QtWidgets.QWidget):
    """A plot of one `Panel`.

    Signals: `pointed(t)` the mouse is over the time t, s, or None when it has left; `pinned(t)` it was clicked there;
    `moved(t0, t1)` somebody dragged or zoomed the time axis.
    """

    pointed = QtCore.Signal(object)
    pinned = QtCore.Signal(float)
    moved = QtCore.Signal(float, float)

    def __init__(self, panel: Panel, theme: Theme, *, time_axis: bool = True) -> None:
        super().__init__()
        self.panel = panel
        self.legs = [True] * len(LEGS)
        self._axis_range = AxisRange(panel.least)
        self._fitting = True
        self.header = header_label()
        self.plot = pg.PlotWidget()
        self.plot.setMinimumHeight(60)
        self.plot.setAccessibleName(f"Plot of {panel.label}")
        self.setAccessibleName(panel.label)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(1)
        layout.addWidget(self.header)
        layout.addWidget(self.plot, 1)
        item = self.plot.getPlotItem()
        item.setMenuEnabled(False)
        item.hideButtons()
        item.layout.setContentsMargins(0, 2, 6, 0)
        left, bottom = item.getAxis("left"), item.getAxis("bottom")
        left.setWidth(_AXIS_WIDTH)
        left.enableAutoSIPrefix(False)
        bottom.enableAutoSIPrefix(False)
        left.setLabel(panel.unit or "1")
        if time_axis:
            bottom.setLabel("rig time, s")
        else:
            bottom.setStyle(showValues=False)
            bottom.setHeight(6)
        self.view = item.getViewBox()
        self.view.disableAutoRange()
        self.view.setDefaultPadding(0.0)
        self.view.sigRangeChangedManually.connect(self._touched)
        self.zero = pg.InfiniteLine(pos=0, angle=0)
        item.addItem(self.zero, ignoreBounds=True)
        self.curves: list[list[pg.PlotCurveItem]] = []
        for series in panel.series:
            curves = [pg.PlotCurveItem(skipFiniteCheck=True) for _ in series.columns]
            for curve in curves:
                item.addItem(curve, ignoreBounds=True)
            self.curves.append(curves)
        self.cursor = pg.InfiniteLine(angle=90, movable=False)
        self.cursor.hide()
        item.addItem(self.cursor, ignoreBounds=True)
        self._scene = self.plot.scene()
        self._scene.sigMouseMoved.connect(self._hovered)
        self._scene.sigMouseClicked.connect(self._clicked)
        self.plot.viewport().installEventFilter(self)
        self.set_panning(False)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        self.plot.setBackground(theme.surface)
        for side in ("left", "bottom"):
            axis = self.plot.getAxis(side)
            axis.setPen(theme.pen(theme.border))
            axis.setTextPen(theme.pen(theme.muted))
        self.cursor.setPen(theme.pen(theme.text))
        self.zero.setPen(theme.pen(theme.grid))
        for series, curves in zip(self.panel.series, self.curves, strict=True):
            for curve, colour in zip(curves, series.colours, strict=True):
                own = self._colour(colour)
                apart = series.dashed and colour.startswith("#")  # it may lie on its solid twin
                curve.setPen(theme.pen(theme.towards_text(own) if apart else own, dashed=series.dashed))
        self.show_values(None)

    def set_legs(self, legs: list[bool]) -> None:
        """Show these legs of the six."""
        self.legs = list(legs)
        for series, curves in zip(self.panel.series, self.curves, strict=True):
            if series.per_leg:
                for curve, shown in zip(curves, legs, strict=True):
                    curve.setVisible(shown)
        self._axis_range.reset()

    def set_panning(self, both: bool) -> None:
        """Let the mouse move the time axis too; while data run it moves the value axis only."""
        self.view.setMouseEnabled(x=both, y=True)

    def fit(self) -> None:
        """Let the value axis follow the data again."""
        self._fitting = True
        self._axis_range.reset()

    def set_span(self, t0: float, t1: float) -> None:
        """Show the times t0 to t1, s."""
        self.view.setXRange(t0, t1, padding=0)

    @property
    def span(self) -> tuple[float, float]:
        """Times shown, s."""
        t0, t1 = self.view.viewRange()[0]
        return float(t0), float(t1)

    def draw(self, timeline: Timeline, t0: float, t1: float, since: float = -math.inf) -> None:
        """Show the times t0 to t1, s, and draw the rows in them that are not before `since`."""
        start, stop = timeline.bounds(max(t0, since), t1)
        rows, times, first = timeline.rows[start:stop], timeline.times[start:stop], timeline.first + start
        bins = max(16, int(self.view.width() * _BINS))
        if self.panel.averaged:
            times, rows = averaged(times, rows, bins // 2, first)
        low, high = math.inf, -math.inf
        for series, curves in zip(self.panel.series, self.curves, strict=True):
            t, values = decimate(times, series.extract(rows), bins, first)
            whole: npt.NDArray[np.bool_] = np.all(np.isfinite(values), axis=0)
            shown = [curve.isVisible() for curve in curves]
            if len(t) and any(shown):
                seen = values[:, shown] if not all(shown) else values
                if whole.all():
                    low, high = min(low, float(seen.min())), max(high, float(seen.max()))
                elif (known := seen[np.isfinite(seen)]).size:
                    low, high = min(low, float(known.min())), max(high, float(known.max()))
            columns = np.ascontiguousarray(values.T)
            for column, curve in enumerate(curves):
                if shown[column]:
                    curve.setData(t, columns[column], connect="all" if whole[column] else "finite")
        self.set_span(t0, t1)
        if self._fitting and low <= high and (limits := self._axis_range.follow(low, high)) is not None:
            self.view.setYRange(*limits, padding=0)

    def set_cursor(self, t: float | None) -> None:
        """Put the cursor at a time, s, or away."""
        self.cursor.setVisible(t is not None)
        if t is not None:
            self.cursor.setValue(t)

    def show_values(self, rows: Rows | None) -> None:
        """Write the values of rows (n,), their means, beside the title; None writes none."""
        self.header.setText(self._title() if rows is None or not len(rows) else self._title() + self._values(rows))

    def _title(self) -> str:
        names = ""
        if len(self.panel.series) > 1:
            names = " &nbsp; ".join(("┄ " if series.dashed else "— ") + series.name for series in self.panel.series)
        elif self.panel.series[0].name != self.panel.series[0].columns[0]:
            names = "" if self.panel.series[0].per_leg else self.panel.series[0].name
        unit = f", {self.panel.unit}" if self.panel.unit else ""
        names = f"<span style='color:{self._theme.muted}'>{names}</span> &nbsp;" if names else ""
        return f"&nbsp;<b>{self.panel.title}</b>{unit} &nbsp;{names}"

    def _values(self, rows: Rows) -> str:
        means = [mean_of(series, rows) for series in self.panel.series]
        texts = []
        for column, name in enumerate(self.panel.series[0].columns):
            if self.panel.series[0].per_leg and not self.legs[column]:
                continue
            numbers = "/".join(self._number(mean[column]) for mean in means)
            label = name if len(self.panel.series[0].columns) > 1 else ""
            colour = self._colour(self.panel.series[0].colours[column])
            texts.append(f"<span style='color:{colour}'><b>{label}</b></span>&nbsp;{numbers}")
        return " &nbsp;".join(texts)

    def _number(self, value: float) -> str:
        return number_text(value, self.panel.digits)

    def _colour(self, colour: str) -> str:
        return colour if colour.startswith("#") else str(getattr(self._theme, colour))

    def _touched(self, enabled: list[bool]) -> None:
        self._fitting = self._fitting and not enabled[1]
        if enabled[0]:
            self.moved.emit(*self.span)

    def _hovered(self, position: QtCore.QPointF) -> None:
        inside = self.view.sceneBoundingRect().contains(position)
        self.pointed.emit(float(self.view.mapSceneToView(position).x()) if inside else None)

    def _clicked(self, event: object) -> None:
        position = event.scenePos()  # type: ignore[attr-defined]
        if self.view.sceneBoundingRect().contains(position):
            self.pinned.emit(float(self.view.mapSceneToView(position).x()))

    def eventFilter(self, _watched: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """Notice that the mouse leaves the plot."""
        if event.type() == QtCore.QEvent.Type.Leave:
            self.pointed.emit(None)
        return False


def header_label() -> QtWidgets.QLabel:
    """Line of rich text above a plot, in small letters; gives way when there is no room."""
    label = QtWidgets.QLabel()
    label.setTextFormat(QtCore.Qt.TextFormat.RichText)
    label.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Fixed)
    label.setStyleSheet("font-size: 11px")
    return label


def number_text(value: float, digits: int) -> str:
    """A value for a person, with so many digits after the point; a dash for what is no number."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−") if math.isfinite(value) else "–"


def mean_of(series: Series, rows: Rows) -> Floats:
    """Means of a series over rows (n,), (k,); not a number where one of them is none."""
    mean: Floats = series.extract(rows).mean(axis=0)
    return mean


def averaged(times: Floats, rows: Rows, bins: int, first: int) -> tuple[Floats, Rows]:
    """Rows whose pose and force residual are means over bins, at most about `bins` of them, and their times."""
    stride = stride_for(len(rows), bins)
    begin = -first % stride
    whole = (len(rows) - begin) // stride
    if stride == 1 or whole < 1:
        return times, rows
    taken = slice(begin, begin + whole * stride)
    means = np.zeros(whole, rows.dtype)
    for name in ("pose", "force_residual"):
        means[name] = rows[name][taken].reshape(whole, stride, -1).mean(axis=1)
    means["pose"][:, 3:] /= np.linalg.norm(means["pose"][:, 3:], axis=1, keepdims=True)
    return times[taken].reshape(whole, stride).mean(axis=1), means
