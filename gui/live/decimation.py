"""Curves thinned to what a screen can show, without losing a peak and without shimmering while they move."""

import numpy as np

from gui.history import Floats

_STEPS = (1.0, 1.5)
"""Strides grow by these times powers of two, so that a bin stays what it is while the number of rows wavers."""


def stride_for(count: int, bins: int) -> int:
    """Rows a bin so that `count` rows make at most `bins` of them; 1 when they are few enough as they are."""
    stride, power = 1, 1
    while stride * bins < count:
        power *= 2
        stride = next((int(power * step) for step in _STEPS if int(power * step) * bins >= count), power)
    return stride


def decimate(times: Floats, values: Floats, bins: int, first: int = 0) -> tuple[Floats, Floats]:
    """Lowest and highest value of every bin, as curves with the outline of the whole ones.

    Args:
        times: (n,)
        values: (n, k), one column a curve.
        bins: at most so many of them, not counting a part of one at either end; twice as many points come back.
        first: number of the first row on its timeline: bins begin at multiples of their size.

    Returns:
        times (m,) and values (m, k); what came in when there are at most 2·bins rows. A bin's values that are not
        numbers are left out.
    """
    count = len(times)
    stride = stride_for(count, 2 * bins)
    if stride == 1:
        return times, values
    stride = stride_for(count, bins)
    begin = -first % stride
    whole = (count - begin) // stride
    end = begin + whole * stride
    blocks = values[begin:end].reshape(whole, stride, -1)
    low, high = np.fmin.reduce(blocks, axis=1), np.fmax.reduce(blocks, axis=1)
    starts = times[begin:end:stride]
    middles = times[begin + stride // 2 : end : stride]
    parts_t, parts_v = [np.column_stack([starts, middles]).ravel()], [_interleaved(low, high)]
    for part in (slice(0, begin), slice(end, count)):
        if part.stop > part.start:
            piece = values[part]
            ends = times[[part.start, part.stop - 1]]
            outline = np.stack([np.fmin.reduce(piece, axis=0), np.fmax.reduce(piece, axis=0)])
            place = 0 if part.start == 0 else len(parts_t)
            parts_t.insert(place, ends)
            parts_v.insert(place, outline)
    return np.concatenate(parts_t), np.concatenate(parts_v)


def _interleaved(low: Floats, high: Floats) -> Floats:
    merged = np.empty((2 * len(low), low.shape[1]))
    merged[0::2], merged[1::2] = low, high
    return merged
