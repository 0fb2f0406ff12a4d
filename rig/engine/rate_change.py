"""How fast a path may be slowed down and taken up again: no leg may be accelerated beyond its limit by that."""

from collections.abc import Callable, Sequence
from math import inf

import numpy as np

from kinematics import Array, MotionTable, inverse_kinematics_kernel, kernel, table_motion_kernel

RAMPS = (0.4, 0.8, 1.6, 3.2)
"""s, of the path rate, to pause and to go on; the first that the legs bear."""
_SAMPLES = 20
_ROUNDING = 1e-9  # relative: a motion checked to the bound itself passes


@kernel
def _excess_kernel(
    samples: Array, step: float, laws: Array, geometry: Array, limits: Array, motion: Array, legs: Array
) -> float:
    """Largest leg acceleration beyond its limit, m/s², on a table followed by `laws` (n, 3): s, ṡ, s̈."""
    worst = -inf
    for row in range(laws.shape[0]):
        if table_motion_kernel(samples, step, laws[row, 0], laws[row, 1], laws[row, 2], motion) != 0:
            break  # past its end it rests
        inverse_kinematics_kernel(geometry, motion, legs)
        for leg in range(6):
            worst = max(worst, abs(legs[leg, 2]) - limits[leg])
    return worst


class RateChange:
    """Finds the time in which a reference may come to another path rate.

    Only accelerations are looked at: at a lower rate a checked path is slower too.

    Args:
        geometry: (6, 9) of the platform.
        acceleration: (6,) limits of the legs, m/s².
    """

    def __init__(self, geometry: Array, acceleration: Array) -> None:
        self._geometry = geometry
        self._limits = acceleration * (1.0 + _ROUNDING)
        self._laws = np.zeros((_SAMPLES + 1, 3))
        self._motion = np.zeros(19)
        self._legs = np.zeros((6, 13))

    def duration(
        self, table: MotionTable, law: Callable[[float, float], tuple[float, float, float]], durations: Sequence[float]
    ) -> float:
        """First of the rising `durations` (s) in which the rate may change; the last where none keeps to the limits.

        Args:
            table: followed meanwhile.
            law: path time, rate and acceleration of a change in so many s, so many s from now.
            durations: to be tried.
        """
        for duration in durations:
            for row in range(_SAMPLES + 1):
                self._laws[row] = law(duration, row * duration / _SAMPLES)
            excess = _excess_kernel(
                table.samples, table.step, self._laws, self._geometry, self._limits, self._motion, self._legs
            )
            if excess <= 0.0:
                break
        return duration
