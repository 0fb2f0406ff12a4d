"""Commands of the `rig operate` console: one function per command, with the rig as the context's object."""

from typing import Annotated

import numpy as np
import typer

from kinematics import leg_lengths, pose_to_coordinates
from rig.cli import console_hold, console_motions, console_positions
from rig.cli.console_rig import commanded_rig, rig_able_to
from rig.cli.help import command_group
from rig.cli.options import UnprovenOption
from rig.client import FaultControl
from rig.engine import Connect, Disconnect, Engage, Home, Park, Reset, Snapshot
from rig.errors import InputError, RefusedError
from rig.recording import room_text
from rig.runtime import slowdown_text
from rig.states import State, StopSeverity
from rig.virtual import FAULTS, fault_text

_EPILOG = 'Lengths, angles and speeds carry their unit: "5mm", "1deg", "20mm/s". "jog --help" explains a command.'

app = command_group(
    help="One command per line; empty lines and those that begin with # are skipped.",
    epilog=_EPILOG,
)

LegOption = Annotated[int | None, typer.Option("--leg", metavar="LEG", help="One leg only.", min=1, max=6)]

# -- states --------------------------------------------------------------------------------------------------------


@app.command()
def connect(context: typer.Context) -> None:
    """Open and configure the six drives."""
    rig_able_to(context, Connect()).connect()


@app.command()
def home(context: typer.Context, unproven: UnprovenOption = False) -> None:
    """Find every leg's reference. The rig moves."""
    rig_able_to(context, Home(unproven)).home(connect=False, unproven=unproven)


@app.command()
def engage(context: typer.Context) -> None:
    """Hold the platform under power."""
    commanded_rig(context).settle()
    rig_able_to(context, Engage()).engage()


@app.command()
def park(context: typer.Context) -> None:
    """Move home, brakes on, torque off."""
    rig_able_to(context, Park()).park()


@app.command()
def disconnect(context: typer.Context) -> None:
    """Close the drives."""
    rig_able_to(context, Disconnect()).disconnect()


@app.command()
def reset(context: typer.Context) -> None:
    """Forget a fault whose cause is gone."""
    rig_able_to(context, Reset()).reset()


@app.command("quit")
def leave() -> None:
    """End the session; a rig under torque is stopped first."""
    raise EOFError


@app.command()
def status(context: typer.Context) -> None:
    """State, pose and leg lengths, motion and recording."""
    rig = commanded_rig(context)
    now = rig.status
    pose = np.array(now.reference)
    coordinates = pose_to_coordinates(pose)
    position = ", ".join(f"{value:z.2f}" for value in coordinates[:3] * 1e3)
    angles = ", ".join(f"{value:z.2f}" for value in np.degrees(coordinates[3:]))
    lengths = ", ".join(f"{length:.2f}" for length in leg_lengths(rig.config.machine.geometry, pose) * 1e3)
    lines = [
        f"state      {now.state.name} at {now.t:.3f} s, {'homed' if now.homed else 'not homed'}",
        f"pose       {position} mm; {angles} °",
        f"legs       {lengths} mm",
        f"cycles     {now.cycles} at {now.rate:g} Hz, {now.overruns} overruns",
    ]
    if busy := slowdown_text(now.slower):
        lines.append(f"computer   {busy}")
    if now.state is State.RUNNING or now.resumable:
        lines.append(f"motion     {console_motions.place(rig)}")
    if now.stop is not StopSeverity.NONE:
        lines.append(f"stop       {now.stop.name}")
    if now.cause:
        lines.append(f"cause      {now.cause_text}")
    if now.io is not None:
        lines.append(f"I/O        {now.io.described}")
    if rejected := _rejected(now):
        lines.append(f"replies    {rejected}")
    lines.append(f"recording  {_recording(now)}")
    typer.echo("\n".join(lines))


def _rejected(now: Snapshot) -> str:
    return "; ".join(f"{name}: {replies.described}" for name, replies in now.untaken.items())


def _recording(now: Snapshot) -> str:
    left = room_text(now.recording_room)
    return now.recording_fault or f"{now.rows} rows{left and f', the disk has room for {left}'}"


app.add_typer(console_motions.app)
app.add_typer(console_hold.app)
app.add_typer(console_positions.app)

# -- faults of the virtual rig ---------------------------------------------------------------------------------------


@app.command()
def faults(context: typer.Context) -> None:
    """What can be injected into a virtual rig, and what is on."""
    on = _virtual(context).active
    config = commanded_rig(context).config
    absent = ("amplifier_",) * (config.load_cells.amplifier is None) + ("io_",) * (config.io is None)
    for name, kind in FAULTS.items():
        if name.startswith(absent):
            continue
        default = "" if kind.default is None else f"{kind.default:g} {kind.unit}".strip()
        typer.echo(f"{name:24} {default:10} {kind.text}")
    for fault in on:
        typer.echo(f"on: {fault_text(fault.name, fault.leg, fault.value)} ({fault.name})")


@app.command()
def inject(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help='See "faults".')],
    leg: LegOption = None,
    value: Annotated[float | None, typer.Option("--value", help='In the unit listed by "faults".')] = None,
    duration: Annotated[float | None, typer.Option("--duration", metavar="S", help="Left out: until cleared.")] = None,
) -> None:
    """Begin a fault of the virtual rig."""
    _virtual(context).inject(name, leg, value, duration)


@app.command()
def clear(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Left out: every fault.")] = None,
    leg: LegOption = None,
) -> None:
    """End faults of the virtual rig."""
    if name is not None and name not in FAULTS:
        raise InputError(f"no fault {name!r}; known faults: {', '.join(FAULTS)}")
    _virtual(context).clear(name, leg)


def _virtual(context: typer.Context) -> FaultControl:
    rig = commanded_rig(context)
    if rig.faults is None:
        if rig.config.virtual is not None:
            raise RefusedError("the virtual rig belongs to the process that started the attached engine")
        raise RefusedError("faults can be injected only into a virtual rig")
    return rig.faults
