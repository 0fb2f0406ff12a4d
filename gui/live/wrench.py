"""The external wrench that the residuals imply."""

import numpy as np

from gui.session import Floats, Rows
from kinematics import Geometry, quaternion_to_matrix

AXES = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")


def implied_wrench(geometry: Geometry, poses: Floats, residuals: Floats) -> Floats:
    """External wrench on the platform that explains the residuals if the model is right in everything else.

    A wrench w in base axes changes the leg forces by −H⁻¹ w; six legs determine it, so the least-squares answer is
    exact: w = −H r, rotated into the platform's axes.

    Args:
        geometry: of the mechanism.
        poses: (n, 7) of the platform.
        residuals: (n, 6) N, measured minus model.

    Returns:
        (n, 6) [force N; moment N m] at the platform origin, platform axes; not a number where the pose or a residual
        is none.
    """
    wrench = np.full((len(poses), 6), np.nan)
    known = np.isfinite(poses).all(axis=1) & np.isfinite(residuals).all(axis=1)
    known &= np.abs(np.linalg.norm(poses[:, 3:], axis=1) - 1.0) < 1e-6
    rotation = quaternion_to_matrix(poses[known, 3:])
    from_base = poses[known, None, :3] - geometry.base_points
    legs = geometry.platform_points + from_base @ rotation  # platform axes, from base joint to platform joint
    pulls = -residuals[known, :, None] * legs / np.linalg.norm(legs, axis=2, keepdims=True)
    wrench[known, :3] = pulls.sum(axis=1)
    wrench[known, 3:] = np.cross(geometry.platform_points, pulls).sum(axis=1)
    return wrench


def wrench_of(geometry: Geometry, rows: Rows) -> Floats:
    """`implied_wrench` of telemetry rows (n,) at their measured poses, (n, 6)."""
    return implied_wrench(geometry, rows["pose"], rows["force_residual"])
