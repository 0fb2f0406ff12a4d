"""Plots of a workspace: slices through home with conditioning and active limits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.colors import ListedColormap, LogNorm, Normalize, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, MaxNLocator
from scipy import ndimage

from kinematics import Array, PoseAssessment, PoseFault, PoseGrid, assess_poses, pose_to_coordinates, strokes_beyond
from rig.csvio import whole_binary_file, whole_file
from rig.report import LEG_COLORS, STYLE, drawing, styled

if TYPE_CHECKING:
    from rig.workspace.sweep import Workspace


_CELLS = 160
"""Cells along each side of a slice, unless the swept grid is finer."""
_SMOOTH = 0.1
"""Maximum difference of the condition number's logarithm between neighbours for contours."""

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
"""Reasons why a pose is unreachable; the first that applies counts."""
REASONS = (
    "reachable",
    *(f"leg {leg} too {end}" for leg in LEGS for end in ("short", "long")),
    *(name for _, name in FAULTS[1:]),
)
"""Classes of a slice's poses, by number: for a stroke the leg and end with the largest violation."""


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """A plane of poses.

    across: the coordinate, 0 to 2, that is constant at `value`, m or rad.
    grid: its poses.  condition, reason: two-dimensional, by the other two coordinates in order; reasons as in REASONS.
    home: home's two coordinates if the plane passes through it.
    """

    across: int
    value: float
    grid: PoseGrid
    condition: Array
    reason: npt.NDArray[np.int8]
    home: tuple[float, float] | None

    @property
    def reachable(self) -> npt.NDArray[np.bool_]:
        """Return the mask of poses within all limits."""
        return np.asarray(self.reason == 0)

    @property
    def smooth(self) -> npt.NDArray[np.bool_]:
        """Return where the condition number changes slowly enough for meaningful contours."""
        size = np.log(np.where(np.isfinite(self.condition), self.condition, 1e300))
        steps = [np.abs(np.diff(size, axis=axis)) for axis in (0, 1)]
        smooth = np.ones_like(self.reachable)
        smooth[1:] &= steps[0] < _SMOOTH
        smooth[:-1] &= steps[0] < _SMOOTH
        smooth[:, 1:] &= steps[1] < _SMOOTH
        smooth[:, :-1] &= steps[1] < _SMOOTH
        return smooth


def slices(workspace: "Workspace") -> tuple[Slice, ...]:
    """Return the swept slice, or the three planes through home.

    The planes pass through the centre of the reachable poses if there is no home or it is outside the box.
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
    """Return home's coordinates (3,) of the kind that the grid varies."""
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
        place = (one, other) if _contains(workspace, home) else None
    return Slice(across, value, grid, samples.condition.reshape(shape), reason.reshape(shape), place)


def _contains(workspace: "Workspace", home: Array) -> bool:
    """Return whether home is in the box and has the box's fixed coordinates."""
    grid, pose = workspace.grid, workspace.geometry.home_pose
    shared = pose_to_coordinates(pose)[3:] if grid.kind == "position" else pose_to_coordinates(pose)[:3]
    inside = bool(((home >= grid.lower - 1e-12) & (home <= grid.upper + 1e-12)).all())
    return inside and bool(np.allclose(shared, grid.fixed, rtol=0.0, atol=1e-12))


_REACHABLE = "#FFFFFF"
_PALE = 0.55  # fraction of white in the colour of a leg that would be too short
_OTHERS = ("#3B3F45", "#6B7077", "#5C3A1E", "#8C6D4F", "#A7ADB4", "#000000")


def _paler(hue: str, share: float) -> str:
    red, green, blue = ((1.0 - share) * part + share for part in to_rgb(hue))
    return to_hex((red, green, blue))


_HUES = tuple(_paler(hue, share) for hue in LEG_COLORS for share in (_PALE, 0.0))
_COLORS = (_REACHABLE, *_HUES, *_OTHERS)
"""Colours by number of REASONS."""
_LEVELS = 7
_LABELLED = 14  # minimum cells from a region's centre to its edge for a label
_DPI = 110


def draw_maps(workspace: "Workspace", folder: Path) -> list[Path]:
    """Draw conditioning and limits as PNG, SVG and PDF, for a slice or three planes through home; return the paths."""
    planes = slices(workspace)
    with styled(STYLE | {"axes.titlesize": 10}):
        pictures = {"dexterity": dexterity_figure(workspace, planes), "limits": limits_figure(workspace, planes)}
        return [path for name, figure in pictures.items() for path in _saved(figure, folder / name)]


def dexterity_figure(workspace: "Workspace", planes: Sequence[Slice]) -> Figure:
    """Plot the condition number of H over the reachable poses, with contours where it is smooth."""
    shown = np.concatenate([plane.condition[plane.reachable] for plane in planes])
    low, high = (float(shown.min()), float(np.quantile(shown, 0.99))) if len(shown) else (1.0, 10.0)
    logarithmic = high > 10.0 * low
    norm = LogNorm(low, high) if logarithmic else Normalize(low, max(high, 1.001 * low))
    levels = (LogLocator(subs=(1.0, 2.0, 5.0)) if logarithmic else MaxNLocator(_LEVELS)).tick_values(low, high)
    figure, panels = _panels(workspace, planes, "condition number of H where the platform can be")
    for panel, plane in zip(panels, planes, strict=True):
        values = np.where(plane.reachable, plane.condition, np.nan)
        image = _show(panel, plane, values, norm=norm, cmap="viridis_r")
        contoured = np.where(plane.smooth, values, np.nan)
        seen = contoured[np.isfinite(contoured)]
        inside = [level for level in levels if len(seen) and seen.min() < level < seen.max()]
        if inside:
            lines = panel.contour(*_places(plane), contoured.T, levels=inside, colors="#FFFFFF", linewidths=0.8)
            panel.clabel(lines, fmt="%.4g", fontsize=7)
    bar = figure.colorbar(image, ax=panels, shrink=0.85)
    bar.set_label(f"condition number (characteristic length {workspace.limits.characteristic_length:.3g} m)")
    return figure


def limits_figure(workspace: "Workspace", planes: Sequence[Slice]) -> Figure:
    """Plot the limiting reason of each pose; for a stroke the leg and end with the largest violation."""
    colors = ListedColormap(list(_COLORS))
    figure, panels = _panels(workspace, planes, "what keeps the platform from a pose (the first that applies)")
    for panel, plane in zip(panels, planes, strict=True):
        _show(panel, plane, plane.reason, cmap=colors, vmin=-0.5, vmax=len(_COLORS) - 0.5)
        reachable = plane.reachable.T.astype(float)
        if 0.0 < reachable.mean() < 1.0:
            panel.contour(*_places(plane), reachable, levels=[0.5], colors="#222A32", linewidths=1.0)
        for number in np.unique(plane.reason[plane.reason > 0]):
            _name(panel, plane, int(number))
    present = sorted({int(number) for plane in planes for number in np.unique(plane.reason)})
    handles = [Patch(facecolor=_COLORS[number], edgecolor="#8A929A", label=REASONS[number]) for number in present]
    figure.legend(handles=handles, loc="outside lower center", ncols=6, frameon=False)
    return figure


def _name(panel: Any, plane: Slice, number: int) -> None:
    """Label a region at its centre, if there is room."""
    depth = ndimage.distance_transform_edt(np.pad(plane.reason == number, 1))[1:-1, 1:-1]
    if depth.max() < _LABELLED:
        return
    across, up = np.unravel_index(int(depth.argmax()), depth.shape)
    xs, ys = _places(plane)
    red, green, blue = to_rgb(_COLORS[number])
    ink = "#FFFFFF" if red + green + blue < 1.4 else "#222A32"
    text = REASONS[number].replace(" too", "\ntoo").replace(" joint", "\njoint")
    panel.text(xs[across], ys[up], text, ha="center", va="center", fontsize=7, color=ink, linespacing=0.95)


def _panels(workspace: "Workspace", planes: Sequence[Slice], title: str) -> tuple[Figure, list[Any]]:
    figure = Figure(figsize=(4.2 * len(planes) + 1.4, 4.8), layout="constrained")
    figure.suptitle(f"{workspace.mechanism}: {title}", fontsize=11)
    panels = list(figure.subplots(1, len(planes), squeeze=False)[0])
    for panel, plane in zip(panels, planes, strict=True):
        where = f"{plane.grid.names[plane.across]} = {_scale(plane) * plane.value + 0.0:.4g} {_unit(plane)}"
        panel.set_title(f"{where}, through home" if plane.home else where)
    return figure, panels


def _unit(plane: Slice) -> str:
    return "m" if plane.grid.kind == "position" else "°"


def _scale(plane: Slice) -> float:
    """Return the factor to the displayed unit: m, or degrees."""
    return 1.0 if plane.grid.kind == "position" else 180.0 / np.pi


def _sides(plane: Slice) -> tuple[int, int]:
    across, up = (axis for axis in range(3) if axis != plane.across)
    return across, up


def _places(plane: Slice) -> tuple[Array, Array]:
    """Return the two coordinates of its cells, as displayed."""
    across, up = (_scale(plane) * plane.grid.axis(axis) for axis in _sides(plane))
    return across, up


def _show(panel: Any, plane: Slice, values: Array | npt.NDArray[np.int8], **style: Any) -> Any:
    """Plot a plane's values over its two coordinates, and home."""
    grid, (across, up) = plane.grid, _sides(plane)
    extent = [_scale(plane) * float(bound[axis]) for axis in (across, up) for bound in (grid.lower, grid.upper)]
    panel.set_xlabel(f"{grid.names[across]} ({_unit(plane)})")
    panel.set_ylabel(f"{grid.names[up]} ({_unit(plane)})")
    panel.set_facecolor("#EDEFF1")
    panel.grid(visible=False)
    image = panel.imshow(values.T, origin="lower", extent=extent, interpolation="nearest", aspect="equal", **style)
    if plane.home:
        panel.plot(*(_scale(plane) * place for place in plane.home), "+", color="#222A32", markersize=9, zorder=5)
    return image


def _saved(figure: Figure, place: Path) -> tuple[Path, Path, Path]:
    paths = place.with_suffix(".png"), place.with_suffix(".svg"), place.with_suffix(".pdf")
    drawn = drawing(figure)
    with whole_binary_file(paths[0]) as file:
        figure.savefig(file, dpi=_DPI, format="png")
    with whole_file(paths[1]) as text:
        text.write(drawn.svg)
    with whole_binary_file(paths[2]) as file:
        file.write(drawn.pdf)
    return paths
