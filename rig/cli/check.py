"""`rig check`: a configuration, its mechanism and a trajectory, before anything moves."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.options import ConfigArgument, JsonOption
from rig.errors import ConfigError, ExitCode

if TYPE_CHECKING:
    from rig.config import RigConfig


def check(
    config: ConfigArgument = "virtual",
    trajectory: Annotated[
        str | None,
        typer.Argument(
            metavar="TRAJECTORY", help='A trajectory (TOML, or CSV of poses), or "demo", the one that comes along.'
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a configuration with its mechanism, and whether the rig may run a trajectory.

    For the trajectory it shows every limit beside the worst sample, and, where it does not pass, the largest amplitude
    about its start pose that would. Ends with 2 for a file that is wrong, 4 for a trajectory outside the limits.
    """
    from kinematics import load_trajectory
    from rig.checks import check_trajectory
    from rig.config import load_config

    rig = load_config(config)
    _check_devices(rig)
    result: dict[str, Any] = {
        "config": str(rig.path),
        "mechanism": rig.machine.name,
        "warnings": list(rig.machine.warnings),
    }
    verdict = None
    if trajectory is not None:
        path = load_trajectory(trajectory, rig.machine.geometry.home)
        verdict = check_trajectory(rig.machine, rig.safety, path, rig.rate)
        result |= {"trajectory": trajectory, "verdict": verdict.as_dict()}
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        typer.echo(f"configuration {rig.name!r} ({rig.path}): valid")
        typer.echo(f"mechanism {rig.machine.name!r}: valid")
        for warning in rig.machine.warnings:
            typer.echo(f"  warning: {warning}")
    if verdict is None:
        return
    if not as_json:
        typer.echo(f"trajectory {trajectory} ({verdict.duration:g} s, {verdict.samples} samples):")
        for line in verdict.checks:
            typer.secho(f"  {'ok  ' if line.passed else 'FAIL'} ", fg="green" if line.passed else "red", nl=False)
            typer.echo(str(line))
        typer.echo("  passes" if verdict.passed else "  does not pass")
    if not verdict.passed:
        if not as_json:
            typer.secho("error: ", fg="red", bold=True, err=True, nl=False)
            typer.echo(verdict.message, err=True)
        raise typer.Exit(ExitCode.REFUSED)


def _check_devices(rig: "RigConfig") -> None:
    """Make the drives, cells and, for a virtual rig, their twins and faults, without connecting or serving anything."""
    from actuators import ConfigurationError
    from rig.engine.devices import make_bank
    from rig.virtual import VirtualRig

    try:
        make_bank(rig)
        if rig.virtual is not None:
            VirtualRig(rig)
    except ConfigurationError as error:
        raise ConfigError(f"configuration {rig.path} cannot be used:\n  {error}") from error
