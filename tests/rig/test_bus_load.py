"""What a cycle takes on serial lines, and a rate that they do not carry."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from engine_support import bench, refused, smooth_table

from actuators import BAUDS
from rig.cli import main
from rig.client import on_free_ports
from rig.config import RigConfig, load_config
from rig.engine import check_buses
from rig.engine.messages import Connect, Home, MoveLeg
from rig.errors import ConfigError, ExitCode
from rig.findings import Code, Finding

LINES = load_config("virtual-servo").changed({"drives": {"reply_deadline": 0.6}})
BYTES = 3 * (31 + 27)


def at(baud: int, rate: float = 200.0, **drives: Any) -> RigConfig:
    legs = [leg.model_dump() | {"baud": baud} for leg in LINES.drives.legs]
    return LINES.changed({"rate": rate, "drives": {"legs": legs, **drives}})


def test_the_plan_counts_bytes_reply_delays_and_the_silences_between_them() -> None:
    verdict = check_buses(LINES)
    assert [(plan.place, plan.devices, plan.bytes) for plan in verdict.plans] == [
        ("line-a", ("drive 1", "drive 2", "drive 3"), BYTES),
        ("line-b", ("drive 4", "drive 5", "drive 6"), BYTES),
    ]
    assert verdict.plans[0].time == pytest.approx(BYTES * 11e-6 + 5 * 1e-4, rel=1e-12)
    assert verdict.passed and verdict.message == "" and verdict.budget == pytest.approx(3e-3)
    slower = check_buses(at(1_000_000, turnaround=None)).plans[0]  # what a standard line keeps
    assert slower.time == pytest.approx(BYTES * 11e-6 + 5 * 1.75e-3, rel=1e-12)


def test_a_measured_reply_delay_takes_the_place_of_the_assumed_one() -> None:
    legs = [leg.model_dump() for leg in LINES.drives.legs]
    legs[1]["reply_delay"] = 3.2e-4
    verdict = check_buses(LINES.changed({"drives": {"legs": legs}}))
    plan = verdict.plans[0]
    assert plan.time == pytest.approx(BYTES * 11e-6 + 3.2e-4 + 4 * 1e-4, rel=1e-12)
    assert [member.measured for member in plan.members] == [False, True, False]
    assert "(assumed for drive 1, drive 3)" in verdict.described[0]
    legs[1]["reply_delay"] = 2e-3  # as long as its reply is waited for
    with pytest.raises(ConfigError, match=r"drives.legs\[2\].reply_delay: 0.002 s, must be below 0.002 s"):
        LINES.changed({"drives": {"legs": legs, "reply_timeout": 2e-3}})


def test_devices_that_are_seldom_asked_cost_their_share_but_the_cycle_with_all_of_them_counts() -> None:
    amplifier = {"device": "line-b", "baud": 1_000_000, "unit": 9}
    cells = {"source": "amplifier", "amplifier": amplifier, "sample_period": 0.02}
    config = LINES.changed({"load_cells": cells})
    verdict = check_buses(config)
    always, plan = verdict.plans
    assert [member.name for member in plan.seldom] == ["amplifier"]
    assert plan.usual_time(config.period) == pytest.approx(always.time, rel=1e-12)
    own = plan.time - always.time  # with the silence before it
    assert plan.load(config.period) == pytest.approx((always.time + 1e-4) / 5e-3 + own / 0.02, rel=1e-12)
    assert "without amplifier, not asked in every cycle, 2.41 ms" in verdict.described[1]
    faster = config.changed({"rate": verdict.carries + 1.0, "safety": {"stale_cycles": 10}})
    (found,) = check_buses(faster).findings
    assert found.within[-1].code is Code.LINE_SAMPLED_TOGETHER


def slow_cells(period: float, **changes: Any) -> RigConfig:
    """Drives and an amplifier on their line that are both asked less often than in every cycle."""
    cells = {"source": "amplifier", "amplifier": {"device": "line-b", "baud": 1_000_000, "unit": 9}}
    return LINES.changed(
        {"load_cells": cells | {"sample_period": 0.02}, "drives": {"sample_period": period}, **changes}
    )


def test_slow_cells_have_cycles_apart_from_slow_drives_in_the_plan() -> None:
    verdict = check_buses(slow_cells(0.02))
    alone, plan = verdict.plans
    assert plan.time == pytest.approx(alone.time, rel=1e-12)  # the drives', longer than the amplifier's
    own = next(member for member in plan.members if member.name == "amplifier")
    assert plan.together == pytest.approx(plan.time + own.time, rel=1e-12) and plan.apart == (own,)
    assert plan.bytes * plan.byte_time + plan.delays + plan.silences == pytest.approx(plan.time, rel=1e-12)
    assert verdict.described[1].endswith("; amplifier read in other cycles than the other devices with a sample period")
    assert verdict.as_dict()["lines"][1]["apart"] == ["amplifier"]
    # every cycle but one in a sample period would be taken
    crowded = check_buses(slow_cells(0.02, rate=90.0)).plans[1]
    assert not crowded.apart and crowded.time == crowded.together
    assert not check_buses(LINES).plans[1].apart, "without sample periods"


def test_a_rig_whose_slow_cells_are_asked_apart_runs_with_readings_as_old_as_before(tmp_path: Path) -> None:
    with bench(tmp_path, slow_cells(0.02, mode="position")) as rig:
        rig.engage()
        rig.follow(smooth_table(0.5))
        group = rig.engine.drives
        asked, ages = list[tuple[bool, bool]](), list[float]()
        for _ in range(120):
            rig.step()
            asked.append((group._members[5].asked, group._cells.members[0].asked))
            ages.append(group.cells_age)
        assert rig.engine.machine.cause is None
        assert not any(drive and cells for drive, cells in asked)
        assert sum(cells for _, cells in asked) == 30 and max(ages) == pytest.approx(0.015)
        assert set(group.age) == {group.age[0]}, "six lengths of one cycle"


def test_every_line_that_is_too_slow_is_named_with_its_figures() -> None:
    verdict = check_buses(at(115_200, turnaround=None))
    assert [found.details["line"] for found in verdict.findings] == ["line-a", "line-b"]
    for found, plan in zip(verdict.findings, verdict.plans, strict=True):
        assert (found.code, found.value, found.bound) == (Code.LINE_SLOW, plan.time, verdict.budget)
        parts = [found.details[name] for name in ("carried", "delays", "silences")]
        assert sum(part for part in parts if isinstance(part, float)) == pytest.approx(plan.time, rel=1e-12)


def remedies(config: RigConfig) -> dict[Code, Finding]:
    return {remedy.code: remedy for remedy in check_buses(config).findings[0].within}


def test_a_remedy_that_is_followed_lets_the_line_carry_the_rate() -> None:
    slow = at(250_000)
    found = remedies(slow)
    assert {Code.LINE_BAUD, Code.LINE_SPLIT} <= set(found)
    fewer = remedies(at(500_000))[Code.LINE_FEWER_BYTES]
    assert fewer.bound is not None and fewer.value == BYTES and BYTES / 2 <= fewer.bound < BYTES
    assert fewer.bound * 11 / 500_000 + 5 * 1e-4 <= 3e-3 < (fewer.bound + 1) * 11 / 500_000 + 5 * 1e-4
    assert found[Code.LINE_SPLIT].details["count"] == 3
    baud = found[Code.LINE_BAUD].bound
    assert baud is not None and check_buses(at(int(baud))).passed
    lower = max(other for other in BAUDS if other < baud)
    assert not check_buses(at(lower)).passed
    legs = [leg.model_dump() | {"device": f"line-{place}"} for place, leg in enumerate(slow.drives.legs)]
    assert check_buses(slow.changed({"drives": {"legs": legs}})).passed
    quick = remedies(at(1_000_000, turnaround=None))[Code.LINE_QUICKER].bound
    assert quick is not None and check_buses(at(1_000_000, turnaround=0.999 * quick)).passed
    share = remedies(at(500_000))[Code.LINE_LATER_DEADLINE].value
    assert check_buses(at(500_000, reply_deadline=share)).passed


def test_a_baud_and_several_lines_are_suggested_where_neither_is_enough() -> None:
    found = remedies(at(9600, turnaround=None))
    both = found[Code.LINE_BAUD_AND_SPLIT]
    assert both.bound is not None and not {Code.LINE_BAUD, Code.LINE_SPLIT} & set(found)
    split = [{"device": f"line-{place}", "baud": int(both.bound)} for place in range(6)]
    legs = [leg.model_dump() | one for leg, one in zip(LINES.drives.legs, split, strict=True)]
    assert check_buses(LINES.changed({"drives": {"legs": legs, "turnaround": None}})).passed


def test_a_rate_that_something_else_refuses_is_not_suggested_without_saying_so() -> None:
    refused = remedies(at(115_200))
    assert Code.LINE_RATE not in refused
    refused_rate = refused[Code.LINE_RATE_REFUSED]
    assert "drives.watchdog: 0.05 s is less than two cycles" in refused_rate.text
    with pytest.raises(ConfigError, match=r"drives\.watchdog"):
        LINES.changed({"rate": refused_rate.value})
    lowest = remedies(at(2400, watchdog=1.0, turnaround=None))[Code.LINE_NO_RATE]
    assert lowest.value is not None and lowest.value < 1.0 and lowest.bound == 5.0
    found = remedies(at(115_200, watchdog=1.0))
    assert "unstable" in found[Code.LINE_RATE_REFUSED].text
    by_drives = found[Code.LINE_RATE_BY_DRIVES].value
    assert check_buses(at(115_200, watchdog=1.0).changed({"mode": "position", "rate": by_drives})).passed
    assert Code.LINE_RATE_BY_DRIVES not in refused
    borne = at(115_200, watchdog=1.0).changed({"control": {"stiffness": 200.0, "damping": 9.0}})
    rate = remedies(borne)[Code.LINE_RATE].value
    assert rate is not None and check_buses(borne.changed({"rate": rate})).passed
    assert not check_buses(borne.changed({"rate": rate + 1.0})).passed


def test_the_rate_with_a_reserve_is_one_that_the_rig_may_have() -> None:
    lines = at(115_200, watchdog=1.0).changed({"mode": "position"})
    offer = remedies(lines)[Code.LINE_RATE]
    assert offer.value is not None and offer.bound == math.floor(0.75 * check_buses(lines).carries)
    assert f"lower `rate`, with a reserve to {offer.bound:g} Hz" in offer.text
    (plan, _other) = check_buses(lines.changed({"rate": offer.bound})).plans
    assert plan.time <= 0.76 * check_buses(lines.changed({"rate": offer.bound})).budget
    slow = remedies(at(19_200, watchdog=1.0).changed({"mode": "position"}))[Code.LINE_RATE]
    assert slow.bound is None and slow.text.endswith("lower `rate`")


def test_the_latency_of_a_usb_adapter_is_counted_once_for_each_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, timer = tmp_path / "ttyUSB0", tmp_path / "sys" / "ttyUSB0" / "latency_timer"
    port.touch()
    timer.parent.mkdir(parents=True)
    monkeypatch.setattr("actuators.wire.ADAPTERS", tmp_path / "sys")
    legs = [leg.model_dump() | {"device": str(port), "unit": n} for n, leg in enumerate(LINES.drives.legs, 1)]
    config = LINES.changed({"virtual": None, "drives": {"legs": legs}})
    least = check_buses(config).plans[0].time
    for text, latency in (("16\n", 1e-3), ("1\n", 1e-3), ("none", 0.0)):  # the port is opened with low latency
        timer.write_text(text, encoding="ascii")
        assert check_buses(config).plans[0].time == pytest.approx(least + 6 * latency, rel=1e-12)
    timer.write_text("16", encoding="ascii")
    monkeypatch.setattr("os.access", lambda *_: False)
    assert check_buses(config).plans[0].latency == 0.016
    legs[0]["reply_delay"] = 1.5e-3  # measured, with all that is in it
    measured = check_buses(config.changed({"drives": {"legs": legs}})).plans[0]
    assert measured.members[0].reply_delay == 1.5e-3


def test_load_cells_on_a_line_are_counted_with_the_drives_that_share_it() -> None:
    amplifier = {"source": "amplifier", "amplifier": {"device": "line-b", "baud": 1_000_000, "unit": 9}}
    one, two = check_buses(LINES.changed({"load_cells": amplifier})).plans
    assert one.devices == ("drive 1", "drive 2", "drive 3") and one.bytes == BYTES
    assert two.devices == ("drive 4", "drive 5", "drive 6", "amplifier")
    asked, told = 8, 3 + 2 * 14 + 2
    assert two.bytes == BYTES + asked + told
    assert two.time == pytest.approx(two.bytes * 11e-6 + 7 * 1e-4, rel=1e-12)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (
            {"baud": 9600, "unit": 9},
            r"load_cells.amplifier: line-b at 9600 baud 8E1, drives.legs\[4\] has it",
        ),
        ({"baud": 1_000_000, "unit": 2}, r"load_cells.amplifier: unit 2 of line-b is drives.legs\[5\]'s"),
    ],
)
def test_load_cells_on_a_line_of_the_drives_are_told_from_them_and_speak_as_they_do(place: Any, text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        LINES.changed({"load_cells": {"source": "amplifier", "amplifier": {"device": "line-b", **place}}})


def test_cells_stay_on_the_drives_line_where_that_gets_a_name_of_its_own() -> None:
    cells = [{"device": "line-b", "baud": 1_000_000, "unit": 10 + leg} for leg in range(6)]
    config = on_free_ports(LINES.changed({"load_cells": {"source": "devices", "devices": cells}}))
    places = {leg.place for leg in config.drives.legs[3:]} | {one.place for one in config.load_cells.places.values()}
    assert len(places) == 1 and places != {"line-b"}


def test_where_all_talk_at_once_there_is_nothing_to_plan() -> None:
    verdict = check_buses(load_config("virtual"))
    assert verdict.plans == () and verdict.passed and verdict.carries == math.inf
    assert verdict.as_dict()["highest_rate"] is None


def test_the_slowest_line_decides_and_the_rate_that_it_carries_is_the_highest() -> None:
    legs = [leg.model_dump() | ({"baud": 250_000} if leg.place == "line-b" else {}) for leg in LINES.drives.legs]
    config = LINES.changed({"drives": {"legs": legs}})
    verdict = check_buses(config)
    assert not verdict.passed and len(verdict.findings) == 1
    assert verdict.message.startswith("the line line-b (drive 4, drive 5, drive 6) takes 8.16 ms")
    highest = math.floor(verdict.carries)
    assert f"it carries {highest} Hz at most" in verdict.message
    assert check_buses(config.changed({"rate": highest})).passed
    assert not check_buses(config.changed({"rate": highest + 1})).passed


def test_lines_that_differ_in_their_delays_alone_are_named_together() -> None:
    legs = [
        leg.model_dump() | {"device": f"line-{n}", "unit": 1, "baud": 115_200, "reply_delay": 1e-3 * n}
        for n, leg in enumerate(LINES.drives.legs, start=1)
    ]
    drives = {"legs": legs, "reply_timeout": 0.02}
    slow = LINES.changed({"mode": "position", "rate": 100.0, "drives": drives})
    verdict = check_buses(slow)
    assert len(verdict.findings) == 6 and len(verdict.summary) == 1
    assert verdict.message.startswith("the line line-6 (drive 6) takes ") and "\n" not in verdict.message
    assert "The same holds for line-1, line-2, line-3, line-4, line-5. Remedies: it c" in verdict.message
    quick = next(remedy.bound for remedy in verdict.summary[0].within if remedy.code is Code.LINE_QUICKER)
    assert quick is not None
    faster = [leg | {"reply_delay": quick} for leg in legs]
    assert check_buses(slow.changed({"drives": {"legs": faster, "turnaround": quick}})).passed
    legs[2]["baud"] = 9600
    other = check_buses(slow.changed({"drives": {"legs": legs}})).summary
    assert [found.details["line"] for found in other] == ["line-6", "line-3"]


def test_the_commands_say_it_and_refuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "virtual-servo"]) == 0
    assert (
        "line line-a: drive 1, drive 2, drive 3, 174 bytes, 2.41 of 4 ms for replies (60 %)" in capsys.readouterr().out
    )
    path = tmp_path / "slow.toml"
    text = LINES.path.read_text(encoding="utf-8").replace("baud = 1000000", "baud = 115200")
    path.write_text(text, encoding="utf-8")
    assert main(["check", str(path), "--json"]) == ExitCode.REFUSED
    found = json.loads(capsys.readouterr().out)["buses"]
    assert not found["passed"] and found["highest_rate"] == pytest.approx(0.8 / found["lines"][0]["time"])
    assert main(["run", str(path), "demo", "-o", str(tmp_path / "out"), "--lockstep"]) == ExitCode.REFUSED
    assert "it carries 46 Hz at most" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_engine_does_not_home_on_a_line_that_does_not_carry_its_rate(tmp_path: Path) -> None:
    with bench(tmp_path, at(250_000)) as rig:
        rig.request(Connect())
        assert "it carries" in refused(rig, Home())
        assert "it carries" in rig.engine.take_snapshot().loop, "by which engaging is refused as well"


def test_the_engine_tests_no_leg_on_such_a_line_and_says_what_would_help(tmp_path: Path) -> None:
    with bench(tmp_path, at(250_000)) as rig:
        rig.request(Connect())
        why = refused(rig, MoveLeg(3, 2e-3, 5e-3, home=True))
        assert "the line line-a" in why and "it carries" in why
