"""A periodic excitation of one coordinate: sines at multiples of one frequency, as a trajectory's file has it."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kinematics import COORDINATES
from rig.errors import InputError

MOST_LINES = 40
FEWEST_ODD = 5
"""excited odd multiples that a random odd grid must leave"""
_TRIES = 200
_FADE = 1.0  # s at most; a period where that is shorter
_FIRST_LEFT_OUT = 7  # as below it neighbours would be more than an octave apart
_GROUP = 4  # neighbouring odd multiples, one of which is left out


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
    """A trajectory about home, as `kinematics.TrajectorySpec` reads it: parts of `periods` of it, each between fades.

    Up to `most_lines` sines, spaced evenly in the logarithm between `low` and `high`, Hz, at multiples of 1/period.
    Their amplitudes fall as 1/f, so that each has the same speed. Each of the `realizations`, a part each, has phases
    of its own at the same amplitudes: of many random ones those with the least peak. amplitude: m or rad, of the whole.
    odd: a random odd grid, of every four neighbouring odd multiples one left out at random. Even and odd multiples
    without a sine then show even and odd non-linear distortion (Pintelon & Schoukens, System Identification, 4.3).
    Raises InputError for a coordinate that there is not, a band without enough lines, or numbers that are not above 0.
    """
    if dof not in COORDINATES:
        raise InputError(f"dof: {dof!r} is none of {', '.join(COORDINATES)}")
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
    """Odd numbers of these, spaced as `_grid`, of every `_GROUP` one left out at random, but not the lowest."""
    low, high = first // 2, (last - 1) // 2  # of 2 n + 1
    if high < low:
        return np.zeros(0, np.int64)
    odd = 2 * (_grid(low + 1, high + 1, most * _GROUP // (_GROUP - 1)) - 1) + 1
    begins = range(int(np.searchsorted(odd, _FIRST_LEFT_OUT)), len(odd) - _GROUP, _GROUP)
    left_out = [begin + int(random.integers(_GROUP)) for begin in begins]
    return np.delete(odd, left_out)


@lru_cache(maxsize=32)
def _phases(numbers: tuple[int, ...], seed: int, realizations: int) -> list[tuple[list[float], float]]:
    """Of many random phases of sines with these numbers of periods, those with the least peak, and that peak."""
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
