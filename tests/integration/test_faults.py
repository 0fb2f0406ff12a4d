"""Every fault that can be made to happen in lockstep, and what must follow: stop, delay, first cause, what is kept."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from lockstep_bench import Bench, bench_config, causes, motion_table, reaction

from actuators import Mode
from kinematics import MotionTable, load_trajectory
from rig.clock import ManualClock
from rig.engine.core import Engine
from rig.engine.devices import make_bank
from rig.engine.messages import Command, Connect, Engage, Follow, Home, Park, Pause, Reset, Resume, Stop
from rig.engine.ports import Tick
from rig.errors import HardwareError, RefusedError
from rig.operation import prepare_motion
from rig.recording import Recording
from rig.states import FaultCode, State, StopCategory
from rig.telemetry import CycleFlag

K = 3  # stale samples that are borne
LEG = 3
D = 0.05  # s, the drives' watchdog
ONCE = 3e-3  # s, a cycle and a half: one exchange takes place in it

Q, C0, C1, C2 = StopCategory.QUICK_STOP, StopCategory.CATEGORY_0, StopCategory.CATEGORY_1, StopCategory.CATEGORY_2


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path) as made:
        yield made


def faulty(bench: Bench, recording: Recording) -> npt.NDArray[np.bool_]:
    """Cycles that could see the fault."""
    found: npt.NDArray[np.bool_] = np.arange(len(recording.rows)) >= bench.injected
    return found


def stopped(bench: Bench, code: FaultCode, *, leg: int = LEG, homed: bool) -> Recording:
    """Wait for FAULT and look at what is kept: the first cause, latched, once; homing; the recording."""
    bench.until_state(State.FAULT)
    bench.steps(50)
    machine = bench.machine
    assert machine.cause is not None
    assert (machine.cause.code, machine.cause.leg) == (code, leg), machine.cause.text
    assert leg == 0 or f"leg {leg}" in machine.cause.text
    assert machine.latched and machine.homed is homed
    assert not bench.torque
    recording = bench.recording()
    assert recording.complete and recording.dropped == 0
    assert causes(recording)[0] is code and causes(recording).count(code) == 1
    invariants(recording)
    return recording


def lived_through(bench: Bench, stale: int) -> Recording:
    """The rig goes on as if nothing had happened; `stale` cycles of one leg were stale, no two in a row."""
    bench.steps(50)
    assert bench.in_state(State.RUNNING) and bench.machine.homed
    recording = bench.recording()
    assert recording.complete and causes(recording) == []
    assert recording.rows["stale"].max() == 1
    assert recording.rows["stale"].sum() == np.count_nonzero(recording.rows["stale"][:, LEG - 1]) == stale
    rows = recording.rows[bench.injected - 5 :]
    assert np.abs(rows["length"] - rows["length_reference"]).max() < 1e-3
    invariants(recording)
    return recording


def invariants(recording: Recording) -> None:
    """What holds in every cycle of every run."""
    rows = recording.rows
    latched = rows["flags"] & CycleFlag.LATCHED.value > 0
    torque = np.isin(rows["mode"], (Mode.FORCE, Mode.POSITION, Mode.HOMING))
    controlled_stop = (rows["state"] == State.STOPPING) & (rows["stop"] <= C1)
    assert not (latched & torque & ~controlled_stop).any(), "torque while a fault is latched"
    stopping = (rows["state"][1:] == State.STOPPING) & (rows["state"][:-1] == State.STOPPING)
    assert (np.diff(rows["stop"].astype(int))[stopping] >= 0).all(), "the severity of a stop fell"
    assert np.isfinite(rows["force_command"]).all() and np.abs(rows["force_command"]).max() <= 400.0
    running = rows["state"] == State.RUNNING
    assert (rows["flags"][running] & CycleFlag.HOMED.value).all(), "running without being homed"


# -- the wire ----------------------------------------------------------------------------------------------------------


def test_one_lost_write_is_counted(bench: Bench) -> None:
    bench.run().inject("drop_write", LEG)
    lived_through(bench, stale=1)


@pytest.mark.parametrize(
    ("fault", "value", "duration"),
    [
        ("delay", 3e-3, ONCE),
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
    recording = stopped(bench, FaultCode.COMMUNICATION_LOST, leg=1, homed=True)
    assert reaction(recording, recording.rows["stale"].max(axis=1) > 0, Q) <= K + 1
    assert np.abs(bench.virtual.plant.state[:7] - standing).max() < 1e-3


@pytest.mark.parametrize("fault", ["close", "busy", "replay", "drop_all"])
def test_a_drive_that_is_gone_or_busy_stops_all_six(bench: Bench, fault: str) -> None:
    bench.run().inject(fault, LEG)
    recording = stopped(bench, FaultCode.COMMUNICATION_LOST, homed=True)
    rows = recording.rows
    delay = reaction(recording, rows["stale"][:, LEG - 1] > 0, Q)
    assert delay <= K + 1
    # the cycle that finds the cause sends the stop: from the next one on the other five say that they stop
    after = rows[bench.injected + delay]
    others = np.arange(6) != LEG - 1
    assert (after["drive_status"][others] & 0b10_0000).all() and after["mode"] == Mode.OFF


def test_the_link_returns_and_the_rig_stays_in_fault(bench: Bench) -> None:
    bench.run().inject("drop_all", LEG)
    bench.until_state(State.FAULT)
    bench.virtual.faults.clear()
    standing = bench.virtual.plant.state[:7]
    bench.steps(500)
    assert bench.engine.bank.fresh.all()
    assert bench.in_state(State.FAULT) and not bench.torque
    for command in (Home(), Engage(), Park(), Resume()):
        with pytest.raises(RefusedError, match="FAULT"):
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
    assert bench.in_state(State.OFF) and not bench.engine.bank.connected
    assert bench.engine.cycles == 0


# -- position feedback -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["engage", "run"])
@pytest.mark.parametrize(
    ("fault", "value", "homed"),
    [("encoder_nan", None, False), ("encoder_jump", 0.8, True), ("encoder_jump", -0.6, True)],
)
def test_an_absurd_position_is_a_quick_stop_at_once(
    bench: Bench, state: str, fault: str, value: float | None, homed: bool
) -> None:
    getattr(bench, state)()
    bench.inject(fault, LEG, value)
    recording = stopped(bench, FaultCode.FEEDBACK_INVALID, homed=homed)
    assert reaction(recording, faulty(bench, recording), Q) == 1
    assert recording.rows["stop"][bench.injected] == Q


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


def test_an_encoder_that_jumps_while_parked_takes_the_homing_with_it(bench: Bench) -> None:
    bench.park().inject("encoder_jump", LEG)
    recording = stopped(bench, FaultCode.POSITION_JUMP, homed=False)
    assert recording.rows["state"][bench.injected] == State.FAULT


def test_a_scale_that_drifts_is_a_controlled_stop(bench: Bench) -> None:
    bench.run()
    bench.inject("encoder_scale", LEG, 1.0)
    gain = 1.0
    while bench.in_state(State.RUNNING) and gain < 1.01:
        gain += 2e-4  # 0.1 mm a cycle: no jump
        bench.virtual.faults.inject("encoder_scale", LEG, gain)
        bench.rig.step()
    assert bench.in_state(State.STOPPING), "1 % of scale went unseen"
    code = bench.machine.cause and bench.machine.cause.code
    assert code in (FaultCode.FORCE_RESIDUAL, FaultCode.FOLLOWING_ERROR)
    recording = stopped(bench, code, homed=True)
    rows = recording.rows
    safety = bench.config.safety
    following = np.abs(rows["length"] - rows["length_reference"]).max(axis=1) > safety.following_error
    residual = np.abs(rows["force_residual"]).max(axis=1) > safety.force_residual
    assert reaction(recording, faulty(bench, recording) & (following | residual), C1) <= 2
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
def test_a_reversed_sign_takes_the_torque_off_wherever_it_happens(bench: Bench, state: str, fault: str) -> None:
    getattr(bench, state)()
    bench.inject(fault, LEG)
    bench.until_state(State.FAULT)
    recording = bench.recording()
    rows = recording.rows
    error = np.abs(rows["length"] - rows["length_reference"]).max(axis=1)
    assert rows["stop"].max() == C0
    assert error[rows["stop"] < C0][bench.injected :].max() <= 3 * bench.config.safety.following_error
    invariants(recording)


def test_a_drive_that_restarts_takes_the_homing_with_it_and_gets_its_watchdog_back(bench: Bench) -> None:
    bench.run().inject("reboot", LEG)
    bench.until_state(State.FAULT)
    assert bench.machine.cause is not None and bench.machine.cause.code is FaultCode.DRIVE_RESTARTED
    assert not bench.machine.homed
    bench.rig.request(Reset())
    with pytest.raises(RefusedError, match="IDLE"):
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


# -- forces ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "leg", "value"), [("jam", LEG, 300.0), ("weak", LEG, 0.3), ("force_step", LEG, 150.0)]
)
def test_a_force_the_model_does_not_know_is_a_controlled_stop(bench: Bench, fault: str, leg: int, value: float) -> None:
    bench.run().inject(fault, leg, value)
    bench.until_state(State.FAULT)
    bench.steps(5)
    assert bench.machine.latched and bench.machine.homed and not bench.torque
    assert bench.machine.cause is not None
    assert bench.machine.cause.code in (FaultCode.FORCE_RESIDUAL, FaultCode.FOLLOWING_ERROR)
    bench.virtual.faults.clear()
    bench.rig.request(Reset())
    assert bench.machine.homed
    recording = bench.recording()
    rows = recording.rows
    safety = bench.config.safety
    following = np.abs(rows["length"] - rows["length_reference"]).max(axis=1) > safety.following_error
    residual = np.abs(rows["force_residual"]).max(axis=1) > safety.force_residual
    assert reaction(recording, faulty(bench, recording) & (following | residual), C1) <= 2
    assert rows["stop"][rows["stop"] > 0][0] == C1
    invariants(recording)


def test_a_push_while_the_platform_is_held(bench: Bench) -> None:
    bench.engage().inject("force_step", None, 300.0)
    bench.until_state(State.FAULT)
    recording = bench.recording()
    off = np.abs(recording.rows["force_residual"]).max(axis=1) > bench.config.safety.force_residual
    assert reaction(recording, faulty(bench, recording) & off, C1) <= 2
    assert recording.rows["stop"].max() == C1 and bench.machine.homed


@pytest.mark.parametrize(("fault", "words"), [("cell_nan", "reads nan N"), ("cell_saturated", "end of scale 800 N")])
@pytest.mark.parametrize("state", ["engage", "run"])
def test_a_load_cell_without_a_value_holds_the_platform_on_the_model_alone(
    bench: Bench, state: str, fault: str, words: str
) -> None:
    getattr(bench, state)()
    bench.inject(fault, LEG)
    held_on_the_model(bench, words)


def test_a_silent_load_cell_holds_the_platform_on_the_model_alone(bench: Bench) -> None:
    bench.run().inject("cell_silent", LEG)
    recording = held_on_the_model(bench, "the load cell repeated itself")
    # silence shows once the model's force has moved on by more than the cell's noise
    rows = recording.rows
    moved = np.abs(rows["force_model"][:, LEG - 1] - rows["force_model"][bench.injected - 1, LEG - 1])
    shows = faulty(bench, recording) & (moved > bench.config.load_cells.noise)
    assert reaction(recording, shows, C2) <= K + 1


def held_on_the_model(bench: Bench, words: str) -> Recording:
    """Category 2 within k + 1 cycles, latched; held under power until an operator's stop."""
    bench.until(lambda: bench.machine.latched)
    bench.until(lambda: not bench.engine.reference.moving)
    bench.steps(500)
    machine = bench.machine
    assert (machine.state, machine.stop) == (State.STOPPING, C2) and bench.torque
    assert machine.cause is not None and machine.cause.code is FaultCode.LOAD_CELL and words in machine.cause.text
    error = bench.engine.frame.fields["length"] - bench.engine.frame.fields["length_reference"]
    assert np.abs(error).max() < 1e-4
    bench.rig.request(Stop(1))
    bench.until_state(State.FAULT)
    recording = bench.recording()
    assert causes(recording)[0] is FaultCode.LOAD_CELL and recording.complete
    if "repeated" not in words:
        assert reaction(recording, faulty(bench, recording), C2) <= K + 1
    invariants(recording)
    return recording


def test_a_shifted_tare_is_not_engaged_on(bench: Bench) -> None:
    bench.park()
    before = bench.engine.tare_residual.copy()
    assert np.abs(before).max() < 1.0
    bench.virtual.faults.inject("cell_offset", LEG, 20.0)
    bench.steps(500)
    with pytest.raises(RefusedError, match=rf"load cell of leg {LEG} is \+(19|20)\.\d N off the model at rest"):
        bench.rig.request(Engage())
    assert bench.in_state(State.PARKED) and bench.machine.homed and not bench.torque
    bench.virtual.faults.clear()
    bench.steps(500)
    bench.rig.request(Engage())
    bench.until_state(State.ENGAGED)


# -- references --------------------------------------------------------------------------------------------------------


def test_a_spike_in_a_file_is_refused(bench: Bench, tmp_path: Path) -> None:
    home = bench.config.machine.geometry.home_pose
    t = np.arange(0.0, 4.0, 0.02)
    z = home[2] + 0.01 * np.sin(np.pi * t / 4.0) ** 2
    z[100] += 0.03
    rows = [f"{a:.2f},0,0,{b:.6f},1,0,0,0" for a, b in zip(t, z, strict=True)]
    path = tmp_path / "spike.csv"
    path.write_text("\n".join(["t,x,y,z,qw,qx,qy,qz", *rows]) + "\n")
    trajectory = load_trajectory(path, home)
    with pytest.raises(RefusedError, match=r"(speed|acceleration) of leg \d: .* at (1\.9|2)"):
        prepare_motion(bench.config, trajectory)


def test_the_engine_itself_refuses_a_motion_with_a_spike(bench: Bench) -> None:
    bench.engage()
    table = motion_table(bench.config)
    samples = table.samples.copy()
    samples[len(samples) // 2, 6] += 3.0  # m/s
    spoiled = MotionTable(table.step, samples)
    with pytest.raises(RefusedError, match="outside the limits"):
        bench.rig.request(Follow("spike", spoiled.step), spoiled.samples)
    samples[len(samples) // 2, 6] = math.nan
    with pytest.raises(RefusedError):
        bench.rig.request(Follow("no number", table.step), samples)
    assert bench.in_state(State.ENGAGED)
    bench.rig.request(Follow("good", table.step), table.samples)
    assert bench.in_state(State.RUNNING)


@pytest.mark.parametrize("command", [Engage(), Park(), Pause(), Resume(), Reset()])
def test_nothing_starts_unhomed(bench: Bench, command: Command) -> None:
    bench.rig.request(Connect())
    with pytest.raises(RefusedError, match="IDLE"):
        bench.rig.request(command)
    assert bench.in_state(State.IDLE) and not bench.machine.homed and not bench.torque


def test_no_motion_starts_unhomed(bench: Bench) -> None:
    table = motion_table(bench.config)
    bench.rig.request(Connect())
    with pytest.raises(RefusedError, match="IDLE"):
        bench.rig.request(Follow("early", table.step), table.samples)
    assert bench.in_state(State.IDLE) and not bench.torque


# -- the host ----------------------------------------------------------------------------------------------------------


def test_single_overruns_are_skipped_and_counted(bench: Bench) -> None:
    bench.run()
    for _ in range(20):
        for _ in range(K - 1):
            bench.rig.step(overslept=1)
        bench.rig.step()
    assert bench.in_state(State.RUNNING)
    recording = bench.recording()
    assert recording.rows["overruns"][-1] == 20 * (K - 1)
    assert recording.dropped == 0 and causes(recording) == []
    invariants(recording)


def test_overruns_in_a_row_are_a_controlled_stop(bench: Bench) -> None:
    bench.run()
    bench.injected = bench.engine.cycles
    while bench.in_state(State.RUNNING):
        bench.rig.step(overslept=1)
    bench.until_state(State.PARKED)
    assert bench.machine.homed and not bench.machine.latched
    recording = bench.recording()
    assert reaction(recording, faulty(bench, recording), C1) <= K + 1
    assert causes(recording) == [FaultCode.OVERRUN]
    assert recording.rows["stop"].max() == C1
    invariants(recording)


@pytest.mark.parametrize("gap", [0.06, 0.5])
def test_a_host_that_stood_still_finds_the_plant_stopped_and_goes_to_fault(bench: Bench, gap: float) -> None:
    bench.run()
    cycles = round(gap / bench.config.period)
    bench.injected = bench.engine.cycles
    bench.virtual.advance(bench.engine.tick.t + gap)
    if gap > D + 0.2:
        assert not bench.torque  # by the drives' own watchdogs, before the host is back
    bench.rig.step(overslept=cycles)
    recording = stopped(bench, FaultCode.HOST_SUSPENDED, leg=0, homed=True)
    assert reaction(recording, faulty(bench, recording), Q) == 1
    assert not np.isin(recording.rows["mode"][bench.injected :], (Mode.FORCE, Mode.HOMING)).any()


def test_a_recording_that_fails_holds_the_platform_and_lets_it_park(bench: Bench) -> None:
    bench.run()
    bench.injected = bench.engine.cycles
    bench.rig.sink.fault = "No space left on device"
    bench.until_state(State.ENGAGED)
    assert bench.engine.reference.paused and bench.torque and not bench.machine.latched
    bench.steps(100)
    assert bench.in_state(State.ENGAGED)
    table = motion_table(bench.config)
    for command, samples in ((Resume(), None), (Follow("next", table.step), table.samples)):
        with pytest.raises(RefusedError, match="nothing is being recorded: No space left"):
            bench.rig.request(command, samples)
    bench.rig.request(Park())
    bench.until_state(State.PARKED)
    with pytest.raises(RefusedError, match="nothing is being recorded"):
        bench.rig.request(Engage())
    recording = bench.recording()
    assert reaction(recording, faulty(bench, recording), C2) == 1
    assert causes(recording) == [FaultCode.RECORDING]
    invariants(recording)


def test_an_engine_that_is_started_anew_finds_the_fault_of_the_one_before(bench: Bench) -> None:
    bench.run()
    bench.virtual.advance(bench.engine.tick.t + 0.5)  # the first one was killed
    assert not bench.torque
    t = bench.virtual.time
    engine = Engine(bench.config, make_bank(bench.config, bench.virtual.wires), bench.rig.sink, ManualClock(t))
    engine.bank.connect(1.0)
    engine.connected()
    engine.step(Tick(t + bench.config.period))
    assert engine.machine.state is State.FAULT and not engine.machine.homed
    assert engine.machine.cause is not None and engine.machine.cause.code is FaultCode.DRIVE_WATCHDOG
    assert not bench.torque
    engine.bank.close()


@pytest.mark.parametrize(("rate", "mode"), [(500.0, "force"), (500.0, "computed-torque"), (1000.0, "force")])
def test_no_bound_is_near_in_normal_operation(tmp_path: Path, rate: float, mode: str) -> None:
    with Bench(tmp_path, bench_config(rate=rate, mode=mode)) as bench:
        bench.run()
        bench.until_state(State.ENGAGED)
        recording = bench.recording()
    assert causes(recording) == []
    invariants(recording)
    rows, safety = recording.rows, bench.config.safety
    controlled = np.isin(rows["state"], (State.ENGAGING, State.ENGAGED, State.RUNNING))
    following = np.abs(rows["length"] - rows["length_reference"])[controlled].max()
    residual = np.abs(rows["force_residual"])[controlled].max(axis=1)
    assert following < safety.following_error / 10
    assert residual.max() < safety.force_residual / 2
    moves = (np.abs(rows["velocity_reference"][1:]) > 1e-3) & (rows["state"][1:] == State.RUNNING)[:, np.newaxis]
    repeats = moves & (rows["length"][1:] == rows["length"][:-1])
    assert np.count_nonzero(repeats) <= 3
