"""Closing the window: with torque on the rig is stopped and the recording closed first, then the operator is asked."""

from collections.abc import Callable
from enum import Enum, auto

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.session import Phase, RigSession
from gui.texts import tr
from rig.engine import TORQUE_STATES

_REST_TIMEOUT = 8000  # ms for the stop and for the recording to be closed
_QUESTIONS = {
    Phase.DOWN: tr("The rig was stopped and the recording is closed."),
    Phase.DIED: tr("The engine has died; its recorder closes the recording."),
}


class _Step(Enum):
    NONE = auto()
    STOPPING = auto()
    FLUSHING = auto()
    ASKING = auto()
    ENDING = auto()
    ENDED = auto()


class Closing(QtCore.QObject):
    """Leads from the wish to close the window to its end.

    Signals: `ended` when no process is left: the window may be closed; `stayed` when it is not to be closed after all.

    Args:
        session: the rig.
        window: over which the question is asked.
        let_go: calls the first of two once nothing of the operator's is lost by that, or the second where it would be.
    """

    ended = QtCore.Signal()
    stayed = QtCore.Signal()

    def __init__(
        self,
        session: RigSession,
        window: QtWidgets.QWidget,
        let_go: Callable[[Callable[[], None], Callable[[], None]], None],
    ) -> None:
        super().__init__(window)
        self._let_go = let_go
        self._session = session
        self._window = window
        self._step = _Step.NONE
        self._late = False
        """whether the rig had torque still when the operator was asked"""
        self.question: QtWidgets.QMessageBox | None = None
        """asked after a stop whether to quit"""
        self.rest_timer = QtCore.QTimer(self)
        self.rest_timer.setSingleShot(True)
        self.rest_timer.setInterval(_REST_TIMEOUT)
        self.rest_timer.timeout.connect(self._ask)
        session.statusChanged.connect(lambda _status: self._rested())
        session.changed.connect(self._changed)
        session.ended.connect(self._end_seen)

    def request(self) -> bool:
        """The window is to be closed: True when nothing is left that would have to end before."""
        if self._step is _Step.ENDED:
            return True
        if self._step is _Step.NONE:
            if self._session.torque:
                self._step = _Step.STOPPING
                self._session.stop(1, "closing the window")
                self.rest_timer.start()
            else:
                self._leave()
        return False

    def _rested(self) -> None:
        status = self._session.status
        if self._step is _Step.STOPPING and status is not None and status.state not in TORQUE_STATES:
            self._step = _Step.FLUSHING
            self._session.disconnect_rig()

    def _changed(self) -> None:
        if self._step is _Step.ASKING and self._session.phase is Phase.STARTING and self.question is not None:
            self.question.close()  # the operator goes on
            return
        died = self._session.phase is Phase.DIED and self._step in (_Step.STOPPING, _Step.FLUSHING)
        closed = self._session.phase is Phase.DOWN and self._step is _Step.FLUSHING
        if died or closed:
            self._ask()

    def _ask(self) -> None:
        self.rest_timer.stop()
        self._step = _Step.ASKING
        session = self._session
        self._late = session.torque
        late = tr("The rig did not come to rest in time.") if self._late else tr("The recording is still being closed.")
        said = _QUESTIONS.get(session.phase, late)
        box = QtWidgets.QMessageBox(self._window)
        box.setWindowTitle(tr("Quit?"))
        icons = QtWidgets.QMessageBox.Icon
        box.setIcon(icons.Question if session.phase is Phase.DOWN else icons.Warning)
        box.setText(tr("{said}\n{recording}\n\nQuit the app?").format(said=said, recording=session.recording))
        leave = box.addButton(tr("Quit"), QtWidgets.QMessageBox.ButtonRole.AcceptRole)
        stay = box.addButton(tr("Stay"), QtWidgets.QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(stay)
        box.setEscapeButton(stay)
        box.setAttribute(QtCore.Qt.WidgetAttribute.WA_DeleteOnClose)
        box.finished.connect(lambda _code: self._answered(box.clickedButton() is leave))  # closed by its frame as well
        box.setModal(False)
        box.show()
        self.question = box

    def _answered(self, leave: bool) -> None:
        self.question = None
        if leave:
            self._leave()
        else:
            self._stay()

    def _leave(self) -> None:
        self._step = _Step.ASKING
        self._let_go(self._end, self._stay)

    def _stay(self) -> None:
        self._step = _Step.NONE
        self._late = False
        self.stayed.emit()

    def _end(self) -> None:
        if self._session.torque and not self._late:
            self._step = _Step.NONE
            self.request()  # it was engaged again meanwhile
        else:
            self._step = _Step.ENDING
            self._session.end()

    def _end_seen(self) -> None:
        if self._step is _Step.ENDING:
            self._step = _Step.ENDED
            self.ended.emit()
