"""Speed of the closed loop offline beside real time and beside the plant that the lockstep rig has: `make bench`."""

import time

import pytest

from kinematics import tabulate
from rig.client.runs import demo_trajectory
from rig.config.rig_config import load_config
from rig.virtual import Plant, controllers, run_loop

ROUNDS = 5


@pytest.mark.parametrize("controller", [name for name in controllers() if name != "none"])
def test_closed_loop_beside_real_time(controller: str) -> None:
    config = load_config("virtual")
    assert config.rate == 500.0 and config.virtual is not None and config.virtual.step == 5e-4
    table = tabulate(demo_trajectory(config.machine.geometry.home_pose, 57.0), 1.0 / config.rate)
    plant = Plant(config.machine, config.virtual)
    run = run_loop(config, table, controller)
    plant.advance(0.1)
    best = peer = float("inf")
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        run = run_loop(config, table, controller)
        best = min(best, time.perf_counter() - begun)
        begun = time.perf_counter()
        plant.advance(plant.time + 5.0)
        peer = min(peer, (time.perf_counter() - begun) / 5.0)
    covered = float(run.times[-1])
    print(f"\nclosed loop offline, {controller}, 500 Hz, plant step 0.5 ms, one core")
    print(f"  {covered:.1f} s simulated in {best:.3f} s: ratio {covered / best:.0f}")
    print(f"  the lockstep rig's plant alone, Runge-Kutta of fourth order: ratio {1.0 / peer:.0f}")
    assert run.end == ""
    assert covered / best > 200.0
