"""Decimation of curves to screen resolution, without losing peaks and without flicker while they scroll."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gui.models.timeline import Floats, Segment, Timeline

_STEPS = (1.0, 1.5)
"""Strides are these times powers of two, so that bins stay the same while the number of rows varies."""


def stride_for(count: int, bins: int) -> int:
    """Return the stride, in rows, for at most `bins` bins; 1 if decimation is not needed."""
    stride, power = 1, 1
    while stride * bins < count:
        power *= 2
        stride = next((int(power * step) for step in _STEPS if int(power * step) * bins >= count), power)
    return stride


def bin_size(count: int, bins: int) -> int:
    """Return the rows per bin for `bins` bins; 1 if decimation is not needed."""
    return 1 if stride_for(count, 2 * bins) == 1 else stride_for(count, bins)


def decimate(times: Floats, values: Floats, bins: int, first: int = 0) -> tuple[Floats, Floats]:
    """Return the minimum and maximum of every bin, as curves with the same outline.

    Args:
        times: (n,)
        values: (n, k), one column per curve.
        bins: maximum number, not counting partial ones at either end; each gives two points.
        first: number of the first row on its timeline: bins start at multiples of their size.

    Returns:
        times (m,) and values (m, k); the input if there are at most 2·bins rows. NaN values in a bin are ignored.
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
    """Return both extremes of every `stride` rows, (2·bins, k), ordered as the curve rises or falls."""
    blocks = values.reshape(-1, stride, values.shape[1])
    rows = np.ascontiguousarray(blocks.transpose(1, 0, 2))  # (stride, bins, k) is ten times as fast to reduce
    low, high = np.fmin.reduce(rows, axis=0), np.fmax.reduce(rows, axis=0)
    rising = rows[-1] >= rows[0]
    ordered: Floats = np.stack([np.where(rising, low, high), np.where(rising, high, low)], axis=1)
    return ordered.reshape(-1, values.shape[1])


_FACTOR = 8
"""Points of a level per point of the next."""
_COARSEST = 4096
"""Number of points below which no further level is made."""


class Outline:
    """Columns (n, k) over increasing times (n,), s, with a pyramid of their extremes over ever longer bins.

    Create it in a thread: it reads all values.
    """

    def __init__(self, times: Floats, values: Floats) -> None:
        self._levels = [(times, values)]
        while len(times) > _COARSEST:
            times, values = decimate(times, values, -(-len(times) // (2 * _FACTOR)))
            self._levels.append((times, values))

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, s; zeros without rows."""
        times = self._levels[0][0]
        return (float(times[0]), float(times[-1])) if len(times) else (0.0, 0.0)

    @property
    def whole(self) -> tuple[Floats, Floats]:
        """Times (n,), s, and values (n, k) as given."""
        return self._levels[0]

    def between(self, t0: float, t1: float, bins: int) -> tuple[Floats, Floats]:
        """Return times (m,) and values (m, k) from t0 to t1, s, with all extremes: all rows, or bins to 2·bins bins.

        The cost does not depend on the number of rows.
        """
        for level in reversed(self._levels):
            times, values = level
            start, stop = times.searchsorted(t0, "left"), times.searchsorted(t1, "right")
            if stop - start >= 2 * bins:
                break
        return decimate(times[start:stop], values[start:stop], bins, int(start))


class _Bins(NamedTuple):
    """b bins: times (2b,) and values (2b, k) of their points, and whether each is complete, (b,)."""

    times: Floats
    values: Floats
    complete: np.typing.NDArray[np.bool_]


class Thinned:
    """Incremental version of `decimate`, which reuses bins made before.

    Args:
        extract: values (n, k) of a segment of n rows. A NaN may become a number later; a number does not change.
    """

    def __init__(self, extract: Callable[[Segment], Floats]) -> None:
        self._extract = extract
        self._timeline: Timeline | None = None
        self._size = 0
        self._first = 0
        """Number of the first cached bin."""
        self._bins: _Bins | None = None
        """Consecutive complete bins."""

    def clear(self) -> None:
        """Discard all bins: values or rows have changed."""
        self._timeline = self._bins = None

    def points(self, timeline: Timeline, segment: Segment, bins: int) -> tuple[Floats, Floats]:
        """Return times (m,) and values (m, k) of a segment of the timeline in at most `bins` bins, see `decimate`."""
        count, size = len(segment), bin_size(len(segment), bins)
        if size == 1:
            return segment.times, self._extract(segment)
        if timeline is not self._timeline or size != self._size:
            self._timeline, self._size, self._bins = timeline, size, None
        begin = -segment.first % size
        end = begin + (count - begin) // size * size
        whole = self._whole(segment.part(begin, end))
        pieces = [(whole.times, whole.values)]
        if begin:
            pieces.insert(0, self._edge(segment.part(0, begin)))
        if end < count:
            pieces.append(self._edge(segment.part(end, count)))
        times, values = zip(*pieces, strict=True)
        return np.concatenate(times), np.concatenate(values)

    def _whole(self, segment: Segment) -> _Bins:
        """Return the full bins of rows; caches the reusable ones."""
        first, stop = segment.first // self._size, (segment.first + len(segment)) // self._size
        old = self._bins
        low, high = (max(first, self._first), min(stop, self._first + len(old.complete))) if old else (first, first)
        if old is None or low >= high:
            bins, anchor = self._made(segment), stop - 1
        else:
            part = _sliced(old, low - self._first, high - self._first)
            older = [self._made(segment.part(0, (low - first) * self._size))] if low > first else []
            newer = [self._made(segment.part((high - first) * self._size, len(segment)))] if high < stop else []
            bins, anchor = _joined([*older, part, *newer]), high - 1
        if bins.complete.all():
            self._first, self._bins = first, bins
            return bins
        lacking = first + np.flatnonzero(~bins.complete)
        if anchor in lacking:  # start with the newest complete one
            known = first + np.flatnonzero(bins.complete)
            anchor = int(known[-1]) if len(known) else first
        place = int(np.searchsorted(lacking, anchor))
        low = int(lacking[place - 1]) + 1 if place else first
        high = int(lacking[place]) if place < len(lacking) else stop
        self._first, self._bins = low, _sliced(bins, low - first, max(high, low) - first)
        return bins

    def _made(self, segment: Segment) -> _Bins:
        values, size = self._extract(segment), self._size
        times = np.column_stack([segment.times[::size], segment.times[size - 1 :: size]]).ravel()
        finite = np.isfinite(values).reshape(len(values) // size, size * values.shape[1])
        return _Bins(times, extremes(values, size), np.logical_and.reduce(finite, axis=1))

    def _edge(self, segment: Segment) -> tuple[Floats, Floats]:
        """Return the points of a partial bin."""
        return segment.times[[0, -1]], extremes(self._extract(segment), len(segment))


def _joined(parts: Sequence[_Bins]) -> _Bins:
    if len(parts) == 1:
        return parts[0]
    times, values, complete = zip(*parts, strict=True)
    return _Bins(np.concatenate(times), np.concatenate(values), np.concatenate(complete))


def _sliced(bins: _Bins, start: int, stop: int) -> _Bins:
    return _Bins(bins.times[2 * start : 2 * stop], bins.values[2 * start : 2 * stop], bins.complete[start:stop])
