"""How far the platform is free: no further than a move passes its check, and no less by more than it is told to."""

import pytest

from kinematics import Array, leg_lengths
from rig.client import checked_move, free_range, jogged, search_limit, step_refusal
from rig.config.rig_config import RigConfig, load_config
from rig.errors import RefusedError
from rig.findings import Code

_SPEED, _TURN = 0.2, 0.5
_ORIGIN = (0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def config() -> RigConfig:
    """The shipped rig."""
    return load_config("virtual")


def _stepped(config: RigConfig, here: Array, axis: str, step: float) -> Array:
    return jogged(config, here, axis, step, "base", _ORIGIN)


@pytest.mark.parametrize(("axis", "sign"), [("z", 1), ("z", -1), ("x", 1), ("ry", -1)])
def test_what_is_free_passes_and_a_little_more_does_not(config: RigConfig, axis: str, sign: int) -> None:
    here = jogged(config, config.machine.geometry.home_pose, "z", 0.02, "base", _ORIGIN)
    most = search_limit(config, turning=axis == "ry")
    found = free_range(config, here, lambda far: _stepped(config, here, axis, sign * far), most, _SPEED, _TURN)
    assert 0.0 < found.free < most
    checked_move(config, here, _stepped(config, here, axis, sign * found.free), _SPEED, _TURN)
    with pytest.raises(RefusedError):
        checked_move(config, here, _stepped(config, here, axis, sign * (found.free + most / 2000)), _SPEED, _TURN)
    assert found.limit is not None and found.limit.code in (Code.MOTION_ABOVE, Code.MOTION_BELOW)


def test_a_stroke_bounds_the_way_up(config: RigConfig) -> None:
    home, most = config.machine.geometry.home_pose, search_limit(config, turning=False)
    limits = config.machine.legs[0].limits
    assert limits is not None and limits.length is not None

    def longest(far: float) -> float:
        return float(leg_lengths(config.machine.geometry, _stepped(config, home, "z", far)).max())

    found = free_range(config, home, lambda far: _stepped(config, home, "z", far), most, _SPEED, _TURN)
    assert longest(found.free) <= limits.length[1] < longest(found.free + most / 2000)
    assert found.limit is not None and found.limit.details["quantity"] == "greatest length"


def test_a_way_that_nothing_ends_is_free_as_far_as_is_looked(config: RigConfig) -> None:
    home = config.machine.geometry.home_pose
    found = free_range(config, home, lambda far: _stepped(config, home, "z", far), 0.01, _SPEED, _TURN)
    assert (found.free, found.limit) == (0.01, None)


def test_poses_that_can_be_held_are_not_enough_where_the_way_to_them_is_too_fast(config: RigConfig) -> None:
    home = config.machine.geometry.home_pose
    found = free_range(config, home, lambda far: _stepped(config, home, "z", far), 0.1, 5.0, _TURN)
    assert found.free < 0.1 and found.limit is not None
    assert found.limit.details["quantity"] in ("speed", "acceleration", "force")
    if found.free:
        checked_move(config, home, _stepped(config, home, "z", found.free), 5.0, _TURN)


def test_a_step_is_refused_for_what_a_move_is(config: RigConfig) -> None:
    home = config.machine.geometry.home_pose
    assert step_refusal(config, home, lambda: _stepped(config, home, "leg2", 0.002), _SPEED, _TURN) is None
    reason = step_refusal(config, home, lambda: _stepped(config, home, "leg2", 0.2), _SPEED, _TURN)
    assert reason is not None  # no such pose, or a stroke
    reason = step_refusal(config, home, lambda: _stepped(config, home, "z", 0.2), _SPEED, _TURN)
    assert reason is not None and reason.details["quantity"] == "greatest length" and reason.bound == 0.62
