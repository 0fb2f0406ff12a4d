"""Check of the brakes: the legs must rest without torque."""

import math
from collections.abc import Sequence

import numpy as np

from actuators import Status
from kinematics import Array, kernel
from rig.config import Safety
from rig.findings import Code, Finding
from rig.safety.machine import Cause
from rig.safety.trip import Trip
from rig.states import StopSeverity

_LEGS = 6
_STANDSTILL = 2e-3  # m/s, below which a leg has come to rest
_SETTLING = 0.25  # s without torque, after which a leg that has not come to rest counts from where it is
_GAINED = 0.05  # m/s, more than the speed at which the torque went off: a brake that holds only takes speed away
_CONTINUOUS = 2e-3  # m between two samples beyond what the speed explains: the drive counts from another zero
_LONGEST_GAP = 0.025  # s between two samples, or one and a half cycles, beyond which the speeds do not explain the way
_WINDOW = 0.25  # s between two marks by which is told whether the leg moves on
_STATIONARY = 1e-4  # m since the mark before the last, within which it does not
_NAMED = 0.25  # of the bound, beyond which a leg is named beside the one that is over it
_ENABLED = Status.ENABLED.value

# What is kept of each leg, rows of (9, 6): where it came to rest, how far it has moved from there, s without torque,
# length, speed and s of the last fresh sample, the speed at which the torque went off, and two marks.
_REST, _MOVED, _OFF, _LENGTH, _VELOCITY, _SINCE, _FIRST, _MARK, _MARK_BEFORE = range(9)
_ROWS = 9


@kernel
def _rest_kernel(
    fresh: Array, torque: Array, length: Array, velocity: Array, departure: Array, legs: Array, elapsed: float,
    homed: bool, mark: bool, bound: float, longest: float,
) -> tuple[bool, bool]:  # fmt: skip
    """Update the fresh legs, `elapsed` s after the cycle before.

    legs (9, 6) is state from cycle to cycle; mark: set a new mark. A leg whose samples are not consistent restarts.
    longest: s between two samples, as `_LONGEST_GAP` says.
    Returns whether a leg accelerates without torque, and whether one has moved by more than `bound` m and `departure`.
    """
    gains = False
    for i in range(_LEGS):
        legs[_SINCE, i] += elapsed
        if fresh[i] == 0.0 or not (math.isfinite(length[i]) and math.isfinite(velocity[i])):
            continue
        gap, speed = legs[_SINCE, i], velocity[i]
        way = abs(length[i] - legs[_LENGTH, i] - 0.5 * gap * (speed + legs[_VELOCITY, i]))
        known = way <= _CONTINUOUS if gap <= longest else homed  # False before the first sample
        if torque[i] != 0.0 or not known or math.isnan(legs[_LENGTH, i]):
            legs[_REST, i] = math.nan
            legs[_MOVED, i] = legs[_OFF, i] = 0.0
            legs[_FIRST, i] = abs(speed)
            legs[_MARK, i] = legs[_MARK_BEFORE, i] = length[i]
        else:
            legs[_OFF, i] += gap
        legs[_LENGTH, i], legs[_VELOCITY, i], legs[_SINCE, i] = length[i], speed, 0.0
        if torque[i] != 0.0:
            continue
        if mark:
            legs[_MARK_BEFORE, i], legs[_MARK, i] = legs[_MARK, i], length[i]
        if not math.isnan(legs[_REST, i]):
            legs[_MOVED, i] = length[i] - legs[_REST, i]
        elif abs(speed) <= _STANDSTILL or legs[_OFF, i] >= _SETTLING:
            legs[_REST, i] = length[i]
        elif abs(speed) > legs[_FIRST, i] + _GAINED:
            gains = True
    slips = False
    for i in range(_LEGS):
        slips = slips or abs(legs[_MOVED, i] - departure[i]) > bound
    return gains, slips


class RestMonitor:
    """Compares the legs with their lengths at rest after their torque was switched off.

    The comparison with the length at rest, not with the last cycle, detects slow creep as well as a fall.

    Args:
        safety: `brake_slip` bounds the movement.
        period: s, of a cycle.
    """

    def __init__(self, safety: Safety, period: float = 0.0) -> None:
        self._bound = safety.bound("brake_slip")
        self._longest = max(_LONGEST_GAP, 1.5 * period)
        self._legs = np.zeros((_ROWS, _LEGS))
        self._torque = np.zeros(_LEGS)
        self._marked = 0.0
        self._reported = self._forgotten = False
        self._status: list[int] = []
        """by leg, what `_torque` is made of"""
        self.forget()

    def forget(self) -> None:
        """Restart: the present lengths are those at rest."""
        if self._forgotten:  # as in every cycle with torque
            return
        self._forgotten = True
        self._legs[:] = 0.0
        self._legs[_REST] = self._legs[_LENGTH] = math.nan
        self._reported = False

    def check(
        self,
        t: float,
        elapsed: float,
        fresh: Array,
        status: Sequence[int],
        length: Array,
        velocity: Array,
        departure: Array,
        *,
        homed: bool,
    ) -> Trip | None:
        """Judge legs without torque; a finding is reported once until `forget`.

        Args:
            t: s, rig time.
            elapsed: s since the cycle before took its samples.
            fresh: (6,) 1 where the sample is fresh, 0 where it is stale.
            status: bits of `actuators.Status`, by leg; legs with torque are not judged.
            length, velocity: (6,) m and m/s, measured; before homing from any zero.
            departure: (6,) m of the lengths that the speeds do not explain: creep of an encoder, not of the leg.
            homed: lengths are absolute.
        """
        if self._bound == math.inf:
            return None
        self._forgotten = False
        if status != self._status:
            self._status, self._torque[:] = list(status), [bits & _ENABLED for bits in status]
        mark = not 0.0 <= t - self._marked < _WINDOW
        if mark:
            self._marked = t
        legs = self._legs
        gains, slips = _rest_kernel(
            fresh, self._torque, length, velocity, departure, legs, elapsed, homed, mark, self._bound, self._longest
        )
        if self._reported or not (gains or slips):
            return None
        self._reported = True
        if gains:
            speeds = np.where(self._torque == 0.0, legs[_VELOCITY], 0.0)
            falling = np.flatnonzero(np.abs(speeds) > legs[_FIRST] + _GAINED)
            parts = tuple(Finding(Code.LEG_SPEED, int(leg) + 1, float(speeds[leg])) for leg in falling)
            return self._slip(Finding(Code.BRAKES_FALL, _only(parts), within=parts), t)
        slipping = np.flatnonzero(np.abs(legs[_MOVED] - departure) > _NAMED * self._bound)
        parts = tuple(Finding(Code.LEG_WAY, int(leg) + 1, float(legs[_MOVED, leg]), self._bound) for leg in slipping)
        return self._slip(Finding(Code.BRAKES_SLIP, _only(parts), bound=self._bound, within=parts), t)

    def _still_moving(self) -> Finding | None:
        """Finding of the legs that continue to move without torque, or None."""
        way = self._legs[_LENGTH] - self._legs[_MARK_BEFORE]
        moving = tuple(
            Finding(Code.MOVES_WITHOUT_TORQUE, int(leg) + 1, float(way[leg]))
            for leg in np.flatnonzero(np.abs(way) > _STATIONARY)
            if self._torque[leg] == 0.0
        )
        return Finding(Code.LEGS_MOVE_WITHOUT_TORQUE, within=moving) if moving else None

    def _slip(self, found: Finding, t: float) -> Trip:
        return Trip(Cause(found, t), StopSeverity.CATEGORY_0, self._still_moving)


def _only(parts: tuple[Finding, ...]) -> int:
    """The leg where there is one, else 0."""
    return parts[0].leg if len(parts) == 1 else 0
