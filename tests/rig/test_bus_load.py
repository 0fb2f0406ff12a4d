"""What a cycle takes on serial lines, and a rate that they do not carry."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from engine_support import bench, refused

from rig.cli import main
from rig.client import on_free_ports
from rig.config import RigConfig, load_config
from rig.engine import check_buses
from rig.engine.messages import Engage
from rig.errors import ConfigError, ExitCode

LINES = load_config("virtual-servo")
BYTES = 3 * (31 + 27)


def at(baud: int, rate: float = 200.0, **drives: Any) -> RigConfig:
    legs = [leg.model_dump() | {"baud": baud} for leg in LINES.drives.legs]
    return LINES.changed({"rate": rate, "drives": {"legs": legs, **drives}})


def test_the_plan_counts_bytes_and_the_silences_between_them() -> None:
    verdict = check_buses(LINES)
    assert [(plan.place, plan.devices, plan.bytes) for plan in verdict.plans] == [
        ("line-a", ("drive 1", "drive 2", "drive 3"), BYTES),
        ("line-b", ("drive 4", "drive 5", "drive 6"), BYTES),
    ]
    assert verdict.plans[0].time == pytest.approx(BYTES * 11e-6 + 2 * 1e-4, rel=1e-12)
    assert verdict.passed and verdict.message == "" and verdict.budget == pytest.approx(3e-3)
    slower = check_buses(at(1_000_000, turnaround=None)).plans[0]  # what a standard line keeps
    assert slower.time == pytest.approx(BYTES * 11e-6 + 2 * 1.75e-3, rel=1e-12)


def test_load_cells_on_a_line_are_counted_with_the_drives_that_share_it() -> None:
    amplifier = {"source": "amplifier", "amplifier": {"device": "line-b", "baud": 1_000_000, "unit": 9}}
    one, two = check_buses(LINES.changed({"load_cells": amplifier})).plans
    assert one.devices == ("drive 1", "drive 2", "drive 3") and one.bytes == BYTES
    assert two.devices == ("drive 4", "drive 5", "drive 6", "amplifier")
    asked, told = 8, 3 + 2 * 14 + 2
    assert two.bytes == BYTES + asked + told
    assert two.time == pytest.approx(two.bytes * 11e-6 + 3 * 1e-4, rel=1e-12)


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
    assert not verdict.passed and verdict.message.startswith(
        "the line line-b (drive 4, drive 5, drive 6) takes 7.86 ms"
    )
    highest = math.floor(verdict.carries)
    assert f"it carries {highest} Hz at most" in verdict.message
    assert check_buses(config.changed({"rate": highest})).passed
    assert not check_buses(config.changed({"rate": highest + 1})).passed


def test_the_commands_say_it_and_refuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "virtual-servo"]) == 0
    assert (
        "line line-a: drive 1, drive 2, drive 3, 174 bytes, 2.11 of 3 ms for replies (70 %)" in capsys.readouterr().out
    )
    path = tmp_path / "slow.toml"
    text = LINES.path.read_text(encoding="utf-8").replace("baud = 1000000", "baud = 115200")
    path.write_text(text, encoding="utf-8")
    assert main(["check", str(path), "--json"]) == ExitCode.REFUSED
    found = json.loads(capsys.readouterr().out)["buses"]
    assert not found["passed"] and found["highest_rate"] == pytest.approx(0.6 / found["lines"][0]["time"])
    assert main(["run", str(path), "demo", "-o", str(tmp_path / "out"), "--lockstep"]) == ExitCode.REFUSED
    assert "it carries 35 Hz at most" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_engine_does_not_engage_on_a_line_that_does_not_carry_its_rate(tmp_path: Path) -> None:
    with bench(tmp_path, at(250_000)) as rig:
        rig.park()
        assert "it carries" in refused(rig, Engage())
