"""When a device is asked, and how old what it says is."""

import math


class Sampling:
    """When a device is asked, and how old what it last said is, by the time that the cycles are given."""

    __slots__ = ("_next", "_now", "_paused", "_period", "_since", "asked", "overdue")

    def __init__(self, period: float) -> None:
        """period: s between two requests; 0 = every cycle."""
        self._period = period
        self.asked = not period
        """whether the device was asked in this cycle"""
        self._now = 0.0
        self.forget()

    def forget(self) -> None:
        """Begin anew: nothing was asked or received yet."""
        self._next = -math.inf
        self._since: float | None = None
        self._paused = False
        self.overdue = False
        """whether what was asked last has not come"""

    def resume(self) -> None:
        """Cycles go on after a pause: that it was not asked meanwhile does not age what it said."""
        self._paused = True

    def due(self, now: float, urgent: bool = False) -> bool:
        """Begin the cycle of `now` (s); whether the device is to be asked: in the cycle nearest to when it is due.

        urgent: it is to be asked now as well. Devices begun together keep being asked in the same cycles.
        """
        if now < self._now:  # another clock than before
            self.forget()
        if self._since is None:
            self._since = now
        elif self._paused:
            self._since += now - self._now
        self._paused = False
        if self._period:
            due = now >= self._next - 0.5 * min(now - self._now, self._period)
            self.asked = due or urgent
            if due:
                on_time = now - self._next < self._period
                self._next = (self._next if on_time else now) + self._period
        if self.asked:
            self.overdue = True
        self._now = now
        return self.asked

    def received(self) -> None:
        """What was asked in this cycle has come."""
        self._since = self._now
        self.overdue = False

    @property
    def age(self) -> float:
        """s since something was received, before anything was since it was first asked for; without the pauses."""
        return 0.0 if self._since is None else self._now - self._since
