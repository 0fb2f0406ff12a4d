"""The plot of all views: axes, their ranges while data arrive, and curves."""

from typing import Any

import numpy as np
import pyqtgraph as pg
from pyqtgraph.functions import ndarray_from_qpolygonf
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.models import Floats
from gui.widgets import Theme


def header_label() -> QtWidgets.QLabel:
    """Return a label of small rich text for above a plot; may shrink."""
    label = QtWidgets.QLabel()
    label.setAlignment(QtCore.Qt.AlignmentFlag.AlignLeft | QtCore.Qt.AlignmentFlag.AlignBottom)
    label.setTextFormat(QtCore.Qt.TextFormat.RichText)
    label.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Fixed)
    label.setStyleSheet("font-size: 11px")
    return label


def swatch(colour: str, name: str) -> str:
    """Return rich text: a name after a bar of the colour, in the text colour to be readable."""
    return f"<span style='color:{colour}'>▮</span><b>{name}</b>"


AXIS_WIDTH = 62
"""px of the value axis, the same everywhere, so that stacked plots align in time."""
_TITLE_HEIGHT = 30  # px


class Plot(pg.GraphicsView):
    """One plot; `view` is its ViewBox, in curve coordinates.

    pyqtgraph's own also creates all menu widgets, which takes longer than the plot, for dozens of plots.

    Args:
        name: accessible name.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Expanding, QtWidgets.QSizePolicy.Policy.Expanding)
        grid = self.centralLayout
        grid.setContentsMargins(1, 1, 1, 1)
        grid.setSpacing(0)
        self.view = pg.ViewBox(enableMenu=False)
        grid.addItem(self.view, 1, 1)
        self._axes = {"left": pg.AxisItem("left"), "bottom": pg.AxisItem("bottom")}
        for axis, place in zip(self._axes.values(), ((1, 0), (2, 1)), strict=True):
            axis.linkToView(self.view)
            axis.enableAutoSIPrefix(False)  # the label states the unit
            axis.setStyle(maxTickLevel=1)  # finer ticks add nothing, and a time axis redraws all in every frame
            axis.setZValue(0.5)
            axis.setFlag(QtWidgets.QGraphicsItem.GraphicsItemFlag.ItemNegativeZStacksBehindParent)
            grid.addItem(axis, *place)
        self._title: pg.LabelItem | None = None
        grid.setRowStretchFactor(1, 1)
        grid.setColumnStretchFactor(1, 1)

    def getAxis(self, side: str) -> pg.AxisItem:  # name required by pyqtgraph
        """The axis "left" or "bottom"."""
        return self._axes[side]

    def set_title(self, text: str, size: str, colour: str) -> None:
        """Write a title above the plot, in a font size such as "10pt"."""
        if self._title is None:
            self._title = pg.LabelItem()
            self.centralLayout.addItem(self._title, 0, 1)
            self.centralLayout.setRowFixedHeight(0, _TITLE_HEIGHT)
        self._title.setText(text, size=size, color=colour)

    def add(self, item: Any) -> None:
        """Add an item that does not affect the ranges."""
        self.view.addItem(item, ignoreBounds=True)

    def dress(self, theme: Theme) -> None:
        """Apply the theme's colours to background and axes."""
        self.setBackground(theme.surface)
        for axis in self._axes.values():
            axis.setPen(theme.pen(theme.border))
            axis.setTextPen(theme.pen(theme.muted))


def plain_plot(name: str) -> Plot:
    """Return a `Plot` without automatic ranges."""
    plot = Plot(name)
    plot.view.disableAutoRange()
    return plot


_MARGIN = 0.06
_SHRINK_BELOW = 0.55
"""Fraction of the axis in use below which it shrinks."""
_PATIENCE = 45
"""Refreshes to wait before shrinking."""


class AxisRange:
    """Axis range that follows the extent of data; `least` is its minimum height."""

    def __init__(self, least: float) -> None:
        self._least = least
        self._range: tuple[float, float] | None = None
        self._loose = 0

    def reset(self) -> None:
        """Fit the next data closely."""
        self._range = None

    def follow(self, low: float, high: float) -> tuple[float, float] | None:
        """Include the data's extent; return the new range, or None if unchanged."""
        middle, half = (low + high) / 2, max((high - low) / 2, self._least / 2)
        wanted = (middle - half * (1 + 2 * _MARGIN), middle + half * (1 + 2 * _MARGIN))
        if self._range is None:
            return self._set(wanted)
        bottom, top = self._range
        if low < bottom or high > top:
            self._loose = 0
            return self._set((min(bottom, wanted[0]), max(top, wanted[1])))
        self._loose = self._loose + 1 if wanted[1] - wanted[0] < _SHRINK_BELOW * (top - bottom) else 0
        return self._set(wanted) if self._loose > _PATIENCE else None

    def _set(self, wanted: tuple[float, float]) -> tuple[float, float]:
        self._range = wanted
        self._loose = 0
        return wanted


class Curves(QtWidgets.QGraphicsItem):
    """Curves over common times, each with its own pen, painted as one item.

    pyqtgraph has an item per curve and computes its extent twice a frame: that and its extra features cost as much as
    the painting.

    Args:
        count: of curves.
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self.pens = [QtGui.QPen()] * count
        self.shown = [True] * count
        """Which curves are drawn, from the next points on."""
        self._times: Floats = np.zeros(0)
        self._values: Floats = np.zeros((0, count))
        self._box = QtCore.QRectF()
        self._lines: list[list[_Line]] = [[] for _ in range(count)]
        """For each curve one line per part without a gap."""

    def show_points(self, times: Floats, values: Floats) -> tuple[float, float] | None:
        """Draw values (n, k) over increasing times (n,) s, with gaps at NaN.

        Returns the minimum and maximum of the visible curves; None without any.
        """
        self._times, self._values = times, values
        drawn = values if all(self.shown) else values[:, self.shown]
        low, high = (float(drawn.min()), float(drawn.max())) if drawn.size else (np.nan, np.nan)
        whole = bool(np.isfinite(low) and np.isfinite(high))  # a NaN would make both NaN
        if not whole and len(numbers := drawn[np.isfinite(drawn)]):
            low, high = float(numbers.min()), float(numbers.max())
        every = [slice(0, len(values))]
        for column, lines in enumerate(self._lines):
            parts = [] if not self.shown[column] else every if whole else _numbers(values[:, column])
            del lines[len(parts) :]
            lines.extend(_Line() for _ in range(len(parts) - len(lines)))
            for line, part in zip(lines, parts, strict=True):
                line.put(times[part], values[part, column])
        self.prepareGeometryChange()
        known = low <= high
        self._box = QtCore.QRectF(times[0], low, times[-1] - times[0], high - low) if known else QtCore.QRectF()
        self.update()
        return (low, high) if known else None

    def points(self, column: int) -> tuple[Floats, Floats]:
        """Return times (n,) s and values (n,) of a curve as last set."""
        return self._times, self._values[:, column]

    def paint(
        self,
        painter: QtGui.QPainter,
        _option: QtWidgets.QStyleOptionGraphicsItem,
        _widget: QtWidgets.QWidget | None = None,
    ) -> None:
        """Draw the curves in order, the last on top."""
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing, False)
        for pen, lines in zip(self.pens, self._lines, strict=True):
            painter.setPen(pen)
            for line in lines:
                painter.drawPolyline(line.polygon)

    def boundingRect(self) -> QtCore.QRectF:
        """Extent without pen width: the whole plot is repainted on any change."""
        return self._box


class _Line:
    """A polyline whose memory is reused while its number of points is unchanged."""

    def __init__(self) -> None:
        self.polygon = QtGui.QPolygonF()
        self._memory: Floats = np.zeros((0, 2))

    def put(self, x: Floats, y: Floats) -> None:
        if len(x) != len(self._memory):
            self.polygon = QtGui.QPolygonF(len(x))
            self._memory = ndarray_from_qpolygonf(self.polygon)
        self._memory[:, 0] = x
        self._memory[:, 1] = y


def _numbers(values: Floats) -> list[slice]:
    """Return the parts of a column (n,) between NaNs."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], np.isfinite(values), [False]])))
    return [slice(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]
