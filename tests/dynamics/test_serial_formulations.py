"""Four formulations of a chain's dynamics and Pinocchio, on chains made at random of 2 to 8 joints of both kinds."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from serial_chains import PinocchioChain, random_chain

from dynamics import DynamicsError
from dynamics.papers.counting import Counted
from dynamics.serial import (
    Link,
    SerialChain,
    chain_acceleration,
    coriolis_matrix,
    lagrange_coefficients,
    lagrange_euler,
    modified_newton_euler,
    newton_euler,
    strobed_bias,
    strobed_coriolis,
    strobed_gravity,
    strobed_mass_matrix,
)
from kinematics import Array

FORMULATIONS = (newton_euler, modified_newton_euler, lagrange_euler)
JOINTS = range(2, 9)
TOLERANCE = 1e-11


def distance(ours: object, theirs: Array) -> float:
    """Largest difference over the largest number."""
    return float(np.abs(np.asarray(ours, dtype=float) - theirs).max() / np.abs(theirs).max())


@pytest.mark.parametrize("joints", JOINTS)
def test_inverse_dynamics(joints: int) -> None:
    for seed in range(4):
        rng = np.random.default_rng((joints, seed))
        chain = random_chain(rng, joints)
        assert {link.joint for link in chain.links} == {"revolute", "prismatic"}
        peer = PinocchioChain(chain)
        q, qd, qdd = rng.normal(size=(3, joints))
        wrench = rng.normal(scale=20.0, size=6)
        expected = peer.inverse(q, qd, qdd, wrench)
        for formulation in FORMULATIONS:
            assert distance(formulation(chain, q, qd, qdd, wrench), expected) < TOLERANCE, formulation
        coefficients = lagrange_coefficients(chain, q)
        friction = peer.friction(qd)
        assembled = np.array(coefficients.D) @ qdd + np.array(coefficients.H) @ qd @ qd + coefficients.G + friction
        assert distance(assembled, peer.inverse(q, qd, qdd, np.zeros(6))) < TOLERANCE


@pytest.mark.parametrize("joints", JOINTS)
@pytest.mark.parametrize("recursion", FORMULATIONS)
def test_strobing(joints: int, recursion: Callable[..., list[float]]) -> None:
    rng = np.random.default_rng(joints)
    chain = random_chain(rng, joints)
    peer = PinocchioChain(chain)
    q, qd = rng.normal(size=(2, joints))
    wrench = rng.normal(scale=20.0, size=6)
    mass: Array = np.array(strobed_mass_matrix(chain, q, recursion))
    assert distance(mass, peer.mass_matrix(q)) < TOLERANCE
    assert distance(mass, mass.T) < TOLERANCE
    assert np.linalg.eigvalsh(mass)[0] > 0.0
    coriolis: Array = np.array(coriolis_matrix(strobed_coriolis(chain, q, recursion), qd))
    gravity = strobed_gravity(chain, q, recursion)
    nonlinear = pin.nonLinearEffects(peer.model, peer.data, q, qd)
    assert distance(coriolis @ qd + gravity, nonlinear) < TOLERANCE
    assert distance(gravity, pin.computeGeneralizedGravity(peer.model, peer.data, q)) < TOLERANCE
    # made of Christoffel symbols, as Pinocchio's: Ṁ − 2C is skew
    assert distance(coriolis, pin.computeCoriolisMatrix(peer.model, peer.data, q, qd)) < TOLERANCE
    expected = peer.inverse(q, qd, np.zeros(joints), wrench)
    assert distance(strobed_bias(chain, q, qd, wrench, recursion), expected) < TOLERANCE
    assert distance(strobed_coriolis(chain, q, recursion), np.array(lagrange_coefficients(chain, q).H)) < TOLERANCE


@pytest.mark.parametrize("joints", JOINTS)
def test_forward_dynamics(joints: int) -> None:
    rng = np.random.default_rng(joints + 50)
    chain = random_chain(rng, joints)
    q, qd, tau = rng.normal(size=(3, joints))
    wrench = rng.normal(scale=20.0, size=6)
    expected = PinocchioChain(chain).forward(q, qd, tau, wrench)
    for recursion in FORMULATIONS:
        assert distance(chain_acceleration(chain, q, qd, tau, wrench, recursion), expected) < TOLERANCE


def test_mass_rate_less_twice_coriolis_is_skew() -> None:
    rng = np.random.default_rng(3)
    chain = random_chain(rng, 5)
    q, qd = rng.normal(size=(2, 5))
    step = 1e-5
    mass: list[Array] = [np.array(strobed_mass_matrix(chain, q + sign * step * qd)) for sign in (1.0, -1.0)]
    rate = (mass[0] - mass[1]) / (2.0 * step)
    skew = rate - 2.0 * np.array(coriolis_matrix(strobed_coriolis(chain, q), qd))
    assert np.abs(skew + skew.T).max() < 1e-8 * np.abs(rate).max()


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_any_scalar(formulation: Callable[..., list[float]]) -> None:
    rng = np.random.default_rng(9)
    chain = random_chain(rng, 4)
    q, qd, qdd = rng.normal(size=(3, 4))
    expected = formulation(chain, q.tolist(), qd.tolist(), qdd.tolist())
    assert formulation(chain, q, qd, qdd) == expected
    assert formulation(chain, list(q), list(qd), list(qdd)) == pytest.approx(expected, rel=1e-13)
    counting = formulation(chain, *([Counted(x) for x in values] for values in (q, qd, qdd)))
    assert all(isinstance(x, Counted) for x in counting)
    assert [float(x) for x in counting] == pytest.approx(expected, rel=1e-13)
    whole = formulation(chain, [1, 2, -1, 0], [0, 1, 1, 2], [1, 1, 0, 0])
    assert whole == formulation(chain, [1.0, 2.0, -1.0, 0.0], [0.0, 1.0, 1.0, 2.0], [1.0, 1.0, 0.0, 0.0])


def test_gravity_can_be_replaced_and_a_wrench_left_out() -> None:
    rng = np.random.default_rng(4)
    chain = random_chain(rng, 3)
    q, qd, qdd = rng.normal(size=(3, 3))
    gravity = [1.0, -2.0, 3.0]
    for formulation in FORMULATIONS:
        ours = formulation(chain, q, qd, qdd, gravity=gravity)
        assert ours == pytest.approx(formulation(replace(chain, gravity=gravity), q, qd, qdd, np.zeros(6)), rel=1e-12)
    moved = lagrange_coefficients(chain, q, gravity).G
    assert moved == pytest.approx(strobed_gravity(replace(chain, gravity=gravity), q), rel=1e-12)


def test_coulomb_friction_opposes_motion() -> None:
    chain = SerialChain((Link(mass=1.0, inertia=np.eye(3).tolist(), coulomb=2.0, viscous=3.0),), (0.0, 0.0, 0.0))
    assert [newton_euler(chain, [0.0], [speed], [0.0])[0] for speed in (-2.0, 0.0, 2.0)] == [-8.0, 0.0, 8.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"joint": "ball"}, "joint: 'ball', must be"),
        ({"mass": -1.0}, "mass: -1.0, must not be negative"),
        ({"coulomb": -1.0}, "coulomb: -1.0"),
        ({"a": float("nan")}, "a: nan is not finite"),
        ({"center": (0.0, 1.0)}, r"shapes \(2,\), \(3, 3\)"),
        ({"center": (0.0, 1.0, float("inf"))}, "not finite"),
        ({"inertia": ((1.0, 0.5, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))}, "not symmetric"),
    ],
)
def test_faulty_links_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(DynamicsError, match=message):
        Link(**change)  # type: ignore[arg-type]


def test_faulty_chains_and_motions_are_refused() -> None:
    link = Link(mass=1.0)
    with pytest.raises(DynamicsError, match="links: none"):
        SerialChain(())
    with pytest.raises(DynamicsError, match="gravity"):
        SerialChain((link,), (0.0, 9.8))
    chain = SerialChain((link, link))
    for formulation in FORMULATIONS:
        with pytest.raises(DynamicsError, match="qd: 3 numbers, must be 2"):
            formulation(chain, [0.0] * 2, [0.0] * 3, [0.0] * 2)
        with pytest.raises(DynamicsError, match=r"q: .*nan.* is not finite"):
            formulation(chain, [0.0, float("nan")], [0.0] * 2, [0.0] * 2)
        with pytest.raises(DynamicsError, match="wrench: 5 numbers, must be 6"):
            formulation(chain, [0.0] * 2, [0.0] * 2, [0.0] * 2, [0.0] * 5)
