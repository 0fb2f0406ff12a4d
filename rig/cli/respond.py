"""`rig multisine` and `rig respond`: excitation of a coordinate, and its frequency response."""

import json
from pathlib import Path
from typing import Annotated

import typer

from rig.cli.options import (
    ConfigArgument,
    JsonOption,
    OutputOption,
    ProbeOption,
    ProgressOption,
    print_contents,
)


def multisine_command(
    config: ConfigArgument,
    output: OutputOption,
    dof: Annotated[str, typer.Option("--dof", metavar="x|y|z|rx|ry|rz", help="The coordinate that is excited.")] = "z",
    low: Annotated[float, typer.Option("--from", metavar="HZ", help="Lowest frequency.")] = 0.5,
    high: Annotated[float, typer.Option("--to", metavar="HZ", help="Highest frequency.")] = 30.0,
    amplitude: Annotated[
        float | None,
        typer.Option("--amplitude", metavar="M|RAD", help="Of the whole; left out: 10 mm or 50 mrad, as limits allow."),
    ] = None,
    period: Annotated[float, typer.Option("--period", metavar="S", help="Of the excitation.")] = 4.0,
    periods: Annotated[int, typer.Option("--periods", help="Of each realisation, beside its fades.")] = 2,
    realizations: Annotated[
        int, typer.Option("--realizations", min=1, help="Of random phases, one after the other: they tell distortion.")
    ] = 6,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of phases and of the multiples left out.")] = 0,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a motion about home that excites one coordinate at many frequencies at once, for `rig run`.

    Odd multiples of 1/period, some left out at random, which then show non-linear distortion.
    The motion is checked as `rig check` does; without --amplitude it is made as large as the limits allow.
    """
    from rig.cli.progress import service_events
    from rig.services import MultisineRequest, multisine

    request = MultisineRequest(
        config=config,
        output=output,
        dof=dof,
        low=low,
        high=high,
        amplitude=amplitude,
        period=period,
        periods=periods,
        realizations=realizations,
        seed=seed,
    )
    with service_events(progress) as report:
        result = multisine(request, report)
    if as_json:
        typer.echo(json.dumps(result.as_dict(), indent=2))
        return
    tones = result.frequency
    typer.echo(
        f"{len(tones)} frequencies from {tones[0]:g} to {tones[-1]:g} Hz, {realizations} "
        f"realisations, amplitude {result.amplitude:.3g}, {result.verdict.duration:g} s: {output}"
    )


def respond_command(
    recording: Annotated[Path, typer.Argument(metavar="RECORDING", help="A recording (.mcap) of an excitation.")],
    dof: Annotated[
        str | None,
        typer.Option("--dof", metavar="x|y|z|rx|ry|rz", help="The coordinate; left out: the excited coordinate."),
    ] = None,
    low: Annotated[float | None, typer.Option("--from", metavar="HZ", help="Of the band that is asked for.")] = None,
    high: Annotated[float | None, typer.Option("--to", metavar="HZ", help="Its end; both or neither.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Bode plots, SVG; left out: none.")
    ] = None,
    friction: Annotated[
        float,
        typer.Option("--friction", metavar="PART", help="How well the model's friction is known, one sigma.", min=0.0),
    ] = 0.2,
    probe: ProbeOption = False,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Frequency response of a recorded excitation: commanded to measured pose, commanded to measured force.

    The best linear approximation over whole periods and phase realisations (`rig multisine`), else by Welch's method
    (a chirp); noise, even and odd distortion; dead time, corner and -3 dB bandwidth with their standard uncertainties,
    or that no model fits. Without enough excitation it is refused, and the frequencies that lack it are named. The
    force of a drive whose friction the cells do not read rests on the model's: --friction says how well that is known.
    """
    from kinematics import COORDINATES
    from rig.analysis import described
    from rig.cli.progress import service_events
    from rig.errors import ExitCode
    from rig.services import RespondRequest, respond, respond_contents

    if dof is not None and dof not in COORDINATES:
        raise typer.BadParameter(f"{dof!r} is none of {', '.join(COORDINATES)}", param_hint="'--dof'")
    band = None
    if low is not None or high is not None:
        if low is None or high is None or not 0.0 < low < high < float("inf"):
            raise typer.BadParameter("give --from and --to, both above 0 Hz, the first below", param_hint="'--from'")
        band = (low, high)
    request = RespondRequest(recording, dof, band, None if probe else output, friction)
    with service_events(progress) as report:
        if probe:
            print_contents(respond_contents(request, report).text, as_json)
            return
        found = respond(request, report)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=2))
    else:
        typer.echo(f"coordinate {found.dof}, {found.begin:.3f} to {found.end:.3f} s, {found.rate:g} cycles a second")
        for name, one in found.responses.items():
            typer.echo(described(name, one, found.fits[name]))
        if output is not None:
            typer.echo(f"plot       {output}")
    if found.damaged:
        raise typer.Exit(ExitCode.RECORDING)
