"""Commissioning asks and moves every drive there is: of each shipped rig, and by each profile that is shown."""

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
from rig.client import Interruption, LockstepRig, on_free_ports
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
    if not profile.plain:  # several messages a cycle take a faster line
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
    assert found.passed, [leg.describe() for leg in found.legs] + list(found.findings)
    assert all(leg.answered and np.isfinite(leg.position) for leg in found.legs)
    drivers = [config.drives.driver_of(leg) for leg in range(6)]
    with LockstepRig(config, tmp_path / "leg.mcap", Interruption()) as rig:
        for driver in dict.fromkeys(drivers):
            move = LegMove(1 + drivers.index(driver), 2e-3, speed=10e-3, home=True)
            result = move_leg(rig, move, lambda _test: None)
            assert result.passed, result.faults


def test_the_guides_cylinder_is_set_up_as_the_guide_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`rig setup new --ask` and `rig setup probe`, as they are typed."""
    profile, path = profile_file(tmp_path, "cylinder"), tmp_path / "my-rig.toml"
    drives = [part for leg in range(1, 7) for part in ("--drive", f"/dev/{tmp_path.name}-{leg}@115200-8E1")]
    arguments = ["--profile", str(profile), "--rate", "50", "--virtual", "--ask", *drives]
    assert main(["setup", "new", str(path), *arguments]) == ExitCode.OK, capsys.readouterr().err
    assert main(["setup", "probe", str(path)]) == ExitCode.OK, capsys.readouterr().out
    assert capsys.readouterr().out.count("ok   leg") == 6
