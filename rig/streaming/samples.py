"""Samples of a streamed motion, and the ring in shared memory or in this process that they come in by.

Layout of a ring, native byte order: a header of 64 bytes (eight words: magic number, bytes a sample, capacity, samples
pushed so far, four unused), one number (uint64) a slot, the slots. Sample i, counted from 0, lives in slot i modulo
capacity; the slot's number is 2i + 1 while it is being written and 2i + 2 once it is complete, so that the reader
detects by a changed number that the slot was overwritten during its copy. The counter is stored last.
"""

from typing import Final, Self

import numpy as np
import numpy.typing as npt

from rig.runtime import SharedBlock, SharedMemoryError

VELOCITY: Final = 1
"""bit of `given`: the sample has a velocity"""
ACCELERATION: Final = 2
"""bit of `given`: it has an acceleration"""
END: Final = 4
"""bit of `given`: the stream ends with this sample"""

SAMPLE = np.dtype(
    [
        ("sequence", np.uint64),
        ("time", np.float64),
        ("sent", np.float64),
        ("received", np.float64),
        ("given", np.uint32),
        ("pose", np.float64, 7),
        ("velocity", np.float64, 6),
        ("acceleration", np.float64, 6),
    ],
    align=True,
)
"""A streamed set-point as its sender gave it, in the frame that the stream's settings name; 192 bytes, as a C compiler
lays it out.

sequence: the sender's count. time: s of this machine's monotonic clock (`time.monotonic`) at which the pose is meant.
sent: s of the sender's own clock. received: s, monotonic, when it arrived. given: bits VELOCITY, ACCELERATION and END.
pose: (7,) x, y, z in m, quaternion w, x, y, z. velocity: (6,) of the origin, m/s, and angular, rad/s. acceleration:
(6,) m/s² and rad/s². What `given` does not name is not read.
"""

_BYTES = np.dtype((np.void, SAMPLE.itemsize))  # copied at once, not field by field
_MAGIC = 0x5249475354524D31
_HEADER = 64
MOST_AT_ONCE = 1 << 32
"""Samples between two looks of the reader; more is no count, but memory that somebody else wrote to."""
_FEW = 8
"""Samples that are looked at one by one faster than as an array."""
PUSHED: Final = 3
"""Index of the counter of samples pushed in the header, counted in eight-byte words."""

Samples = npt.NDArray[np.void]


class SampleRingError(SharedMemoryError):
    """A ring of samples cannot be made, found or used."""


class SampleRing:
    """A ring of `SAMPLE` records with one writer, which never waits, and one reader.

    `create` makes it in shared memory and owns it, `attach` finds it by name from any process, `local` makes one for
    this process alone. `push` and `take` rely on stores and loads becoming visible in the order they were made, which
    x86-64 guarantees and Arm does not. The engine's compiled reader orders its loads on either; a writer in C does so
    with the fences of `docs/streaming.md`.

    Args:
        memory: header, numbers and slots.
        capacity: samples it holds.
        block: the shared memory, if it is.
    """

    def __init__(self, memory: memoryview, capacity: int, block: SharedBlock | None = None) -> None:
        self._block = block
        self.capacity = capacity
        """samples it holds"""
        slots = _HEADER + 8 * capacity
        self._closed = False
        self._header = np.frombuffer(memory, np.uint64, 8)
        self._numbers = np.frombuffer(memory, np.uint64, capacity, _HEADER)
        self._slots = np.frombuffer(memory, _BYTES, capacity, slots)
        self._samples = np.frombuffer(memory, SAMPLE, capacity, slots)
        self._cursor = int(self._header[PUSHED])
        self._taken = np.zeros(capacity, SAMPLE)
        self._taken_bytes = self._taken.view(_BYTES)
        self._overwritten = 0

    @classmethod
    def create(cls, capacity: int = 1024, *, name: str | None = None) -> Self:
        """Make a ring of `capacity` samples (a power of two) in shared memory, and own it.

        Raises:
            SampleRingError: another capacity.
            SharedMemoryError: as `SharedBlock.create`.
        """
        size = _size(capacity)
        block = SharedBlock.create(size, name)
        return cls(_prepared(block.view(0, size), capacity), capacity, block)

    @classmethod
    def local(cls, capacity: int = 1024) -> Self:
        """Make a ring of `capacity` samples (a power of two) in this process.

        Raises:
            SampleRingError: another capacity.
        """
        return cls(_prepared(memoryview(bytearray(_size(capacity))), capacity), capacity)

    @classmethod
    def attach(cls, name: str) -> Self:
        """Attach to the ring of that name, to write or to read what is pushed from now on.

        Raises:
            SampleRingError: it is not a ring of such samples.
            SharedMemoryError: as `SharedBlock.attach`.
        """
        block = SharedBlock.attach(name, _HEADER)
        magic, sample, capacity = (int(word) for word in block.view(0, 24, "Q"))
        proper = magic == _MAGIC and sample == SAMPLE.itemsize and capacity >= 2 and not capacity & (capacity - 1)
        if not proper or block.size < _size(capacity):
            block.close()
            raise SampleRingError(f"ring {name!r}: not a ring of {SAMPLE.itemsize}-byte samples")
        return cls(block.view(0, _size(capacity)), capacity, block)

    @property
    def name(self) -> str:
        """Name to attach by; empty for a ring of this process."""
        return self._block.name if self._block is not None else ""

    @property
    def overwritten(self) -> int:
        """Samples that this reader lost so far because the writer overtook it."""
        return self._overwritten

    @property
    def pushed(self) -> int:
        """Samples pushed so far, by whoever pushes."""
        return int(self._header[PUSHED])

    def push(self, samples: Samples | np.void) -> None:
        """Publish samples of dtype `SAMPLE`, (n,) or one; never waits.

        Of more than `capacity` at once only the last ones stay.

        Raises:
            ValueError: another dtype.
            SampleRingError: the ring is closed.
        """
        if self._closed:
            raise SampleRingError(f"ring {self.name!r} is closed")
        rows = np.atleast_1d(np.asarray(samples))
        if rows.dtype != SAMPLE or rows.ndim != 1:
            raise ValueError(f"push: {rows.dtype} of shape {rows.shape} are not samples (n,) of a stream")
        pushed = self.pushed
        end = pushed + len(rows)
        rows = rows[-self.capacity :]
        index = np.arange(end - len(rows), end, dtype=np.uint64)
        slot = index & np.uint64(self.capacity - 1)
        self._numbers[slot] = 2 * index + np.uint64(1)
        self._slots[slot] = np.ascontiguousarray(rows).view(_BYTES)
        self._numbers[slot] = 2 * index + np.uint64(2)
        self._header[PUSHED] = end

    @property
    def arrays(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], Samples]:
        """Header (8,), numbers (capacity,) and slots (capacity,) of the ring itself, for compiled code."""
        return self._header, self._numbers, self._samples

    def take(self) -> Samples:
        """The samples pushed since the last call, oldest first, (n,); valid until the next call.

        Those overwritten before they could be taken are counted in `overwritten`. Nothing that another process writes
        to the memory raises an error here.
        """
        pushed: int = self._header.item(PUSHED)
        wanted = pushed - self._cursor
        if not 0 < wanted <= MOST_AT_ONCE:
            self._cursor = pushed  # fewer than before: somebody began the ring anew
            return self._taken[:0]
        first = max(self._cursor, pushed - self.capacity)
        self._cursor = pushed
        count, start = pushed - first, first & (self.capacity - 1)
        taken = self._taken[:count]
        head = min(count, self.capacity - start)
        self._taken_bytes[:head] = self._slots[start : start + head]
        if head < count:
            self._taken_bytes[head:count] = self._slots[: count - head]
        # The numbers are looked at after the copy: whatever the writer touched meanwhile has another number by now.
        if count <= _FEW:
            mask, numbers = self.capacity - 1, self._numbers
            kept = [k for k in range(count) if numbers.item((first + k) & mask) == 2 * (first + k) + 2]
            if len(kept) < count:
                taken = taken[kept]
            self._overwritten += wanted - len(kept)
            return taken
        index = np.arange(first, pushed, dtype=np.uint64)
        whole = self._numbers[index & np.uint64(self.capacity - 1)] == 2 * index + np.uint64(2)
        if not whole.all():
            taken = taken[whole]
        self._overwritten += wanted - len(taken)
        return taken

    def close(self) -> None:
        """Close the ring, whose owner removes it: nothing more is taken, nor may be pushed. May be called again."""
        self._closed = True
        # Arrays over the block would keep it from being closed.
        self._header, self._numbers, self._slots = np.zeros(8, np.uint64), np.zeros(0, np.uint64), np.zeros(0, _BYTES)
        self._samples = np.zeros(0, SAMPLE)
        if self._block is not None:
            self._block.close()

    def __del__(self) -> None:
        if hasattr(self, "_closed"):
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def new_samples(count: int) -> Samples:
    """`count` samples at rest in the stream's origin, not numbered, (count,) of dtype `SAMPLE`."""
    samples = np.zeros(count, SAMPLE)
    samples["pose"][:, 3] = 1.0
    return samples


def _size(capacity: int) -> int:
    """Bytes of a ring."""
    if capacity < 2 or capacity & (capacity - 1):
        raise SampleRingError(f"ring capacity: {capacity} samples is not a power of two of at least 2")
    return _HEADER + capacity * (8 + SAMPLE.itemsize)


def _prepared(memory: memoryview, capacity: int) -> memoryview:
    """The memory of an empty ring, with its header."""
    header = np.frombuffer(memory, np.uint64, 8)
    header[1:4] = SAMPLE.itemsize, capacity, 0
    header[0] = _MAGIC
    return memory
