"""Last check of every reference before a command is computed from it: the whole motion was checked before it began."""

from math import inf, isfinite

import numpy as np

from dynamics import LegLimits, Mechanism
from kinematics import Array, kernel
from rig.config import Safety
from rig.safety.machine import Cause
from rig.states import FaultCode

_OK, _NOT_FINITE, _LENGTH, _SPEED, _ACCELERATION, _CONDITION = range(6)
_ROUNDING = 1e-9  # relative: a motion checked to the bound itself passes


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


def _bound(value: float | None) -> float:
    return inf if value is None else value


class ReferenceCheck:
    """Length, speed, acceleration of every leg and the conditioning of the pose, each cycle; None is no limit.

    Args:
        mechanism: gives the legs' limits.
        safety: gives the bound on the condition number.
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

    def judge(self, t: float, legs: Array, condition: float) -> Cause | None:
        """Cause to refuse a reference whose legs move as `legs` (6, 13) at rig time `t`, or None."""
        what, leg, value = check_kernel(legs, self.legs, condition, self.condition)
        if what == _OK:
            return None
        if what == _CONDITION:
            text = f"reference: condition number {value:.3g} (bound {self.condition:g})"
            return Cause(FaultCode.CONDITIONING, text, t)
        name = f"reference of leg {leg + 1}"
        low, high, speed, acceleration = self.legs[leg]
        if what == _LENGTH:
            text = f"{name}: length {value:.4f} m (limits {low:g} to {high:g} m)"
            return Cause(FaultCode.LENGTH_LIMIT, text, t, leg + 1)
        if what == _SPEED:
            text = f"{name}: speed {value:.3f} m/s (limit {speed:g} m/s)"
            return Cause(FaultCode.SPEED_LIMIT, text, t, leg + 1)
        if what == _ACCELERATION:
            text = f"{name}: acceleration {value:.2f} m/s² (limit {acceleration:g} m/s²)"
            return Cause(FaultCode.SPEED_LIMIT, text, t, leg + 1)
        return Cause(FaultCode.REFERENCE_INVALID, f"{name}: {value} is not a finite number", t, leg + 1)
