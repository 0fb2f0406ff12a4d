"""The edited motion as a document: name, file, changes; open, save and leave."""

from collections.abc import Callable
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.models import Data, MotionDocument, moved, read_motion
from gui.motion.editor import MotionEditor
from gui.session import RigSession, Worker
from gui.texts import tr
from gui.widgets import ask_save
from kinematics import Thresholds, trajectory_text
from rig.config import save_own_thresholds
from rig.csvio import whole_file
from rig.errors import InputError


class UnsavedQuestion(QtWidgets.QMessageBox):
    """Asks to save, discard or stay; modal to its window, asynchronous. See `carry_out`.

    Args:
        name: of the motion.
        save: saves it and returns whether it did.
        then: called after saving or discarding.
        stay: called otherwise, also when the question is closed.
        parent: of the dialog.
        needs_file: saving asks for a file first.
        changed: it has changes; otherwise all of it was created here.
    """

    def __init__(
        self,
        name: str,
        save: Callable[[], bool],
        then: Callable[[], None],
        stay: Callable[[], None],
        parent: QtWidgets.QWidget,
        *,
        needs_file: bool,
        changed: bool,
    ) -> None:
        super().__init__(parent)
        self._save, self._then, self._stay = save, then, stay
        self.setWindowTitle(tr("Not saved"))
        self.setIcon(QtWidgets.QMessageBox.Icon.Question)
        text = (
            tr("The motion {name!r} was changed and is not saved.")
            if changed
            else tr("The motion {name!r} is not saved.")
        )
        self.setText(text.format(name=name))
        role = QtWidgets.QMessageBox.ButtonRole
        self._saves = self.addButton(tr("Save as …") if needs_file else tr("Save"), role.AcceptRole)
        discard = tr("Discard the changes") if changed else tr("Discard the motion")
        self._discards = self.addButton(discard, role.DestructiveRole)
        stays = self.addButton(tr("Cancel"), role.RejectRole)
        self.setDefaultButton(self._saves)
        self.setEscapeButton(stays)
        self.setWindowModality(QtCore.Qt.WindowModality.WindowModal)
        self.setAttribute(QtCore.Qt.WidgetAttribute.WA_DeleteOnClose)

    def carry_out(self) -> None:
        """Act on the answer after the question is closed, as another dialog may follow."""
        pressed = self.clickedButton()
        saves, discards = pressed is self._saves, pressed is self._discards
        save, then, stay = self._save, self._then, self._stay

        def act() -> None:
            if discards or (saves and save()):
                then()
            else:
                stay()

        QtCore.QTimer.singleShot(0, act)


_KINDS = tr("Motions (*.toml)")


class DocumentControl(QtCore.QObject):
    """The document of the editor.

    `title_changed`; `refused`: why a file was not opened; `opened`: another motion is shown; `saved`:
    it was written; `commit_requested`: emitted before the motion is read for saving or leaving, to commit typed text.

    Args:
        session: the rig, for its log.
        editor: shows the motion.
        worker: reads files.
        complete: inserts missing transitions before saving.
        window: parent of dialogs.
    """

    title_changed = QtCore.Signal(str)
    refused = QtCore.Signal(str)
    opened = QtCore.Signal()
    saved = QtCore.Signal()
    commit_requested = QtCore.Signal()

    def __init__(
        self,
        session: RigSession,
        editor: MotionEditor,
        worker: Worker,
        complete: Callable[[], None],
        window: QtWidgets.QWidget,
    ) -> None:
        super().__init__(window)
        self._session, self._editor, self._worker, self._window = session, editor, worker, window
        self._complete = complete
        self._opened = 0
        self.state = MotionDocument()
        self.question: UnsavedQuestion | None = None
        """Asked before changes are lost."""

    @property
    def title(self) -> str:
        """See `MotionDocument.title`."""
        return self.state.title(self._editor.value())

    @property
    def unsaved(self) -> bool:
        """See `MotionDocument.unsaved`."""
        return self.state.unsaved(self._editor.value())

    @property
    def thresholds(self) -> dict[str, float]:
        """The motion's own thresholds, SI, by name."""
        return dict(self._editor.value().get("validation", {}))

    def update_title(self) -> None:
        """Update the title after a change."""
        self.title_changed.emit(self.title)

    def apply_automatic(self, change: Callable[[], None]) -> None:
        """Insert something that is no change by the user: an unchanged motion stays unchanged."""
        changed = self.state.changed(self._editor.value())
        change()
        if not changed:
            self.state.saved_motion = self._editor.value()

    def show(self, name: str, motion: Data, folder: Path, path: Path | None = None, *, made: bool = False) -> None:
        """Show a motion; `made`: created here by the user, so that leaving it asks.

        Raises ValueError, without effect, if a number is beyond the bounds of its field.
        """
        self._opened += 1
        self._editor.set_value(motion, folder)
        self.state.open(name, self._editor.value(), path, made=made)
        self.opened.emit()
        self.update_title()

    def rename(self, name: str) -> None:
        """See `MotionDocument.rename`."""
        self.state.rename(name)
        self.update_title()

    def cancel_reading(self) -> None:
        """Ignore the result of a pending file."""
        self._opened += 1

    def load(self, path: Path) -> None:
        """Open a motion file; on failure the current motion stays."""
        self._opened += 1
        opened, home = self._opened, self._session.config.machine.geometry.home_pose
        self.state.reading = path.name
        self.update_title()

        def done(motion: Data | None, error: Exception | None) -> None:
            if opened != self._opened:  # another file was chosen meanwhile
                return
            self.state.reading = ""
            if motion is not None:
                try:
                    self.show(path.stem, motion, path.parent, path if path.suffix.lower() == ".toml" else None)
                except ValueError as beyond:
                    error = beyond
                else:
                    return
            self.update_title()
            reason = str(error).removeprefix(f"{path}: ")
            self.refused.emit(tr("{name} was not opened: {reason}").format(name=path.name, reason=reason))
            self._session.log("error", "app", tr("{path} was not opened: {reason}").format(path=path, reason=reason))

        def read() -> Data | None:
            return self._worker.compute(read_motion, path, home) if opened == self._opened else None

        self._worker.submit(read, done)

    def save_to(self, path: Path) -> None:
        """Write the motion as a TOML file and name it after the file; shows a failure."""
        self.commit_requested.emit()
        if refusal := self._editor.refusal:
            self._session.refused.emit(tr("save the motion"), refusal)
            return
        self.apply_automatic(self._complete)
        shown = self._editor.value()
        try:
            with whole_file(path) as file:
                file.write(trajectory_text(moved(shown, self._editor.folder, path.parent)))
        except InputError as error:
            self._session.log("error", "app", str(error))
            self._session.refused.emit(tr("save the motion"), str(error))
        else:
            self.state.save(path, shown)
            self.saved.emit()
            self.update_title()
            self._session.log("info", "app", tr("motion saved: {path}").format(path=path))

    def write_thresholds(self, thresholds: Thresholds) -> None:
        """Write thresholds into the motion's file, and nothing else, and into the current motion.

        Raises ConfigError or InputError, without effect, if the file cannot be used or written.
        """
        path = self.state.path
        assert path is not None
        save_own_thresholds(path, thresholds)
        self.state.set_thresholds(thresholds)
        self._editor.set_thresholds(thresholds.named)
        self._session.log("info", "app", tr("thresholds saved in the motion's file {path}").format(path=path))

    def save(self) -> bool:
        """Save to the motion's file, or to one chosen by the user; return whether it did."""
        if self.state.path is None:
            return self.save_as()
        self.save_to(self.state.path)
        return not self.unsaved and not self._editor.refusal

    def save_as(self) -> bool:
        """Ask for a file and save the motion; return whether it did."""
        proposed = f"{self.state.name.replace('/', '-')}.toml"
        path = ask_save(self._window, tr("Save the motion"), proposed, _KINDS, ".toml")
        if path is not None:
            self.save_to(path)
        return not self.unsaved and not self._editor.refusal

    def confirm_discard(self, then: Callable[[], None], stay: Callable[[], None] = lambda: None) -> None:
        """Call `then`, which discards the motion; if unsaved, ask first and call `stay` if cancelled."""
        self.commit_requested.emit()
        if not self.unsaved:
            then()
        elif self.question is None:
            save, window = self.save, self._window.window()
            kind = {"needs_file": self.state.path is None, "changed": not self.state.made}
            self.question = UnsavedQuestion(self.state.name, save, then, stay, window, **kind)
            self.question.finished.connect(lambda _code: self._answered())
            self.question.show()

    def _answered(self) -> None:
        question, self.question = self.question, None
        if question is not None:
            question.carry_out()
