"""A recording's motions as stretches of measured poses and forces, for the estimators of `calibration`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from actuators import Mode
from calibration import CellErrors, ForceRecord, LoadCellCalibration, ParameterFile
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

Floats = npt.NDArray[np.float64]

_FIELDS = ("t", "pose", "force_measured", "force_command", "mode")
_SAME_PERIOD = 0.5  # of a period, by which the time between two rows may differ from it
SHORTEST = 5.5
"""s, of a stretch that is worth a filter"""
_SHORTEST_HELD = 3.0  # s, of what is only judged by
_HELD_OUT = 0.25  # of a motion, its end
_STILL = 1e-4  # m/s, of every leg
_SPAN = 25  # readings, over which the change from one to the next is taken
_AT_REST = 1000
"""steps of readings at rest, fewer of which do not tell the noise: it is known to some 2 % then"""
REPEATED = 0.2
"""of the readings, which real noise never makes alike"""


@dataclass(frozen=True, slots=True, eq=False)
class ForceRecords:
    """The rig of one or several recordings, which is the same, and their stretches along paths.

    cells: what the engine corrected the cells' readings by already. calibration: of the cells, or None. geometry: the
    parameter files that tell it. noise: (6,) N, of the cells while the platform
    stood still in these recordings; where it did not for long enough, as the configuration states it; None if neither.
    """

    rig: RecordedRig
    records: tuple[ForceRecord, ...]
    cells: CellErrors
    calibration: LoadCellCalibration | None
    geometry: tuple[ParameterFile, ...]
    noise: Floats | None


def force_records(recordings: Sequence[Recorded]) -> ForceRecords:
    """All stretches of the recordings in which the platform followed a path, its pose and cells known, without a gap.

    The drives' forces are with them where the engine closed every leg's loop: its commands through the dead time and
    the lag that the configuration gives the drives.

    Raises InputError, with every reason, for recordings of several rigs, one that is given twice, cells that repeat
    their readings, or nothing that is long enough; RecordingError where one cannot be read.
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
            if alike > REPEATED + _alike_by_chance(record, rig):
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


def _alike_by_chance(record: ForceRecord, rig: RecordedRig) -> float:
    """Share of the readings in which all cells repeat themselves although they live: their steps are coarse.

    A reading is as its last one while the force, and its noise, stay within a step q: of a change d with the
    probability 1 − |d|/q. The changes are those of the readings themselves, over a few of them.
    """
    if not (rig.cell_steps > 0.0).any():
        return 0.0
    slope = np.abs(record.cells[_SPAN:] - record.cells[:-_SPAN]) / _SPAN
    with np.errstate(divide="ignore", invalid="ignore"):
        same = np.where(rig.cell_steps > 0.0, 1.0 - slope / rig.cell_steps, 0.0)
    return float(np.mean(np.prod(np.clip(same, 0.0, 1.0), axis=1)))


def _steps_at_rest(block: npt.NDArray[np.void], period: float) -> Floats:
    """Differences (n, 6) N of successive readings of a block while the platform stands still."""
    still = np.all(np.abs(block["velocity"]) < _STILL, axis=1) & np.isfinite(block["force_measured"]).all(axis=1)
    steps = np.diff(block["force_measured"], axis=0)
    found: Floats = steps[still[1:] & still[:-1] & (np.diff(block["t"]) < (1.0 + _SAME_PERIOD) * period)]
    return found


def _noise(steps: Sequence[Floats], rig: RecordedRig) -> Floats | None:
    """Standard deviation (6,) N of white noise by its steps, whose half square's mean it is; else the stated one.

    Less than half a step of the readings does not show while the force stands still: there the stated one holds.
    """
    stated = rig.noise
    everything = np.concatenate([np.empty((0, 6)), *steps])
    if len(everything) >= _AT_REST:
        spread: Floats = np.sqrt(0.5 * np.mean(everything**2, axis=0))
        if (spread > 0.5 * rig.cell_steps).all() and (spread > 0.0).all():
            return spread
    return None if stated is None else np.full(6, stated)


def split(records: Sequence[ForceRecord]) -> tuple[list[ForceRecord], list[ForceRecord]]:
    """What is fitted, and the last quarter of each stretch, which is held out where both are long enough."""
    fitted, held = [], []
    for record in records:
        at = round((1.0 - _HELD_OUT) * len(record.pose))
        if (len(record.pose) - at) / record.rate < _SHORTEST_HELD or at / record.rate < SHORTEST:
            fitted.append(record)
            continue
        fitted.append(_part(record, slice(0, at)))
        held.append(_part(record, slice(at, None)))
    return fitted, held


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
    """The stretches of a recording, and steps of the readings at rest: it is read once."""
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
