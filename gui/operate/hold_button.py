"""A button for a step that repeats while pressed; it releases itself when anything interrupts the operator."""

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.widgets import GuardedButton

PRESS = 250
"""ms; a longer press is a hold, a shorter one a click."""
REPEAT = 30
"""ms within which an auto-repeating key is down again, see `Repeats`."""
_KEYS = QtCore.Qt.Key
_CLICKING = (_KEYS.Key_Return, _KEYS.Key_Enter)
_EVENTS = QtCore.QEvent.Type
_INTERRUPTIONS = frozenset(
    [
        _EVENTS.ApplicationStateChange,
        _EVENTS.WindowActivate,
        _EVENTS.WindowDeactivate,
        _EVENTS.WindowStateChange,
        _EVENTS.FocusOut,
        _EVENTS.MouseButtonPress,
        _EVENTS.Wheel,
        _EVENTS.ContextMenu,
        _EVENTS.DragEnter,
    ]
)
"""Events anywhere in the app that end a hold."""


class Repeats:
    """Distinguishes auto-repeat from real key events: X sends each repetition as release and press at the same time.

    Qt flags only those repetitions whose second half is already queued.
    """

    def __init__(self) -> None:
        self._up: dict[int, int] = {}

    def release(self, event: QtGui.QKeyEvent) -> None:
        """Register a key release, real or repeated."""
        self._up[event.key()] = event.timestamp()

    def again(self, event: QtGui.QKeyEvent) -> bool:
        """Whether this key press is an auto-repeat."""
        return bool(event.isAutoRepeat() or self._up.get(event.key()) == event.timestamp())


class HoldButton(GuardedButton):
    """A press-and-hold button.

    Signals: `clicked`: a short press; `hold_started`, `hold_ended`: of a long one.

    Keys go through `press_key` and `release_key`, its own Return and Enter automatically; other input devices use
    `press_input` and `release_input`.
    """

    hold_started = QtCore.Signal()
    hold_ended = QtCore.Signal()

    def __init__(self, text: str, hint: str = "", parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(text, hint, parent)
        self.holding = False
        self._spent = False  # the current or last press is no longer a click
        self._key: int | None = None
        self._clicks = False
        self._timer = QtCore.QTimer(self)
        self._nearly = False
        self._repeats = Repeats()
        self._timer.setInterval(PRESS // 2)
        self._timer.timeout.connect(self._wait)
        self._up = QtCore.QTimer(self)
        self._up.setSingleShot(True)
        self._up.setTimerType(QtCore.Qt.TimerType.PreciseTimer)
        self._up.setInterval(REPEAT)
        self._up.timeout.connect(self._key_up)

    @property
    def is_held(self) -> bool:
        """Whether it is pressed, visible and not interrupted; users of the hold poll this."""
        window = self.window()
        return bool(
            self.isDown()
            and self.isEnabled()
            and self.isVisible()
            and window.isActiveWindow()
            and not window.isMinimized()
            and QtWidgets.QApplication.activePopupWidget() is None
            and (self._key is None or self._has_keys())
        )

    def end(self) -> None:
        """End a hold or a pending press."""
        self._timer.stop()
        self._up.stop()
        self._key = None
        if self.holding:
            self.holding = False
            QtWidgets.QApplication.instance().removeEventFilter(self)
            self.setDown(False)
            self.hold_ended.emit()

    def press_key(self, key: int, *, clicks: bool) -> None:
        """Press the button by a key; `clicks`: whether a short press is a click."""
        if self.isEnabled() and not self.isDown():
            self._spent, self._key, self._clicks = False, key, clicks
            self.setDown(True)
            self._begin()

    def keep_key_pressed(self, key: int) -> None:
        """Cancel a pending `release_key`: the key auto-repeats."""
        if key == self._key:
            self._up.stop()

    def release_key(self, key: int) -> bool:
        """Release the key unless `keep_key_pressed` follows in time; return whether it had pressed the button."""
        if key != self._key:
            return False
        self._up.start()
        return True

    def _key_up(self) -> None:
        clicked = self._clicks and self._timer.isActive()
        self.end()
        self.setDown(False)
        if clicked:
            self.click()

    def press_input(self) -> bool:
        """Press the button by another device, never as a click; return whether it is pressed now."""
        if not self.isEnabled() or not self.isVisible() or self.isDown():
            return False
        self._spent, self._key = True, None
        self.setDown(True)
        self._begin()
        return True

    def release_input(self) -> None:
        """Release what `press_input` pressed."""
        self.end()
        self.setDown(False)

    def _has_keys(self) -> bool:
        focus = QtWidgets.QApplication.focusWidget()
        pad = self.parentWidget()
        return focus is self or (focus is not None and pad is not None and pad.isAncestorOf(focus))

    def _begin(self) -> None:
        self._nearly = False
        self._timer.start()

    def _wait(self) -> None:
        """Wait in two halves: in between a busy window processes pending events, and mistakes no click for a hold."""
        if self._nearly and not self._up.isActive():
            self._timer.stop()
            self._hold()
        self._nearly = True

    def _hold(self) -> None:
        self._spent = True
        if self.is_held:
            self.holding = True
            QtWidgets.QApplication.instance().installEventFilter(self)
            self.hold_started.emit()
        else:
            self.setDown(False)
            self._key = None

    # -- events ------------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        """Begin a press, which becomes a hold in time."""
        super().mousePressEvent(event)
        if event.button() == QtCore.Qt.MouseButton.LeftButton and self._key is None:
            self._spent = False
            self._begin()

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        """Release when the pointer leaves the button."""
        super().mouseMoveEvent(event)
        if self.holding and not self.rect().contains(event.pos()):
            self.end()

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """Release; only a short press is a click."""
        blocked = self.blockSignals(self._spent)
        super().mouseReleaseEvent(event)
        self.blockSignals(blocked)
        self.end()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Return and Enter press the button until released; other keys as `GuardedButton`."""
        if event.key() not in _CLICKING:
            super().keyPressEvent(event)
        elif self._repeats.again(event):
            self.keep_key_pressed(event.key())
        else:
            self.press_key(event.key(), clicks=True)

    def keyReleaseEvent(self, event: QtGui.QKeyEvent) -> None:
        """See `keyPressEvent`."""
        self._repeats.release(event)
        if event.isAutoRepeat() or not self.release_key(event.key()):
            super().keyReleaseEvent(event)

    def focusOutEvent(self, event: QtGui.QFocusEvent) -> None:
        """Losing the focus ends holds and key presses."""
        super().focusOutEvent(event)
        if self._key in _CLICKING:
            self.setDown(False)
            self.end()

    def eventFilter(self, receiver: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """During a hold, watch the app's events: end it on an interruption; events are not consumed.

        Esc and STOP end the motion, and thereby the hold.
        """
        kind = event.type()
        comes = kind == _EVENTS.Show and isinstance(receiver, QtWidgets.QWidget) and receiver.isWindow()
        if self.holding and (kind in _INTERRUPTIONS or (comes and not _is_tip(receiver))):
            self.end()
        return False


def _is_tip(widget: QtWidgets.QWidget) -> bool:
    return bool(widget.windowType() == QtCore.Qt.WindowType.ToolTip)
