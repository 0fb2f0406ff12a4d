"""Array types of the package, the layout of a motion, and checks of arguments."""

import math

import numpy as np
import numpy.typing as npt

from kinematics.errors import KinematicsError

Array = npt.NDArray[np.float64]

LEGS = 6
MOTION_FIELDS = (
    "x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz", "ax", "ay", "az", "alx", "aly", "alz",
)  # fmt: skip
POSE = slice(0, 7)
TWIST = slice(7, 13)
ACCELERATION = slice(13, 19)

_UNIT_QUATERNION_TOLERANCE = 1e-6


def finite_array(name: str, value: npt.ArrayLike, width: int, fields: tuple[str, ...] = ()) -> Array:
    """Return a copy of `value` as a contiguous float64 array (width,) or (n, width), all numbers finite.

    Raises KinematicsError with `name`, and the shape or the place (by `fields`) of the first number that is not finite.
    """
    try:
        raw = np.asarray(value)
    except ValueError as error:
        raise KinematicsError(f"{name}: not a regular array of numbers ({error})") from None
    if raw.dtype.kind not in "fiu":
        raise KinematicsError(f"{name}: holds {raw.dtype} values, must be real numbers")
    if raw.ndim not in (1, 2) or raw.shape[-1] != width:
        raise KinematicsError(f"{name}: shape {raw.shape}, must be ({width},) or (n, {width})")
    array = np.array(raw, dtype=np.float64, order="C")
    finite = np.isfinite(array)
    if not finite.all():
        *sample, column = (int(index) for index in np.argwhere(~finite)[0])
        place = fields[column] if fields else f"leg {column + 1}"
        where = f"sample {sample[0]}, {place}" if sample else place
        raise KinematicsError(f"{name}: {where} is {array[(*sample, column)]}, must be finite")
    return array


def checked_poses(name: str, value: npt.ArrayLike, width: int = 7) -> Array:
    """Return a copy of poses (7,) or (n, 7), or of motions if `width` is 19: finite, with unit quaternions.

    Raises KinematicsError for a wrong shape, a number that is not finite or a quaternion not of unit norm.
    """
    array = finite_array(name, value, width, MOTION_FIELDS)
    if array.ndim == 1 and abs(math.hypot(*array[3:7].tolist()) - 1.0) <= _UNIT_QUATERNION_TOLERANCE:
        return array
    norms = np.atleast_1d(np.linalg.norm(array[..., 3:7], axis=-1))
    bad = np.abs(norms - 1.0) > _UNIT_QUATERNION_TOLERANCE
    if bad.any():
        index = int(np.argmax(bad))
        where = f"{name}, sample {index}" if array.ndim == 2 else name
        raise KinematicsError(
            f"{where}: quaternion norm {norms[index]:.9g}, must be 1 within {_UNIT_QUATERNION_TOLERANCE:g}"
        )
    return array


def single(name: str, array: Array) -> Array:
    """Return `array` if it is one sample; raise KinematicsError if it is a batch."""
    if array.ndim != 1:
        raise KinematicsError(f"{name}: shape {array.shape}, must be ({array.shape[-1]},)")
    return array
