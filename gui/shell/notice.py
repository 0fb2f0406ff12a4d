"""What was refused last, whole and for as long as it holds; and remarks that are no refusals."""

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.session import Repair, Situation, is_repaired, obstacle, repair_of
from gui.texts import finding_text, tr
from gui.widgets import GuardedButton, TextRoom, fit_text, give
from rig.findings import Finding

_REFUSED = tr("refused")


class Notice(QtWidgets.QWidget):
    """A message in the banner, in what height that has: stays until it is taken back or dismissed.

    A long one scrolls; its buttons are always in the same places.

    Where an operator can do something about a refusal, it has a button for that: `repair_asked(repair)`.
    `saying(whether)`: there is something to be said, or nothing any more.
    """

    repair_asked = QtCore.Signal(object)
    saying = QtCore.Signal(bool)

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Ignored)
        self._label = QtWidgets.QLabel()
        self._label.setAccessibleName(tr("What was refused last, and why"))
        self._label.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
        self._room = TextRoom(self._label, 1)
        self._room.setSizePolicy(self.sizePolicy())
        self.mend = GuardedButton("")
        self.mend.setAccessibleName(tr("Step that the refusal asks for"))
        self.mend.clicked.connect(lambda: self.repair_asked.emit(self._repair))
        self._repair: Repair | None = None
        self._open = False
        """whether what it asks for was still to be done when it was last looked at"""
        self.dismiss = QtWidgets.QToolButton()
        give(self.dismiss, "close")
        self.dismiss.setAutoRaise(True)
        self.dismiss.setAccessibleName(tr("Dismiss the message"))
        self.dismiss.setToolTip(tr("Dismiss the message"))
        self.dismiss.clicked.connect(self.clear)
        said = QtWidgets.QVBoxLayout()
        said.setSpacing(2)
        said.addWidget(self._room, 1)
        said.addWidget(self.mend)
        row = QtWidgets.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addLayout(said, 1)
        row.addWidget(self.dismiss, 0, QtCore.Qt.AlignmentFlag.AlignTop)
        self.clear()

    def refuse(self, what: str, reason: Finding | str) -> None:
        """Say that `what` was refused, and why, whole; of a finding with what can be done about it."""
        self._repair, self._open = repair_of(reason) if isinstance(reason, Finding) else None, False
        text = finding_text(reason) if isinstance(reason, Finding) else reason
        if self._repair is not None:
            self.mend.setText(self._repair.text)
            self.mend.setAccessibleName(self._repair.text)
            self.mend.set_obstacle("")
        self._show("bad", f"{tr(what)}: {text or _REFUSED}")

    def remark(self, text: str) -> None:
        """Say what is no refusal."""
        self._repair = None
        self._show("muted", text)

    def clear(self) -> None:
        """Say nothing."""
        self._label.clear()
        self._repair = None
        self.saying.emit(False)

    def follow(self, now: Situation) -> None:
        """Enable the button while what it does can be done; a refusal whose step was taken meanwhile is gone."""
        if self._repair is None:
            return
        done = is_repaired(self._repair, now)
        if done and self._open:
            self.clear()
            return
        self._open = not done
        if self._repair.action is not None:
            self.mend.set_obstacle(obstacle(self._repair.action, now))

    def text(self) -> str:
        """What is said."""
        return str(self._label.text())

    def _show(self, role: str, text: str) -> None:
        self._room.show_text(text)
        self._label.setObjectName(role)
        self._label.style().unpolish(self._label)
        self._label.style().polish(self._label)
        self.mend.setVisible(self._repair is not None)
        self._label.setToolTip(text)
        self.saying.emit(True)
        self._fit()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Write as large as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.layout().activate()
        fit_text(self._label, self.font(), self._room.viewport().height())
