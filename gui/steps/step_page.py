"""A page of a wizard: a form, and a line with what is missing before Next."""

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.steps.form import unbroken
from gui.widgets import Reason


class StepPage(QtWidgets.QWizardPage):
    """One page. Its widgets hold the user's input.

    Signals: `edited` after a change by the user.

    Args:
        title, subtitle: shown on top.
    """

    edited = QtCore.Signal()

    def __init__(self, title: str, subtitle: str) -> None:
        super().__init__()
        self.setTitle(title)
        self.setSubTitle(subtitle)
        self.setAccessibleName(title)
        self._missing = ""
        self.reason = Reason(role="bad")
        self.column = QtWidgets.QVBoxLayout(self)
        self.column.setSpacing(6)

    def close_form(self) -> None:
        """Add the line with what is missing at the bottom."""
        self.column.addStretch(1)
        self.column.addWidget(self.reason)
        self.show_missing("")

    def show_missing(self, text: str) -> None:
        """Show why Next is disabled; empty enables it."""
        changed = bool(text) != bool(self._missing)
        self._missing = text
        self.reason.show_text(unbroken(text))
        if changed:
            self.completeChanged.emit()

    @property
    def missing(self) -> str:
        """Why Next is disabled; empty if it is not."""
        return self._missing

    def isComplete(self) -> bool:
        """Whether Next is enabled."""
        return not self._missing
