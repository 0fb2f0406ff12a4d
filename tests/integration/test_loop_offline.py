"""The closed loop offline beside the lockstep rig: engine, wires and drives say the same as one kernel."""

from pathlib import Path

import numpy as np
import pytest
from lockstep_bench import Bench, motion_table, shipped_config

from kinematics import Array, pose_difference
from rig.engine.messages import Follow
from rig.virtual import drive_kernel as columns
from rig.virtual.closed_loop import LoopStart, run_loop

CYCLES = 1000


@pytest.mark.parametrize("mode", ["force", "computed-torque", "observer", "position"])
def test_the_platform_moves_as_on_the_lockstep_rig(tmp_path: Path, mode: str) -> None:
    with Bench(tmp_path, shipped_config(mode=mode)) as bench:
        bench.engage()
        table = motion_table(bench.config)
        bench.rig.request(Follow("bench", table.step), table.samples)
        bench.until(lambda: bench.engine.reference.path_time > 0.0)
        sent = np.array([[one.force, one.position, one.velocity] for one in bench.engine.commands]).T.copy()
        plant = bench.virtual.plant
        poses, commands = np.zeros((CYCLES, 7)), np.zeros((CYCLES, 6))
        start: LoopStart | None = None
        for cycle in range(CYCLES):
            bench.rig.step()
            if start is None:
                drives: Array = plant._drives
                start = LoopStart(
                    plant.state,
                    drives[:, columns.MOTOR].copy(),
                    sent,
                    bench.engine.reference.path_time,
                    drives[:, columns.INTEGRAL].copy(),
                )
            poses[cycle] = plant.state[:7]
            commands[cycle] = bench.engine.cycle_data.set_points.force
        assert start is not None
    run = run_loop(bench.config, table, mode, start=start)
    assert run.end == ""
    apart = pose_difference(run.states[:CYCLES, :7], poses)
    assert np.abs(poses - poses[0]).max() > 0.02
    assert np.linalg.norm(apart[:, :3], axis=1).max() < 2e-7
    assert np.linalg.norm(apart[:, 3:], axis=1).max() < 2e-6
    begun = 50 if mode == "observer" else 0  # whose estimate the rig has already
    assert np.abs(run.commands[begun:CYCLES] - commands[begun:]).max() < 0.02
