"""What was changed on a motion, step by step: undone and done again."""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import takewhile
from typing import Any

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.motion.specification import Data, authored, in_words
from gui.texts import tr
from gui.widgets import NumberField, give, number_fields
from kinematics import COORDINATES

Place = tuple[str | int, ...]
"""Keys and indices that lead to a number in a motion's data."""

_UNDO, _REDO = ("Ctrl+Z",), ("Ctrl+Shift+Z", "Ctrl+Y")
_COORDINATES = tuple(each.replace("r", "θ") for each in COORDINATES)


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
        self._is_field = _is_field(self._place, before, after)
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


def what_changed(before: Data, after: Data) -> tuple[Place, str]:
    """Where two motions differ, and what was done in words; the place ends where there is more or less of something."""
    old, new = before["parts"], after["parts"]
    if len(old) != len(new):
        index = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        kind = (new if len(new) > len(old) else old)[index]["type"]
        done = tr("adding {kind}") if len(new) > len(old) else tr("removing {kind}")
        return ("parts", index), done.format(kind=kind)
    places = list(_differences(before, after))
    parts = {place[1] for place in places if place[0] == "parts"}
    if len(parts) > 1:
        return ("parts", min(parts)), tr("moving a part")
    place = _common(places)
    return place, _in_words(place) if place else tr("changing the motion")


def _is_field(place: Place, before: Data, after: Data) -> bool:
    """Whether a place is one that is typed in, and not one of parts or lines of which there are more now, or fewer."""
    if not place or (place[0] == "parts" and len(place) < 3):
        return False
    old, new = (_at(authored(motion), place) for motion in (before, after))
    return not (isinstance(old, list) and isinstance(new, list) and len(old) != len(new))


def _at(motion: Any, place: Place) -> Any:
    """What a motion has at a place, None where it has nothing there."""
    for key in place:
        if isinstance(motion, dict):
            motion = motion.get(key)
        else:
            motion = motion[key] if isinstance(motion, list) and isinstance(key, int) else None
    return motion


def _common(places: list[Place]) -> Place:
    """The beginning that all places have."""
    same = takewhile(lambda each: len(set(each)) == 1, zip(*places, strict=False))
    return tuple(each[0] for each in same)


def _differences(before: Any, after: Any, place: Place = ()) -> Iterator[Place]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            yield from _differences(before.get(key), after.get(key), (*place, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (a, b) in enumerate(zip(before, after, strict=True)):
            yield from _differences(a, b, (*place, index))
    elif before != after:
        yield place


def _in_words(place: Place) -> str:
    """What is at a place, such as "end z of part 1" or "amplitude of line 2 of part 1"."""
    if place[0] == "validation":
        return " ".join([tr("thresholds"), *(in_words(str(each)) for each in place[1:])])
    words = [in_words(each) for each in place if isinstance(each, str) and each not in ("parts", "terms")]
    numbers = [each for each in place if isinstance(each, int)]
    of = [tr("part {number}").format(number=numbers.pop(0) + 1)] if place[0] == "parts" else []
    if "terms" in place:
        of = [*(tr("line {number}").format(number=number + 1) for number in numbers), *of]
        words = words or ([] if numbers else [tr("lines")])
    else:
        words += [_COORDINATES[number] for number in numbers]
    first, *others = [*filter(None, [" ".join(words)]), *of]
    return reduce(lambda what, whole: tr("{what} of {whole}").format(what=what, whole=whole), others, first)
