"""Trajectories in joint space: the parts of a file, and how each fault is named."""

import re

import numpy as np
import pytest

from kinematics import Axes, TrajectoryError, load_joint_trajectory, parse_joint_trajectory

AXES = Axes(("base", "arm", "slide"), ("rad", "rad", "m"))
LINE = 'start = [0, 0, 0]\nend = ["90 deg", -1, "20 mm"]\n'
PARTS = {
    "minimum-jerk": f'type = "minimum-jerk"\n{LINE}duration = "2 s"',
    "blend": f'type = "blend"\n{LINE}duration = 2\nblend = 0.5',
    "harmonic": 'type = "harmonic"\nduration = 4\nfade = 1\noffset = [1, 0, "5 mm"]\n'
    'terms = [{ joint = "base", amplitude = "5 deg", frequency = 1 }, { joint = 3, amplitude = 0.01, frequency = 2 }]',
    "chirp": 'type = "chirp"\nduration = 4\nfade = 1\n'
    'terms = [{ joint = 2, amplitude = 0.1, start_frequency = 0.5, end_frequency = 3 }]',
    "random": 'type = "random"\nduration = 4\nfade = 1\nseed = 3\n'
    'terms = [{ joint = "slide", rms = "2 mm", low_frequency = 0.5, high_frequency = 3 }]',
    "waypoints": 'type = "waypoints"\ntimes = [0, 1, "1.5 s"]\n'
    'positions = [[0, 0, 0], ["30 deg", 1, "1 cm"], [0, 0.5, 0]]',
    "hold": 'type = "hold"\nposition = [1, 2, 0.1]\nduration = 1',
}  # fmt: skip


def parsed(*parts):
    return parse_joint_trajectory("".join(f"[[parts]]\n{part}\n" for part in parts), AXES)


@pytest.mark.parametrize("kind", PARTS)
def test_rates_and_accelerations_are_the_derivatives(kind):
    motion = parsed(PARTS[kind])
    times = np.linspace(0.05, motion.duration - 0.05, 23) + 1e-3
    h = 1e-5
    q, qd, qdd = motion.coordinates(times)
    before, after = motion.coordinates(times - h), motion.coordinates(times + h)
    assert q.shape == (23, 3)
    np.testing.assert_allclose(qd, (after[0] - before[0]) / (2.0 * h), atol=1e-7)
    np.testing.assert_allclose(qdd, (after[1] - before[1]) / (2.0 * h), atol=1e-6)
    for end in (0.0, motion.duration):
        np.testing.assert_allclose(motion.coordinates(end)[1], 0.0, atol=1e-9)


@pytest.mark.parametrize("kind", ["minimum-jerk", "blend"])
def test_lines_lead_from_start_to_end_in_the_joints_units(kind):
    motion = parsed(PARTS[kind])
    q = motion.coordinates([0.0, motion.duration])[0]
    np.testing.assert_allclose(q, [[0.0, 0.0, 0.0], [np.pi / 2.0, -1.0, 0.02]], atol=1e-12)


def test_a_blend_has_constant_acceleration_at_its_ends_alone():
    _q, qd, qdd = parsed(PARTS["blend"]).coordinates([0.25, 1.0, 1.75])
    way = np.array([np.pi / 2.0, -1.0, 0.02])
    np.testing.assert_allclose(qd[1], way / 1.5)
    np.testing.assert_allclose(qdd, [way / 0.75, 0.0 * way, -way / 0.75])


def test_waypoints_are_passed_at_their_times():
    q = parsed(PARTS["waypoints"]).coordinates([0.0, 1.0, 1.5])[0]
    np.testing.assert_allclose(q, [[0, 0, 0], [np.radians(30.0), 1.0, 0.01], [0, 0.5, 0]], atol=1e-12)


def test_a_transition_leads_from_one_part_to_the_next():
    motion = parsed(PARTS["minimum-jerk"], 'type = "transition"\nduration = 1', PARTS["hold"])
    assert motion.duration == 4.0
    np.testing.assert_allclose(motion.coordinates([2.0, 3.0])[0], [[np.pi / 2.0, -1.0, 0.02], [1.0, 2.0, 0.1]])
    assert motion.breakpoints == ()


def test_a_joint_trajectory_has_no_motion_of_a_platform():
    with pytest.raises(TrajectoryError, match="coordinates base, arm, slide are not those of a platform"):
        parsed(PARTS["hold"]).motion([0.0])


@pytest.mark.parametrize(
    "parts, fault",
    [
        ([PARTS["hold"].replace("0.1]", '"0.1 rad"]')], "part 1, position, slide: '0.1 rad' has the wrong dimension"),
        ([PARTS["hold"].replace("0.1]", "nan]")], "part 1, position, slide: nan is not finite"),
        ([PARTS["hold"].replace(", 0.1", "")], "part 1, position: 2 values, must be 3, one for each joint"),
        ([PARTS["chirp"].replace("joint = 2", "joint = 4")], "part 1, term 1, joint: 4, must be 1 to 3"),
        ([PARTS["random"].replace('"slide"', '"z"')], "part 1, term 1, joint: 'z', must be one of base, arm, slide"),
        ([PARTS["chirp"].replace("0.1,", '"1 mm",')], "part 1, term 1, amplitude: '1 mm' has the wrong dimension"),
        ([PARTS["chirp"].replace("fade = 1", "fade = 3")], "part 1, fade: 3 s, must be at most half the duration"),
        ([PARTS["blend"].replace("blend = 0.5", "blend = 1.5")], "part 1, blend: 1.5 s, must be from 1e-06 s to half"),
        ([PARTS["waypoints"].replace('"1.5 s"', "1")], "part 1, times: 1 s follows 1 s, must be at least 1e-06 s"),
        ([PARTS["waypoints"].replace('"1.5 s"', "2, 3")], "part 1, 4 times and 3 positions, must be as many"),
        ([PARTS["hold"], PARTS["minimum-jerk"]], "base is 57.3 ° at the end of part 1, but 0 ° where part 2 begins"),
        (['type = "transition"\nduration = 1', PARTS["hold"]], "part 1, transition: must stand between two parts"),
        (["type = 'hold'\nduration = 0"], "part 1, duration: must be greater than 0"),
        (["type = 'hold'\nduration = 1\nspeed = 2"], "part 1, speed: unknown key"),
        ([PARTS["hold"].replace("duration = 1", "duration = 3e3")] * 2, "parts: 6000 s in all, must be at most 3600 s"),
    ],
)  # fmt: skip
def test_faults_are_named_with_part_joint_value_and_bound(tmp_path, parts, fault):
    path = tmp_path / "motion.toml"
    path.write_text("".join(f"[[parts]]\n{part}\n" for part in parts))
    with pytest.raises(TrajectoryError, match=re.escape(fault)) as caught:
        load_joint_trajectory(path, AXES)
    assert str(caught.value).startswith(f"{path}:")
