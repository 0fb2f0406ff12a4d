"""Which of the engine's events are new, and who is told."""

import threading
import traceback
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from rig.engine import Event

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
