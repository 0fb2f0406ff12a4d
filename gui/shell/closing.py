"""Closing the window: with torque on, ask the operator; then first stop the rig and close the recording."""

from collections.abc import Callable
from enum import Enum, auto

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.models import Phase
from gui.session import RigSession
from gui.texts import tr
from gui.widgets import room_for
from rig.engine import TORQUE_STATES

_REST_TIMEOUT = 8000  # ms for the stop and for closing the recording
_UNDER_TORQUE = tr("The rig has torque and continues until you answer.")
_NO_TORQUE = tr("The rig no longer has torque.")
_STOPS = tr("Stop the rig, switch torque off, close the recording and quit the app?")
_QUITS = tr("Quit the app?")
_STOP_AND_QUIT = tr("Stop and quit")
_QUIT = tr("Quit")
_DIED = tr("The engine has died; its recorder closes the recording.")
_LATE = tr("The rig did not come to rest in time.")
_RECORDING_OPEN = tr("The recording is still being closed.")


class _Step(Enum):
    NONE = auto()
    ASKING = auto()
    STOPPING = auto()
    FLUSHING = auto()
    ASKING_AGAIN = auto()
    LEAVING = auto()
    ENDING = auto()
    ENDED = auto()


class Closing(QtCore.QObject):
    """Controls the closing of the window.

    With torque on, asks first. On Quit, stops the rig and closes the recording, and asks again only if one of them
    failed.

    Signals: `ended`: all processes have ended, the window may close; `stayed`: closing was cancelled.

    Args:
        session: the rig.
        window: parent of the question.
        confirm_discard: calls the first function once unsaved work is saved or discarded, the second if cancelled.
    """

    ended = QtCore.Signal()
    stayed = QtCore.Signal()

    def __init__(
        self,
        session: RigSession,
        window: QtWidgets.QWidget,
        confirm_discard: Callable[[Callable[[], None], Callable[[], None]], None],
    ) -> None:
        super().__init__(window)
        self._confirm_discard = confirm_discard
        self._session = session
        self._window = window
        self._step = _Step.NONE
        self._late = False
        """Whether the rig was still under torque after the stop when the operator was asked again."""
        self.question: QtWidgets.QMessageBox | None = None
        """Asked before quitting."""
        self._quit: QtWidgets.QPushButton | None = None
        """Its Quit button."""
        self.rest_timer = QtCore.QTimer(self)
        self.rest_timer.setSingleShot(True)
        self.rest_timer.setInterval(_REST_TIMEOUT)
        self.rest_timer.timeout.connect(self._overdue)
        session.statusChanged.connect(lambda _status: self._rested())
        session.changed.connect(self._changed)
        session.ended.connect(self._end_seen)

    def request(self) -> bool:
        """Request closing; True if the window can close immediately."""
        if self._step is _Step.ENDED:
            return True
        if self._step is _Step.NONE:
            if self._session.torque:
                self._ask(_Step.ASKING, *self._torque_words())
            else:
                self._leave()
        elif self.question is not None:
            self.question.raise_()
            self.question.activateWindow()
        return False

    def _torque_words(self) -> tuple[str, str, str]:
        if self._session.torque:
            return _UNDER_TORQUE, _STOPS, _STOP_AND_QUIT
        return _DIED if self._session.phase is Phase.DIED else _NO_TORQUE, _QUITS, _QUIT

    def _rested(self) -> None:
        status = self._session.status
        if self._step is _Step.STOPPING and status is not None and status.state not in TORQUE_STATES:
            self._step = _Step.FLUSHING
            self._session.disconnect_rig()

    def _changed(self) -> None:
        phase = self._session.phase
        if self.question is not None:
            if phase is Phase.STARTING:
                self.question.close()  # the operator goes on
            elif self._step is _Step.ASKING:
                self._show_question(*self._torque_words())
        elif self._step in (_Step.STOPPING, _Step.FLUSHING) and phase is Phase.DIED:
            self._ask(_Step.ASKING_AGAIN, _DIED)
        elif self._step is _Step.FLUSHING and phase is Phase.DOWN:
            self._leave()

    def _overdue(self) -> None:
        self._late = self._session.torque
        self._ask(_Step.ASKING_AGAIN, _LATE if self._late else _RECORDING_OPEN)

    def _ask(self, step: _Step, message: str, question: str = _QUITS, quit_text: str = _QUIT) -> None:
        self.rest_timer.stop()
        self._step = step
        box = QtWidgets.QMessageBox(self._window)
        box.setWindowTitle(tr("Quit?"))
        box.setIcon(QtWidgets.QMessageBox.Icon.Warning)
        self._quit = leave = box.addButton(quit_text, QtWidgets.QMessageBox.ButtonRole.AcceptRole)
        stay = box.addButton(tr("Stay"), QtWidgets.QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(stay)
        box.setEscapeButton(stay)
        box.setAttribute(QtCore.Qt.WidgetAttribute.WA_DeleteOnClose)
        box.finished.connect(lambda _code: self._answered(box.clickedButton() is leave))  # also closed by its title bar
        self.question = box
        leave.setMinimumWidth(room_for(leave, (_QUIT, _STOP_AND_QUIT)))
        words = box.findChild(QtWidgets.QLabel, "qt_msgbox_label")
        for other in ((_UNDER_TORQUE, _STOPS), (_NO_TORQUE, _QUITS), (_DIED, _QUITS), (message, question)):
            box.setText(self._text(*other))  # sized for all its possible texts: its buttons do not move
            words.setMinimumSize(words.sizeHint().expandedTo(words.minimumSize()))
        self._show_question(message, question, quit_text)
        box.setModal(False)
        box.show()

    def _show_question(self, message: str, question: str, quit_text: str) -> None:
        text = self._text(message, question)
        if self.question is not None and self._quit is not None and text != self.question.text():
            self.question.setText(text)
            self._quit.setText(quit_text)

    def _text(self, message: str, question: str) -> str:
        return f"{message}\n{self._session.recording}\n\n{question}"

    def _answered(self, leave: bool) -> None:
        self.question = None
        if not leave:
            self._stay()
        elif self._session.torque and not self._late:
            self._step = _Step.STOPPING
            self._session.stop(1, "closing the window")
            self.rest_timer.start()
        else:
            self._leave()

    def _leave(self) -> None:
        self.rest_timer.stop()
        self._step = _Step.LEAVING
        self._confirm_discard(self._end, self._stay)

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
