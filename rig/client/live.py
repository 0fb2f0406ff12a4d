"""The real-time rig: the engine's process, its shared memory, and a link for each kind of request."""

import contextlib
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from rig.client.feeding import fed_by_a_thread
from rig.client.heartbeat import Heartbeat, WindowHeartbeat
from rig.client.interruption import Interruption
from rig.client.rig import Listener, News, RowListener, wait_timeout
from rig.config import RigConfig
from rig.engine import (
    EngineProcess,
    LinkClient,
    NoteTuning,
    ProgressCallback,
    Release,
    Report,
    RigCommand,
    RunningEngine,
    Shutdown,
    Snapshot,
    Stop,
)
from rig.errors import HardwareError, LeaseLostError, RigError
from rig.findings import Code, Finding, Value
from rig.runtime import ControlBlock, LeaseSign, SharedMemoryError, StopRequest, TelemetryRing, check_open_files
from rig.virtual import VirtualRigProcess

_POLL = 0.02  # s
_REPLY_TIMEOUT = 10.0  # s, beside the time that six silent drives take
_LEAVE_TIMEOUT = 10.0  # s for the engine to end by itself
_STANDING = 10.0  # s of the wall clock without a cycle, after which nothing is waited for any more


class LiveRig:
    """A `Rig` of processes: the engine, and the virtual rig if the configuration has one; a context manager.

    An engine that was attached to, and its virtual rig, continue when this is closed, unless they were commanded to
    end; without a client they stop the platform and end by themselves. The lease is taken at once and kept by a
    heartbeat in the background. If it is lost, as after a suspension of this process, the sign of life ends, waiting
    calls raise, and the next command takes a new lease, unless another client has one. Thread-safe; requests wait for
    each other, but `status` and stops do not wait for them.

    Args:
        config: the rig.
        source: file to record to, which must not exist, with an own engine; or a running engine to attach to.
        client: name under which the command lease is taken.
        interruption: checked while waiting.
        beating: whether to beat in the background; if False, the caller calls `beat`.
        window: whether a window calls `beat` from time to time; see `WindowHeartbeat`.
        serve: start the virtual rig, too.
        patience: s, time-out of a status or a stop.
        report_compiling: receives the progress of processes that have to compile the model first.

    Raises:
        HardwareError: a process could not start, with its reason, or the engine has ended.
        RefusedError: another client holds the running engine's lease.
    """

    def __init__(
        self,
        config: RigConfig,
        source: Path | RunningEngine,
        client: str,
        interruption: Interruption | None = None,
        *,
        beating: bool = True,
        window: bool = False,
        serve: bool = True,
        patience: float = _REPLY_TIMEOUT,
        report_compiling: ProgressCallback | None = None,
    ) -> None:
        self.config = config
        self.client = client
        self.virtual: VirtualRigProcess | None = None
        self._interruption = Interruption() if interruption is None else interruption
        self._leaving = False
        beating = beating and not window
        self._beats = beating
        self._closed = threading.Event()
        self._news = News()
        self._rows: RowListener | None = None
        self._reading = threading.Lock()
        with contextlib.ExitStack() as resources:
            with self._interruption.nothing_moving():
                self.engine: EngineProcess | RunningEngine
                if isinstance(source, RunningEngine):
                    self.engine, self.recording = source, source.recording
                else:
                    self.engine, self.recording = self._started(source, serve, resources, report_compiling), source
                self._block = self._control_block()
                resources.callback(self._block.close)
                ring = TelemetryRing.attach(self.engine.address.ring)
                resources.callback(ring.close)
                self._reader = ring.reader(0)
                self._lease: LeaseSign | None = None
                self._lost: LeaseSign | None = None  # which the listener was told of
                self._window = WindowHeartbeat(self.engine.address.block) if window else None
                if self._window is not None:
                    resources.callback(self._window.close)
                sign = self._beat_while_waiting if beating else self._check
                links = (_REPLY_TIMEOUT + 6 * config.drives.connect_timeout, patience, patience)
                self._commands, self._watch, self._stops = (self._link(timeout, sign, resources) for timeout in links)
                self._interruption.at_once = self._stop_at_once
                self._acquire()
                self._beating = Heartbeat(self.beat, self._look)
                resources.callback(self._beating.close)
                if beating:
                    self._beating.start()
            self._resources = resources.pop_all()

    def _started(
        self, recording: Path, serve: bool, resources: contextlib.ExitStack, report_compiling: ProgressCallback | None
    ) -> EngineProcess:
        check_open_files()
        if serve and self.config.virtual is not None:
            self.virtual = VirtualRigProcess(self.config)
            resources.callback(self.virtual.stop)
            self.virtual.begin()  # gets ready while the engine does
        engine = resources.enter_context(EngineProcess(self.config, recording, report_compiling))
        if self.virtual is not None:
            self.virtual.wait_ready(report_compiling=report_compiling)
            self.virtual.notify(engine.address.socket)
        return engine

    def _control_block(self) -> ControlBlock:
        try:
            return ControlBlock.attach(self.engine.address.block)
        except SharedMemoryError:
            raise HardwareError(Finding(Code.ENGINE_GONE, details={"pid": self.engine.pid or 0})) from None

    def _link(self, timeout: float, sign: Callable[[], None], resources: contextlib.ExitStack) -> "_Link":
        link = _Link(self.engine.client(timeout, sign))
        resources.callback(link.client.close)
        return link

    # -- as `Rig` has it ---------------------------------------------------------------------------------------------

    @property
    def faults(self) -> VirtualRigProcess | None:
        """See `Rig.faults`."""
        return self.virtual

    def request(self, command: RigCommand, samples: npt.NDArray[np.float64] | None = None) -> None:
        """See `Rig.request`. A stop needs no lease, and does not wait for other requests."""
        if isinstance(command, Stop):
            self.send_stop(command.category)
            return
        with self._commands.lock:
            if not self.holds_lease:
                self._acquire()
            self._commands.client.request(command, samples)
        self._leaving = isinstance(command, Shutdown)

    def status(self) -> Snapshot:
        """See `Rig.status`."""
        with self._watch.lock:
            return self._watch.client.status()

    def wait(self, until: Callable[[Snapshot], bool], timeout: float, what: str) -> Snapshot:
        """See `Rig.wait`."""
        end: float | None = None
        seen, seen_at = -math.inf, time.monotonic()
        lease = self._lease if self.holds_lease else None
        while True:
            self._interruption.check()
            status = self.status()
            if lease is not None and not lease.active:
                raise LeaseLostError(Finding(Code.LEASE_LOST, details={"what": what, "client": status.lease}))
            if until(status):
                return status
            end = status.t + timeout if end is None else end
            if status.t > end:
                raise HardwareError(wait_timeout(status, timeout, what))
            now = time.monotonic()
            if status.t != seen:
                seen, seen_at = status.t, now
            elif now - seen_at > _STANDING:
                where: dict[str, Value] = {"what": what, "state": status.state.name}
                raise HardwareError(Finding(Code.CYCLES_STOPPED, value=now - seen_at, details=where))
            time.sleep(_POLL)

    def raise_stop_flag(self, category: StopRequest) -> None:
        """See `Rig.raise_stop_flag`."""
        self._block.request_stop(category)

    def hold(self) -> None:
        """See `Rig.hold`."""
        if self._lease is not None:
            self._lease.hold()

    def let_go(self) -> None:
        """See `Rig.let_go`."""
        if self._lease is not None:
            self._lease.let_go()

    def feeding(self, feed: Callable[[float], None], period: float) -> contextlib.AbstractContextManager[None]:
        """See `Rig.feeding`: in a thread of its own, with the machine's monotonic clock."""
        return fed_by_a_thread(feed, period)

    def note_tuning(self, text: str, at: float) -> None:
        """See `Rig.note_tuning`."""
        with self._commands.lock:
            self._commands.client.request(NoteTuning(text, at))

    def report(self, finding: Finding) -> None:
        """See `Rig.report`."""
        with self._commands.lock:
            self._commands.client.request(Report(finding))

    def listen(self, listener: Listener | None, rows: RowListener | None = None) -> None:
        """See `Rig.listen`."""
        self._news.listener, self._rows = listener, rows

    def refresh(self) -> None:
        """See `Rig.refresh`."""
        with self._reading:
            listener = self._rows  # which another thread may take away meanwhile
            if listener is not None:
                listener(self._reader.read_new()[0])
        if self._news.listener is not None:
            self._news.take(self.status().events)

    def close(self) -> None:
        """End both processes; an engine that was asked to end gets time for it. May be called again."""
        self._interruption.at_once = self._interruption.at_first = None
        try:
            if self._leaving:
                self.engine.join(_LEAVE_TIMEOUT)
            elif self.attached and self._beats and self.holds_lease and self.alive and not self._closed.is_set():
                self._lease = None
                with contextlib.suppress(RigError), self._commands.lock:
                    self._commands.client.request(Release())  # rather than be missed
        finally:
            self._closed.set()  # nobody waits for its answers any more
            self._resources.close()

    # -- what only processes have ------------------------------------------------------------------------------------

    @property
    def attached(self) -> bool:
        """Whether another process started the engine."""
        return isinstance(self.engine, RunningEngine)

    @property
    def holds_lease(self) -> bool:
        """Whether this client holds the command lease; a lost lease does not return."""
        return self._lease is not None and self._lease.active

    @property
    def alive(self) -> bool:
        """Whether the engine's process runs; after its end no call waits for its answers."""
        if self.engine.alive:
            return True
        self._closed.set()
        return False

    def beat(self) -> None:
        """Give the sign of life to the engine while the lease is held; never waits."""
        lease = self._lease
        if self._window is not None:
            self._window.show(0 if lease is None else lease.number)
        elif lease is not None:
            lease.beat()

    def read_rows(self) -> tuple[npt.NDArray[np.void], int]:
        """Telemetry rows since the last call, (n,) of dtype ROW, and the number lost before them."""
        return self._reader.read_new()

    def send_stop(self, category: StopRequest) -> None:
        """Send a stop over the control link as well. Raises HardwareError if the engine does not answer."""
        with self._stops.lock:
            self._stops.client.request(Stop(category))

    def end(self, commands: Sequence[RigCommand]) -> None:
        """Send commands, the last of which is a shutdown, and wait for the engine's end. Raises as `request`."""
        for command in commands:
            self.request(command)
        self.engine.join(_LEAVE_TIMEOUT)

    def _acquire(self) -> None:
        process = None if self._window is None else self._window.process
        self._lease = self._block.sign(self._commands.client.acquire(self.client, process))
        self._lease.beat()
        self.beat()

    def _look(self) -> bool:
        """Report new events, in the heartbeat's thread."""
        if not self.alive:
            self._news.notify("the engine has died")
            return False
        lease = self._lease
        if lease is not None and lease is not self._lost and not lease.active:
            self._lost = lease
            self._news.notify("the command lease was lost: this client gave no sign of life in time")
        self.refresh()
        return True

    def _check(self) -> None:
        """Raise for a dead engine; called repeatedly while waiting for an answer."""
        if self._closed.is_set() or not self.alive:
            raise HardwareError("the engine has died")

    def _beat_while_waiting(self) -> None:
        self._check()
        self.beat()

    def _stop_at_once(self) -> None:
        self.raise_stop_flag(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class _Link:
    """A client of the control link, protected by the lock.

    An `__enter__` written in Python could be interrupted after taking the lock, which would then never be released.
    """

    client: LinkClient
    lock: threading.Lock = field(default_factory=threading.Lock)
