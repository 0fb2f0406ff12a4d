"""What the drives say of themselves, judged in the order of severity."""

import math
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from actuators import Status
from kinematics import Array
from rig.safety.finding import Finding, no_length, no_recheck, stale_text
from rig.safety.machine import Cause
from rig.states import FaultCode, StopSeverity

_LEGS = 6
_LOOK = 0.1  # s between two looks at what was counted
_LOOKS = 11  # of a second
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
    """Judges what six drives say of themselves.

    Args:
        period: s, of a cycle.
        stale_time: s without fresh feedback that are borne.
        sample_period: s between two requests to a drive that is slower than the cycle, 0 for one in every cycle.
    """

    def __init__(self, period: float, stale_time: float, sample_period: float = 0.0) -> None:
        self._sample_period = sample_period
        self._stale_time, self._period = stale_time, period
        self._bound = stale_time - 0.5 * period  # cycles do not begin to the microsecond
        self._fewest = 1 if stale_time < 1.5 * period else 2  # one late reply of a host that overslept tells nothing

    def check(
        self,
        t: float,
        stale: list[int],
        age: list[float],
        status: list[int],
        error: list[int],
        length: Array,
        explain: Callable[[int], str],
        silence: Callable[[int], str],
        *,
        homed: bool,
    ) -> Finding | None:
        """Judge what the drives say of themselves.

        Args:
            t: s, rig time.
            stale: consecutive cycles without fresh feedback, by leg.
            age: s since the last fresh one, by leg.
            status: bits of `actuators.Status`, by leg.
            error: the drives' own error codes.
            length: (6,) m, by leg.
            explain: the present error of a leg (index) in words.
            silence: what is known of why a leg (index) is silent, to follow those words.
            homed: the rig counts as homed.
        """
        lost = [leg for leg in range(_LEGS) if stale[leg] >= self._fewest and age[leg] >= self._bound]
        if lost and min(stale) > 0 and min(age) >= self._sample_period:  # what they share has failed, no leg of them
            text = f"all six legs: {stale_text(max(age), self._stale_time, self._period)}"
            text += silence(0) if len({silence(leg) for leg in range(_LEGS)}) == 1 else ""
            return Finding(Cause(FaultCode.COMMUNICATION_LOST, text, t), StopSeverity.QUICK_STOP, no_recheck)
        for leg in lost:
            text = f"leg {leg + 1}: {stale_text(age[leg], self._stale_time, self._period)}{silence(leg)}"
            return Finding(Cause(FaultCode.COMMUNICATION_LOST, text, t, leg + 1), StopSeverity.QUICK_STOP, no_recheck)
        for leg in range(_LEGS):
            if stale[leg]:
                continue
            if status[leg] & _WATCHDOG:
                text = f"leg {leg + 1}: the drive's own watchdog stopped it"
                return Finding(Cause(FaultCode.DRIVE_WATCHDOG, text, t, leg + 1), StopSeverity.QUICK_STOP, no_recheck)
            if not math.isfinite(length[leg]):
                # before the drive's own fault, which says the same and would take the torque off at once
                return no_length(leg, float(length[leg]), t, unhome=not status[leg] & _HOMED)
            if status[leg] & _FAULT:
                text = f"leg {leg + 1}: drive fault {error[leg]}, {explain(leg)}"
                return Finding(Cause(FaultCode.DRIVE_FAULT, text, t, leg + 1), StopSeverity.CATEGORY_0, no_recheck)
            if homed and not status[leg] & _HOMED:
                text = f"leg {leg + 1}: the drive lost its reference; it may have restarted"
                cause = Cause(FaultCode.DRIVE_RESTARTED, text, t, leg + 1)
                return Finding(cause, StopSeverity.QUICK_STOP, no_recheck, unhome=True)
        return None


class TrafficCheck:
    """Judges how much of what came from each device in the last second was no good reply.

    A reply that follows noise, or lies among another master's, may be good: nothing is stale, and nothing else tells.

    Args:
        share: of a device's requests in that time that is borne, and `_FEW` in any case.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._looks: dict[str, deque[tuple[int, int]]] = {}
        self._said: set[str] = set()
        self._due = -math.inf

    def due(self, t: float) -> bool:
        """Whether it is to be looked at rig time `t` (s)."""
        return t >= self._due

    def forget(self) -> None:
        """Begin anew."""
        self._looks.clear()
        self._said.clear()
        self._due = -math.inf

    def check(self, t: float, traffic: Sequence[Traffic]) -> tuple[Finding | None, list[str]]:
        """Judge at rig time `t` (s) what has been counted so far.

        Returns:
            What stops the rig, and what is to be said of devices that are within the bound, once each.
        """
        self._due = t + _LOOK
        found, said = None, []
        for device in traffic:
            self._looks.setdefault(device.name, deque(maxlen=_LOOKS)).append((device.sent, device.unusable))
            beyond = self._beyond(device.name)
            if beyond and found is None:
                category = StopSeverity.CATEGORY_1 if device.leg else StopSeverity.CATEGORY_2
                cause = Cause(FaultCode.COMMUNICATION_DISTURBED, beyond, t, device.leg)
                found = Finding(cause, category, partial(self._beyond, device.name))
            elif not beyond and self._counted(device.name)[1] > _FEW // 2 and device.name not in self._said:
                self._said.add(device.name)
                said.append(self._words(device.name))
        return found, said

    def _counted(self, name: str) -> tuple[int, int]:
        """Requests of a device in the last second, and what came that was no good reply."""
        looks = self._looks[name]
        return looks[-1][0] - looks[0][0], looks[-1][1] - looks[0][1]

    def _bound(self, sent: int) -> float:
        return max(_FEW, self._share * sent)

    def _beyond(self, name: str) -> str:
        """What is wrong with a device's traffic, in words; empty where nothing is, or is not known any more."""
        if name not in self._looks:
            return ""
        sent, unusable = self._counted(name)
        return self._words(name) if unusable > self._bound(sent) else ""

    def _words(self, name: str) -> str:
        sent, unusable = self._counted(name)
        return (
            f"{name}: {unusable} times within a second what came was no good reply, with {sent} requests "
            f"(bound {self._bound(sent):.0f}): look for noise on the line, or another master"
        )
