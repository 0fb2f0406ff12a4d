"""Geometry calibration: joint positions and length offsets from measured poses and leg lengths."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from calibration import (
    CalibrationError,
    CalibrationFileError,
    GeometryCalibration,
    GeometryLimits,
    GeometryNoise,
    GeometryPrior,
    HomingRepeatability,
    PosePlan,
    UnobservableError,
    homing_repeatability,
)
from dynamics import load_mechanism
from kinematics import Array, quaternion_to_angles, trajectory_text
from rig.csvio import check_output, whole_file
from rig.errors import InputError, RefusedError
from rig.services import geometry_tables
from rig.services.geometry_summary import summary, unobservable_json
from rig.services.job import OnEvent, no_progress
from rig.services.outputs import check_new_file
from rig.services.request import request
from rig.services.sources import Contents

_MICRO = 1e-6
"""factor that reproduces the command line's "20 um" exactly"""
_WAY, _REST = 2.0, 2.0
"""s, of a way between home and a planned pose, and of a rest there"""


@request
class GeometryRequest:
    """Measured poses and leg lengths of a mechanism, with their uncertainty and the prior.

    Raises:
        InputError: an invalid number.
    """

    mechanism: str
    """file of a mechanism, or the name of a shipped one"""
    data: Path | None = None
    """CSV file of measured poses and leg lengths; for a plan: those already measured"""
    output: Path | None = None
    """parameter file to write, never overwritten; for a plan its poses"""
    position_sigma: float = 20 * _MICRO
    """m, standard deviation of a measured position, per axis"""
    rotation_sigma: float = 100 * _MICRO
    """rad, standard deviation of a measured orientation, per axis, or of a level"""
    length_sigma: float = 5 * _MICRO
    """m, standard deviation of a measured leg length"""
    joint_tolerance: float = 2e-3
    """m, standard deviation of a joint position about the drawing, per axis"""
    offset_tolerance: float = 2e-3
    """m, standard deviation of a length offset about the nominal one"""
    scale_sigma: float = 20e-6
    """standard deviation of the tracker's scale"""
    most_position_sigma: float = 0.5e-3
    """m, acceptance limit of a pose's uncertainty along its worst axis"""
    most_rotation_sigma: float = 2e-3
    """rad, acceptance limit of its rotation's uncertainty"""
    hold_out: Annotated[float, Field(gt=0.0, le=0.5)] = 0.2
    """fraction of the rows held out at a time and predicted by a fit to the others"""
    frames: Literal["none", "base", "platform", "both"] = "none"
    """known frames: poses are given in the base's, the platform's own, or both"""
    targets: Path | None = None
    """CSV file of the targets' positions in the platform frame, x,y,z, if known"""
    homing: Path | None = None
    """CSV file of lengths l1…l6 at one pose after each of several homings"""
    plan: Annotated[int, Field(ge=1, le=1000)] | None = None
    """poses to plan, see `plan_geometry`"""
    seed: Annotated[int, Field(ge=0)] = 0
    """seed of a plan's candidate poses"""
    motion: Path | None = None
    """trajectory file to write: it rests at each planned pose, and returns home in between"""
    day: date | None = None
    """date of the calibration; None: today"""
    operator: str = ""
    """stored in the file, like the following"""
    note: str = ""

    def __post_init__(self) -> None:
        if faults := [*self.noise.faults(), *self.prior.faults(), *self.limits.faults()]:
            raise InputError("geometry: cannot be used", faults)

    @property
    def noise(self) -> GeometryNoise:
        """Return the noise of the measurements."""
        return GeometryNoise(self.position_sigma, self.rotation_sigma, self.length_sigma)

    @property
    def prior(self) -> GeometryPrior:
        """Return the prior."""
        return GeometryPrior(self.joint_tolerance, self.offset_tolerance, self.scale_sigma)

    @property
    def limits(self) -> GeometryLimits:
        """Return the acceptance limits."""
        return GeometryLimits(self.most_position_sigma, self.most_rotation_sigma)


class UnobservableGeometryError(RefusedError):
    """Poses that leave directions of the geometry undetermined; `result` is the JSON object of their result."""

    def __init__(self, text: str, result: dict[str, Any] | None = None) -> None:
        super().__init__(text)
        self.result = result or {}


@dataclass(frozen=True, slots=True, eq=False)
class GeometryResult:
    """Result of the service.

    found: parameters, their uncertainties, hold-out and warnings. limits: applied ones. homing:
    repeatability of homing, None if not measured. parameters_file: the written file, or None.
    """

    found: GeometryCalibration
    limits: GeometryLimits
    homing: HomingRepeatability | None
    parameters_file: Path | None

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI."""
        return summary(self.found, self.limits, self.homing, self.parameters_file)


def calibrate_geometry(request: GeometryRequest, progress: OnEvent = no_progress) -> GeometryResult:
    """Calibrate joint positions and length offsets, and write them to a file.

    Raises:
        InputError, KinematicsError, DynamicsError: an invalid file.
        CalibrationFileError: the file exists already.
        UnobservableGeometryError: workspace poses would remain too uncertain.
        RefusedError: other insufficient data.
    """
    nominal = load_mechanism(request.mechanism, evaluate_only=True)
    with _refusals():
        homed = _homing(request)
        if request.output is not None:
            check_new_file(request.output)
        if request.data is None:
            raise InputError("no file of measured poses is given")
        measurements = geometry_tables.read_measurements(request.data, request.frames, request.targets)
        provenance = {"source": f"file {request.data.name}", "operator": request.operator, "note": request.note}
        found = geometry_tables.calibrate(
            nominal, measurements, request.noise, request.prior, request.limits, request.hold_out, progress
        )
        if request.output is not None:
            day = date.today() if request.day is None else request.day
            geometry_tables.save(request.output, found, nominal, day, provenance, homed)
    return GeometryResult(found, request.limits, homed, request.output)


def homing_spread(request: GeometryRequest, progress: OnEvent = no_progress) -> HomingRepeatability:
    """Return the repeatability of homing, by leg. Raises InputError for the file, RefusedError for its numbers."""
    del progress
    load_mechanism(request.mechanism, evaluate_only=True)
    with _refusals():
        homed = _homing(request)
    if homed is None:
        raise InputError("no file of homings is given")
    return homed


def geometry_contents(request: GeometryRequest, progress: OnEvent = no_progress) -> Contents:
    """Describe the files' content. Raises as the calibration or the plan for faults known without a fit."""
    del progress
    nominal = load_mechanism(request.mechanism, evaluate_only=True)
    with _refusals():
        text = geometry_tables.holds(
            nominal,
            request.data,
            request.targets,
            request.homing,
            request.noise,
            request.frames,
            request.plan is not None,
        )
    return Contents(text)


@dataclass(frozen=True, slots=True, eq=False)
class PlanGeometryResult:
    """Result: the most informative poses, the number already measured, and the files of poses and motion."""

    found: PosePlan
    measured: int
    poses_file: Path
    motion_file: Path | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI."""
        return {
            "poses": self.found.poses.tolist(),
            "measured": self.measured,
            "pose_position_sigma_before_m": self.found.sigma_before,
            "pose_position_sigma_after_m": self.found.sigma_after,
            "paths": {"poses": str(self.poses_file)}
            | ({} if self.motion_file is None else {"motion": str(self.motion_file)}),
        }


def plan_geometry(request: GeometryRequest, progress: OnEvent = no_progress) -> PlanGeometryResult:
    """Write the `plan` poses that add most information to those in `data`.

    Raises:
        InputError: an invalid file, or no number of poses.
        RefusedError: a mechanism without a home pose, or poses that cannot be planned.
    """
    if request.plan is None:
        raise InputError("no number of poses to plan is given")
    nominal = load_mechanism(request.mechanism, evaluate_only=True)
    output = Path("geometry-poses.csv") if request.output is None else request.output
    with _refusals():
        check_output(output)
        if request.motion is not None:
            check_output(request.motion)
        found, measured = geometry_tables.plan(request, nominal, request.plan, output, progress)
    if request.motion is not None:
        with whole_file(request.motion) as file:
            file.write(trajectory_text(_resting(found.poses, nominal.geometry.home_pose)))
    return PlanGeometryResult(found, measured, output, request.motion)


def _resting(poses: Array, home: Array) -> dict[str, Any]:
    """Return the motion that rests at poses (n, 7), by way of home: a line between two may leave the strokes."""
    places = [[*pose[:3].tolist(), *quaternion_to_angles(pose[3:]).tolist()] for pose in (home, *poses)]
    parts: list[dict[str, Any]] = []
    for place in places[1:]:
        parts += [
            {"type": "minimum-jerk", "start": places[0], "end": place, "duration": _WAY},
            {"type": "hold", "position": place, "duration": _REST},
            {"type": "minimum-jerk", "start": place, "end": places[0], "duration": _WAY},
        ]
    return {"frame": "base", "parts": parts}


def _homing(request: GeometryRequest) -> HomingRepeatability | None:
    return None if request.homing is None else homing_repeatability(geometry_tables.read_homings(request.homing))


@contextmanager
def _refusals() -> Iterator[None]:
    """Convert errors of insufficient data within a `with` block to refusals; a file's own faults pass unchanged."""
    try:
        yield
    except CalibrationFileError:
        raise
    except CalibrationError as error:
        text = "\n  ".join(["geometry refused, nothing written", *error.faults])
        if isinstance(error, UnobservableError):
            raise UnobservableGeometryError(text, unobservable_json(error)) from None
        raise RefusedError(text) from None
