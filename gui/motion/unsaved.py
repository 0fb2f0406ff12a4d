"""Changes that would be lost: asked about before another motion takes their place, or the app is left."""

from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.texts import tr


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
