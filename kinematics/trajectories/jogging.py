"""Poses near the current one: a step in a frame about a pivot, or of one leg."""

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from kinematics.arrays import Array, checked_poses, finite_array
from kinematics.assembly import forward_kinematics
from kinematics.errors import KinematicsError
from kinematics.geometry import Geometry
from kinematics.leg import leg_lengths
from kinematics.rotations import (
    quaternion_from_rotation_vector,
    quaternion_multiply,
    quaternion_normalise,
    quaternion_to_matrix,
)

JogFrame = Literal["base", "platform"]

_STEP_FIELDS = ("x", "y", "z", "rx", "ry", "rz")


def stepped_pose(pose: npt.ArrayLike, step: npt.ArrayLike, frame: JogFrame, pivot: npt.ArrayLike) -> Array:
    """Return the pose (7,) after a small step from `pose` (7,), base frame.

    Args:
        pose: current pose of the platform.
        step: (6,) displacement of the pivot, m, and rotation vector about it, rad, both in axes of `frame`.
        frame: "base", or the current "platform" frame.
        pivot: (3,) m, centre of the rotation in platform axes.

    Raises:
        KinematicsError: a number is not finite, or the quaternion not of unit norm.
    """
    here = checked_poses("pose", pose)
    change = finite_array("step", step, 6, _STEP_FIELDS)
    centre = finite_array("pivot", pivot, 3, ("x", "y", "z"))
    turn = quaternion_to_matrix(here[3:])
    shift, rotation = change[:3], change[3:]
    if frame == "platform":
        shift, rotation = turn @ shift, turn @ rotation
    quaternion = quaternion_normalise(quaternion_multiply(quaternion_from_rotation_vector(rotation), here[3:]))
    place = here[:3] + turn @ centre + shift
    return np.concatenate([place - quaternion_to_matrix(quaternion) @ centre, quaternion])


def leg_stepped_pose(geometry: Geometry, pose: npt.ArrayLike, leg: int, step: float) -> Array:
    """Return the pose (7,) with leg 1…6 longer by `step` m than at `pose` (7,) and the other lengths unchanged.

    Raises:
        KinematicsError: no such leg, a number that is not finite, or no such pose near this one.
    """
    if not 1 <= leg <= 6:
        raise KinematicsError(f"leg: {leg}, must be 1 to 6")
    if not math.isfinite(step):
        raise KinematicsError(f"step of leg {leg}: {step}, must be finite")
    lengths = leg_lengths(geometry, pose)
    lengths[leg - 1] += step
    return forward_kinematics(geometry, lengths, pose)
