"""The first step: what is fitted, what is held out to judge by, and what cannot be used."""

from collections.abc import Callable
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.identify.identifier import Asked
from gui.live import Found, recordings_in
from gui.steps import StepPage, browse_button, line_edit

_COLUMNS = ("Recording", "Date", "Fit on", "Hold out", "What it holds")
_FIT, _HOLD, _HELD = 2, 3, 4
_CHECKED, _FREE = QtCore.Qt.CheckState.Checked, QtCore.Qt.CheckState.Unchecked

Look = Callable[[Path, Callable[[str, str], None]], None]
"""Looks into a recording, and calls back with what it holds and "", or "" and why it cannot be used."""


class RecordingsPage(StepPage):
    """The recordings of a folder, each to fit on, to be held out, or neither. Only those chosen are looked into.

    Args:
        look: see `Look`.
    """

    def __init__(self, look: Look) -> None:
        super().__init__(
            "Recordings",
            "Choose recordings of one rig in motion. Those held out are not fitted, they judge the result; without any "
            "that is the last quarter of every motion.",
        )
        self._look = look
        self._told: dict[Path, tuple[str, str]] = {}
        """what those hold that were looked into, and why they cannot be used; both empty while they are"""
        self.folder = Path()
        self.found: list[Found] = []
        self.where = QtWidgets.QLabel()
        self.where.setWordWrap(True)
        self.where.setAccessibleName("Folder of recordings")
        self.table = QtWidgets.QTableWidget(0, len(_COLUMNS))
        self.table.setAccessibleName("Recordings to identify from")
        self.table.setHorizontalHeaderLabels(_COLUMNS)
        self.table.setEditTriggers(QtWidgets.QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        self.table.setShowGrid(False)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        for column in range(_HELD):
            header.setSectionResizeMode(column, QtWidgets.QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        self.note = line_edit("Note", "", "kept in the file, as: after the new payload plate")
        row = QtWidgets.QHBoxLayout()
        row.addWidget(self.where, 1)
        row.addWidget(browse_button("Choose the folder of recordings", self._browse))
        below = QtWidgets.QHBoxLayout()
        below.addWidget(QtWidgets.QLabel("Note"))
        below.addWidget(self.note, 1)
        self.column.addLayout(row)
        self.column.addWidget(self.table, 1)
        self.column.addLayout(below)
        self.column.addWidget(self.reason)
        self.table.itemChanged.connect(self._changed)
        self.note.textEdited.connect(lambda _text: self.edited.emit())

    def begin(self, folder: Path, recording: Path | None) -> None:
        """Show a folder; `recording` is to be fitted on, or the newest there is."""
        self._show(folder)
        if recording is None and self.found:
            recording = self.found[0].path
        for row, one in enumerate(self.found):
            if recording is not None and one.path == recording:
                self.choose(row)

    def choose(self, row: int, *, hold_out: bool = False) -> None:
        """Tick a row's recording to be fitted on, or held out."""
        self.table.item(row, _HOLD if hold_out else _FIT).setCheckState(_CHECKED)

    @property
    def asked(self) -> Asked:
        """What is to be identified from."""
        return Asked(self._ticked(_FIT), self._ticked(_HOLD), self.note.text().strip())

    @property
    def fault(self) -> str:
        """Why nothing can be identified from what is chosen; empty when something may be."""
        asked = self.asked
        if not self.found:
            return f"There is no recording in {self.folder}."
        if not asked.fitted:
            return "Choose a recording to fit on."
        chosen = (*asked.fitted, *asked.held_out)
        if faults := [f"{path.name}: {self._told[path][1]}" for path in chosen if self._told[path][1]]:
            return "\n".join(faults)
        looking = [path.name for path in chosen if not self._told[path][0]]
        return f"Looking into {', '.join(looking)} …" if looking else ""

    def _ticked(self, column: int) -> tuple[Path, ...]:
        return tuple(
            one.path for row, one in enumerate(self.found) if self.table.item(row, column).checkState() == _CHECKED
        )

    def _show(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.found = recordings_in(folder)
            text = f"{folder}: {len(self.found)} recording{'s' * (len(self.found) != 1)}"
        except OSError as error:
            self.found = []
            text = f"{folder}: {error.strerror}"
        self.where.setText(text)
        self.table.blockSignals(True)
        self.table.setRowCount(len(self.found))
        for row, one in enumerate(self.found):
            for column, cell in enumerate((one.path.name, one.modified.strftime("%F %T"), "", "", "")):
                item = QtWidgets.QTableWidgetItem(cell)
                if column in (_FIT, _HOLD):
                    item.setCheckState(_FREE)
                    item.setToolTip(_COLUMNS[column])
                self.table.setItem(row, column, item)
        self.table.blockSignals(False)

    def _changed(self, item: QtWidgets.QTableWidgetItem) -> None:
        column, row = item.column(), item.row()
        if column not in (_FIT, _HOLD):
            return
        if item.checkState() == _CHECKED:
            self.table.item(row, _FIT + _HOLD - column).setCheckState(_FREE)  # what is fitted cannot judge
            self._look_into(self.found[row].path)
        self.edited.emit()

    def _look_into(self, path: Path) -> None:
        if path in self._told:
            return
        self._told[path] = "", ""
        self._tell(path, "…", "")

        def done(holds: str, fault: str) -> None:
            self._told[path] = holds, fault
            self._tell(path, f"✗ {fault}" if fault else holds, fault or holds)
            self.edited.emit()

        self._look(path, done)

    def _tell(self, path: Path, text: str, tip: str) -> None:
        for row, one in enumerate(self.found):
            if one.path == path:
                self.table.item(row, _HELD).setText(text)
                self.table.item(row, _HELD).setToolTip(tip)

    def _browse(self) -> None:
        name = QtWidgets.QFileDialog.getExistingDirectory(self, "Folder of recordings", str(self.folder))
        if name:
            self._told.clear()
            self._show(Path(name))
            self.edited.emit()
