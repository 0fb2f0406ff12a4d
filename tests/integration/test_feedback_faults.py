"""Faults of wire and position feedback in lockstep: stop, delay, first cause, what is kept."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fault_bench import C0, C1, LEG, ONCE, D, K, Q, faulty, invariants, lived_through, silence, stopped
from lockstep_bench import Bench, bench_config, motion_table, reaction, shipped_config

from actuators import Mode
from rig.config import load_config
from rig.engine.messages import Connect, Engage, Follow, Home, Park, Reset, Resume
from rig.engine.snapshot import SNAPSHOT
from rig.errors import HardwareError, RefusedError
from rig.report import summarize
from rig.services import EngineFound
from rig.states import FaultCode, State, StopSeverity

AMPLIFIER = {"load_cells": {"source": "amplifier", "amplifier": {"host": "127.0.0.1", "port": 15027}}}


@pytest.fixture(params=["force", "position"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path, bench_config(mode=request.param)) as made:
        yield made


@pytest.fixture(params=["force", "position"])
def shipped(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path, shipped_config(mode=request.param)) as made:
        yield made


# -- the wire ----------------------------------------------------------------------------------------------------------


def test_one_lost_write_is_counted(bench: Bench) -> None:
    bench.run().inject("drop_write", LEG)
    lived_through(bench, stale=1)


@pytest.mark.parametrize(
    ("fault", "value", "duration"),
    [
        ("delay", ONCE, ONCE),
        ("replay", None, ONCE),
        ("bit_flip", 57.0, ONCE),  # of the function code
        ("bit_flip", 3.0, ONCE),  # of the transaction's number
        ("rechunk", 1.0, None),
    ],
)
def test_a_late_replayed_damaged_or_split_reply_is_one_stale_sample(
    bench: Bench, fault: str, value: float | None, duration: float | None
) -> None:
    bench.run().inject(fault, LEG, value, duration)
    lived_through(bench, stale=1)


def test_when_writes_stop_the_drives_stop_by_their_own_watchdog(bench: Bench) -> None:
    bench.run().inject("drop_all")
    silent_since = bench.engine.tick.t
    bench.until(lambda: not bench.torque)
    assert bench.engine.tick.t - silent_since < D + 0.2  # the watchdog, then the drive's quick stop
    standing = bench.virtual.plant.state[:7]
    recording = stopped(bench, FaultCode.COMMUNICATION_LOST, leg=0, homed=True)
    cause = bench.machine.cause
    assert cause is not None and cause.text.startswith(f"all six legs: no fresh feedback for {silence(bench)}")
    assert reaction(recording, recording.rows["stale"].max(axis=1) > 0, Q) <= K + 1
    assert np.abs(bench.virtual.plant.state[:7] - standing).max() < 1e-3


@pytest.mark.parametrize("fault", ["close", "busy", "replay", "drop_all"])
def test_a_drive_that_is_gone_or_busy_stops_all_six(shipped: Bench, fault: str) -> None:
    shipped.run().inject(fault, LEG)
    recording = stopped(shipped, FaultCode.COMMUNICATION_LOST, homed=True)
    rows = recording.rows
    delay = reaction(recording, rows["stale"][:, LEG - 1] > 0, Q)
    assert delay <= K + 1
    # the cycle that finds the cause sends the stop: from the next one on the other five say that they stop
    after = rows[shipped.injected + delay]
    others = np.arange(6) != LEG - 1
    assert (after["drive_status"][others] & 0b10_0000).all() and (after["mode"] == Mode.OFF).all()


@pytest.mark.parametrize("share", [None, 1.0])
def test_noise_between_good_replies_stops_the_rig(tmp_path: Path, share: float | None) -> None:
    changes = {} if share is None else {"safety": {"rejected_replies": share}}
    with Bench(tmp_path, bench_config(**changes)) as bench:
        bench.run()
        bench.inject("noise", 3)
        if share is not None:  # borne, but counted and said
            bench.steps(150)
            assert bench.in_state(State.RUNNING)
        else:
            before = bench.engine.tick.t
            bench.until_state(State.FAULT)
            cause = bench.machine.cause
            assert cause is not None and (cause.code, cause.leg) == (FaultCode.COMMUNICATION_DISTURBED, 3)
            assert cause.t - before <= 0.21 and bench.machine.homed
            with pytest.raises(RefusedError, match=r"leg 3: .* invalid replies"):
                bench.rig.request(Reset())
            bench.virtual.faults.clear()
            bench.steps(round(1.1 / bench.config.period))
            bench.rig.request(Reset())
            assert bench.in_state(State.IDLE)
        status = bench.rig.status()
        recording = bench.recording()
    assert [report.replies.rejected > 15 for report in status.drives] == [False, False, True, False, False, False]
    assert any("leg 3: " in event.text and "invalid replies" in event.text for event in recording.events)
    assert recording.closing["rejected"][2] > 15 and recording.closing["rejected"].count(0) == 5
    replies = status.drives[2].replies
    assert set(replies.kinds) == {"foreign"}
    if share is not None:  # else a second without has passed
        assert replies.lately > 15 and replies.bound >= 5.0
    assert recording.closing["replies"] == {"leg 3": {"foreign": recording.closing["rejected"][2]}}
    summary = summarize(recording)
    assert list(summary["cycle"]["rejected_replies"]) == ["leg 3"]
    assert summary["cycle"]["replies"] == recording.closing["replies"]
    if share is None:
        assert summary["cycle"]["stale_feedback"] == 0  # every reply was good


def test_a_peer_that_sends_garbage_alone_stops_all_six_and_is_followed_again_when_it_answers(shipped: Bench) -> None:
    """Every header of its replies is damaged: nothing of what it sends is an answer."""
    shipped.run().inject("bit_flip", LEG, 20.0)
    shipped.until_state(State.FAULT)
    cause = shipped.machine.cause
    assert cause is not None and cause.code in (FaultCode.COMMUNICATION_LOST, FaultCode.COMMUNICATION_DISTURBED)
    assert cause.leg == LEG
    shipped.steps(20)
    counts = shipped.engine.drives.report(LEG - 1).replies
    assert counts.late > 3 and counts.foreign >= counts.late and set(counts.kinds) == {"late", "foreign"}
    with pytest.raises(RefusedError, match=f"leg {LEG}: "):
        shipped.rig.request(Reset())
    shipped.virtual.faults.clear()
    shipped.steps(round(1.1 / shipped.config.period))
    assert shipped.engine.drives.fresh.all()
    shipped.rig.request(Reset())
    assert shipped.in_state(State.IDLE)


def test_noise_between_the_replies_of_an_amplifier_holds_the_rig(tmp_path: Path) -> None:
    with Bench(tmp_path, bench_config(**AMPLIFIER)) as bench:
        bench.run()
        bench.inject("amplifier_noise")
        bench.until(lambda: bench.machine.latched)
        cause = bench.machine.cause
        assert cause is not None and cause.code is FaultCode.COMMUNICATION_DISTURBED and "load cells" in cause.text
        assert bench.machine.stop is StopSeverity.CATEGORY_2
        bench.steps(200)
        status = bench.rig.status()
        recording = bench.recording()
    (report,) = status.cells
    replies = report.replies
    assert report.name == "amplifier" and replies.kinds == {"foreign": replies.foreign}
    assert replies.foreign > 5 and replies.lately > 5 and replies.bound >= 5.0
    assert status.cells_rejected == replies.rejected
    assert (
        status.untaken == {"amplifier": replies}
        and SNAPSHOT.validate_json(SNAPSHOT.dump_json(status)).cells == status.cells
    )
    assert recording.closing["replies"] == {"load cells, amplifier": {"foreign": recording.closing["cells_rejected"]}}


def test_garbage_on_one_cells_line_is_counted_for_that_cell(tmp_path: Path) -> None:
    cells = {
        "source": "devices",
        "driver": "mantracourt",
        "devices": [{"device": f"cell-{leg}"} for leg in range(1, 7)],
    }
    with Bench(tmp_path, bench_config(load_cells=cells)) as bench:
        bench.park()
        assert [report.name for report in bench.rig.status().cells] == [f"load cell {leg}" for leg in range(1, 7)]
        bench.virtual.cells[LEG - 1].inject("noise")
        bench.until(lambda: bench.rig.status().cells[LEG - 1].replies.rejected > 0)
        bench.virtual.cells[LEG - 1].clear_all()
        status = bench.rig.status()
    assert set(status.untaken) == {f"load cell {LEG}"}
    found = EngineFound("rig", 1, snapshot=status)
    assert found.replies == {f"load cell {LEG}": status.untaken[f"load cell {LEG}"].described}
    assert found.replies[f"load cell {LEG}"].endswith(" tolerated)") and "foreign" in found.replies[f"load cell {LEG}"]
    told = found.as_dict()
    assert told is not None and [name for name, one in told["cell_replies"].items() if one["foreign"]] == [
        *found.replies
    ]


def test_the_link_returns_and_the_rig_stays_in_fault(bench: Bench) -> None:
    bench.run().inject("drop_all", LEG)
    bench.until_state(State.FAULT)
    bench.virtual.faults.clear()
    standing = bench.virtual.plant.state[:7]
    bench.steps(200)
    assert bench.engine.drives.fresh.all()
    assert bench.in_state(State.FAULT) and not bench.torque
    for command in (Home(), Engage(), Park(), Resume()):
        with pytest.raises(RefusedError, match="a fault is latched: reset first"):
            bench.rig.request(command)
    assert np.abs(bench.virtual.plant.state[:7] - standing).max() < 1e-6
    bench.rig.request(Reset())
    assert bench.in_state(State.IDLE) and not bench.torque
    invariants(bench.recording())


def test_a_closed_connection_is_opened_anew_by_a_reset(bench: Bench) -> None:
    bench.run().inject("close", LEG)
    bench.until_state(State.FAULT)
    with pytest.raises(HardwareError, match=rf"leg {LEG}: .* at 127\.0\.0\.1"):
        bench.rig.request(Reset())
    assert bench.in_state(State.FAULT)
    bench.virtual.faults.clear()
    bench.rig.request(Reset())
    assert bench.in_state(State.IDLE) and not bench.torque


def test_swapped_drives_are_not_connected_to(bench: Bench) -> None:
    bench.virtual.faults.inject("swap_unit", 2, 5.0)
    bench.virtual.faults.inject("swap_unit", 5, 2.0)
    with pytest.raises(HardwareError) as caught:
        bench.rig.request(Connect())
    assert "'VIRTUAL-5', expected 'VIRTUAL-2'" in str(caught.value)
    assert "'VIRTUAL-2', expected 'VIRTUAL-5'" in str(caught.value)
    assert bench.in_state(State.OFF) and not bench.engine.drives.connected
    assert bench.engine.cycles == 0


# -- position feedback -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["engage", "run"])
@pytest.mark.parametrize(("fault", "value"), [("encoder_nan", None), ("encoder_jump", 0.8), ("encoder_jump", -0.6)])
def test_an_absurd_position_is_a_quick_stop_at_once_and_homing_is_lost(
    bench: Bench, state: str, fault: str, value: float | None
) -> None:
    getattr(bench, state)()
    bench.inject(fault, LEG, value)
    recording = stopped(bench, FaultCode.FEEDBACK_INVALID, homed=False)
    assert reaction(recording, faulty(bench, recording), Q) == 1
    assert recording.rows["stop"][bench.injected] == Q


@pytest.mark.parametrize("frozen", [False, True])
def test_a_leg_that_sticks_as_it_begins_to_move_is_not_a_frozen_encoder(tmp_path: Path, frozen: bool) -> None:
    """Its encoder has steps of 5 µm, finer than which the drive tells lengths; and both have the leg stand."""
    with Bench(tmp_path, bench_config(virtual={"drive": {"position_resolution": 5e-6}})) as bench:
        bench.engage().inject("jam", LEG, 7.0)
        if frozen:
            bench.inject("encoder_frozen", LEG)
        table = motion_table(bench.config)
        bench.rig.request(Follow("bench", table.step), table.samples)
        if frozen:
            stopped(bench, FaultCode.FEEDBACK_FROZEN, homed=True)
            return
        bench.steps(400)
        assert bench.in_state(State.RUNNING)
        rows = bench.recording().rows
        stood = np.diff(rows["length"][:, LEG - 1]) == 0.0
        moving = np.abs(rows["velocity_reference"][1:, LEG - 1]) > 1e-3
        assert np.convolve(stood & moving, np.ones(bench.config.safety.frozen_cycles), "valid").max() >= 4.0


def test_a_frozen_encoder(bench: Bench) -> None:
    bench.run().inject("encoder_frozen", LEG)
    recording = stopped(bench, FaultCode.FEEDBACK_FROZEN, homed=True)
    assert reaction(recording, faulty(bench, recording), Q) <= K + 1
    assert recording.rows["stop"].max() == Q


@pytest.mark.parametrize("state", ["engage", "run"])
@pytest.mark.parametrize("step", [0.0025, 0.005, -0.005])
def test_an_encoder_that_jumps_takes_the_homing_with_it(bench: Bench, state: str, step: float) -> None:
    getattr(bench, state)()
    bench.inject("encoder_jump", LEG, step)
    recording = stopped(bench, FaultCode.POSITION_JUMP, homed=False)
    assert reaction(recording, faulty(bench, recording), Q) == 1
    assert recording.rows["stop"].max() == Q


@pytest.mark.parametrize("step", [-0.0031, 0.005])
@pytest.mark.parametrize(
    ("drives", "state"), [("orca", "park"), ("orca", "engage"), ("orca", "run"), ("jrk-g2", "park")]
)
def test_a_jump_where_the_speed_is_differentiated(tmp_path: Path, drives: str, state: str, step: float) -> None:
    """A speed that is differentiated from positions explains any jump of them."""
    with Bench(tmp_path, load_config(f"virtual-{drives}")) as bench:
        getattr(bench, state)().inject("encoder_jump", LEG, step)
        recording = stopped(bench, FaultCode.POSITION_JUMP, homed=False)
        assert recording.rows["fault"][bench.injected] == FaultCode.POSITION_JUMP


def test_an_encoder_that_jumps_while_parked_takes_the_homing_with_it(bench: Bench) -> None:
    bench.park().inject("encoder_jump", LEG)
    recording = stopped(bench, FaultCode.POSITION_JUMP, homed=False)
    assert recording.rows["state"][bench.injected] == State.FAULT


@pytest.mark.parametrize("state", ["park", "engage"])
def test_an_encoder_that_jumps_behind_a_lost_reply_at_a_low_rate(tmp_path: Path, state: str) -> None:
    slow = bench_config(rate="50 Hz", control={"stiffness": 500.0, "damping": 80.0}, drives={"watchdog": "0.2 s"})
    with Bench(tmp_path, slow) as bench:
        getattr(bench, state)()
        bench.virtual.faults.inject("drop_write", LEG)
        bench.inject("encoder_jump", LEG, 0.004)
        recording = stopped(bench, FaultCode.POSITION_JUMP, homed=False)
        rows = recording.rows
        assert rows["stale"][bench.injected, LEG - 1] == 1
        assert rows["fault"][bench.injected : bench.injected + 2].tolist() == [0, FaultCode.POSITION_JUMP]


@pytest.mark.parametrize(
    ("state", "creep"),  # m/s: 1.5 mm and 0.06 mm a cycle; so slow a one of a moving leg shows as a scale that drifts
    [("park", 0.75), ("park", 0.03), ("engage", 0.75), ("engage", 0.03), ("run", 0.75)],
)
def test_an_encoder_that_creeps_takes_the_homing_with_it(shipped: Bench, state: str, creep: float) -> None:
    getattr(shipped, state)()
    shipped.inject("encoder_creep", LEG, creep)
    recording = stopped(shipped, FaultCode.POSITION_JUMP, homed=False)
    told = np.flatnonzero(recording.rows["fault"] == FaultCode.POSITION_JUMP)[0] - shipped.injected + 1
    bound = shipped.config.safety.position_jump
    assert told * shipped.config.period * creep <= 1.2 * bound + 0.75 * shipped.config.period


def test_a_scale_that_drifts_is_a_controlled_stop(shipped: Bench) -> None:
    shipped.run()
    shipped.inject("encoder_scale", LEG, 1.0)
    gain = 1.0
    while shipped.in_state(State.RUNNING) and gain < 1.01:
        gain += 2e-4  # 0.1 mm a cycle: no jump
        shipped.virtual.faults.inject("encoder_scale", LEG, gain)
        shipped.rig.step()
    assert shipped.in_state(State.STOPPING), "1 % of scale went unseen"
    code = shipped.machine.cause and shipped.machine.cause.code
    assert code in (FaultCode.FORCE_RESIDUAL, FaultCode.FOLLOWING_ERROR)
    recording = stopped(shipped, code, homed=True)
    rows = recording.rows
    safety = shipped.config.safety
    following = np.abs(rows["length"] - rows["length_reference"]).max(axis=1) > safety.following_error
    residual = np.abs(rows["force_residual"]).max(axis=1) > safety.force_residual
    assert reaction(recording, faulty(shipped, recording) & (following | residual), C1) <= 2
    assert rows["stop"][rows["stop"] > 0][0] == C1


def test_a_scale_that_steps_is_a_jump(bench: Bench) -> None:
    bench.run().inject("encoder_scale", LEG, 1.01)
    recording = stopped(bench, FaultCode.POSITION_JUMP, homed=False)
    assert reaction(recording, faulty(bench, recording), Q) == 1


def test_a_reversed_encoder_takes_the_torque_off(bench: Bench) -> None:
    bench.run().inject("encoder_reversed", LEG)
    recording = stopped(bench, FaultCode.RUNAWAY, homed=True)
    assert reaction(recording, faulty(bench, recording), C0) <= K


@pytest.mark.parametrize("state", ["engage", "run"])
@pytest.mark.parametrize("fault", ["encoder_reversed", "force_reversed"])
def test_a_reversed_sign_takes_the_torque_off_wherever_it_happens(tmp_path: Path, state: str, fault: str) -> None:
    with Bench(tmp_path) as bench:
        getattr(bench, state)()
        bench.inject(fault, LEG)
        reversal_ended(bench)


def test_a_motor_wired_the_wrong_way_round_under_a_drives_own_loop(tmp_path: Path) -> None:
    with Bench(tmp_path, bench_config(mode="position")) as bench:
        bench.run().inject("weak", LEG, -1.0)
        reversal_ended(bench)


def reversal_ended(bench: Bench) -> None:
    """Torque off before any leg was farther off than a runaway."""
    bench.until_state(State.FAULT)
    recording = bench.recording()
    rows = recording.rows
    error = np.abs(rows["length"] - rows["length_reference"]).max(axis=1)
    assert rows["stop"].max() == C0
    assert error[rows["stop"] < C0][bench.injected :].max() <= 3 * bench.config.safety.following_error
    invariants(recording)


@pytest.mark.parametrize("state", ["engage", "run"])
def test_a_model_force_with_the_wrong_sign_is_seen_though_a_drives_own_loop_bears_it(
    tmp_path: Path, state: str
) -> None:
    with Bench(tmp_path, shipped_config(mode="position")) as bench:
        getattr(bench, state)()
        bench.inject("force_reversed", LEG)
        recording = stopped(bench, FaultCode.FORCE_RESIDUAL, homed=True)
        off = np.abs(recording.rows["force_residual"]).max(axis=1) > bench.config.safety.force_residual
        assert reaction(recording, faulty(bench, recording) & off, C1) <= 2


def test_a_reversed_encoder_of_a_leg_that_its_drive_holds_is_seen_once_it_is_to_move(tmp_path: Path) -> None:
    with Bench(tmp_path, bench_config(mode="position")) as bench:
        bench.engage().inject("encoder_reversed", LEG)
        bench.steps(200)
        assert bench.in_state(State.ENGAGED)  # nothing moves, nothing shows
        table = motion_table(bench.config)
        bench.rig.request(Follow("bench", table.step), table.samples)
        bench.until_state(State.FAULT)
        assert np.abs(bench.virtual.plant.lengths - bench.engine.cycle_data.reference.legs_ahead[:, 0]).max() < 0.02
        invariants(bench.recording())


def test_a_drive_that_restarts_takes_the_homing_with_it_and_gets_its_watchdog_back(bench: Bench) -> None:
    bench.run().inject("reboot", LEG)
    bench.until_state(State.FAULT)
    assert bench.machine.cause is not None and bench.machine.cause.code is FaultCode.DRIVE_RESTARTED
    assert not bench.machine.homed
    bench.rig.request(Reset())
    with pytest.raises(RefusedError, match="home first"):
        bench.rig.request(Engage())
    bench.rig.request(Home())
    bench.until_state(State.PARKED)
    bench.until(lambda: bench.engine.settled_for() > 0.25)
    bench.rig.request(Engage())
    bench.until_state(State.ENGAGED)
    bench.virtual.faults.inject("drop_all", LEG)
    silent_since = bench.engine.tick.t
    bench.until(lambda: bench.virtual.plant.braked(LEG - 1))
    assert bench.engine.tick.t - silent_since < D + 0.2
    recording = bench.recording()
    assert reaction(recording, faulty(bench, recording), Q) <= K
    assert recording.rows["stop"][bench.injected] == Q
    invariants(recording)
