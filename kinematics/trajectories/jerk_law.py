"""The law of a rest-to-rest move with the least mean square jerk, without the trajectory that it moves along."""

from typing import TypeVar

from kinematics.arrays import Array
from kinematics.compiled import kernel

PEAK_SPEED = 15.0 / 8.0
"""Greatest speed of a minimum-jerk move, over its length divided by its duration."""
PEAK_ACCELERATION = 10.0 / 3.0**0.5
"""Greatest acceleration of one, over its length divided by its duration squared."""

Part = TypeVar("Part", float, Array)


def minimum_jerk(u: Part) -> tuple[Part, Part, Part]:
    """How far a minimum-jerk move of length 1 and duration 1 is at u, 0 to 1, and its two derivatives (each as u).

    s = 10u³ − 15u⁴ + 6u⁵ (Flash & Hogan 1985). u may be a number or an array.
    """
    return (
        u * u * u * (10.0 + u * (-15.0 + 6.0 * u)),
        30.0 * u * u * (1.0 - u) * (1.0 - u),
        60.0 * u * (1.0 - u) * (1.0 - 2.0 * u),
    )


minimum_jerk_kernel = kernel(minimum_jerk)
"""The same for kernels."""
