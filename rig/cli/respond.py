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
    dof: Annotated[str, typer.Option("--dof", metavar="x|y|z|rx|ry|rz", help="Excited coordinate.")] = "z",
    low: Annotated[float, typer.Option("--from", metavar="HZ", help="Lowest frequency.")] = 0.5,
    high: Annotated[float, typer.Option("--to", metavar="HZ", help="Highest frequency.")] = 30.0,
    amplitude: Annotated[
        float | None,
        typer.Option(
            "--amplitude",
            metavar="M|RAD",
            help="Amplitude of the sum; left out: 10 mm or 50 mrad, as the limits allow.",
        ),
    ] = None,
    period: Annotated[float, typer.Option("--period", metavar="S", help="Period of the excitation.")] = 4.0,
    periods: Annotated[int, typer.Option("--periods", help="Periods per realisation, without its fades.")] = 2,
    realizations: Annotated[
        int,
        typer.Option("--realizations", min=1, help="Successive realisations with random phases, to detect distortion."),
    ] = 6,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the phases and omitted multiples.")] = 0,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a motion about home that excites one coordinate at many frequencies at once, for `rig run`.

    Odd multiples of 1/period; some are omitted at random to detect non-linear distortion. The motion is checked as by
    `rig check`; without --amplitude it is as large as the limits allow.
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
        typer.Option("--dof", metavar="x|y|z|rx|ry|rz", help="Coordinate; left out: the excited one."),
    ] = None,
    low: Annotated[float | None, typer.Option("--from", metavar="HZ", help="Lower end of the frequency band.")] = None,
    high: Annotated[float | None, typer.Option("--to", metavar="HZ", help="Upper end; give both or neither.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="SVG file of Bode plots to write.")
    ] = None,
    friction: Annotated[
        float,
        typer.Option(
            "--friction", metavar="PART", help="Prior uncertainty of the model's friction, one sigma.", min=0.0
        ),
    ] = 0.2,
    sensor: Annotated[
        str | None,
        typer.Option("--sensor", metavar="NAME", help="Recorded sensor of kind imu; its response is computed, too."),
    ] = None,
    probe: ProbeOption = False,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Frequency response of a recorded excitation: commanded to measured pose, commanded to measured force.

    The best linear approximation over whole periods and phase realisations (`rig multisine`), else by Welch's method (a
    chirp); noise, even and odd distortion; dead time, corner and -3 dB bandwidth with their standard uncertainties, or
    a note that no model fits. Insufficient excitation is refused with its frequencies. If the cells do not measure a
    drive's friction, the model's is used for the drive's force: --friction is its uncertainty.
    """
    from kinematics import COORDINATES
    from rig.analysis import described
    from rig.cli.progress import service_events
    from rig.errors import ExitCode
    from rig.services import RespondRequest, respond, respond_contents

    if dof is not None and dof not in COORDINATES:
        raise typer.BadParameter(f"{dof!r} must be one of {', '.join(COORDINATES)}", param_hint="'--dof'")
    band = None
    if low is not None or high is not None:
        if low is None or high is None or not 0.0 < low < high < float("inf"):
            raise typer.BadParameter("give --from and --to, both above 0 Hz, the first below", param_hint="'--from'")
        band = (low, high)
    request = RespondRequest(recording, dof, band, None if probe else output, friction, sensor)
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
            typer.echo(f"{described(name, one, found.fits[name])}\n  measured   with {found.measured_with[name]}")
        if output is not None:
            typer.echo(f"plot       {output}")
    if found.damaged:
        raise typer.Exit(ExitCode.RECORDING)
