"""Faults that every control law must find alike: torque, replies, lengths, signs and the machine's own bounds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fault_bench import C0, C1, LEG, ONCE, K, Q, faulty, invariants, lived_through, stopped
from lockstep_bench import Bench, bench_config, causes, reaction, shipped_config

from rig.config.rig_config import RigConfig
from rig.engine.messages import Reset
from rig.errors import RefusedError
from rig.states import FaultCode, State, StopSeverity

OTHER_LAWS = ["computed-torque", "observer", "position"]


@pytest.fixture(params=[*OTHER_LAWS, "mixed"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """As the other modules have it under the law `force`; mixed: that one, and two drives with loops of their own."""
    config = bench_config() if request.param == "mixed" else bench_config(mode=request.param)
    if request.param == "mixed":
        legs = config.resolved()["drives"]["legs"]
        own = [{**leg, "mode": "position" if number in (LEG, 6) else None} for number, leg in enumerate(legs, start=1)]
        config = config.changed({"drives": {"legs": own}})
    with Bench(tmp_path, config) as made:
        yield made


@pytest.fixture
def computed(tmp_path: Path) -> Iterator[Bench]:
    """Those that the tests of feedback try under `force` and `position`."""
    with Bench(tmp_path, bench_config(mode="computed-torque")) as made:
        yield made


# -- torque ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["engage", "run"])
@pytest.mark.parametrize("leg", [pytest.param(LEG, id="one"), pytest.param(None, id="six")])
def test_torque_that_is_lost_takes_it_off_everywhere(bench: Bench, state: str, leg: int | None) -> None:
    getattr(bench, state)()
    bench.inject("safe_torque_off", leg)
    bench.steps(3)
    bench.virtual.faults.clear()
    recording = stopped(bench, FaultCode.TORQUE_LOST, leg=leg or 0, homed=True)
    assert reaction(recording, faulty(bench, recording), C0) <= 2


def test_a_drive_that_keeps_its_torque_is_named(bench: Bench) -> None:
    bench.run().inject("torque_stuck", LEG)
    bench.steps(5)
    assert bench.in_state(State.RUNNING) and bench.machine.cause is None
    bench.engine.stop(0)
    bench.until_state(State.FAULT)
    cause = bench.machine.cause
    assert cause is not None and (cause.code, cause.leg) == (FaultCode.STOP_OVERDUE, LEG)
    with pytest.raises(RefusedError, match=f"leg {LEG}: the drive still has torque"):
        bench.rig.request(Reset())


# -- old replies -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["engage", "run"])
def test_a_drive_that_hangs_and_goes_on_answering_is_as_one_that_is_gone(bench: Bench, state: str) -> None:
    getattr(bench, state)()
    bench.inject("hang", LEG)
    recording = stopped(bench, FaultCode.COMMUNICATION_LOST, homed=True)
    assert reaction(recording, faulty(bench, recording), Q) <= K + 1


def test_replies_that_are_a_cycle_old_for_good_are_borne(bench: Bench) -> None:
    bench.run().inject("lag", LEG)
    bench.steps(300)
    assert bench.in_state(State.RUNNING) and bench.rig.status().echo_lag == (0, 0, 1, 0, 0, 0)
    recording = bench.recording()
    assert causes(recording) == [] and recording.rows["stale"].sum() == 1
    invariants(recording)


@pytest.mark.parametrize(("borne", "lag"), [(0, 1.0), (1, 2.0)])
@pytest.mark.parametrize("mode", OTHER_LAWS)
def test_replies_older_than_is_borne_are_as_none(tmp_path: Path, mode: str, borne: int, lag: float) -> None:
    with Bench(tmp_path, bench_config(mode=mode, safety={"echo_lag": borne})) as bench:
        bench.run().inject("lag", LEG, lag)
        recording = stopped(bench, FaultCode.COMMUNICATION_LOST, homed=True)
        assert reaction(recording, recording.rows["stale"][:, LEG - 1] > 0, Q) <= K + 1


# -- measured bounds ---------------------------------------------------------------------------------------------------


def loose(mode: str) -> RigConfig:
    """A rig which hardly anything holds, so that a push makes it fast before it is far."""
    changes: dict[str, Any] = {"load_cells": {"range": 5000.0}}
    if mode == "computed-torque":
        changes["control"] = {"task_stiffness": 1.0, "task_damping": 0.1}
    if mode == "observer":
        changes["control"] = {"stiffness": 1.0, "damping": 0.1, "observer_bandwidth": 0.01}
    off = ["following_error", "force_residual", "frozen_cycles", "homing_force"]
    return shipped_config(mode=mode, safety={"off": off}, **changes)


@pytest.mark.parametrize("state", ["engage", "run"])
@pytest.mark.parametrize("mode", OTHER_LAWS)
def test_a_leg_faster_than_its_limit_is_a_quick_stop(tmp_path: Path, mode: str, state: str) -> None:
    with Bench(tmp_path, loose(mode)) as bench:
        getattr(bench, state)()
        bench.inject("force_step", None, 6000.0)
        bench.until(lambda: bench.machine.latched)
        cause = bench.machine.cause
        assert cause is not None and "(bound 1 m/s)" in cause.text, cause
        recording = stopped(bench, FaultCode.OVERSPEED, leg=cause.leg, homed=True)
        fast = faulty(bench, recording) & (np.abs(recording.rows["velocity"]).max(axis=1) > 1.0)
        assert reaction(recording, fast, Q) == 1


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("temperature", 85.5, FaultCode.TEMPERATURE),
        ("supply", 30.0, FaultCode.SUPPLY_VOLTAGE),
        ("supply", 70.0, FaultCode.SUPPLY_VOLTAGE),
    ],
)
def test_a_hot_drive_or_a_bad_supply_is_a_controlled_stop(
    bench: Bench, name: str, value: float, code: FaultCode
) -> None:
    bench.run().inject(name, LEG, value)
    recording = stopped(bench, code, homed=True)
    assert reaction(recording, faulty(bench, recording), C1) <= 6
    assert recording.rows["stop"].max() == C1


# -- feedback, under the law that no other module tries --------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "value", "duration"),
    [("drop_write", None, None), ("delay", ONCE, ONCE), ("replay", None, ONCE), ("bit_flip", 57.0, ONCE)],
)
def test_one_reply_that_is_lost_late_old_or_damaged_is_one_stale_sample(
    computed: Bench, fault: str, value: float | None, duration: float | None
) -> None:
    computed.run().inject(fault, LEG, value, duration)
    lived_through(computed, stale=1)


@pytest.mark.parametrize(
    ("fault", "value", "code", "severity", "within", "homed"),
    [
        ("drop_all", None, FaultCode.COMMUNICATION_LOST, Q, K + 1, True),
        ("busy", None, FaultCode.COMMUNICATION_LOST, Q, K + 1, True),
        ("encoder_nan", None, FaultCode.FEEDBACK_INVALID, Q, 1, False),
        ("encoder_jump", 0.8, FaultCode.FEEDBACK_INVALID, Q, 1, False),
        ("encoder_jump", 0.005, FaultCode.POSITION_JUMP, Q, 1, False),
        ("encoder_creep", 0.3, FaultCode.POSITION_JUMP, Q, 5, False),
        ("encoder_frozen", None, FaultCode.FEEDBACK_FROZEN, Q, K + 1, True),
        ("encoder_reversed", None, FaultCode.RUNAWAY, C0, K, True),
        ("reboot", None, FaultCode.DRIVE_RESTARTED, Q, K, False),
    ],
)
def test_feedback_that_is_wrong_stops_the_rig(
    computed: Bench,
    fault: str,
    value: float | None,
    code: FaultCode,
    severity: StopSeverity,
    within: int,
    homed: bool,
) -> None:
    computed.run().inject(fault, LEG, value)
    recording = stopped(computed, code, homed=homed)
    assert reaction(recording, faulty(computed, recording), severity) <= within
    stops = recording.rows["stop"]
    assert stops[stops > 0][0] == severity  # a drive that does not answer is late with its quick stop


@pytest.mark.parametrize(("fault", "value"), [("jam", 300.0), ("weak", 0.3), ("force_step", 150.0)])
def test_forces_off_the_model_are_a_controlled_stop(tmp_path: Path, fault: str, value: float) -> None:
    with Bench(tmp_path, shipped_config(mode="computed-torque")) as computed:
        off_the_model(computed, fault, value)


def off_the_model(computed: Bench, fault: str, value: float) -> None:
    computed.run().inject(fault, LEG, value)
    computed.until(lambda: computed.machine.latched)
    cause = computed.machine.cause
    assert cause is not None and cause.code in (FaultCode.FORCE_RESIDUAL, FaultCode.FOLLOWING_ERROR)
    computed.until_state(State.FAULT)
    recording = computed.recording()
    rows, safety = recording.rows, computed.config.safety
    off = np.abs(rows["force_residual"]).max(axis=1) > safety.force_residual
    off |= np.abs(rows["length"] - rows["length_reference"]).max(axis=1) > safety.following_error
    assert reaction(recording, faulty(computed, recording) & off, C1) <= 2
    assert rows["stop"][rows["stop"] > 0][0] == C1
    invariants(recording)
