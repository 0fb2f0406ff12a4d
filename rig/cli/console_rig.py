"""Access of console commands to the rig, and check whether a command is possible now."""

import typer

from rig.client import RigClient
from rig.engine import RigCommand, obstacle
from rig.errors import RefusedError


def commanded_rig(context: typer.Context) -> RigClient:
    """Return the rig of the session."""
    rig: RigClient = context.obj
    return rig


def rig_able_to(context: typer.Context, command: RigCommand) -> RigClient:
    """Return the rig of the session if nothing prevents `command`; nothing is sent.

    Raises:
        RefusedError: the obstacle, in the engine's words. Temporary ones are left to the engine, which
            waits for their end.
    """
    rig = commanded_rig(context)
    found = obstacle(command, rig.status)
    if found is not None and not found.passing:
        raise RefusedError(f"{command.kind}: {found.text}")
    return rig
