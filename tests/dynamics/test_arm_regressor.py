"""The regressor of an arm's forces against Pinocchio and the compiled dynamics."""

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_arm import PinocchioArm
from random_arms import SIZES, random_arm

from calibration.arm import FRICTION_TERMS, TorqueModel, body_regressor
from calibration.arm.torque_model import sides
from dynamics import Body, linear_body
from dynamics.serial import ArmDynamics, load_arm

_AS_PINOCCHIO = [0, 1, 2, 3, 4, 6, 9, 5, 7, 8]
"""where our xx, yy, zz, xy, xz, yz are in Pinocchio's xx, xy, yy, xz, yz, zz, behind m and h"""


@pytest.mark.parametrize("case", range(len(SIZES)))
def test_the_bodies_regressor_is_pinocchios(case):
    rng = np.random.default_rng(390 + case)
    arm = random_arm(rng, SIZES[case])
    n = len(arm)
    q, qd, qdd = rng.normal(size=(3, 5, n))
    theirs = PinocchioArm(arm)
    rows = body_regressor(arm, q, qd, qdd)
    for k in range(len(q)):
        whole = pin.computeJointTorqueRegressor(theirs.model, theirs.data, q[k], qd[k], qdd[k])
        expected = whole.reshape(n, n, 10)[:, :, _AS_PINOCCHIO].reshape(n, -1)
        np.testing.assert_allclose(rows[k], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("coupled", [False, True])
def test_the_torque_models_columns_are_the_compiled_dynamics_parts(coupled):
    rng = np.random.default_rng(7)
    arm = random_arm(rng, 4, coupled=coupled)
    q, qd, qdd = rng.normal(size=(3, 50, 4))
    count = len(sides(arm))
    model = TorqueModel(arm, np.full(count, 1e-9), np.ones(count))
    joints = arm.joints
    bodies = [linear_body(Body(joint.mass, joint.center, joint.inertia)) for joint in joints]
    at_joints = {
        name: np.array([getattr(j, name) for j in joints]) for name in ("motor_inertia", "viscous", "coulomb", "offset")
    }
    if coupled:
        rotors = arm.rotor_inertia
        viscous = np.concatenate([arm.motor_viscous, at_joints["viscous"]])
        coulomb = np.concatenate([arm.motor_coulomb, at_joints["coulomb"]])
    else:
        rotors, viscous, coulomb = at_joints["motor_inertia"], at_joints["viscous"], at_joints["coulomb"]
    x = np.concatenate([*bodies, rotors, viscous, coulomb, at_joints["offset"]])
    values = model.drive_values(qd, qdd)[:, np.newaxis, :] * model.drive_rows.T
    columns = np.concatenate([body_regressor(arm, q, qd, qdd), values], axis=2)
    forces = ArmDynamics(arm).inverse(q, qd, qdd)
    if coupled:  # the arm's file may have inertia at the joint beside the rotor's: the model has the rotor's alone
        forces = forces - qdd * at_joints["motor_inertia"]
    np.testing.assert_allclose(columns @ x, forces, rtol=1e-11, atol=1e-10)


def test_the_tx40s_sixth_motor_acts_on_both_wrist_joints():
    arm = load_arm("tx40")
    count = len(sides(arm))
    model = TorqueModel(arm, np.full(count, 1e-9), np.ones(count))
    assert [(side.motor, side.index) for side in model.sides[-2:]] == [(True, 5), (False, 5)]
    qd, qdd = np.zeros((1, 6)), np.zeros((1, 6))
    qd[0, 4], qdd[0, 4] = 0.5, 2.0  # the fifth joint alone moves
    forces = (model.drive_values(qd, qdd)[:, np.newaxis, :] * model.drive_rows.T)[0]
    names = model.parameters.names[60:]
    assert forces[:, names.index("rotor_inertia[5]")].tolist() == [0, 0, 0, 0, 2048.0, 2048.0]
    assert forces[:, names.index("motor_viscous[5]")].tolist() == [0, 0, 0, 0, 512.0, 512.0]
    assert forces[:, names.index("motor_coulomb[5]")].tolist() == [0, 0, 0, 0, 32.0, 32.0]
    assert not forces[:, names.index("joints[5].coulomb")].any()
    uncoupled = TorqueModel(arm, np.full(6, 1e-9), np.ones(6), coupling=False)
    apart = (uncoupled.drive_values(qd, qdd)[:, np.newaxis, :] * uncoupled.drive_rows.T)[0]
    assert [uncoupled.parameters.names[60 + k] for k in apart[5].nonzero()[0]] == ["joints[5].offset"]


def test_further_terms_of_friction_have_names_units_and_columns_each():
    arm = load_arm("tx40")
    count = len(sides(arm))
    model = TorqueModel(arm, np.full(count, 0.1), np.ones(count), terms=FRICTION_TERMS)
    qd = np.random.default_rng(1).normal(size=(3, 6))
    without_load = model.drive_rows.shape[0] + 60
    assert len(model) == len(model.parameters.units) == without_load + count
    assert model.drive_values(qd, qd).shape == (3, model.drive_rows.shape[0])
    assert model.load_columns(model.smoothed_sign(qd), qd).shape == (3, 6, count)
    assert len(set(model.parameters.names)) == len(model)
