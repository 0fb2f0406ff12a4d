"""The published models beside what a rig measures: carried to the load cells, where they can be compared."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamics import Dynamics, Mechanism, papers

Floats = npt.NDArray[np.float64]


def comparable_rows(rows: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
    """Mask (n,) of the telemetry rows (n,) in which models can be judged: a reference and six residuals are there."""
    known: npt.NDArray[np.bool_] = np.isfinite(rows["force_residual"]).all(axis=1)
    known &= np.isfinite(rows["reference"]).all(axis=1)
    return known


def model_differences(
    mechanism: Mechanism, motions: Floats, models: Collection[str], coulomb_speed: float = 0.0
) -> dict[str, Floats]:
    """What the load cells read by models less what they read by the exact one, (n, 6) N by name, of motions (n, 19).

    Each model is carried to the cells by its own reactions, see `dynamics.variant_cells`. A row's `force_model` plus
    the difference is that model at the cells, its `force_residual` minus the difference what it leaves unexplained:
    exactly so where cells are read at the cycle's time. Of readings with a time of their own it is still that
    of the cycle's.

    models: of `dynamics.MODELS`; coulomb_speed: m/s, the control's.
    Raises DynamicsError for a motion that is not finite or not one, SingularityError where forces are not determined.
    """
    exact = Dynamics(mechanism, coulomb_speed=coulomb_speed).cells(motions)
    return {
        model: np.zeros_like(exact) if model == "exact" else papers.variant_cells(model, mechanism, motions) - exact
        for model in models
    }


def recorded_coulomb_speed(header: Mapping[str, Any]) -> float:
    """Speed, m/s, over which the control of a recording smooths Coulomb friction; 0 where its header does not say."""
    return float(header.get("config", {}).get("control", {}).get("coulomb_speed", 0.0))
