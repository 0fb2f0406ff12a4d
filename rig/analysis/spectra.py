"""Motions from spectra: sea waves and roads as sums of sines with random phases; response spectra of records."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from kinematics import AccelerationsPart, Array, corrected, discretised
from rig.errors import InputError

Spectrum: TypeAlias = Literal["JONSWAP", "Pierson-Moskowitz"]
RoadClass: TypeAlias = Literal["A", "B", "C", "D", "E", "F", "G", "H"]

_GRAVITY = 9.80665  # m/s²
_PEAKEDNESS: Mapping[Spectrum, float] = {"JONSWAP": 3.3, "Pierson-Moskowitz": 1.0}
_SEA_BAND = 0.5, 4.0  # of the peak frequency; outside of it is less than 1 % of the energy
_FINE = 4001  # frequencies at which a spectrum is integrated
_REFERENCE = 0.1  # cycles/m, of ISO 8608
ROAD_CLASSES: Mapping[RoadClass, float] = {each: 16e-6 * 4.0**place for place, each in enumerate(get_args(RoadClass))}
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


_SHOWN = (0.1, 0.2, 0.5, 1.0, 2.0)  # s, of a text
_PERIODS = np.unique([*np.geomspace(0.05, 5.0, 41).tolist(), *_SHOWN])  # s, of the oscillators of a response spectrum
_DAMPING = 0.05


def response_spectrum(accelerations: ArrayLike, step: float, periods: ArrayLike, damping: float = 0.05) -> Array:
    """Return the pseudo-accelerations (m, k), m/s², of oscillators on a base that moves so: ω² max |u|.

    ü + 2ζω u̇ + ω² u = −a, from rest, solved exactly for accelerations (n, k) that are linear between samples, `step` s
    apart (Nigam and Jennings 1969). periods (m,): s. damping: ζ, below 1.

    Raises InputError for a step, a period or a damping without a solution.
    """
    given, lengths = np.atleast_2d(np.asarray(accelerations, dtype=np.float64)), np.asarray(periods, dtype=np.float64)
    if not (0.0 < step < math.inf and np.isfinite(lengths).all() and (lengths > 0.0).all()):
        raise InputError("step and periods: must be finite and above 0 s")
    if not 0.0 <= damping < 1.0:
        raise InputError(f"damping: {damping:g}, must be 0 to 1")
    omegas = 2.0 * np.pi / lengths
    steps = np.array(
        [discretised(np.array([[0.0, 1.0], [-w * w, -2.0 * damping * w]]), np.array([0.0, -1.0]), step) for w in omegas]
    )
    forced = steps[:, :, 2, None, None] * given[None, None, :-1] + steps[:, :, 3, None, None] * given[None, None, 1:]
    state = np.zeros((len(omegas), 2, given.shape[1]))
    greatest = np.zeros((len(omegas), given.shape[1]))
    for row in range(len(given) - 1):
        state = steps[:, :, :2] @ state + forced[:, :, row]
        np.maximum(greatest, np.abs(state[:, 0]), out=greatest)
    found: Array = omegas[:, None] ** 2 * greatest
    return found


@dataclass(frozen=True, eq=False)
class RecordSpectra:
    """What a platform makes of a record: response spectra at 5 % damping of the record and of the motion.

    axes (k). periods (m,): s. record, motion (m, k): pseudo-accelerations, m/s², of the file and of the motion. peaks
    (2, k): greatest accelerations of both, m/s². drift (k,): displacement of the motion faded out at its ends, m.
    """

    axes: tuple[str, ...]
    periods: Array
    record: Array
    motion: Array
    peaks: Array
    drift: Array

    def as_dict(self) -> dict[str, Any]:
        """Return the spectra as a JSON object."""
        return {
            "damping": _DAMPING,
            "axes": list(self.axes),
            "period_s": self.periods.tolist(),
            "record_m_s2": self.record.T.tolist(),
            "motion_m_s2": self.motion.T.tolist(),
            "peak_record_m_s2": self.peaks[0].tolist(),
            "peak_motion_m_s2": self.peaks[1].tolist(),
            "drift_m": self.drift.tolist(),
        }

    def lines(self) -> list[str]:
        """Return the spectra at a few periods as lines of text."""
        found = ["response spectrum at 5 % damping, m/s², of the record and of the motion"]
        found.append(f"axis{'peak':>16}" + "".join(f"{f'{period:g} s':>16}" for period in _SHOWN))
        shown = np.searchsorted(self.periods, _SHOWN)
        for place, axis in enumerate(self.axes):
            both = np.column_stack([self.record[shown, place], self.motion[shown, place]])
            values = np.vstack([self.peaks[:, place], both])
            found.append(f"{axis:<4}" + "".join(f"{f'{one:.3g}  {other:.3g}':>16}" for one, other in values))
        drift = ", ".join(f"{1e3 * each:.2g}" for each in self.drift)
        found.append(f"drift removed at the ends: {drift} mm")
        return found


def record_spectra(part: AccelerationsPart, folder: Path) -> RecordSpectra:
    """Return the response spectra of a record, as its file has it, and of the motion that a part makes of it.

    A relative path starts in `folder`. Raises TrajectoryError as the part does.
    """
    record, motion = part.record(folder), part.build(folder)
    step = record.step
    times = np.arange(int(motion.duration / step * (1.0 + 1e-12)) + 1) * step
    places = ["xyz".index(axis) for axis in record.axes]
    moved = motion.coordinates(times)[2][:, places]
    still = record.accelerations - record.accelerations.mean(axis=0)
    rest = np.zeros((len(times) - len(still), len(places)))  # oscillators go on after the record
    return RecordSpectra(
        record.axes,
        _PERIODS,
        response_spectrum(np.vstack([still, rest]), step, _PERIODS, _DAMPING),
        response_spectrum(moved, step, _PERIODS, _DAMPING),
        np.array([np.abs(still).max(axis=0), np.abs(moved).max(axis=0)]),
        part.scale * corrected(record, part.high_pass, part.low_pass, part.fade).drift,
    )


def _terms(axis: str, sizes: Array, frequencies: Array, phases: Array) -> list[dict[str, Any]]:
    return [
        {"dof": axis, "amplitude": size, "frequency": frequency, "phase": phase}
        for size, frequency, phase in zip(sizes.tolist(), frequencies.tolist(), phases.tolist(), strict=True)
    ]
