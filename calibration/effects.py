"""Sensitivity of the model's load-cell readings to calibrated parameters, and the uncertainty that follows from it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibration.cells import LoadCellCalibration
from calibration.errors import CalibrationError
from calibration.parameters import Parameter, ParameterFile, cell_parameter, covariance_of, overlaid
from dynamics import Dynamics, Mechanism
from kinematics import (
    Array,
    Geometry,
    leg_matrices,
    quaternion_from_rotation_vector,
    quaternion_multiply,
    quaternion_to_matrix,
)

_LENGTH_STEP = 1e-6
"""m"""
_STEP, _SMALL = 1e-4, 1e-2
_POINTS = 18
GAINS = tuple(f"load_cells[{leg}].gain" for leg in range(6))
GEOMETRY = 42
"""Numbers of a geometry: places of the joints at base and platform, 18 each, and the lengths' offsets."""
GEOMETRY_PLACES = {
    name: place
    for leg in range(6)
    for name, place in (
        *((f"base.points[{leg}][{axis}]", 3 * leg + axis) for axis in range(3)),
        *((f"platform.points[{leg}][{axis}]", _POINTS + 3 * leg + axis) for axis in range(3)),
        (f"legs[{leg}].length_offset", 2 * _POINTS + leg),
    )
}
"""Their places by their names in a mechanism's file."""


class ReadingsUncertainty:
    """Uncertainty of the model's load-cell readings that follows from the calibrations' uncertainty.

    J C Jᵀ with J by differences and C the covariance of the files' parameters; a later file replaces an earlier one's
    parameters. Errors of the geometry move the pose too, since the encoder readings stay the same.

    Args:
        mechanism: with the files' values.
        files: with sigmas.
        coulomb_speed: m/s, over which the control smooths Coulomb friction.
        calibration: of the cells, for the uncertainty of gains that no file has. The gains count as exact without one,
            and where they were calibrated in place: the model's weights then have the same error.

    Raises CalibrationError for parameters that the mechanism does not have.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        files: Sequence[ParameterFile] = (),
        coulomb_speed: float = 0.0,
        calibration: LoadCellCalibration | None = None,
    ) -> None:
        self._mechanism, self._coulomb_speed = mechanism, coulomb_speed
        last = {each.name: (file, each) for file in files for each in file.parameters}
        names = list(last)
        gains = None if calibration is None or calibration.in_place else calibration.gain_covariance
        if gains is not None:
            names += [name for name in GAINS if name not in last]
        places = {name: place for place, name in enumerate(names)}
        before = np.zeros((len(names), len(names)))
        if gains is not None:
            here = [places[name] for name in GAINS]
            before[np.ix_(here, here)] = gains
        self._covariance = covariance_of(files, places, before)
        self._geometry = [(places[name], column) for name, column in GEOMETRY_PLACES.items() if name in places]
        self._cells = [(places[name], cell) for name in names if (cell := cell_parameter(name)) is not None]
        self._others = [
            (places[name], _change(mechanism, *known))
            for name, known in last.items()
            if name not in GEOMETRY_PLACES and cell_parameter(name) is None
        ]
        self._moved = moved_models(mechanism, coulomb_speed) if self._geometry else []

    def __bool__(self) -> bool:
        """Whether there are uncertain parameters."""
        return bool(self._covariance.any())

    def covariance(self, motions: Array) -> Array:
        """Covariance (m, 6, 6) N² at motions (m, 19), base frame. Raises DynamicsError where one has no leg forces."""
        slopes = self._slopes(motions)
        weighted = np.tensordot(self._covariance, slopes, axes=1)
        whole: Array = np.einsum("pmi,pmj->mij", slopes, weighted)
        return whole

    def combined(self, motions: Array, weights: Sequence[Array]) -> Array:
        """Covariance (k, k) of k weighted sums of all readings over motions (m, 19), each with weights (m, 6).

        A parameter's error is common to all readings, so it does not average out.
        """
        slopes = self._slopes(motions)
        sums = np.stack([np.tensordot(slopes, each, axes=2) for each in weights])
        whole: Array = sums @ self._covariance @ sums.T
        return whole

    def _slopes(self, motions: Array) -> Array:
        """Derivatives of the readings by each parameter, (p, m, 6)."""
        motions = np.ascontiguousarray(motions)
        exact = Dynamics(self._mechanism, self._coulomb_speed).cells(motions)
        slopes = np.zeros((len(self._covariance), *exact.shape))
        for place, cell in self._cells:
            slopes[place, :, cell.leg] = 1.0 if cell.of is None else exact[:, cell.of]
        for place, (changed, step) in self._others:
            slopes[place] = (Dynamics(changed, self._coulomb_speed).cells(motions) - exact) / step
        if self._geometry:
            moved = geometry_slopes(self._moved, motions)
            for place, column in self._geometry:
                slopes[place] = moved[:, :, column]
        return slopes


def moved_models(mechanism: Mechanism, coulomb_speed: float = 0.0) -> list[Dynamics]:
    """Models for `geometry_slopes`: each joint displaced by a step (36,), then the nominal one."""
    geometry = mechanism.geometry
    models = []
    for index in range(2 * _POINTS):
        points = [geometry.base_points.copy(), geometry.platform_points.copy()]
        points[index // _POINTS].flat[index % _POINTS] += _LENGTH_STEP
        other = Geometry(points[0], geometry.universal_axes, points[1], geometry.home)
        models.append(Dynamics(replace(mechanism, geometry=other), coulomb_speed))
    return [*models, Dynamics(mechanism, coulomb_speed)]


def geometry_slopes(models: Sequence[Dynamics], motions: Array, wrenches: Array | None = None) -> Array:
    """Derivatives of the cell readings by the geometry, (m, 6, GEOMETRY) N/m, at motions (m, 19).

    The encoder readings stay the same, so the pose changes with the geometry. Velocity and acceleration are taken as
    unchanged, since the pose's change is slow. wrenches (m, 6): on the platform, its axes, at its origin.
    """
    exact = models[-1]
    geometry = exact.mechanism.geometry
    rotations = quaternion_to_matrix(motions[:, 3:7])
    rates = leg_matrices(geometry, motions[:, :7]).transpose(0, 2, 1)
    inverses, axes = np.linalg.inv(rates), rates[:, :, :3]
    stretches = np.concatenate(
        [-axes.reshape(-1, _POINTS), (axes @ rotations).reshape(-1, _POINTS), np.ones((len(motions), 6))], axis=1
    )
    before = exact.cells(motions, wrenches)
    slopes = np.empty((len(motions), 6, GEOMETRY))
    for index in range(GEOMETRY):
        leg = index % _POINTS // 3 if index < 2 * _POINTS else index - 2 * _POINTS
        model = models[min(index, 2 * _POINTS)]
        moved = moved_motions(motions, -_LENGTH_STEP * stretches[:, [index]] * inverses[:, :, leg])
        slopes[:, :, index] = (model.cells(np.ascontiguousarray(moved), wrenches) - before) / _LENGTH_STEP
    return slopes


def length_slopes(motions: Array, mechanism: Mechanism, coulomb_speed: float = 0.0) -> Array:
    """Derivatives of the readings by each leg's length through the pose: (6 lengths, m, 6 cells) N/m."""
    model = Dynamics(mechanism, coulomb_speed)
    exact = model.cells(motions)
    rates = leg_matrices(mechanism.geometry, motions[:, :7]).transpose(0, 2, 1)
    inverses = np.asarray(np.linalg.inv(rates), np.float64)
    return np.stack(
        [
            (model.cells(moved_motions(motions, _LENGTH_STEP * inverses[:, :, leg])) - exact) / _LENGTH_STEP
            for leg in range(6)
        ]
    )


def followed(motions: Array, deviations: Array, mechanism: Mechanism) -> Array:
    """Motions (m, 19) of a platform whose legs deviate from their reference, to first order.

    Args:
        motions: of the reference.
        deviations: (m, 3, 6), measured less reference: of the legs' lengths m, speeds m/s and accelerations m/s².
        mechanism: gives the geometry.
    """
    matrices = leg_matrices(mechanism.geometry, motions[:, :7]).transpose(0, 2, 1)
    displacements: Array = np.asarray(np.linalg.solve(matrices, deviations.transpose(0, 2, 1)), np.float64)
    moved = moved_motions(motions, displacements[:, :, 0])
    moved[:, 7:13] += displacements[:, :, 1]
    moved[:, 13:] += displacements[:, :, 2]
    return moved


def moved_motions(motions: Array, displacement: Array) -> Array:
    """Motions whose poses are displaced by small translations and rotations (m, 6), base axes."""
    moved = motions.copy()
    moved[:, :3] += displacement[:, :3]
    moved[:, 3:7] = quaternion_multiply(quaternion_from_rotation_vector(displacement[:, 3:]), motions[:, 3:7])
    moved[:, 3:7] /= np.linalg.norm(moved[:, 3:7], axis=1, keepdims=True)
    return moved


def _change(mechanism: Mechanism, file: ParameterFile, parameter: Parameter) -> tuple[Mechanism, float]:
    """The mechanism with one parameter changed by a small physically consistent step, and the step."""
    step = _STEP * max(abs(parameter.value), _SMALL)

    def with_change(signed: float) -> Mechanism:
        one = replace(parameter, value=parameter.value + signed)
        return overlaid(mechanism, [replace(file, parameters=(one,), covariance=None)])

    try:
        return with_change(step), step
    except CalibrationError:
        return with_change(-step), -step
