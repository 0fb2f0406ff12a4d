"""Recordings: browse, open, replay in the live views, compare, export, report."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from html import escape
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from dynamics import Mechanism
from gui.live.compare_view import MOST, CompareView
from gui.live.film import FilmButton
from gui.live.live_view import LiveView
from gui.live.platform_view import PlatformView
from gui.live.plot_page import Plots
from gui.live.recording_list import RecordingList
from gui.live.replay import ReplayBar
from gui.live.timeline_bar import StateSpan, TimelineBar
from gui.models import Opened, Replay, Timeline, differences_text, numbers_of, open_with_numbers, outcome, side_by_side
from gui.scene import Shapes
from gui.session import ReportMaker, Worker
from gui.texts import fault_text, finding_text, mark, tr
from gui.widgets import ElidedLabel, Theme, ask_save, plain_tabs, put_tab, run_all
from rig.cell_models import recorded_coulomb_speed
from rig.recording import EventLevel, RecordedEvent, RecordingFile, caveats, write_rows_csv
from rig.runs import Listed
from rig.runtime import give_back_memory
from rig.states import enum_name


def plain_table(name: str) -> QtWidgets.QTableWidget:
    """Return a read-only table with an accessible name."""
    table = QtWidgets.QTableWidget(0, 0)
    table.setAccessibleName(name)
    table.setEditTriggers(QtWidgets.QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setAlternatingRowColors(True)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(24)
    return table


def fill_table(table: QtWidgets.QTableWidget, header: list[str], rows: list[list[str]], to_the_right: range) -> None:
    """Fill a table with texts under a header; right-aligns the columns `to_the_right`."""
    table.setColumnCount(len(header))
    table.setHorizontalHeaderLabels(header)
    table.setRowCount(len(rows))
    right = QtCore.Qt.AlignmentFlag.AlignRight | QtCore.Qt.AlignmentFlag.AlignVCenter
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            item = QtWidgets.QTableWidgetItem(text)
            if column in to_the_right:
                item.setTextAlignment(right)
            table.setItem(row, column, item)
    table.resizeColumnsToContents()


def show_events(table: QtWidgets.QTableWidget, events: Sequence[RecordedEvent], theme: Theme) -> None:
    """List events, with warnings and errors in colour."""
    rows = [
        [
            f"{event.t:.3f}",
            tr(enum_name(EventLevel, event.level).lower()),
            fault_text(event.code),
            event.text if event.finding is None else finding_text(event.finding),
        ]
        for event in events
    ]
    fill_table(table, [tr("Rig time, s"), tr("Level"), tr("Code"), tr("Text")], rows, range(0))
    table.setToolTip(tr("Double click, or Enter: show the curves there"))
    table.horizontalHeader().setStretchLastSection(True)
    for row, event in enumerate(events):
        if event.level > EventLevel.INFO:
            colour = theme.warning if event.level == EventLevel.WARNING else theme.error
            for column in range(table.columnCount()):
                table.item(row, column).setForeground(QtGui.QColor(colour))


class TimelineLink(QtCore.QObject):
    """Synchronises cursors and spans of a timeline and a live view.

    Args:
        timeline: always has its cursors.
        live: has cursors placed by clicks.
    """

    def __init__(self, timeline: TimelineBar, live: LiveView) -> None:
        super().__init__(live)
        self._timeline, self._live = timeline, live
        timeline.zoomed.connect(live.show_span)
        timeline.measured.connect(live.set_cursors)
        for page in live.pages.values():
            if isinstance(page, Plots):
                page.moved.connect(timeline.show_span)
                page.clicked.connect(self._clicked)

    def begin(self) -> None:
        """Reset the cursors for another recording."""
        self._live.set_cursors(None, None)

    def _clicked(self, _t: float) -> None:
        cursors = self._live.cursors
        a, b = self._timeline.cursors or (None, None)
        if cursors.a is not None:  # B may still follow the mouse, only in the curves
            a, b = cursors.a, cursors.b if cursors.fixed else b
        if a is not None and b is not None:
            self._timeline.show_cursors(a, b)


_PATIENCE = 5.0  # s to finish reading a file on close
_RELEASE_PERIOD = 1.0  # s, for which rows that were read stay in memory


class RecordingsView(QtWidgets.QWidget):
    """Browses a folder of recordings. A thread reads files, a process makes reports.

    The frame clock calls `refresh` while it is visible, which advances the replay; `close_worker` ends the thread.

    Args:
        theme: colours.
        clock: s, of the replay.
        show_file: opens a report; returns whether there is a program for it.
        obstacle: why CPU-heavy work is not allowed now, empty if it is.
        live: the curves; `build` then creates their pages and the other plots. None: everything is created at once.
    """

    refreshed = QtCore.Signal()
    """Emitted with each frame, for additional pages."""

    def __init__(
        self,
        theme: Theme,
        clock: Callable[[], float] = time.monotonic,
        show_file: Callable[[Path], bool] = lambda _path: False,
        obstacle: Callable[[], str] = lambda: "",
        live: LiveView | None = None,
    ) -> None:
        super().__init__()
        self.setAccessibleName(tr("Recordings"))
        self._theme = theme
        self._clock = clock
        self._show_file = show_file
        self._obstacle = obstacle
        self._worker = Worker("recordings", self)
        self._open = partial(open_with_numbers, numbers=partial(self._worker.compute, numbers_of))
        self._reports = ReportMaker(self)
        self._reports.finished.connect(self._reported)
        self._mechanism: Mechanism | None = None
        self.opened: Opened | None = None
        self.compared: list[Opened] = []
        """What is compared: the open recording and another, or runs."""
        self._names: list[str] = []
        self._first: tuple[Opened, str] | None = None
        """The open recording, or the run at which it was opened, and its name."""
        self.replay: Replay | None = None
        self._released_at = 0.0
        self.list = RecordingList(obstacle)
        self.live = live or LiveView(theme, replayed=True, whole=False)
        self.platform = PlatformView(theme)
        self.film = FilmButton(self.platform, obstacle, self)
        self.compare = CompareView(theme, whole=False)
        self.numbers = plain_table(tr("Results of the recordings"))
        self.events = plain_table(tr("Events of the recording"))
        self.bar = ReplayBar()
        self.timeline = TimelineBar(theme)
        self.title = QtWidgets.QLabel(tr("Choose a recording below and open it"))
        self.title.setAccessibleName(tr("Recording shown"))
        self.note = ElidedLabel()
        self.note.setAccessibleName(tr("Message"))
        self.note.setAlignment(QtCore.Qt.AlignmentFlag.AlignRight)
        self.tabs = plain_tabs(tr("Views of the recording"))
        for name, page in {
            mark("Files"): self.list,
            mark("Curves"): self.live,
            mark("Platform"): self.platform,
            mark("Compare"): self.compare,
            mark("Numbers"): self.numbers,
            mark("Events"): self.events,
        }.items():
            put_tab(self.tabs, page, name)
        self._lay_out()
        self.film.reported.connect(self._set_message)
        self.film.began.connect(self.bar.show_position)
        self.timeline.clicked.connect(self._seek)
        self.timeline.flagged.connect(self._jump_to_event)
        self.events.itemActivated.connect(lambda item: self._jump_to_event(item.row()))
        self.list.opened.connect(self.open)
        self.list.compared.connect(self.compare_with)
        self.list.exported.connect(self._ask_export)
        self.list.reported.connect(self.make_report)
        if live is None:
            run_all(self.build())

    def build(self) -> Iterator[None]:
        """Create the plots one by one."""
        yield from self.live.build()
        self._link = TimelineLink(self.timeline, self.live)
        yield from self.compare.build()

    def _lay_out(self) -> None:
        heading = QtWidgets.QHBoxLayout()
        heading.setContentsMargins(6, 4, 6, 0)
        heading.addWidget(self.title)
        heading.addWidget(self.note, 1)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(heading)
        layout.addWidget(self.tabs, 1)
        layout.addWidget(self.timeline)
        layout.addWidget(self.bar)

    def set_folder(self, folder: Path) -> None:
        """Browse this folder."""
        self.list.set_folder(folder)

    def set_mechanism(self, mechanism: Mechanism | None) -> None:
        """Set the mechanism of recordings without their own."""
        self._mechanism = mechanism

    def set_shapes(self, shapes: Shapes) -> None:
        """Set custom meshes for recordings of the current mechanism."""
        self.live.set_shapes(shapes)
        self.platform.set_shapes(shapes)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        for view in (self.live, self.platform, self.compare, self.timeline):
            view.set_theme(theme)
        self._show_events()

    def save(self, settings: QtCore.QSettings) -> None:
        """Save the chosen folder, the replay speed and the layout of the views."""
        self.list.save(settings)
        self.bar.save(settings)
        self.live.save(settings, "recordings")
        self.platform.save(settings, "recordings/platform")

    def restore(self, settings: QtCore.QSettings) -> None:
        """Restore what was saved."""
        self.list.restore(settings)
        self.bar.restore(settings)
        self.live.restore(settings, "recordings")
        self.platform.restore(settings, "recordings/platform")

    def refresh(self, _history: Timeline) -> None:
        """Advance the replay to the clock's present and show it; ignores the live history."""
        self.list.follow()
        self.refreshed.emit()
        if self.replay is None:
            return
        self._release_memory()
        if self.replay.playing:
            self.replay.advance(self._clock())
            self.bar.show_position()
        self.timeline.set_present(self.replay.position)
        for view in (self.live, self.platform):
            if view.isVisible():
                view.refresh(self.replay.excerpt)

    def _release_memory(self) -> None:
        """Release the memory of rows that were read, once a period, in 1 ms: the views have what they draw."""
        now = self._clock()
        if self.opened is not None and not 0.0 <= now - self._released_at < _RELEASE_PERIOD:
            self._released_at = now
            self.opened.release()
            give_back_memory()

    def open(self, path: Path, run: Listed | None = None) -> None:
        """Open a recording and replay it from the beginning of its motion, or of one of its runs.

        For a run, the curves show its span, and Numbers and Compare show the run alone.
        """
        self._set_message(tr("Opening {name} …").format(name=path.name))
        obstacle = self._obstacle()

        def job() -> tuple[Opened, Opened | None]:
            whole = self._open(path, obstacle)
            if run is None:
                return whole, None
            return whole, self._open(path.with_name(run.run.id), obstacle, replayed=False)

        def opened(found: tuple[Opened, Opened | None] | None, failure: Exception | None) -> None:
            whole, part = found or (None, None)
            self._show_opened(whole, failure, part, "" if run is None else _called(run))
            self._worker.submit(give_back_memory, lambda _none, _failure: None)  # that of the previous recording
            if whole is not None and run is not None:
                # a run in progress is shown up to its last row
                self._show_span(run.run.begin, math.inf if run.run.end is None else run.run.end)

        self._worker.submit(job, opened)

    def compare_runs(self, folder: Path, runs: Sequence[Listed]) -> None:
        """Overlay runs of a folder's recordings, and show how they differ."""
        names = [_called(one) for one in runs[:MOST]]
        self._set_message(tr("Opening {names} …").format(names=", ".join(names)))

        def job() -> tuple[list[Opened], str]:
            opened = [self._open(folder / one.run.id, self._obstacle(), replayed=False) for one in runs[:MOST]]
            return opened, self._worker.compute(differences_text, runs[:MOST])

        more = tr("At most {most} runs can be overlaid").format(most=MOST) if len(runs) > MOST else ""
        self._worker.submit(job, partial(self._show_compared, names, more))

    def compare_with(self, path: Path) -> None:
        """Overlay a recording on the open one."""
        self._set_message(tr("Opening {name} …").format(name=path.name))
        self._worker.submit(partial(self._open, path, self._obstacle(), replayed=False), self._show_second)

    def export_to(self, recording: Path, target: Path) -> None:
        """Write a recording's rows as CSV, unless there is an obstacle."""
        if self._obstacle():
            self._set_message(tr("No CSV: {obstacle}").format(obstacle=self._obstacle()))
            return
        self._set_message(tr("Writing {name} …").format(name=target.name))

        def job() -> None:
            write_rows_csv(RecordingFile(recording), target)

        self._worker.submit(
            job, lambda _none, failure: self._set_message(outcome(failure, tr("Saved {name}").format(name=target.name)))
        )

    def make_report(self, path: Path) -> None:
        """Make a recording's report next to it and open it, unless there is an obstacle."""
        if self._obstacle():
            self._set_message(tr("No report: {obstacle}").format(obstacle=self._obstacle()))
            return
        if self._reports.busy:
            self._set_message(tr("A report is already being made"))
            return
        self._set_message(tr("Making the report of {name} …").format(name=path.name))
        self._reports.make([path])

    def close_worker(self) -> None:
        """End the threads, and cancel a video and a report in progress. May be called again."""
        self.film.stop()
        self._worker.finish()
        self._worker.join(_PATIENCE)
        self.live.close_worker()
        self.platform.close_worker()
        self._reports.close()

    def showEvent(self, event: QtCore.QEvent) -> None:
        """Reread the folder whenever the page is shown."""
        super().showEvent(event)
        self.list.reload()

    def _show_opened(self, opened: Opened | None, failure: Exception | None, run: Opened | None, called: str) -> None:
        if opened is None:
            self._set_message(outcome(failure, ""))
            return
        self.opened, self.compared, self._names = opened, [run or opened], [called or opened.name]
        self._first = (self.compared[0], self._names[0])
        recording = opened.recording
        self.replay = opened.replay
        mechanism = opened.mechanism or self._mechanism
        sensors = tuple(recording.sensors.values())
        self.live.set_sensors([series.channels for series in sensors], lambda: sensors)
        self.live.set_mechanism(mechanism, recorded_coulomb_speed(recording.header))
        self.platform.set_mechanism(mechanism)
        self.replay.seek(opened.begin)
        for view in (self.live, self.platform):
            view.refresh(self.replay.excerpt)
        self.live.fit()
        self.live.show_around(opened.begin)
        self.bar.set_replay(self.replay)
        self.film.allow(self.replay, Path(opened.name).stem, recording.motions)
        lasting = [StateSpan(one["state"], one["begin_s"], one["end_s"]) for one in opened.summary["states"]]
        self._link.begin()
        self.timeline.show_recording(lasting, recording.events, self.replay.begin, self.replay.end)
        self.title.setText(f"<b>{escape(opened.name)}</b>")
        self.list.set_comparable(True)
        if self.tabs.currentWidget() is self.list:
            self.tabs.setCurrentWidget(self.live)
        self._show_events()
        self._show_numbers()
        notes = [tr("This recording is {caveat}").format(caveat=caveat) for caveat in caveats(recording)]
        if opened.every > 1:
            notes.append(
                tr("Long recording: one in {every} cycles is replayed; Numbers and Compare use all").format(
                    every=opened.every
                )
            )
        self._set_message("; ".join(notes))

    def _show_second(self, second: Opened | None, failure: Exception | None) -> None:
        if second is None:
            self._set_message(outcome(failure, ""))
            return
        if self._first is not None:
            first, called = self._first
            self.compared, self._names = [first, second], [called, second.name]
        self._show_numbers()
        self.tabs.setCurrentWidget(self.compare)
        self._set_message(
            "; ".join(
                tr("{name} is {caveat}").format(name=second.name, caveat=caveat) for caveat in caveats(second.recording)
            )
        )

    def _show_compared(
        self, names: list[str], left_out: str, found: tuple[list[Opened], str] | None, failure: Exception | None
    ) -> None:
        if found is None:
            self._set_message(outcome(failure, ""))
            return
        (self.compared, text), self._names = found, names
        self._show_numbers()
        self.compare.set_message(text)
        self.tabs.setCurrentWidget(self.compare)
        self._set_message(left_out)

    def _show_span(self, begin: float, end: float) -> None:
        """Show the curves of a part of the open recording."""
        if self.replay is None:
            return
        end = min(end, self.replay.end)
        self.replay.pause()
        self.replay.seek(begin)
        self.bar.show_position()
        self.timeline.measure(begin, end)
        self.timeline.zoom_to(begin, end)
        self.tabs.setCurrentWidget(self.live)

    def _show_numbers(self) -> None:
        shown, names = self.compared, self._names
        header = [tr("Quantity"), tr("Unit"), *names, *([tr("Difference")] if len(shown) == 2 else [])]
        fill_table(self.numbers, header, side_by_side([opened.summary for opened in shown]), range(2, len(header)))
        self.compare.show_recordings(names, [opened.outlines for opened in shown], [opened.begin for opened in shown])

    def _show_events(self) -> None:
        show_events(self.events, self.opened.recording.events if self.opened is not None else (), self._theme)

    def _jump_to_event(self, row: int) -> None:
        """Seek the replay to an event and show the curves around it."""
        if self.opened is None or self.replay is None:
            return
        self.replay.pause()
        self.replay.seek(self.opened.recording.events[row].t)
        self.bar.show_position()
        self.live.show_around(self.replay.position)
        self.tabs.setCurrentWidget(self.live)

    def _seek(self, t: float) -> None:
        if self.replay is not None:
            self.replay.seek(t)
            self.bar.show_position()

    def _ask_export(self, path: Path) -> None:
        target = ask_save(self, tr("Export rows"), str(path.with_suffix(".csv")), tr("Tables (*.csv)"), ".csv")
        if target is not None:
            self.export_to(path, target)

    def _reported(self, path: str, fault: str) -> None:
        if fault:
            self._set_message(tr("No report: {fault}").format(fault=fault))
        elif self._show_file(Path(path)):
            self._set_message(tr("Report: {name}").format(name=Path(path).name))
        else:
            self._set_message(tr("Report: {path} (there is no browser to open it)").format(path=path))

    def _set_message(self, text: str) -> None:
        self.note.setText(text)
        self.note.setToolTip(text)


def _called(run: Listed) -> str:
    return f"{run.name} ({run.run.id})"
