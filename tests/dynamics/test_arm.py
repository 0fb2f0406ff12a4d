"""The compiled dynamics of an arm against Pinocchio, energy, and the formulations of the papers."""

from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from pinocchio_arm import PinocchioArm
from random_arms import SIZES, random_arm

from dynamics import DynamicsError
from dynamics.errors import ArmError
from dynamics.serial import (
    Arm,
    ArmDynamics,
    ArmJoint,
    JointKind,
    JointLimits,
    arm_chain,
    arm_names,
    iterative_newton_euler,
    lagrange_euler,
    load_arm,
    newton_euler,
    puma,
    standard_arm_chain,
)
from dynamics.serial.arm import rotation_of_angles


@pytest.fixture(params=range(len(SIZES)), ids=lambda k: f"{k}-{SIZES[k]}-joints")
def case(request):
    rng = np.random.default_rng(410 + request.param)
    arm = random_arm(rng, SIZES[request.param])
    return arm, rng.normal(size=(3, len(arm))), 10.0 * rng.normal(size=6)


def test_inverse_forward_and_mass_matrix_are_pinocchios(case):
    arm, (q, qd, qdd), wrench = case
    theirs, ours = PinocchioArm(arm), ArmDynamics(arm)
    assert {joint.kind for joint in arm.joints} == {"revolute", "prismatic"}
    tau = ours.inverse(q, qd, qdd, wrench)
    np.testing.assert_allclose(tau, theirs.inverse(q, qd, qdd, wrench), rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(ours.mass_matrix(q), theirs.mass_matrix(q), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.forward(q, qd, tau, wrench), qdd, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        ours.forward(q, qd, 3.0 * qd, wrench), theirs.forward(q, qd, 3.0 * qd, wrench), rtol=1e-10, atol=1e-10
    )
    np.testing.assert_allclose(ours.bias(q, qd), theirs.inverse(q, qd, 0.0 * qd, 0.0 * wrench), rtol=1e-12, atol=1e-10)


def test_results_of_a_batch_equal_those_of_its_samples(case):
    arm, motion, wrench = case
    ours = ArmDynamics(arm)
    q, qd, qdd = np.stack([motion, 0.5 * motion, -motion], axis=1)
    tau = ours.inverse(q, qd, qdd, wrench)
    for k in range(3):
        assert (tau[k] == ours.inverse(q[k], qd[k], qdd[k], wrench)).all()
        assert (ours.mass_matrix(q)[k] == ours.mass_matrix(q[k])).all()
        assert (ours.forward(q, qd, tau)[k] == ours.forward(q[k], qd[k], tau[k])).all()


def test_gears_alone_are_pinocchios_armature():
    rng = np.random.default_rng(7)
    arm = random_arm(rng, 5, friction=False)
    ratios, rotors = rng.uniform(-80.0, 80.0, 5), rng.uniform(1e-5, 1e-3, 5)
    geared = replace(arm, transmission=np.diag(ratios), rotor_inertia=rotors)
    theirs = PinocchioArm(arm)
    theirs.model.armature = theirs.model.armature + ratios**2 * rotors
    q, qd, qdd = rng.normal(size=(3, 5))
    ours = ArmDynamics(geared)
    np.testing.assert_allclose(ours.mass_matrix(q), theirs.mass_matrix(q), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.inverse(q, qd, qdd), theirs.inverse(q, qd, qdd, np.zeros(6)), rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("joints", [2, 4, 6])
def test_coupled_drives_obey_lagranges_equations_of_their_energy(joints):
    """τ = d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q, T with ½ J ṗ² of each motor, p = G q, by differences of Pinocchio's energy."""
    rng = np.random.default_rng(20 + joints)
    arm = random_arm(rng, joints, coupled=True, friction=False)
    theirs = PinocchioArm(arm)
    G, J = np.array(arm.transmission), np.array(arm.rotor_inertia)

    def lagrangian(q, qd):
        kinetic = 0.5 * qd @ theirs.mass_matrix(q) @ qd + 0.5 * np.sum(J * (G @ qd) ** 2)
        return kinetic - (theirs.energy(q, 0.0 * qd))

    q, qd, qdd = rng.normal(size=(3, joints))
    h = 1e-4

    def momentum(time):
        x, v = q + qd * time + 0.5 * qdd * time**2, qd + qdd * time
        return np.array([(lagrangian(x, v + e) - lagrangian(x, v - e)) / 2.0 for e in np.eye(joints)])  # T is quadratic

    slope = (8.0 * (momentum(h) - momentum(-h)) - momentum(2 * h) + momentum(-2 * h)) / (12.0 * h)
    steps = h * np.eye(joints)
    pull = [
        (8.0 * (lagrangian(q + e, qd) - lagrangian(q - e, qd)) - lagrangian(q + 2 * e, qd) + lagrangian(q - 2 * e, qd))
        / (12.0 * h)
        for e in steps
    ]
    tau = ArmDynamics(arm).inverse(q, qd, qdd)
    np.testing.assert_allclose(tau, slope - pull, rtol=1e-8, atol=1e-7 * np.abs(tau).max())
    np.testing.assert_allclose(ArmDynamics(arm).forward(q, qd, tau), qdd, rtol=1e-9, atol=1e-9)


def test_friction_of_coupled_motors_takes_their_power():
    rng = np.random.default_rng(3)
    arm = random_arm(rng, 4, coupled=True)
    q, qd = rng.normal(size=(2, 4))
    lossless = ArmDynamics(arm.without_friction()).bias(q, qd)
    p = arm.motor_ratios @ qd
    motors = np.array(arm.motor_viscous) * p**2 + np.array(arm.motor_coulomb) * np.abs(p)
    joints = [x.viscous * v**2 + x.coulomb * abs(v) + x.offset * v for x, v in zip(arm.joints, qd, strict=True)]
    power = qd @ (ArmDynamics(arm).bias(q, qd) - lossless)
    assert power == pytest.approx(motors.sum() + sum(joints), rel=1e-12)


def test_formulations_of_the_papers_agree_with_the_compiled_one(case):
    arm, (q, qd, qdd), _wrench = case
    bare = arm.without_drives()
    tau = ArmDynamics(bare).inverse(q, qd, qdd)
    standard = standard_arm_chain(bare)
    for found in (
        iterative_newton_euler(arm_chain(bare), q, qd, qdd),
        newton_euler(standard, q, qd, qdd),
        lagrange_euler(standard, q, qd, qdd),
    ):
        np.testing.assert_allclose(found, tau, rtol=1e-10, atol=1e-10 * np.abs(tau).max())


def test_parallel_and_crossing_axes_have_denavit_hartenberg_forms_too():
    """Quarter turns and zeros: axes that are parallel, coincide or meet, which random ones never do."""
    rng = np.random.default_rng(9)
    arms = [load_arm(name).without_drives() for name in arm_names()]
    for _ in range(30):
        arm = random_arm(rng, 5)
        joints = [
            replace(
                joint,
                rotation=rotation_of_angles((rng.integers(0, 4, 3) * np.pi / 2.0).tolist()),
                position=joint.position * rng.integers(0, 2, 3),
            )
            for joint in arm.joints
        ]
        arms.append(replace(arm, joints=tuple(joints)).without_drives())
    for arm in arms:
        q, qd, qdd = rng.normal(size=(3, len(arm)))
        tau = ArmDynamics(arm).inverse(q, qd, qdd)
        for found in (
            iterative_newton_euler(arm_chain(arm), q, qd, qdd),
            newton_euler(standard_arm_chain(arm), q, qd, qdd),
        ):
            np.testing.assert_allclose(found, tau, rtol=1e-10, atol=1e-11 * np.abs(tau).max())


def test_the_shipped_puma_is_the_chain_of_the_studies():
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.normal(size=(3, 6))
    arm = load_arm("puma-560")
    tau = ArmDynamics(arm).inverse(q, qd, qdd)
    np.testing.assert_allclose(tau, newton_euler(puma(friction=True), q, qd, qdd), rtol=1e-13, atol=1e-12)
    bare = ArmDynamics(arm.without_drives()).inverse(q, qd, qdd)
    np.testing.assert_allclose(bare, newton_euler(puma(rotors=False), q, qd, qdd), rtol=1e-13, atol=1e-12)


def test_the_motor_of_the_tx40s_sixth_joint_turns_with_the_fifth():
    arm = load_arm("tx40")
    G = arm.motor_ratios
    assert np.diag(G).tolist() == [32.0, 32.0, 45.0, -48.0, 45.0, 32.0]
    assert G[5, 4] == 32.0
    assert np.count_nonzero(G) == 7
    fifth = np.eye(6)[4]
    assert (G @ fifth)[5] == 32.0  # p = G q
    torque = ArmDynamics(arm.without_friction()).inverse(np.zeros(6), np.zeros(6), fifth)
    rigid = ArmDynamics(arm.without_drives()).inverse(np.zeros(6), np.zeros(6), fifth)
    rotor = np.array(arm.rotor_inertia)
    assert torque[5] - rigid[5] == pytest.approx(32.0**2 * rotor[5])
    assert torque[4] - rigid[4] == pytest.approx(45.0**2 * rotor[4] + 32.0**2 * rotor[5])


def test_simulation_conserves_energy_and_converges_to_fourth_order():
    rng = np.random.default_rng(5)
    arm = random_arm(rng, 4, friction=False)
    ours, theirs = ArmDynamics(arm), PinocchioArm(arm)
    q, qd = rng.normal(size=(2, 4))
    ends = []
    for substeps in (1, 2, 4):
        run = ours.simulate(q, qd, np.zeros((40, 4)), 0.005, substeps)
        assert run.q.shape == (41, 4)
        ends.append(np.concatenate([run.q[-1], run.qd[-1]]))
        energies = [theirs.energy(x, v) for x, v in zip(run.q, run.qd, strict=True)]
    assert np.ptp(energies) < 1e-7 * abs(energies[0])
    coarse, fine = np.abs(ends[0] - ends[1]).max(), np.abs(ends[1] - ends[2]).max()
    assert 10.0 < coarse / fine < 24.0


def test_steep_friction_is_given_the_steps_that_it_needs():
    """Rate 1e4/s, steps of 0.2 ms: with one step of 1 ms the joint swings about its rest instead."""
    arm = Arm("wheel", (ArmJoint("hub", mass=1.0, inertia=0.01 * np.eye(3), coulomb=1.0),), gravity=np.zeros(3))
    ours = ArmDynamics(arm, coulomb_speed=0.01)
    assert ours.damping_rate([0.0]) == pytest.approx(1e4)
    assert ours.stable_substeps([0.0], 1e-3) == 5
    assert ArmDynamics(arm).damping_rate([0.0]) == np.inf
    assert ArmDynamics(arm).stable_substeps([0.0], 1e-3) == 5
    rest, swing = (ours.simulate([0.0], [0.5], np.zeros((50, 1)), 1e-3, n).qd[-10:] for n in (None, 1))
    assert np.abs(rest).max() < 1e-6
    assert np.abs(swing).max() > 1e-3
    slow, fast = (ArmDynamics(load_arm("tx40"), speed).damping_rate(np.zeros(6)) for speed in (0.02, 0.01))
    assert fast == pytest.approx(2.0 * slow, rel=0.1)


def test_smooth_friction_approaches_the_sign():
    rng = np.random.default_rng(6)
    arm = random_arm(rng, 3, coupled=True)
    q, qd = rng.normal(size=(2, 3))
    exact, smooth = ArmDynamics(arm).bias(q, qd), ArmDynamics(arm, coulomb_speed=1e-3).bias(q, qd)
    np.testing.assert_allclose(smooth, exact, rtol=1e-9)
    offsets = [joint.offset for joint in arm.joints]
    gravity = ArmDynamics(arm.without_friction()).bias(q, 0.0 * qd)
    np.testing.assert_allclose(ArmDynamics(arm).bias(q, 0.0 * qd), gravity + offsets, rtol=1e-12)


def test_wrong_arguments_are_refused_by_name():
    arm = load_arm("scara")
    ours = ArmDynamics(arm)
    zero = np.zeros(4)
    with pytest.raises(DynamicsError, match=r"^qd: shape \(3,\), must be \(4,\) or \(m, 4\)"):
        ours.inverse(zero, np.zeros(3), zero)
    with pytest.raises(DynamicsError, match=r"^qdd: shape \(2, 4\), must be \(4,\) as q"):
        ours.inverse(zero, zero, np.zeros((2, 4)))
    with pytest.raises(DynamicsError, match=r"^q: sample 1, joint 3 is nan, must be finite"):
        ours.inverse(np.array([zero, [0.0, 0.0, np.nan, 0.0]]), np.zeros((2, 4)), np.zeros((2, 4)))
    with pytest.raises(DynamicsError, match=r"^wrench: .* must be 6 finite numbers"):
        ours.inverse(zero, zero, zero, np.zeros(3))
    with pytest.raises(DynamicsError, match=r"^period: -1.0 s"):
        ours.simulate(zero, zero, np.zeros((2, 4)), -1.0)
    with pytest.raises(DynamicsError, match=r"diverges at t = .* s: shorten the step of 1 s"):
        ours.simulate(zero, zero + 1e200, np.zeros((2, 4)), 1.0, 1)
    with pytest.raises(DynamicsError, match="coulomb_speed: -1"):
        ArmDynamics(arm, -1.0)


def test_an_arm_without_inertia_has_no_accelerations():
    arm = Arm("bare", (ArmJoint("one"), ArmJoint("two")))
    with pytest.raises(DynamicsError, match="bare, sample 0: the mass matrix is not positive definite"):
        ArmDynamics(arm).forward(np.zeros(2), np.zeros(2), np.ones(2))


@pytest.mark.parametrize(
    "made, fault",
    [
        (lambda: ArmJoint("one", mass=np.nan), r"mass: nan kg, must be finite"),
        (lambda: ArmJoint("one", mass=-1.0), r"mass: -1 kg, must not be negative"),
        (lambda: ArmJoint("one", "prismatic", viscous=-2.0), r"viscous: -2 N s/m, must not be negative"),
        (lambda: ArmJoint("one", cast("JointKind", "ball")), r"kind: 'ball', must be 'revolute' or 'prismatic'"),
        (lambda: ArmJoint("one", rotation=2.0 * np.eye(3)), r"rotation: .* is not orthonormal"),
        (lambda: ArmJoint("one", rotation=np.diag([1.0, 1.0, -1.0])), r"rotation: .* right-handed"),
        (lambda: ArmJoint("one", inertia=np.triu(np.ones((3, 3)))), r"inertia: .* is not symmetric"),
        (lambda: ArmJoint("one", center=np.zeros(2)), r"center: shape \(2,\), must be \(3,\)"),
        (lambda: ArmJoint("one", limits=JointLimits((1.0, -1.0))), r"limits.position: \[1.0, -1.0\] rad"),
        (lambda: ArmJoint("one", limits=JointLimits(force=0.0)), r"limits.force: 0.0 N m, must be finite and above 0"),
        (lambda: Arm("none", ()), r"joints: none"),
        (lambda: Arm("two", (ArmJoint("a"), ArmJoint("a"))), r"the name 'a' occurs twice"),
        (lambda: Arm("one", (ArmJoint("a"),), transmission=np.zeros((1, 1))), r"transmission: .* cannot be inverted"),
        (lambda: Arm("one", (ArmJoint("a"),), rotor_inertia=np.array([-1.0])), r"rotor_inertia: .* none may be"),
        (lambda: Arm("one", (ArmJoint("a"),), motor_coulomb=np.zeros(2)), r"motor_coulomb: shape \(2,\), must be"),
    ],
)  # fmt: skip
def test_impossible_numbers_are_refused(made, fault):
    with pytest.raises(ArmError, match=fault):
        made()
