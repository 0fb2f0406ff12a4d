"""The table the cycle reads: equal to the trajectory at its samples, one smooth motion between them, at any pace."""

import numpy as np
import pytest
from numpy.typing import NDArray

from kinematics import rotations as rot
from kinematics.errors import TrajectoryError
from kinematics.trajectories import (
    Blend,
    Harmonic,
    HarmonicTerm,
    MinimumJerk,
    MotionTable,
    Placement,
    Trajectory,
    table_motion_kernel,
    tabulate,
)

Array = NDArray[np.float64]

HOME = np.array([0.05, -0.02, 0.45, *rot.angles_to_quaternion([0.1, -0.2, 2.9])])


def trajectory() -> Trajectory:
    terms = [HarmonicTerm(dof, 0.05, 0.4 + 0.1 * i, i) for i, dof in enumerate(("x", "y", "z", "rx", "ry"))]
    terms.append(HarmonicTerm("rz", 0.6, 0.5))
    return Harmonic(terms, 5.0, 1.0, placement=Placement("home", np.array([0.01, 0.02, 0.1]), HOME))


def test_table_equals_the_trajectory_at_its_samples() -> None:
    table = tabulate(trajectory(), 0.01)
    assert table.step == pytest.approx(0.01)
    assert table.samples.shape == (501, 18)
    assert table.duration == pytest.approx(5.0)
    t = np.linspace(0.0, table.duration, 501)
    np.testing.assert_allclose(
        rot.pose_difference(table.motion(t)[:, :7], trajectory().motion(t)[:, :7]), 0, atol=1e-13
    )
    np.testing.assert_allclose(table.motion(t)[:, 7:], trajectory().motion(t)[:, 7:], atol=1e-10)


def test_angles_of_a_table_are_continuous_through_180_degrees() -> None:
    angles = tabulate(trajectory(), 0.01).samples[:, 5]
    assert angles.max() > np.pi
    assert np.abs(np.diff(angles)).max() < 0.1


def test_interpolation_error_is_of_high_order() -> None:
    t = np.linspace(0.0, 4.999, 997)
    table = tabulate(trajectory(), 0.01)
    exact = trajectory().motion(t)
    np.testing.assert_allclose(table.motion(t)[:, :3], exact[:, :3], atol=1e-12)
    np.testing.assert_allclose(table.motion(t)[:, 7:13], exact[:, 7:13], atol=1e-9)
    np.testing.assert_allclose(table.motion(t)[:, 13:], exact[:, 13:], atol=1e-6)


def test_step_is_shortened_to_fill_the_duration() -> None:
    table = tabulate(MinimumJerk(np.zeros(6), np.full(6, 0.1), 1.0), 0.3)
    assert len(table.samples) == 5
    assert table.step == pytest.approx(0.25)
    assert len(tabulate(MinimumJerk(np.zeros(6), np.full(6, 0.1), 0.7), 0.1).samples) == 8


@pytest.mark.parametrize("step", [0.01, 0.0137])
def test_motion_between_samples_is_consistent_even_across_an_acceleration_step(step: float) -> None:
    blend = Blend(np.zeros(6), [0.1, 0, 0, 0, 0, 0.3], 2.0, 0.07, 0.2)
    table = tabulate(blend, step)
    h = 1e-5
    nodes = table.step * np.round((blend.breakpoints[0] + np.array([-3, -2, -1, 0, 1, 2, 3]) * step) / table.step)
    t = np.concatenate([nodes, np.linspace(0.05, 1.95, 600)])
    before, now, after = (table.motion(np.clip(t + d, 0, table.duration)) for d in (-h, 0.0, h))
    np.testing.assert_allclose(now[:, 7:10], (after - before)[:, 0:3] / (2 * h), atol=1e-6)
    slope = (after - before)[:, 7:13] / (2 * h)
    bend = 60.0 * np.abs(now[:, 13:]).max() * h / step  # the jerk may jump at a sample
    np.testing.assert_allclose(now[:, 13:], slope, atol=bend)
    np.testing.assert_allclose(before[:, 13:], after[:, 13:], atol=2 * bend)  # the acceleration does not
    exact = blend.motion(t)
    np.testing.assert_allclose(now[:, :3], exact[:, :3], atol=0.1 * step**2)
    np.testing.assert_allclose(now[:, 7:13], exact[:, 7:13], atol=0.5 * step)


def test_path_at_another_pace() -> None:
    table = tabulate(trajectory(), 0.01)

    def path_time(t: Array) -> tuple[Array, Array, Array]:
        """Slows from full pace to a stop over 2 s."""
        return 1.0 + t - t**2 / 4.0, 1.0 - t / 2.0, np.full_like(t, -0.5)

    def motion(t: Array) -> Array:
        return table.motion(*path_time(t))

    t, h = np.linspace(0.1, 1.9, 61), 1e-4
    slope = (8 * (motion(t + h) - motion(t - h)) - (motion(t + 2 * h) - motion(t - 2 * h))) / (12 * h)
    np.testing.assert_allclose(motion(t)[:, 7:10], slope[:, 0:3], atol=1e-8)
    np.testing.assert_allclose(motion(t)[:, 13:], slope[:, 7:13], atol=1e-5)
    stopped = table.motion(2.0, 0.0, 0.0)
    assert not stopped[:, 7:].any()
    np.testing.assert_array_equal(stopped[:, :7], table.motion(2.0)[:, :7])


@pytest.mark.parametrize("s", [-1e-9, 5.0001, np.nan, np.inf, -np.inf])
def test_kernel_refuses_times_outside_and_leaves_the_output(s: float) -> None:
    table = tabulate(trajectory(), 0.01)
    out = np.full(19, 7.0)
    assert table_motion_kernel(table.samples, table.step, s, 1.0, 0.0, out) == 1
    assert (out == 7.0).all()
    with pytest.raises(TrajectoryError, match="outside the table's 0 to 5 s"):
        table.motion([1.0, s])


def test_kernel_covers_both_ends() -> None:
    for step in (0.01, 0.0137, 1e-3):
        table = tabulate(trajectory(), step)
        out = np.empty(19)
        for s, expected in ((0.0, 0.0), (table.duration, 5.0)):
            assert table_motion_kernel(table.samples, table.step, s, 1.0, 0.0, out) == 0
            difference = rot.pose_difference(out[:7], trajectory().motion(expected)[0, :7])
            np.testing.assert_allclose(difference, 0.0, atol=1e-12)


def test_refusals() -> None:
    move = MinimumJerk(np.zeros(6), np.full(6, 0.1), 1.0)
    with pytest.raises(TrajectoryError, match="step: 0 s"):
        tabulate(move, 0.0)
    with pytest.raises(TrajectoryError, match="need 10000001 samples, at most 2000000"):
        tabulate(MinimumJerk(np.zeros(6), np.full(6, 0.1), 10.0), 1e-6)
    with pytest.raises(ValueError, match="too near ±90°"):
        tabulate(MinimumJerk(np.zeros(6), [0, 0, 0, 0, np.pi / 2, 0], 1.0), 0.01)
    table = tabulate(move, 0.1)
    assert isinstance(table, MotionTable)
    with pytest.raises(TrajectoryError, match="must be finite"):
        table.motion(0.5, np.nan)
    with pytest.raises(TrajectoryError, match="shape \\(1, 1\\)"):
        table.motion([[0.5]])
