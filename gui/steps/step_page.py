"""One page of a wizard: a form, and a line that says what is missing before the next."""

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.steps.form import unbroken
from gui.widgets import Reason


class StepPage(QtWidgets.QWizardPage):
    """One page. Its widgets keep what a person entered.

    Signals: `edited` after a change by a person.

    Args:
        title, subtitle: said on top.
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
        """Put the line that says what is missing below everything else."""
        self.column.addStretch(1)
        self.column.addWidget(self.reason)
        self.show_missing("")

    def show_missing(self, text: str) -> None:
        """Say why Next is disabled; nothing when it is not."""
        changed = bool(text) != bool(self._missing)
        self._missing = text
        self.reason.show_text(unbroken(text))
        if changed:
            self.completeChanged.emit()

    @property
    def missing(self) -> str:
        """Why Next is disabled; empty when it is not."""
        return self._missing

    def isComplete(self) -> bool:
        """Whether Next is enabled."""
        return not self._missing
