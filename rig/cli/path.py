"""`rig path`: path planning between two poses by condition number or leg forces."""

import json
import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rig.cli.options import (
    JsonOption,
    MechanismArgument,
    OutputOption,
    named_by_option,
    parse_choice,
    parse_pose,
    parse_six,
)

if TYPE_CHECKING:
    from rig.services import PathResult, Pose

_COORDINATES = "x,y,z,rx,ry,rz"
_POSE = "x,y,z,qw,qx,qy,qz|home"
_UNITS: dict[Literal["condition", "force"], str] = {"condition": "", "force": " N"}


def path(
    mechanism: MechanismArgument,
    start: Annotated[str, typer.Option("--from", metavar=_POSE, help="Start pose.")],
    end: Annotated[str, typer.Option("--to", metavar=_POSE, help="End pose.")],
    duration: Annotated[float, typer.Option("--duration", metavar="S", help="Duration from rest to rest, s.")],
    output: OutputOption,
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            metavar="condition|force",
            help="Quantity with minimum peak: the condition number of H, or the largest leg force.",
        ),
    ] = "condition",
    end_freedom: Annotated[
        str | None,
        typer.Option(
            "--end-freedom",
            metavar=_COORDINATES,
            help="Tolerance of each coordinate of the end, m and rad; R = Rz Ry Rx. Left out: none.",
        ),
    ] = None,
    reach: Annotated[
        str,
        typer.Option(
            "--reach", metavar=_COORDINATES, help="Maximum deviation of each coordinate from the line, m and rad."
        ),
    ] = "0.2,0.2,0.2,0.3,0.3,0.3",
    greatest_force: Annotated[
        float, typer.Option("--greatest-force", metavar="N", help="Limit of the leg forces; left out: none.")
    ] = math.inf,
    clearance: Annotated[
        float | None, typer.Option("--clearance", metavar="M", help="Minimum distance between two legs' surfaces.")
    ] = None,
    leg_radius: Annotated[
        float, typer.Option("--leg-radius", metavar="M", help="Radius of the legs as cylinders.")
    ] = 0.0,
    characteristic_length: Annotated[
        float | None,
        typer.Option(
            "--characteristic-length", metavar="M", help="Divides moments in H; left out: the platform joints' radius."
        ),
    ] = None,
    step: Annotated[float, typer.Option("--step", metavar="S", help="Time between the rows of the file.")] = 0.01,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the search.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Path between two poses with the minimum peak of the condition number, or of the leg forces.

    A minimum-jerk line deformed in its six coordinates, from rest to rest, within the mechanism's strokes and joint
    angles, without singularities. Ends on opposite sides of a singularity have no such path: use --end-freedom.

    Writes t and the columns of a motion: a trajectory for `rig check` and `rig run`, a motion for `rig inverse`.
    """
    from rig.cli.progress import show_notices
    from rig.services import PathRequest, plan_path

    chosen = parse_choice(objective, tuple(_UNITS), "--objective")
    with named_by_option(start="--from", end="--to"):
        request = PathRequest(
            mechanism,
            _pose(start, "--from"),
            _pose(end, "--to"),
            duration,
            output,
            chosen,
            end_freedom=(0.0,) * 6 if end_freedom is None else parse_six(end_freedom, _COORDINATES, "--end-freedom"),
            reach=parse_six(reach, _COORDINATES, "--reach"),
            greatest_force=greatest_force,
            clearance=clearance,
            leg_radius=leg_radius,
            characteristic_length=characteristic_length,
            step=step,
            seed=seed,
        )
        found = plan_path(request, show_notices)
    _print(found, as_json)


def _pose(text: str, option: str) -> "Pose | None":
    return None if text == "home" else parse_pose(text, option)


def _print(found: "PathResult", as_json: bool) -> None:
    best = found.best
    summary: dict[str, Any] = {
        "mechanism": found.mechanism,
        "objective": best.objective,
        "peak": best.peak,
        "straight_peak": best.straight_peak if math.isfinite(best.straight_peak) else None,
        "end_moved": dict(zip(_COORDINATES.split(","), (best.end_moved + 0.0).tolist(), strict=True)),
        "path": str(found.motion),
    }
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
        return
    what, unit = {"condition": "condition number", "force": "leg force"}[best.objective], _UNITS[best.objective]
    typer.echo(f"{what} at most {best.peak:.4g}{unit} along the path, {best.straight_peak:.4g}{unit} along the line")
    moved = [f"{key} {value:+.4g}" for key, value in summary["end_moved"].items() if value]
    if moved:
        typer.echo("end displaced by " + ", ".join(moved) + " (m, rad)")
    typer.echo(f"wrote {found.motion}")
