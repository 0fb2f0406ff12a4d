"""Identification of masses, centres of mass, inertias and friction from recorded motions and forces."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibration import Accuracy, CalibrationError, save_parameters
from rig.errors import InputError, RefusedError
from rig.services.job import Notice, OnEvent, Progress, no_progress
from rig.services.outputs import check_new_file
from rig.services.request import request
from rig.services.sources import Contents, Notices

if TYPE_CHECKING:
    from rig.analysis import Identified


@request
class IdentifyRequest:
    """Recordings of one rig in motion, and prior standard deviations.

    Raises:
        InputError: an invalid number.
    """

    recordings: tuple[Path, ...]
    """recordings to fit"""
    hold_out: tuple[Path, ...] = ()
    """recordings for validation; empty: the last quarter of every motion"""
    output: Path | None = None
    """parameter file to write, never overwritten"""
    mass: float | None = None
    """relative sigma of masses; None: uniform within 20 %"""
    inertia: float | None = None
    """relative sigma of moments of inertia; None: uniform within 20 %"""
    center: float | None = None
    """m, sigma of centres of mass per axis; None: uniform within 3 mm, scaled by the machine's size"""
    friction: float = 0.5
    """relative sigma of friction"""
    gain: float | None = None
    """relative sigma of the load cells' gains; None: by their calibration, else uniform within 1 %"""
    cross_talk: float = 5e-3
    """fraction of a neighbouring leg's force that a cell may read"""
    joints: float | None = None
    """m, sigma of joint positions per axis; None: by the geometry's parameter files, else 30 µm scaled by size"""
    note: str = ""
    """note stored in the file"""

    def __post_init__(self) -> None:
        try:
            Accuracy(**self.stated)
        except CalibrationError as error:
            raise InputError("identification: cannot be used", error.faults) from None

    @property
    def stated(self) -> dict[str, float]:
        """Return the prior, by the names of `calibration.Accuracy`."""
        names = ("mass", "inertia", "center", "friction", "gain", "cross_talk", "joints")
        given = {name: getattr(self, name) for name in names}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True, eq=False)
class IdentifyResult:
    """Result of the service.

    found: parameters, their uncertainties and the verdict; `found.held_out.verdict` is pass, undecided or
    lack_of_fit. parameters_file: the written file, or None. notices: on the recordings.
    """

    found: "Identified"
    parameters_file: Path | None
    notices: tuple[Notice, ...]

    @property
    def fits(self) -> bool:
        """Return whether noise explains the residual, as far as the noise is known."""
        return self.found.held_out.verdict != "lack_of_fit"

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI."""
        path = None if self.parameters_file is None else str(self.parameters_file)
        return self.found.summary() | {"paths": {"parameters_file": path}}


def identify(request: IdentifyRequest, progress: OnEvent = no_progress) -> IdentifyResult:
    """Identify masses, centres of mass, inertias and friction, and write them to a file.

    Weighted least squares on the regressor of the exact model, with the prior; see
    `rig.analysis.identify_recordings`.

    Raises:
        InputError, RecordingError: recordings that cannot be used.
        CalibrationFileError: the file exists already.
        RefusedError: insufficient data, with their shortcomings.
    """
    from rig.analysis import identify_recordings, rig_of

    if request.output is not None:
        check_new_file(request.output)
    notices = Notices(progress)
    recordings = [notices.opened(path) for path in _given(request.recordings)]
    judged = [notices.opened(path) for path in request.hold_out]
    accuracy = Accuracy.of(rig_of(recordings[0]).mechanism, **request.stated)
    try:
        found = identify_recordings(
            recordings,
            judged,
            accuracy,
            lambda stage: progress(Progress(stage)),
            calibrated_gains=request.gain is None,
            calibrated_geometry=request.joints is None,
        )
        if request.output is not None:
            save_parameters(request.output, found.file(date.today(), request.note))
    except CalibrationError as error:
        raise RefusedError("\n  ".join(["identification refused, nothing written:", *error.faults])) from None
    return IdentifyResult(found, request.output, notices.found)


def identify_contents(request: IdentifyRequest, progress: OnEvent = no_progress) -> Contents:
    """Describe the usable parts of the recordings. Raises as `identify` for faults known without a fit."""
    from rig.analysis import force_records

    notices = Notices(progress)
    found = force_records([notices.opened(path) for path in (*_given(request.recordings), *request.hold_out)])
    seconds = sum(len(each.pose) / each.rate for each in found.records)
    motions = f"{len(found.records)} motions, " if len(found.records) > 1 else ""
    return Contents(f"{motions}{seconds:.1f} s, {found.rig.mechanism.name}", notices.found)


def _given(recordings: tuple[Path, ...]) -> tuple[Path, ...]:
    if not recordings:
        raise InputError("no recording is given")
    return recordings
