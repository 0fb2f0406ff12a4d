"""Commanding a rig from outside the engine: the steps of an operation, a whole run, and what became of the drives."""

from rig.client.aftermath import LegAftermath, ask_drives, describe_aftermath
from rig.client.events import EventFollower, Listener, RowListener
from rig.client.interruption import Interruption
from rig.client.live import LiveRig
from rig.client.lockstep import LockstepRig
from rig.client.operation import (
    Progress,
    approach,
    bring_to_rest,
    checked_motion,
    checked_move,
    connect_and_home,
    ends,
    has_stopped,
    leave,
    stop,
)
from rig.client.rig import FaultDesk, Rig
from rig.client.runs import (
    RunResult,
    conduct,
    demo_trajectory,
    describe,
    execute,
    new_recording,
    on_free_ports,
    on_ports,
    remove_empty,
    serve_virtual,
)

__all__ = [
    "EventFollower",
    "FaultDesk",
    "Interruption",
    "LegAftermath",
    "Listener",
    "LiveRig",
    "LockstepRig",
    "Progress",
    "Rig",
    "RowListener",
    "RunResult",
    "approach",
    "ask_drives",
    "bring_to_rest",
    "checked_motion",
    "checked_move",
    "conduct",
    "connect_and_home",
    "demo_trajectory",
    "describe",
    "describe_aftermath",
    "ends",
    "execute",
    "has_stopped",
    "leave",
    "new_recording",
    "on_free_ports",
    "on_ports",
    "remove_empty",
    "serve_virtual",
    "stop",
]
