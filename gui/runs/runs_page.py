"""The list of runs of all recordings in a folder."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.models import JudgedBy, figure_text, run_obstacles, runs_found, stop_text, verdict_style
from gui.runs.run_desk import RunJudge
from gui.session import Worker
from gui.texts import mark, tr
from gui.widgets import ElidedLabel, FlowLayout, GuardedButton, set_icon
from rig.runs import Catalogue, Listed

_COLUMNS = (
    "★", tr("Run"), tr("Begun"), tr("Size"), tr("Verdict"), tr("Residual, N"), tr("Position, µm"), tr("Outcome"),
    tr("Operator"), tr("Note"), tr("Injected"), "",
)  # fmt: skip
_STAR, _NAME, _NOTE, _OPEN = 0, 1, 9, 11
_EDITED = {_NAME: "name", _NOTE: "note"}
_RUN = QtCore.Qt.ItemDataRole.UserRole


class RunsPage(QtWidgets.QWidget):
    """Runs, newest first: search, name, note, star, judge, open, compare.

    Signals: `opened(Listed)`, `reported(list of FILE#ID with their folder)`, `printed` likewise, `compared(list of
    Listed)`.

    Args:
        obstacle: why CPU-heavy work is not allowed now, empty if it is.
    """

    opened = QtCore.Signal(object)
    reported = QtCore.Signal(list)
    printed = QtCore.Signal(list)
    compared = QtCore.Signal(list)

    def __init__(self, obstacle: Callable[[], str] = lambda: "") -> None:
        super().__init__()
        self.setAccessibleName(tr("Runs"))
        self._obstacle = obstacle
        self.judged_by: Callable[[], JudgedBy] = JudgedBy
        """Returns the thresholds of the displayed verdicts."""
        self.not_recorded: Callable[[], str] = lambda: ""
        """Returns why nothing is being recorded; empty if something is, or need not be."""
        self._lost = ""
        """The same reason as last listed."""
        self.folder = Path("recordings")
        self._worker = Worker("list of runs", self)
        self._reload_count = 0
        self._late = False
        """Whether new results wait until the user stops typing or moves the pointer off the list."""
        self._failure = ""
        """Why the last change was refused."""
        self.judge = RunJudge(self)
        self.judge.judged.connect(self._judged)
        self.listed: list[Listed] = []
        self.search = QtWidgets.QLineEdit()
        self.search.setAccessibleName(tr("Search the runs"))
        self.search.setPlaceholderText(tr("Search: name, operator, note, injected, outcome, verdict"))
        self.search.textChanged.connect(lambda _text: self._fill())
        self.starred = QtWidgets.QCheckBox(tr("Starred only"))
        self.starred.toggled.connect(lambda _on: self._fill())
        self.message = ElidedLabel()
        self.message.setAccessibleName(tr("Message on the runs"))
        self.table = QtWidgets.QTableWidget(0, len(_COLUMNS))
        self.table.setAccessibleName(tr("Runs"))
        self.table.setHorizontalHeaderLabels(_COLUMNS)
        self.table.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setEditTriggers(QtWidgets.QAbstractItemView.EditTrigger.EditKeyPressed)
        self.table.setAlternatingRowColors(True)
        self.table.setWordWrap(False)
        self.table.verticalHeader().hide()
        self.table.viewport().installEventFilter(self)
        self.table.itemSelectionChanged.connect(self.follow)
        self.table.cellClicked.connect(self._clicked)
        self.table.cellDoubleClicked.connect(self._double_clicked)
        self.table.itemChanged.connect(self._edited)
        self.table.itemDelegate().closeEditor.connect(self._typed)
        self.buttons = {
            name: GuardedButton(tr(name), hint)
            for name, hint in (
                (mark("Open"), tr("Show the curves of this run")),
                (mark("Compare"), tr("Overlay the runs, and compare their results side by side")),
                (mark("Judge"), tr("Compute results and verdicts of the selected runs, in a separate process")),
                (mark("Report"), tr("Make the report of this run, or a comparison of several, and open it")),
                (mark("PDF"), tr("Make the same report as PDF to print and sign, and open it")),
                (mark("Rename"), tr("Rename the run; its recording is not changed")),
                (mark("Note"), tr("Edit the note on the run; its recording is not changed")),
                (mark("Star"), tr("Star or unstar the runs")),
            )
        }
        for name, button in self.buttons.items():
            set_icon(button, name.lower())
        acts: Mapping[str, Callable[[], None]] = {
            "Open": self._open,
            "Compare": lambda: self.compared.emit(self.chosen[::-1]),
            "Judge": self._judge,
            "Report": lambda: self.reported.emit(self._names),
            "PDF": lambda: self.printed.emit(self._names),
            "Rename": lambda: self._edit(_NAME),
            "Note": lambda: self._edit(_NOTE),
            "Star": self._star,
        }
        for name, act in acts.items():
            self.buttons[name].clicked.connect(lambda _checked=False, act=act: act())
        self._lay_out()

    def _lay_out(self) -> None:
        top = QtWidgets.QHBoxLayout()
        top.addWidget(self.search, 1)
        top.addWidget(self.starred)
        row = FlowLayout()
        for button in self.buttons.values():
            row.addWidget(button)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.addLayout(top)
        layout.addWidget(self.table, 1)
        layout.addLayout(row)
        layout.addWidget(self.message)

    def set_folder(self, folder: Path) -> None:
        """List the runs of this folder's recordings."""
        if folder != self.folder:
            self.folder, self.listed = folder, []
            self._fill()
        self.reload()

    def reload(self) -> None:
        """Reread the folder in a thread; keeps the selection if possible."""
        if not self.listed:
            self._set_message(tr("Reading the recordings …"))
        self._reload_count += 1
        count, folder, by = self._reload_count, self.folder, self.judged_by()

        def job() -> tuple[list[Listed], list[str]] | None:
            if count != self._reload_count:
                return None
            if not folder.is_dir():  # the folder was deleted
                return [], []
            catalogue = Catalogue(folder)
            return [by.verdict_on(one) for one in catalogue.runs()], catalogue.unreadable

        self._worker.submit(job, self._loaded)

    @property
    def chosen(self) -> list[Listed]:
        """Return the selected runs in list order: newest first."""
        shown = {index.siblingAtColumn(_NAME).data(_RUN) for index in self.table.selectionModel().selectedRows()}
        return [one for one in self.listed if one.run.id in shown]

    @property
    def _names(self) -> list[str]:
        """Return the selected runs as commands take them, oldest first."""
        return [str(self.folder / one.run.id) for one in self.chosen[::-1]]

    def follow(self) -> None:
        """Update what is possible now, and the state of the recording."""
        if self._lost != (lost := self.not_recorded()):
            self._lost = lost
            self.reload()
        for name, reason in run_obstacles(self.chosen, judging=self.judge.busy, heavy=self._obstacle()).items():
            if self.buttons[name].obstacle != reason or self.buttons[name].isEnabled() == bool(reason):
                self.buttons[name].set_obstacle(reason)

    def close_worker(self) -> None:
        """End the thread, and cancel judging. May be called again."""
        self._reload_count += 1
        self.judge.close()
        self._worker.finish()
        self._worker.join(5.0)

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        """Reread the folder whenever the page is shown."""
        super().showEvent(event)
        self.reload()

    # -- display -----------------------------------------------------------------------------------------------------

    def _loaded(self, found: tuple[list[Listed], list[str]] | None, error: Exception | None) -> None:
        if self.table.state() == QtWidgets.QAbstractItemView.State.EditingState:
            self._late = True  # moved rows would redirect the typed text to another run
            return
        if found is not None:
            listed, unreadable = found
            if self.table.viewport().underMouse() and self.listed and _ids(listed) != _ids(self.listed):
                self._late = True  # rows under the pointer must not move before a click
                self._set_message(tr("The folder has changed: the list is updated when the pointer leaves it."))
                return
            self.listed = listed
            left_out = tr("Left out: {recording}").format(recording=unreadable[0]) if unreadable else ""
            typed = tr("Verdicts use the thresholds typed on the card") if self.judged_by().typed else ""
            none = "" if self.listed else tr("No runs in this folder yet. Runs are listed here.")
            lost = tr("Nothing is being recorded: {reason}.").format(reason=self._lost) if self._lost else ""
            self._set_message(lost or self._failure or left_out or none or typed)
            self._fill()
        elif error is not None:
            self._set_message(str(error))

    def eventFilter(self, receiver: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """List pending results once the pointer has left the list."""
        if event.type() == QtCore.QEvent.Type.Leave:
            self._typed()
        return bool(super().eventFilter(receiver, event))

    def _fill(self) -> None:
        chosen = {one.run.id for one in self.chosen}
        shown = runs_found(self.listed, self.search.text(), starred=self.starred.isChecked())
        with QtCore.QSignalBlocker(self.table):
            self.table.clearSelection()
            self.table.setRowCount(len(shown))
            for row, one in enumerate(shown):
                self._fill_row(row, one)
            self.table.resizeColumnsToContents()
            for column, most in ((_NAME, 220), (_NOTE, 260), (_OPEN - 1, 220)):
                self.table.setColumnWidth(column, min(most, max(90, self.table.columnWidth(column))))
            selection, model = QtCore.QItemSelection(), self.table.model()
            for row, one in enumerate(shown):
                if one.run.id in chosen:
                    selection.select(model.index(row, 0), model.index(row, _OPEN))
            self.table.selectionModel().select(selection, QtCore.QItemSelectionModel.SelectionFlag.Select)
        self.follow()

    def _fill_row(self, row: int, one: Listed) -> None:
        run = one.run
        begun = "" if run.begun is None else f"{datetime.fromisoformat(run.begun).astimezone():%Y-%m-%d %H:%M:%S}"
        size = "" if run.amplitude is None else f"{100 * run.amplitude:g} %"
        size += "" if one.speed is None else tr(", {part:.0f} % speed").format(part=100 * one.speed)
        style = verdict_style(one.verdict)
        verdict = "" if one.numbers is None else f"{style.mark} {style.word.lower()}"
        figures = [figure_text(one.numbers, place)[0] for place in (0, 1)]
        outcome = run.outcome + (f": {stop_text(run.cause, run.finding)}" if run.cause else "")
        star = "★" if one.entry.starred else "☆"
        details = (outcome, run.operator, one.note, "; ".join(run.injected))
        texts = (star, one.name, begun, size, verdict, *figures, *details, tr("Open"))
        for column, text in enumerate(texts):
            item = QtWidgets.QTableWidgetItem(text)
            item.setData(_RUN, run.id)
            flags = QtCore.Qt.ItemFlag.ItemIsSelectable | QtCore.Qt.ItemFlag.ItemIsEnabled
            item.setFlags(flags | QtCore.Qt.ItemFlag.ItemIsEditable if column in _EDITED else flags)
            if column in (3, 5, 6):
                item.setTextAlignment(QtCore.Qt.AlignmentFlag.AlignRight | QtCore.Qt.AlignmentFlag.AlignVCenter)
            if column == _OPEN:
                item.setForeground(self.palette().link())
                item.setToolTip(tr("Show the curves of this run"))
            elif column == 2:
                item.setToolTip(run.id)
            else:
                item.setToolTip(text)
            self.table.setItem(row, column, item)

    def _set_message(self, text: str) -> None:
        self.message.setText(text.splitlines()[0] if text else "")
        self.message.setToolTip(text)

    # -- actions -----------------------------------------------------------------------------------------------------

    def _clicked(self, row: int, column: int) -> None:
        if column == _OPEN:
            self.table.selectRow(row)
            self._open()
        elif column == _STAR:
            self._change(str(self.table.item(row, _NAME).data(_RUN)), starred=self.table.item(row, _STAR).text() == "☆")

    def _double_clicked(self, row: int, column: int) -> None:
        if column in _EDITED:
            self.table.editItem(self.table.item(row, column))
        elif column != _STAR:
            self._open()

    def _open(self) -> None:
        if len(self.chosen) == 1:
            self.opened.emit(self.chosen[0])

    def _edit(self, column: int) -> None:
        row = self.table.selectionModel().selectedRows()[0].row()
        self.table.editItem(self.table.item(row, column))

    def _typed(self) -> None:
        if self._late:
            self._late = False
            QtCore.QTimer.singleShot(0, self.reload)  # after the table has closed its editor

    def _edited(self, item: QtWidgets.QTableWidgetItem) -> None:
        if item.column() in _EDITED:
            text = item.text().strip()
            self._change(str(item.data(_RUN)), **{_EDITED[item.column()]: text or None})

    def _star(self) -> None:
        starred = not all(one.entry.starred for one in self.chosen)
        for one in self.chosen:
            self._change(one.run.id, starred=starred)

    def _change(self, run: str, **changes: object) -> None:
        folder = self.folder

        def done(_listed: Listed | None, error: Exception | None) -> None:
            self._failure = "" if error is None else str(error)
            self.reload()

        self._worker.submit(partial(Catalogue(folder).change, run, changes), done)

    def _judge(self) -> None:
        self.judge.start(self.folder, [one.run.id for one in self.chosen])
        self._set_message(tr("Computing results …"))
        self.follow()

    def _judged(self, _runs: list[object], reason: str) -> None:
        self._failure = tr("Not judged: {reason}").format(reason=reason) if reason else ""
        self.reload()


def _ids(runs: list[Listed]) -> list[str]:
    return [one.run.id for one in runs]
