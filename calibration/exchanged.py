"""Sensors that are wired to each other's place."""

import numpy as np

from kinematics import Array

_EXCHANGED = 0.5
"""of the RMS that is left by the sensors as they are, what another order must leave"""


def exchanged_pairs(cost: Array) -> list[tuple[int, int]]:
    """Sensors that follow another leg much better than their own: (sensor, leg), both from 0; empty if none do.

    cost (6, 6): mean square that sensor i (row) leaves as that of leg j. By the assignment that leaves least
    (Hungarian algorithm).
    """
    from scipy.optimize import linear_sum_assignment  # takes long to import, and few need it

    rows, best = linear_sum_assignment(cost)
    if np.sqrt(cost[rows, best].sum() / np.trace(cost)) >= _EXCHANGED:
        return []
    return [(int(row), int(leg)) for row, leg in zip(rows, best, strict=True) if row != leg]


def cells_in_words(pairs: list[tuple[int, int]]) -> str:
    """Exchanged load cells, legs counted from 1."""
    return ", ".join(f"cell {cell + 1} reads leg {leg + 1}" for cell, leg in pairs)
