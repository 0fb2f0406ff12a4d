"""Block statistics: estimates whose standard uncertainties respect autocorrelation.

Samples of a residual are not independent: noise is coloured, and model errors follow the motion. Sums are taken over
a fixed number of blocks, each long against the correlation, and uncertainties come from the jackknife that leaves out
one block at a time (Künsch, Ann. Stat. 17, 1989).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rig.report.streaming import Floats

BLOCKS = 20
"""Number of blocks of a window."""
Numbers = npt.NDArray[np.int64]
FEWEST = 8
"""Minimum number of non-empty blocks for an uncertainty."""
_SHORTEST = 0.25
"""s, minimum length of a block"""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, its standard uncertainty, and the degrees of freedom."""

    value: float
    sigma: float
    freedom: int


def block_numbers(first: int, count: int, whole: int, rate: float) -> Numbers:
    """Return the block number (count,) of samples first, first + 1, … out of `whole`, at `rate` (Hz)."""
    blocks = int(min(BLOCKS, max(1.0, whole / rate / _SHORTEST)))
    numbers: Numbers = (np.arange(first, first + count, dtype=np.int64) * blocks) // max(1, whole)
    return numbers


class BlockSums:
    """Sums of k columns per block."""

    def __init__(self, columns: int) -> None:
        self.sums = np.zeros((BLOCKS, columns))
        self.counts = np.zeros(BLOCKS)

    def add(self, values: Floats, numbers: Numbers) -> None:
        """Add values (m, k) of the blocks with these non-decreasing numbers (m,)."""
        if not len(values):
            return
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        which = numbers[starts]
        self.sums[which] += np.add.reduceat(values, starts, axis=0)
        self.counts[which] += np.diff(np.append(starts, len(values)))

    def estimates(self, statistic: Callable[[Floats], Floats]) -> list[Estimate | None]:
        """Return a statistic of the columns' means with its uncertainty.

        Args:
            statistic: maps means (..., k) to (..., q).

        Returns:
            q estimates; None with fewer than `FEWEST` blocks, or without a finite value.
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
    # correlated neighbours mean blocks too short to be independent: Bartlett's first-order correction
    variance *= 1.0 + 2.0 * max(0.0, correlation)
    return Estimate(value, float(np.sqrt(variance)), blocks - 1)
