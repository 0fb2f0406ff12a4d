"""`rig inverse`, `ik`, `fk`: the model applied to CSV files."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from rig.cli.options import (
    ClusterOption,
    JsonOption,
    MechanismArgument,
    OutputOption,
    named_by_option,
    parse_choice,
    parse_pose,
)

_FRICTIONS: tuple[Literal["printed", "same", "none"], ...] = ("printed", "same", "none")

MotionArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="MOTION",
        help="CSV file: columns t, x y z qw qx qy qz, vx vy vz wx wy wz, ax ay az alx aly alz (base frame); "
        "fx fy fz mx my mz, an external wrench in platform axes, may follow. Also poses, x y z rx ry rz or leg lengths "
        "l1…l6 alone, a recording (.mcap, FILE#ID) or its export: see the researcher's guide.",
    ),
]
TrajectoryOption = Annotated[
    Path | None,
    typer.Option(
        "--trajectory",
        metavar="TRAJECTORY",
        help='Trajectory in place of MOTION: a file (TOML), or "demo"; also all that MOTION may be.',
    ),
]
StepOption = Annotated[
    float | None,
    typer.Option(
        "--step",
        metavar="S",
        help="Time between the samples; left out: the rows of MOTION, of a trajectory 0.01 s or a 600th of it.",
    ),
]


def _source(motion: Path | None, trajectory: Path | None) -> Path:
    """Return the one of both that is given."""
    given = [one for one in (motion, trajectory) if one is not None]
    if len(given) != 1:
        raise typer.BadParameter("give MOTION or --trajectory, one of them", param_hint="'MOTION'")
    return given[0]


def inverse(
    mechanism: MechanismArgument,
    output: OutputOption,
    motion: MotionArgument = None,
    trajectory: TrajectoryOption = None,
    step: StepOption = None,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="NAME",
            help="exact, or a published model for comparison: dasgupta-1998, pedrammehr-2012, massless; "
            "dasgupta-1998-mended and pedrammehr-2012-mended count every inertia once; without-spin and "
            "moment-along-leg are exact but for that.",
        ),
    ] = "exact",
    friction: Annotated[
        str,
        typer.Option(
            "--friction",
            metavar="printed|same|none",
            help="Friction of a published model: its paper's, the mechanism's as in the exact model, or none.",
        ),
    ] = "printed",
    reactions: Annotated[bool, typer.Option("--reactions", help="Add the reactions of every joint.")] = False,
    spherical: Annotated[
        bool,
        typer.Option(
            "--spherical-ends",
            help="Spherical joints also at the base ends: legs symmetric about their axes, without spin and "
            "end-joint friction; exact model only.",
        ),
    ] = False,
    peaks: Annotated[bool, typer.Option("--peaks", help="Print the peak reaction of every joint.")] = False,
    cluster: ClusterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Leg forces of a motion: inverse dynamics.

    Writes t,f1…f6: actuator forces in N, pushing positive. The published models are those printed in the papers,
    including their errors, without Coulomb friction unless --friction same.

    With --reactions also, per leg 1 to 6 and axis x, y, z of the base, N and N m: top1x… force of the platform on the
    leg at the spherical joint; base1x… force of the base on the leg at the universal joint; universal_moment1x… moment
    of the base on the leg there; prismatic_force1x… force of the lower on the upper part; guide_force1x… its component
    across the leg; prismatic_moment1x… moment of the lower on the upper part.

    With --peaks it prints the peak of each of these with its time, and the total load on the base; with --json as one
    JSON object.
    """
    from rig.cli.progress import show_notices
    from rig.services import InverseRequest
    from rig.services import inverse as inverse_dynamics

    if as_json and not peaks:
        raise typer.BadParameter("goes with --peaks only", param_hint="'--json'")
    chosen = parse_choice(friction, _FRICTIONS, "--friction")
    source = _source(motion, trajectory)
    with named_by_option():
        request = InverseRequest(
            mechanism,
            source,
            output,
            model,
            reactions,
            spherical,
            peaks,
            cluster,
            step,
            chosen,
        )
        found = inverse_dynamics(request, show_notices)
    if found.peaks is None:
        return
    from rig.cli.peaks import peaks_summary, print_peaks

    if as_json:
        paths = {"motion": str(source), "forces": str(found.forces)}
        summary = {"mechanism": found.mechanism, "model": model, "peaks": peaks_summary(found.peaks), "paths": paths}
        typer.echo(json.dumps(summary, indent=2))
    else:
        print_peaks(found.mechanism, found.peaks)


def ik(
    mechanism: MechanismArgument,
    output: OutputOption,
    motion: MotionArgument = None,
    trajectory: TrajectoryOption = None,
    step: StepOption = None,
) -> None:
    """Leg lengths, speeds and accelerations of a motion: inverse kinematics.

    Writes t,l1…l6,v1…v6,a1…a6 in m, m/s, m/s².
    """
    from rig.services import LegLengthsRequest, inverse_kinematics

    inverse_kinematics(LegLengthsRequest(mechanism, _source(motion, trajectory), output, step))


def fk(
    mechanism: MechanismArgument,
    legs: Annotated[
        Path,
        typer.Argument(
            metavar="LEGS",
            help="CSV file: columns t, increasing, l1…l6: leg lengths in m; v1…v6, their speeds in m/s, and then "
            "a1…a6, their accelerations in m/s², may follow. Also a recording (.mcap, FILE#ID) or its export.",
        ),
    ],
    output: OutputOption,
    guess: Annotated[
        str | None, typer.Option("--guess", metavar="x,y,z,qw,qx,qy,qz", help="A pose near the first row's.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every pose of each row, up to forty; takes no guess.")] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="With --all: seed of the search; left out: 0.")
    ] = None,
) -> None:
    """Platform poses of given leg lengths: forward kinematics, each row solved from the previous pose.

    Writes t,x,y,z,qw,qx,qy,qz; with speeds also vx,vy,vz,wx,wy,wz, with speeds and accelerations also
    ax,ay,az,alx,aly,alz (base frame): a motion for `rig inverse`. A row without a pose, in another assembly mode or,
    with speeds, at a singular pose ends the command.

    With --all every assembly mode, regardless of strokes and joint limits, including a platform below its base. Writes
    t,mode,x,y,z,qw,qx,qy,qz,residual, modes numbered from the highest downwards, residual the largest error of a leg in
    m; a row without a pose is missing. Prints the number of poses and whether it is certainly complete. Speeds and
    accelerations are not used.
    """
    from rig.services import AllPosesRequest, PosesRequest, find_all_poses, follow_poses

    if every and guess is not None:
        raise typer.BadParameter("finds every pose and takes no --guess", param_hint="'--all'")
    if not every and guess is None:
        raise typer.BadParameter("give a --guess near the first pose, or --all for every pose", param_hint="'--guess'")
    if not every and seed is not None:
        raise typer.BadParameter("goes with --all only", param_hint="'--seed'")
    if every:
        from rig.cli.assembly import QUICK_ROWS, print_modes
        from rig.cli.progress import service_events

        with service_events() as show:
            found = find_all_poses(
                AllPosesRequest(mechanism, legs, output, seed or 0),
                lambda event: show(event) if getattr(event, "total", 0) > QUICK_ROWS else None,
            )
        print_modes(found.times, found.modes)
    elif guess is not None:
        follow_poses(PosesRequest(mechanism, legs, output, parse_pose(guess, "--guess")))
