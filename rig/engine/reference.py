"""The reference of the platform's motion, now and ahead: its sources and its deceleration."""

from collections.abc import Callable, Sequence
from math import inf
from typing import Protocol

import numpy as np

from kinematics import (
    PEAK_SPEED,
    Array,
    MotionTable,
    inverse_kinematics_kernel,
    kernel,
    pose_to_coordinates,
    table_motion_kernel,
)
from rig.findings import Finding
from rig.safety import LONG_PERIOD


class ReferenceSource(Protocol):
    """Gives the platform's reference, now and ahead, and decelerates in its own way.

    Every value is checked before it is commanded, by itself and against the one before; the source is left if a check
    fails. One that has a method `leave` is told when another source is followed.
    One thread advances it; others may read its properties.
    """

    name: str

    @property
    def moving(self) -> bool:
        """Whether the reference still moves, or may begin to by itself; else the motion has ended."""

    @property
    def slowing(self) -> bool:
        """Whether it decelerates to rest before its end."""

    @property
    def paused(self) -> bool:
        """Whether it rests before its end, and can continue by `resume`."""

    @property
    def path_time(self) -> float:
        """Place on the path, s."""

    @property
    def path_duration(self) -> float:
        """Length of the path, s; infinite where it has no end of its own."""

    @property
    def path_rate(self) -> float:
        """Seconds of the path per second."""

    def advance(self, duration: float) -> None:
        """Let `duration` s pass."""

    def evaluate(self, ahead: float, motion: Array) -> bool:
        """Fill `motion` (19,) with the reference `ahead` s from now, base frame; False when it is not defined there."""

    def decelerate(self, durations: Sequence[float]) -> None:
        """Decelerate to rest, in the first of the rising `durations` (s) within the legs' limits, else in the last."""

    def resume(self, durations: Sequence[float]) -> None:
        """Continue a `paused` path; likewise."""


RAMPS = (0.4, 0.8, 1.6, 3.2)
"""s, durations of a change of the path rate to pause and resume; the first one within the legs' limits is used."""
_SAMPLES = 20
_ROUNDING = 1e-9  # relative: a motion checked to the bound itself passes


@kernel
def _progress(elapsed: float, length: float, start: float, target: float) -> float:
    """Path time gained `elapsed` s after a ramp began; negative: before it does."""
    change = target - start
    if elapsed < 0.0:
        return elapsed * start
    if elapsed >= length:
        return length * (start + 0.5 * change) + target * (elapsed - length)
    x = elapsed / length
    return elapsed * start + length * change * x * x * x * (1.0 - 0.5 * x)


@kernel
def path_law_kernel(
    place: float, elapsed: float, ahead: float, length: float, start: float, target: float
) -> tuple[float, float, float]:
    """Path time, rate and acceleration `ahead` s from now: a cubic smooth step between two rates, then constant.

    place: path time now, s. elapsed: s since the ramp began, negative before it does. ahead: s. length: of the ramp, s.
    start, target: rates before and after it.
    """
    then = elapsed + ahead
    place += _progress(then, length, start, target) - _progress(elapsed, length, start, target)
    if then >= length:
        return place, target, 0.0
    if then < 0.0:
        return place, start, 0.0
    x, change = then / length, target - start
    return place, start + change * x * x * (3.0 - 2.0 * x), change * 6.0 * x * (1.0 - x) / length


@kernel
def path_motion_kernel(
    samples: Array, step: float, end: float, place: float, elapsed: float, ahead: float, length: float, start: float,
    target: float, motion: Array,
) -> int:  # fmt: skip
    """Fill `motion` (19,) with that on a table (n, 18) at the place of `path_law_kernel`; returns the table's status.

    end: s, of the table; a checked motion ends at rest, and there it stays, as it rests at its beginning before that.
    """
    place, rate, acceleration = path_law_kernel(place, elapsed, ahead, length, start, target)
    if place >= end:
        place, rate, acceleration = end, 0.0, 0.0
    elif place < 0.0:
        place = rate = acceleration = 0.0
    status: int = table_motion_kernel(samples, step, place, rate, acceleration, motion)
    return status


@kernel
def _excess_kernel(
    samples: Array, step: float, laws: Array, geometry: Array, limits: Array, motion: Array, legs: Array
) -> float:
    """Largest leg acceleration beyond its limit, m/s², on a table followed by `laws` (n, 3): s, ṡ, s̈."""
    worst = -inf
    for row in range(laws.shape[0]):
        if table_motion_kernel(samples, step, laws[row, 0], laws[row, 1], laws[row, 2], motion) != 0:
            break  # past its end it rests
        inverse_kinematics_kernel(geometry, motion, legs)
        for leg in range(6):
            worst = max(worst, abs(legs[leg, 2]) - limits[leg])
    return worst


class RateChange:
    """Finds the time in which a reference may change to another path rate.

    Only accelerations are checked: a lower rate lowers the speeds of a checked path.

    Args:
        geometry: (6, 9) of the platform.
        acceleration: (6,) limits of the legs, m/s².
    """

    def __init__(self, geometry: Array, acceleration: Array) -> None:
        self._geometry = geometry
        self._limits = acceleration * (1.0 + _ROUNDING)
        self._laws = np.zeros((_SAMPLES + 1, 3))
        self._motion = np.zeros(19)
        self._legs = np.zeros((6, 13))

    def duration(
        self, table: MotionTable, law: Callable[[float, float], tuple[float, float, float]], durations: Sequence[float]
    ) -> float:
        """First of the rising `durations` (s) in which the change keeps to the limits; the last if none does.

        Args:
            table: followed meanwhile.
            law: gives path time, rate and acceleration from the change's duration, s, and the time from now, s.
            durations: to try.
        """
        for duration in durations:
            for row in range(_SAMPLES + 1):
                self._laws[row] = law(duration, row * duration / _SAMPLES)
            excess = _excess_kernel(
                table.samples, table.step, self._laws, self._geometry, self._limits, self._motion, self._legs
            )
            if excess <= 0.0:
                break
        return duration


class TableSource:
    """A motion table and the place reached on it; a `ReferenceSource`.

    Args:
        table: followed from its beginning.
        name: of the motion.
        rate_change: gives the duration of a change of the rate; None: the first one.
        at_end: begin, and stay, at its end.
        rate: normal path rate, above 0 and at most 1.
        latency: s, until the next command acts. The path begins then, and then its rate changes.
    """

    def __init__(
        self,
        table: MotionTable,
        name: str,
        rate_change: RateChange | None = None,
        *,
        at_end: bool = False,
        rate: float = 1.0,
        latency: float = 0.0,
    ) -> None:
        self.name = name
        self.latency = latency
        self._table = table
        self._length = table.duration
        self._rate_change = rate_change
        self._path_time = table.duration if at_end else -latency
        self._full = rate
        self._durations: Sequence[float] = ()
        self._start = self._target = 0.0 if at_end else rate
        self._duration = self._elapsed = 0.0
        self._rate_now = self._start
        self._set_phase()

    def decelerate(self, durations: Sequence[float]) -> None:
        """See `ReferenceSource.decelerate`; along the path."""
        self._change(0.0, durations)

    def resume(self, durations: Sequence[float]) -> None:
        """See `ReferenceSource.resume`."""
        self._change(self._full, durations)

    def pace(self, rate: float, durations: Sequence[float]) -> None:
        """Follow the path at another rate from now on, or after `resume`; the change is as in `resume`.

        A ramp in progress ends first: its interruption would be a step of the acceleration.
        """
        self._full, self._durations = rate, durations
        self._keep_pace()

    def _keep_pace(self) -> None:
        """Begin the change to the commanded rate, if different and no other change is in progress."""
        if self._target != self._full and self.moving and self._elapsed >= self._duration:
            self._change(self._full, self._durations)

    def _change(self, target: float, durations: Sequence[float]) -> None:
        def law(duration: float, ahead: float) -> tuple[float, float, float]:
            return self.ramp_law(target, duration, self.latency + ahead)

        change = self._rate_change
        bearable = durations[0] if change is None else change.duration(self._table, law, durations)
        self.change_rate(target, bearable)

    def change_rate(self, target: float, duration: float) -> None:
        """Bring the path rate smoothly to `target`, 0 to 1, within `duration` s; nothing if it gets there sooner."""
        if target != self._target or self._duration - self._elapsed > duration:
            self._start, self._target = self._rate_now, target
            self._duration, self._elapsed = duration, -self.latency
            self._set_phase()

    def ramp_law(self, target: float, duration: float, ahead: float) -> tuple[float, float, float]:
        """Path time, rate and acceleration `ahead` s from now if the rate changed to `target` now."""
        return path_law_kernel(self._path_time, -self.latency, ahead, duration, self._rate_now, target)

    def _set_phase(self) -> None:
        """Set `moving`, `slowing` and `paused`: attributes, as they are read several times a cycle."""
        before_end, driven = self._path_time < self._length, self._target > 0.0
        self.moving = before_end and (driven or self._elapsed < self._duration)
        self.slowing = self.moving and not driven
        self.paused = before_end and not self.moving

    @property
    def path_time(self) -> float:
        """Place on the path, s."""
        return max(0.0, self._path_time)

    @property
    def path_duration(self) -> float:
        """Length of the path, s."""
        return self._length

    @property
    def path_rate(self) -> float:
        """Seconds of the path per second."""
        return self._rate_now if self.moving else 0.0

    def advance(self, duration: float) -> None:
        """Let `duration` s pass."""
        place, self._rate_now, _ = path_law_kernel(
            self._path_time, self._elapsed, duration, self._duration, self._start, self._target
        )
        self._path_time = min(place, self._length)
        self._elapsed += duration
        self._set_phase()
        self._keep_pace()

    def evaluate(self, ahead: float, motion: Array) -> bool:
        """Fill `motion` (19,) with the reference `ahead` s from now, base frame; False when it is not defined there."""
        status: int = path_motion_kernel(
            self._table.samples, self._table.step, self._length, self._path_time, self._elapsed, ahead,
            self._duration, self._start, self._target, motion,
        )  # fmt: skip
        return status == 0


class Reference:
    """The engine's reference: one source after the other; without motion it holds a pose.

    Args:
        pose: (7,) of the start, base frame.
        rate_change: see `TableSource`.
        period: s, of a cycle.

    `source` is the present one.
    """

    def __init__(self, pose: Array, rate_change: RateChange | None = None, period: float = 0.0) -> None:
        self._rate_change = rate_change
        self._slow = period if period > LONG_PERIOD else 0.0
        self._latency = 2.0 * self._slow
        self.rate = 1.0
        """part of full speed at which runs are followed"""
        self._paced = False
        self.source: ReferenceSource = TableSource(_straight(pose, pose, 1.0), "hold", rate_change, at_end=True)
        self._left: ReferenceSource | None = None

    def hold(self, pose: Array) -> None:
        """Stand still at `pose` (7,), base frame."""
        self.take(TableSource(_straight(pose, pose, 1.0), "hold", self._rate_change, at_end=True))

    def stay(self) -> None:
        """Drop the motion, which must be at rest, and hold its pose."""
        here = np.zeros(19)
        self.evaluate(0.0, here)
        self.hold(here[:7])

    def follow(self, table: MotionTable, name: str, *, paced: bool = False) -> None:
        """Follow `table` from its beginning, at full rate or, `paced`, at that of runs."""
        rate = self.rate if paced else 1.0
        self.take(TableSource(table, name, self._rate_change, rate=rate, latency=self._latency))
        self._paced = paced

    def pace(self, rate: float, durations: Sequence[float]) -> None:
        """Follow runs at this part of full speed; one that is followed changes to it as `resume` does."""
        self.rate = rate
        self._know_latency()
        if self._paced and isinstance(self.source, TableSource):
            self.source.pace(rate, durations)

    def take(self, source: ReferenceSource) -> None:
        """Follow `source` from where it is."""
        self.release()
        self.source, self._left, self._paced = source, None, False

    def release(self) -> None:
        """Tell the source that it is not followed any more."""
        leave = getattr(self.source, "leave", None)
        if leave is not None:
            leave()

    def leave_for(self, table: MotionTable, name: str) -> None:
        """Replace a failed source by `table`, which ends at rest; its place on the path stays."""
        left = self._left or self.source
        self.take(TableSource(table, name, self._rate_change))
        self._left = left

    def leave_at(self, pose: Array) -> None:
        """Replace a failed source by rest at `pose` (7,); likewise."""
        left = self._left or self.source
        self.hold(pose)
        self._left = left

    @property
    def name(self) -> str:
        """Name of the motion."""
        return self.source.name

    @property
    def fault(self) -> Finding | None:
        """Why its source has no reference any more, where that watches itself; see `GuardedSource`."""
        return getattr(self.source, "fault", None)

    @property
    def moving(self) -> bool:
        """Whether the reference still moves; see `ReferenceSource`, also for the following ones."""
        return self.source.moving

    @property
    def slowing(self) -> bool:
        """Whether the reference decelerates to rest before its end."""
        return self.source.slowing

    @property
    def paused(self) -> bool:
        """Whether it rests before its end."""
        return self.source.paused

    @property
    def path_time(self) -> float:
        """Place on the path, s; for a failed source the last one."""
        return (self._left or self.source).path_time

    @property
    def path_duration(self) -> float:
        """Length of the path, s; infinite where it has no end of its own."""
        return (self._left or self.source).path_duration

    @property
    def path_rate(self) -> float:
        """Seconds of the path per second."""
        return self.source.path_rate

    @property
    def foresees(self) -> bool:
        """Whether its source may be asked for times beyond that of the next command."""
        return getattr(self.source, "foresees", True)

    def advance(self, duration: float) -> None:
        """Let `duration` s pass, at the begin of a cycle."""
        self.source.advance(duration)
        self._latency = self._slow

    def end_cycle(self) -> None:
        """The cycle's command is made: what changes from here on is in the one after it, which acts a cycle later."""
        self._latency = 2.0 * self._slow

    def _know_latency(self) -> None:
        """Tell a table when a change of its rate acts; other sources plan by themselves."""
        if self._slow and isinstance(self.source, TableSource):
            self.source.latency = self._latency

    def evaluate(self, ahead: float, motion: Array) -> bool:
        """Fill `motion` (19,) with the reference `ahead` s from now, base frame; False when it is not defined there."""
        return self.source.evaluate(ahead, motion)

    def decelerate(self, durations: Sequence[float]) -> None:
        """Decelerate to rest, in the first of the rising `durations` (s) within the legs' limits, else in the last."""
        self._know_latency()
        self.source.decelerate(durations)

    def resume(self, durations: Sequence[float]) -> None:
        """Take the path up again; likewise."""
        self._know_latency()
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
