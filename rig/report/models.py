"""The published models beside the exact one: how well each explains the forces that a recording holds."""

from typing import Any

import numpy as np

from dynamics import MODELS, parse_mechanism
from rig.models import comparable_rows, model_differences, recorded_coulomb_speed
from rig.recording import Recording, RecordingError
from rig.report.summary import window_of


def compare_models(recording: Recording) -> list[dict[str, Any]]:
    """Residuals of every model over the rows that the report's numbers cover.

    A published model is carried to the load cells by its difference from the exact actuator force, which the cell
    passes on unchanged. One entry a model: `model`, `rms_residual_n` (6 legs), `rms_difference_n` (6 legs) and
    `peak_difference_n` from the exact model.
    Raises RecordingError when the recording holds no mechanism, MechanismError when it cannot be used.
    """
    text = recording.header.get("mechanism")
    if not isinstance(text, str):
        raise RecordingError(f"{recording.path}: holds no mechanism, the models cannot be computed")
    mechanism = parse_mechanism(text, source="recorded mechanism", evaluate_only=True)
    rows = recording.rows[window_of(recording.rows)]
    rows = rows[comparable_rows(rows)]
    if not len(rows):
        return []
    motions = np.ascontiguousarray(rows["reference"])
    differences = model_differences(mechanism, motions, MODELS, recorded_coulomb_speed(recording.header))
    entries = []
    for model, difference in differences.items():
        residual = rows["force_residual"] - difference
        entries.append(
            {
                "model": model,
                "rms_residual_n": np.sqrt(np.mean(residual**2, axis=0)).tolist(),
                "rms_difference_n": np.sqrt(np.mean(difference**2, axis=0)).tolist(),
                "peak_difference_n": float(np.abs(difference).max()),
            }
        )
    return entries
