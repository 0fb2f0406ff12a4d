"""The nearest parameters that bodies can have: masses that are positive everywhere, frictions that take energy."""

import numpy as np

from calibration.errors import CalibrationError
from calibration.inertia.bodies import exists, from_unconstrained, unconstrained, unconstrained_jacobian
from dynamics import BODIES, FRICTIONS
from kinematics import Array

_LEAST_FRICTION = 1e-12
_EVALUATIONS = 200


def is_consistent(theta: Array) -> bool:
    """Whether all bodies of θ can exist and no friction gives energy."""
    return all(exists(theta[place]) for place in BODIES) and all((theta[place] >= 0.0).all() for place in FRICTIONS)


def nearest_consistent(estimate: Array, information: Array, start: Array) -> Array:
    """The unknowns x (n,) with consistent θ that are least (x − estimate)ᵀ information (x − estimate) away.

    By a parametrisation in which nothing else can be said, see `unconstrained`; Levenberg–Marquardt from `start` (n,),
    whose θ is consistent.
    Raises CalibrationError where that does not end.
    """
    from scipy.optimize import least_squares  # takes long to import, and few need it

    root = np.asarray(np.linalg.cholesky(information).T, dtype=np.float64)
    numbers = start.copy()
    for place in BODIES:
        numbers[place] = unconstrained(start[place])
    for place in FRICTIONS:
        numbers[place] = np.log(np.maximum(start[place], _LEAST_FRICTION))

    def unknowns(numbers: Array) -> Array:
        x = numbers.copy()
        for place in BODIES:
            x[place] = from_unconstrained(numbers[place])
        for place in FRICTIONS:
            x[place] = np.exp(numbers[place])
        return x

    def away(numbers: Array) -> Array:
        distance: Array = root @ (unknowns(numbers) - estimate)
        return distance

    def slopes(numbers: Array) -> Array:
        result: Array = root.copy()
        for place in BODIES:
            result[:, place] = root[:, place] @ unconstrained_jacobian(numbers[place])
        for place in FRICTIONS:
            result[:, place] = root[:, place] * np.exp(numbers[place])
        return result

    with np.errstate(over="ignore"):
        found = least_squares(away, numbers, slopes, method="lm", x_scale="jac", max_nfev=_EVALUATIONS)
    x = unknowns(found.x)
    if not (np.isfinite(x).all() and is_consistent(x)):
        raise CalibrationError("no bodies that can exist explain the forces: see which parameters are off by much")
    return x
