"""Runs followed slower than they were checked for: on the path, by the engine, and as its clients ask for it."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from engine_support import HOME, Bench, refused, smooth_table
from pydantic import ValidationError
from test_engine_reference import DURATION, STEP, motion, sine_table

from rig.cli import main
from rig.client import MotionSequence, Stage, open_rig
from rig.config import load_config
from rig.engine import LEAST_PACE, Follow, Pace, Park, Pause, Resume, Stop
from rig.engine.reference import RAMPS, Reference, TableSource
from rig.errors import ExitCode, InputError
from rig.recording import RecordingFile
from rig.states import MotionKind, State


def test_half_as_fast_is_the_same_path_at_half_the_speed_and_a_quarter_of_the_acceleration() -> None:
    whole, half = TableSource(sine_table(), "sine"), TableSource(sine_table(), "sine", rate=0.5)
    assert half.path_rate == 0.5
    for _ in range(round(DURATION / STEP)):
        whole.advance(STEP)
        half.advance(2 * STEP)
        fast, slow = motion(whole), motion(half)
        np.testing.assert_allclose(slow[:7], fast[:7], atol=1e-11)
        np.testing.assert_allclose(slow[7:13], 0.5 * fast[7:13], atol=1e-9)
        np.testing.assert_allclose(slow[13:], 0.25 * fast[13:], atol=1e-8)
    half.advance(STEP)
    assert not half.moving and half.path_time == DURATION


def test_position_speed_and_acceleration_are_one_motion_through_changes_of_pace() -> None:
    source, h = TableSource(sine_table(), "sine"), 5e-4
    changes = {800: 0.3, 3000: 1.0, 5000: 0.6}
    rows, rates = [], []
    for k in range(9000):
        if k in changes:
            source.pace(changes[k], RAMPS)
        rows.append(motion(source))
        rates.append(source.path_rate)
        source.advance(h)
    q = np.array(rows)
    speed, acceleration = q[:, 7:10], q[:, 13:16]
    assert np.abs((q[2:, :3] - q[:-2, :3]) / (2 * h) - speed[1:-1]).max() < 4e-6
    assert np.abs((speed[2:] - speed[:-2]) / (2 * h) - acceleration[1:-1]).max() < 0.02 * np.abs(acceleration).max()
    assert min(rates) == pytest.approx(0.3) and rates[4900] == 1.0 and rates[7000] == pytest.approx(0.6)


def test_a_pace_asked_for_while_it_stands_is_that_with_which_it_goes_on() -> None:
    source = TableSource(sine_table(), "sine")
    source.advance(1.0)
    source.decelerate(RAMPS)
    source.pace(0.2, RAMPS)
    assert source.slowing  # it is not hurried on
    source.advance(1.0)
    assert source.paused
    source.resume(RAMPS)
    source.advance(0.4)
    assert source.path_rate == pytest.approx(0.2)


def test_a_pace_asked_for_within_a_ramp_waits_for_its_end_so_that_no_acceleration_jumps() -> None:
    source, h = TableSource(sine_table(), "sine"), 5e-4
    source.advance(1.0)
    rates = []
    for k in range(4000):
        if k in (0, 300, 500):
            source.pace({0: 0.1, 300: 0.8, 500: 0.5}[k], RAMPS)
        rates.append(source.path_rate)
        source.advance(h)
    steps = np.diff(rates, 2) / h**2  # of the rate's acceleration
    assert np.abs(steps).max() < 1.01 * 6.0 * 0.9 / 0.4**2
    assert rates[300] > 0.1 and min(rates) == pytest.approx(0.1) and rates[-1] == pytest.approx(0.5)
    assert max(rates[1000:]) <= 0.5 + 1e-9  # what was wished in between is forgotten


def test_only_runs_are_followed_slower() -> None:
    reference = Reference(HOME)
    reference.pace(0.5, RAMPS)
    reference.follow(sine_table(), "way")
    assert reference.path_rate == 1.0
    reference.pace(0.25, RAMPS)
    reference.advance(1.0)
    assert reference.path_rate == 1.0
    reference.follow(sine_table(), "run", paced=True)
    assert reference.path_rate == 0.25
    reference.leave_for(sine_table(), "to rest")
    assert reference.path_rate == 1.0


def test_a_run_takes_as_long_as_its_pace_wants_and_parking_does_not(rig: Bench) -> None:
    table, period = smooth_table(1.0), rig.config.period
    rig.engage()

    def lasted(name: str, purpose: MotionKind = MotionKind.RUN) -> float:
        rig.step()
        rig.tap.take()
        rig.follow(table, name, purpose)
        rig.until(State.RUNNING)
        rig.until(State.ENGAGED, timeout=20.0)
        rows = rig.tap.take()
        return float(np.count_nonzero(rows["state"] == State.RUNNING)) * period

    assert lasted("whole") == pytest.approx(1.0, abs=3 * period)
    rig.request(Pace(0.25))
    assert rig.status().pace == 0.25
    assert lasted("slow") == pytest.approx(4.0, abs=3 * period)
    assert lasted("way", MotionKind.APPROACH) == pytest.approx(1.0, abs=3 * period)
    rig.follow(table, "faster again")
    rig.run(0.5)
    rig.tap.take()
    rig.request(Pace(1.0))
    rig.until(State.ENGAGED)
    rows = rig.tap.take()
    rates = rows["path_rate"][rows["state"] == State.RUNNING]
    assert rates[0] == pytest.approx(0.25, abs=0.01) and rates.max() == pytest.approx(1.0)
    assert (np.diff(rates[:-1]) >= -1e-12).all()
    assert np.abs(rows["force_residual"]).max() < 30.0  # the model knows the speed at which it is followed
    rig.request(Park())
    rig.until(State.PARKED)


def test_a_stop_is_a_stop_at_any_pace(rig: Bench) -> None:
    rig.engage()
    rig.request(Pace(0.5))
    rig.follow(smooth_table(2.0))
    rig.run(1.0)
    rig.request(Pause())
    rig.request(Pace(1.0))
    rig.until(State.ENGAGED)
    assert rig.status().paused
    rig.request(Resume())
    rig.until(State.RUNNING)
    rig.request(Stop(2))
    rig.request(Pace(0.5))
    rig.until(State.ENGAGED)
    before = rig.status().path_time
    rig.run(0.2)
    assert rig.status().path_time == before


def test_it_is_said_in_the_recording(rig: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(rig.tap, "event", lambda event: told.append(event.text))
    rig.engage()
    rig.request(Pace(0.4))
    rig.run(0.1)
    assert any("pace 40 %" in text for text in told)


@pytest.mark.parametrize("rate", [0.0, 0.0999, 1.001, -0.5, math.nan, math.inf])
def test_no_run_is_followed_faster_or_as_good_as_not_at_all(rate: float) -> None:
    with pytest.raises(ValidationError):
        Pace(rate)


def test_a_motion_too_fast_is_refused_however_slow_it_would_be_followed(rig: Bench) -> None:
    rig.engage()
    rig.request(Pace(LEAST_PACE))
    hasty = smooth_table(0.2, amplitude=0.05)
    assert "limits" in refused(rig, Follow("hasty", hasty.step), hasty.samples)


def test_a_client_waits_as_long_as_a_slow_run_takes(tmp_path: Path) -> None:
    with open_rig(load_config("virtual"), lockstep=True, output=tmp_path) as robot:
        robot.home()
        robot.engage()
        for part in (0.0, 2.0, math.nan):
            with pytest.raises(InputError, match=r"of full speed, must be 0\.1 to 1"):
                robot.set_speed(part)
        robot.set_speed(0.1)
        begun = robot.status.t
        only = {"type": "minimum-jerk", "start": [0] * 6, "end": [0, 0, "2 mm", 0, 0, 0], "duration": "2 s"}
        robot.run({"parts": [only]})  # 20 s: more than its 2 s and any patience
        assert 20.0 < robot.status.t - begun < 23.0
        robot.park()


@pytest.mark.usefixtures("undrawn_reports")
def test_a_run_by_command_is_followed_at_its_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    motion = tmp_path / "lift.toml"
    motion.write_text(
        'frame = "home"\n[[parts]]\ntype = "minimum-jerk"\n'
        'start = [0, 0, 0, 0, 0, 0]\nend = [0, 0, "2 mm", 0, 0, 0]\nduration = 1.0\n'
    )
    assert main(["run", "virtual", str(motion), "--lockstep", "--speed", "40", "-o", str(tmp_path)]) == 0
    (recording,) = tmp_path.glob("*.mcap")
    (run,) = [one for one in RecordingFile(recording).motions if one.kind == MotionKind.RUN]
    assert run.end - run.start == pytest.approx(1.0 / 0.4, abs=0.01) and run.amplitude == 1.0
    capsys.readouterr()
    for wrong in ("9.9", "100.1", "0"):
        assert main(["run", "virtual", str(motion), "--lockstep", "--speed", wrong]) == ExitCode.INPUT
        assert "--speed" in capsys.readouterr().err


def test_what_is_left_is_of_all_stages_at_the_present_pace(rig: Bench) -> None:
    table, sequence = smooth_table(1.0), MotionSequence("test")
    way = Stage("way", 1.0, table, MotionKind.APPROACH)
    runs = [Stage("test", 2.0, table, MotionKind.RUN, number) for number in (1, 2)]
    stages = [way, Stage("", 0.5), runs[0], way, runs[1]]
    status = rig.status()
    assert sequence.left(status) is None and sequence.fraction(status) == 0.0
    sequence.begin(stages)
    assert sequence.left(status) == 6.5 and sequence.fraction(status) == 0.0
    sequence.answered()
    running = replace(status, state=State.RUNNING, path_time=0.5, path_duration=1.0)
    assert sequence.left(running) == 6.0 and sequence.fraction(running) == pytest.approx(0.5 / 6.5)
    assert sequence.left(replace(running, pace=0.5)) == 10.0  # its runs take twice as long, its ways do not
    endless = MotionSequence("held")
    endless.begin([Stage("held", math.inf, table, MotionKind.JOG, 1, 0.4)])
    assert endless.left(running) is None and endless.fraction(running) == 0.0
    endless.end()
    assert endless.left(running) == 0.0
