"""Estimation of the payload's mass, centre of mass and inertia with the load cells."""

from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibration import (
    CALIBRATED_CELLS,
    Accuracy,
    CalibrationError,
    Parameter,
    ParameterFile,
    UnidentifiablePayloadError,
    loaded_platform,
    nominal_platform,
    payload_names,
    payload_sigma,
    payload_values,
    save_parameters,
)
from rig import __version__
from rig.errors import InputError, RefusedError
from rig.services.job import Notice, OnEvent, Progress, no_progress
from rig.services.outputs import check_new_file
from rig.services.request import request
from rig.services.sources import Contents, Notices

if TYPE_CHECKING:
    from calibration import PayloadEstimate
    from rig.analysis import Weighing
    from rig.recording import RecordingFile

_UNITS = ("kg", "m", "m", "m", *["kg m²"] * 6)


@request
class WeighRequest:
    """Recordings with the payload on the platform, and prior data of the rig without it.

    Raises:
        InputError: an invalid number, or both of `without` and `without_span`.
    """

    recordings: tuple[Path, ...]
    """recordings with the payload"""
    without: Path | None = None
    """a recording without it"""
    without_span: tuple[float, float] | None = None
    """s, rig time: an interval of the first recording without it"""
    during: tuple[float, float] | None = None
    """s, rig time with it; None: everything"""
    at_rest: bool = False
    """poses at rest only: mass and centre of mass, no inertia"""
    bandwidth: float = 10.0
    """Hz, low-pass cutoff for both cells and model"""
    noise: float | None = None
    """N, standard deviation of each load cell's noise; None: the recording's"""
    mass: float | None = None
    """relative sigma of masses without a parameter file; None: uniform within 20 %"""
    inertia: float | None = None
    """the same of moments of inertia; None: uniform within 20 %"""
    center: float | None = None
    """the same of centres of mass, m, per axis; None: uniform within 3 mm, scaled by the machine's size"""
    zero_change: float | None = None
    """N, sigma of a cell's zero change between recordings; None: by its calibration"""
    output: Path | None = None
    """parameter file of the platform with its payload to write, never overwritten"""
    day: date | None = None
    """date of the file; None: today"""

    def __post_init__(self) -> None:
        if self.without is not None and self.without_span is not None:
            raise InputError("without the payload: give a recording or a stretch of the first, not both")
        try:
            Accuracy(**self.stated)
        except CalibrationError as error:
            raise InputError("weighing: cannot be used", error.faults) from None

    @property
    def stated(self) -> dict[str, float]:
        """Return the prior, by the names of `calibration.Accuracy`."""
        given = {"mass": self.mass, "inertia": self.inertia, "center": self.center}
        return {name: value for name, value in given.items() if value is not None} | CALIBRATED_CELLS


@dataclass(frozen=True, slots=True, eq=False)
class WeighResult:
    """Result of the service.

    found: the payload, its uncertainty, and the quality of the fit. file: the platform with its payload, and the
    payload as `nuisance`. parameters_file: the written file, or None. notices: for the user. damaged: whether a
    recording is.
    """

    found: "PayloadEstimate"
    file: ParameterFile
    parameters_file: Path | None
    notices: tuple[Notice, ...]
    damaged: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI."""
        found, file = self.found, self.file
        counts = {
            name: value if name.startswith(("chi", "freedom")) else int(value) for name, value in file.findings.items()
        }
        return {
            "mechanism": file.mechanism,
            "cells": [
                {"leg": leg + 1, "residual_before_n": old, "residual_after_n": new}
                for leg, (old, new) in enumerate(zip(found.before.tolist(), found.after.tolist(), strict=True))
            ],
            "payload": [asdict(each) for each in file.nuisance],
            "parameters": [asdict(each) for each in file.parameters],
            "inertia": found.has_inertia,
            "chi_square": found.chi_square,
            **counts,
            "provenance": dict(file.provenance),
            "output": None if self.parameters_file is None else str(self.parameters_file),
        }


def weigh(request: WeighRequest, progress: OnEvent = no_progress) -> WeighResult:
    """Weigh a payload: mass and centre of mass from poses at rest, and inertia from a motion.

    Raises:
        InputError, RecordingError: recordings that cannot be used.
        CalibrationFileError: the file exists already.
        RefusedError: insufficient data, or a model that does not fit them.
    """
    if request.output is not None:
        check_new_file(request.output)
    notices = Notices(progress)
    opened, weighing = _weighing(request, notices, progress)
    poses, moving = weighing.counts(loaded=True)
    progress(Progress("fitting-payload"))
    in_motion = moving > 0 and not request.at_rest
    if not in_motion and not poses:
        raise InputError("payload: the platform neither rested under power with its pose known, nor moved")
    try:
        try:
            found = weighing.fit(inertia=in_motion)
        except UnidentifiablePayloadError as error:
            if not in_motion or not poses:
                raise
            notices.add("rest-only", f"the motion does not tell everything, only poses at rest are used:\n  {error}")
            found = weighing.fit(inertia=False)
        file = _file(found, weighing, opened, request)
    except CalibrationError as error:
        raise RefusedError("\n  ".join(["weighing refused, nothing written:", *error.faults])) from None
    if request.output is not None:
        save_parameters(request.output, file)
    return WeighResult(found, file, request.output, notices.found, any(one.doubts for one in opened))


def weigh_contents(request: WeighRequest, progress: OnEvent = no_progress) -> Contents:
    """Describe the usable parts of the recordings. Raises as `weigh` for faults known without a fit."""
    notices = Notices(progress)
    _, weighing = _weighing(request, notices, progress)
    poses, moving = weighing.counts(loaded=True)
    text = f"{poses} poses at rest, {moving} samples in motion, {weighing.rig.mechanism.name}"
    return Contents(text, notices.found)


def _weighing(request: WeighRequest, notices: Notices, progress: OnEvent) -> "tuple[list[RecordingFile], Weighing]":
    from rig.analysis import Stretch, rig_of, weighing_of

    if not request.recordings:
        raise InputError("no recording is given")
    opened = [notices.opened(path) for path in request.recordings]
    bare = None
    if request.without is not None:
        bare = Stretch(notices.opened(request.without))
    elif request.without_span is not None:
        bare = Stretch(opened[0], request.without_span)
    progress(Progress("reading-recordings"))
    weighing = weighing_of(
        [Stretch(one, request.during) for one in opened],
        bare,
        bandwidth=request.bandwidth,
        noise=request.noise,
        accuracy=Accuracy.of(rig_of(opened[0]).mechanism, **request.stated),
        change=request.zero_change,
    )
    return opened, weighing


def _file(
    found: "PayloadEstimate",
    weighing: "Weighing",
    opened: "list[RecordingFile]",
    request: WeighRequest,
) -> "ParameterFile":
    mechanism = weighing.rig.mechanism
    names, values, covariance = loaded_platform(mechanism, found)
    count = len(names)
    rows = zip(names, _UNITS, nominal_platform(mechanism, count), values, np.sqrt(np.diag(covariance)), strict=False)
    poses, moving = weighing.counts(loaded=True)
    bare_poses, bare_moving = weighing.counts(loaded=False)
    known = "by parameter files" if weighing.nuisance.identified else "by the mechanism's file, to what is stated"
    if request.without is not None:
        known = f"without the payload: {request.without}"
    elif request.without_span is not None:
        known = f"without the payload: {','.join(f'{time:.12g}' for time in request.without_span)}"
    own = zip(payload_names(count), _UNITS, payload_values(found.theta), payload_sigma(found), strict=False)
    return ParameterFile(
        kind="payload",
        date=date.today() if request.day is None else request.day,
        mechanism=mechanism.name,
        parameters=tuple(
            Parameter(name, unit, float(nominal), float(value), float(sigma))
            for name, unit, nominal, value, sigma in rows
        ),
        nuisance=tuple(Parameter(name, unit, 0.0, float(value), float(sigma)) for name, unit, value, sigma in own),
        covariance=covariance,
        provenance={
            "recordings": ", ".join(str(one.path) for one in opened),
            "mechanism_sha256": str(opened[0].header.get("mechanism_sha256", "")),
            "platform": known,
            "software": f"stewart-rig {__version__}",
        },
        findings={
            "chi_square_at_rest": found.rest.chi_square,
            "freedom_at_rest": found.rest.freedom,
            "chi_square_in_motion": found.motion.chi_square,
            "freedom_in_motion": found.motion.freedom,
            "poses": float(poses),
            "samples_in_motion": float(moving if found.has_inertia else 0),
            "poses_without": float(bare_poses),
            "samples_in_motion_without": float(bare_moving if found.has_inertia else 0),
        },
    )
