"""Speed of the lockstep rig beside the clock on the wall: `make bench`."""

import time
from pathlib import Path

import pytest

from rig.client.interruption import Interruption
from rig.client.lifecycle import run_motion
from rig.client.lockstep import LockstepRig
from rig.client.motions import prepare_motion
from rig.client.runs import demo_trajectory
from rig.config.rig_config import load_config


@pytest.mark.parametrize("recorded", [True, False])
def test_speed_of_the_lockstep_rig(recorded: bool, tmp_path: Path) -> None:
    config = load_config("virtual")
    table = prepare_motion(config, demo_trajectory(config.machine.geometry.home_pose, 57.0))
    with LockstepRig(config, tmp_path / "run.mcap" if recorded else None, Interruption()) as rig:
        for _ in range(100):  # kernels loaded, memory touched
            rig.step()
        start, cpu, begun = time.perf_counter(), time.process_time(), rig.engine.tick.t
        run_motion(rig, table, "demo", lambda _progress: None)
        elapsed, busy, covered = time.perf_counter() - start, time.process_time() - cpu, rig.engine.tick.t - begun
    print(f"\nlockstep rig, {config.rate:g} Hz, {'with' if recorded else 'without'} a recording")
    print(
        f"  {covered:.1f} s of rig time in {elapsed:.2f} s ({busy:.2f} s busy): ratio {covered / busy:.1f} on one core"
    )
    assert covered > 59.0
    assert covered / busy > (25.0 if recorded else 27.0)
