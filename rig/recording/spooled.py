"""Rows on the disk for views that read a part of them at a time: they take memory only where they are read."""

import mmap
import os
import tempfile
from types import TracebackType
from typing import IO, Self

import numpy as np
import numpy.typing as npt

from rig.telemetry import ROW

_FOLDER = "/var/tmp"  # on the disk, which /tmp often is not


class SpooledRows:
    """Rows written one block after the other into a file without a name, and then mapped into memory.

    The file goes with the last reference to the rows, or with the process. Raises OSError if it cannot be made.
    Leaving the `with` block ends the writing.
    """

    def __init__(self) -> None:
        folder = _FOLDER if os.access(_FOLDER, os.W_OK) else None
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  closed by `__exit__`
        self._map: mmap.mmap | None = None

    def append(self, rows: npt.NDArray[np.void]) -> None:
        """Append rows (n,) of dtype ROW. Raises OSError if the disk is full."""
        self._file.write(np.ascontiguousarray(rows).view(np.uint8).data)

    def rows(self) -> npt.NDArray[np.void]:
        """Return the rows so far, (n,) of dtype ROW, read-only."""
        if not self._file.tell():
            return np.zeros(0, ROW)
        self._file.flush()
        self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return np.frombuffer(self._map, ROW)

    def release(self) -> None:
        """Give back the memory of what was read so far; it is read again from the file where it is needed."""
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
