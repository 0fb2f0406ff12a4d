"""Commanding a rig from outside the engine: the steps of an operation, a whole run, and what became of the drives."""

from rig.client.aftermath import LegAftermath, ask_drives, describe_aftermath
from rig.client.attendance import Attendance, EventFollower
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
from rig.client.session import Interruption, LiveRig, Rig

__all__ = [
    "Attendance",
    "EventFollower",
    "Interruption",
    "LegAftermath",
    "LiveRig",
    "LockstepRig",
    "Progress",
    "Rig",
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
