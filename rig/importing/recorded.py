"""An imported log as a recording: motion, forces and the model, at a constant rate."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from actuators import Mode
from dynamics import Dynamics, DynamicsError, Mechanism
from kinematics import Array, condition_numbers, leg_kinematics, leg_lengths, motion_of_derivatives
from rig.analysis import Smoothing, runs_of
from rig.config import RigConfig
from rig.engine import ClockPair, recording_header
from rig.errors import InputError
from rig.importing.log import Log, without_turns
from rig.importing.sampling import Delay, Stamps
from rig.recording import IMPORTED, Found, MotionRecord, RecordingWriter
from rig.states import MotionKind, MotionOutcome, State
from rig.telemetry import ROW, CycleFlag

_BLOCK = 4096


@dataclass(frozen=True, slots=True, eq=False)
class LegMotions:
    """pose (n, 7), lengths (n, 6) m; motion (n, 19) low-passed. NaN if unknown."""

    pose: Array
    lengths: Array
    motion: Array


@dataclass(frozen=True, slots=True, eq=False)
class ImportedLog:
    """Result of an import: m rows of a cycle at constant `rate`, Hz, and the findings.

    begin: s, the log's own time at the recording's zero. stamps: of the measured motion. source, commanded: the log's
    tables that became measured and commanded motion, the latter None without one. bandwidth: Hz, of the low-pass on
    motions. delay: of measured behind commanded motion, None if unknown. aligned: whether the commanded motion was
    shifted by it. differ: RMS, m, of lengths minus those of the poses, None without both. cycles (m,): indices of the
    rows, those with measured motion, among all n cycles; reference: the commanded motion, or else the measured one.
    forces (n, 6): N, with the sign of a load cell, NaN if missing.
    """

    config: RigConfig
    log: Log
    rate: float
    begin: float
    stamps: Stamps
    source: str
    commanded: str | None
    bandwidth: float
    delay: Delay | None
    aligned: bool
    differ: float | None
    cycles: npt.NDArray[np.intp]
    measured: LegMotions
    reference: LegMotions
    forces: Array
    findings: tuple[Found, ...] = ()

    @property
    def missing(self) -> int:
        """Number of cycles from the first to the last row without a row."""
        return int(self.cycles[-1] + 1 - len(self.cycles))

    @property
    def longest(self) -> int:
        """Rows of the longest stretch without a gap."""
        return max(map(len, np.split(self.cycles, np.flatnonzero(np.diff(self.cycles) > 1) + 1)))

    @property
    def duration(self) -> float:
        """s, from the first to the end of the last cycle."""
        return float((self.cycles[-1] + 1) / self.rate)

    def summary(self) -> dict[str, Any]:
        """Return a summary of the import as a JSON object; SI."""
        log, stamps = self.log, self.stamps
        return {
            **log.origin.as_dict(),
            "mapping": log.mapping.model_dump(mode="json", exclude_none=True),
            "measured": self.source,
            "reference": self.commanded or "measured",
            "forces": "forces" in log.groups,
            "rate_hz": self.rate,
            "own_rate_hz": stamps.rate,
            "begin_s": self.begin,
            "duration_s": self.duration,
            "cycles": len(self.cycles),
            "missing_cycles": self.missing,
            "gaps": int(np.count_nonzero(np.diff(self.cycles) > 1)),
            "longest_gap_s": float(np.diff(self.cycles).max(initial=1) / self.rate) if self.missing else 0.0,
            "longest_stretch_s": self.longest / self.rate,
            "bridged": stamps.bridged,
            "longest_bridged_s": stamps.longest_bridged,
            "forces_missing": int(np.count_nonzero(~np.isfinite(self.forces[self.cycles]).all(axis=1))),
            "duplicates": log.duplicates,
            "disordered": log.disordered,
            "empty_cells": dict(log.empty),
            "jitter_s": stamps.jitter,
            "jitter_max_s": stamps.largest,
            "jitter_followed": stamps.share,
            "jitter_followed_sigma": stamps.sigma,
            "stamps": "sampled" if stamps.sampled else "even",
            "time_noise_s": stamps.time_noise,
            "bandwidth_hz": self.bandwidth,
            "delay_s": None if self.delay is None else self.delay.delay,
            "delay_sigma_s": None if self.delay is None else self.delay.sigma,
            "aligned": self.aligned,
            "lengths_pose_rms_m": self.differ,
            "findings": [each.as_dict() for each in self.findings],
        }

    def header(self) -> dict[str, Any]:
        """Return the header of the recording: that of the configuration, and `imported`, which is the `summary`."""
        header = recording_header(self.config, None, ClockPair(0, 0))
        return header | {"rate": self.rate, "virtual": False, IMPORTED: self.summary()}

    def write(self, path: Path) -> None:
        """Write the recording to a new file, atomically.

        Raises RecordingError if it exists, OSError if the disk fails.
        """
        writer = RecordingWriter(path, self.header())
        try:
            end = self.duration
            run = MotionRecord(
                1, MotionKind.RUN, MotionOutcome.UNDERWAY, 0.0, math.nan, 0.0, end, self.log.origin.file, 1.0
            )
            writer.motion(run)
            for rows in self.blocks():
                writer.write_rows(rows)
            writer.motion(replace(run, outcome=MotionOutcome.FINISHED, end=end, reached=end))
            writer.close({}, dropped=self.missing)
        except BaseException:
            writer.abandon()
            path.unlink(missing_ok=True)
            raise

    def blocks(self) -> Iterator[npt.NDArray[np.void]]:
        """Yield the telemetry rows, block by block."""
        for start in range(0, len(self.cycles), _BLOCK):
            yield self._rows(self.cycles[start : start + _BLOCK])

    def _rows(self, cycles: npt.NDArray[np.intp]) -> npt.NDArray[np.void]:
        rows = np.zeros(len(cycles), ROW)
        measured, reference, machine = self.measured, self.reference, self.config.machine
        rows["cycle"], rows["t"] = cycles, cycles / self.rate
        rows["path_time"], rows["path_rate"] = rows["t"], 1.0
        near = np.searchsorted(self.cycles, cycles)
        rows["period"] = np.where(near > 0, cycles - self.cycles[near - 1], 1) / self.rate
        rows["lateness"] = rows["exchange_time"] = rows["compute_time"] = np.nan
        rows["reference"], rows["pose"] = reference.motion[cycles], measured.pose[cycles]
        rows["twist"], rows["length"] = measured.motion[cycles, 7:13], measured.lengths[cycles]
        rows["length_reference"], rows["force_measured"] = reference.lengths[cycles], self.forces[cycles]
        rows["velocity"] = speeds_of(machine, measured.motion[cycles])
        rows["velocity_reference"] = speeds_of(machine, reference.motion[cycles])
        rows["position_command"] = np.nan
        rows["condition"] = np.nan
        places = np.isfinite(rows["reference"][:, :7]).all(axis=1)
        size = self.config.safety.characteristic_length
        rows["condition"][places] = condition_numbers(machine.geometry, rows["reference"][places, :7], size)
        rows["force_model"], rows["terms"] = modelled(self.config, rows["reference"])
        rows["force_residual"] = rows["force_measured"] - rows["force_model"]
        rows["flags"] = CycleFlag.FRESH | CycleFlag.HOMED | CycleFlag.POSE
        rows["motion"], rows["state"], rows["mode"] = 1, State.RUNNING, Mode.POSITION
        return rows


def low_passed_motion(pose: Array, smoothing: Smoothing) -> Array:
    """Compute the motion (n, 19) of poses (n, 7), NaN if missing, low-passed with its derivatives.

    smoothing: applied twice, so that pose, twist and acceleration belong to one signal. Within 2 `half` of the ends
    of a stretch the motion is NaN.
    """
    motion = np.full((len(pose), 19), np.nan)
    for run in runs_of(np.asarray(np.isfinite(pose).all(axis=1))):
        if len(run) <= 4 * smoothing.half:
            continue
        signed = pose[run].copy()
        signed[:, 3:] = without_turns(signed[:, 3:])
        once, rising = smoothing(signed), smoothing.derivative(signed)
        inner = run[2 * smoothing.half : len(run) - 2 * smoothing.half]
        motion[inner] = motion_of_derivatives(smoothing(once), smoothing(rising), smoothing.derivative(rising))
    return motion


def modelled(config: RigConfig, motions: Array) -> tuple[Array, Array]:
    """Compute the model's cell forces (n, 6) and terms (n, 5, 6), N, of motions (n, 19); NaN without a motion.

    Raises InputError if the model has no solution.
    """
    cells, terms = np.full((len(motions), 6), np.nan), np.full((len(motions), 5, 6), np.nan)
    dynamics = Dynamics(config.machine, config.control.coulomb_speed)
    for row in np.flatnonzero(np.isfinite(motions).all(axis=1)):
        try:
            found = dynamics.cell_and_terms(np.ascontiguousarray(motions[row]))
        except DynamicsError as error:
            place = ", ".join(f"{value:.4g}" for value in motions[row, :7])
            raise InputError(f"the motion is none of {config.machine.name}, at the pose {place}: {error}") from None
        cells[row], terms[row] = found.cells, found.terms
    return cells, terms


def speeds_of(mechanism: Mechanism, motions: Array) -> Array:
    """Leg speeds (n, 6), m/s, of motions (n, 19); NaN without a motion."""
    speeds = np.full((len(motions), 6), np.nan)
    known = np.isfinite(motions).all(axis=1)
    if known.any():
        speeds[known] = leg_kinematics(mechanism.geometry, motions[known]).velocity
    return speeds


def lengths_of(mechanism: Mechanism, poses: Array) -> Array:
    """Leg lengths (n, 6), m, of poses (n, 7); NaN without a pose."""
    lengths = np.full((len(poses), 6), np.nan)
    known = np.isfinite(poses).all(axis=1)
    if known.any():
        lengths[known] = leg_lengths(mechanism.geometry, poses[known])
    return lengths
