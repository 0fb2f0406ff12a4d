"""Recordings of the virtual rig to calibrate from, each made once by the commands that a person would give."""

from itertools import pairwise
from pathlib import Path

import pytest
import tomlkit
from configured import slower_file

from rig.cli import main
from rig.errors import ExitCode

PAYLOAD = (3.0, [0.02, -0.03, 0.08])
"""kg, and its centre of mass, m"""


def recorded_run(folder: Path, trajectory: Path, config: str) -> Path:
    """The recording of a trajectory that a configuration's virtual rig follows in lockstep."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rig.report.html.figures", lambda *_: {})  # nobody looks at the report
        assert main(["run", config, str(trajectory), "--lockstep", "-o", str(folder)]) == ExitCode.OK
    (found,) = folder.glob(f"{trajectory.stem}*.mcap")
    return found


@pytest.fixture(scope="session")
def rested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of the rig at rest in planned poses."""
    folder = tmp_path_factory.mktemp("rested")
    config, poses = slower_file(folder / "rig.toml"), folder / "poses.toml"
    plan = ["calibrate", "cells-in-place", "--plan", "12", "--hold", "0.5", "--config", config, "-o", str(poses)]
    assert main(plan) == ExitCode.OK
    return recorded_run(folder, poses, config)


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of the rig with `PAYLOAD` on its platform at rest, level and tilted."""
    folder = tmp_path_factory.mktemp("loaded")
    config, motion = Path(slower_file(folder / "rig.toml")), folder / "tilts.toml"
    mass, center = PAYLOAD
    text = config.read_text().replace("\noff = []", '\noff = ["tare_shift"]', 1)
    config.write_text(f"{text}\n[virtual.plant.payload]\nmass = {mass}\ncenter_of_mass = {center}\n")
    tilts = [[0.0] * 6, [0.0, 0.0, 0.0, 0.17, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.17, 0.0], [0.0] * 6]
    parts = [
        part
        for start, end in pairwise(tilts)
        for part in (
            {"type": "minimum-jerk", "start": start, "end": end, "duration": 0.8},
            {"type": "hold", "position": end, "duration": 0.6},
        )
    ]
    motion.write_text(tomlkit.dumps({"frame": "home", "parts": parts}))
    return recorded_run(folder, motion, str(config))


@pytest.fixture(scope="session")
def excited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of the rig whose height is excited."""
    folder = tmp_path_factory.mktemp("excited")
    config, motion = slower_file(folder / "rig.toml"), folder / "sines.toml"
    sines = ["multisine", config, "--from", "1", "--to", "20", "--amplitude", "0.004", "--period", "1"]
    assert main([*sines, "--realizations", "2", "-o", str(motion)]) == ExitCode.OK
    return recorded_run(folder, motion, config)
