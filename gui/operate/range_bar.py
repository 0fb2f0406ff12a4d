"""An axis with its free ranges, as a bar to each side of its middle."""

import math

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.texts import finding_text, tr
from gui.widgets import display_unit
from rig.client import FreeRange

_BAR = 5  # px
_MARGIN = 4  # px


class RangeBar(QtWidgets.QWidget):
    """An axis name over its two bars, with the numbers next to the name.

    Args:
        name: of the axis.
        unit: SI, "m" or "rad".
        most: the range that fills one side.
    """

    def __init__(self, name: str, unit: str, most: float, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._most = most
        self._unit, self._factor, _decimals = display_unit(unit)
        self._ways: tuple[FreeRange | None, FreeRange | None] = (None, None)
        line = self.fontMetrics()
        self.setMinimumSize(line.horizontalAdvance(f"000 {name} 000") + 2 * _MARGIN, line.height() + _BAR + 4)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Expanding, QtWidgets.QSizePolicy.Policy.Fixed)
        self.show_ranges(None, None)

    def show_ranges(self, back: FreeRange | None, forth: FreeRange | None) -> None:
        """Show the free ranges towards minus and plus; None if unknown."""
        self._ways = (back, forth)
        lines = [self._line(sign, way) for sign, way in (("−", back), ("+", forth)) if way is not None]
        text = "\n".join(lines) or tr("{axis}: the free range is not known now").format(axis=self._name)
        self.setToolTip(text)
        self.setAccessibleName(tr("Free range of {axis}").format(axis=self._name))
        self.setAccessibleDescription(text)
        self.update()

    def _line(self, sign: str, way: FreeRange) -> str:
        axis, free = sign + self._name, self._free(way)
        if way.limit is None:
            return tr("{axis}: {free} {unit} free").format(axis=axis, free=free, unit=self._unit)
        text = tr("{axis}: {free} {unit} free, then {limit}")
        return text.format(axis=axis, free=free, unit=self._unit, limit=finding_text(way.limit))

    def _free(self, way: FreeRange) -> str:
        """Return the text of a range, rounded down to be safe."""
        decimals = 1 if way.free * self._factor < 100.0 else 0
        scale = 10.0**decimals
        return f"{math.floor(way.free * self._factor * scale) / scale:.{decimals}f}"

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        """Draw name and numbers above, bars below."""
        painter = QtGui.QPainter(self)
        colours, align = self.palette(), QtCore.Qt.AlignmentFlag
        text = QtCore.QRect(_MARGIN, 0, self.width() - 2 * _MARGIN, self.fontMetrics().height())
        painter.setPen(colours.color(QtGui.QPalette.ColorRole.Text))
        painter.drawText(text, align.AlignCenter, self._name)
        middle, top, half = self.width() / 2.0, self.height() - _BAR - 1.0, self.width() / 2.0 - _MARGIN
        painter.setPen(QtCore.Qt.PenStyle.NoPen)
        painter.setBrush(colours.color(QtGui.QPalette.ColorRole.Button))
        painter.drawRect(QtCore.QRectF(middle - half, top, 2.0 * half, _BAR))
        painter.setBrush(colours.color(QtGui.QPalette.ColorRole.Highlight))
        for way, side in zip(self._ways, (-1.0, 1.0), strict=True):
            if way is not None:
                length = half * min(1.0, way.free / self._most)
                painter.drawRect(QtCore.QRectF(middle if side > 0 else middle - length, top, length, _BAR))
        painter.setPen(colours.color(QtGui.QPalette.ColorRole.PlaceholderText))
        painter.drawLine(QtCore.QPointF(middle, top - 2.0), QtCore.QPointF(middle, top + _BAR))
        for way, place in zip(self._ways, (align.AlignLeft, align.AlignRight), strict=True):
            if way is not None:
                painter.drawText(text, place | align.AlignVCenter, self._free(way))
        painter.end()
