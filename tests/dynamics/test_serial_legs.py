"""The platform's legs as revolute–revolute–prismatic chains."""

import numpy as np
import pytest
from random_mechanisms import random_mechanism, random_motions
from serial_chains import PinocchioChain

from dynamics import Dynamics, DynamicsError
from dynamics.serial import (
    lagrange_euler,
    leg_chain,
    leg_joints,
    modified_newton_euler,
    newton_euler,
    serial_leg_forces,
)
from kinematics import leg_kinematics, leg_matrix


@pytest.mark.parametrize("seed", range(8))
def test_six_recursions_give_the_leg_forces(seed: int) -> None:
    mechanism = random_mechanism(seed, coulomb=seed % 2 == 1)
    motions = random_motions(seed + 400, 3, speed=1.0 + seed % 3)
    wrenches = np.random.default_rng(seed).normal(scale=60.0, size=(3, 6))
    result = Dynamics(mechanism).inverse(motions, wrenches)
    for sample in range(3):
        forces, tops = serial_leg_forces(mechanism, motions[sample], wrenches[sample])
        scale = np.abs(result.tops[sample]).max()
        np.testing.assert_allclose(forces, result.forces[sample], rtol=1e-11, atol=1e-11 * scale)
        np.testing.assert_allclose(tops, result.tops[sample], rtol=1e-11, atol=1e-11 * scale)


def test_tip_force_through_the_recursion() -> None:
    """With the platform's force on the tip the universal joint's axes are free of torque, and τ₃ is the leg force."""
    mechanism = random_mechanism(31)
    motion = random_motions(31, 1)[0]
    result = Dynamics(mechanism).inverse(motion)
    legs = leg_kinematics(mechanism.geometry, motion)
    q, qd, qdd = leg_joints(mechanism, motion)
    for leg in range(6):
        u, s = mechanism.geometry.universal_axes[leg], legs.direction[leg]
        v = np.cross(u, s) / np.linalg.norm(np.cross(u, s))
        axes = np.stack([-np.cross(s, v), v, s])  # of frame 3
        drag = mechanism.legs[leg].friction.spherical * (legs.angular_velocity[leg] - motion[10:13])
        tool = np.concatenate([axes @ result.tops[0, leg], -axes @ drag])
        chain = leg_chain(mechanism, leg)
        expected = [0.0, 0.0, result.forces[0, leg]]
        for recursion in (newton_euler, modified_newton_euler, lagrange_euler):
            tau = recursion(chain, q[leg], qd[leg], qdd[leg], tool)
            np.testing.assert_allclose(tau, expected, rtol=1e-11, atol=1e-10)
        np.testing.assert_allclose(PinocchioChain(chain).inverse(q[leg], qd[leg], qdd[leg], tool), expected, atol=1e-10)
        assert [link.joint for link in chain.links] == ["revolute", "revolute", "prismatic"]


def test_at_rest_without_weight_only_the_wrench_is_borne() -> None:
    mechanism = random_mechanism(5)
    motion = np.zeros(19)
    motion[2], motion[3] = 0.65, 1.0
    wrench = np.array([10.0, -20.0, 30.0, 4.0, -5.0, 6.0])
    with_wrench, _ = serial_leg_forces(mechanism, motion, wrench)
    without, _ = serial_leg_forces(mechanism, motion)
    balance = leg_matrix(mechanism.geometry, motion[:7]) @ (with_wrench - without)
    np.testing.assert_allclose(balance, -wrench, atol=1e-10)


def test_wrong_shapes_are_refused() -> None:
    mechanism = random_mechanism(5)
    with pytest.raises(DynamicsError, match=r"shapes \(2, 19\)"):
        serial_leg_forces(mechanism, random_motions(1, 2))
