"""The reference: where the platform should be, now and a little ahead, by the source that is followed."""

from collections.abc import Sequence

import numpy as np

from kinematics import PEAK_SPEED, Array, MotionTable, pose_to_coordinates
from rig.engine.rate_change import RateChange
from rig.engine.source import ReferenceSource
from rig.engine.table_source import TableSource


class Reference:
    """What the engine follows: one source after the other; without motion it holds a pose.

    Args:
        pose: (7,) where to begin, base frame.
        rate_change: see `TableSource`.

    `source` is what is followed.
    """

    def __init__(self, pose: Array, rate_change: RateChange | None = None) -> None:
        self._rate_change = rate_change
        self.rate = 1.0
        """part of full speed at which runs are followed"""
        self._paced = False
        self.source: ReferenceSource
        self._left: ReferenceSource | None = None
        self.hold(pose)

    def hold(self, pose: Array) -> None:
        """Stand still at `pose` (7,), base frame."""
        self.take(TableSource(_straight(pose, pose, 1.0), "hold", self._rate_change, at_end=True))

    def stay(self) -> None:
        """Forget the motion, which must not be moving, and stand still where it has come to."""
        here = np.zeros(19)
        self.evaluate(0.0, here)
        self.hold(here[:7])

    def follow(self, table: MotionTable, name: str, *, paced: bool = False) -> None:
        """Follow `table` from its beginning, at full rate or, `paced`, at that of runs."""
        self.take(TableSource(table, name, self._rate_change, rate=self.rate if paced else 1.0))
        self._paced = paced

    def pace(self, rate: float, durations: Sequence[float]) -> None:
        """Follow runs at this part of full speed; one that is followed changes to it as `resume` does."""
        self.rate = rate
        if self._paced and isinstance(self.source, TableSource):
            self.source.pace(rate, durations)

    def take(self, source: ReferenceSource) -> None:
        """Follow `source` from where it is."""
        self.source, self._left, self._paced = source, None, False

    def leave_for(self, table: MotionTable, name: str) -> None:
        """Come to rest by `table` in place of a source that cannot be followed on, whose place on its path stays."""
        left = self._left or self.source
        self.follow(table, name)
        self._left = left

    def leave_at(self, pose: Array) -> None:
        """Stand still at `pose` (7,) in place of a source that cannot be followed on; likewise."""
        left = self._left or self.source
        self.hold(pose)
        self._left = left

    @property
    def name(self) -> str:
        """Name of the motion."""
        return self.source.name

    @property
    def moving(self) -> bool:
        """Whether the reference still moves; see `ReferenceSource`, also of what follows."""
        return self.source.moving

    @property
    def slowing(self) -> bool:
        """Whether the reference is on its way to a stand before its end."""
        return self.source.slowing

    @property
    def paused(self) -> bool:
        """Whether it stands before its end."""
        return self.source.paused

    @property
    def path_time(self) -> float:
        """Place on the path, s; of a source that was left, where that was."""
        return (self._left or self.source).path_time

    @property
    def path_duration(self) -> float:
        """Length of the path, s; infinite where it has no end of its own."""
        return (self._left or self.source).path_duration

    @property
    def path_rate(self) -> float:
        """Seconds of the path per second."""
        return self.source.path_rate

    def advance(self, duration: float) -> None:
        """Let `duration` s pass."""
        self.source.advance(duration)

    def evaluate(self, ahead: float, motion: Array) -> bool:
        """Fill `motion` (19,) with the reference `ahead` s from now, base frame; False when it is not defined there."""
        return self.source.evaluate(ahead, motion)

    def decelerate(self, durations: Sequence[float]) -> None:
        """Begin to come to rest, in the first of the rising `durations` (s) that the legs bear, else in the last."""
        self.source.decelerate(durations)

    def resume(self, durations: Sequence[float]) -> None:
        """Take the path up again; likewise."""
        self.source.resume(durations)


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
