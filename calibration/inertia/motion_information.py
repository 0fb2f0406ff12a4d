"""What a motion tells of a mechanism's parameters: its information, and how that changes with the motion.

Cells and, where they are known, drives read A x + N n + noise: x are the base parameters in units of what is known of
them before, n what is estimated beside them, each in units of its own σ: of a cell its zero, drift, lag, gain and
cross-talk, of a drive its gain and offset. With n marginalised, the information of x is

    S = 1 + Σ Aᵀ W (A − N B),  B = (1 + Nᵀ W N)⁻¹ Nᵀ W A,

summed over the sensors, and what the motion tells is ½ log det S, in nepers: all in all, the standard deviations of
independent combinations of x are exp(½ log det S) times smaller than before. W: samples per variance of the noise. By a
change of A and N it changes by tr(S⁻¹ (A − N B)ᵀ W (dA − dN B)), and A and N change with pose, speed and acceleration
of their own sample alone (but for the lag's column). So one pass over the model gives all derivatives.
"""

from dataclasses import dataclass

import numpy as np

from calibration.inertia.base import base_parameters
from calibration.inertia.design import feels_friction
from calibration.inertia.prior import (
    DRIVE_GAIN,
    DRIVE_NOISE,
    DRIVE_OFFSET,
    FRICTION_SHARE,
    FRICTION_TIME,
    Accuracy,
    prior,
)
from dynamics import Mechanism, Regressor, linear_parameters, machine_size
from kinematics import Array, Placement

_RATE = 500.0  # Hz, of the readings that information is of
_USUAL_SPEED = 0.1  # m/s, at which friction is so large that it counts for the noise
_SMOOTH = 0.02
"""m/s, over which Coulomb friction changes sign, so that it has a derivative"""
STEPS = np.repeat([1e-8, 1e-8, 1e-3], 6)
"""of coordinates, m and rad, their rates and their second rates, in which the model is linear"""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The times t (n,), s, at which a motion that repeats is looked at, `step` s apart within each of `pieces`.

    weight (n,): s that each sample stands for. since (n,): s from the middle of the motion, on average; spread (n,):
    variance of that, s², of samples that stand for several periods.
    """

    t: Array
    step: float
    pieces: tuple[slice, ...]
    weight: Array
    since: Array
    spread: Array

    @classmethod
    def of(cls, duration: float, fade: float, period: float, per_second: float) -> "Grid":
        """Both fades and one period between them, which stands for all; the whole, where there is not more."""
        steady = duration - 2.0 * fade
        if steady <= period:
            count = int(np.ceil(duration * per_second)) + 1
            t = np.linspace(0.0, duration, count)
            weight = np.full(count, duration / count)
            return cls(t, duration / (count - 1), (slice(0, count),), weight, t - 0.5 * duration, np.zeros(count))
        count = int(np.ceil(period * per_second))
        step = period / count
        faded = int(np.ceil(fade / step))
        rising = fade - step * np.arange(faded, 0, -1)
        rising[0] = max(rising[0], 0.0)
        t = np.concatenate([rising, fade + step * np.arange(count), duration - rising[::-1]])
        repeats = steady / period
        weight, since, spread = np.full(len(t), step), t - 0.5 * duration, np.zeros(len(t))
        middle = slice(faded, faded + count)
        weight[middle] *= repeats
        since[middle] -= since[middle].mean()
        spread[middle] = period**2 * (repeats**2 - 1.0) / 12.0
        return cls(t, step, (slice(0, faded + count), slice(faded + count, len(t))), weight, since, spread)

    def slopes(self, values: Array) -> Array:
        """Derivatives (n, …) of values by time."""
        return np.concatenate([np.gradient(values[piece], self.step, axis=0) for piece in self.pieces])

    def against_slopes(self, values: Array) -> Array:
        """The transpose of `slopes`, as matrices that values (n, …) are multiplied by."""
        result = np.zeros_like(values)
        for piece in self.pieces:
            there, into = values[piece] / self.step, result[piece]
            into[2:] += 0.5 * there[1:-1]
            into[:-2] -= 0.5 * there[1:-1]
            into[1] += there[0]
            into[0] -= there[0]
            into[-1] += there[-1]
            into[-2] -= there[-1]
        return result


@dataclass(slots=True, eq=False)
class _Readings:
    """The model at some motions: regressors (n, 6, COLUMNS) of cells and drives, and forces (n, 6) N of both."""

    regressors: list[Array]
    forces: list[Array]


class MotionInformation:
    """Information that motions of a mechanism have about its base parameters.

    Args:
        mechanism: with a home, about which motions are.
        accuracy: what is known before.
        noise: N, of the cells.
        drives: whether the drives' forces are known, too, which tell the friction that cells at the rods do not feel.

    Raises CalibrationError where a body of the mechanism cannot exist.
    """

    def __init__(self, mechanism: Mechanism, accuracy: Accuracy, noise: float, drives: bool) -> None:
        _, known = prior(mechanism, accuracy)
        base = base_parameters(mechanism, np.sqrt(np.diag(known)), drives=drives)
        self.size = len(base.pivots)
        """how many base parameters there are"""
        self._places = np.array(base.pivots)
        self._root = np.asarray(np.linalg.cholesky(base.matrix @ known @ base.matrix.T), dtype=np.float64)
        self._nominal = linear_parameters(mechanism)
        self._regressor = Regressor(mechanism, _SMOOTH)
        self._placement = Placement("home", home=mechanism.geometry.home_pose)
        self._accuracy = accuracy
        self._drives = drives
        friction = np.array([leg.friction.coulomb + _USUAL_SPEED * leg.friction.prismatic for leg in mechanism.legs])
        unmodelled = (FRICTION_SHARE * friction) ** 2 * FRICTION_TIME * _RATE
        felt = np.array([feels_friction(mechanism, leg) for leg in range(6)])
        unit = machine_size(mechanism).force
        self._drive_offset = unit * DRIVE_OFFSET
        self._variances = np.concatenate([noise**2 + felt * unmodelled, (unit * DRIVE_NOISE) ** 2 + unmodelled])

    def of(self, grid: Grid, coordinates: Array) -> tuple[float, float]:
        """½ log det S, nepers, and the condition number of S − 1, what is told, by what was known before.

        Args:
            grid: of times. coordinates: about home, their rates and second rates (n, 18) at those.

        Raises KinematicsError or DynamicsError for a motion that cannot be evaluated.
        """
        value, inverse, _ = self._sum(grid, self._readings(coordinates))
        told = 1.0 / np.linalg.eigvalsh(inverse) - 1.0
        return value, float(told.max() / max(told.min(), np.finfo(float).tiny))

    def gradient(self, grid: Grid, coordinates: Array) -> tuple[float, Array]:
        """½ log det S, nepers, and its derivatives (n, 18) by the coordinates. Args and errors as `of`."""
        readings = self._readings(coordinates)
        value, inverse, parts = self._sum(grid, readings)
        by_regressor = [np.zeros_like(each) for each in readings.regressors]
        by_force = [np.zeros_like(each) for each in readings.forces]
        for number, (columns, others, fitted, weight) in enumerate(parts):
            kind, leg = divmod(number, 6)
            slope = weight[:, np.newaxis] * ((columns - others @ fitted) @ inverse)
            by_regressor[kind][:, leg, self._places] = slope @ self._root.T
            across = -slope @ fitted.T
            if kind == 1:
                by_force[1][:, leg] += DRIVE_GAIN * across[:, 0]
                continue
            for column, (other, sigma) in enumerate(self._scales(leg)):
                by_force[0][:, other] += sigma * across[:, column]
            by_force[0][:, leg] -= self._accuracy.lag * grid.against_slopes(across[:, 3])
        derivatives = np.empty((len(grid.t), 18))
        for place, step in enumerate(STEPS):
            beside = coordinates.copy()
            beside[:, place] += step
            moved = self._readings(beside)
            change = np.zeros(len(grid.t))
            for kind in range(len(by_force)):
                change += np.einsum(
                    "mij,mij->m", by_regressor[kind], moved.regressors[kind] - readings.regressors[kind]
                )
                change += np.einsum("mi,mi->m", by_force[kind], moved.forces[kind] - readings.forces[kind])
            derivatives[:, place] = change / step
        return value, derivatives

    def _readings(self, coordinates: Array) -> _Readings:
        motions = self._placement.to_motion(coordinates[:, :6], coordinates[:, 6:12], coordinates[:, 12:])
        cells, known = self._regressor.cells(motions)
        regressors, forces = [cells], [cells @ self._nominal + known]
        if self._drives:
            regressors.append(self._regressor.forces(motions))
            forces.append(regressors[1] @ self._nominal)
        return _Readings(regressors, forces)

    def _scales(self, leg: int) -> list[tuple[int, float]]:
        """The legs whose force a cell reads besides, and σ of what part of it."""
        return [
            (leg, self._accuracy.gain),
            *((other, self._accuracy.cross_talk) for other in ((leg - 1) % 6, (leg + 1) % 6)),
        ]

    def _sum(self, grid: Grid, readings: _Readings) -> tuple[float, Array, list[tuple[Array, Array, Array, Array]]]:
        """½ log det S and S⁻¹, and of each sensor A (n, size), N (n, k), B (k, size) and the diagonal of W (n,)."""
        accuracy = self._accuracy
        slopes = grid.slopes(readings.forces[0])
        whole = np.eye(self.size)
        parts = []
        for number in range(6 * len(readings.forces)):
            kind, leg = divmod(number, 6)
            columns = readings.regressors[kind][:, leg, self._places] @ self._root
            weight = grid.weight * _RATE / self._variances[number]
            if kind == 0:
                scales = [sigma * readings.forces[0][:, other] for other, sigma in self._scales(leg)]
                others = np.column_stack(
                    [
                        *scales,
                        -accuracy.lag * slopes[:, leg],
                        np.full(len(grid.t), accuracy.offset),
                        accuracy.drift * grid.since,
                    ]
                )
            else:
                others = np.column_stack(
                    [DRIVE_GAIN * readings.forces[1][:, leg], np.full(len(grid.t), self._drive_offset)]
                )
            weighted = weight[:, np.newaxis] * others
            inner = np.eye(others.shape[1]) + weighted.T @ others
            if kind == 0:
                inner[-1, -1] += accuracy.drift**2 * (weight @ grid.spread)
            fitted = np.linalg.solve(inner, weighted.T @ columns)
            whole += columns.T @ (weight[:, np.newaxis] * (columns - others @ fitted))
            parts.append((columns, others, fitted, weight))
        inverse = np.linalg.inv(whole)
        value = 0.5 * float(np.linalg.slogdet(whole)[1])
        return value, 0.5 * (inverse + inverse.T), parts
