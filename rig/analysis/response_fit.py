"""A dead time with a lag of first or second order, fitted to a frequency response."""

import math
from dataclasses import dataclass

import numpy as np

from rig.analysis.response import Complex, Response
from rig.analysis.smoothing import Floats

_FLOOR = 1e-9  # of |H|, below which a scatter between periods is rounding


@dataclass(frozen=True, slots=True)
class ResponseFit:
    """H ≈ K e^{−2πi f τ} / D(f), D of order 0, 1 (1 + s T) or 2 (1 + 2ζ s/ω + s²/ω²).

    dead_time τ, s, and natural frequency, Hz (that of the corner 1/(2πT) for order 1), each with its standard
    uncertainty. lag, s: the phase's slope at low frequencies, dead time and order together. chi_square: reduced; the
    uncertainties are enlarged by its root where it is above 1.
    """

    order: int
    gain: float
    dead_time: float
    dead_time_sigma: float
    natural_frequency: float | None
    natural_frequency_sigma: float | None
    damping: float | None
    lag: float
    lag_sigma: float
    chi_square: float


def fit_response(response: Response) -> ResponseFit:
    """The simplest of the three that the response does not contradict, by Bayes' information criterion."""
    found = [_fit(response, order) for order in (0, 1, 2)]
    return min(found, key=lambda one: one[1])[0]


def _model(values: Floats, frequency: Floats, order: int) -> Complex:
    gain, tau = values[:2]
    s = 2j * np.pi * frequency
    lower: Complex = np.ones(len(s), np.complex128)
    if order == 1:
        lower += s / (2.0 * np.pi * math.exp(values[2]))
    elif order == 2:
        omega = 2.0 * np.pi * math.exp(values[2])
        lower += 2.0 * values[3] * s / omega + (s / omega) ** 2
    modelled: Complex = gain * np.exp(-s * tau * 1e-3) / lower
    return modelled


def _lag(values: Floats, order: int) -> float:
    if order == 0:
        return float(values[1]) * 1e-3
    spread = (1.0 if order == 1 else 2.0 * float(values[3])) / (2.0 * math.pi * math.exp(values[2]))
    return float(values[1]) * 1e-3 + spread


def _fit(response: Response, order: int) -> tuple[ResponseFit, float]:
    sigma = np.maximum(response.sigma, _FLOOR * np.abs(response.gain)) / math.sqrt(2.0)

    def misfit(values: Floats) -> Floats:
        left = (_model(values, response.frequency, order) - response.gain) / sigma
        return np.concatenate([left.real, left.imag])

    size = float(np.abs(response.gain[0]))
    slope = -float(np.polyfit(response.frequency, response.phase, 1)[0]) / (2.0 * math.pi) * 1e3
    corner = math.log(float(response.frequency[-1]))
    begin = [size, slope, corner, 0.7][: 2 + order]
    starts = (
        [begin] if order == 0 else [[*begin[:1], 0.3 * slope, corner + step, *begin[3:]] for step in (-1.5, 0.0, 1.0)]
    )
    from scipy.optimize import least_squares  # takes long to import, and few need it

    result = min((least_squares(misfit, start, x_scale="jac") for start in starts), key=lambda one: float(one.cost))
    count = 2 * len(response.frequency)
    jacobian: Floats = np.asarray(result.jac)
    chi_square = 2.0 * float(result.cost) / max(count - len(begin), 1)
    covariance = np.linalg.pinv(jacobian.T @ jacobian) * max(1.0, chi_square)
    values: Floats = result.x
    step = 1e-6
    gradient = np.array(
        [(_lag(values + unit, order) - _lag(values - unit, order)) / (2 * step) for unit in step * np.eye(len(values))]
    )
    natural = math.exp(values[2]) if order else None
    fit = ResponseFit(
        order=order,
        gain=float(values[0]),
        dead_time=float(values[1]) * 1e-3,
        dead_time_sigma=math.sqrt(float(covariance[1, 1])) * 1e-3,
        natural_frequency=natural,
        natural_frequency_sigma=None if natural is None else natural * math.sqrt(float(covariance[2, 2])),
        damping=float(values[3]) if order == 2 else None,
        lag=_lag(values, order),
        lag_sigma=math.sqrt(float(gradient @ covariance @ gradient)),
        chi_square=chi_square,
    )
    return fit, 2.0 * float(result.cost) + len(begin) * math.log(count)
