"""Rigid bodies by m, h, J (10,), see `dynamics.linear_body`, by numbers that any body has."""

import numpy as np

from dynamics import from_pseudo_inertia, pseudo_inertia
from kinematics import Array

SIZE = 10
_ROWS, _COLUMNS = np.tril_indices(4, -1)


def exists(body: Array) -> bool:
    """Whether a distribution of positive mass has these moments, none of it confined to a plane."""
    return bool(np.linalg.eigvalsh(pseudo_inertia(body))[0] > 0.0)


def unconstrained(body: Array) -> Array:
    """Ten numbers, any of which make a body that exists: P = L Lᵀ, L's diagonal by its logarithm.

    Log-Cholesky parameters (Rucker & Wensing 2022), of a pseudo-inertia P that is positive definite.
    """
    root = np.linalg.cholesky(pseudo_inertia(body))
    return np.concatenate([np.log(np.diag(root)), root[_ROWS, _COLUMNS]])


def from_unconstrained(numbers: Array) -> Array:
    """The body (10,) of ten numbers, see `unconstrained`."""
    root = np.diag(np.exp(numbers[:4]))
    root[_ROWS, _COLUMNS] = numbers[4:]
    return from_pseudo_inertia(root @ root.T)


def unconstrained_jacobian(numbers: Array) -> Array:
    """Derivative (10, 10) of `from_unconstrained`."""
    root = np.diag(np.exp(numbers[:4]))
    root[_ROWS, _COLUMNS] = numbers[4:]
    result = np.empty((SIZE, SIZE))
    for k in range(SIZE):
        change = np.zeros((4, 4))
        if k < 4:
            change[k, k] = root[k, k]
        else:
            change[_ROWS[k - 4], _COLUMNS[k - 4]] = 1.0
        half = change @ root.T
        result[:, k] = from_pseudo_inertia(half + half.T)
    return result
