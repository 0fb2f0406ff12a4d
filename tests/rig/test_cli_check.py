"""`rig check` on good and bad files."""

import json
from pathlib import Path

import numpy as np
import pytest

from dynamics import format_mechanism
from kinematics import load_trajectory
from rig.cli import main
from rig.config.rig_config import load_config
from rig.csvio import POSE, write_table
from rig.errors import ExitCode
from rig.services import rig_probes

RIG = load_config()


pytestmark = pytest.mark.usefixtures("here")


def test_the_shipped_rig_and_trajectory_are_valid(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"]) == 0
    assert "valid" in capsys.readouterr().out
    assert main(["check", "virtual", "demo"]) == 0
    text = capsys.readouterr().out
    assert "greatest length of leg" in text
    assert "FAIL" not in text
    assert text.rstrip().endswith("passes")


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        ('mechanism = "nowhere.toml"', "nowhere"),
        ('mechanism = "broken.toml"', "platform.mass"),
        ("payload = { mass = 5.0, center_of_mass = [0.0, 0.0, 0.1] }", ""),
    ],
)
def test_a_virtual_plant_that_cannot_be_is_said_before_the_start(
    here: Path, capsys: pytest.CaptureFixture[str], plant: str, said: str
) -> None:
    (here / "broken.toml").write_text(format_mechanism(RIG.machine).replace("mass = 18.0", "mass = -18.0", 1))
    text = RIG.path.read_text(encoding="utf-8").replace("[virtual.plant]", f"[virtual.plant]\n{plant}", 1)
    (here / "rig.toml").write_text(text, encoding="utf-8")
    assert main(["check", "rig.toml"]) == (ExitCode.INPUT if said else ExitCode.OK)
    told = capsys.readouterr().err
    assert not said or ("virtual.plant.mechanism: " in told and said in told)


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "virtual", "demo", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["verdict"]["passed"] is True
    assert result["verdict"]["scale"] == 1.0
    assert {"name", "value", "bound", "leg", "time", "passed"} <= set(result["verdict"]["checks"][0])


@pytest.mark.parametrize("command", ["check", "doctor"])
def test_json_of_a_configuration_that_cannot_be_used(
    here: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    text = RIG.path.read_text(encoding="utf-8").replace('rate = "500 Hz"', 'rate = "5000 Hz"', 1)
    (here / "rig.toml").write_text(text, encoding="utf-8")
    assert main([command, "rig.toml", "--json"]) == ExitCode.INPUT
    told = json.loads(capsys.readouterr().out)
    entries = told["findings"] if command == "doctor" else [told]
    ((fault,),) = [entry["faults"] for entry in entries if "faults" in entry]
    assert {name: fault[name] for name in ("key", "code", "value", "bound", "unit", "leg")} == {
        "key": ["rate"],
        "code": "out_of_range",
        "value": 5000.0,
        "bound": 2000.0,
        "unit": "Hz",
        "leg": 0,
    }
    assert fault["text"] == "rate: 5000 Hz, must be 5 to 2000 Hz"


def test_a_stroke_violated_at_3_2_seconds(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # A CSV of poses: up for 6.4 s and down again, so that the legs are longest at 3.2 s.
    times = np.linspace(0.0, 6.4, 129)
    poses = np.tile([0.0, 0.0, 0.45, 1.0, 0.0, 0.0, 0.0], (129, 1))
    poses[:, 2] += 0.2 * 0.5 * (1.0 - np.cos(2.0 * np.pi * times / 6.4))
    write_table(here / "up.csv", ("t", *POSE), np.column_stack([times, poses]))
    assert main(["check", "virtual", "up.csv"]) == ExitCode.REFUSED
    printed = capsys.readouterr()
    assert "FAIL greatest length of leg" in printed.out
    assert "at 3.2 s" in printed.err
    assert "must be at most 620 mm" in printed.err
    assert "0.676 about its start pose" in printed.err
    assert "Traceback" not in printed.err
    assert main(["check", "virtual", "up.csv", "--json"]) == ExitCode.REFUSED
    printed = capsys.readouterr()
    assert printed.err == ""
    verdict = json.loads(printed.out)["verdict"]
    assert verdict["passed"] is False
    assert 0.0 < verdict["scale"] < 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.toml"], "no such configuration: gone.toml"),
        (["virtual", "gone.toml"], "gone.toml"),
        (["virtual", "gone.csv"], "gone.csv"),
        (["virtual", "gone"], "demo"),
    ],
)
def test_no_such_file(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *arguments]) == ExitCode.INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("error:") == 1


def test_an_unknown_key_and_a_nan_mass_are_told_together(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mine.toml").write_text(RIG.machine.source.replace("mass = 18.0", "mass = nan"))
    text = RIG.path.read_text().replace('mechanism = "lab-hexapod"', 'mechanism = "mine.toml"\nfoo = 1')
    (here / "rig.toml").write_text(text)
    assert main(["check", "rig.toml"]) == ExitCode.INPUT
    printed = capsys.readouterr().err
    assert "foo: unknown key" in printed
    assert "platform.mass: nan is not finite" in printed


def test_the_demo_is_found_by_name_from_anywhere() -> None:
    assert load_trajectory("demo", RIG.machine.geometry.home).duration == 20.0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('driver = "servo"', 'driver = "steam"', "steam"),
        ('profile = "generic-servo"', 'profile = "gone"', "gone"),
        ('source = "drive"', 'source = "drive"\ncalibration = "cells.toml"', "rig.toml cannot be used"),
        ("\n[virtual]\n", '\n[[virtual.faults]]\nfault = "gremlin"\n[virtual]\n', "gremlin"),
    ],
)
def test_devices_and_faults_that_nobody_knows(
    here: Path, old: str, new: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "cells.toml").write_text("nothing = 1")
    (here / "rig.toml").write_text(RIG.path.read_text().replace(old, new, 1))
    assert main(["check", "rig.toml"]) == ExitCode.INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err


@pytest.mark.parametrize(("legs", "said"), [((), "no drive has"), ((2, 5), "the drive of leg 2, 5 has not")])
def test_drives_without_a_serial_number_are_warned_of(
    here: Path, capsys: pytest.CaptureFixture[str], legs: tuple[int, ...], said: str
) -> None:
    text = RIG.path.read_text(encoding="utf-8")
    for leg in legs or range(1, 7):
        text = text.replace(f', serial = "VIRTUAL-{leg}"', "")
    (here / "rig.toml").write_text(text, encoding="utf-8")
    assert main(["check", "rig.toml"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"warning: {said} a serial number in drives.legs: exchanged cables are not noticed" in shown
    assert main(["check", "rig.toml", "--json"]) == 0
    assert [one for one in json.loads(capsys.readouterr().out)["warnings"] if one.startswith(said)]
    assert main(["check"]) == 0
    assert "serial number" not in capsys.readouterr().out
    finding = rig_probes.serials(load_config("rig.toml"))
    assert finding.status == "warn" and finding.detail.startswith(said)
    assert rig_probes.serials(RIG).status == "ok"
