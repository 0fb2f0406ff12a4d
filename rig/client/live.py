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

from rig.client.heartbeat import Heartbeat, WindowHeartbeat
from rig.client.interruption import Interruption
from rig.client.rig import Listener, News, RowListener
from rig.config import RigConfig
from rig.engine import (
    EngineProcess,
    LinkClient,
    ProgressCallback,
    Release,
    RigCommand,
    RunningEngine,
    Shutdown,
    Snapshot,
    Stop,
)
from rig.errors import HardwareError, LeaseLostError, RigError
from rig.findings import Code, Finding
from rig.runtime import ControlBlock, LeaseSign, SharedMemoryError, StopRequest, TelemetryRing, check_open_files
from rig.virtual import VirtualRigProcess

_POLL = 0.02  # s
_REPLY_TIMEOUT = 10.0  # s, beside the time that six silent drives take
_LEAVE_TIMEOUT = 10.0  # s for the engine to end by itself
_STANDING = 10.0  # s of the wall clock without a cycle, after which nothing is waited for any more


class LiveRig:
    """A `Rig` of processes: the engine's, and the virtual rig's where the configuration has one; a context manager.

    An engine that runs already, and its virtual rig, go on when this is closed, unless they were told to end; without a
    client they set the platform down and end by themselves. The lease is taken at once and held by a heartbeat in the
    background. Where it is lost, as after a time in which this process stood still, nothing is shown of this client any
    more, whoever waits is told, and the next command takes a new lease, unless another client has one. Any thread may
    call anything; requests wait for each other, but neither `status` nor a stop for them.

    Args:
        config: the rig.
        source: file to record to, which must not exist, by an engine of its own; or a running engine to attach to.
        client: name under which the command lease is taken.
        interruption: looked at while waiting.
        beating: left to `beat` where this is False, for whoever has a sign of life of his own.
        window: left to `beat`, which is a window's to call every now and then; see `WindowHeartbeat`.
        serve: start the virtual rig, too.
        patience: s that a status or a stop may take.
        told: told how far the processes are that have to compile the model first.

    Raises:
        HardwareError: a process could not start, with its reason, or the engine has gone.
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
        told: ProgressCallback | None = None,
    ) -> None:
        self.config = config
        self.client = client
        self.virtual: VirtualRigProcess | None = None
        self._interruption = Interruption() if interruption is None else interruption
        self._leaving = False
        beating = beating and not window
        self._beats = beating
        self._gone = threading.Event()
        self._news = News()
        self._rows: RowListener | None = None
        self._reading = threading.Lock()
        with contextlib.ExitStack() as resources:
            with self._interruption.nothing_moving():
                self.engine: EngineProcess | RunningEngine
                if isinstance(source, RunningEngine):
                    self.engine, self.recording = source, source.recording
                else:
                    self.engine, self.recording = self._started(source, serve, resources, told), source
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
        self, recording: Path, serve: bool, resources: contextlib.ExitStack, told: ProgressCallback | None
    ) -> EngineProcess:
        check_open_files()
        if serve and self.config.virtual is not None:
            self.virtual = VirtualRigProcess(self.config)
            resources.callback(self.virtual.stop)
            self.virtual.begin()  # gets ready while the engine does
        engine = resources.enter_context(EngineProcess(self.config, recording, told))
        if self.virtual is not None:
            self.virtual.wait_ready(told=told)
            self.virtual.tell(engine.address.socket)
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
        """See `Rig.request`. A stop needs no lease, and waits behind no other request."""
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
            if lease is not None and not lease.held:
                holder = repr(status.lease) if status.lease else "nobody"
                raise LeaseLostError(f"the command lease was lost while waiting for {what}; {holder} has it now")
            if until(status):
                return status
            end = status.t + timeout if end is None else end
            if status.t > end:
                raise HardwareError(f"waited {timeout:.1f} s in vain for {what}; the state is {status.state.name}")
            now = time.monotonic()
            if status.t != seen:
                seen, seen_at = status.t, now
            elif now - seen_at > _STANDING:
                raise HardwareError(
                    f"the engine's cycles have stood for {now - seen_at:.0f} s: waited in vain for {what}; "
                    f"the state is {status.state.name}"
                )
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
        """End both processes: the engine is given time to end by itself where it was asked to. May be called again."""
        self._interruption.at_once = self._interruption.at_first = None
        try:
            if self._leaving:
                self.engine.join(_LEAVE_TIMEOUT)
            elif self.attached and self._beats and self.holds_lease and self.alive and not self._gone.is_set():
                self._lease = None
                with contextlib.suppress(RigError), self._commands.lock:
                    self._commands.client.request(Release())  # rather than be missed
        finally:
            self._gone.set()  # nobody waits for its answers any more
            self._resources.close()

    # -- what only processes have ------------------------------------------------------------------------------------

    @property
    def attached(self) -> bool:
        """Whether another process started the engine."""
        return isinstance(self.engine, RunningEngine)

    @property
    def holds_lease(self) -> bool:
        """Whether this client holds the command lease; a lease that was lost is not held again."""
        return self._lease is not None and self._lease.held

    @property
    def alive(self) -> bool:
        """Whether the engine's process runs; once it does not, nobody waits for its answers any more."""
        if self.engine.alive:
            return True
        self._gone.set()
        return False

    def beat(self) -> None:
        """Show the engine that its client is alive, as long as it holds the lease; never waits."""
        lease = self._lease
        if self._window is not None:
            self._window.show(0 if lease is None else lease.number)
        elif lease is not None:
            lease.beat()

    def read_rows(self) -> tuple[npt.NDArray[np.void], int]:
        """Telemetry rows since the last call, (n,) of dtype ROW, and how many were lost before them."""
        return self._reader.read_new()

    def send_stop(self, category: StopRequest) -> None:
        """Ask for a stop over the control link as well. Raises HardwareError when the engine does not answer."""
        with self._stops.lock:
            self._stops.client.request(Stop(category))

    def end(self, commands: Sequence[RigCommand]) -> None:
        """Send commands, of which the last is to shut down, and wait for the engine to end. Raises as `request`."""
        for command in commands:
            self.request(command)
        self.engine.join(_LEAVE_TIMEOUT)

    def _acquire(self) -> None:
        process = None if self._window is None else self._window.process
        self._lease = self._block.sign(self._commands.client.acquire(self.client, process))
        self._lease.beat()
        self.beat()

    def _look(self) -> bool:
        """For the heartbeat's thread: tell what is new."""
        if not self.alive:
            self._news.say("the engine has died")
            return False
        lease = self._lease
        if lease is not None and lease is not self._lost and not lease.held:
            self._lost = lease
            self._news.say("the command lease was lost: this client gave no sign of life in time")
        self.refresh()
        return True

    def _check(self) -> None:
        """Called again and again while an answer is waited for, which a dead engine does not give."""
        if self._gone.is_set() or not self.alive:
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
    """A client of the control link, for whoever holds the lock.

    A method to enter by, written in Python, can be interrupted once it has the lock, which nobody would give back.
    """

    client: LinkClient
    lock: threading.Lock = field(default_factory=threading.Lock)
