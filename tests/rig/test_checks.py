"""The check of a trajectory against the limits."""

import dataclasses
import json

import numpy as np
import pytest
from configured import limits

from dynamics import Friction, Mechanism
from kinematics import (
    MotionTable,
    TrajectoryError,
    leg_lengths,
    load_trajectory,
    parse_trajectory,
    pose_to_coordinates,
)
from rig.config.rig_config import load_config
from rig.safety.trajectory_check import TrajectoryVerdict, check_trajectory

RIG = load_config()
MACHINE = RIG.machine
HOME = MACHINE.geometry.home
assert HOME is not None


def _check(text: str, machine: Mechanism = MACHINE) -> TrajectoryVerdict:
    trajectory = parse_trajectory(f'frame = "home"\n[[parts]]\n{text}', HOME)
    return check_trajectory(machine, RIG.safety, trajectory, 100.0)


def _move(end: str, duration: float = 4.0) -> str:
    return f'type = "minimum-jerk"\nstart = [0, 0, 0, 0, 0, 0]\nend = {end}\nduration = {duration}'


def _failed(verdict: TrajectoryVerdict) -> set[str]:
    return {check.name for check in verdict.checks if not check.passed}


def test_the_demo_passes_with_room_to_spare() -> None:
    verdict = check_trajectory(MACHINE, RIG.safety, load_trajectory("demo", HOME), 100.0)
    assert verdict.passed
    assert verdict.scale == 1.0
    assert verdict.message == ""
    assert all(check.since is None for check in verdict.checks)
    assert {check.name for check in verdict.checks} >= {"greatest length", "speed", "acceleration", "force"}
    json.dumps(verdict.as_dict(), allow_nan=False)


def test_a_stroke_beyond_its_limit_is_named_with_leg_time_and_scale() -> None:
    verdict = _check(_move('[0, 0, "250 mm", 0, 0, 0]'))
    assert not verdict.passed
    assert "greatest length" in _failed(verdict)
    worst = next(check for check in verdict.checks if check.name == "greatest length")
    assert worst.bound == 0.62
    assert worst.time == pytest.approx(4.0)
    assert worst.leg in range(1, 7)
    # The platform rises straight: the leg passes its limit at a height that is known.
    trajectory = parse_trajectory('frame = "home"\n[[parts]]\n' + _move('[0, 0, "250 mm", 0, 0, 0]'), HOME)
    lengths = leg_lengths(MACHINE.geometry, trajectory.motion(np.arange(401) * 0.01)[:, :7])
    assert worst.value == pytest.approx(lengths.max(), abs=1e-9)
    assert worst.since == pytest.approx(np.flatnonzero((lengths > 0.62).any(axis=1))[0] * 0.01)
    assert f"leg {worst.leg}" in verdict.message
    assert f"scaled by {verdict.scale:.3f}" in verdict.message


def test_the_scale_is_the_largest_that_passes() -> None:
    verdict = _check(_move('[0, 0, "250 mm", 0, 0, 0]'))
    assert 0.0 < verdict.scale < 1.0
    assert _check(_move(f"[0, 0, {0.25 * verdict.scale}, 0, 0, 0]")).passed
    assert not _check(_move(f"[0, 0, {0.25 * (verdict.scale + 0.001)}, 0, 0, 0]")).passed


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (_move('[0, 0, "-150 mm", 0, 0, 0]'), "least length"),
        (_move('[0, 0, "100 mm", 0, 0, 0]', 0.15), "speed"),
        (_move('[0, 0, "50 mm", 0, 0, 0]', 0.14), "acceleration"),
        (_move('["10 mm", 0, 0, 0, 0, 0]', 0.05), "force"),
        (_move('[0, 0, 0, "50 deg", 0, 0]'), "angle of the spherical joint"),
        (_move('[0, 0, "60 mm", 0, 0, 0]', 0.2).replace("minimum-jerk", "blend") + "\nspeed = 0.3", "start or end"),
    ],
)
def test_each_limit_is_held(text: str, name: str) -> None:
    verdict = _check(text)
    assert any(name in failed for failed in _failed(verdict)), _failed(verdict)


def test_a_leg_that_inertia_takes_load_off_must_bear_it_standing_too() -> None:
    # Up and over and back in a second: where it turns round, the platform falls away from under leg 2.
    times = np.linspace(0.0, 1.0, 1001)[:, np.newaxis]
    way, pulse = np.array([0.0, 0.0, 0.05, -0.25, 0.0, 0.0]), 2.0 * np.pi
    cosine, sine = np.cos(pulse * times), np.sin(pulse * times)
    turned = np.hstack([way * (1.0 - cosine) / 2.0, way * pulse * sine / 2.0, way * pulse**2 * cosine / 2.0])
    turned[:, :6] += pose_to_coordinates(MACHINE.geometry.home_pose)

    def failed(bound: float) -> list[tuple[str, int | None]]:
        legs = [dataclasses.replace(leg, friction=Friction()) for leg in MACHINE.legs]
        assert legs[1].limits is not None
        legs[1] = dataclasses.replace(legs[1], limits=dataclasses.replace(legs[1].limits, force=bound))
        machine = dataclasses.replace(MACHINE, legs=tuple(legs))
        verdict = check_trajectory(machine, RIG.safety, MotionTable(0.001, turned), 500.0)
        return [(check.name, check.leg) for check in verdict.checks if not check.passed]

    assert failed(51.0) == []  # 50.7 N standing, 47.8 N moving
    assert failed(49.0) == [("force at a standstill", 2)]
    assert failed(47.0) == [("force", 2), ("force at a standstill", 2)]


def test_what_never_moves_is_looked_at_once() -> None:
    verdict = _check('type = "hold"\nposition = [0, 0, 0, 0, 0, 0]\nduration = 1')
    assert "force" in (names := [check.name for check in verdict.checks])
    assert "force at a standstill" not in names


def test_conditioning_is_held() -> None:
    safety = RIG.safety.model_copy(update={"condition": 3.7})
    verdict = check_trajectory(MACHINE, safety, load_trajectory("demo", HOME), 100.0)
    assert _failed(verdict) == {"condition number"}
    assert next(check for check in verdict.checks if not check.passed).leg is None


def test_what_is_not_limited_is_not_checked() -> None:
    legs = tuple(dataclasses.replace(leg, limits=None) for leg in MACHINE.legs)
    verdict = _check(_move('[0, 0, "250 mm", 0, 0, 0]'), dataclasses.replace(MACHINE, legs=legs))
    assert verdict.passed
    assert [check.name for check in verdict.checks] == ["condition number", "speed at start or end"]


def test_limits_of_one_leg_alone() -> None:
    legs = list(MACHINE.legs)
    assert legs[2].limits is not None
    legs[2] = dataclasses.replace(legs[2], limits=dataclasses.replace(legs[2].limits, length=(0.40, 0.51)))
    verdict = _check(_move('[0, 0, "40 mm", 0, 0, 0]'), dataclasses.replace(MACHINE, legs=tuple(legs)))
    failed = [check for check in verdict.checks if not check.passed]
    assert [(check.name, check.leg, check.bound) for check in failed] == [("greatest length", 3, 0.51)]


def test_a_start_outside_the_limits_leaves_no_scale() -> None:
    verdict = _check('type = "hold"\nposition = [0, 0, 0.3, 0, 0, 0]\nduration = 1')
    assert not verdict.passed
    assert verdict.scale == 0.0
    assert "no smaller amplitude" in verdict.message


def test_a_trajectory_through_a_singularity_says_so() -> None:
    samples = np.zeros((3, 18))
    samples[:, 2] = [0.45, 0.2, 0.0]
    verdict = check_trajectory(MACHINE, RIG.safety, MotionTable(0.1, samples), 10.0)
    assert not verdict.passed
    assert verdict.obstacle or "condition number" in _failed(verdict)
    assert "exceeds the limits" in verdict.message


def test_where_a_motion_cannot_be_evaluated_is_said() -> None:
    """A platform turned over its joints: leg 1 has no length there."""
    geometry = MACHINE.geometry
    down = geometry.home_pose[:3] - (geometry.base_points[0] - geometry.platform_points[0])
    samples = np.zeros((31, 18))
    samples[:, :3] = geometry.home_pose[:3] - np.outer(np.minimum(np.arange(31) / 20, 1.0), down)
    free = tuple(dataclasses.replace(leg, limits=None) for leg in MACHINE.legs)
    verdict = check_trajectory(dataclasses.replace(MACHINE, legs=free), RIG.safety, MotionTable(0.1, samples), 10.0)
    assert verdict.obstacle is not None and verdict.obstacle.text.startswith("at 2 s: leg 1: length 0 m")


def test_a_long_motion_is_judged_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples are looked at in blocks; where these begin and end changes nothing."""
    trajectory = load_trajectory("demo", HOME)
    whole = check_trajectory(MACHINE, RIG.safety, trajectory, 100.0)
    tight = [dataclasses.replace(leg, limits=dataclasses.replace(limits(leg), velocity=0.1)) for leg in MACHINE.legs]
    machine = dataclasses.replace(MACHINE, legs=tuple(tight))
    broken = check_trajectory(machine, RIG.safety, trajectory, 100.0)
    assert whole.passed and not broken.passed
    monkeypatch.setattr("rig.safety.trajectory_check._BLOCK", 37)
    assert check_trajectory(MACHINE, RIG.safety, trajectory, 100.0) == whole
    assert check_trajectory(machine, RIG.safety, trajectory, 100.0) == broken


@pytest.mark.parametrize("step", [float("nan"), float("inf"), 0.0, -1.0, 1e-9])
def test_a_step_that_is_none_is_refused(step: float) -> None:
    with pytest.raises(TrajectoryError, match="step of the table"):
        check_trajectory(MACHINE, RIG.safety, MotionTable(step, np.zeros((3, 18))), 10.0)


def test_more_samples_than_can_be_looked_at_are_refused() -> None:
    with pytest.raises(TrajectoryError, match=r"1e\+09 s are \d+ samples of 0\.0333333 s to be checked"):
        check_trajectory(MACHINE, RIG.safety, MotionTable(5e8, np.zeros((3, 18))), 10.0)


def test_numbers_that_are_not_finite_are_refused() -> None:
    samples = np.zeros((3, 18))
    samples[:, 2] = 0.45
    samples[1, 4] = np.nan
    with pytest.raises(TrajectoryError, match=r"not finite at 0.1 s"):
        check_trajectory(MACHINE, RIG.safety, MotionTable(0.1, samples), 10.0)
