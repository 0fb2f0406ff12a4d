"""Digital inputs and outputs of a rig: emergency stop, safe torque off, enable, brakes, lamp, on the lockstep rig."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fault_bench import C0, C1, LEG, K, faulty, invariants, stopped
from lockstep_bench import Bench, bench_config, causes, near_home, reaction

from actuators import Status
from rig.config import RigConfig
from rig.engine import check_buses
from rig.engine.messages import Connect, Disconnect, Engage, Home, MoveLeg, Park, Reset
from rig.errors import ConfigError, HardwareError, RefusedError
from rig.findings import Code
from rig.report import summarize
from rig.states import FaultCode, State
from rig.telemetry import CycleFlag

BLOCK = {"host": "127.0.0.1", "port": 5090}
INPUTS = {"emergency_stop": {"channel": 0}, "safe_torque_off": {"channel": 1}}
OUTPUTS = {"enable": {"channel": 0}, "brakes": [{"channel": 1 + leg} for leg in range(6)], "lamp": {"channel": 8}}
BRAKES = [f"brake_{leg}" for leg in range(1, 7)]
CLOSING = 0.1  # s


def io_config(**changes: Any) -> RigConfig:
    io = {"block": BLOCK, "inputs": INPUTS, "outputs": OUTPUTS, "brake_time": CLOSING}
    return bench_config(io=io | changes)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path, io_config()) as made:
        yield made


def outputs(bench: Bench) -> dict[str, bool]:
    """What is on at the virtual block: the truth, not what was commanded."""
    return bench.virtual.cabinet.outputs


def bring(bench: Bench, state: State) -> None:
    if state is State.IDLE:
        bench.rig.request(Connect())
    elif state is State.PARKED:
        bench.park()
    elif state is State.HOMING:
        bench.rig.request(Connect())
        bench.rig.request(Home())
        bench.steps(5)
    elif state is State.ENGAGED:
        bench.engage()
    else:
        bench.run(0.6)
    assert bench.in_state(state)


WITH_TORQUE = [State.HOMING, State.ENGAGED, State.RUNNING]


# -- inputs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [State.IDLE, State.PARKED, *WITH_TORQUE], ids=lambda state: state.name)
def test_an_emergency_stop_is_the_fault_and_takes_the_torque_off_at_once(bench: Bench, state: State) -> None:
    bring(bench, state)
    bench.inject("io_emergency_stop")
    recording = stopped(bench, FaultCode.EMERGENCY_STOP, leg=0, homed=state not in (State.IDLE, State.HOMING))
    if state in WITH_TORQUE:
        assert reaction(recording, faulty(bench, recording), C0) <= 2
    closed = recording.rows["flags"] & CycleFlag.EMERGENCY_STOP_CLOSED.value > 0
    assert closed[: bench.injected - 1].all() and not closed[bench.injected + 2 :].any()


def test_the_shipped_example_runs_and_its_emergency_stop_ends_it(tmp_path: Path) -> None:
    with Bench(tmp_path, near_home("virtual-io")) as bench:
        io = bench.run(0.6).engine.drives.io
        assert io is not None and io.inputs == {"emergency_stop": True, "safe_torque_off": True}
        assert outputs(bench) == {"enable": True, "brake": True, "lamp": True}
        bench.inject("io_emergency_stop")
        bench.until_state(State.FAULT)
        status = bench.rig.status()
        assert status.io is not None and status.io.inputs == (("emergency_stop", False), ("safe_torque_off", False))
        assert not outputs(bench)["enable"] and not outputs(bench)["brake"]
        found = summarize(bench.recording())["io"]
    assert [point["name"] for point in found["points"]] == [
        "emergency_stop", "safe_torque_off", "enable", "brake", "lamp"
    ]  # fmt: skip


def test_noise_between_the_replies_of_a_block_is_counted_for_it_alone(bench: Bench) -> None:
    bench.run(0.6)
    bench.inject("io_noise")
    bench.until(lambda: bench.machine.latched)
    bench.steps(20)
    status = bench.rig.status()
    recording = bench.recording()
    assert status.io is not None
    replies = status.io.replies
    assert replies.rejected == status.io_rejected > 5 and replies.lately > 5 and replies.bound >= 5.0
    assert status.untaken == {"I/O block": replies}
    rejected = recording.closing["io_rejected"]
    assert list(recording.closing["replies"]) == ["I/O block"] and rejected >= replies.rejected
    assert summarize(recording)["cycle"]["rejected_replies"] == {"inputs and outputs": rejected}


def test_the_report_says_which_input_made_the_fault(bench: Bench) -> None:
    bench.run(0.6)
    bench.inject("io_emergency_stop")  # both inputs open at once
    bench.until_state(State.FAULT)
    found = summarize(bench.recording())["io"]
    opened = {change["point"]: change["fault"] for change in found["changes"] if "_" in change["point"]}
    assert opened == {"emergency_stop": "EMERGENCY_STOP", "safe_torque_off": None}
    ends = {point["name"]: (point["begin"], point["end"]) for point in found["points"]}
    assert ends.pop("emergency_stop") == ends.pop("safe_torque_off") == (True, False)
    assert ends.pop("enable") == ends.pop("brake") == (False, False)
    assert list(ends) == ["lamp"]  # it flashes


def test_a_reset_is_refused_while_the_chain_is_open(bench: Bench) -> None:
    bench.run().inject("io_emergency_stop")
    bench.until_state(State.FAULT)
    with pytest.raises(RefusedError, match="the emergency stop's chain is open"):
        bench.rig.request(Reset())
    bench.virtual.faults.clear()
    bench.steps(10)
    assert bench.in_state(State.FAULT) and not bench.torque
    bench.rig.request(Reset())
    assert bench.in_state(State.IDLE) and not bench.torque
    bench.rig.request(Home())
    bench.until_state(State.PARKED)


def test_a_reset_of_another_fault_is_refused_too_while_the_chain_is_open(bench: Bench) -> None:
    bench.run().inject("drop_all", LEG)
    bench.until_state(State.FAULT)
    bench.virtual.faults.clear()
    bench.inject("io_emergency_stop_wire")
    bench.steps(5)
    assert bench.machine.cause is not None and bench.machine.cause.code is FaultCode.COMMUNICATION_LOST
    with pytest.raises(RefusedError, match="the emergency stop's chain is open"):
        bench.rig.request(Reset())
    assert FaultCode.EMERGENCY_STOP in causes(bench.recording())


def test_a_reset_is_refused_with_a_chain_that_was_open_before_connecting(bench: Bench) -> None:
    bench.inject("io_emergency_stop_wire")
    bench.rig.request(Connect())
    bench.inject("drop_all", LEG)
    bench.until_state(State.FAULT)
    bench.virtual.faults.clear("drop_all")
    bench.steps(5)
    with pytest.raises(RefusedError, match="the emergency stop's chain is open"):
        bench.rig.request(Reset())
    bench.virtual.faults.clear()
    bench.steps(3)
    bench.rig.request(Reset())
    assert bench.in_state(State.IDLE)


@pytest.mark.parametrize("fault", ["io_emergency_stop_wire", "io_safe_torque_off_feedback"])
@pytest.mark.parametrize(
    "command", [Home(), MoveLeg(1, 0.01, 0.02, home=True), Engage()], ids=["home", "leg", "engage"]
)
def test_an_open_circuit_keeps_torque_from_being_asked_for(bench: Bench, command: Any, fault: str) -> None:
    """Open before connecting, it is no fault, as nobody has pressed anything."""
    text = "emergency stop's chain is open" if "emergency" in fault else "circuit of safe torque off is open"
    if isinstance(command, Engage):
        bench.park()
        if "emergency" in fault:
            return
        bench.inject(fault)
        bench.steps(3)
    else:
        bench.inject(fault)
        bench.rig.request(Connect())
        bench.steps(3)
    assert not bench.machine.latched
    before = bench.machine.state
    with pytest.raises(RefusedError, match=text):
        bench.rig.request(command)
    assert bench.machine.state is before and not bench.torque


@pytest.mark.parametrize("state", WITH_TORQUE, ids=lambda state: state.name)
def test_safe_torque_off_explains_torque_that_goes(bench: Bench, state: State) -> None:
    bring(bench, state)
    bench.inject("io_safe_torque_off")
    recording = stopped(bench, FaultCode.SAFE_TORQUE_OFF, leg=0, homed=state is not State.HOMING)
    assert reaction(recording, faulty(bench, recording), C0) <= 2
    assert not any("although" in event.text for event in recording.events)


def test_feedback_that_reads_open_while_drives_have_torque_is_named(tmp_path: Path) -> None:
    with Bench(tmp_path, io_config()) as bench:
        bench.run()
        bench.inject("torque_stuck", LEG)
        bench.inject("io_safe_torque_off_feedback")
        bench.until_state(State.FAULT)
        bench.steps(20)
        recording = bench.recording()
    found = [event for event in recording.events if "although the feedback of safe torque off reads open" in event.text]
    assert [event.text.split(":")[0] for event in found] == [f"leg {LEG}"]


def test_feedback_that_reads_closed_while_torque_is_lost_is_named(bench: Bench) -> None:
    bench.run().inject("safe_torque_off", LEG)
    bench.until_state(State.FAULT)
    bench.steps(20)
    assert bench.machine.cause is not None and bench.machine.cause.code is FaultCode.TORQUE_LOST
    found = [event.text for event in bench.recording().events if "although the feedback" in event.text]
    assert len(found) == 1 and found[0].startswith(f"leg {LEG}") and "reads closed" in found[0]


@pytest.mark.parametrize("fault", ["io_drop_all", "io_busy", "io_close", "io_replay"])
def test_a_block_that_is_silent_or_refuses_is_a_fault_after_so_many_cycles(bench: Bench, fault: str) -> None:
    bench.run().inject(fault)
    recording = stopped(bench, FaultCode.INPUTS_OUTPUTS, leg=0, homed=True)
    assert K <= reaction(recording, faulty(bench, recording), C1) <= K + 1
    assert recording.rows["stop"].max() == C1


def test_a_reply_of_the_block_that_is_lost_stops_nothing(bench: Bench) -> None:
    bench.run().inject("io_drop_write")
    bench.steps(20)
    assert bench.in_state(State.RUNNING)
    snapshot = bench.engine.snapshot
    assert snapshot.io is not None and snapshot.io.replies.late == 1
    recording = bench.recording()
    assert causes(recording) == []
    invariants(recording)


def test_no_torque_while_the_block_is_silent(bench: Bench) -> None:
    bench.park().inject("io_drop_all")
    bench.until_state(State.FAULT)
    with pytest.raises(RefusedError, match="the inputs are not known"):
        bench.rig.request(Reset())
    snapshot = bench.engine.snapshot
    assert snapshot.io is not None and snapshot.io.silent and "the block is silent" in snapshot.io.described
    bench.virtual.faults.clear()
    bench.steps(3)
    bench.rig.request(Reset())
    assert bench.in_state(State.IDLE)


def test_a_rig_whose_block_is_silent_is_not_connected_to(bench: Bench) -> None:
    bench.inject("io_busy")
    with pytest.raises(HardwareError, match="inputs and outputs: I/O block"):
        bench.rig.request(Connect())
    assert bench.in_state(State.OFF)


def test_a_block_slower_than_the_cycle(tmp_path: Path) -> None:
    with Bench(tmp_path, io_config(sample_period=0.03)) as bench:
        bench.run()
        assert all(outputs(bench).values())
        bench.inject("io_emergency_stop_wire")
        bench.until(lambda: bench.machine.latched)
        assert bench.engine.cycles - bench.injected <= 0.03 * bench.config.rate + 2
        bench.virtual.faults.clear()
        bench.until_state(State.FAULT)
        bench.steps(20)
        bench.rig.request(Reset())
        bench.inject("io_drop_all")
        bench.until(lambda: bench.machine.latched)
        assert bench.machine.cause is not None and bench.machine.cause.code is FaultCode.INPUTS_OUTPUTS
        assert bench.engine.cycles - bench.injected <= (K + 1) * 0.03 * bench.config.rate + 2


def test_a_block_on_the_line_of_the_drives(tmp_path: Path) -> None:
    line = {"host": None, "device": "line", "baud": 1_000_000, "reply_delay": 1e-4}
    legs = [line | {"unit": leg} for leg in range(1, 7)]
    drives = {"legs": legs, "turnaround": 1e-4}
    config = io_config(block=line | {"unit": 9, "turnaround": 1e-4}).changed({"rate": 100.0, "drives": drives})
    assert check_buses(config).passed
    assert check_buses(config).plans[0].devices[-1] == "I/O block"
    with Bench(tmp_path, config) as bench:
        bench._park()
        bench.inject("io_emergency_stop_wire")
        bench.until_state(State.FAULT)
        assert bench.machine.cause is not None and bench.machine.cause.code is FaultCode.EMERGENCY_STOP


def test_a_connection_that_is_refused_leaves_the_outputs_as_they_are(bench: Bench) -> None:
    """Where a drive has torque from another master, the outputs may be that one's too."""
    bench.virtual.cabinet.write(0, True)
    bench.inject("torque_stuck", LEG)
    bench.steps(2)
    with pytest.raises(HardwareError, match="another master"):
        bench.rig.request(Connect())
    assert outputs(bench)["enable"]


# -- outputs -----------------------------------------------------------------------------------------------------------


def test_outputs_follow_the_state(bench: Bench) -> None:
    bench.rig.request(Connect())
    bench.steps(3)
    assert not any(outputs(bench).values())
    bench.rig.request(Home())
    bench.steps(3)
    assert outputs(bench)["enable"] and outputs(bench)["lamp"]
    bench.until_state(State.PARKED)
    bench.steps(60)
    assert not any(outputs(bench).values())
    bench.rig.request(Engage())
    bench.until_state(State.ENGAGED)
    assert all(outputs(bench).values())
    bench.rig.request(Park())
    bench.until_state(State.PARKED)
    bench.steps(2)
    assert not any(outputs(bench).values())


def test_a_brake_is_released_with_torque_alone_and_closes_before_it_goes(bench: Bench) -> None:
    bench.engage()
    bench.engine.stop(1)
    bench.until_state(State.PARKED)
    rows = bench.recording().rows
    torque = (rows["drive_status"] & Status.ENABLED.value > 0).all(axis=1)
    released = rows["flags"] & CycleFlag.BRAKE_RELEASED.value > 0
    engaged = rows["state"] == State.ENGAGED
    assert released[engaged].all()
    last = int(np.flatnonzero(released)[-1])
    held = int(np.flatnonzero(torque)[-1]) - last
    assert CLOSING <= held * bench.config.period <= CLOSING + 4 * bench.config.period
    alone = released & ~(rows["drive_status"] & Status.ENABLED.value > 0).any(axis=1)
    assert not alone.any()


def test_each_brake_follows_its_own_drive_while_homing(bench: Bench) -> None:
    bench.rig.request(Connect())
    bench.rig.request(Home())
    seen = set()
    while bench.in_state(State.HOMING):
        enabled = [bool(status & Status.ENABLED.value) for status in bench.engine.drives.status]
        released = [outputs(bench)[name] for name in BRAKES]
        assert not any(one and not torque for one, torque in zip(released, enabled, strict=True))
        seen.add(sum(released))
        bench.steps(1)
    assert {1, 6} <= seen


@pytest.mark.parametrize("category", [0, 1])
def test_a_stop_switches_everything_off(bench: Bench, category: Any) -> None:
    bench.run()
    bench.engine.stop(category)
    if category == 0:
        bench.steps(1)
        assert not outputs(bench)["enable"] and not any(outputs(bench)[name] for name in BRAKES)
    bench.until_state(State.PARKED)
    bench.steps(2)
    assert not any(outputs(bench).values())


def test_a_fault_closes_the_brakes_in_its_own_cycle(bench: Bench) -> None:
    bench.run().inject("torque_stuck", LEG)
    bench.inject("io_emergency_stop_wire")
    bench.until(lambda: bench.machine.latched)
    assert not outputs(bench)["enable"] and not any(outputs(bench)[name] for name in BRAKES)


def test_the_lamp_flashes_while_a_fault_is_latched(bench: Bench) -> None:
    bench.run().inject("io_emergency_stop_wire")
    bench.until_state(State.FAULT)
    lamp = []
    for _ in range(round(2.0 * bench.config.rate)):
        bench.steps(1)
        lamp.append(outputs(bench)["lamp"])
    assert np.count_nonzero(np.diff(lamp)) in (3, 4)  # by where the flashing begins


def test_the_brake_of_a_drive_that_takes_no_torque_stays_closed(bench: Bench) -> None:
    bench.park().inject("safe_torque_off", LEG)
    bench.rig.request(Engage())
    seen = set()
    while bench.in_state(State.ENGAGING):
        bench.steps(1)
        seen.add(tuple(outputs(bench)[name] for name in BRAKES))
    assert tuple(leg != LEG for leg in range(1, 7)) in seen
    assert not any(states[LEG - 1] for states in seen)


def test_a_brake_that_gets_no_supply_stays_closed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the virtual rig is for: a channel that is wired to nothing is found before the machine is."""
    bench.park()
    monkeypatch.setattr(bench.virtual.cabinet, "write", lambda _channel, _on: None)
    bench.rig.request(Engage())
    bench.until(lambda: bench.engine.drives.all(Status.ENABLED))
    bench.steps(20)
    assert not bench.torque


def test_one_supply_of_all_brakes_is_on_while_any_leg_homes(tmp_path: Path) -> None:
    config = io_config(outputs={"brake": {"channel": 3}})
    with Bench(tmp_path, config) as bench:
        bench.engage()
        assert outputs(bench) == {"brake": True}
        bench.engine.stop(0)
        bench.steps(1)
        assert outputs(bench) == {"brake": False}


def test_outputs_are_switched_off_when_the_rig_is_disconnected(bench: Bench) -> None:
    bench.park()
    bench.inject("io_emergency_stop_wire")
    bench.until(lambda: bench.machine.latched and outputs(bench)["lamp"])
    bench.virtual.faults.clear()
    bench.until(lambda: outputs(bench)["lamp"])
    bench.rig.request(Reset())
    bench.rig.request(Disconnect())
    assert not any(outputs(bench).values())


def test_the_blocks_own_watchdog_switches_its_outputs_off(tmp_path: Path) -> None:
    config = io_config(block=BLOCK | {"watchdog": 0.3, "watchdog_register": 4096, "watchdog_scale": 0.1})
    with Bench(tmp_path, config) as bench:
        bench.engage()
        assert not any(event.finding.code is Code.IO_WITHOUT_WATCHDOG for event in bench.engine.events)
        bench.steps(round(1.0 * bench.config.rate))
        assert all(outputs(bench).values()), "it is written to often enough"
        bench.virtual.advance(bench.virtual.time + 0.35)
        assert not any(outputs(bench).values())


def test_a_block_without_a_watchdog_is_an_event(bench: Bench) -> None:
    bench.rig.request(Connect())
    assert [event.text for event in bench.engine.events if event.finding.code is Code.IO_WITHOUT_WATCHDOG]


# -- beside them -------------------------------------------------------------------------------------------------------


def test_the_same_motion_with_and_without(tmp_path: Path) -> None:
    rows = []
    for name, config in (("with", io_config(outputs={"lamp": {"channel": 1}})), ("without", bench_config())):
        (folder := tmp_path / name).mkdir()
        with Bench(folder, config) as bench:
            bench.run()
            rows.append(bench.recording().rows)
    fields = ["t", "length", "force_command", "force_measured", "state"]
    assert all((rows[0][field] == rows[1][field]).all() for field in fields)


@pytest.mark.parametrize(
    ("io", "text"),
    [
        ({"block": BLOCK}, "neither an input nor an output"),
        ({"inputs": INPUTS}, r"\[io.block\] with its address is missing"),
        ({"block": BLOCK, "inputs": {"emergency_stop": {"leg": 1, "name": "estop"}}}, "no point is a channel of it"),
        ({"block": BLOCK, "inputs": {"emergency_stop": {"channel": 1, "leg": 2}}}, "leg and name go together"),
        ({"block": BLOCK, "outputs": {"lamp": {"channel": 1, "active": "low"}}}, "an output that is off has no signal"),
        ({"block": BLOCK, "outputs": {"lamp": {"channel": 1}, "enable": {"channel": 1}}}, "the same point"),
        ({"block": BLOCK, "outputs": OUTPUTS | {"brake": {"channel": 20}}}, "one of the two, not both"),
        ({"driver": "modbus-i"}, "no I/O driver 'modbus-i'; known I/O drivers: modbus-io"),
    ],
)
def test_what_cannot_be_is_refused_by_key(io: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        bench_config(io=io)


def test_a_drive_without_the_point_is_named(tmp_path: Path) -> None:
    config = bench_config(io={"inputs": {"emergency_stop": {"leg": 2, "name": "estop"}}})
    with pytest.raises(Exception, match=r"io.inputs.emergency_stop: drive 2 has no input 'estop'; it has: none"):
        Bench(tmp_path, config)


def test_the_guides_configuration_is_valid(tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "inputs-and-outputs.md").read_text(encoding="utf-8")
    whole, *_at_drives = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    config = bench_config(**tomllib.loads(whole))
    assert config.io is not None and config.io.input_channels == (0, 1) and config.io.output_channels == (0, 1, 2)
    with Bench(tmp_path, config) as bench:
        bench.engage()
        assert all(outputs(bench).values())
