"""Bounds on measured values: leg speeds under torque, forces under control, and the drives' own quantities."""

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from dynamics import LegLimits, Mechanism
from kinematics import Array, kernel
from rig.config import Safety
from rig.findings import Code, Finding
from rig.safety.machine import Cause
from rig.safety.trip import Trip, no_recheck
from rig.states import StopSeverity


@kernel
def _beyond_kernel(fresh: Array, value: Array, bound: Array, end: float) -> int:
    """Leg (index) whose fresh value exceeds its bound most, relative to it, and is below `end`; -1 if none."""
    worst, leg = 1.0, -1
    for i in range(6):
        if fresh[i] != 0.0 and worst * bound[i] < abs(value[i]) < end:
            worst, leg = abs(value[i]) / bound[i], i
    return leg


def _limits(values: list[float | None], factor: float) -> Array:
    return np.array([math.inf if value is None else value * factor for value in values])


class MeasuredBounds:
    """Judges measured speeds, forces, temperatures and supply voltages; values without a limit are not judged.

    Args:
        mechanism: gives the legs' speed and force limits.
        safety: gives the margins beyond them, and the bounds of the drives' own quantities.
        auxiliary: gives the last values of the drive of a leg (index): `temperature` °C, `supply` V, by name.
    """

    def __init__(self, mechanism: Mechanism, safety: Safety, auxiliary: Callable[[int], Mapping[str, float]]) -> None:
        self._auxiliary = auxiliary
        limits = [leg.limits or LegLimits() for leg in mechanism.legs]
        self._speed = _limits([limit.velocity for limit in limits], safety.bound("overspeed"))
        self._force = _limits([limit.force for limit in limits], safety.bound("homing_force"))
        self._temperature = safety.bound("temperature")
        least = safety.bound("supply_min")
        self._supply = (-math.inf if least == math.inf else least, safety.bound("supply_max"))

    def check_speed(self, t: float, fresh: Array, velocity: Array) -> Trip | None:
        """Judge the speeds (6,) m/s of legs under torque; fresh: (6,) 0 where the sample is stale; t: s, rig time."""
        leg = _beyond_kernel(fresh, velocity, self._speed, math.inf)
        if leg < 0:
            return None
        found = Finding(Code.OVERSPEED, leg + 1, float(velocity[leg]), float(self._speed[leg]))
        return Trip(Cause(found, t), StopSeverity.QUICK_STOP, no_recheck)

    def check_force(self, t: float, fresh: Array, force: Array, code: Code, scale: float = math.inf) -> Trip | None:
        """Judge the load cells (6,) N while the drives close the loop.

        Args:
            t: s, rig time.
            fresh: (6,) 0 where a reading is stale.
            force: measured.
            code: FORCE_WHILE_HOMING or FORCE_WHILE_HOLDING, by the drives' activity.
            scale: N, end of scale beyond which a reading is not judged here.
        """
        leg = _beyond_kernel(fresh, force, self._force, scale)
        if leg < 0:
            return None
        found = Finding(code, leg + 1, float(force[leg]), float(self._force[leg]))
        return Trip(Cause(found, t), StopSeverity.QUICK_STOP, no_recheck)

    def check_drive(self, t: float, leg: int) -> Trip | None:
        """Judge the own quantities of the drive of `leg` (index); t: s, rig time."""
        found = self._wrong(leg)
        if not found:
            return None
        return Trip(Cause(found[0], t), StopSeverity.CATEGORY_1, partial(self._still_wrong, leg, found[0].code))

    def _still_wrong(self, leg: int, code: Code) -> Finding | None:
        return next((found for found in self._wrong(leg) if found.code is code), None)

    def _wrong(self, leg: int) -> list[Finding]:
        found: list[Finding] = []
        auxiliary = self._auxiliary(leg)
        temperature, supply = auxiliary.get("temperature"), auxiliary.get("supply")
        if temperature is not None and self._temperature < math.inf and not temperature <= self._temperature:
            found.append(Finding(Code.TEMPERATURE, leg + 1, temperature, self._temperature))
        low, high = self._supply
        if supply is not None and (low, high) != (-math.inf, math.inf) and not low <= supply <= high:
            found.append(Finding(Code.SUPPLY_VOLTAGE, leg + 1, supply, details={"low": low, "high": high}))
        return found
