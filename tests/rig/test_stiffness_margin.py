"""How far a platform of other masses hangs off its reference: foretold, and found in the closed loop."""

import numpy as np
import pytest
from configured import SHIPPED

from kinematics import TrajectorySpec, build_trajectory, leg_lengths, tabulate
from rig.cli import main
from rig.safety import judge_sag
from rig.virtual import run_loop, scaled_mechanism

GAINS = {"computed-torque": {"task_stiffness": 400.0, "task_damping": 40.0}, "force": {"stiffness": 2e4}}


@pytest.mark.parametrize("mode", ["force", "computed-torque"])
@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_a_leg_hangs_as_far_as_is_said(mode: str, factor: float) -> None:
    config = SHIPPED.changed({"mode": mode, "control": GAINS[mode]})
    said = judge_sag(config)
    geometry = config.machine.geometry
    rest = {"frame": "home", "parts": [{"type": "hold", "position": [0.0] * 6, "duration": 2.0}]}
    table = tabulate(build_trajectory(TrajectorySpec.model_validate(rest), geometry.home_pose), config.period)
    run = run_loop(config, table, mode, plant=scaled_mechanism(config.machine, factor))
    lengths, _ = run.encoders()
    error = np.abs(lengths[-1] - leg_lengths(geometry, geometry.home_pose)).max()
    assert said.sag is not None and error == pytest.approx(said.sag, rel=0.1)
    assert bool(said.message) == (mode == "computed-torque")


def test_what_holds_where_there_is_no_sag(capsys: pytest.CaptureFixture[str]) -> None:
    assert judge_sag(SHIPPED.changed({"mode": "observer"})).message == ""
    assert judge_sag(SHIPPED.changed({"mode": "position"})).sag is None
    paper = {"task_stiffness": 100.0, "task_damping": 20.0}
    soft = judge_sag(SHIPPED.changed({"mode": "computed-torque", "control": paper}))
    assert "control.task_bandwidth of 6.83 Hz" in soft.message and soft.sag == pytest.approx(0.0186, abs=0.002)
    for gains in ({"task_stiffness": soft.stiffness, "task_damping": 80.0}, {"task_bandwidth": soft.bandwidth}):
        enough = judge_sag(SHIPPED.changed({"mode": "computed-torque", "control": gains}))
        assert enough.message == "" and enough.sag == pytest.approx(0.5 * enough.bound)
    assert main(["check"]) == 0 and "hangs" not in capsys.readouterr().out
