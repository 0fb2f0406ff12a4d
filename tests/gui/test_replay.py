"""Recordings without their view: played back, thinned, measured."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from live_rows import RATE, live_rows, write_recording

from gui.models.decimation import Outline
from gui.models.recordings import open_with_numbers
from gui.models.timeline import Replay
from rig.recording import RecordingError, size_of_rows
from rig.states import State
from rig.telemetry import ROW


def test_replay_moves_with_its_clock() -> None:
    replay = Replay(live_rows(1000))
    assert (replay.begin, replay.end, replay.position) == (0.0, 1.998, 0.0)
    replay.advance(5.0)
    assert replay.position == 0.0
    replay.speed = 2.0
    replay.play()
    replay.advance(5.0)
    replay.advance(5.25)
    assert replay.position == 0.5 and len(replay.excerpt) == 251
    replay.pause()
    replay.advance(9.0)
    assert replay.position == 0.5
    replay.play()
    replay.advance(20.0)
    replay.advance(30.0)
    assert replay.position == replay.end and not replay.playing
    replay.play()
    assert replay.position == 0.0
    with pytest.raises(ValueError, match="speed of replay: 0"):
        replay.speed = 0.0


def test_replay_of_nothing() -> None:
    replay = Replay(np.empty(0, ROW))
    replay.play()
    replay.advance(1.0)
    replay.advance(2.0)
    assert len(replay.excerpt) == 0 and not replay.playing


def test_size_of_what_is_cut_or_no_recording(tmp_path: Path) -> None:
    recording = write_recording(tmp_path / "first.mcap", live_rows(2000))
    whole = recording.read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    assert 0 < size_of_rows(tmp_path / "cut") <= size_of_rows(recording)
    (tmp_path / "other").write_bytes(b"not at all a recording, of no known length")
    assert size_of_rows(tmp_path / "other") == 0
    with pytest.raises(RecordingError, match="No such file"):
        size_of_rows(tmp_path / "nothing")


def test_outlines_hold_every_peak() -> None:
    generator = np.random.default_rng(7)
    times = np.arange(300_007) / RATE
    values = generator.normal(size=(len(times), 2))
    values[123_456, 1] = 50.0
    values[200_000, 0] = np.nan
    outline = Outline(times, values)
    assert outline.span == (0.0, times[-1])
    for t0, t1 in ((0.0, times[-1]), (200.0, 300.0), (246.9, 246.95), (-5.0, 1e9)):
        t, thinned = outline.between(t0, t1, 500)
        inside = (times >= t0) & (times <= t1)
        assert 0 < len(t) <= 2 * 502 and (np.diff(t) >= 0).all()
        assert np.nanmax(thinned[:, 1]) == np.nanmax(values[inside, 1]) == 50.0
        assert t[0] >= t0 and t[-1] <= t1
    t, thinned = outline.between(246.9, 246.95, 500)  # few rows: themselves
    np.testing.assert_array_equal(thinned, values[(times >= 246.9) & (times <= 246.95)])
    nothing = Outline(np.empty(0), np.empty((0, 6)))
    assert nothing.span == (0.0, 0.0) and len(nothing.between(0.0, 1.0, 10)[0]) == 0


def test_two_recordings_are_compared_from_where_their_motion_begins(tmp_path: Path) -> None:
    def begin(name: str, rows: npt.NDArray[np.void]) -> float:
        return open_with_numbers(write_recording(tmp_path / name, rows)).begin

    rows = np.zeros(3000, ROW)
    rows["t"] = 7.0 + np.arange(3000) / 500.0
    assert begin("resting.mcap", rows) == 7.0
    for first, last, path in (
        (100, 150, 0.0),
        (400, 1000, 0.0),
        (1200, 1500, 1.2),
        (1600, 1650, 0.0),
        (1700, 2600, 0.0),
    ):
        rows["state"][first:last] = State.RUNNING
        rows["path_time"][first:last] = path + np.arange(last - first) / 500.0
    # the way to the start, the motion with a pause in it, the way back, the motion again
    assert begin("moving.mcap", rows) == rows["t"][400]
