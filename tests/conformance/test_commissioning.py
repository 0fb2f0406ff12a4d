"""Commissioning asks and moves every drive there is: of each shipped rig, and by each profile that is shown."""

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomlkit
from drive_support import serving_at
from servo_profiles import BARE, COILS, GUIDE, PROFILE, SEPARATE, SINGLE, SWAPPED, UGLY, UGLY_GUIDE
from servo_profiles import SHIPPED as BOUGHT

from actuators import find_driver
from rig.cli import main
from rig.client import Interruption, LockstepRig, free_ports, on_free_ports
from rig.commissioning import move_leg, probe_rig
from rig.config import RigConfig, load_config
from rig.engine import LegMove
from rig.errors import ExitCode
from rig.virtual import VirtualRig

ROOT = Path(__file__).parents[2]
SHIPPED = (
    "virtual",
    "virtual-servo",
    "virtual-orca",
    "virtual-iai",
    "virtual-jrk-g2",
    "virtual-canopen",
    "virtual-mixed",
    "virtual-io",
)
PROFILES = {
    "generic-servo": PROFILE,
    "cylinder": GUIDE,
    "function after function": SEPARATE,
    "word after word": SINGLE,
    "bytes in every order": SWAPPED,
    "positions only": BARE,
    "press": UGLY_GUIDE,
    "everything ugly": UGLY,
    "coils": COILS,
    **BOUGHT,
}
"""Those that come along and those of the guides by their names, and what else a profile may say or leave out."""
NEAR = {"virtual": {"drive": {"start_spread": 1e-3}}}


def profile_file(folder: Path, name: str) -> Path:
    path = folder / f"{name.replace(' ', '-')}.toml"
    path.write_text(tomlkit.dumps(PROFILES[name].model_dump(exclude_none=True)), encoding="utf-8")
    return path


def rig_of(name: str, folder: Path) -> RigConfig:
    """A virtual rig of drives with a profile, each on a line of its own, or a shipped one."""
    if name in SHIPPED:
        return on_free_ports(load_config(name).changed(NEAR))
    profile = PROFILES[name]
    legs = [{"device": f"{name}-{leg}", "baud": 115_200, "parity": "even"} for leg in range(1, 7)]
    drives: dict[str, Any] = {"profile": str(profile_file(folder, name)), "legs": legs}
    if not profile.plain or profile.functions.write == 6:  # several messages a cycle take a faster line
        drives["turnaround"] = 1e-4
        for leg in legs:
            leg["baud"] = 1_000_000
    changes: dict[str, Any] = {"rate": 100.0, "drives": drives}
    if profile.feedback.force is None:
        changes |= {
            "mode": "position",
            "load_cells": {"source": "amplifier", "amplifier": {"host": "127.0.0.1", "port": 15030}},
        }
    return on_free_ports(load_config("virtual-servo").changed(changes | NEAR))


def patient(config: RigConfig) -> RigConfig:
    """Lines that bear a busy machine: their twins answer from a thread of the test, in real time."""
    legs = [leg.model_dump(exclude_unset=True) for leg in config.drives.legs]
    for leg in legs:
        if leg.get("settings") is not None:
            leg["settings"] |= {"reply_timeout": 0.3}
    waits = "reply_timeout" in find_driver(config.drives.driver).settings.model_fields
    on_lines = waits and any(leg.get("device") for leg in legs)
    return config.changed({"drives": {"legs": legs} | ({"reply_timeout": 0.3} if on_lines else {})})


def test_every_profile_that_comes_along_or_is_shown_is_enrolled() -> None:
    assert set(SHIPPED) == {path.stem for path in (ROOT / "rig/config/shipped").glob("*.toml")}
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "actuators/profiles").glob("*.toml")]
    for page in (ROOT / "docs").rglob("*.md"):
        texts += re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    of_drives = [text for text in texts if re.search(r"^\s*\[feedback\]", text, re.MULTILINE)]
    names = [match[1] for text in of_drives if (match := re.search(r'^\s*name = "([^"]+)"', text, re.MULTILINE))]
    assert len(names) == len(of_drives) >= 2 and set(names) <= set(PROFILES)


@pytest.mark.parametrize("name", [*SHIPPED, *PROFILES])
def test_the_drives_answer_and_a_leg_of_each_kind_passes(name: str, tmp_path: Path) -> None:
    config = rig_of(name, tmp_path)
    with serving_at(VirtualRig(config).endpoints, tick=2e-4):
        found = probe_rig(patient(config))
    assert found.passed, found.faults
    assert all(leg.answered and np.isfinite(leg.position) for leg in found.legs)
    drivers = [config.drives.driver_of(leg) for leg in range(6)]
    with LockstepRig(config, tmp_path / "leg.mcap", Interruption()) as rig:
        for driver in dict.fromkeys(drivers):
            move = LegMove(1 + drivers.index(driver), 2e-3, speed=10e-3, home=True)
            result = move_leg(rig, move, lambda _test: None)
            assert result.passed, result.faults


MOTION = """frame = "home"
[[parts]]
type = "minimum-jerk"
start = [0, 0, 0, 0, 0, 0]
end = [0, 0, "5 mm", 0, 0, "1 deg"]
duration = "0.5 s"
"""


def commands(name: str, folder: Path) -> list[str]:
    """What a new user gives `rig setup new` for drives on ports of their own, or on two lines."""
    amplifier = ["--mode", "position", "--rate", "100", "--amplifier", f"127.0.0.1:{free_ports(1)[0]}"]

    def ports(frame: str) -> list[str]:
        return [part for leg in range(1, 7) for part in ("--drive", f"/dev/{folder.name}-{leg}@{frame}")]

    match name:
        case "generic-servo":
            places = [f"127.0.0.1:{port}" for port in free_ports(6)]
            return ["--rate", "200", *(part for place in places for part in ("--drive", place))]
        case "servo on lines":
            units = [f"/dev/{folder.name}-{line}@1000000-8E1:{unit}" for line in "ab" for unit in (1, 2, 3)]
            line = ["--rate", "100", "--set", "turnaround=1e-4", "--set", "reply_timeout=0.3"]
            return [*line, *(part for unit in units for part in ("--drive", unit))]
        case "cylinder":
            profile = ["--profile", str(profile_file(folder, name)), "--rate", "50", "--mode", "position"]
            return [*profile, "--watchdog", "0.2", *ports("115200-8E1")]
        case "press" | "lexium-32" | "oriental-az" | "delta-asda-a2":
            profile = ["--profile", name if name in BOUGHT else str(profile_file(folder, name))]
            return [*amplifier, *profile, "--watchdog", "0.2", "--set", "turnaround=1e-4", *ports("1000000-8E1")]
        case "canopen":
            nodes = [part for leg in range(1, 7) for part in ("--drive", f"can://socketcan/can0:{leg}")]
            own = ["--set", "resolution=1e-7", "--set", "rated_force=1000", "--set", "sync_period=1e-2"]
            return ["--driver", "canopen", *amplifier, *own, *nodes]
        case "orca":
            cells = ["--rate", "200", "--amplifier", amplifier[-1]]
            return ["--driver", "orca", *cells, "--set", "turnaround=8e-5", *ports("1000000-8E1")]
        case "iai":
            return ["--driver", "iai", *amplifier, "--set", "turnaround=5e-4", *ports("230400")]
        case _:
            own = ["--set", "stroke=0.26", "--set", "home=2048", "--set", "lead=0.035", "--offset", "364.18 mm"]
            return ["--driver", "jrk-g2", *amplifier, *own, *ports("115200")]


def test_bounds_that_a_driver_states_are_those_of_its_rig_unless_it_names_them(tmp_path: Path) -> None:
    text = load_config("virtual-jrk-g2").path.read_text(encoding="utf-8")
    path = tmp_path / "jrk.toml"
    for bounds, expected in (
        ("", (6.5, 30.0, 1e-3)),
        ("supply_min = 20.0\nhoming_tolerance = 2e-4\n", (20.0, 60.0, 2e-4)),
    ):
        path.write_text(re.sub(r"(?s)\[safety\]\n.*?\n\n", f"[safety]\n{bounds}\n", text, count=1), encoding="utf-8")
        safety = load_config(path).safety
        assert (safety.supply_min, safety.supply_max, safety.homing_tolerance) == expected


@pytest.mark.usefixtures("undrawn_reports")
@pytest.mark.parametrize(
    "name", ["generic-servo", "servo on lines", "cylinder", "press", *BOUGHT, "orca", "iai", "jrk-g2", "canopen"]
)
def test_from_the_addresses_to_a_run_by_the_commands_alone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`rig setup new --ask`, `probe`, `rig check`, `rig drive` and `rig run`, as they are typed, on a rehearsal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("by 1mm\nby -1mm\n"))
    (tmp_path / "motion.toml").write_text(MOTION)
    for typed in (
        ["setup", "new", "rig.toml", "--virtual", "--ask", *commands(name, tmp_path)],
        ["setup", "probe", "rig.toml"],
        ["check", "rig.toml", "motion.toml"],
        ["drive", "rig.toml", "2", "--home", "--lockstep"],
        ["run", "rig.toml", "motion.toml", "--lockstep"],
    ):
        assert main(typed) == ExitCode.OK, (typed[:2], capsys.readouterr())
        said = capsys.readouterr()
        if typed[:2] == ["setup", "new"]:
            fitted = name in ("generic-servo", "servo on lines", "orca")
            assert ("are too high at" in said.err) is fitted
        elif typed[:2] == ["setup", "probe"]:
            assert said.out.count("ok   leg") == 6
