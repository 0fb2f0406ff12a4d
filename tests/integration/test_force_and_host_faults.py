"""Faults of forces, references and host in lockstep: stop, delay, first cause, what is kept."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fault_bench import C1, C2, LEG, D, K, Q, faulty, invariants, stopped
from lockstep_bench import Bench, bench_config, causes, motion_table, reaction, shipped_config

from actuators import Mode
from kinematics import MotionTable, load_trajectory
from rig.client.motions import prepare_motion
from rig.engine.core import Engine
from rig.engine.devices import make_drive_group
from rig.engine.messages import Connect, Engage, Follow, Park, Pause, Reset, Resume, RigCommand, Stop
from rig.errors import RefusedError
from rig.findings import Code
from rig.recording import Recording
from rig.runtime.ticker import ManualClock, Tick
from rig.states import FaultCode, State


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path) as made:
        yield made


@pytest.fixture(params=["force", "position"])
def under(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """Under a loop closed at the host, and under the drives' own."""
    with Bench(tmp_path, bench_config(mode=request.param)) as made:
        yield made


@pytest.fixture(params=["force", "position"])
def shipped(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """The same at the rate that the rig is shipped with."""
    with Bench(tmp_path, shipped_config(mode=request.param)) as made:
        yield made


# -- forces ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "leg", "value"), [("jam", LEG, 300.0), ("weak", LEG, 0.3), ("force_step", LEG, 150.0)]
)
def test_a_force_the_model_does_not_know_is_a_controlled_stop(
    shipped: Bench, fault: str, leg: int, value: float
) -> None:
    shipped.run().inject(fault, leg, value)
    shipped.until_state(State.FAULT)
    shipped.steps(5)
    assert shipped.machine.latched and shipped.machine.homed and not shipped.torque
    assert shipped.machine.cause is not None
    assert shipped.machine.cause.code in (FaultCode.FORCE_RESIDUAL, FaultCode.FOLLOWING_ERROR)
    shipped.virtual.faults.clear()
    shipped.rig.request(Reset())
    assert shipped.machine.homed
    recording = shipped.recording()
    rows = recording.rows
    safety = shipped.config.safety
    following = np.abs(rows["length"] - rows["length_reference"]).max(axis=1) > safety.following_error
    residual = np.abs(rows["force_residual"]).max(axis=1) > safety.force_residual
    assert reaction(recording, faulty(shipped, recording) & (following | residual), C1) <= 2
    assert rows["stop"][rows["stop"] > 0][0] == C1
    invariants(recording)


@pytest.mark.parametrize("state", [State.PARKED, State.ENGAGED, State.RUNNING])
def test_a_plant_that_is_no_more_answers_no_more(bench: Bench, state: State) -> None:
    """Its last lengths would be those of a platform at rest."""
    {State.PARKED: bench.park, State.ENGAGED: bench.engage, State.RUNNING: bench.run}[state]()
    bench.virtual.plant._state[7:10] = 1e4  # m/s
    bench.steps(bench.config.safety.stale_cycles + 2)
    assert "the plant stands still" in bench.virtual.plant.fault
    assert bench.machine.cause is not None and bench.machine.cause.code is FaultCode.COMMUNICATION_LOST
    assert bench.machine.state is not state


def test_a_push_while_the_platform_is_held(shipped: Bench) -> None:
    shipped.engage().inject("force_step", None, 300.0)
    shipped.until_state(State.FAULT)
    recording = shipped.recording()
    off = np.abs(recording.rows["force_residual"]).max(axis=1) > shipped.config.safety.force_residual
    assert reaction(recording, faulty(shipped, recording) & off, C1) <= 2
    assert recording.rows["stop"].max() == C1 and shipped.machine.homed


@pytest.mark.parametrize("state", ["engage", "run"])
def test_a_load_cell_without_a_value_holds_the_platform_on_the_model_alone(under: Bench, state: str) -> None:
    getattr(under, state)()
    under.inject("cell_nan", LEG)
    held_on_the_model(under, Code.CELL_NOT_FINITE)


@pytest.mark.parametrize("state", ["engage", "run"])
def test_a_load_cell_at_its_end_of_scale_holds_the_platform_or_stops_drives_that_hold_it(
    under: Bench, state: str
) -> None:
    getattr(under, state)()
    under.inject("cell_saturated", LEG)
    if under.config.mode == "force":
        held_on_the_model(under, Code.CELL_SATURATED)
        return
    recording = stopped(under, FaultCode.FORCE_LIMIT, homed=True)
    assert reaction(recording, faulty(under, recording), Q) == 1


def test_a_silent_load_cell_holds_the_platform_on_the_model_alone(under: Bench) -> None:
    under.run().inject("cell_silent", LEG)
    recording = held_on_the_model(under, Code.CELL_FROZEN)
    # silence shows once the model's force has moved on by more than the cell's noise
    rows = recording.rows
    moved = np.abs(rows["force_model"][:, LEG - 1] - rows["force_model"][under.injected - 1, LEG - 1])
    shows = faulty(under, recording) & (moved > under.config.load_cells.noise)
    assert reaction(recording, shows, C2) <= K + 1


def held_on_the_model(bench: Bench, code: Code) -> Recording:
    """Category 2 within k + 1 cycles, latched; held under power until an operator's stop."""
    bench.until(lambda: bench.machine.latched)
    bench.until(lambda: not bench.engine.reference.moving)
    bench.steps(200)
    machine = bench.machine
    assert (machine.state, machine.stop) == (State.STOPPING, C2) and bench.torque
    assert (
        machine.cause is not None and machine.cause.code is FaultCode.LOAD_CELL and machine.cause.finding.code is code
    )
    error = bench.engine.cycle_data.measurement.length - bench.engine.cycle_data.reference.length
    assert np.abs(error).max() < 1e-4
    bench.rig.request(Stop(1))
    bench.until_state(State.FAULT)
    recording = bench.recording()
    assert causes(recording)[0] is FaultCode.LOAD_CELL and recording.complete
    if code is not Code.CELL_FROZEN:
        assert reaction(recording, faulty(bench, recording), C2) <= K + 1
    invariants(recording)
    return recording


def test_a_shifted_tare_is_not_engaged_on(bench: Bench) -> None:
    bench.park()
    before = bench.engine.tare_residual.copy()
    assert np.abs(before).max() < 1.0
    bench.virtual.faults.inject("cell_offset", LEG, 20.0)
    bench.steps(200)
    with pytest.raises(RefusedError, match=rf"load cell of leg {LEG} is \+(19|20)\.\d N off the model at rest"):
        bench.rig.request(Engage())
    assert bench.in_state(State.PARKED) and bench.machine.homed and not bench.torque
    bench.virtual.faults.clear()
    bench.steps(200)
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
    with pytest.raises(RefusedError, match="exceeds the limits"):
        bench.rig.request(Follow("spike", spoiled.step), spoiled.samples)
    samples[len(samples) // 2, 6] = math.nan
    with pytest.raises(RefusedError):
        bench.rig.request(Follow("no number", table.step), samples)
    assert bench.in_state(State.ENGAGED)
    bench.rig.request(Follow("good", table.step), table.samples)
    assert bench.in_state(State.RUNNING)


UNHOMED: list[tuple[RigCommand, str]] = [
    (Engage(), "home first"),
    (Park(), "the drives have no torque"),
    (Pause(), "no motion is running"),
    (Resume(), "nothing is paused"),
    (Reset(), "there is no fault to reset"),
]


@pytest.mark.parametrize(("command", "why"), UNHOMED)
def test_nothing_starts_unhomed(bench: Bench, command: RigCommand, why: str) -> None:
    bench.rig.request(Connect())
    with pytest.raises(RefusedError, match=why):
        bench.rig.request(command)
    assert bench.in_state(State.IDLE) and not bench.machine.homed and not bench.torque


def test_no_motion_starts_unhomed(bench: Bench) -> None:
    table = motion_table(bench.config)
    bench.rig.request(Connect())
    with pytest.raises(RefusedError, match="home first"):
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
    for _ in range(2 * K):
        if bench.in_state(State.RUNNING):
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


@pytest.mark.parametrize("when", ["before its exchange", "in its exchange"])
def test_a_host_that_stands_still_within_a_cycle_is_found_before_what_follows_from_it(
    bench: Bench, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.run()
    bench.injected = bench.engine.cycles
    gap = bench.engine.tick.t + 0.5
    before = when == "before its exchange"
    owner, name = (bench.rig.operator, "carry_out") if before else (bench.engine.drives, "exchange")
    usual = getattr(owner, name)

    def stand_still(*arguments: object) -> None:
        """The plant goes on, and so does the clock: the process is not run."""
        usual(*arguments)
        bench.virtual.advance(gap)
        monkeypatch.setattr(bench.engine.clock, "now", lambda: gap)
        monkeypatch.setattr(owner, name, usual)

    monkeypatch.setattr(owner, name, stand_still)
    bench.rig.step()
    monkeypatch.undo()
    bench.rig.step(overslept=round(0.5 / bench.config.period))
    recording = stopped(bench, FaultCode.HOST_SUSPENDED, leg=0, homed=True)
    assert reaction(recording, faulty(bench, recording), Q) == 1


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
    engine = Engine(bench.config, make_drive_group(bench.config, bench.virtual.wires), bench.rig.sink, ManualClock(t))
    engine.drives.connect(1.0)
    engine.connected()
    engine.step(Tick(t + bench.config.period))
    assert engine.machine.state is State.FAULT and not engine.machine.homed
    assert engine.machine.cause is not None and engine.machine.cause.code is FaultCode.DRIVE_WATCHDOG
    assert not bench.torque
    engine.drives.close()


@pytest.mark.parametrize(
    ("rate", "mode"), [(500.0, "force"), (500.0, "computed-torque"), (1000.0, "force"), (500.0, "position")]
)
def test_no_bound_is_near_in_normal_operation(tmp_path: Path, rate: float, mode: str) -> None:
    with Bench(tmp_path, shipped_config(rate=rate, mode=mode)) as bench:
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
