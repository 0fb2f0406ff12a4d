"""Inertias and frictions from recordings: what is fitted, what is held out, and the file that comes of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from calibration import (
    Accuracy,
    ForceHoldOut,
    Identification,
    IdentificationSettings,
    LoadCellCalibration,
    Parameter,
    ParameterFile,
    hold_out,
    identify,
    reported_parameters,
)
from dynamics import LINEAR_NAMES, linear_parameters
from kinematics import Array
from rig import __version__
from rig.analysis.segments import force_records, split
from rig.errors import InputError
from rig.recording import Recorded

_BY_WEIGHT = 3.0
TERM_NAMES = {
    "stribeck": "Stribeck friction",
    "viscous_power": "viscous friction that is not proportional to the speed",
    "presliding": "presliding friction",
    "friction_warm_up": "friction that falls as the drive warms up",
    "position_friction": "friction that depends on the position",
    "curvature": "a load cell that is not linear",
    "hysteresis": "hysteresis of a load cell",
    "zero_warm_up": "a load cell that warms up",
    "zero_jump": "a jump of a load cell's zero",
    "far_cross_talk": "cross-talk between legs that are no neighbours",
    "tilt": "a base that is not level",
    "external_force": "something that pulls at the platform, such as a hose",
    "backlash": "backlash",
    "held_set_points": "drives that hold their set-points from cycle to cycle",
}
"""What the data may show beyond the model, by its code."""


@dataclass(frozen=True, slots=True, eq=False)
class Identified:
    """What came of recordings: the identification, its hold-out, and both by the names of the mechanism's file."""

    result: Identification
    held_out: ForceHoldOut
    parameters: tuple[Parameter, ...]
    covariance: Array
    nuisance: tuple[Parameter, ...]
    sources: tuple[str, ...]

    @property
    def base(self) -> list[Parameter]:
        """The combinations of linear parameters that forces tell, each named after the first of its combination."""
        base, nominal = self.result.base, linear_parameters(self.result.nominal)
        before, after = base.matrix @ nominal, base.matrix @ self.result.theta
        return [
            Parameter(name, unit, float(before[k]), float(after[k]), float(self.result.base_sigma[k]))
            for k, (name, unit) in enumerate(zip(base.names, base.units, strict=True))
        ]

    def file(self, day: date, note: str = "") -> ParameterFile:
        """It as a parameter file of a date."""
        provenance = {"recordings": ", ".join(self.sources), "software": f"stewart-rig {__version__}"}
        if note:
            provenance["note"] = note
        return ParameterFile(
            kind="inertia",
            date=day,
            mechanism=self.result.nominal.name,
            parameters=self.parameters,
            nuisance=self.nuisance,
            covariance=self.covariance,
            provenance=provenance,
            findings={
                "residual_before_n": self.held_out.before,
                "residual_after_n": self.held_out.after,
                "noise_n": self.held_out.noise,
                "consistent": self.result.consistent,
                "fits": self.held_out.verdict == "pass",
            },
        )

    def summary(self) -> dict[str, Any]:
        """It as a JSON object. Values are SI; `base_parameters` have the combination of linear parameters they are."""
        result, held = self.result, self.held_out
        return {
            "mechanism": result.nominal.name,
            "parameters": [_told(each) for each in (*self.parameters, *self.nuisance)],
            "base_parameters": [
                _told(each) | {"told": bool(result.told[k]), "combination": result.base.combination(k)}
                for k, each in enumerate(self.base)
            ],
            "holdout": {
                "residual_before_n": held.before,
                "residual_after_n": held.after,
                "noise_n": held.noise,
                "legs": [
                    {"leg": leg + 1, "residual_before_n": before, "residual_after_n": after, "noise_n": noise}
                    for leg, (before, after, noise) in enumerate(
                        zip(held.legs_before.tolist(), held.legs_after.tolist(), held.legs_noise.tolist(), strict=True)
                    )
                ],
            },
            "verdict": held.verdict,
            "misfits": [
                {
                    "leg": each.leg + 1,
                    "band_hz": list(each.band),
                    "residual_n": each.residual,
                    "noise_n": each.noise,
                    "held_out": each.held_out,
                }
                for each in held.misfits
            ],
            "terms": [
                {
                    "code": each.code,
                    "leg": None if each.leg is None else each.leg + 1,
                    "size_n": each.size,
                    "evidence_nepers": each.evidence,
                }
                for each in held.suspects
            ],
            "spikes": result.spikes.tolist(),
            "consistent": result.consistent,
            "drives_used": result.drives,
            "linear_parameters": list(LINEAR_NAMES),
            "sources": list(self.sources),
        }


def identify_recordings(
    recordings: Sequence[Recorded],
    held_out: Sequence[Recorded] = (),
    accuracy: Accuracy | None = None,
    progress: Callable[[str], None] = lambda _step: None,
    *,
    calibrated_gains: bool = True,
    calibrated_geometry: bool = True,
) -> Identified:
    """Identify the rig of recordings from the motions in them.

    Args:
        recordings: of one rig. held_out: of the same, to judge by; none: the last quarter of every motion.
        accuracy: how well the mechanism's file and the sensors are known.
        progress: told each step as it begins, in words.
        calibrated_gains: whether the calibration of the cells, where there is one, tells their gains, not `accuracy`.
        calibrated_geometry: the same of joints and length offsets, and the files of a calibrated geometry.

    Raises:
        InputError: recordings that cannot be used. CalibrationError: data that cannot support an answer.
    """
    progress("reading the recordings")
    found = force_records([*recordings, *held_out])
    settings = IdentificationSettings(
        accuracy=accuracy,
        coulomb_speed=found.rig.coulomb_speed,
        noise=found.noise,
        gains=_known_gains(found.calibration) if calibrated_gains else None,
        geometry=found.geometry if calibrated_geometry else (),
    )
    if held_out:
        fitted = list(force_records(recordings).records)
        judged = list(force_records(held_out).records)
    else:
        fitted, judged = split(found.records)
    if not judged:
        raise InputError(
            "no motion is long enough to be judged by its last quarter, which takes some 12 s: give another recording "
            "to judge by"
        )
    progress("fitting the parameters")
    result = identify(found.rig.mechanism, fitted, settings)
    progress("judging by the motions held out")
    judgement = hold_out(result, fitted, judged, settings.coulomb_speed)
    parameters, covariance, nuisance = reported_parameters(result, found.cells)
    sources = tuple(recording.path.name for recording in (*recordings, *held_out))
    return Identified(result, judgement, parameters, covariance, nuisance, sources)


def _known_gains(calibration: LoadCellCalibration | None) -> Array | None:
    """Covariance (6, 6) of the gains by their calibration.

    In place the weights told them that are estimated now, and what those were wrong by is in both. Taken as independent
    these would seem to confirm each other: the gains count as known `_BY_WEIGHT` times less.
    """
    gains = None if calibration is None else calibration.gain_covariance
    if gains is None or calibration is None or not calibration.in_place:
        return gains
    wider: Array = _BY_WEIGHT**2 * gains
    return wider


def _told(parameter: Parameter) -> dict[str, Any]:
    return {name: getattr(parameter, name) for name in ("name", "unit", "nominal", "value", "sigma")}
