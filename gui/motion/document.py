"""The motion that is shown as a document: its name and file, whether it was changed, opened, saved and left."""

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
    """Save, discard, or stay; in front of its window, without waiting for the answer. See `carry_out`.

    Args:
        name: of the motion.
        save: saves it; whether that was done.
        then: what loses the changes; once they are saved or may be lost.
        stay: otherwise, also when the question is closed.
        parent: over which it is asked.
        asks: whether saving asks for a file first.
        changed: whether it was saved or taken as it was before changes; else all of it was made here.
    """

    def __init__(
        self,
        name: str,
        save: Callable[[], bool],
        then: Callable[[], None],
        stay: Callable[[], None],
        parent: QtWidgets.QWidget,
        *,
        asks: bool,
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
        self._saves = self.addButton(tr("Save as …") if asks else tr("Save"), role.AcceptRole)
        discard = tr("Discard the changes") if changed else tr("Discard the motion")
        self._discards = self.addButton(discard, role.DestructiveRole)
        stays = self.addButton(tr("Cancel"), role.RejectRole)
        self.setDefaultButton(self._saves)
        self.setEscapeButton(stays)
        self.setWindowModality(QtCore.Qt.WindowModality.WindowModal)
        self.setAttribute(QtCore.Qt.WidgetAttribute.WA_DeleteOnClose)

    def carry_out(self) -> None:
        """Do what was answered, once the question itself has gone: another dialog may follow."""
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
    """What the editor shows has a name here.

    `retitled` says what it is called now, `refused` why a file was not opened; `taken_up` tells that another motion is
    shown, `saved` that this one was written; `due` comes before it is looked at to be saved or let go of: what is being
    typed belongs to it.

    Args:
        session: the rig, whose log is written.
        editor: shows the motion.
        worker: reads files.
        complete: puts in what a motion lacks before it is saved.
        window: over which is asked.
    """

    retitled = QtCore.Signal(str)
    refused = QtCore.Signal(str)
    taken_up = QtCore.Signal()
    saved = QtCore.Signal()
    due = QtCore.Signal()

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
        """asked before changes are lost"""

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
        """Those of the motion's own, SI, by name."""
        return dict(self._editor.value().get("validation", {}))

    def say_title(self) -> None:
        """After a change."""
        self.retitled.emit(self.title)

    def settle(self, put_in: Callable[[], None]) -> None:
        """Let something be put in that is no change by a person: what was not changed is not changed by that."""
        changed = self.state.changed(self._editor.value())
        put_in()
        if not changed:
            self.state.taken = self._editor.value()

    def show(self, name: str, motion: Data, folder: Path, path: Path | None = None, *, made: bool = False) -> None:
        """Show a motion; `made`: by a person, here, so that it would be lost.

        Raises ValueError, and shows what it did, where a number is beyond what a field takes.
        """
        self._opened += 1
        self._editor.set_value(motion, folder)
        self.state.open(name, self._editor.value(), path, made=made)
        self.taken_up.emit()
        self.say_title()

    def rename(self, name: str) -> None:
        """See `MotionDocument.rename`."""
        self.state.rename(name)
        self.say_title()

    def forget_reading(self) -> None:
        """Do not show a file that is being read."""
        self._opened += 1

    def load(self, path: Path) -> None:
        """Take a motion file; the motion shown stays where it cannot be used."""
        self._opened += 1
        opened, home = self._opened, self._session.config.machine.geometry.home_pose
        self.state.reading = path.name
        self.say_title()

        def taken(motion: Data | None, error: Exception | None) -> None:
            if opened != self._opened:  # another was chosen meanwhile
                return
            self.state.reading = ""
            if motion is not None:
                try:
                    self.show(path.stem, motion, path.parent, path if path.suffix.lower() == ".toml" else None)
                except ValueError as beyond:
                    error = beyond
                else:
                    return
            self.say_title()
            reason = str(error).removeprefix(f"{path}: ")
            self.refused.emit(tr("{name} was not opened: {reason}").format(name=path.name, reason=reason))
            self._session.log("error", "app", tr("{path} was not opened: {reason}").format(path=path, reason=reason))

        self._worker.submit(lambda: read_motion(path, home) if opened == self._opened else None, taken)

    def save_to(self, path: Path) -> None:
        """Write the motion as a TOML file, which it is called after from then on; a failure is said."""
        self.due.emit()
        if refusal := self._editor.refusal:
            self._session.refused.emit(tr("save the motion"), refusal)
            return
        self.settle(self._complete)
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
            self.say_title()
            self._session.log("info", "app", tr("motion saved: {path}").format(path=path))

    def write_thresholds(self, thresholds: Thresholds) -> None:
        """Put thresholds into the motion's file, and nothing else; what is shown has them from then on as well.

        Raises ConfigError or InputError, and changes nothing, where the file cannot be used or written.
        """
        path = self.state.path
        assert path is not None
        save_own_thresholds(path, thresholds)
        self.state.set_thresholds(thresholds)
        self._editor.set_thresholds(thresholds.named)
        self._session.log("info", "app", tr("thresholds saved in the motion's file {path}").format(path=path))

    def save(self) -> bool:
        """Save the motion in its file, one that is asked for where it has none; whether that was done."""
        if self.state.path is None:
            return self.save_as()
        self.save_to(self.state.path)
        return not self.unsaved and not self._editor.refusal

    def save_as(self) -> bool:
        """Ask for a file and save the motion; whether that was done."""
        proposed = f"{self.state.name.replace('/', '-')}.toml"
        path = ask_save(self._window, tr("Save the motion"), proposed, _KINDS, ".toml")
        if path is not None:
            self.save_to(path)
        return not self.unsaved and not self._editor.refusal

    def let_go(self, then: Callable[[], None], stay: Callable[[], None] = lambda: None) -> None:
        """Do `then`, which loses the motion shown: after a question where it is not saved, which may lead to `stay`."""
        self.due.emit()
        if not self.unsaved:
            then()
        elif self.question is None:
            save, window = self.save, self._window.window()
            kind = {"asks": self.state.path is None, "changed": not self.state.made}
            self.question = UnsavedQuestion(self.state.name, save, then, stay, window, **kind)
            self.question.finished.connect(lambda _code: self._answered())
            self.question.show()

    def _answered(self) -> None:
        question, self.question = self.question, None
        if question is not None:
            question.carry_out()
