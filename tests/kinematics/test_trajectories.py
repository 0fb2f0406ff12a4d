"""Trajectory generators: their end values, their derivatives by finite differences, what they refuse."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kinematics import PEAK_ACCELERATION, PEAK_SPEED, minimum_jerk, minimum_jerk_kernel
from kinematics import rotations as rot
from kinematics.errors import TrajectoryError
from kinematics.trajectories import (
    Blend,
    Chirp,
    ChirpTerm,
    Harmonic,
    HarmonicTerm,
    Hold,
    MinimumJerk,
    Placement,
    Poses,
    RandomMotion,
    RandomTerm,
    Sequence,
    Trajectory,
    Transition,
)

Array = NDArray[np.float64]

A = np.array([0.1, 0.0, 0.4, 0.0, 0.0, -0.2])
B = np.array([0.3, 0.0, 0.6, 0.0, 0.0, 0.2])
TILTED_HOME = np.array([0.05, -0.02, 0.45, *rot.angles_to_quaternion([0.1, -0.2, 0.4])])
PLACEMENTS = {
    "base": Placement(),
    "pivot": Placement(pivot=np.array([0.03, -0.05, 0.12])),
    "home": Placement("home", home=TILTED_HOME),
    "home and pivot": Placement("home", np.array([0.03, -0.05, 0.12]), TILTED_HOME),
}


def some_poses(count: int = 12) -> tuple[Array, Array]:
    rng = np.random.default_rng(5)
    times = np.cumsum(rng.uniform(0.2, 0.4, count))
    coordinates = np.cumsum(rng.uniform(-0.1, 0.1, (count, 6)), axis=0)
    return times, rot.coordinates_to_pose(coordinates)


def harmonic(placement: Placement | None = None) -> Harmonic:
    terms = [HarmonicTerm("x", 0.03, 0.7), HarmonicTerm("rz", 0.2, 1.3, 0.4), HarmonicTerm("rx", 0.1, 0.5, 1.0)]
    return Harmonic(terms, 6.0, 1.5, offset=A, placement=placement)


def every_kind(placement: Placement | None = None) -> dict[str, Trajectory]:
    move = MinimumJerk(A, B, 2.0)
    return {
        "blend": Blend(A, B, 6.0, 0.08, 0.08, placement=placement),
        "minimum jerk": MinimumJerk(A, B, 3.0, placement=placement),
        "harmonic": harmonic(placement),
        "chirp": Chirp([ChirpTerm("y", 0.02, 0.2, 2.0), ChirpTerm("ry", 0.1, 1.0, 0.1)], 6.0, 1.0, placement=placement),
        "random": RandomMotion([RandomTerm("z", 0.01, 0.2, 1.5), RandomTerm("rx", 0.03, 0.5, 0.5)], 6.0, 1.0, 3),
        "transition": Transition((A, B, -A), (B, -A, 2.0 * B), 1.7, placement=placement),
        "poses": Poses(*some_poses(), placement=placement),
        "poses, moving ends": Poses(*some_poses(), rest_ends=False, placement=placement),
        "hold": Hold(A, 1.0, placement=placement),
        "sequence": Sequence([move, Hold(B, 1.0), Blend(B, A, 2.0, 0.2, 0.25)], placement=placement),
    }


def times_off_breakpoints(trajectory: Trajectory, reach: float) -> Array:
    t = np.linspace(reach, trajectory.duration - reach, 157)
    for time in trajectory.breakpoints:
        t = t[np.abs(t - time) > reach]
    return t


def derivative(function: Callable[[Array], Array], t: Array, h: float) -> Array:
    return (8 * (function(t + h) - function(t - h)) - (function(t + 2 * h) - function(t - 2 * h))) / (12 * h)


@pytest.mark.parametrize("kind", every_kind())
def test_rates_and_accelerations_are_derivatives(kind: str) -> None:
    trajectory = every_kind()[kind]
    h = 2e-4
    t = times_off_breakpoints(trajectory, 2.5 * h)
    _, qd, qdd = trajectory.coordinates(t)
    np.testing.assert_allclose(qd, derivative(lambda u: trajectory.coordinates(u)[0], t, h), atol=1e-8)
    np.testing.assert_allclose(qdd, derivative(lambda u: trajectory.coordinates(u)[1], t, h), atol=1e-7)


@pytest.mark.parametrize("where", PLACEMENTS)
@pytest.mark.parametrize("kind", ["blend", "harmonic", "poses"])
def test_motion_is_consistent_wherever_it_is_placed(kind: str, where: str) -> None:
    trajectory = every_kind(PLACEMENTS[where])[kind]
    h = 2e-4
    t = times_off_breakpoints(trajectory, 2.5 * h)
    motion = trajectory.motion(t)
    assert motion.shape == (len(t), 19)
    np.testing.assert_allclose(np.linalg.norm(motion[:, 3:7], axis=1), 1.0, atol=1e-14)
    moved = derivative(lambda u: trajectory.motion(u)[:, :13], t, h)
    np.testing.assert_allclose(motion[:, 7:10], moved[:, :3], atol=1e-8)
    np.testing.assert_allclose(motion[:, 13:], moved[:, 7:], atol=1e-7)
    q = motion[:, 3:7]
    spin = 2.0 * rot.quaternion_multiply(moved[:, 3:7], rot.quaternion_conjugate(q))[:, 1:]
    np.testing.assert_allclose(motion[:, 10:13], spin, atol=1e-8)


def test_pivot_and_home_compose_as_frames() -> None:
    pivot = PLACEMENTS["home and pivot"].pivot
    trajectory = harmonic(PLACEMENTS["home and pivot"])
    t = np.linspace(0, 6, 31)
    q = trajectory.coordinates(t)[0]
    motion = trajectory.motion(t)
    home = rot.quaternion_to_matrix(TILTED_HOME[3:])
    turn = home @ rot.angles_to_matrix(q[:, 3:])
    np.testing.assert_allclose(rot.quaternion_to_matrix(motion[:, 3:7]), turn, atol=1e-14)
    np.testing.assert_allclose(motion[:, :3] + turn @ pivot, TILTED_HOME[:3] + (q[:, :3] + pivot) @ home.T, atol=1e-14)


def test_zeros_are_the_home_pose_whatever_the_pivot() -> None:
    motion = Hold(np.zeros(6), 1.0, placement=PLACEMENTS["home and pivot"]).motion([0.5])
    np.testing.assert_allclose(motion[0], [*TILTED_HOME, *np.zeros(12)], atol=1e-15)


def test_a_turn_about_the_pivot_leaves_it_in_place() -> None:
    pivot = np.array([0.02, 0.01, 0.1])
    placement = Placement(pivot=pivot)
    motion = MinimumJerk([0, 0, 0.5, 0, 0, 0], [0, 0, 0.5, 0.2, -0.1, 0.3], 1.0, placement=placement).motion(
        np.linspace(0, 1, 11)
    )
    place = motion[:, :3] + rot.quaternion_to_matrix(motion[:, 3:7]) @ pivot
    np.testing.assert_allclose(place, np.tile([0, 0, 0.5], (11, 1)), atol=1e-15)


def test_blend_follows_the_1998_equations() -> None:
    blend = Blend(A, B, 6.0, 0.08, 0.08)
    distance = np.hypot(0.2, 0.2)
    tau = 6.0 - distance / 0.08
    assert blend.breakpoints == pytest.approx((1.0, tau, 6.0 - tau, 5.0))
    q, qd, qdd = blend.coordinates([0.0, 0.5, 3.0, 6.0])
    np.testing.assert_allclose(q[[0, 3]], [A, B], atol=1e-15)
    np.testing.assert_allclose(q[2], 0.5 * (A + B), atol=1e-15)
    np.testing.assert_allclose(qd[[0, 3]], 0.0, atol=1e-15)
    assert np.linalg.norm(qd[2, :3]) == pytest.approx(0.08)
    assert qd[2, 5] == pytest.approx(0.08)
    assert np.linalg.norm(qdd[1, :3]) == pytest.approx(0.08 / tau)
    assert qdd[:, 5] == pytest.approx([0.08, 0.08, 0.0, -0.08])


def test_blend_at_constant_speed_and_triangular() -> None:
    start, end = np.zeros(6), np.array([0.5, 0, 0, 0, 0, 0])
    constant = Blend(start, end, 6.0, 0.5 / 6.0)
    q, qd, qdd = constant.coordinates([0.0, 2.0, 6.0])
    assert constant.breakpoints == ()
    np.testing.assert_allclose(q[:, 0], [0.0, 1 / 6, 0.5], atol=1e-15)
    np.testing.assert_allclose(qd[:, 0], 0.5 / 6.0)
    assert not qdd.any()
    triangle = Blend(start, end, 6.0, 1.0 / 6.0)
    assert triangle.breakpoints == pytest.approx((3.0,))
    np.testing.assert_allclose(triangle.coordinates(6.0)[0], [end], atol=1e-15)


@pytest.mark.parametrize("speed", [0.08, 0.0833, 0.167, 0.0, -0.1, np.nan, np.inf, None])
def test_impossible_blend_speeds_are_refused_with_the_range(speed: float | None) -> None:
    with pytest.raises(
        TrajectoryError, match=r"^speed: .* must be from 0.0833333333 to 0.166666667 m/s to cover 0.5 m"
    ):
        Blend(np.zeros(6), [0.5, 0, 0, 0, 0, 0], 6.0, speed)


def test_both_blend_faults_are_named() -> None:
    with pytest.raises(TrajectoryError, match=r"speed: 1 m/s.*; angular_speed: 1 rad/s, must be from .* rad/s"):
        Blend(A, B, 6.0, 1.0, 1.0)


@settings(max_examples=60)
@given(st.floats(0.01, 50.0), st.floats(1.0, 2.0), st.floats(0.1, 20.0))
def test_any_possible_blend_is_continuous_and_arrives(distance: float, ratio: float, duration: float) -> None:
    end = np.array([0, 0, distance, 0, 0, 0])
    blend = Blend(np.zeros(6), end, duration, ratio * distance / duration)
    q, qd, _ = blend.coordinates([duration])
    np.testing.assert_allclose(q, [end], rtol=1e-12)
    for time in blend.breakpoints:
        near = blend.coordinates(np.clip([time - 1e-9, time + 1e-9], 0.0, duration))
        np.testing.assert_allclose(near[0][0], near[0][1], atol=1e-8 * distance / duration + 1e-9)
        assert abs(near[1][0, 2] - near[1][1, 2]) < 0.02 * distance / duration + 1e-9
    if ratio > 1.001:
        assert qd[0, 2] == 0.0


def test_minimum_jerk_shape() -> None:
    q, qd, qdd = MinimumJerk(A, B, 2.0).coordinates([0.0, 1.0, 2.0])
    np.testing.assert_allclose(q, [A, 0.5 * (A + B), B], atol=1e-15)
    np.testing.assert_allclose(qd[1], 1.875 * (B - A) / 2.0)
    np.testing.assert_allclose(qd[[0, 2]], 0.0, atol=1e-15)
    np.testing.assert_allclose(qdd, 0.0, atol=1e-14)


def test_harmonic_rests_at_the_offset_and_is_pure_between_the_fades() -> None:
    trajectory = harmonic()
    q, qd, qdd = trajectory.coordinates([0.0, 6.0])
    np.testing.assert_allclose(q, [A, A], atol=1e-15)
    assert not qd.any()
    assert not qdd.any()
    t = np.linspace(1.5, 4.5, 50)
    pure = A[0] + 0.03 * np.sin(2 * np.pi * 0.7 * t)
    np.testing.assert_allclose(trajectory.coordinates(t)[0][:, 0], pure, atol=1e-15)


def test_fades_have_continuous_third_and_fourth_derivatives() -> None:
    trajectory = Harmonic([HarmonicTerm("x", 1.0, 0.0, np.pi / 2)], 4.0, 1.0)
    for edge in (1.0, 3.0):
        h = 1e-4
        t = edge + h * np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
        qdd = trajectory.coordinates(t)[2][:, 0]
        assert np.abs(np.diff(qdd) / h).max() < 1e-2
        assert np.abs(np.diff(qdd, 2) / h**2).max() < 20.0  # of a fifth derivative near 15 000


def test_chirp_sweeps_its_frequency() -> None:
    chirp = Chirp([ChirpTerm("x", 0.01, 0.5, 2.5)], 10.0, 1.0)
    t = np.linspace(1.0, 9.0, 4001)
    q = chirp.coordinates(t)[0][:, 0]
    phase = 2 * np.pi * (0.5 * t + 0.1 * t * t)
    np.testing.assert_allclose(q, 0.01 * np.sin(phase), atol=1e-14)
    q, qd, _ = chirp.coordinates([0.0, 10.0])
    assert not q.any()
    assert not qd.any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Harmonic([], 5.0, 1.0), "at least one"),
        (lambda: Harmonic([HarmonicTerm("q", 1.0, 1.0)], 5.0, 1.0), "term 1, dof: 'q', must be one of x, y, z, rx"),
        (lambda: Harmonic([HarmonicTerm("rx", np.nan, 1.0)], 5.0, 1.0), "term 1, amplitude: nan rad"),
        (
            lambda: Harmonic([HarmonicTerm("x", 1.0, -1.0)], 5.0, 1.0),
            "frequency: -1 Hz, must be finite, from 0 to 1e+06",
        ),
        (
            lambda: Harmonic([HarmonicTerm("x", 1.0, 1.0)], 5.0, 3.0),
            "fade: 3 s, must be at most half the duration, 2.5",
        ),
        (lambda: Harmonic([HarmonicTerm("x", 1.0, 1.0)], 5.0, 0.0), "fade: 0 s, must be finite, from 1e-06 to 1e+09 s"),
        (lambda: Chirp([ChirpTerm("x", 1.0, 1.0, np.inf)], 5.0, 1.0), "term 1, end_frequency: inf Hz"),
        (lambda: Chirp([ChirpTerm("x", 1.0, 1.0, 2.0)], 0.0, 1.0), "duration: 0 s"),
        (lambda: MinimumJerk(A, B, np.nan), "duration: nan s"),
        (lambda: MinimumJerk(A, B, 1e-300), "duration: 1e-300 s, must be finite, from 1e-06 to 1e+09 s"),
        (lambda: MinimumJerk(A, 1e300 * B, 1.0), "end, x: 3e+299 m, must be finite, from -1e+06 to 1e+06 m"),
        (lambda: Placement(pivot=np.array([0, 0, 2e6])), "pivot, z: 2e+06 m"),
        (lambda: MinimumJerk(A[:5], B, 1.0), "start: shape (5,)"),
        (lambda: Hold([0, 0, np.inf, 0, 0, 0], 1.0), "position: z is inf"),
        (lambda: Placement("home"), "no home pose"),
        (lambda: Placement("tool"), 'must be "base" or "home"'),  # type: ignore[arg-type]
        (lambda: Placement(pivot=np.array([0, np.nan, 0])), "pivot: y is nan"),
        (lambda: Placement("home", home=np.zeros(7)), "home pose: quaternion norm 0"),
        (lambda: Sequence([]), "at least one"),
        (lambda: MinimumJerk(A, B, 1.0).coordinates([0.5, 1.1]), "time 1.1 s is outside the trajectory's 0 to 1 s"),
        (lambda: MinimumJerk(A, B, 1.0).motion([np.nan]), "time nan s"),
        (lambda: MinimumJerk(A, B, 1.0).coordinates([[0.5]]), "shape (1, 1)"),
    ],
)
def test_refusals(make: Callable[[], object], message: str) -> None:
    with pytest.raises(TrajectoryError) as caught:
        make()
    assert message in str(caught.value)


def test_poses_are_met_whatever_the_sign_of_their_quaternions() -> None:
    times, poses = some_poses()
    flipped = poses.copy()
    flipped[1::2, 3:] *= -1.0
    trajectory = Poses(times, flipped)
    assert trajectory.duration == pytest.approx(times[-1] - times[0])
    motion = trajectory.motion(times - times[0])
    np.testing.assert_allclose(rot.pose_difference(motion[:, :7], poses), 0.0, atol=1e-12)
    ends = trajectory.motion([0.0, trajectory.duration])
    np.testing.assert_allclose(ends[:, 7:], 0.0, atol=1e-10)


def test_poses_follow_whole_turns() -> None:
    t = np.linspace(0, 4, 33)
    angle = np.linspace(0, 4 * np.pi, 33)
    coordinates = np.zeros((33, 6))
    coordinates[:, 5] = angle
    trajectory = Poses(t, rot.coordinates_to_pose(coordinates), rest_ends=False)
    q, qd, _ = trajectory.coordinates(np.linspace(0, 4, 100))
    np.testing.assert_allclose(q[:, 5], np.linspace(0, 4 * np.pi, 100), atol=1e-10)
    np.testing.assert_allclose(qd[:, 5], np.pi, atol=1e-9)


def test_poses_resample_a_smooth_motion_closely() -> None:
    original = harmonic()
    t = np.linspace(0, 6, 301)
    copy = Poses(t, original.motion(t)[:, :7])
    fine = np.linspace(0, 6, 1733)
    np.testing.assert_allclose(copy.motion(fine)[:, :13], original.motion(fine)[:, :13], atol=1e-5)
    np.testing.assert_allclose(copy.motion(fine)[:, 13:], original.motion(fine)[:, 13:], atol=1e-3)


@pytest.mark.parametrize(
    ("times", "change", "rest_ends", "message"),
    [
        ([0.0], None, True, "1 poses, must be at least 2"),
        ([0.0, 1.0, 2.0, 3.0, 4.0], None, False, "5 poses, must be at least 6"),
        ([0.0, 1.0, 1.0], None, True, "1 s follows 1 s"),
        ([0.0, 1.0, 1.0 + 1e-9], None, True, "must be at least 1e-06 s later"),
        ([0.0, 1.0], (1, 0, 1e7), True, "poses: 1e+07 m"),
        ([0.0, np.nan], None, True, "finite"),
        ([0.0, 1.0], (1, 3, 1.1), True, "quaternion norm"),
        ([0.0, 1.0], (0, 2, np.nan), True, "z is nan"),
        ([0.0, 1.0], (1, slice(3, 7), [np.sqrt(0.5), 0, np.sqrt(0.5), 0]), True, "too near ±90°"),
    ],
)
def test_poses_refusals(
    times: list[float], change: tuple[int, object, object] | None, rest_ends: bool, message: str
) -> None:
    poses = np.tile([0.0, 0, 0, 1, 0, 0, 0], (len(times), 1))
    if change is not None:
        poses[change[0], change[1]] = change[2]  # type: ignore[index]
    with pytest.raises(TrajectoryError) as caught:
        Poses(times, poses, rest_ends=rest_ends)
    assert message in str(caught.value)


def test_poses_must_be_as_many_as_the_times() -> None:
    with pytest.raises(TrajectoryError, match="must be \\(2, 7\\)"):
        Poses([0.0, 1.0], [[0, 0, 0, 1, 0, 0, 0]] * 3)


def test_sequence_runs_its_parts_and_declares_acceleration_steps() -> None:
    sequence = every_kind()["sequence"]
    assert sequence.duration == pytest.approx(5.0)
    last = Blend(B, A, 2.0, 0.2, 0.25)
    assert sequence.breakpoints == pytest.approx((3.0, *(3.0 + time for time in last.breakpoints)))
    t = np.array([0.5, 2.5, 3.7, 5.0])
    q = sequence.coordinates(t)[0]
    np.testing.assert_allclose(q[0], MinimumJerk(A, B, 2.0).coordinates(0.5)[0][0])
    np.testing.assert_allclose(q[1], B)
    np.testing.assert_allclose(q[2], last.coordinates(0.7)[0][0], atol=1e-12)
    np.testing.assert_allclose(q[3], A, atol=1e-15)


def test_sequence_names_every_joint_that_does_not_fit() -> None:
    moving = Blend(B, A, 2.0, np.hypot(0.2, 0.2) / 2.0, 0.2)
    with pytest.raises(TrajectoryError) as caught:
        Sequence([Hold(A, 1.0), Hold(B, 1.0), moving])
    lines = str(caught.value).splitlines()
    assert lines[0].startswith('parts do not join (one of type "transition" ')
    assert "  x is 100 mm at the end of part 1, but 300 mm where part 2 begins" in lines
    assert "  rz moves at 0 °/s at the end of part 2, but -11.46 °/s where part 3 begins" in lines
    assert len(lines) == 1 + 3 + 3
    near = np.add(B, [0, 0, 2e-8, 0, 0, 0])
    with pytest.raises(TrajectoryError, match=r"z is 600 mm .* but 600 mm where part 2 begins \(2e-05 mm apart\)"):
        Sequence([Hold(B, 1.0), Hold(near, 1.0)])


def test_the_law_of_minimum_jerk() -> None:
    u = np.linspace(0.0, 1.0, 2001)
    s, rate, second = minimum_jerk(u)
    for found, ends in ((s, (0.0, 1.0)), (rate, (0.0, 0.0)), (second, (0.0, 0.0))):
        np.testing.assert_allclose(found[[0, -1]], ends, atol=1e-15)
    np.testing.assert_allclose(np.gradient(s, u, edge_order=2), rate, atol=1e-4)
    np.testing.assert_allclose(np.gradient(rate, u, edge_order=2), second, atol=1e-3)
    assert rate.max() == pytest.approx(PEAK_SPEED)
    assert np.abs(second).max() == pytest.approx(PEAK_ACCELERATION, rel=1e-6)
    assert minimum_jerk_kernel(0.3) == pytest.approx(minimum_jerk(0.3), rel=1e-15)
