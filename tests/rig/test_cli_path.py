"""`rig path`, as a user meets it."""

import json
from pathlib import Path

import numpy as np
import pytest

from dynamics import load_mechanism, opposite_sides, path_quality
from kinematics import Blend, coordinates_to_pose, load_trajectory
from rig.cli import main
from rig.csvio import MOTION, read_table
from rig.errors import ExitCode

START, END = (0.4, 1.4, 1.2, 0.1, 0.2, 0.0), (0.8, 1.8, 1.8, 0.3, 0.4, 0.0)
"""Path III of Dasgupta & Mruthyunjaya (1998)."""
SHORT = ("path", "lab-hexapod", "--from", "home", "--to", "0.05,0,0.5,1,0,0,0", "--duration", "2", "-o", "out.csv")


def written(coordinates: tuple[float, ...]) -> str:
    return ",".join(map(repr, coordinates_to_pose(np.array(coordinates)).tolist()))


def path_three(*more: str) -> list[str]:
    ends = (f"--from={written(START)}", f"--to={written(END)}")
    return ["path", "dasgupta-1998", *ends, "--duration", "6", "--characteristic-length", "1", "-o", "out.csv", *more]


def test_path_three_is_planned_around_its_singularity(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(path_three("--end-freedom", "0,0,0,0.3,0.3,0.3", "--json")) == 0
    summary = json.loads(capfd.readouterr().out)
    machine = load_mechanism("dasgupta-1998", evaluate_only=True)
    motions = read_table(here / "out.csv", MOTION).columns(MOTION)
    assert len(motions) == 601
    np.testing.assert_allclose(motions[0, :7], coordinates_to_pose(np.array(START)), atol=1e-12)
    np.testing.assert_allclose(motions[[0, -1], 7:], 0.0, atol=1e-12)
    np.testing.assert_allclose(motions[-1, :3], END[:3], atol=1e-12)
    straight = path_quality(machine, Blend(START, END, 6.0, 0.2, 0.08).motion(np.arange(61) / 10))
    found = path_quality(machine, motions)
    assert len(set(found.side)) == 1
    assert found.condition.max() == pytest.approx(summary["peak"], rel=0.02)
    assert found.condition.max() < straight.condition.max() / 10.0
    assert np.abs(found.forces).max() < np.abs(straight.forces).max() / 10.0
    assert [summary["end_moved"][name] for name in "xyz"] == [0.0, 0.0, 0.0]
    assert 0.0 < max(abs(summary["end_moved"][name]) for name in ("rx", "ry", "rz")) <= 0.3


def test_no_path_joins_the_sides_of_a_singularity(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert opposite_sides(load_mechanism("dasgupta-1998", evaluate_only=True), START, END)
    assert main(path_three()) == ExitCode.INPUT
    assert "start and end lie on opposite sides of a singularity" in capfd.readouterr().err
    assert not (here / "out.csv").exists()


def test_the_file_is_a_trajectory_and_a_motion(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*SHORT, "--objective", "force"]) == 0
    out = capfd.readouterr().out
    assert "leg force at most" in out
    assert "wrote out.csv" in out
    assert main(["check", "virtual", "out.csv"]) == 0
    assert main(["inverse", "lab-hexapod", "out.csv", "-o", "forces.csv"]) == 0
    motions = read_table(here / "out.csv", MOTION).columns(MOTION)
    trajectory = load_trajectory("out.csv", None)
    assert trajectory.duration == 2.0
    np.testing.assert_allclose(trajectory.motion(np.linspace(0.0, 2.0, len(motions))), motions, atol=2e-4)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"--to": "0.5,0,0.5,1,0,0,0"}, "--to: the pose is beyond the mechanism's limits: stroke"),
        ({"--to": "0.03,0.01,0.31,1,0,0,0"}, "would be too short"),
        ({"--to": "0,0,0.5,2,0,0,0"}, "quaternion's norm is 2"),
        ({"--duration": "nan"}, "'--duration': nan is not finite"),
        ({"--duration": "0"}, "0 s must be above 0 s"),
        ({"--step": "3"}, "3 s must be at most the duration, 2 s"),
        ({"--objective": "beauty"}, "'beauty' must be condition or force"),
        ({"--end-freedom": "0,0,0,0,-1,0"}, "ry is -1, must be at least 0, in m or rad"),
        ({"--reach": "0,1,1,1,1,1"}, "x is 0, must be above 0, in m or rad"),
        ({"--greatest-force": "-5"}, "-5 N must be above 0 N"),
        ({"--step": "1e-7"}, "2e+07 rows, at most 2000000, so at least 1e-06 s"),
        ({"--step": "1e-320"}, "inf rows, at most 2000000"),
        ({"--leg-radius": "-1"}, "'--leg-radius': -1 m, must be finite and at least 0 m"),
        ({"--clearance": "nan"}, "'--clearance': nan is not finite"),
        ({"--characteristic-length": "0"}, "'--characteristic-length': 0 m, must be finite and above 0 m"),
        ({"--greatest-force": "1"}, "on the nearest one: leg force: 61.14 N, must be at most 1 N"),
        (
            {"--from": "0,0,0.36,1,0,0,0", "--to": "0.28,0,0.4,1,0,0,0", "--reach": "1e-3,1e-3,1e-3,1e-3,1e-3,1e-3"},
            "stroke: leg 1 too short by 0.0076",
        ),
        ({"-o": "gone/out.csv"}, "there is no folder gone"),
    ],
)
def test_what_cannot_be_is_refused_by_name(
    here: Path, capfd: pytest.CaptureFixture[str], changed: dict[str, str], words: str
) -> None:
    options = dict(zip(SHORT[2::2], SHORT[3::2], strict=True)) | changed
    arguments = [
        *SHORT[:2],
        *(f"{name}={value}" if name[1] == "-" else name + value for name, value in options.items()),
    ]
    refused = any(word in words for word in ("beyond", "short", "nearest"))
    assert main(arguments) == (ExitCode.REFUSED if refused else ExitCode.INPUT)
    printed = capfd.readouterr()
    assert words in " ".join(printed.err.replace("│", " ").split())
    assert printed.out == ""
    assert list(here.iterdir()) == []


def test_a_mechanism_without_home(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["path", "dasgupta-1998", *SHORT[2:]]) == ExitCode.INPUT
    assert "the mechanism dasgupta-1998 has no home" in " ".join(capfd.readouterr().err.replace("│", " ").split())
