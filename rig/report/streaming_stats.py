"""Numbers of columns that are seen block by block: moments, extremes, exact percentiles, histograms."""

import math
import tempfile
from collections.abc import Sequence
from typing import IO

import numpy as np
import numpy.typing as npt

from rig.report.series import Floats, finite

HISTOGRAM_BINS = 60


class Moments:
    """Root mean square, mean and extremes of k columns; values that are not finite are left out."""

    def __init__(self, columns: int) -> None:
        self._count = np.zeros(columns, dtype=np.int64)
        self._sum = np.zeros(columns)
        self._squares = np.zeros(columns)
        self._low = np.full(columns, np.inf)
        self._high = np.full(columns, -np.inf)

    def add(self, values: Floats) -> None:
        """Take in values (m, k)."""
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
        """Root mean square; None without values."""
        return math.sqrt(self._squares[column] / self._count[column]) if self._count[column] else None

    def mean(self, column: int = 0) -> float | None:
        """Mean; None without values."""
        return float(self._sum[column] / self._count[column]) if self._count[column] else None

    def low(self, column: int = 0) -> float | None:
        """The lowest; None without values."""
        return float(self._low[column]) if self._count[column] else None

    def high(self, column: int = 0) -> float | None:
        """The highest; None without values."""
        return float(self._high[column]) if self._count[column] else None

    def peak(self, column: int = 0) -> float | None:
        """The largest amount; None without values."""
        return float(max(-self._low[column], self._high[column])) if self._count[column] else None


class Column:
    """One column of numbers, kept on the disk for its percentiles; those that are not finite are left out.

    `close` it in the end.
    """

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by close
        self._count = 0

    def add(self, values: Floats) -> None:
        """Take in values (m,). Raises OSError when the disk refuses."""
        known = values[finite(values)]
        self._file.write(known.tobytes())
        self._count += len(known)

    def percentiles(self, percentages: Sequence[float], center: float | None = None) -> list[float | None]:
        """As `numpy.percentile`, of the values or, with a center, of their distances from it; None without values.

        To be called once: it changes the values.
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
        """Let go of the file. May be called again."""
        self._file.close()


def _between(low: float, high: float, part: float) -> float:
    """Interpolated linearly, rounded as numpy does."""
    step = high - low
    return low + step * part if part < 0.5 else high - step * (1.0 - part)


class Histogram:
    """How many values fall into each of `HISTOGRAM_BINS` equal bins from `low` to `high`."""

    def __init__(self, low: float, high: float) -> None:
        self._range = (low, high) if low < high else (low - 0.5, high + 0.5)
        finest = HISTOGRAM_BINS * float(np.spacing(max(abs(low), abs(high))))  # in which bins can be told apart
        if not self._range[1] - self._range[0] > finest:
            self._range = (low - finest, high + finest)
        self.counts = np.zeros(HISTOGRAM_BINS, dtype=np.int64)

    @property
    def edges(self) -> Floats:
        """Edges of the bins, one more than there are bins."""
        return np.linspace(*self._range, HISTOGRAM_BINS + 1)

    def add(self, values: Floats) -> None:
        """Take in values (m,) between low and high, to rounding; those that are not finite are left out."""
        known = np.clip(values[finite(values)], *self._range)
        counts: npt.NDArray[np.int64] = np.histogram(known, HISTOGRAM_BINS, self._range)[0]
        self.counts += counts
