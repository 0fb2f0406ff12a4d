"""A rig as an operation sees it: commands, status and waiting, the same for the real-time rig and the lockstep one."""

import contextlib
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from rig.config import RigConfig
from rig.engine import EngineProcess, RigCommand, RunningEngine, Shutdown, Snapshot
from rig.errors import HardwareError, InterruptedRunError
from rig.runtime import ControlBlock, StopRequest
from rig.virtual import VirtualRigProcess

_POLL = 0.02  # s
_REPLY_TIMEOUT = 10.0  # s, beside the time that six silent drives take
_LEAVE_TIMEOUT = 10.0  # s for the engine to end by itself


class Rig(Protocol):
    """A connected engine, wherever it runs."""

    config: RigConfig

    def request(self, command: RigCommand, samples: npt.NDArray[np.float64] | None = None) -> None:
        """Send a command.

        Raises RefusedError, with the engine's reason, when it is refused and nothing changed; HardwareError when that
        is because a device does not answer as it should, or when the engine is gone.
        """

    def status(self) -> Snapshot:
        """The engine's present status."""

    def wait(self, until: Callable[[Snapshot], bool], timeout: float, what: str) -> Snapshot:
        """Let the rig run until `until` holds for its status, which is returned.

        Raises HardwareError when that takes longer than `timeout` s of rig time, saying `what` was waited for, and
        InterruptedRunError after Ctrl-C.
        """


class Interruption:
    """Ctrl-C as a flag that waits look at; from the second one on, and while nothing can move yet, it interrupts."""

    def __init__(self) -> None:
        self.count = 0
        self.starting = False
        """nothing moves yet: there is nothing to be stopped in a controlled way"""
        self.at_once: Callable[[], None] | None = None
        """called on the second Ctrl-C, from the signal handler"""
        self.at_first: Callable[[], None] | None = None
        """called on the first one, from the signal handler, once something can move"""
        self._noticed = False

    def check(self) -> None:
        """Raise InterruptedRunError once after the first Ctrl-C."""
        if self.count and not self._noticed:
            self._noticed = True
            raise InterruptedRunError("interrupted; the rig was stopped")

    def forget(self) -> None:
        """The next Ctrl-C is the first one again."""
        self.count = 0
        self._noticed = False

    def _handle(self, _signal: int, _frame: FrameType | None) -> None:
        self.count += 1
        if self.count == 1 and not self.starting:
            if self.at_first is not None:
                self.at_first()
            return
        self._noticed = True
        if self.at_once is not None:
            self.at_once()
        raise KeyboardInterrupt

    @contextlib.contextmanager
    def installed(self) -> Iterator[Self]:
        """Take Ctrl-C over for the time of a `with` block."""
        before = signal.signal(signal.SIGINT, self._handle)
        try:
            yield self
        finally:
            signal.signal(signal.SIGINT, before)


class LiveRig:
    """The real-time rig: the engine's process, and the virtual rig's where the configuration has one.

    An engine that runs already, and its virtual rig, go on when this is closed, unless they were told to end; without a
    client they set the platform down and end by themselves.

    Args:
        config: the rig.
        source: file to record to, which must not exist, by an engine of its own; or a running engine to attach to.
        client: name under which the command lease is taken.
        interruption: looked at while waiting.

    Raises:
        HardwareError: a process could not start, with its reason.
        RefusedError: another client holds the running engine's lease.
    """

    def __init__(
        self, config: RigConfig, source: Path | RunningEngine, client: str, interruption: Interruption
    ) -> None:
        self.config = config
        self._interruption = interruption
        self._leaving = False
        interruption.starting = True
        with contextlib.ExitStack() as resources:
            self.virtual: VirtualRigProcess | None = None
            self.engine: EngineProcess | RunningEngine
            if isinstance(source, RunningEngine):
                self.engine = source
            else:
                self.engine = self._started(source, resources)
            self._block = self._control_block()
            resources.callback(self._block.close)
            self._client = self.engine.client(_REPLY_TIMEOUT + 6 * config.drives.connect_timeout, self._beat)
            resources.callback(self._client.close)
            interruption.at_once = self._stop_at_once
            self._name = client
            self._client.acquire(client)
            self._resources = resources.pop_all()
        interruption.starting = False

    def _started(self, recording: Path, resources: contextlib.ExitStack) -> EngineProcess:
        if self.config.virtual is not None:
            self.virtual = VirtualRigProcess(self.config)
            resources.callback(self.virtual.stop)
            self.virtual.begin()  # gets ready while the engine does
        engine = resources.enter_context(EngineProcess(self.config, recording))
        if self.virtual is not None:
            self.virtual.wait_ready()
            self.virtual.tell(engine.address.socket)
        return engine

    def _control_block(self) -> ControlBlock:
        try:
            return ControlBlock(self.engine.address.block)
        except FileNotFoundError:
            raise HardwareError(f"the engine (process {self.engine.pid}) has gone") from None

    def request(self, command: RigCommand, samples: npt.NDArray[np.float64] | None = None) -> None:
        """See `Rig.request`."""
        self._block.beat()
        self._client.request(command, samples)
        self._leaving = isinstance(command, Shutdown)
        self._block.beat()

    def status(self) -> Snapshot:
        """See `Rig.status`."""
        self._block.beat()
        return self._client.status()

    def wait(self, until: Callable[[Snapshot], bool], timeout: float, what: str) -> Snapshot:
        """See `Rig.wait`."""
        deadline = time.monotonic() + timeout
        while True:
            self._interruption.check()
            status = self.status()
            if until(status):
                return status
            if time.monotonic() > deadline:
                raise HardwareError(f"waited {timeout:.1f} s in vain for {what}; the state is {status.state.name}")
            time.sleep(_POLL)

    def raise_stop_flag(self, category: StopRequest) -> None:
        """Have the engine stop in its next cycle; does not wait."""
        self._block.request_stop(category)

    def keep_lease(self) -> None:
        """Take the command lease again where it was lost, as after a time in which this process was stopped."""
        if self.status().lease != self._name:
            self._client.acquire(self._name)

    def _beat(self) -> None:
        """Called again and again while an answer is waited for, which a dead engine does not give."""
        if not self.engine.alive:
            raise HardwareError("the engine has died")
        self._block.beat()

    def _stop_at_once(self) -> None:
        self.raise_stop_flag(0)

    def close(self) -> None:
        """End both processes: the engine is given time to end by itself where it was asked to. May be called again."""
        self._interruption.at_once = None
        try:
            if self._leaving:
                self.engine.join(_LEAVE_TIMEOUT)
        finally:
            self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()
