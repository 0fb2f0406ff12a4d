"""`rig fk --all`, as a user meets it."""

from pathlib import Path

import numpy as np
import pytest

from dynamics import load_mechanism
from kinematics import assembly_modes, leg_lengths
from rig.cli import main
from rig.csvio import per_leg, read_table, write_table
from rig.errors import ExitCode

COLUMNS = ("mode", "x", "y", "z", "qw", "qx", "qy", "qz", "residual")
UNREACHABLE = [0.1, 2.0, 0.5, 0.5, 0.5, 0.5]


def write_legs(path: Path, lengths: list[list[float]]) -> None:
    write_table(path, ("t", *per_leg("l")), np.column_stack([0.5 * np.arange(len(lengths)), lengths]))


def test_every_pose_of_every_row(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    geometry = load_mechanism("lab-hexapod").geometry
    pose = np.array([0.05, -0.02, 0.47, 0.99, 0.1, 0.02, 0.0])
    pose[3:] /= np.linalg.norm(pose[3:])
    lengths = leg_lengths(geometry, pose)
    write_legs(here / "legs.csv", [lengths.tolist(), UNREACHABLE, [0.494211] * 6])
    assert main(["fk", "lab-hexapod", "legs.csv", "--all", "-o", "poses.csv"]) == 0
    assert (here / "poses.csv").read_text().splitlines()[0] == "t,mode,x,y,z,qw,qx,qy,qz,residual"
    assert (here / "poses.csv").read_text().splitlines()[1].startswith("0.0,1,")
    table = read_table(here / "poses.csv", COLUMNS)
    modes = assembly_modes(geometry, lengths)
    first = table.values[table.times == 0.0]
    np.testing.assert_allclose(first[:, 2:9], modes.poses, rtol=0.0, atol=1e-15)
    np.testing.assert_array_equal(first[:, 1], np.arange(1, len(modes) + 1))
    assert np.abs(first[:, 2:9] - pose).max(axis=1).min() < 1e-11
    assert not np.any(table.times == 0.5)
    assert np.any(table.times == 1.0)
    assert table.columns(("residual",)).max() < 1e-12
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(f"t = 0 s: {len(modes)} poses, complete with probability one: of 40 paths")
    assert lines[1].startswith("t = 0.5 s: no pose, complete")


def test_seeds_give_the_same_poses(here: Path) -> None:
    write_legs(here / "legs.csv", [[0.5, 0.51, 0.49, 0.52, 0.5, 0.48]])
    tables = []
    for seed in ("0", "5"):
        assert main(["fk", "lab-hexapod", "legs.csv", "--all", "--seed", seed, "-o", "poses.csv"]) == 0
        tables.append(read_table(here / "poses.csv", COLUMNS).values)
    np.testing.assert_allclose(tables[0], tables[1], rtol=0.0, atol=1e-10)


def test_many_rows_are_summed_up(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_legs(here / "legs.csv", [UNREACHABLE] * 3 + [[0.494211] * 6] * 20)
    assert main(["fk", "lab-hexapod", "legs.csv", "--all", "-o", "poses.csv"]) == 0
    out = capfd.readouterr().out.splitlines()
    assert out == ["23 rows: no pose in 3, 8 poses in 20", "complete in every row, with probability one or better"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--all", "--guess", "0,0,0.45,1,0,0,0"], "takes no --guess"),
        ([], "--all for every pose"),
        (["--seed", "1", "--guess", "0,0,0.45,1,0,0,0"], "goes with --all only"),
    ],
)
def test_options_that_do_not_go_together(
    here: Path, capfd: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    write_legs(here / "legs.csv", [[0.5] * 6])
    assert main(["fk", "lab-hexapod", "legs.csv", *options, "-o", "poses.csv"]) == ExitCode.INPUT
    printed = capfd.readouterr()
    assert words in " ".join(printed.err.replace("│", " ").split())
    assert not (here / "poses.csv").exists()


def test_a_bad_row_leaves_nothing(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_legs(here / "legs.csv", [[0.5] * 6, [0.5, 0.5, -0.5, 0.5, 0.5, 0.5]])
    assert main(["fk", "lab-hexapod", "legs.csv", "--all", "-o", "poses.csv"]) == ExitCode.INPUT
    printed = capfd.readouterr()
    assert "row 2 (t = 0.5 s): leg lengths: leg 3 is -0.5 m" in printed.err
    assert printed.out == ""
    assert sorted(path.name for path in here.iterdir()) == ["legs.csv"]
