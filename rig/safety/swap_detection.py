"""Which two legs' drives or load cells are exchanged, found after a fault from what was measured in motion.

A drive at another's address obeys that one's commands and reports its own leg's length under that one's number: each
leg's loop is closed, and neither lengths nor commands show anything. But the platform is not where such lengths say,
and the forces by which the legs carry and accelerate it follow from where it is and how it moves. So pose, twist and
acceleration are computed from the lengths as measured, for the configured wiring and for each exchange of two legs,
and the model's forces at the cells are compared with the measured ones. References and commands are left out: a leg
that does not follow, is weak, sticks or runs away moves the platform otherwise than meant, but the forces at the cells
still follow from how it moved, with the legs as they are wired.

What else the forces may be off by:

- Payload and gains of cells, as far as they are likely, are fitted with every wiring. Forces are compared with those at
  home, so that the cells' zeros drop out; by how much friction held the legs there is fitted too. What friction does in
  motion is within what a comparison bears.
- One cell that reads anything (gain, polarity, zero): the other five fit the configured wiring, and nothing is named.
- A push, a false scale of an encoder, or a wrong drawing fit no exchange.
"""

import itertools
import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dynamics import DynamicsError
from kinematics import Array, KinematicsError
from rig.config import RigConfig
from rig.findings import Code, Finding
from rig.safety.cell_model import CellModel

PAIRS = tuple(itertools.combinations(range(6), 2))
_SPACING = 0.01  # s, at least, from one sample to the next
_SPAN = 5  # samples to which a moment's motion is fitted
_MOMENTS, _STEP = 16, 6  # how many moments are compared at most, and how many samples apart
_COMPUTING = 0.6  # s at most, over which the computation is spread, where a cycle has room for it
_MOVED = 0.5e-3  # m from home, below which a moment tells nothing
_DEPARTURE = 0.05  # standard deviation of a force from the model, by friction and the like, of the mean one at home
_GAIN = 0.03  # standard deviation of a cell's gain
_ZERO = 0.1  # and of its force at home, by friction that held the legs there, of the mean one
# Sums of squared deviations, in standard deviations. Of an exchange that is named: at most so much per force, so large
# a part of that of the configured wiring without its worst cell, and so much less. Others are named beside the best one
# up to so many times its sum, or so much more.
_FITS, _EXPLAINS, _BETTER = 1.0, 0.25, 10.0
_ALIKE, _CLOSE = 3.0, 6.0
_MOST_NAMED = 3

_Sample = tuple[float, Array, Array]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Two legs (1…6) whose drives, or whose load cells alone, may be exchanged."""

    legs: tuple[int, int]
    cells: bool


def exchanges_found(exchanges: Sequence[Exchange]) -> Finding:
    """What may be exchanged, and that it is what was measured that says so."""
    parts = []
    for cells, code in ((False, Code.DRIVES_EXCHANGED), (True, Code.CELLS_EXCHANGED)):
        pairs = tuple(pair(Code.PAIR_OF_LEGS, each.legs) for each in exchanges if each.cells is cells)
        if pairs:
            parts.append(Finding(code, within=pairs))
    leg = min(min(each.legs) for each in exchanges)
    return Finding(Code.EXCHANGED_IN_MOTION, leg, within=tuple(parts))


def pair(code: Code, legs: Sequence[int]) -> Finding:
    """Two legs (1…6) of an exchange."""
    return Finding(code, details={"one": legs[0], "other": legs[1]})


class ExchangeSearch:
    """Stores what is measured in motion, and compares it on request with every exchange of two legs.

    Args:
        config: gives the period, and whether the cells are wired to the drives or to an amplifier.
        model: the cells' forces.
    """

    def __init__(self, config: RigConfig, model: CellModel) -> None:
        self._model = model
        self._home_lengths = config.machine.geometry.home_lengths
        self._own_cells = config.load_cells.source == "drive"
        self._samples: deque[_Sample] = deque(maxlen=_MOMENTS * _STEP + _SPAN)
        self._longest = 1.5 * (_SPAN - 1) * max(_SPACING, config.period)
        self._calls = math.ceil(_MOMENTS * (1 + len(PAIRS)) * config.period / _COMPUTING)
        self._work: Iterator[tuple[Exchange, ...] | None] | None = None
        self._next = -math.inf

    @property
    def active(self) -> bool:
        """Whether a search is under way."""
        return self._work is not None

    def forget(self) -> None:
        """Begin anew: the drives' positions, or the drives, may be others."""
        self._samples.clear()
        self._work, self._next = None, -math.inf

    def note(self, t: float, length: Array, force: Array) -> None:
        """Store what is measured away from home in a cycle at rig time `t` (s): `length` (6,) m, `force` (6,) N."""
        if t >= self._next:
            self._next = t + _SPACING - 1e-6
            if np.abs(length - self._home_lengths).max() >= _MOVED:
                self._samples.append((t, length.copy(), force.copy()))

    def begin(self, at_home: Array) -> None:
        """Look for an exchange that explains what was measured; `at_home` (6,) N were the forces at rest there."""
        self._work = self._search(at_home.copy(), list(self._samples))

    def proceed(self) -> tuple[Exchange, ...] | None:
        """Do a part of the search that is under way, small enough for a cycle; None before the end.

        Then the exchanges that fit what was measured: none where the configured wiring does, where nothing fits well,
        or where too many would.
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
        expected = self._model.at_home[np.newaxis]
        self._misfit(expected[..., 0], expected, list(range(6)))

    def _search(self, at_home: Array, samples: list[_Sample]) -> Iterator[tuple[Exchange, ...] | None]:
        moments = self._moments(samples)
        if not moments:
            yield ()
            return
        measured = np.array([force for _, force in moments]) - at_home
        straight = list(range(6))
        wired = np.full((len(moments), 6, 5), math.nan)
        for _ in self._expect(moments, straight, wired):
            yield None
        if not np.isfinite(wired).all():
            yield ()
            return
        # the configured wiring, but for one cell that may read anything
        least = min(self._misfit(measured, wired, [leg for leg in straight if leg != out]) for out in straight)
        found: list[tuple[float, Exchange]] = []
        for one, other in PAIRS:
            order = straight.copy()
            order[one], order[other] = other, one
            legs = (one + 1, other + 1)
            expected = np.full_like(wired, math.nan)
            for _ in self._expect(moments, order, expected):
                yield None
            if self._own_cells:
                expected = expected[:, order]
            found.append((self._misfit(measured, expected, straight), Exchange(legs, cells=False)))
            found.append((self._misfit(measured, wired[:, order], straight), Exchange(legs, cells=True)))
        best = min(misfit for misfit, _ in found)
        if not best <= min(_FITS * measured.size, _EXPLAINS * least, least - _BETTER):
            yield ()
            return
        named = [exchange for misfit, exchange in found if misfit <= max(_ALIKE * best, best + _CLOSE)]
        yield tuple(named) if len(named) <= _MOST_NAMED else ()

    def _moments(self, samples: list[_Sample]) -> list[tuple[Array, Array]]:
        """Motion (3, 6) (lengths, m, their speeds and accelerations) and forces (6,) N at moments, newest first."""
        moments = []
        for end in range(len(samples), _SPAN - 1, -_STEP):
            window = samples[end - _SPAN : end]
            t = np.array([sample[0] for sample in window])
            motion, force = np.array([sample[1] for sample in window]), np.array([sample[2] for sample in window])
            if t[-1] - t[0] > self._longest or not (np.isfinite(motion).all() and np.isfinite(force).all()):
                continue
            fit = np.linalg.pinv(np.vander(t - t.mean(), 3, increasing=True))
            at = fit @ motion
            at[2] *= 2.0
            moments.append((at, fit[0] @ force))
        return moments[:_MOMENTS]

    def _expect(self, moments: list[tuple[Array, Array]], order: list[int], out: Array) -> Iterator[None]:
        """Fill `out` (moments, 6, 5) with the change of `CellModel.forces` from home, of lengths in another order.

        What is no motion of the platform is left alone.
        """
        for row, (motion, _) in enumerate(moments):
            try:
                out[row] = self._model.forces(*motion[:, order]) - self._model.at_home
            except (DynamicsError, KinematicsError):
                return
            yield

    def _misfit(self, measured: Array, expected: Array, legs: list[int]) -> float:
        """Squared deviations of the cells of `legs`, summed, that no likely mass, gains and zeros take away.

        measured (moments, 6) N, expected (moments, 6, 5) as `CellModel.forces`; infinite where that is no number.
        """
        if not np.isfinite(expected).all():
            return math.inf
        scale = self._model.noise(_DEPARTURE)
        change = expected[:, legs, 0]
        error = ((measured[:, legs] - change) / scale).ravel()
        own = np.eye(len(legs))
        gains = change[:, :, None] * (_GAIN * own)
        zeros = np.broadcast_to(self._model.noise(_ZERO) * own, gains.shape)
        columns = [expected[:, legs, 1:] * self._model.prior, gains, zeros]
        by = np.concatenate(columns, axis=2).reshape(len(error), -1) / scale
        along = error @ by
        return float(error @ error - along @ np.linalg.solve(by.T @ by + np.eye(len(along)), along))
