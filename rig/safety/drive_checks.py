"""Checks of the drives' reports and of their torque against the state."""

import math
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from actuators import Status
from rig.findings import Code, Finding, Value
from rig.safety.machine import DRIVE_STATES, LEGS, TORQUE_STATES, Cause, StateMachine, at_legs
from rig.safety.trip import DriveSamples, Report, Trip, no_length, no_recheck, not_fresh
from rig.states import StopSeverity

_LEGS = 6
_SAMPLE_PERIOD = 0.1  # s between two samples of a device's counters
_SECOND = 1.0  # s of them that count
_FEW = 5  # replies that are no good in a second, and nothing to stop for
# plain integers: the flags' own operators cost more than the rest of the checks
_WATCHDOG, _FAULT, _HOMED = Status.WATCHDOG.value, Status.FAULT.value, Status.HOMED.value


class Traffic(NamedTuple):
    """What was counted of a device since it was made."""

    name: str
    leg: int
    """1…6, 0 for one that reads load cells alone"""
    sent: int
    unusable: int
    """see `actuators.Counters`"""


class DriveChecks:
    """Judges the reports of six drives.

    Args:
        period: s, of a cycle.
        stale_time: s without fresh feedback that are tolerated.
        sample_period: s between two requests to a drive that is slower than the cycle, 0 for requests in every cycle.
    """

    def __init__(self, period: float, stale_time: float, sample_period: float = 0.0) -> None:
        self._sample_period = sample_period
        self._stale_time, self._period = stale_time, period
        self._bound = stale_time - 0.5 * period  # cycles do not begin to the microsecond
        self._fewest = 1 if stale_time < 1.5 * period else 2  # one late reply of a host that overslept tells nothing

    def check(self, t: float, drives: DriveSamples, *, homed: bool) -> Trip | None:
        """Judge the drives' reports at rig time `t` (s); homed: the rig counts as homed."""
        stale, age, status = drives.stale, drives.age, drives.status
        sound = not drives.status_any & (_WATCHDOG | _FAULT) and (drives.status_all & _HOMED or not homed)
        if sound and drives.lengths_finite and not any(stale):
            return None
        lost = [leg for leg in range(_LEGS) if stale[leg] >= self._fewest and age[leg] >= self._bound]
        if lost and min(stale) > 0 and min(age) >= self._sample_period:  # what they share has failed, no leg of them
            whys = {drives.silence(leg) for leg in range(_LEGS)}
            why = whys.pop() if len(whys) == 1 else ""
            found = not_fresh(Code.NO_FEEDBACK_AT_ALL, 0, max(age), self._stale_time, self._period, why)
            return Trip(Cause(found, t), StopSeverity.QUICK_STOP, no_recheck)
        for leg in lost:
            found = not_fresh(Code.NO_FEEDBACK, leg + 1, age[leg], self._stale_time, self._period, drives.silence(leg))
            return Trip(Cause(found, t), StopSeverity.QUICK_STOP, no_recheck)
        for leg in range(_LEGS):
            if stale[leg]:
                continue
            if status[leg] & _WATCHDOG:
                found = Finding(Code.DRIVE_WATCHDOG, leg + 1)
                return Trip(Cause(found, t), StopSeverity.QUICK_STOP, no_recheck)
            if not math.isfinite(drives.length[leg]):
                # before the drive's own fault, which says the same and would take the torque off at once
                return no_length(leg, float(drives.length[leg]), t, unhome=not status[leg] & _HOMED)
            if status[leg] & _FAULT:
                found = Finding(
                    Code.DRIVE_FAULT, leg + 1, details={"error": drives.error[leg], "text": drives.error_text(leg)}
                )
                return Trip(Cause(found, t), StopSeverity.CATEGORY_0, no_recheck)
            if homed and not status[leg] & _HOMED:
                found = Finding(Code.DRIVE_RESTARTED, leg + 1)
                return Trip(Cause(found, t), StopSeverity.QUICK_STOP, no_recheck, unhome=True)
        return None


class TrafficCheck:
    """Judges the share of bad replies of each device in the last second.

    Among noise, or another master's traffic, replies may still be good: nothing becomes stale, and only this check
    detects it. The devices are checked in turn, evenly over time: to check all of them in one cycle takes too long.

    Args:
        share: tolerated share of a device's requests in that time; `_FEW` are always tolerated.
        devices: number of devices.
        period: s, of a cycle, in which each device is checked once at most.
    """

    def __init__(self, share: float, devices: int, period: float = 0.0) -> None:
        self._share = share
        self._samples_kept = 1 + math.ceil(_SECOND / max(_SAMPLE_PERIOD, period) - 1e-9)
        self._devices, self._between = devices, _SAMPLE_PERIOD / devices
        self.turn = 0
        """index of the device that is checked next"""
        self._samples: dict[str, deque[tuple[int, int]]] = {}
        self._warned: set[str] = set()
        self._due = -math.inf

    def due(self, t: float) -> bool:
        """Whether the next device is due at rig time `t` (s): several in one cycle if cycles are long."""
        return t >= self._due

    def forget(self) -> None:
        """Begin anew."""
        self._samples.clear()
        self._warned.clear()
        self._due = -math.inf

    def check(self, t: float, device: Traffic) -> Trip | Report | None:
        """Judge the counters of the device whose turn it is at rig time `t` (s).

        Returns:
            A trip if the share is beyond its bound; below it a warning, once for each device; or None.
        """
        self.turn = (self.turn + 1) % self._devices
        # however late, each device is due once
        self._due = max(self._due, t - _SAMPLE_PERIOD + self._between) + self._between
        self._samples.setdefault(device.name, deque(maxlen=self._samples_kept)).append((device.sent, device.unusable))
        beyond = self._beyond(device)
        if beyond is not None:
            category = StopSeverity.CATEGORY_1 if device.leg else StopSeverity.CATEGORY_2
            return Trip(Cause(beyond, t), category, partial(self._beyond, device))
        if self._counted(device.name)[1] > _FEW // 2 and device.name not in self._warned:
            self._warned.add(device.name)
            return Report("warning", self._disturbed(device))
        return None

    def lately(self, name: str) -> tuple[int, float]:
        """Bad replies of a device in the last second, and how many are tolerated; 0 and 0 before its first sample."""
        if name not in self._samples:
            return 0, 0.0
        sent, unusable = self._counted(name)
        return unusable, self._bound(sent)

    def _counted(self, name: str) -> tuple[int, int]:
        """Requests of a device in the last second, and its bad replies."""
        samples = self._samples[name]
        return samples[-1][0] - samples[0][0], samples[-1][1] - samples[0][1]

    def _bound(self, sent: int) -> float:
        return max(_FEW, self._share * sent)

    def _beyond(self, device: Traffic) -> Finding | None:
        """Finding on a device's traffic, or None."""
        if device.name not in self._samples:
            return None
        sent, unusable = self._counted(device.name)
        return self._disturbed(device) if unusable > self._bound(sent) else None

    def _disturbed(self, device: Traffic) -> Finding:
        sent, unusable = self._counted(device.name)
        details: dict[str, Value] = {"device": "" if device.leg else device.name, "sent": sent}
        return Finding(Code.DISTURBED, device.leg, unusable, self._bound(sent), details)


_ENABLED = Status.ENABLED.value
_HOMING = Status.HOMING.value
_QUICK_STOP = StopSeverity.QUICK_STOP


class TorqueChecks:
    """Judges the torque of six drives; stores since when it is correct.

    Args:
        machine: gives the states with torque, and the time that a drive may take.
        homing_ends_off: by leg, whether its drive switches its torque off when it finds its reference.

    Safe torque off or a contactor removes a drive's torque without a fault, and the drive may resume by itself. So a
    drive without torque is not commanded to have it for longer than a drive needs: it could start unexpectedly.
    """

    def __init__(self, machine: StateMachine, homing_ends_off: Sequence[bool] = (False,) * 6) -> None:
        self._machine = machine
        self._ends_off = tuple(homing_ends_off)
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._seen = [False] * 6
        """legs that have been correct since the command"""
        self._since: list[float | None] = [None] * 6
        """rig time of each leg's command"""
        self._reported: list[int] = []
        self._needed = False
        self._wanted = [0] * 6

    def check(
        self, t: float, drives: DriveSamples, asked: Sequence[bool], searching: Sequence[bool] = (False,) * 6
    ) -> Trip | None:
        """Judge the last exchange.

        Args:
            t: s, rig time.
            drives: their feedback.
            asked: whether the drive was commanded torque, by leg.
            searching: whether it was commanded to search its reference, by leg.
        """
        age, status = drives.stale, drives.status
        machine = self._machine
        at_rest = machine.state not in TORQUE_STATES
        needed = not at_rest and machine.stop < _QUICK_STOP
        if needed is not self._needed:
            self.forget()
            self._needed = needed
        if not (needed or at_rest or machine.stop is StopSeverity.CATEGORY_0):
            return None  # in a quick stop each drive takes its own time
        if machine.state in DRIVE_STATES:
            return self._one_by_one(t, age, status, asked, searching)
        wanted = _ENABLED if needed else 0
        self._wanted = [wanted] * 6
        settled = drives.status_all & _ENABLED if needed else not drives.status_any & _ENABLED
        if settled and not any(age):
            self._seen = [True] * 6
            return self._unexpected(t, []) if at_rest else None
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
        """Each leg must have torque if commanded, and none otherwise."""
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
        """Legs (1…6) that have left the commanded torque state, and those that have not reached it in time."""
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
        new = [leg for leg in sorted(legs) if leg not in self._reported]
        self._reported = legs
        if not new:
            return None
        found = at_legs(Code.TORQUE_UNEXPECTED, new, state=self._machine.state.name)
        return Trip(Cause(found, t), StopSeverity.CATEGORY_0, no_recheck)
