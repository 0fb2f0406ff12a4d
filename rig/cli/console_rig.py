"""The rig that a command of the console is about, and whether the command is possible now."""

import typer

from rig.client import RigClient
from rig.engine import RigCommand, obstacle
from rig.errors import RefusedError


def commanded_rig(context: typer.Context) -> RigClient:
    """The rig of the session."""
    rig: RigClient = context.obj
    return rig


def rig_able_to(context: typer.Context, command: RigCommand) -> RigClient:
    """The rig of the session, as long as nothing stands against `command`; nothing is sent.

    Raises:
        RefusedError: what stands against it, in the engine's words. What goes by itself is left to the engine, which
            waits for it.
    """
    rig = commanded_rig(context)
    found = obstacle(command, rig.status)
    if found is not None and not found.passing:
        raise RefusedError(f"{command.kind}: {found.text}")
    return rig
