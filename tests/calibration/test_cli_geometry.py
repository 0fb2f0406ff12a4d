"""`rig calibrate geometry`: what it reads, refuses, writes and says."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tracked_platform import TARGETS, Platform, built, in_gauge, reachable_poses

from calibration import GeometryNoise, load_parameters
from dynamics import load_mechanism
from kinematics import Array, Geometry, leg_lengths, load_trajectory, quaternion_from_rotation_vector
from rig.cli import main
from rig.client import checked_motion
from rig.config import load_config
from rig.csvio import POSE, per_leg, write_table
from rig.errors import ExitCode

LAB = load_mechanism("lab-hexapod")
NOISE = GeometryNoise()
LENGTHS = per_leg("l")
COUNT = 40


@pytest.fixture(scope="module")
def truth() -> Platform:
    return built(LAB.geometry, np.random.default_rng(3))


@pytest.fixture(scope="module")
def poses() -> Array:
    return reachable_poses(LAB, COUNT, np.random.default_rng(4))


@pytest.fixture
def data(truth: Platform, poses: Array, tmp_path: Path) -> Path:
    found = truth.measured(poses, np.random.default_rng(5), NOISE)
    assert found.poses is not None
    write_table(tmp_path / "poses.csv", (*POSE, *LENGTHS), np.hstack([found.poses, found.lengths]))
    return tmp_path / "poses.csv"


def run(*arguments: object) -> int:
    return main(["calibrate", "geometry", *map(str, arguments)])


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_poses_become_a_parameter_file(
    truth: Platform, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "found.toml"
    assert run("lab-hexapod", "--data", data, "-o", output, "--date", "2026-01-02", "--operator", "NN", "--json") == 0
    found = told(capsys)
    assert found["rows_fitted"] == COUNT and found["rows_left_out"] == []
    assert 0.8 < found["reduced_chi_square"] < 1.2
    held = found["holdout"]
    assert held["after"]["position_rms_m"] < 1.6 * held["position_noise_m"] < held["before"]["position_rms_m"] / 10
    assert [each["row"] for each in held["poses"]] == [f"row {row}" for row in range(1, COUNT + 1)]
    for key, rms in (("position_before_m", held["before"]), ("position_after_m", held["after"])):
        errors = np.array([each[key] for each in held["poses"]])
        assert np.sqrt(np.mean(errors**2)) == pytest.approx(rms["position_rms_m"])
    told_to = np.array(found["direction_sigmas_m"])
    np.testing.assert_allclose(told_to * found["singular_values"], 1.0)
    assert (np.diff(told_to) >= 0.0).all() and len(found["direction_tolerances_m"]) == len(told_to)
    assert found["pose_position_sigma_m"] < 0.1 * found["pose_position_sigma_limit_m"]
    assert found["judged_at"] == "workspace" and found["warning_codes"] == found["warnings"] == []
    assert "points[" in found["worst_direction"] or "length_offset" in found["worst_direction"]
    values, sigmas = (np.array([each[key] for each in found["parameters"]]) for key in ("value", "sigma"))
    off = (values - in_gauge(truth, LAB.geometry)) / sigmas
    assert np.sqrt(np.mean(off**2)) < 1.5 and np.abs(off).max() < 4.5
    saved = load_parameters(output)
    assert saved.date.isoformat() == "2026-01-02" and saved.mechanism == "lab-hexapod"
    np.testing.assert_allclose([each.value for each in saved.parameters], values, atol=1e-9)
    text = output.read_text()
    assert "poses.csv" in text and "NN" in text
    # never overwritten
    assert run("lab-hexapod", "--data", data, "-o", output) == ExitCode.INPUT
    assert "overwritten" in capsys.readouterr().err and output.read_text() == text


def test_files_are_looked_into_and_nothing_is_computed(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tmp_path.iterdir())
    assert run("lab-hexapod", "--data", data, "--look", "--json") == 0
    assert told(capsys) == {"holds": f"lab-hexapod, {COUNT} rows, whole poses"}
    assert run("lab-hexapod", "--data", data, "--look", "--plan", "5") == 0
    assert capsys.readouterr().out == f"lab-hexapod, {COUNT} poses measured already\n"
    assert run("lab-hexapod", "--data", tmp_path / "none.csv", "--look") == ExitCode.INPUT
    data.write_text("".join(data.read_text().splitlines(keepends=True)[:9]))
    assert run("lab-hexapod", "--data", data, "--look", "--json") == ExitCode.REFUSED
    said = capsys.readouterr()
    assert said.out == "" and "8 rows, at least 12 are needed" in said.err
    assert sorted(tmp_path.iterdir()) == before


def test_what_a_person_is_told(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("lab-hexapod", "--data", data, "-o", tmp_path / "found.toml") == 0
    printed = capsys.readouterr().out
    for words in ("Changes from nominal, mm", "gauge: ", f"rows: {COUNT} fitted, 0 left out", "hold-out, 40 poses"):
        assert words in printed
    assert printed.splitlines()[-1] == 'name them in the configuration: parameters = ["found.toml"]'


def test_targets_at_known_places_give_the_platform_s_own_frame(
    truth: Platform, poses: Array, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Joints of the platform come out in the frame that the targets' places are in: not moved to the nominal ones."""
    found = truth.targets(poses, np.random.default_rng(6), NOISE)
    assert found.points is not None
    columns = tuple(f"t{target}{axis}" for target in range(1, len(TARGETS) + 1) for axis in "xyz")
    rows = np.hstack([found.points.reshape(COUNT, -1), found.lengths])
    write_table(tmp_path / "targets.csv", (*columns, *LENGTHS), rows)
    write_table(tmp_path / "places.csv", ("x", "y", "z"), TARGETS)
    command = ["lab-hexapod", "--data", tmp_path / "targets.csv", "--targets", tmp_path / "places.csv", "--json"]
    assert run(*command, "-o", tmp_path / "found.toml") == 0
    parameters = told(capsys)["parameters"]
    assert parameters[3]["name"] == "platform.points[0][0]"
    values, sigmas = (np.array([each[key] for each in parameters]).reshape(6, 7)[:, 3:6] for key in ("value", "sigma"))
    off = (values - truth.geometry.platform_points) / sigmas
    assert np.sqrt(np.mean(off**2)) < 1.6 and np.abs(off).max() < 4.5
    without = [*command[:3], "--json", "-o", tmp_path / "free.toml"]
    assert run(*without) == 0
    moved = np.array([each["value"] for each in told(capsys)["parameters"]]).reshape(6, 7)[:, 3:6]
    assert np.abs(moved - truth.geometry.platform_points).max() > 20.0 * sigmas.max()  # a frame of its own


def test_exchanged_legs_are_refused_by_name(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with data.open() as file:
        rows = list(csv.reader(file))
    two, five = rows[0].index("l2"), rows[0].index("l5")
    for row in rows[1:]:
        row[two], row[five] = row[five], row[two]
    with data.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert run("lab-hexapod", "--data", data, "-o", tmp_path / "found.toml") == ExitCode.REFUSED
    printed = capsys.readouterr()
    assert printed.out == "" and "nothing written" in printed.err
    assert "columns l2 and l5 are exchanged" in printed.err
    assert not (tmp_path / "found.toml").exists()


def test_what_poses_leave_open_is_told_with_the_refusal(
    truth: Platform, poses: Array, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    level = poses.copy()
    level[:, 3:] = [1.0, 0.0, 0.0, 0.0]
    found = truth.measured(level, np.random.default_rng(5), NOISE)
    assert found.poses is not None
    write_table(tmp_path / "level.csv", (*POSE, *LENGTHS), np.hstack([found.poses, found.lengths]))
    command = ("lab-hexapod", "--data", tmp_path / "level.csv", "-o", tmp_path / "found.toml")
    assert run(*command, "--json") == ExitCode.REFUSED
    said = capsys.readouterr()
    seen = json.loads(said.out)
    sigmas = [np.inf if sigma is None else sigma for sigma in seen["direction_sigmas_m"]]
    weak = sum(sigma > drawn for sigma, drawn in zip(sigmas, seen["direction_tolerances_m"], strict=True))
    assert weak == seen["directions_from_drawing"] > 0
    assert f"{weak} directions of the geometry cannot be told" in said.err
    assert seen["pose_position_sigma_m"] > seen["pose_position_sigma_limit_m"]
    for singular, sigma in zip(seen["singular_values"], sigmas, strict=True):
        assert singular * sigma == pytest.approx(1.0) if singular > 0.0 else sigma == np.inf
    assert not (tmp_path / "found.toml").exists()
    assert run(*command) == ExitCode.REFUSED and capsys.readouterr().out == ""


def test_homing_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lengths = leg_lengths(LAB.geometry, LAB.geometry.home_pose)
    spread = np.array([2.0, 4.0, 6.0, 8.0, 10.0, 12.0]) * 1e-6
    noisy = lengths + np.random.default_rng(7).normal(0.0, 1.0, (60, 6)) * spread
    write_table(tmp_path / "homed.csv", LENGTHS, noisy)
    before = sorted(tmp_path.iterdir())
    assert run("lab-hexapod", "--homing", tmp_path / "homed.csv", "--json") == 0
    found = json.dumps(told(capsys))
    assert "standard_deviation" in found
    assert run("lab-hexapod", "--homing", tmp_path / "homed.csv") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [int(line.split()[1]) for line in lines[1:7]] == [60] * 6
    assert [float(line.split()[2]) for line in lines[1:7]] == pytest.approx(1e6 * spread, rel=0.35)
    assert sorted(tmp_path.iterdir()) == before


def test_a_plan_is_written_and_says_what_it_brings(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("lab-hexapod", "--data", data, "--plan", "3", "-o", tmp_path / "next.csv", "--json") == 0
    found = told(capsys)
    assert found["measured"] == COUNT and len(found["poses"]) == 3
    assert found["pose_position_sigma_after_m"] < found["pose_position_sigma_before_m"]
    with (tmp_path / "next.csv").open() as file:
        rows = list(csv.DictReader(file))
    lengths = np.array([[float(row[name]) for name in LENGTHS] for row in rows])
    np.testing.assert_allclose(lengths, leg_lengths(LAB.geometry, np.array(found["poses"])), atol=1e-6)


def test_a_planned_motion_rests_at_each_pose_within_the_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    motion = tmp_path / "rests.toml"
    assert run("lab-hexapod", "--plan", "12", "-o", tmp_path / "p.csv", "--motion", motion, "--json") == 0
    found = told(capsys)
    assert found["paths"]["motion"] == str(motion)
    config = load_config("virtual")
    made = load_trajectory(motion, config.machine.geometry.home_pose)
    assert made.duration == pytest.approx(12 * 6.0)
    times = 6.0 * np.arange(12)[:, np.newaxis] + [2.01, 3.99]
    motion_then = made.motion(times.ravel())
    assert np.abs(motion_then[:, :7] - np.repeat(found["poses"], 2, axis=0)).max() < 1e-9
    assert np.abs(motion_then[:, 7:]).max() < 1e-9
    assert checked_motion(config, made)[1].passed
    assert run("lab-hexapod", "--data", "p.csv", "--motion", motion) == ExitCode.INPUT
    assert "goes with --plan" in capsys.readouterr().err


def test_a_mechanism_without_home_is_calibrated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nominal = load_mechanism("pedrammehr-2012", evaluate_only=True).geometry
    random = np.random.default_rng(8)
    truth = Platform(
        Geometry(
            nominal.base_points + random.normal(0.0, 1e-3, (6, 3)),
            nominal.universal_axes,
            nominal.platform_points + random.normal(0.0, 1e-3, (6, 3)),
        ),
        random.normal(0.0, 1e-3, 6),
    )
    place = np.array([0.0, 0.0, 0.7]) + random.uniform(-0.12, 0.12, (COUNT, 3))
    turned = quaternion_from_rotation_vector(random.uniform(-0.35, 0.35, (COUNT, 3)))
    found = truth.measured(np.hstack([place, turned]), random, NOISE)
    assert found.poses is not None
    write_table(tmp_path / "poses.csv", (*POSE, *LENGTHS), np.hstack([found.poses, found.lengths]))
    command = ["pedrammehr-2012", "--data", tmp_path / "poses.csv", "-o", tmp_path / "found.toml", "--json"]
    assert run(*command) == 0
    parameters = told(capsys)["parameters"]
    values, sigmas = (np.array([each[key] for each in parameters]) for key in ("value", "sigma"))
    off = (values - in_gauge(truth, nominal)) / sigmas
    assert np.sqrt(np.mean(off**2)) < 1.5 and np.abs(off).max() < 4.5


@pytest.mark.parametrize("name", ["pedrammehr-2012", "dasgupta-1998"])
def test_a_mechanism_without_home_has_no_plan_and_says_so(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(name, "--plan", "3", "-o", tmp_path / "next.csv") == ExitCode.REFUSED
    assert f"mechanism '{name}' gives no home pose" in capsys.readouterr().err
    assert not (tmp_path / "next.csv").exists()


def test_data_of_another_mechanism_are_refused(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("pedrammehr-2012", "--data", data, "-o", tmp_path / "found.toml") == ExitCode.REFUSED
    assert "data of another mechanism" in capsys.readouterr().err
    assert not (tmp_path / "found.toml").exists()


def test_nothing_asked_for_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("lab-hexapod") == ExitCode.INPUT
    assert "give --data FILE, --plan N or --homing FILE" in capsys.readouterr().err


def test_lengths_alone_are_refused_with_the_least_that_would_do(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with data.open() as file:
        rows = list(csv.DictReader(file))
    write_table(tmp_path / "alone.csv", LENGTHS, np.array([[float(row[name]) for name in LENGTHS] for row in rows]))
    assert run("lab-hexapod", "--data", tmp_path / "alone.csv", "-o", tmp_path / "f.toml") == ExitCode.REFUSED
    said = capsys.readouterr().err
    assert "lengths alone tell nothing of the geometry" in said and "columns rx,ry" in said
    assert not (tmp_path / "f.toml").exists()
