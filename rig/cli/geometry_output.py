"""Output of `rig calibrate geometry`: tables as text, or a JSON object."""

import math
from typing import Any

import typer

from calibration import (
    GeometryCalibration,
    GeometryLimits,
    HomingRepeatability,
)
from rig.cli.options import table_console


def print_result(result: GeometryCalibration, limits: GeometryLimits) -> None:
    """Print the parameters by leg, with the evidence for and against them."""
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
            else f"reads {1e6 * scale.value:+.0f} µm/m ± {1e6 * scale.sigma:.0f}, prior ± {1e6 * scale.prior_sigma:.0f}"
        ),
        "least observable: a direction with a standard deviation of "
        + (f"{1e3 * worst:.3f} mm" if math.isfinite(worst) else "infinity")
        + f", {result.observability.worst}",
        f"directions determined by the drawing rather than the poses: {result.observability.weak.shape[1]} "
        f"of {len(result.observability.sigma)}",
    ]
    held = result.hold_out
    if held is None:
        lines.append("hold-out: none, because only part of each pose was measured")
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
    """Return the table of homing repeatability."""
    lines = ["leg   homings   standard deviation   of the mean   (µm)"]
    for leg in range(6):
        lines.append(
            f"{leg + 1}     {homed.count[leg]:7d}   {1e6 * homed.standard_deviation[leg]:18.2f}   "
            f"{1e6 * homed.standard_error[leg]:11.2f}"
        )
    lines += [
        f"homing {row}, leg {leg}: {1e6 * deviation:+.1f} µm off, excluded" for row, leg, deviation in homed.outliers
    ]
    lines.append("each homing changes the length offsets by about one standard deviation")
    return "\n".join(lines)


def plan_words(plan: dict[str, Any]) -> str:
    """Describe the expected benefit of a plan."""
    before, after = (1e6 * plan[f"pose_position_sigma_{when}_m"] for when in ("before", "after"))
    motion = plan["paths"].get("motion")
    return (
        f"{len(plan['poses'])} poses in addition to {plan['measured']} measured: {plan['paths']['poses']}\n"
        f"{f'motion that rests at each of them: {motion}{chr(10)}' if motion else ''}"
        f"a pose's position, standard deviation along its worst axis: {before:.0f} µm now, {after:.0f} µm with them"
    )
