"""Frequency response: the periodic excitation, and the best linear approximation over phase realisations."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kinematics import COORDINATES
from rig.analysis.smoothing import Floats
from rig.errors import InputError

MOST_LINES = 40
FEWEST_ODD = 5
"""minimum number of excited odd multiples of a random odd grid"""
_TRIES = 200
_FADE = 1.0  # s at most; at most one period
_FIRST_LEFT_OUT = 7  # neighbours of a lower one would be more than an octave apart
_GROUP = 4  # neighbouring odd multiples, one of which is omitted


def multisine(
    dof: str,
    low: float,
    high: float,
    amplitude: float,
    period: float,
    periods: int,
    seed: int = 0,
    most_lines: int = MOST_LINES,
    realizations: int = 1,
    *,
    odd: bool = False,
) -> dict[str, Any]:
    """Return a multisine about home for `kinematics.TrajectorySpec`: parts of `periods` periods, each between fades.

    Up to `most_lines` sines, logarithmically spaced between `low` and `high`, Hz, at multiples of 1/period.
    Their amplitudes fall as 1/f, so that each has the same speed. Each of the `realizations`, one part each, has own
    phases with the same amplitudes: those with the least peak of many random ones. amplitude: m or rad, of the sum.
    odd: a random odd grid, without a random one of every four neighbouring odd multiples. Even and odd multiples
    without a sine then show even and odd non-linear distortion (Pintelon & Schoukens, System Identification, 4.3).
    Raises InputError for an unknown coordinate, a band without enough lines, or numbers that are not above 0.
    """
    if dof not in COORDINATES:
        raise InputError(f"dof: {dof!r} must be one of {', '.join(COORDINATES)}")
    for name, value in (("amplitude", amplitude), ("from", low), ("to", high), ("period", period)):
        if not (math.isfinite(value) and value > 0.0):
            raise InputError(f"{name}: {value:g}, must be above 0")
    if periods < 2:
        raise InputError(f"periods: {periods}, must be at least 2 to tell noise from signal")
    if realizations < 1:
        raise InputError(f"realizations: {realizations}, must be at least 1")
    first, last = math.ceil(low * period - 1e-9), math.floor(high * period + 1e-9)
    if first > last or first < 1:
        raise InputError(f"no multiple of {1 / period:g} Hz lies from {low:g} to {high:g} Hz: a longer period")
    random = np.random.default_rng(seed)
    numbers = _odd_grid(first, last, most_lines, random) if odd else _grid(first, last, most_lines)
    if odd and len(numbers) < FEWEST_ODD:
        raise InputError(
            f"{len(numbers)} odd multiples of {1 / period:g} Hz from {low:g} to {high:g} Hz are left, at least "
            f"{FEWEST_ODD} are needed: a longer period"
        )
    frequencies = numbers / period
    sizes = frequencies[0] / frequencies
    drawn = _phases(tuple(numbers.tolist()), seed, realizations)
    least = max(peak for _, peak in drawn)
    fade = min(period, _FADE)
    parts = []
    for phases, _ in drawn:
        terms = [
            {"dof": dof, "amplitude": amplitude * size / least, "frequency": frequency, "phase": phase}
            for size, frequency, phase in zip(sizes.tolist(), frequencies.tolist(), phases, strict=True)
        ]
        parts.append({"type": "harmonic", "duration": periods * period + 2.0 * fade, "fade": fade, "terms": terms})
    return {"frame": "home", "parts": parts}


def _grid(first: int, last: int, most: int) -> npt.NDArray[np.int64]:
    return np.unique(np.round(np.geomspace(first, last, most)).astype(np.int64))


def _odd_grid(first: int, last: int, most: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Select odd numbers, spaced as `_grid`, without a random one of every `_GROUP`, but with the lowest."""
    low, high = first // 2, (last - 1) // 2  # of 2 n + 1
    if high < low:
        return np.zeros(0, np.int64)
    odd = 2 * (_grid(low + 1, high + 1, most * _GROUP // (_GROUP - 1)) - 1) + 1
    begins = range(int(np.searchsorted(odd, _FIRST_LEFT_OUT)), len(odd) - _GROUP, _GROUP)
    left_out = [begin + int(random.integers(_GROUP)) for begin in begins]
    return np.delete(odd, left_out)


@lru_cache(maxsize=32)
def _phases(numbers: tuple[int, ...], seed: int, realizations: int) -> list[tuple[list[float], float]]:
    """Phases with the least peak of many random ones, of sines with these numbers of periods, and that peak."""
    random = np.random.default_rng(seed)
    sizes = numbers[0] / np.array(numbers)
    samples = 2 ** math.ceil(math.log2(32 * numbers[-1] + 512))
    drawn = []
    for _ in range(realizations):
        best, least = np.zeros(len(numbers)), math.inf
        for _ in range(_TRIES):
            phases = random.uniform(0.0, 2.0 * np.pi, len(numbers))
            spectrum = np.zeros(samples // 2 + 1, np.complex128)
            spectrum[list(numbers)] = -0.5j * samples * sizes * np.exp(1j * phases)
            peak = float(np.abs(np.fft.irfft(spectrum)).max())
            if peak < least:
                best, least = phases, peak
        drawn.append((best.tolist(), least))
    return drawn


Complex = npt.NDArray[np.complex128]

LEAST_COHERENCE = 0.5
"""minimum coherence of an output that counts as excited at a frequency"""
FEWEST_LINES = 5

_EXCITED = 1e-8  # of the strongest line's power, for an excited line
_SAME = 1e-6  # of the signal's range: a periodic reference repeats to rounding
_ANCHORS = 64  # start places of the period search
_MATCHING = 8  # equal samples that make a candidate period
_SEGMENTS = 8  # of Welch's method, half overlapping
_THIRD = 2.0 ** (1.0 / 3.0)
_NEAR = 3  # lines on either side for smoothed variances
_ROUNDING = 1e-9  # of the output; a smaller scatter is rounding
_LEVEL = 0.01  # significance level of distortion
# Contribution of an odd static non-linearity to the linear gain, over the root of its stochastic distortion's power in
# the band, computed for `multisine`: 1.9 to 2.1 for sign(v), 1.4 to 1.6 for v³, 2.4 to 2.6 for a smoothed sign. For
# all distortion of a Gaussian signal, in the band and beyond, it is 1.32 for sign(v) and 1.22 for v³.
_ODD_BIAS = 2.0


class Grid(StrEnum):
    """Grid of the excited lines among the multiples of a period's frequency."""

    ODD = "odd"
    """odd multiples only: even and odd distortion can be separated"""
    ANY = "any"
    NONE = "none"
    """no period: Welch's method"""


@dataclass(frozen=True, slots=True, eq=False)
class Distortion:
    """Output at the lines without excitation (d,), Hz, between the excited ones, minus the input's effect there.

    even: mask of even multiples. level, noise: rms of output and of its noise at a line, unit of the output.
    even_part, odd_part, noise_part: rms of all such lines over that of all excited ones, the first two
    corrected for noise; even_found, odd_found: significant, at 1 % of false alarms.
    """

    frequency: Floats
    even: npt.NDArray[np.bool_]
    level: Floats
    noise: Floats
    even_part: float
    odd_part: float
    noise_part: float
    even_found: bool
    odd_found: bool


@dataclass(frozen=True, slots=True, eq=False)
class Response:
    """H at the excited frequencies (k,), Hz: `gain` complex, its standard uncertainties (of |H − Ĥ|), coherence.

    sigma: of the best linear approximation, noise and stochastic distortion together. noise: noise alone.
    bias: standard uncertainty from an odd non-linearity's contribution to the gain; common to all lines, not reduced
    by averaging. output: rms of the output at the lines, in its unit. averages: number of independent pieces, over all
    `realizations`. log_variance: variance of the logarithm of sigma². distortion_known:
    whether sigma and bias include distortion: with several realisations or a random odd grid.
    """

    frequency: Floats
    gain: Complex
    sigma: Floats
    noise: Floats
    bias: Floats
    coherence: Floats
    output: Floats
    averages: float
    realizations: int
    grid: Grid
    log_variance: float
    distortion_known: bool
    distortion: Distortion | None

    @property
    def periodic(self) -> bool:
        """Whether the response is computed over whole periods, without leakage."""
        return self.grid is not Grid.NONE

    @property
    def phase(self) -> Floats:
        """Unwrapped phase (k,), rad, near zero at the lowest frequency."""
        unwrapped: Floats = np.unwrap(np.angle(self.gain))
        return unwrapped

    def bandwidth(self) -> tuple[float, float] | None:
        """Frequency, Hz, with σ, at which |H| falls 3 dB below the lowest line's; None if it is beyond the lines.

        By a polynomial through the two lines on either side, of the logarithm of |H| over that of the frequency. In σ
        is what the polynomial without the outermost line on either side gives instead.
        """
        size = np.abs(self.gain)
        below = np.flatnonzero(size < size[0] / math.sqrt(2.0))
        if not len(below):
            return None
        at = int(below[0])
        place, drop = np.log(self.frequency), np.log(size / size[0]) + 0.5 * math.log(2.0)
        near = np.arange(max(at - 2, 0), min(at + 2, len(size)))
        fewer = [part for part in (near[1:], near[:-1]) if {at - 1, at} <= set(part.tolist())]
        found, slope, weights = _crossing(place, drop, near, at)
        others = [_crossing(place, drop, part, at)[0] for part in fewer]
        spread = np.hypot(self.sigma, self.bias) / size / math.sqrt(2.0)
        noise = math.hypot(*(weights * spread[near]), spread[0]) / abs(slope)
        bent = max((abs(other - found) for other in others), default=0.0)
        return math.exp(found), math.exp(found) * math.hypot(noise, bent)

    def at(self, lines: npt.NDArray[np.bool_]) -> "Response":
        """Select lines by a mask (k,)."""
        selected = {name: getattr(self, name)[lines] for name in _BY_LINE}
        return replace(self, **selected)


def _crossing(x: Floats, y: Floats, near: npt.NDArray[np.int64], at: int) -> tuple[float, float, Floats]:
    """Zero between x[at - 1] and x[at] of the polynomial through some points, its slope, and weights of their y."""
    from scipy.optimize import brentq  # slow to import, rarely needed

    middle, half = x[near].mean(), 0.5 * np.ptp(x[near])
    basis = np.linalg.inv(np.vander((x[near] - middle) / half))  # coefficients of each point's polynomial
    polynomial = np.poly1d(basis @ y[near])
    ends = (x[at - 1] - middle) / half, (x[at] - middle) / half
    root = ends[0] if y[at - 1] == 0.0 else brentq(polynomial, *ends)
    weights: Floats = np.vander([root], len(near))[0] @ basis
    return float(middle + half * root), float(polynomial.deriv()(root) / half), weights


_BY_LINE = ("frequency", "gain", "sigma", "noise", "bias", "coherence", "output")


def steady_stretches(signal: Floats) -> tuple[list[slice], int] | None:
    """Return the periodic parts of a noise-free signal (n,), whole periods each, and the period in samples.

    None if no part has two periods.
    """
    reach = float(np.ptp(signal))
    if reach == 0.0 or len(signal) < 2 * _MATCHING:
        return None
    bound = _SAME * reach
    for anchor in np.linspace(0, len(signal) - _MATCHING, _ANCHORS).astype(int).tolist():
        rest = signal[anchor:]
        if np.ptp(rest[:_MATCHING]) <= bound:
            continue  # at rest every period fits
        windows = np.lib.stride_tricks.sliding_window_view(rest, _MATCHING)
        near = np.flatnonzero(np.abs(rest[4 : len(windows)] - rest[0]) <= bound) + 4
        alike = near[np.abs(windows[near] - rest[:_MATCHING]).max(axis=1, initial=0.0) <= bound]
        for period in alike.tolist():
            found = _repeating(signal, period, bound)
            if found:
                return found, period
    return None


def _repeating(signal: Floats, period: int, bound: float) -> list[slice]:
    """Return slices in which a signal repeats with this period over whole periods, except at rest."""
    same = np.abs(signal[period:] - signal[:-period]) <= bound
    edges = np.flatnonzero(np.diff(np.concatenate([[0], same.astype(np.int8), [0]])))
    return [
        slice(begin, begin + (end + period - begin) // period * period)
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        if end - begin >= period and np.ptp(signal[begin : begin + period]) > bound
    ]


def frequency_response(excitation: Floats, output: Floats, source: Floats, rate: float) -> Response:
    """H from `excitation` to `output` (n,), both driven by `source` (n,), over whole periods or by Welch's method.

    source: the noise-free reference; with the excitation itself this is H1. In a closed loop both signals have
    noise, but the source has none, so that the estimate is unbiased.

    Raises InputError without enough repetitions to estimate the uncertainty.
    """
    steady = steady_stretches(source)
    if steady is None:
        return _welch(excitation, output, source, rate)
    stretches, period = steady
    fewest = min(part.stop - part.start for part in stretches) // period
    spectra = []
    for signal in (source, excitation, output):
        pieces = np.stack([signal[part][: fewest * period].reshape(fewest, period) for part in stretches])
        spectra.append(np.fft.rfft(pieces, axis=2) / period)
    R, U, Y = spectra  # (realisations, periods, lines)
    return _periodic(R, U, Y, rate / period)


def _periodic(R: Complex, U: Complex, Y: Complex, spacing: float) -> Response:
    count, periods = Y.shape[:2]
    r, u, y = (one.mean(axis=1) for one in (R, U, Y))
    power = np.abs(r[:, 1:]) ** 2
    numbers = np.flatnonzero((power > _EXCITED * power.max()).all(axis=0)) + 1
    reference = np.sqrt((np.abs(r[:, numbers]) ** 2).mean(axis=0))
    through = (u[:, numbers] / r[:, numbers]).mean(axis=0)
    gain = (y[:, numbers] / r[:, numbers]).mean(axis=0) / through
    size = np.abs(through) * reference  # rms of the excitation
    output = np.sqrt((np.abs(y[:, numbers]) ** 2).mean(axis=0))
    grid = Grid.ODD if (numbers % 2 == 1).all() else Grid.ANY
    band = np.arange(numbers[0], numbers[-1] + 1)
    inside = np.interp(band, numbers, gain.real) + 1j * np.interp(band, numbers, gain.imag)
    scatter = Y[:, :, band] - inside * U[:, :, band]
    scatter -= scatter.mean(axis=1, keepdims=True)
    by_noise = (np.abs(scatter) ** 2).sum(axis=(0, 1)) / (count * periods * (periods - 1))  # of a realisation's mean
    least = (_ROUNDING * output) ** 2
    excited = np.isin(band, numbers)
    noise, noise_spread = _smooth_variance(np.maximum(by_noise[excited], least), count * (periods - 1))
    left = y[:, band] - inside * u[:, band]
    distortion = None
    if grid is Grid.ODD and (band[~excited] % 2 == 1).any() and (band % 2 == 0).any():
        level = np.sqrt((np.abs(left[:, ~excited]) ** 2).mean(axis=0))
        freedom = (2 * count, 2 * count * (periods - 1))
        distortion = _distortion(band[~excited], level, np.sqrt(by_noise[~excited]), output, spacing, freedom)
    if count > 1:
        by_all = (np.abs(left[:, excited]) ** 2).sum(axis=0) / (count - 1)
        variance, spread = _smooth_variance(np.maximum(by_all, least), count - 1)
        twice = 2 * len(numbers)
        above = float((by_all / noise).mean())
        distorted = _beyond_noise(above, twice * (count - 1), twice * count * (periods - 1))
        variance = np.maximum(variance, noise)
    elif distortion is not None:
        odd = ~distortion.even
        beyond = np.maximum(distortion.level[odd] ** 2 - distortion.noise[odd] ** 2, 0.0)
        near, spread = _smooth_variance(np.maximum(distortion.level[odd] ** 2, least.min()), count)
        share = np.sqrt(beyond.sum() / max((distortion.level[odd] ** 2).sum(), 1e-300))
        variance = noise + share**2 * np.interp(numbers, band[~excited][odd], near)
        distorted = distortion.odd_found
    else:
        variance, spread, distorted = noise, noise_spread, False
    apart = np.gradient(numbers.astype(float)) if len(numbers) > 1 else np.ones(1)
    apart /= 2.0 if grid is Grid.ODD else 1.0
    bias = distorted * _ODD_BIAS * np.sqrt(np.maximum(variance - noise, 0.0) * np.maximum(apart, 1.0)) / size
    yr = (Y[:, :, numbers] * R[:, :, numbers].conj()).sum(axis=(0, 1))
    total = (np.abs(R[:, :, numbers]) ** 2).sum(axis=(0, 1)) * (np.abs(Y[:, :, numbers]) ** 2).sum(axis=(0, 1))
    return Response(
        frequency=spacing * numbers.astype(np.float64),
        gain=gain,
        sigma=np.sqrt(variance / count) / size,
        noise=np.sqrt(noise / count) / size,
        bias=bias,
        coherence=np.abs(yr) ** 2 / np.where(total > 0.0, total, 1.0),
        output=output,
        averages=float(count * periods),
        realizations=count,
        grid=grid,
        log_variance=spread,
        distortion_known=count > 1 or distortion is not None,
        distortion=distortion,
    )


def _smooth_variance(values: Floats, freedom: int) -> tuple[Floats, float]:
    """Smooth sample variances (k,) with these complex degrees of freedom; also return the variance of their logarithm.

    Fits a straight line to their logarithms over neighbouring lines, corrected for the mean of a logarithm.
    """
    from scipy.special import polygamma, psi

    logs = np.log(values) - (psi(freedom) - math.log(freedom))
    count = len(values)
    weights = np.zeros((count, count))
    for at in range(count):
        near = np.arange(max(at - _NEAR, 0), min(at + _NEAR + 1, count))
        design = np.vander(near - at, min(2, len(near)), increasing=True).astype(float)
        weights[at, near] = np.linalg.pinv(design)[0]
    spread = float(polygamma(1, freedom)) * float((weights**2).sum(axis=1).mean())
    return np.exp(weights @ logs), spread


def _beyond_noise(ratio: float, freedom: int, of_noise: int) -> bool:
    """Return whether a ratio of variances, with these degrees of freedom, is significantly above 1."""
    from scipy.stats import f

    return bool(ratio > f.ppf(1.0 - _LEVEL, freedom, of_noise))


def _distortion(
    numbers: npt.NDArray[np.int64],
    level: Floats,
    noise: Floats,
    output: Floats,
    spacing: float,
    freedom: tuple[int, int],
) -> Distortion:
    even = numbers % 2 == 0
    signal = float((output**2).sum())
    parts, found = [], []
    for which in (even, ~even):
        here, by_noise = float((level[which] ** 2).sum()), float((noise[which] ** 2).sum())
        lines = int(which.sum())
        parts.append(math.sqrt(max(here - by_noise, 0.0) / signal))
        beyond = here / by_noise if by_noise > 0.0 else math.inf
        found.append(_beyond_noise(beyond, freedom[0] * lines, freedom[1] * lines))
    return Distortion(
        frequency=spacing * numbers.astype(np.float64),
        even=even,
        level=level,
        noise=noise,
        even_part=parts[0],
        odd_part=parts[1],
        noise_part=math.sqrt(float((noise**2).sum()) / signal),
        even_found=found[0],
        odd_found=found[1],
    )


def _welch(excitation: Floats, output: Floats, source: Floats, rate: float) -> Response:
    length = 2 * len(source) // (_SEGMENTS + 1)
    if length < 16:
        raise InputError(f"frequency response: {len(source)} cycles are too few")
    starts = np.arange(_SEGMENTS) * (length // 2)
    from scipy.signal import get_window  # slow to import, rarely needed

    window, averages = get_window("hann", length), 0.5 * (_SEGMENTS + 1)
    pieces = [np.stack([signal[at : at + length] for at in starts]) for signal in (source, excitation, output)]
    R, U, Y = (np.fft.rfft((one - one.mean(axis=1, keepdims=True)) * window, axis=1)[:, 1:] for one in pieces)
    frequency = np.fft.rfftfreq(length, 1.0 / rate)[1:]
    power = (np.abs(R) ** 2).sum(axis=0)
    lines = power > _EXCITED * power.max(initial=0.0)
    R, U, Y, frequency = R[:, lines], U[:, lines], Y[:, lines], frequency[lines]
    ur, yr = ((one * R.conj()).sum(axis=0) for one in (U, Y))
    gain = yr / ur
    left = (np.abs(Y - gain * U) ** 2).sum(axis=0) / (len(R) - 1)
    least = _ROUNDING * np.abs(gain)
    sigma = np.maximum(np.sqrt(left * power[lines]) / np.abs(ur) * math.sqrt(len(R) / averages), least)
    total = power[lines] * (np.abs(Y) ** 2).sum(axis=0)
    return Response(
        frequency=frequency,
        gain=gain,
        sigma=sigma,
        noise=sigma,
        bias=np.zeros(len(frequency)),
        coherence=np.abs(yr) ** 2 / np.where(total > 0.0, total, 1.0),
        output=np.sqrt((np.abs(Y) ** 2).mean(axis=0)) / window.sum(),
        averages=averages,
        realizations=1,
        grid=Grid.NONE,
        log_variance=1.0 / averages,
        distortion_known=False,
        distortion=None,
    )


def well_excited(response: Response, band: tuple[float, float] | None = None) -> Response:
    """Select the lines with a coherence of at least LEAST_COHERENCE, in a band, Hz, or of all excited ones.

    Raises InputError naming third-octave bands without any, or for fewer than FEWEST_LINES.
    """
    good = response.coherence >= LEAST_COHERENCE
    low, high = band if band is not None else _range(response.frequency)
    inside = good & (response.frequency >= low * (1 - 1e-9)) & (response.frequency <= high * (1 + 1e-9))
    lacking = []
    edge = low
    while edge < high * (1.0 - 1e-9):
        end = min(edge * _THIRD, high)
        near = (response.frequency >= edge / _THIRD) & (response.frequency <= end * _THIRD)
        if not (near & good).any() and (near.any() or band is not None):  # only a requested band must be excited
            lacking.append((edge, end))
        edge = end
    if lacking:
        named = ", ".join(f"{begin:.3g} to {end:.3g} Hz" for begin, end in _merged(lacking))
        raise InputError(f"not enough excitation at {named}: no line there, or a coherence below {LEAST_COHERENCE:g}")
    count = int(inside.sum())
    if count < FEWEST_LINES:
        known = ", ".join(f"{value:.3g}" for value in response.frequency[inside])
        raise InputError(
            f"not enough excitation: {count} frequencies{f' ({known} Hz)' if known else ''}, at least {FEWEST_LINES} "
            "are needed: a multisine (rig multisine) or a chirp"
        )
    return response.at(inside)


def _range(frequency: Floats) -> tuple[float, float]:
    return (float(frequency[0]), float(frequency[-1])) if len(frequency) else (1.0, 1.0)


def _merged(bands: list[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for begin, end in bands:
        if merged and merged[-1][1] >= begin * (1 - 1e-9):
            begin = merged.pop()[0]
        merged.append((begin, end))
    return merged
