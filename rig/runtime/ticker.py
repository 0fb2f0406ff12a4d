"""Time of a loop: monotonic clocks, and tickers for its cycles."""

import math
import time
from typing import NamedTuple, Protocol


class Clock(Protocol):
    """A source of monotonic time."""

    def now(self) -> float:
        """Monotonic time, s; only differences are meaningful."""
        ...


class MonotonicClock:
    """The operating system's monotonic clock, the same one for every process of the machine."""

    def now(self) -> float:
        """Monotonic time in s."""
        return time.monotonic()


class ManualClock:
    """A clock set by its owner, for lockstep runs and tests.

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


_BUSY = 0.01  # slower than real time; less is nobody's business


class Tick(NamedTuple):
    """What the keeper of the time says of a cycle."""

    t: float
    """s, rig time of the cycle's deadline"""
    lateness: float = 0.0
    """s"""
    period: float = 0.0
    """s, since the start of the previous cycle"""
    overruns: int = 0
    """cycles skipped so far"""
    slower: float = 0.0
    """see `Ticker.slower`"""


class Ticker(Protocol):
    """Gives a loop its cycles; belongs to the loop's thread."""

    def now(self) -> float:
        """The clock of the exchanges' deadlines, s; only differences are meaningful."""

    def begin(self) -> None:
        """Begin a new grid of cycles, the first one period from now; rig time continues."""

    def next(self) -> Tick:
        """Wait for the next cycle; those missed are skipped and counted, never caught up."""

    @property
    def slower(self) -> float:
        """Relative slow-down of the run so far, because the machine was busy."""

    @property
    def origin(self) -> float:
        """Time of `now` at rig time 0, s; NaN before the first `begin`, and while a plant whose clock it is is lost."""


def slowdown_text(slower: float) -> str:
    """Text of the machine's slow-down; "" if there was none. Args: slower: see `Ticker.slower`."""
    return f"the machine was busy: {100.0 * slower:.0f} % slower than real time" if slower >= _BUSY else ""


class MachineTicker:
    """Absolute deadlines of the machine's monotonic clock.

    Args:
        period: s; rig time begins here, and again with the first `begin`.
    """

    slower = 0.0

    def __init__(self, period: float) -> None:
        self._period = period
        self._origin: float | None = None
        self._deadline = self._begun = 0.0
        self._overruns = 0

    def now(self) -> float:
        """See `Ticker.now`: the machine's monotonic clock."""
        return time.monotonic()

    @property
    def origin(self) -> float:
        """See `Ticker.origin`."""
        return math.nan if self._origin is None else self._origin

    def begin(self) -> None:
        """See `Ticker.begin`."""
        self._begun = time.monotonic()
        if self._origin is None:
            self._origin = self._begun
        self._deadline = self._begun + self._period

    def next(self) -> Tick:
        """See `Ticker.next`."""
        assert self._origin is not None, "begin comes first"
        while (remaining := self._deadline - time.monotonic()) > 0.0:
            time.sleep(remaining)
        begun, begun_before = time.monotonic(), self._begun
        skipped = int((begun - self._deadline) / self._period)
        self._overruns += skipped
        deadline = self._deadline + skipped * self._period
        self._begun, self._deadline = begun, deadline + self._period
        return Tick(deadline - self._origin, begun - deadline, begun - begun_before, self._overruns)


class ManualTicker(ManualClock):
    """Cycles on request, on a clock that only this ticker moves.

    Args:
        period: s.
    """

    slower = origin = 0.0

    def __init__(self, period: float) -> None:
        super().__init__()
        self._period = period
        self._cycle = 0
        self.overruns = 0
        """cycles skipped so far"""

    def begin(self) -> None:
        """See `Ticker.begin`: the grid stays."""

    def next(self, missed: int = 0) -> Tick:
        """See `Ticker.next`; `missed` cycles are skipped before."""
        self._cycle += 1 + missed
        self.overruns += missed
        self.set(self._cycle * self._period)
        return Tick(self.now(), 0.0, (1 + missed) * self._period, self.overruns)
