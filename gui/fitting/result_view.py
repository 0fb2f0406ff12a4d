"""What came of a fit, as pictures above a table."""

from collections.abc import Sequence

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.fitting.job_request import Outcome
from gui.live import Plot, header_label

_PICTURE = 190  # px


class NumberTable(QtWidgets.QTableWidget):
    """Rows of texts, numbers to the right; rows are selected whole.

    Args:
        name: accessible name.
        headings: of the columns.
        words: columns that are no numbers.
        wide: the one that takes the room that is left, None where all share it.
    """

    def __init__(self, name: str, headings: Sequence[str], words: Sequence[int], wide: int | None) -> None:
        super().__init__(0, len(headings))
        self._words = frozenset(words)
        self._wide = wide
        self.setAccessibleName(name)
        self.setHorizontalHeaderLabels(list(headings))
        self.setEditTriggers(QtWidgets.QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setAlternatingRowColors(True)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(24)
        for column in range(len(headings)) if wide is None else (wide,):
            self.horizontalHeader().setSectionResizeMode(column, QtWidgets.QHeaderView.ResizeMode.Stretch)

    def fill(self, rows: Sequence[Sequence[str]]) -> None:
        """Show these."""
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
    """Pictures side by side, each below its legend, and what is below them."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QtWidgets.QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(2)

    def show_outcome(self, outcome: Outcome) -> tuple[str, str]:
        """Draw it; the role in which it is said (good, warning, bad), and the words."""
        raise NotImplementedError

    def add_pictures(self, pictures: Sequence[tuple[str, Plot]], height: int = _PICTURE) -> None:
        """Add plots with their legends, rich text, all of one height, px."""
        for column, (text, plot) in enumerate(pictures):
            heading = header_label()
            heading.setText(text)
            heading.setWordWrap(True)
            plot.setFixedHeight(height)
            self._grid.addWidget(heading, 0, column)
            self._grid.addWidget(plot, 1, column)
            self._grid.setColumnStretch(column, 1)

    def add_below(self, widget: QtWidgets.QWidget) -> None:
        """Add what takes the room below the pictures."""
        self._grid.addWidget(widget, 2, 0, 1, max(self._grid.columnCount(), 1))
        self._grid.setRowStretch(2, 1)


class EitherView(ResultView):
    """Of two views the one that fits an outcome.

    Args:
        fitted: of what was worked out of measurements. planned: of what is to be measured. refused: of what was
            refused, where that is not the first as well.
    """

    def __init__(self, fitted: ResultView, planned: ResultView, refused: ResultView | None = None) -> None:
        super().__init__()
        self.fitted, self.planned, self.refused = fitted, planned, refused or fitted
        self._stack = QtWidgets.QStackedWidget()
        for view in dict.fromkeys((fitted, planned, self.refused)):
            self._stack.addWidget(view)
        self.add_below(self._stack)

    def show_outcome(self, outcome: Outcome) -> tuple[str, str]:
        """See `ResultView`."""
        worked_out = self.fitted if outcome.text is not None else self.refused
        view = self.planned if outcome.asked.planning else worked_out
        self._stack.setCurrentWidget(view)
        return view.show_outcome(outcome)


def outcome_text(outcome: Outcome, lines: Sequence[str], warnings: Sequence[str] = ()) -> tuple[str, str]:
    """The role and the words of an outcome: its lines, what it was refused for, and what there is to warn of."""
    told = [*lines, *(f"✗ {line.strip()}" for line in outcome.refusal.splitlines())]
    told += [f"⚠ {' '.join(text.split())}" for text in (*outcome.warnings, *warnings)]
    role = "bad" if outcome.refusal else "warning" if outcome.warnings or warnings else "good"
    return role, "\n".join(told)
