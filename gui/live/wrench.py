"""The external wrench that the residuals imply."""

import numpy as np

from dynamics import wrench_from_residual
from gui.session import Floats, Rows
from kinematics import Geometry

AXES = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")


def implied_wrench(geometry: Geometry, poses: Floats, residuals: Floats) -> Floats:
    """External wrench on the platform that explains the residuals if the model is right in everything else.

    See `dynamics.wrench_from_residual`.

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
    if known.any():
        matrices = wrench_from_residual(geometry, poses[known])
        wrench[known] = np.einsum("nij,nj->ni", matrices, residuals[known])
    return wrench


def wrench_of(geometry: Geometry, rows: Rows) -> Floats:
    """`implied_wrench` of telemetry rows (n,) at their measured poses, (n, 6)."""
    return implied_wrench(geometry, rows["pose"], rows["force_residual"])
