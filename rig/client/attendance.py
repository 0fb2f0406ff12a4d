"""A client that stays there for a live rig while a person thinks: it beats, and says what happens in the engine."""

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Self

from rig.client.session import LiveRig
from rig.engine import ControlBlock, Event
from rig.errors import HardwareError

_INTERVAL = 0.05  # s
_STATUS_TIMEOUT = 1.0  # s
_ENDING_TIMEOUT = 5.0  # s


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
        return list(events[first:])


class Attendance:
    """Beats for the client that holds the lease, and follows the engine's events, as long as a `with` block lasts.

    Args:
        rig: its engine is attended.
        say: told every new event, or that the engine has died; called from a thread of its own.
    """

    def __init__(self, rig: LiveRig, say: Callable[[Event | str], None]) -> None:
        self._engine = rig.engine
        self._say = say
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._attend, name="attendance", daemon=True)
        with contextlib.ExitStack() as resources:
            self._block = ControlBlock(rig.engine.address.block)
            resources.callback(self._block.close)
            self._client = rig.engine.client(_STATUS_TIMEOUT, self._block.beat)
            resources.callback(self._client.close)
            self._resources = resources.pop_all()

    def _attend(self) -> None:
        events = EventFollower()
        while not self._ending.wait(_INTERVAL):
            self._block.beat()
            try:
                status = self._client.status()
            except HardwareError:
                if not self._engine.alive:
                    self._say("the engine has died")
                    return
                continue
            for event in events.new(status.events):
                self._say(event)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._ending.set()
        self._thread.join(_ENDING_TIMEOUT)
        self._resources.close()
