"""Whether the drives of two legs answer at each other's address, from the static forces before and after homing.

Such drives move their own legs and read their own cells, only under the other's number, and every length looks right.
But the forces by which the legs carry the platform at rest follow from the pose, and the pose from which leg is how
long: between where homing began and home they change by something else than the model says for the lengths as reported.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from actuators import Status
from dynamics import DynamicsError
from kinematics import Array, KinematicsError
from rig.config import RigConfig
from rig.findings import Code, Finding
from rig.safety.cell_model import CellModel
from rig.safety.machine import Cause
from rig.safety.swap_detection import PAIRS, pair
from rig.safety.trip import Trip, no_recheck
from rig.states import StopSeverity

SETTLING = 0.15  # s at rest after homing, before the forces are compared
_REFERENCE = (Status.HOMED | Status.HOMING).value  # a drive may zero its position where one of these changes
_MOST = 256  # samples of a mean; the newest count
_FEWEST = 5
_COMPUTING = 0.1  # s at most, over which the computation is spread
# What a force may be wrong by beside the platform's mass, standard deviations: a cell's gain; what it keeps from one
# load to the next, of its noise.
_GAIN, _CREEP = 0.03, 0.2
# Sums of six squared deviations, in those: one that is borne, one that is excluded, and by how much one must be worse
# than the best to be told from it. Without an exchange one in a million is beyond the first by chance alone.
_BORNE, _EXCLUDED, _APART = 38.0, 80.0, 20.0


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
        self._halves = math.ceil(2 * (1 + len(PAIRS)) * config.period / _COMPUTING)
        self._before, self._samples_before = np.zeros(6), 0
        self._status, self._length, self._moved = [0] * 6, [math.nan] * 6, [0.0] * 6
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
        self._status, self._length, self._moved = list(status), length.tolist(), [0.0] * 6
        self.at_home, self.pending = None, False

    def follow(self, fresh: Array, status: Sequence[int], length: Array) -> None:
        """Add up by how much each leg moves while homing, without the steps in which its drive zeroes its position."""
        for leg, bits in enumerate(status):
            now = float(length[leg])
            if fresh[leg] and math.isfinite(now):
                if not (bits ^ self._status[leg]) & _REFERENCE:
                    self._moved[leg] += now - self._length[leg]
                self._status[leg], self._length[leg] = bits, now

    def homed(self, length: Array) -> None:
        """Homing is over: `length` (6,) m, true."""
        self.forget()
        self._expected = self._expect(length.copy(), np.array(self._moved))
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
        exchanged, borne = misfit[1:], misfit[0] <= _BORNE
        if misfit[0] > _EXCLUDED and best <= _BORNE:
            pairs = [legs for legs, value in zip(PAIRS, exchanged, strict=True) if value <= best + _APART]
            found = Finding(Code.DRIVES_EXCHANGED_AT_REST, pairs[0][0] + 1, within=_pairs(pairs))
            return WiringVerdict(Trip(Cause(found, t), StopSeverity.CATEGORY_0, no_recheck, unhome=True))
        if not borne:
            return WiringVerdict(unclear=Finding(Code.FITS_NO_WIRING))
        alike = [legs for legs, value in zip(PAIRS, exchanged, strict=True) if value <= _EXCLUDED]
        if not alike:
            return WiringVerdict()
        if len(alike) == len(PAIRS):
            return WiringVerdict(unclear=Finding(Code.ALL_PAIRS_ALIKE))
        return WiringVerdict(unclear=Finding(Code.PAIRS_ALIKE, within=_pairs(alike)))

    def _misfit(self) -> list[float]:
        """Of each candidate the squared deviations of what was measured, in standard deviations, summed over cells."""
        measured = self._mean - self._before
        noise = self._noise**2 * (sum(1.0 / min(n, _MOST) for n in (self._samples, self._samples_before)) + _CREEP**2)
        change, by_mass = (np.array(part) for part in zip(*self._candidates, strict=True))
        found = np.full(len(change), math.inf)
        real = np.isfinite(change).all(axis=1)
        change, by_mass = change[real], by_mass[real]
        own = (noise + (_GAIN * change) ** 2)[:, None] * np.eye(6)
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
            order = list(range(6))
            order[one], order[other] = other, one
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
    return tuple(pair(Code.PAIR, (one + 1, other + 1)) for one, other in pairs)
