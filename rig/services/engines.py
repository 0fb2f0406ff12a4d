"""Running engines of any owner: status, stop and end."""

import math
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from rig.client import LiveRig, bring_to_rest, has_stopped, when_silent
from rig.config import RigConfig
from rig.engine import RunningEngine, Snapshot, Stop, find_engine, running_engines
from rig.errors import HardwareError
from rig.runtime import wait_until
from rig.services.job import OnEvent, no_progress
from rig.services.request import request
from rig.states import State

_CLIENT = "rig engine"
_POLL = 0.02  # s
_STOP_TIMEOUT = 10.0  # s


@request
class EngineRequest:
    """The rig of the engine."""

    config: str = "virtual"
    """a configuration's file, or the name of a shipped one"""


@request
class StopRequest:
    """The rig of the engine, and its stop category."""

    config: str = "virtual"
    """a configuration's file, or the name of a shipped one"""
    category: Literal[0, 1, 2] = 1
    """2: hold under power, 1: decelerate, torque off, 0: torque off at once"""


@dataclass(frozen=True, slots=True)
class EngineFound:
    """An engine that commands a rig's drives.

    rig: its name. pid: None without an engine; then the rest has its defaults. words: text of its identity. age: s.
    snapshot: its state, None if it does not answer; `fault` is then the reason.
    """

    rig: str
    pid: int | None = None
    words: str = ""
    owner: int | None = None
    owner_alive: bool = False
    age: float = 0.0
    recording: Path | None = None
    snapshot: Snapshot | None = None
    fault: str = ""

    @property
    def replies(self) -> dict[str, str]:
        """Describe the replies that were not taken, by device (see `Snapshot.untaken`)."""
        untaken = {} if self.snapshot is None else self.snapshot.untaken
        return {name: replies.described for name, replies in untaken.items()}

    def as_dict(self) -> dict[str, Any] | None:
        """Return the result as a JSON object; None without an engine."""
        if self.pid is None:
            return None
        found: dict[str, Any] = {"pid": self.pid, "owner": self.owner, "owner_alive": self.owner_alive}
        found |= {"age_s": self.age, "recording": str(self.recording)}
        seen = self.snapshot
        if seen is None:
            return found | {"error": self.fault}
        room = seen.recording_room if math.isfinite(seen.recording_room) else None
        cause = None if seen.finding is None else seen.finding.as_dict()
        found |= {"state": seen.state.name, "cause": seen.cause_text, "finding": cause, "lease": seen.lease}
        found |= {"seconds_left": seen.hold_left}
        replies = [drive.replies for drive in seen.drives]
        found |= {"rejected": [one.rejected for one in replies], "cells_rejected": seen.cells_rejected}
        found["io_rejected"] = seen.io_rejected
        found |= {"replies": [asdict(one) for one in replies]}
        found |= {"cell_replies": {one.name: asdict(one.replies) for one in seen.cells}}
        if seen.io is not None:
            found["io"] = {"inputs": dict(seen.io.inputs), "outputs": dict(seen.io.outputs)}
            found["io"]["replies"] = asdict(seen.io.replies)
        return found | {"rows": seen.rows, "recording_fault": seen.recording_fault, "recording_room_s": room}


def engine_status(request: EngineRequest, progress: OnEvent = no_progress) -> EngineFound:
    """Find the engine that commands the drives. Changes nothing.

    Raises:
        InputError: the configuration.
    """
    del progress  # no stages
    settings = _config(request.config)
    engine = find_engine(settings)
    if engine is None:
        return EngineFound(settings.name)
    snapshot, fault = None, ""
    try:
        snapshot = engine.status()
    except HardwareError as error:
        fault = str(error)
    return EngineFound(
        settings.name,
        engine.pid,
        engine.describe(),
        engine.owner,
        engine.owner_alive,
        engine.age,
        engine.recording,
        snapshot,
        fault,
    )


def stop_engine(request: StopRequest, progress: OnEvent = no_progress) -> State:
    """Stop the platform, independent of the commanding client; wait for rest and return the state. Not for safety.

    Raises:
        InputError: the configuration.
        HardwareError: no engine, or it did not come to rest.
    """
    del progress  # no stages
    engine = found_engine(_config(request.config))
    wanted = request.category
    engine.request_stop(wanted)  # works even if it does not answer
    with closing(engine.client(_STOP_TIMEOUT)) as client:
        client.request(Stop(wanted))
        stopped = wait_until(lambda: has_stopped(client.status(), wanted), _STOP_TIMEOUT, _POLL)
        state = client.status().state
    if not stopped:
        raise HardwareError(f"the rig did not come to rest within {_STOP_TIMEOUT:g} s; its state is {state.name}")
    return state


def end_engine(request: EngineRequest, progress: OnEvent = no_progress) -> Path:
    """Take the command lease, stop the platform, close the recording and end the engine; return the recording.

    Raises:
        InputError: the configuration.
        HardwareError: no engine, or one that does not answer or end.
        RefusedError: another live client holds the lease.
    """
    del progress  # no stages
    settings = _config(request.config)
    engine = found_engine(settings)
    try:
        engine.status()
    except HardwareError as error:
        text = f"the engine does not answer; `kill -9 {engine.pid}` ends it; then: {when_silent(settings).text}"
        raise HardwareError(text) from error
    with LiveRig(settings, engine, _CLIENT) as rig:
        bring_to_rest(rig)
    if engine.alive:
        raise HardwareError(f"the engine was asked to end but still runs: `kill {engine.pid}`")
    return engine.recording


def engine_process(process: int) -> RunningEngine:
    """Return the engine with a process id. Raises HardwareError if it is no engine of this user."""
    for engine in running_engines():
        if engine.pid == process:
            return engine
    raise HardwareError(f"process {process} is no engine of yours")


def found_engine(settings: RigConfig) -> RunningEngine:
    """Return the engine that commands the configuration's drives. Raises HardwareError if this user has none."""
    engine = find_engine(settings)
    if engine is None:
        raise HardwareError(f"no engine of yours commands {settings.name!r}")
    return engine


def _config(name: str) -> RigConfig:
    from rig.config import load_config

    return load_config(name)
