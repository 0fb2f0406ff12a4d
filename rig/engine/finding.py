"""What the checks of feedback find."""

from dataclasses import dataclass

from rig.engine.machine import Cause
from rig.states import FaultCode, StopCategory


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with the feedback, and how the rig must stop for it."""

    cause: Cause
    category: StopCategory
    unhome: bool = False
    """the lengths mean nothing any more"""


def no_length(leg: int, value: float, t: float, *, unhome: bool = False) -> Finding:
    """The drive of `leg` (index) reports a length that is no finite number, at rig time `t` (s)."""
    cause = Cause(FaultCode.FEEDBACK_INVALID, f"leg {leg + 1}: the drive reports a length of {value} m", t, leg + 1)
    return Finding(cause, StopCategory.QUICK_STOP, unhome=unhome)
