"""How far model and measurement may lie apart by what is uncertain: load cell, pose and the model's parameters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from calibration import CalibrationError, Parameter, ParameterFile, overlaid
from dynamics import Dynamics, Mechanism
from kinematics import Array, leg_matrix, quaternion_from_rotation_vector, quaternion_multiply
from rig.report.series import Floats
from rig.report.validation.blocks import BlockSums, Numbers

SIGMAS = 2.0
"""Half the width of the band; of normal errors 95.4 % lie inside."""
SAMPLES = 10_000
"""At which the band is computed, at most: evenly over the covered rows."""
_LENGTH_STEP = 1e-6
"""m"""
_STEP, _SMALL = 1e-4, 1e-2
_FINEST = 1e-10
"""m: differences of lengths below are rounding"""
_OFFSET = ".length_offset"


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Rows at which the band is computed: motions (m, 19), residuals (m, 6) N, lengths and theirs of the reference."""

    times: Floats
    motions: Floats
    residuals: Floats
    lengths: Floats
    references: Floats
    blocks: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """One sigma of the residual at each sample, (m, 6) N, from the cell, the pose, the parameters, and of all."""

    cell: Floats
    pose: Floats
    parameters: Floats
    resolution: Floats
    """m (6,), of the lengths: the smallest step in them"""
    tracking: Floats
    """m (6,), RMS of the lengths from their references"""

    @property
    def whole(self) -> Floats:
        """One sigma of all together."""
        return np.sqrt(self.cell**2 + self.pose**2 + self.parameters**2)


def sampled(rows: Sequence[npt.NDArray[np.void]], blocks: Sequence[Numbers]) -> Samples:
    """The samples of some telemetry rows (k,) each, with the numbers of their blocks."""
    whole = np.concatenate(rows)
    known = np.isfinite(whole["reference"]).all(axis=1) & np.isfinite(whole["length"]).all(axis=1)
    whole = whole[known]
    return Samples(
        whole["t"],
        np.ascontiguousarray(whole["reference"]),
        whole["force_measured"] - whole["force_model"],
        whole["length"],
        whole["length_reference"],
        np.concatenate(blocks)[known],
    )


def band(
    samples: Samples, mechanism: Mechanism, noise: float, files: Sequence[ParameterFile], coulomb_speed: float = 0.0
) -> Band:
    """The band at the samples.

    The pose is uncertain by the legs' lengths: by the encoders' resolution, by how far a leg was from its reference,
    at which the model is evaluated, and by the `length_offset` of parameter files. Twist and acceleration of the
    reference are taken as they are. Parameters: J C Jᵀ, J by differences, C the files' covariances.

    Args:
        samples: at least one.
        mechanism: as recorded, with the files' values.
        noise: of the cells, N.
        files: with sigmas.
        coulomb_speed: m/s, of the recorded control.

    Raises:
        CalibrationError: parameters that the mechanism does not have.
    """
    exact = Dynamics(mechanism, coulomb_speed=coulomb_speed).cells(samples.motions)
    resolution = _resolution(samples.lengths)
    tracking = np.sqrt(np.mean((samples.lengths - samples.references) ** 2, axis=0))
    lengths = resolution**2 / 12.0 + tracking**2 + _length_offsets(files) ** 2
    variance = np.zeros_like(exact)
    inverses = np.linalg.inv(np.stack([leg_matrix(mechanism.geometry, pose).T for pose in samples.motions[:, :7]]))
    for leg in range(6):
        moved = _moved(samples.motions, _LENGTH_STEP * inverses[:, :, leg])
        slope = (Dynamics(mechanism, coulomb_speed=coulomb_speed).cells(moved) - exact) / _LENGTH_STEP
        variance += slope**2 * lengths[leg]
    parameters = np.zeros_like(exact)
    for file in files:
        parameters += _of_parameters(samples.motions, exact, mechanism, file, coulomb_speed)
    return Band(np.full_like(exact, noise), np.sqrt(variance), np.sqrt(parameters), resolution, tracking)


def inside(band: Band, samples: Samples) -> dict[str, Any]:
    """Fraction of the samples within `SIGMAS` of the band, of all legs and of each, with sigmas over blocks."""
    within = (np.abs(samples.residuals) <= SIGMAS * band.whole).astype(np.float64)
    sums = BlockSums(6)
    sums.add(within, samples.blocks)
    found = sums.estimates(lambda means: np.concatenate([means, means.mean(axis=-1, keepdims=True)], axis=-1))
    values = [*within.mean(axis=0).tolist(), float(within.mean())]
    told = [
        {"inside_band": value, "inside_band_sigma": None if one is None else one.sigma}
        for value, one in zip(values, found, strict=True)
    ]
    names = {"cell": band.cell, "pose": band.pose, "parameters": band.parameters, "whole": band.whole}
    sigmas = {f"{name}_sigma_n": [float(one) for one in _rms(part)] for name, part in names.items()}
    return {
        "samples": len(samples.residuals),
        "sigmas": SIGMAS,
        "expected_inside": 0.9545,
        **sigmas,
        "length_resolution_m": band.resolution.tolist(),
        "length_tracking_m": band.tracking.tolist(),
        "legs": [{"leg": leg + 1} | part for leg, part in enumerate(told[:6])],
        **told[6],
    }


def _rms(values: Floats) -> Floats:
    rms: Floats = np.sqrt(np.mean(values**2, axis=0))
    return rms


def _resolution(lengths: Floats) -> Floats:
    """The smallest step of each length (6,), m: of an encoder its count."""
    steps = np.abs(np.diff(np.sort(lengths, axis=0), axis=0))
    steps = np.where(steps > _FINEST, steps, np.inf)
    least: Floats = steps.min(axis=0, initial=np.inf)
    return np.where(np.isfinite(least), least, 0.0)


def _length_offsets(files: Sequence[ParameterFile]) -> Floats:
    variance = np.zeros(6)
    for parameter in (each for file in files for each in file.parameters if each.name.endswith(_OFFSET)):
        number = parameter.name.removeprefix("legs[").removesuffix(f"]{_OFFSET}")
        if number.isdigit() and int(number) < 6:
            variance[int(number)] += parameter.sigma**2
    return np.sqrt(variance)


def _moved(motions: Array, displacement: Floats) -> Array:
    """Motions whose poses are displaced by small translations and rotations (m, 6), base axes."""
    moved = motions.copy()
    moved[:, :3] += displacement[:, :3]
    moved[:, 3:7] = quaternion_multiply(quaternion_from_rotation_vector(displacement[:, 3:]), motions[:, 3:7])
    moved[:, 3:7] /= np.linalg.norm(moved[:, 3:7], axis=1, keepdims=True)
    return moved


def _of_parameters(
    motions: Array, exact: Floats, mechanism: Mechanism, file: ParameterFile, coulomb_speed: float
) -> Floats:
    """Variance (m, 6) of the cells' readings by a file's parameters."""
    places = [place for place, each in enumerate(file.parameters) if not each.name.endswith(_OFFSET)]
    covariance = np.diag([each.sigma**2 for each in file.parameters]) if file.covariance is None else file.covariance
    slopes = np.empty((len(places), *exact.shape))
    for row, place in enumerate(places):
        changed, step = _changed(mechanism, file, file.parameters[place])
        slopes[row] = (Dynamics(changed, coulomb_speed=coulomb_speed).cells(motions) - exact) / step
    weighted = np.tensordot(covariance[np.ix_(places, places)], slopes, axes=1)
    variance: Floats = np.maximum(0.0, np.einsum("pml,pml->ml", slopes, weighted))
    return variance


def _changed(mechanism: Mechanism, file: ParameterFile, parameter: Parameter) -> tuple[Mechanism, float]:
    """The mechanism with one parameter a little beside its value, to the side that a real body may have."""
    step = _STEP * max(abs(parameter.value), _SMALL)

    def beside(signed: float) -> Mechanism:
        one = replace(parameter, value=parameter.value + signed)
        return overlaid(mechanism, [replace(file, parameters=(one,), covariance=None)])

    try:
        return beside(step), step
    except CalibrationError:
        return beside(-step), -step
