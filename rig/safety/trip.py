"""What a check of the feedback asks for: how the rig must stop for what was found."""

from collections.abc import Callable
from dataclasses import dataclass

from rig.findings import Code, Finding
from rig.safety.machine import Cause
from rig.states import StopSeverity

Recheck = Callable[[], Finding | None]
"""Asked at a reset, of the latest feedback: the finding while its cause is still there."""


@dataclass(frozen=True, slots=True)
class Trip:
    """What is wrong with the feedback, how the rig must stop for it, and what to ask before it is reset."""

    cause: Cause
    category: StopSeverity
    recheck: Recheck
    unhome: bool = False
    """the lengths mean nothing any more"""


def no_recheck() -> None:
    """Nothing: for an event, which is over once it has happened, and what `DriveGroup.troubles` checks in any case."""


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
