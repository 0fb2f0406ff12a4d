"""The test of one leg, on a virtual rig in this process: what it finds, and that the torque is off on every path."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from configured import slower_file
from leg_stand import CONFIG, FAST, HOME, NEAR, Stand, homed, moving

from actuators import Command, Mode, Status
from dynamics import format_tables, mechanism_tables
from rig.commissioning import NotHomedError, check_move, move_bounds
from rig.config import load_config
from rig.engine import Engage, Home, LegMove, MoveLeg, Shutdown
from rig.engine.laws import SingleLegLaw
from rig.engine.leg_move import judge_speeds
from rig.errors import RefusedError, RigError
from rig.findings import Code, Finding
from rig.report import summarize
from rig.states import FaultCode, State, StopSeverity
from rig.virtual import VirtualRig

pytestmark = pytest.mark.usefixtures("stand_folder")


@pytest.mark.parametrize(("leg", "travel"), [(1, 2e-3), (3, -2e-3), (6, 0.5e-3)])
def test_a_sound_leg_passes(leg: int, travel: float) -> None:
    stand = Stand()
    result = stand.run(LegMove(leg, travel, home=True))
    assert result.passed and not result.stopped
    assert result.homed == pytest.approx(0.0, abs=1e-5)
    assert result.reached == pytest.approx(travel, abs=2e-5)
    assert result.returned == pytest.approx(0.0, abs=2e-5)
    assert 0.0 < result.following < 0.2e-3
    assert result.by_speed == pytest.approx(travel, rel=0.1) and not result.doubtful
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
        seen.update(leg + 1 for leg in range(6) if now.drives.status[leg] & Status.ENABLED)
        return False

    stand.when(look, lambda _stand: None)
    assert stand.run(LegMove(5, home=True)).passed
    assert seen == {5}


def test_the_move_is_as_slow_as_it_was_asked_for() -> None:
    stand = homed()
    speeds: list[float] = []

    def look(now: Stand) -> bool:
        if moving(now):
            speeds.append(abs(now.virtual.plant.speeds[2]))
        return False

    stand.when(look, lambda _stand: None)
    assert stand.run(LegMove(3, 2e-3, 4e-3)).passed
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
    text = Path(slower_file(tmp_path / "rig.toml")).read_text(encoding="utf-8").replace('"lab-hexapod" ', '"six.toml" ')
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


def test_a_leg_near_its_limit_is_not_moved_beyond_it(tmp_path: Path) -> None:
    reference = homed().start[2]
    tables = mechanism_tables(CONFIG.machine)
    tables["legs"][2]["limits"]["length"][1] = reference + 1e-3
    (tmp_path / "short.toml").write_text(format_tables(tables), encoding="utf-8")
    file = Path(slower_file(tmp_path / "rig.toml"))
    file.write_text(file.read_text(encoding="utf-8").replace('"lab-hexapod" ', '"short.toml" '), encoding="utf-8")
    config = load_config(file).changed({"virtual": NEAR})
    words = r"is at 0.4942 m: \+2 mm from there is outside its limits"
    unhomed = Stand(config)
    result = unhomed.run(HOME)
    assert not result.passed and re.search(words, result.faults[0].text), result.faults
    assert unhomed.virtual.plant.lengths[2] == pytest.approx(reference, abs=5e-5)
    stand = Stand(config)
    assert stand.run(LegMove(3, 0.5e-3, home=True)).passed
    stand.start = list(stand.virtual.plant.lengths)
    with pytest.raises(RefusedError, match=words):
        stand.run(LegMove(3))
    assert abs(stand.moved()) < 1e-5


FAULTS = [
    ("encoder_reversed", None, FaultCode.RUNAWAY, "it moves against its command .* a direction is reversed"),
    ("jam", 5000.0, FaultCode.FOLLOWING_ERROR, "off its path .bound 1 mm.: it moved "),
    ("encoder_frozen", None, FaultCode.FEEDBACK_FROZEN, r"the encoder was frozen for \d+ cycles"),
    ("encoder_jump", 5e-3, FaultCode.POSITION_JUMP, "length jumped, or crept, by 5.00 mm"),
    ("encoder_jump", 0.8, FaultCode.FEEDBACK_INVALID, "beyond anything the leg can reach"),
    ("encoder_creep", 0.05, FaultCode.FOLLOWING_ERROR, "off its path"),
    ("encoder_scale", 1.01, FaultCode.POSITION_JUMP, "length jumped, or crept"),
    ("encoder_nan", None, FaultCode.FEEDBACK_INVALID, "the drive reports a length of nan m"),
    ("weak", -1.0, FaultCode.RUNAWAY, "it moves against its command"),
    ("reboot", None, FaultCode.TORQUE_LOST, "torque lost"),
    ("safe_torque_off", None, FaultCode.TORQUE_LOST, "torque lost without a fault of the drive"),
    ("temperature", 95.0, FaultCode.TEMPERATURE, "temperature is 95.0 °C"),
    ("hang", None, FaultCode.COMMUNICATION_LOST, "no fresh feedback for 15 ms"),
    ("close", None, FaultCode.COMMUNICATION_LOST, "no fresh feedback for 15 ms"),
]


@pytest.mark.parametrize(("fault", "value", "code", "words"), FAULTS)
def test_what_is_wrong_with_the_leg_is_said_and_it_is_stopped(
    fault: str, value: float | None, code: FaultCode, words: str
) -> None:
    at: list[int] = []

    def begin(now: Stand) -> None:
        at.append(now.rig.engine.cycles)
        now.virtual.faults.inject(fault, 3, value)

    config = FAST if fault == "weak" else CONFIG  # at the lower rate, its speed is what is found
    stand = homed(config).when(lambda now: moving(now) and abs(now.moved()) > 0.3e-3, begin)
    result = stand.run(LegMove(3))
    assert not result.passed and not result.stopped
    assert re.search(words, result.faults[0].text), result.faults
    hint = {
        FaultCode.RUNAWAY: Code.LEG_PROFILE_SUSPECT,
        FaultCode.FOLLOWING_ERROR: Code.LEG_PROFILE_SUSPECT,
        FaultCode.POSITION_JUMP: Code.LEG_PROFILE_SUSPECT,
        FaultCode.FEEDBACK_INVALID: Code.LEG_PROFILE_SUSPECT,
        FaultCode.COMMUNICATION_LOST: Code.LEG_REPLIES_SLOW,
    }.get(code)
    assert {found.code for found in result.faults} & {Code.LEG_PROFILE_SUSPECT, Code.LEG_REPLIES_SLOW} == (
        set() if hint is None else {hint}
    )
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


def test_speeds_against_the_positions_are_a_wrong_sign() -> None:
    move = LegMove(3)
    (found,) = judge_speeds(move, 2e-3, -1.2e-3)
    assert found.text.startswith("leg 3: it moved +2.000 mm by its positions and -1.200 mm by its speeds")
    assert "wrong sign" in found.text
    for by_speed in (np.nan, -0.1e-3, 0.4e-3, 2e-3, 6e-3):  # at a low rate a drive runs and stands
        assert judge_speeds(move, 2e-3, by_speed) == []
    assert judge_speeds(move, np.nan, -1.2e-3) == [] == judge_speeds(move, 0.1e-3, -1.2e-3)


def test_a_leg_whose_position_counts_the_other_way_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    stand = homed()
    drives = stand.drives
    usual = drives.exchange

    def exchange(commands: Sequence[Command], now: float, timeout: float) -> None:
        usual(commands, now, timeout)
        drives.velocity[2] *= -1.0

    monkeypatch.setattr(drives, "exchange", exchange)
    result = stand.run(LegMove(3))
    assert [found.code for found in result.faults] == [Code.LEG_SPEED_REVERSED]


def test_a_reference_that_is_never_reported_names_its_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    stand = Stand(CONFIG.changed({"safety": {"homing_timeout": 0.5}}))
    drives = stand.drives
    usual = drives.exchange

    def exchange(commands: Sequence[Command], now: float, timeout: float) -> None:
        usual(commands, now, timeout)
        drives.status[2] &= ~Status.HOMED.value

    monkeypatch.setattr(drives, "exchange", exchange)
    result = stand.run(HOME)
    assert [found.code for found in result.faults] == [Code.LEG_HOMING_OVERDUE, Code.LEG_SEARCH_SUSPECT]
    assert "compare modes.homing, status.homed and status.homing of generic-servo" in result.faults[1].text


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
        return moving(now) and now.rig.engine.cycle_data.reference.length[2] - start >= part * travel

    stand = homed()
    start = stand.drives.length[2]
    stand.when(there, lambda now: now.virtual.faults.inject(fault, 3, value))
    assert not stand.run(LegMove(3, travel)).passed
    assert stand.machine.cause is not None and stand.machine.cause.code is FaultCode.FOLLOWING_ERROR
    stops = stand.recording().rows["stop"]
    assert stops.max() == StopSeverity.CATEGORY_0 and StopSeverity.QUICK_STOP not in stops


@pytest.mark.parametrize(
    ("fault", "value", "words"),
    [
        ("cell_nan", None, "its load cell has no valid reading"),
        ("cell_saturated", 5000.0, "its load cell is at or beyond its full scale 800 N"),
        ("cell_silent", None, "its load cell is frozen: "),
    ],
)
def test_a_dead_load_cell_is_said_though_the_leg_moves(fault: str, value: float | None, words: str) -> None:
    stand = homed()
    stand.virtual.faults.inject(fault, 3, value)
    result = stand.run(LegMove(3))
    assert len(result.faults) == 1 and result.faults[0].text.startswith(f"leg 3: {words}")
    assert fault != "cell_nan" or result.as_dict()["force_before"] is None
    assert result.reached == pytest.approx(2e-3, abs=2e-5)


def test_another_legs_encoder_that_moves_along_stops_the_test() -> None:
    stand = homed().when(moving, lambda now: now.virtual.faults.inject("encoder_jump", 5, 1e-3))
    result = stand.run(LegMove(3))
    assert result.faults[0].text.startswith(
        "leg 5: its encoder moved 1.00 mm while leg 3 was moved: are encoder cables"
    )
    assert result.others[5] == pytest.approx(1e-3, abs=1e-5) and result.others[4] < 1e-4


def test_a_command_that_goes_to_another_drive_is_found() -> None:
    stand = homed(CONFIG.changed({"safety": {"homing_timeout": 3.0}}))
    stand.when(lambda now: now.phase == "at rest", lambda now: now.virtual.faults.inject("swap_unit", 3, 5))
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
    assert result.faults[0].text.startswith(f"leg {leg}: no fresh feedback for 15 ms (bound 15 ms)")
    assert Finding(Code.TORQUE_OFF_UNCONFIRMED, leg) in result.faults
    assert not result.stopped


def test_a_set_point_beyond_the_legs_limits_is_never_commanded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last look at what a drive's own loop would follow, should the move itself be wrong."""
    stand = homed()
    monkeypatch.setattr(
        SingleLegLaw, "_at", staticmethod(lambda length, speed=0.0: Command(Mode.POSITION, 0.0, 0.7, 0.0, True))
    )
    result = stand.run(LegMove(3))
    assert result.faults[0].text == "leg 3: the commanded length would be 0.7000 m (limits 0.4 to 0.62 m)"
    rows = stand.recording().rows
    assert not (np.abs(rows["position_command"][:, 2]) > 0.62).any()
    assert abs(stand.moved()) < 1e-4


def test_a_reference_that_is_not_where_the_mechanism_has_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    legs = [leg.model_dump() for leg in CONFIG.drives.legs]
    legs[2]["position_offset"] = 0.003
    monkeypatch.setattr("rig.client.lockstep.VirtualRig", lambda _config, **named: VirtualRig(CONFIG, **named))
    result = Stand(CONFIG.changed({"drives": {"legs": legs}})).run(HOME)
    assert result.homed == pytest.approx(0.003, abs=1e-5)
    fault = result.faults[-1]
    said = "leg 3: homed +3.00 mm from its length at home (bound 0.1 mm): correct its position_offset (now 3.000 mm; "
    assert fault.text.startswith(said) and fault.text.endswith(" mm would fit), or the mechanism")
    assert fault.details["fits"] == pytest.approx(0.0, abs=1e-5)


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
    assert moved.sum() * stand.config.period > 2.0 and followed.max() < 2e-4
    assert np.isfinite(rows["position_command"][commanded, 2]).all()
    assert np.isnan(np.delete(rows["position_command"], 2, axis=1)).all()
    summary = summarize(recording)
    told = summary["leg_tests"]
    assert [test["leg"] for test in told] == [3, 3]
    assert told[1]["travel_m"] == pytest.approx(-3e-3, abs=1e-4)
    assert told[1]["following_max_m"] == pytest.approx(float(followed.max()), rel=0.5)
    assert summary["faults"] == []
