"""Recordings of a folder: list, open with numbers, export."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.live.live_bar import push_button
from gui.models import Found, recordings_counted, recordings_in
from gui.texts import mark, tr
from gui.widgets import ElidedLabel

_COLUMNS = (tr("Recording"), tr("Date"), tr("Size, MB"))
_HEAVY = ("CSV…", "Report", "Identify…")
"""Entries that use the CPU for long."""
_ACCESSIBLE = {
    "Open": mark("Open recording"),
    "Compare": mark("Compare recording"),
    "CSV…": mark("Export rows"),
    "Report": mark("Report recording"),
    "Identify…": mark("Identify recording"),
}


class RecordingList(QtWidgets.QWidget):
    """Selects recordings. Signals carry the selected path: `opened`, `compared`, `exported`, `reported`, `identified`.

    `follow` is called often and applies `obstacle`.

    Args:
        obstacle: why CPU-heavy work is not allowed now, empty if it is.
    """

    opened = QtCore.Signal(Path)
    compared = QtCore.Signal(Path)
    exported = QtCore.Signal(Path)
    reported = QtCore.Signal(Path)
    identified = QtCore.Signal(Path)
    moved = QtCore.Signal(Path)
    """Emitted when the folder changes."""

    def __init__(self, obstacle: Callable[[], str] = lambda: "") -> None:
        super().__init__()
        self._obstacle = obstacle
        self._shown_obstacle = ""
        self._own_folder: Path | None = None
        """Folder chosen by the user."""
        self.folder = Path("recordings")
        self.found: list[Found] = []
        self.choose = push_button(tr("Folder…"), tr("Choose the folder to look in"), tr("Choose folder"))
        self.again = push_button(tr("Refresh"), tr("Read the folder again"))
        self.where = ElidedLabel()
        self.where.setAccessibleName(tr("Folder of recordings"))
        self.table = QtWidgets.QTableWidget(0, len(_COLUMNS))
        self.table.setAccessibleName(tr("Recordings"))
        self.table.setHorizontalHeaderLabels(_COLUMNS)
        self.table.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QtWidgets.QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setShowGrid(False)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(0, QtWidgets.QHeaderView.ResizeMode.Stretch)
        for column in (1, 2):
            header.setSectionResizeMode(column, QtWidgets.QHeaderView.ResizeMode.ResizeToContents)
        self.choices = {
            mark("Open"): (self.opened, tr("Replay it and compute its results")),
            mark("Compare"): (self.compared, tr("Overlay it on the open recording")),
            mark("CSV…"): (self.exported, tr("Save its rows as a table")),
            mark("Report"): (self.reported, tr("Make a report next to the recording and open it")),
            mark("Identify…"): (self.identified, tr("Masses, inertias and frictions from this and other recordings")),
        }
        self.buttons = {}
        row = QtWidgets.QHBoxLayout()
        for name, (signal, tip) in self.choices.items():
            button = push_button(tr(name), tip, tr(_ACCESSIBLE[name]))
            button.clicked.connect(lambda _checked, signal=signal: self._send(signal))
            row.addWidget(button)
            self.buttons[name] = button
        top = QtWidgets.QHBoxLayout()
        top.addWidget(self.choose)
        top.addWidget(self.again)
        top.addWidget(self.where, 1)
        row.addStretch(1)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.addLayout(top)
        layout.addWidget(self.table, 1)
        layout.addLayout(row)
        self.choose.clicked.connect(self._ask)
        self.again.clicked.connect(self.reload)
        self.table.itemSelectionChanged.connect(self._enable)
        self.table.itemDoubleClicked.connect(lambda _item: self._send(self.opened))
        self.comparable = False
        self._enable()

    def set_folder(self, folder: Path) -> None:
        """List this folder."""
        self.folder = folder
        self.reload()
        self.moved.emit(folder)

    def reload(self) -> None:
        """Reread the folder; keeps the selection if possible."""
        chosen = self.chosen
        try:
            self.found = recordings_in(self.folder)
            text = recordings_counted(self.folder, len(self.found))
        except OSError as error:
            self.found = []
            text = f"{self.folder}: {error.strerror}"
        self.where.setText(text)
        self.where.setToolTip(text)
        self.table.setRowCount(len(self.found))
        for row, one in enumerate(self.found):
            for column, cell in enumerate((one.path.name, one.modified.strftime("%F %T"), f"{one.size / 1e6:.1f}")):
                item = QtWidgets.QTableWidgetItem(cell)
                if column == 2:
                    item.setTextAlignment(QtCore.Qt.AlignmentFlag.AlignRight | QtCore.Qt.AlignmentFlag.AlignVCenter)
                self.table.setItem(row, column, item)
        self.select(chosen)

    @property
    def chosen(self) -> Path | None:
        """The selected recording, None without."""
        row = self.table.currentRow()
        return self.found[row].path if self.table.selectedItems() and 0 <= row < len(self.found) else None

    def select(self, path: Path | None) -> None:
        """Select a recording; clears the selection if it is not listed."""
        self.table.clearSelection()
        for row, one in enumerate(self.found):
            if one.path == path:
                self.table.selectRow(row)
        self._enable()

    def set_comparable(self, comparable: bool) -> None:
        """Set whether there is an open recording to compare with."""
        self.comparable = comparable
        self._enable()

    def follow(self) -> None:
        """Apply the obstacle."""
        if self._obstacle() != self._shown_obstacle:
            self._enable()

    def save(self, settings: QtCore.QSettings) -> None:
        """Save the folder, if chosen by the user."""
        if self._own_folder is not None:
            settings.setValue("recordings/folder", str(self._own_folder))

    def restore(self, settings: QtCore.QSettings) -> None:
        """Restore the saved folder, if it still exists."""
        saved = settings.value("recordings/folder")
        if isinstance(saved, str) and os.path.isdir(saved):  # never raises, unlike Path.is_dir
            self._choose_folder(Path(saved))

    def _choose_folder(self, folder: Path) -> None:
        self._own_folder = folder
        self.set_folder(folder)

    def _enable(self) -> None:
        chosen = self.chosen is not None
        self._shown_obstacle = self._obstacle()
        for name, button in self.buttons.items():
            obstacle = "" if chosen else tr("Choose a recording first")
            if name == "Compare" and chosen and not self.comparable:
                obstacle = tr("Open a recording first, then choose the one to compare it with")
            if name in _HEAVY and self._shown_obstacle:
                obstacle = self._shown_obstacle
            button.setEnabled(not obstacle)
            button.setToolTip(obstacle or self.choices[name][1])

    def _send(self, signal: Any) -> None:
        if self.chosen is not None:
            signal.emit(self.chosen)

    def _ask(self) -> None:
        name = QtWidgets.QFileDialog.getExistingDirectory(self, tr("Folder of recordings"), str(self.folder))
        if name:
            self._choose_folder(Path(name))
