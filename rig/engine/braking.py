"""Braking from the last valid reference when the next one fails its check."""

import numpy as np

from kinematics import (
    Array,
    MotionTable,
    condition_number_kernel,
    inverse_kinematics_kernel,
    kernel,
    motion_to_coordinates,
    table_motion_kernel,
)
from rig.config import RigConfig
from rig.engine.reference import Reference, ReferenceSource
from rig.safety import Cause, ReferenceCheck, check_kernel

_SAMPLES = 20
_DURATIONS = (0.05, 0.1, 0.2, 0.4, 0.8)  # of `safety.stop_time`; the shortest that keeps to the limits is taken
_OK = 0
_NAME = "coming to rest"


@kernel
def _passes_kernel(
    samples: Array, step: float, geometry: Array, limits: Array, length: float, bound: float, motion: Array,
    legs: Array, work: Array,
) -> bool:  # fmt: skip
    """Whether a table of one interval keeps to the legs' limits (6, 4) and to the condition number `bound`.

    work: (6, 6).
    """
    for row in range(_SAMPLES + 1):
        if table_motion_kernel(samples, step, step * row / _SAMPLES, 1.0, 0.0, motion) != 0:
            return False
        inverse_kinematics_kernel(geometry, motion, legs)
        condition = condition_number_kernel(geometry, motion[:7], length, work)
        if check_kernel(legs, limits, condition, bound)[0] != _OK:
            return False
    return True


class Braking:
    """Keeps the last good reference motion; decelerates from it, or holds its pose where no deceleration passes.

    Args:
        config: the rig.
        limits: bounds of a reference.
    """

    def __init__(self, config: RigConfig, limits: ReferenceCheck) -> None:
        self._geometry = config.machine.geometry.array
        self._limits = limits
        self._length = config.safety.characteristic_length
        self._durations = [part * config.safety.stop_time for part in _DURATIONS]
        self._good = np.zeros(19)
        self._good_legs = np.zeros((6, 13))
        self._source: ReferenceSource | None = None
        self._since = 0.0
        self._known = False
        self._motion = np.zeros(19)
        self._legs = np.zeros((6, 13))
        self._work = np.zeros((6, 6))

    def accept(self, t: float, motion: Array, legs: Array, condition: float, reference: Reference) -> Cause | None:
        """Cause to refuse `reference`, by its legs or as continuation of the last one; or None, and it is stored.

        Args:
            t: s.
            motion, legs: (19,) and (6, 13) of the reference at `t`.
            condition: condition number of its pose.
            reference: gives the source.
        """
        source = reference.source
        cause = self._limits.accept(
            t, motion, legs, condition, self._good, self._good_legs, t - self._since if self._known else -1.0,
            starts=source is not self._source,
        )  # fmt: skip
        if cause is None:
            self._source, self._since, self._known = source, t, True
        return cause

    def forget(self) -> None:
        """Drop the stored motion; no reference is followed."""
        self._known = False

    @staticmethod
    def active(reference: Reference) -> bool:
        """Whether `reference` is such a deceleration."""
        return reference.name == _NAME

    def brake(self, reference: Reference, t: float) -> None:
        """Bring `reference` to rest from the last good motion, from rig time `t` (s) on.

        A reference that fails at its beginning is replaced by rest at its start, where the platform is.
        """
        if not self._known:
            reference.evaluate(0.0, self._motion)
            reference.leave_at(self._motion[:7])
            return
        for duration in self._durations:
            table = _to_rest(self._good, duration)
            limits = self._limits
            if _passes_kernel(
                table.samples, table.step, self._geometry, limits.legs, self._length, limits.condition,
                self._motion, self._legs, self._work,
            ):  # fmt: skip
                reference.leave_for(table, _NAME)
                reference.advance(t - self._since)
                return
        self._good[7:] = 0.0
        self._good_legs[:, 1:3] = 0.0
        reference.leave_at(self._good[:7])


def _to_rest(motion: Array, duration: float) -> MotionTable:
    """From `motion` (19,) to rest in `duration` s, its acceleration falling off smoothly: quartics."""
    coordinates, rates, accelerations = motion_to_coordinates(motion)
    samples = np.zeros((2, 18))
    samples[0] = np.concatenate([coordinates, rates, accelerations])
    samples[1, :6] = coordinates + rates * (duration / 2.0) + accelerations * (duration**2 / 12.0)
    return MotionTable(duration, samples)
