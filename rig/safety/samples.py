"""What the checks of feedback look at: the samples of the last exchange, as whoever made it holds them."""

from typing import NamedTuple, Protocol

from kinematics import Array


class DriveSamples(Protocol):
    """What six drives reported; arrays (6,) and lists by leg."""

    fresh: Array
    """1 where the sample is fresh, 0 where it is stale"""
    length: Array
    """m, measured"""
    velocity: Array
    """m/s, measured"""
    lag: Array
    """cycles by which the samples are old"""
    stale: list[int]
    """consecutive cycles without fresh feedback"""
    age: list[float]
    """s since the last fresh one"""
    status: list[int]
    """bits of `actuators.Status`"""
    error: list[int]
    """the drives' own error codes"""

    def error_text(self, leg: int) -> str:
        """The present error of a leg (index) in the drive's words."""

    def silence(self, leg: int) -> str:
        """What is known of why a leg (index) has no fresh feedback, "" for nothing."""


class CellSamples(Protocol):
    """What six load cells read."""

    force: Array
    """(6,) N, measured"""
    cells_stale: int
    """consecutive cycles without a fresh reading of all cells"""
    cells_age: float
    """s since there was one"""

    def cells_silence(self) -> str:
        """What is known of why there is none, "" for nothing."""


class LegReference(NamedTuple):
    """Where the legs are to be: lengths (6,), m, and speeds (6,), m/s."""

    length: Array
    velocity: Array
