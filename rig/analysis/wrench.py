"""External wrench on the platform, its covariance and noise, and contact detection."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from calibration import ReadingsUncertainty
from dynamics import Mechanism, wrench_from_residual
from kinematics import figure_and_bound
from rig.analysis.residuals import Residuals
from rig.analysis.smoothing import Floats, Smoothing
from rig.errors import InputError

CELLS = 6
FEWEST = 30.0
"""minimum number of independent samples of a quiet stretch to estimate noise"""
HOUR = 3600.0

_NEARLY_ONE = 0.9995  # correlation above which the process counts as continuous
_REACH = 9.0  # standard deviations of a sample's change
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(96)
_GREATEST = 1e4  # of a threshold


def crossing_probability(threshold: float, correlation: float) -> float:
    """Probability per sample that the squared distance of Gaussian residuals crosses `threshold` upwards.

    correlation: autocorrelation of each residual at a lag of one sample, 0 to below 1.
    """
    from scipy.stats import chi2, ncx2  # slow to import, rarely needed

    beyond = float(chi2.sf(threshold, CELLS))
    rho = min(max(correlation, 0.0), 1.0)
    if rho > _NEARLY_ONE:  # Rice: √(λ₂/π) (u/2)^{(n−1)/2} e^{−u/2}/Γ(n/2), λ₂ = 2(1−ρ) per sample squared
        shape = (threshold / 2.0) ** ((CELLS - 1) / 2.0) * math.exp(-threshold / 2.0) / math.gamma(CELLS / 2.0)
        return min(beyond, float(math.sqrt(2.0 * (1.0 - rho) / math.pi) * shape))
    rest = 1.0 - rho * rho
    top = math.sqrt(threshold)
    bottom = max(0.0, top - _REACH * math.sqrt(rest) - (1.0 - rho) * top)
    radius = bottom + 0.5 * (top - bottom) * (_NODES + 1.0)
    d = radius * radius
    density = chi2.pdf(d, CELLS) * 2.0 * radius
    passing = ncx2.sf(threshold / rest, CELLS, rho * rho * d / rest)
    return float(0.5 * (top - bottom) * (_NODE_WEIGHTS @ (density * passing)))


def alarm_threshold(
    per_hour: float, rate: float, correlation: float, samples: float = math.inf, apart: float = 0.0
) -> float:
    """Squared distance above which noise causes `per_hour` contacts per hour in samples at `rate`, Hz.

    Of N random crossings per second, N exp(−N apart) follow at least `apart`, s, after the end of the previous one and
    begin a contact; the others continue it.

    correlation: see `crossing_probability`. samples: number of independent samples behind the noise estimate; with few
    samples mean and covariance are uncertain, and distances follow Hotelling's T² instead of χ².
    Raises InputError for a rate of alarms that is not above 0, or that noise cannot reach at this correlation, and
    for fewer samples than FEWEST.
    """
    if not (math.isfinite(per_hour) and per_hour > 0.0):
        raise InputError(f"false alarms: {per_hour:g} an hour, must be above 0")
    if samples < FEWEST:
        raise InputError(
            f"quiet stretch: {samples:.0f} independent samples, noise is learned from {FEWEST:.0f} at least"
        )
    from scipy.optimize import brentq
    from scipy.stats import chi2

    wanted = per_hour / (HOUR * rate)

    def crossing(threshold: float) -> float:
        return max(crossing_probability(threshold, correlation), 1e-300)

    def excess(threshold: float) -> float:
        probability = crossing(threshold)
        joined = probability * rate * apart / float(chi2.cdf(threshold, CELLS))  # of the time below it
        return math.log(probability / wanted) - joined

    least = float(CELLS - 1)  # where crossings are most frequent
    if apart * rate * crossing(least) > 1.0:  # otherwise more crossings make fewer contacts
        least = float(brentq(lambda threshold: apart * rate * crossing(threshold) - 1.0, least, _GREATEST))
    if excess(least) < 0.0:
        most = math.exp(excess(least)) * per_hour
        asked, bound = figure_and_bound(per_hour, most, ".6g", 3)
        raise InputError(f"false alarms: {asked} an hour, must be at most {bound} at this rate and bandwidth")
    found = float(brentq(excess, least, _GREATEST, xtol=1e-9))
    return found if math.isinf(samples) else _hotelling_distance(found, samples)


def _hotelling_distance(threshold: float, samples: float) -> float:
    """Squared distance of a new sample from an estimated mean with the same probability as χ² of `threshold`."""
    from scipy.stats import chi2, f

    freedom = samples - CELLS
    scale = (1.0 + 1.0 / samples) * CELLS * (samples - 1.0) / freedom
    return float(scale * f.isf(chi2.sf(threshold, CELLS), CELLS, freedom))


@dataclass(frozen=True, slots=True, eq=False)
class ResidualNoise:
    """Mean (6,) N, covariance (6, 6) N² and autocorrelation of the six smoothed residuals.

    correlation: autocorrelation at a lag of one cycle. samples: number of independent samples of the estimate;
    infinite for stated noise. source: as text.
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
    """Noise of smoothed residuals without bias, for white noise of the cells with standard deviation `sigma`, N.

    model_sigma: N, standard uncertainty of the model at a cell, not reduced by smoothing.
    Raises InputError for values that are negative or not finite, or for zero noise.
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
    """Estimate bias, covariance and autocorrelation of the residuals of stretches without contact.

    They include the model's errors, if the motion is similar to the one to be analysed. The number of
    independent samples is n/(1 + 2 Σ ρ_k), with the correlations ρ_k up to the first that is not positive.
    Raises InputError for fewer than FEWEST of them, or if a cell does not vary.
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
    """Mean over the cells of the autocorrelations (k,) at lags of 1 … k samples, for whitened residuals (6, n)."""
    count = white.shape[1]
    lags = min(count // 4, 4096)
    size = 2 ** math.ceil(math.log2(count + lags + 1))
    power = np.abs(np.fft.rfft(white, size)) ** 2
    products = np.fft.irfft(power.sum(axis=0), size)[: lags + 1]
    found: Floats = products[1:] / products[0] * count / (count - np.arange(1, lags + 1))
    return found


BANDWIDTH = 20.0
"""low-pass on the residuals, Hz"""
PER_HOUR = 1.0
"""accepted false alarms per hour"""

_MODEL_RATE = 25.0
"""rate at which the model's uncertainty is computed, Hz"""


@dataclass(frozen=True, slots=True, eq=False)
class ExternalWrench:
    """The wrench on the platform over time: n samples, oldest first.

    t (n,) s. wrench (n, 6): [force N; moment N m] at the platform's origin, platform axes. covariance (n, 6, 6) of it.
    distance (n,): squared Mahalanobis distance from zero, χ² with six degrees of freedom; contact (n,): whether it is
    above the `threshold`, which noise exceeds `per_hour` times an hour.
    """

    t: Floats
    wrench: Floats
    covariance: Floats
    distance: Floats
    threshold: float
    per_hour: float

    def __len__(self) -> int:
        return len(self.t)

    @property
    def sigma(self) -> Floats:
        """Standard uncertainty (n, 6) of each component."""
        found: Floats = np.sqrt(np.einsum("nii->ni", self.covariance))
        return found

    @property
    def contact(self) -> npt.NDArray[np.bool_]:
        """Mask (n,) of contacts, at the given false-alarm rate."""
        touched: npt.NDArray[np.bool_] = self.distance > self.threshold
        return touched

    def during(self, mask: npt.NDArray[np.bool_]) -> "ExternalWrench":
        """Select the samples of a mask (n,)."""
        return replace(
            self,
            t=self.t[mask],
            wrench=self.wrench[mask],
            covariance=self.covariance[mask],
            distance=self.distance[mask],
        )


@dataclass(frozen=True, slots=True)
class Contact:
    """A contact with the platform: its time span, s.

    `peak` is the time of the greatest distance; wrench (6,) and sigma (6,) are of that time.
    """

    begin: float
    end: float
    peak: float
    wrench: tuple[float, ...]
    sigma: tuple[float, ...]
    distance: float


class WrenchEstimator:
    """Wrenches from smoothed residuals, w = W (r − bias), covariance W Σ Wᵀ, see `dynamics.wrench_from_residual`.

    Args:
        mechanism: of the rig.
        smoothing: of the residuals.
        noise: of the residuals.
        per_hour: accepted false alarms.
        model: uncertainty of the model; None with estimated noise, which includes it.

    Raises InputError for an invalid false-alarm rate, see `alarm_threshold`.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        smoothing: Smoothing,
        noise: ResidualNoise,
        per_hour: float = PER_HOUR,
        model: ReadingsUncertainty | None = None,
    ) -> None:
        self.noise = noise
        self.per_hour = per_hour
        self.threshold = alarm_threshold(
            per_hour, smoothing.rate, noise.correlation, noise.samples, apart=smoothing.apart
        )
        self._geometry = mechanism.geometry
        self._bias_share = 0.0 if np.isinf(noise.samples) else 1.0 / noise.samples
        self._model = model if np.isinf(noise.samples) else None
        self._step = max(1, round(smoothing.rate / _MODEL_RATE))

    def estimate(self, residuals: Residuals) -> ExternalWrench:
        """Compute the wrenches of residuals (n). The covariance includes the uncertainty of bias and model."""
        matrices = wrench_from_residual(self._geometry, residuals.motion[:, :7])
        beyond = residuals.residual - self.noise.mean
        model = self._of_model(residuals)
        whole = self.noise.covariance * (1.0 + self._bias_share) + (0.0 if model is None else model)
        covariance = matrices @ whole @ matrices.transpose(0, 2, 1)
        wrench = np.einsum("nij,nj->ni", matrices, beyond)
        distance = self.noise.distance(residuals.residual, model)
        return ExternalWrench(residuals.t, wrench, covariance, distance, self.threshold, self.per_hour)

    def _of_model(self, residuals: Residuals) -> Floats | None:
        """Covariance (n, 6, 6) N² of the model, interpolated linearly, since it varies no faster than the motion."""
        if not self._model or not len(residuals):
            return None
        places = np.unique(np.append(np.arange(0, len(residuals), self._step), len(residuals) - 1))
        known = self._model.covariance(residuals.motion[places])
        wanted = np.arange(len(residuals))
        after = np.clip(np.searchsorted(places, wanted, side="right"), 1, max(1, len(places) - 1))
        if len(places) == 1:
            return known
        part = ((wanted - places[after - 1]) / (places[after] - places[after - 1]))[:, np.newaxis, np.newaxis]
        found: Floats = known[after - 1] * (1.0 - part) + known[after] * part
        return found


class ContactLog:
    """Finds contacts in successive pieces of wrenches, oldest first; `found` are the contacts so far.

    Two contacts that smoothing cannot separate are one.
    """

    def __init__(self, smoothing: Smoothing) -> None:
        self.found: list[Contact] = []
        self._apart = smoothing.apart

    def add(self, piece: ExternalWrench) -> None:
        """Add the next piece."""
        touched = piece.during(piece.contact)
        if not len(touched):
            return
        sigma = touched.sigma
        for places in np.split(np.arange(len(touched)), np.flatnonzero(np.diff(touched.t) > self._apart) + 1):
            peak = int(places[np.argmax(touched.distance[places])])
            new = Contact(
                begin=float(touched.t[places[0]]),
                end=float(touched.t[places[-1]]),
                peak=float(touched.t[peak]),
                wrench=tuple(touched.wrench[peak].tolist()),
                sigma=tuple(sigma[peak].tolist()),
                distance=float(touched.distance[peak]),
            )
            if self.found and new.begin - self.found[-1].end <= self._apart:
                new = _joined(self.found.pop(), new)
            self.found.append(new)


def _joined(one: Contact, later: Contact) -> Contact:
    greater = max(one, later, key=lambda contact: contact.distance)
    return Contact(one.begin, later.end, greater.peak, greater.wrench, greater.sigma, greater.distance)
