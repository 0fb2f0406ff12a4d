"""Homing of six drives: sequence, completion, and agreement with the forward kinematics."""

import math
from collections.abc import Sequence

import numpy as np

from actuators import Status
from kinematics import Array
from rig.config import Safety
from rig.findings import Code, Finding
from rig.safety import Cause, Trip, no_recheck
from rig.states import StopSeverity

_SIGNIFICANT = 2e-4  # m, by which a leg has moved: more than a closed brake gives
_HOMED, _HOMING, _ENABLED = Status.HOMED.value, Status.HOMING.value, Status.ENABLED.value


class Homing:
    """One homing of six legs, begun one after the other.

    The next leg begins once the one before has moved, or has found its reference without a move. The brakes of later
    legs are closed, so that a movement shows whether motors and encoders are wired to the right legs.
    A drive that already has a reference must first drop it or search, so that its old status does not count.

    Args:
        safety: `brake_slip` bounds the movement of a leg that has not begun.

        ends_off: by leg, whether its drive switches its torque off when it finds its reference.

    `begun`: by leg, whether its drive was commanded to search; `searching`: whether it still is. A drive that switched
    its torque off at its reference is not commanded torque again.
    """

    def __init__(self, safety: Safety, ends_off: Sequence[bool] = (False,) * 6) -> None:
        self.begun = [False] * 6
        self._ends_off = tuple(ends_off)
        self._ended = [False] * 6
        self._slip = safety.bound("brake_slip")
        self._sought = [False] * 6
        self._from = [math.nan] * 6
        self.begin()

    def begin(self) -> None:
        """Restart."""
        self.begun[:] = [leg == 0 for leg in range(6)]
        self._ended = [False] * 6
        self._sought = [False] * 6
        self._from = [math.nan] * 6

    @property
    def searching(self) -> list[bool]:
        """See the class."""
        return [begun and not ended for begun, ended in zip(self.begun, self._ended, strict=True)]

    def done(self, status: Sequence[int]) -> bool:
        """Whether every leg has searched and found; `status`: bits of `actuators.Status`, by leg, of each cycle."""
        for leg, bits in enumerate(status):
            self._sought[leg] |= bits & (_HOMED | _HOMING) != _HOMED
            self._ended[leg] |= self._ends_off[leg] and self._found(leg, bits) and not bits & _ENABLED
        return all(self._sought) and all(bits & (_HOMED | _HOMING) == _HOMED for bits in status)

    def missing(self, status: Sequence[int]) -> list[int]:
        """Legs (1…6) that have begun and not found their reference."""
        return [leg + 1 for leg in range(6) if self.begun[leg] and not self._found(leg, status[leg])]

    def unsought(self, status: Sequence[int]) -> list[int]:
        """Those of `missing` that report a reference all the time, and no search."""
        return [leg for leg in self.missing(status) if not self._sought[leg - 1]]

    def follow(self, t: float, status: Sequence[int], fresh: Array, length: Array) -> Trip | None:
        """Start the next leg when possible; a finding if another leg moves than the commanded one.

        Args:
            t: s, rig time.
            status: bits of `actuators.Status`, by leg.
            fresh: (6,) 1 where the sample is fresh, 0 where it is stale.
            length: (6,) m, measured, from any zero.
        """
        if all(self.begun):
            return None
        latest = self.begun.index(False) - 1
        moved = [0.0] * 6
        for leg in range(latest, 6):
            if fresh[leg] and math.isfinite(length[leg]):
                if math.isnan(self._from[leg]):
                    self._from[leg] = float(length[leg])
                moved[leg] = abs(float(length[leg]) - self._from[leg])
        moves = moved[latest] >= _SIGNIFICANT
        other = max(range(latest + 1, 6), key=moved.__getitem__)
        if moved[other] >= (self._slip if moves else _SIGNIFICANT):
            return self._wrong(latest, other, moved, t)
        if moves or self._found(latest, status[latest]):
            self.begun[latest + 1] = True
        return None

    def _found(self, leg: int, bits: int) -> bool:
        return self._sought[leg] and bits & (_HOMED | _HOMING) == _HOMED

    @staticmethod
    def _wrong(searching: int, other: int, moved: Sequence[float], t: float) -> Trip:
        if moved[searching] >= _SIGNIFICANT:
            found = Finding(Code.BRAKE_SLIPS_HOMING, other + 1, moved[other])
        else:
            found = Finding(Code.OTHER_LEG_HOMED, searching + 1, moved[other], details={"other": other + 1})
        return Trip(Cause(found, t), StopSeverity.CATEGORY_0, no_recheck)


def disagreement(lengths: Array, marks: Array, bound: float, t: float, *, posed: bool) -> Cause | None:
    """Cause to refuse the found references, or None.

    Two legs, and no others, that are off by more than the bound and have each other's length are exchanged.

    Args:
        lengths: (6,) m, homed.
        marks: (6,) m, what they should be.
        bound: m, on each leg's deviation.
        t: s, rig time.
        posed: whether a pose near home fits the lengths.
    """
    error = lengths - marks
    off = np.flatnonzero(~(np.abs(error) <= bound)).tolist()
    if len(off) == 2 and (np.abs(lengths[off] - marks[off[::-1]]) <= bound).all():
        one, other = off
        return Cause(Finding(Code.HOMED_EXCHANGED, one + 1, details={"other": other + 1}), t)
    if not posed:
        return Cause(Finding(Code.HOMED_WITHOUT_POSE), t)
    if not off:
        return None
    worst = int(np.argmax(np.abs(error)))
    return Cause(Finding(Code.HOMED_OFF, worst + 1, float(error[worst]), bound), t)
