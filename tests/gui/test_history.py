"""The timelines that the views read."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live_rows import RATE, latest, live_rows

from gui.models.timeline import Excerpt, History


@settings(max_examples=60)
@given(st.integers(1, 40), st.lists(st.integers(0, 60), max_size=12))
def test_history_keeps_the_newest_rows_in_order(capacity: int, batches: list[int]) -> None:
    history, given_rows = History(capacity), 0
    for size in batches:
        history.append(live_rows(size, given_rows))
        given_rows += size
        kept = min(capacity, given_rows)
        assert len(history) == kept
        assert history.first == given_rows - kept
        np.testing.assert_array_equal(history.rows["cycle"], np.arange(given_rows - kept, given_rows))
        np.testing.assert_array_equal(history.times, history.rows["t"])


def test_windows_are_views_of_the_times_asked_for() -> None:
    history = History(1000)
    history.append(live_rows(1500))
    newest = latest(history, 0.1)
    assert newest["cycle"].tolist() == list(range(1449, 1500))
    assert np.shares_memory(newest, history.rows)
    assert history.window(1.2, 1.21)["cycle"].tolist() == [600, 601, 602, 603, 604, 605]
    assert len(history.window(5.0, 6.0)) == len(history.window(1.3, 1.2)) == 0
    assert history.end == 1499 / RATE


def test_memory_is_flat() -> None:
    history = History(500)
    history.append(live_rows(500))
    buffers = (history._rows, history._times)
    size = sum(buffer.nbytes for buffer in buffers)
    for batch in range(1, 100):
        history.append(live_rows(50, 500 * batch))
    assert (history._rows, history._times)[0] is buffers[0]
    assert sum(buffer.nbytes for buffer in (history._rows, history._times)) == size
    assert len(history) == 500


def test_memory_is_little_more_than_the_rows_kept() -> None:
    history = History(800)
    assert history._rows.nbytes + history._times.nbytes <= 1.15 * live_rows(800).nbytes


def test_a_time_that_goes_back_begins_anew() -> None:
    history = History(100)
    history.append(live_rows(50, 1000))
    history.append(live_rows(3))
    assert history.rows["cycle"].tolist() == [0, 1, 2]
    history.append(np.concatenate([live_rows(5, 3), live_rows(2)]))
    assert history.rows["cycle"].tolist() == [0, 1]


def test_clear_and_revision() -> None:
    history = History(10)
    before = history.revision
    history.append(live_rows(0))
    assert history.revision == before
    history.append(live_rows(4))
    assert history.revision != before
    history.clear()
    assert len(history) == 0 and history.end is None and history.nearest(0.0) is None
    history.append(live_rows(2, 4))
    assert history.rows["cycle"].tolist() == [4, 5]


def test_nearest_row() -> None:
    history = History(100)
    history.append(live_rows(100))
    for t, cycle in ((-1.0, 0), (0.0, 0), (0.0109, 5), (0.0111, 6), (9.0, 99)):
        assert history.nearest(t) == cycle


def test_capacity_must_be_positive() -> None:
    with pytest.raises(ValueError, match="capacity of 0 rows"):
        History(0)


def test_a_snapshot_outlives_what_it_was_taken_of() -> None:
    history = History(10)
    history.append(live_rows(10))
    snapshot = history.snapshot()
    history.append(live_rows(10, 10))
    assert snapshot.rows["cycle"].tolist() == list(range(10))


def test_rows_keep_their_numbers() -> None:
    history = History(10)
    history.append(live_rows(14))
    segment = history.segment(6 / RATE, 8 / RATE)
    assert (segment.first, len(segment)) == (6, 3) and segment.rows["cycle"].tolist() == [6, 7, 8]
    np.testing.assert_array_equal(segment.times, segment.rows["t"])
    snapshot = history.snapshot()
    assert snapshot.snapshot().cut(2, 3).first == history.cut(2, 3).first == 6
    assert (history.capacity, snapshot.capacity) == (10, 10)
    history.append(live_rows(3))  # another engine: its rows are not those before
    assert history.cut(0, 3).first == 14


def test_an_excerpt_shows_rows_up_to_its_present() -> None:
    excerpt = Excerpt(live_rows(100, 50))
    assert len(excerpt) == 100
    assert excerpt.span == (0.1, 149 / RATE)
    revision = excerpt.revision
    excerpt.seek(0.2)
    assert excerpt.rows["cycle"][-1] == 100 and excerpt.end == 0.2
    assert excerpt.revision != revision
    excerpt.seek(-5.0)
    assert len(excerpt) == 1
    excerpt.seek(99.0)
    assert len(excerpt) == 100
    assert Excerpt(live_rows(0)).span == (0.0, 0.0)
