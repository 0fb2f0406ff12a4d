"""The published models converted to load-cell readings for comparison with measurements."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamics import Dynamics, Mechanism, papers

Floats = npt.NDArray[np.float64]


def comparable_rows(rows: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
    """Return the mask (n,) of telemetry rows (n,) with a reference and six residuals, in which models can be judged."""
    known: npt.NDArray[np.bool_] = np.isfinite(rows["force_residual"]).all(axis=1)
    known &= np.isfinite(rows["reference"]).all(axis=1)
    return known


def model_differences(
    mechanism: Mechanism,
    motions: Floats,
    models: Collection[str],
    coulomb_speed: float = 0.0,
    friction: papers.FrictionChoice = "same",
) -> dict[str, Floats]:
    """Return the models' load-cell readings less the exact model's, (n, 6) N by name, of motions (n, 19).

    Each model is converted to cell readings by its own reactions, see `dynamics.variant_cells`. A row's `force_model`
    plus the difference is that model at the cells, its `force_residual` minus the difference is that model's residual:
    exact if cells are read at the cycle's time. For readings with their own time the difference is still that
    of the cycle's.

    models: of `dynamics.MODELS`; coulomb_speed: m/s, the control's; friction: of the published models, see
    `dynamics.papers.variant_forces`, so that with the same in each they differ by their treatment of masses alone.
    Raises DynamicsError for an invalid or non-finite motion, SingularityError if forces are undetermined.
    """
    exact = Dynamics(mechanism, coulomb_speed=coulomb_speed).cells(motions)

    def less_exact(model: str) -> Floats:
        if model == "exact":
            return np.zeros_like(exact)
        given = papers.variant_cells(model, mechanism, motions, friction=friction, coulomb_speed=coulomb_speed)
        return np.asarray(given - exact)

    return {model: less_exact(model) for model in models}


def recorded_coulomb_speed(header: Mapping[str, Any]) -> float:
    """Return the Coulomb smoothing speed, m/s, of a recording's control; 0 if its header does not give it."""
    return float(header.get("config", {}).get("control", {}).get("coulomb_speed", 0.0))
