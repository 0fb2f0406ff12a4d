"""Analytic trajectories: point-to-point moves, and faded sums of sines."""

import math
from collections import abc
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kinematics.arrays import Array
from kinematics.compiled import kernel
from kinematics.errors import TrajectoryError
from kinematics.trajectories.base import PLATFORM, Axes, Placement, Trajectory, bounded, time_span

PEAK_SPEED = 15.0 / 8.0
"""Greatest speed of a minimum-jerk move, over its length divided by its duration."""
PEAK_ACCELERATION = 10.0 / 3.0**0.5
"""Greatest acceleration of a minimum-jerk move, over its length divided by its duration squared."""

Part = TypeVar("Part", float, Array)


def minimum_jerk(u: Part) -> tuple[Part, Part, Part]:
    """Minimum-jerk law of length 1 and duration 1 at u, 0 to 1, and its two derivatives (each as u).

    s = 10u³ − 15u⁴ + 6u⁵ (Flash & Hogan 1985). u may be a number or an array.
    """
    return (
        u * u * u * (10.0 + u * (-15.0 + 6.0 * u)),
        30.0 * u * u * (1.0 - u) * (1.0 - u),
        60.0 * u * (1.0 - u) * (1.0 - 2.0 * u),
    )


minimum_jerk_kernel = kernel(minimum_jerk)
"""The same for kernels."""


_ROUNDING = 1e-9  # relative; a speed this near its bound is set to it


class Blend(Trajectory):
    """Straight line with parabolic blends, of position and of angles, each with its own blend time.

    From `start` to `end` (6,) in `duration` s at the greatest linear `speed` V, m/s, and `angular_speed` Ω, rad/s (of
    the vector of angles): τ_t = τ_f − ‖t1 − t0‖/V, a = V/τ_t (1998 eqs. 39, 40).  The blends fit if
    distance/τ_f ≤ V ≤ 2 distance/τ_f; at the lower bound the speed is constant throughout.  A speed may be None
    only for zero distance, and is not used then.
    Raises TrajectoryError, with the possible range, for a speed that does not fit.
    """

    def __init__(
        self,
        start: ArrayLike,
        end: ArrayLike,
        duration: float,
        speed: float | None = None,
        angular_speed: float | None = None,
        *,
        placement: Placement | None = None,
    ) -> None:
        time_span("duration", duration)
        self._start = PLATFORM.values("start", start)
        way = PLATFORM.values("end", end) - self._start
        self._distances = float(np.linalg.norm(way[:3])), float(np.linalg.norm(way[3:]))
        self._directions = tuple(
            part / distance if distance > 0.0 else part
            for part, distance in zip((way[:3], way[3:]), self._distances, strict=True)
        )
        self._speeds, self._blends = [0.0, 0.0], [0.0, 0.0]
        given = (("speed", speed, "m"), ("angular_speed", angular_speed, "rad"))
        faults = []
        for part, (name, value, unit) in enumerate(given):
            try:
                self._speeds[part], self._blends[part] = _blend(name, value, unit, self._distances[part], duration)
            except TrajectoryError as error:
                faults.append(str(error))
        if faults:
            raise TrajectoryError("; ".join(faults))
        steps = {time for blend in self._blends if blend > 0.0 for time in (blend, duration - blend)}
        super().__init__(duration, placement, tuple(sorted(steps)))

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        q, qd, qdd = np.tile(self._start, (len(t), 1)), np.zeros((len(t), 6)), np.zeros((len(t), 6))
        for part, columns in enumerate((slice(0, 3), slice(3, 6))):
            along, rate, acceleration = parabolic(
                t, self.duration, self._distances[part], self._speeds[part], self._blends[part]
            )
            direction = self._directions[part]
            q[:, columns] += np.outer(along, direction)
            qd[:, columns] = np.outer(rate, direction)
            qdd[:, columns] = np.outer(acceleration, direction)
        return q, qd, qdd


def _blend(name: str, speed: float | None, unit: str, distance: float, duration: float) -> tuple[float, float]:
    """Return the speed and blend time of one part of a blend."""
    if distance == 0.0:
        return 0.0, 0.0
    least = distance / duration
    possible = f"must be from {least:.9g} to {2 * least:.9g} {unit}/s to cover {distance:.9g} {unit} in {duration:g} s"
    if speed is None:
        raise TrajectoryError(f"{name}: missing, {possible}")
    if not least * (1.0 - _ROUNDING) <= speed <= 2.0 * least * (1.0 + _ROUNDING):
        raise TrajectoryError(f"{name}: {speed:.9g} {unit}/s, {possible}")
    if speed <= least * (1.0 + _ROUNDING):
        return least, 0.0
    speed = min(speed, 2.0 * least)
    return speed, duration - distance / speed


def parabolic(t: Array, duration: float, distance: float, speed: float, blend: float) -> tuple[Array, Array, Array]:
    """Distance, speed and acceleration at `t` of a blend."""
    if blend == 0.0:
        return speed * t, np.full_like(t, speed), np.zeros_like(t)
    a = speed / blend
    left = duration - t
    rising, falling = t < blend, left < blend
    along = np.select([rising, falling], [0.5 * a * t * t, distance - 0.5 * a * left * left], speed * (t - 0.5 * blend))
    rate = np.select([rising, falling], [a * t, a * left], speed)
    acceleration = np.select([rising, falling], [np.full_like(t, a), np.full_like(t, -a)], 0.0)
    return along, rate, acceleration


class MinimumJerk(Trajectory):
    """Straight line from `start` to `end` (n,) in `duration` s with the least mean square jerk, at rest at both ends.

    q = start + (end − start) s(t/duration) with s of `minimum_jerk`.
    """

    def __init__(
        self,
        start: ArrayLike,
        end: ArrayLike,
        duration: float,
        *,
        placement: Placement | None = None,
        axes: Axes = PLATFORM,
    ) -> None:
        super().__init__(duration, placement, axes=axes)
        self._start = axes.values("start", start)
        self._way = axes.values("end", end) - self._start

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        shape, rate, acceleration = (np.outer(part, self._way) for part in minimum_jerk(t / self.duration))
        return self._start + shape, rate / self.duration, acceleration / self.duration**2


class Hold(Trajectory):
    """Rest at `position` (n,) for `duration` s."""

    def __init__(
        self, position: ArrayLike, duration: float, *, placement: Placement | None = None, axes: Axes = PLATFORM
    ) -> None:
        super().__init__(duration, placement, axes=axes)
        self._position = axes.values("position", position)

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        q = np.tile(self._position, (len(t), 1))
        return q, np.zeros_like(q), np.zeros_like(q)


class Transition(Trajectory):
    """Quintic polynomial from one state of motion to another in `duration` s.

    start, end: coordinates, rates and accelerations (n,) each, m, rad, s. Position, speed and acceleration are
    continuous where it joins two motions; between two states at rest it is the minimum-jerk move.
    """

    def __init__(
        self,
        start: tuple[ArrayLike, ArrayLike, ArrayLike],
        end: tuple[ArrayLike, ArrayLike, ArrayLike],
        duration: float,
        *,
        placement: Placement | None = None,
        axes: Axes = PLATFORM,
    ) -> None:
        super().__init__(duration, placement, axes=axes)
        names = ("", " rates", " accelerations")
        scales = [self.duration**order for order in range(3)]  # u = t/duration, all derivatives with respect to u
        (q0, v0, a0), (q1, v1, a1) = (
            [scale * axes.values(f"{at}{name}", value) for name, value, scale in zip(names, state, scales, strict=True)]
            for at, state in (("start", start), ("end", end))
        )
        d, v, a = q1 - q0 - v0 - 0.5 * a0, v1 - v0 - a0, a1 - a0
        self._powers = np.array(
            [q0, v0, 0.5 * a0, 10.0 * d - 4.0 * v + 0.5 * a, -15.0 * d + 7.0 * v - a, 6.0 * d - 3.0 * v + 0.5 * a]
        )

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        powers, rows = self._powers, (t / self.duration)[:, None]
        first = powers[1:] * np.arange(1.0, 6.0)[:, None]
        second = first[1:] * np.arange(1.0, 5.0)[:, None]
        q, qd, qdd = (_polynomial(each, rows) for each in (powers, first, second))
        return q, qd / self.duration, qdd / self.duration**2


def _polynomial(powers: Array, u: Array) -> Array:
    """Σ powers[k] u^k, (n, axes), of powers (k, axes) and u (n, 1)."""
    value = np.zeros((len(u), powers.shape[1]))
    for each in powers[::-1]:
        value = value * u + each
    return value


RANDOM_WAVES = 40
"""Sines of each term of a random motion."""


@dataclass(frozen=True, slots=True)
class HarmonicTerm:
    """One sine: amplitude·sin(2π frequency t + phase) on the coordinate `dof` ("x" … "rz"); m or rad, Hz, rad.

    In axes of their own `dof` is one of their names.
    """

    dof: str
    amplitude: float
    frequency: float
    phase: float = 0.0


@dataclass(frozen=True, slots=True)
class ChirpTerm:
    """A sine on the coordinate `dof` whose frequency, Hz, changes linearly from start to end over the trajectory."""

    dof: str
    amplitude: float
    start_frequency: float
    end_frequency: float
    phase: float = 0.0


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """Band-limited noise on the coordinate `dof` with root mean square `rms`, m or rad; band limits in Hz."""

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
        axes: Axes,
    ) -> None:
        super().__init__(duration, placement, axes=axes)
        if not waves:
            raise TrajectoryError("terms: none given, must be at least one")
        self._fade = time_span("fade", fade)
        if self._fade > 0.5 * self.duration * (1.0 + _ROUNDING):
            raise TrajectoryError(
                f"fade: {fade:g} s, must be at most half the duration, {0.5 * self.duration:g} s, to fade in and out"
            )
        self._waves = tuple(waves)
        self._offset = np.zeros(len(axes)) if offset is None else axes.values("offset", offset)

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        sum_, sum_d, sum_dd = np.zeros((3, len(t), len(self.axes)))
        for column, amplitude, (p0, p1, p2) in self._waves:
            phase = p0 + t * (p1 + t * p2) if p2 else p0 + t * p1
            sine, cosine = np.sin(phase), np.cos(phase)
            sum_[:, column] += amplitude * sine
            if p2:
                rate = p1 + 2.0 * p2 * t
                sum_d[:, column] += amplitude * rate * cosine
                sum_dd[:, column] += amplitude * (2.0 * p2 * cosine - rate * rate * sine)
            else:  # a constant frequency, as most have
                sum_d[:, column] += amplitude * p1 * cosine
                sum_dd[:, column] += amplitude * (-(p1 * p1) * sine)
        rise, rise_d, rise_dd = smooth_step(t / self._fade)
        fall, fall_d, fall_dd = smooth_step((self.duration - t) / self._fade)
        # The two fades do not overlap: while one changes, the other is 1.
        w = (rise * fall)[:, None]
        wd = ((rise_d - fall_d) / self._fade)[:, None]
        wdd = ((rise_dd + fall_dd) / self._fade**2)[:, None]
        return (
            self._offset + w * sum_,
            wd * sum_ + w * sum_d,
            wdd * sum_ + 2.0 * wd * sum_d + w * sum_dd,
        )


def smooth_step(u: Array) -> tuple[Array, Array, Array]:
    """A step from 0 (u ≤ 0) to 1 (u ≥ 1) with four continuous derivatives, and its first two."""
    u = np.clip(u, 0.0, 1.0)
    v = 1.0 - u
    value = u**5 * (126.0 + u * (-420.0 + u * (540.0 + u * (-315.0 + 70.0 * u))))
    return value, 630.0 * (u * v) ** 4, 2520.0 * (u * v) ** 3 * (v - u)


def _column(axes: Axes, index: int, dof: str) -> int:
    if dof not in axes.names:
        raise TrajectoryError(f"term {index + 1}, dof: {dof!r}, must be one of {', '.join(axes.names)}")
    return axes.names.index(dof)


class Harmonic(_FadedWaves):
    """Sines about `offset` (n,), any number per coordinate, faded in and out over `fade` s.

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
        axes: Axes = PLATFORM,
    ) -> None:
        waves = []
        for index, term in enumerate(terms):
            column = _column(axes, index, term.dof)
            amplitude = bounded(f"term {index + 1}, amplitude", term.amplitude, axes.units[column])
            frequency = bounded(f"term {index + 1}, frequency", term.frequency, "Hz", least=0.0)
            phase = bounded(f"term {index + 1}, phase", term.phase, "rad")
            waves.append((column, amplitude, (phase, 2.0 * math.pi * frequency, 0.0)))
        super().__init__(waves, duration, fade, offset, placement, axes)


class Chirp(_FadedWaves):
    """Linear frequency sweeps about `offset` (n,), faded in and out over `fade` s.

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
        axes: Axes = PLATFORM,
    ) -> None:
        time_span("duration", duration)
        waves = []
        for index, term in enumerate(terms):
            column = _column(axes, index, term.dof)
            amplitude = bounded(f"term {index + 1}, amplitude", term.amplitude, axes.units[column])
            first = bounded(f"term {index + 1}, start_frequency", term.start_frequency, "Hz", least=0.0)
            last = bounded(f"term {index + 1}, end_frequency", term.end_frequency, "Hz", least=0.0)
            phase = bounded(f"term {index + 1}, phase", term.phase, "rad")
            waves.append((column, amplitude, (phase, 2.0 * math.pi * first, math.pi * (last - first) / duration)))
        super().__init__(waves, duration, fade, offset, placement, axes)


class RandomMotion(_FadedWaves):
    """Band-limited noise about `offset` (n,), faded in and out over `fade` s; the same `seed` is the same motion.

    Each term is a sum of RANDOM_WAVES sines of equal amplitude rms √(2/RANDOM_WAVES), one in each of as many equal
    parts of its band, with random frequency there and random phase: nearly Gaussian, and not periodic.  Peaks are
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
        axes: Axes = PLATFORM,
    ) -> None:
        if seed < 0:
            raise TrajectoryError(f"seed: {seed}, must be at least 0")
        source = np.random.PCG64(seed)
        waves = []
        for index, term in enumerate(terms):
            column = _column(axes, index, term.dof)
            rms = bounded(f"term {index + 1}, rms", term.rms, axes.units[column])
            low = bounded(f"term {index + 1}, low_frequency", term.low_frequency, "Hz", least=0.0)
            high = bounded(f"term {index + 1}, high_frequency", term.high_frequency, "Hz", least=low)
            # NumPy guarantees stable results only for a bit generator's raw numbers
            drawn = (source.random_raw(2 * RANDOM_WAVES) >> np.uint64(11)) * 2.0**-53
            places, phases = drawn[:RANDOM_WAVES], 2.0 * math.pi * drawn[RANDOM_WAVES:]
            frequencies = low + (high - low) * (np.arange(RANDOM_WAVES) + places) / RANDOM_WAVES
            size = rms * math.sqrt(2.0 / RANDOM_WAVES)
            for frequency, phase in zip(frequencies.tolist(), phases.tolist(), strict=True):
                waves.append((column, size, (phase, 2.0 * math.pi * frequency, 0.0)))
        super().__init__(waves, duration, fade, offset, placement, axes)
