"""The second page: progress of the computation, and its result before anything is saved."""

from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.steps import StepPage, set_role
from gui.texts import tr
from gui.widgets import ElidedLabel, GuardedButton, TextRoom, hold_room
from gui.wizard.description import Outcome
from gui.wizard.results import ResultStack


class ComputePage(StepPage):
    """Starts and cancels the service; shows its result or its refusal.

    Args:
        heading: title and subtitle.
        view: shows the result.
        begin: starts the service.
        cancel: cancels it.
        answer: confirms a requested action.
    """

    def __init__(
        self,
        heading: tuple[str, str],
        view: ResultStack,
        begin: Callable[[], None],
        cancel: Callable[[], None],
        answer: Callable[[], None],
    ) -> None:
        super().__init__(*heading)
        self.view = view
        self.begin = GuardedButton(heading[0], tr("Compute from what was chosen"))
        self.cancel = GuardedButton(tr("Cancel the fit"), tr("Cancel it; the selection stays"))
        self.bar = QtWidgets.QProgressBar()
        self.bar.setAccessibleName(tr("Progress of the fit"))
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(130)
        self.step = ElidedLabel()
        self.step.setAccessibleName(tr("Status of the fit"))
        self.result = QtWidgets.QLabel()
        self.result.setAccessibleName(tr("Result of the fit"))
        self.result.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QtWidgets.QHBoxLayout()
        for widget in (self.begin, self.cancel, self.bar):
            row.addWidget(widget)
        row.addWidget(self.step, 1)
        self.column.addLayout(row)
        self.question = QtWidgets.QLabel()
        self.question.setObjectName("heading")
        self.question.setAccessibleName(tr("What to do next"))
        self.continue_button = GuardedButton(
            tr("Done, everything is at rest"), tr("The requested action is done: continue")
        )
        self.continue_button.setProperty("next", True)
        row = QtWidgets.QHBoxLayout()
        row.addWidget(self.continue_button)
        row.addWidget(TextRoom(self.question, 2), 1)
        self.column.addLayout(row)
        self.column.addWidget(TextRoom(self.result, 4))
        for coming in (self.bar, self.continue_button):
            hold_room(coming)
        self.column.addWidget(view, 1)
        self.filler = QtWidgets.QWidget()  # placeholder without a picture
        self.column.addWidget(self.filler, 1)
        self.reason.setObjectName("reason")
        self.column.addWidget(self.reason)
        self.begin.clicked.connect(lambda: begin())
        self.cancel.clicked.connect(lambda: cancel())
        self.continue_button.clicked.connect(lambda: answer())
        self.show_question("")
        self.show_nothing()

    def show_verb(self, verb: str) -> None:
        """Set the text of the start button."""
        if verb != self.begin.text():
            self.begin.setText(verb)
            self.begin.setAccessibleName(verb)

    def show_nothing(self, why: str = "") -> None:
        """Show that there is no result."""
        self._show_picture(False)
        set_role(self.result, "muted", why)

    def show_refusal(self, reason: str) -> None:
        """Show that the service refused, and why."""
        self._show_picture(False)
        set_role(self.result, "bad", f"✗ {reason}")

    def show_outcome(self, outcome: Outcome) -> None:
        """Show the result."""
        set_role(self.result, *self.view.show_outcome(outcome))
        self._show_picture(True)

    def show_question(self, question: str) -> None:
        """Show what the user must do before it continues; empty hides it."""
        self.question.setText(question)
        self.continue_button.setVisible(bool(question))
        if question:
            self.continue_button.setFocus()

    def show_progress(self, step: str, part: float | None = None) -> None:
        """Show the current step and its progress from 0 to 1, None if unknown; empty hides it."""
        self.bar.setVisible(bool(step))
        self.bar.setRange(0, 100 if part is not None else 0 if step else 1)  # indeterminate if unknown
        self.bar.setValue(0 if part is None else round(100.0 * part))
        self.step.setText(step)

    def _show_picture(self, shown: bool) -> None:
        self.view.setVisible(shown)
        self.filler.setVisible(not shown)
