"""`rig engine`: an engine that runs already, as one whose app has died: look at it, stop it, end it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.help import command_group
from rig.cli.options import ConfigArgument, JsonOption

if TYPE_CHECKING:
    from rig.config import RigConfig
    from rig.engine import RunningEngine
    from rig.runtime import StopRequest

_CLIENT = "rig engine"
_CATEGORIES: tuple[StopRequest, ...] = (0, 1, 2)
_POLL = 0.02  # s
_STOP_TIMEOUT = 10.0  # s

app = command_group(
    name="engine",
    help="Look at, stop or end the engine that commands a rig's drives, whoever started it; `rig operate --attach` "
    "takes it over.",
    no_args_is_help=True,
)


@app.command("status")
def status(config: ConfigArgument = "virtual", as_json: JsonOption = False) -> None:
    """Say which engine commands the drives: process, owner, state, lease, seconds left. Changes nothing.

    An engine that nobody commands, its owner being gone or hanging, stops the platform after safety.unattended_hold.
    """
    from math import isfinite

    from rig.config import load_config
    from rig.engine import find_engine
    from rig.errors import HardwareError

    settings = load_config(config)
    engine = find_engine(settings)
    if engine is None:
        typer.echo(json.dumps({"engine": None}) if as_json else f"no engine of yours commands {settings.name!r}")
        return
    if not as_json:
        typer.echo(f"process    {engine.pid}: {engine.describe()}")
        typer.echo(f"recording  {engine.recording}")
        return
    found: dict[str, Any] = {"pid": engine.pid, "owner": engine.owner, "owner_alive": engine.owner_alive}
    found |= {"age_s": engine.age, "recording": str(engine.recording)}
    try:
        seen = engine.status()
    except HardwareError as error:
        found |= {"error": str(error)}
    else:
        room = seen.recording_room if isfinite(seen.recording_room) else None
        found |= {"state": seen.state.name, "cause": seen.cause_text, "lease": seen.lease}
        found |= {"seconds_left": seen.hold_left}
        found |= {"rejected": [drive.rejected for drive in seen.drives], "cells_rejected": seen.cells_rejected}
        found |= {"rows": seen.rows, "recording_fault": seen.recording_fault, "recording_room_s": room}
    typer.echo(json.dumps({"engine": found}, indent=2))


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
    """Stop the platform, whoever commands it, and wait for its rest. Needs no lease, ends nothing.

    It is not a safety function.
    """
    from contextlib import closing

    from rig.client import has_stopped
    from rig.config import load_config
    from rig.engine import Stop
    from rig.errors import HardwareError
    from rig.runtime import wait_until

    engine = found_engine(load_config(config))
    wanted = _CATEGORIES[category]
    engine.request_stop(wanted)  # even where it no longer answers
    with closing(engine.client(_STOP_TIMEOUT)) as client:
        client.request(Stop(wanted))
        stopped = wait_until(lambda: has_stopped(client.status(), wanted), _STOP_TIMEOUT, _POLL)
        state = client.status().state.name
    if not stopped:
        raise HardwareError(f"the rig did not come to rest within {_STOP_TIMEOUT:g} s; its state is {state}")
    typer.echo(f"stopped: state {state}")


@app.command("end")
def end(config: ConfigArgument = "virtual") -> None:
    """Take the command lease, stop the platform (category 1: torque off), close the recording and end the engine.

    Refused while another client that lives holds the lease.
    """
    from rig.client import LiveRig, bring_to_rest, when_silent
    from rig.config import load_config
    from rig.errors import HardwareError

    settings = load_config(config)
    engine = found_engine(settings)
    try:
        engine.status()
    except HardwareError as error:
        text = f"the engine does not answer; `kill -9 {engine.pid}` ends it; then: {when_silent(settings)}"
        raise HardwareError(text) from error
    with LiveRig(settings, engine, _CLIENT) as rig:
        bring_to_rest(rig)
    if engine.alive:
        raise HardwareError(f"the engine was told to end, and has not: `kill {engine.pid}`")
    typer.echo(f"ended; recording {engine.recording}")


def engine_process(process: int) -> RunningEngine:
    """The engine that is a process. Raises HardwareError where none of this user's is."""
    from rig.engine import running_engines
    from rig.errors import HardwareError

    for engine in running_engines():
        if engine.pid == process:
            return engine
    raise HardwareError(f"process {process} is no engine of yours")


def found_engine(settings: RigConfig) -> RunningEngine:
    """The engine that commands the configuration's drives. Raises HardwareError where there is none of this user's."""
    from rig.engine import find_engine
    from rig.errors import HardwareError

    engine = find_engine(settings)
    if engine is None:
        raise HardwareError(f"no engine of yours commands {settings.name!r}")
    return engine
