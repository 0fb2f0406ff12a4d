"""The test of one leg, on a virtual rig in this process: what it finds, and that the torque is off on every path."""

import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from actuators import Command, Mode, Status
from rig.client import Interruption, LockstepRig, on_free_ports
from rig.commissioning import LatchedFaultError, NotHomedError, check_move, move_bounds, run_leg_test
from rig.commissioning.leg_test import move_leg
from rig.config import RigConfig, load_config
from rig.engine import Engage, Home, LegMove, LegResult, LegTest, MoveLeg, Reply, RigCommand, Shutdown, Submission
from rig.engine.claim import claim_drives
from rig.engine.laws import SingleLegLaw
from rig.errors import HardwareError, InputError, RefusedError, RigError
from rig.recording import Recording, open_recording
from rig.report import summarize
from rig.runtime import StopRequest
from rig.safety import Cause
from rig.states import FaultCode, State, StopSeverity
from rig.virtual import VirtualRig

NEAR = {"drive": {"start_spread": 1e-3}}
CONFIG = load_config("virtual").changed({"virtual": NEAR})
HOME = LegMove(3, home=True)


class Stand:
    """A lockstep rig, and a test run on it cycle by cycle; things happen to it meanwhile."""

    folder = Path()
    made: ClassVar[list["Stand"]] = []

    def __init__(self, config: RigConfig = CONFIG) -> None:
        self.config = config
        self.path = self.folder / f"{len(list(self.folder.iterdir()))}.mcap"
        self.rig = Watched(config, self.path, Interruption())
        self.virtual, self.bank, self.machine = self.rig.virtual, self.rig.engine.bank, self.rig.engine.machine
        self.rig.before_step = self.look
        self.reports: list[LegTest] = []
        self.events: list[tuple[Callable[[Stand], bool], Callable[[Stand], object]]] = []
        self.start = list(self.virtual.plant.lengths)
        self.made.append(self)

    def when(self, condition: Callable[["Stand"], bool], act: Callable[["Stand"], object]) -> "Stand":
        """Do something in the first cycle in which a condition holds."""
        self.events.append((condition, act))
        return self

    def look(self) -> None:
        due = [event for event in self.events if event[0](self)]
        for event in due:
            self.events.remove(event)
            event[1](self)

    @property
    def phase(self) -> str:
        """Where the test is."""
        test = self.rig.engine.leg_test
        return "" if test is None or self.machine.state is not State.SINGLE_LEG else test.told.phase

    def run(self, move: LegMove = HOME) -> LegResult:
        check_move(self.config, move)
        try:
            return move_leg(self.rig, move, self.reports.append)
        finally:
            self.end(move.leg)

    def end(self, leg: int) -> None:
        """Whatever happened: every brake closed, no leg moving, and but for this one none has moved."""
        plant = self.virtual.plant
        for _ in range(100):
            self.rig.step()
        assert self.machine.state in (State.IDLE, State.FAULT)
        assert [plant.braked(index) for index in range(6)] == [True] * 6
        assert np.abs(plant.speeds).max() < 1e-3
        others = [index for index in range(6) if index != leg - 1]
        assert np.abs(np.subtract(plant.lengths, self.start))[others].max() < 2e-4

    def moved(self, leg: int = 3) -> float:
        return self.virtual.plant.lengths[leg - 1] - self.start[leg - 1]

    def recording(self) -> Recording:
        """What was recorded, the file being closed."""
        self.rig.close()
        return open_recording(self.path)


class Watched(LockstepRig):
    """Has something looked at before each cycle."""

    before_step: Callable[[], None] = staticmethod(lambda: None)

    def step(self, overslept: int = 0) -> None:
        self.before_step()
        super().step(overslept)

    def submit(self, command: RigCommand) -> "Future[Reply]":
        reply: Future[Reply] = Future()
        self.operator.submit(Submission(command, None, reply))
        return reply


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "recordings").mkdir()
    monkeypatch.setattr(Stand, "folder", tmp_path / "recordings")
    monkeypatch.chdir(tmp_path)
    yield
    while Stand.made:
        Stand.made.pop().rig.__exit__()


def moving(stand: Stand) -> bool:
    return stand.phase == "moving there"


def homed(config: RigConfig = CONFIG) -> Stand:
    """A stand whose leg 3 has its reference."""
    stand = Stand(config)
    assert move_leg(stand.rig, HOME, stand.reports.append).passed
    stand.reports.clear()
    stand.start = list(stand.virtual.plant.lengths)
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
    assert result.force_before == pytest.approx(stand.virtual.plant.cells[leg - 1], abs=5.0)
    assert result.others.keys() == {1, 2, 3, 4, 5, 6} - {leg}
    assert max(result.others.values()) < 1e-4
    assert stand.virtual.plant.lengths[leg - 1] == pytest.approx(stand.virtual.plant.reference(leg - 1), abs=1e-4)
    phases = [report.phase for report in stand.reports]
    assert [phase for i, phase in enumerate(phases) if phase not in phases[:i]] == [
        "at rest",
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
    stand.when(
        lambda now: moving(now) and speeds.append(abs(now.virtual.plant.speeds[2])) is not None, lambda _stand: None
    )
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


FAULTS = [
    ("encoder_reversed", None, FaultCode.RUNAWAY, "it moves against its command .* a direction is reversed"),
    ("jam", 5000.0, FaultCode.FOLLOWING_ERROR, "off its path .bound 1 mm.: it moved "),
    ("encoder_frozen", None, FaultCode.FEEDBACK_FROZEN, "the encoder repeated itself for 4 cycles"),
    ("encoder_jump", 5e-3, FaultCode.POSITION_JUMP, "length jumped, or crept, by 5.00 mm"),
    ("encoder_jump", 0.8, FaultCode.FEEDBACK_INVALID, "beyond anything the leg can reach"),
    ("encoder_creep", 0.05, FaultCode.FOLLOWING_ERROR, "off its path"),
    ("encoder_scale", 1.01, FaultCode.POSITION_JUMP, "length jumped, or crept"),
    ("encoder_nan", None, FaultCode.FEEDBACK_INVALID, "the drive reports a length of nan m"),
    ("weak", -1.0, FaultCode.RUNAWAY, "it moves against its command"),
    ("reboot", None, FaultCode.TORQUE_LOST, "torque lost"),
    ("safe_torque_off", None, FaultCode.TORQUE_LOST, "torque lost without a fault of the drive"),
    ("temperature", 95.0, FaultCode.TEMPERATURE, "temperature is 95.0 °C"),
    ("hang", None, FaultCode.COMMUNICATION_LOST, "no fresh feedback for 6 ms"),
    ("close", None, FaultCode.COMMUNICATION_LOST, "no fresh feedback for 6 ms"),
]


@pytest.mark.parametrize(("fault", "value", "code", "words"), FAULTS)
def test_what_is_wrong_with_the_leg_is_said_and_it_is_stopped(
    fault: str, value: float | None, code: FaultCode, words: str
) -> None:
    at: list[int] = []

    def begin(now: Stand) -> None:
        at.append(now.rig.engine.cycles)
        now.virtual.faults.inject(fault, 3, value)

    stand = homed().when(lambda now: moving(now) and abs(now.moved()) > 0.3e-3, begin)
    result = stand.run(LegMove(3))
    assert not result.passed and not result.stopped
    assert re.search(words, result.faults[0]), result.faults
    assert stand.machine.cause is not None and stand.machine.cause.code is code
    assert abs(stand.moved()) < 6e-3
    recording = stand.recording()
    rows = recording.rows[at[0] :]
    told = rows["fault"] == code
    assert told.any() and recording.complete
    others = np.arange(6) != 2
    assert (rows["mode"][:, others] == Mode.OFF).all()
    assert not (rows["mode"][np.flatnonzero(told)[0] + 1 :] == Mode.POSITION).any()
    assert any(event.text.startswith("test of leg 3: does not pass") for event in recording.events)


def test_a_leg_with_a_slow_drive_passes() -> None:
    stand = Stand(CONFIG.changed({"drives": {"sample_period": 0.02}}))
    result = stand.run(LegMove(3, 10e-3, 30e-3, home=True))
    assert result.passed, result.faults
    assert result.reached == pytest.approx(10e-3, abs=2e-5) and result.following < 0.2e-3


@pytest.mark.parametrize("travel", [2e-3, 10e-3])
@pytest.mark.parametrize(("part", "fault", "value"), [(0.2, "jam", 5000.0), (0.99999, "weak", 0.0)])
def test_a_leg_that_strays_on_its_way_or_where_it_is_held_loses_its_torque_at_once(
    part: float, fault: str, value: float, travel: float
) -> None:
    def there(now: Stand) -> bool:
        return moving(now) and now.rig.engine.frame.fields["length_reference"][2] - start >= part * travel

    stand = homed()
    start = stand.bank.length[2]
    stand.when(there, lambda now: now.virtual.faults.inject(fault, 3, value))
    assert not stand.run(LegMove(3, travel)).passed
    assert stand.machine.cause is not None and stand.machine.cause.code is FaultCode.FOLLOWING_ERROR
    stops = stand.recording().rows["stop"]
    assert stops.max() == StopSeverity.CATEGORY_0 and StopSeverity.QUICK_STOP not in stops


@pytest.mark.parametrize(
    ("fault", "value", "words"),
    [
        ("cell_nan", None, "its load cell has no valid reading"),
        ("cell_saturated", 5000.0, "its load cell is at or beyond its end of scale 800 N"),
        ("cell_silent", None, "its load cell repeats itself: "),
    ],
)
def test_a_dead_load_cell_is_said_though_the_leg_moves(fault: str, value: float | None, words: str) -> None:
    stand = homed()
    stand.virtual.faults.inject(fault, 3, value)
    result = stand.run(LegMove(3))
    assert len(result.faults) == 1 and result.faults[0].startswith(f"leg 3: {words}")
    assert fault != "cell_nan" or result.as_dict()["force_before"] is None
    assert result.reached == pytest.approx(2e-3, abs=2e-5)


def test_another_legs_encoder_that_moves_along_stops_the_test() -> None:
    stand = homed().when(moving, lambda now: now.virtual.faults.inject("encoder_jump", 5, 1e-3))
    result = stand.run(LegMove(3))
    assert result.faults[0].startswith("leg 5: its encoder moved 1.00 mm while leg 3 was moved: are encoder cables")
    assert result.others[5] == pytest.approx(1e-3, abs=1e-5) and result.others[4] < 1e-4


def test_a_command_that_goes_to_another_drive_is_found() -> None:
    stand = homed().when(lambda now: now.phase == "at rest", lambda now: now.virtual.faults.inject("swap_unit", 3, 5))
    result = None
    try:
        result = stand.run(LegMove(3, home=True))
    except RigError as error:
        assert "reference" in str(error)
    assert result is None or not result.passed


@pytest.mark.parametrize("leg", [3, 6])
def test_a_drive_that_falls_silent_stops_the_test(leg: int) -> None:
    stand = homed().when(moving, lambda now: now.virtual.faults.inject("drop_all", leg))
    result = stand.run(LegMove(3))
    assert result.faults[0].startswith(f"leg {leg}: no fresh feedback for 6 ms (bound 6 ms)")
    assert f"leg {leg}: the drive does not confirm that its torque is off" in result.faults
    assert not result.stopped


@pytest.mark.parametrize("category", [0, 1, 2])
def test_a_stop_brings_the_leg_to_rest_by_its_drive(category: StopRequest) -> None:
    seen: set[int] = set()

    def look(now: Stand) -> bool:
        seen.update(leg for leg, one in enumerate(now.rig.engine.commands, start=1) if one.quick_stop)
        return False

    stand = homed().when(look, lambda _stand: None).when(moving, lambda now: now.rig.raise_stop_flag(category))
    result = stand.run(LegMove(3))
    assert result.stopped and len(result.faults) == 1 and "stop" in result.faults[0]
    assert np.isnan(result.reached)
    assert abs(stand.moved()) < 2e-3
    assert seen == (set() if category == 0 else {3})  # the others are at rest: nothing to be stopped
    assert stand.machine.state is State.IDLE and stand.rig.engine.law.name == "force"


def test_a_stop_while_it_looks_for_its_reference() -> None:
    stand = Stand()

    def stop(now: Stand) -> None:
        now.rig.raise_stop_flag(1)

    result = stand.when(lambda now: bool(now.bank.status[2] & Status.HOMING), stop).run(HOME)
    assert result.stopped and result.homed is None


def test_ctrl_c_stops_the_leg_and_gives_what_came_of_it() -> None:
    stand = homed()
    interruption = stand.rig._interruption

    def press(_stand: Stand) -> None:
        interruption.count += 1

    result = stand.when(moving, press).run(LegMove(3))
    assert result.stopped and result.faults == ("operator's stop, category 1",)


def test_without_a_client_the_leg_is_stopped() -> None:
    """The lease being given up, or its holder silent, is a stop as any other."""
    stand = homed()

    def lose(now: Stand) -> None:
        now.rig.engine.trip(
            Cause(FaultCode.CLIENT_LOST, "nobody", now.rig.engine.tick.t), StopSeverity.CATEGORY_2, latch=False
        )

    result = stand.when(moving, lose).run(LegMove(3))
    assert result.stopped and result.faults == ("nobody",)
    assert abs(stand.moved()) < 3e-3


def test_a_latched_fault_is_cleared_only_where_that_is_allowed() -> None:
    stand = Stand()
    stand.virtual.drives[4].servo._latch("watchdog")
    with pytest.raises(LatchedFaultError, match="leg 5: drive fault 1, no command within the watchdog time: a latched"):
        stand.run(HOME)
    stand = Stand()
    stand.virtual.drives[4].servo._latch("watchdog")
    assert stand.run(LegMove(3, home=True, clear=True)).passed
    stand = Stand()
    stand.virtual.drives[4].servo._latch("watchdog")
    stand.virtual.faults.inject("encoder_nan", 5)
    with pytest.raises(RefusedError, match="reset: the cause is still there: leg 5"):
        stand.run(LegMove(3, home=True, clear=True))
    assert abs(stand.moved()) < 1e-5


def test_a_watchdog_that_is_no_fault_is_cleared_like_one() -> None:
    stand = Stand()
    stand.virtual.drives[4].servo._watchdog_tripped = True
    with pytest.raises(LatchedFaultError, match="leg 5: "):
        stand.run(HOME)
    stand = Stand()
    stand.virtual.drives[4].servo._watchdog_tripped = True
    assert stand.run(LegMove(3, home=True, clear=True)).passed


def test_a_second_stop_is_seen_while_the_drive_does_not_obey_the_first() -> None:
    stand = homed()
    stopped: list[float] = []

    def now_is(now: Stand) -> float:
        return now.rig.engine.tick.t

    def stop(now: Stand) -> None:
        now.virtual.faults.inject("drop_all", 3)  # it neither stops nor says so
        now.rig.raise_stop_flag(1)
        stopped.append(now_is(now))

    def insist(now: Stand) -> None:
        now.rig.raise_stop_flag(0)
        stopped.append(now_is(now))

    def torque_off(now: Stand) -> bool:
        return len(stopped) == 2 and not now.rig.engine.commands[2].enable

    stand.when(moving, stop).when(lambda now: bool(stopped) and now_is(now) > stopped[0] + 0.1, insist)
    stand.when(torque_off, lambda now: stopped.append(now_is(now)))
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


def test_a_set_point_beyond_the_legs_limits_is_never_commanded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last look at what a drive's own loop would follow, should the move itself be wrong."""
    stand = homed()
    monkeypatch.setattr(
        SingleLegLaw, "_at", staticmethod(lambda length, speed=0.0: Command(Mode.POSITION, 0.0, 0.7, 0.0, True))
    )
    result = stand.run(LegMove(3))
    assert result.faults[0] == "leg 3: a length of 0.7000 m would be commanded (limits 0.4 to 0.62 m)"
    rows = stand.recording().rows
    assert not (np.abs(rows["position_command"][:, 2]) > 0.62).any()
    assert abs(stand.moved()) < 1e-4


def test_a_reference_that_is_not_where_the_mechanism_has_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    legs = [leg.model_dump() for leg in CONFIG.drives.legs]
    legs[2]["position_offset"] = 0.003
    monkeypatch.setattr("rig.client.lockstep.VirtualRig", lambda _config: VirtualRig(CONFIG))
    result = Stand(CONFIG.changed({"drives": {"legs": legs}})).run(HOME)
    assert result.homed == pytest.approx(0.003, abs=1e-5)
    assert result.faults[-1].startswith("leg 3: homed +3.00 mm from its length at home (bound 0.1 mm)")


def test_a_test_is_a_command_like_others() -> None:
    """From IDLE alone, and nothing else meanwhile; the configured law commands again afterwards."""
    stand = homed()
    engine = stand.rig.engine
    refusals: list[str] = []

    def ask(now: Stand) -> None:
        for command in (Home(), MoveLeg(2, 2e-3, 5e-3, home=True), Engage(), Shutdown()):
            reply = now.rig.submit(command)
            now.rig.operator.carry_out()
            refusals.append(reply.result().reason)

    stand.when(moving, ask)
    assert stand.run(LegMove(3)).passed
    assert refusals[0] == "home: wait until the leg is tested" and len(refusals) == 4 and all(refusals)
    assert engine.law.name == "force" and not engine.machine.homed
    stand.rig.request(Home())
    stand.rig.wait(lambda status: status.state is State.PARKED, 5.0, "PARKED")
    with pytest.raises(RefusedError, match="move-leg: "):
        stand.rig.request(MoveLeg(3, 2e-3, 5e-3))


def test_a_test_is_recorded_and_reported_like_every_run() -> None:
    stand = homed()
    assert stand.run(LegMove(3, -3e-3)).passed
    recording = stand.recording()
    rows = recording.rows[recording.rows["state"] == State.SINGLE_LEG]
    commanded = rows["mode"][:, 2] == Mode.POSITION
    moved = commanded & (np.abs(rows["velocity_reference"][:, 2]) > 1e-4)
    followed = np.abs(rows["length"] - rows["length_reference"])[moved, 2]
    assert moved.sum() > 1000 and followed.max() < 2e-4
    assert np.isfinite(rows["position_command"][commanded, 2]).all()
    assert np.isnan(np.delete(rows["position_command"], 2, axis=1)).all()
    summary = summarize(recording)
    told = summary["leg_tests"]
    assert [test["leg"] for test in told] == [3, 3]
    assert told[1]["travel_m"] == pytest.approx(-3e-3, abs=1e-4)
    assert told[1]["following_max_m"] == pytest.approx(float(followed.max()), rel=0.5)
    assert summary["faults"] == []


def test_ctrl_c_before_anything_moves_is_a_stop_too() -> None:
    stand = Stand()
    stand.rig._interruption.count = 1
    result = stand.run(HOME)
    assert result.stopped and result.faults == ("stopped before anything moved",) and result.homed is None
    assert abs(stand.moved()) < 1e-6


def test_torque_on_another_drive_takes_it_off_everywhere() -> None:
    stand = homed().when(moving, lambda now: now.virtual.faults.inject("torque_stuck", 5))
    result = stand.run(LegMove(3))
    assert result.faults[0] == "leg 5: the drive has torque in state SINGLE_LEG"
    rows = stand.recording().rows
    assert (rows["stop"][rows["fault"] == FaultCode.TORQUE_UNEXPECTED][0]) == StopSeverity.CATEGORY_0
