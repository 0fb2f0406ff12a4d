"""What else than a payload the load cells read beyond the model, since the rig is not quite that.

Each is a nuisance parameter with a normal prior of mean zero: the inertias and frictions θ of the exact model (see
`dynamics.Regressor`), the joints' places and the lengths' offsets, the cells' zeros, gains and cross-talk.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from calibration.cells import LoadCellCalibration
from calibration.effects import moved_motions
from calibration.inertia import BODY_NUMBERS, THETA, Accuracy
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
from kinematics import Array, Geometry, leg_matrices, quaternion_to_matrix

CALIBRATED_CELLS = {"gain": 5e-4, "cross_talk": 5e-4}
"""What is taken of the cells where no calibration tells it: that there was one."""
_POINTS = 3 * CELLS
GEOMETRY = 2 * _POINTS + CELLS
"""Numbers of the geometry that a nuisance is: places of the joints at base and platform, and the lengths' offsets."""
_ZEROS = slice(THETA, THETA + CELLS)
_PLACES = slice(_ZEROS.stop, _ZEROS.stop + GEOMETRY)
_SIZE = _PLACES.stop
_ELEMENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_PRODUCT = 0.25  # of the uncertainty of a moment of inertia, that of a product
_STEP = 1e-6  # of a number's size
_LENGTH_STEP = 1e-6  # m
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
        accuracy = Accuracy(**CALIBRATED_CELLS) if accuracy is None else accuracy
        self.mechanism, self.accuracy = mechanism, accuracy
        names = _names()
        before = np.diag(_before(mechanism, accuracy, calibration) ** 2)
        covariance = covariance_of(files, names, before)
        self.identified = any(each.name == "platform.mass" for file in files for each in file.parameters)
        """Whether a parameter file tells how well the platform's mass is known."""
        linear = np.eye(_SIZE)
        for number, place in enumerate(BODIES):
            linear[place, place] = _linear_slopes(_body(mechanism, number))
        self.covariance: Array = linear @ covariance @ linear.T
        self.root = _root(self.covariance)
        self.gains = _root(_gain_covariance(accuracy, calibration))

    def columns(self, regressor: Array, places: Array, forces: Array) -> Array:
        """What each nuisance of unit prior variance adds to the cells (m, 6, k) N, the first `root.shape[1]` of `root`.

        Args:
            regressor: (m, 6, THETA), `dynamics.Regressor.cells`, through whatever the residuals went through.
            places: (m, 6, GEOMETRY), see that.
            forces: (m, 6) N, what the cells read.
        """
        samples = len(regressor)
        zeros = np.broadcast_to(np.eye(CELLS), (samples, CELLS, CELLS))
        mechanical = np.concatenate([regressor, zeros, places], axis=2) @ self.root
        gains = forces[:, :, np.newaxis] * self.gains
        talk = np.zeros((samples, CELLS, 2 * CELLS))
        for leg in range(CELLS):
            for side, other in enumerate(((leg - 1) % CELLS, (leg + 1) % CELLS)):
                talk[:, leg, 2 * leg + side] = self.accuracy.cross_talk * forces[:, other]
        return np.concatenate([mechanical, gains, talk], axis=2)

    def geometry_slopes(self, motions: Array, theta: Array) -> Array:
        """What the cells change by each number of the geometry, (m, 6, GEOMETRY) N/m, with a payload θ (k,).

        The encoders read the same: the pose that a length stands for is another one. Its velocity and acceleration
        count as they are, since the change of the pose is slow.
        """
        geometry = self.mechanism.geometry
        rotations = quaternion_to_matrix(motions[:, 3:7])
        rates = leg_matrices(geometry, motions[:, :7]).transpose(0, 2, 1)
        inverses, axes = np.linalg.inv(rates), rates[:, :, :3]
        stretches = np.concatenate(
            [-axes.reshape(-1, _POINTS), (axes @ rotations).reshape(-1, _POINTS), np.ones((len(motions), CELLS))],
            axis=1,
        )
        exact = _cells(self._moved[-1], motions, theta)
        slopes = np.empty((len(motions), CELLS, GEOMETRY))
        for index, model in enumerate(self._moved):
            leg = index % _POINTS // 3 if index < 2 * _POINTS else index - 2 * _POINTS
            moved = moved_motions(motions, -_LENGTH_STEP * stretches[:, [index]] * inverses[:, :, leg])
            slopes[:, :, index] = (_cells(model, moved, theta) - exact) / _LENGTH_STEP
        return slopes

    @cached_property
    def _moved(self) -> list[Dynamics]:
        """The model with each joint a little off, then as it is for each length."""
        geometry = self.mechanism.geometry
        models = []
        for index in range(2 * _POINTS):
            points = [geometry.base_points.copy(), geometry.platform_points.copy()]
            points[index // _POINTS].flat[index % _POINTS] += _LENGTH_STEP
            other = Geometry(points[0], geometry.universal_axes, points[1], geometry.home)
            models.append(Dynamics(replace(self.mechanism, geometry=other)))
        return models + [Dynamics(self.mechanism)] * CELLS


def _cells(model: Dynamics, motions: Array, theta: Array) -> Array:
    """What the cells read with a payload θ (k,), (m, 6) N."""
    loads = payload_wrenches(motions, model.mechanism.gravity)[:, :, : len(theta)] @ theta
    return model.cells(np.ascontiguousarray(motions), loads)


def _names() -> dict[str, int]:
    """Where the number of a parameter file's name stands among the nuisances."""
    found: dict[str, int] = {}
    for number, place in enumerate(BODIES):
        owner = "platform" if number == 0 else f"legs[{(number - 1) // 2}].{('lower', 'upper')[(number - 1) % 2]}"
        found |= {f"{owner}.{name}": place.start + k for k, (name, _) in enumerate(BODY_NUMBERS)}
    for leg, place in enumerate(FRICTIONS):
        found |= {f"legs[{leg}].friction.{name}": place.start + k for k, name in enumerate(_FRICTION_NAMES)}
        found[f"load_cells[{leg}].offset"] = _ZEROS.start + leg
        for axis in range(3):
            found[f"base.points[{leg}][{axis}]"] = _PLACES.start + 3 * leg + axis
            found[f"platform.points[{leg}][{axis}]"] = _PLACES.start + _POINTS + 3 * leg + axis
        found[f"legs[{leg}].length_offset"] = _PLACES.start + 2 * _POINTS + leg
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
    sigma[_PLACES] = accuracy.joints
    sigma[_PLACES][-CELLS:] = accuracy.lengths
    return sigma


def _gain_covariance(accuracy: Accuracy, calibration: LoadCellCalibration | None) -> Array:
    """Of the cells' gains, each as a part of it, (6, 6)."""
    if calibration is None or calibration.drift is None:
        return accuracy.gain**2 * np.eye(CELLS)
    relative = np.array([cell.gain_standard_error / cell.gain for cell in calibration.cells])
    return np.diag(relative**2)


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
