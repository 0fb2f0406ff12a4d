"""How motions end that are held, fail, have no end of their own or no path, or whose recording is cut."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from configured import SHIPPED
from engine_support import HOME, Bench, bench, smooth_table

from kinematics import Array
from rig.client import checked_move
from rig.engine import Connect, Home, MoveLeg, Park, Pause, Resume, Stop
from rig.engine.snapshot import SNAPSHOT
from rig.findings import Code, Finding
from rig.recording import MotionRecord, open_recording
from rig.recording.motion_record import decode_motion, encode_motion
from rig.report import summarize, write_report
from rig.safety import Cause, Trip
from rig.states import FaultCode, MotionKind, MotionOutcome, State, StopSeverity

UP = HOME + np.array([0, 0, 4e-3, 0, 0, 0, 0])


@pytest.fixture
def off(tmp_path: Path) -> Iterator[Bench]:
    with bench(tmp_path) as made:
        yield made


@pytest.fixture
def rig(off: Bench) -> Bench:
    return engaged(off)


def engaged(off: Bench) -> Bench:
    off.engage()
    off.tap.motions.clear()
    off.tap.rows.clear()
    return off


class Endless:
    """Holds a pose until it is told not to, or has had enough."""

    name = "stream"
    paused = False
    path_rate = 1.0
    path_duration = math.inf

    def __init__(self, pose: Array, enough: float) -> None:
        self._pose, self._left = pose.copy(), enough
        self.path_time = 0.0
        self.slowing = False

    @property
    def moving(self) -> bool:
        return self._left > 0.0

    def advance(self, duration: float) -> None:
        self.path_time += duration if self.moving else 0.0
        self._left -= duration
        self.slowing = self.slowing and self.moving

    def evaluate(self, ahead: float, motion: Array) -> bool:
        motion[:7], motion[7:] = self._pose, 0.0
        return True

    def decelerate(self, durations: Sequence[float]) -> None:
        self._left, self.slowing = min(self._left, 0.1), True

    def resume(self, durations: Sequence[float]) -> None:
        raise AssertionError("a source that never pauses is not resumed")


def _only(rig: Bench) -> MotionRecord:
    """The end of the one motion there was; the rows with its id are those of its time."""
    begun, ended = rig.tap.motions
    assert begun.outcome is MotionOutcome.UNDERWAY and (begun.id, begun.kind) == (ended.id, ended.kind)
    rows = np.concatenate(rig.tap.rows)
    here = rows["t"][rows["motion"] == begun.id]
    assert here[0] == begun.start == ended.start and here[-1] < ended.end <= rows["t"][-1]
    assert rig.status().last_motion == ended
    return ended


def _stream(rig: Bench, enough: float) -> None:
    """Follow what has no end, for 0.4 s."""
    rig.engine.follow(Endless(rig.engine.cycle_data.reference.now[:7], enough))
    rig.run(0.4)


# -- motions without a path ------------------------------------------------------------------------------------------


def test_homing_is_a_motion_without_a_path(off: Bench) -> None:
    off.park()
    homing = _only(off)
    assert (homing.kind, homing.outcome, homing.name) == (MotionKind.HOMING, MotionOutcome.FINISHED, "home")
    assert homing.duration == homing.reached == 0.0 and off.status().motion == ""
    rows = np.concatenate(off.tap.rows)
    assert ((rows["motion"] == homing.id) == (rows["state"] == State.HOMING)).all()


@pytest.mark.parametrize("category", [0, 1])
def test_homing_that_is_stopped_or_fails_is_no_homing(off: Bench, category: int) -> None:
    off.request(Connect())
    off.request(Home())
    off.run(0.3)
    off.request(Stop(category))  # type: ignore[arg-type]
    off.until(State.IDLE)
    assert _only(off).outcome is MotionOutcome.STOPPED
    off.tap.motions.clear()
    off.request(Home())
    off.run(0.3)
    off.virtual.faults.inject("encoder_nan", 2)
    off.until(State.FAULT)
    assert [one.outcome for one in off.tap.motions] == [MotionOutcome.UNDERWAY, MotionOutcome.FAULT]


def test_the_test_of_a_leg_is_a_motion_without_a_path(off: Bench) -> None:
    off.request(Connect())
    off.request(MoveLeg(3, 2e-3, 5e-3, home=True))
    off.until(State.IDLE, timeout=60.0)
    off.run(0.1)
    test = _only(off)
    assert (test.kind, test.outcome, test.name) == (MotionKind.LEG_TEST, MotionOutcome.FINISHED, "test of leg 3")
    off.tap.motions.clear()
    off.tap.rows.clear()
    off.request(MoveLeg(3, 2e-3, 5e-3))
    off.run(0.1)  # at rest, without torque: there is nothing to be stopped
    off.request(Stop(0))
    off.until(State.IDLE)
    assert _only(off).outcome is MotionOutcome.STOPPED
    off.tap.motions.clear()
    off.request(MoveLeg(3, 2e-3, 5e-3))
    off.run(1.0)
    off.virtual.faults.inject("encoder_nan", 3)
    off.until(State.FAULT)
    assert off.tap.motions[-1].outcome is MotionOutcome.FAULT


# -- ends that are none ----------------------------------------------------------------------------------------------


def test_a_motion_whose_reference_fails_got_to_where_that_was(tmp_path: Path) -> None:
    """Not to where the way to rest got."""
    with bench(tmp_path, SHIPPED) as rig:
        failing(engaged(rig))


def failing(rig: Bench) -> None:
    rig.follow(smooth_table(3.0))
    rig.run(0.8)
    rig.engine.reference.source._table.samples[600:, 2] += 0.02  # type: ignore[attr-defined]
    rig.until(State.STOPPING)
    rig.run(0.6)
    ended = _only(rig)
    assert ended.outcome is MotionOutcome.FAULT and ended.reached == pytest.approx(1.2, abs=0.01)
    rows = np.concatenate(rig.tap.rows)
    assert rows["path_time"][-1] == pytest.approx(ended.reached, abs=1e-9)
    assert rig.status().path_time == rows["path_time"][-1] and rig.status().path_duration == pytest.approx(3.0)


@pytest.mark.parametrize(("enough", "outcome"), [(1e9, MotionOutcome.STOPPED), (0.5, MotionOutcome.FINISHED)])
def test_what_has_no_end_is_stopped_or_ends_by_itself(rig: Bench, enough: float, outcome: MotionOutcome) -> None:
    _stream(rig, enough)
    now = rig.status()
    assert SNAPSHOT.validate_json(SNAPSHOT.dump_json(now)).path_duration == math.inf
    if outcome is MotionOutcome.STOPPED:
        rig.request(Pause())
    rig.until(State.ENGAGED)
    begun, ended = rig.tap.motions
    assert ended.outcome is outcome and ended.duration == math.inf
    assert ended.reached == pytest.approx(0.5, abs=0.01)
    assert decode_motion(encode_motion(begun)).duration == math.inf and decode_motion(encode_motion(ended)) == ended


@pytest.mark.parametrize("then", [Resume(), Stop(1)])
def test_a_park_that_was_held_did_not_park(rig: Bench, then: Resume | Stop) -> None:
    far = HOME + np.array([0, 0, 0.06, 0, 0, 0, 0])
    rig.follow(checked_move(rig.config, HOME, far, 0.2, 0.2), "up")
    rig.until(State.ENGAGED)
    rig.tap.motions.clear()
    rig.tap.rows.clear()
    rig.request(Park())
    rig.run(0.1)
    rig.request(Stop(2))
    rig.until(State.ENGAGED)
    assert len(rig.tap.motions) == 1
    rig.request(then)
    rig.until(State.ENGAGED if isinstance(then, Resume) else State.PARKED)
    rig.run(0.1)
    assert _only(rig).outcome is (MotionOutcome.STOPPED if isinstance(then, Resume) else MotionOutcome.ABANDONED)


# -- recordings ------------------------------------------------------------------------------------------------------


def test_a_motion_whose_end_was_never_told_came_as_far_as_its_rows(tmp_path: Path) -> None:
    """The engine leaves in the middle; a cut file looks the same to the report, but for its end."""
    with bench(tmp_path) as rig:
        rig.engine.sink = rig.sink
        rig.engage()
        rig.follow(checked_move(rig.config, HOME, UP, 0.02, 0.2), "jog z", MotionKind.JOG)
        rig.until(State.ENGAGED)
        rig.follow(checked_move(rig.config, UP, HOME, 0.02, 0.2), "back", MotionKind.APPROACH)
        rig.until(State.ENGAGED)
        rig.follow(smooth_table(4.0), "up")
        begin = rig.engine.tick.t
        rig.run(2.0)
    recording = open_recording(tmp_path / "engine.mcap")
    assert recording.motions[-1].outcome is MotionOutcome.UNDERWAY and recording.motions[-1].reached == 0.0
    summary = summarize(recording)
    json.dumps(summary, allow_nan=False)
    assert summary["motion_begin_s"] == pytest.approx(begin, abs=0.01)
    told = summary["motion"]
    assert (told["name"], told["outcome"], told["end_s"], told["duration_s"]) == ("up", "underway", None, 4.0)
    assert told["reached_s"] == recording.rows["path_time"][-1] == pytest.approx(2.0, abs=0.01)


@pytest.mark.usefixtures("undrawn_reports")
def test_a_report_of_homing_and_of_what_has_no_end(tmp_path: Path) -> None:
    with bench(tmp_path) as rig:
        rig.engine.sink = rig.sink
        rig.park()
        (homing,) = [rig.status().last_motion]
        rig.run(0.2)
    recording = open_recording(tmp_path / "engine.mcap")
    assert recording.motions == (homing,)
    summary = summarize(recording)
    assert summary["motion"] is None and summary["motion_begin_s"] is None
    assert [(one["kind"], one["outcome"], one["tracking"]) for one in summary["motions"]] == [
        ("homing", "finished", None)
    ]
    write_report(recording, tmp_path / "report.html", summary=summary)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "No fault, but no trajectory ran" in text and ">homing<" in text


def test_the_fault_of_a_motion_without_end_is_told_with_its_place(rig: Bench) -> None:
    _stream(rig, 1e9)
    rig.virtual.faults.inject("encoder_nan", 2)
    rig.until(State.FAULT)
    ended = rig.tap.motions[-1]
    assert rig.status().cause_code is FaultCode.FEEDBACK_INVALID
    assert ended.outcome is MotionOutcome.FAULT and ended.reached == pytest.approx(0.4, abs=0.01)


def test_what_paused_a_motion_that_is_given_up_is_its_cause_and_none_of_one_that_ends(rig: Bench) -> None:

    def lose() -> None:
        cause = Cause(Finding(Code.NO_COMMAND_LEASE), rig.engine.tick.t)
        rig.engine.trip(Trip(cause, StopSeverity.CATEGORY_2, latch=False))

    rig.follow(smooth_table(2.0))
    rig.run(0.5)
    lose()
    rig.until(State.ENGAGED)
    rig.request(Resume())
    rig.until(State.RUNNING)
    rig.until(State.ENGAGED)
    assert rig.tap.motions[-1].outcome is MotionOutcome.FINISHED and rig.tap.motions[-1].cause_text == ""
    rig.follow(smooth_table(2.0))
    rig.run(0.5)
    lose()
    rig.until(State.ENGAGED)
    rig.request(Park())
    rig.step()
    (given_up,) = [one for one in rig.tap.motions if one.outcome is MotionOutcome.ABANDONED]
    assert given_up.cause_text == "client lost: no client holds the command lease any more"
    rig.until(State.PARKED)
    assert rig.tap.motions[-1].cause_text == ""
