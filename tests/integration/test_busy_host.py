"""A fault on a busy computer says first that the computer was busy, and what can be done about it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fault_bench import C1, LEG, Q, faulty, invariants, stopped
from lockstep_bench import Bench, causes, reaction

from rig.client.motion_runner import finish
from rig.engine import Connect
from rig.engine.host_load import HostLateness
from rig.errors import RunFaultError
from rig.findings import Code, Finding
from rig.runtime.ticker import Tick
from rig.safety import Trip
from rig.safety.machine import Cause
from rig.states import FaultCode, State, StopSeverity

REMEDY = "End other programs, lower `rate`, or give real-time rights: `rig doctor` measures what this computer can run"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path) as made:
        yield made


def oversleep(bench: Bench, times: int, cycles: int = 1) -> None:
    for _ in range(times):
        bench.rig.step(overslept=cycles)
        bench.steps(9)


def test_a_fault_on_a_busy_computer_says_so_first_and_keeps_its_own_cause(bench: Bench) -> None:
    bench.run()
    oversleep(bench, 5, cycles=2)
    bench.inject("encoder_jump", LEG, 5e-3)
    bench.until_state(State.STOPPING)
    with pytest.raises(RunFaultError, match="the computer was busy: 10 cycles late"):
        finish(bench.rig)  # what `rig run` ends with
    status = bench.rig.status()  # what the banner shows
    recording = stopped(bench, FaultCode.POSITION_JUMP, homed=False)
    assert reaction(recording, faulty(bench, recording), Q) <= 2
    (event,) = [event for event in recording.events if event.code == FaultCode.POSITION_JUMP]  # what the report lists
    busy, own = "the computer was busy: 10 cycles late (longest 10 ms) in the previous second; ", f"leg {LEG}: "
    assert event.text.startswith(busy + own) and event.text.endswith(REMEDY)
    assert status.cause == event.text and status.cause_code is FaultCode.POSITION_JUMP


def test_overruns_in_a_row_come_with_the_remedy(bench: Bench) -> None:
    bench.run()
    bench.injected = bench.engine.cycles
    while bench.in_state(State.RUNNING):
        bench.rig.step(overslept=1)
    cause = bench.machine.cause
    assert cause is not None and cause.text.startswith("the computer was busy: 3 cycles late (longest 5 ms)")
    bench.until_state(State.PARKED)
    recording = bench.recording()
    assert reaction(recording, faulty(bench, recording), C1) <= 4 and causes(recording) == [FaultCode.OVERRUN]
    invariants(recording)


def test_a_computer_that_stood_still_comes_with_the_remedy(bench: Bench) -> None:
    bench.run()
    bench.rig.step(overslept=20)
    cause = bench.machine.cause
    assert cause is not None and cause.code is FaultCode.HOST_SUSPENDED
    assert cause.text.startswith("the host was suspended for 0.100 s") and cause.text.endswith(REMEDY)


def test_what_a_computer_does_at_any_time_is_no_excuse(bench: Bench) -> None:
    bench.run()
    oversleep(bench, 2)  # too few
    bench.inject("encoder_jump", LEG, 5e-3)
    bench.until_state(State.STOPPING)
    assert bench.machine.cause is not None and bench.machine.cause.text.startswith(f"leg {LEG}: ")


def test_what_is_long_past_is_no_excuse(bench: Bench) -> None:
    bench.run()
    oversleep(bench, 5)
    bench.steps(round(1.0 * bench.config.rate))
    bench.inject("encoder_jump", LEG, 5e-3)
    bench.until_state(State.STOPPING)
    assert bench.machine.cause is not None and bench.machine.cause.text.startswith(f"leg {LEG}: ")


def test_an_operators_stop_is_nobodys_fault(bench: Bench) -> None:
    bench.run()
    oversleep(bench, 5)
    bench.engine.stop(1)
    assert bench.machine.cause is not None and bench.machine.cause.text == "operator's stop, category 1"


@pytest.mark.parametrize(("torque", "said"), [(False, "leg 2: "), (True, "the computer was busy: 5 cycles late")])
def test_a_drive_that_stopped_before_it_was_given_torque_did_not_stop_for_this_computer(
    bench: Bench, torque: bool, said: str
) -> None:
    if torque:
        bench.run()
    else:
        bench.rig.request(Connect())
    oversleep(bench, 5)
    stopped_by_itself = Cause(Finding(Code.DRIVE_WATCHDOG, 2), 0.0)
    bench.engine.trip(Trip(replace(stopped_by_itself, t=bench.engine.tick.t), StopSeverity.QUICK_STOP))
    assert bench.machine.cause is not None and bench.machine.cause.text.startswith(said)


def test_late_cycles_count_beside_skipped_ones() -> None:
    lateness = HostLateness(2e-3)
    lateness.note(Tick(0.1, 1.5e-3), 0)
    lateness.note(Tick(0.2, 0.9e-3), 0)  # as any computer is
    lateness.note(Tick(0.3, 1.2e-3), 20)
    lateness.note(Tick(0.4, 0.1e-3), 1)
    said = lateness.explained(Cause(Finding(Code.DRIVE_WATCHDOG, 2), 0.5))
    assert said.text.startswith(
        "the computer was busy: 23 cycles late (longest 41 ms) in the previous second; leg 2: the"
    )
    assert (said.code, said.t, said.leg) == (FaultCode.DRIVE_WATCHDOG, 0.5, 2)
    assert lateness.explained(Cause(Finding(Code.DRIVE_WATCHDOG, 2), 1.35)).finding.code is Code.DRIVE_WATCHDOG
