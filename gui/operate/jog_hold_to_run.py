"""Hold-to-run on the Jog page: while a button is held the engine is told so again and again, and no longer once not."""

from collections.abc import Callable, Mapping
from functools import partial

from pyqtgraph.Qt import QtCore

from gui.operate.hold_button import HoldButton
from gui.session import Mover, RigSession

_RENEWAL = 40  # ms


class JogHoldToRun(QtCore.QObject):
    """Tells the engine that a button is held, in the window's own thread: a window that hangs holds nothing.

    Args:
        session: the rig.
        mover: by which `begin` begins.
        buttons: what can be held, by direction such as "+x".
        begin: has the way of a direction planned, checked and sent.
    """

    changed = QtCore.Signal()

    def __init__(
        self,
        session: RigSession,
        mover: Mover,
        buttons: Mapping[str, HoldButton],
        begin: Callable[[str], None],
        parent: QtCore.QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._mover = mover
        self._buttons = buttons
        self._begin = begin
        self.key = ""
        """of the button that is held, empty while none is"""
        self._timer = QtCore.QTimer(self)
        self._timer.setTimerType(QtCore.Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_RENEWAL)
        self._timer.timeout.connect(self._renew)
        for key, button in buttons.items():
            button.held.connect(partial(self._held, key))
            button.let_go.connect(self._let_go)
        mover.finished.connect(lambda _reason: self.end())

    def end(self) -> None:
        """Let go of what is held."""
        if self.key:
            self._buttons[self.key].end()

    def _held(self, key: str) -> None:
        self.key = key
        self._session.show_held(True)
        self._timer.start()
        self._begin(key)
        if self._mover.active:
            self.changed.emit()
        else:
            self.end()

    def _renew(self) -> None:
        if self._buttons[self.key].in_hand:
            self._session.show_held(True)
        else:
            self.end()

    def _let_go(self) -> None:
        self._timer.stop()
        self._session.show_held(False)
        self.key = ""
        self._mover.let_go()
        self.changed.emit()
