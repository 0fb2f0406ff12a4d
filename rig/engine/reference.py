"""The reference: where the platform should be, now and a little ahead, along a motion table followed at a path rate.

A path has its own time s. Its rate ds/dt is 1 at full speed; pausing, stopping and going on ramp it smoothly, so that
the platform slows down along the path that was checked and never leaves it.
"""

import numpy as np

from kinematics import PEAK_SPEED, Array, MotionTable, pose_to_coordinates, table_motion_kernel


class Reference:
    """A motion table and the place reached on it; without motion it holds a pose.

    Args:
        pose: (7,) where to begin, base frame.
    """

    def __init__(self, pose: Array) -> None:
        self.name = ""
        self._table: MotionTable
        self._path_time = 0.0
        self._start: float
        self._target: float
        self._duration: float
        self._elapsed: float
        self.hold(pose)

    def hold(self, pose: Array) -> None:
        """Stand still at `pose` (7,), base frame."""
        self.follow(_straight(pose, pose, 1.0), "hold")
        self._path_time = self._table.duration
        self._set_rate(0.0)

    def stay(self) -> None:
        """Forget the motion, which must not be moving, and stand still where it has come to."""
        here = np.zeros(19)
        self.evaluate(0.0, here)
        self.hold(here[:7])

    def follow(self, table: MotionTable, name: str) -> None:
        """Follow `table` from its beginning at full rate."""
        self.name = name
        self._set_rate(1.0)  # first: another thread may look, and must not take this for a pause
        self._path_time = 0.0
        self._table = table

    def change_pace(self, target: float, duration: float) -> None:
        """Bring the path rate smoothly to `target`, 0 or 1, within `duration` s; nothing if it gets there sooner."""
        if target != self._target or self._duration - self._elapsed > duration:
            self._start, self._target, self._duration, self._elapsed = self._rate(), target, duration, 0.0

    def ramp_law(self, target: float, duration: float, ahead: float) -> tuple[float, float, float]:
        """Path time, rate and acceleration `ahead` s from now if the pace changed to `target` now."""
        return _law(self._path_time, 0.0, ahead, duration, self._rate(), target)

    @property
    def table(self) -> MotionTable:
        """The motion followed."""
        return self._table

    @property
    def moving(self) -> bool:
        """Whether the reference still moves: the end is not reached and the path does not stand."""
        ramping = self._elapsed < self._duration
        return self._path_time < self._table.duration and (self._target > 0.0 or ramping)

    @property
    def slowing(self) -> bool:
        """Whether the reference is on its way to a stand before its end."""
        return self.moving and self._target == 0.0

    @property
    def paused(self) -> bool:
        """Whether the path stands before its end."""
        return self._path_time < self._table.duration and not self.moving

    @property
    def path_time(self) -> float:
        """Place on the path, s."""
        return self._path_time

    @property
    def path_duration(self) -> float:
        """Length of the path, s."""
        return self._table.duration

    @property
    def path_rate(self) -> float:
        """Seconds of the path per second."""
        return self._rate() if self.moving else 0.0

    def advance(self, duration: float) -> None:
        """Let `duration` s pass."""
        self._path_time = min(self._law(duration)[0], self._table.duration)
        self._elapsed += duration

    def evaluate(self, ahead: float, motion: Array) -> bool:
        """Fill `motion` (19,) with the reference `ahead` s from now, base frame; False when it is not defined there."""
        place, rate, acceleration = self._law(ahead)
        if place >= self._table.duration:  # a checked motion ends at rest, and there it stays
            place, rate, acceleration = self._table.duration, 0.0, 0.0
        table = self._table
        return table_motion_kernel(table.samples, table.step, place, rate, acceleration, motion) == 0

    def _law(self, ahead: float) -> tuple[float, float, float]:
        return _law(self._path_time, self._elapsed, ahead, self._duration, self._start, self._target)

    def _rate(self) -> float:
        return self._law(0.0)[1]

    def _set_rate(self, rate: float) -> None:
        self._start = self._target = rate
        self._duration = self._elapsed = 0.0


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


def straight_move(start: Array, end: Array, speed: float, rotation_speed: float) -> MotionTable:
    """Minimum-jerk motion from pose to pose (7,) in coordinates [x y z θx θy θz].

    It lasts as long as the peak speeds `speed` (m/s) and `rotation_speed` (rad/s, each angle's rate) ask for, and at
    least 0.1 s. Two rows at rest interpolated by a quintic are the minimum-jerk motion itself.
    """
    change = np.abs(pose_to_coordinates(end) - pose_to_coordinates(start))
    length = float(np.linalg.norm(change[:3]))
    return _straight(
        start, end, max(PEAK_SPEED * length / speed, PEAK_SPEED * float(change[3:].max()) / rotation_speed, 0.1)
    )


def _straight(start: Array, end: Array, duration: float) -> MotionTable:
    samples = np.zeros((2, 18))
    samples[0, :6] = pose_to_coordinates(start)
    samples[1, :6] = pose_to_coordinates(end)
    return MotionTable(duration, samples)
