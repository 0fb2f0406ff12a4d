"""Legs that move without torque: brakes that slip or do not close are a fault, and a reset waits until they hold."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fault_bench import K, faulty, invariants, stopped
from lockstep_bench import Bench, bench_config, causes

from rig.engine.messages import Connect, Home, Reset
from rig.errors import RefusedError
from rig.states import FaultCode, State

BOUND = 2e-3  # m, `safety.brake_slip`
SETTLING = 0.25  # s without torque, after which a leg must have come to rest


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path) as made:
        yield made


@pytest.mark.parametrize(
    ("fault", "leg", "value"),
    [("brake_slips", None, 0.02), ("brake_slips", 3, 2e-3), ("brake_open", None, None), ("brake_open", 3, None)],
)
def test_brakes_that_slip_while_parked_are_a_fault_that_keeps_the_homing(
    bench: Bench, fault: str, leg: int | None, value: float | None
) -> None:
    bench.park()
    bench.steps(500)
    standing = bench.engine.drives.length.copy()
    bench.inject(fault, leg, value)
    bench.until_state(State.FAULT)
    moved = np.abs(bench.engine.drives.length - standing)
    assert bench.machine.cause is not None
    assert all(f"leg {number} by -2." in bench.machine.cause.text for number in ([leg] if leg else range(1, 7)))
    assert "(bound 2 mm)" in bench.machine.cause.text
    assert 0.98 * BOUND < moved.max() < 1.3 * BOUND  # from where it came to rest, a little before
    recording = stopped(bench, FaultCode.BRAKES_SLIP, leg=leg or 0, homed=True)
    rows = recording.rows
    beyond = faulty(bench, recording) & (np.abs(rows["length"] - standing).max(axis=1) > 1.02 * BOUND)
    found = int(np.flatnonzero(rows["state"] == State.FAULT)[0])
    assert found - int(np.flatnonzero(beyond)[0]) < 1


def test_legs_that_sink_before_homing_are_a_fault_too(bench: Bench) -> None:
    bench.rig.request(Connect())
    bench.steps(50)
    bench.inject("brake_slips", 3)
    stopped(bench, FaultCode.BRAKES_SLIP, homed=False)


def test_a_platform_that_falls_as_its_torque_goes_off_is_found_before_it_is_fast(bench: Bench) -> None:
    bench.engage()
    bench.inject("brake_open")
    bench.engine.stop(0)
    bench.until_state(State.FAULT)
    assert bench.machine.cause is not None and bench.machine.cause.code is FaultCode.BRAKES_SLIP
    assert "leg 1 by -" in bench.machine.cause.text and "mm/s" in bench.machine.cause.text
    recording = bench.recording()
    fast = faulty(bench, recording) & (np.abs(recording.rows["velocity"]).max(axis=1) > 0.06)
    assert np.flatnonzero(recording.rows["state"] == State.FAULT)[0] - np.flatnonzero(fast)[0] <= K


def test_a_reset_is_refused_while_the_brakes_slip(bench: Bench) -> None:
    bench.park().inject("brake_slips", 5, 1e-3)
    bench.until_state(State.FAULT)
    bench.steps(250)
    with pytest.raises(RefusedError, match=r"leg 5: moves without torque, -0\.\d\d mm in the last check"):
        bench.rig.request(Reset())
    assert bench.in_state(State.FAULT)
    bench.virtual.faults.clear()
    bench.steps(500)
    bench.rig.request(Reset())
    assert bench.in_state(State.IDLE)
    bench.steps(500)
    assert bench.in_state(State.IDLE)
    bench.rig.request(Home())
    bench.until_state(State.PARKED)


def test_brakes_that_slip_behind_another_fault_are_said_once_beside_it(bench: Bench) -> None:
    bench.park().inject("encoder_jump", 2)
    bench.until_state(State.FAULT)
    bench.steps(200)
    bench.inject("brake_slips", 5, 0.02)
    bench.steps(300)
    assert bench.machine.cause is not None and bench.machine.cause.code is FaultCode.POSITION_JUMP
    with pytest.raises(RefusedError, match="leg 5: moves without torque"):
        bench.rig.request(Reset())
    assert causes(bench.recording()) == [FaultCode.POSITION_JUMP, FaultCode.BRAKES_SLIP]


@pytest.mark.parametrize("category", [0, 1])
def test_what_brakes_give_as_they_close_on_a_moving_platform_is_no_fault(bench: Bench, category: int) -> None:
    bench.run()
    assert np.abs(bench.engine.drives.velocity).max() > 0.1
    bench.engine.stop(category)  # type: ignore[arg-type]
    bench.until_state(State.PARKED)
    bench.steps(1000)
    assert bench.in_state(State.PARKED) and bench.machine.homed
    recording = bench.recording()
    assert causes(recording) == [FaultCode.OPERATOR_STOP]
    invariants(recording)


def test_a_drive_that_counts_from_another_zero_has_not_moved(bench: Bench) -> None:
    bench.rig.request(Connect())
    bench.steps(50)
    bench.inject("encoder_jump", 4, 0.02)
    bench.steps(500)
    assert bench.in_state(State.IDLE)


def test_a_rig_without_brakes_switches_the_check_off_by_name(tmp_path: Path) -> None:
    with Bench(tmp_path, bench_config(safety={"off": ["brake_slip"]})) as bench:
        bench.park().inject("brake_slips")
        bench.steps(300)
        assert bench.in_state(State.PARKED)
        assert np.abs(bench.engine.drives.velocity).max() == pytest.approx(0.02, abs=2e-3)
