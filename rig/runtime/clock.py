"""Monotonic clocks: what the engine and the virtual rig take their time from.

The wall clock appears nowhere here: it may jump, and nothing that moves may depend on it.
"""

import math
import time
from typing import Protocol


class Clock(Protocol):
    """A source of monotonic time."""

    def now(self) -> float:
        """Monotonic time in s; only differences mean anything."""
        ...


class MonotonicClock:
    """The operating system's monotonic clock, the same one for every process of the machine."""

    def now(self) -> float:
        """Monotonic time in s."""
        return time.monotonic()


class ManualClock:
    """A clock that its owner moves, for lockstep runs and tests.

    Args:
        start: first reading, s.
    """

    def __init__(self, start: float = 0.0) -> None:
        self._now = -math.inf
        self.set(start)

    def now(self) -> float:
        """Reading in s."""
        return self._now

    def set(self, now: float) -> None:
        """Move the clock to `now` (s).

        Raises:
            ValueError: not finite, or before the present reading.
        """
        if not math.isfinite(now):
            raise ValueError(f"clock: {now} s is not a time")
        if now < self._now:
            raise ValueError(f"clock: cannot go back from {self._now} s to {now} s")
        self._now = now

    def advance(self, duration: float) -> None:
        """Move the clock on by `duration` (s, not negative).

        Raises:
            ValueError: `duration` negative or not finite.
        """
        self.set(self._now + duration)


class Cadence:
    """Absolute deadlines of the monotonic clock, a period (s) apart; those missed are skipped, never caught up.

    Args:
        period: s; the first deadline is one from now.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self._next = time.monotonic() + period

    def wait(self) -> None:
        """Return when the next deadline has come."""
        while (remaining := self._next - time.monotonic()) > 0.0:
            time.sleep(remaining)
        self._next = max(self._next, time.monotonic() - self._period) + self._period
