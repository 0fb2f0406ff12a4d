"""`rig calibrate cells-in-place`: gain, offset and polarity of the load cells from the platform's weight."""

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.options import (
    JsonOption,
    ProbeOption,
    ProgressOption,
    print_contents,
)

if TYPE_CHECKING:
    from calibration import InPlaceCalibration, LoadCellCalibration

HELP = """Calibrate the load cells in place, by the platform's known weight at rest in many poses.

RECORDINGs have the platform at rest in about 30 poses, under power, with the masses of the mechanism file. Fits gain, \
offset and polarity of each cell, validates them on held-out poses, and writes a dated file for \
`load_cells.calibration` of a configuration. The uncertainty of the platform's mass is common to all gains: \
--mass-sigma. Insufficient data are refused (exit code 4), with the legs and a remedy.

--plan N --config CONFIG writes a trajectory of N poses that vary the leg loads as much as the limits allow; run it \
with `rig run`.
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
        float, typer.Option(metavar="PART", help="Relative standard uncertainty of the mass of each body of a leg.")
    ] = 0.2,
    leg_center_sigma: Annotated[
        float | None,
        typer.Option(
            metavar="M",
            help="Standard uncertainty of its centre of mass, each axis; left out: 3 mm, times the machine's size.",
        ),
    ] = None,
    gain_limit: Annotated[float, typer.Option(metavar="PERCENT", help="Maximum uncertainty of a gain by noise.")] = 1.0,
    drift_limit: Annotated[
        float | None,
        typer.Option(metavar="N", help="Maximum drift of the zero; left out: 0.5 N, times the machine's size."),
    ] = None,
    plan: Annotated[int | None, typer.Option(min=1, max=400, metavar="N", help="Plan N poses instead.")] = None,
    config: Annotated[str | None, typer.Option(metavar="CONFIG", help="Rig to plan for.")] = None,
    hold: Annotated[float, typer.Option(min=0.5, max=60.0, metavar="S", help="Planned time at each pose.")] = 1.5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the candidate poses of --plan.")] = 0,
    day: Annotated[
        datetime | None, typer.Option("--date", formats=["%Y-%m-%d"], help="Date of the calibration; left out: today.")
    ] = None,
    operator: Annotated[str, typer.Option(help="Operator of the calibration; stored in the file.")] = "",
    note: Annotated[str, typer.Option(help="Note; stored in the file.")] = "",
    probe: ProbeOption = False,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Calibrate the six load cells in place; see `HELP`."""
    if (plan is None) == (not recordings):
        raise typer.BadParameter("give RECORDINGs, or --plan N with --config CONFIG")
    if plan is not None:
        if config is None:
            raise typer.BadParameter("--plan needs --config CONFIG, the rig to plan for")
        _plan(config, plan, output or Path("weight-poses.toml"), hold, seed, probe, progress, as_json)
        return
    if config is not None:
        raise typer.BadParameter("--config goes with --plan: a recording contains its rig")
    if not 0.0 < gain_limit < float("inf"):
        raise typer.BadParameter(f"--gain-limit must be finite and positive, got {gain_limit} %")
    if drift_limit is not None and not 0.0 <= drift_limit < float("inf"):
        raise typer.BadParameter(f"--drift-limit must be finite and not negative, got {drift_limit} N")
    from calibration import calibration_file_name
    from rig.cli.progress import service_events
    from rig.errors import RefusedError
    from rig.services import CellsInPlaceRequest, calibrate_cells_in_place, cells_in_place_contents

    date = (day or datetime.now()).date()
    target = output if output is not None else Path(calibration_file_name(date))
    request = CellsInPlaceRequest(
        recordings=tuple(recordings or ()),
        output=target,
        mass_sigma=mass_sigma,
        center_sigma=center_sigma,
        leg_mass_sigma=leg_mass_sigma,
        leg_center_sigma=leg_center_sigma,
        gain_limit=gain_limit,
        drift_limit=drift_limit,
        day=date,
        operator=operator,
        note=note,
    )
    with service_events(progress) as report:
        if probe:
            print_contents(cells_in_place_contents(request, report).text, as_json)
            return
        result = calibrate_cells_in_place(request, report)
    if as_json:
        typer.echo(json.dumps(result.as_dict(), indent=2))
    else:
        _print(result.found, result.calibration)
    if result.refused:
        raise RefusedError(result.refusal)
    if not as_json:
        typer.echo(f'calibration: {target}\nname it in the configuration: [load_cells] calibration = "{target.name}"')


def _plan(
    config: str, count: int, output: Path, hold: float, seed: int, probe: bool, progress: bool, as_json: bool
) -> None:
    from rig.cli.progress import service_events
    from rig.services import PlanCellsRequest, plan_cells_contents, plan_cells_in_place

    request = PlanCellsRequest(config, count, output, hold, seed)
    with service_events(progress) as report:
        if probe:
            print_contents(plan_cells_contents(request, report).text, as_json)
            return
        result = plan_cells_in_place(request, report)
    if as_json:
        typer.echo(json.dumps(result.as_dict(), indent=2))
        return
    forces = result.found.forces
    typer.echo("leg   forces on its cell, N")
    for leg in range(6):
        typer.echo(f"{leg + 1}     {forces[:, leg].min():+8.1f} to {forces[:, leg].max():+8.1f}")
    typer.echo(f"{output}: {result.poses} poses, {result.duration:.1f} s\nrun it: rig run {config} {output}")


def _print(found: "InPlaceCalibration", calibration: "LoadCellCalibration") -> None:
    unit = calibration.unit
    typer.echo(f"load cells in place, {len(found.rests)} rests, {len(found.left_out)} left out")
    typer.echo(f"leg  {'gain, N/' + unit:>22}  {'offset, ' + unit:>20}  sign  forces, N        held out, noise: N RMS")
    for leg, cell in enumerate(calibration.cells):
        low, high = found.forces[found.used, leg].min(), found.forces[found.used, leg].max()
        typer.echo(
            f"{leg + 1}    {cell.gain:11.6g} ± {cell.gain_standard_error:8.2g}  {cell.offset:9.4g} ± "
            f"{cell.offset_standard_error:8.2g}  {cell.polarity:+4d}  {low:6.1f} to {high:6.1f}  "
            f"{found.hold_out[leg]:10.3f} {found.expected[leg]:8.3f}"
        )
