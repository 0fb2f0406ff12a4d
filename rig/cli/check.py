"""`rig check`: check a configuration, its mechanism and a trajectory before any motion."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.options import ConfigArgument, JsonOption, print_error, print_styled
from rig.errors import ConfigError, ExitCode

if TYPE_CHECKING:
    from rig.services import CheckResult


def check(
    config: ConfigArgument = "virtual",
    trajectory: Annotated[
        str | None,
        typer.Argument(
            metavar="TRAJECTORY",
            help='A trajectory file (TOML), a table or a recording of a motion, or the shipped "demo".',
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a configuration with its mechanism and control loop, and whether the rig may run a trajectory.

    For the trajectory it shows the worst sample for every limit and, if one is violated, the largest amplitude about
    its start pose that passes. Ends with 2 for an invalid file, including a virtual plant's, 4 for a trajectory outside
    the limits, a control loop unstable at the configured rate, or a serial line too slow for the rate. With --json an
    invalid configuration is reported by its `faults`, each with key, code, value and bound.
    """
    from rig.services import CheckRequest
    from rig.services import check as check_files

    try:
        found = check_files(CheckRequest(config, trajectory))
    except ConfigError as error:
        if as_json:
            faults = [fault.as_dict() for fault in error.found]
            typer.echo(json.dumps({"config": config, "faults": faults}, indent=2))
        raise
    if as_json:
        summary = found.as_dict()
        typer.echo(json.dumps(summary if trajectory is None else summary | {"trajectory": trajectory}, indent=2))
    else:
        _print(found, trajectory)
    if not found.passed:
        if not as_json:
            print_error("\n".join(fault.text for fault in found.faults))
        raise typer.Exit(ExitCode.REFUSED)


def _print(found: "CheckResult", trajectory: str | None) -> None:
    rig, loop, verdict = found.config, found.loop, found.verdict
    typer.echo(f"configuration {rig.name!r} ({rig.path}): valid")
    typer.echo(f"mechanism {rig.machine.name!r}: valid")
    for warning in found.warnings:
        typer.echo(f"  warning: {warning.text}")
    if rig.safety.off:
        typer.echo(f"  warning: checks {rig.safety.disabled_text}")
    own = [str(leg) for leg, own in enumerate(rig.own_loops, start=1) if own]
    inner = f"; the drive of leg {', '.join(own)} closes its own" if own else ""
    margin = f"stable up to {loop.gain_margin:.3g} times its gains at {loop.rate:g} Hz{inner}"
    typer.echo(f"control loop: {margin if loop.at_host else rig.gains_unused}")
    if found.bandwidth is not None:
        typer.echo(f"  natural frequency at home: {found.bandwidth.span} Hz")
    for share in found.buses.described:
        typer.echo(f"line {share}")
    if loop.passed and loop.message:
        typer.echo(f"  warning: {loop.message}")
    if verdict is None:
        return
    typer.echo(f"trajectory {trajectory} ({verdict.duration:g} s, {verdict.samples} samples):")
    for line in verdict.checks:
        print_styled(f"  {'ok  ' if line.passed else 'FAIL'} ", fg="green" if line.passed else "red", nl=False)
        typer.echo(str(line))
    typer.echo("  passes" if verdict.passed else "  does not pass")
