"""Controls that every panel uses: buttons that say why they cannot be pressed, and choices."""

from collections.abc import Iterable
from typing import Any

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.texts import tr
from gui.widgets.fixed_size_label import TextRoom
from gui.widgets.icons import give
from gui.widgets.number_field import may_turn

_KEYS = QtCore.Qt.Key
_PRESSES = (QtCore.QEvent.Type.MouseButtonPress, QtCore.QEvent.Type.MouseButtonDblClick)
_ARROWS = (_KEYS.Key_Up, _KEYS.Key_Down, _KEYS.Key_Left, _KEYS.Key_Right)


class GuardedButton(QtWidgets.QPushButton):
    """A button for what the rig may refuse: disabled it says why, and Space never presses it.

    It keeps the keyboard focus while it is disabled, and at arrow keys: Qt would pass that on, and the next keys would
    change a field that nobody chose.

    Args:
        text: label.
        hint: tooltip while it can be pressed.
    """

    def __init__(self, text: str, hint: str = "", parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._hint = hint
        self.obstacle = ""
        self.setAccessibleName(text.replace("&", ""))
        self.setToolTip(hint)
        self.setAutoDefault(False)

    def set_obstacle(self, reason: str) -> None:
        """Disable the button for `reason`, or enable it when that is empty."""
        self.obstacle = reason
        self.setEnabled(not reason)
        self.setToolTip(reason or self._hint)
        self.setAccessibleDescription(tr("not possible now: {reason}").format(reason=reason) if reason else self._hint)

    def set_hint(self, hint: str) -> None:
        """Say what the button does, where that changes."""
        self._hint = hint
        self.set_obstacle(self.obstacle)

    def focusNextPrevChild(self, following: bool) -> bool:
        """Move the focus on as Tab does, but not away from a button that is being disabled."""
        return (self.isVisible() and not self.isEnabled()) or bool(super().focusNextPrevChild(following))

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Return and Enter press the button; Space, which is hit by accident, does not; arrows scroll the page."""
        if not _guarded_key(self, event):
            super().keyPressEvent(event)


class PressGuard(QtCore.QObject):
    """Application event filter: a press of the mouse does nothing where its button is another when it is let go.

    That is one that was moved meanwhile, or means something else: has another accessible name or another tick. Whoever
    pressed it saw the one before. STOP acts when it is pressed, before any of this.
    """

    def __init__(self, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self._pressed: tuple[QtWidgets.QAbstractButton, object] | None = None
        QtWidgets.QApplication.instance().installEventFilter(self)

    def remove(self) -> None:
        """Look no further."""
        QtWidgets.QApplication.instance().removeEventFilter(self)

    def eventFilter(self, receiver: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """See the class; keeps no event back."""
        kind = event.type()
        if kind in _PRESSES and isinstance(receiver, QtWidgets.QAbstractButton):
            self._pressed = (receiver, _meaning(receiver))
        elif kind == QtCore.QEvent.Type.MouseButtonRelease and self._pressed is not None:
            button, before = self._pressed
            if button is receiver:  # its window has it before
                self._pressed = None
                if _meaning(button) != before:
                    button.setDown(False)  # what is not down is not clicked
        return False


def _meaning(button: QtWidgets.QAbstractButton) -> object:
    """Where a button is, and what it does."""
    name = button.accessibleName() or button.text()
    return button.mapToGlobal(QtCore.QPoint()), button.size(), name, button.isChecked()


class GuardedCheckBox(QtWidgets.QCheckBox):
    """A check box for what makes the rig do more than it would: Space never ticks it."""

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """As those of `GuardedButton`."""
        if not _guarded_key(self, event):
            super().keyPressEvent(event)


def _guarded_key(button: QtWidgets.QAbstractButton, event: QtGui.QKeyEvent) -> bool:
    """Click on Return and Enter, do nothing on Space, leave arrows to what scrolls; whether it was one of these."""
    if event.key() in (_KEYS.Key_Return, _KEYS.Key_Enter):
        button.click()
        return True
    if event.key() in _ARROWS:
        event.ignore()
        return True
    return bool(event.key() == _KEYS.Key_Space)


def mark_next(button: GuardedButton, following: bool) -> None:
    """Show that a button is the next step, or not."""
    if bool(button.property("next")) != following:
        button.setProperty("next", following)
        button.style().unpolish(button)
        button.style().polish(button)
        if meaning := button.property("meaning"):
            give(button, meaning)


def room_for(button: QtWidgets.QPushButton, texts: Iterable[str]) -> int:
    """px that a button needs for the longest of its texts, bold as the next step is: it need not change with them."""
    bold = QtGui.QFont(button.font())
    bold.setBold(True)
    longest = max(map(QtGui.QFontMetrics(bold).horizontalAdvance, (button.text(), *texts)))
    return int(button.minimumSizeHint().width() - button.fontMetrics().horizontalAdvance(button.text()) + longest)


class Reason(TextRoom):
    """Says why a group of controls cannot be used now; empty when it can. It has its room all the time.

    Args:
        name: accessible name.
        role: of the text, by which it is styled.
        lines: that have room; more scroll.
    """

    def __init__(self, name: str = "", role: str = "reason", lines: int = 2) -> None:
        self._label = QtWidgets.QLabel()
        self._label.setObjectName(role)
        self._label.setAccessibleName(name or tr("Why this is not possible now"))
        super().__init__(self._label, lines)

    def text(self) -> str:
        """What is said."""
        return str(self._label.text())

    def show_reason(self, reason: str) -> None:
        """Say `reason`, or nothing."""
        self.show_text(tr("Not now: {reason}.").format(reason=reason) if reason else "")


class Choice(QtWidgets.QComboBox):
    """One of several (text, data). The wheel turns it only after it was chosen, as with `NumberField`.

    Args:
        name: accessible name.
        entries: what there is to choose from.
    """

    def __init__(
        self, name: str, entries: Iterable[tuple[str, Any]] = (), parent: QtWidgets.QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.StrongFocus)
        for text, data in entries:
            self.addItem(text, data)
        self.setAccessibleName(name)
        self.setToolTip(name)

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        """See `NumberField.wheelEvent`."""
        if may_turn(self, event):
            super().wheelEvent(event)
