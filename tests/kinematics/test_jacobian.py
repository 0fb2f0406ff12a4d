import numpy as np
import pytest
from hexapods import DASGUPTA_1998, LEVEL, lab_hexapod, random_hexapod, random_motion
from hypothesis import given, settings
from hypothesis import strategies as st

from kinematics import (
    Array,
    Blend,
    KinematicsError,
    SingularityError,
    angles_to_quaternion,
    condition_number,
    condition_number_kernel,
    condition_numbers,
    determinant_kernel,
    forward_acceleration,
    forward_twist,
    leg_kinematics,
    leg_matrix,
    leg_matrix_kernel,
    leg_rows_kernel,
    quaternion_to_matrix,
    solve_kernel,
    spectral_condition_kernel,
)

seeds = st.integers(min_value=0, max_value=2**32 - 1)


def quarter_turn() -> Array:
    """Fichter's singularity: a symmetric platform turned a quarter about its axis."""
    return np.array([0.0, 0.0, 0.45, np.cos(np.pi / 4), 0.0, 0.0, np.sin(np.pi / 4)])


@settings(max_examples=30)
@given(seed=seeds)
def test_columns_are_the_wrenches_of_unit_leg_forces(seed: int) -> None:
    geometry = random_hexapod(seed)
    motion = random_motion(np.random.default_rng(seed), geometry)
    directions = leg_kinematics(geometry, motion).direction
    arms = geometry.platform_points @ quaternion_to_matrix(motion[3:7]).T
    expected = np.hstack([directions, np.cross(arms, directions)]).T
    np.testing.assert_allclose(leg_matrix(geometry, motion[:7]), expected, rtol=0, atol=1e-14)


@settings(max_examples=30)
@given(seed=seeds)
def test_transpose_gives_leg_speeds_and_forward_twist_undoes_it(seed: int) -> None:
    geometry = random_hexapod(seed)
    motion = random_motion(np.random.default_rng(seed), geometry)
    pose, twist = motion[:7], motion[7:13]
    speeds = leg_kinematics(geometry, motion).velocity
    np.testing.assert_allclose(leg_matrix(geometry, pose).T @ twist, speeds, rtol=0, atol=1e-13)
    error = 1e-14 * condition_number(geometry, pose)
    np.testing.assert_allclose(forward_twist(geometry, pose, speeds), twist, rtol=0, atol=error)


@settings(max_examples=30)
@given(seed=seeds)
def test_leg_accelerations_give_back_the_acceleration_of_a_known_motion(seed: int) -> None:
    geometry = random_hexapod(seed)
    motion = random_motion(np.random.default_rng(seed), geometry)
    legs = leg_kinematics(geometry, motion)
    error = 1e-13 * condition_number(geometry, motion[:7])
    found = forward_acceleration(geometry, motion[:7], motion[7:13], legs.acceleration)
    np.testing.assert_allclose(found, motion[13:], rtol=0, atol=error * (1.0 + np.abs(legs.acceleration).max()))


@settings(max_examples=30)
@given(seed=seeds, length=st.floats(min_value=0.05, max_value=5.0))
def test_condition_number_is_that_of_the_library(seed: int, length: float) -> None:
    geometry = random_hexapod(seed)
    pose = random_motion(np.random.default_rng(seed), geometry)[:7]
    matrix = leg_matrix(geometry, pose) / np.array([1, 1, 1, length, length, length])[:, None]
    assert condition_number(geometry, pose, length) == pytest.approx(np.linalg.cond(matrix), rel=1e-10)


@settings(max_examples=100)
@given(seed=seeds, decades=st.floats(min_value=0.0, max_value=9.0))
def test_condition_of_any_matrix(seed: int, decades: float) -> None:
    random = np.random.default_rng(seed)
    left, right = (np.linalg.qr(random.normal(size=(6, 6)))[0] for _ in range(2))
    matrix = left @ np.diag(np.logspace(0, -decades, 6)) @ right
    expected = np.linalg.cond(matrix)
    assert spectral_condition_kernel(matrix) == pytest.approx(expected, rel=1e-14 * 10 ** (decades + 1))


def test_condition_of_special_matrices() -> None:
    assert spectral_condition_kernel(3.0 * np.eye(6)) == 1.0
    assert spectral_condition_kernel(np.diag([1.0, 2, 3, 4, 5, 0])) == np.inf
    assert spectral_condition_kernel(np.zeros((6, 6))) == np.inf
    assert spectral_condition_kernel(np.ones((6, 6))) > 1e15
    assert spectral_condition_kernel(np.diag([1e-9, 1e3, 1, 1, 1, 1.0])) == pytest.approx(1e12, rel=1e-14)


def test_condition_numbers_of_path_i_of_1998() -> None:
    # Dasgupta & Mruthyunjaya (1998), fig. 5: from 38 at the start of path I to 47 at its end.
    start = [0.1, 0.0, 0.4, *angles_to_quaternion([0.0, 0.0, -0.2])]
    end = [0.3, 0.0, 0.6, *angles_to_quaternion([0.0, 0.0, 0.2])]
    np.testing.assert_allclose(condition_numbers(DASGUPTA_1998, [start, end]), [38.08, 47.19], atol=0.005)


def test_condition_number_peaks_where_path_iii_of_1998_meets_its_singularity() -> None:
    # Fig. 10: a sharp rise near t = 3.7 s of 6 s.
    path = Blend([0.4, 1.4, 1.2, 0.1, 0.2, 0.0], [0.8, 1.8, 1.8, 0.3, 0.4, 0.0], 6.0, speed=0.2, angular_speed=0.08)
    times = np.arange(61) / 10
    numbers = condition_numbers(DASGUPTA_1998, path.motion(times)[:, :7])
    assert times[numbers.argmax()] == 3.7
    assert numbers.max() == pytest.approx(2.1e4, rel=0.01)
    assert numbers[0] == pytest.approx(2.9e2, rel=0.01)


def test_a_batch_of_condition_numbers_is_its_samples() -> None:
    geometry = lab_hexapod()
    poses = np.stack([random_motion(np.random.default_rng(seed), geometry)[:7] for seed in range(5)])
    np.testing.assert_array_equal(
        condition_numbers(geometry, poses, 0.2), [condition_number(geometry, pose, 0.2) for pose in poses]
    )


def test_kernels_agree_with_the_checked_functions() -> None:
    geometry = random_hexapod(11)
    pose = random_motion(np.random.default_rng(12), geometry)[:7]
    matrix, rows, work = np.empty((6, 6)), np.empty((6, 7)), np.empty((6, 6))
    leg_matrix_kernel(geometry.array, pose, matrix)
    leg_rows_kernel(geometry.array, pose, rows)
    np.testing.assert_array_equal(matrix, leg_matrix(geometry, pose))
    np.testing.assert_array_equal(rows[:, :6], matrix.T)
    assert determinant_kernel(geometry.array, pose, rows) == pytest.approx(np.linalg.det(matrix), rel=1e-12)
    assert condition_number_kernel(geometry.array, pose, 0.3, work) == condition_number(geometry, pose, 0.3)


@settings(max_examples=50)
@given(seed=seeds)
def test_solve_agrees_with_the_library(seed: int) -> None:
    random = np.random.default_rng(seed)
    matrix, right = random.normal(size=(6, 6)), random.normal(size=6)
    system = np.hstack([matrix, right[:, None]])
    assert solve_kernel(system) == pytest.approx(np.linalg.det(matrix), rel=1e-11, abs=1e-12)
    error = 1e-14 * np.linalg.cond(matrix) * np.abs(system[:, 6]).max()
    np.testing.assert_allclose(system[:, 6], np.linalg.solve(matrix, right), rtol=0, atol=error)


def test_solve_says_zero_for_a_singular_matrix_and_pivots_past_zeros() -> None:
    assert solve_kernel(np.zeros((6, 7))) == 0.0
    exchange = np.hstack([np.eye(6)[::-1], np.arange(6.0)[:, None]])
    assert solve_kernel(exchange) == -1.0
    np.testing.assert_array_equal(exchange[:, 6], [5, 4, 3, 2, 1, 0])


def test_twist_at_a_singular_pose_is_refused() -> None:
    geometry = lab_hexapod()
    assert condition_number(geometry, quarter_turn()) > 1e14
    with pytest.raises(SingularityError, match=r"platform is singular at this pose: condition number .* below 1e\+12"):
        forward_twist(geometry, quarter_turn(), np.ones(6))
    with pytest.raises(SingularityError, match=r"x = 0, y = 0, z = 0\.45, qw = 0\.707107, .*, qz = 0\.707107"):
        forward_acceleration(geometry, quarter_turn(), np.zeros(6), np.ones(6))


@pytest.mark.parametrize("length", [0.0, -1.0, np.nan, np.inf])
def test_unusable_characteristic_lengths_are_refused(length: float) -> None:
    with pytest.raises(KinematicsError, match=rf"characteristic length: {length} m, must be finite and above 0 m"):
        condition_number(lab_hexapod(), [0, 0, 0.45, *LEVEL], length)


def test_unusable_poses_and_speeds_are_refused() -> None:
    geometry, pose = lab_hexapod(), [0.0, 0.0, 0.45, *LEVEL]
    with pytest.raises(KinematicsError, match=r"pose: shape \(6,\), must be \(7,\)"):
        leg_matrix(geometry, pose[:6])
    with pytest.raises(KinematicsError, match=r"pose: shape \(2, 7\), must be \(7,\)"):
        leg_matrix(geometry, [pose, pose])
    with pytest.raises(KinematicsError, match="pose: qz is nan, must be finite"):
        condition_number(geometry, [*pose[:6], np.nan])
    with pytest.raises(KinematicsError, match="leg velocities: leg 3 is inf, must be finite"):
        forward_twist(geometry, pose, [0, 0, np.inf, 0, 0, 0])
    with pytest.raises(KinematicsError, match=r"leg velocities: shape \(5,\), must be \(6,\)"):
        forward_twist(geometry, pose, [0.0] * 5)
    with pytest.raises(KinematicsError, match="twist: wy is nan, must be finite"):
        forward_acceleration(geometry, pose, [0, 0, 0, 0, np.nan, 0], [0.0] * 6)
    with pytest.raises(KinematicsError, match="leg accelerations: leg 6 is inf, must be finite"):
        forward_acceleration(geometry, pose, [0.0] * 6, [0, 0, 0, 0, 0, np.inf])
