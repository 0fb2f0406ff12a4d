import numpy as np
import pytest
from hexapods import DASGUPTA_1998, LEVEL, LegFrames, derivative, lab_hexapod, random_hexapod, random_motion
from hypothesis import given, settings
from hypothesis import strategies as st

from kinematics import (
    LEG_COLUMNS,
    MINIMUM_SINE,
    Array,
    Geometry,
    KinematicsError,
    SingularityError,
    inverse_kinematics_kernel,
    joint_angles,
    leg_axes,
    leg_kinematics,
    leg_lengths,
    leg_lengths_kernel,
    leg_strokes,
    quaternion_to_matrix,
)

seeds = st.integers(min_value=0, max_value=2**32 - 1)


def random_case(seed: int) -> tuple[Geometry, Array, LegFrames]:
    geometry = random_hexapod(seed)
    motion = random_motion(np.random.default_rng(seed + 1), geometry)
    return geometry, motion, LegFrames(geometry, motion, quaternion_to_matrix(motion[3:7]))


def tolerance(values: Array) -> float:
    return 1e-9 * (1.0 + float(np.abs(values).max()))


@settings(max_examples=60)
@given(seed=seeds)
def test_agrees_with_differentiated_leg_frames(seed: int) -> None:
    geometry, motion, frames = random_case(seed)
    legs = leg_kinematics(geometry, motion)
    spins = np.sum(legs.angular_velocity * legs.direction, axis=-1)
    accelerations, angular_accelerations = derivative(frames.speeds), derivative(frames.angular_velocities)

    np.testing.assert_allclose(legs.length, frames.lengths(0.0).real, rtol=0, atol=1e-15)
    np.testing.assert_allclose(legs.direction, frames.axes(0.0)[..., 0].real, rtol=0, atol=1e-14)
    np.testing.assert_allclose(legs.velocity, frames.speeds(0.0), rtol=0, atol=1e-14)
    np.testing.assert_allclose(legs.angular_velocity, frames.angular_velocities(0.0), rtol=0, atol=1e-11)
    np.testing.assert_allclose(legs.spin, spins, rtol=0, atol=1e-13)
    np.testing.assert_allclose(legs.acceleration, accelerations, rtol=0, atol=tolerance(accelerations))
    np.testing.assert_allclose(
        legs.angular_acceleration, angular_accelerations, rtol=0, atol=tolerance(angular_accelerations)
    )


@settings(max_examples=40)
@given(seed=seeds)
def test_universal_joint_never_turns_about_its_cross_normal(seed: int) -> None:
    geometry, motion, frames = random_case(seed)
    normal = np.cross(geometry.universal_axes, frames.axes(0.0)[..., 1].real)
    legs = leg_kinematics(geometry, motion)
    np.testing.assert_allclose(np.sum(legs.angular_velocity * normal, axis=-1), 0.0, atol=1e-12)


@settings(max_examples=20)
@given(seed=seeds)
def test_second_derivative_of_the_length_follows_from_the_rotation(seed: int) -> None:
    # L̈ = s·S̈ + L (W·W − (W·s)²), the form in which the papers have it
    geometry, motion, _ = random_case(seed)
    legs = leg_kinematics(geometry, motion)
    q = geometry.platform_points @ quaternion_to_matrix(motion[3:7]).T
    omega, alpha = motion[10:13], motion[16:19]
    second = np.cross(alpha, q) + np.cross(omega, np.cross(omega, q)) + motion[13:16]
    turning = np.sum(legs.angular_velocity**2, axis=-1) - legs.spin**2
    expected = np.sum(legs.direction * second, axis=-1) + legs.length * turning
    np.testing.assert_allclose(legs.acceleration, expected, rtol=1e-11, atol=1e-11)


def test_leg_whose_axis_lies_along_the_motion_has_no_spin() -> None:
    # Pedrammehr et al. (2012), path 1: motion along x, where leg 4's universal axis points; the other legs do spin.
    motion = [-0.25, 0.2, 0.7, *LEVEL, 0.0833, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    legs = leg_kinematics(DASGUPTA_1998, motion)
    assert abs(legs.spin[3]) < 1e-16
    assert np.abs(np.delete(legs.spin, 3)).min() > 1e-4


def test_a_batch_is_its_samples() -> None:
    geometry = lab_hexapod()
    motions = np.stack([random_motion(np.random.default_rng(seed), geometry) for seed in range(7)])
    batch = leg_kinematics(geometry, motions)
    lengths, angles = leg_lengths(geometry, motions[:, :7]), joint_angles(geometry, motions[:, :7])
    assert batch.direction.shape == (7, 6, 3)
    for sample, motion in enumerate(motions):
        alone = leg_kinematics(geometry, motion)
        for name in ("length", "velocity", "acceleration", "direction", "spin", "angular_velocity"):
            np.testing.assert_array_equal(getattr(batch, name)[sample], getattr(alone, name))
        np.testing.assert_array_equal(batch.angular_acceleration[sample], alone.angular_acceleration)
        np.testing.assert_array_equal(lengths[sample], leg_lengths(geometry, motion[:7]))
        np.testing.assert_array_equal(angles.spherical[sample], joint_angles(geometry, motion[:7]).spherical)


def test_an_empty_batch_is_no_fault() -> None:
    assert leg_kinematics(lab_hexapod(), np.empty((0, 19))).angular_velocity.shape == (0, 6, 3)
    assert leg_lengths(lab_hexapod(), np.empty((0, 7))).shape == (0, 6)


def test_kernels_agree_with_the_checked_functions() -> None:
    geometry = lab_hexapod()
    motion = random_motion(np.random.default_rng(8), geometry)
    legs = leg_kinematics(geometry, motion)
    out, lengths = np.empty((6, LEG_COLUMNS)), np.empty(6)
    assert inverse_kinematics_kernel(geometry.array, motion, out) == 0
    leg_lengths_kernel(geometry.array, motion[:7], lengths)
    np.testing.assert_array_equal(lengths, legs.length)
    np.testing.assert_array_equal(out[:, :3], np.stack([legs.length, legs.velocity, legs.acceleration], axis=1))
    np.testing.assert_array_equal(out[:, 6], legs.spin)

    for leg in range(6):
        u, s = geometry.universal_axes[leg], legs.direction[leg]
        *axes, sine, slope = leg_axes(*u, *s)
        v, w = np.array(axes[:3]), np.array(axes[3:])
        np.testing.assert_allclose(np.cross(u, s), sine * v, atol=1e-15)
        np.testing.assert_allclose(np.cross(s, v), w, atol=1e-15)
        np.testing.assert_allclose(u, slope * sine * s + sine * w, atol=1e-15)


def test_a_drifting_quaternion_norm_does_not_scale_the_platform() -> None:
    geometry = lab_hexapod()
    motion = random_motion(np.random.default_rng(8), geometry)
    scaled = motion.copy()
    scaled[3:7] *= 1.0 + 5e-7
    np.testing.assert_allclose(leg_lengths(geometry, scaled[:7]), leg_lengths(geometry, motion[:7]), atol=1e-15)


def along_leg_four(tilt: float = 0.0) -> Geometry:
    geometry = lab_hexapod()
    axes = geometry.universal_axes.copy()
    direction = leg_kinematics(geometry, [*geometry.home_pose, *[0.0] * 12]).direction[3]
    axes[3] = np.cos(tilt) * direction + np.sin(tilt) * np.cross(direction, [1.0, 0.0, 0.0])
    return Geometry(geometry.base_points, axes, geometry.platform_points, geometry.home)


def test_leg_along_its_universal_axis_is_refused_by_name() -> None:
    geometry = along_leg_four()
    motion = np.concatenate([geometry.home_pose, np.ones(12)])
    message = r"leg 4 stands along its universal joint's fixed axis: .* below 1e-06"
    with pytest.raises(SingularityError, match=f"^{message}"):
        leg_kinematics(geometry, motion)
    elsewhere = motion.copy()
    elsewhere[0] += 0.05
    with pytest.raises(SingularityError, match=f"^sample 2, {message}"):
        leg_kinematics(geometry, [elsewhere, elsewhere, motion])
    out = np.empty((6, LEG_COLUMNS))
    assert inverse_kinematics_kernel(geometry.array, motion, out) == 4
    assert np.isfinite(leg_lengths(geometry, geometry.home_pose)).all()


def test_leg_just_off_its_universal_axis_is_still_exact() -> None:
    geometry = along_leg_four(tilt=1e3 * MINIMUM_SINE)
    motion = np.concatenate([geometry.home_pose, np.full(12, 0.1)])
    frames = LegFrames(geometry, motion, np.eye(3))
    legs = leg_kinematics(geometry, motion)
    np.testing.assert_allclose(legs.angular_velocity, frames.angular_velocities(0.0), rtol=1e-9)


def test_leg_of_no_length_is_refused_by_name() -> None:
    geometry = lab_hexapod()
    base = geometry.base_points.copy()
    base[1] = geometry.platform_points[1]
    collapsed = Geometry(base, geometry.universal_axes, geometry.platform_points, geometry.home)
    pose = [0.0, 0.0, 0.0, *LEVEL]
    with pytest.raises(SingularityError, match=r"^leg 2: length 0 m, must be at least 1e-09 m"):
        leg_kinematics(collapsed, [*pose, *[0.0] * 12])
    with pytest.raises(SingularityError, match=r"^leg 2 has no direction"):
        joint_angles(collapsed, pose)


def test_joint_angles_and_strokes_are_zero_at_home() -> None:
    geometry = random_hexapod(4)
    angles = joint_angles(geometry, geometry.home_pose)
    np.testing.assert_array_equal(angles.universal, 0.0)
    np.testing.assert_array_equal(angles.spherical, 0.0)
    np.testing.assert_array_equal(leg_strokes(geometry, geometry.home_pose), 0.0)


@settings(max_examples=20)
@given(seed=seeds)
def test_joint_angles_are_those_between_the_leg_axes(seed: int) -> None:
    geometry, motion, _ = random_case(seed)
    still = [*geometry.home_pose, *[0.0] * 12]
    rotation = quaternion_to_matrix(motion[3:7])
    now, home = leg_kinematics(geometry, motion).direction, leg_kinematics(geometry, still).direction
    angles = joint_angles(geometry, motion[:7])
    np.testing.assert_allclose(np.cos(angles.universal), np.sum(now * home, axis=-1), rtol=0, atol=1e-14)
    np.testing.assert_allclose(np.cos(angles.spherical), np.sum(now @ rotation * home, axis=-1), rtol=0, atol=1e-14)


def test_lift_strokes_every_leg_and_turns_both_its_joints_alike() -> None:
    geometry = lab_hexapod()
    pose = geometry.home_pose + np.array([0, 0, 0.05, 0, 0, 0, 0])
    angles = joint_angles(geometry, pose)
    np.testing.assert_allclose(angles.universal, angles.spherical, rtol=0, atol=1e-15)
    np.testing.assert_allclose(leg_strokes(geometry, pose), leg_strokes(geometry, pose)[0], rtol=1e-12)
    assert leg_strokes(geometry, pose)[0] > 0.04


def test_without_home_there_are_neither_joint_angles_nor_strokes() -> None:
    pose = [0.1, 0.0, 0.4, *LEVEL]
    for function in (joint_angles, leg_strokes):
        with pytest.raises(KinematicsError, match="no home pose"):
            function(DASGUPTA_1998, pose)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m[:18], r"motion: shape \(18,\), must be \(19,\) or \(n, 19\)"),
        (lambda m: m.reshape(1, 1, 19), r"motion: shape \(1, 1, 19\), must be"),
        (lambda m: np.where(np.arange(19) == 11, np.nan, m), "motion: wy is nan, must be finite"),
        (lambda m: np.stack([m, np.where(np.arange(19) == 2, np.inf, m)]), "motion: sample 1, z is inf"),
        (
            lambda m: m * np.where(np.arange(19) == 3, 1.01, 1.0),
            r"motion: quaternion norm 1\.01, must be 1 within 1e-06",
        ),
        (lambda m: np.stack([m, m * 0.0]), "motion, sample 1: quaternion norm 0, must be 1"),
        (lambda m: m.astype(str), r"motion: holds <U\d+ values, must be real numbers"),
        (lambda m: m + 0j, "motion: holds complex128 values, must be real numbers"),
        (lambda m: [*m[:18], [1.0]], "motion: not a regular array of numbers"),
        (lambda _: True, "motion: holds bool values"),
    ],
)
def test_unusable_motions_are_refused(change: object, message: str) -> None:
    motion = np.array([0.0, 0.0, 0.45, *LEVEL, *[0.0] * 12])
    with pytest.raises(KinematicsError, match=message):
        leg_kinematics(lab_hexapod(), change(motion))  # type: ignore[operator]
