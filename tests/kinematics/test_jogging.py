"""Steps of a pose near the present one."""

import math
from typing import Any

import numpy as np
import pytest
from hexapods import lab_hexapod

from kinematics import (
    KinematicsError,
    angles_to_quaternion,
    leg_lengths,
    leg_stepped_pose,
    quaternion_to_matrix,
    stepped_pose,
)

_TURNED = np.array([0.01, -0.02, 0.47, *angles_to_quaternion(np.array([0.1, -0.2, 0.3]))])


def test_a_step_in_base_axes_shifts_the_origin() -> None:
    pose = stepped_pose(_TURNED, np.array([0.005, 0, 0, 0, 0, 0]), "base", np.zeros(3))
    assert pose == pytest.approx(_TURNED + np.array([0.005, 0, 0, 0, 0, 0, 0]))


def test_a_step_in_platform_axes_goes_along_the_platform() -> None:
    pose = stepped_pose(_TURNED, np.array([0, 0, 0.01, 0, 0, 0]), "platform", np.zeros(3))
    axis = quaternion_to_matrix(_TURNED[3:])[:, 2]
    assert pose[:3] - _TURNED[:3] == pytest.approx(0.01 * axis)


@pytest.mark.parametrize("frame", ["base", "platform"])
def test_a_turn_leaves_the_pivot_where_it_is(frame: Any) -> None:
    pivot = np.array([0.05, -0.03, 0.1])
    pose = stepped_pose(_TURNED, np.array([0, 0, 0, 0, 0.04, 0]), frame, pivot)
    before, after = quaternion_to_matrix(_TURNED[3:]), quaternion_to_matrix(pose[3:])
    assert pose[:3] + after @ pivot == pytest.approx(_TURNED[:3] + before @ pivot)
    turn = after @ before.T if frame == "base" else before.T @ after
    assert turn[:, 1] == pytest.approx([0, 1, 0])
    assert turn[0, 0] == pytest.approx(math.cos(0.04))


def test_a_leg_step_changes_that_leg_alone() -> None:
    geometry = lab_hexapod()
    pose = leg_stepped_pose(geometry, geometry.home_pose, 4, 0.003)
    change = leg_lengths(geometry, pose) - leg_lengths(geometry, geometry.home_pose)
    assert change == pytest.approx([0, 0, 0, 0.003, 0, 0], abs=1e-12)


def test_what_is_no_step_is_refused_by_name() -> None:
    geometry = lab_hexapod()
    with pytest.raises(KinematicsError, match="step: ry is nan"):
        stepped_pose(_TURNED, [0, 0, 0, 0, math.nan, 0], "base", np.zeros(3))
    with pytest.raises(KinematicsError, match="pivot: z is inf"):
        stepped_pose(_TURNED, np.zeros(6), "base", [0, 0, math.inf])
    with pytest.raises(KinematicsError, match="leg: 0, must be 1 to 6"):
        leg_stepped_pose(geometry, geometry.home_pose, 0, 0.001)
    with pytest.raises(KinematicsError, match="step of leg 2: inf"):
        leg_stepped_pose(geometry, geometry.home_pose, 2, math.inf)
