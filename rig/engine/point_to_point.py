"""Point-to-point moves of the rig: to a motion's start, and home to park."""

import numpy as np

from dynamics import LegLimits
from kinematics import Array, KinematicsError, MotionTable, leg_kinematics
from rig.config import RigConfig
from rig.engine.devices import command_waits
from rig.engine.reference import straight_move

_SAMPLES = 200
_PART = 0.98  # of the legs' limits: a peak may lie between two samples
_WAIT_PART = 0.5  # of `safety.following_error`, as travel between two commands: the drive's own lag takes the rest


def approach_move(config: RigConfig, start: Array, end: Array) -> MotionTable:
    """The straight move from pose to pose (7,) with minimum jerk, at rest at both ends.

    Its speed is that of [motion], or lower where a leg would exceed its limits of speed or acceleration, or travel more
    than half of `safety.following_error` while its drive waits for the next length. The path is not checked here: it
    may leave a stroke, or pass a singularity.
    """
    motion = config.motion
    table = straight_move(start, end, motion.approach_speed, motion.approach_rotation)
    try:
        legs = leg_kinematics(config.machine.geometry, table.motion(np.linspace(0.0, table.duration, _SAMPLES)))
    except KinematicsError:  # a pose on the way cannot be evaluated, as the check is going to say
        return table
    limits = [leg.limits or LegLimits() for leg in config.machine.legs]
    bound, waits = config.safety.bound("following_error"), command_waits(config)
    waited = np.divide(_WAIT_PART * bound, waits, out=np.full(waits.shape, np.inf), where=waits > 0.0)
    speed = np.minimum([limit.velocity or np.inf for limit in limits], waited / _PART)
    acceleration = np.array([limit.acceleration or np.inf for limit in limits])
    slowness = max(
        1.0,
        float((np.abs(legs.velocity) / speed).max()) / _PART,
        float((np.abs(legs.acceleration) / acceleration).max() / _PART) ** 0.5,
    )
    return MotionTable(table.step * slowness, table.samples)
