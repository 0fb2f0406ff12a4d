"""A rig whose drives say and take little: positions only, no echo, no speed, no force, no watchdog."""

import re
from pathlib import Path

import numpy as np
import pytest
import tomlkit
from engine_support import CONFIG, bench, smooth_table
from servo_profiles import BARE

from rig.cli import main
from rig.states import State


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "bare.toml"
    path.write_text(tomlkit.dumps(BARE.model_dump(exclude_none=True)), encoding="utf-8")
    return path


def test_it_is_operated_compared_and_said_to_have_no_watchdog(profile: Path, tmp_path: Path) -> None:
    amplifier = {"source": "amplifier", "amplifier": {"host": "127.0.0.1", "port": 15030}}
    legs = [leg.model_dump() | {"serial": None} for leg in CONFIG.drives.legs]
    config = CONFIG.changed(
        {"mode": "position", "load_cells": amplifier, "drives": {"profile": str(profile), "legs": legs}}
    )
    with bench(tmp_path, config) as rig:
        rig.engage()
        rig.follow(smooth_table(1.0))
        rig.run(1.2)
        assert rig.state is State.ENGAGED and rig.engine.machine.cause is None
        rows = rig.tap.take()
        assert any("no watchdog" in text for text in rig.tap.texts())
    running = rows[rows["state"] == State.RUNNING]
    assert np.abs(running["length"] - running["length_reference"]).max() < 1e-3
    assert np.abs(running["velocity"] - running["velocity_reference"]).max() < 0.02
    assert np.sqrt(np.mean(running["force_residual"] ** 2)) < 3.0


def test_the_check_says_it_as_well(profile: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = CONFIG.path.read_text(encoding="utf-8").replace('"generic-servo"', f'"{profile}"')
    text = re.sub(r', serial = "[^"]*"', "", text.replace('mode = "force"', 'mode = "position"'))
    cells = 'source = "amplifier"\namplifier = { host = "127.0.0.1", port = 15030 }\n#'
    text = text.replace('source = "drive"', cells)
    path = tmp_path / "rig.toml"
    path.write_text(text, encoding="utf-8")
    code = main(["check", str(path)])
    assert code == 0, capsys.readouterr().err
    assert "warning: legs 1, 2, 3, 4, 5, 6: no watchdog" in capsys.readouterr().out
