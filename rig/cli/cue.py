"""`rig cue`: motion cueing, a vehicle's motion as a motion of the rig."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.options import ConfigArgument, JsonOption, NewFolderOption, named_by_option, print_error, print_styled
from rig.errors import ExitCode

if TYPE_CHECKING:
    from rig.services import CueResult


def cue(
    config: ConfigArgument,
    vehicle: Annotated[
        Path,
        typer.Argument(
            metavar="VEHICLE",
            help="A CSV file of the vehicle's motion: t, s; ax, ay, az: specific force with that of gravity, m/s^2; "
            "p, q, r: angular rate, rad/s. Or a manoeuvre: step, sine, drive (a car's double lane change and braking).",
        ),
    ],
    output: NewFolderOption,
    tuning: Annotated[
        str | None,
        typer.Option(
            "--tuning",
            metavar="FILE",
            help="A tuning of the washout (TOML), or the name of a shipped one; left out: that named as the mechanism.",
        ),
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", metavar="HZ", help="Rate of the washout; left out: the rig's.")
    ] = None,
    no_fidelity: Annotated[
        bool,
        typer.Option("--no-fidelity", help="Leave out the objective motion cueing test, which takes up to a minute."),
    ] = False,
    response: Annotated[
        list[Path] | None,
        typer.Option(
            "--response",
            metavar="FILE",
            help="The rig's own response along a coordinate, as rig respond --json writes it; several may be given.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier cueing in DIR.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Motion cueing: a vehicle's motion as a motion of the rig, within its limits whatever the vehicle does.

    The washout scales the vehicle's specific force and angular rates, gives their onset by moving, and sustained force
    by a tilt that is too slow to be noticed. Writes motion.csv for `rig check` and `rig run`, what is felt at the head,
    a page with figures, and how faithful the cues are by axis and frequency. Ends with 4 if the rig's check refuses the
    motion.
    """
    from rig.cli.progress import service_events
    from rig.services import CueRequest
    from rig.services import cue as cue_vehicle

    with named_by_option(vehicle="VEHICLE", responses="--response"), service_events() as show:
        found = cue_vehicle(
            CueRequest(
                config,
                vehicle,
                output,
                tuning=tuning,
                rate=rate,
                fidelity=not no_fidelity,
                responses=tuple(response or ()),
                force=force,
            ),
            show,
        )
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=2, ensure_ascii=False))
    else:
        _print_result(found)
    if not found.passed:
        if not as_json:
            print_error(found.cueing.verdict.message)
        raise typer.Exit(ExitCode.REFUSED)


def _print_result(found: "CueResult") -> None:
    summary = found.as_dict()
    typer.echo(
        f"{summary['vehicle_duration_s']:.1f} s of the vehicle, {summary['duration_s']:.1f} s of the platform, "
        f"tuning {summary['tuning']['name']}, {summary['tuning']['algorithm']}"
    )
    use = ", ".join(f"{name} {100.0 * value:.0f} %" for name, value in summary["largest_use"].items())
    typer.echo(f"largest use of the legs' limits: {use}")
    shares = ", ".join(f"{name} {100.0 * share:.1f} %" for name, share in summary["shares"].items())
    typer.echo(f"share of the vehicle's time: {shares}")
    print_styled(
        "the rig's check passes the motion" if found.passed else "the rig's check refuses the motion",
        fg="green" if found.passed else "red",
    )
    if found.test is not None:
        print_styled("fidelity at 1 rad/s", bold=True)
        for one in summary["omct"]["fidelity_at_1_rad_s"]:
            degrees = 57.29577951 * one["phase_rad"]
            typer.echo(f"  {one['name']:6} gain {one['gain']:.2f}, phase {degrees:4.0f}°: {one['class']}")
    typer.echo(f"motion: {found.motion}")
    typer.echo(f"page: {found.page}")
