"""An arm by URDF: its dynamics are what Pinocchio computes from the same file; bad files are refused by name."""

import re
import sys

import numpy as np
import pinocchio as pin
import pytest

from dynamics.errors import ArmError
from dynamics.serial import ArmDynamics, load_arm
from dynamics.serial.urdf import parse_urdf

URDF = """<?xml version="1.0"?>
<robot name="bench arm">
  <link name="world"/>
  <joint name="stand" type="fixed"><parent link="world"/><child link="base"/>
    <origin xyz="0.1 0 0.2" rpy="0 0 0.3"/></joint>
  <link name="base">
    <inertial><mass value="9"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  </link>
  <joint name="waist" type="continuous"><parent link="base"/><child link="tower"/>
    <origin xyz="0 0 0.15"/><axis xyz="0 0 1"/><dynamics damping="0.4" friction="0.6"/></joint>
  <link name="tower"><inertial><origin xyz="0.01 0.02 0.1" rpy="0.1 -0.2 0.3"/><mass value="4"/>
    <inertia ixx="0.05" ixy="0.002" ixz="-0.001" iyy="0.04" iyz="0.003" izz="0.03"/></inertial></link>
  <joint name="mount" type="fixed"><parent link="tower"/><child link="box"/>
    <origin xyz="-0.1 0 0.05" rpy="0.4 0 0"/></joint>
  <link name="box"><inertial><origin xyz="0 0 0.02"/><mass value="1.5"/>
    <inertia ixx="0.004" ixy="0" ixz="0" iyy="0.005" iyz="0" izz="0.003"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="tower"/><child link="beam"/>
    <origin xyz="0 0.05 0.3" rpy="0.2 0.1 -0.5"/><axis xyz="0 1 0.5"/>
    <limit lower="-1.5" upper="2" effort="80" velocity="3"/></joint>
  <link name="beam"><inertial><origin xyz="0.2 0 0"/><mass value="3"/>
    <inertia ixx="0.01" ixy="0" ixz="0.001" iyy="0.06" iyz="0" izz="0.06"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="beam"/><child link="rod"/>
    <origin xyz="0.3 0 0.1" rpy="0 0.3 0"/><axis xyz="-1 0 0"/>
    <limit lower="0" upper="0.4" effort="0" velocity="0.5"/><dynamics damping="12"/></joint>
  <link name="rod"><inertial><origin xyz="0.05 0 0"/><mass value="1"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.004" iyz="0" izz="0.004"/></inertial></link>
  <joint name="twist" type="revolute"><parent link="rod"/><child link="hand"/><origin xyz="0.1 0 0"/>
    <limit lower="-3" upper="3" effort="10" velocity="6"/></joint>
  <link name="hand"><inertial><origin xyz="0.02 0.01 0"/><mass value="0.7"/>
    <inertia ixx="0.0007" ixy="0" ixz="0" iyy="0.0009" iyz="0" izz="0.0008"/></inertial></link>
  <joint name="flange" type="fixed"><parent link="hand"/><child link="tool"/>
    <origin xyz="0.08 0 0" rpy="0 1.2 0"/></joint>
  <link name="tool"/>
</robot>
"""
FINGER = """
  <joint name="finger" type="prismatic"><parent link="hand"/><child link="pad"/><origin xyz="0.1 0 0"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="0.1" effort="10" velocity="6"/></joint>
  <link name="pad"><inertial><mass value="0.2"/>
    <inertia ixx="0.0001" ixy="0" ixz="0" iyy="0.0001" iyz="0" izz="0.0001"/></inertial></link>
  <joint name="second finger" type="prismatic"><parent link="hand"/><child link="second pad"/>
    <origin xyz="0.1 0 0"/><axis xyz="0 -1 0"/><limit lower="0" upper="0.1" effort="10" velocity="6"/>
    <mimic joint="finger"/></joint>
  <link name="second pad"/>
</robot>"""
GRIPPER = URDF.replace("</robot>", FINGER)


def pinocchio_of(text):
    model = pin.buildModelFromXML(text)
    model.gravity.linear = np.array([0.0, 0.0, -9.80665])
    return model, model.createData()


def posture(model, q):
    """Joint positions as Pinocchio wants them: a continuous joint by cosine and sine."""
    parts = [[np.cos(x), np.sin(x)] if joint.nq == 2 else [x] for joint, x in zip(model.joints[1:], q, strict=True)]
    return np.concatenate(parts)


def test_forces_accelerations_and_mass_matrix_are_pinocchios():
    arm = parse_urdf(URDF)
    ours = ArmDynamics(arm.without_friction())
    model, data = pinocchio_of(URDF)
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.normal(size=(3, 4))
    place = posture(model, q)
    tau = pin.rnea(model, data, place, qd, qdd)
    np.testing.assert_allclose(ours.inverse(q, qd, qdd), tau, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.forward(q, qd, tau), qdd, rtol=1e-10, atol=1e-10)
    upper = np.triu(pin.crba(model, data, place))
    np.testing.assert_allclose(ours.mass_matrix(q), upper + np.triu(upper, 1).T, rtol=1e-12, atol=1e-13)
    pin.framesForwardKinematics(model, data, place)
    tool = data.oMf[model.getFrameId("tool")].homogeneous
    np.testing.assert_allclose(arm.link_poses(q)[-1], tool, atol=1e-13)
    friction = ArmDynamics(arm).inverse(q, qd, qdd) - tau
    np.testing.assert_allclose(
        friction, model.damping * qd + [0.6 * np.sign(qd[0]), 0.0, 0.0, 0.0], rtol=1e-9, atol=1e-12
    )


def test_names_limits_and_notes_are_read(tmp_path):
    path = tmp_path / "bench.urdf"
    path.write_text(URDF)
    arm = load_arm(path)
    assert arm.name == "bench arm"
    assert [(joint.name, joint.kind) for joint in arm.joints] == [
        ("waist", "revolute"), ("shoulder", "revolute"), ("slide", "prismatic"), ("twist", "revolute"),
    ]  # fmt: skip
    assert [joint.limits.position for joint in arm.joints] == [None, (-1.5, 2.0), (0.0, 0.4), (-3.0, 3.0)]
    assert [joint.limits.force for joint in arm.joints] == [None, 80.0, None, 10.0]
    assert arm.notes == ("joint slide: limit of force is 0, taken as none",)
    foreign = parse_urdf(URDF.replace("<axis", "<drake:gear ratio='2'/><axis drake:of='x'", 1))
    assert any("gear" in note for note in foreign.notes)
    misspelt = parse_urdf(URDF.replace("damping", "dampnig", 1))
    assert any("dampnig" in note for note in misspelt.notes)


def test_joints_on_the_path_to_the_tip_are_the_arms_and_others_are_merged(tmp_path):
    path = tmp_path / "gripper.urdf"
    path.write_text(GRIPPER)
    with pytest.raises(ArmError, match="link hand: the chain branches there, into joints finger and second finger"):
        load_arm(path)
    arm = load_arm(f"{path}#tool")
    assert len(arm) == 4
    assert "joint finger, prismatic, is not on the path to the tip: fixed at 0" in arm.notes
    whole, _data = pinocchio_of(GRIPPER)
    fingers = [whole.getJointId(name) for name in ("finger", "second finger")]
    model = pin.buildReducedModel(whole, fingers, pin.neutral(whole))
    q, qd, qdd = np.random.default_rng(4).normal(size=(3, 4))
    tau = pin.rnea(model, model.createData(), posture(model, q), qd, qdd)
    np.testing.assert_allclose(ArmDynamics(arm.without_friction()).inverse(q, qd, qdd), tau, rtol=1e-12, atol=1e-12)


SECOND_ARM = """
  <joint name="second stand" type="fixed"><parent link="world"/><child link="second base"/>
    <origin xyz="0 1 0.2"/></joint>
  <link name="second base"/>
  <joint name="second waist" type="revolute"><parent link="second base"/><child link="second tower"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="10" velocity="6"/></joint>
  <link name="second tower"/>
</robot>"""


def test_two_arms_on_two_stands_are_not_one_chain(tmp_path):
    path = tmp_path / "two.urdf"
    path.write_text(URDF.replace("</robot>", SECOND_ARM))
    with pytest.raises(ArmError, match="joint second waist: the chain has branched before it, into joint waist too"):
        load_arm(path)
    assert [joint.name for joint in load_arm(f"{path}#second tower").joints] == ["second waist"]
    assert len(load_arm(f"{path}#tool")) == 4


FAULTS = [
    ('type="continuous"', 'type="floating"', "joint waist: type floating, must be revolute, continuous"),
    ('type="continuous"', 'type="ball"', "/joint[@name='waist']: Invalid joint type: ball"),
    ('<dynamics damping="0.4"', '<mimic joint="twist"/><dynamics damping="0.4"',
     "joint waist: mimics twist, but the joints of an arm move independently"),
    ('<axis xyz="0 1 0.5"/>', '<axis xyz="0 0 0"/>', "joint shoulder: axis [0.0, 0.0, 0.0] has no direction"),
    ('damping="0.4"', 'damping="-0.4"', "joint waist: viscous: -0.4 N m s/rad, must not be negative"),
    ('lower="-1.5" upper="2"', 'lower="2" upper="-1.5"', "joint shoulder: limits.position: [2.0, -1.5] rad"),
    ('<mass value="3"/>', '<mass value="-3"/>', "link beam: mass -3 kg, must be finite and at least 0 kg"),
    ('<mass value="3"/>', '<mass value="nan"/>', "link beam: mass nan kg, must be finite"),
    ('iyy="0.06" iyz="0" izz="0.06"', 'iyy="0.06" iyz="0" izz="0.6"',
     "joints[1] (joint 2): no real body has this inertia"),
    ('<child link="rod"/>', '<child link="rood"/>', "joint slide: its link 'rood' is not there"),
    ('<child link="hand"/>', '<child link="rod"/>', "link rod: two joints lead to it, slide and twist"),
    ("</robot>", '<link name="loose"/></robot>', "2 links without a joint before them, must be 1: world, loose"),
    ("</robot>", '<link name="tool"/></robot>', "links: the name 'tool' occurs twice"),
    ("</robot>", "", "no URDF:"),
    ('<?xml version="1.0"?>', '<!DOCTYPE x [<!ENTITY a "b">]>', "has a document type or entities"),
]  # fmt: skip


@pytest.mark.parametrize("old, new, fault", FAULTS, ids=range(len(FAULTS)))
def test_faults_are_named(old, new, fault):
    assert old in URDF
    with pytest.raises(ArmError, match=re.escape(fault)) as caught:
        parse_urdf(URDF.replace(old, new, 1), source="bench.urdf")
    assert caught.value.lines[0].startswith("bench.urdf:")


def test_a_body_that_cannot_exist_may_be_evaluated():
    text = URDF.replace('iyy="0.06" iyz="0" izz="0.06"', 'iyy="0.06" iyz="0" izz="0.6"')
    assert len(parse_urdf(text, evaluate_only=True).warnings) == 1


def test_without_the_parser_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "urdf_parser_py", None)
    with pytest.raises(ArmError, match=re.escape("needs urdf-parser-py: pip install 'stewart-rig[urdf]'")):
        parse_urdf(URDF)
