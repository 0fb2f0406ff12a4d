"""What `rig calibrate geometry` tells: tables for a person, one object for a program."""

import math
from pathlib import Path
from typing import Any

import typer

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
from rig.cli.options import table_console


def summary(
    result: GeometryCalibration, limits: GeometryLimits, homed: HomingRepeatability | None, path: Path
) -> dict[str, Any]:
    """JSON object of a calibration; SI units."""
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
        "holdout": None if result.hold_out is None else _held(result.hold_out),
        "homing": None if homed is None else homed.as_dict(),
        "warnings": [warning_words(each) for each in result.warnings],
        "warning_codes": [
            {"code": each.code, "value": _number(each.value), "bound": _number(each.bound)} for each in result.warnings
        ],
        "paths": {"parameters": str(path)},
    }


def unobservable_json(error: UnobservableError) -> dict[str, Any]:
    """JSON object of what poses tell that leave directions open, null for what they do not tell at all; SI units."""
    return _poses(error.sigmas, error.bounds) | _directions(error.seen)


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
    """A warning in words."""
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


def _held(held: HoldOut) -> dict[str, Any]:
    told: dict[str, Any] = {"folds": held.folds, "over_expected": _number(held.after.over_expected)}
    for name, errors in (("before", held.before), ("after", held.after)):
        told[name] = {
            "rows": errors.found,
            "position_rms_m": _number(errors.position_rms),
            "position_worst_m": _number(errors.position_worst),
            "rotation_rms_rad": _number(errors.rotation_rms),
        }
    told["poses"] = [
        {"row": row, "position_before_m": before, "position_after_m": after}
        for row, before, after in zip(
            held.rows, _distances(held.before.position), _distances(held.after.position), strict=True
        )
    ]
    return told | {"position_noise_m": held.position_noise, "rotation_noise_rad": held.rotation_noise}


def _distances(errors: Array) -> list[float | None]:
    return [_number(math.hypot(*error)) for error in errors.tolist()]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def print_result(result: GeometryCalibration, limits: GeometryLimits) -> None:
    """Table of the parameters by leg, and what speaks for and against them."""
    from rich.table import Table

    table = Table(title="Changes from nominal, mm, ± one standard deviation")
    for heading in ("leg", "base x", "base y", "base z", "platform x", "platform y", "platform z", "offset"):
        table.add_column(heading, justify="right")
    for leg in range(6):
        row = result.parameters[7 * leg : 7 * leg + 7]
        cells = [f"{1e3 * (each.value - each.nominal):+.3f}\n± {1e3 * each.sigma:.3f}" for each in row]
        table.add_row(str(leg + 1), *cells)
    table_console().print(table, soft_wrap=True)
    worst, poses, scale = float(result.observability.sigma[-1]), result.pose_sigmas, result.scale
    where = "the measured poses" if result.judged_at_measured else "the workspace's poses"
    lines = [
        f"gauge: {result.gauge_statement}",
        f"rows: {result.fitted} fitted, {len(result.left_out)} left out",
        *(f"  {each.row}: {each.reason}" for each in result.left_out),
        f"reduced chi-square: {result.reduced_chi_square:.3f} with {result.freedom} degrees of freedom; sigmas are "
        + ("those of the stated noise" if result.widened == 1.0 else f"widened by {result.widened:.3g}"),
        f"pose: standard deviation along its worst axis {1e6 * poses.worst_position:.0f} µm, "
        f"{1e6 * poses.worst_rotation:.0f} µrad at 95 % of {where}, refused above {1e6 * limits.position:.0f} µm, "
        f"{1e6 * limits.rotation:.0f} µrad",
        "tracker's scale: "
        + (
            "a level has none"
            if scale is None
            else f"reads {1e6 * scale.value:+.0f} µm/m ± {1e6 * scale.sigma:.0f}, known before to "
            f"± {1e6 * scale.prior_sigma:.0f}"
        ),
        "told worst by the poses: a direction with a standard deviation of "
        + (f"{1e3 * worst:.3f} mm" if math.isfinite(worst) else "infinity")
        + f", {result.observability.worst}",
        f"directions that the drawing tells better than the poses: {result.observability.weak.shape[1]} "
        f"of {len(result.observability.sigma)}",
    ]
    held = result.hold_out
    if held is None:
        lines.append("hold-out: none, as only part of each pose was measured")
    else:
        before, after = held.before, held.after
        lines.append(
            f"hold-out, {after.found} poses by fits to the others: position {1e6 * before.position_rms:.0f} µm RMS "
            f"before, {1e6 * after.position_rms:.1f} after (the tracker's own noise: {1e6 * held.position_noise:.1f}); "
            "rotation "
            f"{1e6 * before.rotation_rms:.0f} µrad before, {1e6 * after.rotation_rms:.0f} after "
            f"({1e6 * held.rotation_noise:.0f}); errors are {after.over_expected:.2f} times what is expected of them"
        )
    typer.echo("\n".join(lines))


def homing_words(homed: HomingRepeatability) -> str:
    """Table of how well homing repeats."""
    lines = ["leg   homings   standard deviation   of the mean   (µm)"]
    for leg in range(6):
        lines.append(
            f"{leg + 1}     {homed.count[leg]:7d}   {1e6 * homed.standard_deviation[leg]:18.2f}   "
            f"{1e6 * homed.standard_error[leg]:11.2f}"
        )
    lines += [f"homing {row}, leg {leg}: {1e6 * off:+.1f} µm off, not counted" for row, leg, off in homed.outliers]
    lines.append("each homing shifts the length offsets anew by as much as one standard deviation")
    return "\n".join(lines)


def plan_words(told: dict[str, Any]) -> str:
    """What a plan is expected to bring."""
    before, after = (1e6 * told[f"pose_position_sigma_{when}_m"] for when in ("before", "after"))
    return (
        f"{len(told['poses'])} poses beside {told['measured']} measured: {told['paths']['poses']}\n"
        f"a pose's position, standard deviation along its worst axis: {before:.0f} µm now, {after:.0f} µm with them"
    )
