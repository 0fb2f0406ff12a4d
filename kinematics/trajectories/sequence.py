"""Trajectories one after the other."""

from collections import abc

import numpy as np

from kinematics.arrays import Array
from kinematics.errors import TrajectoryError
from kinematics.inputs import in_words
from kinematics.trajectories.base import COORDINATE_UNITS, COORDINATES, Placement, Trajectory

POSITION_TOLERANCE = 1e-9  # m, rad
SPEED_TOLERANCE = 1e-6  # m/s, rad/s
_ACCELERATION_STEP = 1e-6  # m/s², rad/s²; a smaller one is rounding


class Sequence(Trajectory):
    """`parts` one after the other; the sequence's own placement, the pivot and frame, holds for all their coordinates.

    Coordinates and speeds must meet where parts do, to 1e-9 m or rad and 1e-6 m/s or rad/s; a jump of the acceleration
    there becomes a breakpoint.  Raises TrajectoryError listing every joint that does not fit (parts counted from 1).
    """

    def __init__(self, parts: abc.Sequence[Trajectory], *, placement: Placement | None = None) -> None:
        if not parts:
            raise TrajectoryError("parts: none given, must be at least one")
        self._parts = tuple(parts)
        self._starts = np.concatenate([[0.0], np.cumsum([part.duration for part in self._parts])])
        breakpoints, faults = list(self._parts[0].breakpoints), []
        for number in range(1, len(self._parts)):
            before, after = self._parts[number - 1], self._parts[number]
            faults += joint_faults(number, before, after)
            jump = after.coordinates(0.0)[2] - before.coordinates(before.duration)[2]
            start = float(self._starts[number])
            if np.abs(jump).max() > _ACCELERATION_STEP:
                breakpoints.append(start)
            breakpoints += [start + time for time in after.breakpoints]
        if faults:
            raise TrajectoryError(
                'parts do not join (one of type "transition" between them would lead from one to the other):\n'
                + "\n".join(f"  {fault}" for fault in faults)
            )
        super().__init__(float(self._starts[-1]), placement, tuple(breakpoints))

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        indices = np.clip(np.searchsorted(self._starts, t, side="right") - 1, 0, len(self._parts) - 1)
        q, qd, qdd = np.empty((len(t), 6)), np.empty((len(t), 6)), np.empty((len(t), 6))
        for index in np.unique(indices):
            part, rows = self._parts[index], indices == index
            local = np.clip(t[rows] - self._starts[index], 0.0, part.duration)
            q[rows], qd[rows], qdd[rows] = part.coordinates(local)
        return q, qd, qdd


def joint_faults(number: int, before: Trajectory, after: Trajectory) -> list[str]:
    """What differs between the end of part `number`, `before`, and the beginning of `after`; nothing if they join."""
    left, right = before.coordinates(before.duration), after.coordinates(0.0)
    return [
        *_differences(number, "", left[0][0], right[0][0], POSITION_TOLERANCE),
        *_differences(number, "/s", left[1][0], right[1][0], SPEED_TOLERANCE),
    ]


def _differences(number: int, per: str, left: Array, right: Array, allowed: float) -> list[str]:
    """What differs between the end of part `number`, `left` (6,), and the beginning of the next, `right` (6,)."""
    verb = "moves at" if per else "is"
    faults = []
    for name, unit, before, after in zip(COORDINATES, COORDINATE_UNITS, left, right, strict=True):
        if abs(after - before) > allowed:
            end, start = (in_words(value if abs(value) > allowed else 0.0, unit + per) for value in (before, after))
            apart = "" if end != start else f" ({in_words(abs(after - before), unit + per)} apart)"
            faults.append(
                f"{name} {verb} {end} at the end of part {number}, but {start} where part {number + 1} begins{apart}"
            )
    return faults
