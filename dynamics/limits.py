"""The limits that a mechanism's file sets to its poses."""

import math
from typing import Any

from dynamics.mechanism import LegLimits, Mechanism
from kinematics import PoseLimits


def pose_limits(mechanism: Mechanism, **options: Any) -> PoseLimits:
    """Stroke and joint angles of the six legs as their limits say; what a leg does not limit stays free.

    options: the other arguments of `PoseLimits` (clearance, leg_radius, condition, characteristic_length, same_side).
    same_side is False where the mechanism has no home, unless given.
    Raises KinematicsError for a limit that cannot be.
    """
    legs = [leg.limits or LegLimits() for leg in mechanism.legs]
    options.setdefault("same_side", mechanism.geometry.home is not None)
    return PoseLimits(
        [leg.length or (0.0, math.inf) for leg in legs],
        [math.pi if leg.universal_angle is None else leg.universal_angle for leg in legs],
        [math.pi if leg.spherical_angle is None else leg.spherical_angle for leg in legs],
        **options,
    )
