"""Accumulators for block-wise data: outlines that preserve peaks, angles, moments, percentiles, histograms."""

import math
import tempfile
from collections.abc import Sequence
from typing import IO

import numpy as np
import numpy.typing as npt

from rig.angles import shown_angle

Floats = npt.NDArray[np.float64]

BINS = 450
"""Intervals of a plotted curve; about the width of a panel in pixels."""
_ABSURD = 1e30
"""Magnitude no quantity of a rig reaches in any unit; beyond it, sums and axes would overflow."""


def finite(values: Floats) -> npt.NDArray[np.bool_]:
    """Return the mask of usable values: neither missing nor absurdly large."""
    known: npt.NDArray[np.bool_] = np.abs(values) < _ABSURD
    return known


class Outline:
    """Minimum and maximum over each of `bins` intervals of `count` rows of k columns, as curves with the same outline.

    Non-finite values are left out; curves of at most 2·bins rows are unchanged.
    """

    def __init__(self, count: int, columns: int, bins: int = BINS) -> None:
        self._edges = np.arange(count + 1)
        if count > 2 * bins:
            self._edges = np.linspace(0, count, bins + 1).astype(np.intp)
        self._thinned = count > 2 * bins
        stretches = len(self._edges) - 1
        self._t = np.full(stretches, np.nan)
        self._low = np.full((stretches, columns), np.nan)
        self._high = np.full((stretches, columns), np.nan)
        self._seen = 0

    def add(self, t: Floats, values: Floats) -> None:
        """Add the following rows: t (m,) and values (m, k)."""
        if not len(t):
            return
        values = np.where(finite(values), values, np.nan)
        begin, end = self._seen, self._seen + len(t)
        first = int(np.searchsorted(self._edges, begin, "right")) - 1
        last = int(np.searchsorted(self._edges, end, "left"))
        cuts = np.maximum(self._edges[first:last] - begin, 0)
        low, high = self._low[first:last], self._high[first:last]
        np.fmin(low, np.fmin.reduceat(values, cuts, axis=0), out=low)
        np.fmax(high, np.fmax.reduceat(values, cuts, axis=0), out=high)
        new = self._edges[first:last] >= begin
        self._t[first:last][new] = t[cuts[new]]
        self._seen = end

    def curve(self, column: int) -> tuple[Floats, Floats]:
        """Return times and values of one column, (m,)."""
        if not self._thinned:
            return self._t, self._low[:, column]
        return np.repeat(self._t, 2), np.stack([self._low[:, column], self._high[:, column]], axis=1).ravel()


class Angles:
    """Angles [θx θy θz], rad, continuous in time, of R = Rz(θz)·Ry(θy)·Rx(θx) for unit quaternions, w first."""

    def __init__(self) -> None:
        self._last = np.zeros((0, 3))

    def add(self, quaternion: Floats) -> Floats:
        """Return the angles (n, 3) of the following quaternions (n, 4); NaN where those are NaN."""
        angles = np.stack([shown_angle(quaternion, axis) for axis in range(3)], axis=1)
        known = np.isfinite(angles).all(axis=1)
        before = len(self._last)
        continued = np.unwrap(np.concatenate([self._last, angles[known]]), axis=0)
        self._last = continued[-1:]
        angles[known] = continued[before:]
        angles[~known] = np.nan
        return angles


HISTOGRAM_BINS = 60


class Moments:
    """RMS, mean, minimum and maximum of k columns; non-finite values are left out."""

    def __init__(self, columns: int) -> None:
        self._count = np.zeros(columns, dtype=np.int64)
        self._sum = np.zeros(columns)
        self._squares = np.zeros(columns)
        self._low = np.full(columns, np.inf)
        self._high = np.full(columns, -np.inf)

    def add(self, values: Floats) -> None:
        """Add values (m, k)."""
        known = finite(values)
        if known.all():
            self._count += len(values)
            low, high = values.min(axis=0, initial=np.inf), values.max(axis=0, initial=-np.inf)
        else:
            self._count += known.sum(axis=0)
            low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
            high = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
            values = np.where(known, values, 0.0)
        self._sum += values.sum(axis=0)
        self._squares += np.square(values).sum(axis=0)
        np.minimum(self._low, low, out=self._low)
        np.maximum(self._high, high, out=self._high)

    def rms(self, column: int = 0) -> float | None:
        """Return the root mean square; None without values."""
        return math.sqrt(self._squares[column] / self._count[column]) if self._count[column] else None

    def mean(self, column: int = 0) -> float | None:
        """Return the mean; None without values."""
        return float(self._sum[column] / self._count[column]) if self._count[column] else None

    def low(self, column: int = 0) -> float | None:
        """Return the minimum; None without values."""
        return float(self._low[column]) if self._count[column] else None

    def high(self, column: int = 0) -> float | None:
        """Return the maximum; None without values."""
        return float(self._high[column]) if self._count[column] else None

    def peak(self, column: int = 0) -> float | None:
        """Return the maximum magnitude; None without values."""
        return float(max(-self._low[column], self._high[column])) if self._count[column] else None


class Column:
    """One column of numbers, stored on disk for its percentiles; non-finite values are left out.

    Call `close` at the end.
    """

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by close
        self._count = 0

    def add(self, values: Floats) -> None:
        """Add values (m,). Raises OSError on a disk error."""
        known = values[finite(values)]
        self._file.write(known.tobytes())
        self._count += len(known)

    def percentiles(self, percentages: Sequence[float], center: float | None = None) -> list[float | None]:
        """Like `numpy.percentile`, of the values or, with a center, of their distances from it; None without values.

        Call it once only: it changes the values.
        """
        if not self._count:
            return [None] * len(percentages)
        self._file.flush()
        values = np.memmap(self._file, np.float64, "r+", shape=(self._count,))
        if center is not None:
            np.subtract(values, center, out=values)
            np.abs(values, out=values)
        places = [percentage / 100.0 * (self._count - 1) for percentage in percentages]
        ranks = sorted({rank for place in places for rank in (math.floor(place), math.ceil(place))})
        values.partition(ranks)
        return [_between(float(values[math.floor(p)]), float(values[math.ceil(p)]), p % 1.0) for p in places]

    def close(self) -> None:
        """Close the file. May be called again."""
        self._file.close()


def _between(low: float, high: float, part: float) -> float:
    """Interpolate linearly, with numpy's rounding."""
    step = high - low
    return low + step * part if part < 0.5 else high - step * (1.0 - part)


class Histogram:
    """Counts of values in `HISTOGRAM_BINS` equal bins from `low` to `high`."""

    def __init__(self, low: float, high: float) -> None:
        self._range = (low, high) if low < high else (low - 0.5, high + 0.5)
        finest = HISTOGRAM_BINS * float(np.spacing(max(abs(low), abs(high))))  # for distinguishable bins
        if not self._range[1] - self._range[0] > finest:
            self._range = (low - finest, high + finest)
        self.counts = np.zeros(HISTOGRAM_BINS, dtype=np.int64)

    @property
    def edges(self) -> Floats:
        """Return the bin edges, one more than bins."""
        return np.linspace(*self._range, HISTOGRAM_BINS + 1)

    def add(self, values: Floats) -> None:
        """Add values (m,) between low and high, within rounding; non-finite ones are left out."""
        known = np.clip(values[finite(values)], *self._range)
        counts: npt.NDArray[np.int64] = np.histogram(known, HISTOGRAM_BINS, self._range)[0]
        self.counts += counts
