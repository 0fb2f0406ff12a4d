"""Reachable poses of a mechanism's platform, and their conditioning."""

import math
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dynamics import Mechanism, load_mechanism, pose_limits
from kinematics import Array, LimitError, PoseGrid, PoseLimits, pose_to_coordinates, reach_box
from rig.errors import FieldError
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.request import request

if TYPE_CHECKING:
    from rig.workspace import Client

_DEFAULT_CELLS = 60
_DEFAULT_TURN = math.pi / 3.0  # rad, in both directions

Kind = Literal["position", "orientation"]
COORDINATES: dict[Kind, tuple[str, str, str]] = {"position": ("x", "y", "z"), "orientation": ("rx", "ry", "rz")}
"""Swept coordinates of each kind of sweep, m and rad."""


@request
class WorkspaceRequest:
    """A grid of poses: positions at one orientation, or orientations at one position."""

    mechanism: str
    """a mechanism file, or the name of a shipped one"""
    kind: Kind = "position"
    fixed: tuple[float, float, float] | None = None
    """the three coordinates common to all poses: rx, ry, rz, rad, R = Rz Ry Rx, or x, y, z, m; None: those of home"""
    cells: int | None = None
    """grid cells along each swept coordinate; None: 60, or by `poses`"""
    poses: int | None = None
    """approximate total number of poses, instead of `cells`"""
    plane: tuple[str, float] | None = None
    """coordinate with a fixed value, and that value, m or rad; None: all three are swept"""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """minimum and maximum of coordinates, m or rad; empty: bounds of the reachable range"""
    condition: float | None = None
    """maximum condition number of H"""
    characteristic_length: float | None = None
    """m, divides moments in H; None: the platform joints' radius"""
    clearance: float | None = None
    """m, minimum distance between the surfaces of two legs"""
    leg_radius: float = 0.0
    """m, radius of the legs as cylinders"""
    any_side: bool = False
    """include poses beyond a singularity from home"""
    threads: int | None = None
    """None: one per processor"""
    cluster: str | None = None
    """address of a Dask scheduler, or local:N"""
    output: Path | None = None
    """folder for numbers and maps"""

    def __post_init__(self) -> None:
        if self.cells is not None and self.poses is not None:
            raise FieldError("poses", "give cells or poses, not both")
        names = COORDINATES[self.kind]
        flat = () if self.plane is None else (self.plane[0],)
        for where, given in (("ranges", self.ranges), ("plane", flat)):
            if strange := [name for name in given if name not in names]:
                raise FieldError(where, f"{strange[0]!r} must be one of {', '.join(names)}")
        for name, (low, high) in self.ranges.items():
            if not low < high:
                raise FieldError("ranges", f"{name}: {low:g} to {high:g} is no range from low to high")


@dataclass(frozen=True, slots=True)
class WorkspaceResult:
    """Result of the service.

    summary: its numbers, as printed by `rig workspace --json` without the paths. paths: the written files.
    """

    summary: dict[str, Any]
    paths: tuple[Path, ...]


def sweep_workspace(request: WorkspaceRequest, progress: OnEvent = no_progress) -> WorkspaceResult:
    """Sweep a grid of poses: strokes, joint angles, leg clearance, conditioning.

    Events: `sweeping`.

    Raises:
        FieldError: a field that is invalid for this mechanism.
        InputError, DynamicsError: a file that cannot be read or written.
    """
    from rig.csvio import check_folder
    from rig.workspace import FILES, fit_box, summarize, write_workspace
    from rig.workspace import sweep_workspace as sweep

    if request.output is not None:
        check_folder(request.output, FILES)
    machine = load_mechanism(request.mechanism, evaluate_only=True)
    limits = chosen_limits(
        machine,
        clearance=request.clearance,
        leg_radius=request.leg_radius,
        condition=request.condition,
        characteristic_length=request.characteristic_length,
        any_side=request.any_side,
    )
    box = _grid(machine, request)
    if not request.ranges:
        box = fit_box(machine.geometry, box, limits, threads=request.threads)
    with _cluster(request.cluster) as client:
        swept = sweep(
            machine.name,
            machine.geometry,
            box,
            limits,
            threads=request.threads,
            client=client,
            show=lambda fraction: progress(Progress("sweeping", fraction, 1.0)),
        )
    summary = summarize(swept)
    paths = [] if request.output is None else write_workspace(swept, request.output, summary)
    return WorkspaceResult(summary, tuple(paths))


def chosen_limits(
    machine: Mechanism,
    *,
    clearance: float | None,
    leg_radius: float,
    characteristic_length: float | None,
    condition: float | None = None,
    any_side: bool = False,
) -> PoseLimits:
    """Return the mechanism's limits with those of a request. Raises FieldError for invalid values."""
    try:
        return pose_limits(
            machine,
            clearance=-math.inf if clearance is None else clearance,
            leg_radius=leg_radius,
            condition=math.inf if condition is None else condition,
            characteristic_length=(
                machine.geometry.platform_radius if characteristic_length is None else characteristic_length
            ),
            **({"same_side": False} if any_side else {}),
        )
    except LimitError as error:
        raise FieldError(error.name, error.fault) from None


def _grid(machine: Mechanism, request: WorkspaceRequest) -> PoseGrid:
    turning, names = request.kind == "orientation", COORDINATES[request.kind]
    fixed = _fixed(machine, request)
    given = dict(request.ranges)
    flat = None
    if request.plane is not None:
        flat, value = request.plane
        given[flat] = (value, value)
    if turning or len(given) == 3:
        lower, upper = np.full(3, -_DEFAULT_TURN), np.full(3, _DEFAULT_TURN)
    else:
        longest = [math.inf if leg is None or leg.length is None else leg.length[1] for leg in machine.limits]
        lower, upper = reach_box(machine.geometry, fixed, longest)
    for name, bounds in given.items():
        lower[names.index(name)], upper[names.index(name)] = bounds
    cells = _cells(request, 3 if flat is None else 2)
    x, y, z = (1 if name == flat else cells for name in names)
    return PoseGrid(request.kind, fixed, lower, upper, (x, y, z))


def _fixed(machine: Mechanism, request: WorkspaceRequest) -> Array:
    """Return the three coordinates common to all poses."""
    if request.fixed is not None:
        return np.array(request.fixed)
    home = machine.geometry.home
    if request.kind == "orientation" and home is None:
        raise FieldError("fixed", "the mechanism has no home")
    place = np.zeros(6) if home is None else pose_to_coordinates(home)
    return place[:3] if request.kind == "orientation" else place[3:]


def _cells(request: WorkspaceRequest, dimensions: int) -> int:
    if request.poses is not None:
        return max(round(math.exp(math.log(request.poses) / dimensions)), 2)
    return _DEFAULT_CELLS if request.cells is None else request.cells


def _cluster(address: str | None) -> "AbstractContextManager[Client | None]":
    from rig.workspace import open_cluster

    return nullcontext() if address is None else open_cluster(address)
