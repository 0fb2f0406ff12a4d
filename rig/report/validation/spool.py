"""Columns stored on disk for several passes with little memory, as stretches without a gap."""

import tempfile
from array import array
from collections.abc import Iterator
from typing import IO

import numpy as np

from rig.report.streaming import Floats

_PIECE = 1 << 15
"""Samples in memory at a time."""


class Spool:
    """Evenly sampled columns in stretches without a gap. Call `close` at the end.

    Args:
        columns: number of columns.
    """

    def __init__(self, columns: int) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by close
        self._columns = columns
        self._begins, self._ends = array("q"), array("q")
        self.count = 0
        """samples"""

    def add(self, values: Floats, *, continues: bool) -> None:
        """Add evenly spaced samples (m, columns). continues: they follow the previous ones without a gap.

        Raises OSError on a disk error.
        """
        if not len(values):
            return
        self._file.write(np.ascontiguousarray(values, dtype=np.float64).tobytes())
        if not continues or not self._ends:
            self._begins.append(self.count)
            self._ends.append(self.count)
        self.count += len(values)
        self._ends[-1] = self.count

    def pieces(self, halo: int = 0, most: int | None = None) -> Iterator[tuple[Floats, bool]]:
        """Yield pieces (halo + m + halo, columns), and whether a piece's m samples follow those of the previous one.

        The m are all samples with `halo` others of their stretch on either side. most: yield about so many of them,
        spread over all stretches, in pieces that do not follow one another.
        """
        self._file.flush()
        whole = sum(max(0, end - begin - 2 * halo) for begin, end in zip(self._begins, self._ends, strict=True))
        skip = 1 if most is None else max(1, whole // max(1, most))
        for begin, end in zip(self._begins, self._ends, strict=True):
            for number, first in enumerate(range(begin + halo, end - halo, _PIECE)):
                if number % skip:
                    continue
                last = min(first + _PIECE, end - halo)
                yield self._read(first - halo, last + halo), number > 0 and skip == 1

    def _read(self, first: int, last: int) -> Floats:
        width = 8 * self._columns
        self._file.seek(first * width)
        content = self._file.read((last - first) * width)
        return np.frombuffer(content, np.float64).reshape(-1, self._columns)

    def close(self) -> None:
        """Close the file. May be called again."""
        self._file.close()
