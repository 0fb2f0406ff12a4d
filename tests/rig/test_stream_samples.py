"""Samples of a stream come out of the ring as they went in, and what is lost is counted."""

import math
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinematics import Array, interpreted
from rig.engine.stream_kernels import STREAM, take_kernel
from rig.runtime import SharedMemoryError
from rig.streaming import END, SAMPLE, VELOCITY, SampleRing, SampleRingError, new_samples


def numbered(first: int, count: int):
    samples = new_samples(count)
    samples["sequence"] = np.arange(first, first + count)
    return samples


def test_a_sample_is_laid_out_as_c_does():
    sample = new_samples(1)
    sample["sequence"], sample["time"], sample["sent"], sample["received"] = 7, 1.5, 2.5, 3.5
    sample["given"], sample["velocity"] = VELOCITY | END, [[1, 2, 3, 4, 5, 6]]
    fields = struct.unpack("@QdddI4x19d", sample.tobytes())
    assert fields == (7, 1.5, 2.5, 3.5, 5, 0, 0, 0, 1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0)


def test_each_sample_is_taken_once_in_order_over_the_end_of_the_ring():
    ring = SampleRing.local(8)
    taken = []
    for first in range(0, 30, 5):
        ring.push(numbered(first, 5))
        taken += ring.take()["sequence"].tolist()
        assert len(ring.take()) == 0
    assert taken == list(range(30))
    assert ring.overwritten == 0
    assert ring.pushed == 30


def test_what_the_writer_overtook_is_counted():
    ring = SampleRing.local(8)
    ring.push(numbered(0, 3))
    ring.push(numbered(3, 20))
    assert ring.take()["sequence"].tolist() == list(range(15, 23))
    assert ring.overwritten == 15


def test_a_sample_that_is_half_written_is_not_taken():
    ring = SampleRing.local(8)
    ring.push(numbered(0, 4))
    ring._numbers[2] = 2 * (8 + 2) + 1  # the writer is at it again
    assert ring.take()["sequence"].tolist() == [0, 1, 3]
    assert ring.overwritten == 1


Taken = Callable[[], Array]


def taken_by_the_kernel(ring: SampleRing) -> Taken:
    """What the compiled reader uses of the new samples: time, coordinates, rates, accelerations (n, 19)."""
    stream = np.zeros(1, STREAM)
    data = stream[0]
    data["home"][3] = 1.0
    data["delay"] = math.inf  # no sample is stale

    def taken() -> Array:
        data["begin"] = data["end"] = data["cursor"] = 0
        take_kernel(stream, *ring.arrays, 1e15)
        rows: Array = data["history"][: data["end"]]
        return rows

    return taken


def taken_in_python(ring: SampleRing) -> Taken:
    """Likewise of the reader in Python."""

    def taken() -> Array:
        samples = ring.take()
        rows = np.zeros((len(samples), 19))
        rows[:, 0], rows[:, 1:4] = samples["time"], samples["pose"][:, :3]
        rows[:, 7:13], rows[:, 13:] = samples["velocity"], samples["acceleration"]
        return rows

    return taken


READERS = [taken_by_the_kernel, taken_in_python]


@contextmanager
def overwritten(ring: SampleRing, folder: Path) -> Iterator[None]:
    """Another process writes to the ring as fast as it can; every number of sample i is i, its time i/1024 s."""
    source, program = Path(__file__).parents[1] / "ring_writer.c", folder / "writer"
    subprocess.run(["cc", "-O2", str(source), "-o", str(program)], check=True)
    with subprocess.Popen([program, ring.name]) as writer:
        try:
            yield
        finally:
            ring._header[7] = 1  # asks for its end
            assert writer.wait(10.0) == 0


@pytest.mark.parametrize("reader", READERS)
def test_no_sample_is_used_that_was_overwritten_while_it_was_copied(
    tmp_path: Path, reader: Callable[[SampleRing], Taken]
) -> None:
    """Ends when enough were used and enough given up, or after 2 s of a machine that lets hardly any be read.

    The order on which this rests: the writer stores the number, the sample, the number, the counter, each after the one
    before (x86-64 keeps this order; on Arm a writer needs the fences of `ring_writer.c`); the reader loads the counter,
    the sample, the number.
    """
    with SampleRing.create(64) as ring:
        taken = reader(ring)
        taken()  # compiled
        used = given_up = 0
        with overwritten(ring, tmp_path):
            end = time.monotonic() + 2.0
            while time.monotonic() < end and (used < 2_000 or given_up < 20_000):
                before, rows, after = ring.pushed, taken(), ring.pushed
                numbers = 1024.0 * rows[:, :1]
                assert (rows[:, [1, 2, 3, *range(7, 11), *range(13, 19)]] == numbers).all(), rows
                assert (np.diff(numbers[:, 0]) > 0.0).all()
                assert not len(rows) or before - ring.capacity <= numbers[0, 0] <= numbers[-1, 0] < after
                used += len(rows)
                given_up += min(before, ring.capacity) - len(rows)
    assert used and given_up > 0


@pytest.mark.parametrize("reader", READERS)
def test_a_sample_whose_number_is_another_is_not_used(reader: Callable[[SampleRing], Taken]) -> None:
    """Half written, or overwritten since the counter was read."""
    ring = SampleRing.local(8)
    taken = reader(ring)
    samples = numbered(0, 5)
    samples["time"] = np.arange(5)
    ring.push(samples)
    ring._numbers[1:4:2] = 2 * (8 + 1) + 1, 2 * (8 + 3) + 2
    assert taken()[:, 0].tolist() == [0.0, 2.0, 4.0]


class Hurried:
    """The numbers of a ring, in which a slot is overwritten as soon as its number has been looked at."""

    def __init__(self, ring: SampleRing, samples: np.ndarray) -> None:
        self._ring, self._numbers, self._samples = ring, ring.arrays[1], iter(samples)

    def __getitem__(self, slot: int) -> np.uint64:
        number: np.uint64 = self._numbers[slot]
        self._ring.push(next(self._samples))
        return number


def test_the_compiled_reader_looks_at_a_samples_number_after_its_copy():
    """Interpreted, so that the writer comes in between."""
    ring, stream = SampleRing.local(8), np.zeros(1, STREAM)
    samples = numbered(0, 16)
    samples["time"] = samples["pose"][:, 0] = np.arange(16)
    ring.push(samples[:8])
    header, _, slots = ring.arrays
    stream[0]["home"][3], stream[0]["delay"] = 1.0, math.inf
    reader: Any = take_kernel
    with interpreted():
        hurried = Hurried(ring, samples[8:])
        reader.py_func(stream.view(np.recarray), header, hurried, slots.view(np.recarray), 1e15)
    assert stream[0]["history"][:8, :2].tolist() == [[n, n] for n in range(8)]
    assert ring.pushed == 16


def test_a_single_sample_is_pushed_too_and_nothing_else_is():
    ring = SampleRing.local(2)
    ring.push(numbered(4, 1)[0])
    assert ring.take()["sequence"].tolist() == [4]
    with pytest.raises(ValueError, match="are not samples"):
        ring.push(np.zeros(3, [("pose", "f8", 7)]))
    with pytest.raises(SampleRingError, match="3 samples is not a power of two"):
        SampleRing.local(3)


def test_another_process_writes_with_numpy_alone_and_the_ring_is_removed():
    with SampleRing.create(16) as ring:
        writer = """if True:
            import sys
            from multiprocessing import resource_tracker
            resource_tracker.register = lambda name, rtype: None  # before Python 3.13
            from multiprocessing.shared_memory import SharedMemory
            import numpy as np
            sample = np.dtype([("sequence", "u8"), ("time", "f8"), ("sent", "f8"), ("received", "f8"), ("given", "u4"),
                ("pose", "f8", 7), ("velocity", "f8", 6), ("acceleration", "f8", 6)], align=True)
            memory = SharedMemory(sys.argv[1])
            header = np.frombuffer(memory.buf, "u8", 8)
            capacity = int(header[2])
            numbers = np.frombuffer(memory.buf, "u8", capacity, 64)
            slots = np.frombuffer(memory.buf, sample, capacity, 64 + 8 * capacity)
            for i in range(5):
                numbers[i] = 2 * i + 1
                slots[i]["sequence"], slots[i]["pose"] = i, (0.1 * i, 0, 0, 1, 0, 0, 0)
                numbers[i] = 2 * i + 2
                header[3] = i + 1
            del header, numbers, slots
            memory.close()
        """
        subprocess.run([sys.executable, "-c", writer, ring.name], check=True)
        samples = ring.take()
        assert samples["sequence"].tolist() == [0, 1, 2, 3, 4]
        assert samples["pose"][3].tolist() == [0.1 * 3, 0, 0, 1, 0, 0, 0]
        name = ring.name
    assert len(ring.take()) == 0
    with pytest.raises(SampleRingError, match="is closed"):
        ring.push(samples)
    with pytest.raises(SharedMemoryError, match="no such shared memory"):
        SampleRing.attach(name)


def test_both_ends_attach_by_name_and_a_foreign_block_is_refused():
    with SampleRing.create(4) as ring, SampleRing.attach(ring.name) as writer:
        writer.push(numbered(0, 2))
        assert ring.take()["sequence"].tolist() == [0, 1]
        ring._header[1] = SAMPLE.itemsize + 8
        with pytest.raises(SampleRingError, match="not a ring of 192-byte samples"):
            SampleRing.attach(ring.name)


@pytest.mark.parametrize("junk", [2**64 - 1, 2**63, 2**40])
def test_a_counter_that_somebody_else_wrote_over_is_no_count(junk: int):
    """As by a process of another version: the cycle of whoever reads goes on."""
    ring = SampleRing.local(8)
    ring.push(numbered(0, 3))
    assert len(ring.take()) == 3
    ring._header[3] = junk
    assert len(ring.take()) == 0
    ring._header[3] = 3
    assert (len(ring.take()), ring.overwritten) == (0, 0)
    ring.push(numbered(3, 2))
    assert ring.take()["sequence"].tolist() == [3, 4]


@pytest.mark.parametrize("name", ["", "a/b", "..", "x" * 300])
def test_what_is_no_name_of_shared_memory_is_refused(name: str):
    with pytest.raises(SharedMemoryError, match="shared memory"):
        SampleRing.attach(name)
