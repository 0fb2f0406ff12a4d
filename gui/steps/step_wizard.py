"""A wizard of the app: numbered steps, STOP always in view, and nothing that closes it by accident."""

from collections.abc import Callable, Sequence
from typing import Any

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.session import RigSession, StopButton
from gui.steps.discard_question import DiscardQuestion
from gui.steps.step_page import StepPage
from gui.texts import tr

_OWN_KEYS = (QtCore.Qt.Key.Key_Escape, QtCore.Qt.Key.Key_Return, QtCore.Qt.Key.Key_Enter)
_SIZE = QtCore.QSize(1080, 690)


class StepWizard(QtWidgets.QWizard):
    """Steps to something that is saved at the end.

    STOP and Esc reach the rig through the session, like everything else in the app. Esc never closes it. A wizard says
    what is its own in `hindrance`, `loss`, `stopped` and `left`.

    Args:
        session: whose stops count here as well.
        title: of the window.
        doing: accessible name of `state`, the line beside the pages that says what is being done.
        parent: the main window.
    """

    def __init__(self, session: RigSession, title: str, doing: str, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.question: QtWidgets.QMessageBox | None = None
        """asked before what was entered is thrown away"""
        self.setWindowTitle(title)
        self.setWizardStyle(QtWidgets.QWizard.WizardStyle.ModernStyle)
        self.setOption(QtWidgets.QWizard.WizardOption.IndependentPages)  # going back and forth loses nothing
        self.setOption(QtWidgets.QWizard.WizardOption.NoBackButtonOnStartPage)
        self.setButtonText(QtWidgets.QWizard.WizardButton.FinishButton, tr("Close"))
        self.setWindowModality(QtCore.Qt.WindowModality.WindowModal)
        self._add_side(doing)
        session.stopped.connect(self.stopped)
        self.resize(_SIZE)

    def _add_side(self, doing: str) -> None:
        self.stop_button = StopButton(lambda: self.session.stop(1, "button"))
        self.state = QtWidgets.QLabel()
        self.state.setWordWrap(True)
        self.state.setAccessibleName(doing)
        self.state.setAlignment(QtCore.Qt.AlignmentFlag.AlignTop)
        side = QtWidgets.QWidget()
        column = QtWidgets.QVBoxLayout(side)
        column.setContentsMargins(12, 12, 12, 12)
        column.addWidget(self.stop_button)
        column.addWidget(self.state)
        column.addStretch(1)
        side.setFixedWidth(190)
        self.setSideWidget(side)

    def add_steps(self, pages: Sequence[StepPage]) -> None:
        """Put the pages in, each with its number."""
        for number, page in enumerate(pages, start=1):
            self.addPage(page)
            page.setTitle(
                tr("Step {number} of {count} · {title}").format(number=number, count=len(pages), title=page.title())
            )

    # -- what a wizard says of itself --------------------------------------------------------------------------------

    def hindrance(self) -> str:
        """Why this cannot be closed now; empty when it can."""
        return ""

    def loss(self) -> str:
        """What would be lost if this closed now, as `DiscardQuestion` says it; empty for nothing."""
        return ""

    def stopped(self, category: int) -> None:
        """STOP or Esc, from anywhere in the app, of a stop category."""

    def left(self) -> None:
        """It has closed for good."""

    # -- closing -----------------------------------------------------------------------------------------------------

    def refresh_cancel(self) -> None:
        """Enable Cancel, or say why it is not."""
        hindrance = self.hindrance()
        cancel = self.button(QtWidgets.QWizard.WizardButton.CancelButton)
        cancel.setEnabled(not hindrance)
        cancel.setToolTip(hindrance)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Esc stops (see `gui.stop_everywhere`) and closes nothing; Return in a field does not turn the page."""
        if event.key() not in _OWN_KEYS:
            super().keyPressEvent(event)

    def reject(self) -> None:
        """Close, after a question where something would be lost; not while there is a hindrance."""
        if self.hindrance():
            return
        if not (loss := self.loss()):
            self._leave(super().reject)
            return
        self.question = DiscardQuestion(self, loss, lambda sure: self._leave(super(StepWizard, self).reject, sure))
        self.question.show()

    def accept(self) -> None:
        """Close what was saved."""
        self._leave(super().accept)

    def _leave(self, close: Callable[[], Any], sure: bool = True) -> None:
        self.question = None
        if sure:
            self.session.stopped.disconnect(self.stopped)
            close()
            self.left()
