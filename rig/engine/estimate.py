"""The measured pose and twist of the platform, from six leg lengths and speeds."""

import numpy as np

from kinematics import (
    CONVERGED,
    FORWARD_WORK,
    Array,
    Geometry,
    forward_kinematics_kernel,
    kernel,
    leg_rows_kernel,
    solve_kernel,
)

_TOLERANCE = 1e-9  # m, far below what a drive resolves
_ITERATIONS = 8


@kernel
def _twist_kernel(geometry: Array, pose: Array, velocity: Array, rows: Array, twist: Array) -> bool:
    """Twist (6,) whose leg speeds at `pose` are `velocity` (6,): Hᵀ [v; ω] = L̇. False at a singular pose."""
    leg_rows_kernel(geometry, pose, rows)
    for i in range(6):
        rows[i, 6] = velocity[i]
    if solve_kernel(rows) == 0.0:
        return False
    for i in range(6):
        twist[i] = rows[i, 6]
    return True


@kernel
def estimate_kernel(
    geometry: Array, length: Array, velocity: Array, pose: Array, twist: Array, work: Array, rows: Array
) -> bool:
    """Move `pose` (7,) on to the leg `length` (6,), m, and fill `twist` (6,) from `velocity` (6,), m/s.

    geometry (6, 9), work (FORWARD_WORK,), rows (6, 7). False when the lengths have no pose near, or a singular one.
    """
    status, _, _, _ = forward_kinematics_kernel(geometry, length, pose, _TOLERANCE, _ITERATIONS, work)
    return status == CONVERGED and _twist_kernel(geometry, pose, velocity, rows, twist)


class PoseEstimator:
    """Forward kinematics of each cycle, from the pose of the cycle before.

    Args:
        geometry: of the platform; must have a home pose.
    """

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry.array
        self._home = geometry.home_pose
        self._pose = self._home.copy()
        self._work = np.zeros(FORWARD_WORK)
        self._rows = np.zeros((6, 7))

    def forget(self) -> None:
        """Begin anew from the home pose."""
        self._pose[:] = self._home

    def update(self, length: Array, velocity: Array, pose: Array, twist: Array) -> bool:
        """Fill `pose` (7,) and `twist` (6,), base frame, from leg `length` m and `velocity` m/s (6,).

        False, with both left alone, when the lengths have no pose near the one before.
        """
        if not estimate_kernel(self._geometry, length, velocity, self._pose, twist, self._work, self._rows):
            return False
        pose[:] = self._pose
        return True
