"""Cycles of paced time: the loop sets the plant's time, and follows the wall clock as far as the machine allows."""

import math
import time

from rig.config import RigConfig
from rig.engine.pacer import Pacer
from rig.runtime import MachineTicker, Tick, Ticker

_MADE_UP = 0.1  # s by which cycles may be behind the wall clock before that is lost; a stream's samples do not wait
_WHOLE = 1e-6  # of a period: what is nearer to a cycle's time stands at it


class PacedTicker:
    """See `rig.runtime.Ticker`. No cycle is ever late: a delay by the operating system delays the plant too.

    After a short delay the cycles follow each other without a pause until they have caught up with the wall clock.
    Cycles are skipped only if the plant has continued by itself, without a sign of life of this process.

    Args:
        period: s.
        pacer: sets the plant's time.
        speed: largest ratio of rig time to wall time.
    """

    def __init__(self, period: float, pacer: Pacer, speed: float = 1.0) -> None:
        self._period = period
        self._pacer = pacer
        self._speed = speed
        self._wall_period = period / speed
        self._due = time.monotonic()
        self._cycle = 0
        self._epoch = -1
        self._origin = math.nan
        self._overruns = 0
        self._lost = 0.0
        """s of the wall clock for which the machine was late"""

    def now(self) -> float:
        """See `Ticker.now`: the plant's clock."""
        return self._pacer.now()

    def begin(self) -> None:
        """See `Ticker.begin`: time passed on the plant's clock meanwhile counts."""
        pacer = self._pacer
        if self._epoch != pacer.epoch:  # the first, or another plant with a clock of its own
            self._origin = pacer.now() - self._cycle * self._period
            self._epoch = pacer.epoch  # last: another thread asks for the origin of this epoch
        self._cycle = max(self._cycle, self._cycle_at(pacer.now()))
        self._due = time.monotonic() + self._wall_period

    @property
    def origin(self) -> float:
        """See `Ticker.origin`; another plant has another one, and without a plant there is none."""
        return self._origin if self._pacer.attached and self._pacer.epoch == self._epoch else math.nan

    @property
    def slower(self) -> float:
        """See `Ticker.slower`: beside real time, where a higher speed was wanted."""
        wanted = min(0.0, 1.0 / self._speed - 1.0)
        return max(0.0, self._lost / (self._cycle * self._period) + wanted) if self._cycle else 0.0

    def next(self) -> Tick:
        """See `Ticker.next`."""
        late = self._wait()
        pacer, missed = self._pacer, 0
        if pacer.recover():
            self.begin()
        if pacer.overtaken():
            missed = max(0, self._cycle_at(pacer.now()) - (self._cycle + 1))
        else:
            self._lost += late
        self._overruns += missed
        self._cycle += 1 + missed
        pacer.give(self._origin + self._cycle * self._period)
        return Tick(self._cycle * self._period, 0.0, (1 + missed) * self._period, self._overruns, self.slower)

    def _wait(self) -> float:
        """Wait for the wall clock; returns its lead, s, where the machine was too busy to make up for it."""
        while (remaining := self._due - time.monotonic()) > 0.0:
            time.sleep(remaining)
        late = 0.0
        if remaining < -max(_MADE_UP, self._wall_period):
            late = -remaining
            self._due -= remaining
        self._due += self._wall_period
        return late

    def _cycle_at(self, now: float) -> int:
        """Number of the first cycle that is not before `now`."""
        return math.ceil((now - self._origin) / self._period - _WHOLE)


def make_ticker(config: RigConfig, pacer: Pacer | None) -> Ticker:
    """The ticker of a rig's loop: the machine's clock, or paced time if there is a `pacer`."""
    if pacer is None or config.virtual is None:
        return MachineTicker(config.period)
    return PacedTicker(config.period, pacer, config.virtual.speed)
