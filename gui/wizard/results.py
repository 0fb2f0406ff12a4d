"""Results as pictures above a table, and the table of parameters."""

from collections.abc import Sequence

from pyqtgraph.Qt import QtCore, QtWidgets

from calibration import Parameter
from gui.live import header_label
from gui.texts import tr
from gui.widgets import Theme
from gui.wizard.description import Outcome, Result, Table, Task
from gui.wizard.pictures import ChangePicture

CHANGES = tr("Change of each parameter, ± one standard deviation")
"""Legend of the picture of changes."""

PARAMETERS = Table(
    tr("Parameters"),
    ("", tr("Parameter"), tr("Unit"), tr("Nominal"), tr("Value"), "σ", tr("Change / σ")),
    words=(1, 2),
    wide=1,
)


def change(parameter: Parameter) -> float:
    """Return a parameter's change in standard deviations; 0 if it is known exactly."""
    return (parameter.value - parameter.nominal) / parameter.sigma if parameter.sigma > 0.0 else 0.0


def parameter_rows(parameters: Sequence[Parameter]) -> list[tuple[str, ...]]:
    """Return the rows of the table `PARAMETERS`."""
    return [
        (
            str(row),
            each.name,
            each.unit,
            f"{each.nominal:.5g}",
            f"{each.value:.5g}",
            f"{each.sigma:.2g}",
            f"{change(each):+.1f}",
        )
        for row, each in enumerate(parameters, start=1)
    ]


class NumberTable(QtWidgets.QTableWidget):
    """A table of texts, numbers right-aligned, with row selection."""

    def __init__(self, table: Table) -> None:
        super().__init__(0, len(table.headings))
        self._words, self._wide = frozenset(table.words), table.wide
        self.setAccessibleName(table.name)
        self.setHorizontalHeaderLabels(list(table.headings))
        self.setEditTriggers(QtWidgets.QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setAlternatingRowColors(True)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(24)
        for column in range(self.columnCount()) if self._wide is None else (self._wide,):
            self.horizontalHeader().setSectionResizeMode(column, QtWidgets.QHeaderView.ResizeMode.Stretch)

    def fill(self, rows: Sequence[Sequence[str]]) -> None:
        """Show these rows."""
        right = QtCore.Qt.AlignmentFlag.AlignRight | QtCore.Qt.AlignmentFlag.AlignVCenter
        self.setRowCount(len(rows))
        for row, texts in enumerate(rows):
            for column, text in enumerate(texts):
                item = QtWidgets.QTableWidgetItem(text)
                if column not in self._words:
                    item.setTextAlignment(right)
                self.setItem(row, column, item)
        for column in range(self.columnCount()):
            if self._wide not in (column, None):
                self.resizeColumnToContents(column)
        self.setCurrentCell(0, 0)


class ResultView(QtWidgets.QWidget):
    """A result: `pictures` side by side, each below its legend, and `table` below them.

    The row selected in the table is marked in a picture of changes.
    """

    def __init__(self, result: Result, theme: Theme) -> None:
        super().__init__()
        self._result = result
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(2)
        self.table = NumberTable(result.table)
        self.pictures = []
        for column, (text, picture) in enumerate(result.pictures(theme)):
            heading = header_label()
            heading.setText(text)
            heading.setWordWrap(True)
            picture.setFixedHeight(result.height)
            grid.addWidget(heading, 0, column)
            grid.addWidget(picture, 1, column)
            grid.setColumnStretch(column, 1)
            if isinstance(picture, ChangePicture):
                self.table.currentCellChanged.connect(lambda row, *_rest, picture=picture: picture.choose(row))
            self.pictures.append(picture)
        grid.addWidget(self.table, 2, 0, 1, len(self.pictures))
        grid.setRowStretch(2, 1)

    def show_outcome(self, outcome: Outcome) -> tuple[str, str]:
        """Show an outcome; return its role (good, warning, bad) and text."""
        shown = self._result.show(outcome)
        for picture, drawn in zip(self.pictures, shown.drawn, strict=True):
            picture.draw(drawn)
        self.table.fill(shown.rows)
        refusal = outcome.refusal if shown.refusal is None else shown.refusal
        warnings = (*outcome.warnings, *shown.warnings)
        lines = [*shown.lines, *(f"✗ {line.strip()}" for line in refusal.splitlines())]
        lines += [f"⚠ {text}" for text in warnings]
        return "bad" if refusal else "warning" if warnings else "good", "\n".join(lines)


class ResultStack(QtWidgets.QStackedWidget):
    """The results of several tasks, of which the one for an outcome is shown."""

    def __init__(self, tasks: Sequence[Task], theme: Theme) -> None:
        super().__init__()
        results = [each for task in tasks for each in (task.result, task.refused) if each is not None]
        self._views = {result: ResultView(result, theme) for result in dict.fromkeys(results)}
        for view in self._views.values():
            self.addWidget(view)
        self.shown = self._views[results[0]]
        """View of the last outcome."""

    def show_outcome(self, outcome: Outcome) -> tuple[str, str]:
        """See `ResultView`."""
        task = outcome.request.task
        result = task.refused if outcome.text is None and task.refused is not None else task.result
        self.shown = self._views[result]
        self.setCurrentWidget(self.shown)
        return self.shown.show_outcome(outcome)
