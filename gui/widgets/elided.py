"""An eliding label."""

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets


class ElidedLabel(QtWidgets.QLabel):
    """Shows a plain text in one line, elided to the available width."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Preferred)

    def setText(self, text: str) -> None:
        """Show a text, its lines one after the other."""
        super().setText(" ".join(line.strip() for line in text.split("\n")))

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """See `QLabel.paintEvent`."""
        del event
        room = self.contentsRect()
        shown = self.fontMetrics().elidedText(self.text(), QtCore.Qt.TextElideMode.ElideRight, room.width())
        painter = QtGui.QPainter(self)
        self.style().drawItemText(
            painter, room, int(self.alignment()), self.palette(), self.isEnabled(), shown, self.foregroundRole()
        )
        painter.end()
