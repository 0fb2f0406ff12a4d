"""`rig engine`: status, stop and end of a running engine, for example after its app has crashed."""

import json
from typing import Annotated, Literal

import typer

from rig.cli.help import command_group
from rig.cli.options import ConfigArgument, JsonOption

_CATEGORIES: tuple[Literal[0, 1, 2], ...] = (0, 1, 2)

app = command_group(
    name="engine",
    help="Look at, stop or end the engine that commands a rig's drives, whoever started it; `rig operate --attach` "
    "takes it over.",
    no_args_is_help=True,
)


@app.command("status")
def status(config: ConfigArgument = "virtual", as_json: JsonOption = False) -> None:
    """Show the engine that commands the drives: process, owner, state, lease, seconds left. Read-only.

    An engine whose owner is gone or hangs stops the platform after safety.unattended_hold.
    """
    from rig.services import EngineRequest, engine_status

    found = engine_status(EngineRequest(config))
    if as_json:
        typer.echo(json.dumps({"engine": found.as_dict()}, indent=None if found.pid is None else 2))
    elif found.pid is None:
        typer.echo(f"no engine of yours commands {found.rig!r}")
    else:
        typer.echo(f"process    {found.pid}: {found.words}")
        typer.echo(f"recording  {found.recording}")
        for device, counts in found.replies.items():
            typer.echo(f"replies    {device}: {counts}")
        io = None if found.snapshot is None else found.snapshot.io
        if io is not None:
            typer.echo(f"I/O        {io.described}")


@app.command("stop")
def stop(
    config: ConfigArgument = "virtual",
    category: Annotated[
        int,
        typer.Option(
            "--category", help="2: hold under power, 1: decelerate, torque off, 0: torque off at once.", min=0, max=2
        ),
    ] = 1,
) -> None:
    """Stop the platform, whichever client commands it, and wait for its rest. Needs no lease; the engine goes on.

    It is not a safety function.
    """
    from rig.services import StopRequest, stop_engine

    typer.echo(f"stopped: state {stop_engine(StopRequest(config, _CATEGORIES[category])).name}")


@app.command("end")
def end(config: ConfigArgument = "virtual") -> None:
    """Take the command lease, stop the platform (category 1: torque off), close the recording and end the engine.

    Refused while another live client has the lease.
    """
    from rig.services import EngineRequest, end_engine

    typer.echo(f"ended; recording {end_engine(EngineRequest(config))}")
