"""`rig path`: a path between two poses, planned by the condition number or by the leg forces."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from rig.cli.options import JsonOption, MechanismArgument, OutputOption, parse_pose, parse_six, print_warning

if TYPE_CHECKING:
    from dynamics import BestPath, Mechanism
    from kinematics import Array, PoseLimits

_COORDINATES = "x,y,z,rx,ry,rz"
_POSE = "x,y,z,qw,qx,qy,qz|home"
_UNITS = {"condition": "", "force": " N"}


def path(
    mechanism: MechanismArgument,
    start: Annotated[str, typer.Option("--from", metavar=_POSE, help="Where the path starts.")],
    end: Annotated[str, typer.Option("--to", metavar=_POSE, help="Where it ends.")],
    duration: Annotated[float, typer.Option("--duration", metavar="S", help="From rest to rest, s.")],
    output: OutputOption,
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            metavar="condition|force",
            help="What is to have the least peak: the condition number of H, or the greatest leg force.",
        ),
    ] = "condition",
    end_freedom: Annotated[
        str | None,
        typer.Option(
            "--end-freedom",
            metavar=_COORDINATES,
            help="How far each coordinate of the end may give way, m and rad; R = Rz Ry Rx. Left out: not at all.",
        ),
    ] = None,
    reach: Annotated[
        str,
        typer.Option(
            "--reach", metavar=_COORDINATES, help="How far each coordinate may bend from the line, m and rad."
        ),
    ] = "0.2,0.2,0.2,0.3,0.3,0.3",
    greatest_force: Annotated[
        float, typer.Option("--greatest-force", metavar="N", help="That no leg may exceed; left out: any.")
    ] = math.inf,
    clearance: Annotated[
        float | None, typer.Option("--clearance", metavar="M", help="Least distance between two legs' surfaces.")
    ] = None,
    leg_radius: Annotated[float, typer.Option("--leg-radius", metavar="M", help="Of the legs, as cylinders.")] = 0.0,
    characteristic_length: Annotated[
        float | None,
        typer.Option(
            "--characteristic-length", metavar="M", help="Divides moments in H; left out: the platform joints' radius."
        ),
    ] = None,
    step: Annotated[float, typer.Option("--step", metavar="S", help="Between the rows of the file.")] = 0.01,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the search.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """The path between two poses with the least peak of the condition number, or of the leg forces.

    A minimum-jerk line bent in its six coordinates, from rest to rest, within the mechanism's strokes and joint angles,
    through no singularity. Where the two ends lie on opposite sides of one there is no such path: give the end freedom.

    Writes t and the columns of a motion: a trajectory for `rig check` and `rig run`, a motion for `rig inverse`.
    """
    import numpy as np

    from dynamics import NoPathError, best_path, load_mechanism
    from kinematics import MOST_SAMPLES, pose_to_coordinates
    from rig.cli.workspace_options import chosen_limits
    from rig.csvio import MOTION, check_output, write_table
    from rig.errors import RefusedError

    if objective not in _UNITS:
        raise typer.BadParameter(f"{objective!r} must be condition or force", param_hint="'--objective'")
    for name, value, unit in (
        ("duration", duration, "s"),
        ("step", step, "s"),
        ("greatest-force", greatest_force, "N"),
    ):
        if not value > 0.0 or (unit == "s" and math.isinf(value)):
            raise typer.BadParameter(f"{value:g} {unit} must be above 0 {unit}", param_hint=f"'--{name}'")
    if step > duration:
        raise typer.BadParameter(f"{step:g} s must be at most the duration, {duration:g} s", param_hint="'--step'")
    if duration / step > MOST_SAMPLES - 1:
        raise typer.BadParameter(
            f"{step:g} s is too short for a duration of {duration:g} s: {duration / step + 1.0:.7g} rows, at most "
            f"{MOST_SAMPLES}, so at least {duration / (MOST_SAMPLES - 1):.3g} s",
            param_hint="'--step'",
        )
    freedom = (0.0,) * 6 if end_freedom is None else _bounds(end_freedom, "--end-freedom", least=0.0)
    bends = _bounds(reach, "--reach", least=math.ulp(0.0))
    check_output(output)
    machine = load_mechanism(mechanism, evaluate_only=True)
    for warning in machine.warnings:
        print_warning(warning)
    limits = chosen_limits(
        machine, clearance=clearance, leg_radius=leg_radius, characteristic_length=characteristic_length
    )
    ends = np.array([_pose(start, "--from", machine), _pose(end, "--to", machine)])
    _refuse(machine, limits, ends[:1], "--from")
    if not any(freedom):
        _refuse(machine, limits, ends[1:], "--to")
    first, last = pose_to_coordinates(ends)
    try:
        best = best_path(
            machine,
            first,
            last,
            duration,
            objective=cast("Literal['condition', 'force']", objective),
            limits=limits,
            greatest_force=greatest_force,
            reach=bends,
            end_freedom=freedom,
            seed=seed,
        )
    except NoPathError as error:
        raise RefusedError(str(error)) from None
    times = np.linspace(0.0, duration, max(2, round(duration / step) + 1))
    write_table(output, ("t", *MOTION), np.column_stack([times, best.path.motion(times)]))
    _say(machine.name, best, output, as_json)


def _bounds(text: str, option: str, least: float) -> tuple[float, ...]:
    values = parse_six(text, _COORDINATES, option)
    for name, value in zip(_COORDINATES.split(","), values, strict=True):
        if value < least:
            bound = "at least 0" if least == 0.0 else "above 0"
            raise typer.BadParameter(f"{name} is {value:g}, must be {bound}, in m or rad", param_hint=f"'{option}'")
    return values


def _pose(text: str, option: str, machine: "Mechanism") -> "tuple[float, ...] | Array":
    if text != "home":
        return parse_pose(text, option)
    if machine.geometry.home is None:
        raise typer.BadParameter(f"the mechanism {machine.name} has no home", param_hint=f"'{option}'")
    return machine.geometry.home


def _refuse(machine: "Mechanism", limits: "PoseLimits", pose: "Array", option: str) -> None:
    """Refuse a pose (1, 7) that breaks a limit, before any path is sought."""
    from kinematics import PoseFault, assess_poses, strokes_beyond
    from rig.errors import RefusedError

    faults = PoseFault(int(assess_poses(machine.geometry, pose, limits, threads=1).faults[0]))
    if not faults:
        return
    beyond = int(strokes_beyond(machine.geometry, pose, limits)[0])
    names = ", ".join(fault.name.lower() for fault in PoseFault if fault in faults and fault.name)
    leg = f"; leg {abs(beyond)} would be too {'long' if beyond > 0 else 'short'}" if beyond else ""
    raise RefusedError(f"{option}: the pose is beyond the mechanism's limits: {names}{leg}")


def _say(name: str, best: "BestPath", output: Path, as_json: bool) -> None:
    summary: dict[str, Any] = {
        "mechanism": name,
        "objective": best.objective,
        "peak": best.peak,
        "straight_peak": best.straight_peak if math.isfinite(best.straight_peak) else None,
        "end_moved": dict(zip(_COORDINATES.split(","), (best.end_moved + 0.0).tolist(), strict=True)),
        "path": str(output),
    }
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
        return
    what, unit = {"condition": "condition number", "force": "leg force"}[best.objective], _UNITS[best.objective]
    typer.echo(f"{what} at most {best.peak:.4g}{unit} along the path, {best.straight_peak:.4g}{unit} along the line")
    moved = [f"{key} {value:+.4g}" for key, value in summary["end_moved"].items() if value]
    if moved:
        typer.echo("the end gives way by " + ", ".join(moved) + " (m, rad)")
    typer.echo(f"wrote {output}")
