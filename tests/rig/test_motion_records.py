"""Beginning and end of every motion: told by the engine, recorded, and read by the report; also of older recordings."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from engine_support import HOME, Bench, bench, smooth_table

from rig.client import checked_move
from rig.engine import Abandon, Park, Pause, Resume, Stop
from rig.engine.snapshot import SNAPSHOT
from rig.findings import Code, Finding
from rig.recording import MotionRecord, RecordingWriter, open_recording, recover
from rig.recording.motion_record import decode_motion, encode_motion
from rig.report import summarize
from rig.states import FaultCode, MotionKind, MotionOutcome, State

OLDER = Path(__file__).parent / "data" / "before_motion_records.mcap"
"""A recording in which a jog, a way to a start, a run, and an abandoned run are told by rows and sentences alone."""
BEGUN = MotionRecord(7, MotionKind.JOG, MotionOutcome.UNDERWAY, 1.5, math.nan, 0.0, 2.0, "jog z")
ENDED = replace(BEGUN, outcome=MotionOutcome.STOPPED, end=2.25, reached=0.75)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Bench]:
    with bench(tmp_path) as made:
        made.engage()
        made.tap.motions.clear()
        made.tap.rows.clear()
        yield made


def _kept(rig: Bench) -> tuple[MotionRecord, MotionRecord]:
    """Records of the beginning and the end of the one motion there was."""
    begun, ended = rig.tap.motions
    assert begun.outcome is MotionOutcome.UNDERWAY and math.isnan(begun.end) and begun.reached == 0.0
    same = replace(ended, outcome=begun.outcome, end=1e9, reached=0.0, cause_code=0, cause="", finding=None)
    assert same == replace(begun, end=1e9)
    if rig.status().latched:
        assert ended.cause_text == rig.status().cause_text
    return begun, ended


def _followed(rig: Bench) -> MotionRecord:
    """The end of the one motion, whose cycles are those of its id."""
    begun, ended = _kept(rig)
    rows = rig.tap.take()
    here = rows[rows["motion"] == begun.id]
    assert here["t"][0] == begun.start and here["t"][-1] < ended.end <= rows["t"][-1]
    assert not rows["motion"][rows["t"] >= ended.end].any() and not rows["motion"][rows["t"] < begun.start].any()
    assert rig.status().last_motion == ended
    return ended


# -- what the engine tells -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [MotionKind.RUN, MotionKind.LEG_STEP])
def test_a_motion_that_comes_to_its_end(rig: Bench, kind: MotionKind) -> None:
    rig.follow(smooth_table(1.0), "up", kind)
    assert [motion.outcome for motion in rig.tap.motions] == [MotionOutcome.UNDERWAY]
    assert rig.status().last_motion is rig.engine.motions.latest
    rig.until(State.ENGAGED)
    ended = _followed(rig)
    assert (ended.name, ended.kind, ended.outcome) == ("up", kind, MotionOutcome.FINISHED)
    assert ended.reached == ended.duration == pytest.approx(1.0)
    assert ended.end - ended.start == pytest.approx(1.0, abs=0.01)


def test_a_pause_does_not_end_a_motion(rig: Bench) -> None:
    rig.follow(smooth_table(1.0))
    rig.run(0.3)
    rig.request(Pause())
    rig.until(State.ENGAGED)
    rig.run(0.5)
    assert len(rig.tap.motions) == 1 and rig.tap.rows[-1]["motion"][0] == rig.tap.motions[0].id
    rig.request(Resume())
    rig.until(State.ENGAGED)
    assert _followed(rig).outcome is MotionOutcome.FINISHED


def test_a_motion_that_is_held_and_goes_on_is_one(rig: Bench) -> None:
    rig.follow(smooth_table(1.0))
    rig.run(0.3)
    rig.request(Stop(2))
    rig.until(State.ENGAGED)
    rig.request(Resume())
    rig.until(State.ENGAGED)
    assert _followed(rig).outcome is MotionOutcome.FINISHED


@pytest.mark.parametrize("category", [0, 1])
@pytest.mark.parametrize("paused", [False, True])
def test_a_stop_ends_a_motion(rig: Bench, category: int, paused: bool) -> None:
    rig.follow(smooth_table(2.0))
    rig.run(0.5)
    if paused:
        rig.request(Pause())
        rig.until(State.ENGAGED)
    rig.request(Stop(category))  # type: ignore[arg-type]
    rig.until(State.PARKED)
    rows = np.concatenate(rig.tap.rows)
    ended = _followed(rig)
    if category == 1 and not paused:
        assert ended.end == rows["t"][rows["state"] == State.STOPPING][0]
    assert ended.outcome is (MotionOutcome.ABANDONED if paused else MotionOutcome.STOPPED)
    assert 0.45 < ended.reached < 1.0


def test_a_hold_that_becomes_a_harder_stop_ends_it_too(rig: Bench) -> None:
    rig.follow(smooth_table(2.0))
    rig.run(0.5)
    rig.request(Stop(2))
    rig.request(Stop(0))
    rig.until(State.PARKED)
    assert _followed(rig).outcome is MotionOutcome.STOPPED


@pytest.mark.parametrize("fault", ["encoder_jump", "cell_nan"])
def test_a_fault_ends_a_motion(rig: Bench, fault: str) -> None:
    rig.follow(smooth_table(2.0))
    rig.run(0.5)
    rig.virtual.faults.inject(fault, 2, 0.004 if fault == "encoder_jump" else None)
    rig.until(State.STOPPING, State.FAULT)
    rig.run(0.1)
    assert _followed(rig).outcome is MotionOutcome.FAULT


def test_a_paused_motion_that_is_given_up(rig: Bench) -> None:
    rig.follow(smooth_table(2.0))
    rig.run(0.5)
    rig.request(Pause())
    rig.until(State.ENGAGED)
    reached = rig.status().path_time
    rig.request(Abandon())
    rig.run(0.1)
    _begun, ended = _kept(rig)
    assert ended.outcome is MotionOutcome.ABANDONED and ended.reached == reached > 0.5


def test_parking_is_a_motion_and_ends_one_that_is_paused(rig: Bench) -> None:
    rig.follow(smooth_table(2.0, 0.02), "up")
    rig.run(0.8)
    rig.request(Pause())
    rig.until(State.ENGAGED)
    rig.request(Park())
    rig.until(State.PARKED)
    told = [(motion.id, motion.name, motion.kind, motion.outcome) for motion in rig.tap.motions]
    assert told == [
        (2, "up", MotionKind.RUN, MotionOutcome.UNDERWAY),
        (2, "up", MotionKind.RUN, MotionOutcome.ABANDONED),
        (3, "park", MotionKind.PARK, MotionOutcome.UNDERWAY),
        (3, "park", MotionKind.PARK, MotionOutcome.FINISHED),
    ]
    rows = rig.tap.take()
    assert (rows["motion"][rows["state"] == State.PARKING] == 3).all()


def test_a_motion_goes_over_the_link_with_the_snapshot(rig: Bench) -> None:
    rig.follow(smooth_table(1.0), "up")
    rig.until(State.ENGAGED)
    now = rig.status()
    assert SNAPSHOT.validate_json(SNAPSHOT.dump_json(now)) == now and now.last_motion is not None
    rig.follow(smooth_table(1.0), "up")
    heard = SNAPSHOT.validate_json(SNAPSHOT.dump_json(rig.status()))
    assert heard.last_motion is not None and math.isnan(heard.last_motion.end)


# -- recordings ------------------------------------------------------------------------------------------------------


def test_records_of_motions_are_what_was_recorded(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    other = replace(BEGUN, id=8, name="läuft\0noch")
    with RecordingWriter(path, {}) as writer:
        for motion in (BEGUN, ENDED, other):
            writer.motion(motion)
    recording = open_recording(path)
    assert recording.complete and not recording.doubts and recording.closing == {}
    ended, under_way = recording.motions
    assert ended == ENDED and ended.kind is MotionKind.JOG
    assert under_way.name == "läuftnoch" and math.isnan(under_way.end)


def test_a_cut_recording_keeps_its_motions_when_it_is_put_together(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    writer = RecordingWriter(path, {})
    writer.motion(ENDED)
    writer.event(2.3, 40, 0, "an error ends the chunk")
    writer.sync()
    writer.abandon()
    assert open_recording(path).motions == (ENDED,) and not open_recording(path).complete
    assert recover(path).motions == (ENDED,)
    assert open_recording(path).complete


@pytest.mark.parametrize(
    "changes",
    [
        {"id": 0}, {"kind": 256}, {"start": math.nan}, {"end": 1.0}, {"end": math.inf}, {"reached": -1.0},
        {"reached": math.inf}, {"duration": math.nan}, {"duration": -1.0}, {"begun_ns": -1},
    ],
)  # fmt: skip
def test_a_motion_that_cannot_be_is_refused(changes: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="motion: "):
        replace(ENDED, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [b"", encode_motion(ENDED)[:-1], encode_motion(ENDED) + b"x", b"\0" * 60])
def test_damaged_bytes_are_no_motion(data: bytes) -> None:
    with pytest.raises(Exception, match=r"motion|buffer|unpack"):
        decode_motion(data)


@pytest.mark.parametrize("name", ["jog z", "longer", "the longest"])
def test_records_made_before_causes_wall_clocks_thresholds_and_amplitudes_are_read(name: str) -> None:
    record = replace(ENDED, name=name, amplitude=0.5, thresholds='{"bias":0.1}', begun_ns=1_700_000_000_123_456_789)
    for cause in ("", "leg 3: no reply", "ä" * 5):
        told = replace(record, cause_code=FaultCode.COMMUNICATION_LOST, cause=cause)
        assert decode_motion(encode_motion(told)) == told
        finding = 5 + -(len(cause.encode()) + 1) % 4  # the length of a text, its end, and what comes before it
        assert decode_motion(encode_motion(told)[:-finding]) == told, "made before findings"
        found = replace(told, finding=Finding(Code.NO_FEEDBACK, 3, 0.05, 0.04))
        assert decode_motion(encode_motion(found)) == found
    record = replace(record, cause=None)
    assert decode_motion(encode_motion(record)[:-17]) == record  # no code, no text, no finding

    def without_wall(record: MotionRecord) -> bytes:
        texts = 44 + len(record.name) + 1  # the numbers and the name, each behind what fills it up
        texts += -texts % 8 + 8 + 4 + len(record.thresholds) + 1
        return encode_motion(record)[: 4 + texts]

    record = replace(record, begun_ns=0)
    assert decode_motion(without_wall(record)) == record
    before = without_wall(replace(record, thresholds=""))[:-5]  # the length of a text, and its end
    assert decode_motion(before) == replace(record, thresholds="")
    first = before[:-8].rstrip(b"\0") + b"\0"  # no padding either
    assert decode_motion(first) == replace(record, amplitude=0.0, thresholds="")


def test_kinds_and_outcomes_of_later_versions_are_numbers() -> None:
    assert decode_motion(encode_motion(replace(ENDED, kind=77, outcome=99))) == replace(ENDED, kind=77, outcome=99)


# -- the report ------------------------------------------------------------------------------------------------------


def test_numbers_are_of_each_motion(tmp_path: Path) -> None:
    up = HOME + np.array([0, 0, 4e-3, 0, 0, 0, 0])
    with bench(tmp_path) as rig:
        rig.engine.sink = rig.sink
        rig.engage()
        rig.follow(checked_move(rig.config, HOME, up, 0.02, 0.2), "jog z", MotionKind.JOG)
        rig.until(State.ENGAGED)
        rig.follow(checked_move(rig.config, up, HOME, 0.02, 0.2), "move to the start", MotionKind.APPROACH)
        rig.until(State.ENGAGED)
        rig.run(0.2)
        rig.virtual.faults.inject("cell_offset", 4, 3.0)
        rig.follow(smooth_table(0.8), "up")
        rig.until(State.ENGAGED)
        rig.virtual.faults.clear()
    recording = open_recording(tmp_path / "engine.mcap")
    summary = summarize(recording)
    homing, *along_paths = summary["motions"]
    assert [homing[key] for key in ("kind", "outcome", "reached_s", "rows")] == ["homing", "finished", None, None]
    kinds = [(motion["name"], motion["kind"], motion["outcome"]) for motion in along_paths]
    assert kinds == [
        ("jog z", "jog", "finished"), ("move to the start", "approach", "finished"), ("up", "run", "finished")
    ]  # fmt: skip
    for motion in along_paths:
        rows = recording.rows[recording.rows["motion"] == motion["id"]]
        assert motion["rows"] == len(rows) > 50 and (rows["state"] == State.RUNNING).all()
        residual = np.sqrt(np.mean(rows["force_residual"] ** 2, axis=0))
        assert [leg["rms_residual_n"] for leg in motion["force"]["legs"]] == pytest.approx(residual)
        position = np.linalg.norm(rows["pose"][:, :3] - rows["reference"][:, :3], axis=1)
        assert motion["tracking"]["position_max_m"] == pytest.approx(position.max())
        assert motion["condition"]["max"] == rows["condition"].max()
    jog, _way, run = (motion["force"]["legs"][3]["rms_residual_n"] for motion in along_paths)
    assert jog < 1.0 < 2.8 < run
    assert summary["motion"]["name"] == "up" and summary["window"]["covers"] == "the motion 'up'"
    assert summary["force"] == summary["motions"][-1]["force"]
    assert summary["window"]["rows"] == summary["motions"][-1]["rows"]


def test_a_recording_made_before_opens_and_is_reported_by_rows_and_sentences() -> None:
    recording = open_recording(OLDER)
    assert recording.complete and recording.motions == () and recording.count == 305
    assert not recording.rows["motion"].any()
    summary = summarize(recording)
    told = [(motion["name"], motion["kind"], motion["outcome"]) for motion in summary["motions"]]
    assert told == [
        ("jog z", "jog", "finished"),
        ("move to the start", "jog", "finished"),
        ("up", "run", "finished"),
        ("up again", "run", "abandoned"),
    ]
    assert [motion["rows"] for motion in summary["motions"]] == [9, 5, 49, 40]
    rows = recording.rows[(recording.rows["state"] == State.RUNNING) & (recording.rows["t"] > 4.61)]
    last = summary["motions"][-1]
    residual = np.sqrt(np.mean(rows["force_residual"] ** 2, axis=0))
    assert [leg["rms_residual_n"] for leg in last["force"]["legs"]] == pytest.approx(residual)
    assert summary["motion"]["name"] == "up again" and summary["motion"]["duration_s"] == 1.0
    assert summary["motion"]["reached_s"] == pytest.approx(0.62) and summary["force"] == last["force"]
