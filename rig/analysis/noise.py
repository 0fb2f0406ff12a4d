"""Smoothed residuals while nothing touches the platform: stated by the cells' noise, or learned from a stretch."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from rig.analysis.false_alarms import CELLS, FEWEST
from rig.analysis.residuals import Residuals
from rig.analysis.smoothing import Floats, Smoothing
from rig.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class ResidualNoise:
    """Mean (6,) N and covariance (6, 6) N² of the six smoothed residuals, and how they go on in time.

    correlation: of a residual with itself a cycle later. samples: how many independent ones this was learned from;
    infinite where it was stated. source: in words.
    """

    mean: Floats
    covariance: Floats
    correlation: float
    samples: float
    source: str

    def distance(self, residual: Floats, model: Floats | None = None) -> Floats:
        """Squared Mahalanobis distance (n,) of residuals (n, 6) N; `model` (n, 6, 6) N² is added to the covariance."""
        if model is not None:
            beyond = residual - self.mean
            solved = np.linalg.solve(self.covariance + model, beyond[:, :, np.newaxis])[:, :, 0]
            distances: Floats = np.einsum("nk,nk->n", beyond, solved)
            return distances
        root = np.linalg.cholesky(self.covariance)
        whitened = solve_triangular(root, (residual - self.mean).T, lower=True)
        squares: Floats = np.einsum("kn,kn->n", whitened, whitened)
        return squares


def stated_noise(sigma: float, smoothing: Smoothing, model_sigma: float = 0.0) -> ResidualNoise:
    """Residuals without bias of cells with white noise of standard deviation `sigma`, N, once smoothed.

    model_sigma: N, standard uncertainty of the model at a cell, which no smoothing lessens.
    Raises InputError for values that are negative or not finite, or for no noise at all.
    """
    for name, value in (("noise", sigma), ("model's uncertainty", model_sigma)):
        if not (math.isfinite(value) and value >= 0.0):
            raise InputError(f"{name}: {value:g} N, must be at least 0 N")
    variance = sigma**2 * smoothing.noise_gain + model_sigma**2
    if not variance:
        raise InputError("noise: 0 N, must be above 0 N: else nothing can be told from chance")
    source = f"stated: cells {sigma:g} N"
    if model_sigma:
        source += f", model {model_sigma:g} N"
    return ResidualNoise(np.zeros(CELLS), variance * np.eye(CELLS), smoothing.noise_correlation, math.inf, source)


def learned_noise(quiet: Sequence[Residuals]) -> ResidualNoise:
    """Bias, covariance and correlation in time of the residuals of stretches in which nothing touched the platform.

    What a model leaves is in it as well, as far as the motion there is like the one to be judged. The number of
    independent samples is n/(1 + 2 Σ ρ_k), with the correlations ρ_k up to the first that is not positive.
    Raises InputError where those are fewer than FEWEST, or where a cell does not vary.
    """
    values = [part.residual for part in quiet if len(part)]
    count = sum(map(len, values))
    if count <= 2 * CELLS:
        raise InputError(f"quiet stretch: {count} samples, noise cannot be learned from them")
    everything = np.concatenate(values)
    mean = everything.mean(axis=0)
    covariance = np.cov(everything, rowvar=False)
    try:
        root = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise InputError("quiet stretch: a load cell does not vary, or two vary alike") from None
    longest = max(values, key=len)
    white = solve_triangular(root, (longest - mean).T, lower=True)
    correlations = _correlations(white)
    ends = np.flatnonzero(correlations <= 0.0)
    span = 1.0 + 2.0 * float(correlations[: ends[0] if len(ends) else len(correlations)].sum())
    samples = count / span
    if samples < FEWEST:
        raise InputError(
            f"quiet stretch: {count} samples, of which {samples:.0f} are independent at this bandwidth; noise is "
            f"learned from {FEWEST:.0f} at least: a longer stretch, or a higher bandwidth"
        )
    first, last = quiet[0].t[0], quiet[-1].t[-1]
    source = f"learned from {first:.3f} to {last:.3f} s, {samples:.0f} independent samples"
    return ResidualNoise(mean, covariance, float(np.clip(correlations[0], 0.0, 1.0 - 1e-9)), samples, source)


def _correlations(white: Floats) -> Floats:
    """Mean over the cells of the correlations (k,) with themselves 1 … k samples later, of whitened (6, n)."""
    count = white.shape[1]
    lags = min(count // 4, 4096)
    size = 2 ** math.ceil(math.log2(count + lags + 1))
    power = np.abs(np.fft.rfft(white, size)) ** 2
    products = np.fft.irfft(power.sum(axis=0), size)[: lags + 1]
    found: Floats = products[1:] / products[0] * count / (count - np.arange(1, lags + 1))
    return found
