"""Offline closed-loop simulation on the virtual rig's plant, compiled, hundreds of times faster than real time."""

from rig.virtual.closed_loop.result import LoopRun, Merit, merit
from rig.virtual.closed_loop.simulation import (
    LoopStart,
    controllers,
    cycle_times,
    force_bounds,
    on_reference,
    run_loop,
)

__all__ = [
    "LoopRun",
    "LoopStart",
    "Merit",
    "controllers",
    "cycle_times",
    "force_bounds",
    "merit",
    "on_reference",
    "run_loop",
]
