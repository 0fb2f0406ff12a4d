"""Identification of inertias and frictions from recordings: stretches of motion for fit and hold-out."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt

from actuators import Mode
from calibration import (
    Accuracy,
    CellErrors,
    ForceHoldOut,
    ForceRecord,
    Identification,
    IdentificationSettings,
    LoadCellCalibration,
    Parameter,
    ParameterFile,
    hold_out,
    identify,
    reported_parameters,
)
from dynamics import LINEAR_NAMES, linear_parameters
from kinematics import Array
from rig.analysis.recorded import (
    RecordedRig,
    check_forces,
    recorded_calibration,
    recorded_cell_errors,
    recorded_parameters,
    rig_of,
)
from rig.analysis.zero_order_hold import drive_forces
from rig.errors import InputError
from rig.recording import Recorded
from rig.states import State
from rig.version import __version__

Floats = npt.NDArray[np.float64]

_FIELDS = ("t", "pose", "force_measured", "force_command", "mode")
_SAME_PERIOD = 0.5  # of a period, tolerance of the time between two rows
SHORTEST = 5.5
"""shortest useful stretch, s"""
_SHORTEST_HOLD_OUT = 3.0  # s, for validation only
_HOLD_OUT = 0.25  # fraction at the end of a motion
_STATIONARY = 1e-4  # m/s, greatest leg speed at rest
_SPAN = 25  # readings, window for the change between readings
_AT_REST = 1000
"""minimum number of steps of readings at rest for the noise, which is then known to about 2 %"""
REPEATED = 0.2
"""fraction of equal successive readings that real noise never reaches"""


@dataclass(frozen=True, slots=True, eq=False)
class ForceRecords:
    """The common rig of one or more recordings, and their stretches along paths.

    cells: corrections of the cells' readings by the engine. calibration: of the cells, or None. geometry: its parameter
    files. noise: (6,) N, of the cells at rest in these recordings; without enough rest, as configured; None if
    neither.
    """

    rig: RecordedRig
    records: tuple[ForceRecord, ...]
    cells: CellErrors
    calibration: LoadCellCalibration | None
    geometry: tuple[ParameterFile, ...]
    noise: Floats | None


def force_records(recordings: Sequence[Recorded]) -> ForceRecords:
    """Find all stretches of the recordings along a path, with known pose and cells, without a gap.

    They include the drives' forces if the engine closed every leg's loop: its commands after the dead time and lag
    of the configured drives.

    Raises InputError, with all reasons, for recordings of several rigs, one given twice, cells with repeated
    readings, or no stretch that is long enough; RecordingError for one that cannot be read.
    """
    rigs = [rig_of(recording) for recording in recordings]
    for recording in recordings:
        check_forces(recording, "masses and frictions need")
    cells = [recorded_cell_errors(recording) for recording in recordings]
    faults = []
    first = rigs[0].mechanism
    files = [recording.path.resolve() for recording in recordings]
    faults += [f"{recordings[k].path}: given twice" for k, file in enumerate(files) if file in files[:k]]
    for recording, rig, errors in zip(recordings, rigs, cells, strict=True):
        if recording.header.get("calibration") != recordings[0].header.get("calibration"):
            faults.append(f"{recording.path}: recorded with another calibration of its cells than {recordings[0].path}")
        if not errors.same(cells[0]):
            faults.append(f"{recording.path}: its cells were corrected otherwise than those of {recordings[0].path}")
        if not np.array_equal(rig.mechanism.array, first.array):
            faults.append(f"{recording.path}: of another mechanism than {recordings[0].path}")
        if rig.rate != rigs[0].rate:
            faults.append(f"{recording.path}: {rig.rate:g} Hz, {recordings[0].path} has {rigs[0].rate:g} Hz")
    records: list[ForceRecord] = []
    at_rest: list[Floats] = []
    for recording, rig in zip(recordings, rigs, strict=True):
        found, steps = _stretches(recording, rig)
        at_rest += steps
        if not found:
            faults.append(
                f"{recording.path}: no motion along a path of {SHORTEST:g} s without a gap, with its pose known"
            )
        for record in found:
            alike = float(np.mean(np.all(record.cells[1:] == record.cells[:-1], axis=1)))
            if alike > REPEATED + _chance_repeats(record, rig):
                faults.append(
                    f"{recording.path}: {100 * alike:.0f} % of the readings repeat the one before: the cells are "
                    "slower than the cycle; record at a rate that they keep"
                )
        records += found
    if faults:
        raise InputError("these recordings cannot be used:", list(dict.fromkeys(faults)))
    return ForceRecords(
        rig=rigs[0],
        records=tuple(records),
        cells=cells[0],
        calibration=recorded_calibration(recordings[0]),
        geometry=tuple(file for file in recorded_parameters(recordings[0]) if file.kind == "geometry"),
        noise=_noise(at_rest, rigs[0]),
    )


def _chance_repeats(record: ForceRecord, rig: RecordedRig) -> float:
    """Expected fraction of readings in which all working cells repeat because of coarse steps.

    A reading repeats while force and noise stay within a step q: after a change d with the probability
    1 − |d|/q. The changes are estimated from the readings, over a few of them.
    """
    if not (rig.cell_steps > 0.0).any():
        return 0.0
    slope = np.abs(record.cells[_SPAN:] - record.cells[:-_SPAN]) / _SPAN
    with np.errstate(divide="ignore", invalid="ignore"):
        same = np.where(rig.cell_steps > 0.0, 1.0 - slope / rig.cell_steps, 0.0)
    return float(np.mean(np.prod(np.clip(same, 0.0, 1.0), axis=1)))


def _steps_at_rest(block: npt.NDArray[np.void], period: float) -> Floats:
    """Differences (n, 6) N of successive readings of a block while the platform is at rest."""
    at_rest = np.all(np.abs(block["velocity"]) < _STATIONARY, axis=1) & np.isfinite(block["force_measured"]).all(axis=1)
    steps = np.diff(block["force_measured"], axis=0)
    found: Floats = steps[at_rest[1:] & at_rest[:-1] & (np.diff(block["t"]) < (1.0 + _SAME_PERIOD) * period)]
    return found


def _noise(steps: Sequence[Floats], rig: RecordedRig) -> Floats | None:
    """Standard deviation (6,) N of white noise, from half the mean square of its steps; else the configured one.

    Noise below half a step of the readings is invisible at rest; then the configured value is used.
    """
    stated = rig.noise
    everything = np.concatenate([np.empty((0, 6)), *steps])
    if len(everything) >= _AT_REST:
        spread: Floats = np.sqrt(0.5 * np.mean(everything**2, axis=0))
        if (spread > 0.5 * rig.cell_steps).all() and (spread > 0.0).all():
            return spread
    return None if stated is None else np.full(6, stated)


def split(records: Sequence[ForceRecord]) -> tuple[list[ForceRecord], list[ForceRecord]]:
    """Split the stretches into fitted parts and their last quarters for hold-out, if both are long enough."""
    fitted, judged = [], []
    for record in records:
        at = round((1.0 - _HOLD_OUT) * len(record.pose))
        if (len(record.pose) - at) / record.rate < _SHORTEST_HOLD_OUT or at / record.rate < SHORTEST:
            fitted.append(record)
            continue
        fitted.append(_part(record, slice(0, at)))
        judged.append(_part(record, slice(at, None)))
    return fitted, judged


def _part(record: ForceRecord, rows: slice) -> ForceRecord:
    drives = None if record.drives is None else record.drives[rows]
    excess = None if record.excess is None else record.excess[rows]
    return replace(
        record,
        pose=record.pose[rows],
        cells=record.cells[rows],
        drives=drives,
        excess=excess,
        begin=record.begin + (rows.start or 0) / record.rate,
    )


def _stretches(recording: Recorded, rig: RecordedRig) -> tuple[list[ForceRecord], list[Floats]]:
    """Return the stretches of a recording, and steps of the readings at rest, in one pass."""
    period = 1.0 / rig.rate
    config: dict[str, Any] = recording.header.get("config", {})
    limit = config.get("load_cells", {}).get("range")
    pieces: list[npt.NDArray[np.void]] = []
    at_rest = []
    for block in recording.blocks():
        at_rest.append(_steps_at_rest(block, period))
        fit = (block["state"] == State.RUNNING) & np.isfinite(block["pose"]).all(axis=1)
        fit &= np.isfinite(block["force_measured"]).all(axis=1)
        if fit.any():
            pieces.append(block[list(_FIELDS)][fit].copy())
    if not pieces:
        return [], at_rest
    rows = np.concatenate(pieces)
    breaks = np.flatnonzero(np.abs(np.diff(rows["t"]) - period) > _SAME_PERIOD * period) + 1
    found = []
    for part in np.split(rows, breaks):
        if len(part) * period < SHORTEST:
            continue
        mean = excess = None
        if (part["mode"] == Mode.FORCE).all():
            mean, excess = drive_forces(part["force_command"], period, config.get("drives", {}))
        found.append(
            ForceRecord(
                rate=rig.rate,
                pose=np.ascontiguousarray(part["pose"]),
                cells=np.ascontiguousarray(part["force_measured"]),
                drives=mean,
                excess=excess,
                range=float(limit) if isinstance(limit, int | float) else math.inf,
                source=str(recording.path.resolve()),
                begin=float(part["t"][0]),
                steps=rig.cell_steps,
            )
        )
    return found, at_rest


_BY_WEIGHT = 3.0
TERM_NAMES = {
    "stribeck": "Stribeck friction",
    "viscous_power": "viscous friction that is not proportional to the speed",
    "presliding": "presliding friction",
    "friction_warm_up": "friction that falls as the drive warms up",
    "position_friction": "friction that depends on the position",
    "curvature": "a load cell that is not linear",
    "hysteresis": "hysteresis of a load cell",
    "zero_warm_up": "a load cell that warms up",
    "zero_jump": "a jump of a load cell's zero",
    "far_cross_talk": "cross-talk between legs that are no neighbours",
    "tilt": "a base that is not level",
    "external_force": "something that pulls on the platform, such as a hose",
    "backlash": "backlash",
    "geometry": "joints or lengths less accurate than stated",
    "lag": "cell readings later than stated",
    "compliance": "legs more compliant than stated",
    "held_set_points": "drives that hold set-points constant between cycles",
}
"""Names of the terms beyond the model, by code."""


@dataclass(frozen=True, slots=True, eq=False)
class Identified:
    """Result from recordings: the identification, its hold-out, and both by the names of the mechanism's file."""

    result: Identification
    held_out: ForceHoldOut
    parameters: tuple[Parameter, ...]
    covariance: Array
    nuisance: tuple[Parameter, ...]
    sources: tuple[str, ...]

    @property
    def base(self) -> list[Parameter]:
        """The identifiable combinations of linear parameters, each named after the first of its combination."""
        base, nominal = self.result.base, linear_parameters(self.result.nominal)
        before, after = base.matrix @ nominal, base.matrix @ self.result.theta
        return [
            Parameter(name, unit, float(before[k]), float(after[k]), float(self.result.base_sigma[k]))
            for k, (name, unit) in enumerate(zip(base.names, base.units, strict=True))
        ]

    def file(self, day: date, note: str = "") -> ParameterFile:
        """Return the result as a dated parameter file."""
        provenance = {"recordings": ", ".join(self.sources), "software": f"stewart-rig {__version__}"}
        if note:
            provenance["note"] = note
        return ParameterFile(
            kind="inertia",
            date=day,
            mechanism=self.result.nominal.name,
            parameters=self.parameters,
            nuisance=self.nuisance,
            covariance=self.covariance,
            provenance=provenance,
            findings={
                "residual_before_n": self.held_out.before,
                "residual_after_n": self.held_out.after,
                "noise_n": self.held_out.noise,
                "consistent": self.result.consistent,
                "fits": self.held_out.verdict == "pass",
            },
        )

    def summary(self) -> dict[str, Any]:
        """Return the result as a JSON object in SI; `base_parameters` have their combinations of linear parameters."""
        result, errors = self.result, self.held_out
        return {
            "mechanism": result.nominal.name,
            "parameters": [_parameter_summary(each) for each in (*self.parameters, *self.nuisance)],
            "base_parameters": [
                _parameter_summary(each)
                | {"told": bool(result.identifiable[k]), "combination": result.base.combination(k)}
                for k, each in enumerate(self.base)
            ],
            "holdout": {
                "residual_before_n": errors.before,
                "residual_after_n": errors.after,
                "noise_n": errors.noise,
                "legs": [
                    {"leg": leg + 1, "residual_before_n": before, "residual_after_n": after, "noise_n": noise}
                    for leg, (before, after, noise) in enumerate(
                        np.column_stack((errors.legs_before, errors.legs_after, errors.legs_noise)).tolist()
                    )
                ],
            },
            "verdict": errors.verdict,
            "misfits": [
                {
                    "leg": each.leg + 1,
                    "band_hz": list(each.band),
                    "residual_n": each.residual,
                    "noise_n": each.noise,
                    "held_out": each.held_out,
                }
                for each in errors.misfits
            ],
            "terms": [
                {
                    "code": each.code,
                    "leg": None if each.leg is None else each.leg + 1,
                    "size_n": each.size,
                    "evidence_nepers": each.evidence,
                }
                for each in errors.suspects
            ],
            "spikes": result.spikes.tolist(),
            "consistent": result.consistent,
            "drives_used": result.drives,
            "linear_parameters": list(LINEAR_NAMES),
            "sources": list(self.sources),
        }


def identify_recordings(
    recordings: Sequence[Recorded],
    held_out: Sequence[Recorded] = (),
    accuracy: Accuracy | None = None,
    progress: Callable[[str], None] = lambda _step: None,
    *,
    calibrated_gains: bool = True,
    calibrated_geometry: bool = True,
) -> Identified:
    """Identify the rig of recordings from the motions in them.

    Args:
        recordings: of one rig. held_out: of the same, for the hold-out; none: the last quarter of every motion.
        accuracy: of the mechanism's file and the sensors.
        progress: receives the code of each stage as it begins: reading-recordings, fitting-parameters, judging.
        calibrated_gains: take the gains' uncertainty from the calibration of the cells, if any, instead of
            `accuracy`.
        calibrated_geometry: the same for joints and length offsets, from the files of a calibrated geometry.

    Raises:
        InputError: invalid recordings. CalibrationError: insufficient data.
    """
    progress("reading-recordings")
    found = force_records([*recordings, *held_out])
    settings = IdentificationSettings(
        accuracy=accuracy,
        coulomb_speed=found.rig.coulomb_speed,
        noise=found.noise,
        gains=_known_gains(found.calibration) if calibrated_gains else None,
        geometry=found.geometry if calibrated_geometry else (),
    )
    if held_out:
        fitted = list(force_records(recordings).records)
        judged = list(force_records(held_out).records)
    else:
        fitted, judged = split(found.records)
    if not judged:
        raise InputError(
            "no motion is long enough to be judged by its last quarter, which takes some 12 s: give another recording "
            "to judge by"
        )
    progress("fitting-parameters")
    result = identify(found.rig.mechanism, fitted, settings)
    progress("judging")
    judgement = hold_out(result, fitted, judged, settings.coulomb_speed)
    parameters, covariance, nuisance = reported_parameters(result, found.cells)
    sources = tuple(recording.path.name for recording in (*recordings, *held_out))
    return Identified(result, judgement, parameters, covariance, nuisance, sources)


def _known_gains(calibration: LoadCellCalibration | None) -> Array | None:
    """Covariance (6, 6) of the gains from their calibration.

    A calibration in place used the weights that are now estimated, so both have the same errors. As independent data
    they would confirm each other; the gains' σ are therefore multiplied by `_BY_WEIGHT`.
    """
    gains = None if calibration is None else calibration.gain_covariance
    if gains is None or calibration is None or not calibration.in_place:
        return gains
    wider: Array = _BY_WEIGHT**2 * gains
    return wider


def _parameter_summary(parameter: Parameter) -> dict[str, Any]:
    return {name: getattr(parameter, name) for name in ("name", "unit", "nominal", "value", "sigma")}
