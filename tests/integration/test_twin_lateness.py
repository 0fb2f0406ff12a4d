"""A virtual rig whose process comes late in real time, and what a run that ends then says."""

import os
import signal
from pathlib import Path

import pytest
from live_bench import patient_config

from rig.client.interruption import Interruption
from rig.client.live import LiveRig
from rig.client.lockstep import LockstepRig
from rig.client.runs import conduct
from rig.engine.messages import Connect, Home
from rig.errors import RefusedError, RigError
from rig.findings import Code, Finding
from rig.runtime import ChildDiedError
from rig.states import State
from rig.virtual import TwinLateness


def test_a_look_at_the_wires_that_comes_half_a_cycle_late_counts_for_two_seconds() -> None:
    lateness = TwinLateness(5e-3)
    at = 0.0
    for gap in (0.0, 2e-3, 4e-3, 4.6e-3, 2e-3, 0.033, 1e-3):
        at += gap
        lateness.note(at)
    assert lateness.recent(at) == (2, pytest.approx(0.031))
    assert lateness.recent(at + 1.98) == (1, pytest.approx(0.031))
    assert lateness.recent(at + 2.0) == (0, 0.0)


def ended_late(folder: Path, error: RigError) -> RigError | None:
    """The error of a run that ended with `error` after the virtual drives' process had stood for a while."""

    def body(rig: LockstepRig | LiveRig) -> None:
        assert isinstance(rig, LiveRig) and rig.virtual is not None and rig.virtual.pid is not None
        os.kill(rig.virtual.pid, signal.SIGSTOP)
        try:
            begin = rig.status().t
            rig.wait(lambda status: status.t > begin + 0.2, 10.0, "the virtual rig stands")
        finally:
            os.kill(rig.virtual.pid, signal.SIGCONT)
        raise error

    config = patient_config()
    result = conduct(config, body, "late", folder, Interruption(), lockstep=False, report=lambda _progress: None)
    return result.error


def test_a_run_that_fails_names_the_virtual_drives_that_were_late(tmp_path: Path) -> None:
    refusal = Finding(Code.DRIVE_WATCHDOG, 2)
    error = ended_late(tmp_path, RefusedError(refusal))
    assert isinstance(error, RefusedError)
    finding = error.finding
    assert finding.code is Code.TWINS_LATE and finding.within == (refusal,)
    longest = finding.details["longest"]
    assert isinstance(longest, float) and 0.15 < longest < 10.0
    assert finding.text.startswith("the virtual drives' process was late in the last 2 s (")


def test_a_process_that_died_has_died_whatever_was_late(tmp_path: Path) -> None:
    died = ChildDiedError("the stream receiver has died")
    assert ended_late(tmp_path, died) is died


def test_one_on_time_says_nothing_of_it(tmp_path: Path) -> None:
    def body(_rig: LockstepRig | LiveRig) -> None:
        raise RefusedError("why")

    config = patient_config()
    result = conduct(config, body, "late", tmp_path, Interruption(), lockstep=True, report=lambda _progress: None)
    assert isinstance(result.error, RefusedError) and str(result.error) == "why"


def test_a_command_that_is_refused_for_a_fault_names_the_fault(tmp_path: Path) -> None:
    def body(rig: LockstepRig | LiveRig) -> None:
        rig.request(Connect())
        assert rig.faults is not None
        rig.faults.inject("drop_all", 3)
        rig.wait(lambda status: status.state is State.FAULT, 10.0, "a drive falls silent")
        rig.request(Home())

    config = patient_config()
    result = conduct(config, body, "refused", tmp_path, Interruption(), lockstep=True, report=lambda _progress: None)
    assert isinstance(result.error, RefusedError)
    refusal, fault = result.error.finding.within
    assert refusal.code is Code.REFUSED and fault.root.leg == 3
