"""What was changed on a motion, step by step: undone and done again."""

from collections.abc import Callable, Iterator, Sequence

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.models import Data, authored, is_field, what_changed
from gui.texts import tr
from gui.widgets import NumberField, give, number_fields

_UNDO, _REDO = ("Ctrl+Z",), ("Ctrl+Shift+Z", "Ctrl+Y")


class Edits(QtCore.QObject):
    """Knows how the motion was before each change. Typing in one field is one step.

    Args:
        present: the motion that is shown.
        show: shows another one, a part of it in front, counted from 0.
        owner: the keys act while it is in view; where a field in it has the keyboard, what is typed there counts first.
        others: fields of the motion that are not in it.
    """

    def __init__(
        self,
        present: Callable[[], Data],
        show: Callable[[Data, int], None],
        owner: QtWidgets.QWidget,
        others: Sequence[QtWidgets.QWidget] = (),
    ) -> None:
        super().__init__(owner)
        self._present, self._show, self._owner, self._others = present, show, owner, others
        self._known: Data | None = None
        self.stack = QtWidgets.QUndoStack(self)
        self.undo_button = StepButton("undo", tr("Undo"), tr("Nothing to undo"))
        self.redo_button = StepButton("redo", tr("Redo"), tr("Nothing to redo"))
        for button, texts, possible, act, keys in (
            (self.undo_button, self.stack.undoTextChanged, self.stack.canUndoChanged, self.undo, _UNDO),
            (self.redo_button, self.stack.redoTextChanged, self.stack.canRedoChanged, self.redo, _REDO),
        ):
            button.clicked.connect(lambda _checked=False, act=act: act())
            button.set_keys(keys)
            texts.connect(button.say)
            possible.connect(button.setEnabled)
            for key in keys:
                shortcut = QtWidgets.QShortcut(QtGui.QKeySequence(key), owner)
                shortcut.activated.connect(act)
        self._keys = [QtGui.QKeySequence(key) for key in (*_UNDO, *_REDO)]
        QtWidgets.QApplication.instance().focusChanged.connect(self._focus_moved)

    def forget(self) -> None:
        """Another motion is shown: what was done to the one before cannot be undone."""
        self.stack.clear()
        self._known = self._present()

    def settle(self) -> None:
        """Take what nobody edited, such as transitions that were put in, as part of the last step."""
        self._known = self._present()

    def record(self) -> None:
        """Take notice of a change by a person; one that is being typed is taken once it is settled on."""
        if any(field.editing and not field.reason for field in self._fields()):
            return
        before, now = self._known, self._present()
        self._known = now
        if before is not None and authored(before) != authored(now):
            self.stack.push(_Edit(before, now, self._restore))

    def undo(self) -> None:
        """Take the last step back; what is being typed is a step, also a text that is no value."""
        if wrong := [field for field in self._fields() if field.reason]:
            for field in wrong:
                field.revert()
            return
        self.commit()
        self.stack.undo()

    def redo(self) -> None:
        """Do the step again that was taken back last."""
        self.commit()
        self.stack.redo()

    def _restore(self, motion: Data, part: int) -> None:
        self._known = motion
        self._show(motion, part)

    def commit(self) -> None:
        """What is being typed is part of the motion from now on."""
        field = QtWidgets.QApplication.focusWidget()
        if field is None or not self._is_own(field):
            return
        if isinstance(field, NumberField):
            field.interpretText()
        elif isinstance(field, QtWidgets.QLineEdit):
            field.editingFinished.emit()

    def _fields(self) -> Iterator[NumberField]:
        return number_fields(self._owner, *self._others)

    def _is_own(self, field: QtWidgets.QWidget) -> bool:
        return field in self._others or bool(self._owner.isAncestorOf(field))

    def _focus_moved(self, before: QtWidgets.QWidget | None, now: QtWidgets.QWidget | None) -> None:
        if before is not None:
            before.removeEventFilter(self)
        if now is not None and self._is_own(now):
            now.installEventFilter(self)

    def eventFilter(self, _receiver: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """Keep a field from taking the keys for its own text, which knows nothing of the other fields."""
        if not isinstance(event, QtGui.QKeyEvent) or event.type() != QtCore.QEvent.Type.ShortcutOverride:
            return False
        ours = QtGui.QKeySequence(int(event.modifiers()) | event.key()) in self._keys
        if ours:
            event.ignore()
        return ours


class StepButton(QtWidgets.QPushButton):
    """Undo or redo, with what it would take back or do again; as wide as there is room.

    Args:
        meaning: of its icon.
        act: what it does, in a word.
        nothing: said where there is nothing to do it with.
    """

    def __init__(self, meaning: str, act: str, nothing: str) -> None:
        super().__init__(act)
        self._act, self._nothing, self._keys, self._what = act, nothing, "", ""
        give(self, meaning)
        self.setAccessibleName(act)
        self.setAutoDefault(False)
        self.setEnabled(False)
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.TabFocus)  # a click leaves the keyboard in its field
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Fixed)

    def set_keys(self, keys: Sequence[str]) -> None:
        """Name the keys that do the same."""
        self._keys = ", ".join(keys)
        self.say("")

    def say(self, what: str) -> None:
        """Say what would be undone or done again, "" for nothing."""
        self._what = what
        whole = f"{self._act} {what}" if what else self._nothing
        self.setToolTip(f"{whole} ({self._keys})")
        self.setAccessibleDescription(whole)
        self._write()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Write as much as there is room for."""
        super().resizeEvent(event)
        self._write()

    def _write(self) -> None:
        text = f"{self._act} {self._what}".rstrip()
        room = max(self.width() - self.iconSize().width() - 4 * self.fontMetrics().averageCharWidth(), 0)
        self.setText(self.fontMetrics().elidedText(text, QtCore.Qt.TextElideMode.ElideRight, room))


class _Edit(QtWidgets.QUndoCommand):
    """A step from one motion to another."""

    def __init__(self, before: Data, after: Data, show: Callable[[Data, int], None]) -> None:
        self._place, what = what_changed(authored(before), authored(after))
        super().__init__(what)
        self._is_field = is_field(self._place, before, after)
        self._before, self._after, self._show = before, after, show
        self._done = True  # by a person, already, when it comes onto the stack

    @property
    def _part(self) -> int:
        return next((each for each in self._place[1:2] if isinstance(each, int)), 0)

    def id(self) -> int:
        """Of steps that may become one."""
        return 1

    def mergeWith(self, other: QtWidgets.QUndoCommand) -> bool:
        """Become one with the next step where both are of the same field."""
        if not (isinstance(other, _Edit) and self._is_field and other._is_field) or other._place != self._place:
            return False
        self._after = other._after
        self.setObsolete(authored(self._before) == authored(self._after))
        return True

    def undo(self) -> None:
        """See `QUndoCommand`."""
        self._show(self._before, self._part)

    def redo(self) -> None:
        """See `QUndoCommand`."""
        if self._done:
            self._done = False
            return
        self._show(self._after, self._part)
