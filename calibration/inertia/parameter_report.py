"""An identification by the names of the mechanism's file: masses, centres, inertias about them, frictions, drives."""

import numpy as np

from calibration.effects import GEOMETRY_PLACES
from calibration.inertia.design import THETA, neighbours
from calibration.inertia.estimate import Identification
from calibration.inertia.prior import drive_priors
from calibration.parameters import CellErrors, CellParameter, Parameter, cell_parameter
from dynamics import BODIES, FRICTIONS, INERTIA_ELEMENTS, body_of
from kinematics import Array

_STEP = 1e-5  # of a number's own size, or of what the body's mass makes of it
BODY_NUMBERS = (
    ("mass", "kg"),
    *((f"center_of_mass[{k}]", "m") for k in range(3)),
    *((f"inertia[{i}][{j}]", "kg m²") for i, j in INERTIA_ELEMENTS),
)
"""Names, in the file of a mechanism or arm, and units of a body's mass, centre of mass and inertia about it."""
NO_ERRORS = CellErrors(np.zeros(6), np.eye(6))
_CELLS = {
    name: unit
    for leg in range(6)
    for name, unit in (
        (f"load_cells[{leg}].offset", "N"),
        (f"load_cells[{leg}].gain", ""),
        *((f"load_cells[{leg}].cross_talk[{other}]", "") for other in neighbours(leg)),
    )
}
_OTHER_UNITS = dict.fromkeys(GEOMETRY_PLACES, "m") | _CELLS
"""Parameters of a file besides θ, with units: the geometry, then the errors of the cells."""
_FRICTIONS = (("universal", "N m s/rad"), ("prismatic", "N s/m"), ("spherical", "N m s/rad"), ("coulomb", "N"))


def reported_parameters(
    result: Identification, corrected: CellErrors = NO_ERRORS
) -> tuple[tuple[Parameter, ...], Array, tuple[Parameter, ...]]:
    """Parameters of the mechanism's file and of the cells (n), their covariance (n, n), and the other unknowns.

    Unidentifiable parameters have their prior value and σ, apart from correlations with identified ones.

    corrected: errors by which the cells' readings were corrected; the reported errors include them.
    """
    names, units = [], []
    size = len(result.estimate)
    estimated = {each.name: THETA + k for k, each in enumerate(result.others)}
    drives = [
        each for each in drive_priors(result.nominal, result.settings.known(result.nominal)) if each.name in estimated
    ]
    first_drive = THETA + len(_OTHER_UNITS)
    count = first_drive + len(drives)
    slopes = np.zeros((count, size))
    values, before = np.empty(count), np.zeros(count)
    start = result.before[:THETA]
    for number, place in enumerate(BODIES):
        owner = "platform" if number == 0 else f"legs[{(number - 1) // 2}].{('lower', 'upper')[(number - 1) % 2]}"
        names += [(place.start + k, f"{owner}.{path}") for k, (path, _) in enumerate(BODY_NUMBERS)]
        units += [(place.start + k, unit) for k, (_, unit) in enumerate(BODY_NUMBERS)]
        values[place], before[place] = body_numbers(result.theta[place]), body_numbers(start[place])
        slopes[place, place] = body_slopes(result.theta[place])
    for leg, place in enumerate(FRICTIONS):
        names += [(place.start + k, f"legs[{leg}].friction.{name}") for k, (name, _) in enumerate(_FRICTIONS)]
        units += [(place.start + k, unit) for k, (_, unit) in enumerate(_FRICTIONS)]
        values[place], before[place] = result.theta[place], start[place]
        slopes[place, place] = np.eye(4)
    names += enumerate(_OTHER_UNITS, THETA)
    units += [(THETA + k, unit) for k, unit in enumerate(_OTHER_UNITS.values())]
    nominal = _nominal(result, corrected)
    for row, name in enumerate(_OTHER_UNITS, THETA):
        places = [THETA + k for k, other in enumerate(result.others) if _name_in_file(other.name) == name]
        slopes[row, places] = 1.0 / len(places)
        before[row] = nominal[name]
        values[row] = before[row] + np.mean(result.estimate[places])
    for row, drive in enumerate(drives, first_drive):
        names.append((row, drive.name))
        units.append((row, drive.unit))
        slopes[row, estimated[drive.name]] = 1.0
        before[row], values[row] = drive.value, drive.value + result.estimate[estimated[drive.name]]
    cells = slice(first_drive - len(_CELLS), first_drive)
    values[cells] = _cell_values(_errors(values[cells] - before[cells]).after(corrected))
    covariance = slopes @ result.covariance @ slopes.T
    sigma = np.sqrt(np.diag(covariance))
    named, in_units = dict(names), dict(units)
    parameters = tuple(
        Parameter(named[k], in_units[k], float(before[k]), float(values[k]), float(sigma[k])) for k in range(count)
    )
    others = tuple(
        Parameter(other.name, other.unit, 0.0, float(result.estimate[THETA + k]), _sigma(result.covariance, THETA + k))
        for k, other in enumerate(result.others)
        if other.name not in _OTHER_UNITS and other.name not in {drive.name for drive in drives}
    )
    return parameters, covariance, others


def _cell(name: str) -> CellParameter:
    found = cell_parameter(name)
    assert found is not None
    return found


def _name_in_file(name: str) -> str:
    """The name in a parameter file of an unknown: a cell's zero has one unknown for each stretch."""
    return name.rpartition(", ")[2]


def _nominal(result: Identification, corrected: CellErrors) -> dict[str, float]:
    """Prior values of geometry and cells, by name."""
    geometry = result.nominal.geometry
    points = (geometry.base_points, geometry.platform_points)
    numbers = np.concatenate([*(each.ravel() for each in points), result.nominal.length_offsets])
    before = {name: float(numbers[place]) for name, place in GEOMETRY_PLACES.items()}
    return before | dict(zip(_CELLS, _cell_values(corrected).tolist(), strict=True))


def _cell_values(errors: CellErrors) -> Array:
    """Errors of the cells in the order of `_CELLS`."""
    values = []
    for name in _CELLS:
        leg, of = _cell(name)
        values.append(errors.zeros[leg] if of is None else errors.matrix[leg, of] - (leg == of))
    return np.array(values)


def _errors(values: Array) -> CellErrors:
    """The inverse of `_cell_values`."""
    zeros, matrix = np.zeros(6), np.eye(6)
    for name, value in zip(_CELLS, values.tolist(), strict=True):
        leg, of = _cell(name)
        if of is None:
            zeros[leg] = value
        else:
            matrix[leg, of] += value
    return CellErrors(zeros, matrix)


def _sigma(covariance: Array, k: int) -> float:
    return float(np.sqrt(covariance[k, k]))


def body_numbers(values: Array) -> Array:
    """Mass, centre of mass and inertia about it (10,), as `BODY_NUMBERS`, of m, h, J (10,), SI.

    Raises DynamicsError for a mass that is not above zero.
    """
    body = body_of(values)
    return np.concatenate([[body.mass], body.center_of_mass, [body.inertia[place] for place in INERTIA_ELEMENTS]])


def body_slopes(values: Array) -> Array:
    """Derivative (10, 10) of `body_numbers`, by central differences. Errors as there."""
    result = np.empty((10, 10))
    sizes = np.concatenate([np.full(4, values[0]), np.full(6, np.abs(values[4:7]).max())])
    for k in range(10):
        change = np.zeros(10)
        change[k] = _STEP * sizes[k]
        result[:, k] = (body_numbers(values + change) - body_numbers(values - change)) / (2.0 * change[k])
    return result
