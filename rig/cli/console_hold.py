"""Hold-to-run at the console of `rig operate`: the platform moves until Enter is pressed, or for a time."""

import select
import sys
from collections.abc import Callable
from typing import Annotated, Literal

import typer

from kinematics import JogFrame
from rig.cli.console_motions import ORIGIN, FrameChoice, FrameOption, PivotOption, check_axis, point, positive
from rig.cli.console_rig import rig_able_to
from rig.cli.help import command_group
from rig.client import ANGULAR_SPEED, AXES, SPEED, TIME, RigClient
from rig.engine import Follow

app = command_group()

_DIRECTIONS: dict[str, Literal[1, -1]] = {"+": 1, "-": -1}


@app.command(context_settings={"ignore_unknown_options": True})
def hold(
    context: typer.Context,
    axis: Annotated[str, typer.Argument(metavar="AXIS", help="x, y, z, rx, ry, rz, or leg1 to leg6.")],
    direction: Annotated[str, typer.Argument(metavar="DIRECTION", help="+ or -.")],
    speed: Annotated[
        str | None, typer.Argument(metavar="[SPEED]", help="Such as 20mm/s or 5deg/s; left out: the configuration's.")
    ] = None,
    duration: Annotated[
        str | None, typer.Option("--for", metavar="SECONDS", help="Duration instead of until Enter; for scripts.")
    ] = None,
    frame: FrameOption = FrameChoice.BASE,
    pivot: PivotOption = ORIGIN,
) -> None:
    """Move along or about an axis, or one leg, until Enter is pressed, or to the end of the free range."""
    check_axis(axis, frame, pivot)
    if direction not in _DIRECTIONS:
        raise typer.BadParameter(f"{direction!r} is neither + nor -", param_hint="'DIRECTION'")
    wanted = None if speed is None else positive(speed, ANGULAR_SPEED if axis in AXES[3:] else SPEED, "SPEED")
    seconds = None if duration is None else positive(duration, TIME, "--for")
    axes: JogFrame = frame.value
    centre = point(pivot)
    rig = rig_able_to(context, Follow("motion", 1.0))
    held = until_enter() if seconds is None else _for(rig, seconds)
    rig.hold(axis, _DIRECTIONS[direction], held, frame=axes, pivot=centre, speed=wanted)


def until_enter() -> Callable[[], bool]:
    """Return a function that is true until Enter is pressed; other input on the line is discarded.

    Raises BadParameter without a terminal.
    """
    if not sys.stdin.isatty():
        raise typer.BadParameter("no interactive input for Enter: give --for SECONDS", param_hint="'--for'")
    typer.echo("Enter: release")

    def held() -> bool:
        if not select.select([sys.stdin], [], [], 0.0)[0]:
            return True
        sys.stdin.readline()  # discard the line
        return False

    return held


def _for(rig: RigClient, seconds: float) -> Callable[[], bool]:
    """Return a function that is true for so many seconds of rig time; they start at its first call."""
    began: list[float] = []

    def held() -> bool:
        began.append(rig.status.t)
        return began[-1] - began[0] < seconds

    return held
