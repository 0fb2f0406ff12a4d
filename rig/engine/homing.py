"""Homing of six drives: sequence, completion, and agreement with the forward kinematics."""

from collections.abc import Sequence

import numpy as np

from actuators import Status
from kinematics import Array
from rig.config import Safety
from rig.findings import Code, Finding
from rig.safety import Cause, Trip, leg_pair, no_recheck
from rig.states import StopSeverity

_SIGNIFICANT = 2e-4  # m, by which a leg has moved: more than a closed brake gives
_STIRRED = 5e-5  # m, by which a leg has moved so that its drive may have begun to move something
# s, for which a leg that was found without a move is waited for: a drive that corrects 0.06 mm at 30 1/s with another
# leg's motor has moved that one by then.
_WAIT = 0.25
# s under torque at home with an old reference, after which a search counts as shorter than a cycle
_UNSEEN = 2.0
_HOMED, _HOMING, _ENABLED = Status.HOMED.value, Status.HOMING.value, Status.ENABLED.value


class Homing:
    """One homing of six legs, begun one after the other.

    The next leg begins once the one before has moved, or has found its reference without a move and nothing else has
    moved for a while. The brakes of later legs are closed, so that a movement shows whether motors and encoders are
    wired to the right legs. A leg that was found without a move has not shown that: if it moves later by itself, or
    another one does, it may have been its drive.
    A drive that already has a reference must first drop it or search, so that its old status does not count. One that
    stands at its length at home has no way to go: its search may be shorter than a cycle, see `admit`.

    Args:
        safety: `brake_slip` bounds the movement of a leg that has not begun, or was found without a move.

        ends_off: by leg, whether its drive switches its torque off when it finds its reference.

    `begun`: by leg, whether its drive was commanded to search; `searching`: whether it still is. A drive that switched
    its torque off at its reference is not commanded torque again.
    """

    def __init__(self, safety: Safety, ends_off: Sequence[bool] = (False,) * 6) -> None:
        self.begun = [False] * 6
        self._ends_off = tuple(ends_off)
        self._slip = safety.bound("brake_slip")
        self.begin()

    def begin(self) -> None:
        """Restart."""
        self.begun[:] = [leg == 0 for leg in range(6)]
        self._ended = [False] * 6
        self._sought = [False] * 6
        self._unseen: list[float | None] = [None] * 6
        """s, rig time since when each leg is at home under torque, by an old reference"""
        self._since: float | None = None
        """s, rig time since when the latest leg counts as found without a move"""
        self._unmoved: dict[int, float] = {}
        """legs that were found without a move, and by how much they had moved then, m"""
        self._left: dict[int, int] = {}
        """those that have moved since, and the latest leg of that time"""

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

    def admit(self, t: float, status: Sequence[int], at_home: Sequence[bool]) -> list[int]:
        """Count the searches that were too short to be seen; the legs (1…6) of which one has just been counted.

        It is that of a drive that for two seconds on end has torque for its search, keeps its reference, and stands at
        the leg's length at home by it.

        Args:
            t: s, rig time.
            status: bits of `actuators.Status`, by leg.
            at_home: by leg, whether it stands at its length at home.
        """
        found = []
        for leg, bits in enumerate(status):
            idle = bits & (_HOMED | _HOMING | _ENABLED) == _HOMED | _ENABLED and at_home[leg]
            if self._sought[leg] or not self.begun[leg] or not idle:
                self._unseen[leg] = None
                continue
            since = self._unseen[leg] = t if self._unseen[leg] is None else self._unseen[leg]
            if since is not None and t - since >= _UNSEEN:
                self._sought[leg] = True
                found.append(leg + 1)
        return found

    def waiting(self, t: float) -> bool:
        """Whether the latest leg was just found without a move, at rig time `t` (s)."""
        return self._since is not None and t < self._since + _WAIT

    def follow(self, t: float, status: Sequence[int], moved: Sequence[float]) -> Trip | None:
        """Start the next leg when possible; a finding if another leg moves than the commanded one.

        Args:
            t: s, rig time.
            status: bits of `actuators.Status`, by leg.
            moved: m, by which each leg has moved since the beginning.
        """
        latest = sum(self.begun) - 1
        moves = abs(moved[latest]) >= _SIGNIFICANT
        if moves:
            self._unmoved.pop(latest, None)
        other = max(range(latest + 1, 6), key=lambda leg: abs(moved[leg]), default=latest)
        if other > latest and abs(moved[other]) >= (self._slip if moves else _SIGNIFICANT):
            return self._wrong(other, [] if moves else [latest], moved, t)
        for leg, place in self._unmoved.items():
            way = abs(moved[leg] - place)
            if way < _SIGNIFICANT or leg == latest:
                self._left.pop(leg, None)
            elif way < self._slip:
                self._left.setdefault(leg, latest)
            else:
                return self._strayed(leg, self._left.get(leg, latest), way, t)
        if moves:
            self._since = None
        elif not self._found(latest, status[latest]):
            self._since = None
            return None
        else:
            self._since = t if self._since is None else self._since
            self._unmoved[latest] = moved[latest]
            if self.waiting(t):
                return None
        if latest < 5:
            self.begun[latest + 1], self._since = True, None
        return None

    def _found(self, leg: int, bits: int) -> bool:
        return self._sought[leg] and bits & (_HOMED | _HOMING) == _HOMED

    def _wrong(self, other: int, searching: list[int], moved: Sequence[float], t: float) -> Trip:
        """A leg has moved before its turn: by the drive of one that searches or has moved since it was found."""
        stirred = [leg for leg, place in self._unmoved.items() if abs(moved[leg] - place) >= _STIRRED]
        by, way = sorted({*searching, *stirred}), abs(moved[other])
        if not by:
            found = Finding(Code.BRAKE_SLIPS_HOMING, other + 1, way)
        elif len(by) == 1:
            found = Finding(Code.OTHER_LEG_HOMED, by[0] + 1, way, details={"other": other + 1})
        else:
            pairs = tuple(leg_pair(Code.PAIR_OF_LEGS, (leg + 1, other + 1)) for leg in by)
            found = Finding(Code.OTHER_LEG_HOMED_BY_ONE, other + 1, way, within=pairs)
        return Trip(Cause(found, t), StopSeverity.CATEGORY_0, no_recheck)

    @staticmethod
    def _strayed(leg: int, by: int, way: float, t: float) -> Trip:
        found = Finding(Code.FOUND_LEG_MOVED, leg + 1, way, details={"other": by + 1})
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
