"""Trajectories given by formulas, from pose to pose: blends, minimum jerk, transitions, holds."""

import numpy as np
from numpy.typing import ArrayLike

from kinematics.arrays import Array
from kinematics.errors import TrajectoryError
from kinematics.trajectories.base import Placement, Trajectory, six, time_span
from kinematics.trajectories.jerk_law import minimum_jerk

_ROUNDING = 1e-9  # relative; a speed this near its bound is meant to be at it


class Blend(Trajectory):
    """Straight line with parabolic blends, of position and of angles, each with its own blend time.

    From `start` to `end` (6,) in `duration` s at the greatest linear `speed` V, m/s, and `angular_speed` Ω, rad/s (of
    the vector of angles): τ_t = τ_f − ‖t1 − t0‖/V, a = V/τ_t (1998 eqs. 39, 40).  The blends fit if
    distance/τ_f ≤ V ≤ 2 distance/τ_f; at the lower bound the speed is constant from end to end.  A speed may be None
    only where there is no distance, and is not used there.
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
        self._start = six("start", start)
        way = six("end", end) - self._start
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
            along, rate, acceleration = _parabolic(
                t, self.duration, self._distances[part], self._speeds[part], self._blends[part]
            )
            direction = self._directions[part]
            q[:, columns] += np.outer(along, direction)
            qd[:, columns] = np.outer(rate, direction)
            qdd[:, columns] = np.outer(acceleration, direction)
        return q, qd, qdd


def _blend(name: str, speed: float | None, unit: str, distance: float, duration: float) -> tuple[float, float]:
    """The speed and the blend time of one part of a blend."""
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


def _parabolic(t: Array, duration: float, distance: float, speed: float, blend: float) -> tuple[Array, Array, Array]:
    """Way covered, speed and acceleration at `t` of a blend."""
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
    """Straight line from `start` to `end` (6,) in `duration` s with the least mean square jerk, at rest at both ends.

    q = start + (end − start) s(t/duration) with the law s of `minimum_jerk`.
    """

    def __init__(
        self, start: ArrayLike, end: ArrayLike, duration: float, *, placement: Placement | None = None
    ) -> None:
        super().__init__(duration, placement)
        self._start = six("start", start)
        self._way = six("end", end) - self._start

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        shape, rate, acceleration = (np.outer(part, self._way) for part in minimum_jerk(t / self.duration))
        return self._start + shape, rate / self.duration, acceleration / self.duration**2


class Hold(Trajectory):
    """Standing still at `position` (6,) for `duration` s."""

    def __init__(self, position: ArrayLike, duration: float, *, placement: Placement | None = None) -> None:
        super().__init__(duration, placement)
        self._position = six("position", position)

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        return np.tile(self._position, (len(t), 1)), np.zeros((len(t), 6)), np.zeros((len(t), 6))


class Transition(Trajectory):
    """From one state of motion to another in `duration` s: the polynomial of fifth degree that both fix.

    start, end: coordinates, rates and accelerations (6,) each, m, rad, s. With them position, speed and acceleration go
    on without a jump where it stands between two motions; between two at rest it is that of minimum jerk.
    """

    def __init__(
        self,
        start: tuple[ArrayLike, ArrayLike, ArrayLike],
        end: tuple[ArrayLike, ArrayLike, ArrayLike],
        duration: float,
        *,
        placement: Placement | None = None,
    ) -> None:
        super().__init__(duration, placement)
        names = ("", " rates", " accelerations")
        scales = [self.duration**order for order in range(3)]  # with u = t/duration, all derivatives by u
        (q0, v0, a0), (q1, v1, a1) = (
            [scale * six(f"{at}{name}", value) for name, value, scale in zip(names, state, scales, strict=True)]
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
    """Σ powers[k] u^k, (n, 6), of powers (k, 6) and u (n, 1)."""
    value = np.zeros((len(u), powers.shape[1]))
    for each in powers[::-1]:
        value = value * u + each
    return value
