"""Motion commands of the `rig operate` console: steps and moves, motions, stops."""

import math
from enum import StrEnum
from typing import Annotated, TypedDict

import numpy as np
import typer

from kinematics import JogFrame, Quantity
from rig.cli.console_rig import commanded_rig, rig_able_to
from rig.cli.help import command_group
from rig.cli.options import parse_pose, parse_with_unit
from rig.cli.progress import progress_display
from rig.client import ANGLE, ANGULAR_SPEED, AXES, LEGS, LENGTH, SPEED, TIME, RigClient
from rig.engine import Abandon, Follow, Pace, Pause, Resume
from rig.runtime import StopRequest

ORIGIN = "0,0,0"
_MOTION = Follow("motion", 1.0)
"""placeholder to check whether any motion may begin before one is created"""

app = command_group()


class Peaks(TypedDict):
    """Peak speeds of a move, m/s and rad/s; None for the configured ones."""

    speed: float | None
    rotation_speed: float | None


class FrameChoice(StrEnum):
    """Axes of a step."""

    BASE = "base"
    PLATFORM = "platform"


SpeedOption = Annotated[str | None, typer.Option("--speed", metavar="SPEED", help="Peak speed, such as 20mm/s.")]
RotationOption = Annotated[
    str | None, typer.Option("--rotation-speed", metavar="SPEED", help="Peak angular speed, such as 5deg/s.")
]
FrameOption = Annotated[FrameChoice, typer.Option("--frame", help="Axes along and about which it goes.")]
PivotOption = Annotated[
    str, typer.Option("--pivot", metavar="X,Y,Z", help="Point of the platform, in its axes, that it turns about.")
]
TrajectoryArgument = Annotated[
    str, typer.Argument(metavar="TRAJECTORY", help='A trajectory file (TOML, or CSV of poses), or "demo".')
]
AmplitudeOption = Annotated[
    float, typer.Option("--amplitude", metavar="SCALE", help="Size about the start pose.", min=1e-3, max=1.0)
]


@app.command(context_settings={"ignore_unknown_options": True})
def go(
    context: typer.Context,
    pose: Annotated[
        str, typer.Argument(metavar="POSE", help='x,y,z,qw,qx,qy,qz (m, unit quaternion), "home", or a name.')
    ],
    speed: SpeedOption = None,
    rotation_speed: RotationOption = None,
) -> None:
    """Move to a pose, or to one that was saved under a name."""
    target = np.array(parse_pose(pose, "'POSE'")) if "," in pose else pose
    peaks = peaks_of(speed, rotation_speed)
    rig_able_to(context, _MOTION).move(target, **peaks)


@app.command(context_settings={"ignore_unknown_options": True})
def jog(
    context: typer.Context,
    axis: Annotated[str, typer.Argument(metavar="AXIS", help="x, y, z, rx, ry, rz, or leg1 to leg6.")],
    step: Annotated[str, typer.Argument(metavar="STEP", help="How far, such as 5mm, -5mm or 1deg.")],
    frame: FrameOption = FrameChoice.BASE,
    pivot: PivotOption = ORIGIN,
    speed: SpeedOption = None,
    rotation_speed: RotationOption = None,
) -> None:
    """Move a step along or about an axis, or one leg."""
    check_axis(axis, frame, pivot)
    axes: JogFrame = frame.value
    change = parse_with_unit(step, ANGLE if axis in AXES[3:] else LENGTH, "STEP")
    centre, peaks = point(pivot), peaks_of(speed, rotation_speed)
    rig_able_to(context, _MOTION).jog(axis, change, frame=axes, pivot=centre, **peaks)


@app.command()
def run(
    context: typer.Context,
    trajectory: TrajectoryArgument,
    amplitude: AmplitudeOption = 1.0,
    repeat: Annotated[
        int, typer.Option("--repeat", metavar="N", help="How many times it is run.", min=1, max=1000)
    ] = 1,
) -> None:
    """Follow a trajectory to its end."""
    rig = rig_able_to(context, _MOTION)
    with progress_display() as report:
        rig.run(trajectory, amplitude=amplitude, repeats=repeat, report=report)


@app.command()
def start(context: typer.Context, trajectory: TrajectoryArgument, amplitude: AmplitudeOption = 1.0) -> None:
    """Begin to follow a trajectory; "wait" waits to its end."""
    rig = rig_able_to(context, _MOTION)
    with progress_display() as report:
        rig.start(trajectory, amplitude=amplitude, report=report)


@app.command()
def wait(
    context: typer.Context,
    duration: Annotated[str, typer.Argument(metavar="[SECONDS]", help="Left out: to the end of the motion.")] = "",
) -> None:
    """Wait to the end of the motion, or for some time."""
    if duration:
        commanded_rig(context).wait(positive(duration, TIME, "SECONDS"))
        return
    with progress_display() as report:
        commanded_rig(context).wait(report=report)


@app.command()
def pause(context: typer.Context) -> None:
    """Decelerate along the path and pause."""
    rig = rig_able_to(context, Pause())
    paused = rig.pause()
    typer.echo(f"{'paused' if paused else 'finished'}: {place(rig)}")


@app.command()
def resume(
    context: typer.Context,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Also what was begun under another command lease.")
    ] = False,
) -> None:
    """Continue along the path; "wait" waits to its end."""
    rig_able_to(context, Resume(take_over)).resume(take_over=take_over)


@app.command()
def speed(
    context: typer.Context,
    percent: Annotated[float, typer.Argument(metavar="PERCENT", help="Percentage of full speed, 10 to 100.")],
) -> None:
    """Follow motions at this part of their speed from now on, also the one that is followed."""
    rig_able_to(context, Pace(1.0)).set_speed(percent / 100.0)


@app.command()
def abandon(context: typer.Context) -> None:
    """Forget the rest of a motion that is paused."""
    rig_able_to(context, Abandon()).abandon()


@app.command()
def stop(
    context: typer.Context,
    category: Annotated[
        int, typer.Argument(metavar="[CATEGORY]", help="2: hold; 1: torque off at rest; 0: at once.", min=0, max=2)
    ] = 1,
) -> None:
    """Stop: decelerate and hold (2), decelerate and torque off (1), torque off at once (0)."""
    wanted: tuple[StopRequest, ...] = (0, 1, 2)
    commanded_rig(context).stop(wanted[category])


def peaks_of(speed: str | None, rotation_speed: str | None) -> Peaks:
    """Parse peak speeds for `RigClient.move`."""
    return {
        "speed": None if speed is None else positive(speed, SPEED, "--speed"),
        "rotation_speed": None
        if rotation_speed is None
        else positive(rotation_speed, ANGULAR_SPEED, "--rotation-speed"),
    }


def check_axis(axis: str, frame: FrameChoice, pivot: str) -> None:
    """Refuse an unknown axis, or one that does not support the given frame or pivot."""
    if axis not in (*AXES, *LEGS):
        raise typer.BadParameter(f"{axis!r} must be one of {', '.join(AXES)}, leg1 to leg6", param_hint="'AXIS'")
    if axis in LEGS and (frame is not FrameChoice.BASE or pivot != ORIGIN):
        raise typer.BadParameter("a leg's length has neither --frame nor --pivot", param_hint="'AXIS'")


def positive(text: str, quantity: Quantity, option: str) -> float:
    """Parse a positive number with its unit to SI; `option` is its name in the command."""
    value = parse_with_unit(text, quantity, option)
    if value <= 0.0:
        raise typer.BadParameter(f"{value:g} {quantity.unit} must be greater than 0", param_hint=f"'{option}'")
    return value


def point(text: str) -> list[float]:
    """Parse a pivot (3,) m."""
    parts = text.split(",")
    if len(parts) != 3:
        raise typer.BadParameter(f"{len(parts)} numbers, not the three x,y,z", param_hint="'--pivot'")
    return [parse_with_unit(part, LENGTH, "--pivot") for part in parts]


def place(rig: RigClient) -> str:
    """Describe the motion, and the platform's position along its path."""
    now = rig.status
    whole = f" of {now.path_duration:.3f}" if now.path_duration < math.inf else ""
    return f"{now.motion!r} at {now.path_time:.3f}{whole} s"
