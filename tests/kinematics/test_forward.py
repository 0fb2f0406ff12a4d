import numpy as np
import pytest
from hexapods import (
    DASGUPTA_1998,
    LEVEL,
    displaced,
    lab_hexapod,
    pose_error,
    random_hexapod,
    random_poses,
    reachable_poses,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from kinematics import (
    CONVERGED,
    CROSSED,
    EXHAUSTED,
    FORWARD_WORK,
    INVALID,
    Array,
    AssemblyModeError,
    ConvergenceError,
    Geometry,
    KinematicsError,
    determinant_kernel,
    forward_kinematics,
    forward_kinematics_kernel,
    leg_lengths,
    quaternion_from_rotation_vector,
)

MIRRORED_HOME = [0.0, 0.0, -0.45, *LEVEL]


def without_home(geometry: Geometry) -> Geometry:
    return Geometry(geometry.base_points, geometry.universal_axes, geometry.platform_points)


def yawed(angle: float, height: float = 0.45) -> Array:
    return np.array([0.0, 0.0, height, np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])


def side(geometry: Geometry, pose: Array) -> float:
    return float(np.sign(determinant_kernel(geometry.array, pose, np.empty((6, 7)))))


def test_every_reachable_pose_is_found_from_a_guess_beside_it() -> None:
    geometry, random = lab_hexapod(), np.random.default_rng(20)
    poses = reachable_poses(random, geometry, 10_000)
    guesses = displaced(random, poses, distance=0.05, angle=0.1)
    lengths = leg_lengths(geometry, poses)
    worst = max(
        pose_error(forward_kinematics(geometry, legs, guess), pose)
        for pose, guess, legs in zip(poses, guesses, lengths, strict=True)
    )
    assert worst <= 1e-12


def test_every_reachable_pose_is_found_from_home() -> None:
    geometry = lab_hexapod()
    poses = reachable_poses(np.random.default_rng(21), geometry, 2_000)
    for pose in poses:
        assert pose_error(forward_kinematics(geometry, leg_lengths(geometry, pose), geometry.home_pose), pose) <= 1e-12


def test_a_far_guess_is_never_answered_by_another_assembly_in_silence() -> None:
    geometry, random = lab_hexapod(), np.random.default_rng(22)
    poses = reachable_poses(random, geometry, 2_000)
    guesses = displaced(random, poses, distance=0.2, angle=0.9)
    refused = 0
    for pose, guess in zip(poses, guesses, strict=True):
        try:
            found = forward_kinematics(geometry, leg_lengths(geometry, pose), guess)
        except ConvergenceError:
            refused += 1
        else:
            assert pose_error(found, pose) <= 1e-11
    assert 0 < refused < 300  # some guesses do lie across a singularity


@settings(max_examples=60)
@given(seed=st.integers(min_value=0, max_value=2**32 - 1))
def test_poses_of_random_platforms_are_found(seed: int) -> None:
    random = np.random.default_rng(seed)
    geometry = without_home(random_hexapod(seed))
    home = random_hexapod(seed).home_pose
    pose = random_poses(random, home, 1, distance=0.08, angle=0.3)
    guess = displaced(random, pose, distance=0.02, angle=0.05)[0]
    found = forward_kinematics(geometry, leg_lengths(geometry, pose[0]), guess)
    np.testing.assert_allclose(leg_lengths(geometry, found), leg_lengths(geometry, pose[0]), rtol=0, atol=1e-15 * 8)
    assert pose_error(found, pose[0]) <= 1e-12
    assert np.linalg.norm(found[3:]) == pytest.approx(1.0, abs=1e-15)


def test_a_warm_start_follows_a_path_and_keeps_the_quaternion_continuous() -> None:
    geometry = lab_hexapod()
    pose = yawed(-0.5)
    pose[3:] *= -1.0
    for angle in np.linspace(-0.5, 0.5, 101):
        target = yawed(angle, height=0.47)
        found = forward_kinematics(geometry, leg_lengths(geometry, target), pose)
        assert pose_error(found, target) <= 1e-12
        assert found[3:] @ pose[3:] > 0.99
        pose = found


def test_far_lengths_are_reached_in_parts() -> None:
    geometry = lab_hexapod()
    target = np.array([0.05, -0.04, 0.55, *quaternion_from_rotation_vector([0.4, -0.3, 0.8])])
    work, pose = np.empty(FORWARD_WORK), yawed(-0.9, height=0.32)
    status, steps, residual, _ = forward_kinematics_kernel(
        geometry.array, leg_lengths(geometry, target), pose, 1e-13, 100, work
    )
    assert status == CONVERGED
    assert steps > 8  # more than one run
    assert residual <= 1e-15
    assert pose_error(pose, target) <= 1e-12


def test_the_mirrored_platform_is_refused_where_home_is_known() -> None:
    geometry = lab_hexapod()
    lengths = leg_lengths(geometry, geometry.home_pose)
    np.testing.assert_allclose(leg_lengths(geometry, MIRRORED_HOME), lengths, rtol=1e-15)
    with pytest.raises(AssemblyModeError, match=r"guess is across a singularity from home: det H is .* at home"):
        forward_kinematics(geometry, lengths, MIRRORED_HOME)
    found = forward_kinematics(without_home(geometry), lengths, MIRRORED_HOME)
    assert pose_error(found, np.array(MIRRORED_HOME)) <= 1e-12


def test_lengths_across_a_singularity_are_refused() -> None:
    # A symmetric platform is singular when turned a quarter; no leg lengths take it past that from the near side.
    geometry = lab_hexapod()
    guess, beyond = yawed(1.2), yawed(2.0)
    assert side(geometry, guess) == -side(geometry, beyond)
    lengths = leg_lengths(geometry, beyond)
    try:
        found = forward_kinematics(geometry, lengths, guess)
    except ConvergenceError as error:
        assert error.iterations > 0
        assert error.residual > 0.0
    else:
        assert side(geometry, found) == side(geometry, guess)
        np.testing.assert_allclose(leg_lengths(geometry, found), lengths, rtol=0, atol=1e-13)


def test_guess_on_a_singularity_is_refused() -> None:
    geometry = lab_hexapod()
    lengths = leg_lengths(geometry, yawed(1.4))
    with pytest.raises(ConvergenceError):
        forward_kinematics(without_home(geometry), lengths, yawed(np.pi / 2))


@pytest.mark.parametrize("lengths", [[0.4] * 5 + [3.0], [0.05] * 6, [0.62, 0.4, 0.4, 0.4, 0.4, 0.05]])
def test_lengths_no_pose_has_are_refused_with_how_far_it_got(lengths: list[float]) -> None:
    geometry = lab_hexapod()
    with pytest.raises(
        ConvergenceError, match=r"stopped after \d+ of 100 Newton steps with a leg length .* m off"
    ) as e:
        forward_kinematics(geometry, lengths, geometry.home_pose)
    assert 0 < e.value.iterations <= 100
    assert 1e-6 < e.value.residual < 3.0


def test_too_few_steps_are_refused_with_the_residual_they_left() -> None:
    geometry = lab_hexapod()
    lengths = leg_lengths(geometry, yawed(0.2, height=0.5))
    residuals = []
    for iterations in (1, 2, 3):
        with pytest.raises(ConvergenceError, match=f"after {iterations} of {iterations} Newton steps") as error:
            forward_kinematics(geometry, lengths, geometry.home_pose, iterations=iterations)
        assert error.value.iterations == iterations
        residuals.append(error.value.residual)
    assert residuals[0] > 10 * residuals[1] > 100 * residuals[2] > 0.0


def test_looser_tolerance_costs_fewer_steps() -> None:
    geometry, work = lab_hexapod(), np.empty(FORWARD_WORK)
    lengths = leg_lengths(geometry, yawed(0.2, height=0.5))
    steps = []
    for tolerance in (1e-13, 1e-2):
        pose = geometry.home_pose.copy()
        status, used, residual, _ = forward_kinematics_kernel(geometry.array, lengths, pose, tolerance, 20, work)
        assert status == CONVERGED
        assert residual <= tolerance
        steps.append(used)
    assert steps[1] < steps[0]


@pytest.mark.parametrize(
    ("lengths", "pose", "tolerance", "iterations", "expected"),
    [
        ([0.5] * 5 + [np.nan], yawed(0.0), 1e-13, 20, INVALID),
        ([0.5] * 5 + [np.inf], yawed(0.0), 1e-13, 20, INVALID),
        ([0.5] * 5 + [0.0], yawed(0.0), 1e-13, 20, INVALID),
        ([0.5] * 5 + [-0.5], yawed(0.0), 1e-13, 20, INVALID),
        ([0.5] * 6, yawed(np.nan), 1e-13, 20, INVALID),
        ([0.5] * 6, yawed(0.0) * 0.0, 1e-13, 20, INVALID),
        ([0.5] * 6, yawed(0.0), 0.0, 20, INVALID),
        ([0.5] * 6, yawed(0.0), np.nan, 20, INVALID),
        ([0.5] * 6, yawed(0.0), 1e-13, 2, EXHAUSTED),
        ([0.5] * 6, yawed(0.0), 1e-13, 0, EXHAUSTED),
        ([0.4] * 5 + [3.0], yawed(0.0), 1e-13, 1000, EXHAUSTED),
    ],
)
def test_the_kernel_gives_a_status_and_leaves_the_guess(
    lengths: list[float], pose: Array, tolerance: float, iterations: int, expected: int
) -> None:
    guess = pose.copy()
    status, used, residual, _ = forward_kinematics_kernel(
        lab_hexapod().array, np.array(lengths), pose, tolerance, iterations, np.empty(FORWARD_WORK)
    )
    assert status in (expected, CROSSED) if expected == EXHAUSTED else status == expected
    assert used <= iterations
    assert residual > 0.0
    np.testing.assert_array_equal(pose, guess)


def test_neither_guess_nor_lengths_are_changed() -> None:
    geometry = lab_hexapod()
    guess, lengths = yawed(0.1), leg_lengths(geometry, yawed(0.2))
    guess_before, lengths_before = guess.copy(), lengths.copy()
    forward_kinematics(geometry, lengths, guess)
    np.testing.assert_array_equal(guess, guess_before)
    np.testing.assert_array_equal(lengths, lengths_before)


def test_geometry_of_1998_without_a_home() -> None:
    pose = np.array([0.2, 0.0, 0.5, *LEVEL])
    guess = np.array([0.22, 0.01, 0.48, *quaternion_from_rotation_vector([0.05, -0.02, 0.03])])
    found = forward_kinematics(DASGUPTA_1998, leg_lengths(DASGUPTA_1998, pose), guess)
    assert pose_error(found, pose) <= 1e-12


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lengths": [0.5] * 5}, r"leg lengths: shape \(5,\), must be \(6,\)"),
        ({"lengths": [[0.5] * 6]}, r"leg lengths: shape \(1, 6\), must be \(6,\)"),
        ({"lengths": [0.5, np.nan, 0.5, 0.5, 0.5, 0.5]}, "leg lengths: leg 2 is nan, must be finite"),
        ({"lengths": [0.5, 0.5, -0.1, 0.5, 0.5, 0.5]}, "leg lengths: leg 3 is -0.1 m, must be above 0 m"),
        ({"lengths": [0.5, 0.5, 0.5, 0.5, 0.5, 0.0]}, "leg lengths: leg 6 is 0 m, must be above 0 m"),
        ({"guess": [0.0, 0.0, 0.45, 1.0, 0.0, 0.0, 0.1]}, r"guess: quaternion norm 1\.00498756, must be 1 within"),
        ({"guess": [0.0, 0.0, np.inf, *LEVEL]}, "guess: z is inf, must be finite"),
        ({"guess": [0.0, 0.0, 0.45]}, r"guess: shape \(3,\), must be \(7,\)"),
        ({"tolerance": 1e-17}, r"tolerance: 1e-17 m, must be finite and at least 8\.9e-16 m"),
        ({"tolerance": np.nan}, "tolerance: nan m, must be finite"),
        ({"tolerance": np.inf}, "tolerance: inf m, must be finite"),
        ({"iterations": 0}, "iterations: 0, must be at least 1"),
    ],
)
def test_unusable_arguments_are_refused(change: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {"lengths": [0.5] * 6, "guess": yawed(0.0), "tolerance": 1e-13, "iterations": 20}
    with pytest.raises(KinematicsError, match=message):
        forward_kinematics(lab_hexapod(), **{**arguments, **change})  # type: ignore[arg-type]
