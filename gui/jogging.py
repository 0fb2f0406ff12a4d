"""Poses near the present one: a step in a frame about a pivot, or of one leg."""

from typing import Literal

import numpy as np

from kinematics import (
    Array,
    Geometry,
    forward_kinematics,
    leg_lengths,
    quaternion_from_rotation_vector,
    quaternion_multiply,
    quaternion_normalise,
    quaternion_to_matrix,
)

JogFrame = Literal["base", "platform"]


def stepped_pose(pose: Array, step: Array, frame: JogFrame, pivot: Array) -> Array:
    """The pose (7,) after a small step from `pose` (7,), base frame.

    Args:
        pose: where the platform is.
        step: (6,) displacement of the pivot, m, and rotation vector about it, rad, both in axes of `frame`.
        frame: "base", or "platform" as it stands now.
        pivot: (3,) m, point of the platform in platform axes that the rotation leaves where it is.
    """
    turn = quaternion_to_matrix(pose[3:])
    shift, rotation = np.asarray(step[:3], float), np.asarray(step[3:], float)
    if frame == "platform":
        shift, rotation = turn @ shift, turn @ rotation
    quaternion = quaternion_normalise(quaternion_multiply(quaternion_from_rotation_vector(rotation), pose[3:]))
    place = pose[:3] + turn @ pivot + shift
    return np.concatenate([place - quaternion_to_matrix(quaternion) @ pivot, quaternion])


def leg_stepped_pose(geometry: Geometry, pose: Array, leg: int, step: float) -> Array:
    """The pose (7,) with leg 1…6 longer by `step` m than at `pose` (7,) and all others as they are.

    Raises KinematicsError when there is no such pose near this one.
    """
    lengths = leg_lengths(geometry, pose)
    lengths[leg - 1] += step
    return forward_kinematics(geometry, lengths, pose)
