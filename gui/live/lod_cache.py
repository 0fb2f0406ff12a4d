"""A series thinned again in every frame while its rows move on: bins that nothing is lacking in are made once."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gui.live.decimation import bin_size, extremes
from gui.session import Floats, Stretch, Timeline


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
