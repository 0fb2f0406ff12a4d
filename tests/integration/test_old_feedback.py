"""Replies that come in time and tell nothing new: hung drives and amplifiers, links that are a cycle behind."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fault_bench import C2, LEG, K, Q, faulty, invariants, silence, stopped
from lockstep_bench import Bench, bench_config, causes, reaction

from rig.engine.messages import Connect, Engage, Reset, Stop
from rig.errors import HardwareError, RefusedError
from rig.recording import EventLevel
from rig.report.summary import summarize
from rig.states import FaultCode, State

AMPLIFIER = {"load_cells": {"source": "amplifier", "amplifier": {"host": "127.0.0.1", "port": 15027}}}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path) as made:
        yield made


@pytest.fixture
def amplified(tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path, bench_config(**AMPLIFIER)) as made:
        yield made


# -- drives ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["park", "run"])
def test_a_hung_drive_that_goes_on_answering_is_as_one_that_is_gone(bench: Bench, state: str) -> None:
    getattr(bench, state)().inject("hang", LEG)
    bench.until_state(State.FAULT)
    assert bench.machine.cause is not None
    assert f"leg {LEG}: no fresh feedback for {silence(bench)}: it answers, but acts on" in bench.machine.cause.text
    with pytest.raises(RefusedError, match=rf"still there: leg {LEG}: no fresh feedback: it answers, but acts on"):
        bench.rig.request(Reset())
    bench.virtual.faults.clear()
    bench.steps(round(1.3 * bench.config.rate))  # replies that are no good count for a second
    bench.rig.request(Reset())
    assert bench.in_state(State.IDLE)
    recording = bench.recording()
    assert causes(recording)[0] is FaultCode.COMMUNICATION_LOST
    rows = recording.rows
    assert list(rows["stale"][bench.injected :, LEG - 1][: K - 1]) == [1, 2]
    if state == "park":
        assert rows["state"][bench.injected + K - 1] == State.FAULT
    else:
        assert reaction(recording, faulty(bench, recording), Q) <= K + 1
    invariants(recording)


def test_a_drive_that_hangs_before_connecting_is_not_connected_to(bench: Bench) -> None:
    bench.rig.request(Connect())
    bench.steps(20)
    bench.engine.drives.close()
    bench.virtual.faults.inject("hang", LEG)
    with pytest.raises(HardwareError, match=rf"leg {LEG}: no good reply to the cyclic exchange: it answers, but acts"):
        bench.engine.drives.connect(1.0)


def test_replies_that_are_a_cycle_old_for_good_are_borne_and_said(bench: Bench) -> None:
    bench.run(0.6).inject("lag", LEG)
    bench.until(lambda: bench.engine.reference.path_time >= 2.0)
    assert bench.in_state(State.RUNNING) and bench.machine.homed
    assert bench.rig.status().echo_lag == (0, 0, 1, 0, 0, 0)
    bench.virtual.faults.clear()
    bench.steps(5)
    assert bench.rig.status().echo_lag == (0,) * 6
    recording = bench.recording()
    assert causes(recording) == []
    said = [(EventLevel(event.level).name, event.text) for event in recording.events if "replies are" in event.text]
    assert said == [
        ("WARNING", f"leg {LEG}: the drive's replies are 1 cycle old (tolerated up to 1)"),
        ("INFO", f"leg {LEG}: the drive's replies are up to date again"),
    ]
    rows = recording.rows[bench.injected :]
    assert rows["stale"].sum() == 2  # once as the lag begins, once as it ends
    assert recording.closing["lagging"][LEG - 1] >= 0.99 * 1.4 * bench.config.rate
    assert sum(recording.closing["lagging"]) == recording.closing["lagging"][LEG - 1]
    assert recording.closing["mismatched"] == [0, 0, 2, 0, 0, 0]
    assert summarize(recording)["cycle"]["old_replies"] == recording.closing["lagging"][LEG - 1]
    invariants(recording)


@pytest.mark.parametrize(("borne", "lag"), [(0, 1.0), (1, 2.0)])
def test_replies_older_than_is_borne_are_as_none(tmp_path: Path, borne: int, lag: float) -> None:
    with Bench(tmp_path, bench_config(safety={"echo_lag": borne})) as bench:
        bench.run().inject("lag", LEG, lag)
        recording = stopped(bench, FaultCode.COMMUNICATION_LOST, homed=True)
        assert reaction(recording, recording.rows["stale"][:, LEG - 1] > 0, Q) <= K + 1


# -- the amplifier -----------------------------------------------------------------------------------------------------


def held_for_the_cells(bench: Bench, leg: int, words: str) -> None:
    """Category 2 within k + 1 cycles, latched, held; a reset is refused while the cause is there."""
    bench.until(lambda: bench.machine.latched)
    bench.steps(200)
    machine = bench.machine
    assert (machine.state, machine.stop) == (State.STOPPING, C2) and bench.torque
    assert machine.cause is not None and (machine.cause.code, machine.cause.leg) == (FaultCode.LOAD_CELL, leg)
    assert words in machine.cause.text
    bench.rig.request(Stop(1))
    bench.until_state(State.FAULT)
    with pytest.raises(RefusedError, match="cause is still there"):
        bench.rig.request(Reset())
    bench.virtual.faults.clear()
    bench.steps(5)
    bench.rig.request(Reset())
    recording = bench.recording()
    assert reaction(recording, faulty(bench, recording), C2) <= K + 1
    invariants(recording)


def test_a_channel_that_the_amplifier_calls_invalid_is_a_cell_without_a_value(amplified: Bench) -> None:
    amplified.run().inject("amplifier_invalid", LEG)
    held_for_the_cells(amplified, LEG, f"leg {LEG}: the load cell reads nan N")


@pytest.mark.parametrize(("fault", "state"), [("amplifier_standing", "engage"), ("amplifier_hang", "run")])
def test_an_amplifier_whose_counter_stands_has_nothing_fresh(amplified: Bench, fault: str, state: str) -> None:
    getattr(amplified, state)().inject(fault)
    words = f"no fresh reading for {silence(amplified)}: the amplifier answers, but its conv"
    held_for_the_cells(amplified, 0, words)


@pytest.mark.parametrize(
    ("fault", "leg", "words"),
    [
        ("amplifier_invalid", LEG, f"leg {LEG}: the load cell reads nan N"),
        ("amplifier_standing", None, "no fresh reading of the load cells: the amplifier answers"),
    ],
)
def test_an_amplifier_without_readings_is_not_engaged_on(
    amplified: Bench, fault: str, leg: int | None, words: str
) -> None:
    amplified.park().virtual.faults.inject(fault, leg)
    amplified.steps(1)
    with pytest.raises(RefusedError, match=words):
        amplified.rig.request(Engage())
    assert not amplified.torque
    amplified.until_state(State.FAULT)  # and after k cycles it is a fault by itself
    assert amplified.machine.homed and np.isfinite(amplified.engine.cycle_data.measurement.length).all()
