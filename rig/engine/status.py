"""What clients see of the engine."""

import math
from typing import Any

import numpy as np

from rig.engine.core import Engine
from rig.engine.messages import Snapshot
from rig.engine.operator import Operator
from rig.recording import Recorder
from rig.states import FaultCode

_EVENTS = 50


def engine_status(
    engine: Engine,
    operator: Operator,
    lease: str,
    realtime: tuple[str, ...],
    recorder: Recorder | None,
    ring: str,
    hold_left: float | None = None,
) -> Snapshot:
    """One look at the engine from another thread: single values are read as they stand.

    Args:
        engine, operator: what is looked at.
        lease: name of the client that holds the command lease, or empty.
        realtime: what the operating system granted.
        recorder: the recorder, or None where there is none.
        ring: name of the telemetry ring, or empty.
        hold_left: see `Snapshot`.
    """
    machine, reference, cause = engine.machine, engine.reference, engine.machine.cause
    written = None if recorder is None else recorder.status()
    return Snapshot(
        state=machine.state,
        stop=machine.stop,
        t=engine.tick.t,
        cause="" if cause is None else cause.text,
        cause_code=FaultCode.NONE if cause is None else cause.code,
        cause_t=0.0 if cause is None else cause.t,
        latched=machine.latched,
        homed=machine.homed,
        paused=reference.paused,
        lease=lease,
        motion=operator.motion,
        path_time=reference.path_time,
        path_duration=reference.path_duration,
        reference=tuple(engine.frame.fields["reference"][:7].tolist()),  # written at once, unlike `now`
        cycles=engine.cycles,
        overruns=engine.tick.overruns,
        rate=engine.config.rate,
        virtual=engine.config.virtual is not None,
        realtime=realtime,
        recording="" if recorder is None else str(recorder.path),
        rows=0 if written is None else written.rows,
        dropped=0 if written is None else written.dropped,
        recording_fault=engine.sink.fault,
        ring=ring,
        from_home=_from_home(engine),
        events=list(engine.events)[-_EVENTS:],
        echo_lag=tuple(int(lag) for lag in engine.bank.lag),
        hold_left=hold_left,
    )


def _from_home(engine: Engine) -> float:
    """See `Snapshot.from_home`."""
    pose, geometry = engine.frame.fields["pose"].copy(), engine.config.machine.geometry
    if not (engine.machine.homed and np.isfinite(pose).all()):
        return math.nan
    return float(
        np.linalg.norm(geometry.platform_joints(pose) - geometry.platform_joints(geometry.home_pose), axis=1).max()
    )


def closing_counts(engine: Engine) -> dict[str, Any]:
    """What a recording says at its end of the engine that made it.

    Keys: `cycles`, `overruns`; by leg, (6,): `lagging` (good replies to an earlier cycle's command) and `mismatched`
    (replies not believed for the command that they echo).
    """
    return {
        "cycles": engine.cycles,
        "overruns": engine.tick.overruns,
        "lagging": engine.bank.lagging,
        "mismatched": engine.bank.mismatched,
    }
