"""A motion is the same motion wherever it is written: trajectory, tables of other commands, a recording, its export."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from synthetic_rows import make_header, make_rows

from dynamics import load_mechanism
from kinematics import COORDINATES, Array, leg_kinematics, load_trajectory, motion_to_coordinates
from rig.cli import main
from rig.csvio import MOTION, POSE, WRENCH, per_leg, read_table, write_table
from rig.errors import ExitCode, InputError
from rig.motions import SampledMotion, read_lengths, read_motion, read_trajectory
from rig.motions.motion_source import even_times, usual_step
from rig.recording import RecordingError, RecordingWriter
from rig.telemetry import CycleFlag

MACHINE = load_mechanism("lab-hexapod")
TRAJECTORY = load_trajectory("demo", MACHINE.geometry.home)
TIMES = np.linspace(6.0, 7.0, 101)
MOTIONS = TRAJECTORY.motion(TIMES)


def read(path: Path) -> SampledMotion:
    return read_motion(path, MACHINE.geometry)


def table(path: Path, names: tuple[str, ...], values: Array, times: Array = TIMES) -> Path:
    write_table(path, ("t", *names), np.column_stack([times, values]))
    return path


def record(path: Path, motions: Array = MOTIONS, times: Array = TIMES) -> Path:
    """A recording whose motion 3 commands the motions, between cycles without any."""
    rows = make_rows(0.01 * (len(times) + 20))[: len(times) + 20]
    rows["motion"], rows["reference"] = 0, motions[0]
    rows["t"] = times[0] + 0.01 * (np.arange(len(rows)) - 10)
    rows["motion"][10:-10], rows["reference"][10:-10], rows["t"][10:-10] = 3, motions, times
    rows["reference"][3] = np.nan
    writer = RecordingWriter(path, make_header())
    writer.write_rows(rows)
    writer.close({})
    return path


def test_a_trajectory_is_sampled_in_usual_steps(tmp_path: Path) -> None:
    motion = read(Path("demo"))
    assert motion.kind == "trajectory"
    np.testing.assert_array_equal(motion.motions, TRAJECTORY.motion(motion.times))
    assert np.diff(motion.times).max() <= 0.01 + 1e-12
    assert motion.times[-1] == TRAJECTORY.duration
    assert usual_step(0.6) == pytest.approx(0.001)
    assert usual_step(3600.0) == pytest.approx(0.18)
    coarse = motion.sampled(0.5)
    np.testing.assert_allclose(np.diff(coarse.times), TRAJECTORY.duration / np.ceil(TRAJECTORY.duration / 0.5))
    np.testing.assert_array_equal(coarse.motions, TRAJECTORY.motion(coarse.times))


def test_every_table_of_another_command_is_the_same_motion(tmp_path: Path) -> None:
    q, _, _ = motion_to_coordinates(MOTIONS)
    full = table(tmp_path / "motion.csv", MOTION, MOTIONS)
    assert main(["ik", "lab-hexapod", str(full), "-o", str(tmp_path / "legs.csv")]) == 0
    inner = slice(20, -20)  # where ends at rest do not matter
    for path, kind, tolerance in (
        (full, "motion", 0.0),
        (tmp_path / "legs.csv", "lengths", 1e-9),
        (table(tmp_path / "twists.csv", MOTION[:13], MOTIONS[:, :13]), "poses", 1e-2),
        (table(tmp_path / "poses.csv", POSE, MOTIONS[:, :7]), "poses", 2e-2),
        (table(tmp_path / "coordinates.csv", COORDINATES, q), "coordinates", 2e-2),
        (table(tmp_path / "lengths.csv", per_leg("l"), read_table(tmp_path / "legs.csv", per_leg("l"), [
            per_leg("v"), per_leg("a")]).columns(per_leg("l"))), "lengths", 2e-2),
        (record(tmp_path / "run.mcap"), "recording", 0.0),
    ):  # fmt: skip
        motion = read(path)
        assert motion.kind == kind
        np.testing.assert_allclose(motion.times, TIMES, atol=1e-12)
        np.testing.assert_allclose(motion.motions[:, :7], MOTIONS[:, :7], atol=1e-9)
        np.testing.assert_allclose(motion.motions[inner], MOTIONS[inner], atol=max(tolerance, 1e-15))


def test_an_export_is_its_recording(tmp_path: Path) -> None:
    path = record(tmp_path / "run.mcap")
    assert main(["export", str(path)]) == 0
    motion, exported = read(path), read(path.with_suffix(".csv"))
    assert exported.kind == "recording"
    np.testing.assert_array_equal(exported.times, motion.times)
    np.testing.assert_array_equal(exported.motions, motion.motions)
    text = path.with_suffix(".csv").read_text().splitlines()
    (tmp_path / "cut.csv").write_text("\n".join([*text[:50], text[50][:40]]))
    with pytest.raises(InputError, match=r"cut\.csv: line 51: not a row of an export"):
        read(tmp_path / "cut.csv")
    (tmp_path / "less.csv").write_text("\n".join(line.replace("motion,", "gone,") for line in text[:1]))
    with pytest.raises(InputError, match="without the columns: motion"):
        read(tmp_path / "less.csv")


def test_columns_of_other_commands_are_read_with_a_motion(tmp_path: Path) -> None:
    others = (*WRENCH, *per_leg("f"), *per_leg("c"))
    path = table(tmp_path / "loop.csv", (*MOTION, *others), np.hstack([MOTIONS, np.ones((101, len(others)))]))
    motion = read(path)
    np.testing.assert_allclose(motion.motions, MOTIONS, atol=1e-15)
    assert motion.wrenches is not None
    assert motion.wrenches.shape == (101, 6)
    assert motion.sampled(0.05).wrenches is not None


def test_between_rows_the_motion_is_that_of_the_trajectory(tmp_path: Path) -> None:
    motion = read(table(tmp_path / "motion.csv", MOTION, MOTIONS))
    between = np.linspace(6.001, 6.999, 57)
    np.testing.assert_allclose(motion.at(between), TRAJECTORY.motion(between), atol=1e-5)
    np.testing.assert_allclose(motion.at(TIMES), MOTIONS, atol=1e-9)
    with pytest.raises(InputError, match=r"motion\.csv: row 2: t = 6\.99 s does not increase from 7 s"):
        replace(motion, times=motion.times[::-1]).at(between)
    for outside in (5.998, 11.002, float("nan")):
        with pytest.raises(InputError, match=rf"motion\.csv: t = {outside:g} s, must be from 6 to "):
            motion.at(np.array([6.5, outside]))
    assert len(motion.thinned(30).times) == 26
    assert motion.thinned(30).times[-1] == TIMES[-1]


@pytest.mark.parametrize("step", [0.0, -1.0, float("nan"), 1e-7])
def test_an_invalid_step_is_refused(step: float) -> None:
    with pytest.raises(InputError, match="step: "):
        read(Path("demo")).sampled(step)


def test_even_steps_end_at_the_end() -> None:
    np.testing.assert_allclose(even_times(6.0, 0.1), 0.1 * np.arange(61), atol=1e-12)
    assert len(even_times(6.0, 0.1)) == 61
    assert even_times(0.05, 0.1).tolist() == [0.0, 0.05]


def test_a_table_without_a_motion_is_refused(tmp_path: Path) -> None:
    rows = np.zeros((101, 6))
    for path, fault in (
        (table(tmp_path / "forces.csv", per_leg("f"), rows), "forces.csv: the first line must name the columns"),
        (table(tmp_path / "half.csv", COORDINATES[:4], rows[:, :4]), "missing: ry, rz"),
        (table(tmp_path / "two.csv", per_leg("l")[:2], rows[:, :2]), "missing: l3, l4, l5, l6"),
        (table(tmp_path / "back.csv", POSE, MOTIONS[:, :7], TIMES[::-1]), "row 2: t = 6.99 s does not increase"),
        (table(tmp_path / "short.csv", MOTION[:13], MOTIONS[:3, :13], TIMES[:3]), "at least 4"),
        (table(tmp_path / "one.csv", POSE, MOTIONS[:1, :7], TIMES[:1]), "one.csv: 1 poses, must be at least 2"),
    ):
        with pytest.raises(Exception, match=fault.replace(".", r"\.")):
            read(path)
    table(tmp_path / "all.csv", ("mode", *POSE, "residual"), np.ones((101, 9)))
    with pytest.raises(InputError, match=r"all\.csv: has every pose of each row"):
        read(tmp_path / "all.csv")
    lost = replace(MACHINE.geometry, home=None)
    with pytest.raises(InputError, match="leg lengths need a pose"):
        read_motion(table(tmp_path / "l.csv", per_leg("l"), rows), lost)
    with pytest.raises(RecordingError):
        read(tmp_path / "gone.mcap")


def test_a_recording_without_motion_is_refused(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "idle.mcap", make_header())
    rows = make_rows(0.1)
    rows["motion"], rows["state"] = 0, 1
    writer.write_rows(rows)
    writer.close({})
    with pytest.raises(RecordingError, match=r"idle\.mcap: holds no commanded motion"):
        read(tmp_path / "idle.mcap")


def test_a_rig_may_run_a_recording_and_leg_lengths(tmp_path: Path) -> None:
    start = np.flatnonzero(TIMES == 6.0)[0]
    path = record(tmp_path / "run.mcap")
    trajectory = read_trajectory(path, MACHINE.geometry)
    assert trajectory.duration == pytest.approx(1.0)
    np.testing.assert_allclose(trajectory.motion([0.5])[0, :7], TRAJECTORY.motion([6.5])[0, :7], atol=1e-7)
    np.testing.assert_allclose(trajectory.motion([0.0])[0, 7:], 0.0, atol=1e-9)  # at rest at both ends
    np.testing.assert_allclose(trajectory.motion([0.0])[0, :7], MOTIONS[start, :7], atol=1e-9)
    still = table(tmp_path / "still.csv", per_leg("l"), np.tile(lengths(), (101, 1)))
    assert main(["check", "virtual", str(still)]) == 0
    assert read_trajectory("demo", MACHINE.geometry).duration == TRAJECTORY.duration
    poses = table(tmp_path / "poses.csv", POSE, MOTIONS[:, :7])
    assert read_trajectory(poses, MACHINE.geometry).duration == pytest.approx(1.0)


def lengths() -> Array:
    from kinematics import leg_lengths

    return leg_lengths(MACHINE.geometry, MACHINE.geometry.home_pose)


def test_inverse_and_ik_take_a_trajectory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.csv"
    assert main(["inverse", "lab-hexapod", "--trajectory", "demo", "--step", "0.5", "-o", str(out)]) == 0
    forces = read_table(out, per_leg("f"))
    motion = read(Path("demo")).sampled(0.5)
    from dynamics import Dynamics

    np.testing.assert_allclose(
        forces.columns(per_leg("f")), Dynamics(MACHINE).inverse(motion.motions).forces, rtol=1e-11
    )
    assert main(["ik", "lab-hexapod", "--trajectory", "demo", "--step", "0.5", "-o", str(out)]) == 0
    np.testing.assert_array_equal(read_table(out, per_leg("l"), [per_leg("v"), per_leg("a")]).times, motion.times)
    for arguments in (["inverse", "lab-hexapod", "-o", str(out)], ["ik", "lab-hexapod", "a.csv", "-o", str(out),
                      "--trajectory", "demo"]):  # fmt: skip
        assert main(arguments) == ExitCode.INPUT
        assert "one of them" in capsys.readouterr().err


def test_inverse_with_the_same_friction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = {kind: tmp_path / f"{kind}.csv" for kind in ("same", "printed")}
    for kind, path in paths.items():
        arguments = ["inverse", "lab-hexapod", "--trajectory", "demo", "--step", "0.1", "--model", "dasgupta-1998"]
        assert main([*arguments, "--friction", kind, "-o", str(path)]) == 0
        assert ("Coulomb" in capsys.readouterr().err) is (kind == "printed")
    same, printed = (read_table(path, per_leg("f")).columns(per_leg("f")) for path in paths.values())
    coulomb = max(leg.friction.coulomb for leg in MACHINE.legs)
    assert np.abs(same - printed).max() == pytest.approx(coulomb)
    assert main(["inverse", "lab-hexapod", "--trajectory", "demo", "--friction", "wet", "-o", "x.csv"]) == 2
    assert "'wet' must be printed, same or none" in " ".join(capsys.readouterr().err.split())


def test_measured_lengths_of_a_recording_and_of_any_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`rig fk` follows them: the encoders of a rig that stands where its recording says."""
    rows = make_rows(0.1)
    count = len(rows)
    motions = TRAJECTORY.motion(6.0 + 0.01 * np.arange(count))
    legs = leg_kinematics(MACHINE.geometry, motions)
    rows["length"], rows["velocity"], rows["flags"] = legs.length, legs.velocity, CycleFlag.HOMED
    rows["t"] = 0.01 * np.arange(count)
    rows["length"][0], rows["flags"][1] = np.nan, 0
    writer = RecordingWriter(tmp_path / "run.mcap", make_header())
    writer.write_rows(rows)
    writer.close({})
    assert main(["export", str(tmp_path / "run.mcap")]) == 0
    monkeypatch.setattr("rig.recording.reader._BLOCK", 7)  # a recording has many of them
    guess = ",".join(map(repr, motions[2, :7].tolist()))
    for name in ("run.mcap", "run.csv"):
        out = tmp_path / f"{name}.motion.csv"
        assert main(["fk", "lab-hexapod", str(tmp_path / name), "--guess", guess, "-o", str(out)]) == 0
        found = read_table(out, MOTION[:13])
        np.testing.assert_allclose(found.times, rows["t"][2:])
        np.testing.assert_allclose(found.columns(MOTION[:13]), motions[2:, :13], atol=1e-9)
    mixed = table(tmp_path / "loop.csv", (*MOTION, *per_leg("l"), *per_leg("f")), np.hstack([
        motions, legs.length, np.ones((count, 6))]), rows["t"])  # fmt: skip
    np.testing.assert_array_equal(read_lengths(mixed).columns(per_leg("l")), legs.length)
    rows["flags"] = 0
    writer = RecordingWriter(tmp_path / "parked.mcap", make_header())
    writer.write_rows(rows)
    writer.close({})
    with pytest.raises(RecordingError, match=r"parked\.mcap: holds no leg lengths of a homed rig"):
        read_lengths(tmp_path / "parked.mcap")


def test_forces_are_read_from_what_other_commands_write(tmp_path: Path) -> None:
    """`rig simulate` takes the forces of a loop's file, and of a study's figure, as those of `rig inverse`."""
    forces = np.tile(read_motion("demo", MACHINE.geometry).motions[:1, :6] * 0.0 + 40.0, (5, 1))
    times, outs = 0.001 * np.arange(5.0), []
    for name, columns in (
        ("alone", per_leg("f")),
        ("loop", (*per_leg("f"), *MOTION, *per_leg("c"), *per_leg("l"), *per_leg("v"))),
        ("study", (*per_leg("f"), *per_leg("massless"), *per_leg("dynamic"))),
    ):
        others = np.tile([0.0] * 3 + [1.0] + [0.0] * (len(columns) - 10), (5, 1)) if len(columns) > 6 else forces[:, :0]
        path = table(tmp_path / f"{name}.csv", columns, np.hstack([forces, others]), times)
        out = tmp_path / f"{name}.motion.csv"
        pose = ",".join(map(repr, MACHINE.geometry.home_pose.tolist()))
        assert main(["simulate", "lab-hexapod", str(path), "--pose", pose, "-o", str(out)]) == 0
        outs.append(out.read_bytes())
    assert len(set(outs)) == 1
