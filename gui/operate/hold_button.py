"""A button for a step that moves on while it is kept down, and lets go by itself whatever takes it from the hand."""

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.widgets import GuardedButton

PRESS = 250
"""ms; what is down for longer is held, what is let go before is a click"""
REPEAT = 30
"""ms in which a key that repeats is down again, see `Repeats`"""
_KEYS = QtCore.Qt.Key
_CLICKING = (_KEYS.Key_Return, _KEYS.Key_Enter)
_EVENTS = QtCore.QEvent.Type
_TAKEN = frozenset(
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
"""What happens anywhere in the app and ends a hold: somebody turns to something else."""


class Repeats:
    """Tells a key that repeats from one that is pressed: X sends each repetition as up and down at the same time.

    Qt marks only those as repeated whose second half it has already when it looks at the first.
    """

    def __init__(self) -> None:
        self._up: dict[int, int] = {}

    def release(self, event: QtGui.QKeyEvent) -> None:
        """A key is up, for real or not."""
        self._up[event.key()] = event.timestamp()

    def again(self, event: QtGui.QKeyEvent) -> bool:
        """Whether this key was down all the time."""
        return bool(event.isAutoRepeat() or self._up.get(event.key()) == event.timestamp())


class HoldButton(GuardedButton):
    """See the module. `clicked` is a press that was short; `held` begins one that is not, `let_go` ends it.

    A key that presses it is given to it by `press_key` and `release_key`, Return and Enter of its own by itself; who
    presses it otherwise does so by `hold_down` and `let_up`.
    """

    held = QtCore.Signal()
    let_go = QtCore.Signal()

    def __init__(self, text: str, hint: str = "", parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(text, hint, parent)
        self.holding = False
        self._spent = False  # the press that is under way, or was the last, is no click any more
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
    def in_hand(self) -> bool:
        """Whether it is down, in view, and nothing has come before it: whoever is told of the hold asks every time."""
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
        """Let go, whatever is still down; nothing where nothing is held. A press that has not become one is none."""
        self._timer.stop()
        self._up.stop()
        self._key = None
        if self.holding:
            self.holding = False
            QtWidgets.QApplication.instance().removeEventFilter(self)
            self.setDown(False)
            self.let_go.emit()

    def press_key(self, key: int, *, clicks: bool) -> None:
        """A key is down that presses the button; `clicks`: whether it does so where it is let go soon."""
        if self.isEnabled() and not self.isDown():
            self._spent, self._key, self._clicks = False, key, clicks
            self.setDown(True)
            self._begin()

    def keep_key(self, key: int) -> None:
        """A key has not been up."""
        if key == self._key:
            self._up.stop()

    def release_key(self, key: int) -> bool:
        """A key is up, which counts unless `keep_key` is told otherwise in time; whether it had pressed the button."""
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

    def hold_down(self) -> bool:
        """Something that is neither mouse nor key presses it, which is never a click; whether it is down now."""
        if not self.isEnabled() or not self.isVisible() or self.isDown():
            return False
        self._spent, self._key = True, None
        self.setDown(True)
        self._begin()
        return True

    def let_up(self) -> None:
        """What `hold_down` pressed is up."""
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
        """In two halves: in between a busy window hears what has come meanwhile, and takes no click for a hold."""
        if self._nearly and not self._up.isActive():
            self._timer.stop()
            self._hold()
        self._nearly = True

    def _hold(self) -> None:
        self._spent = True
        if self.in_hand:
            self.holding = True
            QtWidgets.QApplication.instance().installEventFilter(self)
            self.held.emit()
        else:
            self.setDown(False)
            self._key = None

    # -- what it hears -----------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        """Begin a click, which becomes a hold in time."""
        super().mousePressEvent(event)
        if event.button() == QtCore.Qt.MouseButton.LeftButton and self._key is None:
            self._spent = False
            self._begin()

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        """A pointer that leaves the button has let go of it."""
        super().mouseMoveEvent(event)
        if self.holding and not self.rect().contains(event.pos()):
            self.end()

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """Let go; only a short press is a click."""
        blocked = self.blockSignals(self._spent)
        super().mouseReleaseEvent(event)
        self.blockSignals(blocked)
        self.end()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Return and Enter press the button until they are up; for the others see `GuardedButton`."""
        if event.key() not in _CLICKING:
            super().keyPressEvent(event)
        elif self._repeats.again(event):
            self.keep_key(event.key())
        else:
            self.press_key(event.key(), clicks=True)

    def keyReleaseEvent(self, event: QtGui.QKeyEvent) -> None:
        """See `keyPressEvent`."""
        self._repeats.release(event)
        if event.isAutoRepeat() or not self.release_key(event.key()):
            super().keyReleaseEvent(event)

    def focusOutEvent(self, event: QtGui.QFocusEvent) -> None:
        """Whoever turns to something else holds nothing, and presses nothing by a key that is still down."""
        super().focusOutEvent(event)
        if self._key in _CLICKING:
            self.setDown(False)
            self.end()

    def eventFilter(self, receiver: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """While it is held, of the whole app: let go where somebody turns to something else; nothing is kept back.

        Esc and STOP end the motion, and by that the hold.
        """
        kind = event.type()
        comes = kind == _EVENTS.Show and isinstance(receiver, QtWidgets.QWidget) and receiver.isWindow()
        if self.holding and (kind in _TAKEN or (comes and not _is_tip(receiver))):
            self.end()
        return False


def _is_tip(widget: QtWidgets.QWidget) -> bool:
    return bool(widget.windowType() == QtCore.Qt.WindowType.ToolTip)
