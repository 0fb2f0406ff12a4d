"""`rig study`: the study of a mechanism on a trajectory, as the papers study theirs."""

import json
from typing import Annotated, Literal

import typer

from rig.cli.options import (
    JsonOption,
    MechanismArgument,
    NewFolderOption,
    named_by_option,
    parse_choice,
    parse_pose,
    parse_six,
    print_styled,
)

_COORDINATES = "x,y,z,rx,ry,rz"
_WRENCH = "fx,fy,fz,mx,my,mz"
_FRICTIONS: tuple[Literal["same", "printed", "none"], ...] = ("same", "printed", "none")


def study(
    mechanism: MechanismArgument,
    trajectory: Annotated[
        str,
        typer.Argument(
            metavar="TRAJECTORY",
            help='A trajectory file (TOML), or the shipped "demo"; a CSV file of motions, poses, x y z rx ry rz or leg '
            "lengths; a recording (.mcap, FILE#ID) or its export.",
        ),
    ],
    output: NewFolderOption,
    friction: Annotated[
        str,
        typer.Option(
            "--friction",
            metavar="same|printed|none",
            help="Friction of the compared models: the mechanism's in each, that of each model's paper, or none.",
        ),
    ] = "same",
    step: Annotated[
        float | None,
        typer.Option(
            "--step",
            metavar="S",
            help="Time between the samples; left out: rows of a table or recording, of a trajectory 0.01 s or a 600th.",
        ),
    ] = None,
    wrench: Annotated[
        str | None,
        typer.Option("--wrench", metavar=_WRENCH, help="A constant external wrench, N and N m, platform axes."),
    ] = None,
    margin: Annotated[
        str | None,
        typer.Option(
            "--margin",
            metavar=_COORDINATES,
            help="Width that the box of static poses has beyond the motion on every side, m and rad; left out: a "
            "quarter of the platform joints' radius, and 0.2 rad.",
        ),
    ] = None,
    low: Annotated[
        str | None,
        typer.Option(
            "--box-low",
            metavar=_COORDINATES,
            help="Least coordinates of the box in place of one around the motion, base frame.",
        ),
    ] = None,
    high: Annotated[
        str | None, typer.Option("--box-high", metavar=_COORDINATES, help="Greatest coordinates of that box.")
    ] = None,
    poses: Annotated[int, typer.Option("--poses", metavar="N", help="Static poses drawn from the box.")] = 4000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the draw.")] = 0,
    guess: Annotated[
        str | None,
        typer.Option(
            "--guess",
            metavar="x,y,z,qw,qx,qy,qz",
            help="A pose near the first row of a table of leg lengths; left out: home.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier study in DIR.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Study of a mechanism on a trajectory, as the papers study theirs.

    Leg forces by cause (weight and inertia of platform and legs, friction, external wrench) and by model (exact, legs
    without mass, 1998 and 2012 as printed and with every inertia counted once, universal and spherical ends), dynamic
    fraction, spin of the legs, reactions in the joints, condition number and other measures, singularities, static
    poses in a box around the motion, operations.

    Writes a page, study.html, its numbers, study.json, and each figure as PDF, SVG and CSV. Prints what was found.
    """
    from rig.cli.progress import service_events
    from rig.services import StudyRequest
    from rig.services import study as study_mechanism

    chosen = parse_choice(friction, _FRICTIONS, "--friction")
    if (low is None) != (high is None):
        raise typer.BadParameter("give both, or neither", param_hint="'--box-low', '--box-high'")
    box = None
    if low is not None and high is not None:
        box = parse_six(low, _COORDINATES, "--box-low"), parse_six(high, _COORDINATES, "--box-high")
    with service_events() as show, named_by_option(box="--box-low, --box-high"):
        found = study_mechanism(
            StudyRequest(
                mechanism,
                trajectory,
                output,
                friction=chosen,
                step=step,
                wrench=None if wrench is None else parse_six(wrench, _WRENCH, "--wrench"),
                margin=None if margin is None else parse_six(margin, _COORDINATES, "--margin"),
                box=box,
                poses=poses,
                seed=seed,
                guess=None if guess is None else parse_pose(guess, "--guess"),
                force=force,
            ),
            show,
        )
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=2, ensure_ascii=False))
        return
    for title, sentences in found.sections():
        print_styled(title, bold=True)
        for sentence in sentences:
            typer.echo(f"  {sentence}")
    typer.echo(f"page: {found.page}")
    typer.echo(
        f"next to it: {len(found.figures) // 3} figures, each as PDF, SVG and CSV, {len(found.tables)} tables, "
        f"{found.summary.name}"
    )
