"""The rig as the app sees it: starts and ends its processes, sends commands, follows its status, never blocks."""

import contextlib
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pyqtgraph.Qt import QtCore

from gui.live_engine import LiveEngine
from gui.log_entries import EventFollower, LogEntry
from gui.rules import Action, Phase, Situation, obstacle
from gui.virtual_hardware import VirtualHardware
from gui.workers import Worker
from rig.aftermath import LegAftermath, ask_drives, describe_aftermath
from rig.config import RigConfig
from rig.engine import TORQUE_STATES, Command, Connect, Disconnect, EngineAddress, Shutdown, Status
from rig.errors import HardwareError, RefusedError, RigError
from rig.runs import new_recording, remove_empty
from rig.states import State
from rig.telemetry import ROW

_STATUS_INTERVAL = 50  # ms
_CLOSING_TIMEOUT = 15.0  # s

StopSource = Literal["button", "Esc", "hold", "closing the window"]
Done = Callable[[str], None]
"""Told how a request ended: "" when it was accepted, else why not."""


class RigSession(QtCore.QObject):
    """One rig and, at most, one engine at a time.

    Signals: `changed` when the `situation` is another; `statusChanged` with every `Status`; `logged` with a `LogEntry`;
    `refused(request, reason)` and `accepted(request)`; `stopped(category)` when the operator asked for a stop; `died`
    when an engine ended by itself; `aftermathKnown` with six `LegAftermath` then; `ended` when no process is left.

    Args:
        config: the rig.
        folder: where recordings go.
        parent: owner.
    """

    changed = QtCore.Signal()
    statusChanged = QtCore.Signal(object)
    logged = QtCore.Signal(object)
    refused = QtCore.Signal(str, str)
    accepted = QtCore.Signal(str)
    stopped = QtCore.Signal(int)
    died = QtCore.Signal()
    aftermathKnown = QtCore.Signal(object)
    ended = QtCore.Signal()

    def __init__(self, config: RigConfig, folder: Path, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self.config = config
        self.folder = folder
        self.phase = Phase.DOWN
        self.status: Status | None = None
        self.busy = ""
        self.moving = False
        """a move or a sequence of motions is under way, as whoever sends it says"""
        self.silent = False
        self.armed = False
        """the operator has taken the first step to Engage, as the panel says"""
        self.death = ""
        self.recording: Path | None = None
        self._engine: LiveEngine | None = None
        self._unclaimed: LiveEngine | None = None  # started, but not taken over yet
        self.virtual = VirtualHardware(config, self)
        self.virtual.answered.connect(lambda what, error: self._answer(what, error, None))
        self.virtual.stuck.connect(lambda reason: self.log("error", "virtual rig", reason))
        self.virtual.stuck.connect(partial(self.refused.emit, "virtual rig"))
        self._commands = Worker("commands", self)
        self._watching = Worker("status", self)
        self._stops = Worker("stops", self)
        self._events = EventFollower()
        self._connect_next = False
        self._asked_status = False
        self._alive_at = self._status_at = 0.0
        self._lengths: npt.NDArray[np.float64] | None = None
        self._timer = QtCore.QTimer(self)
        self._timer.setInterval(_STATUS_INTERVAL)
        self._timer.timeout.connect(self._ask_status)

    # -- what others look at -----------------------------------------------------------------------------------------

    @property
    def situation(self) -> Situation:
        """What the rules judge by."""
        return Situation(
            phase=self.phase,
            status=self.status,
            busy=self.busy,
            moving=self.moving,
            virtual=self.config.virtual is not None,
            recording="" if self.recording is None else str(self.recording),
            silent=self.silent,
            armed=self.armed,
            death=self.death,
        )

    @property
    def engine_pid(self) -> int | None:
        """Process id of the engine, None while there is none."""
        return None if self._engine is None else self._engine.pid

    @property
    def engine_address(self) -> EngineAddress | None:
        """Where other clients find the engine, None while there is none."""
        return None if self._engine is None else self._engine.address

    @property
    def torque(self) -> bool:
        """Whether a drive may carry torque, as far as the engine said."""
        return self.phase is Phase.UP and self.status is not None and self.status.state in TORQUE_STATES

    @property
    def asked_status(self) -> bool:
        """Whether a status is on its way that may have been taken before what was answered last."""
        return self._asked_status

    def obstacle(self, action: Action) -> str:
        """Why `action` cannot be done now, in words; empty when it can."""
        return obstacle(action, self.situation)

    def poll_rows(self) -> tuple[npt.NDArray[np.void], int]:
        """Telemetry rows since the last call and how many were lost; notices an engine that has died."""
        if self._engine is None or self.phase is not Phase.UP:
            return np.empty(0, ROW), 0
        rows, dropped = self._engine.read_rows()
        if len(rows):
            self._lengths = rows["length"][-1].copy()
        if self._engine.alive:
            self._alive_at = time.monotonic()
        else:
            self._bury()
        return rows, dropped

    def beat(self) -> None:
        """Show the engine that the window is alive."""
        if self._engine is not None:
            self._engine.beat()

    # -- what an operator asks for -----------------------------------------------------------------------------------

    def stop(self, category: Literal[0, 1, 2] = 1, source: StopSource = "button") -> None:
        """Stop: by the flag in shared memory, at once, and by the control link as well. Possible at any time."""
        if self._engine is not None:
            self._engine.raise_stop_flag(category)
            self._stops.submit(partial(self._engine.send_stop, category), self._stop_sent)
        self._connect_next = False
        self.log("warning", "operator", f"stop, category {category} ({source})")
        self.stopped.emit(category)

    def connect_rig(self) -> None:
        """Connect to the drives; starts the engine, and a virtual rig, where they do not run."""
        if self.phase is Phase.UP:
            self.send("connect", Connect())
        elif self.phase in (Phase.DOWN, Phase.DIED):
            self._connect_next = True
            self._enter(Phase.STARTING)
            virtual = "the virtual rig and " if self.config.virtual is not None else ""
            self.log("info", "app", f"starting {virtual}the engine")
            self._commands.submit(self._start, self._started)

    def send(
        self, what: str, command: Command, samples: npt.NDArray[np.float64] | None = None, done: Done | None = None
    ) -> None:
        """Send a command; `what` says so in words. A refusal is logged, signalled and told to `done`."""
        engine = self._engine
        if engine is None or self.phase is not Phase.UP:
            self._answer(what, HardwareError("the engine is not running"), done)
            return
        self.busy, asked = what, self.rig_time
        self.changed.emit()

        def answered(_result: Any, error: Exception | None) -> None:
            self.busy = ""
            self.changed.emit()
            self._answer(what, error, done, asked)

        self._commands.submit(lambda: engine.request(command, samples), answered)

    def disconnect_rig(self) -> None:
        """Disconnect the drives and end the engine, which closes the recording; a virtual rig goes on."""
        if self._engine is None or self.phase is not Phase.UP or self.torque:
            return
        connected = self.status is not None and self.status.state in (State.IDLE, State.PARKED)
        commands: list[Command] = [Disconnect(), Shutdown()] if connected else [Shutdown()]
        self._enter(Phase.ENDING)
        self._commands.submit(partial(self._engine.end, commands), self._left)

    def end(self) -> None:
        """End engine and virtual rig, whatever they are doing; `ended` follows."""
        self._timer.stop()
        self._connect_next = False
        self._enter(Phase.ENDING)
        self._retire()
        self._commands.submit(self.virtual.stop, lambda _result, _error: self._enter_ended())

    def close(self) -> None:
        """End what still runs and wait for it. May be called again."""
        self._timer.stop()
        self._retire()
        self._commands.submit(self.virtual.stop, _ignore)
        workers = (self._watching, self._stops, self.virtual, self._commands)
        for worker in workers:
            worker.finish()
        for worker in workers:
            worker.join(_CLOSING_TIMEOUT)
        if self._unclaimed is not None:
            self._unclaimed.close()

    # -- starting and ending -----------------------------------------------------------------------------------------

    def _start(self) -> LiveEngine:
        self.virtual.begin()  # gets ready while the engine does
        engine = LiveEngine(self.config, new_recording(self.folder, self.config.name))
        try:
            self.virtual.wait_ready(engine.address.socket)
        except Exception:
            engine.close()
            engine.recording.unlink(missing_ok=True)  # no drive was ever asked
            raise
        self._unclaimed = engine
        return engine

    def _started(self, engine: LiveEngine | None, error: Exception | None) -> None:
        if engine is None:
            if self.phase is Phase.STARTING:
                self._enter(Phase.DOWN)
            self._answer("start the engine", error, None)
            return
        self._engine, self._unclaimed = engine, None
        if self.phase is not Phase.STARTING:
            return  # everything is ending: so will this
        self.recording = engine.recording
        self._events = EventFollower()
        self._lengths = None
        self._alive_at = time.monotonic()
        self._enter(Phase.UP)
        self._timer.start()
        if self._connect_next:
            self._connect_next = False
            self.send("connect", Connect())
        else:
            self.log("warning", "app", "stopped while the engine started: the drives were not connected")

    def _left(self, _result: object, error: Exception | None) -> None:
        engine = self._engine
        if engine is None:
            return  # it has been let go of already
        if isinstance(error, RefusedError):
            self._enter(Phase.UP)  # nothing has changed: the state was another already than the one that was shown
            self._answer("disconnect", error, None)
            return
        self._timer.stop()
        if error is not None:
            self._answer("disconnect", error, None)
        fault = "" if self.status is None else self.status.recording_fault
        self._retire()
        if error is None:
            self._commands.submit(partial(remove_empty, engine.recording), self._drop_empty)
        self._enter(Phase.DOWN)
        level, end = ("warning", f"cut off ({fault})") if fault else ("info", "closed")
        self.log(level, "app", f"the recording is {end}: {self.recording}")

    def _drop_empty(self, removed: bool | None, _error: Exception | None) -> None:
        """After the engine has ended: no recording is left where nothing was recorded."""
        if removed and self.phase is Phase.DOWN:
            self.recording = None
            self.changed.emit()

    def _bury(self) -> None:
        """The engine has died: say so at once, then ask the drives, which are free now, what they did."""
        self._timer.stop()
        state = "" if self.status is None else f" in state {self.status.state.name}"
        said = f"The engine ended by itself{state}."
        watchdog = f"within {self.config.drives.watchdog * 1e3:g} ms"
        self.death = f"{said} The drives should stop by their own watchdog {watchdog}; they are being asked."
        self._commands.submit(
            partial(ask_drives, self.config, self._alive_at, self._lengths), partial(self._drives_asked, said)
        )
        self._retire()
        self._enter(Phase.DIED)
        self.log("error", "app", self.death)
        self.died.emit()

    def _drives_asked(self, said: str, legs: list[LegAftermath] | None, error: Exception | None) -> None:
        found = f"The drives cannot be asked: {error}." if legs is None else describe_aftermath(legs)
        for number, leg in enumerate(legs or (), start=1):
            self.log("info" if leg.safe else "error", "app", f"leg {number}: {leg.words}")
        self.log("warning", "app", found)
        if self.phase is not Phase.DIED:
            return  # another engine is on its way
        real = "" if self.config.virtual is not None else " Look at the machine first."
        self.death = f"{said} {found}{real} Next: Restart engine."
        if legs is not None:
            self.aftermathKnown.emit(legs)
        self.changed.emit()

    def _retire(self) -> None:
        """Let go of the engine, in the commands' thread, once no other thread uses it any more."""
        engine, self._engine = self._engine, None
        if engine is None:
            return
        barrier = threading.Barrier(3)

        def close() -> None:
            with contextlib.suppress(threading.BrokenBarrierError):
                barrier.wait(_CLOSING_TIMEOUT)
            engine.close()

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

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self.silent = False
        if phase is not Phase.UP:
            self.busy = ""
        if phase is not Phase.DIED:
            self.death = ""
        if phase in (Phase.DOWN, Phase.STARTING):
            self.status = None
        self.changed.emit()

    # -- status and log ----------------------------------------------------------------------------------------------

    def _ask_status(self) -> None:
        if self._engine is not None and not self._asked_status:
            self._asked_status = True
            self._watching.submit(self._engine.status, self._take_status)

    def _take_status(self, status: Status | None, _error: Exception | None) -> None:
        self._asked_status = False
        if self.phase is not Phase.UP:
            return
        if status is None:
            if not self.silent:
                self.silent = True
                self.log("error", "app", "the engine runs, but does not answer; STOP still raises its stop flag")
                self.changed.emit()
            return
        self.silent = False
        if status.state is State.FAULT and (self.status is None or self.status.state is not State.FAULT):
            self.virtual.look()  # what the plant says of itself may be the cause
        self.status, self._status_at = status, time.monotonic()
        for entry in self._events.new(status.events):
            self.logged.emit(entry)
            if entry.level == "warning" and not entry.code:  # nothing has stopped: the banner does not say it
                self.refused.emit("warning", entry.text)
        self.statusChanged.emit(status)
        self.changed.emit()

    def _stop_sent(self, _result: object, error: Exception | None) -> None:
        if error is not None:
            self.log("error", "app", f"the stop was not acknowledged over the control link: {error}")

    def _answer(self, what: str, error: Exception | None, done: Done | None, t: float | None = None) -> None:
        reason = "" if error is None else str(error).removeprefix(f"{what}: ")
        if error is None:
            self.log("info", "operator", what, t)
            self.accepted.emit(what)
        else:
            if not isinstance(error, RigError):
                reason = f"{type(error).__name__}: {reason}"
            self.log("error", "app", f"{what}: {reason}", t)
            self.refused.emit(what, reason)
        if done is not None:
            done(reason)

    @property
    def rig_time(self) -> float | None:
        """s, as far as it is known: that of the last status, and what has passed since while the engine answers."""
        if self.status is None:
            return None
        answering = self.phase is Phase.UP and not self.silent
        return self.status.t + (time.monotonic() - self._status_at if answering else 0.0)

    def log(self, level: str, source: str, text: str, t: float | None = None) -> None:
        """Add a line to the event log; of what happened at the rig time `t`, s, or now."""
        self.logged.emit(LogEntry(level, source, text, t=self.rig_time if t is None else t))


def _ignore(_result: object, _error: Exception | None) -> None:
    """Nobody waits for this job."""
