"""STOP from wherever the operator is: Esc in any field, menu, popup or dialog, and the red button under all of them."""

from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.rig_session import StopSource

_EVENTS = QtCore.QEvent.Type
_KEYS = frozenset([_EVENTS.KeyPress, _EVENTS.ShortcutOverride, _EVENTS.KeyRelease])
_WATCHED = _KEYS | {_EVENTS.MouseButtonPress, _EVENTS.Show}


class StopButton(QtWidgets.QPushButton):
    """The red button: acts when it is pressed, not when it is let go, and is never disabled."""

    def __init__(self, stop: Callable[[], None], parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__("STOP\nEsc", parent)
        self.setObjectName("stop")
        self.setAccessibleName("STOP")
        self.setAccessibleDescription("Stops the rig from any state: decelerate, brakes on, torque off. Also: Esc.")
        self.setToolTip("Stop the rig: decelerate, brakes on, torque off (Esc does the same, anywhere)")
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.StrongFocus)
        self.setAutoDefault(False)
        self.setMinimumSize(150, 64)
        self.pressed.connect(stop)


class StopEverywhere(QtCore.QObject):
    """Application event filter: Esc stops whatever has the focus, and a click reaches STOP past popups and dialogs.

    An application shortcut would not fire under a modal dialog, and a shortcut on Esc anywhere would swallow the key:
    the key is taken here, before either, and goes on its way. A popup takes every click, so its clicks are compared
    with the button's place; a modal dialog lets no click through to other windows, so one that has no STOP of its own
    gets one in the same place.

    Args:
        button: the main window's STOP.
        stop: told where a stop came from.
    """

    def __init__(self, button: StopButton, stop: Callable[[StopSource], None]) -> None:
        super().__init__(button)
        self._button = button
        self._stop = stop
        self._last_key = -1
        self._stand_ins: list[_StandIn] = []
        application = QtWidgets.QApplication.instance()
        assert application is not None
        # a native file dialog is the system's window, and its keys do not come by here
        application.setAttribute(QtCore.Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
        application.installEventFilter(self)

    def remove(self) -> None:
        """Look no further."""
        application = QtWidgets.QApplication.instance()
        if application is not None:
            application.removeEventFilter(self)

    def eventFilter(self, receiver: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """See the class; never keeps an event to itself."""
        kind = event.type()
        if kind not in _WATCHED:  # every event of the app comes by here
            return False
        if kind in _KEYS:
            self._key(event, released=kind == _EVENTS.KeyRelease)
        elif kind == _EVENTS.MouseButtonPress:
            self._press(event)
        elif (
            kind == _EVENTS.Show
            and isinstance(receiver, QtWidgets.QDialog)
            and receiver.isModal()
            and receiver.findChild(StopButton) is None
        ):
            self._add_stand_in(receiver)
        return False

    def _add_stand_in(self, dialog: QtWidgets.QDialog) -> None:
        stand_in = _StandIn(self._button, dialog, lambda: self._stop("button"))
        # A file dialog is made by Qt, and nothing of Python's holds it or what is put into it.
        self._stand_ins.append(stand_in)
        dialog.finished.connect(lambda _result: self._stand_ins.remove(stand_in))

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
        if popup is not None and self._button.isVisible():
            place = self._button.mapFromGlobal(event.globalPos())
            if self._button.rect().contains(place):
                self._stop("button")


class _StandIn(QtWidgets.QWidget):
    """A STOP over the main window's, belonging to a modal dialog, as long as that is shown."""

    def __init__(self, original: StopButton, dialog: QtWidgets.QDialog, stop: Callable[[], None]) -> None:
        kind = QtCore.Qt.WindowType
        super().__init__(dialog, kind.Tool | kind.FramelessWindowHint | kind.WindowDoesNotAcceptFocus)
        self.setAttribute(QtCore.Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setWindowTitle("STOP")
        self.button = StopButton(stop, self)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.button)
        self.setGeometry(QtCore.QRect(original.mapToGlobal(QtCore.QPoint(0, 0)), original.size()))
        dialog.finished.connect(self.deleteLater)
        self.show()
