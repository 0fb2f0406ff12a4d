"""Reading, computing and writing a geometry calibration."""

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from calibration import (
    Gauge,
    GeometryCalibration,
    GeometryLimits,
    GeometryMeasurements,
    GeometryNoise,
    GeometryPrior,
    HomingRepeatability,
    KnownFrames,
    PosePlan,
    calibrate_geometry,
    next_poses,
    prepare_geometry,
    save_parameters,
    workspace_poses,
)
from dynamics import Mechanism, pose_limits
from kinematics import Array, KinematicsError, forward_kinematics
from rig.csvio import POSE, per_leg, read_table, write_table
from rig.errors import InputError, RefusedError
from rig.services.job import OnEvent, Progress

if TYPE_CHECKING:
    from rig.services.geometry import GeometryRequest

LENGTHS = per_leg("l")
_TARGET = re.compile(r"t(\d+)[xyz]$")
_LEVEL = ("rx", "ry")
_PLACE = ("x", "y", "z")


def read_measurements(path: Path, known: KnownFrames, targets: Path | None) -> GeometryMeasurements:
    """Read measurements from a CSV file; its columns determine their kind.

    Raises:
        InputError: its faults, with their lines. RefusedError: lengths alone.
    """
    count = 0
    columns: tuple[str, ...] = POSE

    def required(names: tuple[str, ...]) -> Sequence[str]:
        nonlocal count, columns
        count, columns = _measured_columns(path, names, targets)
        return *columns, *LENGTHS

    table = read_table(path, required, [("t",)], timed=False)
    lengths, values = table.columns(LENGTHS), table.columns(columns)
    if count:
        places = None if targets is None else read_table(targets, _PLACE, timed=False).columns(_PLACE)
        return GeometryMeasurements(lengths, points=values.reshape(-1, count, 3), target_points=places, known=known)
    return GeometryMeasurements(
        lengths,
        poses=values if columns == POSE else None,
        positions=values if columns == _PLACE else None,
        tilts=values if columns == _LEVEL else None,
        known=known,
    )


def _measured_columns(path: Path, names: Sequence[str], targets: Path | None) -> tuple[int, tuple[str, ...]]:
    """Return the number of measured targets, and the columns besides the lengths; raises as `read_measurements`."""
    count = max((int(match[1]) for match in map(_TARGET.match, names) if match), default=0)
    if targets is not None and not count:
        raise InputError(f"--targets {targets}: {path} has no targets' columns t1x,t1y,t1z,…")
    if set(names) <= {*LENGTHS, "t"} and set(LENGTHS) <= set(names):
        raise RefusedError(
            f"{path}: lengths alone tell nothing of the geometry, as six of them fix the six freedoms of a pose and "
            "nothing is left to contradict them; a level on the platform, columns rx,ry, is the least that makes them "
            "redundant (self-calibration)"
        )
    if count:
        return count, tuple(f"t{target}{axis}" for target in range(1, count + 1) for axis in "xyz")
    if set(_LEVEL) & set(names):
        return 0, _LEVEL
    if set(_PLACE) & set(names) and not set(POSE[3:]) & set(names):
        return 0, _PLACE
    return 0, POSE


def read_homings(path: Path) -> Array:
    """Read lengths (m, 6), m, from a CSV file with l1…l6. Raises InputError."""
    return read_table(path, LENGTHS, [("t",)], timed=False).columns(LENGTHS)


def holds(
    nominal: Mechanism,
    data: Path | None,
    targets: Path | None,
    homing: Path | None,
    noise: GeometryNoise,
    known: KnownFrames,
    planned: bool,
) -> str:
    """Describe the files' content, after checks that need no fit.

    Raises:
        InputError: an invalid file. CalibrationError: invalid numbers in it. RefusedError: as `plan`, if that is their
            purpose.
    """
    parts = [nominal.name]
    if homing is not None:
        parts.append(f"{len(read_homings(homing))} homings")
    if planned:
        parts.append(f"{len(_measured(nominal, data, known))} poses measured already")
    elif data is not None:
        measurements = read_measurements(data, known, targets)
        prepared = prepare_geometry(nominal.geometry, measurements, noise, nominal.length_offsets)
        parts.append(f"{len(prepared.rows)} rows, {_measured_as(measurements)}")
        parts += [f"{prepared.rows[row]} is left out: {reason}" for row, reason in prepared.left_out.items()]
    return ", ".join(parts)


def _measured_as(measurements: GeometryMeasurements) -> str:
    """Describe what was measured at each pose."""
    if measurements.points is not None:
        known = "unknown" if measurements.target_points is None else "known"
        return f"{measurements.points.shape[1]} targets at {known} places"
    if measurements.positions is not None:
        return "the position of one target"
    return "whole poses" if measurements.tilts is None else "the tilts of a level"


def calibrate(
    nominal: Mechanism,
    measurements: GeometryMeasurements,
    noise: GeometryNoise,
    prior: GeometryPrior,
    limits: GeometryLimits,
    hold_out: float,
    progress: OnEvent,
) -> GeometryCalibration:
    """Run the calibration. Raises CalibrationError as `calibrate_geometry`.

    It is judged over the mechanism's workspace, or at the measured poses if its file does not bound that.
    """
    reach = pose_limits(nominal)
    bounded = nominal.geometry.home is not None and bool(np.isfinite(reach.lengths).all())
    return calibrate_geometry(
        nominal.geometry,
        measurements,
        length_offsets=nominal.length_offsets,
        noise=noise,
        prior=prior,
        limits=limits,
        workspace=workspace_poses(nominal.geometry, reach) if bounded else None,
        hold_out=hold_out,
        progress=lambda part: progress(Progress("fitting-geometry", part, 1.0)),
    )


def save(
    path: Path,
    result: GeometryCalibration,
    nominal: Mechanism,
    day: date,
    provenance: dict[str, str],
    homed: HomingRepeatability | None,
) -> None:
    """Write the parameter file, with the repeatability of homing among its findings."""
    findings = {}
    if homed is not None:
        for leg, value in enumerate(homed.standard_deviation, start=1):
            findings[f"homing_standard_deviation_{leg}_m"] = float(value)
    save_parameters(path, result.as_file(nominal.name, day, provenance, findings))


def plan(
    request: "GeometryRequest", nominal: Mechanism, count: int, output: Path, progress: OnEvent
) -> tuple[PosePlan, int]:
    """Write the next `count` poses to measure; return them with their expected information, and the measured count.

    Raises:
        InputError: rows of lengths without a pose of the nominal mechanism.
        CalibrationError: as `next_poses`.
        RefusedError: the mechanism's file gives no home pose, about which poses are searched.
    """
    measured, known = _measured(nominal, request.data, request.frames), request.frames
    found = next_poses(
        nominal.geometry,
        pose_limits(nominal),
        count,
        measured=np.array(measured).reshape(-1, 7),
        noise=request.noise,
        prior=request.prior,
        gauge=Gauge(known not in ("base", "both"), known not in ("platform", "both")),
        seed=request.seed,
        progress=lambda part: progress(Progress("planning", part, 1.0)),
    )
    lengths = found.lengths + nominal.length_offsets
    write_table(output, (*POSE, *LENGTHS), np.hstack([found.poses, lengths]))
    return found, len(measured)


def _measured(nominal: Mechanism, data: Path | None, known: KnownFrames) -> list[Array]:
    """Return the poses of the rows already measured, by the nominal mechanism. Raises as `plan`."""
    if nominal.geometry.home is None:
        raise RefusedError(
            f"mechanism {nominal.name!r} gives no home pose, about which --plan would look for others: add one to a "
            "copy of its file; --data are calibrated without"
        )
    measured: list[Array] = []
    if data is not None:
        lengths = read_measurements(data, known, None).lengths - nominal.length_offsets
        faults = []
        for row, each in enumerate(lengths, start=1):
            try:
                measured.append(forward_kinematics(nominal.geometry, each, nominal.geometry.home_pose))
            except KinematicsError as error:
                faults.append(f"row {row}: {error}")
        if faults:
            raise InputError(f"{data}: lengths that the mechanism has no pose to:", faults)
    return measured
