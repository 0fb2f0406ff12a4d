"""Curves thinned to what a screen can show, without losing a peak and without shimmering while they move."""

import numpy as np

from gui.session import Floats

_STEPS = (1.0, 1.5)
"""Strides grow by these times powers of two, so that a bin stays what it is while the number of rows wavers."""


def stride_for(count: int, bins: int) -> int:
    """Rows a bin so that `count` rows make at most `bins` of them; 1 when they are few enough as they are."""
    stride, power = 1, 1
    while stride * bins < count:
        power *= 2
        stride = next((int(power * step) for step in _STEPS if int(power * step) * bins >= count), power)
    return stride


def bin_size(count: int, bins: int) -> int:
    """Rows a bin where `count` of them are thinned to so many bins; 1 when they are few enough as they are."""
    return 1 if stride_for(count, 2 * bins) == 1 else stride_for(count, bins)


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
    stride = bin_size(count, bins)
    if stride == 1:
        return times, values
    begin = -first % stride
    whole = (count - begin) // stride
    end = begin + whole * stride
    pieces = [(begin, end, stride)]
    if begin:
        pieces.insert(0, (0, begin, begin))
    if end < count:
        pieces.append((end, count, count - end))
    thinned_times = [np.column_stack([times[a:b:n], times[a + n - 1 : b : n]]).ravel() for a, b, n in pieces]
    return np.concatenate(thinned_times), np.concatenate([extremes(values[a:b], n) for a, b, n in pieces])


def extremes(values: Floats, stride: int) -> Floats:
    """Both extremes of every `stride` rows, (2·bins, k), in the order in which a curve that rises or falls has them."""
    blocks = values.reshape(-1, stride, values.shape[1])
    rows = np.ascontiguousarray(blocks.transpose(1, 0, 2))  # (stride, bins, k): ten times as fast to reduce
    low, high = np.fmin.reduce(rows, axis=0), np.fmax.reduce(rows, axis=0)
    rising = rows[-1] >= rows[0]
    ordered: Floats = np.stack([np.where(rising, low, high), np.where(rising, high, low)], axis=1)
    return ordered.reshape(-1, values.shape[1])
