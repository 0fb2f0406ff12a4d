"""`rig identify` and `rig excite`: identification of model parameters, and design of a motion for it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.options import (
    ConfigArgument,
    JsonOption,
    ProbeOption,
    ProgressOption,
    print_contents,
    refused_parameters,
    table_console,
)

if TYPE_CHECKING:
    from rig.analysis import Identified

_LISTED = 14


def identify_command(
    recordings: Annotated[
        list[Path], typer.Argument(metavar="RECORDING…", help="Recordings (.mcap) of one rig in motion.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PARAMETERS.toml",
            help="Parameter file to write, never overwritten.",
        ),
    ] = None,
    hold_out: Annotated[
        list[Path] | None,
        typer.Option(
            "--hold-out",
            metavar="RECORDING",
            help="Recording for validation; left out: the last quarter of every motion.",
        ),
    ] = None,
    mass: Annotated[
        float | None,
        typer.Option(
            metavar="PART",
            help="Prior uncertainty of the masses, one sigma; left out: 0.115, uniform within 20 %.",
        ),
    ] = None,
    inertia: Annotated[
        float | None, typer.Option(metavar="PART", help="The same for moments of inertia; left out: the same.")
    ] = None,
    center: Annotated[
        float | None,
        typer.Option(
            metavar="M",
            help="The same for centres of mass, each axis; left out: 1.7 mm, uniform within 3 mm, times the "
            "machine's size.",
        ),
    ] = None,
    friction: Annotated[float, typer.Option(metavar="PART", help="The same for friction.")] = 0.5,
    gain: Annotated[
        float | None,
        typer.Option(
            metavar="PART",
            help="Prior uncertainty of the load cells' gains, one sigma; left out: by their calibration, else "
            "0.0058, uniform within 1 %.",
        ),
    ] = None,
    cross_talk: Annotated[
        float,
        typer.Option(
            metavar="PART", help="Cross-talk: share of a neighbouring leg's force in a cell's reading, one sigma."
        ),
    ] = 5e-3,
    joints: Annotated[
        float | None,
        typer.Option(
            metavar="M",
            help="Prior uncertainty of joint positions, each axis, one sigma; left out: by the geometry's parameter "
            "files, else 30 µm, times the machine's size.",
        ),
    ] = None,
    note: Annotated[str, typer.Option(help="Note; stored in the file.")] = "",
    probe: ProbeOption = False,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Identify masses, centres, inertias and frictions from recorded motions and forces.

    Weighted least squares on the regressor of the exact model with priors; then the nearest physically consistent
    bodies. Every value has its standard deviation, including those of cells and geometry, and is validated on held-out
    motions. Name the file in a configuration: parameters = ["PARAMETERS.toml"].

    A load cell at the rod's end does not measure the friction below it, nor the inertia of the drives: these are
    identified from the drives' forces if the engine closed the legs' loops. Unmodelled effects in the data are
    estimated too: further friction, non-linear cells, a tilted base. Insufficient data are refused with the reason
    (exit code 4). Exit code 6: the residual of the fit exceeds the cells' noise.
    """
    from calibration import parameters_line
    from rig.cli.progress import service_events
    from rig.errors import ExitCode
    from rig.services import IdentifyRequest, identify, identify_contents

    with refused_parameters():
        request = IdentifyRequest(
            recordings=tuple(recordings),
            hold_out=tuple(hold_out or ()),
            output=None if probe else output,
            mass=mass,
            inertia=inertia,
            center=center,
            friction=friction,
            gain=gain,
            cross_talk=cross_talk,
            joints=joints,
            note=note,
        )
    with service_events(progress) as report:
        if probe:
            print_contents(identify_contents(request, report).text, as_json)
            return
        result = identify(request, report)
    if as_json:
        typer.echo(json.dumps(result.as_dict(), indent=2))
    else:
        print_identified(result.found)
        if output is not None:
            typer.echo(f"parameters: {output}\nname it in the configuration: {parameters_line([output.name])}")
    if not result.fits:
        raise typer.Exit(ExitCode.MISFIT)


def excite_command(
    config: ConfigArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="TRAJECTORY.toml", help="Trajectory file to write.")
    ] = Path("excitation.toml"),
    duration: Annotated[float, typer.Option(metavar="S", help="Length of the motion.")] = 60.0,
    fastest: Annotated[float, typer.Option(metavar="HZ", help="Highest frequency.")] = 2.0,
    margin: Annotated[float, typer.Option(metavar="PART", help="Usable share of every limit.")] = 0.75,
    candidates: Annotated[
        int, typer.Option(metavar="N", help="Number of random motions; the search starts from the best.")
    ] = 40,
    steps: Annotated[
        int,
        typer.Option(metavar="N", help="Maximum number of gradient evaluations; 0: the best random motion."),
    ] = 300,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the random phases.")] = 0,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Design a motion that excites a rig's parameters: Fourier series in all six axes, within its limits.

    Starting from the best of --candidates random motions, amplitudes and phases are optimised by gradient for the
    information on the mechanism's uncertain parameters, within the limits; half a minute by default. The same --seed
    gives the same motion. Run it with `rig run`, then give its recording to `rig identify`.
    """
    from rig.cli.progress import service_events
    from rig.services import ExciteRequest, excite

    request = ExciteRequest(config, output, duration, fastest, margin, candidates, steps, seed)
    with service_events(progress) as report:
        result = excite(request, report)
    found = result.found
    if as_json:
        typer.echo(json.dumps(result.as_dict(), indent=2))
    else:
        typer.echo(
            f"{output}: {found.duration:g} s; average information on the {found.parameters} base parameters "
            f"{found.information:.2f} nepers, the best of {found.tried} random motions {found.drawn:.2f} "
            f"(condition {found.condition:.3g})\nrun it: rig run CONFIG {output}"
        )


def print_identified(found: "Identified") -> None:
    """Print residuals and the best and worst identified parameters."""
    from rich.table import Table

    from kinematics import decimals_of

    hold_out, result = found.held_out, found.result
    table = Table(title=f"{result.nominal.name}: residual at the load cells on held-out motions, N RMS")
    for heading in ("leg", "nominal", "identified", "noise"):
        table.add_column(heading, justify="right")
    whole = (hold_out.before, hold_out.after, hold_out.noise)
    digits = decimals_of(whole, 3)
    for leg in range(6):
        values = (hold_out.legs_before[leg], hold_out.legs_after[leg], hold_out.legs_noise[leg])
        table.add_row(str(leg + 1), *(f"{value:.{digits}f}" for value in values))
    table.add_row("all", *(f"{value:.{digits}f}" for value in whole), style="bold")
    console = table_console()
    console.print(table)
    shown = Table(title="Parameters that changed most, in standard deviations")
    for heading in ("name", "nominal", "found", "±", "unit"):
        shown.add_column(heading, justify="left" if heading in ("name", "unit") else "right", no_wrap=True)
    ranked = sorted(found.parameters, key=lambda each: -abs(each.value - each.nominal) / each.sigma)
    for each in ranked[:_LISTED]:
        shown.add_row(each.name, f"{each.nominal:.5g}", f"{each.value:.5g}", f"{each.sigma:.2g}", each.unit)
    console.print(shown)
    _print_fit(found)
    count, combinations = int(result.identifiable.sum()), len(result.identifiable)
    typer.echo(
        f"{count} of {combinations} identifiable combinations have at most half their prior uncertainty; "
        f"physically consistent bodies: {'yes' if result.consistent else 'NO'}"
    )
    if not result.drives:
        typer.echo("the drives' forces are unknown: friction below the load cells was not identified")


def _print_fit(found: "Identified") -> None:
    """Print model errors detected in the data, and whether the residual is noise."""
    from rig.analysis import TERM_NAMES

    hold_out, result = found.held_out, found.result
    sizes: dict[str, list[tuple[int | None, float]]] = {}
    for each in hold_out.suspects:
        sizes.setdefault(each.code, []).append((each.leg, each.size))
    for code, where in sizes.items():
        legs = sorted({leg + 1 for leg, _ in where if leg is not None})
        at = f", leg {', '.join(map(str, legs))}" if legs else ""
        typer.echo(f"beyond the model: {TERM_NAMES[code]}{at}, up to {max(size for _, size in where):.2g} N RMS")
    if result.spikes.any():
        typer.echo(f"spikes left out: {', '.join(map(str, result.spikes.tolist()))} readings of cells 1 to 6")
    if hold_out.verdict == "pass":
        typer.echo("fit: pass: the residual is the cells' noise")
    elif hold_out.verdict == "undecided":
        typer.echo("fit: undecided: the cells' noise cannot be separated from the motion")
    else:
        worst = hold_out.misfits[0]
        like = f", looks like {TERM_NAMES[hold_out.suspects[0].code]}" if hold_out.suspects else ""
        typer.echo(
            f"fit: LACK OF FIT{like}: cell {worst.leg + 1} has {worst.residual:.3g} N RMS from {worst.band[0]:g} to "
            f"{worst.band[1]:g} Hz, noise explains {worst.noise:.3g} N; values may be further off than their sigmas say"
        )
