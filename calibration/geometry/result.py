"""What a calibration of the geometry says."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from calibration.geometry.frames import Gauge
from calibration.geometry.holdout import PoseErrors
from calibration.geometry.observability import Observability
from calibration.parameters import Parameter, ParameterFile
from kinematics import Array, Geometry


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
    parameters: all 42, leg by leg, with one sigma each. covariance (42, 42), m², in their order; of rank 30 where both
        frames are agreed on by the gauge.
    widened: what the sigmas of the stated noise were multiplied by, 1 where the residuals agree with it.
    gauge: which frames are agreed on, the others being the tracker's and the target's own.
    tracker, target (7,): pose of the base's frame in the tracker's, and of the target's frame in the platform's.
    chi_square, freedom, probability: of the residuals at the stated noise, and of a greater one by chance.
    observability: singular values and sigmas by direction, at the stated noise.
    fitted: number of rows; left_out: the others. hold_out: None where part of a pose was measured only.
    warnings: what a person should know before using it.
    """

    geometry: Geometry
    length_offsets: Array
    parameters: tuple[Parameter, ...]
    covariance: Array
    widened: float
    gauge: Gauge
    tracker: Array
    target: Array
    chi_square: float
    freedom: int
    probability: float
    observability: Observability
    fitted: int
    left_out: tuple[LeftOut, ...]
    hold_out: HoldOut | None
    warnings: tuple[str, ...] = ()

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
            "largest_sigma_m": self.widened * float(self.observability.sigma[-1]),
        }
        if self.hold_out is not None:
            for name, errors in (("before", self.hold_out.before), ("after", self.hold_out.after)):
                if errors.found:
                    told[f"holdout_position_{name}_m"] = errors.position_rms
                    told[f"holdout_rotation_{name}_rad"] = errors.rotation_rms
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
        return ParameterFile(
            kind="geometry",
            date=day,
            mechanism=mechanism,
            parameters=self.parameters,
            covariance=self.covariance,
            provenance={**provenance, "gauge": self.gauge_statement},
            findings={**self.findings(), **(findings or {})},
        )
