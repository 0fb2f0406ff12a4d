"""Uncertainty band of the residual: from load cell, pose and model parameters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from calibration import ReadingsUncertainty, length_slopes
from dynamics import Mechanism
from rig.report.streaming import Floats
from rig.report.validation.blocks import BlockSums, Numbers

SIGMAS = 2.0
"""Half-width of the band; it contains 95.4 % of normal errors."""
SAMPLES = 10_000
"""Maximum number of samples of the band, evenly spaced over the covered rows."""
_FINEST = 1e-10
"""m: smaller length differences are rounding errors"""


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Rows at which the band is computed: motions (m, 19), residuals (m, 6) N, measured and reference lengths.

    `slopes` (m, 6) N/s are those of the modelled readings, `deviations` (m, 3, 6) measured lengths less their
    references, m, and their first two derivatives.
    """

    times: Floats
    motions: Floats
    residuals: Floats
    lengths: Floats
    references: Floats
    slopes: Floats
    deviations: Floats
    blocks: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """Standard deviation of the residual at each sample, (m, 6) N, from cell, pose and parameters."""

    cell: Floats
    pose: Floats
    parameters: Floats
    resolution: Floats
    """m (6,), smallest step of the lengths"""
    tracking: Floats
    """m (6,), RMS deviation of the lengths from their references"""

    @property
    def whole(self) -> Floats:
        """Return the combined standard deviation."""
        return np.sqrt(self.cell**2 + self.pose**2 + self.parameters**2)


def sampled(rows: Sequence[npt.NDArray[np.void]], derivatives: Sequence[Floats], blocks: Sequence[Numbers]) -> Samples:
    """Return the samples of telemetry rows, (k,) each, with their block numbers.

    derivatives: (k, 4, 6), slopes of the model and deviations of the lengths, see `Samples`.
    """
    whole, slopes = np.concatenate(rows), np.concatenate(derivatives)
    known = np.isfinite(whole["reference"]).all(axis=1) & np.isfinite(whole["length"]).all(axis=1)
    whole = whole[known]
    return Samples(
        whole["t"],
        np.ascontiguousarray(whole["reference"]),
        whole["force_measured"] - whole["force_model"],
        whole["length"],
        whole["length_reference"],
        slopes[known, 0],
        slopes[known, 1:],
        np.concatenate(blocks)[known],
    )


def band(
    samples: Samples, mechanism: Mechanism, noise: float, uncertainty: ReadingsUncertainty, coulomb_speed: float = 0.0
) -> Band:
    """Return the band at the samples.

    The pose uncertainty follows from the legs' lengths: the encoders' resolution, and each leg's deviation from the
    reference, at which the model is evaluated. Twist and acceleration of the reference count as exact.

    Args:
        samples: at least one.
        mechanism: as recorded, with the files' values.
        noise: of the cells, N.
        uncertainty: of the modelled readings, by parameter files and calibrations.
        coulomb_speed: m/s, of the recorded control.

    Raises:
        CalibrationError: parameters that the mechanism does not have.
    """
    resolution = _resolution(samples.lengths)
    tracking = np.sqrt(np.mean((samples.lengths - samples.references) ** 2, axis=0))
    lengths = resolution**2 / 12.0 + tracking**2
    slopes = length_slopes(samples.motions, mechanism, coulomb_speed)
    pose = np.tensordot(lengths, slopes**2, axes=1)
    parameters = uncertainty.covariance(samples.motions)
    return Band(
        np.full_like(pose, noise),
        np.sqrt(pose),
        np.sqrt(np.maximum(0.0, np.einsum("mii->mi", parameters))),
        resolution,
        tracking,
    )


def inside(band: Band, samples: Samples) -> dict[str, Any]:
    """Return the fraction of samples within `SIGMAS` of the band, for all legs and each, with sigmas over blocks."""
    within = (np.abs(samples.residuals) <= SIGMAS * band.whole).astype(np.float64)
    sums = BlockSums(6)
    sums.add(within, samples.blocks)
    found = sums.estimates(lambda means: np.concatenate([means, means.mean(axis=-1, keepdims=True)], axis=-1))
    values = [*within.mean(axis=0).tolist(), float(within.mean())]
    parts = [
        {"inside_band": value, "inside_band_sigma": None if one is None else one.sigma}
        for value, one in zip(values, found, strict=True)
    ]
    names = {"cell": band.cell, "pose": band.pose, "parameters": band.parameters, "whole": band.whole}
    sigmas = {f"{name}_sigma_n": [float(one) for one in _rms(part)] for name, part in names.items()}
    return {
        "samples": len(samples.residuals),
        "sigmas": SIGMAS,
        "expected_inside": 0.9545,
        **sigmas,
        "length_resolution_m": band.resolution.tolist(),
        "length_tracking_m": band.tracking.tolist(),
        "legs": [{"leg": leg + 1} | part for leg, part in enumerate(parts[:6])],
        **parts[6],
    }


def _rms(values: Floats) -> Floats:
    rms: Floats = np.sqrt(np.mean(values**2, axis=0))
    return rms


def _resolution(lengths: Floats) -> Floats:
    """Return the smallest step of each length (6,), m: an encoder's count."""
    steps = np.abs(np.diff(np.sort(lengths, axis=0), axis=0))
    steps = np.where(steps > _FINEST, steps, np.inf)
    least: Floats = steps.min(axis=0, initial=np.inf)
    return np.where(np.isfinite(least), least, 0.0)
