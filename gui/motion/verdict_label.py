"""What the check says of the motion shown, below why another one was not opened."""

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.texts import tr


class VerdictLabel(QtWidgets.QLabel):
    """The verdict on the motion that is shown; `refused` is said above it until the motion changes."""

    def __init__(self) -> None:
        super().__init__()
        self.setWordWrap(True)
        self.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setAccessibleName(tr("Verdict of the check"))
        self.refused = ""
        self._role, self._verdict = "muted", ""

    def judge(self, role: str, text: str) -> None:
        """Show a verdict in the colour of its role."""
        self._role, self._verdict = role, text
        self._write()

    def refuse(self, reason: str) -> None:
        """Say why a motion was not opened; the one that is shown stays, with its verdict."""
        self.refused = reason
        self._write()

    def _write(self) -> None:
        if self.refused:
            self.setText(
                tr("✗ {reason}\nThe motion shown stays: {verdict}").format(reason=self.refused, verdict=self._verdict)
            )
        else:
            self.setText(self._verdict)
        self.setObjectName("warning" if self.refused else self._role)
        self.style().unpolish(self)
        self.style().polish(self)
