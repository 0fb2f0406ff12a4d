"""Frequency response by the H1 estimator: over whole periods of a periodic excitation, or by Welch's method."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rig.analysis.smoothing import Floats
from rig.errors import InputError

Complex = npt.NDArray[np.complex128]

LEAST_COHERENCE = 0.5
"""of an output that counts as excited at a frequency"""
FEWEST_LINES = 5

_EXCITED = 1e-8  # of the strongest line's power
_SAME = 1e-6  # of the signal's range: a reference that repeats itself does so to rounding
_SEGMENTS = 8  # of Welch's method, half overlapping
_THIRD = 2.0 ** (1.0 / 3.0)


@dataclass(frozen=True, slots=True, eq=False)
class Response:
    """H at the excited frequencies (k,), Hz: `gain` complex, `sigma` its standard uncertainty (of |H − Ĥ|), coherence.

    averages: independent pieces that it is the mean of. periodic: whether these are whole periods, without leakage.
    """

    frequency: Floats
    gain: Complex
    sigma: Floats
    coherence: Floats
    averages: float
    periodic: bool

    @property
    def phase(self) -> Floats:
        """Unwrapped phase (k,), rad, near zero at the lowest frequency."""
        unwrapped: Floats = np.unwrap(np.angle(self.gain))
        return unwrapped

    def bandwidth(self) -> tuple[float, float] | None:
        """Frequency, Hz, and its standard uncertainty at which |H| falls 3 dB below the lowest line's; None beyond."""
        size = np.abs(self.gain)
        level = size[0] / math.sqrt(2.0)
        below = np.flatnonzero(size < level)
        if not len(below):
            return None
        at = int(below[0])
        slope = (size[at] - size[at - 1]) / (self.frequency[at] - self.frequency[at - 1])
        found = self.frequency[at - 1] + (level - size[at - 1]) / slope
        share = (found - self.frequency[at - 1]) / (self.frequency[at] - self.frequency[at - 1])
        spread = np.array([1.0 - share, share]) * self.sigma[[at - 1, at]] / math.sqrt(2.0)
        reference = self.sigma[0] / 2.0
        return float(found), float(math.hypot(*spread, reference) / abs(slope))


def steady_periods(signal: Floats) -> tuple[slice, int] | None:
    """The part of a noise-free signal (n,) that repeats itself, whole periods of it, and the period in samples.

    None where there are not two of them.
    """
    reach = float(np.ptp(signal))
    count = len(signal)
    middle = signal[count // 4 : 3 * count // 4]
    for period in range(4, len(middle) // 2 + 1):
        if abs(middle[period] - middle[0]) <= _SAME * reach and (
            np.abs(middle[period:] - middle[:-period]).max() <= _SAME * reach
        ):
            break
    else:
        return None
    if reach == 0.0:
        return None
    same = np.abs(signal[period:] - signal[:-period]) <= _SAME * reach
    centre = min(count // 2, len(same) - 1)
    breaks = np.flatnonzero(~same)
    first = int(breaks[breaks < centre].max(initial=-1)) + 1
    last = int(breaks[breaks > centre].min(initial=len(same))) + period
    periods = (last - first) // period
    return (slice(first, first + periods * period), period) if periods >= 2 else None


def frequency_response(excitation: Floats, output: Floats, source: Floats, rate: float) -> Response:
    """H from `excitation` to `output` (n,), both driven by `source` (n,): S_output,source / S_excitation,source.

    source: the reference, without noise; where it is the excitation itself this is H1. In a closed loop noise that goes
    round is in both, but not in the source, so that it makes no bias.

    Raises InputError where there are not enough repetitions to tell uncertainty from signal.
    """
    steady = steady_periods(source)
    if steady is not None:
        part, period = steady
        pieces = [signal[part].reshape(-1, period) for signal in (source, excitation, output)]
        window, averages = np.ones(period), float(len(pieces[0]))
    else:
        length = 2 * len(source) // (_SEGMENTS + 1)
        starts = np.arange(_SEGMENTS) * (length // 2)
        if length < 16:
            raise InputError(f"frequency response: {len(source)} cycles are too few")
        pieces = [np.stack([signal[at : at + length] for at in starts]) for signal in (source, excitation, output)]
        from scipy.signal import get_window  # takes long to import, and few need it

        window, averages = get_window("hann", length), 0.5 * (_SEGMENTS + 1)
    spectra = [np.fft.rfft((piece - piece.mean(axis=1, keepdims=True)) * window, axis=1)[:, 1:] for piece in pieces]
    frequency = np.fft.rfftfreq(len(window), 1.0 / rate)[1:]
    R, U, Y = spectra
    power = (np.abs(R) ** 2).sum(axis=0)
    lines = power > _EXCITED * power.max(initial=0.0)
    R, U, Y, frequency = R[:, lines], U[:, lines], Y[:, lines], frequency[lines]
    ur, yr = ((one * R.conj()).sum(axis=0) for one in (U, Y))
    gain = yr / ur
    left = (np.abs(Y - gain * U) ** 2).sum(axis=0) / (len(R) - 1)
    sigma = np.sqrt(left * power[lines]) / np.abs(ur) * math.sqrt(len(R) / averages)
    total = power[lines] * (np.abs(Y) ** 2).sum(axis=0)
    coherence = np.abs(yr) ** 2 / np.where(total > 0.0, total, 1.0)
    return Response(frequency, gain, sigma, coherence, averages, steady is not None)


def well_excited(response: Response, band: tuple[float, float] | None = None) -> Response:
    """The lines with a coherence of LEAST_COHERENCE at least, of a band, Hz, or of all that are excited.

    Raises InputError naming the third-octave bands in which there is none, or where they are fewer than FEWEST_LINES.
    """
    good = response.coherence >= LEAST_COHERENCE
    low, high = band if band is not None else _range(response.frequency)
    inside = good & (response.frequency >= low * (1 - 1e-9)) & (response.frequency <= high * (1 + 1e-9))
    lacking = []
    edge = low
    while edge < high * (1.0 - 1e-9):
        end = min(edge * _THIRD, high)
        near = good & (response.frequency >= edge / _THIRD) & (response.frequency <= end * _THIRD)
        if not near.any():
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
    return Response(
        response.frequency[inside],
        response.gain[inside],
        response.sigma[inside],
        response.coherence[inside],
        response.averages,
        response.periodic,
    )


def _range(frequency: Floats) -> tuple[float, float]:
    return (float(frequency[0]), float(frequency[-1])) if len(frequency) else (1.0, 1.0)


def _merged(bands: list[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for begin, end in bands:
        if merged and merged[-1][1] >= begin * (1 - 1e-9):
            begin = merged.pop()[0]
        merged.append((begin, end))
    return merged
