"""Result of a calibration of the geometry, with its errors on held-out poses."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibration.geometry.frames import Gauge
from calibration.geometry.model import LEG, SCALE, Readings, length_derivatives, pose_slopes
from calibration.geometry.observability import PARAMETERS, GeometryPrior, Observability, PoseSigmas
from calibration.parameters import Parameter, ParameterFile, covariance_of
from kinematics import (
    Array,
    Geometry,
    KinematicsError,
    forward_kinematics,
    quaternion_conjugate,
    quaternion_multiply,
    rotation_vector_from_quaternion,
)


@dataclass(frozen=True, slots=True, eq=False)
class PoseErrors:
    """Computed minus measured poses: position (n, 3), m, of the target's origin, and rotation (n, 3), rad.

    NaN in rows for whose lengths the geometry has no pose. The noise of the measured poses is included.
    The origin of points is their centre. expected (n, 6): standard deviations of both, by geometry, scale and
    noise; NaN if not requested.
    """

    position: Array
    rotation: Array
    expected: Array

    @property
    def found(self) -> int:
        """Rows that have a pose."""
        return int(np.isfinite(self.position[:, 0]).sum())

    @property
    def position_rms(self) -> float:
        """RMS of the distance, m; NaN without any row."""
        return _rms(self.position)

    @property
    def rotation_rms(self) -> float:
        """RMS of the angle, rad; NaN without any row."""
        return _rms(self.rotation)

    @property
    def over_expected(self) -> float:
        """RMS of all components over their standard deviations: about 1 where these are true; NaN without any row."""
        normalized = np.hstack([self.position, self.rotation]) / self.expected
        return float(np.sqrt(np.nanmean(normalized**2))) if np.isfinite(normalized).any() else float("nan")

    @property
    def position_worst(self) -> float:
        """Greatest distance, m; NaN without any row."""
        return float(np.nanmax(np.linalg.norm(self.position, axis=1))) if self.found else float("nan")


def _rms(rows: Array) -> float:
    good = rows[np.isfinite(rows[:, 0])]
    return float(np.sqrt((good**2).sum(axis=1).mean())) if len(good) else float("nan")


def pose_errors(readings: Readings, x: Array, scale: float = 0.0, covariance: Array | None = None) -> PoseErrors:
    """Errors of the poses that the lengths have with joints and offsets `x` (6, 7), in measured frames.

    scale: of the tracker, taken off the measured places. covariance (43, 43): of `x` and scale, if known.
    """
    geometry = Geometry(x[:, :3], np.tile([1.0, 0.0, 0.0], (6, 1)), x[:, 3:6])
    n, measured = len(readings), readings.in_metres(scale)
    errors, poses = np.full((n, 6), np.nan), measured.copy()
    for row, lengths in enumerate(readings.lengths):
        try:
            poses[row] = forward_kinematics(geometry, lengths - x[:, LEG - 1], measured[row])
        except KinematicsError:
            continue
        turn = quaternion_multiply(poses[row, 3:], quaternion_conjugate(measured[row, 3:]))
        errors[row, 3:] = rotation_vector_from_quaternion(turn / np.linalg.norm(turn))
        errors[row, :3] = poses[row, :3] - measured[row, :3]
    expected = np.full((n, 6), np.nan)
    if covariance is not None:
        slopes = np.zeros((n, 6, SCALE + 1))
        slopes[:, :, :SCALE], slopes[:, :3, SCALE] = pose_slopes(x, poses), readings.arms
        by_length = np.linalg.inv(length_derivatives(x, poses)[2])
        variance = np.einsum("kai,ij,kaj->ka", slopes, covariance, slopes, optimize=True)
        variance += readings.length_sigma**2 * (by_length**2).sum(axis=2)
        expected = np.sqrt(variance + np.linalg.inv(readings.information)[:, range(6), range(6)])
    return PoseErrors(errors[:, :3], errors[:, 3:], expected)


def noise_rms(readings: Readings) -> tuple[float, float]:
    """RMS of the measured poses' own noise as stated: distance, m, and angle, rad."""
    variances = np.linalg.inv(readings.information)[:, range(6), range(6)].mean(axis=0)
    return float(np.sqrt(variances[:3].sum())), float(np.sqrt(variances[3:].sum()))


def joined(parts: list[PoseErrors], order: NDArray[np.intp]) -> PoseErrors:
    """Combine the errors of several sets of rows, in the given order."""
    return PoseErrors(
        np.concatenate([part.position for part in parts])[order],
        np.concatenate([part.rotation for part in parts])[order],
        np.concatenate([part.expected for part in parts])[order],
    )


WarningCode = Literal[
    "noise-exceeded", "noise-overstated", "tolerances-exceeded", "scale-outside-prior", "no-better-than-nominal"
]


@dataclass(frozen=True, slots=True)
class GeometryWarning:
    """Warning on a result: a code, a figure and its limit.

    noise-exceeded, noise-overstated: residuals over the stated noise. tolerances-exceeded: departures from the drawing
    over the stated tolerances. scale-outside-prior: departure from 0, in standard deviations of the
    stated prior. no-better-than-nominal: RMS position on poses held out, and with the nominal geometry, m.
    """

    code: WarningCode
    value: float
    bound: float


@dataclass(frozen=True, slots=True)
class TrackerScale:
    """Relative error of the tracker's lengths against the legs' encoders; positive: too long.

    value, sigma: of the estimate. prior_sigma: as stated; the estimate used at least the one of the greatest
    likelihood. off: departure from 0 by the readings alone, in standard deviations of these and of the stated prior.
    outside: whether that is too much.
    """

    value: float
    sigma: float
    prior_sigma: float
    off: float
    outside: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that was not fitted: name and reason."""

    row: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class HoldOut:
    """Pose errors on held-out rows, with the nominal geometry (`before`) and the fitted one (`after`).

    Cross-validation: each of `folds` parts of the rows was predicted by a fit to all others. Before: only the
    tracker's and the target's frames were fitted, where they are unknown.
    rows: names.
    position_noise, m, rotation_noise, rad: RMS of the measured poses' own noise.
    """

    folds: int
    rows: tuple[str, ...]
    before: PoseErrors
    after: PoseErrors
    position_noise: float
    rotation_noise: float


@dataclass(frozen=True, slots=True, eq=False)
class GeometryCalibration:
    """Calibrated geometry with its uncertainty.

    geometry: joints as calibrated; axes of the universal joints and home are the nominal ones. length_offsets (6,), m:
        encoder reading less the distance between the joints' centres.
    parameters: all 42, leg by leg, with one sigma each. covariance (42, 42), m², in their order: the posterior one, of
        data and drawing; of rank 30 where the gauge fixes both frames.
    scale: the tracker's, None where a level measured. prior: as stated. tolerances_widened: factor on its
        tolerances, 1 where the geometry agrees with them.
    widened: factor on the readings' stated noise, 1 where the residuals agree with it.
    gauge: the frames that it fixes; the others are the tracker's and the target's own.
    tracker, target (7,): pose of the base's frame in the tracker's, with its place as read by the tracker,
        and pose of the target's frame in the platform's.
    chi_square, freedom, probability: of the residuals at the stated noise, and of a greater one by chance.
    observability: by the data alone; directions with a greater sigma than the tolerances are mostly the drawing's.
    pose_sigmas: of poses computed from lengths, in the given workspace, or at the measured poses
        (judged_at_measured).
    fitted: number of rows; left_out: the others. hold_out: None where only part of a pose was measured.
    warnings: to be read before using it.
    """

    geometry: Geometry
    length_offsets: Array
    parameters: tuple[Parameter, ...]
    covariance: Array
    scale: TrackerScale | None
    prior: GeometryPrior
    tolerances_widened: float
    widened: float
    gauge: Gauge
    tracker: Array
    target: Array
    chi_square: float
    freedom: float
    probability: float
    observability: Observability
    pose_sigmas: PoseSigmas
    judged_at_measured: bool
    fitted: int
    left_out: tuple[LeftOut, ...]
    hold_out: HoldOut | None
    warnings: tuple[GeometryWarning, ...] = ()

    @property
    def reduced_chi_square(self) -> float:
        """χ² by degree of freedom: 1 where the residuals agree with the stated noise."""
        return self.chi_square / self.freedom

    @property
    def gauge_statement(self) -> str:
        """Text of what the gauge fixes."""
        agreed = "lies where its calibrated joints are nearest to the nominal ones (least squares, rigid motion)"
        base = f"the base's frame {agreed}" if self.gauge.base else "the base's frame is the tracker's"
        target = f"the platform's frame {agreed}" if self.gauge.platform else "the platform's frame is the target's"
        return f"{base}; {target}"

    def findings(self) -> dict[str, float | bool]:
        """Numbers of the result by name, SI."""
        numbers: dict[str, float | bool] = {
            "rows": self.fitted,
            "rows_left_out": len(self.left_out),
            "chi_square": self.chi_square,
            "degrees_of_freedom": self.freedom,
            "reduced_chi_square": self.reduced_chi_square,
            "sigmas_widened_by": self.widened,
            "joint_tolerance_m": self.prior.joints,
            "offset_tolerance_m": self.prior.offsets,
            "tolerances_widened_by": self.tolerances_widened,
            "directions_from_drawing": self.observability.weak.shape[1],
            "pose_position_sigma_m": self.pose_sigmas.worst_position,
            "pose_rotation_sigma_rad": self.pose_sigmas.worst_rotation,
            "judged_at_measured_poses": self.judged_at_measured,
        }
        if self.scale is not None:
            numbers["tracker_scale"] = self.scale.value
            numbers["tracker_scale_sigma"] = self.scale.sigma
            numbers["tracker_scale_prior_sigma"] = self.scale.prior_sigma
            numbers["tracker_scale_outside_prior"] = self.scale.outside
        if self.hold_out is not None:
            for name, errors in (("before", self.hold_out.before), ("after", self.hold_out.after)):
                if errors.found:
                    numbers[f"holdout_position_{name}_m"] = errors.position_rms
                    numbers[f"holdout_rotation_{name}_rad"] = errors.rotation_rms
            numbers["holdout_over_expected"] = self.hold_out.after.over_expected
            numbers["holdout_position_noise_m"] = self.hold_out.position_noise
            numbers["holdout_rotation_noise_rad"] = self.hold_out.rotation_noise
        return numbers

    def as_file(
        self,
        mechanism: str,
        day: date,
        provenance: Mapping[str, str],
        findings: Mapping[str, float | bool] | None = None,
    ) -> ParameterFile:
        """The parameter file of this result for the mechanism of that name, with `findings` added to its own."""
        scale = self.scale
        return ParameterFile(
            kind="geometry",
            date=day,
            mechanism=mechanism,
            parameters=self.parameters,
            nuisance=() if scale is None else (Parameter("tracker.scale", "", 0.0, scale.value, scale.sigma),),
            covariance=self.covariance,
            provenance={**provenance, "gauge": self.gauge_statement},
            findings={**self.findings(), **(findings or {})},
        )


def geometry_covariance(files: Iterable[ParameterFile]) -> Array:
    """Covariance (42, 42), m², of joints and length offsets by parameter files, in the order of `GEOMETRY_PARAMETERS`.

    A later file replaces an earlier one's parameters with their correlations. The covariance of parameters that no file
    has is zero: they count as exact. Parameters of other kinds are left out.
    """
    places = {name: place for place, name in enumerate(PARAMETERS)}
    return covariance_of(files, places, np.zeros((len(PARAMETERS), len(PARAMETERS))))
