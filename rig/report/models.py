"""Comparison of the published models with the exact one by their residuals in a recording."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dynamics import papers, parse_mechanism
from rig.cell_models import comparable_rows, model_differences, recorded_coulomb_speed
from rig.recording import Recorded, RecordingError
from rig.report.streaming import Moments
from rig.report.summary import window_of
from rig.report.validation import PairedTest, block_numbers

MOST_ROWS = 100_000
"""Approximate maximum number of compared rows, evenly spaced: every model is evaluated at each."""


def compare_models(
    recording: Recorded, summary: Mapping[str, Any], friction: papers.FrictionChoice = "same"
) -> list[dict[str, Any]]:
    """Return residuals of every model over the covered rows, subsampled in a long window.

    Every model's reactions are converted to load-cell readings, see `model_differences`. One entry per model:
    `model`, `rms_residual_n` (6 legs), at the cells `rms_difference_n` (6 legs) and `peak_difference_n` from the exact
    model, `rows`, and `test`: whether it is worse than the exact one, see `PairedTest` (null for the exact one itself).
    Raises RecordingError when the recording holds no mechanism, MechanismError when it cannot be used.
    """
    text = recording.header.get("mechanism")
    if not isinstance(text, str):
        raise RecordingError(f"{recording.path}: contains no mechanism, the models cannot be computed")
    mechanism = parse_mechanism(text, source="recorded mechanism", evaluate_only=True)
    coulomb_speed = recorded_coulomb_speed(recording.header)
    residuals = {model: Moments(6) for model in papers.MODELS}
    differences = {model: Moments(6) for model in papers.MODELS}
    tests = {model: PairedTest() for model in papers.MODELS if model != "exact"}
    whole, rate = summary["window"]["rows"], summary["cycle"]["rate_hz"] or 1.0
    stride = -(-whole // MOST_ROWS) or 1
    seen = taken = compared = 0
    for block in recording.blocks():
        rows = block[window_of(block, seen, summary)]
        seen += len(block)
        numbers = block_numbers(taken, len(rows), whole, rate)
        wanted = comparable_rows(rows) & ((np.arange(len(rows)) + taken) % stride == 0)
        taken += len(rows)
        rows, numbers = rows[wanted], numbers[wanted]
        if not len(rows):
            continue
        compared += len(rows)
        motions = np.ascontiguousarray(rows["reference"])
        for model, difference in model_differences(mechanism, motions, papers.MODELS, coulomb_speed, friction).items():
            residuals[model].add(rows["force_residual"] - difference)
            differences[model].add(difference)
            if model in tests:
                tests[model].add(rows["force_residual"], rows["force_residual"] - difference, numbers)
    if residuals["exact"].rms() is None:
        return []
    return [
        {
            "model": model,
            "rms_residual_n": [residuals[model].rms(leg) for leg in range(6)],
            "rms_difference_n": [differences[model].rms(leg) for leg in range(6)],
            "peak_difference_n": max(differences[model].peak(leg) or 0.0 for leg in range(6)),
            "rows": compared,
            "test": tests[model].result() if model in tests else None,
        }
        for model in papers.MODELS
    ]
