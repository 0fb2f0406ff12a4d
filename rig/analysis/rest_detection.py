"""Where the platform rests in a recording, and what its load cells read there, uncalibrated."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration import (
    LoadCellCalibration,
    Rests,
    cell_errors,
    identity,
    parse_cell_calibration,
    parse_parameters,
    rounding_of_mean,
)
from rig.analysis.recorded import RecordedRig, check_forces, rig_of
from rig.analysis.residuals import STANDING
from rig.analysis.smoothing import Floats
from rig.errors import InputError
from rig.recording import Recorded
from rig.telemetry import CycleFlag

STILL = np.array([1e-3] * 3 + [5e-3] * 3)
"""m/s, rad/s, below which the platform rests."""
LEAST_REST = 0.3
"""s"""

_ENDS = 0.1  # s at both ends of a rest that are left out: a motion begins and ends with accelerations, but slowly
_GAP = 1.5  # periods, beyond which two rows do not follow each other
_FIELDS = ("t", "pose", "twist", "force_measured")
_CELLS = 6


@dataclass(frozen=True, slots=True, eq=False)
class RecordedRests:
    """Rests of one or several recordings, the rig that made them, and the calibration that it had."""

    rig: RecordedRig
    rests: Rests
    before: LoadCellCalibration


def runs_of(mask: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.intp]]:
    """Places of each stretch in which a mask (n,) holds."""
    places = np.flatnonzero(mask)
    return np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(places) else []


def recorded_rests(recordings: Sequence[Recorded]) -> RecordedRests:
    """All rests of recordings of one rig: under power, slower than `STILL` for `LEAST_REST`, pose and cells known.

    The recording's forces are turned back into the readings that its calibration made them of. A cell that is read
    more slowly than the cycle counts as often as its readings change.

    Raises:
        InputError: recordings of several rigs, of several calibrations, or with zeros of parameter files in the forces.
        RecordingError: one cannot be read.
    """
    rigs = [rig_of(recording) for recording in recordings]
    for recording in recordings:
        check_forces(recording, "a calibration of the load cells needs")
    texts = [recording.header.get("calibration") for recording in recordings]
    faults = []
    for recording, rig, text in zip(recordings, rigs, texts, strict=True):
        if rig.rate != rigs[0].rate or not np.array_equal(rig.mechanism.array, rigs[0].mechanism.array):
            faults.append(f"{recording.path}: of another mechanism or rate than {recordings[0].path}")
        if text != texts[0]:
            faults.append(f"{recording.path}: recorded with another calibration of its cells than {recordings[0].path}")
        files = recording.header.get("parameters", {})
        if cell_errors(parse_parameters(each, name) for name, each in files.items()):
            faults.append(
                f"{recording.path}: its forces are corrected by parameter files ({', '.join(files)}), and would be "
                "after this calibration as well: record without those files"
            )
    if faults:
        raise InputError("these recordings cannot be used:", faults)
    before = identity() if texts[0] is None else parse_cell_calibration(texts[0], "recorded calibration")
    found = [rest for recording in recordings for rest in _rests(recording, rigs[0], before)]
    columns = [np.array([rest[part] for rest in found]) for part in range(5)]
    shapes = ((7,), (_CELLS,), (_CELLS,), (), (6,))
    poses, readings, noise, counts, twists = (
        values.reshape(-1, *shape) for values, shape in zip(columns, shapes, strict=True)
    )
    return RecordedRests(rigs[0], Rests(poses, readings, noise, counts, twists), before)


def _rests(
    recording: Recorded, rig: RecordedRig, before: LoadCellCalibration
) -> list[tuple[Floats, Floats, Floats, float, Floats]]:
    pieces, rate, steps = [], rig.rate, rig.cell_steps
    for rows in recording.blocks():
        fit = np.isin(rows["state"], STANDING) & ((rows["flags"] & CycleFlag.POSE) != 0)
        for name in _FIELDS[1:]:
            fit &= np.isfinite(rows[name]).all(axis=1)
        fit &= (np.abs(rows["twist"]) < STILL).all(axis=1)
        pieces.append(rows[list(_FIELDS)][fit].copy())
    if not pieces:
        return []
    rows = np.concatenate(pieces)
    found = []
    for part in np.split(rows, np.flatnonzero(np.diff(rows["t"]) * rate > _GAP) + 1):
        if len(part) < round(LEAST_REST * rate):
            continue
        left_out = round(_ENDS * rate)
        part = part[left_out : len(part) - left_out]
        if len(part) < 2:
            continue
        raw = part["force_measured"] / before.gain + before.offset
        changes = 1 + np.count_nonzero((np.diff(raw, axis=0) != 0.0).any(axis=1))
        noise, step = raw.std(axis=0, ddof=1), steps / np.abs(before.gain)
        beside = np.sqrt(np.maximum(noise**2 - step**2 / 12.0, 0.0))  # of the cell, before it was rounded
        of_mean = rounding_of_mean(beside, step)
        found.append(
            (
                part["pose"][len(part) // 2].copy(),
                raw.mean(axis=0),
                np.hypot(noise, of_mean * np.sqrt(changes)),
                float(changes),
                part["twist"].mean(axis=0),
            )
        )
    return found
