"""What `rig calibrate geometry` tells: tables for a person, one object for a program."""

import math
from pathlib import Path
from typing import Any

import typer

from calibration import GeometryCalibration, GeometryLimits, HoldOut, HomingRepeatability, UnobservableError
from kinematics import Array
from rig.cli.options import table_console


def summary(result: GeometryCalibration, homed: HomingRepeatability | None, path: Path) -> dict[str, Any]:
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
        "singular_values": result.observability.singular_values.tolist(),
        "direction_sigmas_m": (result.widened * result.observability.sigma).tolist(),
        "direction_sigma_limit_m": GeometryLimits().sigma,
        "worst_direction": result.observability.worst,
        "rows_fitted": result.fitted,
        "rows_left_out": [{"row": each.row, "reason": each.reason} for each in result.left_out],
        "holdout": None if result.hold_out is None else _held(result.hold_out),
        "homing": None if homed is None else homed.as_dict(),
        "warnings": list(result.warnings),
        "paths": {"parameters": str(path)},
    }


def untold(error: UnobservableError) -> dict[str, Any]:
    """JSON object of what poses tell that leave directions open, null for what they do not tell at all; SI units."""
    return {
        "singular_values": error.seen.singular_values.tolist(),
        "direction_sigmas_m": [_number(sigma) for sigma in error.seen.sigma.tolist()],
        "direction_sigma_limit_m": error.bound,
    }


def _held(held: HoldOut) -> dict[str, Any]:
    told: dict[str, Any] = {"folds": held.folds}
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


def print_result(result: GeometryCalibration) -> None:
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
    worst = result.widened * float(result.observability.sigma[-1])
    lines = [
        f"gauge: {result.gauge_statement}",
        f"rows: {result.fitted} fitted, {len(result.left_out)} left out",
        *(f"  {each.row}: {each.reason}" for each in result.left_out),
        f"reduced chi-square: {result.reduced_chi_square:.3f} with {result.freedom} degrees of freedom; sigmas are "
        + ("those of the stated noise" if result.widened == 1.0 else f"widened by {result.widened:.3g}"),
        f"known worst: a direction with a standard deviation of {1e3 * worst:.3f} mm, {result.observability.worst}",
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
            f"({1e6 * held.rotation_noise:.0f})"
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
    before, after = (
        "not told at all" if told[key] is None else f"{1e3 * told[key]:.3f} mm"
        for key in ("worst_sigma_before_m", "worst_sigma_after_m")
    )
    return (
        f"{len(told['poses'])} poses beside {told['measured']} measured: {told['paths']['poses']}\n"
        f"worst direction of the geometry, standard deviation: {before} now, {after} with them"
    )
