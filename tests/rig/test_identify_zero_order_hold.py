"""Machines whose drives close their own loops: what these make of set-points within a period is no inertia."""

import numpy as np
import pytest
from built_loop import built, recorded
from configured import VIRTUAL
from exploration import either

from calibration import ExcitationSettings, design_excitation, identify
from dynamics import linear_parameters
from kinematics import tabulate
from rig.virtual import truth_of


@pytest.mark.parametrize("seed", [300, 303][: either(1, 2)])
def test_at_a_low_rate_the_truth_lies_within_what_is_said(seed: int) -> None:
    config = built(VIRTUAL, seed)
    motion = design_excitation(config.machine, ExcitationSettings(60.0, candidates=2, steps=0, seed=9))
    path = tabulate(motion.trajectory(config.machine.geometry.home_pose), config.period)
    result = identify(config.machine, [recorded(config, path, "position")])
    truth = linear_parameters(truth_of(config).mechanism)
    away = result.base.matrix @ (result.theta - truth) / result.base_sigma
    assert np.mean(np.abs(away) < 2.0) > 0.93 and np.sqrt(np.mean(away**2)) < 1.15
    assert result.identifiable.sum() > 30
    assert {each.leg for each in result.terms if each.code == "held_set_points"} == set(range(6))
