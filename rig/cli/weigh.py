"""`rig weigh`: mass, centre of mass and inertia of a payload on the platform."""

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.options import (
    JsonOption,
    ProbeOption,
    ProgressOption,
    parse_span,
    print_contents,
    refused_parameters,
)

if TYPE_CHECKING:
    from calibration import ParameterFile, PayloadEstimate


def weigh_command(
    recordings: Annotated[
        list[Path], typer.Argument(metavar="RECORDING…", help="Recordings (.mcap) with the payload on the platform.")
    ],
    before: Annotated[
        str | None,
        typer.Option(
            "--before",
            metavar="RECORDING|FROM,TO",
            help="Without the payload: a recording, or a stretch of the first one, s. What the rig has beyond its "
            "model is told by it and cancels, whatever the motions are. A rig that is not identified needs it.",
        ),
    ] = None,
    during: Annotated[
        str | None,
        typer.Option("--during", metavar="FROM,TO", help="Rig times, s, with the payload; left out: all of them."),
    ] = None,
    at_rest: Annotated[
        bool, typer.Option("--at-rest", help="Poses at rest only: mass and centre of mass, no inertia.")
    ] = False,
    bandwidth: Annotated[
        float,
        typer.Option("--bandwidth", metavar="HZ", help="Corner frequency of the low-pass on cells and model alike."),
    ] = 10.0,
    noise: Annotated[
        float | None,
        typer.Option("--noise", metavar="N", help="Of each load cell, standard deviation; left out: the recording's."),
    ] = None,
    mass: Annotated[
        float | None,
        typer.Option(
            metavar="PART",
            help="How well masses that no parameter file tells are known, one sigma; left out: 0.115, of an even "
            "distribution within 20 %.",
        ),
    ] = None,
    inertia: Annotated[
        float | None, typer.Option(metavar="PART", help="The same of moments of inertia; left out: the same.")
    ] = None,
    center: Annotated[
        float | None,
        typer.Option(
            metavar="M",
            help="The same of centres of mass, each axis; left out: 1.7 mm, even within 3 mm, times the machine's "
            "size.",
        ),
    ] = None,
    zero_change: Annotated[
        float | None,
        typer.Option(
            "--zero-change",
            metavar="N",
            help="How much each cell's zero may change between recordings, one sigma; left out: the drift that its "
            "calibration saw, none without one.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Parameter file of the platform with its payload, never overwritten."
        ),
    ] = None,
    date: Annotated[
        datetime | None, typer.Option("--date", formats=["%Y-%m-%d"], help="Of the file; left out: today.")
    ] = None,
    probe: ProbeOption = False,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Weigh a payload by the load cells: mass and centre of mass from a few poses, inertia from a motion as well.

    Hold the platform at some poses, tilted ones among them, and let it turn about all axes for the inertia: the same
    without the payload, for --before, and with it. Every number comes with its standard uncertainty, in which count the
    cells' noise, gains and zeros, the joints' places, and how well the rig's own masses are known: by --before, by the
    parameter files that the recording was made with, or as stated.

    Refuses (exit code 4) data that do not tell a number, with what would tell it, and a model that does not fit them.
    The file lays the platform's mass, centre of mass and inertia with its payload over the mechanism.
    """
    from rig.cli.progress import service_events
    from rig.errors import ExitCode
    from rig.services import WeighRequest, weigh, weigh_contents

    recorded = before is not None and Path(before).suffix == ".mcap"
    with refused_parameters():
        request = WeighRequest(
            recordings=tuple(recordings),
            without=Path(before) if before is not None and recorded else None,
            without_span=parse_span(before, "--before") if before is not None and not recorded else None,
            during=parse_span(during, "--during") if during else None,
            at_rest=at_rest,
            bandwidth=bandwidth,
            noise=noise,
            mass=mass,
            inertia=inertia,
            center=center,
            zero_change=zero_change,
            output=None if probe else output,
            day=None if date is None else date.date(),
        )
    with service_events(progress) as report:
        if probe:
            print_contents(weigh_contents(request, report).text, as_json)
            return
        result = weigh(request, report)
    typer.echo(json.dumps(result.as_dict(), indent=2) if as_json else _described(result.found, result.file))
    if output is not None and not as_json:
        typer.echo(f"parameters {output}")
    if result.damaged:
        raise typer.Exit(ExitCode.RECORDING)


def _described(found: "PayloadEstimate", file: "ParameterFile") -> str:
    findings = file.findings

    def used(suffix: str) -> str:
        words = f"{findings[f'poses{suffix}']:.0f} poses at rest"
        return words + (
            f", {findings[f'samples_in_motion{suffix}']:.0f} samples in motion" if found.has_inertia else ""
        )

    fits = [
        f"{fit.chi_square:.3g} {where} of {fit.freedom:.0f} degrees"
        for fit, where in ((found.rest, "at rest"), (found.motion, "in motion"))
        if fit.freedom
    ]
    bare = (
        f"; without the payload {used('_without')}"
        if findings["poses_without"] or findings["samples_in_motion_without"]
        else ""
    )
    lines = [
        f"weighed with  {used('')}{bare}",
        f"platform      known {file.provenance['platform']}",
        f"fit           reduced χ² {', '.join(fits) or 'not told'}"
        + (": the uncertainties are enlarged by it" if found.chi_square > 1.0 else ""),
        f"{'payload':<27} {'value':>12} {'sigma':>10}  unit",
    ]
    for each in file.nuisance:
        lines.append(f"  {each.name.removeprefix('payload.'):<25} {each.value:12.5g} {each.sigma:10.2g}  {each.unit}")
    lines.append(f"{'platform with it':<27} {'value':>12} {'sigma':>10} {'without':>12}  unit")
    for each in file.parameters:
        name = each.name.removeprefix("platform.")
        lines.append(f"  {name:<25} {each.value:12.5g} {each.sigma:10.2g} {each.nominal:12.5g}  {each.unit}")
    if not found.has_inertia:
        lines.append("inertia: not told by poses at rest, the platform keeps that of its mechanism")
    return "\n".join(lines)
