"""Forward dynamics against Pinocchio, the closed form against strobing, and the balance of energy."""

import numpy as np
import pytest
from pinocchio_platform import PinocchioPlatform
from random_mechanisms import random_mechanism, random_motions

from dynamics import Dynamics, Mechanism, SingularityError, load_mechanism
from kinematics import Array, leg_lengths, leg_matrix, quaternion_to_matrix


def hover(mechanism: Mechanism, dynamics: Dynamics) -> tuple[Array, Array]:
    """State at rest at home, and the forces that hold it there."""
    state = np.zeros(13)
    assert mechanism.geometry.home is not None
    state[:7] = mechanism.geometry.home
    return state, dynamics.forces(np.concatenate([state, np.zeros(6)]))


@pytest.mark.parametrize("seed", range(6))
def test_acceleration_agrees_with_pinocchio(seed: int) -> None:
    mechanism = random_mechanism(seed, coulomb=True)
    peer, dynamics = PinocchioPlatform(mechanism), Dynamics(mechanism)
    rng = np.random.default_rng(seed)
    for motion in random_motions(seed + 400, 6):
        forces, wrench = rng.normal(scale=200.0, size=6), rng.normal(scale=50.0, size=6)
        expected = peer.acceleration(motion[:13], forces, wrench)
        actual = dynamics.acceleration(motion[:13], forces, wrench)
        assert np.abs(actual - expected).max() < 1e-10 * np.abs(expected).max()


@pytest.mark.parametrize("seed", range(4))
def test_closed_form_agrees_with_strobed_inverse(seed: int) -> None:
    """Columns of M from the inverse dynamics with unit accelerations, h from none."""
    mechanism = random_mechanism(seed, coulomb=True)
    dynamics = Dynamics(mechanism)
    for motion in random_motions(seed + 500, 4):
        h_matrix = leg_matrix(mechanism.geometry, motion[:7])
        strobes = np.tile(motion, (7, 1))
        strobes[:, 13:] = 0.0
        strobes[1:, 13:] = np.eye(6)
        generalised = dynamics.inverse(strobes).forces @ h_matrix.T
        mass = (generalised[1:] - generalised[0]).T
        closed = dynamics.mass_matrix(motion[:7])
        np.testing.assert_allclose(closed, mass, rtol=0.0, atol=1e-11 * np.abs(closed).max() + 1e-10)
        np.testing.assert_allclose(closed, closed.T, rtol=0.0, atol=1e-13)
        assert np.linalg.eigvalsh(closed)[0] > 0.0
        np.testing.assert_allclose(dynamics.bias(motion[:13]), generalised[0], rtol=1e-11, atol=1e-9)


def test_wrench_is_in_platform_axes() -> None:
    mechanism = random_mechanism(7)
    dynamics = Dynamics(mechanism)
    motion = random_motions(7, 1)[0]
    wrench = np.array([3.0, -20.0, 11.0, 1.0, 4.0, -7.0])
    rotation = quaternion_to_matrix(motion[3:7])
    base = np.concatenate([rotation @ wrench[:3], rotation @ wrench[3:]])
    change = dynamics.forces(motion, wrench) - dynamics.forces(motion)
    np.testing.assert_allclose(leg_matrix(mechanism.geometry, motion[:7]) @ change, -base, atol=1e-9)
    state, forces = motion[:13], np.full(6, 80.0)
    gain = dynamics.acceleration(state, forces, wrench) - dynamics.acceleration(state, forces)
    np.testing.assert_allclose(dynamics.mass_matrix(motion[:7]) @ gain, base, atol=1e-9)


def test_energy_balances_the_work_of_constant_forces() -> None:
    mechanism = random_mechanism(3, friction=False)
    dynamics, peer = Dynamics(mechanism), PinocchioPlatform(mechanism)
    state, forces = hover(mechanism, dynamics)
    forces *= 1.0 + 0.02 * np.array([1.0, -0.5, 0.3, 0.8, -0.2, 0.4])
    start = state.copy()
    for _ in range(2000):
        state = dynamics.step(state, forces, 0.5e-3)
    extension = leg_lengths(mechanism.geometry, state[:7]) - leg_lengths(mechanism.geometry, start[:7])
    assert np.abs(extension).max() > 0.05, "the platform must really move"
    work = forces @ extension
    gain = peer.energy(state) - peer.energy(start)
    assert abs(gain - work) < 1e-8 * np.sum(np.abs(forces * extension))


def test_friction_takes_energy() -> None:
    mechanism = random_mechanism(3, coulomb=True)
    dynamics, peer = Dynamics(mechanism, coulomb_speed=1e-3), PinocchioPlatform(mechanism)
    state, forces = hover(mechanism, dynamics)
    start = state.copy()
    forces *= 1.1
    for _ in range(200):
        state = dynamics.step(state, forces, 0.5e-3)
    work = forces @ (leg_lengths(mechanism.geometry, state[:7]) - leg_lengths(mechanism.geometry, start[:7]))
    assert 0.0 < peer.energy(state) - peer.energy(start) < work


def test_step_is_of_fourth_order() -> None:
    mechanism = random_mechanism(5)
    dynamics = Dynamics(mechanism)
    start = random_motions(5, 1)[0, :13]
    forces, forces_end = np.full(6, 90.0), np.array([150.0, 20.0, 60.0, 90.0, 200.0, 10.0])

    def integrate(steps: int) -> Array:
        state = start
        for k in range(steps):
            ramp = [forces + (forces_end - forces) * (k + end) / steps for end in (0, 1)]
            state = dynamics.step(state, ramp[0], 0.04 / steps, forces_end=ramp[1])
        return state

    finest = integrate(64)
    errors = [np.abs(integrate(steps) - finest).max() for steps in (2, 4, 8)]
    assert 10.0 < errors[0] / errors[1] < 24.0
    assert 10.0 < errors[1] / errors[2] < 24.0
    assert abs(np.linalg.norm(finest[3:7]) - 1.0) < 1e-15


def test_equilibrium_stays() -> None:
    mechanism = load_mechanism("lab-hexapod")
    dynamics = Dynamics(mechanism, coulomb_speed=1e-3)
    state, forces = hover(mechanism, dynamics)
    np.testing.assert_allclose(dynamics.acceleration(state, forces), 0.0, atol=1e-12)
    np.testing.assert_allclose(dynamics.step(state, forces, 0.5e-3), state, atol=1e-14)


def test_a_leg_along_its_axis_is_refused_in_both_directions() -> None:
    mechanism = random_mechanism(0)
    dynamics = Dynamics(mechanism)
    motion = random_motions(0, 1)[0]
    geometry = mechanism.geometry
    reach = quaternion_to_matrix(motion[3:7]) @ geometry.platform_points[3]
    motion[:3] = geometry.base_points[3] + 0.6 * geometry.universal_axes[3] - reach
    with pytest.raises(SingularityError, match=r"leg 4 .*universal"):
        dynamics.forces(motion)
    with pytest.raises(SingularityError, match="leg 4 "):
        dynamics.acceleration(motion[:13], np.zeros(6))
    with pytest.raises(SingularityError, match="leg 4 "):
        dynamics.step(motion[:13], np.zeros(6), 1e-3)
    with pytest.raises(SingularityError, match="leg 4 "):
        dynamics.mass_matrix(motion[:7])
