"""`rig calibrate cells-in-place`: gain, offset and polarity of the load cells from the platform's weight."""

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.options import (
    JsonOption,
    ProbeOption,
    ProgressOption,
    check_new_file,
    print_caveats,
    print_contents,
    print_warning,
)

if TYPE_CHECKING:
    from calibration import InPlaceCalibration, LoadCellCalibration
    from rig.analysis import RecordedRests

HELP = """Calibrate the load cells where they are: the platform's known weight, at rest in many poses, loads them.

RECORDINGs hold the platform at rest in 30 poses or so, under power, its masses those of the mechanism's file. Fits \
gain, offset and polarity of each cell, judges them by poses that were not fitted, and writes a dated file for \
`load_cells.calibration` of a configuration. How well the platform's mass is known limits all gains together: \
--mass-sigma. Data that cannot support an answer are refused (exit code 4), with the legs and what would help.

--plan N --config CONFIG writes a trajectory of N poses that load the legs as differently as the limits allow; \
run it with `rig run`.
"""


def cells_in_place(
    recordings: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RECORDING…", help="Recordings (.mcap) of one rig at rest in many poses."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write; left out: cells-DATE.toml, never overwritten, with --plan weight-poses.toml.",
        ),
    ] = None,
    mass_sigma: Annotated[
        float, typer.Option(metavar="KG", help="Standard uncertainty of the platform's mass; common to all gains.")
    ] = 0.0,
    center_sigma: Annotated[
        float, typer.Option(metavar="M", help="Standard uncertainty of its centre of mass, each axis.")
    ] = 0.0,
    leg_mass_sigma: Annotated[
        float, typer.Option(metavar="PART", help="Standard uncertainty of the mass of each body of a leg, as a part.")
    ] = 0.2,
    leg_center_sigma: Annotated[
        float | None,
        typer.Option(
            metavar="M",
            help="Standard uncertainty of its centre of mass, each axis; left out: 3 mm, times the machine's size.",
        ),
    ] = None,
    gain_limit: Annotated[
        float, typer.Option(metavar="PERCENT", help="Greatest uncertainty of a gain by noise that is accepted.")
    ] = 1.0,
    drift_limit: Annotated[
        float | None,
        typer.Option(
            metavar="N", help="Drift of the zero that is accepted; left out: 0.5 N, times the machine's size."
        ),
    ] = None,
    plan: Annotated[int | None, typer.Option(min=1, max=400, metavar="N", help="Plan N poses instead.")] = None,
    config: Annotated[str | None, typer.Option(metavar="CONFIG", help="Rig to plan for.")] = None,
    hold: Annotated[float, typer.Option(min=0.5, max=60.0, metavar="S", help="Planned time at each pose.")] = 1.5,
    seed: Annotated[int, typer.Option(min=0, help="Of the poses that --plan chooses from.")] = 0,
    day: Annotated[
        datetime | None, typer.Option("--date", formats=["%Y-%m-%d"], help="Date of the calibration; left out: today.")
    ] = None,
    operator: Annotated[str, typer.Option(help="Who calibrates; kept in the file.")] = "",
    note: Annotated[str, typer.Option(help="Anything else; kept in the file.")] = "",
    look: ProbeOption = False,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Calibrate the six load cells in place; see `HELP`."""
    if (plan is None) == (not recordings):
        raise typer.BadParameter("give RECORDINGs, or --plan N with --config CONFIG")
    if plan is not None:
        if config is None:
            raise typer.BadParameter("--plan goes with --config CONFIG, the rig to plan for")
        _plan(config, plan, output or Path("weight-poses.toml"), hold, seed, look, progress, as_json)
        return
    if config is not None:
        raise typer.BadParameter("--config goes with --plan: a recording says which rig it is of")
    if not 0.0 < gain_limit < float("inf"):
        raise typer.BadParameter(f"--gain-limit must be finite and positive, got {gain_limit} %")
    if drift_limit is not None and not 0.0 <= drift_limit < float("inf"):
        raise typer.BadParameter(f"--drift-limit must be finite and not negative, got {drift_limit} N")
    import numpy as np

    from calibration import (
        CalibrationError,
        Limits,
        Provenance,
        WeightSigmas,
        calibrate_in_place,
        calibration_file_name,
        judge,
        save_cell_calibration,
    )
    from dynamics import machine_size
    from rig.analysis import recorded_rests
    from rig.cli.progress import print_step
    from rig.errors import RefusedError
    from rig.recording import RecordingFile

    date = (day or datetime.now()).date()
    target = output if output is not None else Path(calibration_file_name(date))
    if not look:
        check_new_file(target)
    opened = [RecordingFile(path) for path in recordings or []]
    for each in opened:
        print_caveats(each)
    stated = {"mass": mass_sigma, "center": center_sigma, "leg_mass": leg_mass_sigma}
    if leg_center_sigma is not None:
        stated["leg_center"] = leg_center_sigma
    tell = print_step if progress else lambda _step: None
    tell("reading the recordings")
    data = recorded_rests(opened)
    mechanism, before = data.rig.mechanism, data.before
    if drift_limit is None:
        drift_limit = Limits().drift * machine_size(mechanism).force
    if look:
        print_contents(f"{len(data.rests)} rests, {mechanism.name}, cells in {before.unit}", as_json)
        return
    tell("fitting the cells")
    try:
        found = calibrate_in_place(
            mechanism,
            data.rests,
            expected_gain=before.gain,
            weights=WeightSigmas.of(mechanism, **stated),
            gain_limit=0.01 * gain_limit,
        )
    except CalibrationError as error:
        raise RefusedError("\n  ".join(["calibration refused, nothing written", *error.faults])) from None
    known = f"± {mass_sigma:g} kg" if mass_sigma else "kg, taken as exact"
    weight = f"the platform of {mechanism.name}, {mechanism.mass:g} {known}, and its legs"
    source = f"in place, {len(data.rests)} rests of {', '.join(each.path.name for each in opened)}"
    calibration = found.calibration(
        date,
        float(np.linalg.norm(mechanism.gravity)),
        unit=before.unit,
        serials=before.serials,
        drift_limit=drift_limit,
        provenance=Provenance(operator, before.provenance.place, weight, source, note),
    )
    reasons = [reason for leg in judge(calibration, Limits(drift=drift_limit)) for reason in leg]
    if not reasons:
        save_cell_calibration(target, calibration)
    if as_json:
        typer.echo(json.dumps(_summary(found, calibration, data, reasons, None if reasons else target), indent=2))
    else:
        _print(found, calibration)
    _warn(found, mass_sigma)
    if reasons:
        raise RefusedError("\n  ".join(["calibration refused, nothing written", *reasons]))
    if not as_json:
        typer.echo(f'calibration: {target}\nname it in the configuration: [load_cells] calibration = "{target.name}"')


def _plan(
    config: str, count: int, output: Path, hold: float, seed: int, look: bool, progress: bool, as_json: bool
) -> None:
    from calibration import CalibrationError, plan_weight_poses
    from kinematics import load_trajectory
    from rig.cli.progress import progress_display
    from rig.client import Progress, checked_motion, write_weight_plan
    from rig.config import load_config
    from rig.csvio import check_output
    from rig.errors import RefusedError

    settings = load_config(config)
    if look:
        print_contents(f"{settings.machine.name}, a platform of {settings.machine.mass:g} kg", as_json)
        return
    check_output(output)
    try:
        with progress_display(progress) as show:
            found = plan_weight_poses(
                settings.machine, count, seed=seed, progress=lambda part: show(Progress("planning", part))
            )
    except CalibrationError as error:
        raise RefusedError("\n  ".join(["no poses can be planned:", *error.faults])) from None
    write_weight_plan(output, found, hold)
    trajectory = load_trajectory(output, settings.machine.geometry.home)
    _, verdict = checked_motion(settings, trajectory)
    if not verdict.passed:
        output.unlink()
        raise RefusedError(f"the planned motion is refused: {verdict.message}\n  try another --seed")
    summary = {
        "trajectory": str(output),
        "duration_s": trajectory.duration,
        "poses": int(found.holds.sum()),
        "forces_n": {"least": found.forces.min(axis=0).tolist(), "greatest": found.forces.max(axis=0).tolist()},
    }
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
        return
    typer.echo("leg   forces on its cell, N")
    for leg in range(6):
        typer.echo(f"{leg + 1}     {found.forces[:, leg].min():+8.1f} to {found.forces[:, leg].max():+8.1f}")
    typer.echo(f"{output}: {summary['poses']} poses, {trajectory.duration:.1f} s\nrun it: rig run {config} {output}")


def _warn(found: "InPlaceCalibration", mass_sigma: float) -> None:
    if found.reversed:
        legs = ", ".join(map(str, found.reversed))
        print_warning(f"polarity reversed at leg {legs}: the calibration turns it round; look at the wiring")
    if found.left_out:
        poses = ", ".join(map(str, found.left_out))
        print_warning(f"left out, as they do not fit the others (something touched the platform?): rest {poses}")
    if found.friction:
        legs = ", ".join(map(str, found.friction))
        print_warning(f"the cell of leg {legs} is at the actuator: it reads friction at rest, which is in the ± given")
    if found.chi_square > 2.0:
        print_warning(
            f"the fit is worse than the noise (reduced χ² {found.chi_square:.1f}): the mechanism's masses or geometry "
            "are not the rig's; the ± given are enlarged by it"
        )
    if not mass_sigma:
        print_warning("the platform's mass counts as exact: its error would scale all gains; say it by --mass-sigma")


def _summary(
    found: "InPlaceCalibration",
    calibration: "LoadCellCalibration",
    data: "RecordedRests",
    reasons: list[str],
    path: Path | None,
) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "verdict": "refused" if reasons else "ok",
        "faults": reasons,
        "mechanism": data.rig.mechanism.name,
        "date": calibration.date.isoformat(),
        "unit": calibration.unit,
        "poses": len(found.rests),
        "left_out": list(found.left_out),
        "reversed": list(found.reversed),
        "friction": list(found.friction),
        "chi_square": found.chi_square,
        "cells": [
            {"leg": leg + 1}
            | asdict(cell)
            | {
                "hold_out_n": float(found.hold_out[leg]),
                "noise_n": float(found.expected[leg]),
                "gain_before": data.before.cells[leg].gain,
                "offset_before": data.before.cells[leg].offset,
            }
            for leg, cell in enumerate(calibration.cells)
        ],
        "rests": [
            {"rest": row, "used": bool(used), "forces_n": forces, "residuals_n": residuals}
            for row, (used, forces, residuals) in enumerate(
                zip(found.used, found.forces.tolist(), found.residual.tolist(), strict=True), start=1
            )
        ],
        "covariance": found.covariance.tolist(),
        "paths": {"calibration": None if path is None else str(path)},
    }


def _print(found: "InPlaceCalibration", calibration: "LoadCellCalibration") -> None:
    unit = calibration.unit
    typer.echo(f"load cells in place, {len(found.rests)} rests, {len(found.left_out)} left out")
    typer.echo(
        f"leg  {'gain, N/' + unit:>22}  {'offset, ' + unit:>20}  sign  forces, N        not fitted, noise: N RMS"
    )
    for leg, cell in enumerate(calibration.cells):
        low, high = found.forces[found.used, leg].min(), found.forces[found.used, leg].max()
        typer.echo(
            f"{leg + 1}    {cell.gain:11.6g} ± {cell.gain_standard_error:8.2g}  {cell.offset:9.4g} ± "
            f"{cell.offset_standard_error:8.2g}  {cell.polarity:+4d}  {low:6.1f} to {high:6.1f}  "
            f"{found.hold_out[leg]:10.3f} {found.expected[leg]:8.3f}"
        )
