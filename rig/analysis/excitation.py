"""A periodic excitation of one coordinate: sines at multiples of one frequency, as a trajectory's file has it."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from kinematics import COORDINATES
from rig.errors import InputError

MOST_LINES = 40
_TRIES = 200
_SAMPLES = 4096


def multisine(
    dof: str,
    low: float,
    high: float,
    amplitude: float,
    period: float,
    periods: int,
    seed: int = 0,
    most_lines: int = MOST_LINES,
) -> dict[str, Any]:
    """A trajectory about home, as `kinematics.TrajectorySpec` reads it: `periods` of it between two fades.

    Up to `most_lines` sines, spaced evenly in the logarithm between `low` and `high`, Hz, at multiples of 1/period.
    Their amplitudes fall as 1/f, so that each has the same speed; of many random phases those with the least peak are
    taken. amplitude: m or rad, of the whole.
    Raises InputError for a coordinate that there is not, a band without lines, or numbers that are not above 0.
    """
    if dof not in COORDINATES:
        raise InputError(f"dof: {dof!r} is none of {', '.join(COORDINATES)}")
    for name, value in (("amplitude", amplitude), ("from", low), ("to", high), ("period", period)):
        if not (math.isfinite(value) and value > 0.0):
            raise InputError(f"{name}: {value:g}, must be above 0")
    if periods < 2:
        raise InputError(f"periods: {periods}, must be at least 2 to tell noise from signal")
    first, last = math.ceil(low * period - 1e-9), math.floor(high * period + 1e-9)
    if first > last or first < 1:
        raise InputError(f"no multiple of {1 / period:g} Hz lies from {low:g} to {high:g} Hz: a longer period")
    numbers = np.unique(np.round(np.geomspace(first, last, most_lines)).astype(int))
    frequencies = numbers / period
    sizes = frequencies[0] / frequencies
    best, least = _phases(tuple(numbers.tolist()), seed)
    terms = [
        {"dof": dof, "amplitude": amplitude * size / least, "frequency": frequency, "phase": phase}
        for size, frequency, phase in zip(sizes.tolist(), frequencies.tolist(), best, strict=True)
    ]
    part = {"type": "harmonic", "duration": (periods + 2) * period, "fade": period, "terms": terms}
    return {"frame": "home", "parts": [part]}


@lru_cache(maxsize=32)
def _phases(numbers: tuple[int, ...], seed: int) -> tuple[tuple[float, ...], float]:
    """Of many random phases of sines with these numbers of periods, those with the least peak, and that peak."""
    random = np.random.default_rng(seed)
    sizes = numbers[0] / np.array(numbers)
    turns = 2.0 * np.pi * np.outer(np.arange(_SAMPLES) / _SAMPLES, numbers)
    best, least = np.zeros(len(numbers)), math.inf
    for _ in range(_TRIES):
        phases = random.uniform(0.0, 2.0 * np.pi, len(numbers))
        peak = float(np.abs(np.sin(turns + phases) @ sizes).max())
        if peak < least:
            best, least = phases, peak
    return tuple(best.tolist()), least
