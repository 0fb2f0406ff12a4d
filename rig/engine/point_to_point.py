"""Point-to-point moves: to a motion's start, home to park, and those that a user asks for."""

import math

import numpy as np

from dynamics import LegLimits
from kinematics import Array, KinematicsError, MotionTable, leg_kinematics
from rig.config import RigConfig
from rig.engine.reference import straight_move

_SAMPLES = 200
_PART = 0.98  # of the legs' limits: a peak may lie between two samples
_PART_OF_ERROR = 0.5  # of `safety.following_error`, for each cause: the drive's own lag takes the rest


def approach_move(
    config: RigConfig, start: Array, end: Array, speed: float | None = None, rotation_speed: float | None = None
) -> MotionTable:
    """The straight move from pose to pose (7,) with minimum jerk, at rest at both ends.

    Its speed is that of [motion], or lower where a leg would exceed its limits of speed or acceleration or those of its
    drive's ramp, or depart by more than half of `safety.following_error` while its drive waits for the next length, or
    by that ramp. The path is not checked here: it may leave a stroke, or pass a singularity.

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
    ramps = config.drive_ramps
    fastest = np.minimum([limit.velocity or np.inf for limit in limits], ramps.speed)
    fastest = np.minimum(fastest, _followed_speeds(config) / _PART)
    acceleration = np.minimum([limit.acceleration or np.inf for limit in limits], ramps.acceleration)
    slowness = max(
        1.0,
        float((np.abs(legs.velocity) / fastest).max()) / _PART,
        float((np.abs(legs.acceleration) / acceleration).max() / _PART) ** 0.5,
    )
    return MotionTable(table.step * slowness, table.samples)


def move_speeds(config: RigConfig) -> tuple[float, float]:
    """Peak speeds of a move, m/s and rad/s, by default: those of [motion], or lower by drives that wait or have ramps.

    A leg is at most as fast as its joint on the platform: v + ω r. Alone, each of the two keeps the bound of
    `approach_move` for every direction.
    """
    slowest = float(np.minimum(_followed_speeds(config), _PART * config.drive_ramps.speed).min())
    reach = float(np.linalg.norm(config.machine.geometry.platform_points, axis=1).max())
    return min(config.motion.approach_speed, slowest), min(config.motion.approach_rotation, slowest / reach)


def _followed_speeds(config: RigConfig) -> Array:
    """Speeds (6,), m/s, at which legs depart as far as they may by each cause; infinite without one.

    The causes are the wait of a drive for its next length, w v, and its own ramp, v²/2a.
    """
    bound, waits = _PART_OF_ERROR * config.safety.bound("following_error"), config.command_waits
    waited = np.divide(bound, waits, out=np.full(waits.shape, np.inf), where=waits > 0.0)
    speeds: Array = np.minimum(waited, np.sqrt(2.0 * bound * config.drive_ramps.trailing))
    return speeds
