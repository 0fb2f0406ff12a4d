"""What the checks of feedback find."""

from collections.abc import Callable
from dataclasses import dataclass

from rig.safety.machine import Cause
from rig.states import FaultCode, StopSeverity


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with the feedback, how the rig must stop for it, and what to ask before it is reset."""

    cause: Cause
    category: StopSeverity
    stands: Callable[[], str]
    """why the cause is still there, asked at a reset of the latest feedback; empty once it is gone"""
    unhome: bool = False
    """the lengths mean nothing any more"""


def over() -> str:
    """Nothing: for an event, which is over once it has happened, and what `DriveBank.troubles` looks at in any case."""
    return ""


def unheard(age: float, bound: float, what: str = "feedback") -> str:
    """That there is nothing fresh for `age` s, longer than the `bound` (s), in words."""
    return f"no fresh {what} for {age * 1e3:.3g} ms (bound {bound * 1e3:g} ms)"


def no_length(leg: int, value: float, t: float, *, unhome: bool = False) -> Finding:
    """The drive of `leg` (index) reports a length that is no finite number, at rig time `t` (s)."""
    cause = Cause(FaultCode.FEEDBACK_INVALID, f"leg {leg + 1}: the drive reports a length of {value} m", t, leg + 1)
    return Finding(cause, StopSeverity.QUICK_STOP, over, unhome=unhome)
