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
            help="A recording without the payload, or an interval of the first one, s. It cancels the model errors "
            "of the rig, whatever the motions. Required for a rig that is not identified.",
        ),
    ] = None,
    during: Annotated[
        str | None,
        typer.Option("--during", metavar="FROM,TO", help="Interval with the payload, rig time, s; left out: all."),
    ] = None,
    at_rest: Annotated[
        bool, typer.Option("--at-rest", help="Poses at rest only: mass and centre of mass, no inertia.")
    ] = False,
    bandwidth: Annotated[
        float,
        typer.Option("--bandwidth", metavar="HZ", help="Cutoff of the low-pass on both cells and model."),
    ] = 10.0,
    noise: Annotated[
        float | None,
        typer.Option(
            "--noise", metavar="N", help="Standard deviation of each load cell's noise; left out: the recording's."
        ),
    ] = None,
    mass: Annotated[
        float | None,
        typer.Option(
            metavar="PART",
            help="Prior uncertainty of masses without a parameter file, one sigma; left out: 0.115, uniform within "
            "20 %.",
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
    zero_change: Annotated[
        float | None,
        typer.Option(
            "--zero-change",
            metavar="N",
            help="Change of each cell's zero between recordings, one sigma; left out: the drift in its calibration, "
            "else none.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Parameter file of the platform with its payload, never overwritten."
        ),
    ] = None,
    date: Annotated[
        datetime | None, typer.Option("--date", formats=["%Y-%m-%d"], help="Date of the file; left out: today.")
    ] = None,
    probe: ProbeOption = False,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Weigh a payload by the load cells: mass and centre of mass from a few poses, inertia from a motion as well.

    Hold the platform at several poses, some tilted, and rotate it about all axes for the inertia; do the same without
    the payload, for --before. Every number has its standard uncertainty, including that of the cells' noise, gains and
    zeros, the joint positions, and the rig's own masses: by --before, by the recording's parameter files, or as given.

    Refused (exit code 4): data in which a number is not identifiable, with a remedy, and a model that does not fit the
    data. The file overrides the mechanism's platform by mass, centre of mass and inertia including the payload.
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
        f"fit           reduced χ² {', '.join(fits) or 'unknown'}"
        + (": the uncertainties are scaled by it" if found.chi_square > 1.0 else ""),
        f"{'payload':<27} {'value':>12} {'sigma':>10}  unit",
    ]
    for each in file.nuisance:
        lines.append(f"  {each.name.removeprefix('payload.'):<25} {each.value:12.5g} {each.sigma:10.2g}  {each.unit}")
    lines.append(f"{'platform with it':<27} {'value':>12} {'sigma':>10} {'without':>12}  unit")
    for each in file.parameters:
        name = each.name.removeprefix("platform.")
        lines.append(f"  {name:<25} {each.value:12.5g} {each.sigma:10.2g} {each.nominal:12.5g}  {each.unit}")
    if not found.has_inertia:
        lines.append("inertia: not identifiable from poses at rest, the platform keeps that of its mechanism")
    return "\n".join(lines)
