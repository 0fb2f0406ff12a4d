"""Sweep of a box of poses for a mechanism's workspace, with results as JSON, CSV, NPZ and plots."""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kinematics import (
    ROTATION_GROUP,
    Array,
    Geometry,
    PoseAssessment,
    PoseFault,
    PoseGrid,
    PoseLimits,
    assess_poses,
    run_chunks,
)
from rig.csvio import check_folder, whole_binary_file, whole_file, write_table
from rig.errors import InputError
from rig.workspace.cluster import Client, run_on_cluster

Mask = npt.NDArray[np.bool_]

_CHUNK = 1 << 14
_CLUSTER_CHUNK = 1 << 16
_COARSE = 48  # cells along a coordinate

FILES = (
    "workspace.json", "layers.csv", "samples.npz",
    "dexterity.png", "dexterity.svg", "dexterity.pdf", "limits.png", "limits.svg", "limits.pdf",
)  # fmt: skip
"""Files of `write_workspace`."""

LAYER_COLUMNS = ("reachable", "connected", "fraction", "best_condition", "median_condition")


@dataclass(frozen=True, slots=True, eq=False)
class Workspace:
    """A swept box of poses of a mechanism's geometry.

    samples: the assessment of every pose of the grid, in its order.
    reachable: the cells (grid.shape) with a pose within all limits.
    connected: those connected to the home pose, None if the mechanism has none.
    """

    mechanism: str
    geometry: Geometry
    grid: PoseGrid
    limits: PoseLimits
    samples: PoseAssessment
    reachable: Mask
    connected: Mask | None


def sweep_workspace(
    name: str,
    geometry: Geometry,
    grid: PoseGrid,
    limits: PoseLimits,
    *,
    threads: int | None = None,
    client: Client | None = None,
    show: Callable[[float], None] = lambda _fraction: None,
) -> Workspace:
    """Assess every pose of a grid, on this computer's processors or on the cluster of `client`.

    `show` receives the completed fraction, 0 to 1. Raises KinematicsError as `assess_poses`.
    """
    samples = PoseAssessment(
        faults=np.empty(grid.count, dtype=np.uint8),
        condition=np.empty(grid.count),
        side=np.empty(grid.count, dtype=np.int8),
        stroke_margin=np.empty(grid.count),
        universal_angle=np.empty(grid.count),
        spherical_angle=np.empty(grid.count),
        clearance=np.empty(grid.count),
    )
    done = 0
    for first, end, part in _parts(geometry, grid, limits, threads, client):
        for field in fields(PoseAssessment):
            getattr(samples, field.name)[first:end] = getattr(part, field.name)
        done += end - first
        show(done / grid.count)
    reachable = samples.reachable.reshape(grid.shape)
    connected = None if geometry.home is None else grid.connected(reachable, geometry.home)
    return Workspace(name, geometry, grid, limits, samples, reachable, connected)


def fit_box(geometry: Geometry, grid: PoseGrid, limits: PoseLimits, *, threads: int | None = None) -> PoseGrid:
    """Return the grid shrunk to the reachable region.

    The region is found with a coarse grid of the same box, and extended by two of its cells on all sides. The grid is
    unchanged if nothing is reachable.
    """
    x, y, z = (1 if cells == 1 else _COARSE for cells in grid.shape)
    coarse = replace(grid, shape=(x, y, z))
    rough = sweep_workspace("", geometry, coarse, limits, threads=threads)
    cells = np.argwhere(rough.reachable)
    if not len(cells):
        return grid
    lower = np.maximum(grid.lower, coarse.lower + (cells.min(axis=0) - 2) * coarse.steps)
    upper = np.minimum(grid.upper, coarse.lower + (cells.max(axis=0) + 3) * coarse.steps)
    return replace(grid, lower=lower, upper=upper)


def _parts(
    geometry: Geometry, grid: PoseGrid, limits: PoseLimits, threads: int | None, client: Client | None
) -> Iterator[tuple[int, int, PoseAssessment]]:
    if client is None:
        return run_chunks(
            lambda first, end: assess_cells(geometry, grid, limits, first, end), grid.count, _CHUNK, threads
        )
    return run_on_cluster(
        client,
        lambda first, end: (assess_cells, (geometry, grid, limits, first, end)),
        grid.count,
        _CLUSTER_CHUNK,
    )


def assess_cells(geometry: Geometry, grid: PoseGrid, limits: PoseLimits, first: int, end: int) -> PoseAssessment:
    """Assess a grid's poses [first, end) in this thread."""
    return assess_poses(geometry, grid.poses(first, end), limits, threads=1)


def summarize(workspace: Workspace) -> dict[str, Any]:
    """Summarise the workspace, JSON-able: volumes (or a slice's areas), extents, conditioning, limiting reasons."""
    grid, limits, samples = workspace.grid, workspace.limits, workspace.samples
    result: dict[str, Any] = {
        "mechanism": workspace.mechanism,
        "kind": grid.kind,
        "fixed": dict(
            zip(("rx", "ry", "rz") if grid.kind == "position" else "xyz", (grid.fixed + 0.0).tolist(), strict=True)
        ),
        "box": {
            name: [low, high]
            for name, low, high in zip(grid.names, grid.lower.tolist(), grid.upper.tolist(), strict=True)
        },
        "shape": list(grid.shape),
        "poses": grid.count,
        "unit": ("m" if grid.kind == "position" else "rad") + f"^{sum(cells > 1 for cells in grid.shape)}",
        "limits": {
            "clearance": _finite(limits.clearance),
            "leg_radius": limits.leg_radius,
            "condition": _finite(limits.condition),
            "characteristic_length": limits.characteristic_length,
            "same_side": limits.same_side,
        },
        "reachable": _measures(workspace, workspace.reachable),
        "connected": None if workspace.connected is None else _measures(workspace, workspace.connected),
        "beyond": {fault.name: int(np.count_nonzero(samples.faults & fault)) for fault in PoseFault},
    }
    return result


def _measures(workspace: Workspace, mask: Mask) -> dict[str, Any]:
    """Return size, extents and conditioning of a set of cells."""
    grid = workspace.grid
    weights = grid.weights()
    size = float(weights[mask].sum())
    measures: dict[str, Any] = {
        "poses": int(np.count_nonzero(mask)),
        "fraction": float(np.count_nonzero(mask) / grid.count),
        "size": size,
        "touches_boundary": grid.touches_boundary(mask),
    }
    if grid.kind == "orientation" and min(grid.shape) > 1:
        measures["fraction_of_rotations"] = size / ROTATION_GROUP
    if mask.any():
        cells = np.argwhere(mask)
        measures["extent"] = {
            name: [float(grid.axis(k)[cells[:, k].min()]), float(grid.axis(k)[cells[:, k].max()])]
            for k, name in enumerate(grid.names)
        }
        chosen = mask.ravel()
        condition = workspace.samples.condition[chosen]
        best = int(np.flatnonzero(chosen)[condition.argmin()])
        measures["condition"] = {
            "best": float(condition.min()),
            "median": float(np.median(condition)),
            "worst": _finite(float(condition.max())),
            "best_at": dict(zip(grid.names, grid.coordinates(best, best + 1)[0].tolist(), strict=True)),
        }
        measures["least_clearance"] = float(workspace.samples.clearance[chosen].min())
    return measures


def layers(workspace: Workspace) -> tuple[tuple[str, ...], Array]:
    """Return names and columns of a table of layers along the workspace's last varying coordinate.

    Areas in the summary's unit less one dimension; conditioning of the reachable poses, NaN if there are none.
    """
    grid = workspace.grid
    axis = max(k for k in range(3) if grid.shape[k] > 1)
    step = grid.steps[axis]
    weights = grid.weights() / step
    connected = np.zeros_like(workspace.reachable) if workspace.connected is None else workspace.connected
    condition = workspace.samples.condition.reshape(grid.shape)
    rows = []
    for index, value in enumerate(grid.axis(axis)):
        mask = np.take(workspace.reachable, index, axis=axis)
        area = np.take(weights, index, axis=axis)
        found = np.take(condition, index, axis=axis)[mask]
        rows.append(
            [
                value,
                area[mask].sum(),
                area[np.take(connected, index, axis=axis)].sum(),
                mask.mean(),
                found.min() if len(found) else math.nan,
                float(np.median(found)) if len(found) else math.nan,
            ]
        )
    return (grid.names[axis], *LAYER_COLUMNS), np.array(rows)


def write_workspace(workspace: Workspace, folder: Path, summary: dict[str, Any]) -> list[Path]:
    """Write `FILES` into `folder`, which is created if missing; return their paths.

    Raises InputError if that is not possible, before anything is written if one of them cannot be.
    """
    from rig.workspace.maps import draw_maps

    check_folder(folder, FILES)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        text, table, numbers = (folder / name for name in FILES[:3])
        with whole_file(text) as file:
            file.write(json.dumps(summary, indent=2) + "\n")
        write_table(table, *layers(workspace))
        axes = {name: workspace.grid.axis(k) for k, name in enumerate(workspace.grid.names)}
        values = {field.name: getattr(workspace.samples, field.name) for field in fields(PoseAssessment)}
        shaped = {name: array.reshape(workspace.grid.shape) for name, array in values.items()}
        with whole_binary_file(numbers) as data:
            np.savez(data, allow_pickle=False, **axes, **shaped)
        return [text, table, numbers, *draw_maps(workspace, folder)]
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}") from error


def _finite(value: float) -> float | None:
    """Return None for an infinity, which JSON does not have."""
    return value if math.isfinite(value) else None
