"""Whether a Jrk G2 went on all the while, by what is left of what happened between two replies."""

from enum import Enum, auto

_COUNTS = 1 << 16
_SLACK, _SHARE = 3.0, 0.25  # periods, and part of those that should have passed, by which the counter may be off


class Life(Enum):
    """What a reply says of it."""

    GOES_ON = auto()
    STANDS = auto()
    """its position loop does not count on"""
    DOUBTFUL = auto()
    """its counter is not where it should be: it has restarted, or the reply is damaged; the next one tells"""
    RESTARTED = auto()


class LifeSigns:
    """The counter of the position loop, which begins anew with the controller, and the errors that occurred.

    Replies have no checksum: a counter or an error that is not as it should be counts once two replies agree on it.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._known: tuple[float, int] | None = None
        self._odd: tuple[float, int] | None = None
        self._seen: int | None = None
        self._suspected = 0

    def judge(self, now: float, count: int, period: float) -> Life:
        """What the counter says at `now`, s; period: of the position loop, s."""
        if self._known is None or _fits(self._known, now, count, period):
            if self._known is None or count != self._known[1]:
                self._known = (now, count)
            self._odd = None
            return Life.GOES_ON
        if count == self._known[1]:
            return Life.STANDS
        odd, self._odd = self._odd, (now, count)
        if odd is None or not _fits(odd, now, count, period):
            return Life.DOUBTFUL
        self._known, self._odd = (now, count), None
        return Life.RESTARTED

    def risen(self, occurred: int) -> int:
        """Errors that have occurred since they were looked at first, each told once."""
        if self._seen is None:
            self._seen = occurred
        new = occurred & ~self._seen
        sure, self._suspected = new & self._suspected, new
        self._seen |= sure
        return sure


def _fits(known: tuple[float, int], now: float, count: int, period: float) -> bool:
    """Whether a counter may be where it is, by when it was where."""
    passed = (now - known[0]) / period
    off = (count - known[1] - passed) % _COUNTS
    return min(off, _COUNTS - off) <= _SLACK + _SHARE * passed
