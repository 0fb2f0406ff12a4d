"""The delay of measured behind commanded motion: by cross-correlation, then to a part of a sample by least squares."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinematics import Array
from rig.importing.sampling import ratio_by_blocks

LONGEST = 1.0
"""s, of a delay that is looked for"""

_BLOCK = 1.0  # s at least
_FEWEST_BLOCKS = 5
_ROUNDS = 8
_ENOUGH = 1e-5  # of a sample


@dataclass(frozen=True, slots=True)
class Delay:
    """How much later the measured motion is than the commanded one, s, and its standard uncertainty."""

    delay: float
    sigma: float


def delay_of(commanded: Array, measured: Array, stretches: Sequence[slice], rate: float) -> Delay | None:
    """The delay of measured behind commanded leg lengths (n, 6), m, both on one even cycle, of stretches without a gap.

    The lag of the greatest cross-correlation of the legs' speeds; about it measured = offset + gain · commanded(t − τ)
    by least squares, one τ for all legs, an offset and a gain for each. The uncertainty is that of blocks of time left
    out one after the other, so that what the machine does beside following is in it.

    None where nothing moves, the lag is longer than LONGEST or a quarter of the longest stretch, or there are too few
    blocks of a second.
    """
    reach = int(min(LONGEST * rate, max(part.stop - part.start for part in stretches) / 4))
    start = _nearest(commanded, measured, stretches, reach)
    margin = abs(start) + 3
    block = max(1, round(_BLOCK * rate))
    parts = [part for part in stretches if part.stop - part.start >= 2 * margin + block]
    inner = [np.arange(part.start + margin, part.stop - margin) for part in parts]
    labels = [np.arange(len(rows)) * (len(rows) // block) // len(rows) for rows in inner]
    ends = np.cumsum([0] + [int(each[-1]) + 1 for each in labels])
    blocks = int(ends[-1])
    if abs(start) >= reach or blocks < _FEWEST_BLOCKS:
        return None
    label = np.concatenate([each + end for each, end in zip(labels, ends[:-1], strict=True)])
    from scipy.interpolate import make_interp_spline  # takes long to import, and few need it

    splines = [make_interp_spline(np.arange(part.start, part.stop), commanded[part], k=3) for part in parts]
    slopes = [spline.derivative() for spline in splines]
    seen = np.concatenate([measured[rows] for rows in inner])
    shift, sigma = float(start), math.inf
    for _ in range(_ROUNDS):
        moved, rising = (
            np.concatenate([each(rows - shift) for each, rows in zip(of, inner, strict=True)])
            for of in (splines, slopes)
        )
        upper, lower = np.zeros(blocks), np.zeros(blocks)
        for leg in range(6):
            known = np.column_stack([np.ones(len(seen)), moved[:, leg]])
            both = np.column_stack([seen[:, leg], -rising[:, leg]])
            solved = np.linalg.lstsq(known, both, rcond=None)[0]
            left = both - known @ solved
            across = float(solved[1, 0]) * left[:, 1]
            upper += np.bincount(label, across * left[:, 0], blocks)
            lower += np.bincount(label, across * across, blocks)
        if not (lower.sum() - lower > 0.0).all():
            return None
        change, sigma = ratio_by_blocks(upper, lower)
        shift += change
        if not abs(shift - start) < 2.0:  # not what the cross-correlation has found: the fit has no one answer
            return None
        if abs(change) < _ENOUGH:
            break
    return Delay(shift / rate, sigma / rate)


def _nearest(commanded: Array, measured: Array, stretches: Sequence[slice], reach: int) -> int:
    """Whole samples by which the speeds of measured and commanded legs (n, 6) are most alike, at most `reach`."""
    from scipy.signal import correlate  # takes long to import, and few need it

    total = np.zeros(2 * reach + 1)
    for part in stretches:
        count = part.stop - part.start
        if count < 2 * reach + 2:
            continue
        seen, asked = np.diff(measured[part], axis=0), np.diff(commanded[part], axis=0)
        for leg in range(6):
            both = correlate(seen[:, leg], asked[:, leg], mode="full")
            total += both[count - 2 - reach : count - 1 + reach]
    return int(np.argmax(total)) - reach if total.max(initial=0.0) > 0.0 else reach
