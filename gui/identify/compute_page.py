"""The second step: the identification as it runs, and what came of it before anything is saved."""

from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.identify.identifier import Outcome, shift
from gui.identify.pictures import ResidualPicture, ShiftPicture
from gui.live import header_label, swatch
from gui.steps import StepPage, set_role
from gui.widgets import GuardedButton, Theme

_HEADINGS = ("", "Parameter", "Unit", "Nominal", "Value", "σ", "Change / σ")
_PICTURE = 190  # px


class ComputePage(StepPage):
    """Begins and cancels; shows residuals, changes and parameters, or the estimator's refusal in its own words.

    Args:
        theme: colours.
        identify: begins.
        cancel: gives up what was begun.
    """

    def __init__(self, theme: Theme, identify: Callable[[], None], cancel: Callable[[], None]) -> None:
        super().__init__("Identify", "Nothing is saved before the next step. This page judges by what was not fitted.")
        self.identify = GuardedButton("Identify", "Fit the parameters to the recordings chosen")
        self.cancel = GuardedButton("Cancel the fit", "Give it up; what was chosen stays")
        self.bar = QtWidgets.QProgressBar()
        self.bar.setAccessibleName("Progress of the fit")
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(130)
        self.step = QtWidgets.QLabel()
        self.step.setAccessibleName("What the fit is doing")
        self.result = QtWidgets.QLabel()
        self.result.setWordWrap(True)
        self.result.setAccessibleName("What came of the fit")
        self.result.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
        self.residuals = ResidualPicture(theme)
        self.shifts = ShiftPicture(theme)
        self.table = QtWidgets.QTableWidget(0, len(_HEADINGS))
        self.table.setAccessibleName("Parameters")
        self.table.setHorizontalHeaderLabels(_HEADINGS)
        self.table.setEditTriggers(QtWidgets.QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setTabKeyNavigation(False)
        self.table.setAlternatingRowColors(True)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(24)
        self.table.horizontalHeader().setSectionResizeMode(1, QtWidgets.QHeaderView.ResizeMode.Stretch)
        self.table.currentCellChanged.connect(lambda row, *_rest: self.shifts.choose(row))
        row = QtWidgets.QHBoxLayout()
        for widget in (self.identify, self.cancel, self.bar):
            row.addWidget(widget)
        row.addWidget(self.step, 1)
        legend = header_label()
        legend.setText(
            f"Residual held out: {swatch(theme.muted, 'nominal')} {swatch(theme.accent, 'identified')} "
            f"{swatch(theme.warning, 'noise')}"
        )
        title = header_label()
        title.setText("Change of each parameter, ± one standard deviation")
        self.picture = QtWidgets.QWidget()
        grid = QtWidgets.QGridLayout(self.picture)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(2)
        for column, (heading, plot) in enumerate(((legend, self.residuals), (title, self.shifts))):
            plot.setFixedHeight(_PICTURE)
            grid.addWidget(heading, 0, column)
            grid.addWidget(plot, 1, column)
            grid.setColumnStretch(column, 1)
        grid.addWidget(self.table, 2, 0, 1, 2)
        grid.setRowStretch(2, 1)
        self.column.addLayout(row)
        self.column.addWidget(self.result)
        self.column.addWidget(self.picture, 1)
        self.filler = QtWidgets.QWidget()  # while there is no picture
        self.column.addWidget(self.filler, 1)
        self.reason.setObjectName("reason")
        self.column.addWidget(self.reason)
        self.identify.clicked.connect(lambda: identify())
        self.cancel.clicked.connect(lambda: cancel())
        self.show_nothing()

    def show_nothing(self, why: str = "") -> None:
        """There is no result."""
        self._show_picture(False)
        set_role(self.result, "muted", why)

    def show_refusal(self, reason: str) -> None:
        """There is no result, because of what the estimator says."""
        self._show_picture(False)
        set_role(self.result, "bad", f"✗ {reason}")

    def show_outcome(self, outcome: Outcome) -> None:
        """Show what came of it."""
        before, after, noise = outcome.before[-1], outcome.after[-1], outcome.noise[-1]
        lines = [
            f"{outcome.mechanism}: residual {before:.2f} N → {after:.2f} N, noise {noise:.2f} N. {outcome.told} of "
            f"{outcome.combinations} combinations that forces can tell are known at least twice as well as before."
        ]
        if not outcome.consistent:
            lines.append("⚠ No bodies can exist with these parameters.")
        if not outcome.drives:
            lines.append("⚠ The drives' forces are not known here: friction below the load cells was not told.")
        set_role(self.result, "good" if len(lines) == 1 else "warning", "\n".join(lines))
        self.residuals.show_outcome(outcome)
        self._fill(outcome)
        self.shifts.show_outcome(outcome)
        self._show_picture(True)

    def show_progress(self, step: str) -> None:
        """Say what is being done; nothing when that is empty."""
        self.bar.setVisible(bool(step))
        self.bar.setRange(0, 0 if step else 1)  # without an end: how long it takes is not known
        self.step.setText(step)

    def _show_picture(self, shown: bool) -> None:
        self.picture.setVisible(shown)
        self.filler.setVisible(not shown)

    def _fill(self, outcome: Outcome) -> None:
        right = QtCore.Qt.AlignmentFlag.AlignRight | QtCore.Qt.AlignmentFlag.AlignVCenter
        self.table.setRowCount(len(outcome.parameters))
        for row, each in enumerate(outcome.parameters):
            numbers = (f"{each.nominal:.5g}", f"{each.value:.5g}", f"{each.sigma:.2g}", f"{shift(each):+.1f}")
            for column, text in enumerate((str(row + 1), each.name, each.unit, *numbers)):
                item = QtWidgets.QTableWidgetItem(text)
                if column not in (1, 2):
                    item.setTextAlignment(right)
                self.table.setItem(row, column, item)
        for column in (0, *range(2, len(_HEADINGS))):
            self.table.resizeColumnToContents(column)
        self.table.setCurrentCell(0, 1)
