"""`rig wrench`: the external wrench on the platform over a recording, and contacts."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.options import JsonOption, parse_span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rig.analysis import Contact

_AXES = ("fx", "fy", "fz", "mx", "my", "mz")
_LISTED = 20


def wrench_command(
    recording: Annotated[Path, typer.Argument(metavar="RECORDING", help="A recording (.mcap).")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="CSV file of the wrench over time to write."),
    ] = None,
    bandwidth: Annotated[
        float, typer.Option("--bandwidth", metavar="HZ", help="Cutoff of the residuals' low-pass; 0: none.", min=0.0)
    ] = 20.0,
    false_alarms: Annotated[
        float,
        typer.Option("--false-alarms", metavar="PER_HOUR", help="Tolerated false alarms per hour caused by noise."),
    ] = 1.0,
    quiet: Annotated[
        str | None,
        typer.Option(
            "--quiet",
            metavar="FROM,TO",
            help="Interval without contact, rig time, s, from which noise and bias are estimated.",
        ),
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option(
            "--noise", metavar="N", help="Standard deviation of each load cell's noise; left out: the recording's."
        ),
    ] = None,
    model_sigma: Annotated[
        float,
        typer.Option("--model-sigma", metavar="N", help="Standard uncertainty of the model at a cell.", min=0.0),
    ] = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Estimate the external wrench, in platform axes, and contacts from the load cells' residuals.

    Each component has its standard uncertainty. A contact begins where the six residuals together exceed the threshold
    at which noise alone causes --false-alarms. Give --quiet if the model is not exact: bias, covariance and
    autocorrelation of its residual there then count as noise.
    """
    from rig.cli.progress import service_events
    from rig.errors import ExitCode
    from rig.services import WrenchRequest, external_wrench

    if noise is not None and quiet is not None:
        raise typer.BadParameter("give --noise or --quiet, not both", param_hint="'--noise'")
    request = WrenchRequest(
        recording=recording,
        output=output,
        bandwidth=bandwidth or None,
        false_alarms=false_alarms,
        quiet=None if quiet is None else parse_span(quiet, "--quiet"),
        noise=noise,
        model_sigma=model_sigma,
    )
    with service_events() as report:
        result = external_wrench(request, report)
    summary = result.as_dict()
    typer.echo(json.dumps(summary, indent=2) if as_json else _described(summary, result.contacts))
    if result.damaged:
        raise typer.Exit(ExitCode.RECORDING)


def _described(summary: dict[str, Any], found: "Sequence[Contact]") -> str:
    from kinematics import decimals_of

    width = summary["bandwidth_hz"]
    sigma = list(summary["sigma"].values())
    force, moment = decimals_of(sigma[:3], 3), decimals_of(sigma[3:], 4)
    lines = [
        f"judged     {summary['judged_s']:.3f} s of {summary['begin_s']:.3f} to {summary['end_s']:.3f} s, "
        + ("not smoothed" if width is None else f"bandwidth {width:g} Hz"),
        f"noise      {summary['noise']}",
        f"sigma      force {', '.join(f'{value:.{force}f}' for value in sigma[:3])} N; "
        f"moment {', '.join(f'{value:.{moment}f}' for value in sigma[3:])} N m",
        f"threshold  distance² {summary['threshold']:.1f}: {summary['false_alarms_per_hour']:g} false alarms an hour",
        f"contacts   {len(found)}",
    ]
    if found:
        lines.append(f"  {'from s':>9} {'to s':>9} {'peak s':>9}" + "".join(f" {axis:>15}" for axis in _AXES))
    digits = decimals_of(sigma, 2)
    for one in found[:_LISTED]:
        values = "".join(
            f" {f'{value:.{digits}f} ± {spread:.{digits}f}':>15}"
            for value, spread in zip(one.wrench, one.sigma, strict=True)
        )
        lines.append(f"  {one.begin:9.3f} {one.end:9.3f} {one.peak:9.3f}{values}")
    if len(found) > _LISTED:
        lines.append(f"  and {len(found) - _LISTED} more; --json has all")
    if summary["output"]:
        lines.append(f"wrench     {summary['output']}")
    return "\n".join(lines)
