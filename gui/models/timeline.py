"""Telemetry in memory: a timeline that all views read, live or replayed."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rig.telemetry import ROW

Rows = npt.NDArray[np.void]
Floats = npt.NDArray[np.float64]


_SPARE = 8
"""Part of a history's capacity that its memory has beyond it: 1/8. Its rows are moved once for as many new ones."""


def _bytes_of(rows: Rows) -> npt.NDArray[np.uint8]:
    """Return rows as bytes, (n, size of a row), which numpy copies five times as fast as rows of fields."""
    return np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), rows.dtype.itemsize)


def largest_amount(values: Floats) -> float:
    """Return the greatest finite magnitude of an array; 0 without any."""
    amounts = np.abs(values)
    return float(np.max(amounts, where=np.isfinite(amounts), initial=0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Consecutive rows of a timeline, (n,) of dtype ROW, and their times `t`, (n,) contiguous, s.

    `first` is the number of the first of them on the timeline.
    """

    rows: Rows
    times: Floats
    first: int

    def __len__(self) -> int:
        return len(self.times)

    def part(self, start: int, stop: int) -> "Segment":
        """Return the rows from index `start` up to `stop`, exclusive."""
        return Segment(self.rows[start:stop], self.times[start:stop], self.first + start)

    def copy(self) -> "Segment":
        """Return a copy, independent of the timeline."""
        return Segment(self.rows.copy(), self.times.copy(), self.first)


class Timeline(ABC):
    """Telemetry rows up to the present, ordered by their times `t`.

    Results are views, not copies: valid until the timeline changes.
    """

    revision = 0
    """Changes with the rows."""
    first = 0
    """Number of the oldest row, counted from the timeline's beginning; a stable anchor for bins."""
    capacity: int
    """Maximum number of rows."""
    peak_force = 0.0
    """N, greatest magnitude of a measured leg force, including rows after the present if known."""

    @property
    def whole(self) -> "Timeline":
        """Return the rows including those after the present, if known."""
        return self

    @property
    @abstractmethod
    def rows(self) -> Rows:
        """Return all rows, (n,) of dtype ROW, oldest first."""

    @property
    @abstractmethod
    def times(self) -> Floats:
        """Their times `t`, (n,) contiguous, s."""

    def __len__(self) -> int:
        return len(self.times)

    @property
    def end(self) -> float | None:
        """Time of the newest row, s; None without rows."""
        times = self.times
        return float(times[-1]) if len(times) else None

    def bounds(self, t0: float, t1: float) -> tuple[int, int]:
        """Return the indices into `rows` of t0 ≤ t ≤ t1, as start and stop."""
        start, stop = np.searchsorted(self.times, t0, "left"), np.searchsorted(self.times, t1, "right")
        return int(start), max(int(start), int(stop))

    def window(self, t0: float, t1: float) -> Rows:
        """Return the rows with t0 ≤ t ≤ t1, s."""
        start, stop = self.bounds(t0, t1)
        return self.rows[start:stop]

    def cut(self, start: int, stop: int) -> Segment:
        """Return the rows from start to stop, indices into `rows`."""
        return Segment(self.rows[start:stop], self.times[start:stop], self.first + start)

    def segment(self, t0: float, t1: float) -> Segment:
        """Return the rows with t0 ≤ t ≤ t1, s, with their numbers."""
        return self.cut(*self.bounds(t0, t1))

    def nearest(self, t: float) -> int | None:
        """Return the index into `rows` of the row nearest to the time t, s; None without rows."""
        times = self.times
        if not len(times):
            return None
        after = min(int(np.searchsorted(times, t)), len(times) - 1)
        return after - 1 if after > 0 and t - times[after - 1] < times[after] - t else after

    def snapshot(self) -> "Excerpt":
        """Return a copy, independent of this timeline, with the same row numbers."""
        return Excerpt(self.rows.copy(), self.first)


class History(Timeline):
    """The newest `capacity` rows of a running rig; allocated once.

    They move to the front of the memory whenever they have reached its end, so that any segment of rows is one view.

    Raises ValueError for a capacity below 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"history: a capacity of {capacity} rows, must be at least 1")
        self.capacity = capacity
        room = capacity + max(1, capacity // _SPARE)
        self._rows = np.zeros(room, ROW)
        self._bytes = self._rows.view(np.uint8).reshape(room, ROW.itemsize)
        self._times = np.zeros(room)
        self._start = self._stop = 0
        self._total = 0

    @property
    def rows(self) -> Rows:
        """See `Timeline.rows`."""
        return self._rows[self._start : self._stop]

    @property
    def times(self) -> Floats:
        """See `Timeline.times`."""
        return self._times[self._start : self._stop]

    def append(self, rows: Rows) -> None:
        """Append rows (n,) of dtype ROW. A time that goes back starts a new history."""
        if not len(rows):
            return
        times = np.array(rows["t"])
        back = np.flatnonzero(np.diff(times) < 0)
        if len(back):
            rows, times = rows[back[-1] + 1 :], times[back[-1] + 1 :]
        if len(back) or (self._start < self._stop and times[0] < self.times[-1]):
            self.clear()
        self._total += len(rows)  # dropped rows are numbered, too
        rows, times = rows[-self.capacity :], times[-self.capacity :]
        count = len(times)
        self._start = max(self._start, self._stop + count - self.capacity)
        if self._stop + count > len(self._times):
            self._to_the_front()
        place = slice(self._stop, self._stop + count)
        self._bytes[place] = _bytes_of(rows)
        self._times[place] = times
        self._stop += count
        self.first = self._total - (self._stop - self._start)
        self.revision += 1

    def clear(self) -> None:
        """Discard all rows."""
        self._start = self._stop = 0
        self.first = self._total
        self.revision += 1

    def _to_the_front(self) -> None:
        """Move what is kept to the front, in pieces that do not overlap their source: numpy would copy all of it."""
        shift, kept = self._start, self._stop - self._start
        for values in (self._bytes, self._times):
            for begin in range(0, kept, shift):
                end = min(begin + shift, kept)
                values[begin:end] = values[shift + begin : shift + end]
        self._start, self._stop = 0, kept


class Excerpt(Timeline):
    """A complete set of rows, (n,) of dtype ROW ordered by their times, shown up to a present.

    Starts at the end; `seek` moves the present. `first` is the number of the first row; times: of the rows, if known.
    """

    def __init__(self, rows: Rows, first: int = 0, times: Floats | None = None) -> None:
        self._all = rows
        self.first = first
        self.capacity = len(rows)
        if times is None:
            times = np.maximum.accumulate(rows["t"]) if len(rows) else np.empty(0)
        self._times = times
        self._stop = len(rows)
        self._whole: Excerpt | None = None

    @property
    def whole(self) -> "Excerpt":
        """See `Timeline.whole`; never changes."""
        if self._whole is None:
            self._whole = Excerpt(self._all, self.first, self._times)
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
        """Times of the first and the last row, s; zeros without rows."""
        return (float(self._times[0]), float(self._times[-1])) if len(self._times) else (0.0, 0.0)

    def snapshot(self) -> "Excerpt":
        """See `Timeline.snapshot`; needs no copy."""
        return Excerpt(self.rows, self.first, self.times)

    def seek(self, t: float) -> None:
        """Set the present, s: the last row is the newest one not after it."""
        stop = max(min(1, len(self._times)), int(np.searchsorted(self._times, t, "right")))
        if stop != self._stop:
            self._stop = stop
            self.revision += 1


class Replay:
    """Plays rows (n,) of dtype ROW; starts paused at their beginning. Raises ValueError for an invalid speed."""

    def __init__(self, rows: Rows) -> None:
        self.excerpt = Excerpt(rows)
        """The timeline for the views."""
        self.excerpt.peak_force = largest_amount(rows["force_measured"])
        self.begin, self.end = self.excerpt.span
        self.position = self.begin
        """The present, s of rig time."""
        self.playing = False
        self._speed = 1.0
        self._last: float | None = None
        self.seek(self.begin)

    @property
    def speed(self) -> float:
        """Seconds of the recording per second."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        if not (math.isfinite(value) and value > 0.0):
            raise ValueError(f"speed of replay: {value}, must be above 0")
        self._speed = value

    def play(self) -> None:
        """Start playing; at the end, start from the beginning."""
        if self.position >= self.end:
            self.seek(self.begin)
        self.playing = True
        self._last = None

    def pause(self) -> None:
        """Stop playing."""
        self.playing = False

    def seek(self, t: float) -> None:
        """Go to the time t, s, clipped to the recording."""
        self.position = min(max(t, self.begin), self.end)
        self.excerpt.seek(self.position)

    def advance(self, now: float) -> None:
        """Advance to the time `now` of a clock, s; stops at the end."""
        if not self.playing:
            return
        if self._last is not None:
            self.seek(self.position + self._speed * (now - self._last))
        self._last = now
        if self.position >= self.end:
            self.pause()
