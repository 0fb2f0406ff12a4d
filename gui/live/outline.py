"""Curves of a whole recording, thinned beforehand so that any part of them is drawn at once."""

from gui.live.decimation import decimate
from gui.session import Floats

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
