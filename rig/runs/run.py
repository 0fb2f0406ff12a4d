"""One run: an executed motion, its recorded metadata, and its numbers as in `rig report`."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from kinematics import Thresholds
from rig.config import GIVEN, RIG, Validation
from rig.findings import finding_to_json
from rig.recording import Injection, MotionPart, MotionRecord, Recorded, RecordingError, cause_of, injection, part_name
from rig.states import MotionKind, MotionOutcome, enum_name

_BEGUN, _ENDED = ("injected", "on"), ("cleared", "ended")
_EVERY = "every leg"
CUT_OFF = "cut off"
"""Outcome of a run whose recording ends first."""


@dataclass(frozen=True, slots=True)
class Run:
    """A recorded run; times are rig times, s.

    While it is underway, `end` is None and `reached` unknown. `begun` is None without a wall
    clock, `amplitude` if not recorded, `duration` for a motion without a defined end.
    """

    recording: str
    """name of the recording file"""
    motion: int
    """id in the recording"""
    name: str
    """name of the motion"""
    amplitude: float | None
    operator: str
    note: str
    begun: str | None
    """UTC, ISO 8601"""
    begin: float
    end: float | None
    reached: float
    """s along its path"""
    duration: float | None
    outcome: str
    """"finished", "stopped", "abandoned", "fault", "underway", or "cut off" if the recording lacks its end"""
    injected: tuple[str, ...]
    """virtual-rig faults active during the run"""
    cause: str
    """first cause of the stop that ended it, empty without a stop"""
    thresholds: dict[str, float]
    """thresholds of the motion's own file, SI, by name"""
    finding: str = ""
    """finding of the cause as JSON, see `rig.findings.finding_from_json`; empty if not recorded"""

    @property
    def id(self) -> str:
        """Return FILE#ID, as used in commands."""
        return part_name(self.recording, self.motion)


def runs_of(recording: Recorded) -> list[Run]:
    """Return the runs of a recording in order; none for one from before motions were recorded.

    Raises RecordingError when the file changes meanwhile.
    """
    runs = [motion for motion in recording.motions if motion.kind == MotionKind.RUN]
    open_ended = [motion for motion in runs if motion.outcome == MotionOutcome.UNDERWAY]
    cut = {} if recording.underway else {motion.id: _cut(recording, motion) for motion in open_ended}
    return [
        replace(_run(recording, cut[motion.id]), outcome=CUT_OFF) if motion.id in cut else _run(recording, motion)
        for motion in runs
    ]


def _cut(recording: Recorded, motion: MotionRecord) -> MotionRecord:
    """Complete a motion without a recorded end (engine crash or truncated file) from its rows."""
    try:
        part = MotionPart(recording, motion.id)
    except RecordingError:  # it has no rows
        return replace(motion, end=motion.start, reached=0.0)
    end, reached = motion.start, 0.0
    for block in part.blocks():
        rows = block[block["motion"] == motion.id]
        if len(rows):
            end = float(rows["t"][-1])
            reached = max(reached, float(np.max(rows["path_time"][np.isfinite(rows["path_time"])], initial=0.0)))
    return replace(motion, end=end, reached=min(reached, motion.duration) if motion.duration > 0.0 else reached)


def _run(recording: Recorded, motion: MotionRecord) -> Run:
    header: dict[str, Any] = recording.header
    wall = header.get("clock", {}).get("wall_ns", 0)
    until = math.inf if math.isnan(motion.end) else motion.end
    begun_ns = motion.begun_ns or (wall and wall + round(motion.start * 1e9))  # rig time may differ from the wall clock
    begun = datetime.fromtimestamp(begun_ns / 1e9, UTC).isoformat(timespec="seconds") if begun_ns else None
    cause, finding = cause_of(motion, recording.events)[1:]
    injections = [found for event in recording.events if (found := injection(event)) is not None]
    return Run(
        recording=recording.path.name,
        motion=motion.id,
        name=motion.name,
        amplitude=motion.amplitude or None,
        operator=header.get("operator") or "",
        note=header.get("note") or "",
        begun=begun,
        begin=motion.start,
        end=None if math.isnan(motion.end) else motion.end,
        reached=motion.reached,
        duration=motion.duration if 0.0 < motion.duration < math.inf else None,
        outcome=enum_name(MotionOutcome, motion.outcome).lower(),
        injected=tuple(_on_between(injections, motion.start, until)),
        cause=cause,
        thresholds=motion.own_thresholds.named,
        finding="" if finding is None else finding_to_json(finding),
    )


def _on_between(injections: Iterable[Injection], begin: float, end: float) -> list[str]:
    """Return the faults active between `begin` and `end`, s, without duplicates, in order of their start."""
    on: list[str] = []
    for found in injections:
        if found.t > end:
            break
        what = found.text
        if found.action in _BEGUN and what not in on:
            on.append(what)
        elif found.action in _ENDED and found.t < begin:
            name = what.split(",")[0]
            on = [one for one in on if not (one.startswith(what) or (_EVERY in one and one.split(",")[0] == name))]
    return on


_LEFT_OUT = ("spectrum", "dependence", "criteria", "verdict", "reasons", "confidence", "noticed", "own")
"""keys of a validation that a verdict does not need, or that belong to the verdict"""
_CYCLE_KEYS = (
    "rate_hz",
    "rate_measured_hz",
    "cycles",
    "overruns",
    "period_error_p99_us",
    "period_error_max_us",
    "stale_feedback",
)
_FULL = 0.999
"""Fraction above which a run counts as at full speed."""
NUMBERS = ("residual_n", "position_m", "rotation_rad", "peak_force_n", "peak_residual_n", "period_error_s")
"""Keys of the headline numbers in `headline`, in display order."""


def numbers_of(part: MotionPart) -> dict[str, Any]:
    """Return numbers and verdict of a run, a JSON object.

    Keys: `headline` (N RMS over all legs, m RMS, rad RMS, N, N, s: see `NUMBERS`), `verdict`, `reasons`, `criteria`,
    `confidence`, `noticed`, `own` (see `rig.report.validate`, by the thresholds recorded), `validation` (its numbers),
    `noise_n`, `tracking`, `cycle`, `speed` (the largest fraction of full speed, null for full speed), `rows`,
    `dropped`, `config_sha256`, `machine_sha256`, `mechanism_sha256`.
    Raises RecordingError when the file changes meanwhile.
    """
    from rig.report import machine_sha256, summarize, validate  # loads matplotlib, which listings do not need

    summary = summarize(part)
    found, speed = validate(part, summary), summary["window"]["speed"]
    cycle = {key: summary["cycle"][key] for key in _CYCLE_KEYS}
    peaks = [leg["peak_measured_n"] for leg in summary["force"]["legs"] if leg["peak_measured_n"] is not None]
    tracking = {key: value for key, value in summary["tracking"].items() if key != "legs"}
    return {
        "headline": {
            "residual_n": found["together"]["rms_n"],
            "position_m": tracking["position_rms_m"],
            "rotation_rad": tracking["rotation_rms_rad"],
            "peak_force_n": max(peaks, default=None),
            "peak_residual_n": found["together"]["peak_n"],
            "period_error_s": summary["window"]["period_error_p99_s"],
        },
        "verdict": found["verdict"],
        "reasons": found["reasons"],
        "criteria": found["criteria"],
        "confidence": found["confidence"],
        "noticed": found["noticed"],
        "own": found["own"],
        "validation": {key: value for key, value in found.items() if key not in _LEFT_OUT},
        "noise_n": found["noise_n"],
        "tracking": tracking,
        "cycle": cycle,
        "speed": None if speed is None or speed > _FULL else speed,
        "rows": part.count,
        "dropped": part.dropped,
        "config_sha256": part.header.get("config_sha256"),
        "machine_sha256": machine_sha256(part.header),
        "mechanism_sha256": part.header.get("mechanism_sha256"),
    }


def judge_again(numbers: Mapping[str, Any], thresholds: Validation, *, alone: bool = False) -> dict[str, Any]:
    """Return the numbers judged by thresholds other than the rig's; those of the motion's file take precedence.

    `alone`: use only these thresholds and ignore the motion's file.
    """
    from rig.report import judged

    own = Thresholds.model_validate(numbers["own"])
    found = judged(
        thresholds, numbers["validation"], numbers["noise_n"], None if alone else own, GIVEN if alone else RIG
    )
    return {**numbers, **found, "own": numbers["own"]}
