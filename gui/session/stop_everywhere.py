"""STOP from everywhere: Esc in any field, menu, popup or dialog, and red buttons that nothing blocks."""

from collections.abc import Callable
from typing import ClassVar
from weakref import WeakSet

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets, isQObjectAlive

from gui.session.session_state import StopSource
from gui.texts import tr

_EVENTS = QtCore.QEvent.Type
_KEYS = frozenset([_EVENTS.KeyPress, _EVENTS.ShortcutOverride, _EVENTS.KeyRelease])
_PRESSES = frozenset([_EVENTS.MouseButtonPress, _EVENTS.MouseButtonDblClick])
_BLOCKED = _PRESSES | frozenset(
    [
        _EVENTS.KeyPress,
        _EVENTS.ShortcutOverride,
        _EVENTS.Wheel,
        _EVENTS.ContextMenu,
        _EVENTS.TouchBegin,
        _EVENTS.DragEnter,
        _EVENTS.Close,
    ]
)
"""Events blocked for a window behind a dialog."""
_BEHIND = (QtCore.Qt.WindowType.Window, QtCore.Qt.WindowType.Dialog)
_WATCHED = _KEYS | _BLOCKED | {_EVENTS.Show, _EVENTS.Hide}


class StopButton(QtWidgets.QPushButton):
    """The red button: acts on press, not on release, and is never disabled."""

    _made: ClassVar[WeakSet["StopButton"]] = WeakSet()

    def __init__(self, stop: Callable[[], None], parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(tr("STOP\nEsc"), parent)
        self._made.add(self)
        self.setObjectName("stop")
        self.setAccessibleName(tr("STOP"))
        self.setAccessibleDescription(tr("Stops the rig from any state: decelerate, brakes on, torque off. Also: Esc."))
        self.setToolTip(tr("Stop the rig: decelerate, brakes on, torque off (Esc does the same, anywhere)"))
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.StrongFocus)
        self.setAutoDefault(False)
        self.setMinimumSize(150, 64)
        self.pressed.connect(stop)

    @classmethod
    def lies_at(cls, place: QtCore.QPoint) -> bool:
        """Whether a visible one is at a point of the screen. Searching all widgets would be slow."""
        shown = [button for button in cls._made if isQObjectAlive(button) and button.isVisible()]
        return any(button.rect().contains(button.mapFromGlobal(place)) for button in shown)


class StopEverywhere(QtCore.QObject):
    """Application event filter: Esc always stops, whatever has the focus; STOP gets clicks through popups and dialogs.

    An application shortcut would not fire under a modal dialog, and a shortcut on Esc elsewhere would consume the key:
    so it is handled here first and passed on. A popup grabs all clicks, so their positions are compared with the
    button's.

    No window is modal to Qt, which would block clicks on STOP; an extra window above would depend on the window
    manager's stacking. Modal dialogs are made non-modal before they are shown; this filter blocks keys, clicks and
    closing for windows behind them, except STOP. Dialogs and child windows may cover the main window's STOP, so each
    has its own.

    Args:
        button: the main window's STOP.
        stop: called with the source of a stop.
    """

    def __init__(self, button: StopButton, stop: Callable[[StopSource], None]) -> None:
        super().__init__(button)
        self._button = button
        self._stop = stop
        self._last_key = -1
        self._modal: list[QtWidgets.QDialog] = []
        self._strips: list[tuple[QtWidgets.QWidget, QtWidgets.QWidget]] = []
        application = QtWidgets.QApplication.instance()
        assert application is not None
        # a native file dialog is a system window whose keys do not pass here
        application.setAttribute(QtCore.Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
        application.installEventFilter(self)

    @property
    def dialog(self) -> QtWidgets.QDialog | None:
        """The active modal dialog, None without one."""
        return self._modal[-1] if self._modal else None

    def remove(self) -> None:
        """Remove the filter."""
        application = QtWidgets.QApplication.instance()
        if application is not None:
            application.removeEventFilter(self)

    def eventFilter(self, receiver: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """See the class; consumes only events blocked by a dialog."""
        kind = event.type()
        if kind not in _WATCHED:  # all events of the app pass here
            return False
        if kind in _KEYS:
            self._key(event, released=kind == _EVENTS.KeyRelease)
        elif kind in _PRESSES and isinstance(receiver, QtWidgets.QWidget):  # already handled by its window
            self._press(event)
        elif kind == _EVENTS.Show or kind == _EVENTS.Hide:
            if isinstance(receiver, QtWidgets.QDialog):
                self._shown(receiver) if kind == _EVENTS.Show else self._hidden(receiver)
            elif kind == _EVENTS.Show and isinstance(receiver, QtWidgets.QWidget) and _belongs(receiver):
                self._add_stop_where_missing(receiver)
            return False
        if kind not in _BLOCKED or not self._modal or not self._behind(receiver):
            return False
        if kind == _EVENTS.Close:
            if not event.spontaneous():
                return False  # by the app itself
            event.ignore()
        elif kind == _EVENTS.ShortcutOverride:
            event.accept()  # or a shortcut of the window behind would act
        if kind in _PRESSES or kind == _EVENTS.Close:
            self._modal[-1].raise_()
            self._modal[-1].activateWindow()
        return True

    def _shown(self, dialog: QtWidgets.QDialog) -> None:
        if dialog.isModal():
            dialog.windowHandle().setModality(QtCore.Qt.WindowModality.NonModal)  # not mapped yet
            if dialog not in self._modal:
                self._modal.append(dialog)
                dialog.destroyed.connect(lambda: self._hidden(dialog))  # destruction does not hide it first
        self._add_stop_where_missing(dialog)

    def _hidden(self, dialog: QtWidgets.QDialog) -> None:
        if dialog in self._modal:
            self._modal.remove(dialog)

    def _add_stop_where_missing(self, window: QtWidgets.QWidget) -> None:
        if window.findChild(StopButton) is None:
            self._add_stop(window)

    def _add_stop(self, window: QtWidgets.QWidget) -> None:
        strip = QtWidgets.QWidget(window)
        row = QtWidgets.QHBoxLayout(strip)
        row.setContentsMargins(9, 9, 9, 0)
        row.addStretch(1)
        row.addWidget(StopButton(lambda: self._stop("button"), strip))
        layout = window.layout()
        assert layout is not None, "a window without a layout has no place for STOP"
        layout.setMenuBar(strip)  # above the layout, which reserves its height
        if isinstance(layout, QtWidgets.QGridLayout):  # a message box takes its width from there
            last = layout.columnCount() - 1
            layout.setColumnMinimumWidth(last, max(layout.columnMinimumWidth(last), strip.sizeHint().width()))
        strip.show()  # the window has already shown its children
        # Qt creates a file dialog: Python must keep references to it and to its children.
        entry = (window, strip)
        self._strips.append(entry)
        window.destroyed.connect(lambda: self._strips.remove(entry))

    def _behind(self, receiver: QtCore.QObject) -> bool:
        """Whether a dialog blocks `receiver`: a widget outside the dialog and its child windows."""
        if not isinstance(receiver, QtWidgets.QWidget) or isinstance(receiver, StopButton):
            return False
        window: QtWidgets.QWidget | None = receiver.window()
        if receiver.window().windowType() not in _BEHIND:
            return False  # a popup belongs to the dialog: nothing behind it can have opened one
        while window is not None and window is not self._modal[-1]:
            window = window.parentWidget()
        return window is None

    def _key(self, event: QtGui.QKeyEvent, released: bool) -> None:
        if event.key() != QtCore.Qt.Key.Key_Escape or event.isAutoRepeat():
            return
        if released:
            self._last_key = -1
            return
        if event.timestamp() and event.timestamp() == self._last_key:
            return  # one press passes several objects
        self._last_key = event.timestamp()
        self._stop("Esc")

    def _press(self, event: QtGui.QMouseEvent) -> None:
        popup = QtWidgets.QApplication.activePopupWidget()
        if popup is None or popup.rect().contains(popup.mapFromGlobal(event.globalPos())):
            return
        if StopButton.lies_at(event.globalPos()):
            self._stop("button")


def _belongs(widget: QtWidgets.QWidget) -> bool:
    """Whether a window belongs to another window."""
    return widget.windowType() == QtCore.Qt.WindowType.Window and widget.parentWidget() is not None
