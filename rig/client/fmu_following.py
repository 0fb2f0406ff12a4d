"""A foreign FMU as the stream that a rig follows: its process, from the first pose to the end."""

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kinematics import Array
from rig.client.lifecycle import stop
from rig.client.live import LiveRig
from rig.client.lockstep import LockstepRig
from rig.client.motion_runner import Progress, finish
from rig.client.rig import Rig
from rig.config import ReferenceFmu, RigConfig
from rig.engine import FollowStream, Snapshot, least_delay
from rig.errors import InputError, RigError
from rig.findings import Code
from rig.fmu import FmuError, Pacing, ReferenceProcess, check_motion_unit, failure_of, platform_state
from rig.streaming import ACCELERATION, VELOCITY


def check_unit(config: RigConfig, reference: ReferenceFmu) -> None:
    """Refuse what can be refused before a rig is started: no FMPy, no such FMU, variables or units that do not fit.

    The FMU is not loaded. Raises InputError.
    """
    _check_steps(config, reference)
    check_motion_unit(config.folder / reference.fmu, reference)


@dataclass(frozen=True, slots=True)
class UnitReport:
    """What became of an FMU that was followed.

    path: the FMU. step: s of its steps. needed: s that a step took before the motion, median; nan in lockstep, where it
    is not measured. time: s of its own time that it has reached.
    """

    path: Path
    step: float
    needed: float
    time: float

    @property
    def text(self) -> str:
        """One line."""
        took = "" if math.isnan(self.needed) else f", each takes {1e3 * self.needed:.3g} ms"
        return f"{self.path.name}, {self.time:g} s in steps of {1e3 * self.step:g} ms{took}"


def open_unit(
    config: RigConfig, reference: ReferenceFmu, platform: Array, pacing: Pacing, patience: float = 1.0
) -> ReferenceProcess:
    """Start the process of an FMU that a rig may follow as a stream; its first set-point is repeated until `go`.

    Args:
        config: the rig.
        reference: the FMU; relative to the configuration's folder.
        platform: (19,) state of the platform, see `platform_state`.
        pacing: of its steps.
        patience: s without a set-point after which it hangs.

    Raises:
        InputError, FmuError, HardwareError: as `follow_unit`.
    """
    _check_steps(config, reference)
    with contextlib.ExitStack() as failed:
        path = config.folder / reference.fmu
        process = failed.enter_context(ReferenceProcess(path, reference, platform, pacing, patience=patience))
        _check_delay(config, reference, process.given)
        failed.pop_all()
    return process


def poll_unit(process: ReferenceProcess, reference: ReferenceFmu, status: Snapshot | None) -> UnitReport:
    """Let an FMU's time pass once the platform has faded in; what has become of it. Raises FmuError: it has failed.

    status: of the rig, None before the FMU is followed.
    """
    process.check()
    stream = None if status is None else status.stream
    if not reference.wait or (stream is not None and stream.phase == "following"):
        process.go()
    return _report(process, reference)


def follow_unit(
    rig: Rig,
    reference: ReferenceFmu,
    name: str,
    duration: float | None = None,
    report: Callable[[UnitReport], None] = lambda _report: None,
) -> UnitReport:
    """Follow an FMU until it ends, or `duration` s of its time have passed.

    If it fails, the platform comes to rest by the stream's own rules, and is stopped (category 2).

    Args:
        rig: engaged.
        reference: the FMU; relative to the configuration's folder.
        name: of the motion.
        duration: None: until it ends by itself.
        report: receives the state of things while the FMU is followed.

    Raises:
        InputError: the FMU or its variables are unusable, it is too slow, or `[stream]` does not suit its steps.
        FmuError: it failed, before the motion or in it.
        RunFaultError: the motion was stopped for another reason.
        HardwareError: a process could not be started.
    """
    if duration is not None and not (math.isfinite(duration) and duration > 0.0):
        raise InputError(f"duration: {duration:g} s, must be greater than 0 and finite")
    config = rig.config
    assert isinstance(rig, LiveRig | LockstepRig)
    live = isinstance(rig, LiveRig)
    telemetry = rig.engine.address.ring if isinstance(rig, LiveRig) else None
    pacing = Pacing(telemetry, config.stream.watchdog, math.inf if duration is None else duration)
    with contextlib.ExitStack() as resources:
        known = platform_state(rig.read_rows()[0][-1] if isinstance(rig, LiveRig) else rig.engine.cycle_data.row[0])
        patience = 1.0 if live else _PATIENCE
        process = resources.enter_context(open_unit(config, reference, known, pacing, patience))
        if isinstance(rig, LockstepRig):
            row = rig.engine.cycle_data.row
            resources.enter_context(
                rig.feeding(lambda now: process.advance(now, platform_state(row[0])), reference.step)
            )
        _follow(rig, process, reference, name, report)
        return _report(process, reference)


_PATIENCE = 10.0
"""s for which lockstep waits for a step: nothing moves meanwhile."""


def _follow(
    rig: Rig, process: ReferenceProcess, reference: ReferenceFmu, name: str, report: Callable[[UnitReport], None]
) -> None:
    def look(_progress: Progress) -> None:
        report(poll_unit(process, reference, rig.status()))

    rig.request(FollowStream(name, process.ring.name))
    try:
        try:
            finish(rig, look)
        except FmuError:
            raise
        except RigError:
            process.check()  # which is the cause, if it failed
            raise
    except FmuError as error:
        with contextlib.suppress(RigError):
            rig.report(failure_of(Code.REFERENCE_FMU_FAILED, error, process.time))
            stop(rig, 2)
        raise


def _report(process: ReferenceProcess, reference: ReferenceFmu) -> UnitReport:
    return UnitReport(process.path, reference.step, process.needed, process.time)


def _check_steps(config: RigConfig, reference: ReferenceFmu) -> None:
    if reference.step > config.stream.watchdog:
        raise InputError(
            f"reference.step: {reference.step:g} s, must be at most stream.watchdog, {config.stream.watchdog:g} s"
        )


def _check_delay(config: RigConfig, reference: ReferenceFmu, given: int) -> None:
    """Refuse a delay within which set-points cannot come: one step, or two without velocity and acceleration."""
    steps = 1 if given == VELOCITY | ACCELERATION else 2
    least = least_delay(config) + steps * reference.step - reference.lead
    if config.stream.delay < least:
        raise InputError(
            f"stream.delay: {config.stream.delay:g} s, must be at least {least:.3g} s with reference.step "
            f"{reference.step:g} s and reference.lead {reference.lead:g} s"
        )
