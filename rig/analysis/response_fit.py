"""Fit of a dead time with a first- or second-order lag to a frequency response."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from rig.analysis.response import Complex, Response
from rig.analysis.smoothing import Floats

LEAST_PROBABILITY = 1e-3
"""probability of a χ², below which a model is rejected"""
_DOUBTED = 0.1  # χ² probability below which a misfit enlarges uncertainties
_NEAR_BOUND = 1e-4  # ms, distance of a parameter at its bound
_SIGNIFICANT = 2.0  # standard uncertainties above 0 of a time constant that is given as a corner
_QUANTILE = 1.6449  # of a normal distribution at 95 %
_WINDOW = 4.0  # approximate number of lines that share a variance estimate
_LIMIT = 1e6  # condition of a scaled information matrix, beyond which a parameter is unidentifiable


class Structure(StrEnum):
    """H = K e^{−sτ} N(s) / D(s)."""

    DELAY = "delay"
    """N = D = 1"""
    FIRST = "first-order"
    """D = 1 + s T"""
    SECOND = "second-order"
    """D = 1 + 2ζ s/ω + s²/ω²"""
    SECOND_ZERO = "second-order-zero"
    """as SECOND, with N = 1 + s T_z"""


class Verdict(StrEnum):
    """Verdict on a fit."""

    FITS = "fits"
    NO_MODEL_FITS = "no-model-fits"


class Note(StrEnum):
    """Notes on a fit's numbers."""

    DEAD_TIME_AT_BOUND = "dead-time-at-bound"
    """estimated below 0: set to 0, with an uncertainty above it"""
    CORNER_UNRESOLVED = "corner-not-told"
    """too high for the band and the noise: `corner_above` only"""
    DAMPING_AT_BOUND = "damping-at-bound"
    DISTORTION_UNKNOWN = "distortion-unknown"
    """one realisation and no lines without excitation: uncertainties include noise only"""
    OWN_LOOPS = "own-loops"
    """drives close their own loops: their force is not only the commanded one"""
    EVEN_DISTORTION = "even-distortion"
    ODD_DISTORTION = "odd-distortion"


@dataclass(frozen=True, slots=True)
class CommandHold:
    """A command that is computed at a reading, sent with the next one, and held from there to the following one.

    period: s, between readings. The response is then that of the samples, not of a continuous signal, and includes
    aliases of the steps. The fitted dead time and lag are the drive's alone.
    """

    period: float


@dataclass(frozen=True, slots=True, eq=False)
class Nuisance:
    """An error of the gain: a known shape (k,) times an unknown factor, 0 ± `sigma`."""

    name: str
    shape: Complex
    sigma: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """Fit of one structure: reduced χ², its probability, and Bayes' information criterion."""

    structure: Structure
    chi_square: float
    probability: float
    criterion: float


@dataclass(frozen=True, slots=True)
class ResponseFit:
    """The structure with the least information criterion among those that χ² does not reject, and its parameters.

    dead_time τ, s; corner: 1/(2πT), Hz; natural_frequency: ω/2π, Hz; damping: ζ; zero: 1/(2πT_z), Hz; those of the
    structure, each with its standard uncertainty from noise and stochastic distortion, nuisances and bias from
    distortion; that of a pure dead time includes the possible part of a first-order lag. lag, s: the phase's slope
    at low frequencies, including all parts.
    transport, s: the time from the command's computation to the middle of its hold, known and not in `dead_time`.
    corner_above: Hz, lower bound at 95 % if corner or natural_frequency is unresolved. nuisances: by name the factor of
    each, and its standard uncertainty. chi_square: reduced; an improbable one enlarges the uncertainties by its root.

    If no model fits, all numbers are None except chi_square and probability, those of the best one.
    """

    verdict: Verdict
    notes: tuple[Note, ...]
    structure: Structure | None
    chi_square: float
    probability: float
    transport: float
    gain: float | None = None
    dead_time: float | None = None
    dead_time_sigma: float | None = None
    corner: float | None = None
    corner_sigma: float | None = None
    natural_frequency: float | None = None
    natural_frequency_sigma: float | None = None
    corner_above: float | None = None
    damping: float | None = None
    damping_sigma: float | None = None
    zero: float | None = None
    zero_sigma: float | None = None
    lag: float | None = None
    lag_sigma: float | None = None
    nuisances: dict[str, tuple[float, float]] | None = None
    candidates: tuple[Candidate, ...] = ()


_PARAMETERS: dict[Structure, tuple[str, ...]] = {
    Structure.DELAY: (),
    Structure.FIRST: ("lag",),
    Structure.SECOND: ("slope", "square"),
    Structure.SECOND_ZERO: ("slope", "square", "lead"),
}
"""Besides gain and dead time: T, 2ζ/ω and T_z, ms, and 1/ω², ms²."""


@dataclass(frozen=True, slots=True, eq=False)
class _Solution:
    candidate: Candidate
    values: Floats
    """gain, dead time, ms, those of `_PARAMETERS`"""
    covariance: Floats
    lag: float
    lag_gradient: Floats
    nuisances: list[tuple[float, float]]


def fit_response(
    response: Response,
    hold: CommandHold | None = None,
    nuisances: Sequence[Nuisance] = (),
    structures: Sequence[Structure] = (),
) -> ResponseFit:
    """Fit the simplest structure that agrees with the response, by Bayes' information criterion.

    Residuals are weighted by noise and stochastic distortion together. Dead time, time constants and damping are not
    below 0. hold: see `CommandHold`; such a drive always has a lag, so a pure delay is no candidate. structures: those
    to try; default: all sensible ones.
    """
    tried = structures or (tuple(Structure) if hold is None else (Structure.FIRST, Structure.SECOND))
    solutions = [found for one in tried if (found := _solve(response, one, hold, nuisances)) is not None]
    candidates = tuple(one.candidate for one in solutions)
    fitting = [one for one in solutions if one.candidate.probability >= LEAST_PROBABILITY and not _simpler(one)]
    transport = 0.0 if hold is None else 1.5 * hold.period
    initial = () if response.distortion_known else (Note.DISTORTION_UNKNOWN,)
    if not fitting:
        best = max(candidates, key=lambda one: one.probability) if candidates else None
        return ResponseFit(
            Verdict.NO_MODEL_FITS,
            initial,
            None,
            math.inf if best is None else best.chi_square,
            0.0 if best is None else best.probability,
            transport,
            candidates=candidates,
        )
    chosen = min(fitting, key=lambda one: one.candidate.criterion)
    return _fitted(chosen, fitting, initial, transport, nuisances, candidates)


def _simpler(solution: _Solution) -> bool:
    """Return whether the additional term of a structure, 1/ω² or T_z, is not significant."""
    last = {Structure.SECOND: 3, Structure.SECOND_ZERO: 4}.get(solution.candidate.structure)
    return last is not None and bool(
        solution.values[last] <= _SIGNIFICANT * math.sqrt(float(solution.covariance[last, last]))
    )


def _bias_of(response: Response) -> Floats:
    """Possible contributions of an odd non-linearity, by column (2k, 4), real parts, then imaginary parts.

    Before the linear system it has the gain's phase, in a loop around it twice that; in phase or in quadrature.
    """
    unit = response.gain / np.abs(response.gain)
    shapes = np.stack([response.bias * turned * unit**power for power in (1, 2) for turned in (1.0, 1j)], axis=1)
    return np.concatenate([shapes.real, shapes.imag]) / math.sqrt(2.0)


def _polynomials(values: Floats, structure: Structure) -> tuple[list[float], list[float]]:
    """Numerator and denominator in rising powers of s, 1/ms."""
    given = [float(one) for one in values[2 : 2 + len(_PARAMETERS[structure])]]
    return [1.0, *given[2:]], [1.0, *given[:2]]


def _continuous(values: Floats, frequency: Floats, structure: Structure) -> Complex:
    s = 2e-3j * np.pi * frequency
    above, below = _polynomials(values, structure)
    modelled: Complex = values[0] * np.exp(-s * values[1])
    modelled *= np.polynomial.polynomial.polyval(s, above) / np.polynomial.polynomial.polyval(s, below)
    return modelled


def _sampled(values: Floats, frequency: Floats, structure: Structure, hold: CommandHold) -> Complex:
    """Response of a drive to held commands: x⁺ = Φ x + Γ₀ u(k−1−w) + Γ₁ u(k−2−w), dead time (w + early part) periods.

    Åström & Wittenmark, Computer-Controlled Systems, 3rd ed., 2.3.
    """
    from scipy.linalg import expm

    period = 1e3 * hold.period
    whole = math.floor(values[1] / period)
    early = values[1] - whole * period
    _, below = _polynomials(values, structure)
    if len(below) == 3 and below[2] < 1e-6 * max(below[1], 1e-3) ** 2:
        below = below[:2]
    below[1:] = [max(one, 1e-6) for one in below[1:]]
    z = np.exp(2e-3j * np.pi * frequency * period)
    if len(below) == 2:
        early_decay, late_decay = math.exp(-early / below[1]), math.exp(-(period - early) / below[1])
        sampled: Complex = ((1.0 - late_decay) + late_decay * (1.0 - early_decay) / z) / (z - early_decay * late_decay)
    else:
        companion = np.zeros((3, 3))  # the state, and the held command
        companion[0, 1] = 1.0
        companion[1] = np.array([-1.0, -below[1], 1.0]) / below[2]
        first, second = expm(companion * early), expm(companion * (period - early))
        through = second[:2, :2] @ first[:2, :2]
        newer, older = second[:2, 2], second[:2, :2] @ first[:2, 2]
        # C (zI − Φ)⁻¹ Γ of two states
        determinant = (z - through[0, 0]) * (z - through[1, 1]) - through[0, 1] * through[1, 0]
        sampled = (
            (z - through[1, 1]) * (newer[0] + older[0] / z) + through[0, 1] * (newer[1] + older[1] / z)
        ) / determinant
    sampled *= values[0] * z ** -(1.0 + whole)
    return sampled


def _solve(
    response: Response, structure: Structure, hold: CommandHold | None, nuisances: Sequence[Nuisance]
) -> _Solution | None:
    """Least-squares fit of a structure; None without more values than parameters."""
    count = 2 + len(_PARAMETERS[structure])
    freedom = 2 * len(response.frequency) - count
    if freedom < 1:
        return None
    # nuisances are linear: their priors make them part of the residuals' covariance
    shapes = np.array([one.sigma * one.shape for one in nuisances]).reshape(len(nuisances), len(response.gain)).T
    stacked = np.concatenate([shapes.real, shapes.imag])
    spread = np.diag(np.tile(response.sigma**2 / 2.0, 2)) + stacked @ stacked.T
    bias = _bias_of(response)
    if nuisances:  # the distortion has a known shape: the rest is a bias, which the lines may determine too
        spread += bias @ bias.T
        bias = np.zeros_like(bias)
    root = np.linalg.cholesky(spread)

    def model(values: Floats, frequency: Floats) -> Complex:
        if hold is None:
            return _continuous(values, frequency, structure)
        return _sampled(values, frequency, structure, hold)

    def left(values: Floats) -> Floats:
        error = model(values, response.frequency) - response.gain
        return np.concatenate([error.real, error.imag])

    def misfit(values: Floats) -> Floats:
        whitened: Floats = solve_triangular(root, left(values), lower=True)
        return whitened

    from scipy.linalg import solve_triangular
    from scipy.optimize import least_squares  # slow to import, rarely needed
    from scipy.stats import f

    size = float(np.abs(response.gain[0]))
    slope = -float(np.polyfit(response.frequency, response.phase, 1)[0]) / (2.0 * math.pi) * 1e3
    slope = max(slope - (0.0 if hold is None else 1.5e3 * hold.period), 0.05)
    lower = np.array([-np.inf] + [0.0] * (count - 1))
    corner = 1e3 / (2.0 * math.pi * float(response.frequency[-1]))
    results = []
    for part in (0.1, 0.5, 0.9):
        for quick in (1.0, 3.0) if count > 3 else (1.0,):
            lag = (1.0 - part) * slope
            begins = {
                "lag": lag,
                "slope": max(lag, 1.4 * quick * corner),
                "square": (quick * corner) ** 2,
                "lead": 0.5 * lag,
            }
            begin = [size, slope if count == 2 else part * slope, *(begins[one] for one in _PARAMETERS[structure])]
            found = least_squares(misfit, begin, method="lm", x_scale="jac")  # faster, but without bounds
            if (found.x < lower).any() or not np.isfinite(found.x).all():
                found = least_squares(misfit, begin, bounds=(lower, np.inf), x_scale="jac")
            results.append(found)
    result = min(results, key=lambda one: float(one.cost))
    values: Floats = np.where(result.x - lower < _NEAR_BOUND, lower, result.x)
    chi_square = 2.0 * float(result.cost) / freedom
    # sigma² is itself an estimate, with the degrees of freedom that its logarithm's variance implies
    uncertain = response.log_variance
    lines = len(response.frequency)
    probability = float(f.sf(chi_square / (1.0 + uncertain), freedom, 2.0 * lines / uncertain / _WINDOW))
    enlarged = (max(1.0, chi_square) if probability < _DOUBTED else 1.0) * (1.0 + uncertain)
    jacobian: Floats = np.asarray(result.jac)
    covariance = _inverse(jacobian)
    biased = covariance @ jacobian.T @ solve_triangular(root, bias, lower=True)
    covariance = covariance * enlarged + biased @ biased.T
    factors = -stacked.T @ np.linalg.solve(spread, left(values))
    known = np.eye(len(nuisances)) - stacked.T @ np.linalg.solve(spread, stacked)
    through = stacked.T @ np.linalg.solve(spread, root @ jacobian)
    by_nuisance = np.sqrt(np.maximum(np.diag(known + through @ covariance @ through.T), 0.0))
    low = np.array([1e-3 * response.frequency[0]])

    def lag_of(given: Floats) -> float:
        return float(-np.angle(model(given, low)[0] / given[0]) / (2.0 * math.pi * low[0]))

    gradient = np.array([0.0] + [(lag_of(values + one) - lag_of(values)) / 1e-4 for one in 1e-4 * np.eye(count)[1:]])
    criterion = 2.0 * float(result.cost) + count * math.log(2 * lines)
    return _Solution(
        Candidate(structure, chi_square, probability, criterion),
        values,
        covariance,
        lag_of(values),
        gradient,
        [
            (one.sigma * float(a), one.sigma * float(b))
            for one, a, b in zip(nuisances, factors, by_nuisance, strict=True)
        ],
    )


def _inverse(jacobian: Floats) -> Floats:
    """(JᵀJ)⁻¹ of scaled columns; unidentifiable directions have a very large variance."""
    size = np.linalg.norm(jacobian, axis=0)
    size = np.where(size > 0.0, size, 1e-12)
    values, vectors = np.linalg.eigh((jacobian / size).T @ (jacobian / size))
    values = np.maximum(values, values[-1] / _LIMIT**2)
    inverse: Floats = (vectors / values) @ vectors.T / np.outer(size, size)
    return inverse


def _fitted(
    chosen: _Solution,
    fitting: Sequence[_Solution],
    initial: tuple[Note, ...],
    transport: float,
    nuisances: Sequence[Nuisance],
    candidates: tuple[Candidate, ...],
) -> ResponseFit:
    structure, values, covariance = chosen.candidate.structure, chosen.values, chosen.covariance
    sigmas = np.sqrt(np.diag(covariance))
    notes = list(initial)
    if values[1] == 0.0:
        notes.append(Note.DEAD_TIME_AT_BOUND)
    dead_time_sigma = float(sigmas[1])
    lag_sigma = math.sqrt(float(chosen.lag_gradient @ covariance @ chosen.lag_gradient))
    above: float | None = None
    if structure is Structure.DELAY:  # every drive has some lag: add what a first-order lag would take of the dead time
        for one in fitting:
            if one.candidate.structure is Structure.FIRST:
                wide = np.sqrt(np.diag(one.covariance))
                dead_time_sigma = math.hypot(float(wide[1]), float(one.values[1] - values[1]))
                above = _hertz(float(one.values[2] + _QUANTILE * wide[2]))
    place = {name: 2 + at for at, name in enumerate(_PARAMETERS[structure])}
    found: dict[str, float | None] = {}
    for name, key in (("lag", "corner"), ("lead", "zero")):
        if name not in place:
            continue
        lag, spread = float(values[place[name]]), float(sigmas[place[name]])
        if lag > _SIGNIFICANT * spread:
            found[key] = _hertz(lag)
            found[f"{key}_sigma"] = _hertz(lag) * spread / lag
        elif name == "lag":
            above = _hertz(lag + _QUANTILE * spread)
    if "square" in place:
        at = [place["slope"], place["square"]]
        slope, square = (float(one) for one in values[at])
        if square > _SIGNIFICANT * sigmas[at[1]]:
            root = math.sqrt(square)
            gradient = np.array([0.5 / root, -0.25 * slope / root**3])
            found["natural_frequency"] = _hertz(root)
            found["natural_frequency_sigma"] = _hertz(root) * 0.5 * float(sigmas[at[1]]) / square
            found["damping"] = 0.5 * slope / root
            found["damping_sigma"] = math.sqrt(float(gradient @ covariance[np.ix_(at, at)] @ gradient))
            if slope == 0.0:
                notes.append(Note.DAMPING_AT_BOUND)
        else:
            above = _hertz(math.sqrt(square + _QUANTILE * float(sigmas[at[1]])))
    if above is not None:
        notes.append(Note.CORNER_UNRESOLVED)
    return ResponseFit(
        verdict=Verdict.FITS,
        notes=tuple(notes),
        structure=structure,
        chi_square=chosen.candidate.chi_square,
        probability=chosen.candidate.probability,
        transport=transport,
        gain=float(values[0]),
        dead_time=1e-3 * float(values[1]),
        dead_time_sigma=1e-3 * dead_time_sigma,
        corner_above=above,
        lag=chosen.lag,
        lag_sigma=lag_sigma,
        nuisances=dict(zip([one.name for one in nuisances], chosen.nuisances, strict=True)),
        candidates=candidates,
        **found,
    )


def _hertz(lag: float) -> float:
    """Convert a time constant, ms, to a corner, Hz."""
    return 1e3 / (2.0 * math.pi * lag)
