"""How far the model's readings at the load cells move with what a calibration found, and so how uncertain they are."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from calibration.errors import CalibrationError
from calibration.parameters import Parameter, ParameterFile, cell_of, overlaid
from dynamics import Dynamics, Mechanism
from kinematics import Array, leg_matrices, quaternion_from_rotation_vector, quaternion_multiply

_LENGTH_STEP = 1e-6
"""m"""
_STEP, _SMALL = 1e-4, 1e-2
_OFFSET = ".length_offset"


class ReadingsUncertainty:
    """How uncertain the model's readings at the load cells are by what parameter files are unsure of.

    J C Jᵀ, J by differences, C the files' covariances. A `length_offset` moves the pose that is read; a cell's zero is
    taken off its readings, and what it has in common with weights counts.

    Args:
        mechanism: with the files' values.
        files: with sigmas.
        coulomb_speed: m/s, over which the control smooths Coulomb friction.

    Raises CalibrationError for parameters that the mechanism does not have.
    """

    def __init__(self, mechanism: Mechanism, files: Sequence[ParameterFile] = (), coulomb_speed: float = 0.0) -> None:
        self._mechanism, self._coulomb_speed = mechanism, coulomb_speed
        self._offsets = length_offset_sigmas(files)
        self._files = [
            (_covariance(file), [_change(mechanism, file, each) for each in _others(file)]) for file in files
        ]

    def __bool__(self) -> bool:
        """Whether there is anything to be unsure of."""
        return bool(self._files)

    def covariance(self, motions: Array) -> Array:
        """Covariance (m, 6, 6) N² at motions (m, 19), base frame. Raises DynamicsError where one has no leg forces."""
        whole = self.by_parameters(motions)
        if self._offsets.any():
            slopes = length_slopes(motions, self._mechanism, self._coulomb_speed)
            moved = self._offsets[:, np.newaxis, np.newaxis] * slopes
            whole += np.einsum("pmi,pmj->mij", moved, moved)
        return whole

    def by_parameters(self, motions: Array) -> Array:
        """The same without what the lengths' offsets move of the pose."""
        whole = np.zeros((len(motions), 6, 6))
        for covariance, slopes in self._slopes(motions):
            weighted = np.tensordot(covariance, slopes, axes=1)
            whole += np.einsum("pmi,pmj->mij", slopes, weighted)
        return whole

    def combined(self, motions: Array, weights: Sequence[Array]) -> Array:
        """Covariance (k, k) of k sums of all readings over motions (m, 19), each by weights (m, 6) of its own.

        What is wrong of a parameter is wrong of all readings alike, so it does not average out.
        """
        parts = list(self._slopes(motions))
        if self._offsets.any():
            slopes = length_slopes(motions, self._mechanism, self._coulomb_speed)
            parts.append((np.diag(self._offsets**2), slopes))
        whole = np.zeros((len(weights), len(weights)))
        for covariance, slopes in parts:
            sums = np.stack([np.tensordot(slopes, each, axes=2) for each in weights])
            whole += sums @ covariance @ sums.T
        return whole

    def _slopes(self, motions: Array) -> Iterator[tuple[Array, Array]]:
        """Of each file its covariance (p, p) and what its parameters move of the readings, (p, m, 6)."""
        motions = np.ascontiguousarray(motions)
        exact = Dynamics(self._mechanism, self._coulomb_speed).cells(motions)
        for covariance, changes in self._files:
            slopes = np.zeros((len(changes), *exact.shape))
            for row, change in enumerate(changes):
                if isinstance(change, int):
                    slopes[row, :, change] = 1.0
                else:
                    changed, step = change
                    slopes[row] = (Dynamics(changed, self._coulomb_speed).cells(motions) - exact) / step
            yield covariance, slopes


def length_slopes(motions: Array, mechanism: Mechanism, coulomb_speed: float = 0.0) -> Array:
    """What each leg's length, were the pose read by it alone, moves of the readings: (6 lengths, m, 6 cells) N/m."""
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
    """The motions (m, 19) of a platform whose legs were off their reference, to first order.

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


def length_offset_sigmas(files: Iterable[ParameterFile]) -> Array:
    """Standard deviations (6,) m of the legs' `length_offset` by parameter files; 0 of those that none tells."""
    variance = np.zeros(6)
    for parameter in (each for file in files for each in file.parameters if each.name.endswith(_OFFSET)):
        number = parameter.name.removeprefix("legs[").removesuffix(f"]{_OFFSET}")
        if number.isdigit() and int(number) < 6:
            variance[int(number)] += parameter.sigma**2
    sigmas: Array = np.sqrt(variance)
    return sigmas


def _others(file: ParameterFile) -> list[Parameter]:
    return [each for each in file.parameters if not each.name.endswith(_OFFSET)]


def _covariance(file: ParameterFile) -> Array:
    """That of `_others`."""
    places = [place for place, each in enumerate(file.parameters) if not each.name.endswith(_OFFSET)]
    chosen: Array = file.full_covariance[np.ix_(places, places)]
    return chosen


def moved_motions(motions: Array, displacement: Array) -> Array:
    """Motions whose poses are displaced by small translations and rotations (m, 6), base axes."""
    moved = motions.copy()
    moved[:, :3] += displacement[:, :3]
    moved[:, 3:7] = quaternion_multiply(quaternion_from_rotation_vector(displacement[:, 3:]), motions[:, 3:7])
    moved[:, 3:7] /= np.linalg.norm(moved[:, 3:7], axis=1, keepdims=True)
    return moved


def _change(mechanism: Mechanism, file: ParameterFile, parameter: Parameter) -> tuple[Mechanism, float] | int:
    """The mechanism with one parameter a little beside its value, to the side that a real body may have, and by what.

    Of the zero of a cell: the leg's index.
    """
    leg = cell_of(parameter.name)
    if leg is not None:
        return leg
    step = _STEP * max(abs(parameter.value), _SMALL)

    def beside(signed: float) -> Mechanism:
        one = replace(parameter, value=parameter.value + signed)
        return overlaid(mechanism, [replace(file, parameters=(one,), covariance=None)])

    try:
        return beside(step), step
    except CalibrationError:
        return beside(-step), -step
