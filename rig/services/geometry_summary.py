"""A geometry calibration as a JSON object, and its warnings as text."""

import math
from pathlib import Path
from typing import Any

from calibration import (
    GeometryCalibration,
    GeometryLimits,
    GeometryWarning,
    HoldOut,
    HomingRepeatability,
    Observability,
    PoseSigmas,
    UnobservableError,
)
from kinematics import Array


def summary(
    result: GeometryCalibration, limits: GeometryLimits, homed: HomingRepeatability | None, path: Path | None
) -> dict[str, Any]:
    """Return a calibration as a JSON object; SI units."""
    return {
        "parameters": [
            {"name": each.name, "unit": each.unit, "nominal": each.nominal, "value": each.value, "sigma": each.sigma}
            for each in result.parameters
        ],
        "gauge": result.gauge_statement,
        "base_in_tracker": result.tracker.tolist(),
        "target_in_platform": result.target.tolist(),
        "chi_square": result.chi_square,
        "degrees_of_freedom": result.freedom,
        "reduced_chi_square": result.reduced_chi_square,
        "sigmas_widened_by": result.widened,
        "joint_tolerance_m": result.prior.joints,
        "offset_tolerance_m": result.prior.offsets,
        "tolerances_widened_by": result.tolerances_widened,
        "tracker_scale": None
        if result.scale is None
        else {
            "value": result.scale.value,
            "sigma": result.scale.sigma,
            "prior_sigma": result.scale.prior_sigma,
            "off": result.scale.off,
            "outside_prior": result.scale.outside,
        },
        **_poses(result.pose_sigmas, (limits.position, limits.rotation)),
        "judged_at": "measured poses" if result.judged_at_measured else "workspace",
        **_directions(result.observability),
        "worst_direction": result.observability.worst,
        "rows_fitted": result.fitted,
        "rows_left_out": [{"row": each.row, "reason": each.reason} for each in result.left_out],
        "holdout": None if result.hold_out is None else _hold_out_summary(result.hold_out),
        "homing": None if homed is None else homed.as_dict(),
        "warnings": [warning_words(each) for each in result.warnings],
        "warning_codes": [
            {"code": each.code, "value": _number(each.value), "bound": _number(each.bound)} for each in result.warnings
        ],
        "paths": {"parameters": None if path is None else str(path)},
    }


def unobservable_json(error: UnobservableError) -> dict[str, Any]:
    """Return what incomplete poses determine as a JSON object, null for undetermined values; SI units."""
    return {"reasons": list(error.faults)} | _poses(error.sigmas, error.bounds) | _directions(error.seen)


def _poses(sigmas: PoseSigmas, bounds: tuple[float, float]) -> dict[str, Any]:
    return {
        "pose_position_sigma_m": sigmas.worst_position,
        "pose_rotation_sigma_rad": sigmas.worst_rotation,
        "pose_position_sigma_limit_m": bounds[0],
        "pose_rotation_sigma_limit_rad": bounds[1],
    }


def _directions(seen: Observability) -> dict[str, Any]:
    return {
        "singular_values": seen.singular_values.tolist(),
        "direction_sigmas_m": [_number(sigma) for sigma in seen.sigma.tolist()],
        "direction_tolerances_m": seen.tolerance.tolist(),
        "directions_from_drawing": seen.weak.shape[1],
    }


def warning_words(warning: GeometryWarning) -> str:
    """Return a warning as text."""
    value, bound = warning.value, warning.bound
    match warning.code:
        case "noise-exceeded":
            return (
                f"the residuals are {value:.3g} times the stated noise: noisier readings, or something that the model "
                "does not have; the noise is taken to be as much greater"
            )
        case "noise-overstated":
            return (
                f"the residuals are {value:.3g} times the stated noise, which is less than chance allows: the noise "
                "stated is too great, and so are all sigmas"
            )
        case "tolerances-exceeded":
            return (
                f"joints and offsets are {value:.3g} times as far from the drawing as the stated tolerances allow; "
                "these are taken to be as much greater"
            )
        case "scale-outside-prior":
            return (
                f"the tracker's scale is {value:.3g} standard deviations from the encoders', at most {bound:.3g} is "
                "chance: the tracker's scale, the encoders', or the temperature of one of them is wrong"
            )
        case "no-better-than-nominal":
            return "on poses that were not fitted the calibrated geometry is no better than the nominal one"


def _hold_out_summary(hold_out: HoldOut) -> dict[str, Any]:
    numbers: dict[str, Any] = {"folds": hold_out.folds, "over_expected": _number(hold_out.after.over_expected)}
    for name, errors in (("before", hold_out.before), ("after", hold_out.after)):
        numbers[name] = {
            "rows": errors.found,
            "position_rms_m": _number(errors.position_rms),
            "position_worst_m": _number(errors.position_worst),
            "rotation_rms_rad": _number(errors.rotation_rms),
        }
    numbers["poses"] = [
        {"row": row, "position_before_m": before, "position_after_m": after}
        for row, before, after in zip(
            hold_out.rows, _distances(hold_out.before.position), _distances(hold_out.after.position), strict=True
        )
    ]
    return numbers | {"position_noise_m": hold_out.position_noise, "rotation_noise_rad": hold_out.rotation_noise}


def _distances(errors: Array) -> list[float | None]:
    return [_number(math.hypot(*error)) for error in errors.tolist()]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
