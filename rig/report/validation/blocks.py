"""Numbers with standard uncertainties that respect autocorrelation: from how a recording's blocks differ.

Samples of a residual are not independent: noise is coloured, and what a model gets wrong follows the motion. Sums are
kept of a fixed number of blocks, each long against the correlation, and uncertainties are those of the jackknife that
leaves out one block at a time (Künsch, Ann. Stat. 17, 1989).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rig.report.streaming import Floats

BLOCKS = 20
"""Of a window."""
Numbers = npt.NDArray[np.int64]
FEWEST = 8
"""Blocks with samples below which nothing is said of uncertainty."""
_SHORTEST = 0.25
"""s, of a block"""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, its standard uncertainty, and how many degrees of freedom that has."""

    value: float
    sigma: float
    freedom: int


def block_numbers(first: int, count: int, whole: int, rate: float) -> Numbers:
    """Number of the block (count,) that samples first, first + 1, … of `whole` ones at `rate` (Hz) fall in."""
    blocks = int(min(BLOCKS, max(1.0, whole / rate / _SHORTEST)))
    numbers: Numbers = (np.arange(first, first + count, dtype=np.int64) * blocks) // max(1, whole)
    return numbers


class BlockSums:
    """Sums of k columns by block."""

    def __init__(self, columns: int) -> None:
        self.sums = np.zeros((BLOCKS, columns))
        self.counts = np.zeros(BLOCKS)

    def add(self, values: Floats, numbers: Numbers) -> None:
        """Take in values (m, k) of the blocks with these numbers (m,), which do not fall."""
        if not len(values):
            return
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        which = numbers[starts]
        self.sums[which] += np.add.reduceat(values, starts, axis=0)
        self.counts[which] += np.diff(np.append(starts, len(values)))

    def estimates(self, statistic: Callable[[Floats], Floats]) -> list[Estimate | None]:
        """A statistic of the columns' means, and how sure it is.

        Args:
            statistic: of means (..., k), gives (..., q).

        Returns:
            q estimates; None where there are fewer than `FEWEST` blocks, or nothing finite.
        """
        sums, counts = self.sums[self.counts > 0], self.counts[self.counts > 0]
        total, whole = sums.sum(axis=0), counts.sum()
        blocks = len(sums)
        with np.errstate(all="ignore"):
            if blocks < FEWEST:
                return [None] * len(statistic(np.ones(sums.shape[1])))
            value = statistic(total / whole)
            without = statistic((total - sums) / (whole - counts)[:, np.newaxis])
        return [
            _estimate(float(one), others) if np.isfinite(one) and np.isfinite(others).all() else None
            for one, others in zip(value, without.T, strict=True)
        ]


def _estimate(value: float, without: Floats) -> Estimate:
    blocks = len(without)
    spread = without - without.mean()
    variance = (blocks - 1) / blocks * float(spread @ spread)
    correlation = float(spread[1:] @ spread[:-1]) / max(float(spread @ spread), 1e-300)
    # where neighbouring blocks are alike, they are too short to be independent: Bartlett's correction of first order
    variance *= 1.0 + 2.0 * max(0.0, correlation)
    return Estimate(value, float(np.sqrt(variance)), blocks - 1)
