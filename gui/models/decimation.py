"""Curves thinned to what a screen can show, without losing a peak and without shimmering while they move."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gui.models.timeline import Floats, Stretch, Timeline

_STEPS = (1.0, 1.5)
"""Strides grow by these times powers of two, so that a bin stays what it is while the number of rows wavers."""


def stride_for(count: int, bins: int) -> int:
    """Rows a bin so that `count` rows make at most `bins` of them; 1 when they are few enough as they are."""
    stride, power = 1, 1
    while stride * bins < count:
        power *= 2
        stride = next((int(power * step) for step in _STEPS if int(power * step) * bins >= count), power)
    return stride


def bin_size(count: int, bins: int) -> int:
    """Rows a bin where `count` of them are thinned to so many bins; 1 when they are few enough as they are."""
    return 1 if stride_for(count, 2 * bins) == 1 else stride_for(count, bins)


def decimate(times: Floats, values: Floats, bins: int, first: int = 0) -> tuple[Floats, Floats]:
    """Lowest and highest value of every bin, as curves with the outline of the whole ones.

    Args:
        times: (n,)
        values: (n, k), one column a curve.
        bins: at most so many of them, not counting a part of one at either end; twice as many points come back.
        first: number of the first row on its timeline: bins begin at multiples of their size.

    Returns:
        times (m,) and values (m, k); what came in when there are at most 2·bins rows. A bin's values that are not
        numbers are left out.
    """
    count = len(times)
    stride = bin_size(count, bins)
    if stride == 1:
        return times, values
    begin = -first % stride
    whole = (count - begin) // stride
    end = begin + whole * stride
    pieces = [(begin, end, stride)]
    if begin:
        pieces.insert(0, (0, begin, begin))
    if end < count:
        pieces.append((end, count, count - end))
    thinned_times = [np.column_stack([times[a:b:n], times[a + n - 1 : b : n]]).ravel() for a, b, n in pieces]
    return np.concatenate(thinned_times), np.concatenate([extremes(values[a:b], n) for a, b, n in pieces])


def extremes(values: Floats, stride: int) -> Floats:
    """Both extremes of every `stride` rows, (2·bins, k), in the order in which a curve that rises or falls has them."""
    blocks = values.reshape(-1, stride, values.shape[1])
    rows = np.ascontiguousarray(blocks.transpose(1, 0, 2))  # (stride, bins, k): ten times as fast to reduce
    low, high = np.fmin.reduce(rows, axis=0), np.fmax.reduce(rows, axis=0)
    rising = rows[-1] >= rows[0]
    ordered: Floats = np.stack([np.where(rising, low, high), np.where(rising, high, low)], axis=1)
    return ordered.reshape(-1, values.shape[1])


_FACTOR = 8
"""points of a level that make one of the next"""
_COARSEST = 4096
"""points that need no further level"""


class Outline:
    """Columns (n, k) over increasing times (n,), s, and their lowest and highest values over ever longer bins.

    To be made in a thread: it looks at every value.
    """

    def __init__(self, times: Floats, values: Floats) -> None:
        self._levels = [(times, values)]
        while len(times) > _COARSEST:
            times, values = decimate(times, values, -(-len(times) // (2 * _FACTOR)))
            self._levels.append((times, values))

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, s; zeros when there is none."""
        times = self._levels[0][0]
        return (float(times[0]), float(times[-1])) if len(times) else (0.0, 0.0)

    @property
    def whole(self) -> tuple[Floats, Floats]:
        """Times (n,), s, and values (n, k) as they were given."""
        return self._levels[0]

    def between(self, t0: float, t1: float, bins: int) -> tuple[Floats, Floats]:
        """Times (m,) and values (m, k) from t0 to t1, s, no extreme left out: all rows, or some bins or twice as many.

        The cost does not depend on how many rows there are in between.
        """
        for level in reversed(self._levels):
            times, values = level
            start, stop = times.searchsorted(t0, "left"), times.searchsorted(t1, "right")
            if stop - start >= 2 * bins:
                break
        return decimate(times[start:stop], values[start:stop], bins, int(start))


class _Bins(NamedTuple):
    """b bins: times (2b,) and values (2b, k) of their points, and whether each has all of its values, (b,)."""

    times: Floats
    values: Floats
    complete: np.typing.NDArray[np.bool_]


class Thinned:
    """Gives the points of `decimate`, and makes only those that it has not made before.

    Args:
        extract: values (n, k) of a stretch of n rows. What is no number may become one; a number stays what it is.
    """

    def __init__(self, extract: Callable[[Stretch], Floats]) -> None:
        self._extract = extract
        self._timeline: Timeline | None = None
        self._size = 0
        self._first = 0
        """number of the first bin that is kept"""
        self._kept: _Bins | None = None
        """consecutive ones, complete all of them"""

    def forget(self) -> None:
        """The same rows have other values now, or there are other rows: none of them is kept."""
        self._timeline = self._kept = None

    def points(self, timeline: Timeline, stretch: Stretch, bins: int) -> tuple[Floats, Floats]:
        """Times (m,) and values (m, k) of a stretch of the timeline in at most so many bins, see `decimate`."""
        count, size = len(stretch), bin_size(len(stretch), bins)
        if size == 1:
            return stretch.times, self._extract(stretch)
        if timeline is not self._timeline or size != self._size:
            self._timeline, self._size, self._kept = timeline, size, None
        begin = -stretch.first % size
        end = begin + (count - begin) // size * size
        whole = self._whole(stretch.part(begin, end))
        pieces = [(whole.times, whole.values)]
        if begin:
            pieces.insert(0, self._edge(stretch.part(0, begin)))
        if end < count:
            pieces.append(self._edge(stretch.part(end, count)))
        times, values = zip(*pieces, strict=True)
        return np.concatenate(times), np.concatenate(values)

    def _whole(self, stretch: Stretch) -> _Bins:
        """Bins of rows that fill them; those that may be used again are kept."""
        first, stop = stretch.first // self._size, (stretch.first + len(stretch)) // self._size
        old = self._kept
        low, high = (max(first, self._first), min(stop, self._first + len(old.complete))) if old else (first, first)
        if old is None or low >= high:
            bins, anchor = self._made(stretch), stop - 1
        else:
            part = _sliced(old, low - self._first, high - self._first)
            older = [self._made(stretch.part(0, (low - first) * self._size))] if low > first else []
            newer = [self._made(stretch.part((high - first) * self._size, len(stretch)))] if high < stop else []
            bins, anchor = _joined([*older, part, *newer]), high - 1
        if bins.complete.all():
            self._first, self._kept = first, bins
            return bins
        lacking = first + np.flatnonzero(~bins.complete)
        if anchor in lacking:  # begin with the newest that is complete
            known = first + np.flatnonzero(bins.complete)
            anchor = int(known[-1]) if len(known) else first
        place = int(np.searchsorted(lacking, anchor))
        low = int(lacking[place - 1]) + 1 if place else first
        high = int(lacking[place]) if place < len(lacking) else stop
        self._first, self._kept = low, _sliced(bins, low - first, max(high, low) - first)
        return bins

    def _made(self, stretch: Stretch) -> _Bins:
        values, size = self._extract(stretch), self._size
        times = np.column_stack([stretch.times[::size], stretch.times[size - 1 :: size]]).ravel()
        finite = np.isfinite(values).reshape(len(values) // size, size * values.shape[1])
        return _Bins(times, extremes(values, size), np.logical_and.reduce(finite, axis=1))

    def _edge(self, stretch: Stretch) -> tuple[Floats, Floats]:
        """The part of one bin."""
        return stretch.times[[0, -1]], extremes(self._extract(stretch), len(stretch))


def _joined(parts: Sequence[_Bins]) -> _Bins:
    if len(parts) == 1:
        return parts[0]
    times, values, complete = zip(*parts, strict=True)
    return _Bins(np.concatenate(times), np.concatenate(values), np.concatenate(complete))


def _sliced(bins: _Bins, start: int, stop: int) -> _Bins:
    return _Bins(bins.times[2 * start : 2 * stop], bins.values[2 * start : 2 * stop], bins.complete[start:stop])
