"""Rotations against scipy, and every derivative against finite differences."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kinematics import rotations as rot
from kinematics.errors import KinematicsError

Array = NDArray[np.float64]

angles = arrays(np.float64, 3, elements=st.floats(-1.5, 1.5))
vectors = arrays(np.float64, 3, elements=st.floats(-3.0, 3.0))
quick = settings(max_examples=60)


def random_quaternions(count: int) -> Array:
    q = np.random.default_rng(1).normal(size=(count, 4))
    return np.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))


def central(function: Callable[[float], Array], t: float, h: float = 1e-4) -> Array:
    """Fourth-order central difference."""
    return (8 * (function(t + h) - function(t - h)) - (function(t + 2 * h) - function(t - 2 * h))) / (12 * h)


def test_quaternions_agree_with_scipy() -> None:
    a, b = random_quaternions(50), random_quaternions(50)[::-1]
    ra, rb = Rotation.from_quat(a, scalar_first=True), Rotation.from_quat(b, scalar_first=True)
    np.testing.assert_allclose(rot.quaternion_to_matrix(a), ra.as_matrix(), atol=1e-14)
    product = rot.quaternion_multiply(a, b)
    np.testing.assert_allclose(rot.quaternion_to_matrix(product), (ra * rb).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(rot.quaternion_to_matrix(rot.quaternion_conjugate(a)), ra.inv().as_matrix(), atol=1e-14)
    np.testing.assert_allclose(rot.rotation_vector_from_quaternion(a), ra.as_rotvec(), atol=1e-13)
    back = rot.matrix_to_quaternion(rot.quaternion_to_matrix(a))
    assert (back[:, 0] >= 0).all()
    np.testing.assert_allclose(back, a * np.sign(a[:, :1]), atol=1e-14)


def test_angles_agree_with_scipy_and_come_back() -> None:
    values = np.random.default_rng(2).uniform([-3, -1.5, -3], [3, 1.5, 3], (50, 3))
    expected = Rotation.from_euler("ZYX", values[:, ::-1]).as_matrix()
    np.testing.assert_allclose(rot.angles_to_matrix(values), expected, atol=1e-14)
    np.testing.assert_allclose(rot.matrix_to_angles(expected), values, atol=1e-12)
    np.testing.assert_allclose(rot.quaternion_to_angles(-rot.angles_to_quaternion(values)), values, atol=1e-12)


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-12, 1e-3, 1.0, 3.14159])
def test_rotation_vectors_come_back(size: float) -> None:
    vector = size * np.array([2.0, -1.0, 2.0]) / 3.0
    quaternion = rot.quaternion_from_rotation_vector(vector)
    assert np.linalg.norm(quaternion) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(rot.rotation_vector_from_quaternion(quaternion), vector, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(rot.rotation_vector_from_quaternion(-quaternion), vector, rtol=1e-11, atol=1e-300)


@quick
@given(angles, vectors, vectors)
def test_angle_derivatives_become_omega_and_alpha(theta: Array, rates: Array, accelerations: Array) -> None:
    def at(t: float) -> Array:
        return np.asarray(theta + rates * t + 0.5 * accelerations * t * t)

    def omega(t: float) -> Array:
        return rot.angle_rates_to_angular_velocity(at(t), rates + accelerations * t)

    matrix = rot.angles_to_matrix(at(0.0))
    skew = central(lambda t: rot.angles_to_matrix(at(t)), 0.0) @ matrix.T
    np.testing.assert_allclose([skew[2, 1], skew[0, 2], skew[1, 0]], omega(0.0), atol=1e-9)
    alpha = rot.angle_accelerations_to_angular_acceleration(theta, rates, accelerations)
    np.testing.assert_allclose(alpha, central(omega, 0.0), atol=1e-8)
    np.testing.assert_allclose(rot.angular_velocity_to_angle_rates(theta, omega(0.0)), rates, atol=1e-12)
    np.testing.assert_allclose(
        rot.angular_acceleration_to_angle_accelerations(theta, rates, alpha), accelerations, atol=1e-10
    )


def test_motion_round_trip_over_leading_axes() -> None:
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.uniform(-1.2, 1.2, (3, 4, 5, 6))
    motion = rot.coordinates_to_motion(q, qd, qdd)
    assert motion.shape == (4, 5, 19)
    np.testing.assert_allclose(motion[..., :7], rot.coordinates_to_pose(q), atol=1e-15)
    np.testing.assert_allclose(
        motion[..., 10:13], rot.angle_rates_to_angular_velocity(q[..., 3:], qd[..., 3:]), atol=1e-14
    )
    np.testing.assert_allclose(
        motion[..., 16:],
        rot.angle_accelerations_to_angular_acceleration(q[..., 3:], qd[..., 3:], qdd[..., 3:]),
        atol=1e-14,
    )
    for back, original in zip(rot.motion_to_coordinates(motion), (q, qd, qdd), strict=True):
        np.testing.assert_allclose(back, original, atol=1e-11)
    np.testing.assert_allclose(rot.pose_to_coordinates(motion[..., :7]), q, atol=1e-13)


def test_pose_difference_leads_from_b_to_a() -> None:
    a = np.concatenate([[[0.1, 0.2, 0.3]] * 20, random_quaternions(20)], axis=1)
    b = np.array([0.0, -0.1, 0.5, *rot.angles_to_quaternion([0.1, 0.2, -0.3])])
    difference = rot.pose_difference(a, b)
    np.testing.assert_allclose(difference[:, :3], [[0.1, 0.3, -0.2]] * 20)
    turn = rot.quaternion_to_matrix(rot.quaternion_from_rotation_vector(difference[:, 3:]))
    np.testing.assert_allclose(turn @ rot.quaternion_to_matrix(b[3:]), rot.quaternion_to_matrix(a[:, 3:]), atol=1e-13)
    np.testing.assert_allclose(rot.pose_difference(b, b), np.zeros(6), atol=1e-15)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rot.matrix_to_angles(rot.angles_to_matrix([0.3, np.pi / 2, 0.1])), "too near ±90°"),
        (lambda: rot.angular_velocity_to_angle_rates([0.0, -np.pi / 2 + 1e-5, 0.0], [1.0, 0, 0]), "θy = -89.999°"),
        (lambda: rot.quaternion_normalise([0.0, 0.0, 0.0, 0.0]), "zero"),
        (lambda: rot.quaternion_to_matrix([1.0, 0.0, 0.0, 0.01]), "norm 1"),
        (lambda: rot.quaternion_to_matrix([np.nan, 0.0, 0.0, 0.0]), "not finite"),
        (lambda: rot.matrix_to_quaternion(np.eye(3) * 1.01), "orthonormal"),
        (lambda: rot.matrix_to_quaternion(np.diag([1.0, 1.0, -1.0])), "mirrors"),
        (lambda: rot.angles_to_matrix([1.0, 2.0]), "shape (…, 3)"),
        (lambda: rot.angles_to_matrix(1.0), "shape (…, 3)"),
        (lambda: rot.pose_difference(np.zeros(7), np.zeros(7)), "quaternion of pose_a must have the norm 1"),
    ],
)
def test_refusals(call: Callable[[], object], message: str) -> None:
    with pytest.raises(KinematicsError) as caught:
        call()
    assert message in str(caught.value)
