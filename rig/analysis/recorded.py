"""The rig of a recording, for analyses, and its residuals."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from calibration import (
    CalibrationError,
    CellErrors,
    LoadCellCalibration,
    ParameterFile,
    cell_errors,
    parse_cell_calibration,
    parse_parameters,
)
from dynamics import Mechanism, parse_mechanism
from kinematics import Array
from rig.analysis.residuals import Residuals, residuals_of
from rig.analysis.smoothing import Smoothing
from rig.cell_models import recorded_coulomb_speed
from rig.errors import InputError
from rig.recording import (
    Finding,
    Recorded,
    RecordingError,
    has_finding,
    imported_from,
    recorded_cell_noise,
    recorded_cell_steps,
    recorded_rounding,
)


@dataclass(frozen=True, slots=True)
class RecordedRig:
    """The engine's mechanism, its cycle rate, Hz, the cells' noise, N, and Coulomb smoothing.

    noise: including the cells' rounding to `cell_steps` (6,) N, which are 0 if unknown. rounding: (6,) N,
    standard deviation of rounding in a mean of readings at rest.
    drives: of the configuration, or None if their delay and force_bandwidth are unknown, or for an imported motion.
    """

    mechanism: Mechanism
    rate: float
    noise: float | None
    cell_steps: Array
    rounding: Array
    coulomb_speed: float
    drives: Mapping[str, Any] | None


def rig_of(recording: Recorded) -> RecordedRig:
    """Return the rig of a recording's header. Raises RecordingError if it is missing, MechanismError for its text."""
    header = recording.header
    config = header.get("config", {})
    text, rate = header.get("mechanism"), header.get("rate", config.get("rate"))
    if not isinstance(text, str) or not isinstance(rate, int | float) or not rate > 0:
        raise RecordingError(f"{recording.path}: holds no mechanism or no rate, nothing can be computed from it")
    drives = {} if imported_from(header) is not None else config.get("drives", {})
    return RecordedRig(
        mechanism=parse_mechanism(text, source="recorded mechanism", evaluate_only=True),
        rate=float(rate),
        noise=recorded_cell_noise(header),
        cell_steps=recorded_cell_steps(header),
        rounding=recorded_rounding(header),
        coulomb_speed=recorded_coulomb_speed(header),
        drives=drives if {"delay", "force_bandwidth"} <= drives.keys() else None,
    )


def check_forces(recording: Recorded, what: str) -> None:
    """Reject a recording that was imported without leg forces, if `what` needs them. Raises InputError."""
    if has_finding(recording.header, Finding.NO_FORCES):
        name = imported_from(recording.header)
        raise InputError(f"{recording.path}: imported from {name} without leg forces, which {what}")


def recorded_cell_errors(recording: Recorded) -> CellErrors:
    """Return the engine's corrections of the cells' readings from the embedded parameter files of a recording.

    Raises RecordingError if these cannot be read.
    """
    try:
        return cell_errors(recorded_parameters(recording))
    except CalibrationError as error:
        raise RecordingError(f"{recording.path}: its parameter files cannot be used: {error}") from None


def recorded_calibration(recording: Recorded) -> LoadCellCalibration | None:
    """Return the calibration of the cells of a recording, None without one. Raises RecordingError."""
    text = recording.header.get("calibration")
    try:
        return None if text is None else parse_cell_calibration(text, "recorded calibration")
    except CalibrationError as error:
        raise RecordingError(f"{recording.path}: its cells' calibration cannot be read: {error}") from None


def recorded_parameters(recording: Recorded) -> list[ParameterFile]:
    """Return the parameter files of a recording. Raises RecordingError if these cannot be read."""
    texts = recording.header.get("parameters") or {}
    try:
        return [parse_parameters(text, name) for name, text in texts.items()]
    except CalibrationError as error:
        raise RecordingError(f"{recording.path}: its parameter files cannot be read: {error}") from None


def recorded_residuals(
    recording: Recorded, smoothing: Smoothing, span: tuple[float, float] | None = None
) -> Iterator[Residuals]:
    """Yield the residuals of a recording in pieces without a gap, see `residuals_of`; only of a span of its time, s.

    Raises RecordingError if the file changes meanwhile.
    """
    found = rig_of(recording)
    check_forces(recording, "an external wrench and a payload need")
    blocks = recording.blocks()
    if span is not None:
        begin, end = span
        if not begin < end:
            raise InputError(f"span: {begin:g} to {end:g} s, must begin before it ends")
        blocks = (rows[(rows["t"] >= begin) & (rows["t"] <= end)] for rows in blocks)
    yield from residuals_of(blocks, found.mechanism, smoothing, found.coulomb_speed, found.drives)
