"""`rig inverse`, `simulate`, `ik`, `fk`, as a user meets them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dynamics import load_mechanism
from kinematics import forward_kinematics, leg_lengths, load_trajectory
from rig.cli import main
from rig.csvio import MOTION, POSE, REACTIONS, WRENCH, per_leg, read_table, write_table
from rig.errors import ExitCode

HOME = "0,0,0.45,1,0,0,0"
DATA = Path(__file__).parent.parent / "dynamics" / "data"


@pytest.fixture
def motion(here: Path) -> Path:
    """A second of the demo trajectory at 100 Hz."""
    trajectory = load_trajectory("demo", load_mechanism("lab-hexapod").geometry.home)
    times = np.linspace(6.0, 7.0, 101)
    path = here / "motion.csv"
    write_table(path, ("t", *MOTION), np.column_stack([times, trajectory.motion(times)]))
    return path


@pytest.fixture
def refused(here: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command that must fail with a code, leave no file behind, and print one message; returns the message."""

    def run(code: ExitCode, *arguments: object) -> str:
        before = sorted(here.iterdir())
        assert main([str(argument) for argument in arguments]) == code
        printed = capfd.readouterr()
        assert printed.out == ""
        assert "Traceback" not in printed.err
        assert printed.err.lower().count("error") == 1
        assert sorted(here.iterdir()) == before
        return printed.err

    return run


@pytest.mark.parametrize("case", ["random-0", "random-1"])
def test_inverse_against_an_independent_engine(here: Path, case: str) -> None:
    mechanism, motion = DATA / f"{case}.toml", DATA / f"{case}.motion.csv"
    assert main(["inverse", str(mechanism), str(motion), "-o", "forces.csv", "--reactions"]) == 0
    names = (*per_leg("f"), *per_leg("top", "xyz"))
    ours = read_table(here / "forces.csv", names, [per_leg(prefix, "xyz") for prefix in REACTIONS]).columns(names)
    theirs = read_table(DATA / f"{case}.forces.csv", names).columns(names)
    np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-9)
    assert main(["inverse", str(mechanism), str(motion), "-o", "alone.csv"]) == 0
    alone = read_table(here / "alone.csv", per_leg("f")).columns(per_leg("f"))
    np.testing.assert_allclose(alone, theirs[:, :6], rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("option", ["--reactions", "--peaks", "--model=massless"])
def test_a_cluster_gives_the_exact_forces_only(refused: Callable[..., str], motion: Path, option: str) -> None:
    text = refused(ExitCode.INPUT, "inverse", "lab-hexapod", motion, "-o", "out.csv", "--cluster", "local:2", option)
    assert "--cluster" in text


def test_every_state_without_forces_is_named(refused: Callable[..., str], here: Path, motion: Path) -> None:
    values = read_table(motion, MOTION).values
    values[[3, 40], 1:3] += 1e200
    write_table(here / "far.csv", ("t", *MOTION), values)
    text = refused(ExitCode.INPUT, "inverse", "lab-hexapod", "far.csv", "-o", "out.csv")
    assert "2 of 101 states have no leg forces" in text
    assert "sample 3:" in text
    assert "sample 40:" in text


def test_inverse_writes_forces_alone_unless_asked(here: Path, motion: Path) -> None:
    assert main(["inverse", "lab-hexapod", "motion.csv", "-o", "forces.csv"]) == 0
    assert (here / "forces.csv").read_text().splitlines()[0] == "t,f1,f2,f3,f4,f5,f6"
    assert main(["inverse", "lab-hexapod", "motion.csv", "-o", "all.csv", "--reactions"]) == 0
    names = ("t", *per_leg("f"), *(name for prefix in REACTIONS for name in per_leg(prefix, "xyz")))
    assert (here / "all.csv").read_text().splitlines()[0].split(",") == list(names)


def test_inverse_reads_a_wrench(here: Path, motion: Path) -> None:
    table = read_table(motion, MOTION)
    weight = np.tile([0.0, 0.0, -100.0, 0.0, 0.0, 0.0], (len(table.values), 1))
    write_table(here / "loaded.csv", ("t", *MOTION, *WRENCH), np.hstack([table.values, weight]))
    for name in ("motion", "loaded"):
        assert main(["inverse", "lab-hexapod", f"{name}.csv", "-o", f"{name}.forces.csv"]) == 0
    free = read_table(here / "motion.forces.csv", per_leg("f")).columns(per_leg("f"))
    loaded = read_table(here / "loaded.forces.csv", per_leg("f")).columns(per_leg("f"))
    assert np.all((loaded - free).sum(axis=1) > 90.0)


def test_inverse_evaluates_an_unphysical_mechanism_and_warns(motion: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["inverse", "dasgupta-1998", "motion.csv", "-o", "forces.csv"]) == 0
    assert "warning: platform: no real body has this inertia" in capfd.readouterr().err


def test_simulate_refuses_an_unphysical_mechanism(refused: Callable[..., str]) -> None:
    text = refused(ExitCode.INPUT, "simulate", "dasgupta-1998", "forces.csv", "--pose", HOME, "-o", "motion.csv")
    assert "dasgupta-1998" in text
    assert "no real body has this inertia" in text


def test_ik_then_fk_gives_the_poses_again(here: Path, motion: Path) -> None:
    assert main(["ik", "lab-hexapod", "motion.csv", "-o", "legs.csv"]) == 0
    assert (here / "legs.csv").read_text().splitlines()[0] == ",".join(
        ("t", *per_leg("l"), *per_leg("v"), *per_leg("a"))
    )
    assert main(["fk", "lab-hexapod", "legs.csv", "--guess", HOME, "-o", "poses.csv"]) == 0
    poses = read_table(here / "poses.csv", MOTION)
    expected = read_table(motion, MOTION)
    np.testing.assert_allclose(poses.columns(POSE), expected.columns(POSE), atol=1e-12)
    np.testing.assert_array_equal(poses.times, expected.times)


def test_simulate_hits_the_times_and_converges(here: Path) -> None:
    # Forces that are linear between rows as simulate takes them: a straight push, then the way back.
    # Coulomb friction, which jumps where a leg starts to move, is left out: it makes the error depend on the step.
    mechanism = load_mechanism("lab-hexapod")
    geometry = mechanism.geometry
    (here / "smooth.toml").write_text(mechanism.source.replace("coulomb = 4.0", "coulomb = 0.0"))
    forces = np.full((3, 7), 60.0)
    forces[:, 0] = [0.0, 0.05, 0.12]
    forces[2, 1:] = 20.0
    write_table(here / "forces.csv", ("t", *per_leg("f")), forces)
    for dt in ("0.0005", "0.001"):
        arguments = ["simulate", "smooth.toml", "forces.csv", "--pose", HOME, "--dt", dt, "-o", f"{dt}.csv"]
        assert main(arguments) == 0
    fine, coarse = (read_table(here / f"{dt}.csv", MOTION) for dt in ("0.0005", "0.001"))
    np.testing.assert_array_equal(fine.times, [0.0, 0.05, 0.12])
    np.testing.assert_allclose(fine.columns(MOTION), coarse.columns(MOTION), rtol=1e-7, atol=1e-7)
    assert np.all(fine.columns(MOTION)[0, 7:13] == 0.0)
    assert fine.columns(("z",))[1, 0] > 0.45 + 1e-3
    # The legs stand where the platform is.
    lengths = leg_lengths(geometry, fine.columns(POSE)[1])
    np.testing.assert_allclose(
        forward_kinematics(geometry, lengths, geometry.home_pose), fine.columns(POSE)[1], atol=1e-12
    )


@pytest.mark.parametrize("command", ["inverse", "ik"])
def test_no_such_files(refused: Callable[..., str], motion: Path, command: str) -> None:
    text = refused(ExitCode.INPUT, command, "gone.toml", "motion.csv", "-o", "out.csv")
    assert "gone.toml" in text
    text = refused(ExitCode.INPUT, command, "lab-hexapod", "gone.csv", "-o", "out.csv")
    assert "cannot read gone.csv: no such file" in text


def test_five_rows_of_points_and_more(here: Path, refused: Callable[..., str], motion: Path) -> None:
    source = load_mechanism("lab-hexapod").source
    broken = source.replace("[0.342352, -0.072769, 0.0],", "", 1).replace("mass = 18.0", "mass = nan\nmas = 1")
    assert broken.count("0.342352, -0.072769") == 0
    (here / "broken.toml").write_text(broken)
    text = refused(ExitCode.INPUT, "inverse", "broken.toml", "motion.csv", "-o", "out.csv")
    assert "base.points: 5 entries, must be 6" in text
    assert "platform.mass: nan is not finite" in text
    assert "platform.mas: unknown key" in text


def test_every_fault_of_a_table_with_its_line(here: Path, refused: Callable[..., str]) -> None:
    rows = ["t," + ",".join(per_leg("f")), "0,1,2,3,4,5,6", "0.1,1,2,nan,4,5,x", "0.2,1,2", "", "0.1,1,2,3,4,5,inf"]
    (here / "forces.csv").write_text("\n".join(rows))
    text = refused(ExitCode.INPUT, "simulate", "lab-hexapod", "forces.csv", "--pose", HOME, "-o", "out.csv")
    assert "line 3: f3 = nan is not finite" in text
    assert "line 3: f6 = 'x' is not a number" in text
    assert "line 4: 3 fields, not 7" in text
    assert "line 6: f6 = inf is not finite" in text


def test_times_must_increase_where_they_are_integrated(here: Path, refused: Callable[..., str]) -> None:
    (here / "forces.csv").write_text("\n".join(["t," + ",".join(per_leg("f")), "0" + ",1" * 6, "0" + ",1" * 6]))
    text = refused(ExitCode.INPUT, "simulate", "lab-hexapod", "forces.csv", "--pose", HOME, "-o", "out.csv")
    assert "line 3: t = 0 s does not increase" in text


def test_a_header_says_what_is_missing_and_unknown(here: Path, refused: Callable[..., str]) -> None:
    (here / "legs.csv").write_text("t,l1,l2,l3,l4,l5,L6,v1,l1\n0,1,1,1,1,1,1,0,1\n")
    text = refused(ExitCode.INPUT, "fk", "lab-hexapod", "legs.csv", "--guess", HOME, "-o", "out.csv")
    assert "column 'l1' is there twice" in text
    assert "missing: l6" in text
    assert "missing: v2, v3, v4, v5, v6 (v1…v6 go together)" in text
    assert "unknown: L6" in text


def test_many_faults_are_counted(here: Path, refused: Callable[..., str]) -> None:
    (here / "legs.csv").write_text("t," + ",".join(per_leg("l")) + "\n" + "0,1,1,1,1,1,nan\n" * 50)
    text = refused(ExitCode.INPUT, "fk", "lab-hexapod", "legs.csv", "--guess", HOME, "-o", "out.csv")
    assert "and 30 more" in text
    assert len(text.splitlines()) == 22


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "missing: t"),
        ("t,l1,l2,l3,l4,l5,l6\n", "no rows"),
        ("a;b\n1;2\n", "separated by semicolons, must be by commas"),
    ],
)
def test_empty_and_foreign_tables(here: Path, refused: Callable[..., str], content: str, message: str) -> None:
    (here / "legs.csv").write_text(content)
    text = refused(ExitCode.INPUT, "fk", "lab-hexapod", "legs.csv", "--guess", HOME, "-o", "out.csv")
    assert message in text


def test_a_quaternion_must_be_of_unit_norm(here: Path, refused: Callable[..., str]) -> None:
    (here / "motion.csv").write_text(",".join(("t", *MOTION)) + "\n0,0,0,0.45,2" + ",0" * 15 + "\n")
    text = refused(ExitCode.INPUT, "ik", "lab-hexapod", "motion.csv", "-o", "out.csv")
    assert "line 2: the quaternion's norm is 2, not 1" in text


@pytest.mark.parametrize(
    ("pose", "message"),
    [
        ("1,2,3", "3 numbers"),
        ("0,0,0.45,2,0,0,0", "norm is 2"),
        ("0,0,nan,1,0,0,0", "not finite"),
        ("0,0,a,1,0,0,0", "not a list of numbers"),
    ],
)
def test_poses_are_checked(refused: Callable[..., str], pose: str, message: str) -> None:
    text = refused(ExitCode.INPUT, "fk", "lab-hexapod", "legs.csv", "--guess", pose, "-o", "out.csv")
    assert message in " ".join(text.split())
    assert "--guess" in text


def test_fk_names_the_row_that_has_no_pose(here: Path, refused: Callable[..., str], motion: Path) -> None:
    home = "0.494211," * 5 + "0.494211"
    (here / "legs.csv").write_text(f"t,{','.join(per_leg('l'))}\n0,{home}\n1,5,0.1,5,0.1,5,0.1\n")
    text = refused(ExitCode.INPUT, "fk", "lab-hexapod", "legs.csv", "--guess", HOME, "-o", "out.csv")
    assert "no pose for row 2 (t = 1 s)" in text


@pytest.mark.parametrize("dt", ["0", "-1", "nan", "inf"])
def test_the_step_must_be_positive(refused: Callable[..., str], dt: str) -> None:
    text = refused(ExitCode.INPUT, "simulate", "lab-hexapod", "f.csv", "--pose", HOME, "-o", "out.csv", "--dt", dt)
    assert "--dt" in text


def test_outputs_that_cannot_be_written(here: Path, refused: Callable[..., str], motion: Path) -> None:
    text = refused(ExitCode.INPUT, "ik", "lab-hexapod", "motion.csv", "-o", "gone/out.csv")
    assert "cannot write gone/out.csv: there is no folder" in text
    (here / "folder").mkdir()
    text = refused(ExitCode.INPUT, "ik", "lab-hexapod", "motion.csv", "-o", "folder")
    assert "cannot write folder: it is a folder" in text


def test_an_earlier_output_survives_an_error(here: Path, motion: Path) -> None:
    (here / "out.csv").write_text("precious")
    assert main(["ik", "lab-hexapod", "gone.csv", "-o", "out.csv"]) == ExitCode.INPUT
    assert (here / "out.csv").read_text() == "precious"
    assert main(["ik", "lab-hexapod", "motion.csv", "-o", "out.csv"]) == 0
    assert (here / "out.csv").read_text() != "precious"
    assert sorted(path.name for path in here.iterdir()) == ["motion.csv", "out.csv"]


def test_inverse_with_spherical_joints_at_both_ends(
    here: Path, motion: Path, refused: Callable[..., str], capfd: pytest.CaptureFixture[str]
) -> None:
    rods = load_mechanism("lab-hexapod").source
    for old, new in (
        ("[0.16, 0.006, -0.004]", "[0.16, 0.0, 0.0]"),
        ("[-0.17, 0.002, 0.003]", "[-0.17, 0.0, 0.0]"),
        ("[[0.0031, 0.0002, -0.0001], [0.0002, 0.0242, 0.0001], [-0.0001, 0.0001, 0.0245]]",
         "[[0.0031, 0.0, 0.0], [0.0, 0.0242, 0.0], [0.0, 0.0, 0.0242]]"),
        ("[[0.0006, 0.0001, 0.0], [0.0001, 0.0112, 0.0], [0.0, 0.0, 0.0113]]",
         "[[0.0006, 0.0, 0.0], [0.0, 0.0112, 0.0], [0.0, 0.0, 0.0112]]"),
        ("universal = 0.02", "universal = 0.0"),
        ("spherical = 0.01 ", "spherical = 0.0 "),
    ):  # fmt: skip
        assert old in rods
        rods = rods.replace(old, new)
    (here / "rods.toml").write_text(rods)
    arguments = ["inverse", "rods.toml", "motion.csv", "--reactions", "--spherical-ends", "-o", "forces.csv"]
    assert main(arguments) == 0
    names = per_leg("universal_moment", "xyz")
    table = read_table(here / "forces.csv", per_leg("f"), [per_leg(prefix, "xyz") for prefix in REACTIONS])
    assert np.abs(table.columns(names)).max() < 1e-12
    capfd.readouterr()
    text = refused(ExitCode.INPUT, "inverse", "lab-hexapod", motion, "--spherical-ends", "-o", "out.csv")
    assert "leg 1: lower.center_of_mass: [0.16, 0.006, -0.004] m, must lie on the leg's axis" in text
    text = refused(
        ExitCode.INPUT, "inverse", "rods.toml", motion, "--spherical-ends", "--model=massless", "-o", "out.csv"
    )
    assert "goes with the exact model" in " ".join(text.replace("│", " ").split())
