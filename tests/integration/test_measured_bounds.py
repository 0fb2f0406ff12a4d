"""What is measured against the machine's limits: leg speeds, forces while homing, the drives' own quantities."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fault_bench import C1, LEG, Q, faulty, invariants, stopped
from lockstep_bench import Bench, bench_config, causes, reaction

from actuators import COMMAND_OFF, Command, Drive, MemoryWire, Mode, Status, create_drive
from rig.config.rig_config import RigConfig
from rig.engine.messages import Connect, Home, Reset
from rig.errors import ConfigError, HardwareError, RefusedError
from rig.states import FaultCode, State


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path) as made:
        yield made


def loose() -> RigConfig:
    """A rig which nothing holds but the model's forces, so that a push makes it fast before it is far."""
    off = ["following_error", "force_residual", "frozen_cycles"]
    control = {"stiffness": 10.0, "damping": 1.0}
    return bench_config(safety={"off": off}, control=control, load_cells={"range": 5000.0})


@pytest.mark.parametrize("state", ["engage", "run"])
def test_a_leg_faster_than_its_limit_is_a_quick_stop(tmp_path: Path, state: str) -> None:
    with Bench(tmp_path, loose()) as bench:
        getattr(bench, state)()
        bench.inject("force_step", None, 6000.0)
        bench.until(lambda: bench.machine.latched)
        cause = bench.machine.cause
        assert cause is not None and "(bound 1 m/s)" in cause.text
        recording = stopped(bench, FaultCode.OVERSPEED, leg=cause.leg, homed=True)
        fast = faulty(bench, recording) & (np.abs(recording.rows["velocity"]).max(axis=1) > 1.0)
        assert reaction(recording, fast, Q) == 1


def test_what_is_counted_of_the_drives_is_of_the_last_cycle(bench: Bench) -> None:
    drives = bench.park().engine.drives
    for _ in range(5):
        before = [drives.traffic(leg).sent for leg in range(6)]
        bench.steps(1)
        assert all(drives.traffic(leg).sent > sent for leg, sent in enumerate(before))


@pytest.mark.parametrize(
    ("name", "value", "code", "said"),
    [
        ("temperature", 85.5, FaultCode.TEMPERATURE, "temperature is 85.5 °C (bound 80 °C)"),
        ("supply", 30.0, FaultCode.SUPPLY_VOLTAGE, "supply has 30.0 V (bounds 36 and 60 V)"),
        ("supply", 70.0, FaultCode.SUPPLY_VOLTAGE, "supply has 70.0 V (bounds 36 and 60 V)"),
    ],
)
def test_a_hot_drive_or_a_bad_supply_is_a_controlled_stop(
    bench: Bench, name: str, value: float, code: FaultCode, said: str
) -> None:
    bench.run().inject(name, LEG, value)
    bench.until_state(State.FAULT)
    assert bench.machine.cause is not None and said in bench.machine.cause.text
    with pytest.raises(RefusedError, match=f"leg {LEG}: the drive's {name}"):
        bench.rig.request(Reset())
    bench.virtual.faults.clear()
    bench.rig.request(Reset())
    assert bench.in_state(State.IDLE) and bench.machine.homed
    recording = bench.recording()
    assert causes(recording)[0] is code
    assert reaction(recording, faulty(bench, recording), C1) <= 6  # one drive is looked at a cycle
    assert recording.rows["stop"].max() == C1
    invariants(recording)


def test_bounds_of_the_drives_quantities_are_switched_off_by_name(tmp_path: Path) -> None:
    off = ["temperature", "supply_min", "supply_max"]
    with Bench(tmp_path, bench_config(safety={"off": off})) as bench:
        bench.virtual.faults.inject("temperature", LEG)
        bench.virtual.faults.inject("supply", LEG)
        bench.park()
        assert causes(bench.recording()) == []


def test_bounds_that_leave_no_voltage_are_refused() -> None:
    with pytest.raises(ConfigError, match="supply_min, 60 V, is not below supply_max, 60 V"):
        bench_config(safety={"supply_min": 60.0})


# -- homing ------------------------------------------------------------------------------------------------------------


def tuned(stiffness: float, damping: float, **safety: object) -> RigConfig:
    """A rig whose drives close their position loops badly."""
    drive = {"start_spread": 1e-3, "position_stiffness": stiffness, "position_damping": damping}
    return bench_config(virtual={"drive": drive}, safety=safety)


@pytest.mark.parametrize("stiffness", [60e3, 200e3])
def test_legs_that_swing_while_homing_are_stopped_at_the_legs_own_limits(tmp_path: Path, stiffness: float) -> None:
    with Bench(tmp_path, tuned(stiffness, 50.0)) as bench:
        bench.rig.request(Connect())
        bench.rig.request(Home())
        bench.until(lambda: bench.machine.latched)
        cause = bench.machine.cause
        assert cause is not None and cause.code in (FaultCode.OVERSPEED, FaultCode.FORCE_LIMIT)
        assert f"leg {cause.leg}: measured" in cause.text and "(bound " in cause.text
        recording = stopped(bench, cause.code, leg=cause.leg, homed=False)
    rows = recording.rows
    beyond = (np.abs(rows["velocity"]).max(axis=1) > 1.0) | (np.abs(rows["force_measured"]).max(axis=1) > 500.0)
    assert reaction(recording, beyond & (rows["state"] != State.FAULT), Q) == 1


def test_forces_while_homing_have_a_bound_of_their_own(tmp_path: Path) -> None:
    with Bench(tmp_path, tuned(60e3, 50.0, homing_force=0.5)) as bench:
        bench.rig.request(Connect())
        bench.rig.request(Home())
        bench.until(lambda: bench.machine.latched)
        cause = bench.machine.cause
        assert (
            cause is not None and cause.code is FaultCode.FORCE_LIMIT and "N while homing (bound 200 N)" in cause.text
        )
        recording = stopped(bench, FaultCode.FORCE_LIMIT, leg=cause.leg, homed=False)
    beyond = np.abs(recording.rows["force_measured"]).max(axis=1) > 200.0
    assert reaction(recording, beyond, Q) == 1


def test_no_bound_is_near_while_homing_from_far(tmp_path: Path) -> None:
    with Bench(tmp_path, bench_config(virtual={"drive": {"start_spread": 0.01}})) as bench:
        bench.park()
        rows = bench.recording().rows
    assert np.abs(rows["velocity"]).max() < 0.2 and np.abs(rows["force_measured"]).max() < 150.0


def test_homing_that_takes_too_long_names_the_legs_without_a_reference(tmp_path: Path) -> None:
    with Bench(tmp_path, bench_config(safety={"homing_timeout": 0.8})) as bench:
        bench.rig.request(Connect())
        bench.rig.request(Home())
        bench.until(lambda: bench.machine.latched)
        legs = [leg for leg in range(1, 7) if not bench.engine.drives.status[leg - 1] & Status.HOMED]
        assert 1 < len(legs) < 6
        said = f"homing did not end within 0.8 s: no reference found by legs {', '.join(map(str, legs))}"
        assert bench.machine.cause is not None and bench.machine.cause.text == said
        stopped(bench, FaultCode.HOMING_FAILED, leg=0, homed=False)


def test_homing_needs_a_recording(bench: Bench) -> None:
    bench.rig.request(Connect())
    bench.rig.sink.fault = "No space left on device"
    with pytest.raises(RefusedError, match="home: nothing is being recorded: No space left"):
        bench.rig.request(Home())
    assert bench.in_state(State.IDLE) and not bench.torque
    bench.rig.sink.fault = ""
    bench.rig.request(Home())
    bench.until_state(State.PARKED)


@pytest.mark.parametrize(("leg", "other"), [(2, 5), (1, 6), (6, 3)])
def test_motors_wired_to_each_others_drives_are_found_by_the_first_leg_that_moves(
    bench: Bench, leg: int, other: int
) -> None:
    bench.rig.request(Connect())
    bench.virtual.faults.inject("motor_exchanged", leg, float(other))
    bench.injected = bench.engine.cycles
    standing = np.array(bench.virtual.plant.lengths)
    bench.rig.request(Home())
    first, second = sorted((leg, other))
    bench.until(lambda: bench.machine.latched)
    assert bench.machine.cause is not None
    assert f"leg {first} was commanded to home, but leg {second} moved" in bench.machine.cause.text
    assert f"legs {first} and {second} are wired to each other's drive" in bench.machine.cause.text
    recording = stopped(bench, FaultCode.WIRING, leg=first, homed=False)
    assert np.abs(np.array(bench.virtual.plant.lengths) - standing)[second - 1] < 1e-3
    rows = recording.rows
    moved = np.abs(rows["length"][:, second - 1] - rows["length"][bench.injected, second - 1]) > 2e-4
    assert reaction(recording, moved, Q) == 1


def test_a_brake_that_opens_before_its_leg_is_to_home_is_found(bench: Bench) -> None:
    bench.rig.request(Connect())
    bench.rig.request(Home())
    bench.inject("brake_open", 6)
    bench.until(lambda: bench.machine.latched)
    assert bench.machine.cause is not None and bench.machine.cause.code is FaultCode.WIRING
    assert bench.machine.cause.text.endswith("or the brake of leg 6 does not hold")
    assert bench.engine.tick.t < 0.05


# -- connecting --------------------------------------------------------------------------------------------------------


def _other_master(bench: Bench, leg: int) -> Drive:
    """A drive's torque, held by a master that set no watchdog."""
    wire = MemoryWire(bench.virtual.drives[leg - 1].respond)
    drive = create_drive("servo", {"name": "theirs", "host": "memory", "open_wire": lambda _timeout: wire})
    drive.connect(1.0)
    drive.exchange(COMMAND_OFF, 0.0, 1.0)
    drive.exchange(Command(Mode.FORCE, force=50.0, enable=True), 0.0, 1.0)
    return drive


def test_a_drive_that_has_torque_already_is_not_connected_to(bench: Bench) -> None:
    theirs = _other_master(bench, LEG)
    with pytest.raises(HardwareError, match=f"leg {LEG}: the drive has torque already: another master commands it"):
        bench.rig.request(Connect())
    assert bench.in_state(State.OFF) and not bench.engine.drives.connected
    others = _other_master(bench, 1)  # neither has been given a watchdog: their masters may be silent as before
    bench.virtual.advance(bench.virtual.time + 0.2)
    assert not bench.virtual.plant.braked(LEG - 1) and not bench.virtual.plant.braked(0)
    for drive in (theirs, others):
        drive.exchange(COMMAND_OFF, 0.0, 1.0)
        drive.close()
    bench.steps(100)
    bench.rig.request(Connect())
    assert bench.in_state(State.IDLE)
