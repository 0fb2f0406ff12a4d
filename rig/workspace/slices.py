"""Slices of a workspace for its pictures: through home itself, finer than the grid that was swept."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinematics import Array, PoseAssessment, PoseFault, PoseGrid, assess_poses, pose_to_coordinates, strokes_beyond

if TYPE_CHECKING:
    from rig.workspace.sweep import Workspace

_CELLS = 160
"""Along each side of a slice, unless the grid that was swept is finer."""
_SMOOTH = 0.1
"""Greatest difference of the condition number's logarithm between neighbours for contours to be drawn there."""

LEGS = tuple(range(1, 7))
FAULTS = (
    (PoseFault.STROKE, "stroke"),
    (PoseFault.UNIVERSAL, "universal joint"),
    (PoseFault.SPHERICAL, "spherical joint"),
    (PoseFault.CLEARANCE, "legs too close"),
    (PoseFault.CONDITION, "conditioning"),
    (PoseFault.SIDE, "beyond a singularity"),
    (PoseFault.INVALID, "no pose"),
)
"""What may keep the platform from a pose, the first that applies counting."""
REASONS = (
    "reachable",
    *(f"leg {leg} too {end}" for leg in LEGS for end in ("short", "long")),
    *(name for _, name in FAULTS[1:]),
)
"""What a pose of a slice is, by number: a stroke by the leg and the end of it that is exceeded most."""


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """A plane of poses.

    across: the coordinate that is the same all over it, 0 to 2, at `value`, m or rad.
    grid: its poses.  condition, reason: two-dimensional, by the other two coordinates in order; reasons as in REASONS.
    home: home's two coordinates where the plane passes through it.
    """

    across: int
    value: float
    grid: PoseGrid
    condition: Array
    reason: npt.NDArray[np.int8]
    home: tuple[float, float] | None

    @property
    def reachable(self) -> npt.NDArray[np.bool_]:
        """Which of the poses keep to all limits."""
        return np.asarray(self.reason == 0)

    @property
    def smooth(self) -> npt.NDArray[np.bool_]:
        """Where the condition number changes little from pose to pose, so that contours say something."""
        size = np.log(np.where(np.isfinite(self.condition), self.condition, 1e300))
        steps = [np.abs(np.diff(size, axis=axis)) for axis in (0, 1)]
        smooth = np.ones_like(self.reachable)
        smooth[1:] &= steps[0] < _SMOOTH
        smooth[:-1] &= steps[0] < _SMOOTH
        smooth[:, 1:] &= steps[1] < _SMOOTH
        smooth[:, :-1] &= steps[1] < _SMOOTH
        return smooth


def slices(workspace: "Workspace") -> tuple[Slice, ...]:
    """The swept slice, or the three planes through home.

    Through the middle of the reachable poses where there is no home, or the box is not about it.
    """
    grid = workspace.grid
    home = _home(workspace)
    flat = [axis for axis in range(3) if grid.shape[axis] == 1]
    if flat:
        return tuple(_slice(workspace, axis, float(grid.lower[axis]), workspace.samples) for axis in flat[:1])
    cells = np.argwhere(workspace.reachable if workspace.connected is None else workspace.connected)
    middle = np.median(cells, axis=0) if len(cells) else 0.5 * np.array(grid.shape)
    found = []
    for axis in (2, 1, 0):
        value = float(grid.axis(axis)[int(middle[axis])])
        if home is not None and grid.lower[axis] <= home[axis] <= grid.upper[axis]:
            value = float(home[axis])
        found.append(_slice(workspace, axis, value, None))
    return tuple(found)


def _home(workspace: "Workspace") -> Array | None:
    """Home's coordinates (3,) of the kind that the grid varies."""
    pose = workspace.geometry.home
    if pose is None:
        return None
    return np.asarray(
        pose_to_coordinates(pose)[:3] if workspace.grid.kind == "position" else pose_to_coordinates(pose)[3:]
    )


def _slice(workspace: "Workspace", across: int, value: float, samples: PoseAssessment | None) -> Slice:
    grid, home = workspace.grid, _home(workspace)
    if samples is None:
        lower, upper = grid.lower.copy(), grid.upper.copy()
        lower[across] = upper[across] = value
        x, y, z = (1 if axis == across else max(_CELLS, cells) for axis, cells in enumerate(grid.shape))
        grid = replace(grid, lower=lower, upper=upper, shape=(x, y, z))
        samples = assess_poses(workspace.geometry, grid.poses(), workspace.limits)
    shape = tuple(cells for axis, cells in enumerate(grid.shape) if axis != across)
    beyond = strokes_beyond(workspace.geometry, grid.poses(), workspace.limits)
    reason = np.zeros(grid.count, dtype=np.int8)
    for number, (fault, _) in reversed(list(enumerate(FAULTS[1:], start=1 + 2 * len(LEGS)))):
        reason[(samples.faults & fault) > 0] = number
    short_or_long = 2 * np.abs(beyond) - (beyond < 0)
    reason = np.where((samples.faults & PoseFault.STROKE) > 0, short_or_long, reason).astype(np.int8)
    place = None
    if home is not None and np.isclose(home[across], value, rtol=0.0, atol=1e-12):
        one, other = (float(home[axis]) for axis in range(3) if axis != across)
        place = (one, other) if _holds(workspace, home) else None
    return Slice(across, value, grid, samples.condition.reshape(shape), reason.reshape(shape), place)


def _holds(workspace: "Workspace", home: Array) -> bool:
    """Whether home is in the box, and the coordinates that all poses share are its own."""
    grid, pose = workspace.grid, workspace.geometry.home_pose
    shared = pose_to_coordinates(pose)[3:] if grid.kind == "position" else pose_to_coordinates(pose)[:3]
    inside = bool(((home >= grid.lower - 1e-12) & (home <= grid.upper + 1e-12)).all())
    return inside and bool(np.allclose(shared, grid.fixed, rtol=0.0, atol=1e-12))
