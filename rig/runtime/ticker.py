"""Where a loop's time comes from: a ticker gives it its cycles, and the clock that the deadlines of exchanges are in.

On real hardware that is the machine's clock, in lockstep one that its owner moves. On virtual hardware time is paced,
`rig.engine.paced_ticker`: the loop gives the time to the plant, so that a machine which is late makes a run slow, never
wrong.
"""

import time
from dataclasses import dataclass
from typing import Protocol

from rig.runtime.clock import ManualClock

_BUSY = 0.01  # slower than real time; less is nobody's business


@dataclass(frozen=True, slots=True)
class Tick:
    """What the keeper of the time says of a cycle."""

    t: float
    """s, rig time of the cycle's deadline"""
    lateness: float = 0.0
    """s"""
    period: float = 0.0
    """s, since the beginning of the cycle before"""
    overruns: int = 0
    """cycles skipped so far"""
    slower: float = 0.0
    """see `Ticker.slower`"""


class Ticker(Protocol):
    """Gives a loop its cycles; belongs to the loop's thread."""

    def now(self) -> float:
        """The clock that the deadlines of exchanges are in, s; only differences mean anything."""

    def begin(self) -> None:
        """A new grid of cycles, the first one period from now; rig time goes on."""

    def next(self) -> Tick:
        """Wait for the next cycle; those missed are skipped and counted, never caught up."""

    @property
    def slower(self) -> float:
        """By which part of its own time the run took longer than that because the machine was busy, so far."""


def slowdown_text(slower: float) -> str:
    """How busy the machine was, in words; "" where it was not. Args: slower: see `Ticker.slower`."""
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
    """Cycles that come as fast as they are asked for, on a clock that nothing else moves.

    Args:
        period: s.
    """

    slower = 0.0

    def __init__(self, period: float) -> None:
        super().__init__()
        self._period = period
        self._cycle = 0
        self.overruns = 0
        """cycles skipped so far"""

    def begin(self) -> None:
        """See `Ticker.begin`: the grid stands."""

    def next(self, missed: int = 0) -> Tick:
        """See `Ticker.next`; `missed` cycles are skipped before."""
        self._cycle += 1 + missed
        self.overruns += missed
        self.set(self._cycle * self._period)
        return Tick(self.now(), 0.0, (1 + missed) * self._period, self.overruns)
