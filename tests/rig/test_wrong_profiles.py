"""A profile that is not the drive's: wrong word order, scale or place, found by asking or by the test of one leg."""

import re
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from leg_stand import CONFIG, Stand

from actuators import ServoProfile, load_profile
from rig.client import lockstep
from rig.config import RigConfig
from rig.engine import LegMove
from rig.virtual import VirtualRig

pytestmark = pytest.mark.usefixtures("stand_folder")
PROFILE = load_profile("generic-servo", ServoProfile)


def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> Stand:
    """Drives as they are shipped, and an engine that takes them for others."""
    content = PROFILE.model_dump(exclude_none=True)
    for table, entries in changes.items():
        if not isinstance(entries, dict):
            content[table] = entries
            continue
        for name, entry in entries.items():
            content[table][name] = content[table][name] | entry
    path = tmp_path / "wrong.toml"
    path.write_text(tomlkit.dumps(content), encoding="utf-8")
    wrong: RigConfig = CONFIG.changed({"drives": {"profile": str(path)}})
    monkeypatch.setattr(lockstep, "VirtualRig", lambda _config, *rest, **named: VirtualRig(CONFIG, *rest, **named))
    return Stand(wrong)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"word_order": "little"}, "measured speed .*bound 1 m/s"),
        ({"word_order": "big-swapped"}, "leg 1: its encoder moved"),
        ({"feedback": {"position": {"scale": 1e-6}}}, "leg 3 reports a length of 4.9419 m"),
        ({"feedback": {"position": {"scale": 1e-8}}}, "leg 3 reports a length of 0.0494 m"),
        ({"command": {"position": {"scale": 1e-6}}}, "leg 3 moves at .*bound 160 mm/s"),
        ({"command": {"position": {"scale": 1e-8}}}, "leg 3 moves at .*bound 160 mm/s"),
        ({"feedback": {"position": {"address": 5}, "velocity": {"address": 3}}}, "measured speed .*bound 1 m/s"),
        ({"command": {"position": {"address": 103}, "force": {"address": 105}}}, "leg 3 moves at .*bound 160 mm/s"),
        ({"feedback": {"velocity": {"scale": 1e-4}}}, "leg 3 moves at .*bound 800 mm/s"),
    ],
    ids=str,
)
def test_the_test_of_one_leg_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], said: str
) -> None:
    made = stand(tmp_path, monkeypatch, **changes)
    result = made.run(LegMove(3, 2e-3, home=True))
    assert not result.passed and re.search(said, result.faults[0].text)
    assert abs(made.moved()) < 0.03  # its search, and what it went until it was stopped
