"""Curves that are drawn anew in every frame."""

import numpy as np
from pyqtgraph.functions import ndarray_from_qpolygonf
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.session import Floats


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
