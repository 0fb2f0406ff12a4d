"""Motion: compose or open a motion, see what it would do, run it."""

import math
from collections.abc import Callable
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.motion.editor import MotionEditor
from gui.motion.preview import Preview, describe, look_ahead
from gui.motion.run_words import RunWords
from gui.motion.sights import Sights
from gui.motion.specification import NEW_PARTS, moved, read_motion, shipped_motion
from gui.motion.transport import TransportBar
from gui.motion.unsaved import UnsavedQuestion
from gui.motion.verdict_label import VerdictLabel
from gui.session import Action, Mover, RigSession, Worker
from gui.widgets import GuardedButton, QuantityBox, Theme, WholeNumber, ask_save
from kinematics import trajectory_text
from rig.csvio import whole_file
from rig.engine import Snapshot
from rig.errors import InputError
from rig.states import State

_EDIT_PAUSE = 250  # ms without a change before a motion is looked at
_LEAST_AMPLITUDE = 0.1  # %, and the step of the field


class MotionPanel(QtWidgets.QWidget):
    """The motion's form on the left, its preview on the right, its size and number of runs below.

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
        self._mover = mover
        self._worker = Worker("preview", self)
        self._version = 0
        self._opened = 0
        self._name = "motion"
        self._taken: dict[str, object] = {}  # the motion as its file states it
        self.question: UnsavedQuestion | None = None
        """asked before changes are lost"""
        self.preview = Preview()
        self.editor = MotionEditor()
        self.sights = Sights(session.config, theme)
        self._changed = QtCore.QTimer(self)
        self._changed.setSingleShot(True)
        self._changed.setInterval(_EDIT_PAUSE)
        self._changed.timeout.connect(self._look)
        self.verdict = VerdictLabel()
        self.transport = TransportBar(session, mover)
        """to be put where it is always in view"""
        self.run, self.progress, self.phase = self.transport.run, self.transport.progress, self.transport.phase
        self.pause, self.resume = self.transport.pause, self.transport.resume
        self.abandon, self.hold = self.transport.abandon, self.transport.hold
        self.run.clicked.connect(self._run)
        self.words = RunWords()
        self._ran = ""
        """name of the motion that was run from here last, empty once another is shown"""
        self._title = QtWidgets.QLabel()
        self._title.setObjectName("heading")
        self._title.setAccessibleName("Name of the motion")
        left = QtWidgets.QWidget()
        column = QtWidgets.QVBoxLayout(left)
        column.setContentsMargins(6, 6, 6, 6)
        column.addWidget(self._title)
        column.addLayout(self._source_row())
        column.addWidget(self.editor, 1)
        right = QtWidgets.QWidget()
        column = QtWidgets.QVBoxLayout(right)
        column.setContentsMargins(6, 6, 6, 6)
        column.addWidget(self.sights, 1)
        column.addWidget(self.verdict)
        self.splitter = QtWidgets.QSplitter()
        self.splitter.addWidget(left)
        self.splitter.addWidget(right)
        self.splitter.setStretchFactor(0, 0)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setSizes([400, 590])
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 4)
        layout.addWidget(self.splitter, 1)
        layout.addLayout(self._size_row())
        self.editor.edited.connect(self._form_edited)
        session.changed.connect(self.refresh)
        session.statusChanged.connect(self._show_present)
        mover.progressed.connect(self._progressed)
        mover.finished.connect(self._finished)
        self.load_shipped("demo")

    # -- what is on the panel ----------------------------------------------------------------------------------------

    def _source_row(self) -> QtWidgets.QHBoxLayout:
        row = QtWidgets.QHBoxLayout()
        for text, hint, act in (
            ("Demo", "The motion that comes along: 20 s over all six axes", lambda: self.let_go(self._take_demo)),
            ("New", "A small motion to begin with", lambda: self.let_go(self.begin_new)),
            ("Open …", "A motion file (TOML), or a CSV of poses", self.open),
            ("Save as …", "Save this motion as a TOML file", self._save),
        ):
            button = QtWidgets.QPushButton(text)
            button.setToolTip(hint)
            button.setAccessibleName(f"{text.rstrip(' …')} motion")
            button.clicked.connect(lambda _checked=False, act=act: act())
            row.addWidget(button)
        return row

    def _size_row(self) -> QtWidgets.QHBoxLayout:
        self.repeats = WholeNumber("How many times the motion is run, one after the other", 1, 1, 1000)
        self.repeats.setSuffix(" ×")
        self.amplitude = QuantityBox("Size of the motion about its start pose", "%", 100.0, _LEAST_AMPLITUDE, 100.0)
        self.amplitude.valueChanged.connect(lambda _value: self._form_edited())
        self.fit = GuardedButton("Largest that passes", "Take the largest amplitude with which the motion passes")
        self.fit.clicked.connect(lambda: self.amplitude.set_si(self._largest()))
        row = QtWidgets.QHBoxLayout()
        row.setContentsMargins(6, 0, 6, 0)
        row.addWidget(QtWidgets.QLabel("Repeat"))
        row.addWidget(self.repeats)
        row.addWidget(QtWidgets.QLabel("Amplitude"))
        row.addWidget(self.amplitude)
        row.addWidget(self.fit)
        row.addStretch(1)
        row.addWidget(self.words, 4)
        return row

    # -- choosing a motion -------------------------------------------------------------------------------------------

    def load_shipped(self, name: str) -> None:
        """Take a motion that comes along."""
        self._show(name, shipped_motion(name), Path())

    def _take_demo(self) -> None:
        self.load_shipped("demo")

    def begin_new(self) -> None:
        """Begin a motion of one's own."""
        kind = next(iter(NEW_PARTS))
        part = {"type": kind, **NEW_PARTS[kind]}
        self._show("new motion", {"frame": "home", "pivot": [0.0] * 3, "parts": [part]}, Path())

    def load_file(self, path: Path) -> None:
        """Take a motion file; what is wrong with it is shown above the verdict of the motion, which stays."""
        self._opened += 1
        opened, home = self._opened, self._session.config.machine.geometry.home_pose
        self._title.setText(f"Motion: reading {path.name} …")

        def taken(motion: "dict[str, object] | None", error: Exception | None) -> None:
            if opened != self._opened:  # another was chosen meanwhile
                return
            if motion is not None:
                try:
                    self._show(path.stem, motion, path.parent)
                except ValueError as beyond:
                    error = beyond
                else:
                    return
            self._show_title()
            reason = str(error).removeprefix(f"{path}: ")
            self.verdict.refuse(f"{path.name} was not opened: {reason}")
            self._session.log("error", "app", f"{path} was not opened: {reason}")

        self._worker.submit(lambda: read_motion(path, home) if opened == self._opened else None, taken)

    def save_file(self, path: Path) -> None:
        """Write the motion as a TOML file, which it is called after from then on; a failure is said."""
        shown = self._shown()
        try:
            with whole_file(path) as file:
                file.write(trajectory_text(moved(shown, self.editor.folder, path.parent)))
        except InputError as error:
            self._session.log("error", "app", str(error))
            self._session.refused.emit("save the motion", str(error))
        else:
            self._name, self._taken = path.stem, shown
            self._show_title()
            self._session.log("info", "app", f"motion saved: {path}")

    @property
    def title(self) -> str:
        """What the panel says it is about."""
        return str(self._title.text())

    @property
    def unsaved(self) -> bool:
        """Whether the motion was changed since it was taken or saved."""
        return self._shown() != self._taken

    def let_go(self, then: Callable[[], None], stay: Callable[[], None] = lambda: None) -> None:
        """Do `then`, which loses the motion shown: after a question where it is not saved, which may lead to `stay`."""
        if not self.unsaved:
            then()
        elif self.question is None:
            self.question = UnsavedQuestion(self._name, self._save, then, stay, self.window())
            self.question.finished.connect(lambda _code: self._answered())
            self.question.show()

    def _answered(self) -> None:
        question, self.question = self.question, None
        if question is not None:
            question.carry_out()

    def _shown(self) -> "dict[str, object]":
        """The motion as a file would state it."""
        amplitude = self.amplitude.si() / 100.0
        return self.editor.value() | ({} if amplitude == 1.0 else {"amplitude": amplitude})

    def _show(self, name: str, motion: "dict[str, object]", folder: Path) -> None:
        """Show a motion. Raises ValueError, and shows what it did, where a number is beyond what a field takes."""
        size = 100.0 * float(motion.get("amplitude", 1.0))  # type: ignore[arg-type]
        if fault := self.amplitude.fault(size):
            raise ValueError(fault)
        self.editor.set_value(motion, folder)
        self.amplitude.set_si(size)
        self._opened += 1
        self._name, self._taken = name, self._shown()
        self._show_title()

    def _show_title(self) -> None:
        self._title.setText(f"Motion: {self._name}{' (changed)' if self.unsaved else ''}")

    def open(self) -> None:
        """Ask for a motion file and take it."""
        self.let_go(self._ask_open)

    def _ask_open(self) -> None:
        name, _kind = QtWidgets.QFileDialog.getOpenFileName(self, "Open a motion", "", "Motions (*.toml *.csv)")
        if name:
            self.load_file(Path(name))

    def _save(self) -> bool:
        """Ask for a file and save the motion; whether that was done."""
        path = ask_save(self, "Save the motion", f"{self._name}.toml", "Motions (*.toml)", ".toml")
        if path is not None:
            self.save_file(path)
        return not self.unsaved

    # -- looking at it -----------------------------------------------------------------------------------------------

    def _form_edited(self) -> None:
        self._show_title()
        self._edited()

    def _edited(self) -> None:
        if not self._mover.active:  # how the one before ended says nothing of this one
            self.transport.clear()
        self._version += 1
        self._ran = ""
        self.sights.plots.show_present(None)
        self.preview = Preview(fault="being checked")
        self.verdict.refused = ""
        self.verdict.judge("muted", "Checking …")
        self._changed.start()
        self.refresh()

    def _look(self) -> None:
        version, motion, folder = self._version, self.editor.value(), self.editor.folder
        amplitude = self.amplitude.si() / 100.0
        config = self._session.config

        def look() -> Preview | None:
            return look_ahead(config, motion, folder, amplitude) if version == self._version else None

        def looked(preview: Preview | None, error: Exception | None) -> None:
            if version == self._version:  # else a later change is on its way
                self._show_preview(preview if preview is not None else Preview(fault=str(error)))

        self._worker.submit(look, looked)

    def _show_preview(self, preview: Preview) -> None:
        self.preview = preview
        self.transport.show_motion(self._name, None if preview.table is None else preview.table.duration)
        self.sights.show_preview(preview)
        verdict = preview.verdict
        if verdict is None:
            self.verdict.judge("bad", f"✗ {preview.fault}")
        elif verdict.passed:
            self.verdict.judge("good", f"✓ {describe(verdict)}")
        else:
            self.verdict.judge("bad", f"✗ {describe(verdict)}")
        self.refresh()

    def _largest(self) -> float:
        """The largest amplitude that passes, %, in the steps of its field and never more; 0 where none does."""
        scale = 0.0 if self.preview.verdict is None else self.preview.verdict.scale
        return math.floor(10.0 * self.amplitude.si() * scale + 1e-6) / 10.0

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.sights.set_theme(theme)

    # -- running it --------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Enable what can be done now; say why the motion cannot be run."""
        busy = "a motion is under way" if self._mover.active else ""
        self.transport.refresh(self._session.obstacle(Action.MOVE) or busy or self.preview.obstacle)
        verdict = self.preview.verdict
        self.fit.setVisible(verdict is not None and not verdict.passed)
        self.fit.set_obstacle("" if self._largest() > 0.0 else f"none from {_LEAST_AMPLITUDE:g} % on passes")

    def _run(self) -> None:
        if self.preview.table is not None and not self.preview.obstacle:
            self._ran = self._name
            self._mover.run(self._name, self.preview.table, self.repeats.value())

    def _show_present(self, status: Snapshot) -> None:
        """Where the motion is, on the plots of the one that is run."""
        runs = status.state is State.RUNNING or status.paused
        self.sights.plots.show_present(status.path_time if runs and self._ran and status.motion == self._ran else None)

    def _progressed(self, text: str, fraction: float) -> None:
        self.transport.show_progress(text, fraction)
        self.refresh()

    def _finished(self, reason: str) -> None:
        self.transport.show_end(reason)
        self.refresh()

    def close_worker(self) -> None:
        """End the thread that looks at motions; those it has not begun with are not looked at."""
        self._version += 1
        self._opened += 1
        self.sights.close_worker()
        self._worker.finish()
        self._worker.join(5.0)
