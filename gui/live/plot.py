"""The plot that all views draw into: its axes, their range while data run, and the curves in it."""

from typing import Any

import numpy as np
import pyqtgraph as pg
from pyqtgraph.functions import ndarray_from_qpolygonf
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.models import Floats
from gui.widgets import Theme


def header_label() -> QtWidgets.QLabel:
    """Line of rich text above a plot, in small letters; gives way when there is no room."""
    label = QtWidgets.QLabel()
    label.setAlignment(QtCore.Qt.AlignmentFlag.AlignLeft | QtCore.Qt.AlignmentFlag.AlignBottom)
    label.setTextFormat(QtCore.Qt.TextFormat.RichText)
    label.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Fixed)
    label.setStyleSheet("font-size: 11px")
    return label


def swatch(colour: str, name: str) -> str:
    """Rich text: a name behind a bar of the colour; the name itself is in the colour of text, to be readable."""
    return f"<span style='color:{colour}'>▮</span><b>{name}</b>"


AXIS_WIDTH = 62
"""px of the value axis, the same everywhere, so that plots one above the other agree in time"""
_TITLE_HEIGHT = 30  # px


class Plot(pg.GraphicsView):
    """One plot; `view` is its ViewBox, in coordinates of the curves.

    pyqtgraph's own makes all widgets of a menu too, which takes longer than the plot, and the window has dozens.

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
            axis.enableAutoSIPrefix(False)  # a label says its unit
            axis.setStyle(maxTickLevel=1)  # finer ones tell nothing more, and a time axis has all drawn in every frame
            axis.setZValue(0.5)
            axis.setFlag(QtWidgets.QGraphicsItem.GraphicsItemFlag.ItemNegativeZStacksBehindParent)
            grid.addItem(axis, *place)
        self._title: pg.LabelItem | None = None
        grid.setRowStretchFactor(1, 1)
        grid.setColumnStretchFactor(1, 1)

    def getAxis(self, side: str) -> pg.AxisItem:  # named as pyqtgraph names it
        """The axis "left" or "bottom"."""
        return self._axes[side]

    def set_title(self, text: str, size: str, colour: str) -> None:
        """Write a title above, in letters of a size such as "10pt"."""
        if self._title is None:
            self._title = pg.LabelItem()
            self.centralLayout.addItem(self._title, 0, 1)
            self.centralLayout.setRowFixedHeight(0, _TITLE_HEIGHT)
        self._title.setText(text, size=size, color=colour)

    def add(self, item: Any) -> None:
        """Put something in that no range follows."""
        self.view.addItem(item, ignoreBounds=True)

    def dress(self, theme: Theme) -> None:
        """Give ground and axes the theme's colours."""
        self.setBackground(theme.surface)
        for axis in self._axes.values():
            axis.setPen(theme.pen(theme.border))
            axis.setTextPen(theme.pen(theme.muted))


def plain_plot(name: str) -> Plot:
    """A `Plot` whose ranges are what they are told to be."""
    plot = Plot(name)
    plot.view.disableAutoRange()
    return plot


_MARGIN = 0.06
_SHRINK_BELOW = 0.55
"""part of the axis in use below which it is too large"""
_PATIENCE = 45
"""refreshes for which it must have been too large"""


class AxisRange:
    """Follows the extent of data. `least` is the smallest height."""

    def __init__(self, least: float) -> None:
        self._least = least
        self._range: tuple[float, float] | None = None
        self._loose = 0

    def reset(self) -> None:
        """Fit the next data closely."""
        self._range = None

    def follow(self, low: float, high: float) -> tuple[float, float] | None:
        """Take in the data's extent; a new range of the axis, or None when it stays."""
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
    """Curves over the same times, each with a pen of its own, painted as one item.

    pyqtgraph has an item for each curve, and looks for its extent twice a frame: that costs as much as the painting,
    and so does all else that its curves can do and these do not.

    Args:
        count: of curves.
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self.pens = [QtGui.QPen()] * count
        self.shown = [True] * count
        """which of them are drawn, from the next points on"""
        self._times: Floats = np.zeros(0)
        self._values: Floats = np.zeros((0, count))
        self._box = QtCore.QRectF()
        self._lines: list[list[_Line]] = [[] for _ in range(count)]
        """of each curve: one for each part of it that has no gap"""

    def show_points(self, times: Floats, values: Floats) -> tuple[float, float] | None:
        """Draw values (n, k) over increasing times (n,) s, with gaps at what is no number.

        Returns the lowest and the highest of the curves that are shown; None where there are none.
        """
        self._times, self._values = times, values
        drawn = values if all(self.shown) else values[:, self.shown]
        low, high = (float(drawn.min()), float(drawn.max())) if drawn.size else (np.nan, np.nan)
        whole = bool(np.isfinite(low) and np.isfinite(high))  # one that is no number would be both
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
        """Times (n,) s and values (n,) of a curve as they were given last."""
        return self._times, self._values[:, column]

    def paint(
        self,
        painter: QtGui.QPainter,
        _option: QtWidgets.QStyleOptionGraphicsItem,
        _widget: QtWidgets.QWidget | None = None,
    ) -> None:
        """Draw them, the last above the others."""
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing, False)
        for pen, lines in zip(self.pens, self._lines, strict=True):
            painter.setPen(pen)
            for line in lines:
                painter.drawPolyline(line.polygon)

    def boundingRect(self) -> QtCore.QRectF:
        """Extent; a line's own width is not in it, as the whole plot is painted whenever a curve is another."""
        return self._box


class _Line:
    """A polyline whose memory is used again while the number of its points stays."""

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
    """The parts of a column (n,) that are numbers, in turn."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], np.isfinite(values), [False]])))
    return [slice(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]
