"""`rig fk` with leg speeds and accelerations, as a user meets it."""

from pathlib import Path

import numpy as np
import pytest
from scipy import optimize

from dynamics import load_mechanism
from kinematics import Blend, leg_kinematics, leg_lengths, leg_matrix, load_trajectory
from rig.cli import main
from rig.csvio import MOTION, POSE, per_leg, read_table, write_table
from rig.errors import ExitCode

HOME = "0,0,0.45,1,0,0,0"
LENGTHS, SPEEDS, ACCELERATIONS = (per_leg(name) for name in "lva")


@pytest.fixture
def motion(here: Path) -> Path:
    """Two seconds of the demo trajectory at 50 Hz, and `legs.csv`, the legs' motion with it."""
    trajectory = load_trajectory("demo", load_mechanism("lab-hexapod").geometry.home)
    times = np.linspace(5.0, 7.0, 101)
    path = here / "motion.csv"
    write_table(path, ("t", *MOTION), np.column_stack([times, trajectory.motion(times)]))
    assert main(["ik", "lab-hexapod", "motion.csv", "-o", "legs.csv"]) == 0
    return path


def without(path: Path, *names: str) -> Path:
    """The legs' file less some columns."""
    table = read_table(path, LENGTHS, [SPEEDS, ACCELERATIONS])
    kept = [name for name in table.names if name not in names]
    write_table(path, kept, table.columns(kept))
    return path


def test_speeds_and_accelerations_give_twist_and_acceleration(here: Path, motion: Path) -> None:
    assert main(["fk", "lab-hexapod", "legs.csv", "--guess", HOME, "-o", "found.csv"]) == 0
    assert (here / "found.csv").read_text().splitlines()[0].split(",") == ["t", *MOTION]
    found, expected = read_table(here / "found.csv", MOTION), read_table(motion, MOTION)
    assert np.abs(expected.columns(MOTION[13:])).max() > 0.1
    np.testing.assert_allclose(found.columns(MOTION), expected.columns(MOTION), rtol=0.0, atol=1e-9)
    # it is a motion for whatever reads one
    assert main(["inverse", "lab-hexapod", "found.csv", "-o", "forces.csv"]) == 0


def test_speeds_alone_give_the_twist_alone(here: Path, motion: Path) -> None:
    without(here / "legs.csv", *ACCELERATIONS)
    assert main(["fk", "lab-hexapod", "legs.csv", "--guess", HOME, "-o", "found.csv"]) == 0
    assert (here / "found.csv").read_text().splitlines()[0].split(",") == ["t", *MOTION[:13]]
    found, expected = read_table(here / "found.csv", MOTION[:13]), read_table(motion, MOTION)
    np.testing.assert_allclose(found.columns(MOTION[:13]), expected.columns(MOTION[:13]), rtol=0.0, atol=1e-9)


def test_lengths_alone_give_poses_alone(here: Path, motion: Path) -> None:
    without(here / "legs.csv", *SPEEDS, *ACCELERATIONS)
    assert main(["fk", "lab-hexapod", "legs.csv", "--guess", HOME, "-o", "found.csv"]) == 0
    assert (here / "found.csv").read_text().splitlines()[0].split(",") == ["t", *POSE]


def test_accelerations_without_speeds(here: Path, motion: Path, capfd: pytest.CaptureFixture[str]) -> None:
    without(here / "legs.csv", *SPEEDS)
    assert main(["fk", "lab-hexapod", "legs.csv", "--guess", HOME, "-o", "found.csv"]) == ExitCode.INPUT
    assert "legs.csv: a1…a6 without v1…v6" in capfd.readouterr().err
    assert not (here / "found.csv").exists()


def test_times_that_do_not_increase(here: Path, motion: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = read_table(here / "legs.csv", LENGTHS, [SPEEDS, ACCELERATIONS])
    rows = table.columns(("t", *LENGTHS))[[0, 3, 2, 4, 4]]
    write_table(here / "legs.csv", ("t", *LENGTHS), rows)
    for more in (("--guess", HOME), ("--all",)):
        assert main(["fk", "lab-hexapod", "legs.csv", *more, "-o", "found.csv"]) == ExitCode.INPUT
        text = capfd.readouterr().err
        assert "line 4: t = 5.04 s does not increase, the row before has 5.06 s" in text
        assert "line 6: t = 5.08 s does not increase, the row before has 5.08 s" in text
        assert not (here / "found.csv").exists()


def test_a_singular_row_is_named_with_its_pose(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Path III of 1998 to where it meets its singularity: the pose is found, its twist is not."""
    geometry = load_mechanism("dasgupta-1998", evaluate_only=True).geometry
    path = Blend([0.4, 1.4, 1.2, 0.1, 0.2, 0.0], [0.8, 1.8, 1.8, 0.3, 0.4, 0.0], 6.0, speed=0.2, angular_speed=0.08)

    def determinant(time: float) -> float:
        return float(np.linalg.det(leg_matrix(geometry, path.motion([time])[0, :7])))

    singular = optimize.brentq(determinant, 3.6, 3.8, xtol=1e-15)
    motions = path.motion([singular, singular])
    legs = leg_kinematics(geometry, motions)
    lengths = leg_lengths(geometry, motions[:, :7])
    write_table(here / "legs.csv", ("t", *LENGTHS, *SPEEDS), np.column_stack([[0.0, 0.5], lengths, legs.velocity]))
    guess = ",".join(map(repr, motions[0, :7].tolist()))
    assert main(["fk", "dasgupta-1998", "legs.csv", f"--guess={guess}", "-o", "found.csv"]) == ExitCode.INPUT
    text = capfd.readouterr().err
    assert "legs.csv: no twist for row 1 (t = 0 s): the platform is singular at this pose: condition number" in text
    assert f"x = {motions[0, 0]:.6g}, " in text
    assert not (here / "found.csv").exists()
