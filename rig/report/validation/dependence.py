"""Dependence of the residual on the legs' speed, as of friction, or on their acceleration, as of mass."""

from typing import Any

import numpy as np

from kinematics import Geometry, leg_kinematics
from rig.report.streaming import Floats
from rig.report.validation.band import Samples

_BINS = 24
_MIN_SAMPLES = 20
"""Minimum samples of a reported bin."""
_TAILS = (0.5, 99.5)
"""%: the bins leave out the sparse ends."""


def dependence(samples: Samples, geometry: Geometry) -> dict[str, Any] | None:
    """Return each leg's mean residual over its reference speed and acceleration.

    Returns:
        `speed` and `acceleration`, each with `legs` 1 to 6 of `at` (m/s or m/s²: centres of bins of equal width),
        `mean_n` and `spread_n` (standard deviation, N), without bins of few samples; None without motion.
    """
    legs = leg_kinematics(geometry, samples.motions)
    found = {
        "speed": _profile(legs.velocity, samples.residuals),
        "acceleration": _profile(legs.acceleration, samples.residuals),
    }
    return found if any(leg["at"] for each in found.values() for leg in each["legs"]) else None


def _profile(values: Floats, residuals: Floats) -> dict[str, Any]:
    return {"legs": [_binned(values[:, leg], residuals[:, leg]) | {"leg": leg + 1} for leg in range(6)]}


def _binned(values: Floats, residuals: Floats) -> dict[str, Any]:
    known = np.isfinite(values) & np.isfinite(residuals)
    values, residuals = values[known], residuals[known]
    low, high = np.percentile(values, _TAILS) if len(values) else (0.0, 0.0)
    if not high > low:
        return {"at": [], "mean_n": [], "spread_n": []}
    places = np.floor((values - low) / (high - low) * _BINS).astype(int)
    inside = (places >= 0) & (places < _BINS)
    places, residuals = places[inside], residuals[inside]
    counts = np.bincount(places, minlength=_BINS)
    shown = np.flatnonzero(counts >= _MIN_SAMPLES)
    sums = np.bincount(places, residuals, _BINS)[shown]
    mean = sums / counts[shown]
    squares = np.bincount(places, residuals**2, _BINS)[shown] / counts[shown]
    return {
        "at": (low + (shown + 0.5) * (high - low) / _BINS).tolist(),
        "mean_n": mean.tolist(),
        "spread_n": np.sqrt(np.maximum(squares - mean**2, 0.0)).tolist(),
    }
