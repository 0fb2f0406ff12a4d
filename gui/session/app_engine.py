"""A running engine as the app holds it."""

import contextlib
from pathlib import Path

from rig.client import LiveRig
from rig.config import RigConfig
from rig.engine import ProgressCallback, RunningEngine, Shutdown
from rig.errors import RigError

CLIENT = "rig gui"
"""the name under which the app takes the command lease"""
_PATIENCE = 1.0  # s for an answer to a look or a stop, until it is said that there is none


def hold_engine(config: RigConfig, source: Path | RunningEngine, told: ProgressCallback | None = None) -> LiveRig:
    """Start an engine, or take one over; its sign of life is the window's, so one that hangs commands nothing for long.

    told: told how far it is where it has to compile the model first. Raises as `LiveRig`.
    """
    return LiveRig(config, source, CLIENT, window=True, serve=False, patience=_PATIENCE, told=told)


def let_go(engine: LiveRig) -> None:
    """End the engine if it still runs, and let go of everything; no other thread may be using it any more.

    One that was taken over and does not end when it is told to goes on until nobody has commanded it for its time.
    """
    if engine.attached and engine.alive:
        with contextlib.suppress(RigError):
            engine.end([Shutdown()])
    engine.close()
