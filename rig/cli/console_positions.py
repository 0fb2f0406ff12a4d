"""Position commands of the `rig operate` console: saved positions, and the free range of each axis."""

from typing import Annotated

import numpy as np
import typer

from kinematics import Array, pose_to_coordinates
from rig.cli.console_motions import (
    ORIGIN,
    FrameChoice,
    FrameOption,
    PivotOption,
    RotationOption,
    SpeedOption,
    peaks_of,
    point,
)
from rig.cli.console_rig import commanded_rig
from rig.cli.help import command_group
from rig.client import AXES, Positions, RigClient, free_range, jogged, positions_path, search_limit
from rig.errors import RefusedError
from rig.states import State

app = command_group()

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help='One of those that "positions" lists.')]


@app.command()
def positions(context: typer.Context) -> None:
    """The saved positions, and their file."""
    saved = _saved(context)
    for name, pose in saved.all().items():
        coordinates = pose_to_coordinates(pose)
        place = ", ".join(f"{value:z.2f}" for value in coordinates[:3] * 1e3)
        angles = ", ".join(f"{value:z.2f}" for value in np.degrees(coordinates[3:]))
        typer.echo(f"{name:20} {place} mm; {angles} °")
    typer.echo(f"in {saved.path}")


@app.command()
def save(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help='A new name; "go NAME" goes there.')],
) -> None:
    """Save where the platform is commanded to be under a name."""
    _saved(context).save(name, _known_pose(commanded_rig(context)))


@app.command()
def rename(
    context: typer.Context,
    name: NameArgument,
    new: Annotated[str, typer.Argument(metavar="NEW", help="A new name.")],
) -> None:
    """Give a saved position another name."""
    _saved(context).rename(name, new)


@app.command()
def forget(context: typer.Context, name: NameArgument) -> None:
    """Delete a saved position."""
    _saved(context).delete(name)


@app.command()
def room(
    context: typer.Context,
    frame: FrameOption = FrameChoice.BASE,
    pivot: PivotOption = ORIGIN,
    speed: SpeedOption = None,
    rotation_speed: RotationOption = None,
) -> None:
    """How far the platform can jog along and about each axis from where it is, and what ends it."""
    rig = commanded_rig(context)
    here, centre = _known_pose(rig), point(pivot)
    peaks = peaks_of(speed, rotation_speed)
    for axis in AXES:
        turning = axis in AXES[3:]
        most = search_limit(rig.config, turning=turning)
        for sign, symbol in ((-1.0, "-"), (1.0, "+")):

            def target(far: float, axis: str = axis, sign: float = sign) -> Array:
                return jogged(rig.config, here, axis, sign * far, frame.value, centre)

            way = free_range(rig.config, here, target, most, peaks["speed"], peaks["rotation_speed"])
            free = f"{np.degrees(way.free):.2f} deg" if turning else f"{way.free * 1e3:.2f} mm"
            typer.echo(f"{symbol}{axis:3} {free:>11}" + (f", then {way.limit}" if way.limit else ""))


def _saved(context: typer.Context) -> Positions:
    return Positions(positions_path(commanded_rig(context).config))


def _known_pose(rig: RigClient) -> Array:
    status = rig.status
    if status.state is State.OFF or not status.homed:
        raise RefusedError("the pose is not known: connect and home first")
    return rig.pose
