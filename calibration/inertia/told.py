"""An identification by the names of the mechanism's file: masses, centres, inertias about them, frictions."""

import numpy as np

from calibration.inertia.design import THETA
from calibration.inertia.estimate import Identification
from calibration.parameters import Parameter
from dynamics import BODIES, FRICTIONS, body_of
from kinematics import Array

_STEP = 1e-5  # of a number's own size, or of what the body's mass makes of it
_ELEMENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
BODY_NUMBERS = (
    ("mass", "kg"),
    *((f"center_of_mass[{k}]", "m") for k in range(3)),
    *((f"inertia[{i}][{j}]", "kg m²") for i, j in _ELEMENTS),
)
"""Names, in a mechanism's file, and units of what a body is: mass, centre and inertia about it."""
_FRICTIONS = (("universal", "N m s/rad"), ("prismatic", "N s/m"), ("spherical", "N m s/rad"), ("coulomb", "N"))


def told_parameters(result: Identification) -> tuple[tuple[Parameter, ...], Array, tuple[Parameter, ...]]:
    """Parameters of the mechanism's file and the cells' zeros (n), their covariance (n, n), and the other unknowns.

    What the motion did not tell has its value and σ from before, but for what it has in common with what was told.
    """
    names, units = [], []
    size = len(result.estimate)
    slopes = np.zeros((THETA + 6, size))
    values, before = np.empty(THETA + 6), np.zeros(THETA + 6)
    start = result.before[:THETA]
    for number, place in enumerate(BODIES):
        owner = "platform" if number == 0 else f"legs[{(number - 1) // 2}].{('lower', 'upper')[(number - 1) % 2]}"
        names += [(place.start + k, f"{owner}.{path}") for k, (path, _) in enumerate(BODY_NUMBERS)]
        units += [(place.start + k, unit) for k, (_, unit) in enumerate(BODY_NUMBERS)]
        values[place], before[place] = _numbers(result.theta[place]), _numbers(start[place])
        slopes[place, place] = _slopes(result.theta[place])
    for leg, place in enumerate(FRICTIONS):
        names += [(place.start + k, f"legs[{leg}].friction.{name}") for k, (name, _) in enumerate(_FRICTIONS)]
        units += [(place.start + k, unit) for k, (_, unit) in enumerate(_FRICTIONS)]
        values[place], before[place] = result.theta[place], start[place]
        slopes[place, place] = np.eye(4)
    zeros = [f"load_cells[{leg}].offset" for leg in range(6)]
    for leg, zero in enumerate(zeros):
        places = [THETA + k for k, other in enumerate(result.others) if other.name.endswith(zero)]
        names.append((THETA + leg, zero))
        units.append((THETA + leg, "N"))
        slopes[THETA + leg, places] = 1.0 / len(places)
        values[THETA + leg] = result.offsets[leg]
    covariance = slopes @ result.covariance @ slopes.T
    sigma = np.sqrt(np.diag(covariance))
    named, in_units = dict(names), dict(units)
    parameters = tuple(
        Parameter(named[k], in_units[k], float(before[k]), float(values[k]), float(sigma[k])) for k in range(THETA + 6)
    )
    others = tuple(
        Parameter(other.name, other.unit, 0.0, float(result.estimate[THETA + k]), _sigma(result.covariance, THETA + k))
        for k, other in enumerate(result.others)
        if other.name not in zeros
    )
    return parameters, covariance, others


def _sigma(covariance: Array, k: int) -> float:
    return float(np.sqrt(covariance[k, k]))


def _numbers(values: Array) -> Array:
    """Mass, centre and inertia about it (10,), of m, h, J."""
    body = body_of(values)
    return np.concatenate([[body.mass], body.center_of_mass, [body.inertia[place] for place in _ELEMENTS]])


def _slopes(values: Array) -> Array:
    """Derivative (10, 10) of `_numbers`."""
    result = np.empty((10, 10))
    sizes = np.concatenate([np.full(4, values[0]), np.full(6, np.abs(values[4:7]).max())])
    for k in range(10):
        change = np.zeros(10)
        change[k] = _STEP * sizes[k]
        result[:, k] = (_numbers(values + change) - _numbers(values - change)) / (2.0 * change[k])
    return result
