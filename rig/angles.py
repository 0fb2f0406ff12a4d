"""The platform's angles for plots and displays; `kinematics` has those for computation."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def shown_angle(quaternion: Floats, axis: int) -> Floats:
    """Return θx, θy or θz by `axis` 0 to 2, rad (…), of R = Rz(θz)·Ry(θy)·Rx(θx), for unit quaternions (…,4), w first.

    Raises nothing: at θy = ±90°, where θx and θz share an axis, it returns the formula's value.
    """
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    if axis == 0:
        return np.asarray(np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)))
    if axis == 1:
        return np.asarray(np.arcsin(np.clip(2 * (w * y - z * x), -1, 1)))
    return np.asarray(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def rotation_vector(reference: Floats, measured: Floats) -> Floats:
    """Return the small rotation (n,3), rad, from reference to measured quaternions (n,4), w first, in platform axes."""
    scalar = np.sum(reference * measured, axis=1, keepdims=True)
    vector = (
        reference[:, :1] * measured[:, 1:]
        - measured[:, :1] * reference[:, 1:]
        - np.cross(reference[:, 1:], measured[:, 1:])
    )
    sine = np.linalg.norm(vector, axis=1, keepdims=True)
    angle = 2 * np.arctan2(sine, np.abs(scalar))
    rotation: Floats = np.sign(scalar) * vector * np.divide(angle, sine, out=np.full_like(sine, 2.0), where=sine > 0)
    return rotation
