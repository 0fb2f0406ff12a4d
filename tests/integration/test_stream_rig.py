"""Streams through a whole rig in lockstep: as good as a table, stopped as any motion, recorded with what was asked."""

import math
import threading
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import rig
from kinematics import table_motion_kernel
from rig.client import RigClient, feeding
from rig.client.arguments import motion_of
from rig.client.motions import prepare_motion
from rig.config import load_config
from rig.engine import FollowStream
from rig.errors import ConfigError, InputError, RefusedError, RunFaultError
from rig.findings import Code
from rig.recording import RecordingFile
from rig.states import MotionOutcome, State, StopSeverity
from rig.streaming import END, SampleRing, new_samples

CONFIG = load_config("virtual")
HOME = CONFIG.machine.geometry.home_pose


def opened(**stream: object) -> RigClient:
    robot = rig.open(CONFIG.changed({"stream": stream}), lockstep=True, record=False)
    robot.home()
    robot.engage()
    return robot


@pytest.fixture
def robot() -> Iterator[RigClient]:
    with opened(frame="home", fade_in=0.1) as made:
        yield made


def heave(t: float) -> list[float]:
    return [0.0, 0.0, 0.01 * (1.0 - math.cos(4.0 * math.pi * t)), 1.0, 0.0, 0.0, 0.0]


def test_a_streamed_motion_is_tracked_as_the_same_one_from_a_table():
    term = {"dof": "x", "amplitude": "10 mm", "frequency": 2.0}
    swaying = {"parts": [{"type": "harmonic", "duration": 2.0, "fade": 0.5, "terms": [term]}]}
    table = prepare_motion(CONFIG, motion_of(CONFIG, swaying)[1], 1.0)
    motion = np.zeros(19)

    def streamed(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        table_motion_kernel(table.samples, table.step, min(t, table.duration), 1.0, 0.0, motion)
        return motion[:7].copy(), motion[7:13].copy(), motion[13:].copy()

    with opened(fade_in=0.1) as robot:
        robot.run(swaying)
        of_table = robot.status.last_motion
        assert of_table is not None
        robot.follow(streamed, rate=200.0, duration=table.duration)
        report = robot.status.stream
        assert report is not None and report.late == report.lost == 0
        rows = robot.telemetry().rows
    tabled, followed = rows[rows["motion"] == of_table.id], rows[rows["motion"] == of_table.id + 1]
    begun, of_table_begun = (np.argmax(np.abs(one["reference"][:, 13]) > 1e-9) for one in (followed, tabled))
    count = len(tabled) - of_table_begun - 10  # of what both have: that of the stream is a part of a cycle late
    motions = [tabled[of_table_begun:][:count], followed[begun:][:count]]
    assert np.abs(motions[1]["reference"] - motions[0]["reference"])[:, :3].max() < 1e-6
    errors = [one["length_reference"] - one["length"] for one in motions]
    assert np.sqrt(np.mean(errors[1] ** 2)) < 1.05 * np.sqrt(np.mean(errors[0] ** 2))
    assert np.abs(errors[1]).max() < 1.05 * np.abs(errors[0]).max()


def test_what_a_stream_asked_its_delay_and_its_counts_are_recorded(robot: RigClient):
    robot.follow(heave, rate=100.0, duration=1.0)
    rows = robot.telemetry().rows
    streamed = rows[np.isfinite(rows["stream_delay"]) & (rows["stream_counts"][:, 0] > 0)]
    assert np.abs(streamed["stream_delay"] - 0.05).max() < 1e-9
    asked = streamed[np.isfinite(streamed["stream_asked"][:, 0]) & (streamed["state"] == State.RUNNING)]
    moving = np.abs(asked["reference"][:, 9]) > 1e-3
    assert moving.sum() > 300
    assert np.abs(asked["stream_asked"] - asked["reference"][:, :7])[moving].max() < 1e-12
    assert (np.diff(streamed["stream_counts"][:, 0].astype(int)) >= 0).all()
    motion = robot.status.last_motion
    assert motion is not None and motion.outcome is MotionOutcome.FINISHED and motion.name == "stream"
    robot.park()
    assert np.isnan(robot.telemetry(0.1).rows["stream_delay"]).all()


def test_a_jump_stops_the_platform_and_it_can_be_resumed(robot: RigClient):
    def jumping(t: float) -> list[float]:
        pose = heave(t)
        pose[0] += 0.05 if t > 0.5 else 0.0
        return pose

    with pytest.raises(RunFaultError, match="asks for a motion beyond the limits: reference of leg"):
        robot.follow(jumping, duration=2.0)
    robot.wait(0.8)
    status = robot.status
    assert status.state is State.ENGAGED and status.paused and status.paused_for is not None
    robot.abandon()
    robot.park()


def test_stops_in_a_stream_bring_the_platform_to_rest_in_time(robot: RigClient):
    engine = robot.rig.engine  # type: ignore[attr-defined]
    for category, state in ((2, State.ENGAGED), (1, State.PARKED), (0, State.PARKED)):
        stop_at = [0.3 + 0.1 * category]

        def stopping(t: float, category: int = category, stop_at: list[float] = stop_at) -> list[float]:
            if stop_at and t > stop_at[0]:
                stop_at.clear()
                engine.stop(category)
            return heave(t)

        if robot.state is State.PARKED:
            robot.settle()
            robot.engage()
        with pytest.raises(RunFaultError):
            robot.follow(stopping, duration=5.0)
        robot.wait(1.2)
        assert robot.state is state, category
        assert engine.machine.cause is None or not engine.machine.latched
        if robot.status.resumable:
            robot.abandon()
    rows = robot.telemetry().rows
    assert rows["stop"].max() >= StopSeverity.CATEGORY_1
    for leg, limit in enumerate(one.limits for one in CONFIG.machine.legs):
        assert limit is not None and limit.acceleration is not None
        speeds = np.diff(rows["velocity_reference"][:, leg]) * CONFIG.rate
        assert np.abs(speeds[np.diff(rows["motion"]) == 0]).max() < limit.acceleration


def test_an_error_in_the_function_reaches_the_script_and_the_stream_is_lost(robot: RigClient):
    def broken(t: float) -> list[float]:
        if t > 0.2:
            raise ZeroDivisionError("of the script's own")
        return heave(t)

    with pytest.raises(ZeroDivisionError):
        robot.follow(broken)
    with pytest.raises(InputError, match="pose of the stream at 0 s: shape"):
        robot.follow(lambda _t: [1.0, 2.0])
    with pytest.raises(InputError, match="must be above 0 and at most 2000"):
        robot.follow(heave, rate=0.0)
    with pytest.raises(InputError, match="duration: inf s, must be finite"):
        robot.follow(heave, duration=math.inf)


@pytest.mark.parametrize(
    ("first", "text"),
    [
        ([0.0, 0.0, math.nan, 1.0, 0.0, 0.0, 0.0], "a number that is not finite"),
        ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "the quaternion of its first pose has the norm 0, must be 1"),
        ("up", "'up' is not made of numbers"),
    ],
)
def test_a_first_value_that_no_platform_can_go_to_is_refused(robot: RigClient, first: object, text: str):
    """It would be waited for without end."""
    with pytest.raises(InputError, match=text):
        robot.follow(lambda _t: first)  # type: ignore[arg-type]


def test_a_rate_that_the_delay_does_not_cover_is_refused_with_the_delay_that_does(robot: RigClient):
    with pytest.raises(InputError, match=r"40 Hz needs a stream\.delay of at least 59\.\d ms, it is 50 ms"):
        robot.follow(heave, rate=40.0)
    with pytest.raises(InputError, match="must be at least 10 Hz: a longer gap"):
        robot.follow(heave, rate=9.0)
    robot.follow(heave, rate=50.0, duration=0.5)


def test_a_ring_of_this_process_alone_is_refused(robot: RigClient):
    with pytest.raises(InputError, match="a ring of this process alone cannot be followed"):
        robot.follow(SampleRing.local())


def test_a_function_that_does_not_return_holds_no_script_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(feeding, "_LEAVING", 0.05)
    reached, over = threading.Event(), threading.Event()

    def hanging(_now: float) -> None:
        reached.set()
        over.wait()

    with feeding.fed_by_a_thread(hanging, 0.01):
        assert reached.wait(10.0)
    assert not over.is_set()
    over.set()


def test_memory_that_somebody_else_writes_to_does_not_end_the_engine(robot: RigClient):
    with SampleRing.create(8) as ring:
        sample = new_samples(1)
        sample["time"] = robot.status.t
        ring.push(sample)
        robot.rig.request(FollowStream("vehicle", ring.name))
        for junk in (2**64 - 1, 5, 2**63, 7):
            ring._header[3] = junk
            robot.wait(0.02)
        assert robot.state is State.RUNNING
        robot.stop()
        assert robot.state is State.PARKED


def test_an_iterable_is_a_stream_too(robot: RigClient):
    robot.follow((heave(n / 100.0) for n in range(101)), rate=100.0)
    heights = robot.telemetry().rows["reference"][:, 2] - HOME[2]
    assert heights.max() == pytest.approx(0.02, abs=1e-5) and heights[-1] == pytest.approx(0.0, abs=1e-4)


def test_a_ring_that_is_not_there_is_refused_by_name(robot: RigClient):
    with pytest.raises(RefusedError, match="the stream 'vehicle' cannot be read: no such shared memory"):
        robot.rig.request(FollowStream("vehicle", "stewart-rig-no-such-ring"))
    with pytest.raises(RefusedError, match="the stream 'vehicle' cannot be read: shared memory 'a/b'"):
        robot.rig.request(FollowStream("vehicle", "a/b"))


# -- a vehicle's motion ------------------------------------------------------------------------------------------------


def accelerating(t: float) -> list[float]:
    return [1.5 * min(1.0, t / 0.2), 0.0, 9.80665, 0.0, 0.0, 0.0]


def test_a_vehicles_motion_is_cued_and_a_changed_tuning_is_used_and_recorded(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = (files("kinematics.cueing") / "tunings" / "lab-hexapod.toml").read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")

    def vehicle(t: float) -> list[float]:
        if t == 1.0:
            file.write_text(text.replace("force_scale = [0.5,", "force_scale = [0.75,"), encoding="utf-8")
        if t == 2.0:
            file.write_text(text.replace("head = [0.0,", "head = [0.5,"), encoding="utf-8")
        return accelerating(t)

    with rig.open(CONFIG.changed({"stream": {"fade_in": 0.1}}), lockstep=True, output=tmp_path) as robot:
        robot.home()
        robot.engage()
        robot.follow(vehicle, rate=100.0, duration=3.0, cue=file)
        rows = robot.telemetry().rows
        recording = robot.recording
        robot.park()
    followed = rows[np.isfinite(rows["stream_delay"])]
    assert 0.03 < followed["reference"][:, 0].max() < 0.15  # forward by some centimetres, and
    assert followed["reference"][-200:, 5].max() < -0.03  # the nose up, as gravity gives what is sustained
    assert followed["stream_counts"][-1][1:].tolist() == [0, 0, 0]
    texts = [event.text for event in RecordingFile(recording).events if "tuning of the washout" in event.text]
    assert "begins with; name lab-hexapod; algorithm classical" in texts[0]
    assert "input.force_scale [0.5, 0.5, 0.5] → [0.75, 0.5, 0.5]" in texts[-2]
    assert "refused, the one before stays" in texts[-1] and "head" in texts[-1]


def test_a_washout_gives_poses_in_the_base_frame(robot: RigClient) -> None:
    with pytest.raises(InputError, match=r"stream\.frame.*'home'"):
        robot.follow(accelerating, cue="lab-hexapod")
    with pytest.raises(ConfigError, match="base frame"):
        CONFIG.changed({"stream": {"frame": "home", "cue": {"tuning": "lab-hexapod"}}})


def test_a_ring_of_a_vehicles_samples_is_cued() -> None:
    """What another process writes: here it is the rig's own time that writes it."""
    with opened(fade_in=0.1, cue={"tuning": "lab-hexapod"}) as robot, SampleRing.create() as ring:
        count = 0

        def write(now: float) -> None:
            nonlocal count
            sample = new_samples(1)
            sample["time"], sample["sequence"] = now, count
            sample["acceleration"][0, :3] = 1.0, 0.0, 9.80665
            sample["given"] = END if count == 1500 else 0
            count += 1
            ring.push(sample)

        with robot.rig.feeding(write, CONFIG.period):
            robot.follow(ring)
        rows = robot.telemetry().rows
    followed = rows[np.isfinite(rows["stream_delay"])]
    assert 0.02 < followed["reference"][:, 0].max() < 0.15
    assert followed["stream_counts"][-1][1:].tolist() == [0, 0, 0]


def test_a_vehicle_that_falls_silent_is_washed_out_and_then_the_stream_is_lost() -> None:
    cue = {"tuning": "lab-hexapod", "hold": 0.05, "decay": 0.1, "rest_after": 0.6}
    with opened(fade_in=0.1, stop_after=0.4, cue=cue) as robot, SampleRing.create() as ring:
        sent = 0.0

        def write(now: float) -> None:
            nonlocal sent
            place = robot.rig.status().stream
            if place is None or robot.rig.status().path_time < 1.5:
                sample, sent = new_samples(1), now
                sample["time"], sample["acceleration"][0, :3] = now, (1.0, 0.0, 9.80665)
                ring.push(sample)

        with (
            robot.rig.feeding(write, CONFIG.period),
            pytest.raises(RunFaultError, match="'stream' has not come back for"),  # though the platform rests already
        ):
            robot.follow(ring)
        assert robot.status.paused_for is not None and robot.status.paused_for.code is Code.STREAM_LOST
        robot.wait(0.2)
        told = [event.text for event in robot.status.events]
        state, rows = robot.state, robot.telemetry().rows
    silence = rows["t"] - sent - 0.05  # as late as the stream
    moving = np.abs(rows["reference"][:, 7:13]).max(axis=1)
    assert moving[(silence > 0.2) & (silence < 0.5)].min() > 1e-3  # a stream of poses has faded out by then
    assert moving[silence > 1.2].max() < 1e-9 and state is State.ENGAGED
    assert any("has not come back" in text for text in told)


@pytest.mark.parametrize(
    ("value", "says"),
    [([0.0, 0.0, 9.8], "six numbers"), ([0.0, 0.0, math.nan, 0.0, 0.0, 0.0], "finite"), (None, "first sample")],
)
def test_a_vehicles_sample_that_is_none_is_refused_by_name(value: object, says: str) -> None:
    with opened() as robot, pytest.raises(InputError, match=says):
        robot.follow(lambda _t: value, cue="lab-hexapod")  # type: ignore[arg-type]


def test_a_delay_that_leaves_no_time_for_the_washout_is_refused_with_the_least() -> None:
    with opened(delay=0.02) as robot, pytest.raises(InputError, match=r"stream\.delay: 0\.02 s, must be at least"):
        robot.follow(accelerating, cue="lab-hexapod")
    with (
        opened() as robot,
        pytest.raises(InputError, match=r"rate: 20 Hz of a vehicle needs a stream\.delay of at least"),
    ):
        robot.follow(accelerating, rate=20.0, cue="lab-hexapod")
