"""Path planning between two poses by condition number or leg forces."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from kinematics import MOST_SAMPLES, Array
from rig.errors import FieldError, FieldRefusedError, RefusedError
from rig.services.job import OnEvent, no_progress
from rig.services.request import request
from rig.services.sources import Notices

if TYPE_CHECKING:
    from dynamics import BestPath, Mechanism
    from kinematics import PoseLimits

COORDINATES = ("x", "y", "z", "rx", "ry", "rz")

Six = tuple[float, float, float, float, float, float]
Pose = tuple[float, float, float, float, float, float, float]


@request
class PathRequest:
    """A minimum-jerk line between two poses, deformed in its six coordinates."""

    mechanism: str
    """a mechanism file, or the name of a shipped one"""
    start: Pose | None
    """x, y, z, m, and a unit quaternion, scalar first; None: home"""
    end: Pose | None
    """as `start`"""
    duration: float
    """s, from rest to rest"""
    output: Path
    """CSV file of t and the columns of a motion"""
    objective: Literal["condition", "force"] = "condition"
    """quantity whose peak is minimised: the condition number of H, or the largest leg force"""
    end_freedom: Six = (0.0,) * 6
    """tolerance of each coordinate of the end, m and rad; R = Rz Ry Rx"""
    reach: Six = (0.2, 0.2, 0.2, 0.3, 0.3, 0.3)
    """maximum deviation of each coordinate from the line, m and rad"""
    greatest_force: float = math.inf
    """N, limit of the leg forces"""
    clearance: float | None = None
    """m, minimum distance between the surfaces of two legs"""
    leg_radius: float = 0.0
    """m, radius of the legs as cylinders"""
    characteristic_length: float | None = None
    """m, divides moments in H; None: the platform joints' radius"""
    step: float = 0.01
    """s, between the rows"""
    seed: int = 0
    """seed of the search"""

    def __post_init__(self) -> None:
        times = (("duration", self.duration, "s"), ("step", self.step, "s"))
        for name, value, unit in (*times, ("greatest_force", self.greatest_force, "N")):
            if not value > 0.0 or (unit == "s" and math.isinf(value)):
                raise FieldError(name, f"{value:g} {unit} must be above 0 {unit}")
        if self.step > self.duration:
            raise FieldError("step", f"{self.step:g} s must be at most the duration, {self.duration:g} s")
        if self.duration / self.step > MOST_SAMPLES - 1:
            rows, least = self.duration / self.step + 1.0, self.duration / (MOST_SAMPLES - 1)
            raise FieldError(
                "step",
                f"{self.step:g} s is too short for a duration of {self.duration:g} s: {rows:.7g} rows, at most "
                f"{MOST_SAMPLES}, so at least {least:.3g} s",
            )
        for name, values, least in (("end_freedom", self.end_freedom, 0.0), ("reach", self.reach, math.ulp(0.0))):
            for coordinate, value in zip(COORDINATES, values, strict=True):
                if value < least:
                    bound = "at least 0" if least == 0.0 else "above 0"
                    raise FieldError(name, f"{coordinate} is {value:g}, must be {bound}, in m or rad")


@dataclass(frozen=True, slots=True, eq=False)
class PathResult:
    """Result: the file, the mechanism's name, and the path with its peak and that of the straight line."""

    motion: Path
    mechanism: str
    best: "BestPath"


def plan_path(request: PathRequest, progress: OnEvent = no_progress) -> PathResult:
    """Plan and write the path with the smallest peak, within strokes and joint angles and without singularities.

    Events: notices of the mechanism.

    Raises:
        FieldError: a field that is invalid for this mechanism.
        FieldRefusedError: an end beyond the limits.
        RefusedError: there is no such path.
        InputError, DynamicsError: a file that cannot be read or written.
    """
    from dynamics import NoPathError, best_path, load_mechanism
    from kinematics import pose_to_coordinates
    from rig.csvio import MOTION, check_output, write_table
    from rig.services.workspaces import chosen_limits

    check_output(request.output)
    machine = load_mechanism(request.mechanism, evaluate_only=True)
    notices = Notices(progress)
    for warning in machine.warnings:
        notices.add("mechanism", warning)
    limits = chosen_limits(
        machine,
        clearance=request.clearance,
        leg_radius=request.leg_radius,
        characteristic_length=request.characteristic_length,
    )
    ends = np.array([_pose(request.start, "start", machine), _pose(request.end, "end", machine)])
    _refuse(machine, limits, ends[:1], "start")
    if not any(request.end_freedom):
        _refuse(machine, limits, ends[1:], "end")
    first, last = pose_to_coordinates(ends)
    try:
        best = best_path(
            machine,
            first,
            last,
            request.duration,
            objective=request.objective,
            limits=limits,
            greatest_force=request.greatest_force,
            reach=request.reach,
            end_freedom=request.end_freedom,
            seed=request.seed,
        )
    except NoPathError as error:
        raise RefusedError(str(error)) from None
    times = np.linspace(0.0, request.duration, max(2, round(request.duration / request.step) + 1))
    write_table(request.output, ("t", *MOTION), np.column_stack([times, best.path.motion(times)]))
    return PathResult(request.output, machine.name, best)


def _pose(given: Pose | None, field: str, machine: "Mechanism") -> "Pose | Array":
    if given is not None:
        return given
    if machine.geometry.home is None:
        raise FieldError(field, f"the mechanism {machine.name} has no home")
    return machine.geometry.home


def _refuse(machine: "Mechanism", limits: "PoseLimits", pose: Array, field: str) -> None:
    """Refuse a pose (1, 7) beyond a limit, before the search."""
    from kinematics import PoseFault, assess_poses, strokes_beyond

    faults = PoseFault(int(assess_poses(machine.geometry, pose, limits, threads=1).faults[0]))
    if not faults:
        return
    beyond = int(strokes_beyond(machine.geometry, pose, limits)[0])
    names = ", ".join(fault.name.lower() for fault in PoseFault if fault in faults and fault.name)
    leg = f"; leg {abs(beyond)} would be too {'long' if beyond > 0 else 'short'}" if beyond else ""
    raise FieldRefusedError(field, f"the pose is beyond the mechanism's limits: {names}{leg}")
