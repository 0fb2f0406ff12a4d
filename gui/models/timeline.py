"""Telemetry in memory: a timeline that every view reads, growing live or played back."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rig.telemetry import ROW

Rows = npt.NDArray[np.void]
Floats = npt.NDArray[np.float64]


def largest_amount(values: Floats) -> float:
    """The greatest amount among numbers of any shape, leaving out what is not finite; 0 when none is left."""
    amounts = np.abs(values)
    return float(np.max(amounts, where=np.isfinite(amounts), initial=0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Consecutive rows of a timeline, (n,) of dtype ROW, and their times `t`, (n,) contiguous, s.

    `first` is the number of the first of them on the timeline.
    """

    rows: Rows
    times: Floats
    first: int

    def __len__(self) -> int:
        return len(self.times)

    def part(self, start: int, stop: int) -> "Stretch":
        """Its rows from one index to before another."""
        return Stretch(self.rows[start:stop], self.times[start:stop], self.first + start)

    def copy(self) -> "Stretch":
        """The same rows, whatever happens to the timeline."""
        return Stretch(self.rows.copy(), self.times.copy(), self.first)


class Timeline(ABC):
    """Telemetry rows up to a present moment, in the order of their times `t`.

    What comes out are views, not copies: valid until the timeline changes.
    """

    revision = 0
    """changes whenever the rows do"""
    first = 0
    """number of the oldest row, counted from the timeline's beginning; bins anchored to it stand still"""
    capacity: int
    """rows that there can be at most"""
    peak_force = 0.0
    """N, greatest amount of a measured leg force before and after the present, where that is known"""

    @property
    def whole(self) -> "Timeline":
        """The same rows and, where they are known, those after the present."""
        return self

    @property
    @abstractmethod
    def rows(self) -> Rows:
        """All rows, (n,) of dtype ROW, oldest first."""

    @property
    @abstractmethod
    def times(self) -> Floats:
        """Their times `t`, (n,) contiguous, s."""

    def __len__(self) -> int:
        return len(self.times)

    @property
    def end(self) -> float | None:
        """Time of the newest row, s; None when there is none."""
        times = self.times
        return float(times[-1]) if len(times) else None

    def bounds(self, t0: float, t1: float) -> tuple[int, int]:
        """Indices into `rows` of those with t0 ≤ t ≤ t1, as start and stop."""
        start, stop = np.searchsorted(self.times, t0, "left"), np.searchsorted(self.times, t1, "right")
        return int(start), max(int(start), int(stop))

    def window(self, t0: float, t1: float) -> Rows:
        """Rows with t0 ≤ t ≤ t1, s."""
        start, stop = self.bounds(t0, t1)
        return self.rows[start:stop]

    def cut(self, start: int, stop: int) -> Stretch:
        """Rows start to stop, indices into `rows`."""
        return Stretch(self.rows[start:stop], self.times[start:stop], self.first + start)

    def stretch(self, t0: float, t1: float) -> Stretch:
        """Rows with t0 ≤ t ≤ t1, s, with their numbers."""
        return self.cut(*self.bounds(t0, t1))

    def nearest(self, t: float) -> int | None:
        """Index into `rows` of the row nearest to the time t, s; None when there is none."""
        times = self.times
        if not len(times):
            return None
        after = min(int(np.searchsorted(times, t)), len(times) - 1)
        return after - 1 if after > 0 and t - times[after - 1] < times[after] - t else after

    def snapshot(self) -> "Excerpt":
        """The rows as they are now, whatever happens to this timeline; they keep their numbers."""
        return Excerpt(self.rows.copy(), self.first)


class History(Timeline):
    """The newest rows of a running rig, at most `capacity` of them; memory is taken once and never grows.

    Every row is kept twice, `capacity` apart, so that any stretch of rows is one view.

    Raises ValueError for a capacity below 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"history: a capacity of {capacity} rows, must be at least 1")
        self.capacity = capacity
        self._rows = np.zeros(2 * capacity, ROW)
        self._times = np.zeros(2 * capacity)
        self._length = 0
        self._total = 0

    @property
    def rows(self) -> Rows:
        """See `Timeline.rows`."""
        start = self.first % self.capacity
        return self._rows[start : start + self._length]

    @property
    def times(self) -> Floats:
        """See `Timeline.times`."""
        start = self.first % self.capacity
        return self._times[start : start + self._length]

    def append(self, rows: Rows) -> None:
        """Take in rows (n,) of dtype ROW that follow those before. A time that goes back begins a new history."""
        if not len(rows):
            return
        times = np.array(rows["t"])
        back = np.flatnonzero(np.diff(times) < 0)
        if len(back):
            rows, times = rows[back[-1] + 1 :], times[back[-1] + 1 :]
        if len(back) or (self._length and times[0] < self.times[-1]):
            self.clear()
        self._total += max(0, len(rows) - self.capacity)  # numbered, although they cannot be kept
        rows, times = rows[-self.capacity :], times[-self.capacity :]
        position = self._total % self.capacity
        head = min(len(rows), self.capacity - position)
        for place, part in ((position, slice(None, head)), (0, slice(head, None))):
            for start in (place, place + self.capacity):
                stop = start + len(times[part])
                self._rows[start:stop] = rows[part]
                self._times[start:stop] = times[part]
        self._total += len(rows)
        self._length = min(self.capacity, self._length + len(rows))
        self.first = self._total - self._length
        self.revision += 1

    def clear(self) -> None:
        """Forget all rows."""
        self._length = 0
        self.first = self._total
        self.revision += 1


class Excerpt(Timeline):
    """Rows that are all there already, (n,) of dtype ROW in the order of their times, shown up to a present moment.

    Begins at the end; `seek` moves the present. `first` is the number of the first row.
    """

    def __init__(self, rows: Rows, first: int = 0) -> None:
        self._all = rows
        self.first = first
        self.capacity = len(rows)
        self._times = np.maximum.accumulate(rows["t"]) if len(rows) else np.empty(0)
        self._stop = len(rows)
        self._whole: Excerpt | None = None

    @property
    def whole(self) -> "Excerpt":
        """See `Timeline.whole`; always the same one."""
        if self._whole is None:
            self._whole = Excerpt(self._all, self.first)
        return self._whole

    @property
    def rows(self) -> Rows:
        """See `Timeline.rows`."""
        return self._all[: self._stop]

    @property
    def times(self) -> Floats:
        """See `Timeline.times`."""
        return self._times[: self._stop]

    @property
    def span(self) -> tuple[float, float]:
        """Times of the first and of the last row, s; zeros when there is none."""
        return (float(self._times[0]), float(self._times[-1])) if len(self._times) else (0.0, 0.0)

    def snapshot(self) -> "Excerpt":
        """See `Timeline.snapshot`; nothing needs to be copied."""
        return Excerpt(self.rows, self.first)

    def seek(self, t: float) -> None:
        """Let the present be the time t, s: the last row is the newest one that is not after it."""
        stop = max(min(1, len(self._times)), int(np.searchsorted(self._times, t, "right")))
        if stop != self._stop:
            self._stop = stop
            self.revision += 1


class Replay:
    """Plays rows (n,) of dtype ROW; begins at their beginning, standing still. Raises ValueError for a bad speed."""

    def __init__(self, rows: Rows) -> None:
        self.excerpt = Excerpt(rows)
        """what the views show"""
        self.excerpt.peak_force = largest_amount(rows["force_measured"])
        self.begin, self.end = self.excerpt.span
        self.position = self.begin
        """the present, s of rig time"""
        self.playing = False
        self._speed = 1.0
        self._last: float | None = None
        self.seek(self.begin)

    @property
    def speed(self) -> float:
        """Seconds of the recording a second."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        if not (math.isfinite(value) and value > 0.0):
            raise ValueError(f"speed of replay: {value}, must be above 0")
        self._speed = value

    def play(self) -> None:
        """Begin to move; from the beginning when it stands at the end."""
        if self.position >= self.end:
            self.seek(self.begin)
        self.playing = True
        self._last = None

    def pause(self) -> None:
        """Stand still."""
        self.playing = False

    def seek(self, t: float) -> None:
        """Go to the time t, s; times outside the recording are its nearest end."""
        self.position = min(max(t, self.begin), self.end)
        self.excerpt.seek(self.position)

    def advance(self, now: float) -> None:
        """Move on to the time `now` of a clock, s; stops at the end."""
        if not self.playing:
            return
        if self._last is not None:
            self.seek(self.position + self._speed * (now - self._last))
        self._last = now
        if self.position >= self.end:
            self.pause()
