"""The check that a motion may come to a stand wherever it is: what the legs would have to bear on the way to it."""

import math

import numpy as np

from dynamics import Dynamics, LegLimits, Mechanism
from kinematics import MotionTable, in_words_with_bound, leg_kinematics

_LOOK = 0.05  # s between two places looked at
_PEAK = 1.5  # of the change of the rate by its duration, where a cubic smooth step is steepest
_RATES = (1.0, 0.5)  # with which that is looked at: where it begins, and where it is


def check_slowing(mechanism: Mechanism, table: MotionTable, duration: float) -> str:
    """What stands against slowing `table` down within `duration` s wherever it is; empty where nothing does.

    The path's rate goes from 1 to 0 by a cubic smooth step: s̈ is at most 1.5/duration, at half of the rate. Each place
    is looked at with both, and with that and the full rate at once, which is more than ever comes together where the
    motion slows down by itself as well. The table itself is one that passed its check: a path at a lower rate is
    slower, and elsewhere nowhere.

    Args:
        mechanism: gives the legs' limits of acceleration and force; what is not limited is not checked.
        table: the motion.
        duration: s.
    """
    times = np.linspace(0.0, table.duration, max(2, math.ceil(table.duration / _LOOK) + 1))
    motion = np.concatenate([table.motion(times, rate, -_PEAK / duration) for rate in _RATES])
    limits = [leg.limits or LegLimits() for leg in mechanism.legs]
    for name, unit, values, bounds in (
        (
            "acceleration",
            "m/s^2",
            leg_kinematics(mechanism.geometry, motion).acceleration,
            [one.acceleration for one in limits],
        ),
        ("force", "N", Dynamics(mechanism).inverse(motion).forces, [one.force for one in limits]),
    ):
        most = np.array([math.inf if bound is None else bound for bound in bounds])
        excess = np.abs(values) - most
        row, leg = np.unravel_index(int(np.argmax(excess)), excess.shape)
        if not excess[row, leg] <= 0.0:
            value, bound = in_words_with_bound(float(abs(values[row, leg])), float(most[leg]), unit)
            where = f"slowed down to a stand in {duration:g} s from {times[row % len(times)]:.4g} s on"
            return f"{where}: {name} of leg {leg + 1}: {value}, must be at most {bound}"
    return ""
