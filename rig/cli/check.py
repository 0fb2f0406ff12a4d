"""`rig check`: a configuration, its mechanism and a trajectory, before anything moves."""

import json
from typing import Annotated, Any

import typer

from rig.cli.options import ConfigArgument, JsonOption, print_error, print_styled
from rig.errors import ExitCode


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
    """Check a configuration with its mechanism and control loop, and whether the rig may run a trajectory.

    For the trajectory it shows every limit beside the worst sample, and, where it does not pass, the largest amplitude
    about its start pose that would. Ends with 2 for a file that is wrong, that of a virtual plant too, 4 for a
    trajectory outside the limits, a control loop that is unstable at the configured rate, or a serial line that does
    not carry it.
    """
    from kinematics import load_trajectory
    from rig.commissioning import check_devices
    from rig.config import load_config
    from rig.engine import judge_buses, make_drive_group
    from rig.safety import check_loop, check_trajectory, judge_sag
    from rig.virtual import VirtualRig

    rig = load_config(config)
    check_devices(rig)
    bank = make_drive_group(rig)
    if rig.virtual is not None:
        VirtualRig(rig)  # with a plant of its own, which may be wrong
    loop, buses = check_loop(rig), judge_buses(rig, bank.plans)
    warnings = [*rig.machine.warnings, *filter(None, [rig.drives.unidentified, bank.unwatched, judge_sag(rig).message])]
    result: dict[str, Any] = {
        "config": str(rig.path),
        "mechanism": rig.machine.name,
        "warnings": warnings,
        "checks_off": list(rig.safety.off),
        "control_loop": loop.as_dict(),
        "buses": buses.as_dict(),
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
        for warning in warnings:
            typer.echo(f"  warning: {warning}")
        if rig.safety.off:
            typer.echo(f"  warning: checks {rig.safety.said_off}")
        own = [str(leg) for leg, own in enumerate(rig.own_loops, start=1) if own]
        beside = f"; the drive of leg {', '.join(own)} closes its own" if own else ""
        margin = f"bears {loop.gain_margin:.3g} times its gains at {loop.rate:g} Hz{beside}"
        typer.echo(f"control loop: {margin if loop.at_host else rig.gains_unused}")
        for share in buses.described:
            typer.echo(f"line {share}")
        if loop.passed and loop.message:
            typer.echo(f"  warning: {loop.message}")
    if verdict is not None and not as_json:
        typer.echo(f"trajectory {trajectory} ({verdict.duration:g} s, {verdict.samples} samples):")
        for line in verdict.checks:
            print_styled(f"  {'ok  ' if line.passed else 'FAIL'} ", fg="green" if line.passed else "red", nl=False)
            typer.echo(str(line))
        typer.echo("  passes" if verdict.passed else "  does not pass")
    faults = [] if loop.passed else [loop.message]
    faults += [] if buses.passed else [buses.message]
    faults += [] if verdict is None or verdict.passed else [verdict.message]
    if faults:
        if not as_json:
            print_error("\n".join(faults))
        raise typer.Exit(ExitCode.REFUSED)
