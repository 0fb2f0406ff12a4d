"""Checks of the arguments of the dynamics functions: motions, states, wrenches."""

import numpy as np
import numpy.typing as npt

from dynamics.errors import DynamicsError
from kinematics import MOTION_FIELDS, Array, KinematicsError, finite_array

WRENCH_FIELDS = ("fx", "fy", "fz", "mx", "my", "mz")
UNIT_TOLERANCE = 1e-6  # of a quaternion's norm


def checked(name: str, value: npt.ArrayLike, size: int, fields: tuple[str, ...] = ()) -> Array:
    """Return a copy of `value` as contiguous finite float64, (size,) or (n, size); raise DynamicsError otherwise.

    Without `fields`, `value` is the first `size` numbers of a motion, and its quaternions must have unit norm.
    """
    try:
        array = finite_array(name, value, size, fields or MOTION_FIELDS[:size])
    except KinematicsError as error:
        raise DynamicsError(str(error)) from None
    if not fields:
        norms = np.atleast_1d(np.linalg.norm(array[..., 3:7], axis=-1))
        worst = int(np.argmax(np.abs(norms - 1.0))) if len(norms) else 0
        if len(norms) and abs(norms[worst] - 1.0) > UNIT_TOLERANCE:
            raise DynamicsError(
                f"{name}, sample {worst}: quaternion norm {norms[worst]:.9g}, must be 1 within {UNIT_TOLERANCE:g}"
            )
    return array


def batch(motions: npt.ArrayLike, wrenches: npt.ArrayLike | None) -> tuple[Array, Array]:
    """Return motions (n, 19) and wrenches (n, 6) from motions (n, 19) or (19,) and wrenches (n, 6), (6,) or None."""
    samples = np.atleast_2d(checked("motions", motions, 19))
    loads = np.zeros(6) if wrenches is None else checked("wrenches", wrenches, 6, WRENCH_FIELDS)
    if loads.ndim == 2 and len(loads) != len(samples):
        raise DynamicsError(f"wrenches: {len(loads)} samples, must be as many as motions, {len(samples)}")
    # copied: read-only wrenches would make numba compile the kernels again
    return samples, np.array(np.broadcast_to(loads, (len(samples), 6)), order="C")
