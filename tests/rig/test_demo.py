"""The demo's motion fits the machine that runs it: what its legs would be off their reference decides its size."""

from pathlib import Path

import numpy as np
import pytest

from rig.client import (
    Interruption,
    LockstepRig,
    as_built,
    execute,
    expecting,
    fitted_demo,
    prepare_motion,
    with_demo_thresholds,
)
from rig.client.lifecycle import run_motion
from rig.config import RigConfig, load_config
from rig.errors import RefusedError
from rig.recording import open_recording
from rig.states import State


def of_demo(drives: str, built: int | None) -> RigConfig:
    config = load_config(drives)
    return config if built is None else as_built(config, built)


@pytest.mark.parametrize(
    "drives", ["virtual", "virtual-servo", "virtual-orca", "virtual-iai", "virtual-canopen", "virtual-mixed"]
)
def test_the_demo_is_whole_where_the_machine_follows_it(drives: str) -> None:
    """The drawing's machine always does; one as built where the loop is stiff, or the drives' own."""
    assert fitted_demo(of_demo(drives, None), 4.0)[1] == 1.0
    if drives in ("virtual", "virtual-orca", "virtual-iai", "virtual-canopen"):
        assert all(fitted_demo(of_demo(drives, built), 20.0)[1] == 1.0 for built in (1, 2, 3))


@pytest.mark.usefixtures("undrawn_reports")
def test_a_machine_as_built_is_within_what_its_demo_is_judged_by(tmp_path: Path) -> None:
    config = with_demo_thresholds(of_demo("virtual-mixed", 1), timing=False)  # whose softest legs are 6 mm off at most
    trajectory, size = fitted_demo(config, 4.0)
    result = execute(expecting(config, trajectory), trajectory, "demo", tmp_path, lockstep=True, report=lambda _: None)
    assert result.error is None and size < 1.0
    assert result.summary["validation"]["verdict"] == "expected"


def test_the_demo_is_as_large_as_the_machine_follows(tmp_path: Path) -> None:
    config = of_demo("virtual-servo", 2)
    trajectory, size = fitted_demo(config, 4.0)
    assert 0.1 <= size < 0.6
    with LockstepRig(config, tmp_path / "demo.mcap", Interruption()) as rig:
        run_motion(rig, prepare_motion(config, trajectory), "demo", lambda _progress: None)
    rows = open_recording(tmp_path / "demo.mcap").rows
    running = rows[rows["state"] == State.RUNNING]
    following = np.abs(running["length"] - running["length_reference"]).max()
    assert 0.6 * config.safety.following_error < following < config.safety.following_error


def test_a_machine_that_hangs_too_far_off_is_told_so() -> None:
    soft = of_demo("virtual-servo", 2).changed({"control": {"stiffness": 2e3, "damping": 180.0}})
    with pytest.raises(RefusedError, match=r"hangs more than 1.6 mm off its reference"):
        fitted_demo(soft, 4.0)
