"""Sensors that are wired to each other's place."""

import numpy as np

from kinematics import Array

_EXCHANGED = 0.5  # of what is left that another order leaves, against the sensors as they are


def exchanged(cost: Array) -> str:
    """Which cells follow another leg's force much better than their own, in words; empty where none do.

    cost (6, 6): mean square, N², that cell i (row) leaves as the one of leg j. By the order that leaves least.
    """
    from scipy.optimize import linear_sum_assignment  # takes long to import, and few need it

    rows, best = linear_sum_assignment(cost)
    if np.sqrt(cost[rows, best].sum() / np.trace(cost)) >= _EXCHANGED:
        return ""
    return ", ".join(f"cell {cell + 1} reads leg {best[cell] + 1}" for cell in rows if best[cell] != cell)
