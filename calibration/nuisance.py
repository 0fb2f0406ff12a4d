"""What else than a payload the load cells read beyond the model, since the rig is not quite that.

Each is a nuisance parameter with a normal prior of mean zero: the inertias and frictions θ of the exact model (see
`dynamics.Regressor`), the joints' places and the lengths' offsets, the cells' zeros, gains and cross-talk.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from calibration.cells import LoadCellCalibration
from calibration.effects import GAINS, GEOMETRY, GEOMETRY_PLACES, geometry_slopes, moved_models
from calibration.inertia import BODY_NUMBERS, THETA, Accuracy, neighbours
from calibration.parameters import ParameterFile, covariance_of
from calibration.taring import CELLS
from dynamics import (
    BODIES,
    FRICTIONS,
    Body,
    Dynamics,
    Mechanism,
    linear_body,
    payload_wrenches,
)
from kinematics import Array

CALIBRATED_CELLS = {"gain": 5e-4, "cross_talk": 5e-4}
"""What is taken of the cells where no calibration tells it: that there was one."""
_ZEROS = slice(THETA, THETA + CELLS)
_PLACES = slice(_ZEROS.stop, _ZEROS.stop + GEOMETRY)
_GAINS = slice(_PLACES.stop, _PLACES.stop + CELLS)
_TALK = slice(_GAINS.stop, _GAINS.stop + 2 * CELLS)
_SIZE = _TALK.stop
_ELEMENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_PRODUCT = 0.25  # of the uncertainty of a moment of inertia, that of a product
_STEP = 1e-6  # of a number's size
_FRICTION_NAMES = ("universal", "prismatic", "spherical", "coulomb")


class Nuisance:
    """The nuisance parameters of a rig and the covariance that is known of them before.

    Args:
        mechanism: that the residuals are beyond, with the values of `files`.
        files: that calibrated it; a later one replaces what an earlier one knew of the same numbers.
        accuracy: how well what no file tells is known; None: the usual.
        calibration: of the cells, or None where nothing is known but `accuracy`.

    Raises CalibrationError for files whose parameters have no covariance that can be.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        files: Sequence[ParameterFile] = (),
        accuracy: Accuracy | None = None,
        calibration: LoadCellCalibration | None = None,
    ) -> None:
        accuracy = Accuracy.of(mechanism, **CALIBRATED_CELLS) if accuracy is None else accuracy
        self.mechanism, self.accuracy = mechanism, accuracy
        names = _names()
        before = np.diag(_before(mechanism, accuracy, calibration) ** 2)
        gains = None if calibration is None else calibration.gain_covariance
        if gains is not None:
            before[_GAINS, _GAINS] = gains
        covariance = covariance_of(files, names, before)
        told = {each.name for file in files for each in file.parameters}
        self.identified = "platform.mass" in told
        """Whether a parameter file tells how well the platform's mass is known."""
        self.gains_absorbed = self.identified and told.isdisjoint(GAINS)
        """Whether it was identified with gains that count as right: what they are off is in its masses then."""
        linear = np.eye(_SIZE)
        for number, place in enumerate(BODIES):
            linear[place, place] = _linear_slopes(_body(mechanism, number))
        self.covariance: Array = linear @ covariance @ linear.T
        self.root = _root(self.covariance)
        beside = slice(_GAINS.start, _TALK.stop)
        self.scales = _root(self.covariance[beside, beside])

    def columns(self, regressor: Array, places: Array, bare: Array, carried: Array) -> Array:
        """What each nuisance of unit prior variance adds to the cells (m, 6, k) N, the first `root.shape[1]` of `root`.

        What the cells' gains and cross-talk make of the payload is apart from what they make of the rig itself. Of the
        latter masses and gains are known together, which tells next to nothing of gains alone: a common one would have
        to show in products of both, of second order.

        Args:
            regressor: (m, 6, THETA), `dynamics.Regressor.cells`, through whatever the residuals went through.
            places: (m, 6, GEOMETRY), see that.
            bare, carried: (m, 6) N, what acts on the cells by the rig itself, and by the payload.
        """
        zeros = np.broadcast_to(np.eye(CELLS), (len(regressor), CELLS, CELLS))
        if self.gains_absorbed:
            bare = np.zeros_like(bare)
        own = np.concatenate([regressor, zeros, places, _scaled(bare)], axis=2) @ self.root
        return np.concatenate([own, _scaled(carried) @ self.scales], axis=2)

    def geometry_slopes(self, motions: Array, theta: Array) -> Array:
        """What the cells change by each number of the geometry with a payload θ (k,): see `effects.geometry_slopes`."""
        loads = payload_wrenches(motions, self.mechanism.gravity)[:, :, : len(theta)] @ theta
        return geometry_slopes(self._moved, motions, loads)

    @cached_property
    def _moved(self) -> list[Dynamics]:
        return moved_models(self.mechanism)


def _scaled(forces: Array) -> Array:
    """Readings (m, 6, 18) by forces (m, 6) N, of each gain and of each cross-talk."""
    scaled = np.zeros((len(forces), CELLS, 3 * CELLS))
    for leg in range(CELLS):
        scaled[:, leg, leg] = forces[:, leg]
        for side, other in enumerate(neighbours(leg)):
            scaled[:, leg, CELLS + 2 * leg + side] = forces[:, other]
    return scaled


def _names() -> dict[str, int]:
    """Where the number of a parameter file's name stands among the nuisances."""
    found: dict[str, int] = {}
    for number, place in enumerate(BODIES):
        owner = "platform" if number == 0 else f"legs[{(number - 1) // 2}].{('lower', 'upper')[(number - 1) % 2]}"
        found |= {f"{owner}.{name}": place.start + k for k, (name, _) in enumerate(BODY_NUMBERS)}
    for leg, place in enumerate(FRICTIONS):
        found |= {f"legs[{leg}].friction.{name}": place.start + k for k, name in enumerate(_FRICTION_NAMES)}
        found[f"load_cells[{leg}].offset"] = _ZEROS.start + leg
        found[f"load_cells[{leg}].gain"] = _GAINS.start + leg
        for side, other in enumerate(neighbours(leg)):
            found[f"load_cells[{leg}].cross_talk[{other}]"] = _TALK.start + 2 * leg + side
    found |= {name: _PLACES.start + place for name, place in GEOMETRY_PLACES.items()}
    return found


def _before(mechanism: Mechanism, accuracy: Accuracy, calibration: LoadCellCalibration | None) -> Array:
    """Standard deviations of all numbers where no file tells any, as `_names` has them."""
    sigma = np.empty(_SIZE)
    for number, place in enumerate(BODIES):
        body = _body(mechanism, number)
        moments = np.diag(body.inertia)
        sigma[place] = [
            accuracy.mass * body.mass,
            *[accuracy.center if body.mass else 0.0] * 3,
            *(accuracy.inertia * np.abs(moments)),
            *[_PRODUCT * accuracy.inertia * np.abs(moments).mean()] * 3,
        ]
    least = [accuracy.least_damping, accuracy.least_prismatic, accuracy.least_damping, accuracy.least_coulomb]
    for leg, place in enumerate(FRICTIONS):
        values = [getattr(mechanism.legs[leg].friction, name) for name in _FRICTION_NAMES]
        sigma[place] = np.maximum(accuracy.friction * np.array(values), least)
    sigma[_ZEROS] = accuracy.offset
    if calibration is not None and calibration.drift is not None:
        errors = np.array([cell.offset_standard_error * cell.gain for cell in calibration.cells])
        sigma[_ZEROS] = np.hypot(errors, calibration.drift.force)
    sigma[_GAINS], sigma[_TALK] = accuracy.gain, accuracy.cross_talk
    sigma[_PLACES] = accuracy.joints
    sigma[_PLACES][-CELLS:] = accuracy.lengths
    return sigma


def _body(mechanism: Mechanism, number: int) -> Body:
    if number == 0:
        return Body(mechanism.mass, mechanism.center_of_mass, mechanism.inertia)
    leg = mechanism.legs[(number - 1) // 2]
    return leg.upper if (number - 1) % 2 else leg.lower


def _linear_slopes(body: Body) -> Array:
    """Derivative (10, 10) of m, h, J (see `dynamics.linear_body`) by mass, centre and the inertia about it."""
    numbers = np.concatenate([[body.mass], body.center_of_mass, [body.inertia[place] for place in _ELEMENTS]])

    def linear(values: Array) -> Array:
        inertia = np.empty((3, 3))
        for value, (i, j) in zip(values[4:], _ELEMENTS, strict=True):
            inertia[i, j] = inertia[j, i] = value
        return linear_body(Body(values[0], values[1:4], inertia))

    steps = np.diag(np.maximum(np.abs(numbers), 1e-3) * _STEP)
    columns = [(linear(numbers + step) - linear(numbers - step)) / (2.0 * step.sum()) for step in steps]
    return np.column_stack(columns)


def _root(covariance: Array) -> Array:
    """L with L Lᵀ = covariance, without columns that are nothing."""
    scale = np.sqrt(np.diag(covariance))
    scale = np.where(scale > 0.0, scale, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    kept = values > np.finfo(float).eps * len(values)
    root: Array = scale[:, np.newaxis] * (vectors[:, kept] * np.sqrt(values[kept]))
    return root
