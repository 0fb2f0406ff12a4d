"""Poses of a platform along a path of its legs' lengths: thousands of rows, without the checks of each."""

import numpy as np

from kinematics import CONVERGED, FORWARD_WORK, Array, Geometry, forward_kinematics_kernel


def followed_poses(geometry: Geometry, lengths: Array, start: Array) -> Array:
    """Poses (n, 7) at lengths (n, 6), each row from the one before, the first from `start` (7,)."""
    poses, work = np.empty((len(lengths), 7)), np.empty(FORWARD_WORK)
    pose = np.array(start, dtype=np.float64)
    for row, reading in enumerate(lengths):
        status, *_ = forward_kinematics_kernel(geometry.array, reading, pose, 1e-13, 100, work)
        assert status == CONVERGED
        poses[row] = pose
    return poses
