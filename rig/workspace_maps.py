"""Pictures of a workspace: conditioning where the platform can be, and what keeps it from being elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.colors import ListedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from kinematics import Array, PoseFault
from rig.csvio import whole_binary_file

if TYPE_CHECKING:
    from rig.workspace import Workspace

_FAULTS = (
    (PoseFault.STROKE, "stroke", "#56B4E9"),
    (PoseFault.UNIVERSAL, "universal joint", "#E69F00"),
    (PoseFault.SPHERICAL, "spherical joint", "#F0E442"),
    (PoseFault.CLEARANCE, "legs too close", "#CC79A7"),
    (PoseFault.CONDITION, "conditioning", "#D55E00"),
    (PoseFault.SIDE, "beyond a singularity", "#7F7F7F"),
    (PoseFault.INVALID, "no pose", "#000000"),
)
"""What a cell is coloured by, the first that applies; Okabe–Ito colours."""

_REACHABLE = "#009E73"
_DPI = 110


def draw_maps(workspace: "Workspace", folder: Path) -> list[Path]:
    """Draw dexterity.png and limits.png: a slice, or three planes through the middle of the reachable set."""
    planes = _planes(workspace)
    return [_dexterity(workspace, planes, folder), _limits(workspace, planes, folder)]


def _planes(workspace: "Workspace") -> list[tuple[int, int]]:
    """Axis across and index of each plane to be shown."""
    grid = workspace.grid
    flat = [axis for axis in range(3) if grid.shape[axis] == 1]
    if flat:
        return [(flat[0], 0)]
    cells = np.argwhere(workspace.reachable if workspace.connected is None else workspace.connected)
    middle = np.median(cells, axis=0) if len(cells) else 0.5 * np.array(grid.shape)
    return [(axis, int(middle[axis])) for axis in (2, 1, 0)]


def _dexterity(workspace: "Workspace", planes: list[tuple[int, int]], folder: Path) -> Path:
    condition = workspace.samples.condition.reshape(workspace.grid.shape)
    reachable = workspace.reachable
    shown = condition[reachable]
    low, high = (float(shown.min()), float(np.quantile(shown, 0.99))) if len(shown) else (1.0, 10.0)
    norm = LogNorm(low, high) if high > 10.0 * low else Normalize(low, max(high, 1.001 * low))
    figure, axes = _panels(workspace, planes, "condition number of H where the platform can be")
    for panel, (axis, index) in zip(axes, planes, strict=True):
        values = np.where(np.take(reachable, index, axis=axis), np.take(condition, index, axis=axis), np.nan)
        image = _show(panel, workspace, axis, values, norm=norm, cmap="viridis_r")
    bar = figure.colorbar(image, ax=axes, shrink=0.85)
    bar.set_label(f"condition number (characteristic length {workspace.limits.characteristic_length:.3g} m)")
    return _saved(figure, folder / "dexterity.png")


def _limits(workspace: "Workspace", planes: list[tuple[int, int]], folder: Path) -> Path:
    faults = workspace.samples.faults.reshape(workspace.grid.shape)
    first = np.zeros(faults.shape, dtype=np.int64)
    for number, (fault, _, _) in reversed(list(enumerate(_FAULTS, start=1))):
        first[(faults & fault) > 0] = number
    colors = ListedColormap([_REACHABLE, *(color for _, _, color in _FAULTS)])
    figure, axes = _panels(workspace, planes, "what keeps the platform from a pose (the first that applies)")
    for panel, (axis, index) in zip(axes, planes, strict=True):
        _show(panel, workspace, axis, np.take(first, index, axis=axis), cmap=colors, vmin=-0.5, vmax=len(_FAULTS) + 0.5)
    labels = ["reachable", *(label for _, label, _ in _FAULTS)]
    present = [number for number in range(len(labels)) if (first == number).any()]
    handles = [Patch(color=colors(number), label=labels[number]) for number in present]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    return _saved(figure, folder / "limits.png")


def _panels(workspace: "Workspace", planes: list[tuple[int, int]], title: str) -> tuple[Figure, list[Any]]:
    grid = workspace.grid
    figure = Figure(figsize=(4.2 * len(planes) + 1.4, 4.8), layout="constrained")
    figure.suptitle(f"{workspace.mechanism}: {title}", fontsize=11)
    panels = list(figure.subplots(1, len(planes), squeeze=False)[0])
    for panel, (axis, index) in zip(panels, planes, strict=True):
        value = grid.axis(axis)[index]
        shown = f"{value:.4g} m" if grid.kind == "position" else f"{np.degrees(value):.4g}°"
        panel.set_title(f"{grid.names[axis]} = {shown}", fontsize=10)
    return figure, panels


def _show(panel: Any, workspace: "Workspace", axis: int, values: Array | npt.NDArray[np.int64], **style: Any) -> Any:
    """Show a plane's values with its two coordinates, m or degrees."""
    grid = workspace.grid
    across, up = (k for k in range(3) if k != axis)
    factor, unit = (1.0, "m") if grid.kind == "position" else (180.0 / np.pi, "°")
    extent = [factor * float(bound[k]) for k in (across, up) for bound in (grid.lower, grid.upper)]
    panel.set_xlabel(f"{grid.names[across]} ({unit})")
    panel.set_ylabel(f"{grid.names[up]} ({unit})")
    panel.set_facecolor("#EDEFF1")
    return panel.imshow(values.T, origin="lower", extent=extent, interpolation="nearest", aspect="equal", **style)


def _saved(figure: Figure, path: Path) -> Path:
    with whole_binary_file(path) as file:
        figure.savefig(file, dpi=_DPI, format="png")
    return path
