"""The arm file: what it may say, and how each fault is named."""

import re

import numpy as np
import pytest

from dynamics.errors import ArmError
from dynamics.serial import arm_names, link_poses, load_arm, parse_arm
from dynamics.serial.chain import Link
from dynamics.serial.iterative import ModifiedChain

TWO = """
name = "two"
frames = "modified"
gravity = [0, 0, "-9.81 m/s^2"]

[[joints]]
kind = "revolute"
d = "320 mm"
mass = 2.0
center_of_mass = [0, 0, "10 mm"]
inertia = [[0.02, 0, 0], [0, 0.02, 0], [0, 0, 0.01]]
viscous = "0.5 N m s/rad"
motor = { gear_ratio = 50.0, rotor_inertia = 1e-4, coulomb = 0.1 }
limits = { position = ["-90 deg", "90 deg"], velocity = "120 deg/s", force = "20 N m" }

[[joints]]
name = "slide"
kind = "prismatic"
a = 0.1
alpha = "-90 deg"
mass = "500 g"
inertia = [[0.001, 0, 0], [0, 0.001, 0], [0, 0, 0.001]]
viscous = "30 N s/m"
offset = "2 N"
limits = { position = ["-10 mm", "0.2 m"] }

[[coupling]]
motor = 2
joint = 1
ratio = 4.0
"""


def test_units_frames_and_drives_are_read():
    arm = parse_arm(TWO)
    first, slide = arm.joints
    assert (first.name, slide.name, slide.kind) == ("joint 1", "slide", "prismatic")
    assert first.position.tolist() == [0.0, 0.0, 0.32]
    assert slide.rotation.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]
    assert slide.position.tolist() == [0.1, 0.0, 0.0]
    assert (slide.mass, slide.viscous, slide.offset, slide.limits.position) == (0.5, 30.0, 2.0, (-0.01, 0.2))
    assert first.limits.velocity == pytest.approx(np.radians(120.0))
    assert arm.motor_ratios.tolist() == [[50.0, 0.0], [4.0, 1.0]]
    assert arm.rotor_inertia is not None
    assert arm.rotor_inertia.tolist() == [1e-4, 0.0]
    assert arm.motor_viscous is None
    assert arm.source == TWO


@pytest.mark.parametrize("frames", ["standard", "modified"])
def test_denavit_hartenberg_rows_are_the_chains(frames):
    """The file's rows against `link_poses` of the same modified rows; the standard form shifts a and α by one."""
    rng = np.random.default_rng(2)
    a, alpha, d, theta = rng.uniform(-0.5, 0.5, (4, 4))
    rows = "".join(
        f'[[joints]]\nkind = "{kind}"\na = {a[k]}\nalpha = {alpha[k]}\nd = {d[k]}\ntheta = {theta[k]}\n'
        for k, kind in enumerate(("revolute", "prismatic", "revolute", "revolute"))
    )
    arm = parse_arm(f'name = "rows"\nframes = "{frames}"\ngravity = [0, 0, -9.8]\n{rows}')
    shift = frames == "standard"
    links = tuple(
        Link(
            joint.kind,
            a=(0.0 if k == 0 else a[k - 1]) if shift else a[k],
            alpha=(0.0 if k == 0 else alpha[k - 1]) if shift else alpha[k],
            d=d[k],
            theta=theta[k],
        )
        for k, joint in enumerate(arm.joints)
    )
    chain = ModifiedChain(links, tip_a=a[3] if shift else 0.0, tip_alpha=alpha[3] if shift else 0.0)
    q = rng.normal(size=4)
    np.testing.assert_allclose(arm.link_poses(q), link_poses(chain, q), atol=1e-14)


def test_placements_and_a_tip_are_read():
    arm = parse_arm(
        'name = "p"\nframes = "placements"\ngravity = [0, 0, 0]\n'
        '[[joints]]\nkind = "revolute"\nposition = [1, 2, 3]\nangles = ["90 deg", 0, "90 deg"]\n'
        '[tip]\nposition = [0, 0, "0.1 m"]\nangles = [0, "90 deg", 0]\n'
    )
    pose, tip = arm.link_poses([0.0])
    assert pose[:3, 3].tolist() == [1.0, 2.0, 3.0]
    assert pose[:3, 2].tolist() == [1.0, 0.0, 0.0]  # Rz(90°) Rx(90°) z
    assert tip[:3, 3].tolist() == [1.1, 2.0, 3.0]


FAULTS = [
    ('kind = "revolute"\n', "", "joints[0] (joint 1).kind: missing"),
    ('kind = "revolute"', 'kind = "ball"', "joints[0] (joint 1).kind: 'ball' must be 'revolute' or 'prismatic'"),
    ("mass = 2.0", "mass = -2.0", "joints[0] (joint 1).mass: -2 kg, must be 0 to 1e+06 kg"),
    ("mass = 2.0", "mass = nan", "joints[0] (joint 1).mass: nan is not finite"),
    ("mass = 2.0", 'mass = "2 m"', "joints[0] (joint 1).mass: '2 m' has the wrong dimension"),
    ("mass = 2.0", "weight = 2.0", "joints[0] (joint 1).weight: unknown key"),
    ('d = "320 mm"', "position = [0, 0, 0.32]", 'joints[0] (joint 1).position: not with frames = "modified"'),
    ('"30 N s/m"', '"30 N m s/rad"', "joints[1] (joint 2).viscous: '30 N m s/rad' has the wrong dimension"),
    ('["-10 mm", "0.2 m"]', "[0.2, -0.01]", "joints[1] (joint 2).limits.position: [0.2, -0.01] m, must be [least"),
    ("gear_ratio = 50.0", "gear_ratio = 0.0", "joints[0] (joint 1).motor.gear_ratio: 0, must not be 0"),
    ("motor = 2", "motor = 3", "coupling[0].motor: 3, must be 1 to 2"),
    ("joint = 1", "joint = 2", "coupling[0]: motor and joint 2: that is the joint's motor.gear_ratio"),
    ('name = "slide"', 'name = "joint 1"', "joints[1] (joint 2).name: 'joint 1' is the name of joint 1 too"),
    ("[0, 0.02, 0], [0, 0, 0.01]", "[0, 0.02, 0], [0, 0, 0.09]",
     "joints[0] (joint 1): no real body has this inertia: principal moments 0.02, 0.02, 0.09 kg m²"),
    ("[0, 0.02, 0]", "[0, 0.02, 1]", "joints[0] (joint 1).inertia: not symmetric: element [1][2] is 1 kg m²"),
    ('frames = "modified"', 'frames = "craig"', "frames: 'craig' must be 'standard', 'modified' or 'placements'"),
    ('"-9.81 m/s^2"', "-981", "gravity[2]: -981 m/s², must be -100 to 100 m/s²"),
    ('[0, 0, "-9.81 m/s^2"]', "[0, -9.81]", "gravity: 2 entries, must be 3"),
    ("force = ", "torque = ", "joints[0] (joint 1).limits.torque: unknown key"),
    ("[[coupling]]", "[[coupling", "not valid TOML"),
    ('alpha = "-90 deg"', "alpha = -90", "joints[1] (joint 2).alpha: -90 rad, must be -6.3 to 6.3 rad"),
]  # fmt: skip


@pytest.mark.parametrize("old, new, fault", FAULTS, ids=range(len(FAULTS)))
def test_faults_are_named_with_key_value_and_bound(old, new, fault):
    assert TWO.count(old) >= 1
    with pytest.raises(ArmError, match=re.escape(fault)) as caught:
        parse_arm(TWO.replace(old, new, 1), source="my-arm.toml")
    assert caught.value.lines[0].startswith("my-arm.toml:")


def test_every_fault_is_listed():
    bad = TWO.replace("mass = 2.0", "mass = -2.0").replace('"500 g"', '"500 N"')
    with pytest.raises(ArmError) as caught:
        parse_arm(bad)
    assert [fault.partition(":")[0] for fault in caught.value.faults] == [
        "joints[0] (joint 1).mass",
        "joints[1] (joint 2).mass",
    ]


def test_an_arm_without_joints_is_refused():
    with pytest.raises(ArmError, match="joints: 0 entries, must be 1"):
        parse_arm('name = "none"\nframes = "modified"\ngravity = [0, 0, 0]\njoints = []')


def test_bodies_that_cannot_exist_are_warnings_where_the_file_allows_them():
    bad = TWO.replace("[0, 0, 0.01]]", "[0, 0, 0.09]]")
    for arm in (parse_arm("allow_unphysical = true\n" + bad), parse_arm(bad, evaluate_only=True)):
        assert len(arm.warnings) == 1
        assert arm.warnings[0].startswith("joints[0] (joint 1): no real body has this inertia")
    assert len(load_arm("puma-560").warnings) == 2


def test_files_are_found_by_path_or_name(tmp_path):
    (tmp_path / "mine.toml").write_text(TWO)
    assert load_arm(tmp_path / "mine.toml").name == "two"
    with pytest.raises(ArmError, match=r"none.toml: no such file; shipped arms are puma-560, scara, tx40"):
        load_arm(str(tmp_path / "none.toml"))
    assert arm_names() == ("puma-560", "scara", "tx40")
