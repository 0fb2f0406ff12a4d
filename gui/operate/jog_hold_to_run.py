"""Hold-to-run on the Jog page: while a button is held, the engine is signalled periodically."""

from collections.abc import Callable, Mapping
from functools import partial

from pyqtgraph.Qt import QtCore

from gui.operate.hold_button import HoldButton
from gui.session import Mover, RigSession

_RENEWAL = 40  # ms


class JogHoldToRun(QtCore.QObject):
    """Signals the engine while a button is held, in the window's thread: a hung window ends the hold.

    Args:
        session: the rig.
        mover: sends the motion.
        buttons: by direction, such as "+x".
        begin: plans, checks and sends the motion of a direction.
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
        """Direction of the held button, empty without."""
        self._timer = QtCore.QTimer(self)
        self._timer.setTimerType(QtCore.Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_RENEWAL)
        self._timer.timeout.connect(self._renew)
        for key, button in buttons.items():
            button.hold_started.connect(partial(self._hold_started, key))
            button.hold_ended.connect(self._hold_ended)
        mover.finished.connect(lambda _reason: self.end())

    def end(self) -> None:
        """Release the held button."""
        if self.key:
            self._buttons[self.key].end()

    def _hold_started(self, key: str) -> None:
        self.key = key
        self._session.signal_hold(True)
        self._timer.start()
        self._begin(key)
        if self._mover.active:
            self.changed.emit()
        else:
            self.end()

    def _renew(self) -> None:
        if self._buttons[self.key].is_held:
            self._session.signal_hold(True)
        else:
            self.end()

    def _hold_ended(self) -> None:
        self._timer.stop()
        self._session.signal_hold(False)
        self.key = ""
        self._mover.release()
        self.changed.emit()
