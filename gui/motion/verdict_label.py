"""What the check says of the motion shown, below why another one was not opened."""

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.texts import tr
from gui.widgets import TextRoom

_LINES = 2
"""that have room; more scroll"""


class VerdictLabel(TextRoom):
    """The verdict on the motion that is shown; `refused` is said above it until the motion changes."""

    def __init__(self) -> None:
        self._label = QtWidgets.QLabel()
        super().__init__(self._label, _LINES)
        self._label.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
        self._label.setAccessibleName(tr("Verdict of the check"))
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

    def text(self) -> str:
        """What is said."""
        return str(self._label.text())

    def _write(self) -> None:
        self.show_text(
            tr("✗ {reason}\nThe motion shown stays: {verdict}").format(reason=self.refused, verdict=self._verdict)
            if self.refused
            else self._verdict
        )
        self._label.setObjectName("warning" if self.refused else self._role)
        self._label.style().unpolish(self._label)
        self._label.style().polish(self._label)
