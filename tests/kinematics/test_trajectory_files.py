"""Trajectory files: every type, units, shipped ones, and all faults at once."""

import math
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinematics import rotations as rot
from kinematics.errors import TrajectoryError
from kinematics.trajectories import MinimumJerk, load_trajectory, parse_trajectory, tabulate, trajectory_names

HOME = np.array([0.0, 0.0, 0.45, 1.0, 0.0, 0.0, 0.0])

EVERY_TYPE = """
frame = "home"
pivot = [0, 0, "35 mm"]

[[parts]]
type = "hold"
duration = "0.5 s"

[[parts]]
type = "minimum-jerk"
start = [0, 0, 0, 0, 0, 0]
end = [0, 0, "20 mm", 0, 0, "5 deg"]
duration = "2 s"

[[parts]]
type = "blend"
start = [0, 0, "20 mm", 0, 0, "5 deg"]
end = ["30 mm", 0, "20 mm", 0, 0, 0]
duration = 2
speed = "20 mm/s"
angular_speed = "4 deg/s"

[[parts]]
type = "harmonic"
offset = ["30 mm", 0, "20 mm", 0, 0, 0]
duration = "4 s"
fade = "1 s"
terms = [
    { dof = "x", amplitude = "10 mm", frequency = "1.2 Hz" },
    { dof = "ry", amplitude = "2 deg", frequency = 0.5, phase = "90 deg" },
]

[[parts]]
type = "chirp"
offset = ["30 mm", 0, "20 mm", 0, 0, 0]
duration = "5 s"
fade = "500 ms"
terms = [{ dof = "z", amplitude = "5 mm", start_frequency = "0.2 Hz", end_frequency = "2 Hz" }]

[[parts]]
type = "random"
offset = ["30 mm", 0, "20 mm", 0, 0, 0]
duration = "3 s"
fade = "1 s"
seed = 4
terms = [{ dof = "rz", rms = "0.5 deg", low_frequency = "0.2 Hz", high_frequency = 1 }]

[[parts]]
type = "poses"
file = "back.csv"

[[parts]]
type = "transition"
duration = "1 s"

[[parts]]
type = "hold"
position = [0, 0, "5 mm", 0, 0, 0]
duration = 0.5
"""

BACK = "t,x,y,z,qw,qx,qy,qz\n10,0.03,0,0.02,1,0,0,0\n11,0.01,0,0.01,1,0,0,0\n12,0,0,0,1,0,0,0\n"


def test_every_type_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(EVERY_TYPE)
    (tmp_path / "back.csv").write_text(BACK)
    trajectory = load_trajectory(tmp_path / "run.toml", HOME)
    assert trajectory.duration == pytest.approx(20.0)
    assert trajectory.placement.frame == "home"
    np.testing.assert_allclose(trajectory.placement.pivot, [0, 0, 0.035])
    q = trajectory.coordinates([2.5, 4.5, 6.5, 18.5])[0]
    np.testing.assert_allclose(q[0], [0, 0, 0.02, 0, 0, math.radians(5)], atol=1e-15)
    np.testing.assert_allclose(q[1], [0.03, 0, 0.02, 0, 0, 0], atol=1e-15)
    sines = [0.01 * math.sin(2 * math.pi * 2.4), 0.0, 0.0, 0.0, math.radians(2) * math.cos(2 * math.pi), 0.0]
    np.testing.assert_allclose(q[2], np.array([0.03, 0, 0.02, 0, 0, 0]) + sines, atol=1e-15)
    np.testing.assert_allclose(trajectory.motion(18.5)[0, :7], HOME, atol=1e-12)
    np.testing.assert_allclose(trajectory.coordinates([19.0, 19.5])[0][:, 2], [0.0025, 0.005], atol=1e-12)


def test_shipped_demo_starts_and_ends_at_home() -> None:
    assert "demo" in trajectory_names()
    demo = load_trajectory("demo", HOME)
    assert demo.duration == 20.0
    ends = demo.motion([0.0, 20.0])
    np.testing.assert_allclose(ends[:, :7], [HOME, HOME], atol=1e-15)
    assert not ends[:, 7:].any()
    q = np.abs(demo.coordinates(np.linspace(0, 20, 4001))[0]).max(axis=0)
    assert (q[:3] > 0.03).all()
    assert (q[3:] > math.radians(6)).all()


def test_demo_keeps_the_lab_hexapod_well_within_its_legs() -> None:
    """Joint places of the lab-hexapod: circles of 0.35 m and 0.22 m, pairs 12° and 15° off."""
    turns = np.radians([0, 0, 120, 120, 240, 240])
    around = turns + np.radians([-12, 12, -12, 12, -12, 12])
    above = turns + np.radians([-45, 45, -45, 45, -45, 45])
    base = np.stack([0.35 * np.cos(around), 0.35 * np.sin(around), 0 * around], axis=1)
    platform = np.stack([0.22 * np.cos(above), 0.22 * np.sin(above), 0 * above], axis=1)
    t = np.linspace(0, 20, 10001)
    motion = load_trajectory("demo", HOME).motion(t)
    joints = np.einsum("nij,kj->nki", rot.quaternion_to_matrix(motion[:, 3:7]), platform) + motion[:, None, :3]
    lengths = np.linalg.norm(joints - base, axis=2)
    assert lengths[0] == pytest.approx(np.full(6, 0.494211), abs=1e-6)
    assert lengths.min() > 0.41
    assert lengths.max() < 0.58
    speeds = np.gradient(lengths, t, axis=0)
    assert np.abs(speeds).max() < 0.4
    assert np.abs(np.gradient(speeds, t, axis=0)).max() < 4.0


def test_csv_of_poses_with_further_columns(tmp_path: Path) -> None:
    path = tmp_path / "poses.csv"
    path.write_text("\ufeffqz, t,x,y,z,qw,qx,qy,vx,fx\n0,0,0,0,0.4,1,0,0,9,9\n\n0,1.5,0.1,0,0.5,-1,0,0,9,nan\n")
    trajectory = load_trajectory(str(path), None)
    assert trajectory.duration == 1.5
    assert trajectory.placement.frame == "base"
    motion = trajectory.motion([0.0, 1.5])
    np.testing.assert_allclose(motion[:, :3], [[0, 0, 0.4], [0.1, 0, 0.5]], atol=1e-14)
    np.testing.assert_allclose(motion[:, 7:], 0.0, atol=1e-12)


def faults_of(path: Path | str, home: np.ndarray | None = HOME) -> list[str]:
    with pytest.raises(TrajectoryError) as caught:
        load_trajectory(path, home)
    message = str(caught.value)
    assert message.startswith(str(path))
    return [line.strip() for line in message.splitlines()]


def test_csv_faults_come_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(
        "t,x,y,z,qw,qx,qy,qz\n0,0,0,0,1,0,0,0\n1,nan,0,up,1,0,0,0\n2,0,0,0,1,0.1,0,0\n2,0,0,0,1,0,0,0\n3,0,0\n"
    )
    assert faults_of(path) == [
        f"{path}: not a usable file of poses:",
        "line 3: x is 'nan', must be a finite number",
        "line 3: z is 'up', must be a finite number",
        "line 4: quaternion norm is 1.00498756, must be 1 within 1e-06",
        "line 5: t is 2 s after 2 s, must be at least 1e-06 s later",
        "line 6: 3 values, must be 8",
    ]


def test_csv_header_faults(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("t,x,y,z,qx,qy,qz,x,speed\n0,0,0,0,0,0,0,0,0\n")
    assert faults_of(path)[1:] == [
        "line 1: column qw is missing",
        "line 1: column 'speed' is unknown",
        "line 1: column x occurs twice",
    ]


def test_csv_too_short_empty_or_broken(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("")
    assert "is empty, must start with the header t,x,y,z,qw,qx,qy,qz" in faults_of(path)[0]
    path.write_text("t,x,y,z,qw,qx,qy,qz\n")
    assert faults_of(path) == [f"{path}: 0 poses, must be at least 2"]
    path.write_text("t,x,y,z,qw,qx,qy,qz\n0,0,0,0,1,0,0,0\n")
    assert faults_of(path) == [f"{path}: 1 poses, must be at least 2"]
    path.write_bytes(b"t,x\xff\n")
    assert "not a text file: byte 0xff is not UTF-8" in faults_of(path)[0]
    path.write_text("t,x,y,z,qw,qx,qy,qz\n" + "nan,0,0,0,1,0,0,0\n" * 30)
    assert faults_of(path)[-1] == "and 10 more"
    assert "no such file" in faults_of(tmp_path / "none.csv")[0]


def test_all_faults_of_a_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(
        """
frame = "tool"
pivots = [0, 0, 0]

[[parts]]
type = "blend"
start = [0, 0, "3 kg", 0, 0]
end = [0, 0, 0, 0, 0, "20 mm"]
duration = -1

[[parts]]
type = "harmonic"
duration = "5 s"
fade = nan
terms = [{ dof = "x", amplitude = "2 deg", frequency = "1 Hz" }, { dof = "w", amplitude = 1, frequency = 1 }]

[[parts]]
type = "dance"
"""
    )
    faults = faults_of(path)
    assert faults[0] == f"{path}: faults in the trajectory file:"
    found = "\n".join(faults[1:])
    for expected in (
        "frame: must be 'base' or 'home'",
        "pivots: unknown key",
        "part 1, start, z: '3 kg' has the wrong dimension; expected a length",
        "part 1, start, rz: ",
        "part 1, end, rz: '20 mm' has the wrong dimension; expected an angle",
        "part 1, duration: must be greater than 0",
        "part 2, fade: nan is not finite; expected a time",
        "part 2, term 1, amplitude: '2 deg' has the wrong dimension; expected a length",
        "part 2, term 2: ",
        "part 3: ",
    ):
        assert expected in found
    assert len(faults) == 11


def test_faults_found_when_the_parts_are_built(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(
        """
frame = "home"
[[parts]]
type = "blend"
start = [0, 0, 0, 0, 0, 0]
end = [0.5, 0, 0, 0, 0, 0]
duration = 6
speed = 0.08
[[parts]]
type = "poses"
file = "missing.csv"
"""
    )
    faults = faults_of(path, None)
    assert faults[1:] == [
        'frame "home": the mechanism has no home pose; give the trajectory in frame "base"',
        "part 1, speed: 0.08 m/s, must be from 0.0833333333 to 0.166666667 m/s to cover 0.5 m in 6 s",
        f"part 2, {tmp_path / 'missing.csv'}: no such file",
    ]
    path.write_text(EVERY_TYPE.replace('end = [0, 0, "20 mm", 0, 0, "5 deg"]', 'end = [0, 0, "21 mm", 0, 0, "5 deg"]'))
    (tmp_path / "back.csv").write_text(BACK)
    assert "z is 21 mm at the end of part 2, but 20 mm where part 3 begins" in faults_of(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert faults_of("dance") == ["dance: must be a .toml or .csv file, or a shipped trajectory (demo)"]
    assert "must be a .toml or .csv file" in faults_of(tmp_path / "run.json")[0]
    assert faults_of(tmp_path / "none.toml") == [f"{tmp_path / 'none.toml'}: no such file"]
    path = tmp_path / "bad.toml"
    path.write_text("frame = home")
    assert "not valid TOML" in faults_of(path)[0]
    path.write_bytes(b"\xff\xfe")
    assert "is not UTF-8" in faults_of(path)[0]
    path.write_text('frame = "base"\nparts = []')
    assert "parts: " in faults_of(path)[0]


scalars = st.one_of(st.integers(-3, 3), st.floats(), st.booleans(), st.sampled_from(["1 mm", "2 s", "x", "", "nan m"]))


@settings(max_examples=80)
@given(
    st.sampled_from(["frame", "pivot", "speed", "duration", "fade", "terms", "start", "type"]),
    st.one_of(scalars, st.lists(scalars, max_size=7)),
)
def test_any_value_anywhere_is_accepted_or_refused_clearly(key: str, value: object) -> None:
    def replace(node: object) -> object:
        if isinstance(node, dict):
            return {name: value if name == key else replace(child) for name, child in node.items()}
        return [replace(child) for child in node] if isinstance(node, list) else node

    text = _toml(replace(tomllib.loads(EVERY_TYPE.split('[[parts]]\ntype = "poses"')[0])))
    try:
        trajectory = parse_trajectory(text, HOME)
    except TrajectoryError as error:
        assert str(error)
    else:
        assert np.isfinite(trajectory.motion(np.linspace(0, trajectory.duration, 50))).all()


def _toml(node: object) -> str:
    assert isinstance(node, dict)
    return "\n".join(f"{name} = {_value(child)}" for name, child in node.items())


def _value(node: object) -> str:
    if isinstance(node, dict):
        return "{ " + ", ".join(f"{name} = {_value(child)}" for name, child in node.items()) + " }"
    if isinstance(node, list):
        return "[" + ", ".join(_value(child) for child in node) + "]"
    if isinstance(node, bool):
        return str(node).lower()
    return f'"{node}"' if isinstance(node, str) else repr(node)


def holds(*durations: float) -> str:
    parts = "".join(f'[[parts]]\ntype = "hold"\nduration = {duration}\n' for duration in durations)
    return f'frame = "home"\n{parts}'


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (holds(1e7), "part 1, duration: 1e+07 s, must be at most 3600 s"),
        (holds(*[1e-3] * 1001), "parts: 1001 entries, must be at most 1000"),
        (holds(3000, 601), "parts: 3601 s in all, must be at most 3600 s; run a shorter motion repeatedly"),
    ],
)
def test_a_motion_too_long_to_look_at_is_refused_by_name(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "long.toml"
    path.write_text(text)
    assert any(fault in line for line in faults_of(path))


def test_a_long_table_is_made_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the pieces begin and end changes nothing, not even where an angle goes on beyond half a turn."""
    turning = MinimumJerk(np.zeros(6), [0.0, 0.0, 0.0, 0.0, 0.0, 9.0], 2.0)
    whole = tabulate(turning, 0.01)
    monkeypatch.setattr("kinematics.trajectories.table._BLOCK", 7)
    pieces = tabulate(turning, 0.01)
    assert np.array_equal(pieces.samples, whole.samples) and pieces.step == whole.step
    assert whole.samples[-1, 5] == pytest.approx(9.0)


_HOLD = '[[parts]]\ntype = "hold"\nduration = 1\n'
_TRANSITION = '[[parts]]\ntype = "transition"\nduration = 1\n'


@pytest.mark.parametrize(
    ("parts", "numbers"),
    [
        (_TRANSITION, [1]),
        (_TRANSITION + _HOLD, [1]),
        (_HOLD + _TRANSITION, [2]),
        (_HOLD + 2 * _TRANSITION + _HOLD, [2, 3]),
    ],
)
def test_a_transition_stands_between_two_parts(parts: str, numbers: list[int]) -> None:
    with pytest.raises(TrajectoryError) as caught:
        parse_trajectory(f'frame = "home"\n{parts}', HOME)
    said = [f"part {number}, transition: must stand between two parts of other types" for number in numbers]
    assert str(caught.value).splitlines() == said


def test_beside_a_part_that_is_wrong_a_transition_is_not_blamed() -> None:
    wrong = '[[parts]]\ntype = "poses"\nfile = "none.csv"\n'
    with pytest.raises(TrajectoryError) as caught:
        parse_trajectory(f'frame = "home"\n{_HOLD}{_TRANSITION}{wrong}', HOME)
    assert "none.csv" in str(caught.value) and "transition" not in str(caught.value)
