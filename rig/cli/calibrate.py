"""`rig calibrate`: measure the rig's parameters and store them in dated files."""

import json
import math
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.cells_in_place import HELP as IN_PLACE_HELP
from rig.cli.cells_in_place import cells_in_place
from rig.cli.geometry import HELP as GEOMETRY_HELP
from rig.cli.geometry import POSES_HELP, geometry, geometry_poses
from rig.cli.help import command_group
from rig.cli.options import (
    JsonOption,
    NewCalibrationOption,
    ProbeOption,
    ProgressOption,
    print_contents,
    table_console,
)
from rig.cli.zero import HELP as ZERO_HELP
from rig.cli.zero import zero

if TYPE_CHECKING:
    from calibration import LoadCellCalibration

app = command_group(
    name="calibrate",
    help="Measure the rig's parameters and keep them in dated files.",
    no_args_is_help=True,
)


class Loading(StrEnum):
    """Load direction of the masses."""

    COMPRESSION = "compression"
    TENSION = "tension"


@app.callback()
def _calibrate() -> None:
    """Measure the rig's parameters and keep them in dated files."""


_CELLS_HELP = """Calibrate the six load cells: tare, known masses on each cell, tare again.

Fits gain, offset and polarity of each cell, shows the residuals and the drift of the zero, and writes a dated file \
for `load_cells.calibration` of a configuration. A calibration that fails its bounds is shown but not written (exit \
code 4). The cells must be free of the legs and the platform, as on a bench. Drives that read the cells stay off. Ends \
with 3 if one does not answer or is commanded by an engine.

Try it without a rig: `rig calibrate cells virtual`.
"""


@app.command(help=_CELLS_HELP)
def cells(
    config: Annotated[
        str | None,
        typer.Argument(
            metavar="CONFIG",
            help="Configuration of the rig whose cells are read. A virtual rig, such as `virtual`, applies the "
            "masses itself. Left out: give --data.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Earlier readings, instead of a rig: CSV with columns cell,mass,reading,phase; phase is "
            "tare_before, load or tare_after.",
        ),
    ] = None,
    output: NewCalibrationOption = None,
    masses: Annotated[
        str,
        typer.Option(
            metavar="KG,KG,…",
            help="Masses for each cell, in order; up and down measures hysteresis, twice repeatability.",
        ),
    ] = "0,5,10,20,10,5,0",
    load: Annotated[
        Loading, typer.Option(help="Masses placed on the cell (compression) or hung from it (tension).")
    ] = Loading.COMPRESSION,
    samples: Annotated[int, typer.Option(min=2, max=1_000_000, help="Samples averaged per reading.")] = 200,
    gravity: Annotated[
        float | None, typer.Option(metavar="M/S2", help="Local gravity; left out: the mechanism's, or 9.80665.")
    ] = None,
    drift_limit: Annotated[
        float | None,
        typer.Option(metavar="N", help="Maximum drift of the zero; left out: 0.5 N, times the machine's size."),
    ] = None,
    nonlinearity_limit: Annotated[
        float, typer.Option(metavar="PERCENT", help="Maximum residual beyond the noise, share of the force range.")
    ] = 0.5,
    unit: Annotated[str, typer.Option(help="Unit of the readings in --data.")] = "N",
    serials: Annotated[str, typer.Option(metavar="S1,…,S6", help="Serial numbers of the six cells.")] = "",
    day: Annotated[
        datetime | None, typer.Option("--date", formats=["%Y-%m-%d"], help="Date of the calibration; left out: today.")
    ] = None,
    operator: Annotated[str, typer.Option(help="Operator of the calibration; stored in the file.")] = "",
    place: Annotated[str, typer.Option(help="Place; stored in the file.")] = "",
    weights: Annotated[str, typer.Option(help="Masses used, for example their certificate; stored in the file.")] = "",
    note: Annotated[str, typer.Option(help="Note; stored in the file.")] = "",
    probe: ProbeOption = False,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Calibrate the six load cells; see `_CELLS_HELP`."""
    from calibration import calibration_file_name
    from rig.cli.progress import service_events
    from rig.errors import RefusedError
    from rig.services import CellsRequest, calibrate_cells, cells_contents

    if (config is None) == (data is None):
        raise typer.BadParameter("give either a rig's configuration, such as virtual, or --data FILE")
    numbers = _numbers(masses)
    names = [name.strip() for name in serials.split(",")] if serials else [""] * 6
    if len(names) != 6:
        raise typer.BadParameter(f"--serials: {len(names)} serial numbers, must be six, separated by commas")
    for option, value in (("--gravity", gravity), ("--nonlinearity-limit", nonlinearity_limit)):
        if value is not None and not 0.0 < value < float("inf"):
            raise typer.BadParameter(f"{option} must be finite and positive, got {value}")
    if drift_limit is not None and not 0.0 <= drift_limit < float("inf"):
        raise typer.BadParameter(f"--drift-limit must be finite and not negative, got {drift_limit} N")
    date = (day or datetime.now()).date()
    target = output if output is not None else Path(calibration_file_name(date))
    request = CellsRequest(
        config=config,
        data=data,
        output=target,
        masses=tuple(numbers),
        load=load.value,
        samples=samples,
        gravity=gravity,
        drift_limit=drift_limit,
        nonlinearity_limit=nonlinearity_limit,
        unit=unit,
        serials=tuple(names),
        day=date,
        operator=operator,
        place=place,
        weights=weights,
        note=note,
    )
    with service_events(progress, bars=False) as report:
        if probe:
            print_contents(cells_contents(request, report).text, as_json)
            return
        result = calibrate_cells(request, report)
    if as_json:
        typer.echo(json.dumps(result.as_dict(), indent=2))
    else:
        _print_table(result.calibration, result.faults)
    if result.refused:
        raise RefusedError(result.refusal)
    if not as_json:
        typer.echo(f'calibration: {target}\nname it in the configuration: [load_cells] calibration = "{target.name}"')


app.command("cells-in-place", help=IN_PLACE_HELP)(cells_in_place)
app.command("zero", help=ZERO_HELP)(zero)
app.command("geometry", help=GEOMETRY_HELP)(geometry)
app.command("geometry-poses", help=POSES_HELP)(geometry_poses)


def _numbers(text: str) -> list[float]:
    from kinematics import read_list

    try:
        return read_list(text)
    except ValueError as error:
        fault = f"--masses: {text!r} is not a list of numbers, such as 0,2.5,5,10: {error}"
        raise typer.BadParameter(fault) from None


def _print_table(calibration: "LoadCellCalibration", verdicts: "tuple[tuple[str, ...], ...]") -> None:
    from rich.table import Table
    from rich.text import Text

    drift = calibration.drift
    assert drift is not None
    unit = calibration.unit
    table = Table(title=f"Load cells, {calibration.date.isoformat()}, {calibration.load}", show_lines=True)
    for heading in (
        "leg",
        f"gain\nN/{unit}",
        f"offset\n{unit}",
        "sign",
        "rms, max\nresidual N",
        "nonlin.,\nhyst.,\nrepeat. %",
        "drift,\nlimit N",
        "verdict",
    ):
        table.add_column(heading, justify="right", no_wrap=heading == "verdict")
    for index, cell in enumerate(calibration.cells):
        table.add_row(
            str(index + 1),
            _with_error(cell.gain, cell.gain_standard_error),
            _with_error(cell.offset, cell.offset_standard_error),
            f"{cell.polarity:+d}",
            f"{cell.residual_rms:.3f}\n{cell.residual_max:.3f}",
            "\n".join(
                "–" if value is None else f"{value:.3f}"
                for value in (cell.nonlinearity, cell.hysteresis, cell.repeatability)
            ),
            f"{drift.force[index]:+.3f}\n±{drift.bound[index]:.3f}",
            Text("refused", style="red") if verdicts[index] else Text("ok", style="green"),
        )
    table_console().print(table)


def _with_error(value: float, error: float) -> str:
    """Format a value to the second digit of its standard error, with the error on the next line."""
    if not error > 0.0:
        return f"{value:.6g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f}\n±{error:.{digits}f}"
