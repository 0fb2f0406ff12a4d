"""Common controls: buttons that show why they are disabled, and choices."""

from collections.abc import Iterable
from typing import Any

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.texts import tr
from gui.widgets.fixed_size_label import TextRoom
from gui.widgets.icons import set_icon
from gui.widgets.number_field import may_turn

_KEYS = QtCore.Qt.Key
_RELEASE = QtCore.QEvent.Type.MouseButtonRelease
_PRESSES = frozenset([QtCore.QEvent.Type.MouseButtonPress, QtCore.QEvent.Type.MouseButtonDblClick])
_GUARDED = _PRESSES | {_RELEASE}
_ARROWS = (_KEYS.Key_Up, _KEYS.Key_Down, _KEYS.Key_Left, _KEYS.Key_Right)


class GuardedButton(QtWidgets.QPushButton):
    """A button for actions that the rig may refuse: shows why it is disabled; Space does not press it.

    It keeps the focus while disabled and on arrow keys: Qt would move it, and the next keys would change another field.

    Args:
        text: label.
        hint: tooltip while enabled.
    """

    def __init__(self, text: str, hint: str = "", parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._hint = hint
        self.obstacle = ""
        self.setAccessibleName(text.replace("&", ""))
        self.setToolTip(hint)
        self.setAutoDefault(False)

    def set_obstacle(self, reason: str) -> None:
        """Disable the button for `reason`; empty enables it."""
        self.obstacle = reason
        self.setEnabled(not reason)
        words = tr("not possible now: {reason}").format(reason=reason) if reason else self._hint
        if (self.toolTip(), self.accessibleDescription()) != (reason or self._hint, words):
            self.setToolTip(reason or self._hint)  # an event each time, through every filter of the app
            self.setAccessibleDescription(words)

    def set_hint(self, hint: str) -> None:
        """Set the tooltip."""
        self._hint = hint
        self.set_obstacle(self.obstacle)

    def focusNextPrevChild(self, following: bool) -> bool:
        """Move the focus as Tab does, but keep it when the button is disabled."""
        return (self.isVisible() and not self.isEnabled()) or bool(super().focusNextPrevChild(following))

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Return and Enter press the button; Space, easily hit by accident, does not; arrows scroll the page."""
        if not _guarded_key(self, event):
            super().keyPressEvent(event)


class PressGuard(QtCore.QObject):
    """Application event filter: ignores a click if its button changed between press and release.

    A button has changed if it was moved, or has another accessible name or check state: the user meant the previous
    one.
    STOP acts on press, before any of this.
    """

    def __init__(self, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self._pressed: tuple[QtWidgets.QAbstractButton, object] | None = None
        QtWidgets.QApplication.instance().installEventFilter(self)

    def remove(self) -> None:
        """Remove the filter."""
        QtWidgets.QApplication.instance().removeEventFilter(self)

    def eventFilter(self, receiver: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """See the class; consumes no event."""
        kind = event.type()
        if kind not in _GUARDED:  # all events of the app pass here
            return False
        if kind in _PRESSES and isinstance(receiver, QtWidgets.QAbstractButton):
            self._pressed = (receiver, _meaning(receiver))
        elif kind == _RELEASE and self._pressed is not None:
            button, before = self._pressed
            if button is receiver:  # already handled by its window
                self._pressed = None
                if _meaning(button) != before:
                    button.setDown(False)  # a released button is not clicked
        return False


def _meaning(button: QtWidgets.QAbstractButton) -> object:
    """Return a button's position and meaning."""
    name = button.accessibleName() or button.text()
    return button.mapToGlobal(QtCore.QPoint()), button.size(), name, button.isChecked()


class GuardedCheckBox(QtWidgets.QCheckBox):
    """A check box for permissions to the rig: Space never toggles it."""

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Same as `GuardedButton`."""
        if not _guarded_key(self, event):
            super().keyPressEvent(event)


def _guarded_key(button: QtWidgets.QAbstractButton, event: QtGui.QKeyEvent) -> bool:
    """Click on Return and Enter, ignore Space, pass arrows to the scroll area; return whether handled."""
    if event.key() in (_KEYS.Key_Return, _KEYS.Key_Enter):
        button.click()
        return True
    if event.key() in _ARROWS:
        event.ignore()
        return True
    return bool(event.key() == _KEYS.Key_Space)


def mark_next(button: GuardedButton, following: bool) -> None:
    """Mark a button as the next step, or not."""
    if bool(button.property("next")) != following:
        button.setProperty("next", following)
        button.style().unpolish(button)
        button.style().polish(button)
        if meaning := button.property("meaning"):
            set_icon(button, meaning)


def room_for(button: QtWidgets.QPushButton, texts: Iterable[str]) -> int:
    """Return the px that a button needs for the longest of its texts in bold, so that it keeps its size."""
    bold = QtGui.QFont(button.font())
    bold.setBold(True)
    longest = max(map(QtGui.QFontMetrics(bold).horizontalAdvance, (button.text(), *texts)))
    return int(button.minimumSizeHint().width() - button.fontMetrics().horizontalAdvance(button.text()) + longest)


class Reason(TextRoom):
    """Shows why a group of controls is disabled, empty if enabled; of constant size.

    Args:
        name: accessible name.
        role: style of the text.
        lines: visible ones; longer text scrolls.
    """

    def __init__(self, name: str = "", role: str = "reason", lines: int = 2) -> None:
        self._label = QtWidgets.QLabel()
        self._label.setObjectName(role)
        self._label.setAccessibleName(name or tr("Why this is not possible now"))
        super().__init__(self._label, lines)

    def text(self) -> str:
        """The displayed text."""
        return str(self._label.text())

    def show_reason(self, reason: str) -> None:
        """Show `reason`; empty clears it."""
        self.show_text(tr("Not now: {reason}.").format(reason=reason) if reason else "")


class Choice(QtWidgets.QComboBox):
    """A combo box of (text, data). The wheel acts only with focus, as in `NumberField`.

    Args:
        name: accessible name.
        entries: the options.
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
