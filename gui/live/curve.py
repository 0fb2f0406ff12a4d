"""A curve that is drawn anew in every frame."""

import numpy as np
import pyqtgraph as pg
from pyqtgraph.functions import arrayToQPolygonF
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.session import Floats


class Curve(pg.PlotCurveItem):
    """Knows its extent from who draws it, and paints what has no gap as one line of points.

    pyqtgraph's own search for the extent, twice a frame, costs as much as the painting, and so does all else that its
    curves can do and these do not.
    """

    def __init__(self) -> None:
        self._extent: tuple[tuple[float | None, float | None], ...] = ((None, None), (None, None))
        self._box = QtCore.QRectF()
        self._line: QtGui.QPolygonF | None = None
        """the points, where there is no gap between them"""
        super().__init__(skipFiniteCheck=True)

    def show_points(self, times: Floats, values: Floats) -> tuple[float, float] | None:
        """Draw values (n,) over increasing times (n,) s, with gaps at what is no number.

        Returns their lowest and highest; None where there are none.
        """
        low, high = (float(values.min()), float(values.max())) if len(values) else (np.nan, np.nan)
        whole = bool(np.isfinite(low) and np.isfinite(high))
        if not whole and len(known := values[np.isfinite(values)]):
            low, high = float(known.min()), float(known.max())
        drawn = bool(np.isfinite(low) and np.isfinite(high))
        self._extent = ((float(times[0]), float(times[-1])), (low, high)) if drawn else ((None, None), (None, None))
        begin, end = (float(times[0]), float(times[-1])) if drawn else (0.0, 0.0)
        self._box = QtCore.QRectF(begin, low, end - begin, high - low) if drawn else QtCore.QRectF()
        if whole:
            self.prepareGeometryChange()
            self.xData, self.yData = times, values
            self.path = None  # whoever asks for it gets that of these points
            self._line = arrayToQPolygonF(times, values)
            self.update()
        else:
            self._line = None
            self.setData(times, values, connect="finite")
        return (low, high) if drawn else None

    def paint(
        self, painter: QtGui.QPainter, option: QtWidgets.QStyleOptionGraphicsItem, widget: QtWidgets.QWidget | None
    ) -> None:
        """Draw it."""
        if self._line is None:
            super().paint(painter, option, widget)
            return
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing, False)
        painter.setPen(self.opts["pen"])
        painter.drawPolyline(self._line)

    def boundingRect(self) -> QtCore.QRectF:
        """Extent; a line's own width is not in it, as the whole plot is painted whenever a curve is another."""
        return self._box

    def dataBounds(
        self, ax: int, _frac: float = 1.0, _orthoRange: tuple[float, float] | None = None
    ) -> tuple[float | None, float | None]:
        """Extent along an axis, 0 or 1."""
        return self._extent[ax]
