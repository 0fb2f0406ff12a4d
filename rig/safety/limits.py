"""Last check of every reference before a command is computed from it, besides the check of the whole motion before."""

from math import inf, isfinite, sqrt

import numpy as np

from dynamics import LegLimits, Mechanism
from kinematics import Array, kernel
from rig.config import Safety
from rig.findings import Code, Finding
from rig.safety.machine import Cause

_OK, _NOT_FINITE, _LENGTH, _SPEED, _ACCELERATION, _CONDITION, _STEP, _SPEED_STEP = range(8)
_ROUNDING = 1e-9  # relative: a motion checked to the bound itself passes
_BETWEEN = 1.01  # of the acceleration's limit: a motion is checked at samples, and may peak between two of them
_STEP_ROUNDING = 1e-9  # m
START_DISTANCE = 1e-4
"""m and rad, largest distance of a motion's begin from the platform's reference, along and about each axis."""


@kernel
def check_kernel(legs: Array, limits: Array, condition: float, condition_bound: float) -> tuple[int, int, float]:
    """Judge leg motions (6, 13) as `inverse_kinematics_kernel` gives them; limits (6, 4): L min, L max, L̇, L̈."""
    for i in range(6):
        for k in range(3):
            if not isfinite(legs[i, k]):
                return _NOT_FINITE, i, legs[i, k]
        if not limits[i, 0] <= legs[i, 0] <= limits[i, 1]:
            return _LENGTH, i, legs[i, 0]
        if abs(legs[i, 1]) > limits[i, 2]:
            return _SPEED, i, legs[i, 1]
        if abs(legs[i, 2]) > limits[i, 3]:
            return _ACCELERATION, i, legs[i, 2]
    if not condition <= condition_bound:
        return _CONDITION, -1, condition
    return _OK, -1, 0.0


@kernel
def step_kernel(
    before: Array, legs: Array, limits: Array, allowed: Array, elapsed: float
) -> tuple[int, int, float, float]:
    """Judge the step of the legs from one reference to the next, (6, 13) both, `elapsed` s apart.

    With an acceleration limit A, a leg's step deviates by at most A Δt²/4 from the mean of both speeds, and its speed
    changes by at most A Δt. limits (6, 4) as `check_kernel`; allowed (6,) m: additional deviation. Returns the fault,
    the leg's index, the amount and its bound.
    """
    for i in range(6):
        way, speed = legs[i, 0] - before[i, 0], legs[i, 1] - before[i, 1]
        acceleration = _BETWEEN * limits[i, 3]
        departure = abs(way - 0.5 * elapsed * (legs[i, 1] + before[i, 1]))
        bound = allowed[i]
        if acceleration < inf:
            bound += 0.25 * acceleration * elapsed * elapsed
        if not departure <= bound:
            return _STEP, i, departure, bound
        if acceleration < inf and not abs(speed) <= acceleration * elapsed:
            return _SPEED_STEP, i, abs(speed), acceleration * elapsed
    return _OK, -1, 0.0, 0.0


@kernel
def continue_kernel(
    legs: Array, limits: Array, condition: float, condition_bound: float, before: Array, allowed: Array, elapsed: float
) -> tuple[int, int, float, float]:
    """Judge leg motions (6, 13) by `check_kernel`, then the step to them from `before` by `step_kernel`.

    elapsed: s since `before`, negative if there is nothing before.
    """
    what, leg, value = check_kernel(legs, limits, condition, condition_bound)
    if what != _OK or elapsed < 0.0:
        return what, leg, value, 0.0
    found: tuple[int, int, float, float] = step_kernel(before, legs, limits, allowed, elapsed)
    return found


@kernel
def accept_kernel(
    legs: Array, limits: Array, condition: float, condition_bound: float, last_legs: Array, allowed: Array,
    elapsed: float, motion: Array, last_motion: Array,
) -> tuple[int, int, float, float]:  # fmt: skip
    """Judge as `continue_kernel`; what passes is copied, `motion` (19,) to `last_motion` and `legs` to `last_legs`."""
    found = continue_kernel(legs, limits, condition, condition_bound, last_legs, allowed, elapsed)
    if found[0] == _OK:
        for k in range(19):
            last_motion[k] = motion[k]
        for i in range(6):
            for k in range(legs.shape[1]):
                last_legs[i, k] = legs[i, k]
    return found


def _bound(value: float | None) -> float:
    return inf if value is None else value


class ReferenceCheck:
    """Checks length, speed and acceleration of every leg and the conditioning of the pose in each cycle.

    It also checks that each reference continues the one before: its speed must agree with its change.

    Args:
        mechanism: gives the legs' limits.
        safety: gives the bound on the condition number, and on steps of a leg whose acceleration is not limited.
    """

    def __init__(self, mechanism: Mechanism, safety: Safety) -> None:
        limits = [leg.limits or LegLimits() for leg in mechanism.legs]
        self.legs = np.array(
            [[*(limit.length or (0.0, inf)), _bound(limit.velocity), _bound(limit.acceleration)] for limit in limits]
        )
        self.legs *= 1.0 + _ROUNDING * np.array([-1.0, 1.0, 1.0, 1.0])
        """(6, 4) limits by leg: least and greatest length m, speed m/s, acceleration m/s²."""
        self.condition = safety.condition
        """largest condition number"""
        self.acceleration = np.array([_bound(limit.acceleration) for limit in limits])
        """(6,) m/s²."""
        self.force = np.array([_bound(limit.force) for limit in limits])
        """(6,) N, largest actuator force."""
        unlimited = np.where(np.isinf(self.acceleration), safety.position_jump, 0.0)
        self.allowed = _STEP_ROUNDING + unlimited
        """(6,) m, see `step_kernel`."""
        levers = np.linalg.norm(mechanism.geometry.array[:, 6:], axis=1)
        self._allowed_at_start = self.allowed + sqrt(3.0) * START_DISTANCE * (1.0 + levers)

    def accept(
        self,
        t: float,
        motion: Array,
        legs: Array,
        condition: float,
        last_motion: Array,
        last_legs: Array,
        elapsed: float,
        *,
        starts: bool,
    ) -> Cause | None:
        """Cause to refuse a reference, by itself or as continuation of the one before it; or None, and it is stored.

        Args:
            t: s, rig time.
            motion: (19,) of the platform.
            legs: (6, 13) of the legs.
            condition: condition number of the pose.
            last_motion: (19,), receives `motion`.
            last_legs: (6, 13) motion of the legs `elapsed` s earlier, which passed; receives `legs`.
            elapsed: s, more than 0; negative if there is no earlier one.
            starts: whether another motion begins here, at most `START_DISTANCE` away.
        """
        what, leg, value, bound = accept_kernel(
            legs, self.legs, condition, self.condition, last_legs,
            self._allowed_at_start if starts else self.allowed, elapsed, motion, last_motion,
        )  # fmt: skip
        return self.cause(what, leg, value, bound, elapsed, t)

    def cause(self, what: int, leg: int, value: float, bound: float, elapsed: float, t: float) -> Cause | None:
        """Cause of what `continue_kernel` found at rig time `t` (s), `elapsed` s after the one before; or None."""
        return None if what == _OK else Cause(self._finding(what, leg, value, bound, elapsed), t)

    def _finding(self, what: int, leg: int, value: float, bound: float, elapsed: float) -> Finding:
        """Finding of what the kernel found; leg: index."""
        if what == _CONDITION:
            return Finding(Code.CONDITION_NUMBER, 0, value, self.condition)
        if what in (_STEP, _SPEED_STEP):
            code = Code.REFERENCE_STEP if what == _STEP else Code.REFERENCE_SPEED_STEP
            return Finding(code, leg + 1, value, bound, {"elapsed": elapsed})
        low, high, speed, acceleration = map(float, self.legs[leg])
        if what == _LENGTH:
            return Finding(Code.REFERENCE_LENGTH, leg + 1, value, details={"low": low, "high": high})
        if what == _SPEED:
            return Finding(Code.REFERENCE_SPEED, leg + 1, value, speed)
        if what == _ACCELERATION:
            return Finding(Code.REFERENCE_ACCELERATION, leg + 1, value, acceleration)
        return Finding(Code.REFERENCE_NOT_FINITE, leg + 1, value)
