"""The recordings of a folder, each with one role or none."""

from collections.abc import Callable, Sequence
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.models import Found, recordings_counted, recordings_in
from gui.steps import browse_button
from gui.texts import tr
from gui.wizard.description import Role
from gui.wizard.service_runner import ProbeCallback

_CHECKED, _FREE = QtCore.Qt.CheckState.Checked, QtCore.Qt.CheckState.Unchecked
_FIRST = 2  # column of a role


class RecordingsTable(QtWidgets.QWidget):
    """The recordings of a folder. Only selected ones are probed.

    Signals: `edited` after a change by the user, and after a probe.

    Args:
        roles: possible roles.
        probe: probes a recording and calls back.
    """

    edited = QtCore.Signal()

    def __init__(self, roles: Sequence[Role], probe: Callable[[Path, ProbeCallback], None]) -> None:
        super().__init__()
        self.roles = tuple(roles)
        self._probe = probe
        self._probed: dict[Path, tuple[str, str]] = {}
        """Content of the probed files, and why they cannot be used; both empty while probing."""
        self._last = _FIRST + len(self.roles)
        """Column of the content."""
        self.folder = Path()
        self.found: list[Found] = []
        self.where = QtWidgets.QLabel()
        self.where.setWordWrap(True)
        self.where.setAccessibleName(tr("Folder of recordings"))
        headings = (tr("Recording"), tr("Date"), *(role.label for role in self.roles), tr("Contents"))
        self.table = QtWidgets.QTableWidget(0, len(headings))
        self.table.setAccessibleName(tr("Recordings to choose from"))
        self.table.setHorizontalHeaderLabels(headings)
        self.table.setEditTriggers(QtWidgets.QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        self.table.setShowGrid(False)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        for number in range(self._last):
            header.setSectionResizeMode(number, QtWidgets.QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        self.browse = browse_button(tr("Choose the folder of recordings"), self._browse)
        row = QtWidgets.QHBoxLayout()
        row.addWidget(self.where, 1)
        row.addWidget(self.browse)
        column = QtWidgets.QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(row)
        column.addWidget(self.table, 1)
        self.table.itemChanged.connect(self._changed)

    def begin(self, folder: Path, recording: Path | None) -> None:
        """Show a folder; `recording`, or the newest, gets the first role."""
        self._show(folder)
        if recording is None and self.found:
            recording = self.found[0].path
        for row, one in enumerate(self.found):
            if recording is not None and one.path == recording:
                self.choose(row)

    def choose(self, row: int, role: int = 0) -> None:
        """Give a row's recording a role."""
        self.table.item(row, _FIRST + role).setCheckState(_CHECKED)

    def chosen(self, role: int) -> tuple[Path, ...]:
        """Return the recordings with a role, in list order."""
        items = [self.table.item(row, _FIRST + role) for row in range(len(self.found))]
        return tuple(one.path for one, item in zip(self.found, items, strict=True) if item.checkState() == _CHECKED)

    @property
    def fault(self) -> str:
        """Why the selected recordings cannot be used; empty if they can."""
        if not self.found:
            return tr("There is no recording in {folder}.").format(folder=self.folder)
        for number, role in enumerate(self.roles):
            if role.lacking and not self.chosen(number):
                return role.lacking
        chosen = [path for number in range(len(self.roles)) for path in self.chosen(number)]
        if faults := [f"{path.name}: {self._probed[path][1]}" for path in chosen if self._probed[path][1]]:
            return "\n".join(faults)
        unprobed = [path.name for path in chosen if not self._probed[path][0]]
        return tr("Reading {names} …").format(names=", ".join(unprobed)) if unprobed else ""

    def _show(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.found = recordings_in(folder)
            text = recordings_counted(folder, len(self.found))
        except OSError as error:
            self.found = []
            text = f"{folder}: {error.strerror}"
        self.where.setText(text)
        self.table.blockSignals(True)
        self.table.setRowCount(len(self.found))
        for row, one in enumerate(self.found):
            cells = (one.path.name, one.modified.strftime("%F %T"), *("" for _ in self.roles), "")
            for column, cell in enumerate(cells):
                item = QtWidgets.QTableWidgetItem(cell)
                if _FIRST <= column < self._last:
                    item.setCheckState(_FREE)
                    item.setToolTip(self.roles[column - _FIRST].label)
                self.table.setItem(row, column, item)
        self.table.blockSignals(False)

    def _changed(self, item: QtWidgets.QTableWidgetItem) -> None:
        column, row = item.column(), item.row()
        if not _FIRST <= column < self._last:
            return
        if item.checkState() == _CHECKED:
            others = [(row, other) for other in range(_FIRST, self._last)]  # fitted recordings cannot validate
            if not self.roles[column - _FIRST].several:
                others += [(other, column) for other in range(len(self.found))]
            self.table.blockSignals(True)
            for place in others:
                if place != (row, column):
                    self.table.item(*place).setCheckState(_FREE)
            self.table.blockSignals(False)
            self._probe_recording(self.found[row].path)
        self.edited.emit()

    def _probe_recording(self, path: Path) -> None:
        if path in self._probed:
            return
        self._probed[path] = "", ""
        self._show_content(path, "…", "")

        def done(content: str, fault: str) -> None:
            self._probed[path] = content, fault
            self._show_content(path, f"✗ {fault}" if fault else content, fault or content)
            self.edited.emit()

        self._probe(path, done)

    def _show_content(self, path: Path, text: str, tip: str) -> None:
        for row, one in enumerate(self.found):
            if one.path == path:
                self.table.item(row, self._last).setText(text)
                self.table.item(row, self._last).setToolTip(tip)

    def _browse(self) -> None:
        name = QtWidgets.QFileDialog.getExistingDirectory(self, tr("Folder of recordings"), str(self.folder))
        if name:
            self._probed.clear()
            self._show(Path(name))
            self.edited.emit()
