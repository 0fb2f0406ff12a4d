"""The scale of the legs' colours."""

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.live.numbers import number_text
from gui.scene import Colouring, Scale, colour_map
from gui.texts import tr
from gui.widgets import Theme


class ColourBar(QtWidgets.QWidget):
    """Scale of the legs' colours with its ends, at least `width` px wide."""

    def __init__(self, theme: Theme, width: int) -> None:
        super().__init__()
        self._theme = theme
        self._kind, self.scale = Colouring.FORCE, Scale(-1.0, 1.0, "N")
        self.setMinimumSize(width, 22)
        self.setAccessibleName(tr("Scale of the colours"))

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        self.update()

    def show_scale(self, kind: Colouring, scale: Scale) -> None:
        """Show this scale; nothing for colours that only tell the legs apart."""
        if (kind, scale) != (self._kind, self.scale):
            self._kind, self.scale = kind, scale
            low, high = self.ends
            self.setAccessibleDescription(tr("{low} to {high}").format(low=low, high=high))
            self.update()

    @property
    def ends(self) -> tuple[str, str]:
        """Texts at both ends, with the unit."""
        unit = self.scale.unit
        digits = 0 if self.scale.high >= 1.0 else 2
        return f"{number_text(self.scale.low, digits)} {unit}", f"{number_text(self.scale.high, digits)} {unit}"

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        """Draw."""
        if self._kind is Colouring.LEG:
            return
        painter = QtGui.QPainter(self)
        painter.setPen(QtGui.QColor(self._theme.text))
        align = QtCore.Qt.AlignmentFlag
        low, high = self.ends
        room = painter.fontMetrics().horizontalAdvance("−5000 N") + 6
        area = QtCore.QRectF(self.rect())
        painter.drawText(area.adjusted(0, 0, room - area.width() - 4, 0), align.AlignRight | align.AlignVCenter, low)
        painter.drawText(area.adjusted(area.width() - room + 4, 0, 0, 0), align.AlignLeft | align.AlignVCenter, high)
        bar = area.adjusted(room, 5, -room, -5)
        gradient = QtGui.QLinearGradient(bar.topLeft(), bar.topRight())
        positions, colours = colour_map(self._kind).getStops(mode="qcolor")
        for position, colour in zip(positions, colours, strict=True):
            gradient.setColorAt(float(position), colour)
        painter.fillRect(bar, gradient)
        painter.end()
