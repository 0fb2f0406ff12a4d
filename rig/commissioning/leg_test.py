"""Client side of the single-leg test: a dedicated engine moves and monitors the leg, with a recording."""

import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rig.client import (
    Interruption,
    LiveRig,
    Rig,
    bring_to_rest,
    clear,
    connect_for_state,
    leave,
    new_recording,
    remove_empty,
)
from rig.commissioning.draft import check_devices
from rig.config import RigConfig
from rig.engine import LegMove, LegResult, LegTest, MoveLeg, Snapshot, Stop, check_move
from rig.errors import InterruptedRunError, RefusedError, RigError
from rig.findings import Code, Finding
from rig.states import State

_SLACK = 15.0  # s, for a whole test in addition to the leg's travel and homing

Show = Callable[[LegTest], None]


class NotHomedError(RefusedError):
    """The leg's drive has no reference, and the test may not home it."""


class LatchedFaultError(RefusedError):
    """A drive has latched a fault, and the test may not clear it."""


def run_leg_test(
    config: RigConfig, move: LegMove, interruption: Interruption, show: Show, recording: Path | None = None
) -> LegResult:
    """Run a complete test with a dedicated engine.

    The first Ctrl-C stops the leg and waits for the result, a second one switches the torque off.

    Args:
        config: the rig; a virtual one must be served already.
        move: the test move.
        interruption: polled while waiting; the caller installs it if Ctrl-C is to count.
        show: receives lines for the user.
        recording: file to record to, which must not exist; None: a new one in the configuration's folder.

    Raises:
        RefusedError, ConfigurationError, ConfigError: see `check_move`, `check_devices`; nothing was started.
        NotHomedError, LatchedFaultError: the leg is not homed, or a fault is latched, and the move forbids more.
        HardwareError: a drive does not answer or is in use, or a process has died.
    """
    check_move(config, move)
    check_devices(config)
    recording = recording or leg_recording(config, move)
    try:
        with LiveRig(config, recording, "test a leg", interruption, serve=False) as rig:
            try:
                result = move_leg(rig, move, show)
                leave(rig)
            except (RigError, KeyboardInterrupt):
                with suppress(RigError):
                    bring_to_rest(rig)
                raise
    finally:
        remove_empty(recording)
    return result


def leg_recording(config: RigConfig, move: LegMove) -> Path:
    """Return an unused file for a test's recording in the configuration's folder. Raises InputError."""
    return new_recording(Path(config.recording.directory), f"leg-{move.leg}")


def move_leg(rig: Rig, move: LegMove, show: Show) -> LegResult:
    """Test a leg of a rig that is OFF or IDLE; Ctrl-C stops it and returns the result so far.

    Raises as `run_leg_test`.
    """
    if rig.status().state is State.OFF:
        try:
            seen = connect_for_state(rig)
            if seen.state is State.FAULT:
                if not move.clear:
                    within = () if seen.finding is None else (seen.finding,)
                    raise LatchedFaultError(Finding(Code.FAULT_TO_CLEAR, within=within))
                clear(rig)
        except InterruptedRunError:
            return _result_without_move(move)
    try:
        rig.request(MoveLeg(move.leg, move.travel, move.speed, move.home, move.stay))
    except RefusedError as error:
        if error.finding.root.code is Code.TEST_WITHOUT_REFERENCE:
            raise NotHomedError(error.finding) from None
        raise
    longest = rig.config.safety.homing_timeout + 2.0 * move.way_time + rig.config.safety.stop_time + _SLACK

    def over(status: Snapshot) -> bool:
        test = status.leg_test
        if test is None:
            return False
        show(test)
        return test.result is not None

    try:
        status = rig.wait(over, longest, f"the test of leg {move.leg} to end")
    except InterruptedRunError:
        rig.request(Stop(1))
        status = rig.wait(over, longest, f"the test of leg {move.leg} to end")
    assert status.leg_test is not None and status.leg_test.result is not None
    return status.leg_test.result


def _result_without_move(move: LegMove) -> LegResult:
    """Return the result of a test that was stopped before any command to its leg."""
    none = math.nan
    faults = (Finding(Code.STOPPED_BEFORE_MOVING),)
    return LegResult(move.leg, move.travel, faults, True, None, none, none, none, none, none, {})
