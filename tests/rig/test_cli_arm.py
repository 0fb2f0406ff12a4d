"""`rig arm`, as a user meets it: every command end to end, and what it refuses."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from dynamics.serial import ArmDynamics, load_arm, puma_study
from rig.cli import main
from rig.csvio import read_table, write_table
from rig.errors import ExitCode, RefusedError
from rig.findings import Code
from rig.services import joint_columns, motion_columns, refuse_gains

MOVE = """
[[parts]]
type = "minimum-jerk"
start = [0, 0, 0, 0]
end = ["40 deg", "-30 deg", "-50 mm", "60 deg"]
duration = "0.8 s"
"""
STUDY = """
[[parts]]
type = "minimum-jerk"
start = ["90 deg", 0, "90 deg", 0, 0, 0]
end = ["45 deg", "30 deg", 0, "45 deg", "60 deg", "90 deg"]
duration = 2.0
[[parts]]
type = "hold"
position = ["45 deg", "30 deg", 0, "45 deg", "60 deg", "90 deg"]
duration = 0.5
"""
FORCES = joint_columns("tau", 4)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder with the motion `move.toml` of the four-joint arm."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "move.toml").write_text(MOVE)
    return tmp_path


def run(*arguments: str) -> int:
    return main(["arm", *arguments])


def test_forces_of_a_trajectory_file_are_the_models(folder, capfd):
    assert run("inverse", "scara", "move.toml", "-o", "f.csv", "--json", "--figures", "plots") == 0
    summary = json.loads(capfd.readouterr().out)
    table = read_table(folder / "f.csv", (*motion_columns(4), *FORCES))
    assert table.names == ("t", *motion_columns(4), *FORCES)
    assert (summary["arm"], summary["rows"], len(table.times)) == ("SCARA", 401, 401)
    q, qd, qdd, tau = (table.columns(joint_columns(prefix, 4)) for prefix in ("q", "qd", "qdd", "tau"))
    np.testing.assert_allclose(q[-1], [np.radians(40.0), np.radians(-30.0), -0.05, np.radians(60.0)])
    np.testing.assert_allclose(tau, ArmDynamics(load_arm("scara")).inverse(q, qd, qdd), rtol=1e-12)
    worst = np.abs(tau).max(axis=0)
    np.testing.assert_allclose([abs(peak["value"]) for peak in summary["peaks"]], worst)
    assert [peak["unit"] for peak in summary["peaks"]] == ["N m", "N m", "N", "N m"]
    assert sorted(path.name for path in (folder / "plots").iterdir()) == [
        "forces.pdf", "forces.svg", "joints.pdf", "joints.svg",
    ]  # fmt: skip


@pytest.mark.parametrize("formulation", ["newton-euler", "modified-newton-euler", "iterative", "lagrange"])
def test_formulations_give_the_same_table(folder, formulation):
    for name, chosen in (("a.csv", "compiled"), ("b.csv", formulation)):
        assert run("inverse", "scara", "move.toml", "-o", name, "--rate", "20", "--formulation", chosen) == 0
    first, second = (read_table(folder / name, (*motion_columns(4), *FORCES)).values for name in ("a.csv", "b.csv"))
    np.testing.assert_allclose(first, second, rtol=1e-11, atol=1e-11)


def test_base_axes_have_no_prismatic_joints(folder, capfd):
    assert run("inverse", "scara", "move.toml", "-o", "f.csv", "--formulation", "base-axes") == ExitCode.INPUT
    assert "joint travel: prismatic, but base-axes has revolute joints alone" in capfd.readouterr().err
    assert not (folder / "f.csv").exists()


@pytest.mark.parametrize("method", ["compiled", "strobing"])
def test_accelerations_of_the_forces_are_those_of_the_motion(folder, capfd, method):
    assert run("inverse", "scara", "move.toml", "-o", "f.csv", "--rate", "50") == 0
    assert run("forward", "scara", "f.csv", "-o", "a.csv", "--method", method) == 0
    words = capfd.readouterr().out.partition("largest difference from the table's accelerations, of each joint:\n")[2]
    joints = words.splitlines()
    assert [line.split()[0] for line in joints] == ["shoulder", "elbow", "travel", "quill"]
    assert [line.split()[-1] for line in joints] == ["rad/s²", "rad/s²", "m/s²", "rad/s²"]
    before, after = (read_table(folder / name, (*motion_columns(4), *FORCES)).values for name in ("f.csv", "a.csv"))
    np.testing.assert_allclose(after, before, atol=1e-10)


@pytest.mark.parametrize("method", ["compiled", "strobing"])
def test_accelerations_of_a_simulation_are_its_own_with_its_coulomb_speed(folder, capfd, method):
    assert run("simulate", "scara", "move.toml", "-o", "s.csv", "--rate", "50", "--coulomb-speed", "0.2") == 0
    options = ("--method", method, "--coulomb-speed", "0.2", "--json")
    capfd.readouterr()
    assert run("forward", "scara", "s.csv", "-o", "a.csv", *options) == 0
    assert max(json.loads(capfd.readouterr().out)["difference"]) < 1e-8


@pytest.mark.parametrize("command", ["forward", "forward --method strobing", "simulate", "control"])
def test_an_arm_without_inertia_is_refused(folder, capfd, command):
    (folder / "none.toml").write_text(
        'name = "none"\nframes = "standard"\ngravity = [0, 0, 0]\n[[joints]]\nkind = "revolute"\nviscous = 1.0\n'
    )
    names = ("t", *motion_columns(1), "tau1")
    write_table(folder / "f.csv", names, np.column_stack([[0.0, 0.1], np.zeros((2, 3)), np.ones((2, 1))]))
    source = "f.csv"
    if command == "control":
        source = "c.csv"
        write_table(folder / source, names[:-1], np.column_stack([[0.0, 0.1], np.zeros((2, 3))]))
    name, *options = command.split()
    assert run(name, "none.toml", source, "-o", "o.csv", *options) == ExitCode.INPUT
    assert "a body or a motor has too little inertia" in " ".join(capfd.readouterr().err.split())


def test_a_simulation_follows_its_forces_and_every_table_is_read(folder, capfd):
    """The forces of a motion, by table and by file; what simulation and control write is read by inverse again."""
    assert run("inverse", "scara", "move.toml", "-o", "f.csv", "--coulomb-speed", "0.01") == 0
    assert run("simulate", "scara", "f.csv", "-o", "s.csv", "--json") == 0
    assert "simulated at" not in capfd.readouterr().out
    assert run("simulate", "scara", "f.csv", "-o", "s.csv") == 0
    words = capfd.readouterr().out.partition("difference from the given motion, at the end and the largest")[2]
    assert [line.split()[-1] for line in words.splitlines()[1:]] == ["rad", "rad", "m", "rad"]
    assert run("simulate", "scara", "move.toml", "-o", "s2.csv", "--json") == 0
    found = json.loads(capfd.readouterr().out)
    assert max(found["difference"]["largest"]) < 0.02
    assert run("control", "scara", "s.csv", "-o", "c.csv") == 0
    assert run("inverse", "scara", "c.csv", "-o", "i.csv", "--coulomb-speed", "0.01") == 0
    controlled, again = (
        read_table(folder / name, motion_columns(4), [FORCES, joint_columns("e", 4)]) for name in ("c.csv", "i.csv")
    )
    np.testing.assert_allclose(again.columns(FORCES), controlled.columns(FORCES), rtol=1e-8, atol=1e-8)


def test_a_motion_of_any_duration_is_sampled_evenly(folder, capfd):
    """Otherwise what one command writes could not be simulated by the next."""
    (folder / "odd.toml").write_text(MOVE.replace("0.8 s", "0.7777 s"))
    assert run("inverse", "scara", "odd.toml", "-o", "f.csv", "--rate", "100") == 0
    times = read_table(folder / "f.csv", (*motion_columns(4), *FORCES)).times
    assert (len(times), times[-1]) == (79, 0.7777)
    assert run("simulate", "scara", "f.csv", "-o", "s.csv") == 0
    assert run("control", "scara", "f.csv", "-o", "c.csv") == 0
    assert run("control", "scara", "odd.toml", "-o", "c.csv") == 0


def test_computed_torque_repeats_the_papers_study(folder, capfd):
    (folder / "study.toml").write_text(STUDY)
    bare = load_arm("puma-560").source.splitlines()
    lines = [line for line in bare if not line.startswith("motor")]
    (folder / "bare.toml").write_text("\n".join(lines))
    arguments = ("control", "bare.toml", "study.toml", "-o", "c.csv", "--substeps", "1", "--json")
    assert run(*arguments) == 0
    mended = json.loads(capfd.readouterr().out)
    np.testing.assert_allclose([abs(peak["value"]) for peak in mended["peaks"]], puma_study().peak, rtol=1e-9)
    assert run(*arguments, "--preview") == 0
    preview = json.loads(capfd.readouterr().out)
    np.testing.assert_allclose([abs(x["value"]) for x in preview["peaks"]], puma_study(preview=True).peak, rtol=1e-9)
    assert run(*arguments, "--rate", "20", "--law", "as-printed") == 0
    printed = json.loads(capfd.readouterr().out)
    assert run(*arguments, "--rate", "20", "--law", "lagrange") == 0
    lagrange = json.loads(capfd.readouterr().out)
    assert max(abs(x["value"]) for x in printed["peaks"]) > 0.3
    assert max(abs(x["value"]) for x in lagrange["peaks"]) < 0.03


GAINS = {
    "a": ("kp = 100.0\nkv = [[20, 0, 0, 0], [0, -1, 0, 0], [0, 0, 20, 0], [0, 0, 0, 20]]",
          "kv: least eigenvalue -1 1/s, must be at least 0 1/s (condition a"),
    "a, symmetry": ("kp = 100.0\nkv = [[20, 5, 0, 0], [0, 20, 0, 0], [0, 0, 20, 0], [0, 0, 0, 20]]",
                    "kv: row 1, column 2: 5 1/s, must be 0 1/s as in row 2, column 1 (condition a"),
    "b": ("kp = [100.0, 100.0, 0.0, 100.0]\nkv = 20.0",
          "kp: least eigenvalue 0 1/s², must be above 0 1/s² (condition b"),
    "c": ("kp = 100.0\nkv = [0.0, 0.0, 0.0, 20.0]",
          "kp and kv: 1 of 4 directions are damped, and the others oscillate undamped (condition c"),
}  # fmt: skip


@pytest.mark.parametrize("condition", GAINS)
def test_each_condition_of_the_paper_is_refused_when_it_is_broken(folder, capfd, condition):
    text, fault = GAINS[condition]
    (folder / "gains.toml").write_text(text)
    assert run("control", "scara", "move.toml", "-o", "c.csv", "--gains", "gains.toml") == ExitCode.REFUSED
    assert fault in " ".join(capfd.readouterr().err.split())
    assert not (folder / "c.csv").exists()


def test_each_broken_condition_is_a_finding_with_its_numbers():
    kp, kv = 100.0 * np.eye(3), 20.0 * np.eye(3)
    skew = np.zeros((3, 3))
    skew[0, 2] = 4.0
    one = np.diag([0.0, 0.0, 20.0])
    expected = [
        (kp, -kv, [(Code.DAMPING_NEGATIVE, -20.0, 0.0)]),
        (kp, kv + skew, [(Code.GAIN_ASYMMETRIC, 4.0, 0.0)]),
        (0.0 * kp, kv, [(Code.STIFFNESS_NOT_POSITIVE, 0.0, 0.0)]),
        (kp, one, [(Code.UNDAMPED, 1.0, 3.0)]),
        (kp - 100.0 * np.eye(3), kv + skew, [(Code.GAIN_ASYMMETRIC, 4.0, 0.0),
                                             (Code.STIFFNESS_NOT_POSITIVE, 0.0, 0.0)]),
    ]  # fmt: skip
    for position, velocity, found in expected:
        with pytest.raises(RefusedError) as caught:
            refuse_gains(position, velocity)
        assert caught.value.finding.code is Code.ARM_GAINS_REFUSED
        assert [(each.code, each.value, each.bound) for each in caught.value.finding.within] == found
    refuse_gains(kp + skew + skew.T, kv)


def test_full_gains_that_meet_the_conditions_are_taken(folder, capfd):
    """Coupled damping meets (c) by the rank alone: K_v damps one direction, and K_p couples it with the others."""
    kp = np.diag([100.0, 110.0, 120.0, 130.0]) + 20.0
    (folder / "gains.toml").write_text(f"kp = {kp.tolist()}\nkv = {np.diag([0.0, 0.0, 0.0, 40.0]).tolist()}")
    assert run("control", "scara", "move.toml", "-o", "c.csv", "--gains", "gains.toml", "--json") == 0
    assert json.loads(capfd.readouterr().out)["kp"] == kp.tolist()


def test_counts_are_of_the_arms_structure_or_of_any(folder, capfd):
    found = {}
    for arguments in (("puma-560",), ("--joints", "6"), ("--structure", "RRPRPR")):
        assert run("count", *arguments, "--json") == 0
        counts = json.loads(capfd.readouterr().out)["counts"]
        found[arguments[-1]] = {one["name"]: one["multiplications"] + one["additions"] for one in counts}
    assert all(found["puma-560"][name] < count for name, count in found["6"].items())
    assert "base-axes" not in found["RRPRPR"]
    # the orders of the papers: two joints more cost Newton–Euler as much each time, Lagrange ever more
    sizes = []
    for joints in (4, 6, 8):
        assert run("count", "--joints", str(joints), "--json") == 0
        sizes.append({one["name"]: one["multiplications"] for one in json.loads(capfd.readouterr().out)["counts"]})
    first, second = (
        {name: after[name] - before[name] for name in after} for before, after in itertools.pairwise(sizes)
    )
    assert first["newton-euler"] == second["newton-euler"]
    assert second["lagrange"] > 1.5 * first["lagrange"]


def test_formulations_are_compared_on_a_motion(folder, capfd):
    assert run("compare", "tx40", "turn.toml", "-o", "all.csv") == ExitCode.INPUT
    (folder / "turn.toml").write_text(
        '[[parts]]\ntype = "harmonic"\nduration = 0.5\nfade = 0.1\n'
        'terms = [{ joint = 5, amplitude = "10 deg", frequency = 3 }, { joint = 2, amplitude = 0.1, frequency = 2 }]\n'
    )
    assert run("compare", "tx40", "turn.toml", "-o", "all.csv", "--json", "--figures", "plots") == 0
    found = json.loads(capfd.readouterr().out)["formulations"]
    assert [one["name"] for one in found] == [
        "compiled", "newton-euler", "base-axes", "modified-newton-euler", "iterative", "lagrange",
    ]  # fmt: skip
    assert all(one["difference"] < 1e-12 for one in found)
    assert (folder / "plots" / "differences.svg").exists()


def test_misprints_of_the_papers_change_the_forces(folder, capfd):
    """On an arm with a sliding joint, that of the note; on turning joints, those of the paper of 1980."""
    (folder / "turn.toml").write_text(
        MOVE.replace('"-50 mm", "60 deg"]', "0.4, 1, -0.5, 0.3]").replace("0, 0]", "0, 0, 0, 0]")
    )
    wrong = {}
    for arm, motion in (("scara", "move.toml"), ("puma-560", "turn.toml")):
        assert run("compare", arm, motion, "-o", "all.csv", "--rate", "20", "--as-printed", "--json") == 0
        found = json.loads(capfd.readouterr().out)["formulations"]
        wrong[arm] = {one["name"] for one in found if one["difference"] > 1e-3}
    assert wrong == {"scara": {"iterative-as-printed"}, "puma-560": {"newton-euler-as-printed", "modified-as-printed"}}


def test_limits_that_a_motion_exceeds_are_named(folder, capfd):
    (folder / "fast.toml").write_text(MOVE.replace("0.8 s", "0.08 s"))
    assert run("inverse", "scara", "fast.toml", "-o", "f.csv") == 0
    words = capfd.readouterr().err
    assert "shoulder: velocity 16.3625 rad/s at t = 0.04 s, limit 6.8 rad/s" in words
    assert "travel: acceleration -" in words


def test_wrong_tables_are_refused_by_column_and_line(folder, capfd):
    times = np.arange(3) / 10.0
    names = ("t", *motion_columns(4))
    write_table(folder / "deg.csv", ("t", "q1_deg", *motion_columns(4)[1:]), np.zeros((3, 13)))
    assert run("inverse", "scara", "deg.csv", "-o", "f.csv") == ExitCode.INPUT
    words = capfd.readouterr().err
    assert "missing: q1" in words
    assert "unknown: q1_deg" in words
    rows = np.column_stack([times, np.zeros((3, 12))])
    rows[2, 3] = np.nan
    write_table(folder / "nan.csv", names, rows)
    assert run("inverse", "scara", "nan.csv", "-o", "f.csv") == ExitCode.INPUT
    assert "line 4: q3 = nan is not finite" in capfd.readouterr().err
    write_table(folder / "uneven.csv", ("t", *FORCES), np.column_stack([[0.0, 0.1, 0.3], np.zeros((3, 4))]))
    assert run("simulate", "scara", "uneven.csv", "-o", "s.csv") == ExitCode.INPUT
    assert "t = 0.1 s is 0.1 s after the row before, must be 0.15 s" in capfd.readouterr().err


@pytest.mark.parametrize(
    "arguments, fault",
    [
        (("inverse", "scara", "move.toml", "-o", "f.csv", "--formulation", "kane"), "'kane' must be one of compiled"),
        (("inverse", "none.toml", "move.toml", "-o", "f.csv"), "no such file; shipped arms are puma-560, scara, tx40"),
        (("inverse", "puma-560", "move.toml", "-o", "f.csv"), "part 1, start: 4 values, must be 6, one for each joint"),
        (("inverse", "scara", "move.toml", "-o", "f.csv", "--rate", "0"), "0 Hz, must be above 0 to 100000 Hz"),
        (("control", "scara", "move.toml", "-o", "f.csv", "--kp", "1,2"), "2 numbers, must be 1 or 4"),
        (("control", "scara", "move.toml", "-o", "f.csv", "--law", "pid"), "'pid' must be mended, lagrange"),
        (("control", "scara", "move.toml", "-o", "f.csv", "--plant", "tx40"), "plant: 6 joints, must be 4"),
        (("count",), "give an arm, a structure or a number of joints"),
        (("count", "--structure", "RXR"), "'RXR', must be 1 to 30 letters R or P"),
        (("count", "--joints", "31"), "31, must be 1 to 30"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_by_name(folder, capfd, arguments, fault):
    assert run(*arguments) == ExitCode.INPUT
    assert fault in " ".join(capfd.readouterr().err.split())
