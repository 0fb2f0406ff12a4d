"""`rig calibrate zero`: zeroing of a parked rig's load cells."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.options import (
    ConfigArgument,
    JsonOption,
    NewCalibrationOption,
    UnprovenOption,
)

if TYPE_CHECKING:
    from rig.commissioning import Zero

HELP = """Zero the six load cells at the rig: connect, home, stand parked, compare with the model.

With six legs locked the cells measure only the platform's weight; the difference is their zero. Nothing may touch the \
platform, and its payload must be the mechanism file's. Gain and polarity of the present calibration remain. A zero \
beyond its bounds is shown but not written (exit code 4). The platform moves during homing; Ctrl-C stops it. Ends with \
3 if a drive does not answer or is commanded by another engine, 130 after Ctrl-C.
"""


def zero(
    config: ConfigArgument,
    output: NewCalibrationOption = None,
    apply: Annotated[
        bool,
        typer.Option("--apply", help="Write the new file next to CONFIG and name it there; nothing else changes."),
    ] = False,
    duration: Annotated[float, typer.Option(metavar="S", help="Duration at rest.")] = 3.0,
    largest_shift: Annotated[
        float | None, typer.Option(metavar="N", help="Maximum shift; left out: a tenth of the cells' range.")
    ] = None,
    operator: Annotated[str, typer.Option(help="Operator of zeroing; stored in the file.")] = "",
    note: Annotated[str, typer.Option(help="Note; stored in the file.")] = "",
    unproven: UnprovenOption = False,
    as_json: JsonOption = False,
) -> None:
    """Zero the six load cells; see `HELP`."""
    from rig.cli.progress import service_events
    from rig.client import Interruption
    from rig.errors import RefusedError
    from rig.services import ZeroRequest, zero_cells

    request = ZeroRequest(config, output, apply, duration, largest_shift, operator, note, unproven)
    interruption = Interruption()
    with interruption.installed(), service_events() as report:
        result = zero_cells(request, report, interruption=interruption)
    if as_json:
        typer.echo(json.dumps(result.as_dict(), indent=2))
    else:
        _print(result.found)
    if result.refusal is not None:
        raise RefusedError(result.refusal)
    if not as_json:
        path = result.calibration_file
        assert path is not None
        named = f"named in {result.named_in}" if apply else f'name it: [load_cells] calibration = "{path.name}"'
        typer.echo(f"calibration: {path}\n{named}")


def _print(found: "Zero") -> None:
    from kinematics import decimals_of

    typer.echo("leg   zero shifts   noise     drift     (N)")
    digits = decimals_of(found.noise, 3)
    for leg in range(6):
        shift, noise, drift = found.shift[leg], found.noise[leg], found.drift[leg]
        typer.echo(f"{leg + 1}     {shift:+10.{digits}f}    {noise:6.{digits}f}    {drift:+7.{digits}f}")
