"""The platform's equations as an integrator has them that takes them once a step, against the mass matrix and h."""

import numpy as np
import pytest

from dynamics import (
    DRIFT,
    FROZEN_SIZE,
    MOBILITY,
    OK,
    WORK_SIZE,
    Dynamics,
    frozen_acceleration_kernel,
    frozen_kernel,
    load_mechanism,
    without_leg_friction,
)
from kinematics import Array, leg_kinematics, leg_matrix

LAB = load_mechanism("lab-hexapod")
COULOMB_SPEED = 1e-3
WRENCH = np.array([5.0, -3.0, 20.0, 0.4, -0.2, 0.7])
FORCES = np.array([40.0, 55.0, 10.0, -20.0, 80.0, 35.0])


def moving(seed: int) -> Array:
    """A state (13,) near home."""
    random = np.random.default_rng(seed)
    state = np.concatenate([LAB.geometry.home_pose, random.normal(scale=0.3, size=6)])
    state[:3] += random.uniform(-0.02, 0.02, 3)
    state[3:7] += random.uniform(-0.05, 0.05, 4)
    state[3:7] /= np.linalg.norm(state[3:7])
    return state


def frozen_at(state: Array) -> tuple[Array, Array]:
    """`frozen`, and the friction along the legs that is left out of it."""
    smooth, friction = without_leg_friction(Dynamics(LAB, COULOMB_SPEED).parameters)
    work, frozen = np.zeros(WORK_SIZE), np.zeros(FROZEN_SIZE)
    work[: len(smooth)] = smooth
    assert frozen_kernel(state, WRENCH, work, frozen) == OK
    return frozen, friction


@pytest.mark.parametrize("seed", range(4))
def test_the_acceleration_is_that_of_the_model_once_the_legs_friction_is_a_force(seed: int) -> None:
    state = moving(seed)
    frozen, friction = frozen_at(state)
    speeds = leg_kinematics(LAB.geometry, np.concatenate([state, np.zeros(6)])).velocity
    out = np.zeros(6)
    given = FORCES - friction[0] * speeds - friction[1] * np.tanh(speeds / COULOMB_SPEED)
    frozen_acceleration_kernel(frozen, given, out)
    expected = Dynamics(LAB, COULOMB_SPEED).acceleration(state, FORCES, WRENCH)
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-10)


def test_the_legs_speeds_change_as_mobility_and_drift_say() -> None:
    """By finite differences of the leg speeds along the acceleration."""
    state, h = moving(7), 1e-6
    frozen, _ = frozen_at(state)
    acceleration = np.zeros(6)
    frozen_acceleration_kernel(frozen, FORCES, acceleration)

    def speeds(side: float) -> Array:
        there = state.copy()
        twist = state[7:] + 0.5 * side * h * acceleration
        there[:3] += side * h * twist[:3]
        w, (x, y, z) = state[3], state[4:7]
        ox, oy, oz = twist[3:]
        there[3:7] += (
            0.5
            * side
            * h
            * np.array(
                [
                    -ox * x - oy * y - oz * z,
                    ox * w + oy * z - oz * y,
                    oy * w + oz * x - ox * z,
                    oz * w + ox * y - oy * x,
                ]
            )
        )
        there[3:7] /= np.linalg.norm(there[3:7])
        there[7:] += side * h * acceleration
        velocity: Array = leg_kinematics(LAB.geometry, np.concatenate([there, np.zeros(6)])).velocity
        return velocity

    mobility, drift = frozen[MOBILITY : MOBILITY + 36].reshape(6, 6), frozen[DRIFT : DRIFT + 6]
    expected = (speeds(1.0) - speeds(-1.0)) / (2.0 * h)
    np.testing.assert_allclose(mobility @ FORCES + drift, expected, rtol=1e-6, atol=1e-6)


def test_the_mobility_is_that_of_the_mass_matrix() -> None:
    state = moving(3)
    frozen, _ = frozen_at(state)
    h = leg_matrix(LAB.geometry, state[:7])
    expected = h.T @ np.linalg.solve(Dynamics(LAB).mass_matrix(state[:7]), h)
    np.testing.assert_allclose(frozen[MOBILITY : MOBILITY + 36].reshape(6, 6), expected, rtol=1e-10)
