"""A wizard of the app: numbered steps, STOP always visible, not closable by accident."""

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
    """Steps to a result that is saved at the end.

    STOP and Esc reach the rig through the session, as everywhere in the app. Esc never closes it. Subclasses override
    `hindrance`, `loss`, `stopped` and `left`.

    Args:
        session: source of stops.
        title: of the window.
        doing: accessible name of `state`, the line with the current activity.
        parent: the main window.
    """

    def __init__(self, session: RigSession, title: str, doing: str, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.question: QtWidgets.QMessageBox | None = None
        """Asked before input is discarded."""
        self.setWindowTitle(title)
        self.setWizardStyle(QtWidgets.QWizard.WizardStyle.ModernStyle)
        self.setOption(QtWidgets.QWizard.WizardOption.IndependentPages)  # going back keeps all input
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
        """Add the pages, numbered."""
        for number, page in enumerate(pages, start=1):
            self.addPage(page)
            page.setTitle(
                tr("Step {number} of {count} · {title}").format(number=number, count=len(pages), title=page.title())
            )

    # -- overridden by subclasses ------------------------------------------------------------------------------------

    def hindrance(self) -> str:
        """Why the wizard cannot be closed now; empty if it can."""
        return ""

    def loss(self) -> str:
        """What closing would discard, worded for `DiscardQuestion`; empty for nothing."""
        return ""

    def stopped(self, category: int) -> None:
        """Handle STOP or Esc from anywhere in the app, with its stop category."""

    def left(self) -> None:
        """Handle the final close."""

    # -- closing -----------------------------------------------------------------------------------------------------

    def refresh_cancel(self) -> None:
        """Enable Cancel, or show why not."""
        hindrance = self.hindrance()
        cancel = self.button(QtWidgets.QWizard.WizardButton.CancelButton)
        cancel.setEnabled(not hindrance)
        cancel.setToolTip(hindrance)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Esc stops (see `gui.session.stop_everywhere`) and does not close; Return does not turn the page."""
        if event.key() not in _OWN_KEYS:
            super().keyPressEvent(event)

    def reject(self) -> None:
        """Close, after a question if something would be lost; ignored while there is a hindrance."""
        if self.hindrance():
            return
        if not (loss := self.loss()):
            self._leave(super().reject)
            return
        self.question = DiscardQuestion(self, loss, lambda sure: self._leave(super(StepWizard, self).reject, sure))
        self.question.show()

    def accept(self) -> None:
        """Close after saving."""
        self._leave(super().accept)

    def _leave(self, close: Callable[[], Any], sure: bool = True) -> None:
        self.question = None
        if sure:
            self.session.stopped.disconnect(self.stopped)
            close()
            self.left()
