"""Where the platform rests without torque: parked at home, or on its brakes where it was stopped."""

from pathlib import Path

import numpy as np
from lockstep_bench import Bench

from rig.engine.messages import Engage, Park, Stop
from rig.states import State


def test_a_platform_stopped_in_mid_air_is_known_to_be_away_from_home(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        assert np.isnan(bench.rig.status().from_home)  # not connected
        bench.park()
        assert bench.rig.status().from_home < 2e-4 and not bench.rig.status().away
        bench.rig.request(Engage())
        bench.until_state(State.ENGAGED)
        bench.rig.request(Stop(1))
        bench.until_state(State.PARKED)
        assert not bench.rig.status().away
    (tmp_path / "later").mkdir()
    with Bench(tmp_path / "later") as bench:
        bench.run(1.3)
        bench.rig.request(Stop(1))
        bench.until_state(State.PARKED)
        status, pose = bench.rig.status(), bench.virtual.plant.state[:7]
        geometry = bench.config.machine.geometry
        true = np.linalg.norm(geometry.platform_joints(pose) - geometry.platform_joints(geometry.home_pose), axis=1)
        assert status.away and abs(status.from_home - true.max()) < 1e-4
        bench.until(lambda: bench.engine.settled_for() > 0.25)
        bench.rig.request(Engage())
        bench.until_state(State.ENGAGED)
        bench.rig.request(Park())
        bench.until_state(State.PARKED)
        assert not bench.rig.status().away
