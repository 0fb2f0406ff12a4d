"""How far residuals may stray by chance: the threshold above which noise alone makes so many contacts an hour.

The squared Mahalanobis distance of six residuals is χ² with six degrees of freedom. An alarm begins where it passes the
threshold upwards, d_k ≤ u < d_{k+1}. Samples that follow on each other are correlated, by ρ; given d_k, d_{k+1}/(1−ρ²)
is noncentral χ² with noncentrality ρ² d_k/(1−ρ²), so that

    P(d_k ≤ u < d_{k+1}) = ∫₀ᵘ f(d) P[χ'²(ρ² d/(1−ρ²)) > u/(1−ρ²)] dd

which holds for any ρ, from white noise, p(1−p), to Rice's rate of a continuous process.
"""

import math

import numpy as np

from kinematics import figure_and_bound
from rig.errors import InputError

CELLS = 6
FEWEST = 30.0
"""independent samples of a quiet stretch from which noise can be learned"""
HOUR = 3600.0

_NEARLY_ONE = 0.9995  # correlation from which on the process counts as continuous
_REACH = 9.0  # standard deviations of a sample's change
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(96)
_GREATEST = 1e4  # of a threshold


def crossing_probability(threshold: float, correlation: float) -> float:
    """Probability, a sample, that the squared distance of Gaussian residuals passes `threshold` upwards.

    correlation: of each residual with itself a sample later, 0 to below 1.
    """
    from scipy.stats import chi2, ncx2  # takes long to import, and few need it

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
    """Squared distance above which noise makes `per_hour` contacts an hour of samples at `rate`, Hz.

    Of crossings N a second that come by chance, N exp(−N apart) are no nearer than `apart`, s, to the end of the one
    before: those begin a contact, the others go on with it.

    correlation: see `crossing_probability`. samples: how many independent ones the noise was learned from; from few of
    them mean and covariance are uncertain, and distances follow Hotelling's T² instead of χ².
    Raises InputError for a rate of alarms that is not above 0, or that noise does not reach at this correlation, and
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
        joined = probability * rate * apart / float(chi2.cdf(threshold, CELLS))  # of the time that is below it
        return math.log(probability / wanted) - joined

    least = float(CELLS - 1)  # where crossings are most frequent
    if apart * rate * crossing(least) > 1.0:  # below, more crossings make fewer contacts
        least = float(brentq(lambda threshold: apart * rate * crossing(threshold) - 1.0, least, _GREATEST))
    if excess(least) < 0.0:
        most = math.exp(excess(least)) * per_hour
        asked, bound = figure_and_bound(per_hour, most, ".6g", 3)
        raise InputError(f"false alarms: {asked} an hour, must be at most {bound} at this rate and bandwidth")
    found = float(brentq(excess, least, _GREATEST, xtol=1e-9))
    return found if math.isinf(samples) else _of_learned(found, samples)


def _of_learned(threshold: float, samples: float) -> float:
    """The squared distance of a new sample from a learned mean that is as improbable as χ² of `threshold`."""
    from scipy.stats import chi2, f

    freedom = samples - CELLS
    scale = (1.0 + 1.0 / samples) * CELLS * (samples - 1.0) / freedom
    return float(scale * f.isf(chi2.sf(threshold, CELLS), CELLS, freedom))
