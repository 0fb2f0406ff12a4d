"""One plot of the live views: curves over rig time, values next to the title, a cursor."""

import math
from collections.abc import Collection

import numpy as np
import pyqtgraph as pg
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.live.plot import AXIS_WIDTH, AxisRange, Curves, header_label, plain_plot, swatch
from gui.models import LEGS, Floats, Panel, Segment, Series, Thinned, Timeline, decimate, number_text, stride_for
from gui.texts import tr
from gui.widgets import FixedSize, Theme

_BINS = 1 / 2
"""Maximum of bins per pixel: each is two points."""
_SLASH = "/\u2060"
"""Slash without a line break after it."""


class PlotPanel(QtWidgets.QWidget):
    """A plot of one `Panel`.

    Signals: `hovered(t)`: the mouse is over the time t, s, None after it left; `clicked(t)`: clicked there;
    `moved(t0, t1)`: the user dragged or zoomed the time axis.
    """

    hovered = QtCore.Signal(object)
    clicked = QtCore.Signal(float)
    moved = QtCore.Signal(float, float)

    def __init__(self, panel: Panel, theme: Theme, *, time_axis: bool = True) -> None:
        super().__init__()
        self.panel = panel
        self.legs = [True] * len(LEGS)
        self.models: tuple[str, ...] = ()
        """Published models whose series are shown."""
        self._timeline: Timeline | None = None
        """Timeline of the drawn means, of `_stride` rows each, `_bin_time` s long."""
        self._stride, self._bin_time = 1, 0.0
        self._axis_range = AxisRange(panel.least)
        self._fitting = True
        self.header = header_label()
        self.header.setWordWrap(True)
        self.header.setToolTip(panel.tip)
        self.head = FixedSize(self.header)
        self.plot = plain_plot(tr("Plot of {label}").format(label=panel.label))
        self.plot.setMinimumHeight(60)
        self.setAccessibleName(panel.label)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(1)
        layout.addWidget(self.head)
        layout.addWidget(self.plot, 1)
        self.plot.centralLayout.setContentsMargins(0, 2, 6, 0)
        left = self.plot.getAxis("left")
        left.setWidth(AXIS_WIDTH)
        left.setLabel(tr(panel.unit))
        self.show_time(time_axis)
        self.view = self.plot.view
        self.view.setDefaultPadding(0.0)
        self.view.sigRangeChangedManually.connect(self._touched)
        self.zero = pg.InfiniteLine(pos=0, angle=0)
        self.plot.add(self.zero)
        self._thinned = Thinned(self._extract)
        self.curves = [Curves(len(series.columns)) for series in panel.series]
        for series, curves in zip(panel.series, self.curves, strict=True):
            curves.setVisible(not series.model)
            self.plot.add(curves)
        self.cursor = pg.InfiniteLine(angle=90, movable=False)
        self.mark = pg.InfiniteLine(angle=90, movable=False, label="A", labelOpts={"position": 0.92})
        self.present = pg.InfiniteLine(angle=90, movable=False)
        for line in (self.present, self.mark, self.cursor):
            line.hide()
            self.plot.add(line)
        self._scene = self.plot.scene()
        self._scene.sigMouseMoved.connect(self._hovered)
        self._scene.sigMouseClicked.connect(self._clicked)
        self.plot.viewport().installEventFilter(self)
        self.set_panning(False)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        self.plot.dress(theme)
        self.cursor.setPen(theme.pen(theme.text))
        self.mark.setPen(theme.pen(theme.accent))
        self.mark.label.setColor(theme.accent)
        self.present.setPen(theme.pen(theme.muted, dashed=True))
        self.zero.setPen(theme.pen(theme.grid))
        for series, curves in zip(self.panel.series, self.curves, strict=True):
            for column, colour in enumerate(series.colours):
                own = self._colour(colour)
                apart = bool(series.dashed) and colour.startswith("#")  # it may cover its solid counterpart
                curves.pens[column] = theme.pen(theme.towards_text(own) if apart else own, dashed=series.dashed)
            curves.update()
        self.show_values(None)

    def show_time(self, shown: bool) -> None:
        """Show or hide the numbers and label of the time axis."""
        bottom = self.plot.getAxis("bottom")
        bottom.setStyle(showValues=shown)
        bottom.setLabel(tr("rig time, s") if shown else None)
        bottom.setHeight(None if shown else 6)

    def set_legs(self, legs: list[bool]) -> None:
        """Show these legs of the six."""
        self.legs = list(legs)
        self._choose()

    def set_models(self, models: Collection[str]) -> None:
        """Show the series of these published models, too."""
        self.models = tuple(series.model for series in self.panel.series if series.model in models)
        self.invalidate()
        self._choose()

    @property
    def shown_series(self) -> list[Series]:
        """Return the panel's visible series."""
        return [series for series in self.panel.series if self._is_shown(series)]

    def _is_shown(self, series: Series) -> bool:
        return not series.model or series.model in self.models

    def _of_legs(self, series: Series, column: int) -> bool:
        """Whether a column belongs to a visible leg, or to no leg."""
        return not series.per_leg or self.legs[column]

    def _choose(self) -> None:
        for series, curves in zip(self.panel.series, self.curves, strict=True):
            curves.setVisible(self._is_shown(series))
            curves.shown = [self._of_legs(series, column) for column in range(len(series.columns))]
        self.head.setMinimumHeight(0)
        self._axis_range.reset()

    def set_panning(self, both: bool) -> None:
        """Let the mouse move the time axis too; while data arrive it moves only the value axis."""
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
        """Visible times, s."""
        t0, t1 = self.view.viewRange()[0]
        return float(t0), float(t1)

    def draw(self, timeline: Timeline, t0: float, t1: float, since: float = -math.inf) -> None:
        """Show the times t0 to t1, s, with the rows from `since` on."""
        segment = timeline.segment(max(t0, since), t1)
        bins = max(16, int(self.view.width() * _BINS))
        if self.panel.averaged:
            self._timeline, self._stride = timeline, stride_for(len(segment), bins // 2)
            if self._stride > 1:
                self._bin_time = self._stride * float(segment.times[-1] - segment.times[0]) / (len(segment) - 1)
            segment = averaged(segment, self._stride)
        if self.panel.averaged:
            t, values = decimate(segment.times, self._extract(segment), bins, segment.first)
        else:
            t, values = self._thinned.points(timeline, segment, bins)
        low, high, begin = math.inf, -math.inf, 0
        for series, curves in zip(self.panel.series, self.curves, strict=True):
            if self._is_shown(series):
                own = values[:, begin : begin + len(series.columns)]
                begin += len(series.columns)
                if (extent := curves.show_points(t, own)) is not None:
                    low, high = min(low, extent[0]), max(high, extent[1])
        self.set_span(t0, t1)
        if self._fitting and low <= high and (limits := self._axis_range.follow(low, high)) is not None:
            self.view.setYRange(*limits, padding=0)
        self._scene.prepareForPaint()  # during painting it would move everything and cause a second paint

    def _extract(self, segment: Segment) -> Floats:
        """Return values (n, k) of n rows: the columns of all visible series."""
        return np.concatenate([series.extract(segment) for series in self.shown_series], axis=1)

    def invalidate(self) -> None:
        """Discard cached points: the extracted values have changed."""
        self._thinned.clear()

    def clear(self) -> None:
        """Discard all points: the timeline has changed."""
        self.invalidate()
        self._timeline, self._stride = None, 1
        for series, curves in zip(self.panel.series, self.curves, strict=True):
            curves.show_points(np.zeros(0), np.zeros((0, len(series.columns))))

    def set_cursor(self, t: float | None) -> None:
        """Move the cursor to a time, s; None hides it."""
        _put(self.cursor, t)

    def set_mark(self, t: float | None) -> None:
        """Move the reference mark of differences to a time, s; None hides it."""
        _put(self.mark, t)

    def set_present(self, t: float | None) -> None:
        """Move the line of a replay's present to a time, s; None hides it."""
        _put(self.present, t)

    def show_values(self, segment: Segment | None, since: Segment | None = None) -> None:
        """Show the values of the last row, or their differences to `since`, next to the title; None: no values.

        Dashes for missing rows. A panel of means shows the mean of the row's bin, as drawn.
        """
        self.header.setText(self._title() + (self._values(segment, since) if segment is not None else ""))
        self.head.make_room()

    def _title(self) -> str:
        always = [series for series in self.panel.series if not series.model]
        names = ""
        if len(always) > 1:
            names = " &nbsp; ".join(f"{series.dashed or '—'}&nbsp;{series.shown}" for series in always)
        elif always[0].name != always[0].columns[0]:
            names = "" if always[0].per_leg and not self.models else always[0].shown
        if self._stride > 1:
            names += ", " + tr("means over {time:.0f} ms").format(time=1e3 * self._bin_time)
        if self.models:
            names += " / " + tr("models as listed above") + "<br>"  # their values need the line
        unit = f", {tr(self.panel.unit)}" if self.panel.unit else ""
        names = f"<span style='color:{self._theme.muted}'>{names}</span> &nbsp;" if names else ""
        return f"&nbsp;<b>{self.panel.heading}</b>{unit} &nbsp;{names}"

    def _values(self, segment: Segment, since: Segment | None) -> str:
        shown = self.shown_series
        values = [last_of(series, self._as_drawn(segment)) for series in shown]
        if since is not None:
            begin = self._as_drawn(since)
            values = [value - last_of(series, begin) for value, series in zip(values, shown, strict=True)]
        texts = [f"<span style='color:{self._theme.accent}'><b>B − A</b></span>"] if since is not None else []
        for column, name in enumerate(shown[0].columns):
            if not self._of_legs(shown[0], column):
                continue
            numbers = _SLASH.join(number_text(value[column], self.panel.digits) for value in values)
            label = swatch(self._colour(shown[0].colours[column]), name) if len(shown[0].columns) > 1 else ""
            texts.append(f"{label}&nbsp;{numbers}")
        return " &nbsp;".join(texts)

    def _as_drawn(self, segment: Segment) -> Segment:
        """Return the rows; in a panel of means the mean of the last complete bin."""
        if self._timeline is None or self._stride == 1 or not len(segment):
            return segment
        number = segment.first + len(segment) - 1
        begin = number - number % self._stride - self._timeline.first
        if begin + self._stride > len(self._timeline):  # not complete yet
            begin -= self._stride
        whole = self._timeline.cut(begin, begin + self._stride) if begin >= 0 else self._timeline.cut(0, 0)
        return averaged(whole, self._stride)

    def _colour(self, colour: str) -> str:
        return colour if colour.startswith("#") else str(getattr(self._theme, colour))

    def _touched(self, enabled: list[bool]) -> None:
        self._fitting = self._fitting and not enabled[1]
        if enabled[0]:
            self.moved.emit(*self.span)

    def _hovered(self, position: QtCore.QPointF) -> None:
        inside = self.view.sceneBoundingRect().contains(position)
        self.hovered.emit(float(self.view.mapSceneToView(position).x()) if inside else None)

    def _clicked(self, event: object) -> None:
        position = event.scenePos()  # type: ignore[attr-defined]
        if self.view.sceneBoundingRect().contains(position):
            self.clicked.emit(float(self.view.mapSceneToView(position).x()))

    def eventFilter(self, _watched: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """Detect that the mouse leaves the plot."""
        if event.type() == QtCore.QEvent.Type.Leave:
            self.hovered.emit(None)
        return False


def _put(line: pg.InfiniteLine, t: float | None) -> None:
    line.setVisible(t is not None)
    if t is not None:
        line.setValue(t)


def last_of(series: Series, segment: Segment) -> Floats:
    """Return the values (k,) of a series in the last of n rows; NaN without rows."""
    return series.extract(segment)[-1] if len(segment) else np.full(len(series.columns), np.nan)


def averaged(segment: Segment, stride: int) -> Segment:
    """Return rows with pose and residual averaged over complete bins of `stride` rows, with their times."""
    rows, times = segment.rows, segment.times
    begin = -segment.first % stride
    whole = (len(rows) - begin) // stride
    if stride == 1 or whole < 1:
        return segment
    taken = slice(begin, begin + whole * stride)
    means = np.zeros(whole, rows.dtype)
    for name in ("pose", "force_residual"):
        means[name] = rows[name][taken].reshape(whole, stride, -1).mean(axis=1)
    means["pose"][:, 3:] /= np.linalg.norm(means["pose"][:, 3:], axis=1, keepdims=True)
    return Segment(means, times[taken].reshape(whole, stride).mean(axis=1), segment.first)
