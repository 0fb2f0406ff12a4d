"""The tab Motion: compose or open a motion, preview it, run it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.models import NEW_PARTS, MotionRun, Preview, lacking, new_part, preview_motion, shipped_motion, verdict_of
from gui.motion.document import DocumentControl
from gui.motion.editor import MotionEditor
from gui.motion.edits import Edits
from gui.motion.preview_views import PreviewViews
from gui.motion.template_page import TemplatePage
from gui.motion.transport import TransportBar
from gui.scene import Figure
from gui.session import Mover, RigSession, Worker
from gui.texts import tr
from gui.widgets import ElidedLabel, GuardedButton, TextRoom, Theme, WholeNumber, field_refusal, set_icon
from rig.client import WINDOW_BOUND, size_class
from rig.errors import HardwareError
from rig.findings import Finding
from rig.runtime import CallProcess

_COMPLETED_WITHIN = 0.8 * WINDOW_BOUND  # s, for which the window's thread gives no heartbeat
_LONGEST = 1000  # characters, as in recordings


class RunNotes(QtWidgets.QWidget):
    """Two fields: the operator, for every following recording, and a note on the next runs."""

    operator_changed = QtCore.Signal(str)
    note_changed = QtCore.Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.operator, self.note = QtWidgets.QLineEdit(), QtWidgets.QLineEdit()
        layout = QtWidgets.QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        hints = (
            tr("Operator of the rig: stored in recordings from Connect on"),
            tr("For the following runs: stored next to the recording; can be changed later"),
        )
        fields = (
            (self.operator, tr("Operator"), self.operator_changed, 1),
            (self.note, tr("Note"), self.note_changed, 2),
        )
        for (field, name, changed, stretch), hint in zip(fields, hints, strict=True):
            field.setMaxLength(_LONGEST)
            field.setAccessibleName(name)
            field.setPlaceholderText(name)
            field.setToolTip(hint)
            field.textChanged.connect(changed)
            layout.addWidget(field, stretch)

    def save(self, settings: QtCore.QSettings) -> None:
        """Save the operator."""
        settings.setValue("operator", self.operator.text())

    def restore(self, settings: QtCore.QSettings) -> None:
        """Restore the operator."""
        self.operator.setText(str(settings.value("operator", "")))


_LINES = 2
"""Visible lines; longer text scrolls."""


class VerdictLabel(TextRoom):
    """The verdict on the edited motion; a refusal is shown above it until the motion changes."""

    def __init__(self) -> None:
        self._label = QtWidgets.QLabel()
        super().__init__(self._label, _LINES)
        self._label.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
        self._label.setAccessibleName(tr("Verdict of the check"))
        self.refused = ""
        self._role, self._verdict = "muted", ""

    def judge(self, role: str, text: str) -> None:
        """Show a verdict in its role's colour."""
        self._role, self._verdict = role, text
        self._write()

    def refuse(self, reason: str) -> None:
        """Show why a motion was not opened; the current one stays, with its verdict."""
        self.refused = reason
        self._write()

    def text(self) -> str:
        """The displayed text."""
        return str(self._label.text())

    def _write(self) -> None:
        self.show_text(
            tr("✗ {reason}\nThe motion shown stays: {verdict}").format(reason=self.refused, verdict=self._verdict)
            if self.refused
            else self._verdict
        )
        self._label.setObjectName("warning" if self.refused else self._role)
        self._label.style().unpolish(self._label)
        self._label.style().polish(self._label)


_EDIT_PAUSE = 250  # ms without a change before a motion is previewed
_BEING_CHECKED = tr("being checked")
_ICONS = ("", "", "", "open", "save", "save as")  # icons of the load and save buttons; more do not fit


class MotionPanel(QtWidgets.QWidget):
    """Form or templates on the left, preview on the right, size and number of runs below.

    Args:
        session: the rig.
        mover: sends motions.
        theme: colours of the plots.
    """

    def __init__(
        self, session: RigSession, mover: Mover, theme: Theme, parent: QtWidgets.QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self.mover = mover
        self._worker = Worker("preview", self)
        self._version = 0
        self._plate = Figure(session.config.machine).platform_ring
        self.model = MotionRun()
        self.editor = MotionEditor()
        self.editor.size = size_class(session.config)
        self.amplitude = self.editor.amplitude
        self.document = DocumentControl(session, self.editor, self._worker, self._complete, self)
        self.templates = TemplatePage(session.config, self._plate, self._worker)
        self.sights = PreviewViews(session.config, theme)
        self._changed = QtCore.QTimer(self)
        self._changed.setSingleShot(True)
        self._changed.setInterval(_EDIT_PAUSE)
        self._changed.timeout.connect(self._preview)
        self.verdict = VerdictLabel()
        self.transport = TransportBar(session, mover)
        """Placed by the owner, always visible."""
        self.run, self.progress, self.phase = self.transport.run, self.transport.progress, self.transport.phase
        self.pause, self.resume = self.transport.pause, self.transport.resume
        self.abandon, self.hold = self.transport.abandon, self.transport.hold
        self.run.clicked.connect(self._run)
        self.words = RunNotes()
        self.edits = Edits(self.editor.value, self.editor.restore, self.editor, (self.amplitude,))
        self._lay_out()
        self.editor.edited.connect(self._edited)
        self.document.title_changed.connect(self._show_title)
        self.document.refused.connect(self.verdict.refuse)
        self.document.opened.connect(self.edits.clear)
        self.document.saved.connect(self.edits.stack.setClean)  # a later change is a new step
        self.document.commit_requested.connect(self.edits.commit)
        self.document.opened.connect(self.templates.leave)
        self.templates.made.connect(self._take_template)
        self.templates.seen.connect(self._display_template)
        self.templates.closed.connect(self._end_template)
        session.changed.connect(self.refresh)
        mover.progressed.connect(self._progressed)
        mover.finished.connect(self._finished)
        self.load_shipped("demo")

    # -- layout ------------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self._title = ElidedLabel()
        self._title.setObjectName("heading")
        self._title.setAccessibleName(tr("Motion shown"))
        self.name = QtWidgets.QLineEdit()
        self.name.setMaxLength(200)
        self.name.setAccessibleName(tr("Name of the motion"))
        self.name.setToolTip(tr("Name of its runs and of its file"))
        self.name.editingFinished.connect(self._named)
        heading = QtWidgets.QHBoxLayout()
        heading.addWidget(self._title, 3)
        heading.addWidget(self.name, 2)
        composing = QtWidgets.QWidget()
        column = QtWidgets.QVBoxLayout(composing)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(heading)
        for row in self._source_rows():
            column.addLayout(row)
        column.addWidget(self.editor, 1)
        self._left = QtWidgets.QStackedWidget()
        self._left.addWidget(composing)
        self._left.addWidget(self.templates)
        self._left.setContentsMargins(6, 6, 6, 6)
        right = QtWidgets.QWidget()
        column = QtWidgets.QVBoxLayout(right)
        column.setContentsMargins(6, 6, 6, 6)
        column.addWidget(self.sights, 1)
        column.addWidget(self.verdict)
        self.splitter = QtWidgets.QSplitter()
        self.splitter.addWidget(self._left)
        self.splitter.addWidget(right)
        self.splitter.setStretchFactor(0, 0)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setSizes([400, 590])
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 4)
        layout.addWidget(self.splitter, 1)
        layout.addLayout(self._size_row())

    def _named(self) -> None:
        if self.name.isModified():  # without typing, a field that only loses the focus may show the motion before
            self.name.setModified(False)  # from now on it follows the document
            self.document.rename(self.name.text())

    def _show_title(self, title: str) -> None:
        self._title.setText(title)
        if not (self.name.hasFocus() and self.name.isModified()):  # the typed name is not committed yet
            self.name.setText(self.document.state.name)
        self._show_what_runs()

    def _source_rows(self) -> list[QtWidgets.QHBoxLayout]:
        sources, files = QtWidgets.QHBoxLayout(), QtWidgets.QHBoxLayout()
        document, confirm_discard = self.document, self.confirm_discard
        demo = tr("The built-in motion: 20 s over all six axes")
        csv = tr("A motion file (TOML), or a CSV of poses")
        kinds, own = tr("Sine, sweep, circle, step, random, multisine, CSV"), tr("A small first motion")
        kept, other = tr("Save this motion in its file (Ctrl+S)"), tr("Save this motion as another TOML file")
        acts: tuple[tuple[QtWidgets.QHBoxLayout, str, str, str, Callable[[], object]], ...] = (
            (sources, tr("Demo"), tr("Demo motion"), demo, lambda: confirm_discard(lambda: self.load_shipped("demo"))),
            (sources, tr("New"), tr("New motion"), own, lambda: confirm_discard(self.begin_new)),
            (sources, tr("From template …"), tr("From template motion"), kinds, self.begin_template),
            (sources, tr("Open …"), tr("Open motion"), csv, self.open),
            (files, tr("Save"), tr("Save motion"), kept, document.save),
            (files, tr("Save as …"), tr("Save as motion"), other, document.save_as),
        )
        for (row, text, name, hint, act), meaning in zip(acts, _ICONS, strict=True):
            button = QtWidgets.QPushButton(text)
            if meaning:
                set_icon(button, meaning)
            button.setToolTip(hint)
            button.setAccessibleName(name)
            button.clicked.connect(lambda _checked=False, act=act: act())
            row.addWidget(button)
        files.addWidget(self.edits.undo_button, 1)
        files.addWidget(self.edits.redo_button, 1)
        QtWidgets.QShortcut(QtGui.QKeySequence("Ctrl+S"), self.editor).activated.connect(document.save)
        return [sources, files]

    def _size_row(self) -> QtWidgets.QHBoxLayout:
        self.repeats = WholeNumber(tr("Number of repetitions of the motion"), 1, 1, 1000)
        self.repeats.setSuffix(" ×")
        self.repeats.changed.connect(self._show_what_runs)
        self.repeats.changed.connect(self.refresh)
        largest = tr("Use the largest passing amplitude")
        self.fit = GuardedButton(tr("Largest passing size"), largest)
        self.fit.clicked.connect(lambda: self.amplitude.set_si(self.model.largest(self.amplitude.known())))
        row = QtWidgets.QHBoxLayout()
        row.setContentsMargins(6, 0, 6, 0)
        row.addWidget(QtWidgets.QLabel(tr("Repeat")))
        row.addWidget(self.repeats)
        row.addWidget(QtWidgets.QLabel(tr("Amplitude")))
        row.addWidget(self.amplitude)
        row.addWidget(self.fit)
        row.addStretch(1)
        row.addWidget(self.words, 4)
        return row

    # -- selecting a motion ------------------------------------------------------------------------------------------

    def load_shipped(self, name: str) -> None:
        """Open a shipped motion."""
        self.document.show(name, shipped_motion(name), Path())

    def begin_new(self) -> None:
        """Start a new motion."""
        part = new_part(next(iter(NEW_PARTS)), self.editor.size)
        self.document.show("new motion", {"frame": "home", "pivot": [0.0] * 3, "parts": [part]}, Path())

    def begin_template(self) -> None:
        """Show the templates in place of the form; *Run* is disabled meanwhile."""
        self._left.setCurrentIndex(1)
        self.model.template = ("", Preview())
        self.templates.begin()
        self._display_template(self.templates.name, Preview(fault=_BEING_CHECKED, pending=True))

    def _end_template(self) -> None:
        if self._left.currentIndex():
            self._left.setCurrentIndex(0)
            self.model.template = None
            self._display(self.preview)
            self._show_what_runs()
            self.refresh()

    def _display_template(self, name: str, preview: Preview) -> None:
        """Show the preview of a template, unless the page was left meanwhile."""
        if self.model.template is not None:
            self.model.template = (name, preview)
            self._display(preview)
            self._show_what_runs()
            self.refresh()

    @property
    def preview(self) -> Preview:
        """The preview of the edited motion."""
        return self.model.preview

    def _take_template(self, name: str, motion: Any) -> None:
        self.confirm_discard(lambda: self.document.show(name, motion, Path(), made=True))

    def load_file(self, path: Path) -> None:
        """Open a motion file; on failure the current motion stays, with the reason above its verdict."""
        self.templates.leave()
        self.document.load(path)

    def save_file(self, path: Path) -> None:
        """Write the motion as a TOML file and name it after the file; shows a failure."""
        self.document.save_to(path)

    @property
    def title(self) -> str:
        """The panel's title."""
        return str(self._title.text())

    def confirm_discard(self, then: Callable[[], None], stay: Callable[[], None] = lambda: None) -> None:
        """See `DocumentControl.confirm_discard`."""
        self.document.confirm_discard(then, stay)

    def open(self) -> None:
        """Ask for a motion file and open it."""
        self.confirm_discard(self._ask_open)

    def _ask_open(self) -> None:
        name, _kind = QtWidgets.QFileDialog.getOpenFileName(self, tr("Open a motion"), "", tr("Motions (*.toml *.csv)"))
        if name:
            self.load_file(Path(name))

    # -- preview -----------------------------------------------------------------------------------------------------

    def _edited(self) -> None:
        self.edits.record()
        if not self.mover.active:  # clear the end of the previous motion
            self.transport.clear()
        self._version += 1
        self.model.ran = ""
        wrong = self.editor.refusal
        self.model.preview = Preview(fault=wrong or _BEING_CHECKED, pending=not wrong)
        self.document.update_title()
        self.verdict.refused = ""
        self.verdict.judge(*verdict_of(self.preview))
        self._changed.stop() if wrong else self._changed.start()
        self.refresh()

    def _preview(self) -> None:
        version, motion, folder = self._version, self.editor.value(), self.editor.folder
        amplitude = motion.pop("amplitude", 1.0)
        config, plate = self._session.config, self._plate

        def preview() -> Preview | None:
            if version != self._version:
                return None
            return self._worker.compute(preview_motion, config, motion, folder, amplitude, plate)

        def done(preview: Preview | None, error: Exception | None) -> None:
            if version == self._version:  # otherwise a later change is pending
                self._show_preview(preview if preview is not None else Preview(fault=str(error)))

        self._worker.submit(preview, done)

    def _complete(self) -> None:
        """Insert missing transitions if the motion can be built; those of a preview are reused.

        Computing them may read files and take longer than the engine's heartbeat timeout. It has a process of its own,
        as that of the thread may be occupied.
        """
        if self.preview.verdict is not None:
            return
        motion, folder = self.editor.value(), self.editor.folder
        try:
            with CallProcess("the process that completes motions") as process:
                durations = process.call(_COMPLETED_WITHIN, lacking, self._session.config, motion, folder)
        except HardwareError as error:  # without them the file can be opened, too
            self._session.log("error", "app", str(error))
            return
        self._put_transitions(durations)

    def _put_transitions(self, durations: dict[int, float]) -> None:
        self.editor.put_transitions(durations)
        self.edits.merge_automatic()

    def _show_preview(self, preview: Preview) -> None:
        self.model.preview = preview
        self.document.apply_automatic(lambda: self._put_transitions(preview.transitions))
        self._show_what_runs()
        if self.model.template is None:
            self._display(preview)
        self.refresh()

    def _display(self, preview: Preview) -> None:
        """Show a preview, of the edited motion or of a template."""
        self.sights.show_preview(preview)
        self.verdict.judge(*verdict_of(preview))

    def _show_what_runs(self) -> None:
        self.model.name = self.document.state.name
        self.transport.show_motion(*self.model.named, round(self.repeats.known()))

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.sights.set_theme(theme)

    # -- running -----------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Enable what is possible; show why the motion cannot be run, and the present in it."""
        self._show_present()
        self.transport.refresh(self.run_obstacle)
        self.amplitude.setEnabled(self.model.template is None)  # it belongs to the hidden motion
        self.fit.set_obstacle(self.model.against_smaller(self.amplitude.known()))

    @property
    def run_obstacle(self) -> str:
        """Why the edited motion cannot be run now; empty if it can."""
        wrong = field_refusal(self.repeats)
        return self.model.obstacle(self._session.situation, wrong, moving=self.mover.active)

    def _run(self) -> None:
        if self.preview.table is not None and not self.run_obstacle:
            self.model.ran = self.document.state.name
            self.mover.run(self.document.state.name, self.preview.table, self.repeats.value())

    def _show_present(self) -> None:
        """Show the present in the running motion, unless a template is shown."""
        t, live = self.model.present(self._session.situation, moving=self.mover.active)
        self.sights.show_present(t, live=live)

    def _progressed(self, text: str, fraction: float) -> None:
        self.transport.show_progress(text, fraction)
        self.refresh()

    def _finished(self, cause: Finding | None) -> None:
        self.transport.show_end(cause)
        self.refresh()

    def close_worker(self) -> None:
        """End the preview thread; drops queued previews."""
        self._version += 1
        self.document.cancel_reading()
        self.sights.close_worker()
        self._worker.finish()
        self._worker.join(5.0)
