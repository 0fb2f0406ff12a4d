"""Which rows of the telemetry the live view shows: running or frozen, since it was cleared, at the times chosen."""

import math

from gui.live.shown_times import ShownTimes
from gui.session import Excerpt, Stretch, Timeline

_EDGE = 0.01  # s beyond the rows that a cursor at the edge of the picture may be


class ShownRows:
    """What is shown of the timeline that is followed; None stands for no timeline yet.

    Args:
        replayed: the timeline is a replay, whose rows after its present may be shown.
    """

    def __init__(self, replayed: bool) -> None:
        self.times = ShownTimes()
        self._replayed = replayed
        self._timeline: Timeline | None = None
        self._frozen: Excerpt | None = None
        self._cleared = 0
        """number of the first row that is shown, on the timeline"""

    def follow(self, timeline: Timeline) -> bool:
        """Show this timeline, all of it where it is another one than before; whether it is."""
        if timeline is self._timeline:
            return False
        self._timeline, self._cleared = timeline, 0
        return True

    def clear(self) -> None:
        """Leave out all rows so far."""
        if self._timeline is not None:
            self._cleared = self._timeline.first + len(self._timeline)

    def freeze(self, frozen: bool) -> None:
        """Keep to the rows of this moment, or follow the present again."""
        self._frozen = self._timeline.snapshot() if frozen and self._timeline is not None else None
        self.times.follow()

    @property
    def chosen_freely(self) -> bool:
        """Whether somebody may choose the times: of a replay, and of what is frozen."""
        return self._replayed or self._frozen is not None

    @property
    def present(self) -> Timeline | None:
        """The rows up to the present."""
        return self._timeline if self._frozen is None else self._frozen

    @property
    def drawn(self) -> Timeline | None:
        """What curves are drawn of: times that somebody has chosen may lie after a replay's present."""
        shown = self.present
        return shown if shown is None or self.times.chosen is None else shown.whole

    @property
    def marked(self) -> float | None:
        """A replay's present on times that somebody has chosen, s; None where it is not to be marked."""
        shown = self.present
        return shown.end if shown is not None and self._replayed and self.times.chosen is not None else None

    def present_moved(self) -> bool:
        """Whether a replay's present is another one than at the last call."""
        shown = self.present
        return self._replayed and shown is not None and self.times.present_moved(shown)

    def reaches(self, shown: Timeline) -> bool:
        """Whether there are rows, and not all of them cleared away."""
        return shown.first + len(shown) > max(shown.first, self._cleared)

    def since(self, shown: Timeline) -> float:
        """Time from which on rows are shown, s."""
        return float(shown.times[max(0, self._cleared - shown.first)]) if self.reaches(shown) else math.inf

    def at(self, shown: Timeline, t: float) -> Stretch:
        """The row nearest to a time, s; none where the rows shown do not reach."""
        if not self.reaches(shown) or not self.since(shown) - _EDGE <= t <= float(shown.times[-1]) + _EDGE:
            return shown.cut(0, 0)
        index = shown.nearest(t)
        return shown.cut(0, 0) if index is None else shown.cut(index, index + 1)

    def last(self, shown: Timeline, length: float) -> Stretch:
        """The rows of the last `length` s."""
        if not self.reaches(shown):
            return shown.cut(0, 0)
        end = float(shown.times[-1])
        return shown.stretch(max(self.since(shown), end - length), end)
