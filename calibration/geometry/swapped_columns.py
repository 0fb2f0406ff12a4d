"""Legs whose columns were exchanged: told by where the calibrated joints lie among the nominal ones.

Measured poses and one leg's lengths give that leg's joints whatever it is called, so an exchanged column spoils
nothing but the names. It shows where another order of the legs lies much nearer to the drawing.
"""

from itertools import permutations

import numpy as np

from calibration.geometry.frames import Gauge
from kinematics import Array

_BETTER = 3.0  # times nearer, RMS, than the order given
_ALIKE = 1.2  # times the least misfit: orders that a symmetric mechanism does not tell apart; the fewest exchanges
_ORDERS = np.array(list(permutations(range(6))))


def exchanged_legs(x: Array, nominal: Array, gauge: Gauge) -> str:
    """Which columns were exchanged, in words, of estimated joints (6, 7) and the nominal ones; empty if none were.

    An exchange that is a symmetry of the mechanism, such as every leg for the next pair's, cannot be told where the
    tracker's frame is unknown.
    """
    total = np.zeros(len(_ORDERS))
    for part, free in ((slice(0, 3), gauge.base), (slice(3, 6), gauge.platform)):
        total += _misfits(x[:, part], nominal[:, part], free)
    least = total.min()
    if total[0] < _BETTER**2 * least:
        return ""
    moves = (_ORDERS[total < _ALIKE * least] != np.arange(6)).sum(axis=1)
    order = _ORDERS[total < _ALIKE * least][int(moves.argmin())]
    wrong = [leg for leg in range(6) if order[leg] != leg]
    if len(wrong) == 2:
        return f"columns l{wrong[0] + 1} and l{wrong[1] + 1} are exchanged"
    return "columns of legs are exchanged: " + ", ".join(f"l{leg + 1} is leg {order[leg] + 1}'s" for leg in wrong)


def _misfits(points: Array, nominal: Array, free: bool) -> Array:
    """Sum of squares (720,), m², of points (6, 3) beside the nominal ones taken in every order, moved there if free."""
    taken = nominal[_ORDERS]
    if not free:
        return np.asarray(((points - taken) ** 2).sum(axis=(1, 2)))
    a, b = points - points.mean(axis=0), taken - taken.mean(axis=1, keepdims=True)
    cross = np.einsum("ia,kib->kab", a, b)
    values = np.linalg.svd(cross, compute_uv=False)
    values[:, 2] *= np.sign(np.linalg.det(cross))
    return np.asarray((a**2).sum() + (b**2).sum(axis=(1, 2)) - 2.0 * values.sum(axis=1))
