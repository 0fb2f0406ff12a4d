"""How a drive makes a motion of the positions that it is sent: a clock that is held to the SYNCs, and ramps."""

import math

_DISTANCE = 0.8
"""of the period, from a SYNC to the drive's own cycle, in which the set-point is taken (FBUS.SYNCDIST)"""
_CORRECTION = 150e-9 / 62.5e-6
"""of a cycle, by which it is made longer or shorter (FBUS.COMPTIME, in each task of 62.5 µs)"""
_RESOLUTION = 1e-9  # s, of the measured distance (FBUS.SYNCACT)
_WINDOW = 0.5
"""of the period, by which the time between two SYNCs may differ from it and still be one"""
_MOST_UNMATCHED = 10
"""SYNCs in a row at other times, after which the drive is not synchronized"""
_EXTRAPOLATED = 1.0
"""periods, for which a ramp goes on beyond its end while the next set-point is missing"""
_LONGEST = 0.51  # s without a SYNC or set-point, after which the next one begins anew: two of the longest periods


class Interpolator:
    """Positions of a drive in cyclic synchronous position mode, between the set-points that SYNCs bring.

    The drive has cycles of its own, of the interpolation time period (CiA 402-2, object 60C2h). At the beginning of
    each it takes the newest set-point, and goes there in a straight line that ends with the cycle. So the speed does
    not depend on when a SYNC came, as long as it came before the cycle. Without a new set-point it goes on at the same
    speed for one period, and then stands.

    A phase-locked loop holds the cycles to the SYNCs. Its law and numbers are those of the Kollmorgen AKD (object
    3496h in "AKD CANopen", fieldbus synchronization parameters): once a cycle the time since the SYNC is compared with
    the distance that is wanted. If it is longer the next cycle is shortened, if it is shorter lengthened, by 150 ns in
    each 62.5 µs, which is 0.24 %, whatever the difference is. So the phase is that of the median SYNC: a single late
    one moves it by 12 µs in a cycle of 5 ms. A cycle without a SYNC changes nothing. The distance is a parameter of
    that drive, 320 µs as delivered. Here it is 0.8 of a period, since a computer's SYNCs are late and hardly ever
    early. So a target is reached 1.8 periods after its SYNC.

    A drive whose period was not set, or whose SYNCs do not come at it, is not synchronized. It goes by the time between
    the last two set-points, as it measures that, from the moment at which it has the second.
    """

    def __init__(self, position: float) -> None:
        """position: m, where it stands."""
        self._period = 0.0
        self._synced = self._taken = -math.inf
        self.next_cycle = math.inf
        """when the next cycle begins, s; infinite: not synchronized"""
        self._unmatched = 0
        self.stand(position)

    def stand(self, position: float) -> None:
        """Stand at a position, m, until the next set-point."""
        self._from, self._speed, self._began, self._end = position, 0.0, -math.inf, -math.inf
        self._fresh: float | None = None
        """set-point that the next cycle takes"""

    @property
    def synchronized(self) -> bool:
        """Whether the cycles are held to the SYNCs."""
        return math.isfinite(self.next_cycle)

    def sync(self, now: float, period: float) -> None:
        """Note a SYNC at `now`, s. period: the interpolation time period, s; 0: none is known."""
        self.position(now)
        fits = abs(now - self._synced - period) < _WINDOW * period
        self._unmatched = 0 if fits else self._unmatched + 1
        if period != self._period or self._unmatched > _MOST_UNMATCHED or now - self._synced > _LONGEST:
            self.next_cycle = math.inf
        if fits and not self.synchronized:
            self.next_cycle = now + _DISTANCE * period
        self._period, self._synced = period, now

    def take(self, now: float, target: float) -> None:
        """Take a set-point, m, that has come at `now`, s."""
        position, _ = self.position(now)
        elapsed, self._taken = now - self._taken, now
        if self.synchronized:
            self._fresh = target
        elif 0.0 < elapsed < _LONGEST:
            self._go(now, position, target, elapsed)
        else:
            self.stand(target)

    def position(self, now: float) -> tuple[float, float]:
        """Position, m, and speed, m/s, at `now`, s, which is never before that of an earlier call."""
        while self.next_cycle <= now:
            self._begin_cycle()
        passed = min(now, self._end) - self._began if self._speed else 0.0
        return self._from + passed * self._speed, self._speed if now < self._end else 0.0

    def _go(self, now: float, start: float, target: float, period: float) -> None:
        self._from, self._speed = start, (target - start) / period
        self._began, self._end = now, now + (1.0 + _EXTRAPOLATED) * period

    def _begin_cycle(self) -> None:
        """Begin the cycle that is due, and say when the next one does."""
        edge, self.next_cycle = self.next_cycle, math.inf
        since = edge - self._synced
        if since > _LONGEST:
            return  # the next SYNC begins anew
        late = since - _DISTANCE * self._period
        if self._fresh is not None:
            self._go(edge, self.position(edge)[0], self._fresh, self._period)
            self._fresh = None
        heard = since < self._period
        correction = math.copysign(_CORRECTION, late) if heard and abs(late) >= _RESOLUTION else 0.0
        self.next_cycle = edge + (1.0 - correction) * self._period
