"""Recordings of a folder: found, listed, opened with their numbers, exported."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from pyqtgraph.Qt import QtCore, QtWidgets

from dynamics import Mechanism, MechanismError, parse_mechanism
from gui.live.decimation import Outline, decimate
from gui.live.live_bar import push_button
from gui.live.replay import Replay
from gui.live.series import COMPARED
from gui.session import Excerpt, Floats
from gui.texts import mark, tr, trn
from gui.widgets import ElidedLabel
from rig.errors import InputError
from rig.recording import Recording, RecordingError, in_memory, open_part, size_of_rows, split_part
from rig.runs import Listed, compare_runs
from rig.telemetry import ROW

KEPT = 400_000_000
"""bytes of rows that are kept in memory: twelve minutes at 500 Hz; of longer recordings every so many rows are"""
LARGEST = 20_000_000_000
"""bytes of rows of a recording that is opened: ten hours at 500 Hz"""
QUICK = 100_000_000
"""bytes of rows that are read in about two seconds: three minutes at 500 Hz"""


@dataclass(frozen=True, slots=True)
class Found:
    """A recording in a folder."""

    path: Path
    modified: datetime
    size: int
    """bytes"""


def recordings_in(folder: Path) -> list[Found]:
    """Recordings of a folder, the newest first. Raises OSError when it cannot be read."""
    found = []
    for path in folder.iterdir():
        if path.suffix == ".mcap" and path.is_file():
            status = path.stat()
            found.append(Found(path, datetime.fromtimestamp(status.st_mtime), status.st_size))
    return sorted(found, key=lambda one: (one.modified, one.path.name), reverse=True)


def recordings_counted(folder: Path, count: int) -> str:
    """How many recordings a folder has, in words."""
    return trn("{folder}: {count} recording", "{folder}: {count} recordings", count).format(folder=folder, count=count)


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A recording with its numbers; `mechanism` is None where the file has none that can be read."""

    recording: Recording
    every: int
    """of how many rows one is in memory and replayed; the numbers and the outlines are of all"""
    summary: Mapping[str, Any]
    mechanism: Mechanism | None
    replay: Replay
    outlines: tuple[Outline, ...]
    """of each of `COMPARED`"""
    begin: float
    """rig time, s, at which the motion begins; without one the recording itself"""

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.recording.path.name


def open_with_numbers(path: Path, obstacle: str = "", *, replayed: bool = True) -> Opened:
    """Open a recording, or one motion FILE#ID of it, count its numbers and prepare what is drawn of it.

    replayed: whether its rows are kept; without, only outlines and numbers are.
    Raises RecordingError when it is none, is longer than the app opens, or has above 100 MB of rows while there is an
    obstacle, in words, to what keeps the processor busy for long.
    """
    from rig.report import summarize  # brings matplotlib along

    if split_part(path)[1] is None:
        _check_size(path, obstacle)
    file = open_part(path)
    every = max(1, -(-file.count * ROW.itemsize // KEPT))
    rows = np.zeros(-(-file.count // every) if replayed else 0, ROW)
    drawn: list[tuple[list[Floats], list[Floats]]] = [([], []) for _ in COMPARED]
    seen = 0
    for block in file.blocks():
        if replayed:
            kept = block[-seen % every :: every]
            first = -(-seen // every)
            rows[first : first + len(kept)] = kept
        stretch = Excerpt(block).cut(0, len(block))
        for panel, (times, values) in zip(COMPARED, drawn, strict=True):
            thinned = decimate(stretch.times.copy(), panel.series[0].extract(stretch), -(-len(block) // (2 * every)))
            times.append(thinned[0])
            values.append(np.array(thinned[1]))  # a block is valid until the next
        seen += len(block)
    summary = summarize(file)
    begin = summary["motion_begin_s"]
    return Opened(
        recording=in_memory(file, rows),
        every=every,
        summary=summary,
        mechanism=_mechanism(file.header.get("mechanism")),
        replay=Replay(rows),
        outlines=tuple(
            Outline(np.maximum.accumulate(np.concatenate(times)), np.concatenate(values))
            if times
            else Outline(np.empty(0), np.empty((0, len(panel.series[0].columns))))
            for panel, (times, values) in zip(COMPARED, drawn, strict=True)
        ),
        begin=summary["begin_s"] if begin is None else begin,
    )


def _check_size(path: Path, obstacle: str) -> None:
    """Raise RecordingError, before anything of it is unpacked, when a recording is too long to be opened now."""
    needed = size_of_rows(path)
    if obstacle and needed > QUICK:
        raise RecordingError(
            tr("{name}: its rows take {needed:.2f} GB of memory; above {quick:.2f} GB: {obstacle}").format(
                name=path.name, needed=needed / 1000000000.0, quick=QUICK / 1000000000.0, obstacle=obstacle
            )
        )
    if needed > LARGEST:
        raise RecordingError(
            tr(
                "{name}: its rows take {needed:.2f} GB, the app opens a recording of at most {largest:.2f} GB; use "
                "`rig report`, or look at the file with PlotJuggler"
            ).format(name=path.name, needed=needed / 1000000000.0, largest=LARGEST / 1000000000.0)
        )


def _mechanism(text: Any) -> Mechanism | None:
    try:
        return parse_mechanism(text) if isinstance(text, str) else None
    except MechanismError:
        return None


def differences_text(runs: Sequence[Listed]) -> str:
    """How runs differ, as the report says it; where they are not judged, that."""
    from rig.report import comparison_text

    if any(one.numbers is None for one in runs):
        return tr("Judge the runs on the page Runs to see the comparison of their results here too.")
    return comparison_text(compare_runs(runs))


def outcome(failure: Exception | None, success: str) -> str:
    """What came of something: what to say of its success, or why it failed."""
    if failure is None:
        return success
    if isinstance(failure, OSError):
        return tr("Failed: {reason}").format(reason=failure.strerror or failure)
    known = isinstance(failure, RecordingError | InputError)
    return (
        str(failure) if known else tr("Failed: {name}: {failure}").format(name=type(failure).__name__, failure=failure)
    )


_COLUMNS = (tr("Recording"), tr("Date"), tr("Size, MB"))
_HEAVY = ("CSV…", "Report", "Identify…")
"""choices that keep the processor busy for long"""
_ACCESSIBLE = {
    "Open": mark("Open recording"),
    "Compare": mark("Compare recording"),
    "CSV…": mark("Export rows"),
    "Report": mark("Report recording"),
    "Identify…": mark("Identify recording"),
}


class RecordingList(QtWidgets.QWidget):
    """Chooses recordings. Signals carry the path chosen: `opened`, `compared`, `exported`, `reported`, `identified`.

    `follow` is called often and keeps up with `obstacle`.

    Args:
        obstacle: why what keeps the processor busy for long cannot be done now, empty when it can.
    """

    opened = QtCore.Signal(Path)
    compared = QtCore.Signal(Path)
    exported = QtCore.Signal(Path)
    reported = QtCore.Signal(Path)
    identified = QtCore.Signal(Path)
    moved = QtCore.Signal(Path)
    """another folder is looked into"""

    def __init__(self, obstacle: Callable[[], str] = lambda: "") -> None:
        super().__init__()
        self._obstacle = obstacle
        self._shown_obstacle = ""
        self._own_folder: Path | None = None
        """folder that somebody chose"""
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
        self.again.clicked.connect(self.look)
        self.table.itemSelectionChanged.connect(self._enable)
        self.table.itemDoubleClicked.connect(lambda _item: self._send(self.opened))
        self.comparable = False
        self._enable()

    def set_folder(self, folder: Path) -> None:
        """Look into this folder."""
        self.folder = folder
        self.look()
        self.moved.emit(folder)

    def look(self) -> None:
        """Look into the folder again; the choice stays where it can."""
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
        """The recording selected, None when none is."""
        row = self.table.currentRow()
        return self.found[row].path if self.table.selectedItems() and 0 <= row < len(self.found) else None

    def select(self, path: Path | None) -> None:
        """Select a recording; none when it is not in the list."""
        self.table.clearSelection()
        for row, one in enumerate(self.found):
            if one.path == path:
                self.table.selectRow(row)
        self._enable()

    def set_comparable(self, comparable: bool) -> None:
        """Say whether there is an open recording to compare with."""
        self.comparable = comparable
        self._enable()

    def follow(self) -> None:
        """Keep up with the obstacle."""
        if self._obstacle() != self._shown_obstacle:
            self._enable()

    def save(self, settings: QtCore.QSettings) -> None:
        """Keep the folder, if somebody chose one."""
        if self._own_folder is not None:
            settings.setValue("recordings/folder", str(self._own_folder))

    def restore(self, settings: QtCore.QSettings) -> None:
        """Look into the folder that was kept, if it is still there."""
        kept = settings.value("recordings/folder")
        if isinstance(kept, str) and os.path.isdir(kept):  # raises for no text, unlike Path.is_dir
            self._choose_folder(Path(kept))

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
