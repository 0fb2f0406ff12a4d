"""Rows on the disk for views that read a part of them at a time: they take memory only where they are read."""

import contextlib
import mmap
import os
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import IO, Self

import numpy as np
import numpy.typing as npt

from rig.recording.schema import RecordingError
from rig.telemetry import ROW

_FOLDER = "/var/tmp"  # on the disk, which /tmp often is not


class SpooledRows:
    """Rows written one block after the other into a file without a name, and then mapped into memory.

    The file goes with the last reference to the rows, or with the process. Leaving the `with` block ends the writing.

    Raises RecordingError, also from its methods, if the rows cannot be stored: the disk is full.
    """

    def __init__(self) -> None:
        self._folder = _FOLDER if os.access(_FOLDER, os.W_OK) else None
        with self._room():
            self._file: IO[bytes] = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115  closed by `__exit__`
        self._map: mmap.mmap | None = None

    def append(self, rows: npt.NDArray[np.void]) -> None:
        """Append rows (n,) of dtype ROW."""
        with self._room():
            self._file.write(np.ascontiguousarray(rows).view(np.uint8).data)

    def rows(self) -> npt.NDArray[np.void]:
        """Return the rows so far, (n,) of dtype ROW, read-only."""
        if not self._file.tell():
            return np.zeros(0, ROW)
        with self._room():
            self._file.flush()
            self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return np.frombuffer(self._map, ROW)

    def release(self) -> None:
        """Release the memory of what was read so far; it is read again from the file where it is needed."""
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):  # what could not be written was reported by then
            self._file.close()

    @contextlib.contextmanager
    def _room(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            place, reason = self._folder or "the folder of temporary files", error.strerror or error
            raise RecordingError(f"{place}: the rows of a recording cannot be stored there: {reason}") from None
