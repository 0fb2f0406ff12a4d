"""Inputs of the checks of feedback, and their result: the required stop for a finding."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from kinematics import Array
from rig.findings import Code, Finding
from rig.safety.machine import Cause
from rig.states import StopSeverity


class DriveSamples(Protocol):
    """Feedback of six drives; arrays (6,) and lists by leg."""

    fresh: Array
    """1 where the sample is fresh, 0 where it is stale"""
    length: Array
    """m, measured"""
    velocity: Array
    """m/s, measured"""
    lag: Array
    """age of the samples in cycles"""
    stale: list[int]
    """consecutive cycles without fresh feedback"""
    age: list[float]
    """s since the last fresh one"""
    status: list[int]
    """bits of `actuators.Status`"""
    error: list[int]
    """the drives' own error codes"""

    @property
    def status_any(self) -> int:
        """Bits of `status` that any drive reports."""

    @property
    def status_all(self) -> int:
        """Bits of `status` that all drives report."""

    @property
    def lengths_finite(self) -> bool:
        """Whether every length is finite."""

    def error_text(self, leg: int) -> str:
        """Text of the drive's present error of a leg (index)."""

    def silence(self, leg: int) -> str:
        """Known reason why a leg (index) has no fresh feedback, "" if none."""


class CellSamples(Protocol):
    """Readings of six load cells."""

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


Recheck = Callable[[], Finding | None]
"""Asked at a reset, of the latest feedback: the finding while its cause is still there."""


def no_recheck() -> None:
    """Nothing: for an event, which is over once it has happened, and what `DriveGroup.troubles` checks in any case."""


@dataclass(frozen=True, slots=True)
class Trip:
    """Why the rig must stop, how, and what to ask before it is reset."""

    cause: Cause
    category: StopSeverity
    recheck: Recheck = no_recheck
    unhome: bool = False
    """the lengths mean nothing any more"""
    latch: bool = True
    """it is a fault, which stays until a reset"""


@dataclass(frozen=True, slots=True)
class Report:
    """Something to record that does not stop the rig."""

    level: Literal["info", "warning", "error"]
    finding: Finding


Act = Callable[[Trip | Report], None]
"""Is told what a check finds; it has taken effect before the check goes on."""


def not_fresh(code: Code, leg: int, age: float, bound: float, period: float, silence: str = "") -> Finding:
    """Nothing fresh for `age` s, the `bound` (s) or at most half a cycle's period (s) less.

    code: NO_FEEDBACK or the like. leg: 1…6, or 0. silence: what is known of why.
    """
    age = round(age, 6)
    if age >= bound:
        return Finding(code, leg, age, bound, {"silence": silence})
    # cycles do not begin to the microsecond
    return Finding(code, leg, age, bound - 0.5 * period, {"silence": silence, "stated": bound})


def no_length(leg: int, value: float, t: float, *, unhome: bool = False) -> Trip:
    """The drive of `leg` (index) reports a length that is no finite number, at rig time `t` (s)."""
    found = Finding(Code.LENGTH_NOT_FINITE, leg + 1, value)
    return Trip(Cause(found, t), StopSeverity.QUICK_STOP, no_recheck, unhome=unhome)
