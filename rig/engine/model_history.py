"""The model's forces of the last cycles, for cells whose readings were measured before the cycle that brings them."""

import math

import numpy as np

from kinematics import Array

_DEPTH = 128
"""cycles that are kept"""


class ModelHistory:
    """What the model said in the last cycles, and between them on a straight line."""

    def __init__(self, terms: int) -> None:
        """terms: how many the model's forces have."""
        self._times = [math.nan] * _DEPTH
        self._cells = np.zeros((_DEPTH, 6))
        self._terms = np.zeros((_DEPTH, terms, 6))
        self._count = 0

    def forget(self) -> None:
        """Begin anew: what was before is another machine's, or of nowhere."""
        self._count = 0

    def note(self, t: float, cells: Array, terms: Array) -> None:
        """Keep the forces at the cells (6,) and by term (n, 6) of the cycle at `t`, s; later than the one before."""
        place = self._count % _DEPTH
        self._times[place] = t
        self._cells[place], self._terms[place] = cells, terms
        self._count += 1

    def recall(self, t: float, leg: int, cells: Array, terms: Array) -> bool:
        """Put in what the model said of a leg (index) at `t`, s; False, and nothing put in, where that is not kept."""
        for back in range(1, min(self._count, _DEPTH)):
            after, before = (self._count - back) % _DEPTH, (self._count - back - 1) % _DEPTH
            if self._times[before] <= t <= self._times[after]:
                part = (t - self._times[before]) / (self._times[after] - self._times[before])
                for kept, out in ((self._cells[:, leg], cells[leg : leg + 1]), (self._terms[:, :, leg], terms[:, leg])):
                    out[:] = (1.0 - part) * kept[before] + part * kept[after]
                return True
        return False
