"""`rig export-fmu`: a mechanism's exact model as a functional mock-up unit."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from rig.cli.options import JsonOption, MechanismArgument, ProgressOption, named_by_option, parse_choice, parse_pose

_MODELS: tuple[Literal["plant", "inverse"], ...] = ("plant", "inverse")
_VERSIONS: tuple[Literal["2.0", "3.0"], ...] = ("2.0", "3.0")


def export_fmu(
    mechanism: MechanismArgument,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="plant|inverse",
            help="plant: leg forces and an external wrench in, motion, leg lengths and load cells out. inverse: motion "
            "and wrench in, leg forces and load cells out.",
        ),
    ] = "plant",
    version: Annotated[str, typer.Option("--fmi", metavar="2.0|3.0", help="Version of the standard.")] = "2.0",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="FMU to write; it appears only when complete. Left out: MECHANISM_MODEL_fmi2.fmu here.",
        ),
    ] = None,
    pose: Annotated[
        str | None, typer.Option("--pose", metavar="x,y,z,qw,qx,qy,qz", help="Start pose; left out: home.")
    ] = None,
    step: Annotated[
        float, typer.Option("--step", metavar="S", help="Longest Runge-Kutta step of a plant, s.")
    ] = 0.0005,
    coulomb_speed: Annotated[
        float,
        typer.Option("--coulomb-speed", metavar="M/S", help="Leg speed that smooths Coulomb friction; 0 for none."),
    ] = 0.001,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Export of the exact model as a co-simulation FMU, for Simulink, Dymola, OpenModelica, FMPy and others.

    The unit is machine code: it runs on any x86-64 Linux and needs neither this program nor Python. The export needs
    the extra fmi (FMPy) and a C compiler.

    A plant starts at rest, with forces that hold it. A communication step is divided into equal Runge-Kutta steps, in
    which forces and wrench are constant. It has no end stops, drives or brakes: without a controller it falls. Gravity,
    mass, centre of mass and inertia of the platform are parameters of the unit.
    """
    from rig.cli.progress import service_events
    from rig.services import FmuRequest
    from rig.services import export_fmu as build

    kind, standard = parse_choice(model, _MODELS, "--model"), parse_choice(version, _VERSIONS, "--fmi")
    with service_events(progress) as show, named_by_option():
        start = None if pose is None else parse_pose(pose, "--pose")
        made = build(FmuRequest(mechanism, output, kind, standard, start, step, coulomb_speed), show)
    if as_json:
        found = {"file": str(made.file), "size": made.size, "variables": made.variables, "needs": made.needs}
        typer.echo(json.dumps(found, indent=2))
        return
    counts = ", ".join(f"{len(names)} {role}s" for role, names in made.variables.items())
    typer.echo(f"{made.file}: FMI {standard}, co-simulation, {made.size / 1000:.0f} kB; {counts}")
    typer.echo(made.needs)
