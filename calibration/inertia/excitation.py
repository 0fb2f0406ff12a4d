"""Design of the most informative motion within the mechanism's limits, by gradient ascent of its information."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from calibration.errors import CalibrationError
from calibration.inertia.least_squares import base_parameters
from calibration.inertia.prior import (
    DRIVE_GAIN,
    DRIVE_NOISE,
    DRIVE_OFFSET,
    FRICTION_SHARE,
    FRICTION_TIME,
    Accuracy,
    prior,
)
from dynamics import Dynamics, DynamicsError, LegLimits, Mechanism, Regressor, linear_parameters, machine_size
from kinematics import Array, Harmonic, HarmonicTerm, KinematicsError, Placement, joint_angles, leg_kinematics


class Stress:
    """Limits of a mechanism's legs: length, speed, acceleration, force in motion and at rest, and joint angles."""

    def __init__(self, mechanism: Mechanism) -> None:
        limits = [leg.limits or LegLimits() for leg in mechanism.legs]
        ends = np.array([(-np.inf, np.inf) if each.length is None else each.length for each in limits])
        self._middle, self._half = ends.mean(axis=1), 0.5 * np.ptp(ends, axis=1)
        self._bounds = {
            name: np.array([np.inf if (bound := getattr(each, name)) is None else bound for each in limits])
            for name in ("velocity", "acceleration", "force", "universal_angle", "spherical_angle")
        }
        self._geometry = mechanism.geometry
        self._dynamics = Dynamics(mechanism)

    def of(self, motions: Array) -> Array:
        """Each quantity of each leg at motions (n, 19) divided by its limit, (n, 42); negative towards the lower one.

        For a length it is the distance from the middle of the stroke by half the stroke.
        Raises KinematicsError or DynamicsError for motions that cannot be evaluated.
        """
        legs = leg_kinematics(self._geometry, motions)
        angles = joint_angles(self._geometry, motions[:, :7])
        standing = motions.copy()
        standing[:, 7:] = 0.0
        parts = [(legs.length - self._middle) / self._half]
        for values, name in (
            (legs.velocity, "velocity"),
            (legs.acceleration, "acceleration"),
            (self._dynamics.inverse(motions).forces, "force"),
            (self._dynamics.inverse(standing).forces, "force"),
            (angles.universal, "universal_angle"),
            (angles.spherical, "spherical_angle"),
        ):
            parts.append(values / self._bounds[name])
        return np.hstack(parts)


_RATE = 500.0  # Hz, of the readings that information is of
_USUAL_SPEED = 0.1  # m/s, at which friction is so large that it counts for the noise
_SMOOTH = 0.02
"""m/s, over which Coulomb friction is smoothed, so that it has a derivative"""
STEPS = np.repeat([1e-8, 1e-8, 1e-3], 6)
"""steps of coordinates, m and rad, their rates and second rates, within which the model is linear"""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The times t (n,), s, at which a periodic motion is sampled, `step` s apart within each of `pieces`.

    weight (n,): s, weight of each sample. since (n,): s from the middle of the motion, on average; spread (n,):
    variance of that, s², of samples that represent several periods.
    """

    t: Array
    step: float
    pieces: tuple[slice, ...]
    weight: Array
    since: Array
    spread: Array

    @classmethod
    def of(cls, duration: float, fade: float, period: float, per_second: float) -> "Grid":
        """Both fades and one period between them, which represents all; the whole motion if it is not longer."""
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
        """The transpose of `slopes`, as matrices that multiply values (n, …)."""
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
    """Information of motions on the base parameters of a mechanism.

    Args:
        mechanism: with a home, the centre of the motions.
        accuracy: the prior.
        noise: N, of the cells.
        drives: whether the drives' forces are known too; they include friction that cells at the rods do not measure.

    Raises CalibrationError where a body of the mechanism cannot exist.
    """

    def __init__(self, mechanism: Mechanism, accuracy: Accuracy, noise: float, drives: bool) -> None:
        _, known = prior(mechanism, accuracy)
        base = base_parameters(mechanism, np.sqrt(np.diag(known)), drives=drives)
        self.size = len(base.pivots)
        """number of base parameters"""
        self._places = np.array(base.pivots)
        self._root = np.asarray(np.linalg.cholesky(base.matrix @ known @ base.matrix.T), dtype=np.float64)
        self._nominal = linear_parameters(mechanism)
        self._regressor = Regressor(mechanism, _SMOOTH)
        self._placement = Placement("home", home=mechanism.geometry.home_pose)
        self._accuracy = accuracy
        self._drives = drives
        at_cells = np.array([leg.cell_coulomb + _USUAL_SPEED * leg.cell_viscous for leg in mechanism.legs])
        at_drives = np.array([leg.coulomb + _USUAL_SPEED * leg.viscous for leg in mechanism.legs])
        of_cells, of_drives = (
            (FRICTION_SHARE * friction) ** 2 * FRICTION_TIME * _RATE for friction in (at_cells, at_drives)
        )
        unit = machine_size(mechanism).force
        self._drive_offset = unit * DRIVE_OFFSET
        self._variances = np.concatenate([noise**2 + of_cells, (unit * DRIVE_NOISE) ** 2 + of_drives])

    def of(self, grid: Grid, coordinates: Array) -> tuple[float, float]:
        """½ log det S, nepers, and the condition number of S − 1, the information relative to the prior.

        Args:
            grid: of times. coordinates: about home, their rates and second rates (n, 18) at those.

        Raises KinematicsError or DynamicsError for a motion that cannot be evaluated.
        """
        value, inverse, _ = self._sum(grid, self._readings(coordinates))
        information = 1.0 / np.linalg.eigvalsh(inverse) - 1.0
        return value, float(information.max() / max(information.min(), np.finfo(float).tiny))

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
            shifted = coordinates.copy()
            shifted[:, place] += step
            moved = self._readings(shifted)
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
        """The other legs whose force a cell reads, and the prior σ of their part."""
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


_COORDINATES = ("x", "y", "z", "rx", "ry", "rz")
_ROUNDS = 6
_WEIGHT, _HEAVIER = 5.0, 2.0  # ρ of the first round, in nepers, and how much more in each further one
_MEMORY = 30  # steps from which L-BFGS has its curvature
_IMPOSSIBLE = 1e6  # nepers, where the model cannot be evaluated


class Waves:
    """Sines about home with given frequencies (k,), Hz, as linear functions of their coefficients.

    Coefficients (6, 2 k + 1): of each coordinate a shift, then a sine and a cosine of each frequency, in units of
    `sizes` (6, 2 k + 1). All of them, also the shift, fade in and out, so that motions begin and end at home.
    """

    def __init__(self, frequencies: Array, duration: float, fade: float, sizes: Array) -> None:
        self.frequencies, self.duration, self.fade, self.sizes = frequencies, duration, fade, sizes

    def basis(self, t: Array) -> Array:
        """Values and two derivatives (3, n, 2 k + 1) of functions of unit size at times (n,), s."""
        columns = []
        for frequency, phase in (
            (0.0, 0.5 * math.pi),
            *((f, p) for f in self.frequencies for p in (0.0, 0.5 * math.pi)),
        ):
            term = HarmonicTerm("x", 1.0, float(frequency), phase)
            columns.append([each[:, 0] for each in Harmonic([term], self.duration, self.fade).coordinates(t)])
        return np.array(columns).transpose(1, 2, 0)

    def coefficients(self, terms: tuple[HarmonicTerm, ...]) -> Array:
        """Coefficients of a motion, with each frequency replaced by the nearest one."""
        found = np.zeros_like(self.sizes)
        for term in terms:
            row = _COORDINATES.index(term.dof)
            if term.frequency == 0.0:
                found[row, 0] += term.amplitude * math.sin(term.phase)
                continue
            place = 1 + 2 * int(np.argmin(np.abs(self.frequencies - term.frequency)))
            found[row, place] += term.amplitude * math.cos(term.phase)
            found[row, place + 1] += term.amplitude * math.sin(term.phase)
        return found / self.sizes

    def terms(self, coefficients: Array) -> tuple[HarmonicTerm, ...]:
        """Terms of the motion with these coefficients; a shift is a sine of frequency 0 and phase 90°."""
        whole = coefficients * self.sizes
        found = []
        for row, name in enumerate(_COORDINATES):
            found.append(HarmonicTerm(name, float(whole[row, 0]), 0.0, 0.5 * math.pi))
            for number, frequency in enumerate(self.frequencies.tolist()):
                sine, cosine = whole[row, 1 + 2 * number : 3 + 2 * number].tolist()
                phase = math.atan2(cosine, sine) % (2.0 * math.pi)
                found.append(HarmonicTerm(name, math.hypot(sine, cosine), frequency, phase))
        return tuple(found)


def ascended(
    mechanism: Mechanism,
    information: MotionInformation,
    grid: Grid,
    waves: Waves,
    start: Array,
    margin: float,
    steps: int,
    progress: Callable[[float], None],
) -> list[Array]:
    """Coefficients at the end of each round, from `start` (6, 2 k + 1) on, in `steps` evaluations of the gradient.

    progress: receives the part that is done.
    """
    from scipy.optimize import minimize  # takes long to import, and few need it

    problem = _Problem(mechanism, information, grid, waves, margin)
    found = []
    done = 0

    def value(x: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        nonlocal done
        progress(min(1.0, done / steps))
        done += 1
        return problem.value(x)

    x: npt.NDArray[np.float64] = start.ravel()
    for number in range(_ROUNDS):
        most = (number + 1) * steps // _ROUNDS - done
        if most > 0:
            options = {"maxfun": most, "maxiter": most, "maxcor": _MEMORY, "ftol": 1e-9, "gtol": 1e-5}
            x = np.asarray(minimize(value, x, jac=True, method="L-BFGS-B", options=options).x)  # type: ignore[call-overload]
        found.append(x.reshape(start.shape).copy())
        problem.next_round(x)
    return found


class _Problem:
    """The augmented Lagrangian, as a function of all coefficients in one row."""

    def __init__(
        self, mechanism: Mechanism, information: MotionInformation, grid: Grid, waves: Waves, margin: float
    ) -> None:
        self._information, self._grid, self._margin = information, grid, margin
        self._stress = Stress(mechanism)
        self._placement = Placement("home", home=mechanism.geometry.home_pose)
        self._basis = waves.basis(grid.t)
        self._sizes = waves.sizes
        self._weight = _WEIGHT
        self._multipliers: Array = np.zeros((len(grid.t), 1))

    def value(self, x: Array) -> tuple[float, Array]:
        """Value and gradient; a large value where the model cannot be evaluated."""
        coordinates = self._coordinates(x)
        try:
            gain, derivatives = self._information.gradient(self._grid, coordinates)
            penalty, more = self._penalty(coordinates)
        except (KinematicsError, DynamicsError):
            return _IMPOSSIBLE, np.zeros_like(x)
        slopes = (more - derivatives).reshape(-1, 3, 6)
        by_coefficients = np.einsum("dnk,ndi->ik", self._basis, slopes)
        return penalty - gain, (by_coefficients * self._sizes).ravel()

    def next_round(self, x: Array) -> None:
        """Update the multipliers from the violations of the limits, and the weight."""
        beyond, _ = self._beyond(self._coordinates(x))
        self._multipliers = np.maximum(0.0, self._multipliers + self._weight * beyond)
        self._weight *= _HEAVIER

    def _coordinates(self, x: Array) -> Array:
        whole = x.reshape(self._sizes.shape) * self._sizes
        coordinates: Array = np.hstack([each @ whole.T for each in self._basis])
        return coordinates

    def _beyond(self, coordinates: Array) -> tuple[Array, Array]:
        """g and s (n, 42)."""
        motions = self._placement.to_motion(coordinates[:, :6], coordinates[:, 6:12], coordinates[:, 12:])
        parts = self._stress.of(motions)
        return 0.5 * ((parts / self._margin) ** 2 - 1.0), parts

    def _penalty(self, coordinates: Array) -> tuple[float, Array]:
        """Penalty of the limits, nepers, and its derivatives (n, 18)."""
        beyond, parts = self._beyond(coordinates)
        pushed = np.maximum(0.0, self._multipliers + self._weight * beyond)
        value = float(np.sum(pushed**2) - np.sum(self._multipliers**2)) / (2.0 * self._weight)
        slopes = pushed * parts / self._margin**2
        here = np.flatnonzero(slopes.any(axis=1))
        derivatives = np.zeros_like(coordinates)
        for place, step in enumerate(STEPS):
            shifted = coordinates[here].copy()
            shifted[:, place] += step
            derivatives[here, place] = np.sum(slopes[here] * (self._beyond(shifted)[1] - parts[here]), axis=1) / step
        return value, derivatives


_HARMONICS = 5  # sines of each coordinate of a motion that is drawn …
_MOST_HARMONICS = 15  # … and frequencies of one that is designed: a trajectory file has at most 100 terms
_HALVINGS = 16
_FADE = 2.0  # s
_PERIOD = 10.0  # s, about
_COARSE, _FINE = 12.0, 40.0  # samples in a period of the fastest sine: where a motion is designed, and judged
_LEAST_RATE = 10.0  # Hz, of both
_WORK = 600 * 320
"""samples of all gradients of a design, about 40 s of computation"""
_SMALLER, _TRIES = 0.98, 60
"""factor by which a motion that is not permitted is reduced, and number of attempts"""


@dataclass(frozen=True, slots=True, eq=False)
class Excitation:
    """A designed motion: the sines about home, m and rad, and its information on the base parameters.

    condition: root of the condition number of the information on the base parameters relative to the prior.
    information: ½ log det of the posterior by the prior information, divided by the number of parameters, nepers, with
    the nuisance parameters unknown (see `MotionInformation`).
    parameters: their number. drawn: the same information of the best of the `tried` random motions.
    """

    duration: float
    fade: float
    terms: tuple[HarmonicTerm, ...]
    condition: float
    information: float
    parameters: int
    tried: int
    drawn: float

    @property
    def gain(self) -> float:
        """Information on all base parameters beyond that of the best random motion, nepers."""
        return self.parameters * (self.information - self.drawn)

    def trajectory(self, home: Array) -> Harmonic:
        """As a trajectory about a home pose (7,)."""
        return _trajectory(self.terms, self.duration, home)


@dataclass(frozen=True, slots=True)
class ExcitationSettings:
    """Settings of the search for an exciting motion, and its measurement noise.

    duration: s, 10 to 3600. fastest: Hz, of the sines, 0.2 to 20. margin: part of every limit that may be used, 0.05
    to 1. candidates: number of random motions. steps: most evaluations of the gradient, fewer where each takes long; 0:
    only the best random motion. seed: of phases. noise: N, of the cells. drives: whether the drives' forces are known
    too.
    """

    duration: float = 60.0
    fastest: float = 2.0
    margin: float = 0.75
    candidates: int = 40
    steps: int = 300
    seed: int = 0
    noise: float = 0.5
    drives: bool = False

    def faults(self) -> list[str]:
        """What is out of bounds, each with its value and bounds."""
        return [
            f"{name}: {value:g}, must be {least:g} to {greatest:g}"
            for name, value, least, greatest in (
                ("duration", self.duration, 10.0, 3600.0),
                ("fastest", self.fastest, 0.2, 20.0),
                ("margin", self.margin, 0.05, 1.0),
                ("candidates", self.candidates, 1, 10_000),
                ("steps", self.steps, 0, 100_000),
                ("noise", self.noise, 1e-6, 1e6),
            )
            if not (math.isfinite(value) and least <= value <= greatest)
        ]


def design_excitation(
    mechanism: Mechanism,
    settings: ExcitationSettings | None = None,
    *,
    accuracy: Accuracy | None = None,
    permits: Callable[[Harmonic], bool] = lambda _trajectory: True,
    progress: Callable[[float], None] = lambda _part: None,
) -> Excitation:
    """Search for the most informative motion: the best random one, improved by gradient ascent.

    The random ones are Fourier series of random phases, each as large as the limits permit. From the best one on, the
    amplitudes and phases of up to 15 frequencies and a shift of each coordinate follow the gradient of the information.
    The result is scaled down to the limits, and used if it is more informative.

    Args:
        mechanism: with limits and a home.
        settings: those of `ExcitationSettings` if None.
        accuracy: the prior, `Accuracy.of` the mechanism if None.
        permits: a further check that a motion has to pass, such as the one before it is run.
        progress: receives the part that is done.

    Raises:
        CalibrationError: limits are missing, or permit no motion; numbers out of bounds.
    """
    settings = settings or ExcitationSettings()
    duration, fastest = settings.duration, settings.fastest
    candidates, steps = settings.candidates, settings.steps
    faults = settings.faults()
    lengths = [None if limits is None else limits.length for limits in mechanism.limits]
    if mechanism.geometry.home is None or None in lengths:
        faults.append(f"{mechanism.name}: needs a home and limits of its legs' lengths")
    if faults:
        raise CalibrationError(faults)
    known = Accuracy.of(mechanism) if accuracy is None else accuracy
    information = MotionInformation(mechanism, known, settings.noise, settings.drives)
    search = _Search(mechanism, duration, fastest, settings.margin, information, permits)
    begun = candidates / (candidates + steps)
    best: Excitation | None = None
    generator = np.random.Generator(np.random.PCG64(settings.seed))
    for number in range(candidates):
        progress(begun * number / candidates)
        found = search.judged(_drawn(generator, duration, fastest), candidates, 0.0)
        if found is not None and (best is None or found.information > best.information):
            best = found
    best = None if best is None else search.permitted(best)
    if best is None:
        raise CalibrationError(f"{mechanism.name}: its limits permit no motion about home in all six coordinates")
    best = replace(best, drawn=best.information)
    for terms in search.designed(best, steps, lambda part: progress(begun + (1.0 - begun) * part)):
        found = search.judged(terms, candidates, best.drawn)
        if found is not None and found.information > best.information:
            found = search.permitted(found)
            if found is not None and found.information > best.information:
                best = found
    progress(1.0)
    return best


def _period(duration: float) -> float:
    """A period, s, of which the duration is a multiple."""
    return duration / max(1, round(duration / _PERIOD))


def _frequencies(duration: float, fastest: float) -> Array:
    """Hz, the multiples of one by the period."""
    period = _period(duration)
    multiples: Array = np.arange(1, int(fastest * period) + 1) / period
    return multiples


def _trajectory(terms: tuple[HarmonicTerm, ...], duration: float, home: Array) -> Harmonic:
    return Harmonic(terms, duration, _FADE, placement=Placement("home", home=home))


def _drawn(generator: np.random.Generator, duration: float, fastest: float) -> tuple[HarmonicTerm, ...]:
    """Random sines of the period; slow ones larger, so that all need about the same speed."""
    frequencies = _frequencies(duration, fastest)
    terms = []
    for axis, name in enumerate(_COORDINATES):
        chosen = generator.choice(frequencies, size=min(_HARMONICS, len(frequencies)), replace=False)
        for frequency in sorted(chosen.tolist()):
            size = generator.uniform(0.3, 1.0) / (1.0 + frequency) * (1.0 if axis < 3 else 4.0)
            terms.append(HarmonicTerm(name, size, frequency, generator.uniform(0.0, 2.0 * math.pi)))
    return tuple(terms)


class _Search:
    """Judges motions of a mechanism, scales them to the limits, and searches for better ones."""

    def __init__(
        self,
        mechanism: Mechanism,
        duration: float,
        fastest: float,
        margin: float,
        information: MotionInformation,
        permits: Callable[[Harmonic], bool],
    ) -> None:
        self._mechanism, self._duration, self._fastest, self._margin = mechanism, duration, fastest, margin
        self._information, self._permits = information, permits
        self._home = mechanism.geometry.home_pose
        self._stress = Stress(mechanism)
        self._fine = self._grid(_FINE)

    def _grid(self, samples: float) -> Grid:
        rate = max(samples * self._fastest, _LEAST_RATE)
        return Grid.of(self._duration, _FADE, _period(self._duration), rate)

    def judged(self, terms: tuple[HarmonicTerm, ...], tried: int, drawn: float) -> Excitation | None:
        """A motion in the largest common size that the limits permit; None where there is none."""
        unit = _trajectory(terms, self._duration, self._home).coordinates(self._fine.t)
        low, high = 0.0, 1.0
        while high < 1024.0 and self._within(unit, high):
            low, high = high, 2.0 * high
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if self._within(unit, middle):
                low = middle
            else:
                high = middle
        return self._excitation(_times(terms, low), tried, drawn) if low else None

    def permitted(self, motion: Excitation) -> Excitation | None:
        """The motion scaled down until `permits` accepts it; None if it accepts none."""
        terms = motion.terms
        for _ in range(_TRIES):
            if self._permits(_trajectory(terms, self._duration, self._home)):
                return motion if terms is motion.terms else self._excitation(terms, motion.tried, motion.drawn)
            terms = _times(terms, _SMALLER)
        return None

    def designed(
        self, start: Excitation, steps: int, progress: Callable[[float], None]
    ) -> Iterator[tuple[HarmonicTerm, ...]]:
        """Motions by gradient ascent from one, not yet scaled."""
        if steps == 0:
            return
        every = _frequencies(self._duration, self._fastest)
        count = min(_MOST_HARMONICS, len(every))
        frequencies = every[np.round(np.linspace(0, len(every) - 1, count)).astype(int)]
        waves = Waves(frequencies, self._duration, _FADE, self._sizes(frequencies))
        grid = self._grid(_COARSE)
        steps = min(steps, max(1, _WORK // len(grid.t)))
        begin = waves.coefficients(start.terms)
        for each in ascended(self._mechanism, self._information, grid, waves, begin, self._margin, steps, progress):
            yield waves.terms(each)

    def _sizes(self, frequencies: Array) -> Array:
        """Amplitudes (6, 2 k + 1), m and rad, that come about equally near to a limit."""
        limits = [limits for limits in self._mechanism.limits if limits is not None]
        stroke = 0.25 * min(np.ptp(each.length) for each in limits if each.length is not None)
        speed = min((each.velocity for each in limits if each.velocity is not None), default=math.inf)
        acceleration = min((each.acceleration for each in limits if each.acceleration is not None), default=math.inf)
        rates = 2.0 * math.pi * frequencies
        sizes = np.minimum(stroke, np.minimum(speed / rates, acceleration / rates**2))
        row = np.concatenate([[stroke], np.repeat(sizes, 2)])
        radius = float(np.linalg.norm(self._mechanism.geometry.platform_points, axis=1).mean())
        scaled: Array = np.outer([1.0] * 3 + [1.0 / radius] * 3, row)
        return scaled

    def _within(self, unit: tuple[Array, Array, Array], factor: float) -> bool:
        """Whether coordinates and derivatives about home, `unit` each (n, 6), keep the limits `factor` times as large.

        Sines are proportional to their amplitudes, so that no size needs them anew.
        """
        placement = Placement("home", home=self._home)
        try:
            parts = self._stress.of(placement.to_motion(*(factor * each for each in unit)))
        except (KinematicsError, DynamicsError):
            return False
        return float(np.abs(parts).max()) <= self._margin

    def _excitation(self, terms: tuple[HarmonicTerm, ...], tried: int, drawn: float) -> Excitation:
        coordinates = np.hstack(_trajectory(terms, self._duration, self._home).coordinates(self._fine.t))
        gain, spread = self._information.of(self._fine, coordinates)
        size = self._information.size
        return Excitation(self._duration, _FADE, terms, math.sqrt(spread), gain / size, size, tried, drawn)


def _times(terms: tuple[HarmonicTerm, ...], factor: float) -> tuple[HarmonicTerm, ...]:
    return tuple(HarmonicTerm(term.dof, factor * term.amplitude, term.frequency, term.phase) for term in terms)
