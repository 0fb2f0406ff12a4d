"""Joint geometry of a 6-UPS platform."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kinematics.arrays import LEGS, MOTION_FIELDS, Array, checked_poses, finite_array
from kinematics.errors import KinematicsError
from kinematics.rotations import quaternion_to_matrix

_MINIMUM_AXIS = 1e-9
_MINIMUM_DISTANCE = 1e-6  # m; closer joints are taken as one joint entered twice


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Geometry:
    """Joint positions of a 6-UPS platform: one row per leg, read-only arrays, compared by identity.

    base_points (6, 3): centres of the universal joints, base frame, m (b).
    universal_axes (6, 3): each universal joint's axis fixed in the base, base frame; normalised here (u).
    platform_points (6, 3): centres of the spherical joints, platform frame, m (p).
    home: (7,) pose [x y z qw qx qy qz] of the platform in the base, or (3,) its position with level orientation; None
        for no home.
    array (6, 9): the rows [b u p], as the kernels take them.

    Raises KinematicsError for a wrong shape, a number that is not finite, an axis of zero length, two joints of the
    base or of the platform at one point.
    """

    base_points: Array
    universal_axes: Array
    platform_points: Array
    home: Array | None = None
    array: Array = field(init=False, repr=False)

    def __init__(
        self,
        base_points: npt.ArrayLike,
        universal_axes: npt.ArrayLike,
        platform_points: npt.ArrayLike,
        home: npt.ArrayLike | None = None,
    ) -> None:
        base = _rows("base points", base_points)
        axes = _rows("universal axes", universal_axes)
        platform = _rows("platform points", platform_points)
        _check_distinct("base points", base)
        _check_distinct("platform points", platform)
        axes = _normalised(axes)
        packed = np.hstack([base, axes, platform])
        values = {
            "base_points": base,
            "universal_axes": axes,
            "platform_points": platform,
            "home": None if home is None else _home_pose(home),
            "array": packed,
        }
        for name, value in values.items():
            if value is not None:
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[type["Geometry"], tuple[Array, Array, Array, Array | None]]:
        return Geometry, (self.base_points, self.universal_axes, self.platform_points, self.home)

    @property
    def home_pose(self) -> Array:
        """The home pose (7,); KinematicsError if this geometry has none."""
        if self.home is None:
            raise KinematicsError("the geometry has no home pose; give it one [x y z qw qx qy qz]")
        return self.home

    @property
    def home_lengths(self) -> Array:
        """Lengths of the legs (6,) at home, m; KinematicsError if there is no home.

        Computed without kernels: reading a file or opening a window need not wait for the compiler.
        """
        joints = self.platform_joints(self.home_pose)
        lengths: Array = np.linalg.norm(joints - self.base_points, axis=1)
        return lengths

    @property
    def platform_radius(self) -> float:
        """RMS distance of the spherical joints from their centroid, m: the default characteristic length of H."""
        points = self.platform_points
        return float(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean() ** 0.5)

    def platform_joints(self, pose: Array) -> Array:
        """Centres of the spherical joints (6, 3), base frame, m, at a pose (7,)."""
        joints: Array = pose[:3] + self.platform_points @ quaternion_to_matrix(pose[3:]).T
        return joints


def _rows(name: str, value: npt.ArrayLike) -> Array:
    try:
        shape = np.shape(value)
    except ValueError as error:
        raise KinematicsError(f"{name}: not a regular array of numbers ({error})") from None
    if shape != (LEGS, 3):
        raise KinematicsError(f"{name}: shape {shape}, must be (6, 3), one row per leg")
    flat = [f"leg {leg + 1} {axis}" for leg in range(LEGS) for axis in "xyz"]
    return finite_array(name, np.reshape(np.asarray(value), 3 * LEGS), 3 * LEGS, tuple(flat)).reshape(LEGS, 3)


def _normalised(axes: Array) -> Array:
    norms = np.linalg.norm(axes, axis=1)
    for leg, norm in enumerate(norms, start=1):
        if not norm > _MINIMUM_AXIS:
            raise KinematicsError(f"universal axis of leg {leg}: length {norm:.3g}, must be above {_MINIMUM_AXIS:g}")
    norms[np.abs(norms - 1.0) < 1e-15] = 1.0  # so that a copy made from these arrays is identical to the bit
    normalised: Array = axes / norms[:, None]
    return normalised


def _check_distinct(name: str, points: Array) -> None:
    for first in range(LEGS):
        for second in range(first + 1, LEGS):
            distance = float(np.linalg.norm(points[first] - points[second]))
            if distance < _MINIMUM_DISTANCE:
                raise KinematicsError(
                    f"{name}: legs {first + 1} and {second + 1} are {distance:.3g} m apart at "
                    f"{points[first].tolist()} m, must be at least {_MINIMUM_DISTANCE:g} m"
                )


def _home_pose(home: npt.ArrayLike) -> Array:
    if np.shape(home) == (3,):
        position = finite_array("home", home, 3, MOTION_FIELDS)
        return np.concatenate([position, [1.0, 0.0, 0.0, 0.0]])
    if np.shape(home) != (7,):
        raise KinematicsError(f"home: shape {np.shape(home)}, must be (7,), or (3,) for a level platform's position")
    pose = checked_poses("home", home)
    pose[3:] /= np.linalg.norm(pose[3:])
    return pose
