"""What the engine may follow: a table of a motion, or whatever else says where the platform should be, and can stop."""

from collections.abc import Sequence
from typing import Protocol

from kinematics import Array


class ReferenceSource(Protocol):
    """Says where the platform should be, now and a little ahead; how it comes to rest is its own matter.

    Whatever it says is judged every cycle before it is commanded, by itself and against the one before, and left where
    it fails: it is trusted with nothing.
    One thread advances it; others may look at what it tells of itself.
    """

    name: str

    @property
    def moving(self) -> bool:
        """Whether the reference still moves, or may begin to by itself: the motion is over once it does not."""

    @property
    def slowing(self) -> bool:
        """Whether it is on its way to a stand before its end."""

    @property
    def paused(self) -> bool:
        """Whether it stands before its end, and may be taken up again by `resume`."""

    @property
    def path_time(self) -> float:
        """Place on the path, s."""

    @property
    def path_duration(self) -> float:
        """Length of the path, s; infinite where it has no end of its own."""

    @property
    def path_rate(self) -> float:
        """Seconds of the path per second."""

    def advance(self, duration: float) -> None:
        """Let `duration` s pass."""

    def evaluate(self, ahead: float, motion: Array) -> bool:
        """Fill `motion` (19,) with the reference `ahead` s from now, base frame; False when it is not defined there."""

    def decelerate(self, durations: Sequence[float]) -> None:
        """Begin to come to rest, in the first of the rising `durations` (s) that the legs bear, else in the last."""

    def resume(self, durations: Sequence[float]) -> None:
        """Take the path up again where it is `paused`; likewise."""
