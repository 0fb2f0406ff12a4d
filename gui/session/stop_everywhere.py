"""STOP from wherever the operator is: Esc in any field, menu, popup or dialog, and red buttons that nothing blocks."""

from collections.abc import Callable
from typing import ClassVar
from weakref import WeakSet

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets, isQObjectAlive

from gui.session.session_state import StopSource
from gui.texts import tr

_EVENTS = QtCore.QEvent.Type
_KEYS = frozenset([_EVENTS.KeyPress, _EVENTS.ShortcutOverride, _EVENTS.KeyRelease])
_PRESSES = frozenset([_EVENTS.MouseButtonPress, _EVENTS.MouseButtonDblClick])
_KEPT_BACK = _PRESSES | frozenset(
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
"""What a window behind a dialog does not get."""
_BEHIND = (QtCore.Qt.WindowType.Window, QtCore.Qt.WindowType.Dialog)
_WATCHED = _KEYS | _KEPT_BACK | {_EVENTS.Show, _EVENTS.Hide}


class StopButton(QtWidgets.QPushButton):
    """The red button: acts when it is pressed, not when it is let go, and is never disabled."""

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
        """Whether one that is in view is at a point of the screen. All widgets would take long to look through."""
        shown = [button for button in cls._made if isQObjectAlive(button) and button.isVisible()]
        return any(button.rect().contains(button.mapFromGlobal(place)) for button in shown)


class StopEverywhere(QtCore.QObject):
    """Application event filter: Esc stops whatever has the focus, and STOP takes a click past popups and dialogs.

    An application shortcut would not fire under a modal dialog, and a shortcut on Esc anywhere would swallow the key:
    the key is taken here, before either, and goes on its way. A popup takes every click, so its clicks are compared
    with the button's place.

    No window of the app is ever modal to Qt, which would let no click through to STOP; a second window above it would
    depend on how the window manager stacks them. What is shown as modal is made an ordinary window before it comes up;
    what is behind it gets no keys, clicks, or wish to close from here, but for STOP. And since a dialog, or another
    window that belongs to the main window, may lie over its STOP, each has one of its own.

    Args:
        button: the main window's STOP.
        stop: told where a stop came from.
    """

    def __init__(self, button: StopButton, stop: Callable[[StopSource], None]) -> None:
        super().__init__(button)
        self._button = button
        self._stop = stop
        self._last_key = -1
        self._modal: list[QtWidgets.QDialog] = []
        self._kept: list[tuple[QtWidgets.QWidget, QtWidgets.QWidget]] = []
        application = QtWidgets.QApplication.instance()
        assert application is not None
        # a native file dialog is the system's window, and its keys do not come by here
        application.setAttribute(QtCore.Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
        application.installEventFilter(self)

    @property
    def dialog(self) -> QtWidgets.QDialog | None:
        """The dialog that everything else waits for, None while there is none."""
        return self._modal[-1] if self._modal else None

    def remove(self) -> None:
        """Look no further."""
        application = QtWidgets.QApplication.instance()
        if application is not None:
            application.removeEventFilter(self)

    def eventFilter(self, receiver: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """See the class; keeps to itself what is for a window behind a dialog, and nothing else."""
        kind = event.type()
        if kind not in _WATCHED:  # every event of the app comes by here
            return False
        if kind in _KEYS:
            self._key(event, released=kind == _EVENTS.KeyRelease)
        elif kind in _PRESSES and isinstance(receiver, QtWidgets.QWidget):  # its window had it before
            self._press(event)
        elif kind == _EVENTS.Show or kind == _EVENTS.Hide:
            if isinstance(receiver, QtWidgets.QDialog):
                self._shown(receiver) if kind == _EVENTS.Show else self._hidden(receiver)
            elif kind == _EVENTS.Show and isinstance(receiver, QtWidgets.QWidget) and _belongs(receiver):
                self._add_stop_where_missing(receiver)
            return False
        if kind not in _KEPT_BACK or not self._modal or not self._behind(receiver):
            return False
        if kind == _EVENTS.Close:
            if not event.spontaneous():
                return False  # the app's own doing
            event.ignore()
        elif kind == _EVENTS.ShortcutOverride:
            event.accept()  # or a shortcut of the window behind would act
        if kind in _PRESSES or kind == _EVENTS.Close:
            self._modal[-1].raise_()
            self._modal[-1].activateWindow()
        return True

    def _shown(self, dialog: QtWidgets.QDialog) -> None:
        if dialog.isModal():
            dialog.windowHandle().setModality(QtCore.Qt.WindowModality.NonModal)  # it is not mapped yet
            if dialog not in self._modal:
                self._modal.append(dialog)
                dialog.destroyed.connect(lambda: self._hidden(dialog))  # which hides nothing, as it is no more
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
        layout.setMenuBar(strip)  # above whatever the layout is, which makes room for its height
        if isinstance(layout, QtWidgets.QGridLayout):  # a message box takes its width from there
            last = layout.columnCount() - 1
            layout.setColumnMinimumWidth(last, max(layout.columnMinimumWidth(last), strip.sizeHint().width()))
        strip.show()  # the window has shown its children already
        # A file dialog is made by Qt, and nothing of Python's holds it or what is put into it.
        kept = (window, strip)
        self._kept.append(kept)
        window.destroyed.connect(lambda: self._kept.remove(kept))

    def _behind(self, receiver: QtCore.QObject) -> bool:
        """Whether a dialog keeps something from `receiver`: a widget of a window that is not it, nor belongs to it."""
        if not isinstance(receiver, QtWidgets.QWidget) or isinstance(receiver, StopButton):
            return False
        window: QtWidgets.QWidget | None = receiver.window()
        if receiver.window().windowType() not in _BEHIND:
            return False  # a popup is of a field of the dialog: nothing behind it can have opened one
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
            return  # one press passes several objects on its way
        self._last_key = event.timestamp()
        self._stop("Esc")

    def _press(self, event: QtGui.QMouseEvent) -> None:
        popup = QtWidgets.QApplication.activePopupWidget()
        if popup is None or popup.rect().contains(popup.mapFromGlobal(event.globalPos())):
            return
        if StopButton.lies_at(event.globalPos()):
            self._stop("button")


def _belongs(widget: QtWidgets.QWidget) -> bool:
    """Whether it is a window of another window's."""
    return widget.windowType() == QtCore.Qt.WindowType.Window and widget.parentWidget() is not None
