"""The whole rig on serial lines: real processes and pseudo-terminals, three drives on each of two lines."""

from pathlib import Path

import numpy as np
from live_bench import SPEED
from lockstep_bench import MOTION, causes

from kinematics import TrajectorySpec, build_trajectory
from rig.client import Interruption, LiveRig, LockstepRig, on_free_ports, prepare_motion
from rig.client.lifecycle import run_motion
from rig.config import RigConfig, load_config
from rig.recording import open_recording
from rig.states import State

NOISE = 0.01  # N, so little that the model's own errors stand out


def run(config: RigConfig, rig: LockstepRig | LiveRig, path: Path) -> tuple[float, float, float]:
    """RMS of the residuals and of what holding makes, N, and a leg's largest error, m, in a motion to its end."""
    trajectory = build_trajectory(TrajectorySpec.model_validate(MOTION), config.machine.geometry.home_pose)
    table = prepare_motion(config, trajectory, 1.0, 1)
    with rig:
        run_motion(rig, table, "motion", lambda _progress: None)
    recording = open_recording(path)
    assert recording.complete and recording.dropped == 0 and causes(recording) == []
    rows = recording.rows[recording.rows["state"] == State.RUNNING]
    assert len(rows) > 3.0 * config.rate and not rows["stale"].any()
    error = np.abs(rows["length_reference"] - rows["length"]).max()
    held = float(np.sqrt(np.mean(rows["force_held"] ** 2)))
    return float(np.sqrt(np.mean(rows["force_residual"] ** 2))), held, float(error)


def test_it_follows_as_well_as_where_bytes_take_no_time(tmp_path: Path) -> None:
    """On lines of 1 Mbaud the third drive has its turn 2 ms after the first, of a period of 5 ms."""
    quiet = {"load_cells": {"noise": NOISE}, "virtual": {"speed": 2 * SPEED, "cells": {"noise": NOISE}}}
    config = on_free_ports(load_config("virtual-servo").changed(quiet))
    timeless, lines = tmp_path / "timeless.mcap", tmp_path / "lines.mcap"
    residual, held, error = run(config, LockstepRig(config, timeless, Interruption()), timeless)
    on_lines, held_on_lines, error_on_lines = run(config, LiveRig(config, lines, "lines", Interruption()), lines)
    assert min(held, held_on_lines) > 20 * NOISE  # what comes of holding forces for a period, each leg in its own turn
    assert (
        residual < 1.3 * NOISE and on_lines < 10 * NOISE
    )  # a fifth of a usual cell's noise: what turns do to the legs
    assert error_on_lines < 1.5 * error
