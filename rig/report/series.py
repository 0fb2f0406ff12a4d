"""Series for plots, made block by block: thinned so that no peak is lost, and angles a person can read."""

import numpy as np
import numpy.typing as npt

from rig.angles import shown_angle

Floats = npt.NDArray[np.float64]

BINS = 450
"""Stretches a plotted curve is divided into; about as many as the pixels a panel is wide."""
_ABSURD = 1e30
"""What no quantity of a rig reaches, in any unit; beyond it, sums and axes would overflow."""


def finite(values: Floats) -> npt.NDArray[np.bool_]:
    """Mask of the values that can be counted with: neither missing nor absurd."""
    known: npt.NDArray[np.bool_] = np.abs(values) < _ABSURD
    return known


class Outline:
    """Lowest and highest value of every stretch of `count` rows of k columns, as curves with the outline of the whole.

    Values that are not finite are left out; curves of at most 2·bins rows stay as they are.
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
        """Take in the rows that follow: t (m,) and values (m, k)."""
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
        """Times and values of one column, (m,)."""
        if not self._thinned:
            return self._t, self._low[:, column]
        return np.repeat(self._t, 2), np.stack([self._low[:, column], self._high[:, column]], axis=1).ravel()


class Angles:
    """Angles [θx θy θz], rad, continuous in time, of R = Rz(θz)·Ry(θy)·Rx(θx) for unit quaternions, w first."""

    def __init__(self) -> None:
        self._last = np.zeros((0, 3))

    def add(self, quaternion: Floats) -> Floats:
        """Those (n, 3) of the quaternions (n, 4) that follow; not numbers where those are none."""
        angles = np.stack([shown_angle(quaternion, axis) for axis in range(3)], axis=1)
        known = np.isfinite(angles).all(axis=1)
        before = len(self._last)
        continued = np.unwrap(np.concatenate([self._last, angles[known]]), axis=0)
        self._last = continued[-1:]
        angles[known] = continued[before:]
        angles[~known] = np.nan
        return angles
