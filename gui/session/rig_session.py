"""The rig as seen by the app: starts and ends processes, sends commands, polls the status, never blocks."""

import contextlib
import threading
import time
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pyqtgraph.Qt import QtCore

from gui.models import STATE_WORDS, Phase, ending
from gui.session.joined_progress import JoinedProgress
from gui.session.session_state import Done, SessionState, StopSource, log_entry
from gui.session.virtual_hardware import VirtualHardware
from gui.session.workers import Worker
from gui.texts import finding_text, findings_text, mark, sentence, tr
from rig.client import (
    EventFollower,
    LegPostMortem,
    LiveRig,
    ask_drives,
    describe_post_mortem,
    new_recording,
    remove_empty,
    when_silent,
)
from rig.config import RigConfig
from rig.engine import Connect, EngineAddress, Follow, ProgressCallback, RigCommand, RunningEngine, Shutdown, Snapshot
from rig.errors import HardwareError, RefusedError, RigError
from rig.findings import Code, Finding
from rig.recording import SensorSeries
from rig.runtime import SharedMemoryError
from rig.sensing import ReadingBuffer
from rig.states import State
from rig.telemetry import ROW

_STATUS_INTERVAL = 50  # ms
_CLOSING_TIMEOUT = 15.0  # s
_CLIENT = "rig gui"
"""Name of the app's command lease."""
_PATIENCE = 1.0  # s to wait for an answer to a poll or a stop


class RigSession(SessionState):
    """One rig and, at most, one engine at a time.

    Args:
        config: the rig.
        folder: where recordings go.
        parent: owner.
    """

    def __init__(self, config: RigConfig, folder: Path, parent: QtCore.QObject | None = None) -> None:
        super().__init__(config, folder, parent)
        self._engine: LiveRig | None = None
        self._unclaimed: LiveRig | None = None  # started, but not taken over yet
        self.virtual = VirtualHardware(config, self)
        self.virtual.answered.connect(lambda what, error: self._answer(what, error, None))
        self.virtual.stuck.connect(lambda reason: self.log("error", "virtual rig", reason))
        self.virtual.stuck.connect(lambda reason: self.refused.emit(mark("virtual rig"), Finding.of_text(reason)))
        self._commands = Worker("commands", self)
        self._watching = Worker("status", self)
        self._stops = Worker("stops", self)
        self._events = EventFollower()
        self._connect_next = False
        self._status_pending = False
        self._alive_at = 0.0
        self._lengths: npt.NDArray[np.float64] | None = None
        self._readings: ReadingBuffer | None = None
        self._timer = QtCore.QTimer(self)
        self._timer.setInterval(_STATUS_INTERVAL)
        self._timer.timeout.connect(self._request_status)
        self.found.watch(True)

    # -- status for other parts --------------------------------------------------------------------------------------

    @property
    def engine_pid(self) -> int | None:
        """Process id of the engine, None without one."""
        return None if self._engine is None else self._engine.engine.pid

    @property
    def engine_address(self) -> EngineAddress | None:
        """Address of the engine for other clients, None without one."""
        return None if self._engine is None else self._engine.engine.address

    @property
    def status_pending(self) -> bool:
        """Whether a status request is pending, whose answer may predate the last command's."""
        return self._status_pending

    def poll_rows(self) -> tuple[npt.NDArray[np.void], int]:
        """Return telemetry rows since the last call and the number of lost ones; detects a crashed engine."""
        if self._engine is None or self.phase is not Phase.UP:
            return np.empty(0, ROW), 0
        rows, dropped = self._engine.read_rows()
        if len(rows):
            self._lengths = rows["length"][-1].copy()
        if self._engine.alive:
            self._alive_at = time.monotonic()
        else:
            self._engine_died()
        return rows, dropped

    def sensor_series(self) -> tuple[SensorSeries, ...]:
        """Return the newest readings of the external sensors, of each that the configuration has."""
        address = self.engine_address
        if address is None or not address.readings:
            return ()
        if self._readings is None or self._readings.name != address.readings:
            self._close_readings()
            try:
                channels = [options.meaning for options in self.config.sensors]
                self._readings = ReadingBuffer(address.readings, channels)
            except SharedMemoryError:  # the engine has ended
                return ()
        return self._readings.series()

    def _close_readings(self) -> None:
        if self._readings is not None:
            self._readings.close()
            self._readings = None

    def beat(self) -> None:
        """Send the engine the window's heartbeat."""
        if self._engine is not None:
            self._engine.beat()

    def signal_hold(self, holding: bool) -> None:
        """Signal the engine whether the operator holds the motion; never blocks."""
        if self._engine is not None:
            self._engine.hold() if holding else self._engine.let_go()

    # -- operator requests -------------------------------------------------------------------------------------------

    def stop(self, category: Literal[0, 1, 2] = 1, source: StopSource = "button") -> None:
        """Stop: at once by the flag in shared memory, and also by the control link. Always possible."""
        crash = tr("stop, category {category} ({source})")
        if self._engine is not None:
            self._engine.raise_stop_flag(category)
            self._stops.submit(partial(self._engine.send_stop, category), self._stop_sent)
        elif self.found.request_stop(category, partial(self._stop_sent, None)):
            crash = tr("stop, category {category} ({source}), sent to the engine that has the drives")
        self._connect_next = False
        self.log("warning", "operator", crash.format(category=category, source=tr(source)))
        self.stopped.emit(category)

    def connect_rig(self) -> None:
        """Connect to the drives; starts the engine and a virtual rig if needed.

        An engine that already controls the drives is taken over as it is.
        """
        if self.phase is Phase.UP:
            self.send(mark("connect"), Connect())
        elif self.found.engine is not None and self.found.holder is not None:
            self._enter(Phase.STARTING)
            self._commands.submit(partial(acquire_engine, self.config, self.found.engine), self._taken_over)
        elif self.phase in (Phase.DOWN, Phase.DIED):
            self._connect_next = True
            self._enter(Phase.STARTING)
            both = tr("starting the virtual rig and the engine")
            self.log("info", "app", tr("starting the engine") if self.config.virtual is None else both)
            self._commands.submit(self._start, self._started)

    def send(
        self, what: str, command: RigCommand, samples: npt.NDArray[np.float64] | None = None, done: Done | None = None
    ) -> None:
        """Send a command; `what` is its displayed name. A refusal is logged, signalled and passed to `done`."""
        engine = self._engine
        if engine is None or self.phase is not Phase.UP:
            self._answer(what, HardwareError(Finding(Code.ENGINE_NOT_RUNNING)), done)
            return
        self.busy, requested_at = what, self.rig_time
        self.following = isinstance(command, Follow)
        self.changed.emit()

        def answered(_result: Any, error: Exception | None) -> None:
            self.busy = ""
            self.changed.emit()
            self._answer(what, error, done, requested_at)

        self._commands.submit(lambda: engine.request(command, samples), answered)

    def note_tuning(self, text: str, at: float) -> None:
        """Record and log a change of a washout's tuning; at: s of the monotonic clock."""
        engine = self._engine
        self.log("info", "operator", tr("tuning of the washout: {text}").format(text=text))
        if engine is not None:
            self._commands.submit(lambda: engine.note_tuning(text, at), _ignore)

    def report(self, finding: Finding) -> None:
        """Have the engine record and log why an FMU that is followed has failed."""
        engine = self._engine
        if engine is not None:
            self._commands.submit(lambda: engine.report(finding), _ignore)

    def disconnect_rig(self) -> None:
        """Disconnect the drives and end the engine, which closes the recording; a virtual rig keeps running.

        A found engine first brings the platform to rest.
        """
        if self.found.holder is not None:
            self.busy = mark("end the engine")
            self.changed.emit()
            self.found.end(_CLIENT, self._found_ended)
            return
        if self._engine is None or self.phase is not Phase.UP or self.torque:
            return
        commands = [Shutdown()] if self.status is None else ending(self.status)
        self._enter(Phase.ENDING)
        self._commands.submit(partial(self._engine.end, commands), self._left)

    def end(self) -> None:
        """End engine and virtual rig in any state; `ended` follows."""
        self._timer.stop()
        self._connect_next = False
        self._enter(Phase.ENDING)
        self._retire()
        self._commands.submit(self.virtual.stop, lambda _result, _error: self._enter_ended())

    def close(self) -> None:
        """End all processes and wait for them. May be called again."""
        self._timer.stop()
        self._retire()
        self._commands.submit(self.virtual.stop, _ignore)
        self.found.close(_CLOSING_TIMEOUT)
        workers = (self._watching, self._stops, self.virtual, self._commands)
        for worker in workers:
            worker.finish()
        for worker in workers:
            worker.join(_CLOSING_TIMEOUT)
        if self._unclaimed is not None:
            _release_engine(self._unclaimed)

    # -- starting and ending -----------------------------------------------------------------------------------------

    def _start(self) -> LiveRig:
        self.virtual.begin()  # starts in parallel with the engine
        changes = {"recording": {"operator": self.operator}} if self.operator else {}
        config = self.config.changed(changes) if changes else self.config
        progress = JoinedProgress(self.compilingProgressed.emit)
        ready: Future[None] = Future()

        def wait() -> None:
            try:
                self.virtual.wait_ready(progress)
                ready.set_result(None)
            except Exception as error:
                ready.set_exception(error)

        # both compile at the same time; a daemon, so that an app that is closed meanwhile ends
        threading.Thread(target=wait, name="virtual rig", daemon=True).start()
        engine = acquire_engine(config, new_recording(self.folder, config.name), progress)
        try:
            ready.result()
            self.virtual.notify(engine.engine.address.socket)
        except Exception:
            engine.close()
            engine.recording.unlink(missing_ok=True)  # no drive was ever contacted
            raise
        self._unclaimed = engine
        return engine

    def _started(self, engine: LiveRig | None, error: Exception | None) -> None:
        if engine is None:
            if self.phase is Phase.STARTING:
                self._enter(Phase.DOWN)
            self._answer(mark("start the engine"), error, None)
            return
        self._engine, self._unclaimed = engine, None
        if self.phase is not Phase.STARTING:
            return  # everything is ending, including this
        self._follow(engine)
        if self._connect_next:
            self._connect_next = False
            self.send(mark("connect"), Connect())
        else:
            self.log("warning", "app", tr("stopped while the engine started: the drives were not connected"))

    def _follow(self, engine: LiveRig) -> None:
        self.recording = engine.recording
        self._events = EventFollower()
        self._lengths = None
        self._alive_at = time.monotonic()
        self._enter(Phase.UP)
        self._timer.start()

    def _taken_over(self, engine: LiveRig | None, error: Exception | None) -> None:
        self._engine = engine
        if self.phase is Phase.STARTING:
            self._enter(Phase.DOWN) if engine is None else self._follow(engine)
        self._answer(mark("take over the engine"), error, None)

    def _found_ended(self, error: Exception | None) -> None:
        self.busy = ""
        self.found.poll()
        self.changed.emit()
        self._answer(mark("end the engine"), error, None)

    def _left(self, _result: object, error: Exception | None) -> None:
        engine = self._engine
        if engine is None:
            return  # already released
        if isinstance(error, RefusedError):
            self._enter(Phase.UP)  # the displayed state was already out of date
            self._answer(mark("disconnect"), error, None)
            return
        self._timer.stop()
        if error is not None:
            self._answer(mark("disconnect"), error, None)
        fault = self.recording_fault
        self._retire()
        if error is None:
            self._commands.submit(partial(remove_empty, engine.recording), self._drop_empty)
        self._enter(Phase.DOWN)
        if not engine.recording.is_file():
            end = tr("the recording is lost, its file has disappeared: {path}")
        else:
            end = tr("the recording is cut off ({fault}): {path}") if fault else tr("the recording is closed: {path}")
        whole = engine.recording.is_file() and not fault
        self.log("info" if whole else "warning", "app", end.format(fault=fault, path=engine.recording))

    def _drop_empty(self, removed: bool | None, _error: Exception | None) -> None:
        """Delete an empty recording after the engine has ended."""
        if removed and self.phase is Phase.DOWN:
            self.recording = None
            self.changed.emit()

    def _engine_died(self) -> None:
        """Report that the engine crashed, then read from the drives, which are free now, how they reacted."""
        self._timer.stop()
        crash = _crash_text(self.status)
        self.death = f"{crash} {_expected(self.config)}"
        ask = partial(ask_drives, self.config, self._alive_at, self._lengths)
        self._commands.submit(ask, partial(self._drives_asked, crash))
        self._retire()
        self._enter(Phase.DIED)
        self.log("error", "app", self.death)
        self.died.emit()

    def _drives_asked(self, crash: str, legs: list[LegPostMortem] | None, error: Exception | None) -> None:
        for number, leg in enumerate(legs or (), start=1):
            self.log(
                "info" if leg.safe else "error",
                "app",
                tr("leg {leg}").format(leg=number) + f": {findings_text(leg.findings)}",
            )
        found = _post_mortem_text(legs, error)
        self.log("warning", "app", found)
        if self.phase is not Phase.DIED:
            return  # another engine is starting
        self.death = f"{crash} {found} {_next_step(self.config)}"
        if legs is not None:
            self.postMortemKnown.emit(legs)
        self.changed.emit()

    def _retire(self) -> None:
        """Release the engine in the command thread, once no other thread uses it."""
        engine, self._engine = self._engine, None
        self._close_readings()
        if engine is None:
            return
        barrier = threading.Barrier(3)

        def close() -> None:
            with contextlib.suppress(threading.BrokenBarrierError):
                barrier.wait(_CLOSING_TIMEOUT)
            _release_engine(engine)

        for worker in (self._watching, self._stops):
            worker.submit(barrier.wait, _ignore)
        self._commands.submit(close, _ignore)

    def _enter_ended(self) -> None:
        if self._engine is not None:  # it was being started
            self._retire()
            self._commands.submit(lambda: None, lambda _result, _error: self._enter_ended())
            return
        self._enter(Phase.DOWN)
        self.ended.emit()

    # -- status and log ----------------------------------------------------------------------------------------------

    def _request_status(self) -> None:
        if self._engine is not None and not self._status_pending:
            self._status_pending = True
            self._watching.submit(self._engine.status, self._take_status)

    def _take_status(self, status: Snapshot | None, _error: Exception | None) -> None:
        self._status_pending = False
        if self.phase is not Phase.UP:
            return
        if status is None:
            if not self.silent:
                self.silent = True
                self.log("error", "app", tr("the engine runs, but does not answer; STOP still raises its stop flag"))
                self.changed.emit()
            return
        self.silent = False
        if status.state is State.FAULT and (self.status is None or self.status.state is not State.FAULT):
            self.virtual.poll()  # the plant's state may be the cause
        self.status, self._status_at = status, time.monotonic()
        for entry in map(log_entry, self._events.new(status.events)):
            self.logged.emit(entry)
            if entry.finding is not None and entry.level != "info" and not entry.code:
                self.refused.emit(entry.level, entry.finding)  # nothing has stopped: the banner does not show it
        self.statusChanged.emit(status)
        self.changed.emit()

    def _stop_sent(self, _result: object, error: Exception | None) -> None:
        if error is not None:
            self.log("error", "app", tr("the stop was not acknowledged over the control link") + f": {error}")


def _ignore(_result: object, _error: Exception | None) -> None:
    """Ignore the result."""


def acquire_engine(
    config: RigConfig, source: Path | RunningEngine, report_compiling: ProgressCallback | None = None
) -> LiveRig:
    """Start an engine, or take one over; its heartbeat is the window's, so a hung window stops commanding.

    report_compiling: called with the progress if the model has to be compiled first. Raises as `LiveRig`.
    """
    return LiveRig(
        config, source, _CLIENT, window=True, serve=False, patience=_PATIENCE, report_compiling=report_compiling
    )


def _release_engine(engine: LiveRig) -> None:
    """End the engine if it runs, and release everything; no other thread may be using it.

    One that was taken over and does not end on request ends after its own timeout without commands.
    """
    if engine.attached and engine.alive:
        with contextlib.suppress(RigError):
            engine.end([Shutdown()])
    engine.close()


def _crash_text(status: Snapshot | None) -> str:
    """Return that it crashed, and in which state."""
    if status is None:
        return tr("The engine ended by itself.")
    return tr("The engine ended by itself in state {state}.").format(state=STATE_WORDS[status.state])


def _expected(config: RigConfig) -> str:
    """Return what its drives should do, before they have answered."""
    text = sentence(finding_text(when_silent(config)))
    return tr("{expected}: the drives are being queried.").format(expected=text)


def _post_mortem_text(legs: list[LegPostMortem] | None, error: Exception | None) -> str:
    """Return the drives' answers as text."""
    if legs is None:
        return tr("The drives cannot be queried: {error}.").format(error=error)
    return sentence(finding_text(describe_post_mortem(legs))) + "."


def _next_step(config: RigConfig) -> str:
    """Return what to do now."""
    after = tr("Next: Restart engine.")
    return after if config.virtual is not None else tr("Inspect the machine first.") + " " + after
