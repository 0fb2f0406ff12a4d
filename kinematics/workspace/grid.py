"""Regular grids of poses, and the part of a grid that is in the workspace."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from kinematics.arrays import Array, finite_array
from kinematics.errors import KinematicsError
from kinematics.geometry import Geometry
from kinematics.rotations import angles_to_matrix, angles_to_quaternion, pose_to_coordinates

Mask = npt.NDArray[np.bool_]
GridKind = Literal["position", "orientation"]

ROTATION_GROUP = 8.0 * math.pi**2
"""∫ cos θy dθx dθy dθz over all orientations, rad³."""

_MARGIN = 0.05  # of the box


@dataclass(frozen=True, slots=True, eq=False)
class PoseGrid:
    """Poses at the centres of the cells of a box.

    kind: "position" varies x, y, z (m) at the angles `fixed` [θx θy θz] (rad, R = Rz Ry Rx); "orientation" varies the
    angles at the position `fixed` (m). Base frame.
    lower, upper (3,): the box; where they are equal the grid has one value (a slice).
    shape: number of cells along each of the three. Poses are in C order, the last coordinate fastest.
    Raises KinematicsError for an invalid box or shape.
    """

    kind: GridKind
    fixed: Array
    lower: Array
    upper: Array
    shape: tuple[int, int, int]

    def __post_init__(self) -> None:
        """Check the box and the shape."""
        for name in ("fixed", "lower", "upper"):
            values = finite_array(name, getattr(self, name), 3)
            if values.ndim != 1:
                raise KinematicsError(f"{name}: shape {values.shape}, must be (3,)")
            object.__setattr__(self, name, values)
        for name, low, high, cells in zip(self.names, self.lower, self.upper, self.shape, strict=True):
            if high < low or cells < 1:
                raise KinematicsError(f"grid along {name}: {cells} cells from {low:g} to {high:g} are none")
            if high == low and cells > 1:
                raise KinematicsError(f"grid along {name}: a slice has one value there, not {cells}")
        if self.kind == "orientation" and max(-self.lower[1], self.upper[1]) > 0.5 * math.pi:
            raise KinematicsError("grid along ry: θy must stay within ±90°, beyond it orientations repeat")

    @property
    def names(self) -> tuple[str, str, str]:
        """Names of the three coordinates."""
        return ("x", "y", "z") if self.kind == "position" else ("rx", "ry", "rz")

    @property
    def count(self) -> int:
        """Number of poses."""
        return math.prod(self.shape)

    @property
    def steps(self) -> Array:
        """Size of a cell along each coordinate (3,), m or rad; 0 across a slice."""
        return np.asarray((self.upper - self.lower) / self.shape)

    def axis(self, index: int) -> Array:
        """Values of a coordinate at the centres of the cells, m or rad."""
        step = self.steps[index]
        return np.asarray(self.lower[index] + step * (np.arange(self.shape[index]) + 0.5))

    def coordinates(self, first: int = 0, end: int | None = None) -> Array:
        """Coordinates (m, 3) of the poses from `first` to before `end`."""
        places = np.unravel_index(np.arange(first, self.count if end is None else end), self.shape)
        return np.stack([self.axis(k)[place] for k, place in enumerate(places)], axis=-1)

    def poses(self, first: int = 0, end: int | None = None) -> Array:
        """Poses (m, 7) from `first` to before `end`."""
        moving = self.coordinates(first, end)
        poses = np.empty((len(moving), 7))
        if self.kind == "position":
            poses[:, :3], poses[:, 3:] = moving, angles_to_quaternion(self.fixed)
        else:
            poses[:, :3], poses[:, 3:] = self.fixed, angles_to_quaternion(moving)
        return poses

    def weights(self) -> Array:
        """Volume of each cell, `shape`: m³, or rad³ with the measure cos θy of the rotations.

        In a slice the unit is an area.
        """
        size = math.prod(step for step in self.steps if step > 0.0)
        if self.kind == "position":
            return np.full(self.shape, size)
        return np.broadcast_to(size * np.cos(self.axis(1))[None, :, None], self.shape)

    def touches_boundary(self, mask: Mask) -> bool:
        """Return whether a set of cells (`shape`) touches the edge of the box, which may then have cut it."""
        return any(
            bool(mask.take(edge, axis=axis).any()) for axis in range(3) if self.shape[axis] > 1 for edge in (0, -1)
        )

    def connected(self, mask: Mask, pose: Array) -> Mask:
        """Return the connected component of a set of cells (`shape`) that contains the cell nearest to a pose (7,).

        Cells are connected by faces. Empty if that cell is not in the set.
        """
        from scipy import ndimage  # slow to import, rarely needed

        coordinates = pose_to_coordinates(pose)
        wanted = coordinates[:3] if self.kind == "position" else coordinates[3:]
        cell = tuple(int(np.abs(self.axis(k) - wanted[k]).argmin()) for k in range(3))
        labels, _ = ndimage.label(mask)
        return np.asarray(labels == labels[cell]) & mask


def reach_box(geometry: Geometry, angles: npt.ArrayLike, longest: npt.ArrayLike) -> tuple[Array, Array]:
    """Corners (3,), (3,) of a box that contains every position reachable with legs up to the lengths (6,), m.

    At the angles (3,), rad: the intersection of the boxes of six balls, and a margin, so that no reachable cell is on
    its edge.
    Raises KinematicsError for lengths that do not bound the box, or that no position allows.
    """
    lengths = np.broadcast_to(np.asarray(longest, dtype=np.float64), (6,))
    if not np.isfinite(lengths).all():
        raise KinematicsError("the legs have no greatest length: the workspace has no bounds of its own, give it a box")
    centers = geometry.base_points - geometry.platform_points @ angles_to_matrix(angles).T
    lower = (centers - lengths[:, None]).max(axis=0)
    upper = (centers + lengths[:, None]).min(axis=0)
    if not (lower < upper).all():
        raise KinematicsError(
            f"no position is within reach of all legs at the angles {np.asarray(angles).tolist()} rad"
        )
    margin = _MARGIN * (upper - lower)
    return lower - margin, upper + margin
