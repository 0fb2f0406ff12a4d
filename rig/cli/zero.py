"""`rig calibrate zero`: a new zero for the load cells of a rig that stands parked."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.options import (
    ConfigArgument,
    JsonOption,
    NewCalibrationOption,
    UnprovenOption,
    check_new_file,
    warn_of_checks_off,
)

if TYPE_CHECKING:
    from rig.commissioning import Zero

HELP = """Zero the six load cells at the rig: connect, home, stand parked, compare with the model.

With six legs locked the platform's weight alone decides what the cells must read; what they read beside it is \
their zero. Nothing may touch the platform, and its payload must be the mechanism file's. Gain and polarity stay those \
of the present calibration. A zero beyond its bounds is shown but not written (exit code 4). The platform moves while \
it homes; Ctrl-C stops it. Ends with 3 if a drive does not answer or another engine commands it, 130 after Ctrl-C.
"""


def zero(
    config: ConfigArgument,
    output: NewCalibrationOption = None,
    apply: Annotated[
        bool,
        typer.Option("--apply", help="Name the new file in CONFIG and write it beside CONFIG; nothing else changes."),
    ] = False,
    duration: Annotated[float, typer.Option(metavar="S", help="How long the rig stands at rest.")] = 3.0,
    largest_shift: Annotated[
        float | None, typer.Option(metavar="N", help="Largest shift accepted; left out: a tenth of the cells' range.")
    ] = None,
    operator: Annotated[str, typer.Option(help="Who zeroes; kept in the file.")] = "",
    note: Annotated[str, typer.Option(help="Anything else; kept in the file.")] = "",
    unproven: UnprovenOption = False,
    as_json: JsonOption = False,
) -> None:
    """Zero the six load cells; see `HELP`."""
    from datetime import date

    from calibration import save_cell_calibration
    from rig.cli.progress import progress_display
    from rig.client import Interruption
    from rig.commissioning import (
        ZeroOptions,
        check_naming,
        check_zero,
        free_calibration_path,
        name_calibration,
        zero_rig,
    )
    from rig.config import load_config, relaxed_timing, shipped_configs
    from rig.errors import InputError, RefusedError

    settings = load_config(config)
    if apply and config in shipped_configs():
        raise InputError(f"--apply: {config} is shipped with the program; copy it to a file of your own first")
    if output is None:
        output = free_calibration_path(settings.folder if apply else Path(), date.today())
    if apply and output.resolve().parent != settings.folder.resolve():
        raise InputError(f"--apply: {output} is not beside {settings.path}")
    check_new_file(output)
    options = ZeroOptions(duration, largest_shift, operator, note)
    check_zero(settings, options)
    if apply:
        check_naming(settings.path, output.name)
    warn_of_checks_off(settings)
    interruption = Interruption()
    with interruption.installed(), progress_display() as report:
        rig = settings if settings.virtual is None else relaxed_timing(settings)
        found = zero_rig(rig, options, interruption, report, unproven=unproven)
    if not found.faults:
        save_cell_calibration(output, found.calibration)
        if apply:
            name_calibration(settings.path, output.name)
    if as_json:
        path = None if found.faults else str(output)
        typer.echo(json.dumps(found.as_dict() | {"paths": {"calibration": path}}, indent=2))
    else:
        _print(found)
    if found.faults:
        raise RefusedError("\n  ".join(["zero refused, nothing written", *found.faults]))
    if not as_json:
        named = f"named in {settings.path}" if apply else f'name it: [load_cells] calibration = "{output.name}"'
        typer.echo(f"calibration: {output}\n{named}")


def _print(found: "Zero") -> None:
    from kinematics import decimals_of

    typer.echo("leg   zero shifts   noise     drift     (N)")
    digits = decimals_of(found.noise, 3)
    for leg in range(6):
        shift, noise, drift = found.shift[leg], found.noise[leg], found.drift[leg]
        typer.echo(f"{leg + 1}     {shift:+10.{digits}f}    {noise:6.{digits}f}    {drift:+7.{digits}f}")
