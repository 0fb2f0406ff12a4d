"""`rig simulate`: where it starts, what acts on it, and where it ends."""

from pathlib import Path

import numpy as np
import pytest

from dynamics import Dynamics, load_mechanism
from kinematics import leg_lengths, load_trajectory
from rig.cli import main
from rig.csvio import MOTION, WRENCH, Table, per_leg, read_table, write_table
from rig.errors import ExitCode
from rig.virtual.free_motion import simulate

LAB = load_mechanism("lab-hexapod")
HOME = LAB.geometry.home_pose
START = "0,0,0.45,1,0,0,0"
SMOOTH = ("--coulomb-speed", "0.01")
TWIST = np.array([0.05, -0.02, 0.1, 0.2, 0.1, -0.3])
FORCE_ON_PLATFORM = np.array([12.0, -7.0, 30.0, 1.0, -0.5, 0.3])


def text(values: np.ndarray) -> str:
    return ",".join(f"{value:.17g}" for value in values)


def at_home(twist: np.ndarray | None = None) -> np.ndarray:
    """The motion (1, 19) at home with a twist and without acceleration."""
    motion = np.zeros((1, 19))
    motion[0, :7] = HOME
    if twist is not None:
        motion[0, 7:13] = twist
    return motion


def simulated(here: Path, forces: np.ndarray, *options: str, times: tuple[float, ...] = (0.0, 0.01)) -> Table:
    """A run with constant leg forces (6,)."""
    write_table(here / "forces.csv", ("t", *per_leg("f")), np.column_stack([times, np.tile(forces, (len(times), 1))]))
    arguments = ["simulate", "lab-hexapod", "forces.csv", "--pose", START, "-o", "out.csv", *options]
    assert main(arguments) == 0
    return read_table(here / "out.csv", MOTION)


def test_open_loop_ends_where_a_leg_leaves_its_stroke(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trajectory = load_trajectory("demo", HOME)
    times = np.linspace(0.0, 20.0, 2001)
    write_table(here / "motion.csv", ("t", *MOTION), np.column_stack([times, trajectory.motion(times)]))
    assert main(["inverse", "lab-hexapod", "motion.csv", "-o", "forces.csv"]) == 0
    arguments = ["simulate", "lab-hexapod", "forces.csv", "--pose", START, "-o", "out.csv"]
    assert main(arguments) == ExitCode.REFUSED
    said = capsys.readouterr().err
    assert "leg 4 leaves its stroke at 1.8" in said and "its limits are 0.4 to 0.62 m" in said
    assert "open loop it is unstable there" in said
    motion = read_table(here / "out.csv", MOTION)
    assert f"out.csv has the {len(motion.times)} of 2001 rows before" in said
    assert 1.7 < motion.times[-1] < 1.82
    lengths = np.array([leg_lengths(LAB.geometry, pose) for pose in motion.columns(MOTION[:7])])
    assert lengths.min() >= 0.4 and lengths.max() <= 0.62


def test_a_stroke_left_between_two_rows_is_noticed(here: Path) -> None:
    forces = np.full((2, 6), 200.0)
    found = simulate(LAB, np.array([0.0, 5.0]), forces, HOME, 1e-3)
    assert found.departure is not None and found.departure.time < 0.2 and len(found.motion) == 1
    assert found.departure.limits == (0.4, 0.62) and 0.62 < found.departure.length < 0.63


def test_a_start_outside_the_strokes_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(here / "forces.csv", ("t", *per_leg("f")), np.eye(2, 7, -1))
    far = "0,0,0.7,1,0,0,0"
    arguments = ["simulate", "lab-hexapod", "forces.csv", "--pose", far, "-o", "out.csv"]
    assert main(arguments) == ExitCode.REFUSED
    assert "the start: leg 1 leaves its stroke at 0 s" in capsys.readouterr().err
    assert not (here / "out.csv").exists()


def test_an_initial_twist(here: Path) -> None:
    forces = Dynamics(LAB).inverse(at_home(TWIST)).forces[0]
    table = simulated(here, forces, "--twist", text(TWIST))
    first, last = table.columns(MOTION)
    np.testing.assert_array_equal(first[7:13], TWIST)
    np.testing.assert_allclose(first[13:], 0.0, atol=1e-9)
    np.testing.assert_allclose(last[:3] - first[:3], 0.01 * TWIST[:3], atol=2e-5)


@pytest.mark.parametrize("as_columns", [False, True])
def test_an_external_wrench(here: Path, as_columns: bool) -> None:
    # with what the legs need beside it the platform stays where it is; without it, it would move
    forces = Dynamics(LAB).inverse(at_home(), FORCE_ON_PLATFORM[np.newaxis]).forces[0]
    if as_columns:
        rows = np.column_stack([[0.0, 0.01], np.tile(np.concatenate([forces, FORCE_ON_PLATFORM]), (2, 1))])
        write_table(here / "forces.csv", ("t", *per_leg("f"), *WRENCH), rows)
        arguments = ["simulate", "lab-hexapod", "forces.csv", "--pose", START, "-o", "out.csv", *SMOOTH]
        assert main(arguments) == 0
        table = read_table(here / "out.csv", MOTION)
    else:
        table = simulated(here, forces, "--wrench", text(FORCE_ON_PLATFORM), *SMOOTH)
    np.testing.assert_allclose(table.columns(MOTION)[:, 13:], 0.0, atol=1e-9)
    np.testing.assert_allclose(table.columns(MOTION)[:, :7], np.tile(HOME, (2, 1)), atol=1e-12)
    assert np.abs(simulated(here, forces, *SMOOTH).columns(MOTION)[0, 13:]).max() > 0.3


def test_coulomb_friction_is_smoothed_over_the_speed_given(here: Path) -> None:
    forces, slow = np.full(6, 34.0), 0.01 * TWIST
    for speed in (0.0, 1e-3, 0.1):
        table = simulated(here, forces, "--twist", text(slow), "--coulomb-speed", str(speed))
        state = np.concatenate([HOME, slow])
        expected = Dynamics(LAB, coulomb_speed=speed).acceleration(state, forces)
        np.testing.assert_allclose(table.columns(MOTION)[0, 13:], expected, rtol=1e-12, atol=1e-12)
    assert np.abs(expected - Dynamics(LAB).acceleration(state, forces)).max() > 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--twist", "1,2,3"), "'1,2,3' is not a list of six finite numbers vx,vy,vz,wx,wy,wz"),
        (("--twist", "1,2,3,4,5,nan"), "six finite numbers"),
        (("--wrench", "heavy"), "six finite numbers fx,fy,fz,mx,my,mz"),
        (("--coulomb-speed", "-1"), "must be 0 to 1 m/s"),
        (("--coulomb-speed", "nan"), "nan is not finite"),
        (("--wrench", "1,2,3,4,5,6"), "forces.csv has a wrench of its own"),
    ],
)
def test_options_that_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str
) -> None:
    write_table(here / "forces.csv", ("t", *per_leg("f"), *WRENCH), np.eye(2, 13, -1))
    arguments = ["simulate", "lab-hexapod", "forces.csv", "--pose", START, "-o", "out.csv", *options]
    assert main(arguments) == ExitCode.INPUT
    assert message in " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert not (here / "out.csv").exists()
