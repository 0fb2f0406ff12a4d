"""A motion table as a source of references, followed at a path rate.

A path has its own time s. Its rate ds/dt is 1 at full speed; pausing, stopping and going on ramp it smoothly, so that
the platform slows down along the path that was checked and never leaves it.
"""

from collections.abc import Sequence

from kinematics import Array, MotionTable, table_motion_kernel
from rig.engine.rate_change import RateChange


class TableSource:
    """A motion table and the place reached on it; a `ReferenceSource`.

    Args:
        table: followed from its beginning.
        name: of the motion.
        rate_change: says how fast the legs bear a change of the rate; None: as fast as wished.
        at_end: begin, and stay, at its end.
        rate: path rate while it neither slows down nor stands, above 0 and at most 1.
    """

    def __init__(
        self,
        table: MotionTable,
        name: str,
        rate_change: RateChange | None = None,
        *,
        at_end: bool = False,
        rate: float = 1.0,
    ) -> None:
        self.name = name
        self._table = table
        self._length = table.duration
        self._rate_change = rate_change
        self._path_time = table.duration if at_end else 0.0
        self._full = rate
        self._durations: Sequence[float] = ()
        self._start = self._target = 0.0 if at_end else rate
        self._duration = self._elapsed = 0.0

    def decelerate(self, durations: Sequence[float]) -> None:
        """See `ReferenceSource.decelerate`; along the path."""
        self._change(0.0, durations)

    def resume(self, durations: Sequence[float]) -> None:
        """See `ReferenceSource.resume`."""
        self._change(self._full, durations)

    def pace(self, rate: float, durations: Sequence[float]) -> None:
        """Follow the path at another rate from now on, or once it is taken up again; changed as `resume` does.

        A ramp that is under way comes to its end first: one that were interrupted would be a step of the acceleration.
        """
        self._full, self._durations = rate, durations
        self._keep_pace()

    def _keep_pace(self) -> None:
        """Begin the change to the rate that is wanted, where it is another and nothing else is under way."""
        if self._target != self._full and self.moving and self._elapsed >= self._duration:
            self._change(self._full, self._durations)

    def _change(self, target: float, durations: Sequence[float]) -> None:
        def law(duration: float, ahead: float) -> tuple[float, float, float]:
            return self.ramp_law(target, duration, ahead)

        change = self._rate_change
        bearable = durations[0] if change is None else change.duration(self._table, law, durations)
        self.change_rate(target, bearable)

    def change_rate(self, target: float, duration: float) -> None:
        """Bring the path rate smoothly to `target`, 0 to 1, within `duration` s; nothing if it gets there sooner."""
        if target != self._target or self._duration - self._elapsed > duration:
            self._start, self._target, self._duration, self._elapsed = self._rate(), target, duration, 0.0

    def ramp_law(self, target: float, duration: float, ahead: float) -> tuple[float, float, float]:
        """Path time, rate and acceleration `ahead` s from now if the rate changed to `target` now."""
        return _law(self._path_time, 0.0, ahead, duration, self._rate(), target)

    @property
    def moving(self) -> bool:
        """Whether the reference still moves: the end is not reached and the path does not stand."""
        ramping = self._elapsed < self._duration
        return self._path_time < self._length and (self._target > 0.0 or ramping)

    @property
    def slowing(self) -> bool:
        """Whether the path is on its way to a stand before its end."""
        return self.moving and self._target == 0.0

    @property
    def paused(self) -> bool:
        """Whether the path stands before its end."""
        return self._path_time < self._length and not self.moving

    @property
    def path_time(self) -> float:
        """Place on the path, s."""
        return self._path_time

    @property
    def path_duration(self) -> float:
        """Length of the path, s."""
        return self._length

    @property
    def path_rate(self) -> float:
        """Seconds of the path per second."""
        return self._rate() if self.moving else 0.0

    def advance(self, duration: float) -> None:
        """Let `duration` s pass."""
        self._path_time = min(self._law(duration)[0], self._length)
        self._elapsed += duration
        self._keep_pace()

    def evaluate(self, ahead: float, motion: Array) -> bool:
        """Fill `motion` (19,) with the reference `ahead` s from now, base frame; False when it is not defined there."""
        place, rate, acceleration = self._law(ahead)
        if place >= self._length:  # a checked motion ends at rest, and there it stays
            place, rate, acceleration = self._length, 0.0, 0.0
        table = self._table
        return table_motion_kernel(table.samples, table.step, place, rate, acceleration, motion) == 0

    def _law(self, ahead: float) -> tuple[float, float, float]:
        return _law(self._path_time, self._elapsed, ahead, self._duration, self._start, self._target)

    def _rate(self) -> float:
        return self._law(0.0)[1]


def _law(
    place: float, elapsed: float, ahead: float, length: float, start: float, target: float
) -> tuple[float, float, float]:
    """Path time, rate and acceleration `ahead` s from now: a cubic smooth step between two rates, then constant.

    Args:
        place: path time now, s.
        elapsed: s since the ramp began.
        ahead: s.
        length: of the ramp, s.
        start, target: rates before and after it.
    """
    then = elapsed + ahead
    place += _progress(then, length, start, target) - _progress(elapsed, length, start, target)
    if then >= length:
        return place, target, 0.0
    x, change = then / length, target - start
    return place, start + change * x * x * (3.0 - 2.0 * x), change * 6.0 * x * (1.0 - x) / length


def _progress(elapsed: float, length: float, start: float, target: float) -> float:
    """Path time gained `elapsed` s after a ramp began."""
    change = target - start
    if elapsed >= length:
        return length * (start + 0.5 * change) + target * (elapsed - length)
    x = elapsed / length
    return elapsed * start + length * change * x * x * x * (1.0 - 0.5 * x)
