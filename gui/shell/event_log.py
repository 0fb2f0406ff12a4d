"""The event log of engine, app and operator, searchable and exportable."""

import csv
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.session import LogEntry
from gui.texts import mark, tr
from gui.widgets import Theme, ask_save, set_icon
from rig.csvio import whole_file
from rig.errors import InputError
from rig.states import FaultCode

_MOST = 20_000  # lines; the oldest are dropped
_COLUMNS = (tr("Time"), tr("Rig time, s"), tr("Level"), tr("Source"), tr("Code"), tr("Text"))
_LEVELS = (mark("info"), mark("warning"), mark("error"))
_SOURCES = (mark("app"), mark("engine"), mark("operator"), mark("set-up"), mark("telemetry"), mark("virtual rig"))
_ROLE = QtCore.Qt.ItemDataRole


class LogModel(QtCore.QAbstractTableModel):
    """The entries as a table, oldest first."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.entries: list[LogEntry] = []
        self.theme = theme

    def add(self, entry: LogEntry) -> None:
        """Append an entry."""
        if len(self.entries) >= _MOST:
            drop = _MOST // 10
            self.beginRemoveRows(QtCore.QModelIndex(), 0, drop - 1)
            del self.entries[:drop]
            self.endRemoveRows()
        place = len(self.entries)
        self.beginInsertRows(QtCore.QModelIndex(), place, place)
        self.entries.append(entry)
        self.endInsertRows()

    def rowCount(self, parent: QtCore.QModelIndex = QtCore.QModelIndex()) -> int:  # noqa: B008
        """See Qt."""
        return 0 if parent.isValid() else len(self.entries)

    def columnCount(self, parent: QtCore.QModelIndex = QtCore.QModelIndex()) -> int:  # noqa: B008
        """See Qt."""
        return 0 if parent.isValid() else len(_COLUMNS)

    def headerData(self, section: int, orientation: QtCore.Qt.Orientation, role: int = _ROLE.DisplayRole) -> object:
        """See Qt."""
        if orientation == QtCore.Qt.Orientation.Horizontal and role == _ROLE.DisplayRole:
            return _COLUMNS[section]
        return None

    def data(self, index: QtCore.QModelIndex, role: int = _ROLE.DisplayRole) -> object:
        """See Qt."""
        entry = self.entries[index.row()]
        if role == _ROLE.DisplayRole:
            return shown(entry)[index.column()].replace("\n", " · ")
        if role == _ROLE.ToolTipRole:
            return entry.text
        if role == _ROLE.ForegroundRole and entry.level != "info":
            return QtGui.QColor(self.theme.error if entry.level == "error" else self.theme.warning)
        return None


def cells(entry: LogEntry) -> tuple[str, ...]:
    """Return an entry as the texts of its columns in a file."""
    t = "" if entry.t is None else f"{entry.t:.3f}"
    return f"{entry.wall:%H:%M:%S.%f}"[:-3], t, entry.level, entry.source, entry.code, entry.text


def shown(entry: LogEntry) -> tuple[str, ...]:
    """Return an entry as displayed, translated."""
    wall, t, level, source, code, text = cells(entry)
    return wall, t, tr(level), tr(source), code, text


class _Filter(QtCore.QSortFilterProxyModel):
    """Accepts entries that contain every word of the search and have at least a level."""

    def __init__(self, model: LogModel) -> None:
        super().__init__()
        self._model = model
        self.words: list[str] = []
        self.level = 0
        self.setSourceModel(model)

    def filterAcceptsRow(self, row: int, _parent: QtCore.QModelIndex) -> bool:
        """See Qt."""
        entry = self._model.entries[row]
        text = " ".join(shown(entry)).lower()
        return _LEVELS.index(entry.level) >= self.level and all(word in text for word in self.words)


class EventLog(QtWidgets.QWidget):
    """The log with its search."""

    def __init__(self, theme: Theme, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = LogModel(theme)
        self.filter = _Filter(self.model)
        self.search = QtWidgets.QLineEdit()
        self.search.setPlaceholderText(tr("Search: all words must occur"))
        self.search.setAccessibleName(tr("Search the event log"))
        self.search.textChanged.connect(self._filter_again)
        self.level = QtWidgets.QComboBox()
        self.level.addItems([tr("everything"), tr("warnings and errors"), tr("errors")])
        self.level.setAccessibleName(tr("Lowest level shown"))
        self.level.currentIndexChanged.connect(self._filter_again)
        save = set_icon(QtWidgets.QPushButton(tr("Save …")), "save")
        save.setAccessibleName(tr("Save the event log"))
        save.setToolTip(tr("Save the lines shown as CSV"))
        save.clicked.connect(self._save)
        self.table = QtWidgets.QTableView()
        self.table.setModel(self.filter)
        self.table.setAccessibleName(tr("Event log"))
        self.table.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setEditTriggers(QtWidgets.QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().setVisible(False)
        self.table.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 8)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.horizontalHeader().setHighlightSections(False)
        width = self.fontMetrics().horizontalAdvance
        code = max((code.name for code in FaultCode), key=width)
        source = max((tr("operator"), tr("engine"), tr("set-up")), key=width)
        for column, sample in enumerate(("00:00:00.000", tr("Rig time, s"), tr("warning"), source, code)):
            self.table.setColumnWidth(column, width(sample) + 16)
        self._following = True
        """Whether the user left the view at the end; layout changes do not affect it."""
        end = self.table.verticalScrollBar()
        end.valueChanged.connect(lambda value: self._follow(value == end.maximum()))
        end.rangeChanged.connect(lambda _low, _high: self._keep_up())
        self.whole = QtWidgets.QLabel()
        self.whole.setAccessibleName(tr("The selected line in full"))
        self.whole.setWordWrap(True)
        self.whole.setTextFormat(QtCore.Qt.TextFormat.PlainText)
        self.whole.setVisible(False)
        self.table.selectionModel().currentRowChanged.connect(self._choose)
        bar = QtWidgets.QHBoxLayout()
        bar.addWidget(self.search, 1)
        bar.addWidget(self.level)
        bar.addWidget(save)
        layout = QtWidgets.QVBoxLayout(self)
        layout.addLayout(bar)
        layout.addWidget(self.table)
        layout.addWidget(self.whole)

    def add(self, entry: LogEntry) -> None:
        """Append an entry; keep the end visible if it was."""
        self.model.add(entry)
        self._keep_up()

    def _follow(self, following: bool) -> None:
        self._following = following

    def _keep_up(self) -> None:
        if self._following:
            self.table.scrollToBottom()

    def shown(self) -> list[LogEntry]:
        """The entries that match the search, oldest first."""
        rows = (self.filter.mapToSource(self.filter.index(row, 0)).row() for row in range(self.filter.rowCount()))
        return [self.model.entries[row] for row in rows]

    def save_to(self, path: Path) -> None:
        """Write the displayed entries as CSV. Raises InputError on failure."""
        with whole_file(path) as file:
            writer = csv.writer(file)
            writer.writerow(["wall_time", "rig_time_s", "level", "source", "code", "text"])
            for entry in self.shown():
                writer.writerow([entry.wall.isoformat(timespec="milliseconds"), *cells(entry)[1:]])

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self.model.theme = theme
        self.table.viewport().update()

    def _choose(self, line: QtCore.QModelIndex, _before: QtCore.QModelIndex) -> None:
        self.whole.setVisible(line.isValid())
        if line.isValid():
            self.whole.setText(self.model.entries[self.filter.mapToSource(line).row()].text)

    def _filter_again(self) -> None:
        self.filter.words = self.search.text().lower().split()
        self.filter.level = self.level.currentIndex()
        self.filter.invalidateFilter()

    def _save(self) -> None:
        path = ask_save(self, tr("Save the event log"), "events.csv", tr("Tables (*.csv)"), ".csv")
        if path is not None:
            try:
                self.save_to(path)
            except InputError as error:
                self.add(LogEntry("error", "app", str(error)))
