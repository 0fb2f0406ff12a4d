"""Telemetry ring in shared memory: one writer that never waits, and any number of readers, which may end at any time.

Layout: a header of 64 bytes (magic number, bytes a row, capacity, rows pushed so far), one sequence number a slot, the
slots. Row i lives in slot i modulo capacity; the slot's sequence number is 2i + 1 while it is being written and 2i + 2
once it is complete, so that a reader detects by a changed number that the slot was overwritten during its copy.
"""

from typing import Self

import numpy as np
import numpy.typing as npt

from rig.runtime.shared_memory import SharedBlock, SharedMemoryError
from rig.telemetry import ROW

_MAGIC = 0x52494E4731303030
_HEADER = 64
_PUSHED = 3
"""Index of the counter of rows pushed in the header, counted in eight-byte words."""


class RingError(SharedMemoryError):
    """A telemetry ring cannot be made, found or used."""


class TelemetryRing:
    """A ring of `rig.telemetry.ROW` rows, or of records of another dtype.

    `create` makes it and owns it, `attach` finds it by name from any process. Exactly one of them calls `push`.
    Relies on stores becoming visible in the order they were made, which x86-64 guarantees.
    """

    def __init__(self, block: SharedBlock, capacity: int, row: np.dtype[np.void] = ROW) -> None:
        self._block = block
        self._capacity = capacity
        self.row = row
        """dtype of a row"""
        self._size = row.itemsize
        slots = _HEADER + 8 * capacity
        self._header = block.view(0, _HEADER, "Q")
        self._sequence = block.view(_HEADER, slots, "Q")
        self._slots = block.view(slots, slots + capacity * row.itemsize)
        self._pushed: int = self._header[_PUSHED]

    @classmethod
    def create(cls, capacity: int = 8192, *, name: str | None = None, row: np.dtype[np.void] = ROW) -> Self:
        """Make a ring of `capacity` rows (a power of two) of dtype `row` and own it.

        Raises:
            RingError: another capacity.
            SharedMemoryError: as `SharedBlock.create`.
        """
        if capacity < 2 or capacity & (capacity - 1):
            raise RingError(f"ring capacity: {capacity} rows is not a power of two of at least 2")
        block = SharedBlock.create(_HEADER + capacity * (8 + row.itemsize), name)
        header = block.view(0, _HEADER, "Q")
        header[1], header[2], header[_PUSHED] = row.itemsize, capacity, 0
        header[0] = _MAGIC
        return cls(block, capacity, row)

    @classmethod
    def attach(cls, name: str, row: np.dtype[np.void] = ROW) -> Self:
        """Attach to the ring of that name, of rows of dtype `row`.

        Raises:
            RingError: it is not a ring of these rows.
            SharedMemoryError: as `SharedBlock.attach`.
        """
        block = SharedBlock.attach(name, _HEADER)
        magic, row_size, capacity = block.view(0, 24, "Q").tolist()
        if magic != _MAGIC or row_size != row.itemsize or block.size < _HEADER + capacity * (8 + row_size):
            block.close()
            raise RingError(f"ring {name!r}: not a telemetry ring of {row.itemsize}-byte rows")
        return cls(block, capacity, row)

    @property
    def name(self) -> str:
        """Name to attach by."""
        return self._block.name

    @property
    def capacity(self) -> int:
        """Rows the ring holds."""
        return self._capacity

    @property
    def pushed(self) -> int:
        """Rows pushed so far, by whichever process pushes."""
        return self._header[_PUSHED]

    def push(self, row: np.void | npt.NDArray[np.void]) -> None:
        """Publish one row of the ring's dtype: a scalar of the dtype or an array of one. Never waits.

        Raises ValueError for anything but the bytes of one row.
        """
        index = self._pushed
        slot = index & (self._capacity - 1)
        start = slot * self._size
        data = row.tobytes()
        if len(data) != self._size:
            raise ValueError(f"push: {len(data)} bytes are not one telemetry row of {self._size} bytes")
        self._sequence[slot] = 2 * index + 1
        self._slots[start : start + self._size] = data
        self._sequence[slot] = 2 * index + 2
        self._pushed = index + 1
        self._header[_PUSHED] = index + 1

    def reader(self, start: int | None = None) -> "RingReader":
        """Reader whose first row is number `start` (counted from 0); None begins with the next row pushed.

        Raises RingError for a row that is not pushed yet nor the next one.
        """
        pushed = self.pushed
        if start is not None and not 0 <= start <= pushed:
            raise RingError(f"ring {self.name!r}: cannot read from row {start}, 0 to {pushed} rows were pushed")
        return RingReader(self, pushed if start is None else start)

    def copy(self, start: int, stop: int) -> tuple[npt.NDArray[np.void], int]:
        """Copy of rows start ≤ i < stop that are still in the ring, and the number of those overwritten."""
        if start >= stop:
            return np.empty(0, self.row), 0
        mask = self._capacity - 1
        wanted = np.arange(max(start, stop - self._capacity), stop)
        slots = np.frombuffer(self._slots, np.uint8).reshape(self._capacity, self._size)
        first, last = int(wanted[0]) & mask, int(wanted[-1]) & mask
        rows = slots[first : last + 1].copy() if first <= last else np.concatenate([slots[first:], slots[: last + 1]])
        # The numbers are looked at after the copy: whatever the writer touched meanwhile has another number by now.
        sequence = np.frombuffer(self._sequence, np.uint64)[wanted & mask]
        whole = sequence == 2 * wanted.astype(np.uint64) + np.uint64(2)
        if not whole.all():
            rows = rows[whole]
        return rows.view(self.row)[:, 0], stop - start - len(rows)

    def close(self) -> None:
        """Close the ring; readers made here stop working, and its owner removes it. May be called again."""
        self._block.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class RingReader:
    """One reader's place in a ring."""

    def __init__(self, ring: TelemetryRing, start: int) -> None:
        self._ring = ring
        self.cursor = start
        """Number of the next row to read."""
        self.dropped = 0
        """Rows this reader lost so far because the writer overtook it."""

    def read_new(self) -> tuple[npt.NDArray[np.void], int]:
        """Rows pushed since the last call, oldest first, (n,) of the ring's dtype, and the number lost before them."""
        pushed = self._ring.pushed
        rows, dropped = self._ring.copy(self.cursor, pushed)
        self.cursor = pushed
        self.dropped += dropped
        return rows, dropped
