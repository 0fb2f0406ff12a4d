"""What a calibration of the geometry says."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

import numpy as np

from calibration.geometry.frames import Gauge
from calibration.geometry.holdout import PoseErrors
from calibration.geometry.observability import PARAMETERS, Observability, PoseSigmas
from calibration.geometry.prior import GeometryPrior
from calibration.parameters import Parameter, ParameterFile, covariance_of
from kinematics import Array, Geometry

WarningCode = Literal[
    "noise-exceeded", "noise-overstated", "tolerances-exceeded", "scale-outside-prior", "no-better-than-nominal"
]


@dataclass(frozen=True, slots=True)
class GeometryWarning:
    """What a person should know before using a result: a code, a figure and what it should not pass.

    noise-exceeded, noise-overstated: residuals over the stated noise. tolerances-exceeded: departures from the drawing
    over the stated tolerances. scale-outside-prior: departure from 0, in standard deviations that the stated prior
    allows it. no-better-than-nominal: RMS position on poses held out, and with the nominal geometry, m.
    """

    code: WarningCode
    value: float
    bound: float


@dataclass(frozen=True, slots=True)
class TrackerScale:
    """By how much the tracker reads lengths too long, as a part of them, against the legs' encoders.

    value, sigma: of the estimate. prior_sigma: as stated; the estimate's own is at least as large as makes the readings
    likeliest. off: how far from 0 the readings alone have it, in standard deviations of these and of the stated prior.
    outside: whether that is too far.
    """

    value: float
    sigma: float
    prior_sigma: float
    off: float
    outside: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that was not fitted, by its name, and why."""

    row: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class HoldOut:
    """Pose errors on rows that the fit had not seen, with the nominal geometry (`before`) and the fitted one (`after`).

    The rows were divided into `folds` parts; each part was predicted by a fit to all others, so that every row counts
    once. Before: only the tracker's and the target's frames were fitted, where they are unknown.
    rows: names of those of both.
    position_noise, m, rotation_noise, rad: RMS that the measured poses' own noise has in both.
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
        what each encoder reads beyond the distance between the joints' centres.
    parameters: all 42, leg by leg, with one sigma each. covariance (42, 42), m², in their order: the posterior one, of
        data and drawing; of rank 30 where both frames are agreed on by the gauge.
    scale: the tracker's, None where a level measured. prior: as stated. tolerances_widened: what its tolerances were
        multiplied by, 1 where the geometry agrees with them.
    widened: what the readings' stated noise was multiplied by, 1 where the residuals agree with it.
    gauge: which frames are agreed on, the others being the tracker's and the target's own.
    tracker, target (7,): pose of the base's frame in the tracker's, its place as the tracker reads it,
        and pose of the target's frame in the platform's.
    chi_square, freedom, probability: of the residuals at the stated noise, and of a greater one by chance.
    observability: what the data alone tell of the geometry by direction; what they tell less well than the drawing's
        tolerances is mostly the drawing's.
    pose_sigmas: of the poses that lengths tell, where they were judged: in the workspace that was given, or at the
        measured poses (judged_at_measured).
    fitted: number of rows; left_out: the others. hold_out: None where part of a pose was measured only.
    warnings: what a person should know before using it.
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
        """χ² by degree of freedom: 1 where the residuals are the stated noise."""
        return self.chi_square / self.freedom

    @property
    def gauge_statement(self) -> str:
        """What the gauge fixes, in words."""
        agreed = "lies where its calibrated joints are nearest to the nominal ones (least squares, rigid motion)"
        base = f"the base's frame {agreed}" if self.gauge.base else "the base's frame is the tracker's"
        target = f"the platform's frame {agreed}" if self.gauge.platform else "the platform's frame is the target's"
        return f"{base}; {target}"

    def findings(self) -> dict[str, float | bool]:
        """Numbers of the result by name, SI."""
        told: dict[str, float | bool] = {
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
            told["tracker_scale"] = self.scale.value
            told["tracker_scale_sigma"] = self.scale.sigma
            told["tracker_scale_prior_sigma"] = self.scale.prior_sigma
            told["tracker_scale_outside_prior"] = self.scale.outside
        if self.hold_out is not None:
            for name, errors in (("before", self.hold_out.before), ("after", self.hold_out.after)):
                if errors.found:
                    told[f"holdout_position_{name}_m"] = errors.position_rms
                    told[f"holdout_rotation_{name}_rad"] = errors.rotation_rms
            told["holdout_over_expected"] = self.hold_out.after.over_expected
            told["holdout_position_noise_m"] = self.hold_out.position_noise
            told["holdout_rotation_noise_rad"] = self.hold_out.rotation_noise
        return told

    def as_file(
        self,
        mechanism: str,
        day: date,
        provenance: Mapping[str, str],
        findings: Mapping[str, float | bool] | None = None,
    ) -> ParameterFile:
        """The parameter file of this result, of the mechanism of that name; `findings` are told beside its own."""
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

    A later file replaces what an earlier one says of a parameter, what they have in common with others included. Of
    parameters that no file has it is zero: they count as exact. Parameters of other kinds are left out.
    """
    places = {name: place for place, name in enumerate(PARAMETERS)}
    return covariance_of(files, places, np.zeros((len(PARAMETERS), len(PARAMETERS))))
