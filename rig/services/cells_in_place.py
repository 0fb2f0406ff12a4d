"""In-place load-cell calibration: gain, offset and polarity from the platform's known weight, at rest in many poses."""

from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from calibration import (
    CalibrationError,
    InPlaceCalibration,
    Limits,
    LoadCellCalibration,
    Provenance,
    WeightPlan,
    WeightSigmas,
    calibrate_in_place,
    judge,
    plan_weight_poses,
    save_cell_calibration,
)
from dynamics import machine_size
from rig.errors import InputError, RefusedError
from rig.services.job import Notice, OnEvent, Progress, no_progress
from rig.services.outputs import check_new_file
from rig.services.request import request
from rig.services.sources import Contents, Notices


@request
class CellsInPlaceRequest:
    """Recordings of one rig at rest in many poses, and standard deviations of its masses."""

    recordings: tuple[Path, ...]
    output: Path | None = None
    """calibration to write, never overwritten"""
    mass_sigma: float = 0.0
    """kg, standard deviation of the platform's mass; common to all gains"""
    center_sigma: float = 0.0
    """m, of its centre of mass, per axis"""
    leg_mass_sigma: float = 0.2
    """of the mass of each leg body, relative"""
    leg_center_sigma: float | None = None
    """m, of its centre of mass, per axis; None: 3 mm, scaled by the machine's size"""
    gain_limit: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] = 1.0
    """%, maximum uncertainty of a gain by noise"""
    drift_limit: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] | None = None
    """N, limit of the zero's drift; None: 0.5 N, scaled by the machine's size"""
    day: date | None = None
    """date of the calibration; None: today"""
    operator: str = ""
    """stored in the file, like the following"""
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class CellsInPlaceResult:
    """Result of the service.

    found: the fit, its residuals, and its hold-out. calibration: also if it is refused. before: the
    calibration used for the recordings. mechanism: its name. refused: its faults, or
    empty. calibration_file: the written file, or None. notices: for the user.
    """

    found: InPlaceCalibration
    calibration: LoadCellCalibration
    before: LoadCellCalibration
    mechanism: str
    refused: tuple[str, ...]
    calibration_file: Path | None
    notices: tuple[Notice, ...]

    @property
    def refusal(self) -> str:
        """Return the faults as a message; empty if there are none."""
        return "\n  ".join(["calibration refused, nothing written", *self.refused]) if self.refused else ""

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI."""
        found, calibration = self.found, self.calibration
        return {
            "verdict": "refused" if self.refused else "ok",
            "faults": list(self.refused),
            "mechanism": self.mechanism,
            "date": calibration.date.isoformat(),
            "unit": calibration.unit,
            "poses": len(found.rests),
            "left_out": list(found.left_out),
            "reversed": list(found.reversed),
            "friction": list(found.friction),
            "chi_square": found.chi_square,
            "cells": [
                {"leg": leg + 1}
                | asdict(cell)
                | {
                    "hold_out_n": float(found.hold_out[leg]),
                    "noise_n": float(found.expected[leg]),
                    "gain_before": self.before.cells[leg].gain,
                    "offset_before": self.before.cells[leg].offset,
                }
                for leg, cell in enumerate(calibration.cells)
            ],
            "rests": [
                {"rest": row, "used": bool(used), "forces_n": forces, "residuals_n": residuals}
                for row, (used, forces, residuals) in enumerate(
                    zip(found.used, found.forces.tolist(), found.residual.tolist(), strict=True), start=1
                )
            ],
            "covariance": found.covariance.tolist(),
            "paths": {"calibration": None if self.calibration_file is None else str(self.calibration_file)},
        }


def calibrate_cells_in_place(request: CellsInPlaceRequest, progress: OnEvent = no_progress) -> CellsInPlaceResult:
    """Fit gain, offset and polarity of each cell, check them on held-out poses, and write them if within bounds.

    Raises:
        InputError, RecordingError: recordings that cannot be used.
        CalibrationFileError: the file exists already.
        RefusedError: insufficient data, with the legs and what would help.
    """
    from rig.analysis import recorded_rests

    if request.output is not None:
        check_new_file(request.output)
    notices = Notices(progress)
    opened = [notices.opened(path) for path in _given(request)]
    stated = {"mass": request.mass_sigma, "center": request.center_sigma, "leg_mass": request.leg_mass_sigma}
    if request.leg_center_sigma is not None:
        stated["leg_center"] = request.leg_center_sigma
    progress(Progress("reading-recordings"))
    data = recorded_rests(opened)
    mechanism, before = data.rig.mechanism, data.before
    drift_limit = request.drift_limit
    if drift_limit is None:
        drift_limit = Limits().drift * machine_size(mechanism).force
    progress(Progress("fitting-cells"))
    try:
        found = calibrate_in_place(
            mechanism,
            data.rests,
            expected_gain=before.gain,
            weights=WeightSigmas.of(mechanism, **stated),
            gain_limit=0.01 * request.gain_limit,
        )
    except CalibrationError as error:
        raise RefusedError("\n  ".join(["calibration refused, nothing written", *error.faults])) from None
    known = f"± {request.mass_sigma:g} kg" if request.mass_sigma else "kg, taken as exact"
    weight = f"the platform of {mechanism.name}, {mechanism.mass:g} {known}, and its legs"
    source = f"in place, {len(data.rests)} rests of {', '.join(each.path.name for each in opened)}"
    calibration = found.calibration(
        date.today() if request.day is None else request.day,
        float(np.linalg.norm(mechanism.gravity)),
        unit=before.unit,
        serials=before.serials,
        drift_limit=drift_limit,
        provenance=Provenance(request.operator, before.provenance.place, weight, source, request.note),
    )
    reasons = tuple(reason for leg in judge(calibration, Limits(drift=drift_limit)) for reason in leg)
    written = None if reasons else request.output
    if written is not None:
        save_cell_calibration(written, calibration)
    _report_doubts(found, request.mass_sigma, notices)
    return CellsInPlaceResult(found, calibration, before, mechanism.name, reasons, written, notices.found)


def cells_in_place_contents(request: CellsInPlaceRequest, progress: OnEvent = no_progress) -> Contents:
    """Describe the usable recorded data. Raises as `calibrate_cells_in_place` for faults known without a fit."""
    from rig.analysis import recorded_rests

    notices = Notices(progress)
    opened = [notices.opened(path) for path in _given(request)]
    progress(Progress("reading-recordings"))
    data = recorded_rests(opened)
    text = f"{len(data.rests)} rests, {data.rig.mechanism.name}, cells in {data.before.unit}"
    return Contents(text, notices.found)


def _given(request: CellsInPlaceRequest) -> tuple[Path, ...]:
    if not request.recordings:
        raise InputError("no recording is given")
    return request.recordings


def _report_doubts(found: InPlaceCalibration, mass_sigma: float, notices: Notices) -> None:
    if found.reversed:
        legs = ", ".join(map(str, found.reversed))
        notices.add("reversed", f"polarity reversed at leg {legs}: the calibration turns it round; look at the wiring")
    if found.left_out:
        poses = ", ".join(map(str, found.left_out))
        notices.add(
            "left-out", f"left out, as they do not fit the others (something touched the platform?): rest {poses}"
        )
    if found.friction:
        legs = ", ".join(map(str, found.friction))
        notices.add(
            "friction", f"the cell of leg {legs} is at the actuator: it reads friction at rest, which is in the ± given"
        )
    if found.chi_square > 2.0:
        notices.add(
            "misfit",
            f"the fit is worse than the noise (reduced χ² {found.chi_square:.1f}): the mechanism's masses or geometry "
            "are not the rig's; the ± given are enlarged by it",
        )
    if not mass_sigma:
        notices.add(
            "mass-exact", "the platform's mass counts as exact: its error would scale all gains; say it by --mass-sigma"
        )


@request
class PlanCellsRequest:
    """Request for poses that vary the leg loads as much as the configuration's limits allow."""

    config: str
    """a configuration's file, or the name of a shipped one"""
    poses: Annotated[int, Field(ge=1, le=400)]
    output: Path = Path("weight-poses.toml")
    """trajectory file to write"""
    hold: Annotated[float, Field(ge=0.5, le=60.0)] = 1.5
    """s at each pose"""
    seed: Annotated[int, Field(ge=0)] = 0
    """seed of the candidate poses"""


@dataclass(frozen=True, slots=True, eq=False)
class PlanCellsResult:
    """Result: the trajectory file, its duration, s, its poses, and the cell forces there."""

    trajectory: Path
    duration: float
    found: WeightPlan

    @property
    def poses(self) -> int:
        """Return the number of poses to measure."""
        return int(self.found.holds.sum())

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI."""
        forces = self.found.forces
        return {
            "trajectory": str(self.trajectory),
            "duration_s": self.duration,
            "poses": self.poses,
            "forces_n": {"least": forces.min(axis=0).tolist(), "greatest": forces.max(axis=0).tolist()},
        }


def plan_cells_in_place(request: PlanCellsRequest, progress: OnEvent = no_progress) -> PlanCellsResult:
    """Write a trajectory of poses at rest for `calibrate_cells_in_place`, checked as by `rig check`.

    Raises:
        InputError: the configuration, or a file that cannot be written.
        RefusedError: no poses can be planned, or the motion is outside the limits.
    """
    from kinematics import load_trajectory
    from rig.client import checked_motion, write_weight_plan
    from rig.config import load_config
    from rig.csvio import check_output

    settings = load_config(request.config)
    check_output(request.output)
    try:
        found = plan_weight_poses(
            settings.machine,
            request.poses,
            seed=request.seed,
            progress=lambda part: progress(Progress("planning", part, 1.0)),
        )
    except CalibrationError as error:
        raise RefusedError("\n  ".join(["no poses can be planned:", *error.faults])) from None
    write_weight_plan(request.output, found, request.hold)
    trajectory = load_trajectory(request.output, settings.machine.geometry.home)
    _, verdict = checked_motion(settings, trajectory)
    if not verdict.passed:
        request.output.unlink()
        raise RefusedError(f"the planned motion is refused: {verdict.message}\n  try another --seed")
    return PlanCellsResult(request.output, trajectory.duration, found)


def plan_cells_contents(request: PlanCellsRequest, progress: OnEvent = no_progress) -> Contents:
    """Describe the purpose of the planned poses. Raises InputError for the configuration."""
    from rig.config import load_config

    del progress
    machine = load_config(request.config).machine
    return Contents(f"{machine.name}, a platform of {machine.mass:g} kg")
