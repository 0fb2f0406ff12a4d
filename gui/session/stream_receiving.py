"""The receiver of a stream: started, watched and ended beside the window's thread."""

import time
from functools import partial

from pyqtgraph.Qt import QtCore

from gui.session.rig_session import RigSession
from gui.session.session_state import finding_of
from gui.session.workers import Worker
from gui.texts import finding_text, mark, tr
from kinematics import InputFileError, Tuning, load_tuning
from rig.client import cue_setup, initial_tuning_lines, tuning_lines
from rig.config import RigConfig
from rig.errors import HardwareError
from rig.streaming import CueStatus, RigSide, StreamReceiver, StreamStatus, is_tuning_file

_LOOKED = 250  # ms between two looks at what came in
_ENDING = 10.0  # s


class StreamReceiving(QtCore.QObject):
    """Listens for set-points while it is `on`; with `[stream.cue]` for a vehicle's motion, for the washout.

    The sender has the engine's answers where there is an engine.

    `changed` follows every look at what came in, and `status` and `cueing` are the last ones: None while off.
    `tuned(texts)`: what a change of the washout's tuning changes; `tuning_refused(text)`: why it was refused.

    Args:
        session: the rig.
    """

    changed = QtCore.Signal()
    tuned = QtCore.Signal(list)
    tuning_refused = QtCore.Signal(str)

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
        self.cueing: CueStatus | None = None
        self.source = self.fault = ""
        """of a tuning: its file, absolute, or the name of a shipped one; why it cannot be used"""
        self.tuning = Tuning(name="default")
        """of the washout, or aimed at"""
        self._read_tuning()
        self._timer = QtCore.QTimer(self)
        self._timer.setInterval(_LOOKED)
        self._timer.timeout.connect(self._look)
        session.changed.connect(self._follow_engine)

    def _read_tuning(self) -> None:
        config = self._session.config
        if config.stream.cue is None:
            return
        self.source = config.stream.cue.tuning
        if is_tuning_file(self.source):
            self.source = str((config.folder / self.source).absolute())
        try:
            self.tuning = load_tuning(self.source)
        except InputFileError as error:
            self.fault = tr("tuning {error}").format(error=error)

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
        self._receiver, self.status, self.cueing, self._answers = None, None, None, self._telemetry
        self._worker.submit(partial(self._open, self._session.config, self._answers, self.tuning), self._opened)
        self.changed.emit()

    def end(self) -> None:
        """Stop listening."""
        self.on = False
        self._timer.stop()
        self._receiver, self.status, self.cueing = None, None, None
        self._worker.submit(self._close, lambda _result, _error: self.changed.emit())
        self.changed.emit()

    def tune(self, tuning: Tuning) -> None:
        """Change the washout's tuning, also while the platform moves; `tuned` or `tuning_refused` follows."""
        receiver = self._receiver
        if receiver is None:
            self.tuning_refused.emit(tr("not listening: press Listen"))
            return
        begun = time.monotonic()

        def answered(changes: list[str] | None, error: Exception | None) -> None:
            if changes is None:
                self.tuning_refused.emit("" if error is None else finding_text(finding_of(error)) or str(error))
                return
            self.tuning = tuning
            for text in tuning_lines(changes):
                self._session.note_tuning(text, begun)
            self.tuned.emit(changes)
            self.changed.emit()

        self._worker.submit(lambda: receiver.tune(tuning), answered)

    def note_beginning(self) -> None:
        """Write down the tuning with which a vehicle's motion begins to be followed."""
        if self._session.config.stream.cue is not None:
            for text in initial_tuning_lines(self.tuning):
                self._session.note_tuning(text, time.monotonic())

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

    def _open(self, config: RigConfig, telemetry: str, tuning: Tuning) -> StreamReceiver:
        self._close()
        cue = None if config.stream.cue is None else cue_setup(config, config.stream.cue, tuning)
        side = RigSide(telemetry, config.machine.geometry, config.period) if telemetry else None
        self._owned = StreamReceiver(config.stream.receiver, config.folder, side, cue=cue)
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
            self._worker.submit(partial(_looked_at, self._receiver, self._session.config), self._looked)

    def _looked(self, found: tuple[StreamStatus, CueStatus | None] | None, error: Exception | None) -> None:
        self._busy = False
        if self._receiver is None:
            return
        if found is None:
            self.end()
            self._failed(error)
        else:
            self.status, self.cueing = found
        self.changed.emit()

    def _failed(self, error: Exception | None) -> None:
        self.on = False
        self._timer.stop()
        cause = finding_of(error if error is not None else HardwareError("the stream receiver has ended"))
        self._session.log("error", "app", finding_text(cause))
        self._session.refused.emit(mark("listen"), cause)


def _looked_at(receiver: StreamReceiver, config: RigConfig) -> tuple[StreamStatus, CueStatus | None]:
    return receiver.status(), None if config.stream.cue is None else receiver.cueing()
