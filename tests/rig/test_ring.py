"""The telemetry ring: rows come back bit for bit or are counted as lost, whoever else lives or dies."""

import multiprocessing
import time

import numpy as np
import pytest
from synthetic_rows import make_rows, packed
from waiting import PATIENCE

from rig.runtime.ring import RingError, TelemetryRing
from rig.runtime.shared_memory import SharedBlock, SharedMemoryError
from rig.telemetry import ROW

ROWS = make_rows(duration=0.1, rate=1000.0)


def push_numbered(name: str, count: int) -> None:
    """Push rows whose every byte says which row it is."""
    ring = TelemetryRing.attach(name)
    row = np.zeros(1, ROW)
    raw = row.view(np.uint64)
    for number in range(count):
        raw[:] = number
        ring.push(row)
    ring.close()


def test_rows_come_back_bit_for_bit() -> None:
    with TelemetryRing.create(16) as ring:
        reader = ring.reader()
        for row in ROWS[:10]:
            ring.push(row)
        rows, dropped = reader.read_new()
        assert rows.dtype == ROW
        assert packed(rows) == packed(ROWS[:10])
        assert (dropped, reader.dropped, reader.cursor) == (0, 0, 10)
        rows, dropped = reader.read_new()
        assert (len(rows), dropped) == (0, 0)


def test_a_scalar_and_an_array_of_one_are_the_same_row() -> None:
    with TelemetryRing.create(4) as ring:
        reader = ring.reader()
        ring.push(ROWS[3])
        ring.push(ROWS[3:4])
        rows, _ = reader.read_new()
        assert packed(rows[:1]) == packed(rows[1:]) == packed(ROWS[3:4])


@pytest.mark.parametrize("batch", [1, 3, 7, 8])
def test_order_is_kept_across_the_wrap(batch: int) -> None:
    with TelemetryRing.create(8) as ring:
        reader = ring.reader()
        got = []
        for start in range(0, 56, batch):
            for row in ROWS[start : start + batch]:
                ring.push(row)
            rows, dropped = reader.read_new()
            assert dropped == 0
            got += rows["cycle"].tolist()
        assert got == list(range(len(got)))


def test_a_slow_reader_learns_how_many_rows_it_lost() -> None:
    with TelemetryRing.create(8) as ring:
        slow, fast = ring.reader(), ring.reader()
        seen = 0
        for row in ROWS[:21]:
            ring.push(row)
            seen += len(fast.read_new()[0])
        rows, dropped = slow.read_new()
        assert rows["cycle"].tolist() == list(range(13, 21))
        assert dropped == slow.dropped == 13
        assert (seen, fast.dropped) == (21, 0)


def test_a_reader_may_begin_with_earlier_rows() -> None:
    with TelemetryRing.create(8) as ring:
        for row in ROWS[:5]:
            ring.push(row)
        assert ring.pushed == 5
        assert ring.reader(3).read_new()[0]["cycle"].tolist() == [3, 4]
        for start in (-1, 6):
            with pytest.raises(RingError, match=f"row {start}, 0 to 5"):
                ring.reader(start)


def test_a_slot_being_written_is_not_read() -> None:
    with TelemetryRing.create(8) as ring:
        reader = ring.reader()
        for row in ROWS[:8]:
            ring.push(row)
        ring._sequence[0] = 2 * 8 + 1  # the writer is in the middle of row 8
        rows, dropped = reader.read_new()
        assert rows["cycle"].tolist() == list(range(1, 8))
        assert dropped == 1


def test_no_row_is_torn_under_a_racing_writer() -> None:
    count = 60_000
    with TelemetryRing.create(8) as ring:
        reader = ring.reader()
        context = multiprocessing.get_context("spawn")
        writer = context.Process(target=push_numbered, args=(ring.name, count))
        writer.start()
        total = 0
        last = -1
        deadline = time.monotonic() + PATIENCE
        while reader.cursor < count:
            assert time.monotonic() < deadline
            rows, dropped = reader.read_new()
            words = rows.view(np.uint64).reshape(-1, ROW.itemsize // 8)
            assert (words == words[:, :1]).all()
            numbers = words[:, 0].astype(np.int64)
            assert (np.diff(numbers, prepend=last) > 0).all()
            last = int(numbers[-1]) if len(numbers) else last
            total += len(rows) + dropped
            assert writer.is_alive() or writer.exitcode == 0
        writer.join()
        assert total == count
        assert writer.exitcode == 0


@pytest.mark.parametrize("capacity", [0, 1, 3, 100])
def test_capacity_is_a_power_of_two(capacity: int) -> None:
    with pytest.raises(RingError, match=f"{capacity} rows is not a power of two"):
        TelemetryRing.create(capacity)


def test_the_owner_removes_it_and_who_is_attached_keeps_it() -> None:
    with TelemetryRing.create(4) as ring:
        other = TelemetryRing.attach(ring.name)
    other.push(ROWS[0])
    assert other.pushed == 1
    other.close()
    with pytest.raises(SharedMemoryError, match="no such shared memory"):
        TelemetryRing.attach(ring.name)


@pytest.mark.parametrize(("size", "fault"), [(8, "8 bytes, must be at least 64"), (4096, "not a telemetry ring")])
def test_other_shared_memory_is_refused(size: int, fault: str) -> None:
    block = SharedBlock.create(size)
    try:
        with pytest.raises(SharedMemoryError, match=fault):
            TelemetryRing.attach(block.name)
    finally:
        block.close()


def test_only_a_row_is_pushed() -> None:
    with TelemetryRing.create(4) as ring:
        with pytest.raises(ValueError, match="not one telemetry row"):
            ring.push(ROWS[:2])
        assert ring.pushed == 0
