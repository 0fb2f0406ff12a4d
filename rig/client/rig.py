"""Interface of a rig: commands, status, events and waiting, the same for the live and the lockstep one."""

import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from rig.config import RigConfig
from rig.engine import Event, RigCommand, Snapshot
from rig.findings import Code, Finding
from rig.runtime import StopRequest
from rig.virtual import ActiveFault

Listener = Callable[[Event | str], None]
"""Receives every new event, or a text about the engine, such as its death."""
RowListener = Callable[[npt.NDArray[np.void]], None]
"""Receives telemetry rows in order, (n,) of dtype ROW, which it may keep."""


def wait_timeout(status: Snapshot, timeout: float, what: str) -> Finding:
    """Finding of a wait that has taken longer than `timeout` s."""
    return Finding(Code.WAIT_TIMEOUT, bound=timeout, details={"what": what, "state": status.state.name})


class EventFollower:
    """Finds new events among the engine's most recent ones."""

    def __init__(self) -> None:
        self._last: Event | None = None

    def new(self, events: Sequence[Event]) -> list[Event]:
        """The events (oldest first) after those of the last call."""
        first = 0
        if self._last is not None:
            last = repr(self._last)  # a finding's value may be NaN, which equals nothing
            for index in range(len(events) - 1, -1, -1):
                if repr(events[index]) == last:
                    first = index + 1
                    break
        if events:
            self._last = events[-1]
        return list(events)[first:]


class News:
    """Passes each event once to a listener, which may be set at any time; its exceptions are contained."""

    def __init__(self) -> None:
        self.listener: Listener | None = None
        self._events = EventFollower()
        self._lock = threading.Lock()

    def take(self, events: Sequence[Event]) -> None:
        """Pass the new ones among the engine's most recent events, oldest first."""
        if self.listener is None:
            return
        with self._lock:  # in their order, whoever brings them
            for event in self._events.new(events):
                self.notify(event)

    def notify(self, news: Event | str) -> None:
        """Pass one event or text."""
        listener = self.listener  # which another thread may take away meanwhile
        if listener is not None:
            try:
                listener(news)
            except Exception:
                traceback.print_exc()


class FaultControl(Protocol):
    """Control of the faults of a virtual rig; see `rig.virtual.Faults`."""

    @property
    def active(self) -> Sequence[ActiveFault]:
        """The active faults."""

    def inject(
        self, name: str, leg: int | None = None, value: float | None = None, duration: float | None = None
    ) -> object:
        """Begin a fault."""

    def clear(self, name: str | None = None, leg: int | None = None) -> object:
        """End faults."""


class Rig(Protocol):
    """A connected engine, wherever it runs, and the right to command it."""

    config: RigConfig

    @property
    def recording(self) -> Path:
        """The file that the engine records to."""

    @property
    def faults(self) -> FaultControl | None:
        """Control of faults; None without an own virtual rig."""

    def request(self, command: RigCommand, samples: npt.NDArray[np.float64] | None = None) -> None:
        """Send a command.

        Raises RefusedError, with the engine's reason, if refused without effect; HardwareError if a device failed, or
        the engine has ended.
        """

    def status(self) -> Snapshot:
        """The engine's present status."""

    def wait(self, until: Callable[[Snapshot], bool], timeout: float, what: str) -> Snapshot:
        """Wait until `until` is true for the status, which is returned.

        Raises HardwareError, which names `what`, after `timeout` s of rig time, and InterruptedRunError after Ctrl-C.
        """

    def raise_stop_flag(self, category: StopRequest) -> None:
        """Stop the engine's motion in its next cycle; does not wait, and may be called from a signal handler."""

    def hold(self) -> None:
        """Renew the hold of a hold-to-run motion; does not wait."""

    def let_go(self) -> None:
        """Release the hold, so that the motion decelerates to rest; does not wait."""

    def feeding(self, feed: Callable[[float], None], period: float) -> AbstractContextManager[None]:
        """Within the block `feed` is called about every `period` s, with the clock of streams, s; it must not raise."""

    def note_tuning(self, text: str, at: float) -> None:
        """Record a change of a washout's tuning; at: s of the clock of streams. Raises HardwareError."""

    def report(self, finding: Finding) -> None:
        """Record and log why an FMU that is followed has failed. Raises HardwareError."""

    def listen(self, listener: Listener | None, rows: RowListener | None = None) -> None:
        """Pass events and telemetry rows from now on; a live rig does so at once, from its own thread."""

    def refresh(self) -> None:
        """Pass new events and rows now."""

    def close(self) -> None:
        """Close the rig. May be called again."""
