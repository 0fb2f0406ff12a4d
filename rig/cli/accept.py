"""`rig accept`: the acceptance test of a motion base."""

import json
from pathlib import Path
from typing import Annotated

import typer

from rig.cli.options import (
    ConfigArgument,
    JsonOption,
    ProgressOption,
    UnprovenOption,
    named_by_option,
)


def accept(
    config: ConfigArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="HTML page to write, with the numbers as .json beside it; left out: next to the recording.",
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="DIR", help="Folder for the recording; left out: the configuration's."),
    ] = None,
    axis: Annotated[
        list[str] | None,
        typer.Option("--axis", metavar="x|y|z|rx|ry|rz", help="Moving axis; may be repeated; left out: all."),
    ] = None,
    test: Annotated[
        list[str] | None, typer.Option("--test", metavar="NAME", help="A test; may be repeated; left out: all.")
    ] = None,
    lockstep: Annotated[
        bool,
        typer.Option("--lockstep", help="Rig and engine in one process on a manual clock: fast and deterministic."),
    ] = False,
    recording: Annotated[
        Path | None,
        typer.Option(
            "--recording",
            metavar="FILE",
            help="Evaluate a recording of the test again; nothing moves.",
        ),
    ] = None,
    accelerometer: Annotated[
        Path | None,
        typer.Option(
            "--accelerometer",
            metavar="FILE",
            help="CSV of an accelerometer during the recording: t, ax, ay, az, specific force in platform axes.",
        ),
    ] = None,
    position: Annotated[
        tuple[float, float, float],
        typer.Option("--accelerometer-at", metavar="X Y Z", help="Place of the accelerometer, platform frame, m."),
    ] = (0.0, 0.0, 0.0),
    tracker: Annotated[
        Path | None,
        typer.Option(
            "--tracker",
            metavar="FILE",
            help="CSV of a tracker during the recording: t, x, y, z, qw, qx, qy, qz, the platform in the base frame.",
        ),
    ] = None,
    unproven: UnprovenOption = False,
    operator: Annotated[str | None, typer.Option("--operator", help="Operator, stored in the recording.")] = None,
    note: Annotated[str | None, typer.Option("--note", help="Note, stored in the recording.")] = None,
    look: Annotated[
        bool, typer.Option("--look", help="Only show the motions with their sizes; nothing moves.")
    ] = False,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Test a motion base for acceptance, as AGARD-AR-144, 14 CFR Part 60 and ISO 9283 do, and report.

    The rig homes, engages, runs some fifty motions (18 minutes), each at a part of the largest size that passes the
    check, and parks. Excursion, speed, acceleration, describing function, linearity, acceleration noise, hysteresis,
    dynamic threshold, crosstalk, turn-around bump, leg balance, smoothness, repeatability, pose, settling, path and
    force residual: each number with its uncertainty, bound, source and verdict. Bounds are in [acceptance] of CONFIG.
    Poses and accelerations are those of the encoders; --recording evaluates the test again with an accelerometer's or
    a tracker's file. A test that ends early, by a fault or Ctrl-C, reports what it has measured. Ends with 6 if a
    number fails.
    """
    from kinematics import COORDINATES
    from rig.cli.progress import service_events
    from rig.services import AcceptRequest, plan_acceptance
    from rig.services import accept as accept_rig

    with named_by_option(axes="--axis", tests="--test"):
        request = AcceptRequest(
            config=config,
            output=output,
            axes=tuple(axis or COORDINATES),
            tests=tuple(test or ()),
            lockstep=lockstep,
            recording=recording,
            accelerometer=accelerometer,
            accelerometer_position=position,
            tracker=tracker,
            unproven=unproven,
            operator=operator,
            note=note,
            folder=folder,
        )
    with service_events(progress) as report:
        result = plan_acceptance(request, report) if look else accept_rig(request, report)
    typer.echo(json.dumps(result.as_dict(), indent=2) if as_json else "\n".join(result.lines()))
    if result.exit_code:
        raise typer.Exit(result.exit_code)
