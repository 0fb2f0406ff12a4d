"""Sensors that are wired to each other's place."""

from itertools import permutations

import numpy as np

from kinematics import Array

_EXCHANGED = 0.5
"""of the RMS that is left by the sensors as they are, what another order must leave"""


def exchanged_pairs(cost: Array) -> list[tuple[int, int]]:
    """Sensors that follow another leg much better than their own: (sensor, leg), both from 0; empty if none do.

    cost (6, 6): mean square that sensor i (row) leaves as that of leg j. By the order of all that leaves least.
    """
    orders = np.array(list(permutations(range(len(cost)))))
    sums = cost[np.arange(len(cost)), orders].sum(axis=1)
    best = int(np.argmin(sums))
    if np.sqrt(sums[best] / np.trace(cost)) >= _EXCHANGED:
        return []
    return [(sensor, int(leg)) for sensor, leg in enumerate(orders[best]) if sensor != leg]


def cells_in_words(pairs: list[tuple[int, int]]) -> str:
    """Exchanged load cells, legs counted from 1."""
    return ", ".join(f"cell {cell + 1} reads leg {leg + 1}" for cell, leg in pairs)
