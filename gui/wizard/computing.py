"""The second step: the fit as it runs, and what came of it before anything is saved."""

from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.steps import StepPage, set_role
from gui.texts import tr
from gui.widgets import ElidedLabel, GuardedButton, TextRoom, hold_room
from gui.wizard.description import Outcome
from gui.wizard.results import ResultStack


class ComputePage(StepPage):
    """Begins and cancels; shows what came of it, or the service's refusal in its own words.

    Args:
        heading: title and subtitle.
        view: shows what came of it.
        begin: begins.
        cancel: gives up what was begun.
        answer: says that what was asked for is done.
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
        self.go_on = GuardedButton(tr("Done, everything is at rest"), tr("The requested action is done: continue"))
        self.go_on.setProperty("next", True)
        asking = QtWidgets.QHBoxLayout()
        asking.addWidget(self.go_on)
        asking.addWidget(TextRoom(self.question, 2), 1)
        self.column.addLayout(asking)
        self.column.addWidget(TextRoom(self.result, 4))
        for coming in (self.bar, self.go_on):
            hold_room(coming)
        self.column.addWidget(view, 1)
        self.filler = QtWidgets.QWidget()  # while there is no picture
        self.column.addWidget(self.filler, 1)
        self.reason.setObjectName("reason")
        self.column.addWidget(self.reason)
        self.begin.clicked.connect(lambda: begin())
        self.cancel.clicked.connect(lambda: cancel())
        self.go_on.clicked.connect(lambda: answer())
        self.show_question("")
        self.show_nothing()

    def show_verb(self, verb: str) -> None:
        """Say on the button what it does."""
        if verb != self.begin.text():
            self.begin.setText(verb)
            self.begin.setAccessibleName(verb)

    def show_nothing(self, why: str = "") -> None:
        """There is no result."""
        self._show_picture(False)
        set_role(self.result, "muted", why)

    def show_refusal(self, reason: str) -> None:
        """There is no result, because of what the service says."""
        self._show_picture(False)
        set_role(self.result, "bad", f"✗ {reason}")

    def show_outcome(self, outcome: Outcome) -> None:
        """Show what came of it."""
        set_role(self.result, *self.view.show_outcome(outcome))
        self._show_picture(True)

    def show_question(self, question: str) -> None:
        """Say what is to be done before it goes on; nothing when it is empty."""
        self.question.setText(question)
        self.go_on.setVisible(bool(question))
        if question:
            self.go_on.setFocus()

    def show_progress(self, step: str, part: float | None = None) -> None:
        """Say what is being done, and how much of it from 0 to 1, None where that is not known; nothing if empty."""
        self.bar.setVisible(bool(step))
        self.bar.setRange(0, 100 if part is not None else 0 if step else 1)  # without an end where it is not known
        self.bar.setValue(0 if part is None else round(100.0 * part))
        self.step.setText(step)

    def _show_picture(self, shown: bool) -> None:
        self.view.setVisible(shown)
        self.filler.setVisible(not shown)
