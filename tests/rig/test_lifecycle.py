"""A motion's size and its repeats: checked before anything moves, and run in lockstep."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import slower_file

from kinematics import parse_trajectory, scaled
from rig.cli import main
from rig.client.motions import approach, checked_motion, checked_move, ends, prepare_motion
from rig.config.rig_config import load_config
from rig.engine import straight_move
from rig.errors import ExitCode, RefusedError
from rig.recording import open_recording
from rig.safety.trajectory_check import LimitCheck, TrajectoryVerdict, check_trajectory
from rig.states import MotionKind, State

pytestmark = pytest.mark.usefixtures("undrawn_reports")

RIG = load_config("virtual")
HOME = RIG.machine.geometry.home_pose
UP = """frame = "home"
[[parts]]
type = "minimum-jerk"
start = [0, 0, "10 mm", 0, 0, 0]
end = [0, 0, "{end} mm", 0, 0, 0]
duration = 1
"""


def _up(end: float) -> str:
    return UP.format(end=end)


def test_a_motion_is_made_smaller_about_its_start() -> None:
    whole, _verdict = checked_motion(RIG, parse_trajectory(_up(30), HOME))
    half, verdict = checked_motion(RIG, parse_trajectory(_up(30), HOME), 0.5)
    assert verdict.passed and half.step == whole.step
    assert half.samples[[0, -1], 2] - HOME[2] == pytest.approx([0.01, 0.02], abs=1e-12)
    assert half.samples[:, 6:] == pytest.approx(0.5 * whole.samples[:, 6:], abs=1e-15)
    assert np.array_equal(scaled(whole.samples, whole.samples[0, :6], 1.0), whole.samples)


def test_a_motion_that_is_too_large_passes_with_the_scale_that_is_said() -> None:
    far = parse_trajectory(_up(300), HOME)
    _table, verdict = checked_motion(RIG, far)
    assert 0.0 < verdict.scale < 1.0
    with pytest.raises(RefusedError, match=f"scaled by {verdict.scale:.3f}"):
        prepare_motion(RIG, far)
    assert prepare_motion(RIG, far, verdict.scale).duration == pytest.approx(1.0)
    with pytest.raises(RefusedError, match="exceeds the limits"):
        prepare_motion(RIG, far, verdict.scale + 0.001)


def test_the_way_back_is_checked_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    trajectory = parse_trajectory(_up(60), HOME)
    start, end = ends(prepare_motion(RIG, trajectory))
    assert approach(RIG, start, start) is None
    back = approach(RIG, end, start)
    assert back is not None and back.samples[[0, -1], 2] == pytest.approx([end[2], start[2]])
    assert prepare_motion(RIG, trajectory, repeats=2).samples.shape[1] == 18
    monkeypatch.setattr(
        "rig.client.motions.approach_move", lambda _config, here, there: straight_move(here, there, 5.0, 1.0)
    )
    with pytest.raises(RefusedError, match="speed of leg"):
        prepare_motion(RIG, trajectory, repeats=2)


def test_a_target_out_of_reach_is_refused_before_the_way_to_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []

    def counted(*arguments: Any, **keywords: Any) -> TrajectoryVerdict:
        verdict = check_trajectory(*arguments, **keywords)
        looked_at.append(verdict.samples)
        return verdict

    monkeypatch.setattr("rig.engine.checking.check_trajectory", counted)
    far = np.add(HOME, [0, 0, 5.0, 0, 0, 0, 0])
    with pytest.raises(RefusedError) as refused:
        checked_move(RIG, HOME, far, 0.02, 0.1)
    first, *faults = str(refused.value).splitlines()
    assert first == "the target exceeds the limits:"
    assert re.fullmatch(r"  greatest length of leg \d: 5\d\d\d mm, must be at most \d+ mm", faults[0])
    assert sum(looked_at) < 10  # the way of 5 m at 20 mm/s has more than 100,000 samples


def test_a_run_at_another_size_and_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "up.toml").write_text(f'{_up(30)}\n[validation]\nresidual_rms = "1 mN"\n')
    command = [
        "run",
        slower_file(tmp_path / "rig.toml"),
        str(tmp_path / "up.toml"),
        "--lockstep",
        "-o",
        str(tmp_path / "out"),
    ]
    assert main([*command, "--amplitude", "0.5", "--repeat", "3"]) == ExitCode.OK, capsys.readouterr().err
    (path,) = (tmp_path / "out").glob("*.mcap")
    recording = open_recording(path)
    # the recording itself says what the motion's file wants, and the run is judged by it
    runs = [motion for motion in recording.motions if motion.kind == MotionKind.RUN]
    assert [run.own_thresholds.named for run in runs] == [{"residual_rms": 1e-3}] * 3
    assert {motion.thresholds for motion in recording.motions if motion.kind != MotionKind.RUN} == {""}
    assert "verdict    undecided: too few rows" in capsys.readouterr().out  # none without thresholds
    running = recording.rows[recording.rows["state"] == State.RUNNING]
    assert running["reference"][:, 2].max() - HOME[2] == pytest.approx(0.02, abs=1e-6)
    high = running["reference"][:, 2] - HOME[2] > 0.0199
    assert np.count_nonzero(np.diff(high.astype(int)) == 1) == 3


@pytest.mark.parametrize(
    ("unit", "value", "bound", "words"),
    [
        ("m", 0.41333, 0.4, "413.3 mm at 2 s, must be at most 400 mm"),
        ("m/s", 0.6123, 0.5, "612.3 mm/s at 2 s, must be at most 500 mm/s"),
        ("m/s", 12.345, 0.5, "12345 mm/s at 2 s, must be at most 500 mm/s"),
        ("rad", np.pi / 4, np.pi / 6, "45 ° at 2 s, must be at most 30 °"),
        ("N", 450.0, 400.0, "450 N at 2 s, must be at most 400 N"),
        ("", 4.5, 4.0, "4.5 at 2 s, must be at most 4"),
    ],
)
def test_a_limit_is_said_in_the_units_of_the_screens(unit: str, value: float, bound: float, words: str) -> None:
    check = LimitCheck("it", unit, value, bound, is_minimum=False, leg=None, time=2.0, since=None)
    assert str(check) == f"it: {words}"
