"""A recording played back: its present moves with a clock, at any speed."""

import math

from gui.session import Excerpt, Rows, largest_amount


class Replay:
    """Plays rows (n,) of dtype ROW; begins at their beginning, standing still. Raises ValueError for a bad speed."""

    def __init__(self, rows: Rows) -> None:
        self.excerpt = Excerpt(rows)
        """what the views show"""
        self.excerpt.peak_force = largest_amount(rows["force_measured"])
        self.begin, self.end = self.excerpt.span
        self.position = self.begin
        """the present, s of rig time"""
        self.playing = False
        self._speed = 1.0
        self._last: float | None = None
        self.seek(self.begin)

    @property
    def speed(self) -> float:
        """Seconds of the recording a second."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        if not (math.isfinite(value) and value > 0.0):
            raise ValueError(f"speed of replay: {value}, must be above 0")
        self._speed = value

    def play(self) -> None:
        """Begin to move; from the beginning when it stands at the end."""
        if self.position >= self.end:
            self.seek(self.begin)
        self.playing = True
        self._last = None

    def pause(self) -> None:
        """Stand still."""
        self.playing = False

    def seek(self, t: float) -> None:
        """Go to the time t, s; times outside the recording are its nearest end."""
        self.position = min(max(t, self.begin), self.end)
        self.excerpt.seek(self.position)

    def advance(self, now: float) -> None:
        """Move on to the time `now` of a clock, s; stops at the end."""
        if not self.playing:
            return
        if self._last is not None:
            self.seek(self.position + self._speed * (now - self._last))
        self._last = now
        if self.position >= self.end:
            self.pause()
