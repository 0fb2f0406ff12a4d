"""What the checks of feedback find."""

from collections.abc import Callable
from dataclasses import dataclass

from kinematics import figure_and_bound
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


def no_recheck() -> str:
    """Nothing: for an event, which is over once it has happened, and what `DriveGroup.troubles` checks in any case."""
    return ""


def stale_text(age: float, bound: float, period: float, what: str = "feedback") -> str:
    """That there is nothing fresh for `age` s, the `bound` (s) or at most half a cycle's period (s) less, in words."""
    silent, borne, why = round(age * 1e3, 3), bound * 1e3, ""  # cycles do not begin to the microsecond
    if silent < borne:
        borne, why = (bound - 0.5 * period) * 1e3, f", {borne:g} ms less half a cycle"
    figure, most = figure_and_bound(silent, borne, ".3g")
    return f"no fresh {what} for {figure} ms (bound {most} ms{why})"


def between(value: float, low: float, high: float, spec: str) -> tuple[str, str, str]:
    """A figure that is beyond one of its two bounds, and both, as `figure_and_bound` has them."""
    if value < low:
        return *figure_and_bound(value, low, spec), f"{high:g}"
    figure, bound = figure_and_bound(value, high, spec)
    return figure, f"{low:g}", bound


def length_beyond(length: float, low: float, high: float) -> str:
    """A leg's length beyond its limits, m, in words."""
    figure, least, most = between(length, low, high, ".4f")
    return f"length {figure} m (limits {least} to {most} m)"


def no_length(leg: int, value: float, t: float, *, unhome: bool = False) -> Finding:
    """The drive of `leg` (index) reports a length that is no finite number, at rig time `t` (s)."""
    cause = Cause(FaultCode.FEEDBACK_INVALID, f"leg {leg + 1}: the drive reports a length of {value} m", t, leg + 1)
    return Finding(cause, StopSeverity.QUICK_STOP, no_recheck, unhome=unhome)
