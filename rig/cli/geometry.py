"""`rig calibrate geometry`: joint positions and length offsets from a tracker's poses and the legs' lengths."""

import json
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rig.cli.options import (
    JsonOption,
    MechanismArgument,
    ProbeOption,
    ProgressOption,
    parse_quantity,
    print_contents,
    print_warning,
    refused_parameters,
)

HELP = """Calibrate joint positions and encoder offsets, from measured poses and leg lengths.

A row of --data is one pose at rest, in SI units: l1…l6, the encoders' lengths, and one of x,y,z,qw,qx,qy,qz, the pose \
of a target on the platform; t1x,t1y,t1z,t2x,…, three or more targets; x,y,z, a single target; rx,ry, a level on the \
platform (angles of R = Rz Ry Rx). The positions of tracker and targets need not be known. Unobservable directions \
keep the drawing's values and tolerances. The tracker's scale is estimated too. Reports the uncertainty of each number \
and the errors of held-out poses. Data that leave poses of the workspace too uncertain are refused (exit code 4), with \
the unobservable directions.

--plan N instead writes the N most informative poses in addition to those in --data, and --motion a trajectory that \
rests at each of them.
"""

POSES_HELP = """Write the measurements for `rig calibrate geometry` from a recording with a tracker.

A row is one rest of a second or more: the mean of the poses by the sensor of kind pose, and of the lengths by the \
drives, without the length offsets of parameters that were loaded. Shows the standard uncertainty of these means, by \
what scatters within a rest, as options for `rig calibrate geometry`.
"""


class KnownFrames(StrEnum):
    """Frames in which the poses are given."""

    NONE = "none"
    BASE = "base"
    PLATFORM = "platform"
    BOTH = "both"


def geometry(
    mechanism: MechanismArgument,
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Measured poses and leg lengths: CSV, at least 12 rows.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write, never overwritten; left out: geometry-DATE.toml, with --plan geometry-poses.csv.",
        ),
    ] = None,
    position_sigma: Annotated[
        str, typer.Option(metavar="LENGTH", help="Standard deviation of a measured position, by axis.")
    ] = "20 um",
    rotation_sigma: Annotated[
        str, typer.Option(metavar="ANGLE", help="Standard deviation of a measured orientation, by axis, or of a level.")
    ] = "100 urad",
    length_sigma: Annotated[
        str, typer.Option(metavar="LENGTH", help="Standard deviation of a measured leg length.")
    ] = "5 um",
    joint_tolerance: Annotated[
        str, typer.Option(metavar="LENGTH", help="Standard deviation of a joint position from the drawing, by axis.")
    ] = "2 mm",
    offset_tolerance: Annotated[
        str, typer.Option(metavar="LENGTH", help="Standard deviation of a length offset about the nominal one.")
    ] = "2 mm",
    scale_sigma: Annotated[
        float, typer.Option(metavar="PART", help="Standard deviation of the tracker's scale, 2e-5 for 20 µm/m.")
    ] = 20e-6,
    most_position_sigma: Annotated[
        str,
        typer.Option(metavar="LENGTH", help="Maximum uncertainty of a pose: position, along its worst axis."),
    ] = "0.5 mm",
    most_rotation_sigma: Annotated[str, typer.Option(metavar="ANGLE", help="The same for its rotation.")] = "2 mrad",
    hold_out: Annotated[
        float,
        typer.Option(
            metavar="PART", help="Fraction of the rows held out at a time and predicted by a fit to the others."
        ),
    ] = 0.2,
    frames: Annotated[
        KnownFrames, typer.Option(help="Known frames: poses are given in the base's, the platform's own, or both.")
    ] = KnownFrames.NONE,
    targets: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Positions of the targets in the platform frame, if known: CSV x,y,z."),
    ] = None,
    homing: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Lengths l1…l6 measured at one pose after each of several homings: CSV."),
    ] = None,
    plan: Annotated[int | None, typer.Option(min=1, max=1000, metavar="N", help="Plan N poses instead.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the candidate poses of --plan.")] = 0,
    motion: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --plan: trajectory to write for `rig run`, which rests 2 s at each of these poses.",
        ),
    ] = None,
    day: Annotated[
        datetime | None, typer.Option("--date", formats=["%Y-%m-%d"], help="Date of the calibration; left out: today.")
    ] = None,
    operator: Annotated[str, typer.Option(help="Operator of the calibration; stored in the file.")] = "",
    note: Annotated[str, typer.Option(help="Note; stored in the file.")] = "",
    probe: ProbeOption = False,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Calibrate the geometry; see `HELP`."""
    from kinematics import Quantity
    from rig.cli import geometry_output
    from rig.cli.progress import service_events
    from rig.errors import RefusedError
    from rig.services import (
        GeometryRequest,
        UnobservableGeometryError,
        calibrate_geometry,
        geometry_contents,
        homing_spread,
        plan_geometry,
        warning_words,
    )

    if data is None and plan is None and homing is None:
        raise typer.BadParameter("give --data FILE, --plan N or --homing FILE")
    if motion is not None and plan is None:
        raise typer.BadParameter("goes with --plan", param_hint="'--motion'")
    if not 0.0 < hold_out <= 0.5:
        raise typer.BadParameter(f"{hold_out:g}, must be above 0 and at most 0.5", param_hint="'--hold-out'")
    date = (day or datetime.now()).date()
    target = output or Path("geometry-poses.csv" if plan is not None else f"geometry-{date.isoformat()}.toml")
    length, angle = Quantity("length", "m"), Quantity("angle", "rad")
    with refused_parameters():
        request = GeometryRequest(
            mechanism=mechanism,
            data=data,
            output=target,
            position_sigma=parse_quantity(position_sigma, length, "--position-sigma"),
            rotation_sigma=parse_quantity(rotation_sigma, angle, "--rotation-sigma"),
            length_sigma=parse_quantity(length_sigma, length, "--length-sigma"),
            joint_tolerance=parse_quantity(joint_tolerance, length, "--joint-tolerance"),
            offset_tolerance=parse_quantity(offset_tolerance, length, "--offset-tolerance"),
            scale_sigma=scale_sigma,
            most_position_sigma=parse_quantity(most_position_sigma, length, "--most-position-sigma"),
            most_rotation_sigma=parse_quantity(most_rotation_sigma, angle, "--most-rotation-sigma"),
            hold_out=hold_out,
            frames=frames.value,
            targets=targets,
            homing=homing,
            plan=plan,
            seed=seed,
            motion=motion,
            day=date,
            operator=operator,
            note=note,
        )
    try:
        with service_events(progress) as report:
            if probe:
                print_contents(geometry_contents(request, report).text, as_json)
                return
            if plan is not None:
                planned = plan_geometry(request, report).as_dict()
                typer.echo(json.dumps(planned, indent=2) if as_json else geometry_output.plan_words(planned))
                return
            if data is None:
                homed = homing_spread(request, report)
                typer.echo(json.dumps(homed.as_dict(), indent=2) if as_json else geometry_output.homing_words(homed))
                return
            result = calibrate_geometry(request, report)
    except UnobservableGeometryError as error:
        if as_json:
            typer.echo(json.dumps(error.result, indent=2))
        raise RefusedError(str(error)) from None
    if as_json:
        typer.echo(json.dumps(result.as_dict(), indent=2))
        return
    geometry_output.print_result(result.found, result.limits)
    if result.homing is not None:
        typer.echo(geometry_output.homing_words(result.homing))
    for warning in result.found.warnings:
        print_warning(warning_words(warning))
    typer.echo(f'parameters: {target}\nname them in the configuration: parameters = ["{target.name}"]')


def geometry_poses(
    recording: Annotated[
        Path, typer.Argument(metavar="RECORDING", help="A recording (.mcap) in which the platform rests at many poses.")
    ],
    sensor: Annotated[str, typer.Option("--sensor", metavar="NAME", help="Recorded sensor of kind pose.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="CSV file to write, never overwritten.")
    ] = Path("geometry-poses.csv"),
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write the measurements of a recording; see `POSES_HELP`."""
    from rig.cli.progress import service_events
    from rig.services import GeometryPosesRequest, geometry_poses

    with service_events(progress) as report:
        found = geometry_poses(GeometryPosesRequest(recording, sensor, output), report)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=2))
        return
    typer.echo(
        f"{len(found.poses)} poses at rest: {output}\nuncertainty of their means by scatter alone: --position-sigma "
        f"'{1e6 * found.position_sigma:.3g} um' --rotation-sigma '{1e6 * found.rotation_sigma:.3g} urad' "
        f"--length-sigma '{1e6 * found.length_sigma:.3g} um'"
    )
