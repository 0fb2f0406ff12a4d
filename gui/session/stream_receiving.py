"""The receiver of a stream: started, watched and ended beside the window's thread."""

from functools import partial

from pyqtgraph.Qt import QtCore

from gui.session.rig_session import RigSession
from gui.session.session_state import finding_of
from gui.session.workers import Worker
from gui.texts import finding_text, mark, tr
from rig.config import RigConfig
from rig.errors import HardwareError
from rig.streaming import RigSide, StreamReceiver, StreamStatus

_LOOKED = 250  # ms between two looks at what came in
_ENDING = 10.0  # s


class StreamReceiving(QtCore.QObject):
    """Listens for set-points while it is `on`; with the engine's answers where there is one.

    `changed` follows every look at what came in. `status` is the last one, None while nobody listens.

    Args:
        session: the rig.
    """

    changed = QtCore.Signal()

    def __init__(self, session: RigSession, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._worker = Worker("stream receiver", self)
        self._receiver: StreamReceiver | None = None
        self._owned: StreamReceiver | None = None  # by the worker's thread
        self._answers = ""
        """name of the telemetry whose cycles are answered; empty without"""
        self._busy = False
        self.on = False
        self.status: StreamStatus | None = None
        self._timer = QtCore.QTimer(self)
        self._timer.setInterval(_LOOKED)
        self._timer.timeout.connect(self._look)
        session.changed.connect(self._follow_engine)

    @property
    def address(self) -> str:
        """Where it listens; empty if it does not."""
        return "" if self._receiver is None else self._receiver.address

    @property
    def ring(self) -> str:
        """Name of the ring that the samples come by; empty if there is none."""
        return "" if self._receiver is None else self._receiver.ring.name

    def listen(self) -> None:
        """Begin to listen, or listen anew."""
        self.on, self._busy = True, True
        self._receiver, self.status, self._answers = None, None, self._telemetry
        config, telemetry = self._session.config, self._answers
        self._worker.submit(partial(self._open, config, telemetry), self._opened)
        self.changed.emit()

    def end(self) -> None:
        """Stop listening."""
        self.on = False
        self._timer.stop()
        self._receiver, self.status = None, None
        self._worker.submit(self._close, lambda _result, _error: self.changed.emit())
        self.changed.emit()

    def close(self) -> None:
        """End the receiver and the thread."""
        self._timer.stop()
        self._worker.submit(self._close, lambda _result, _error: None)
        self._worker.finish()
        self._worker.join(_ENDING)

    @property
    def _telemetry(self) -> str:
        address = self._session.engine_address
        return "" if address is None else address.ring

    def _follow_engine(self) -> None:
        """Listen anew where another engine is there, whose cycles are to be answered."""
        if self.on and not self._busy and self._session.config.stream.receiver.feedback:
            telemetry = self._telemetry
            if telemetry and telemetry != self._answers:
                self.listen()

    def _open(self, config: RigConfig, telemetry: str) -> StreamReceiver:
        self._close()
        side = RigSide(telemetry, config.machine.geometry, config.period) if telemetry else None
        self._owned = StreamReceiver(config.stream.receiver, config.folder, side)
        return self._owned

    def _opened(self, receiver: StreamReceiver | None, error: Exception | None) -> None:
        self._busy = False
        if receiver is None:
            self._failed(error)
        elif self.on:
            self._receiver, self.status = receiver, StreamStatus()
            self._timer.start()
            self._session.log("info", "app", tr("listening at {address}").format(address=receiver.address))
        self.changed.emit()

    def _close(self) -> None:
        owned, self._owned = self._owned, None
        if owned is not None:
            owned.close()

    def _look(self) -> None:
        if not self._busy and self._receiver is not None:
            self._busy = True
            self._worker.submit(self._receiver.status, self._looked)

    def _looked(self, status: StreamStatus | None, error: Exception | None) -> None:
        self._busy = False
        if self._receiver is None:
            return
        if status is None:
            self.end()
            self._failed(error)
        else:
            self.status = status
        self.changed.emit()

    def _failed(self, error: Exception | None) -> None:
        self.on = False
        self._timer.stop()
        cause = finding_of(error if error is not None else HardwareError("the stream receiver has ended"))
        self._session.log("error", "app", finding_text(cause))
        self._session.refused.emit(mark("listen"), cause)
