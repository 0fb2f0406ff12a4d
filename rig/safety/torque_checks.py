"""Which drives have torque, judged against the state: lost or late where it is needed, on where it must not be."""

from collections.abc import Sequence

from actuators import Status
from rig.findings import Code
from rig.safety.machine import DRIVE_STATES, LEGS, TORQUE_STATES, Cause, StateMachine, at_legs
from rig.safety.trip import Trip, no_recheck
from rig.states import StopSeverity

_ENABLED = Status.ENABLED.value
_HOMED, _HOMING = Status.HOMED.value, Status.HOMING.value


class TorqueChecks:
    """Judges the torque of six drives; keeps since when it is as it should be.

    Args:
        machine: says where torque is needed, and how long a drive may take.
        homing_ends_off: by leg, whether its drive takes its torque off as it finds its reference.

    A drive loses its torque without any fault where safe torque off or a contactor takes it, and may take it up again
    by itself once it can. One that gives none is not told to for longer than a drive needs: it could begin when nobody
    expects it any more.
    """

    def __init__(self, machine: StateMachine, homing_ends_off: Sequence[bool] = (False,) * 6) -> None:
        self._machine = machine
        self._ends_off = tuple(homing_ends_off)
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._seen = [False] * 6
        """legs that have been as the state wants them since it does"""
        self._since: list[float | None] = [None] * 6
        """rig time at which each was told to be so"""
        self._said: list[int] = []
        self._needed = False
        self._wanted = [0] * 6

    def check(
        self,
        t: float,
        age: Sequence[int],
        status: Sequence[int],
        asked: Sequence[bool],
        searching: Sequence[bool] = (False,) * 6,
    ) -> Trip | None:
        """Judge the last exchange.

        Args:
            t: s, rig time.
            age: consecutive cycles without fresh feedback, by leg.
            status: bits of `actuators.Status`, by leg.
            asked: whether the drive was told to have torque, by leg.
            searching: whether it was told to search its reference, by leg.
        """
        machine = self._machine
        at_rest = machine.state not in TORQUE_STATES
        needed = not at_rest and machine.stop < StopSeverity.QUICK_STOP
        if needed is not self._needed:
            self.forget()
            self._needed = needed
        if not (needed or at_rest or machine.stop is StopSeverity.CATEGORY_0):
            return None  # in a quick stop each drive takes its own time
        if machine.state in DRIVE_STATES:
            return self._one_by_one(t, age, status, asked, searching)
        self._wanted = [_ENABLED if needed else 0] * 6
        changed, late = self._strays(t, age, status)
        if not needed:
            return self._unexpected(t, changed + late) if at_rest else None
        return self._lacking(t, changed, late)

    def _one_by_one(
        self,
        t: float,
        age: Sequence[int],
        status: Sequence[int],
        asked: Sequence[bool],
        searching: Sequence[bool],
    ) -> Trip | None:
        """Each leg is to have torque where it is told to, and none where it is not."""
        for leg in range(6):
            ended = searching[leg] and self._ends_off[leg] and status[leg] & (_HOMED | _HOMING) == _HOMED
            wanted = _ENABLED if asked[leg] and not ended else 0
            if wanted != self._wanted[leg]:
                self._wanted[leg], self._seen[leg], self._since[leg] = wanted, False, None
        changed, late = self._strays(t, age, status)
        lacking = [[leg for leg in legs if self._wanted[leg - 1]] for legs in (changed, late)]
        stray = [leg for leg in changed + late if not self._wanted[leg - 1]]
        return self._unexpected(t, stray) or self._lacking(t, *lacking)

    def _lacking(self, t: float, changed: list[int], late: list[int]) -> Trip | None:
        machine = self._machine
        if changed:
            lost = Code.TORQUE_LOST_EVERYWHERE if len(changed) == len(LEGS) else Code.TORQUE_LOST
            return Trip(Cause(at_legs(lost, changed), t), StopSeverity.CATEGORY_0, no_recheck)
        if late:
            found = at_legs(Code.NO_TORQUE, late, bound=machine.deadlines.enable)
            return Trip(Cause(found, t), StopSeverity.CATEGORY_0, no_recheck)
        return None

    def _strays(self, t: float, age: Sequence[int], status: Sequence[int]) -> tuple[list[int], list[int]]:
        """Legs (1…6) that are no more what they have been seen to be, and those that have not come to be it in time."""
        deadlines, seen = self._machine.deadlines, self._seen
        changed: list[int] = []
        late: list[int] = []
        for leg in range(6):
            if age[leg]:
                continue
            wanted = self._wanted[leg]
            if status[leg] & _ENABLED == wanted:
                seen[leg] = True
            elif seen[leg]:
                changed.append(leg + 1)
            else:
                since = self._since[leg]
                if since is None:
                    self._since[leg] = t
                elif t - since > (deadlines.enable if wanted else deadlines.torque_off):
                    late.append(leg + 1)
        return changed, late

    def _unexpected(self, t: float, legs: list[int]) -> Trip | None:
        new = [leg for leg in sorted(legs) if leg not in self._said]
        self._said = legs
        if not new:
            return None
        found = at_legs(Code.TORQUE_UNEXPECTED, new, state=self._machine.state.name)
        return Trip(Cause(found, t), StopSeverity.CATEGORY_0, no_recheck)
