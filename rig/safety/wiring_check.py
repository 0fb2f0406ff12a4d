"""Whether drives or cells of two legs are exchanged: by the forces at rest, before and after homing, and in motion."""

import itertools
import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import sub

import numpy as np

from actuators import Status
from dynamics import DynamicsError
from kinematics import Array, KinematicsError
from rig.config import RigConfig
from rig.findings import Code, Finding
from rig.safety.cell_model import CellModel
from rig.safety.machine import Cause
from rig.safety.trip import Trip, no_recheck
from rig.states import StopSeverity

PAIRS = tuple(itertools.combinations(range(6), 2))
_FEWEST_FITTED = 5  # samples to which a moment's motion is fitted
# Over which time a moment's motion is fitted, s, how far apart the moments are, s, and how many are compared: of the
# last samples, for an unstable loop, whose oscillation ends within some 0.1 s, and of the last away from home.
_LATEST, _AWAY = (0.03, 0.005, 14), (0.04, 0.06, 16)
_CYCLES = 7, 1, 14  # the same in cycles, of the last samples, at rates at which that is much shorter
# Where positions come in coarse steps a moment is longer: until its accelerations are uncertain by so little, m/s²,
# standard deviation, and by no more than so long, s.
_STEADY, _LONGEST = 0.03, 0.1
_MOMENTS = sum(most for _, _, most in (_LATEST, _AWAY, _CYCLES))
_MOVED = 0.5e-3  # m from home, below which the platform's place tells nothing
_LOOKING = 0.01  # s between two looks at it
_COMPUTING = 0.6  # s at most, over which the computation is spread, where a cycle has room for it
_DEPARTURE = 0.04  # standard deviation of a force from the model, by friction and the like, of the mean one at home
_BETWEEN = 0.5  # and of its mean between two samples from that of the two, of their difference
# Standard deviation of the platform's mass, as a part of what the forces at rest are allowed: 20 % of it. A platform
# of next to no mass would explain any motion, by forces that hardly depend on it.
_MASS = 0.5
_GAIN = 0.03  # standard deviation of a cell's gain
_ZERO = 0.1  # and of its force at home, by friction that held the legs there, of the mean one
_DRAG = 2.0  # s/m, and of what it reads by its leg's speed, by friction and held commands, of the mean one
# Sums of squared deviations, in standard deviations. Of an exchange that is named: at most so much per force, so large
# a part of that of the configured wiring without its worst cell, and so much less. Others are named beside the best one
# up to so many times its sum, or so much more.
_FITS, _EXPLAINS, _BETTER = 1.0, 0.7, 5.0
_ALIKE, _CLOSE = 2.0, 6.0

_Moment = tuple[Array, Array, Array]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Two legs (1…6) whose drives, or whose load cells alone, may be exchanged."""

    legs: tuple[int, int]
    cells: bool


def exchanges_found(exchanges: Sequence[Exchange], code: Code = Code.EXCHANGED_IN_MOTION) -> Finding:
    """What may be exchanged, within a finding of what says so."""
    parts = []
    for cells, what in ((False, Code.DRIVES_EXCHANGED), (True, Code.CELLS_EXCHANGED)):
        pairs = tuple(leg_pair(Code.PAIR_OF_LEGS, each.legs) for each in exchanges if each.cells is cells)
        if pairs:
            parts.append(Finding(what, within=pairs))
    leg = min(min(each.legs) for each in exchanges)
    return Finding(code, leg, within=tuple(parts))


def leg_pair(code: Code, legs: Sequence[int]) -> Finding:
    """Two legs (1…6) of an exchange."""
    return Finding(code, details={"one": legs[0], "other": legs[1]})


def _exchanged(legs: tuple[int, int]) -> list[int]:
    """The order of six legs, as indices, two of which are exchanged."""
    order = list(range(6))
    order[legs[0]], order[legs[1]] = legs[1], legs[0]
    return order


_Samples = deque[tuple[float, bytes]]
"""Latest samples: time, s; lengths (6,), m, and forces (6,), N"""


def _samples(counts: tuple[int, int, int]) -> _Samples:
    """Room for the samples that moments need, see `_counts`."""
    fitted, step, most = counts
    return deque(maxlen=fitted + step * (most - 1))


def _stored(samples: _Samples) -> Array:
    """Samples (n, 13), oldest first: time, s, lengths, m, forces, N."""
    measured = np.frombuffer(b"".join([each for _, each in samples])).reshape(-1, 12)
    return np.column_stack([[t for t, _ in samples], measured])


def _counts(over: float, apart: float, most: int, period: float, error: float) -> tuple[int, int, int]:
    """Of a kind of moments, in cycles: how many are fitted, how many apart moments are; and how many of these.

    error: of a length, m, standard deviation.
    """
    fitted = max(_FEWEST_FITTED, round(over / period) + 1)
    while fitted * period < _LONGEST and error * float(np.linalg.norm(_fitted(fitted, period)[0][2])) > _STEADY:
        fitted += 1
    return fitted, max(1, round(apart / period)), most


class ExchangeSearch:
    """Stores what is measured in motion, and compares it on request with every exchange of two legs.

    Args:
        config: gives the period, and whether the cells are wired to the drives or to an amplifier.
        model: the cells' forces.
        resolution: of the drives' positions, m.
    """

    def __init__(self, config: RigConfig, model: CellModel, resolution: float = 0.0) -> None:
        self._model, self._period = model, config.period
        self._prior = model.prior * [_MASS, 1.0, 1.0, 1.0]
        self._error = resolution / math.sqrt(12.0)
        self._home_lengths = config.machine.geometry.home_lengths
        self._at_home: list[float] = self._home_lengths.tolist()
        self._own_cells = config.load_cells.source == "drive"
        latest, away = (_counts(*kind, config.period, self._error) for kind in (_LATEST, _AWAY))
        self._latest, self._moved = _samples(latest), _samples(away)
        self._kinds = [(latest, self._latest), (away, self._moved)]
        if 2 * _CYCLES[0] <= latest[0]:
            self._kinds.append((_CYCLES, self._latest))
        self._calls = math.ceil(_MOMENTS * (1 + len(PAIRS)) * config.period / _COMPUTING)
        self.forget()

    @property
    def active(self) -> bool:
        """Whether a search is under way."""
        return self._work is not None

    def forget(self) -> None:
        """Begin anew: the drives' positions, or the drives, may be others."""
        self._latest.clear()
        self._moved.clear()
        self._away, self._next = False, -math.inf
        self._work: Iterator[tuple[Exchange, ...] | None] | None = None

    def note(self, t: float, measured: Array) -> None:
        """Store what is `measured` (2, 6) in a cycle at rig time `t` (s): lengths, m, and forces, N."""
        if t >= self._next:
            self._next = t + _LOOKING
            self._away = max(map(abs, map(sub, measured[0].tolist(), self._at_home))) >= _MOVED
        sample = t, measured.tobytes()
        self._latest.append(sample)
        if self._away:
            self._moved.append(sample)

    def begin(self, at_home: Array) -> None:
        """Look for an exchange that explains what was measured; `at_home` (6,) N were the forces at rest there."""
        self._work = self._search(at_home.copy(), [_stored(samples) for _, samples in self._kinds])

    def proceed(self) -> tuple[Exchange, ...] | None:
        """Do a part of the search that is under way, small enough for a cycle; None before the end.

        Then the exchanges that fit what was measured: none where the configured wiring does, or where nothing fits.
        """
        assert self._work is not None
        for result in itertools.islice(self._work, self._calls):
            if result is not None:
                self._work = None
                return result
        return None

    def rehearse(self) -> None:
        """Do the computations once at home, so that kernels are compiled; nothing is kept."""
        self._model.forces(self._home_lengths, np.zeros(6), np.zeros(6))
        expected, noise, legs = (
            np.ones((1, 6, 6)),
            np.eye(6) + self._model.inertia @ self._model.inertia.T,
            list(range(6)),
        )
        self._misfit(expected[..., 0], _weights(noise[np.newaxis], legs), expected, legs)

    def _search(self, at_home: Array, samples: Sequence[Array]) -> Iterator[tuple[Exchange, ...] | None]:
        moments = self._moments(samples)
        if not moments:
            yield ()
            return
        measured = np.array([force for _, force, _ in moments]) - at_home
        noise = np.array([covariance for _, _, covariance in moments])
        straight = list(range(6))
        wired = np.full((len(moments), 6, 6), math.nan)
        for _ in self._expect(moments, straight, wired):
            yield None
        if not np.isfinite(wired).all():
            yield ()
            return
        # the configured wiring, but for one cell that may read anything
        others = [[leg for leg in straight if leg != out] for out in straight]
        least = min(self._misfit(measured, _weights(noise, legs), wired, legs) for legs in others)
        weights = _weights(noise, straight)
        found: list[tuple[float, Exchange]] = []
        for one, other in PAIRS:
            order, legs = _exchanged((one, other)), (one + 1, other + 1)
            expected = np.full_like(wired, math.nan)
            for _ in self._expect(moments, order, expected):
                yield None
            forces = measured[:, order]
            own = forces if self._own_cells else measured
            found.append((self._misfit(own, weights, expected, straight), Exchange(legs, cells=False)))
            found.append((self._misfit(forces, weights, wired, straight), Exchange(legs, cells=True)))
        best = min(misfit for misfit, _ in found)
        if not best <= min(_FITS * measured.size, _EXPLAINS * least, least - _BETTER):
            yield ()
            return
        yield tuple(exchange for misfit, exchange in found if misfit <= max(_ALIKE * best, best + _CLOSE))

    def _moments(self, samples: Sequence[Array]) -> list[_Moment]:
        """Motion (3, 6) (lengths, m, their speeds and accelerations) and forces (6,) N at moments, newest first.

        Then the covariance (6, 6), N², of the forces about the model: noise, what happens between samples, and the
        resolution of the lengths by way of the accelerations.
        samples: (n, 13), as of `_stored`, for each of `_kinds`.
        """
        moments = []
        usual, own = self._model.noise(_DEPARTURE), np.eye(6)
        inertia = self._model.inertia @ self._model.inertia.T
        for ((count, step, most), _), stored in zip(self._kinds, samples, strict=True):
            fit, average = _fitted(count, self._period)
            coarse = (self._error * float(np.linalg.norm(fit[2]))) ** 2 * inertia
            ends = range(len(stored), count - 1, -step)
            for end in ends[:most]:
                t, motion, force = np.split(stored[end - count : end], (1, 7), axis=1)
                uneven = np.abs(np.diff(t[:, 0]) - self._period).max()
                if uneven < 0.5 * self._period and np.isfinite(motion + force).all():
                    steps = math.sqrt((np.diff(force, axis=0) ** 2).mean())
                    between = _BETWEEN * steps * float(np.linalg.norm(average))
                    moments.append((fit @ motion, average @ force, (usual**2 + between**2) * own + coarse))
        return moments

    def _expect(self, moments: list[_Moment], order: list[int], out: Array) -> Iterator[None]:
        """Fill `out` (moments, 6, 6) with the change of `CellModel.forces` from home, of lengths in another order.

        Then with the legs' speeds, m/s. What is no motion of the platform is left alone.
        """
        for row, (motion, _, _) in enumerate(moments):
            try:
                out[row, :, :5] = self._model.forces(*motion[:, order]) - self._model.at_home
                out[row, :, 5] = motion[1, order]
            except (DynamicsError, KinematicsError):
                return
            yield

    def _misfit(self, measured: Array, weights: Array, expected: Array, legs: list[int]) -> float:
        """Squared deviations of the cells of `legs`, summed, that no likely mass, gains, zeros and friction take away.

        measured (moments, 6) N, `weights` of those cells as `_weights`, expected (moments, 6, 6) as `_expect`; infinite
        where that is no number.
        """
        if not np.isfinite(expected).all():
            return math.inf
        change = expected[:, legs, 0]
        error = (weights @ (measured[:, legs] - change)[:, :, None]).ravel()
        own = np.eye(len(legs))
        gains = change[:, :, None] * (_GAIN * own)
        zeros = np.broadcast_to(self._model.noise(_ZERO) * own, gains.shape)
        drags = expected[:, legs, 5:] * (self._model.noise(_DRAG) * own)
        by = weights @ np.concatenate([expected[:, legs, 1:5] * self._prior, gains, zeros, drags], axis=2)
        by = by.reshape(len(error), -1)
        along = error @ by
        return float(error @ error - along @ np.linalg.solve(by.T @ by + np.eye(len(along)), along))


def _weights(noise: Array, legs: list[int]) -> Array:
    """Of covariances (moments, 6, 6) N²: matrices, 1/N, that make the deviations of the cells of `legs` independent."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(noise[:, legs][:, :, legs])))


def _fitted(count: int, period: float) -> tuple[Array, Array]:
    """Weights of samples: (3, count) of the quadratic fitted to them, its value, slope and second derivative.

    And (count,) of the average of another quantity that is proportional to the second derivative, however that varies
    linearly from sample to sample: the fit's second derivative is an average with these weights of the true one.
    """
    t = period * (np.arange(count) - 0.5 * (count - 1))
    fit = np.linalg.pinv(np.vander(t, 3, increasing=True))
    fit[2] *= 2.0
    differences = period**2 * np.cumsum(np.cumsum(fit[2]))[:-2]  # weights of second differences over three samples
    return fit, np.convolve(differences, np.array([1.0, 4.0, 1.0]) / 6.0)


SETTLING = 0.15  # s at rest after homing, before the forces are compared
_REFERENCE = (Status.HOMED | Status.HOMING).value  # a drive may zero its position where one of these changes
_MOST = 256  # samples of a mean; the newest count
_FEWEST = 5
_AT_REST_COMPUTING = 0.1  # s at most, over which the computation is spread
# What a force may be wrong by beside the platform's mass, standard deviations: a cell's gain; what it keeps from one
# load to the next, of its noise.
_AT_REST_GAIN, _CREEP = 0.03, 0.2
# Sums of six squared deviations, in those: one that is borne, one that is excluded, and by how much one must be worse
# than the best to be told from it. Without an exchange one in a million is beyond the first by chance alone.
_ACCEPTED, _EXCLUDED, _APART = 38.0, 80.0, 20.0


@dataclass(frozen=True, slots=True)
class WiringVerdict:
    """What the forces tell: `trip` where drives are exchanged, else `unclear`, why they do not tell, or neither."""

    trip: Trip | None = None
    unclear: Finding | None = None


class ExchangeCheck:
    """Compares the change of the cells' forces from where homing began to home with the model's, once a homing.

    Args:
        config: gives expected noise, and whether the cells are wired to the drives or to an amplifier.
        model: the cells' forces.
    """

    def __init__(self, config: RigConfig, model: CellModel) -> None:
        self._model = model
        self._home_lengths = config.machine.geometry.home_lengths
        self._noise = config.cell_noise
        self._own_cells = config.load_cells.source == "drive"
        self._prior = np.diag(model.prior**2)
        self._halves = math.ceil(2 * (1 + len(PAIRS)) * config.period / _AT_REST_COMPUTING)
        self._before, self._samples_before = np.zeros(6), 0
        self._status, self._length = [0] * 6, [math.nan] * 6
        self.moved: list[float] = [0.0] * 6
        """m, by which each leg has moved since homing began, or moved while homing"""
        self._expected: Iterator[tuple[Array, Array] | None] = iter(())
        self._candidates: list[tuple[Array, Array]] = []
        self.connected()

    def connected(self) -> None:
        """Other drives may answer from now on."""
        self._found: Cause | None = None
        self.at_home: Array | None = None
        """(6,) N, mean force at rest after the last homing; None where nothing is known of it"""
        self.pending = False
        """whether a homing's forces are still to be compared"""
        self.forget()

    def forget(self) -> None:
        """The platform may stand elsewhere: begin the mean force at rest anew."""
        self._mean, self._samples = np.zeros(6), 0

    def rest(self, fresh: Array, force: Array, *, cells_fresh: bool) -> None:
        """Take the cells' `force` (6,) N of a cycle at rest, where it is new and finite."""
        if cells_fresh and fresh.all() and np.isfinite(force).all():
            self._samples += 1
            self._mean += (force - self._mean) / min(self._samples, _MOST)

    def begin(self, status: Sequence[int], length: Array) -> None:
        """Homing begins, of drives that report `status` and `length` (6,) m, from any zero."""
        self._before, self._samples_before = self._mean, self._samples
        self._status, self._length, self.moved = list(status), length.tolist(), [0.0] * 6
        self.at_home, self.pending = None, False

    def follow(self, fresh: Array, status: Sequence[int], length: Array) -> None:
        """Add up by how much each leg moves while homing, without the steps in which its drive zeroes its position."""
        for leg, bits in enumerate(status):
            now = float(length[leg])
            if fresh[leg] and math.isfinite(now):
                if not (bits ^ self._status[leg]) & _REFERENCE and math.isfinite(self._length[leg]):
                    self.moved[leg] += now - self._length[leg]
                self._status[leg], self._length[leg] = bits, now

    def homed(self, length: Array) -> None:
        """Homing is over: `length` (6,) m, true."""
        self.forget()
        self._expected = self._expect(length.copy(), np.array(self.moved))
        self._candidates = []
        self.pending = True

    def judge(self, t: float, settled: float) -> WiringVerdict | None:
        """Verdict of the homing that is `pending`, at rig time `t`, `settled` s after it; None before there is one.

        The computation is spread over calls, so that no cycle is late for it.
        """
        for candidate in itertools.islice(self._expected, self._halves):
            if candidate is not None:
                self._candidates.append(candidate)
        if len(self._candidates) <= len(PAIRS) or settled < SETTLING:
            return None
        self.pending = False
        if self._samples >= _FEWEST:
            self.at_home = self._mean.copy()
        verdict = self._verdict(t)
        if verdict.trip is not None:
            self._found = verdict.trip.cause
        elif verdict.unclear is None:
            self._found = None
        elif self._found is not None:
            again = Finding(Code.DRIVES_STILL_EXCHANGED, within=(self._found.finding,))
            return WiringVerdict(Trip(Cause(again, t), StopSeverity.CATEGORY_0, no_recheck, unhome=True))
        return verdict

    def rehearse(self) -> None:
        """Do the computations once at home, so that kernels are compiled and libraries loaded; then forget them."""
        self._samples = self._samples_before = 1
        expected = next(filter(None, self._expect(self._home_lengths, np.zeros(6))))
        self._candidates = [expected] * (1 + len(PAIRS))
        self._misfit()
        self.forget()

    def _verdict(self, t: float) -> WiringVerdict:
        if min(self._samples, self._samples_before) < _FEWEST:
            return WiringVerdict(unclear=Finding(Code.TOO_SHORT_AT_REST))
        misfit = self._misfit()
        best = min(misfit)
        drives, cells = misfit[1 : 1 + len(PAIRS)], misfit[1 + len(PAIRS) :]
        if misfit[0] > _EXCLUDED and best <= _ACCEPTED:
            exchanges = [
                Exchange((one + 1, other + 1), cells=alone)
                for alone, values in ((False, drives), (True, cells))
                for (one, other), value in zip(PAIRS, values, strict=True)
                if value <= best + _APART
            ]
            found = exchanges_found(exchanges, Code.EXCHANGED_AT_REST)
            return WiringVerdict(Trip(Cause(found, t), StopSeverity.CATEGORY_0, no_recheck, unhome=True))
        if misfit[0] > _ACCEPTED:
            return WiringVerdict(unclear=Finding(Code.FITS_NO_WIRING))
        alike = [legs for legs, value in zip(PAIRS, drives, strict=True) if value <= _EXCLUDED]
        if not alike:
            return WiringVerdict()
        if len(alike) == len(PAIRS):
            return WiringVerdict(unclear=Finding(Code.ALL_PAIRS_ALIKE))
        return WiringVerdict(unclear=Finding(Code.PAIRS_ALIKE, within=_pairs(alike)))

    def _misfit(self) -> list[float]:
        """Of each candidate the squared deviations of what was measured, in standard deviations, summed over cells.

        As wired, then with the drives of each pair exchanged, then with its cells.
        """
        measured = self._mean - self._before
        noise = self._noise**2 * (sum(1.0 / min(n, _MOST) for n in (self._samples, self._samples_before)) + _CREEP**2)
        wired = self._candidates[0]
        cells = [(wired[0][order], wired[1][order]) for order in map(_exchanged, PAIRS)]
        change, by_mass = (np.array(part) for part in zip(*self._candidates, *cells, strict=True))
        found = np.full(len(change), math.inf)
        real = np.isfinite(change).all(axis=1)
        change, by_mass = change[real], by_mass[real]
        own = (noise + (_AT_REST_GAIN * change) ** 2)[:, None] * np.eye(6)
        error = (measured - change)[:, :, None]
        weighted = np.linalg.solve(own + by_mass @ self._prior @ by_mass.swapaxes(1, 2), error)
        found[real] = (error * weighted).sum(axis=(1, 2))
        misfit: list[float] = found.tolist()
        return misfit

    def _expect(self, length: Array, moved: Array) -> Iterator[tuple[Array, Array] | None]:
        """What the cells' forces, as reported, change by, and that by mass; as wired right, then of each pair.

        None before each: half of the work is done.
        """
        for one, other in [(0, 0), *PAIRS]:
            order = _exchanged((one, other))
            try:
                before = self._model.forces((length - moved)[order])
                yield None
                change = self._model.forces(length[order]) - before
            except (DynamicsError, KinematicsError):
                change = np.full((6, 5), math.nan)  # no such pose: the drives are not wired in this way
            if self._own_cells:
                change = change[order]
            yield change[:, 0], change[:, 1:]


def _pairs(pairs: Sequence[tuple[int, int]]) -> tuple[Finding, ...]:
    """Pairs of legs, each as indices."""
    return tuple(leg_pair(Code.PAIR, (one + 1, other + 1)) for one, other in pairs)
