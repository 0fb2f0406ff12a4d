"""Point-to-point moves: to a motion's start, home to park, and those that a user asks for."""

import math

import numpy as np

from dynamics import LegLimits
from kinematics import Array, KinematicsError, MotionTable, leg_kinematics
from rig.config import RigConfig
from rig.engine.reference import straight_move

_SAMPLES = 200
_PART = 0.98  # of the legs' limits: a peak may lie between two samples
_WAIT_PART = 0.5  # of `safety.following_error`, as travel between two commands: the drive's own lag takes the rest


def approach_move(
    config: RigConfig, start: Array, end: Array, speed: float | None = None, rotation_speed: float | None = None
) -> MotionTable:
    """The straight move from pose to pose (7,) with minimum jerk, at rest at both ends.

    Its speed is that of [motion], or lower where a leg would exceed its limits of speed or acceleration, or travel more
    than half of `safety.following_error` while its drive waits for the next length. The path is not checked here: it
    may leave a stroke, or pass a singularity.

    speed, rotation_speed: peak speeds in place of those of [motion], m/s and rad/s. A move that is as fast as the given
    one asks for is not slowed: the check refuses it with its bound.
    """
    motion = config.motion
    table = straight_move(
        start,
        end,
        motion.approach_speed if speed is None else speed,
        motion.approach_rotation if rotation_speed is None else rotation_speed,
    )
    if (speed, rotation_speed) != (None, None):
        given = straight_move(start, end, speed or math.inf, rotation_speed or math.inf)
        if given.step >= table.step:
            return table
    try:
        legs = leg_kinematics(config.machine.geometry, table.motion(np.linspace(0.0, table.duration, _SAMPLES)))
    except KinematicsError:  # a pose on the way cannot be evaluated, as the check is going to say
        return table
    limits = [leg.limits or LegLimits() for leg in config.machine.legs]
    fastest = np.minimum([limit.velocity or np.inf for limit in limits], _waited_speeds(config) / _PART)
    acceleration = np.array([limit.acceleration or np.inf for limit in limits])
    slowness = max(
        1.0,
        float((np.abs(legs.velocity) / fastest).max()) / _PART,
        float((np.abs(legs.acceleration) / acceleration).max() / _PART) ** 0.5,
    )
    return MotionTable(table.step * slowness, table.samples)


def move_speeds(config: RigConfig) -> tuple[float, float]:
    """Peak speeds of a move, m/s and rad/s, by default: those of [motion], or lower by the drives that wait.

    A leg is at most as fast as its joint on the platform: v + ω r. Alone, each of the two keeps the bound of
    `approach_move` for every direction.
    """
    slowest = float(_waited_speeds(config).min())
    reach = float(np.linalg.norm(config.machine.geometry.platform_points, axis=1).max())
    return min(config.motion.approach_speed, slowest), min(config.motion.approach_rotation, slowest / reach)


def _waited_speeds(config: RigConfig) -> Array:
    """Speeds (6,), m/s, at which legs travel as far as they may while their drives wait; infinite without a wait."""
    bound, waits = config.safety.bound("following_error"), config.command_waits
    speeds: Array = np.divide(_WAIT_PART * bound, waits, out=np.full(waits.shape, np.inf), where=waits > 0.0)
    return speeds
