"""A rig as an operation sees it: commands, status, events and waiting, the same for the live and the lockstep one."""

import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from rig.config import RigConfig
from rig.engine import Event, RigCommand, Snapshot
from rig.runtime import StopRequest
from rig.virtual import ActiveFault

Listener = Callable[[Event | str], None]
"""Told every new event, or in words what the engine itself cannot say, as that it has died."""
RowListener = Callable[[npt.NDArray[np.void]], None]
"""Told telemetry rows in their order, (n,) of dtype ROW, which are its own from then on."""


class EventFollower:
    """Finds out which of the engine's most recent events are new."""

    def __init__(self) -> None:
        self._last: Event | None = None

    def new(self, events: Sequence[Event]) -> list[Event]:
        """Those of the events (oldest first) that came after those of the last call."""
        first = 0
        if self._last is not None:
            for index in range(len(events) - 1, -1, -1):
                if events[index] == self._last:
                    first = index + 1
                    break
        if events:
            self._last = events[-1]
        return list(events)[first:]


class News:
    """Tells a listener, which may be set at any time, each event once; a listener that fails hinders nobody."""

    def __init__(self) -> None:
        self.listener: Listener | None = None
        self._events = EventFollower()
        self._lock = threading.Lock()

    def take(self, events: Sequence[Event]) -> None:
        """Tell what is new among the engine's most recent events, oldest first."""
        if self.listener is None:
            return
        with self._lock:  # in their order, whoever brings them
            for event in self._events.new(events):
                self.say(event)

    def say(self, news: Event | str) -> None:
        """Tell one thing."""
        listener = self.listener  # which another thread may take away meanwhile
        if listener is not None:
            try:
                listener(news)
            except Exception:
                traceback.print_exc()


class FaultControl(Protocol):
    """Where faults of a virtual rig are begun and ended; see `rig.virtual.Faults`."""

    @property
    def active(self) -> Sequence[ActiveFault]:
        """Those that are on."""

    def inject(
        self, name: str, leg: int | None = None, value: float | None = None, duration: float | None = None
    ) -> object:
        """Begin one."""

    def clear(self, name: str | None = None, leg: int | None = None) -> object:
        """End them."""


class Rig(Protocol):
    """A connected engine, wherever it runs, and the right to command it."""

    config: RigConfig

    @property
    def recording(self) -> Path:
        """The file that the engine records to."""

    @property
    def faults(self) -> FaultControl | None:
        """Where faults are injected; None where the virtual rig is another process's, or there is none."""

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

    def raise_stop_flag(self, category: StopRequest) -> None:
        """Have the engine stop in its next cycle; does not wait, and may be called from a signal handler."""

    def hold(self) -> None:
        """Renew the hold of a motion that goes on only as long as it is held; does not wait."""

    def let_go(self) -> None:
        """Give that hold up: the motion comes to a stand; does not wait."""

    def listen(self, listener: Listener | None, rows: RowListener | None = None) -> None:
        """From now on tell what happens, and telemetry rows: a live rig's as they come, from a thread of its own."""

    def refresh(self) -> None:
        """Tell now what is new."""

    def close(self) -> None:
        """Let go of the rig. May be called again."""
