"""A running engine as the app holds it: its process, shared memory, and a client for each thread that talks to it."""

import contextlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from rig.config import RigConfig
from rig.engine import (
    ControlBlock,
    EngineAddress,
    EngineProcess,
    LinkClient,
    RigCommand,
    RunningEngine,
    Shutdown,
    Snapshot,
    Stop,
)
from rig.errors import HardwareError, RigError
from rig.runtime import TelemetryRing

CLIENT = "rig gui"
"""the name under which the app takes the command lease"""
_REPLY_TIMEOUT = 10.0  # s, beside the time that six silent drives take
_STATUS_TIMEOUT = 1.0  # s
_LEAVE_TIMEOUT = 10.0  # s for the engine to end by itself


class LiveEngine:
    """Starts an engine, which takes seconds, or takes one over, and holds what is needed to command and watch it.

    `request`, `status` and `send_stop` wait for an answer and belong to one thread each; the rest never waits.

    Args:
        config: the rig.
        source: file to record to, which must not exist, by an engine of its own; or a running engine to take over.

    Raises:
        HardwareError: the engine could not start, or has gone, with its reason.
        RefusedError: another client holds the running engine's lease.
    """

    def __init__(self, config: RigConfig, source: Path | RunningEngine) -> None:
        self._gone = threading.Event()
        with contextlib.ExitStack() as resources:
            self._process: EngineProcess | RunningEngine
            if isinstance(source, RunningEngine):
                self._process, self.recording = source, source.recording
                if not source.alive:
                    raise HardwareError(f"the engine (process {source.pid}) has gone")
            else:
                self._process, self.recording = resources.enter_context(EngineProcess(config, source)), source
            self._block = ControlBlock(self._process.address.block)
            resources.callback(self._block.close)
            self._ring = TelemetryRing.attach(self._process.address.ring)
            resources.callback(self._ring.close)
            self._reader = self._ring.reader(0)
            self._commands = self._client(_REPLY_TIMEOUT + 6 * config.drives.connect_timeout)
            resources.callback(self._commands.close)
            self._watch = self._client(_STATUS_TIMEOUT)
            resources.callback(self._watch.close)
            self._stops = self._client(_STATUS_TIMEOUT)
            resources.callback(self._stops.close)
            self._block.beat()
            self._commands.acquire(CLIENT)
            self._resources = resources.pop_all()

    def _client(self, timeout: float) -> LinkClient:
        return self._process.client(timeout, self._check)

    def _check(self) -> None:
        if self._gone.is_set():
            raise HardwareError("the engine has died")
        if not self._process.alive:
            self._gone.set()  # its last reply may be on its way: the next look raises

    @property
    def pid(self) -> int | None:
        """Process id."""
        return self._process.pid

    @property
    def address(self) -> EngineAddress:
        """Where other clients find it."""
        return self._process.address

    @property
    def alive(self) -> bool:
        """Whether the engine's process runs; once it does not, nobody waits for its answers any more."""
        if self._process.alive:
            return True
        self._gone.set()
        return False

    def beat(self) -> None:
        """Show the engine that the app is alive."""
        self._block.beat()

    def raise_stop_flag(self, category: Literal[0, 1, 2]) -> None:
        """Raise the stop flag in shared memory; the engine sees it in its next cycle."""
        self._block.request_stop(category)

    def read_rows(self) -> tuple[npt.NDArray[np.void], int]:
        """Telemetry rows since the last call, (n,) of dtype ROW, and how many were lost before them."""
        return self._reader.read_new()

    def send_stop(self, category: Literal[0, 1, 2]) -> None:
        """Ask for a stop over the control link as well. Raises HardwareError when the engine does not answer."""
        self._stops.request(Stop(category))

    def request(self, command: RigCommand, samples: npt.NDArray[np.float64] | None = None) -> None:
        """Send a command and wait until it is accepted; the command lease is taken again first where it was lost.

        Raises RefusedError or HardwareError as `LinkClient.request`.
        """
        if self._commands.status().lease != CLIENT:
            self._commands.acquire(CLIENT)
        self._commands.request(command, samples)

    def status(self) -> Snapshot:
        """The engine's present status. Raises HardwareError when it does not answer."""
        return self._watch.status()

    def end(self, commands: Sequence[RigCommand]) -> None:
        """Send commands, of which the last is to shut down, and wait for the engine to end. Raises as `request`."""
        for command in commands:
            self.request(command)
        self._process.join(_LEAVE_TIMEOUT)

    def close(self) -> None:
        """End the engine if it still runs and let go of everything; no other thread may be using this any more.

        One that was taken over and does not end when it is told to goes on until nobody has commanded it for its time.
        """
        if isinstance(self._process, RunningEngine) and self._process.alive:
            with contextlib.suppress(RigError):
                self.end([Shutdown()])
        self._gone.set()
        self._resources.close()
