"""The numbers of one run: those of `rig report` for its part of the recording, and the verdict on them."""

from collections.abc import Mapping
from typing import Any

from kinematics import Thresholds
from rig.config import GIVEN, RIG, Validation
from rig.recording import MotionPart

_LEFT_OUT = ("spectrum", "dependence", "criteria", "verdict", "reasons", "confidence", "noticed", "own")
"""of a validation: what a verdict does not need, and what it is itself"""
_SAID_OF_CYCLE = (
    "rate_hz",
    "rate_measured_hz",
    "cycles",
    "overruns",
    "period_error_p99_us",
    "period_error_max_us",
    "stale_feedback",
)
_FULL = 0.999
"""Part of its speed from which on a run was followed at all of it."""
NUMBERS = ("residual_n", "position_m", "rotation_rad", "peak_force_n", "peak_residual_n", "period_error_s")
"""Keys of the headline numbers in `headline`, in the order in which they are shown."""


def numbers_of(part: MotionPart) -> dict[str, Any]:
    """Numbers and verdict of a run, a JSON object.

    Keys: `headline` (N RMS over all legs, m RMS, rad RMS, N, N, s: see `NUMBERS`), `verdict`, `reasons`, `criteria`,
    `confidence`, `noticed`, `own` (see `rig.report.validate`, by the thresholds recorded), `validation` (its numbers),
    `noise_n`, `tracking`, `cycle`, `speed` (the greatest part of full speed, null where that is all of it), `rows`,
    `dropped`, `config_sha256`, `machine_sha256`, `mechanism_sha256`.
    Raises RecordingError when the file changes meanwhile.
    """
    from rig.report import machine_sha256, summarize, validate  # brings matplotlib, for which no listing waits

    summary = summarize(part)
    found, speed = validate(part, summary), summary["window"]["speed"]
    cycle = {key: summary["cycle"][key] for key in _SAID_OF_CYCLE}
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
    """The same numbers with the verdict by other thresholds than the rig's, those of the motion's own file before them.

    `alone`: by nothing but these, whatever the motion's file says.
    """
    from rig.report import judged

    own = Thresholds.model_validate(numbers["own"])
    found = judged(
        thresholds, numbers["validation"], numbers["noise_n"], None if alone else own, GIVEN if alone else RIG
    )
    return {**numbers, **found, "own": numbers["own"]}
