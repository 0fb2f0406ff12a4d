"""What moves the platform at the console of `rig operate`: steps and moves, motions, stops."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from kinematics import Array, JogFrame, Quantity, leg_stepped_pose, load_trajectory, stepped_pose
from rig.cli.help import command_group
from rig.cli.options import parse_pose, parse_with_unit
from rig.cli.progress import progress_display
from rig.client import (
    Rig,
    begin,
    checked_move,
    finish,
    follow,
    move_to_start,
    operation,
    perform,
    prepare_motion,
)
from rig.engine import Abandon, Pause, Resume
from rig.runtime import StopRequest
from rig.states import State

_AXES = ("x", "y", "z", "rx", "ry", "rz")
_ORIGIN = "0,0,0"
_LEGS = {f"leg{leg}": leg for leg in range(1, 7)}
_LENGTH, _ANGLE, _TIME = Quantity("length", "m"), Quantity("angle", "rad"), Quantity("time", "s")
_SPEED, _ANGULAR_SPEED = Quantity("speed", "m/s"), Quantity("angular speed", "rad/s")
_PATIENCE = 10.0  # s beyond what is waited for

app = command_group()


class Frame(StrEnum):
    """Axes of a step."""

    BASE = "base"
    PLATFORM = "platform"


SpeedOption = Annotated[str | None, typer.Option("--speed", metavar="SPEED", help="Peak speed, such as 20mm/s.")]
RotationOption = Annotated[
    str | None, typer.Option("--rotation-speed", metavar="SPEED", help="Peak angular speed, such as 5deg/s.")
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
    pose: Annotated[str, typer.Argument(metavar="POSE", help='x,y,z,qw,qx,qy,qz (m, unit quaternion), or "home".')],
    speed: SpeedOption = None,
    rotation_speed: RotationOption = None,
) -> None:
    """Move to a pose."""
    rig = _rig(context)
    target = rig.config.machine.geometry.home_pose if pose == "home" else np.array(parse_pose(pose, "'POSE'"))
    _move(rig, "go to pose", target, speed, rotation_speed)


@app.command(context_settings={"ignore_unknown_options": True})
def jog(
    context: typer.Context,
    axis: Annotated[str, typer.Argument(metavar="AXIS", help="x, y, z, rx, ry, rz, or leg1 to leg6.")],
    step: Annotated[str, typer.Argument(metavar="STEP", help="How far, such as 5mm, -5mm or 1deg.")],
    frame: Annotated[Frame, typer.Option("--frame", help="Axes along and about which it goes.")] = Frame.BASE,
    pivot: Annotated[
        str, typer.Option("--pivot", metavar="X,Y,Z", help="Point of the platform, in its axes, that it turns about.")
    ] = _ORIGIN,
    speed: SpeedOption = None,
    rotation_speed: RotationOption = None,
) -> None:
    """Move a step along or about an axis, or one leg."""
    rig = _rig(context)
    here = np.array(rig.status().reference)
    if axis in _AXES:
        index = _AXES.index(axis)
        change = np.zeros(6)
        change[index] = parse_with_unit(step, _LENGTH if index < 3 else _ANGLE, "STEP")
        axes: JogFrame = frame.value
        target = stepped_pose(here, change, axes, _point(pivot))
    elif axis in _LEGS:
        if frame is not Frame.BASE or pivot != _ORIGIN:
            raise typer.BadParameter("a leg's length has neither --frame nor --pivot", param_hint="'AXIS'")
        longer = parse_with_unit(step, _LENGTH, "STEP")
        target = leg_stepped_pose(rig.config.machine.geometry, here, _LEGS[axis], longer)
    else:
        raise typer.BadParameter(f"{axis!r} is none of {', '.join(_AXES)}, leg1 to leg6", param_hint="'AXIS'")
    _move(rig, f"jog {axis}", target, speed, rotation_speed)


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
    rig = _rig(context)
    motion = load_trajectory(trajectory, rig.config.machine.geometry.home_pose)
    table = prepare_motion(rig.config, motion, amplitude, repeat)
    with progress_display() as report:
        perform(rig, table, Path(trajectory).stem, report, repeat)


@app.command()
def start(context: typer.Context, trajectory: TrajectoryArgument, amplitude: AmplitudeOption = 1.0) -> None:
    """Begin to follow a trajectory; "wait" waits to its end."""
    rig = _rig(context)
    motion = load_trajectory(trajectory, rig.config.machine.geometry.home_pose)
    table = prepare_motion(rig.config, motion, amplitude)
    with progress_display() as report:
        move_to_start(rig, table, report)
    begin(rig, table, Path(trajectory).stem)


@app.command()
def wait(
    context: typer.Context,
    duration: Annotated[str, typer.Argument(metavar="[SECONDS]", help="Left out: to the end of the motion.")] = "",
) -> None:
    """Wait to the end of the motion, or for some time."""
    rig = _rig(context)
    now = rig.status()
    if duration:
        seconds = _positive(duration, _TIME, "SECONDS")
        rig.wait(lambda status: status.t >= now.t + seconds, seconds + _PATIENCE, f"{seconds:g} s to pass")
    elif now.state in (State.RUNNING, State.STOPPING, State.FAULT):
        with progress_display() as report:
            finish(rig, report)


@app.command()
def pause(context: typer.Context) -> None:
    """Slow down along the path and stand."""
    rig = _rig(context)
    rig.request(Pause())
    now = rig.wait(lambda status: status.state is not State.RUNNING, _PATIENCE, "the motion to pause")
    paused = now.state is State.ENGAGED and now.paused
    if not paused:
        finish(rig)  # it came to its end before, or was stopped
    typer.echo(f"{'paused' if paused else 'came to its end'}: {place(rig)}")


@app.command()
def resume(context: typer.Context) -> None:
    """Go on along the path; "wait" waits to its end."""
    _rig(context).request(Resume())


@app.command()
def abandon(context: typer.Context) -> None:
    """Forget the rest of a motion that is paused."""
    _rig(context).request(Abandon())


@app.command()
def stop(
    context: typer.Context,
    category: Annotated[
        int, typer.Argument(metavar="[CATEGORY]", help="2: hold; 1: torque off at rest; 0: at once.", min=0, max=2)
    ] = 1,
) -> None:
    """Stop: decelerate and hold (2), decelerate and torque off (1), torque off at once (0)."""
    wanted: tuple[StopRequest, ...] = (0, 1, 2)
    operation.stop(_rig(context), wanted[category])


def _move(rig: Rig, name: str, target: Array, speed: str | None, rotation_speed: str | None) -> None:
    """Check the move from where the platform is to a pose (7,), then make it."""
    motion = rig.config.motion
    peak = motion.approach_speed if speed is None else _positive(speed, _SPEED, "--speed")
    turn = (
        motion.approach_rotation
        if rotation_speed is None
        else _positive(rotation_speed, _ANGULAR_SPEED, "--rotation-speed")
    )
    table = checked_move(rig.config, np.array(rig.status().reference), target, peak, turn)
    follow(rig, table, name)


def _positive(text: str, quantity: Quantity, option: str) -> float:
    value = parse_with_unit(text, quantity, option)
    if value <= 0.0:
        raise typer.BadParameter(f"{value:g} {quantity.unit} must be greater than 0", param_hint=f"'{option}'")
    return value


def _point(text: str) -> Array:
    parts = text.split(",")
    if len(parts) != 3:
        raise typer.BadParameter(f"{len(parts)} numbers, not the three x,y,z", param_hint="'--pivot'")
    return np.array([parse_with_unit(part, _LENGTH, "--pivot") for part in parts])


def place(rig: Rig) -> str:
    """The motion, and where on its path the platform is."""
    now = rig.status()
    return f"{now.motion!r} at {now.path_time:.3f} of {now.path_duration:.3f} s"


def _rig(context: typer.Context) -> Rig:
    rig: Rig = context.obj
    return rig
