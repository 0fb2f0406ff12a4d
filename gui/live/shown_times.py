"""Which times of a timeline are shown: the newest ones, or those that somebody has chosen."""

from gui.session import Timeline

_BEFORE = 0.1
"""part of the times shown that is before what they are to show"""


class ShownTimes:
    """Times that are shown, s. `chosen` is None while they follow the timeline's present."""

    def __init__(self) -> None:
        self.chosen: tuple[float, float] | None = None
        self._present: float | None = None

    def on(self, timeline: Timeline, seconds: float) -> tuple[float, float]:
        """What is shown: the last `seconds` before the present, or what was chosen."""
        end = timeline.end if timeline.end is not None else 0.0
        return self.chosen or (end - seconds, end)

    def follow(self) -> None:
        """Follow the present again."""
        self.chosen = None

    def choose(self, timeline: Timeline, t0: float, t1: float) -> None:
        """Show these times, as far as there are rows before or after the present; all where there are none of them."""
        times = timeline.whole.times
        if len(times) > 1:
            begin, end = float(times[0]), float(times[-1])
            inside = (max(t0, begin), min(t1, end))
            self.chosen = inside if inside[0] < inside[1] else (begin, end)

    def choose_about(self, timeline: Timeline, t: float, length: float) -> None:
        """Show times of a length, s, about t: most of them after it."""
        self.choose(timeline, t - _BEFORE * length, t + (1.0 - _BEFORE) * length)

    def present_moved(self, timeline: Timeline) -> bool:
        """Whether the present is another than at the last call; chosen times that it leaves go along."""
        before, self._present = self._present, timeline.end
        if timeline.end == before:
            return False
        if self.chosen is not None and before is not None and timeline.end is not None:
            t0, t1 = self.chosen
            if t0 <= before <= t1 and not t0 <= timeline.end <= t1:
                self.choose_about(timeline, timeline.end, t1 - t0)
        return True
