"""Motion: compose or open a motion, see what it would do, run it."""

from pathlib import Path

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.controls import GuardedButton, Reason
from gui.motion.editor import MotionEditor
from gui.motion.plots import PreviewPlots
from gui.motion.preview import Preview, describe, look_ahead
from gui.motion.specification import NEW_PARTS, moved, read_motion, shipped_motion, to_toml
from gui.mover import Mover
from gui.rig_session import RigSession
from gui.rules import Action
from gui.theme import Theme
from gui.workers import Worker

_EDIT_PAUSE = 250  # ms without a change before a motion is looked at


class MotionPanel(QtWidgets.QWidget):
    """The motion's form on the left, its preview on the right, and what runs it below.

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
        self.preview = Preview()
        self.editor = MotionEditor()
        self.plots = PreviewPlots(session.config, theme)
        self._changed = QtCore.QTimer(self)
        self._changed.setSingleShot(True)
        self._changed.setInterval(_EDIT_PAUSE)
        self._changed.timeout.connect(self._look)
        self.verdict = QtWidgets.QLabel()
        self.verdict.setWordWrap(True)
        self.verdict.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
        self.verdict.setAccessibleName("Verdict of the check")
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
        column.addWidget(self.plots, 1)
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
        layout.addLayout(self._run_row())
        self.editor.edited.connect(self._edited)
        session.changed.connect(self.refresh)
        mover.progressed.connect(self._progressed)
        mover.finished.connect(self._finished)
        self.load_shipped("demo")

    # -- what is on the panel ----------------------------------------------------------------------------------------

    def _source_row(self) -> QtWidgets.QHBoxLayout:
        row = QtWidgets.QHBoxLayout()
        for text, hint, act in (
            ("Demo", "The motion that comes along: 20 s over all six axes", lambda: self.load_shipped("demo")),
            ("New", "A small motion to begin with", self.begin_new),
            ("Open …", "A motion file (TOML), or a CSV of poses", self.open),
            ("Save as …", "Save this motion as a TOML file", self._save),
        ):
            button = QtWidgets.QPushButton(text)
            button.setToolTip(hint)
            button.setAccessibleName(f"{text.rstrip(' …')} motion")
            button.clicked.connect(lambda _checked=False, act=act: act())
            row.addWidget(button)
        return row

    def _run_row(self) -> QtWidgets.QVBoxLayout:
        self.run = GuardedButton("▶  Run", "Move to the motion's start, then follow it")
        self.run.setAccessibleName("Run the motion")
        self.pause = GuardedButton("Pause", "Slow down along the path and stand")
        self.resume = GuardedButton("Resume", "Go on along the path")
        self.abandon = GuardedButton("Abandon", "Forget the rest of a motion that is paused, and hold where it stands")
        self.hold = GuardedButton("Stop motion", "Slow down along the path and hold under power; nothing further runs")
        self.run.clicked.connect(self._run)
        self.pause.clicked.connect(self._mover.pause)
        self.resume.clicked.connect(self._mover.resume)
        self.abandon.clicked.connect(self._mover.abandon)
        self.hold.clicked.connect(self._mover.hold)
        self.repeats = QtWidgets.QSpinBox()
        self.repeats.setRange(1, 1000)
        self.repeats.setButtonSymbols(QtWidgets.QAbstractSpinBox.ButtonSymbols.NoButtons)
        self.repeats.setSuffix(" ×")
        self.repeats.setAccessibleName("How many times the motion is run")
        self.repeats.setToolTip("How many times the motion is run, one after the other")
        self.amplitude = QtWidgets.QDoubleSpinBox()
        self.amplitude.setLocale(QtCore.QLocale.c())
        self.amplitude.setRange(0.1, 100.0)
        self.amplitude.setButtonSymbols(QtWidgets.QAbstractSpinBox.ButtonSymbols.NoButtons)
        self.amplitude.setDecimals(1)
        self.amplitude.setValue(100.0)
        self.amplitude.setSuffix(" %")
        self.amplitude.setAccessibleName("Amplitude about the start pose, percent")
        self.amplitude.setToolTip("Size of the motion about its start pose")
        self.amplitude.valueChanged.connect(lambda _value: self._edited())
        self.fit = QtWidgets.QPushButton("Largest that passes")
        self.fit.clicked.connect(self._use_scale)
        self.progress = QtWidgets.QProgressBar()
        self.progress.setRange(0, 1000)
        self.progress.setAccessibleName("Progress of the motion")
        self.progress.setTextVisible(False)
        self.phase = QtWidgets.QLabel()
        self.phase.setAccessibleName("What is being done")
        self._reason = Reason()
        row = QtWidgets.QHBoxLayout()
        row.setContentsMargins(6, 0, 6, 0)
        for widget in (self.run, self.pause, self.resume, self.abandon, self.hold):
            row.addWidget(widget)
        row.addWidget(QtWidgets.QLabel("Repeat"))
        row.addWidget(self.repeats)
        row.addWidget(QtWidgets.QLabel("Amplitude"))
        row.addWidget(self.amplitude)
        row.addWidget(self.fit)
        row.addStretch(1)
        below = QtWidgets.QHBoxLayout()
        below.setContentsMargins(6, 0, 6, 0)
        below.addWidget(self.progress, 1)
        below.addWidget(self.phase, 1)
        below.addWidget(self._reason, 1)
        rows = QtWidgets.QVBoxLayout()
        rows.addLayout(row)
        rows.addLayout(below)
        return rows

    # -- choosing a motion -------------------------------------------------------------------------------------------

    def load_shipped(self, name: str) -> None:
        """Take a motion that comes along."""
        self._show(name, shipped_motion(name), Path())

    def begin_new(self) -> None:
        """Begin a motion of one's own."""
        kind = next(iter(NEW_PARTS))
        part = {"type": kind, **NEW_PARTS[kind]}
        self._show("new motion", {"frame": "home", "pivot": [0.0] * 3, "parts": [part]}, Path())

    def load_file(self, path: Path) -> None:
        """Take a motion file; what is wrong with it is shown in the verdict's place, and the motion stays."""
        self._opened += 1
        opened, home = self._opened, self._session.config.machine.geometry.home_pose
        self._title.setText(f"Motion: reading {path.name} …")

        def taken(motion: "dict[str, object] | None", error: Exception | None) -> None:
            if opened != self._opened:  # another was chosen meanwhile
                return
            if motion is not None:
                self._show(path.stem, motion, path.parent)
                return
            self._title.setText(f"Motion: {self._name}")
            self._show_verdict("bad", f"✗ {error}")
            self._session.log("error", "app", str(error))

        self._worker.submit(lambda: read_motion(path, home), taken)

    def save_file(self, path: Path) -> None:
        """Write the motion as a TOML file."""
        try:
            motion = moved(self.editor.value(), self.editor.folder, path.parent)
            path.write_text(to_toml(motion), encoding="utf-8")
        except OSError as error:
            self._session.log("error", "app", f"cannot write {path}: {error.strerror}")
        else:
            self._session.log("info", "app", f"motion saved: {path}")

    @property
    def title(self) -> str:
        """What the panel says it is about."""
        return str(self._title.text())

    def _show(self, name: str, motion: "dict[str, object]", folder: Path) -> None:
        self._opened += 1
        self._name = name
        self._title.setText(f"Motion: {name}")
        self.amplitude.setValue(100.0)
        self.editor.set_value(motion, folder)

    def open(self) -> None:
        """Ask for a motion file and take it."""
        name, _kind = QtWidgets.QFileDialog.getOpenFileName(self, "Open a motion", "", "Motions (*.toml *.csv)")
        if name:
            self.load_file(Path(name))

    def _save(self) -> None:
        name, _kind = QtWidgets.QFileDialog.getSaveFileName(
            self, "Save the motion", f"{self._name}.toml", "Motions (*.toml)"
        )
        if name:
            self.save_file(Path(name))

    # -- looking at it -----------------------------------------------------------------------------------------------

    def _edited(self) -> None:
        self._version += 1
        self.preview = Preview(fault="being checked")
        self._show_verdict("muted", "Checking …")
        self._changed.start()
        self.refresh()

    def _look(self) -> None:
        version, motion, folder = self._version, self.editor.value(), self.editor.folder
        amplitude = self.amplitude.value() / 100.0
        config = self._session.config

        def looked(preview: Preview | None, error: Exception | None) -> None:
            if version == self._version:  # else a later change is on its way
                self._show_preview(preview if preview is not None else Preview(fault=str(error)))

        self._worker.submit(lambda: look_ahead(config, motion, folder, amplitude), looked)

    def _show_preview(self, preview: Preview) -> None:
        self.preview = preview
        self.plots.show_preview(preview)
        verdict = preview.verdict
        if verdict is None:
            self._show_verdict("bad", f"✗ {preview.fault}")
        else:
            self._show_verdict(
                "good" if verdict.passed else "bad", f"{'✓' if verdict.passed else '✗'} {describe(verdict)}"
            )
        self.refresh()

    def _show_verdict(self, role: str, text: str) -> None:
        self.verdict.setText(text)
        self.verdict.setObjectName(role)
        self.verdict.style().unpolish(self.verdict)
        self.verdict.style().polish(self.verdict)

    def _use_scale(self) -> None:
        verdict = self.preview.verdict
        if verdict is not None:
            self.amplitude.setValue(self.amplitude.value() * verdict.scale)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.plots.set_theme(theme)

    # -- running it --------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Enable what can be done now; say why the motion cannot be run."""
        busy = "a motion is under way" if self._mover.active else ""
        reason = self._session.obstacle(Action.MOVE) or busy or self.preview.obstacle
        self.run.set_obstacle(reason)
        self._reason.show_reason(reason)
        self.pause.set_obstacle(self._session.obstacle(Action.PAUSE))
        self.resume.set_obstacle(self._session.obstacle(Action.RESUME))
        self.abandon.set_obstacle(self._session.obstacle(Action.ABANDON))
        self.hold.set_obstacle(self._session.obstacle(Action.HOLD))
        verdict = self.preview.verdict
        possible = verdict is not None and not verdict.passed and verdict.scale > 0.0
        self.fit.setVisible(possible)

    def _run(self) -> None:
        if self.preview.table is not None and not self.preview.obstacle:
            self._mover.run(self._name, self.preview.table, self.repeats.value())

    def _progressed(self, text: str, fraction: float) -> None:
        self.progress.setValue(round(1000 * fraction))
        self.phase.setText(text)
        self.refresh()

    def _finished(self, reason: str) -> None:
        self.progress.setValue(0 if reason else 1000)
        self.phase.setText(f"ended: {reason.splitlines()[0]}" if reason else "done")
        self.refresh()

    def close_worker(self) -> None:
        """End the thread that looks at motions."""
        self._worker.finish()
        self._worker.join(5.0)
