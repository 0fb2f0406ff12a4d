import math

import numpy as np
import pytest
from virtual_support import Bench, Controller, virtual_config

from actuators import COMMAND_OFF, Command, Mode, Status
from rig.errors import ConfigError, InputError
from rig.virtual import FAULTS, VirtualRig
from rig.virtual.faults import AMPLIFIER_FAULTS, PLANT_FAULTS, SENSOR_FAULTS


@pytest.fixture
def bench() -> Bench:
    return Bench(virtual_config(cells={"noise": 0.0}))


def wait(bench: Bench, duration: float) -> None:
    for _ in range(round(duration / 2e-3)):
        bench.cycle([COMMAND_OFF] * 6)


def test_every_fault_can_be_injected_and_cleared() -> None:
    bench = Bench(virtual_config())
    faults = bench.rig.faults
    for name in FAULTS:
        if name.startswith("io_") or name in AMPLIFIER_FAULTS or name in SENSOR_FAULTS:
            continue
        faults.inject(name)
        bench.rig.advance(bench.rig.time + 0.01)
        faults.clear()
        assert not faults.active
        assert not bench.rig.plant.wrench.any()
    wait(bench, 0.02)
    assert all(item.fresh for item in bench.feedback)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("jamm",), "no fault 'jamm'; known faults: jam, weak"),
        (("jam", 7), r"leg 7 is outside 1\.\.6"),
        (("jam", 0), r"leg 0 is outside 1\.\.6"),
        (("jam", 1, math.nan), "value nan is not finite"),
        (("jam", 1, -5.0), "value -5 N is negative"),
        (("payload", 2), "belongs to the whole rig, not to leg 2"),
        (("encoder_nan", 2, 1.0), "takes no value"),
        (("jam", 2, 1.0, 0.0), "duration 0.0 s is not a positive number"),
        (("delay", 1, -0.1), "value -0.1 s is negative"),
        (("swap_unit", 2, 9.0), r"device 9 is outside 1\.\.6"),
        (("motor_exchanged", 2, 0.0), r"leg 0 is outside 1\.\.6"),
        (("brake_slips", 2, -0.01), "value -0.01 m/s is negative"),
        (("brake_open", 2, 1.0), "takes no value"),
        (("amplifier_drop_all",), "this rig has no amplifier"),
    ],
)
def test_bad_faults_are_refused(bench: Bench, arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bench.rig.faults.inject(*arguments)  # type: ignore[arg-type]
    assert not bench.rig.faults.active


def test_a_fault_ends_by_itself(bench: Bench) -> None:
    bench.rig.faults.inject("encoder_nan", 3, duration=0.03)
    bench.cycle([COMMAND_OFF] * 6)
    assert math.isnan(bench.feedback[2].position)
    assert [(fault.name, fault.leg) for fault in bench.rig.faults.active] == [("encoder_nan", 3)]
    wait(bench, 0.04)
    assert math.isfinite(bench.feedback[2].position)
    assert not bench.rig.faults.active


def test_a_fault_is_replaced_by_one_of_its_name(bench: Bench) -> None:
    faults = bench.rig.faults
    faults.inject("cell_offset", 1, 10.0, 0.01)
    faults.inject("cell_offset", 1, 20.0)
    wait(bench, 0.02)
    (fault,) = faults.active
    assert (fault.value, fault.until) == (20.0, math.inf)
    assert bench.cells()[0] == pytest.approx(bench.rig.plant.cells[0] + 20.0, abs=2e-3)


def test_clear_picks_by_name_and_leg(bench: Bench) -> None:
    faults = bench.rig.faults
    faults.inject("cell_offset")
    faults.inject("jam", 2)
    faults.clear("cell_offset", 3)
    assert len(faults.active) == 6
    faults.clear("cell_offset")
    assert [fault.name for fault in faults.active] == ["jam"]
    faults.clear(leg=2)
    assert not faults.active


def test_timetable_is_played_at_its_times() -> None:
    table = [
        {"fault": "cell_offset", "leg": 2, "at": 0.02, "duration": 0.01, "value": 30.0},
        {"fault": "cell_nan", "leg": 1, "at": 0.005},
    ]
    bench = Bench(virtual_config(cells={"noise": 0.0}, faults=table))
    seen = []
    for _ in range(20):
        bench.cycle([COMMAND_OFF] * 6)
        seen.append((bench.now, bench.cells() - bench.rig.plant.cells))
    for now, off in seen:
        assert math.isnan(off[0]) == (now > 0.005)
        assert off[1] == pytest.approx(30.0 if 0.0199 < now < 0.0299 else 0.0, abs=2e-3)


def test_a_timetable_that_cannot_be_played_is_refused_as_a_whole() -> None:
    table = [{"fault": "nothing"}, {"fault": "jam", "leg": 2}, {"fault": "jam", "value": -1.0}]
    with pytest.raises(ConfigError) as caught:
        VirtualRig(virtual_config(faults=table))
    assert [fault[: len("virtual.faults[1]")] for fault in caught.value.faults] == [
        "virtual.faults[1]",
        "virtual.faults[3]",
    ]


@pytest.mark.parametrize(
    ("name", "leg", "floor"), [("jam", 4, 20.0), ("weak", 4, 5.0), ("force_step", 4, 40.0), ("payload", None, 5.0)]
)
def test_plant_faults_show_in_the_load_cells_and_go_again(
    bench: Bench, name: str, leg: int | None, floor: float
) -> None:
    bench.home()
    controller = Controller(bench)

    def loudest(first: int, last: int) -> float:
        """Largest residual of the cells, N, over these cycles of the path."""
        return max(float(np.abs(controller.cycle(k * 2e-3)[1]).max()) for k in range(first, last))

    assert loudest(0, 500) < 1.5
    bench.rig.faults.inject(name, leg)
    assert loudest(500, 750) > floor
    bench.rig.faults.clear()
    loudest(750, 1000)
    assert loudest(1000, 1250) < 1.5


def test_brakes_that_slip_let_the_platform_sink_at_that_speed(bench: Bench) -> None:
    wait(bench, 0.1)
    standing = bench.rig.plant.state[2]
    bench.rig.faults.inject("brake_slips", value=0.02)
    wait(bench, 1.0)
    lengths = bench.lengths()
    assert bench.speeds() == pytest.approx([-0.02] * 6, abs=1e-3)
    assert bench.rig.plant.state[2] < standing - 0.015
    bench.rig.faults.clear()
    wait(bench, 0.2)
    assert bench.lengths() == pytest.approx(lengths, abs=1e-4)
    assert np.abs(bench.speeds()).max() < 1e-6


def test_a_brake_that_does_not_close_holds_nothing_and_its_drive_says_it_is_closed(bench: Bench) -> None:
    wait(bench, 0.1)
    lengths = bench.lengths()
    bench.rig.faults.inject("brake_open", 3)
    wait(bench, 0.1)
    moved = np.abs(bench.lengths() - lengths)
    assert moved[2] > 0.01 and np.delete(moved, 2).max() < 1e-3
    assert bench.feedback[2].status & Status.BRAKE and bench.rig.plant.braked(2)


def test_exchanged_motors_move_each_others_legs(bench: Bench) -> None:
    wait(bench, 0.1)
    bench.rig.faults.inject("motor_exchanged", 2, 5.0)
    lengths = bench.lengths()
    commands = [COMMAND_OFF] * 6
    commands[1] = Command(Mode.FORCE, force=0.0, enable=True)
    for _ in range(20):
        bench.cycle(commands)
    moved = np.abs(bench.lengths() - lengths)
    assert moved[4] > 1e-3 and np.delete(moved, 4).max() < 1e-3
    assert not bench.rig.plant.braked(4) and bench.rig.plant.braked(1)
    wait(bench, 0.2)
    bench.rig.faults.clear()
    lengths = bench.lengths()
    for _ in range(20):
        bench.cycle(commands)
    moved = np.abs(bench.lengths() - lengths)
    assert moved[1] > 1e-3 and np.delete(moved, 1).max() < 1e-3


def test_a_push_at_a_joint_turns_the_platform() -> None:
    rig = VirtualRig(virtual_config())
    rig.faults.inject("force_step", 1, 50.0)
    rig.faults.inject("force_step", 2, 50.0)
    rig.faults.inject("force_step", None, 10.0)
    # joints 1 and 2 stand at x = 0.155563 m, y = ∓0.155563 m: their moments about x cancel, those about y add up
    assert rig.plant.wrench == pytest.approx([0.0, 0.0, -110.0, 0.0, 2.0 * 50.0 * 0.155563, 0.0], abs=1e-9)


def test_test_load_is_on_the_cell_alone(bench: Bench) -> None:
    bench.rig.faults.inject("test_load", 5, 49.0)
    wait(bench, 0.1)
    off = bench.cells() - bench.rig.plant.cells
    assert off == pytest.approx([0.0, 0.0, 0.0, 0.0, 49.0, 0.0], abs=2e-3)
    assert np.abs(bench.rig.plant.speeds).max() < 1e-9


def test_a_rebooted_drive_has_lost_its_position(bench: Bench) -> None:
    bench.home()
    bench.rig.faults.inject("reboot", 3)
    bench.cycle([Command(Mode.OFF)] * 6)
    assert not bench.feedback[2].status & Status.HOMED
    assert abs(bench.feedback[2].position) < 1e-3
    assert bench.feedback[3].status & Status.HOMED


def test_lost_requests_are_stale_samples(bench: Bench) -> None:
    bench.rig.faults.inject("drop_write", 6, 2.0)
    ages = [bench.cycle([COMMAND_OFF] * 6)[5].age for _ in range(4)]
    assert ages == pytest.approx([0.002, 0.004, 0.0, 0.0])
    assert not bench.rig.faults.active


def test_an_owner_that_hangs_goes_on_by_itself() -> None:
    told: list[bool] = []
    rig = VirtualRig(virtual_config(faults=[{"at": 0.1, "fault": "owner_hangs", "value": 0.2}]), hang=told.append)
    rig.advance(0.05)
    assert told == []
    rig.advance(0.15)
    assert told == [True] and [fault.name for fault in rig.faults.active] == ["owner_hangs"]
    rig.advance(0.35)
    assert told == [True, False] and not rig.faults.active
    rig.faults.inject("owner_hangs")
    (fault,) = rig.faults.active
    usual = FAULTS["owner_hangs"].default
    assert usual is not None and fault.until == pytest.approx(0.35 + usual)
    with pytest.raises(InputError, match="belongs to the whole rig"):
        rig.faults.inject("owner_hangs", 2)
    with pytest.raises(InputError, match="value -1 s is negative"):
        rig.faults.inject("owner_hangs", value=-1.0)


def test_plant_faults_say_what_they_do() -> None:
    for name, kind in FAULTS.items():
        assert kind.text, name
    assert set(PLANT_FAULTS) <= set(FAULTS)
