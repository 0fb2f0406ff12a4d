"""`rig inverse`, `ik`, `fk`: the model applied to CSV files."""

import json
from pathlib import Path
from typing import Annotated

import typer

from rig.cli.options import (
    ClusterOption,
    JsonOption,
    MechanismArgument,
    OutputOption,
    parse_pose,
    print_warning,
)

MotionArgument = Annotated[
    Path,
    typer.Argument(
        metavar="MOTION.csv",
        help="Columns t, x y z qw qx qy qz, vx vy vz wx wy wz, ax ay az alx aly alz (base frame); "
        "fx fy fz mx my mz, an external wrench in platform axes, may follow.",
    ),
]


def inverse(
    mechanism: MechanismArgument,
    motion: MotionArgument,
    output: OutputOption,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="NAME",
            help="exact, or a published one to compare it with: dasgupta-1998, pedrammehr-2012, massless.",
        ),
    ] = "exact",
    reactions: Annotated[bool, typer.Option("--reactions", help="Add the reactions of every joint.")] = False,
    spherical: Annotated[
        bool,
        typer.Option(
            "--spherical-ends",
            help="Spherical joints at the legs' base ends too: legs that are symmetric about their axes and do not "
            "spin, without friction at their end joints; the exact model.",
        ),
    ] = False,
    peaks: Annotated[bool, typer.Option("--peaks", help="Print the greatest reaction of every joint.")] = False,
    cluster: ClusterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Leg forces of a motion: inverse dynamics.

    Writes t,f1…f6: actuator forces in N, pushing positive. The published models are as their papers print them, errors
    included, and without Coulomb friction.

    With --reactions also, per leg 1 to 6 and axis x, y, z of the base, N and N m:
    top1x… force of the platform on the leg at the spherical joint;
    base1x… force of the base on the leg at the universal joint;
    universal_moment1x… moment of the base on the leg there;
    prismatic_force1x… force of the lower on the upper part;
    guide_force1x… the part of it across the leg;
    prismatic_moment1x… moment of the lower on the upper part.

    With --peaks prints when each of these is greatest, and what the base as a whole bears; with --json besides, as one
    JSON object.
    """
    import numpy as np

    from dynamics import (
        MODELS,
        Dynamics,
        inverse_batch,
        load_mechanism,
        reaction_peaks,
        variant_forces,
        with_spherical_ends,
    )
    from rig.csvio import MOTION, REACTIONS, WRENCH, check_output, per_leg, read_table, write_table

    if model not in MODELS:
        raise typer.BadParameter(f"{model!r} must be one of {', '.join(MODELS)}", param_hint="'--model'")
    if model != "exact" and (reactions or peaks):
        option = "--reactions" if reactions else "--peaks"
        raise typer.BadParameter(
            f"joint reactions are of the exact model only, not of {model}", param_hint=f"'{option}'"
        )
    if model != "exact" and spherical:
        raise typer.BadParameter(f"goes with the exact model, not with {model}", param_hint="'--spherical-ends'")
    if as_json and not peaks:
        raise typer.BadParameter("goes with --peaks only", param_hint="'--json'")
    if cluster is not None and (reactions or peaks or model != "exact"):
        raise typer.BadParameter("the forces of the exact model only, without reactions", param_hint="'--cluster'")
    check_output(output)
    machine = load_mechanism(mechanism, evaluate_only=True)
    _warn(machine.warnings)
    if spherical:
        machine = with_spherical_ends(machine)
    if model != "exact" and any(leg.friction.coulomb for leg in machine.legs):
        _warn((f"model {model} has no Coulomb friction, the mechanism's is left out",))
    table = read_table(motion, MOTION, [WRENCH])
    motions = table.columns(MOTION)
    wrenches = table.columns(WRENCH) if table.has(WRENCH) else None
    names, columns = ["t", *per_leg("f")], [table.times[:, np.newaxis]]
    if cluster is not None:
        from rig.workspace import inverse_on_cluster, open_cluster

        with open_cluster(cluster) as client:
            columns.append(inverse_on_cluster(client, machine, motions, wrenches))
    elif model != "exact":
        columns.append(variant_forces(model, machine, motions, wrenches))
    elif not reactions:
        columns.append(inverse_batch(machine, motions, wrenches))
    else:
        result = Dynamics(machine).inverse(motions, wrenches)
        columns.append(result.forces)
        vectors = (
            result.tops,
            result.base_forces,
            result.universal_moments,
            result.prismatic_forces,
            result.guide_forces,
            result.prismatic_moments,
        )
        for prefix, values in zip(REACTIONS, vectors, strict=True):
            names += per_leg(prefix, "xyz")
            columns.append(values.reshape(len(values), -1))
    write_table(output, names, np.hstack(columns))
    if peaks:
        from rig.cli.peaks import peaks_summary, print_peaks

        found = reaction_peaks(machine, motions, wrenches, times=table.times)
        if as_json:
            paths = {"motion": str(motion), "forces": str(output)}
            summary = {"mechanism": machine.name, "model": model, "peaks": peaks_summary(found), "paths": paths}
            typer.echo(json.dumps(summary, indent=2))
        else:
            print_peaks(machine.name, found)


def ik(mechanism: MechanismArgument, motion: MotionArgument, output: OutputOption) -> None:
    """Leg lengths, speeds and accelerations of a motion: inverse kinematics.

    Writes t,l1…l6,v1…v6,a1…a6 in m, m/s, m/s².
    """
    import numpy as np

    from dynamics import load_mechanism
    from kinematics import leg_kinematics
    from rig.csvio import MOTION, WRENCH, check_output, per_leg, read_table, write_table

    check_output(output)
    machine = load_mechanism(mechanism, evaluate_only=True)
    table = read_table(motion, MOTION, [WRENCH])
    legs = leg_kinematics(machine.geometry, table.columns(MOTION))
    names = ("t", *per_leg("l"), *per_leg("v"), *per_leg("a"))
    write_table(output, names, np.column_stack([table.times, legs.length, legs.velocity, legs.acceleration]))


def fk(
    mechanism: MechanismArgument,
    legs: Annotated[
        Path,
        typer.Argument(
            metavar="LEGS.csv",
            help="Columns t, increasing, l1…l6: leg lengths in m; v1…v6, their speeds in m/s, and then a1…a6, their "
            "accelerations in m/s², may follow.",
        ),
    ],
    output: OutputOption,
    guess: Annotated[
        str | None, typer.Option("--guess", metavar="x,y,z,qw,qx,qy,qz", help="A pose near that of the first row.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every pose of each row, up to forty; takes no guess.")] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="With --all: where the search starts; 0 if not given.")
    ] = None,
) -> None:
    """Platform poses of given leg lengths: forward kinematics, each row starting from the pose before.

    Writes t,x,y,z,qw,qx,qy,qz; with speeds also vx,vy,vz,wx,wy,wz, with speeds and accelerations also
    ax,ay,az,alx,aly,alz (base frame): a motion, as `rig inverse` reads it. A row that leads to no pose, to another
    assembly mode or, with speeds, to a singular pose ends the command.

    With --all instead every way to assemble the legs, whatever their strokes and joint limits, the platform below its
    base not left out. Writes t,mode,x,y,z,qw,qx,qy,qz,residual, modes numbered from the highest downwards, residual
    the largest error of a leg in m; a row that no pose fits has none. Prints how many there are and whether they are
    certain to be all. Speeds and accelerations are not used.
    """
    import numpy as np

    from dynamics import load_mechanism
    from rig.cli.assembly import write_all_poses, write_motion
    from rig.csvio import check_output, per_leg, read_table
    from rig.errors import InputError

    if every and guess is not None:
        raise typer.BadParameter("finds every pose and takes no --guess", param_hint="'--all'")
    if not every and guess is None:
        raise typer.BadParameter("give a --guess near the first pose, or --all for every pose", param_hint="'--guess'")
    if not every and seed is not None:
        raise typer.BadParameter("goes with --all only", param_hint="'--seed'")
    pose = np.array(parse_pose(guess, "--guess")) if guess is not None else np.empty(7)
    check_output(output)
    machine = load_mechanism(mechanism, evaluate_only=True)
    table = read_table(legs, per_leg("l"), [per_leg("v"), per_leg("a")], increasing=True)
    if every:
        write_all_poses(machine.geometry, table, output, seed or 0)
        return
    if table.has(per_leg("a")) and not table.has(per_leg("v")):
        raise InputError(f"{legs}: a1…a6 without v1…v6: the leg accelerations say nothing without the leg speeds")
    write_motion(machine.geometry, table, pose, output)


def _warn(warnings: tuple[str, ...]) -> None:
    for warning in warnings:
        print_warning(warning)
