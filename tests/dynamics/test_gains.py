"""The gains of computed torque: the conditions under which the error vanishes, and what it does under full matrices."""

import numpy as np
import pytest
from scipy.linalg import expm
from serial_chains import random_chain

from dynamics import DynamicsError
from dynamics.serial import check_gains, computed_torque, computed_torque_lagrange, simulate_chain
from kinematics import Array


def definite(rng: np.random.Generator, n: int, least: float, most: float) -> Array:
    """A symmetric matrix with eigenvalues between the two, and nothing diagonal about it."""
    axes = np.linalg.qr(rng.normal(size=(n, n)))[0]
    matrix: Array = axes @ np.diag(rng.uniform(least, most, n)) @ axes.T
    return 0.5 * (matrix + matrix.T)


@pytest.mark.parametrize("joints", [2, 3])
def test_the_error_follows_its_equation_under_full_matrices(joints: int) -> None:
    rng = np.random.default_rng(joints)
    chain = random_chain(rng, joints)
    kp, kv = definite(rng, joints, 50.0, 100.0), definite(rng, joints, 10.0, 20.0)
    start = rng.normal(scale=0.3, size=2 * joints)

    def desired(time: float) -> tuple[list[float], list[float], list[float]]:
        return [np.sin(time)] * joints, [np.cos(time)] * joints, [-np.sin(time)] * joints

    def torque(time: float, q: list[float], qd: list[float]) -> list[float]:
        return computed_torque(chain, desired(time), q, qd, kp.tolist(), kv)

    run = simulate_chain(chain, -start[:joints], 1.0 - start[joints:], torque, 0.4, 0.01)
    error = np.sin(run.times)[:, None] - run.q
    companion = np.block([[np.zeros((joints, joints)), np.eye(joints)], [-kp, -kv]])
    expected = np.array([(expm(companion * time) @ start)[:joints] for time in run.times])
    assert np.abs(error - expected).max() < 1e-5 * np.abs(expected).max()
    # with the diagonals alone it would be another
    alone = np.block([[np.zeros((joints, joints)), np.eye(joints)], [-np.diag(np.diag(kp)), -np.diag(np.diag(kv))]])
    other = np.array([(expm(alone * time) @ start)[:joints] for time in run.times])
    assert np.abs(error - other).max() > 1e-2 * np.abs(expected).max()


def test_both_laws_take_matrices() -> None:
    rng = np.random.default_rng(4)
    chain = random_chain(rng, 4)
    desired = tuple(rng.normal(size=(3, 4)).tolist())
    q, qd = rng.normal(size=(2, 4))
    kp, kv = definite(rng, 4, 50.0, 100.0), definite(rng, 4, 10.0, 20.0)
    one = computed_torque(chain, desired, q, qd, kp, kv)
    np.testing.assert_allclose(computed_torque_lagrange(chain, desired, q, qd, kp, kv), one, rtol=1e-10)
    same = computed_torque(chain, desired, q, qd, 90.0 * np.eye(4), 9.0 * np.eye(4))
    np.testing.assert_allclose(computed_torque(chain, desired, q, qd, 90.0, 9.0), same, rtol=1e-12)


_SWINGING = [[2.0, 2.0], [2.0, 2.0]]
"""Non-negative definite; does not damp (1, −1)."""


@pytest.mark.parametrize(
    ("kp", "kv", "message"),
    [
        (100.0, [[20.0, 1.0], [0.0, 20.0]], r"K_v: not symmetric, by 1 1/s \(condition a\)"),
        (100.0, [[1.0, 2.0], [2.0, 1.0]], r"K_v: least eigenvalue -1 1/s, must be at least 0 1/s \(condition a\)"),
        ([[9.0, 0.5], [0.0, 9.0]], 2.0, r"K_p: not symmetric, by 0.5 1/s² \(condition b\)"),
        (0.0, 20.0, r"K_p: least eigenvalue 0 1/s², must be above 0 1/s² \(condition b\)"),
        ([[1.0, 2.0], [2.0, 1.0]], 2.0, r"K_p: least eigenvalue -1 1/s².*condition b"),
        (100.0, _SWINGING, r"rank of .* is 1, must be 2: .* \(condition c\)"),
        (100.0, 0.0, r"rank of .* is 0, must be 2"),
        (np.eye(3), 2.0, r"K_p: shape \(3, 3\), must be a number, 2 numbers, or 2 rows of 2"),
        ([9.0, 9.0, 9.0], 2.0, r"K_p: shape \(3,\), must be a number, 2 numbers, or 2 rows of 2"),
        ("100", 2.0, "K_p: '100', must be a number, 2 numbers"),
        (True, 2.0, "K_p: True, must be a number, 2 numbers"),
        ([[9.0, 0.0], [9.0]], 2.0, r"K_p: \[\[9.0, 0.0\], \[9.0\]\], must be a number"),
        ([9.0, 0.0], 2.0, r"K_p: least eigenvalue 0 1/s²"),
        (100.0, float("nan"), "K_v: .*nan.* is not finite"),
    ],
)
def test_gains_are_refused_by_the_condition_that_fails(kp: object, kv: object, message: str) -> None:
    with pytest.raises(DynamicsError, match=message):
        check_gains(kp, kv, 2)
    chain = random_chain(np.random.default_rng(1), 2)
    still = [0.0, 0.0]
    for law in (computed_torque, computed_torque_lagrange):
        with pytest.raises(DynamicsError, match=message):
            law(chain, (still, still, still), still, still, kp, kv)


def test_condition_c_is_what_damps_the_rest_through_the_stiffness() -> None:
    """A K_v of rank 1 does where K_p couples what it does not damp to what it does: e vanishes; else it goes on."""
    coupled = [[100.0, 10.0], [10.0, 60.0]]
    check_gains(coupled, _SWINGING, 2)
    for kp, vanishes in ((np.array(coupled), True), (100.0 * np.eye(2), False)):
        companion = np.block([[np.zeros((2, 2)), np.eye(2)], [-kp, -np.array(_SWINGING)]])
        slowest = float(np.linalg.eigvals(companion).real.max())
        assert (slowest < -1e-3) is vanishes
