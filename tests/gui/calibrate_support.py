"""Recordings of the virtual rig to calibrate from, each made once by the commands that a person would give."""

from pathlib import Path

import pytest
from configured import slower_file

from rig.cli import main
from rig.errors import ExitCode


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
