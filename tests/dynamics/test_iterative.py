"""The iteration in modified Denavit–Hartenberg form: against Pinocchio, differences of poses, and the standard form."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

import numpy as np
import pinocchio as pin
import pytest
from random_mechanisms import random_body
from serial_chains import random_chain

from dynamics import DynamicsError
from dynamics.papers.counting import counted
from dynamics.serial import (
    Link,
    ModifiedChain,
    SerialChain,
    iterative_newton_euler,
    iterative_newton_euler_as_printed,
    link_poses,
    link_states,
    modified_chain,
    newton_euler,
    standard_chain,
)
from kinematics import Array

JOINTS = range(2, 8)
TOLERANCE = 1e-11


def random_modified(rng: np.random.Generator, joints: int) -> ModifiedChain:
    """A chain whose every number is at random, of both kinds of joint from two joints on."""
    links = []
    for index in range(joints):
        body = random_body(rng, rng.uniform(0.5, 5.0), rng.normal(scale=0.2, size=3), 0.2)
        links.append(
            Link(
                "prismatic" if index % 3 == 1 else "revolute",
                a=rng.uniform(-0.5, 0.5),
                alpha=rng.uniform(-np.pi, np.pi),
                d=rng.uniform(-0.5, 0.5),
                theta=rng.uniform(-np.pi, np.pi),
                mass=body.mass,
                center=body.center_of_mass.tolist(),
                inertia=body.inertia.tolist(),
                motor_inertia=rng.uniform(0.0, 0.5),
                viscous=rng.uniform(0.0, 2.0),
            )
        )
    return ModifiedChain(
        tuple(links), rng.normal(scale=6.0, size=3).tolist(), rng.uniform(-0.5, 0.5), rng.uniform(-np.pi, np.pi)
    )


class PinocchioModified:
    """A chain in modified form as a pin.Model: joint i is frame i."""

    def __init__(self, chain: ModifiedChain) -> None:
        self.chain, self.model, parent = chain, pin.Model(), 0
        self.model.gravity.linear = np.array(chain.gravity)
        slide = pin.SE3.Identity()
        for index, link in enumerate(chain.links):
            turn = pin.utils.rotate("x", link.alpha)
            step = slide * pin.SE3(turn, np.array([link.a, 0.0, 0.0]))
            # Rot_z and Trans_z commute: what is constant of them goes before the joint
            fixed = pin.SE3(pin.utils.rotate("z", link.theta), np.array([0.0, 0.0, link.d]))
            joint = pin.JointModelRZ() if link.revolute else pin.JointModelPZ()
            parent = self.model.addJoint(parent, joint, step * fixed, f"joint{index + 1}")
            body = pin.Inertia(link.mass, np.array(link.center), np.array(link.inertia))
            self.model.appendBodyToJoint(parent, body, pin.SE3.Identity())
        self.tip = pin.SE3(pin.utils.rotate("x", chain.tip_alpha), np.array([chain.tip_a, 0.0, 0.0]))
        self.model.armature = np.array([link.motor_inertia for link in chain.links])
        self.data = self.model.createData()

    def inverse(self, q: Array, qd: Array, qdd: Array, wrench: Array) -> Array:
        """Joint forces (n,), friction included; leaves the links' velocities, accelerations and forces in `data`."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        forces[-1] = self.tip.act(pin.Force(wrench[:3], wrench[3:]))
        friction = np.array([link.viscous for link in self.chain.links]) * qd
        return np.asarray(pin.rnea(self.model, self.data, q, qd, qdd, forces) + friction)


def case(joints: int) -> tuple[ModifiedChain, tuple[Array, Array, Array], Array]:
    rng = np.random.default_rng(joints)
    chain = random_modified(rng, joints)
    q, qd, qdd = rng.normal(size=(3, joints))
    return chain, (q, qd, qdd), rng.normal(scale=20.0, size=6)


def distance(ours: object, theirs: Array) -> float:
    """Largest difference over the largest number."""
    return float(np.abs(np.asarray(ours, dtype=float) - theirs).max() / np.abs(theirs).max())


@pytest.mark.parametrize("joints", JOINTS)
def test_joint_forces_velocities_accelerations_and_loads(joints: int) -> None:
    chain, motion, wrench = case(joints)
    peer = PinocchioModified(chain)
    expected = peer.inverse(*motion, wrench)
    assert distance(iterative_newton_euler(chain, *motion, wrench), expected) < TOLERANCE
    states = link_states(chain, *motion, wrench)
    assert distance(states.joint_force, expected) < TOLERANCE
    # Pinocchio's accelerations and forces after rnea, per joint, in the joint's own axes; gravity is in a_gf
    data = peer.data
    assert distance(states.angular_velocity, np.array([data.v[i + 1].angular for i in range(joints)])) < TOLERANCE
    assert distance(states.velocity, np.array([data.v[i + 1].linear for i in range(joints)])) < TOLERANCE
    assert distance(states.force, np.array([data.f[i + 1].linear for i in range(joints)])) < TOLERANCE
    assert distance(states.moment, np.array([data.f[i + 1].angular for i in range(joints)])) < TOLERANCE
    pin.forwardKinematics(peer.model, data, *motion)
    classical = [pin.getClassicalAcceleration(peer.model, data, i + 1, pin.ReferenceFrame.LOCAL) for i in range(joints)]
    assert distance(states.angular_acceleration, np.array([a.angular for a in classical])) < TOLERANCE
    assert distance(states.acceleration, np.array([a.linear for a in classical])) < TOLERANCE
    omega, alpha = states.angular_velocity, states.angular_acceleration
    centers = np.array([link.center for link in chain.links])
    at_centers = states.acceleration + np.cross(alpha, centers) + np.cross(omega, np.cross(omega, centers))
    assert distance(states.center_acceleration, at_centers) < TOLERANCE


@pytest.mark.parametrize("joints", JOINTS)
def test_poses(joints: int) -> None:
    chain, (q, _, _), _ = case(joints)
    peer = PinocchioModified(chain)
    pin.forwardKinematics(peer.model, peer.data, q)
    expected = np.array([peer.data.oMi[i + 1].homogeneous for i in range(joints)])
    poses = link_poses(chain, q)
    assert distance(poses[:-1], expected) < TOLERANCE
    assert distance(poses[-1], expected[-1] @ peer.tip.homogeneous) < TOLERANCE


@pytest.mark.parametrize("joints", JOINTS)
def test_both_forms_are_one_chain(joints: int) -> None:
    rng = np.random.default_rng(joints + 20)
    standard = random_chain(rng, joints)
    q, qd, qdd = rng.normal(size=(3, joints))
    wrench = rng.normal(scale=20.0, size=6)
    expected = np.array(newton_euler(standard, q, qd, qdd, wrench))
    modified = modified_chain(standard)
    assert distance(iterative_newton_euler(modified, q, qd, qdd, wrench), expected) < TOLERANCE
    gravity = rng.normal(size=3)
    moved = np.array(newton_euler(standard, q, qd, qdd, wrench, gravity))
    assert distance(iterative_newton_euler(modified, q, qd, qdd, wrench, gravity), moved) < TOLERANCE
    back = standard_chain(modified)
    for before, after in zip(standard.links, back.links, strict=True):
        assert (after.joint, after.a, after.alpha, after.d, after.theta) == (
            before.joint, before.a, before.alpha, before.d, before.theta,
        )  # fmt: skip
        np.testing.assert_allclose(after.center, before.center, atol=1e-14)
        np.testing.assert_allclose(after.inertia, before.inertia, atol=1e-14)
    assert back.gravity == pytest.approx(standard.gravity)


def test_a_modified_chain_whose_first_step_is_not_at_the_base() -> None:
    chain, motion, wrench = case(4)
    expected = np.array(iterative_newton_euler(chain, *motion, wrench))
    assert distance(newton_euler(standard_chain(chain), *motion, wrench), expected) < TOLERANCE


def test_003_section_2_3_drops_the_moments_of_prismatic_links() -> None:
    chain, motion, wrench = case(5)
    expected = PinocchioModified(chain).inverse(*motion, wrench)
    assert distance(iterative_newton_euler(chain, *motion, wrench), expected) < TOLERANCE
    printed = iterative_newton_euler_as_printed(chain, *motion, wrench)
    assert distance(printed, expected) > 1e-2
    # the last joint slides: every turning joint is below it; a sliding one takes forces alone
    for index, link in enumerate(chain.links):
        same = abs(printed[index] - expected[index]) < 1e-10 * np.abs(expected).max()
        assert bool(same) is not link.revolute, index
    turning = replace(chain, links=tuple(replace(link, joint="revolute") for link in chain.links))
    whole = iterative_newton_euler(turning, *motion, wrench)
    assert iterative_newton_euler_as_printed(turning, *motion, wrench) == whole


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("sliding_acceleration", lambda _omega, _qd, qdd: [0.0, 0.0, qdd]),
        ("turning_rate", lambda R, alpha, _omega, _qd, qdd: [*(np.array(R).T @ alpha + [0.0, 0.0, qdd])]),
        ("moment_of_force", lambda _p, _force: [0.0, 0.0, 0.0]),
    ],
)
def test_every_term_is_needed(monkeypatch: pytest.MonkeyPatch, name: str, changed: Callable[..., object]) -> None:
    chain, motion, wrench = case(5)
    expected = PinocchioModified(chain).inverse(*motion, wrench)
    monkeypatch.setattr(import_module("dynamics.serial.iterative"), name, changed)
    assert distance(iterative_newton_euler(chain, *motion, wrench), expected) > 1e-3


def test_any_scalar() -> None:
    chain, motion, wrench = case(4)
    q, qd, qdd = motion
    expected = iterative_newton_euler(chain, q.tolist(), qd.tolist(), qdd.tolist(), wrench.tolist())
    counting = iterative_newton_euler(chain, counted(q), counted(qd), counted(qdd), wrench.tolist())
    assert [float(x) for x in counting] == pytest.approx(expected, rel=1e-12)


def test_faulty_chains_and_motions_are_refused() -> None:
    link = Link(mass=1.0)
    with pytest.raises(DynamicsError, match="links: none"):
        ModifiedChain(())
    with pytest.raises(DynamicsError, match="gravity"):
        ModifiedChain((link,), (0.0, float("nan"), 9.8))
    with pytest.raises(DynamicsError, match="tip_a: inf is not finite"):
        ModifiedChain((link,), tip_a=float("inf"))
    chain = modified_chain(SerialChain((link, link)))
    for formulation in (iterative_newton_euler, link_states):
        with pytest.raises(DynamicsError, match="qd: 3 numbers, must be 2"):
            formulation(chain, [0.0] * 2, [0.0] * 3, [0.0] * 2)
        with pytest.raises(DynamicsError, match="wrench: 5 numbers, must be 6"):
            formulation(chain, [0.0] * 2, [0.0] * 2, [0.0] * 2, [0.0] * 5)
    with pytest.raises(DynamicsError, match=r"q: .*nan.* is not finite"):
        link_poses(chain, [0.0, float("nan")])
    with pytest.raises(DynamicsError, match="gravity: 2 numbers, must be 3"):
        iterative_newton_euler(chain, [0.0] * 2, [0.0] * 2, [0.0] * 2, gravity=[0.0, 9.8])
