"""The test of one leg, on a virtual rig in this process: what it finds, and that the torque is off on every path."""

import multiprocessing
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from actuators import Command, Status
from rig.client.interruption import Interruption
from rig.client.runs import on_free_ports
from rig.commissioning import (
    LatchedFaultError,
    LegMove,
    LegProgress,
    LegResult,
    NotHomedError,
    check_move,
    leg_process,
    move_bounds,
    run_leg_test,
)
from rig.commissioning.leg_run import Halt, LegRun
from rig.config.rig_config import RigConfig, load_config
from rig.engine.claim import claim_drives
from rig.engine.devices import make_bank
from rig.errors import HardwareError, InputError, RefusedError, RigError
from rig.virtual import VirtualRig

NEAR = {"drive": {"start_spread": 1e-3}}
CONFIG = load_config("virtual").changed({"virtual": NEAR})
HOME = LegMove(3, home=True)


class Stand:
    """A virtual rig, its bank connected, and a test run on it cycle by cycle."""

    def __init__(self, config: RigConfig = CONFIG) -> None:
        self.config = config
        self.rig = VirtualRig(config)
        self.bank = make_bank(config, self.rig.wires)
        self.bank.connect(1.0)
        self.now = 0.0
        self.reports: list[LegProgress] = []
        self.events: list[tuple[Callable[[Stand], bool], Callable[[Stand], object]]] = []
        self.halt: Halt | None = None
        self.start = list(self.rig.plant.lengths)

    def when(self, condition: Callable[["Stand"], bool], act: Callable[["Stand"], object]) -> "Stand":
        """Do something in the first cycle in which a condition holds."""
        self.events.append((condition, act))
        return self

    def wait(self) -> None:
        self.now += self.config.period
        self.rig.advance(self.now)
        due = [event for event in self.events if event[0](self)]
        for event in due:
            self.events.remove(event)
            event[1](self)

    def run(self, move: LegMove = HOME) -> LegResult:
        check_move(self.config, move)
        try:
            return LegRun(self.config, move, self.bank, self.wait, lambda: self.halt, self.reports.append).run()
        finally:
            self.end(move.leg)

    def end(self, leg: int) -> None:
        """Whatever happened: every brake closed, no leg moving, and but for this one none has moved."""
        self.bank.close()
        for _ in range(200):
            self.wait()
        assert [self.rig.plant.braked(index) for index in range(6)] == [True] * 6
        assert np.abs(self.rig.plant.speeds).max() < 1e-3
        others = [index for index in range(6) if index != leg - 1]
        assert np.abs(np.subtract(self.rig.plant.lengths, self.start))[others].max() < 2e-4

    def moved(self, leg: int = 3) -> float:
        return self.rig.plant.lengths[leg - 1] - self.start[leg - 1]


def moving(stand: Stand) -> bool:
    return bool(stand.reports) and stand.reports[-1].phase == "moving there"


def homed(config: RigConfig = CONFIG) -> Stand:
    """A stand whose leg 3 has its reference."""
    stand = Stand(config)
    assert LegRun(config, HOME, stand.bank, stand.wait, lambda: None, stand.reports.append).run().passed
    stand.reports.clear()
    stand.start = list(stand.rig.plant.lengths)
    return stand


@pytest.mark.parametrize(("leg", "travel"), [(1, 2e-3), (3, -2e-3), (6, 0.5e-3)])
def test_a_sound_leg_passes(leg: int, travel: float) -> None:
    stand = Stand()
    result = stand.run(LegMove(leg, travel, home=True))
    assert result.passed and not result.stopped
    assert result.homed == pytest.approx(0.0, abs=1e-5)
    assert result.reached == pytest.approx(travel, abs=2e-5)
    assert result.returned == pytest.approx(0.0, abs=2e-5)
    assert 0.0 < result.following < 0.2e-3
    assert result.force_before == pytest.approx(stand.rig.plant.cells[leg - 1], abs=5.0)
    assert result.others.keys() == {1, 2, 3, 4, 5, 6} - {leg}
    assert max(result.others.values()) < 1e-4
    assert stand.rig.plant.lengths[leg - 1] == pytest.approx(stand.rig.plant.reference(leg - 1), abs=1e-4)
    phases = [report.phase for report in stand.reports]
    assert [phase for i, phase in enumerate(phases) if phase not in phases[:i]] == [
        "looking at the drives",
        "looking for the reference",
        "torque on",
        "moving there",
        "moving back",
        "torque off",
    ]
    assert result.as_dict()["passed"] is True


def test_only_the_leg_under_test_ever_has_torque() -> None:
    stand = Stand()
    seen: set[int] = set()

    def look(now: Stand) -> bool:
        seen.update(leg + 1 for leg in range(6) if now.bank.status[leg] & Status.ENABLED)
        return False

    stand.when(look, lambda _stand: None)
    assert stand.run(LegMove(5, home=True)).passed
    assert seen == {5}


def test_the_move_is_as_slow_as_it_was_asked_for() -> None:
    stand = homed()
    speeds: list[float] = []
    stand.when(lambda now: moving(now) and speeds.append(abs(now.rig.plant.speeds[2])) is not None, lambda _stand: None)
    assert stand.run(LegMove(3, 5e-3, 4e-3)).passed
    assert max(speeds) == pytest.approx(4e-3, rel=0.3)


def test_six_different_legs(tmp_path: Path) -> None:
    """A mechanism whose legs are each their own: bounds and home lengths are those of the leg."""
    source = Path(CONFIG.path).parents[3] / "dynamics" / "mechanisms" / "lab-hexapod.toml"
    head, legs = source.read_text(encoding="utf-8").split("[legs.lower]")
    tables = []
    for leg in range(6):
        text = ("[legs.lower]" + legs).replace("0.62]", f"{0.58 + 0.01 * leg:.2f}]")
        tables.append("[[legs]]\n" + text.replace("velocity = 0.8", f"velocity = {0.6 + 0.1 * leg:.1f}"))
    head = head.replace("[0.155563, -0.155563, 0.0]", "[0.145563, -0.165563, 0.004]").split("# One [legs]")[0]
    (tmp_path / "six.toml").write_text(head + "\n".join(tables), encoding="utf-8")
    text = Path(CONFIG.path).read_text(encoding="utf-8").replace('"lab-hexapod" ', '"six.toml" ')
    (tmp_path / "rig.toml").write_text(text.replace('"10 mm"', '"1 mm"'), encoding="utf-8")
    config = load_config(tmp_path / "rig.toml")
    assert [move_bounds(config, leg).travel for leg in (1, 6)] == pytest.approx([18e-3, 23e-3])
    assert [move_bounds(config, leg).speed for leg in (1, 6)] == pytest.approx([0.03, 0.055])
    for leg in (1, 4):
        result = Stand(config).run(LegMove(leg, 1e-3, home=True))
        assert result.passed, result.faults
    with pytest.raises(RefusedError, match=r"travel 20 mm is outside 0\.5 to 18 mm"):
        check_move(config, LegMove(1, 20e-3))
    check_move(config, LegMove(6, 20e-3))


@pytest.mark.parametrize(
    ("move", "words"),
    [
        (LegMove(3, 25e-3), "travel 25 mm is outside 0.5 to 22 mm"),
        (LegMove(3, -25e-3), "travel 25 mm is outside 0.5 to 22 mm"),
        (LegMove(3, 0.1e-3), "travel 0.1 mm is outside"),
        (LegMove(3, 2e-3, 0.05), "speed 50 mm/s is outside 0.5 to 40 mm/s"),
        (LegMove(3, 2e-3, -1.0), "speed -1000 mm/s is outside"),
        (LegMove(3, float("nan"), float("inf")), "travel nan is not a finite number; speed inf is not a finite number"),
        (LegMove(7), "leg 7 is outside 1 to 6"),
        (LegMove(0), "leg 0 is outside 1 to 6"),
    ],
)
def test_a_move_outside_its_bounds_is_refused_with_number_and_bound(move: LegMove, words: str) -> None:
    with pytest.raises(RefusedError, match=words):
        check_move(CONFIG, move)


def test_a_leg_without_a_reference_is_not_moved_unasked() -> None:
    stand = Stand()
    with pytest.raises(NotHomedError, match="leg 3: the drive has no reference yet"):
        stand.run(LegMove(3))
    assert abs(stand.moved()) < 1e-6


def test_a_leg_near_its_limit_is_not_moved_beyond_it() -> None:
    config = CONFIG.changed({"drives": {"legs": [leg.model_dump() for leg in CONFIG.drives.legs]}})
    stand = homed(config)
    limits = config.machine.legs[2].limits
    assert limits is not None and limits.length is not None
    object.__setattr__(limits, "length", (limits.length[0], stand.start[2] + 1e-3))
    with pytest.raises(RefusedError, match=r"stands at 0.4942 m: \+2 mm from there is outside its limits"):
        stand.run(LegMove(3, home=True))
    assert abs(stand.moved()) < 1e-5


@pytest.mark.parametrize(
    ("fault", "value", "words"),
    [
        ("encoder_reversed", None, "it moves against its command .* a direction is reversed"),
        ("jam", 5000.0, "off its path .bound 1 mm.: it moved "),
        ("encoder_frozen", None, "off its path"),
        ("weak", 0.05, "off where it is held"),
        ("encoder_nan", None, "the encoder has no valid value"),
    ],
)
def test_what_is_wrong_with_the_leg_is_said_and_it_is_stopped(fault: str, value: float | None, words: str) -> None:
    stand = homed()
    stand.rig.faults.inject(fault, 3, value)
    result = stand.run(LegMove(3))
    assert not result.passed and not result.stopped
    assert re.search(words, result.faults[0])
    assert abs(stand.moved()) < 4e-3


def test_a_dead_load_cell_is_said_though_the_leg_moves() -> None:
    stand = homed()
    stand.rig.faults.inject("cell_nan", 3)
    result = stand.run(LegMove(3))
    assert result.faults == ("leg 3: its load cell has no valid reading",)
    assert result.as_dict()["force_before"] is None
    assert result.reached == pytest.approx(2e-3, abs=2e-5)


def test_another_legs_encoder_that_moves_along_stops_the_test() -> None:
    stand = homed().when(moving, lambda now: now.rig.faults.inject("encoder_jump", 5, 1e-3))
    result = stand.run(LegMove(3))
    assert result.faults[0].startswith("leg 5: its encoder moved 1.00 mm while leg 3 was moved: are encoder cables")
    assert result.others[5] == pytest.approx(1e-3, abs=1e-5) and result.others[4] < 1e-4


def test_a_command_that_goes_to_another_drive_is_found() -> None:
    stand = homed()
    stand.rig.faults.inject("swap_unit", 3, 5)
    result = None
    try:
        result = stand.run(LegMove(3, home=True))
    except RigError as error:
        assert "reference" in str(error)
    assert result is None or not result.passed


@pytest.mark.parametrize("leg", [3, 6])
def test_a_drive_that_falls_silent_stops_the_test(leg: int) -> None:
    stand = homed().when(moving, lambda now: now.rig.faults.inject("drop_all", leg))
    result = stand.run(LegMove(3))
    assert result.faults[0] == f"leg {leg}: no fresh feedback for 6 ms (bound 6 ms)"
    assert f"leg {leg}: the drive does not confirm that its torque is off" in result.faults
    assert not result.stopped


@pytest.mark.parametrize("at_once", [False, True])
def test_a_stop_brings_the_leg_to_rest_by_its_drive(at_once: bool) -> None:
    stand = homed()

    def stop(now: Stand) -> None:
        now.halt = Halt("stopped by the operator", asked=True, at_once=at_once)

    result = stand.when(moving, stop).run(LegMove(3))
    assert result.stopped and result.faults == ("stopped by the operator",)
    assert np.isnan(result.reached)
    assert abs(stand.moved()) < 2e-3


def test_a_stop_while_it_looks_for_its_reference() -> None:
    stand = Stand()

    def stop(now: Stand) -> None:
        now.halt = Halt("stopped by the operator", asked=True)

    result = stand.when(lambda now: bool(now.bank.status[2] & Status.HOMING), stop).run(HOME)
    assert result.stopped and result.homed is None


def test_an_error_of_the_program_stops_the_leg() -> None:
    stand = homed().when(moving, lambda _stand: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        stand.run(LegMove(3))
    assert abs(stand.moved()) < 3e-3


def test_a_latched_fault_is_cleared_only_where_that_is_allowed() -> None:
    stand = homed()
    stand.rig.drives[4].servo._latch("watchdog")
    with pytest.raises(LatchedFaultError, match="leg 5: no command within the watchdog time: a latched fault"):
        stand.run(LegMove(3))
    stand = homed()
    stand.rig.drives[4].servo._latch("watchdog")
    assert stand.run(LegMove(3, clear=True)).passed
    stand = homed()
    stand.rig.faults.inject("encoder_nan", 5)
    stand.wait()
    result = stand.run(LegMove(3, clear=True))
    assert result.faults == ("leg 5: the encoder has no valid value (nan m)",)  # the cell was not asked
    assert abs(stand.moved()) < 1e-5


def test_a_watchdog_that_is_no_fault_is_cleared_like_one() -> None:
    stand = homed()
    stand.rig.drives[4].servo._watchdog_tripped = True
    with pytest.raises(LatchedFaultError, match="leg 5: "):
        stand.run(LegMove(3))
    stand = homed()
    stand.rig.drives[4].servo._watchdog_tripped = True
    assert stand.run(LegMove(3, clear=True)).passed


def test_a_second_stop_is_seen_while_the_drive_does_not_obey_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    stand = homed()
    stopped: list[float] = []

    def stop(now: Stand) -> None:
        now.rig.faults.inject("drop_all", 3)  # it neither stops nor says so
        now.halt = Halt("stopped by the operator", asked=True)
        stopped.append(now.now)

    def insist(now: Stand) -> None:
        now.halt = Halt("stopped by the operator", asked=True, at_once=True)
        stopped.append(now.now)

    def torque_off(now: Stand) -> bool:
        return len(stopped) == 2 and not commands[-1].enable

    commands: list[Command] = []
    exchange = stand.bank.exchange

    def listen(given: Sequence[Command], now: float, timeout: float) -> None:
        commands.append(given[2])
        exchange(given, now, timeout)

    monkeypatch.setattr(stand.bank, "exchange", listen)
    stand.when(moving, stop).when(lambda now: bool(stopped) and now.now > stopped[0] + 0.1, insist)
    stand.when(torque_off, lambda now: stopped.append(now.now))
    result = stand.run(LegMove(3))
    assert result.stopped
    assert stopped[1] == pytest.approx(stopped[0] + 0.1, abs=0.01)
    assert stopped[2] - stopped[1] < 5 * stand.config.period < stand.config.safety.stop_time


def test_a_leg_whose_drive_has_no_position_mode_is_not_tested(tmp_path: Path) -> None:
    source = Path(CONFIG.path).parents[3] / "actuators" / "profiles" / "generic-servo.toml"
    profile = tmp_path / "plain.toml"
    profile.write_text(source.read_text(encoding="utf-8").replace("\nposition = 2\n", "\n"), encoding="utf-8")
    with pytest.raises(
        RefusedError, match=r"leg 3: its drive has no mode POSITION \(driver servo-tcp, profile .*plain.toml\)"
    ):
        check_move(CONFIG.changed({"drives": {"profile": str(profile)}}), HOME)


def test_drives_that_another_process_commands_are_left_alone() -> None:
    config = on_free_ports(CONFIG).changed({"virtual": None})
    with (
        claim_drives(config),
        pytest.raises(HardwareError, match=rf"leg 1: another program \(process {os.getpid()}, .*\) commands the drive"),
    ):
        run_leg_test(config, HOME, Interruption(), lambda _progress: None)


def test_devices_that_cannot_be_made_are_an_input_that_is_wrong() -> None:
    amplifier = {"host": "127.0.0.1", "port": 1, "profile": "nothing"}
    config = on_free_ports(CONFIG).changed(
        {"virtual": None, "load_cells": {"source": "amplifier", "amplifier": amplifier}}
    )
    with pytest.raises(InputError, match="no profile 'nothing'"):
        run_leg_test(config, HOME, Interruption(), lambda _progress: None)


def test_a_test_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    config = on_free_ports(CONFIG).changed({"virtual": None})
    assert leg_process._longest(config, LegMove(3, 2e-3, 0.5e-3)) > config.safety.homing_timeout + 2 * 7.5
    monkeypatch.setattr(leg_process, "_longest", lambda _config, _move: 0.0)
    with pytest.raises(HardwareError, match="the test of leg 3 did not end within 0 s and was ended"):
        run_leg_test(config, HOME, Interruption(), lambda _progress: None)
    assert not [child for child in multiprocessing.active_children() if child.name == "test of leg 3"]


def test_a_reference_that_is_not_where_the_mechanism_has_it_is_said() -> None:
    legs = [leg.model_dump() for leg in CONFIG.drives.legs]
    legs[2]["position_offset"] = 0.003
    config = CONFIG.changed({"drives": {"legs": legs}})
    stand = Stand(CONFIG)
    stand.config = config
    stand.bank = make_bank(config, stand.rig.wires)
    stand.bank.connect(1.0)
    result = stand.run(HOME)
    assert result.homed == pytest.approx(0.003, abs=1e-5)
    assert result.faults[-1].startswith("leg 3: homed +3.00 mm from its length at home (bound 0.1 mm)")
