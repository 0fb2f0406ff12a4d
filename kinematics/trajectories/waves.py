"""Trajectories that are sums of sines, faded in and out: harmonics, frequency sweeps, random motion."""

import math
from collections import abc
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinematics.arrays import Array
from kinematics.errors import TrajectoryError
from kinematics.trajectories.base import COORDINATE_UNITS, COORDINATES, Placement, Trajectory, bounded, six, time_span

_ROUNDING = 1e-9  # relative; a fade this near its bound is meant to be at it
RANDOM_WAVES = 40
"""Sines of each term of a random motion."""


@dataclass(frozen=True, slots=True)
class HarmonicTerm:
    """One sine: amplitude·sin(2π frequency t + phase) on the coordinate `dof` ("x" … "rz"); m or rad, Hz, rad."""

    dof: str
    amplitude: float
    frequency: float
    phase: float = 0.0


@dataclass(frozen=True, slots=True)
class ChirpTerm:
    """A sine on the coordinate `dof` whose frequency, Hz, runs linearly from start to end over the trajectory."""

    dof: str
    amplitude: float
    start_frequency: float
    end_frequency: float
    phase: float = 0.0


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """Noise of the root mean square `rms`, m or rad, on the coordinate `dof`, with all its power between two Hz."""

    dof: str
    rms: float
    low_frequency: float
    high_frequency: float


class _FadedWaves(Trajectory):
    """Sum of sines about `offset`, faded in and out so that it starts and ends at rest at the offset.

    Each wave is (coordinate, amplitude, phase polynomial p0 + p1 t + p2 t², rad).  The fades, `fade` s each, have four
    continuous derivatives.
    """

    def __init__(
        self,
        waves: abc.Sequence[tuple[int, float, tuple[float, float, float]]],
        duration: float,
        fade: float,
        offset: ArrayLike | None,
        placement: Placement | None,
    ) -> None:
        super().__init__(duration, placement)
        if not waves:
            raise TrajectoryError("terms: none given, must be at least one")
        self._fade = time_span("fade", fade)
        if self._fade > 0.5 * self.duration * (1.0 + _ROUNDING):
            raise TrajectoryError(
                f"fade: {fade:g} s, must be at most half the duration, {0.5 * self.duration:g} s, to fade in and out"
            )
        self._waves = tuple(waves)
        self._offset = np.zeros(6) if offset is None else six("offset", offset)

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        sum_, sum_d, sum_dd = np.zeros((len(t), 6)), np.zeros((len(t), 6)), np.zeros((len(t), 6))
        for column, amplitude, (p0, p1, p2) in self._waves:
            phase, rate = p0 + t * (p1 + t * p2), p1 + 2.0 * p2 * t
            sine, cosine = np.sin(phase), np.cos(phase)
            sum_[:, column] += amplitude * sine
            sum_d[:, column] += amplitude * rate * cosine
            sum_dd[:, column] += amplitude * (2.0 * p2 * cosine - rate * rate * sine)
        rise, rise_d, rise_dd = _smooth_step(t / self._fade)
        fall, fall_d, fall_dd = _smooth_step((self.duration - t) / self._fade)
        # The two fades do not overlap: where one changes, the other is 1.
        w = (rise * fall)[:, None]
        wd = ((rise_d - fall_d) / self._fade)[:, None]
        wdd = ((rise_dd + fall_dd) / self._fade**2)[:, None]
        return (
            self._offset + w * sum_,
            wd * sum_ + w * sum_d,
            wdd * sum_ + 2.0 * wd * sum_d + w * sum_dd,
        )


def _smooth_step(u: Array) -> tuple[Array, Array, Array]:
    """A step from 0 (u ≤ 0) to 1 (u ≥ 1) with four continuous derivatives, and its first two."""
    u = np.clip(u, 0.0, 1.0)
    v = 1.0 - u
    value = u**5 * (126.0 + u * (-420.0 + u * (540.0 + u * (-315.0 + 70.0 * u))))
    return value, 630.0 * (u * v) ** 4, 2520.0 * (u * v) ** 3 * (v - u)


def _column(index: int, dof: str) -> int:
    if dof not in COORDINATES:
        raise TrajectoryError(f"term {index + 1}, dof: {dof!r}, must be one of {', '.join(COORDINATES)}")
    return COORDINATES.index(dof)


class Harmonic(_FadedWaves):
    """Sines about `offset` (6,), as many per coordinate as wanted, faded in and out over `fade` s.

    Raises TrajectoryError for no term or an unknown coordinate, values beyond ±1e6, a negative frequency, or a fade
    longer than half the duration.
    """

    def __init__(
        self,
        terms: abc.Sequence[HarmonicTerm],
        duration: float,
        fade: float,
        *,
        offset: ArrayLike | None = None,
        placement: Placement | None = None,
    ) -> None:
        waves = []
        for index, term in enumerate(terms):
            column = _column(index, term.dof)
            amplitude = bounded(f"term {index + 1}, amplitude", term.amplitude, COORDINATE_UNITS[column])
            frequency = bounded(f"term {index + 1}, frequency", term.frequency, "Hz", least=0.0)
            phase = bounded(f"term {index + 1}, phase", term.phase, "rad")
            waves.append((column, amplitude, (phase, 2.0 * math.pi * frequency, 0.0)))
        super().__init__(waves, duration, fade, offset, placement)


class Chirp(_FadedWaves):
    """Linear frequency sweeps about `offset` (6,), faded in and out over `fade` s.

    With f0, f1 the frequencies at the ends the phase is phase + 2π(f0 t + (f1 − f0) t²/(2 duration)).  Errors as
    `Harmonic`.
    """

    def __init__(
        self,
        terms: abc.Sequence[ChirpTerm],
        duration: float,
        fade: float,
        *,
        offset: ArrayLike | None = None,
        placement: Placement | None = None,
    ) -> None:
        time_span("duration", duration)
        waves = []
        for index, term in enumerate(terms):
            column = _column(index, term.dof)
            amplitude = bounded(f"term {index + 1}, amplitude", term.amplitude, COORDINATE_UNITS[column])
            first = bounded(f"term {index + 1}, start_frequency", term.start_frequency, "Hz", least=0.0)
            last = bounded(f"term {index + 1}, end_frequency", term.end_frequency, "Hz", least=0.0)
            phase = bounded(f"term {index + 1}, phase", term.phase, "rad")
            waves.append((column, amplitude, (phase, 2.0 * math.pi * first, math.pi * (last - first) / duration)))
        super().__init__(waves, duration, fade, offset, placement)


class RandomMotion(_FadedWaves):
    """Band-limited noise about `offset` (6,), faded in and out over `fade` s; the same `seed` is the same motion.

    Each term is a sum of RANDOM_WAVES sines of one size, amplitude rms √(2/RANDOM_WAVES), one in each of as many equal
    parts of its band, with random frequency there and random phase: nearly Gaussian, and without a period.  Peaks are
    some three times the rms.  Errors as `Harmonic`, and for a band that ends below its begin or a negative seed.
    """

    def __init__(
        self,
        terms: abc.Sequence[RandomTerm],
        duration: float,
        fade: float,
        seed: int,
        *,
        offset: ArrayLike | None = None,
        placement: Placement | None = None,
    ) -> None:
        if seed < 0:
            raise TrajectoryError(f"seed: {seed}, must be at least 0")
        source = np.random.PCG64(seed)
        waves = []
        for index, term in enumerate(terms):
            column = _column(index, term.dof)
            rms = bounded(f"term {index + 1}, rms", term.rms, COORDINATE_UNITS[column])
            low = bounded(f"term {index + 1}, low_frequency", term.low_frequency, "Hz", least=0.0)
            high = bounded(f"term {index + 1}, high_frequency", term.high_frequency, "Hz", least=low)
            # of all that NumPy draws only a bit generator's own numbers are promised to stay as they are
            drawn = (source.random_raw(2 * RANDOM_WAVES) >> np.uint64(11)) * 2.0**-53
            places, phases = drawn[:RANDOM_WAVES], 2.0 * math.pi * drawn[RANDOM_WAVES:]
            frequencies = low + (high - low) * (np.arange(RANDOM_WAVES) + places) / RANDOM_WAVES
            size = rms * math.sqrt(2.0 / RANDOM_WAVES)
            for frequency, phase in zip(frequencies.tolist(), phases.tolist(), strict=True):
                waves.append((column, size, (phase, 2.0 * math.pi * frequency, 0.0)))
        super().__init__(waves, duration, fade, offset, placement)
