"""Homing: when six drives have found their references, and whether these agree with the forward kinematics."""

from collections.abc import Sequence

from actuators import Status
from rig.engine.machine import Cause
from rig.states import FaultCode

_HOMED, _HOMING = Status.HOMED.value, Status.HOMING.value


class Homing:
    """One homing of six legs.

    A drive that still has a reference from before must be seen to give it up or to search, so that its old word is not
    taken for the answer.
    """

    def __init__(self) -> None:
        self._sought = [False] * 6

    def begin(self) -> None:
        """Begin anew."""
        self._sought = [False] * 6

    def done(self, status: Sequence[int]) -> bool:
        """Whether every leg has searched and found; `status`: bits of `actuators.Status`, by leg, of each cycle."""
        for leg, bits in enumerate(status):
            self._sought[leg] |= bits & (_HOMED | _HOMING) != _HOMED
        return all(self._sought) and all(bits & (_HOMED | _HOMING) == _HOMED for bits in status)


def disagreement(worst: tuple[int, float] | None, bound: float, t: float) -> Cause | None:
    """Cause to refuse the references found, or None.

    Args:
        worst: leg index and error, m, of the leg farthest from its length at home; None where no pose fits.
        bound: m.
        t: s, rig time.
    """
    if worst is None:
        return Cause(FaultCode.HOMING_FAILED, "the six homed lengths belong to no pose near home", t)
    leg, error = worst
    if abs(error) <= bound:
        return None
    text = f"leg {leg + 1}: homed {error * 1e3:+.2f} mm from its length at home (bound {bound * 1e3:g} mm)"
    return Cause(FaultCode.HOMING_FAILED, text, t, leg + 1)
