"""Computed torque of any arm: one law in two forms, convergence under full gains, and what the misprint does."""

from dataclasses import replace

import numpy as np
import pytest
from random_arms import random_arm

from dynamics import DynamicsError
from dynamics.serial import ArmDynamics, ControlSettings, control_arm, load_arm

PERIOD = 0.005


def swing(joints, seconds=0.5):
    """A motion of all joints: times, and q, q̇, q̈ (m, n)."""
    times = np.arange(round(seconds / PERIOD) + 1) * PERIOD
    rates = 2.0 + np.arange(joints)
    phase = np.outer(times, rates)
    return times, (0.3 * np.sin(phase), 0.3 * rates * np.cos(phase), -0.3 * rates**2 * np.sin(phase))


@pytest.mark.parametrize("coupled", [False, True])
def test_newton_euler_and_lagrange_forms_give_equal_torques(coupled):
    """Gravity in any direction, both kinds of joints, drives that are coupled: eq. 4.4 against 4.1, full gains."""
    rng = np.random.default_rng(31 + coupled)
    arm = random_arm(rng, 4, coupled=coupled)
    times, desired = swing(4, 0.1)
    gains = (np.diag([300.0, 350.0, 400.0, 450.0]) + 40.0).tolist(), (30.0 * np.eye(4) + 4.0).tolist()
    plant = replace(arm, gravity=0.9 * arm.gravity)  # so that there is an error to feed back
    first, second = (
        control_arm(arm, plant, times, desired, ControlSettings(*gains, law=law, coulomb_speed=0.05))
        for law in ("mended", "lagrange")
    )
    assert first.peak.max() > 1e-4
    np.testing.assert_allclose(second.torques, first.torques, rtol=1e-8, atol=1e-8 * np.abs(first.torques).max())
    np.testing.assert_allclose(second.actual, first.actual, atol=1e-9)


def test_the_printed_sign_of_gravity_reverses_gravity_compensation():
    arm = load_arm("scara").without_drives()
    still = np.zeros((2, 4))
    run = control_arm(arm, arm, [0.0, PERIOD], (still, still, still), ControlSettings(100.0, 20.0, law="as-printed"))
    weight = ArmDynamics(arm).inverse(still[0], still[0], still[0])
    np.testing.assert_allclose(run.torques[0], -weight, atol=1e-9)


def test_the_error_obeys_the_equation_of_its_gains():
    """Started beside the motion, each joint's error follows e'' + K_v e' + K_p e = 0, whatever the arm does."""
    rng = np.random.default_rng(33)
    arm = random_arm(rng, 3, friction=False)
    period, count = 0.0005, 400
    times = period * np.arange(count + 1)
    moving = (np.full((count + 1, 3), 0.2), np.zeros((count + 1, 3)), np.zeros((count + 1, 3)))
    moving[0][0] = 0.0  # the arm starts at the first row
    run = control_arm(arm, arm, times, moving, ControlSettings(400.0, 40.0))
    late = run.error[1:]
    expected = 0.2 * (1.0 + 20.0 * (times[1:] - period)) * np.exp(-20.0 * (times[1:] - period))
    np.testing.assert_allclose(late, np.repeat(expected[:, np.newaxis], 3, axis=1), atol=2e-3)


@pytest.mark.parametrize(
    "times, settings, fault",
    [
        ([0.0, 0.1, 0.3], ControlSettings(100.0, 20.0), "times: must be evenly spaced"),
        ([0.0], ControlSettings(100.0, 20.0), r"times: shape \(1,\), must be \(m,\) with at least 2"),
        ([0.0, 0.1], ControlSettings(0.0, 20.0), r"K_p: least eigenvalue 0 1/s², must be above 0 1/s² \(condition b\)"),
        ([0.0, 0.1], ControlSettings(100.0, 0.0), r"rank of .* is 0, must be 4: what is not damped .* \(condition c\)"),
        ([0.0, 0.1], ControlSettings(np.eye(3).tolist(), 1.0), r"K_p: shape \(3, 3\), must be a number, 4 numbers"),
    ],
)  # fmt: skip
def test_gains_and_times_that_are_not_valid_are_refused(times, settings, fault):
    arm = load_arm("scara")
    still = np.zeros((len(times), 4))
    with pytest.raises(DynamicsError, match=fault):
        control_arm(arm, arm, times, (still, still, still), settings)
