"""Motions from spectra: sea waves and roads as sums of sines with random phases."""

import math
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np

from kinematics import Array
from rig.errors import InputError

Spectrum: TypeAlias = Literal["JONSWAP", "Pierson-Moskowitz"]
RoadClass: TypeAlias = Literal["A", "B", "C", "D", "E", "F", "G", "H"]

_GRAVITY = 9.80665  # m/s²
_PEAKEDNESS: Mapping[Spectrum, float] = {"JONSWAP": 3.3, "Pierson-Moskowitz": 1.0}
_SEA_BAND = 0.5, 4.0  # of the peak frequency; outside of it is less than 1 % of the energy
_FINE = 4001  # frequencies at which a spectrum is integrated
_REFERENCE = 0.1  # cycles/m, of ISO 8608
ROAD_CLASSES: Mapping[RoadClass, float] = {each: 16e-6 * 4.0**place for place, each in enumerate("ABCDEFGH")}  # type: ignore[misc]
"""G_d(0.1 cycles/m), m³, the geometric mean of each class of ISO 8608."""


def wave_spectrum(frequency: Array, height: float, period: float, spectrum: Spectrum) -> Array:
    """Return the spectral density (n,), m²/Hz, of the sea's elevation at `frequency` (n,), Hz.

    JONSWAP with a peakedness of 3.3, or Pierson–Moskowitz (Hasselmann et al. 1973; DNV-RP-C205, 3.5.5).
    height: significant wave height, m, four times the standard deviation; period: of the peak, s.
    """
    gamma, ratio = _PEAKEDNESS[spectrum], frequency * period
    width = np.where(ratio <= 1.0, 0.07, 0.09)
    enhanced = gamma ** np.exp(-0.5 * ((ratio - 1.0) / width) ** 2)
    level = 5.0 / 16.0 * height**2 * period * (1.0 - 0.287 * math.log(gamma))
    density: Array = level * ratio**-5.0 * np.exp(-1.25 * ratio**-4.0) * enhanced
    return density


def sea_terms(
    axes: tuple[str, ...],
    height: float,
    period: float,
    heading: float,
    spectrum: Spectrum,
    seed: int,
    most: int,
) -> list[dict[str, Any]]:
    """Return the sines of a raft on long-crested waves in deep water, for a `harmonic` part, at most `most` of them.

    The raft moves as the water's surface does: x and y are a particle's orbit, z its elevation, rx and ry the slope
    (Airy waves, k = ω²/g). The sines have equal energy in z, their frequencies are random within their shares of it.

    axes: of x, y, z, rx, ry. height, period, spectrum: see `wave_spectrum`; the band is 0.5 to 4 times the peak's
    frequency, and within it the height is exact. heading: of the waves' travel, rad, from x towards y.
    """
    shares = {
        "x": (math.cos(heading), 0, 0.0), "y": (math.sin(heading), 0, 0.0), "z": (1.0, 0, 0.5 * math.pi),
        "rx": (math.sin(heading), 1, 0.0), "ry": (-math.cos(heading), 1, 0.0),
    }  # fmt: skip
    moved = [axis for axis in axes if abs(shares[axis][0]) > 1e-9]
    if not moved:
        raise InputError(f"heading: {math.degrees(heading):g} °, waves from there do not move {', '.join(axes)}")
    lines = most // len(moved)
    random = np.random.default_rng(seed)
    frequency = np.linspace(_SEA_BAND[0] / period, _SEA_BAND[1] / period, _FINE)
    density = wave_spectrum(frequency, height or 1.0, period, spectrum)
    energy = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    drawn = np.interp((np.arange(lines) + random.random(lines)) / lines, energy / energy[-1], frequency)
    phases = random.uniform(-math.pi, math.pi, lines)
    amplitude = height / 4.0 * math.sqrt(2.0 / lines)
    terms = []
    for axis in moved:
        share, slope, lead = shares[axis]
        sizes = share * amplitude * ((2.0 * math.pi * drawn) ** 2 / _GRAVITY) ** slope
        terms += _terms(axis, sizes, drawn, phases + lead)
    return terms


def road_terms(
    axes: tuple[str, ...],
    density: float,
    speed: float,
    wheelbase: float,
    track: float,
    band: tuple[float, float],
    seed: int,
    most: int,
) -> list[dict[str, Any]]:
    """Return the sines of a stiff vehicle on a random road, for a `harmonic` part, at most `most` of them.

    The wheels follow the profile G_d(n) = G_d(0.1) (n/0.1)⁻² of ISO 8608; z is the mean of the four, rx and ry are the
    slopes across and along. Left and right are coherent as on an isotropic surface, 2πbn K₁(2πbn) for the track b
    (Dodds & Robson 1973).

    axes: of z, rx, ry. density: G_d(0.1), m³. speed: m/s. wheelbase, track: m. band: Hz, of what the wheels feel.
    """
    from scipy.special import k1  # slow import, deferred

    if not 0.0 < band[0] < band[1]:
        raise InputError(f"from: {band[0]:g} Hz, must be above 0 and below {band[1]:g} Hz, the end of the band")
    lines = most // len(axes)
    random = np.random.default_rng(seed)
    edges = np.geomspace(*band, lines + 1) / speed  # cycles/m
    n = edges[:-1] * (edges[1:] / edges[:-1]) ** random.random(lines)
    amplitude = np.sqrt(2.0 * density * _REFERENCE**2 * (1.0 / edges[:-1] - 1.0 / edges[1:]))
    along, across = random.uniform(-math.pi, math.pi, (2, lines))
    both = 2.0 * math.pi * track * n
    coherence = both * k1(both)
    middle, apart = np.sqrt(0.5 * (1.0 + coherence)), np.sqrt(0.5 * (1.0 - coherence))
    half = math.pi * wheelbase * n
    made = {
        "z": (amplitude * middle * np.cos(half), along),
        "rx": (2.0 / track * amplitude * apart * np.cos(half), across),
        "ry": (-2.0 / wheelbase * amplitude * middle * np.sin(half), along + 0.5 * math.pi),
    }
    return [term for axis in axes for term in _terms(axis, made[axis][0], speed * n, made[axis][1])]


def road_height(density: float, speed: float, band: tuple[float, float]) -> float:
    """Return the RMS of a road's profile in a band of Hz at `speed`, m; density: G_d(0.1), m³."""
    return math.sqrt(density * _REFERENCE**2 * speed * (1.0 / band[0] - 1.0 / band[1]))


def _terms(axis: str, sizes: Array, frequencies: Array, phases: Array) -> list[dict[str, Any]]:
    return [
        {"dof": axis, "amplitude": size, "frequency": frequency, "phase": phase}
        for size, frequency, phase in zip(sizes.tolist(), frequencies.tolist(), phases.tolist(), strict=True)
    ]
