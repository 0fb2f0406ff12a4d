"""A vehicle's motion that the app's rig follows through a washout, and its tuning while it does."""

import time
from typing import Literal

from pyqtgraph.Qt import QtCore

from gui.session.rig_session import RigSession
from gui.session.session_state import finding_of
from gui.session.workers import Worker
from gui.texts import finding_text, mark, tr
from kinematics import InputFileError, Tuning, load_tuning
from rig.client import begun_with, cue_setup, noted
from rig.config import CueOptions
from rig.engine import FollowStream, Snapshot
from rig.findings import Finding
from rig.states import State
from rig.streaming import CueStatus, RigSide, StreamReceiver, StreamStatus, is_tuning_file

CuePhase = Literal["off", "starting", "waiting", "following", "ending"]
_POLL = 250  # ms between two looks at what came in
_NAME = "vehicle"
_CLOSING = 15.0  # s


class CuedStream(QtCore.QObject):
    """Receives a vehicle's motion, has the rig follow what the washout makes of it, and changes the tuning.

    The receiver is a process; what it is asked for, a thread asks. The engine lets go of a stream by itself.

    Signals: `changed`. `tuned(texts)`: what a change of the tuning changes; `refused(text)`: why it was refused.

    Args:
        session: the rig, whose configuration has `[stream.cue]`.
        options: that.
    """

    changed = QtCore.Signal()
    tuned = QtCore.Signal(list)
    refused = QtCore.Signal(str)

    def __init__(self, session: RigSession, options: CueOptions, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._options = session, options
        self.source = options.tuning
        """the tuning's file, absolute, or the name of a shipped one"""
        if is_tuning_file(self.source):
            self.source = str((session.config.folder / self.source).absolute())
        self.fault = ""
        """why the tuning cannot be used"""
        self.tuning = Tuning(name="default")
        """in effect, or aimed at"""
        self._read()
        self.phase: CuePhase = "off"
        self.address = ""
        """where a sender is waited for"""
        self.stream: StreamStatus | None = None
        self.cueing: CueStatus | None = None
        self._receiver: StreamReceiver | None = None
        self._begun = False
        """the rig has been seen to follow"""
        self._asking = False
        self._worker = Worker("motion cueing", self)
        self._timer = QtCore.QTimer(self)
        self._timer.setInterval(_POLL)
        self._timer.timeout.connect(self._ask)
        session.statusChanged.connect(self._look)
        session.died.connect(self._leave)

    @property
    def obstacle(self) -> str:
        """Why no vehicle can be waited for now, as text; empty if one can."""
        status = self._session.status
        if self.phase != "off":
            return tr("a vehicle is already waited for")
        if self.fault:
            return self.fault
        if self._session.engine_address is None or status is None or status.state is not State.ENGAGED:
            return tr("the platform is not engaged")
        return tr("a motion is paused") if status.paused else ""

    def _read(self) -> None:
        try:
            self.tuning = load_tuning(self.source)
        except InputFileError as error:
            self.fault = tr("tuning {error}").format(error=error)

    def start(self) -> None:
        """Begin to wait for a sender; the rig follows once it sends."""
        address = self._session.engine_address
        if self.obstacle or address is None:
            return
        config, options, tuning = self._session.config, self._options, self.tuning
        side = RigSide(address.ring, config.machine.geometry, config.period)

        def opened() -> StreamReceiver:
            return StreamReceiver(config.stream.receiver, config.folder, side, cue=cue_setup(config, options, tuning))

        self._enter("starting")
        self._worker.submit(opened, self._opened)

    def end(self) -> None:
        """End the stream: the platform comes to rest and is held; or wait for no sender any more."""
        receiver = self._receiver
        if receiver is None:
            return
        if self.phase == "waiting":
            self._leave()
            return
        self._enter("ending")
        self._worker.submit(receiver.end, lambda _result, _error: None)

    def tune(self, tuning: Tuning) -> None:
        """Change the tuning while the platform moves; `tuned` or `refused` follows."""
        receiver = self._receiver
        if receiver is None:
            self.refused.emit(tr("no vehicle is followed"))
            return
        begun = time.monotonic()

        def answered(changes: list[str] | None, error: Exception | None) -> None:
            if changes is None:
                self.refused.emit("" if error is None else finding_text(finding_of(error)) or str(error))
                return
            self.tuning = tuning
            for text in noted(changes):
                self._session.note_tuning(text, begun)
            self.tuned.emit(changes)
            self.changed.emit()

        self._worker.submit(lambda: receiver.tune(tuning), answered)

    def close(self) -> None:
        """End the receiver and the thread, and wait for them. May be called again."""
        self._leave()
        self._worker.finish()
        self._worker.join(_CLOSING)
        if self._receiver is not None:  # the thread ended before its turn
            self._receiver.close()

    def _enter(self, phase: CuePhase) -> None:
        self.phase = phase
        self.changed.emit()

    def _opened(self, receiver: StreamReceiver | None, error: Exception | None) -> None:
        if receiver is None:
            self._enter("off")
            if error is not None:
                self._session.refused.emit(mark("wait for a vehicle"), finding_of(error))
            return
        self._receiver, self.address, self._begun = receiver, receiver.address, False
        self._timer.start()
        self._enter("waiting")

    def _ask(self) -> None:
        receiver = self._receiver
        if receiver is None or self._asking:
            return
        self._asking = True
        self._worker.submit(lambda: (receiver.status(), receiver.cueing()), self._answered)

    def _answered(self, found: tuple[StreamStatus, CueStatus] | None, error: Exception | None) -> None:
        self._asking = False
        if self._receiver is None:
            return
        if found is None:
            self._leave()
            if error is not None:
                self._session.refused.emit(mark("motion cueing"), finding_of(error))
            return
        self.stream, self.cueing = found
        if self.phase == "waiting" and self.stream.taken:
            self._enter("following")
            command = FollowStream(_NAME, self._receiver.ring.name)
            self._session.send(mark("follow a vehicle"), command, done=self._followed)
        else:
            self.changed.emit()

    def _followed(self, refusal: Finding | None) -> None:
        if refusal is not None:
            self._leave()
            return
        for text in begun_with(self.tuning):
            self._session.note_tuning(text, time.monotonic())

    def _look(self, status: Snapshot) -> None:
        """Leave the stream once the rig follows it no more, and it is not paused either."""
        if self.phase not in ("following", "ending"):
            return
        if status.state in (State.RUNNING, State.STOPPING):
            self._begun = True
        elif self._begun and not status.paused:
            self._leave()

    def _leave(self) -> None:
        receiver, self._receiver = self._receiver, None
        self._timer.stop()
        self._asking = False
        if receiver is not None:
            self._worker.submit(receiver.close, lambda _result, _error: None)
        if self.phase != "off":
            self._enter("off")
