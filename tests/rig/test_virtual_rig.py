import numpy as np
import pytest
from virtual_support import PERIOD, Bench, Controller, virtual_config

from actuators import COMMAND_CLEAR, COMMAND_OFF, Amplifier, AmplifierOptions, Command, Mode, Status
from rig.config.rig_config import load_config
from rig.errors import ConfigError
from rig.virtual import VirtualRig

FORCE = Command(Mode.FORCE, force=40.0, enable=True)
AMPLIFIER = {"load_cells": {"source": "amplifier", "amplifier": {"host": "127.0.0.1", "port": 15027}}}


@pytest.fixture
def bench() -> Bench:
    return Bench(virtual_config())


def test_position_is_relative_until_homed_and_true_afterwards(bench: Bench) -> None:
    assert np.abs(bench.lengths()).max() < 1e-6
    assert not any(item.status & Status.HOMED for item in bench.feedback)
    bench.home()
    marks = [bench.rig.plant.reference(leg) for leg in range(6)]
    assert bench.lengths() == pytest.approx(marks, abs=1e-5)
    assert bench.lengths() == pytest.approx(bench.rig.plant.lengths, abs=1e-7)


def test_a_position_offset_is_the_drivers_business() -> None:
    legs = [{"host": "127.0.0.1", "port": 15021 + leg, "position_offset": 0.01 * leg} for leg in range(6)]
    bench = Bench(load_config("virtual").changed({"drives": {"legs": legs}}))
    bench.home()  # these drivers know of no offset
    marks = [bench.rig.plant.reference(leg) - 0.01 * leg for leg in range(6)]
    assert bench.lengths() == pytest.approx(marks, abs=1e-5)


def test_follows_a_sine_with_feedforward_and_feedback(bench: Bench) -> None:
    bench.home()
    controller = Controller(bench)
    records = [controller.cycle(k * PERIOD) for k in range(1000)]
    errors = np.array([error for error, _ in records])
    residuals = np.array([residual for _, residual in records])
    assert np.abs(errors).max() < 5e-5
    assert np.sqrt((errors[500:] ** 2).mean()) < 1e-5
    assert np.sqrt((residuals[500:] ** 2).mean(axis=0)).max() < 1.3 * 0.5


def test_a_silent_master_is_stopped_by_the_drives_own_watchdog(bench: Bench) -> None:
    bench.home()
    controller = Controller(bench)
    for k in range(625):  # two turns: the platform passes home at its fastest
        controller.cycle(k * PERIOD, amplitude=0.02, frequency=1.6)
    assert np.abs(bench.speeds()).max() > 0.05
    bench.wait(0.05 + 0.3)
    assert np.abs(bench.rig.plant.speeds).max() < 1e-3
    assert all(bench.rig.plant.braked(leg) for leg in range(6))
    bench.cycle([FORCE] * 6)
    for item in bench.feedback:
        assert item.status & Status.WATCHDOG
        assert item.status & Status.FAULT
        assert not item.status & Status.ENABLED
    bench.cycle([COMMAND_OFF] * 6)
    bench.cycle([COMMAND_CLEAR] * 6)
    assert not any(item.status & Status.FAULT for item in bench.feedback)


def test_watchdogs_run_through_one_long_advance(bench: Bench) -> None:
    bench.cycle([FORCE] * 6)
    moved = np.array(bench.rig.plant.lengths)
    bench.wait(2.0)  # at 40 N a leg drifts decimetres in this time
    assert np.abs(np.array(bench.rig.plant.lengths) - moved).max() < 0.03


def test_a_wire_moves_no_clock(bench: Bench) -> None:
    before = bench.rig.time, bench.rig.plant.state.tobytes()
    for wire in bench.rig.wires():
        wire.send(b"\0\1\0\0\0\6\1\3\0\0\0\1")
        assert wire.receive(0.0)
    assert (bench.rig.time, bench.rig.plant.state.tobytes()) == before


def test_same_seed_same_bytes() -> None:
    def run(seed: int) -> list[bytes]:
        bench = Bench(virtual_config(seed=seed, faults=[{"fault": "force_step", "at": 1.1, "duration": 0.05}]))
        bench.home()
        controller = Controller(bench)
        for k in range(200):
            controller.cycle(k * PERIOD)
        return bench.traffic

    first = run(1)
    assert len(first) > 6 * 2 * 600
    assert run(1) == first
    assert run(2) != first


def test_cells_have_gain_bias_drift_and_noise() -> None:
    cells = {"gain": [1.0, 1.02, 0.98, -1.0, 1.0, 1.0], "bias": 5.0, "noise": [0.0] * 5 + [2.0], "drift": 1.0}
    bench = Bench(virtual_config(cells=cells))
    true = np.array(bench.rig.plant.cells)
    readings = []
    for _ in range(500):
        bench.cycle([COMMAND_OFF] * 6)
        readings.append(bench.cells() - bench.now)
    read = np.array(readings)
    assert read[:, :5] == pytest.approx(np.tile((true * cells["gain"] + 5.0)[:5], (500, 1)), abs=2e-3)
    assert read[:, 5].std() == pytest.approx(2.0, rel=0.15)
    assert read[:, 5].mean() == pytest.approx(true[5] + 5.0, abs=0.4)


def test_legs_have_noise_of_their_own() -> None:
    bench = Bench(virtual_config())
    noise = np.array([bench.cycle([COMMAND_OFF] * 6) and bench.cells() for _ in range(400)])
    correlation = np.corrcoef(noise.T) - np.eye(6)
    assert np.abs(correlation).max() < 0.2
    assert noise.std(axis=0) == pytest.approx(np.full(6, 0.5), rel=0.15)


def test_amplifier_reads_the_same_cells() -> None:
    rig = VirtualRig(load_config("virtual").changed(AMPLIFIER | {"virtual": {"cells": {"noise": 0.0}}}))
    wires = rig.wires()
    assert len(wires) == len(rig.endpoints) == 7
    amplifier = Amplifier(AmplifierOptions(host="memory", open_wire=lambda _timeout: wires[6]))
    amplifier.connect(1.0)
    rig.advance(0.01)
    reading = amplifier.exchange(0.0, 0.1)
    assert reading.fresh
    assert reading.forces == pytest.approx(rig.plant.cells, abs=2e-3)


def test_a_gap_is_integrated_only_in_part() -> None:
    rig = VirtualRig(virtual_config(), start=100.0, longest_gap=0.5)
    rig.advance(100.2)
    assert rig.skipped == 0.0
    rig.advance(1000.2)
    assert rig.time == 1000.2
    assert rig.skipped == pytest.approx(899.5)


def test_configuration_of_real_hardware_is_refused() -> None:
    config = load_config("virtual")
    with pytest.raises(ConfigError, match="no \\[virtual\\] section"):
        VirtualRig(config.changed({"virtual": None}))
    taken = {"source": "amplifier", "amplifier": {"host": "127.0.0.1", "port": 15021}}
    with pytest.raises(ConfigError, match=r"amplifier: 127.0.0.1:15021 unit 1 is taken by drives.legs\[1\]") as caught:
        VirtualRig(config.changed({"load_cells": taken}))
    assert len(caught.value.faults) == 1


def test_unknown_profiles_are_refused_with_their_place() -> None:
    with pytest.raises(ConfigError, match="drive 1: no profile 'nowhere'"):
        VirtualRig(load_config("virtual").changed({"drives": {"profile": "nowhere"}}))
    amplifier = {"load_cells": {"source": "amplifier", "amplifier": {"host": "h", "port": 1, "profile": "nowhere"}}}
    with pytest.raises(ConfigError, match="amplifier: no profile 'nowhere'"):
        VirtualRig(load_config("virtual").changed(amplifier))


def test_a_machine_that_stands_is_not_integrated_while_nobody_is_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = VirtualRig(virtual_config())
    rig.advance(0.5)
    steps, integrate = [], rig.plant._integrate

    def integrated(count: int, h: float) -> int:
        steps.append(count)
        return integrate(count, h)

    monkeypatch.setattr(rig.plant, "_integrate", integrated)
    rig.advance(0.6, watched=False)
    assert not steps and rig.time == 0.6 and rig.drives[0].device.now == 0.6
    before = list(rig.plant.lengths)
    rig.advance(0.7)
    assert steps and rig.plant.lengths == pytest.approx(before, abs=1e-9)  # nor would it have moved
    rig.plant.command(2, Mode.FORCE, 50.0, 0.0, 0.0, True, False, False)
    steps.clear()
    rig.advance(0.8, watched=False)
    assert steps and abs(rig.plant.lengths[2] - before[2]) > 1e-5


def test_a_machine_that_is_held_moves_later_and_as_it_would_have_moved_before() -> None:
    config = virtual_config().changed({"virtual": {"drive": {"delay": 1.2e-3}}})  # commands take effect within a step
    rigs, moved = [VirtualRig(config) for _ in range(2)], []
    for rig, held in zip(rigs, (0.0, 1.0), strict=True):
        rig.advance(0.5)
        before, lengths = list(rig.plant.lengths), []
        assert rig.stands(0.6)
        rig.plant.command(0, Mode.HOMING, 0.0, 0.0, 0.0, True, False, False)
        assert not rig.stands(0.6)
        rig.hold(0.5 + 0.5 * held)
        rig.hold(0.5 + held)
        assert rig.plant.lengths == before and rig.time == rig.drives[0].device.now == 0.5 + held
        for step in range(1, 11):
            rig.advance(0.5 + held + step / 128)  # exact: no other steps by rounding
            lengths.append(list(rig.plant.lengths))
        moved.append(lengths)
    assert moved[1] == pytest.approx(np.array(moved[0]), abs=1e-9)
    assert np.ptp(np.array(moved[0])[:, 0]) > 1e-4


@pytest.mark.parametrize("fault", ["brake_open", "brake_slips", "payload"])
def test_a_machine_that_a_fault_moves_is_integrated_although_nobody_is_connected(fault: str) -> None:
    rigs = [VirtualRig(virtual_config()) for _ in range(2)]
    for rig, watched in zip(rigs, (True, False), strict=True):
        rig.advance(0.5)
        rig.faults.inject(fault, None)
        for step in range(1, 11):
            rig.advance(0.5 + 0.01 * step, watched=watched)
    assert rigs[0].plant.lengths == rigs[1].plant.lengths
