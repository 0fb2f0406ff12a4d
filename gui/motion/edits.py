"""Undo and redo of a motion's changes."""

from collections.abc import Callable, Iterator, Sequence

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.models import Data, authored, is_field, what_changed
from gui.texts import tr
from gui.widgets import NumberField, number_fields, set_icon

_UNDO, _REDO = ("Ctrl+Z",), ("Ctrl+Shift+Z", "Ctrl+Y")


class Edits(QtCore.QObject):
    """Undo stack of motions. Typing in one field is one step.

    Args:
        present: returns the current motion.
        show: shows another one with a part selected, counted from 0.
        owner: its shortcuts act while it is visible; a focused field's typed text is undone first.
        others: fields of the motion outside the owner.
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
            texts.connect(button.set_step)
            possible.connect(button.setEnabled)
            for key in keys:
                shortcut = QtWidgets.QShortcut(QtGui.QKeySequence(key), owner)
                shortcut.activated.connect(act)
        self._keys = [QtGui.QKeySequence(key) for key in (*_UNDO, *_REDO)]
        QtWidgets.QApplication.instance().focusChanged.connect(self._focus_moved)

    def clear(self) -> None:
        """Clear the stack for another motion."""
        self.stack.clear()
        self._known = self._present()

    def merge_automatic(self) -> None:
        """Merge automatic changes, such as inserted transitions, into the last step."""
        self._known = self._present()

    def record(self) -> None:
        """Record a change by the user; a typed one is recorded once committed."""
        if any(field.editing and not field.reason for field in self._fields()):
            return
        before, now = self._known, self._present()
        self._known = now
        if before is not None and authored(before) != authored(now):
            self.stack.push(_Edit(before, now, self._restore))

    def undo(self) -> None:
        """Undo the last step; uncommitted text is a step, even if invalid."""
        if wrong := [field for field in self._fields() if field.reason]:
            for field in wrong:
                field.revert()
            return
        self.commit()
        self.stack.undo()

    def redo(self) -> None:
        """Redo the last undone step."""
        self.commit()
        self.stack.redo()

    def _restore(self, motion: Data, part: int) -> None:
        self._known = motion
        self._show(motion, part)

    def commit(self) -> None:
        """Commit the text being typed."""
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
        """Keep fields from handling the undo keys, which would only cover their own text."""
        if not isinstance(event, QtGui.QKeyEvent) or event.type() != QtCore.QEvent.Type.ShortcutOverride:
            return False
        ours = QtGui.QKeySequence(int(event.modifiers()) | event.key()) in self._keys
        if ours:
            event.ignore()
        return ours


class StepButton(QtWidgets.QPushButton):
    """Undo or redo button with the name of the step; elided to the available width.

    Args:
        meaning: of its icon.
        act: verb, such as "Undo".
        nothing: tooltip without a step.
    """

    def __init__(self, meaning: str, act: str, nothing: str) -> None:
        super().__init__(act)
        self._act, self._nothing, self._keys, self._what = act, nothing, "", ""
        set_icon(self, meaning)
        self.setAccessibleName(act)
        self.setAutoDefault(False)
        self.setEnabled(False)
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.TabFocus)  # a click leaves the focus in the field
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Fixed)

    def set_keys(self, keys: Sequence[str]) -> None:
        """Show the shortcut in the tooltip."""
        self._keys = ", ".join(keys)
        self.set_step("")

    def set_step(self, what: str) -> None:
        """Show the step to undo or redo, "" for none."""
        self._what = what
        whole = f"{self._act} {what}" if what else self._nothing
        self.setToolTip(f"{whole} ({self._keys})")
        self.setAccessibleDescription(whole)
        self._write()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Elide the text to the width."""
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
        self._done = True  # the first redo, on push, is already done

    @property
    def _part(self) -> int:
        return next((each for each in self._place[1:2] if isinstance(each, int)), 0)

    def id(self) -> int:
        """Same for steps that may merge."""
        return 1

    def mergeWith(self, other: QtWidgets.QUndoCommand) -> bool:
        """Merge with the next step if both change the same field."""
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
