"""`rig arm identify`, as a user meets it: files in, an arm file, parameters and a page out; and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from measured_arms import RATE, elbow, measured, roughly_known

from calibration import load_parameters
from dynamics.serial import Arm, ArmDynamics, load_arm
from rig.analysis import ArmColumns, ArmLoad, read_arm_record
from rig.analysis.arm_identification import angles_of, format_arm
from rig.cli import main
from rig.csvio import write_table
from rig.errors import ExitCode, InputError

WRIST = elbow(coupled=True)
COLUMNS = ArmColumns()


def write(path: Path, names: list[str], values: np.ndarray) -> Path:
    write_table(path, tuple(names), values)
    return path


def numbered(prefix: str, count: int = 3) -> list[str]:
    return [f"{prefix}{k}" for k in range(1, count + 1)]


@pytest.fixture(scope="module")
def record():
    return measured(WRIST, 1, seconds=8.0, noise=0.2)


@pytest.fixture
def folder(tmp_path, monkeypatch, record):
    """A folder with the wrist's file as known before, and its motion at the motors in two files without time."""
    monkeypatch.chdir(tmp_path)
    Path("known.toml").write_text(format_arm(roughly_known(WRIST), ["known"], {}), encoding="utf-8")
    ratios = np.asarray(WRIST.transmission)
    write(Path("positions.csv"), ["A", "B", "C"], (record.positions - [0.1, 0.2, 0.3]) @ ratios.T)
    write(Path("torques.csv"), ["A", "B", "C"], record.drives / np.diag(ratios))
    return tmp_path


def run(*arguments: str) -> int:
    return main(["arm", "identify", *arguments])


MOTORS = ("--forces", "torques.csv", "--at", "motors", "--rate", "200", "--zero", "0.1,0.2,0.3")


def test_an_arm_is_identified_from_its_motors(folder, capfd):
    files = ("-o", "found.toml", "--parameters", "parameters.toml", "--page", "page.html")
    assert run("known.toml", "positions.csv", *MOTORS, *files, "--smoothing", "0.03", "--json") == 0
    summary = json.loads(capfd.readouterr().out)
    assert summary["verdict"] == "predicts"
    assert summary["consistent"]
    assert summary["data"]["records"] == 1
    assert max(summary["formulations"].values()) < 1e-10
    assert {"newton-euler", "lagrange", "iterative", "modified-newton-euler"} <= set(summary["formulations"])
    models = {each["code"]: each["hold_outs"] for each in summary["models"]}
    assert set(models) >= {"ordinary", "chosen", "without-coupling", "without-rotors", "with-load"}
    assert models["without-coupling"][0]["held_out"][2] > 2.0 * models["chosen"][0]["held_out"][2]
    found = load_arm("found.toml")
    assert len(found.joints) == 3
    values = {each["name"]: each for each in summary["parameters"]}
    viscous = values["joints[1].motor.viscous"]
    assert abs(viscous["value"] - 8e-4) < 4.0 * viscous["sigma"]
    assert found.motor_viscous is not None
    np.testing.assert_allclose(found.motor_viscous[1], viscous["value"], rtol=1e-9)
    assert "± " in Path("found.toml").read_text(encoding="utf-8")
    kept = load_parameters("parameters.toml")
    assert (kept.kind, kept.mechanism) == ("arm", "elbow")
    assert kept.covariance is not None
    named = {each.name: k for k, each in enumerate(kept.parameters)}
    np.testing.assert_allclose(
        np.sqrt(kept.covariance[named["joints[1].motor.viscous"], named["joints[1].motor.viscous"]]), viscous["sigma"]
    )
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.count("data:image/svg+xml;base64,") == 3
    assert "last third" in page
    assert "positions.csv + torques.csv" in page
    assert run("known.toml", "positions.csv", *MOTORS, "-o", "found.toml") == ExitCode.INPUT  # never overwritten


def test_friction_that_no_arm_file_has_is_left_out_of_it(folder, capfd):
    assert run("known.toml", "positions.csv", *MOTORS, "--friction", "load", "--smoothing", "0.03", "-o", "f.toml") == 0
    text = Path("f.toml").read_text(encoding="utf-8")
    assert "Friction (load) is not in this file" in text
    assert "±" not in text.partition("name =")[2]
    assert load_arm("f.toml").motor_coulomb is not None


def test_a_body_that_cannot_exist_is_a_warning_and_found(folder, capfd, record):
    text = Path("known.toml").read_text(encoding="utf-8")
    heavy = text.replace("frames =", "allow_unphysical = true\nframes =", 1)
    inertia = heavy[heavy.index("inertia = [[") :].partition(" ]" if " ]" in heavy else "\n")[0]
    Path("odd.toml").write_text(heavy.replace(inertia, "inertia = [[9.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]]", 1), "utf-8")
    assert run("odd.toml", "positions.csv", *MOTORS, "--smoothing", "0.03", "--json") == 0
    captured = capfd.readouterr()
    assert "joint 1" in captured.err
    assert json.loads(captured.out)["consistent"]


def test_unpredicted_forces_are_a_misfit_and_are_printed(folder, capfd, record):
    noise = np.random.default_rng(2).normal(size=record.drives.shape).cumsum(axis=0)
    write(Path("noise.csv"), [*numbered("q"), *numbered("tau")], np.hstack([record.positions, noise]))
    assert run("known.toml", "noise.csv", "--rate", "200", "--smoothing", "0.03") == ExitCode.MISFIT
    captured = capfd.readouterr().out
    assert "fit: MISFIT" in captured
    assert "not white noise" in captured


def test_gains_come_from_runs_with_a_load(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    arm = elbow()
    Path("known.toml").write_text(format_arm(roughly_known(arm), ["known"], {}), encoding="utf-8")
    gains = np.array([10.0, 12.0, 9.0])
    for name, seed, load in (("free", 5, None), ("loaded", 6, np.array([4.0, 0.1, 0.02, 0.05]))):
        each = measured(arm, seed, noise=0.05, gains=gains, load=load)
        t = np.arange(len(each.positions)) / RATE
        names = ["t", *numbered("q"), *numbered("i")]
        write(Path(f"{name}.csv"), names, np.column_stack([t, each.positions, each.drives]))
    options = ("--load-mass", "4", "--load-center", "0.1,0.02,0.05", "--load-inertia", "1e-3,1e-3,1e-3")
    assert run("known.toml", "free.csv", "--loaded", "loaded.csv", *options, "--gain-sigma", "unknown", "--json") == 0
    found = {each["name"]: each for each in json.loads(capfd.readouterr().out)["parameters"]}
    for k in (1, 2):
        gain = found[f"drives[{k}].gain"]
        assert abs(gain["value"] - gains[k]) < 3.0 * gain["sigma"]
        assert gain["sigma"] < 0.05 * gains[k]


@pytest.mark.parametrize(
    ("options", "code", "fault"),
    [
        (("positions.csv",), 2, "no positions: neither q1…q3 or p1…p3, nor 3 columns alone"),
        (
            ("positions.csv", "--forces", "torques.csv", "--rate", "200"),
            2,
            "positions A, B, C: state whether of joints or of motors",
        ),
        (("positions.csv", "--forces", "torques.csv", "--at", "motors"), 2, "no column 't' of the time in s"),
        (("positions.csv", *MOTORS, "--position-columns", "A,B"), 2, "position columns are 2"),
        (("positions.csv", *MOTORS, "--position-columns", "A,B,Z"), 2, "no columns Z, it has A, B, C"),
        (("positions.csv", *MOTORS, "--gain", "1,2"), 2, "gains: 2 numbers, must be 1 or 3"),
        (("positions.csv", *MOTORS, "--gain", "1,0,1"), 2, "'--gain': 0, must not be 0"),
        (("positions.csv", *MOTORS[:-1], "0,1"), 2, "zero: 2 numbers, the arm has 3 joints"),
        (("positions.csv", *MOTORS, "--at", "tip"), 2, "'tip' is not one of 'joints', 'motors'"),
        (("positions.csv", *MOTORS, "--friction", "magic"), 2, "must be auto or asymmetry"),
        (("positions.csv", *MOTORS, "--load-mass", "2"), 2, "'--load-mass': given, but no motion with a load is"),
        (("positions.csv", *MOTORS, "--load-inertia", "1,1,1"), 2, "'--load-inertia': given, but no motion"),
        (("positions.csv", *MOTORS, "--loaded", "positions.csv"), 2, "not given, but motions with a load are"),
        (("positions.csv", *MOTORS, "--gain-sigma", "unknown"), 2, "unknown, but no motion with a known load is given"),
        (("positions.csv", *MOTORS, "--gain-sigma", "2"), 2, "'--gain-sigma': 2, must be 0 to 1, or unknown"),
        (("positions.csv", *MOTORS, "--cutoff", "90"), 4, "cut-off: 90 Hz, must be above 0 and at most 80 Hz"),
        (("positions.csv", *MOTORS, "--mass", "1e9"), 4, "mass: 1e+09 must be finite"),
        (("absent.csv", *MOTORS), 2, "absent.csv"),
        (
            ("positions.csv", *MOTORS, "--forces", "torques.csv"),
            2,
            "2 files of forces for 1 of positions",
        ),
    ],
)
def test_unusable_files_and_options_are_refused_by_name(folder, capfd, options, code, fault):
    assert run("known.toml", *options) == code
    captured = capfd.readouterr().err
    plain = " ".join(captured.replace("│", " ").split())
    assert fault in plain


def read(path: Path, arm: Arm, columns: ArmColumns = COLUMNS, **more):
    return read_arm_record(arm, (path,), columns, **more)


def table(path: Path, t: np.ndarray, q: np.ndarray, tau: np.ndarray) -> Path:
    return write(path, ["t", *numbered("q"), *numbered("tau")], np.column_stack([t, q, tau]))


def test_rows_of_uneven_times_are_interpolated_and_gaps_refused(tmp_path):
    arm = elbow()
    t = np.arange(400) * 0.005
    uneven = t + np.random.default_rng(0).uniform(-1e-3, 1e-3, len(t))
    q = np.sin(3.0 * uneven[:, np.newaxis] + np.arange(3))
    found = read(table(tmp_path / "a.csv", uneven, q, 2.0 * q), arm)
    even = uneven[0] + np.arange(400) / found.rate
    np.testing.assert_allclose(found.positions, np.sin(3.0 * even[:, np.newaxis] + np.arange(3)), atol=1e-4)
    np.testing.assert_allclose(found.drives, 2.0 * found.positions)
    kept = np.delete(np.arange(400), [100, 101])
    with pytest.raises(InputError, match=r"a gap of 0\.015 s after t = 0\.495 s"):
        read(table(tmp_path / "b.csv", t[kept], q[kept], q[kept]), arm)
    with pytest.raises(InputError, match="does not increase"):
        read(table(tmp_path / "c.csv", t[::-1], q, q), arm)
    with pytest.raises(InputError, match="reaches 57"):
        read(table(tmp_path / "d.csv", t, np.degrees(q), q), arm)
    in_degrees = read(table(tmp_path / "e.csv", t, np.degrees(q), q), arm, ArmColumns(degrees=True))
    np.testing.assert_allclose(in_degrees.positions, q, rtol=1e-9)
    with pytest.raises(InputError, match="rows come at 200 Hz, the stated rate is 100 Hz"):
        read(table(tmp_path / "f.csv", t, q, q), arm, ArmColumns(rate=100.0))


def test_columns_of_any_names_are_found_by_a_pattern(tmp_path):
    arm = elbow()
    names = ["time", "state", *(f"actual_q_{k}" for k in (2, 0, 1)), *(f"actual_current_{k}" for k in range(3))]
    values = np.random.default_rng(1).normal(size=(50, 8))
    values[:, 0] = 0.01 * np.arange(50)
    columns = ArmColumns(("actual_q_*",), ("actual_current_*",), "time", "joints")
    found = read(write(tmp_path / "log.csv", names, values), arm, columns, gains=(2.0, 3.0, 4.0))
    assert found.rate == pytest.approx(100.0)
    np.testing.assert_allclose(found.positions, values[:, [3, 4, 2]])
    np.testing.assert_allclose(found.drives, values[:, 5:] * [2.0, 3.0, 4.0])
    with pytest.raises(InputError, match="actual_current_0, actual_current_1, actual_current_2 are currents, A: state"):
        read(tmp_path / "log.csv", arm, columns)
    usual = write(tmp_path / "usual.csv", ["t", *numbered("q"), *numbered("i")], values[:, [0, *range(2, 8)]])
    with pytest.raises(InputError, match="i1, i2, i3 are currents, A: state their gains"):
        read(usual, arm)


def test_joint_forces_of_coupled_drives_are_those_of_the_motors(tmp_path):
    ratios = np.asarray(WRIST.transmission)
    torques = np.random.default_rng(2).normal(size=(20, 3))
    names = ["t", *numbered("q")]
    rows = np.column_stack([0.01 * np.arange(20), np.zeros((20, 3))])
    at_motors = write(tmp_path / "m.csv", [*names, *numbered("c")], np.hstack([rows, torques]))
    at_joints = write(tmp_path / "j.csv", [*names, *numbered("tau")], np.hstack([rows, torques @ ratios]))
    np.testing.assert_allclose(read(at_motors, WRIST).drives, read(at_joints, WRIST).drives, rtol=1e-9)


def test_a_load_is_transformed_from_the_tip_to_the_last_joint():
    arm = replace(
        elbow(),
        tip_rotation=np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
        tip_position=np.array([0.3, 0.0, 0.0]),
    )
    numbers = ArmLoad(2.0, (0.1, 0.0, 0.0), np.diag([1e-3, 2e-3, 3e-3])).numbers(arm)
    np.testing.assert_allclose(numbers[:4], [2.0, 0.6, 0.2, 0.0])
    np.testing.assert_allclose(numbers[4:7], [2e-3 + 0.02, 1e-3 + 0.18, 3e-3 + 0.2])


def test_a_written_arm_file_has_the_same_dynamics():
    rng = np.random.default_rng(3)
    for arm in (WRIST, elbow(), load_arm("tx40"), load_arm("scara"), load_arm("puma-560")):
        text = format_arm(arm, ["a line"], {"joints[0].mass": 0.1})
        again = load_arm_text(text)
        q, qd, qdd = rng.normal(size=(3, 10, len(arm)))
        np.testing.assert_allclose(
            ArmDynamics(again).inverse(q, qd, qdd), ArmDynamics(arm).inverse(q, qd, qdd), rtol=1e-7, atol=1e-6
        )
        assert [joint.limits for joint in again.joints] == [joint.limits for joint in arm.joints]
    assert "mass = 6.0 # ± 0.1" in format_arm(elbow(), [], {"joints[0].mass": 0.1})


def load_arm_text(text: str) -> Arm:
    from dynamics.serial import parse_arm

    return parse_arm(text)


def test_angles_reproduce_their_rotation():
    from dynamics.serial.arm import rotation_of_angles

    for angles in ([0.3, -0.4, 2.0], [0.3, 0.5 * np.pi, 0.0], [-0.3, -0.5 * np.pi, 0.7], [3.0, 1.2, -3.0]):
        rotation = rotation_of_angles(angles)
        np.testing.assert_allclose(rotation_of_angles(angles_of(rotation)), rotation, atol=1e-9)
