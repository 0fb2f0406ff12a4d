"""What was refused last, whole and for as long as it holds; and remarks that are no refusals."""

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.texts import tr
from gui.widgets import give

_REFUSED = tr("refused")
_MOST = 170  # pixels of height; what is longer scrolls


class Notice(QtWidgets.QScrollArea):
    """A message below the steps: stays until it is taken back or dismissed. Hidden while there is none."""

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(QtCore.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._label = QtWidgets.QLabel()
        self._label.setWordWrap(True)
        self._label.setAlignment(QtCore.Qt.AlignmentFlag.AlignTop)
        self._label.setAccessibleName(tr("What was refused last, and why"))
        self._label.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
        self.dismiss = QtWidgets.QToolButton()
        give(self.dismiss, "close")
        self.dismiss.setAutoRaise(True)
        self.dismiss.setAccessibleName(tr("Dismiss the message"))
        self.dismiss.setToolTip(tr("Dismiss the message"))
        self.dismiss.clicked.connect(self.clear)
        content = QtWidgets.QWidget()
        row = QtWidgets.QHBoxLayout(content)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._label, 1)
        row.addWidget(self.dismiss, 0, QtCore.Qt.AlignmentFlag.AlignTop)
        self.setWidget(content)
        self.clear()

    def refuse(self, what: str, reason: str) -> None:
        """Say that `what` was refused, and why, whole."""
        self._show("bad", f"{tr(what)}: {reason or _REFUSED}")

    def remark(self, text: str) -> None:
        """Say what is no refusal."""
        self._show("muted", text)

    def clear(self) -> None:
        """Say nothing."""
        self._label.clear()
        self.hide()

    def text(self) -> str:
        """What is said."""
        return str(self._label.text())

    def resizeEvent(self, event: QtCore.QEvent) -> None:
        """Be as high as the text needs at this width."""
        super().resizeEvent(event)
        self._fit()

    def _show(self, role: str, text: str) -> None:
        self._label.setText(text)
        self._label.setObjectName(role)
        self._label.style().unpolish(self._label)
        self._label.style().polish(self._label)
        self.show()
        self._fit()
        self.verticalScrollBar().setValue(0)

    def _fit(self) -> None:
        width = self.viewport().width() - self.dismiss.sizeHint().width() - 8
        self.setFixedHeight(min(_MOST, max(self._label.heightForWidth(width), self.dismiss.sizeHint().height()) + 2))
