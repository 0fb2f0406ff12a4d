"""Reader of recordings, whole or cut anywhere: what is whole in the file comes back, and what is doubtful is said."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from mcap.opcode import Opcode
from mcap.writer import MCAP0_MAGIC

from rig.recording.chunks import DAMAGE, RECORD, Rows, rows_in, unpack, unpacked_size
from rig.recording.metadata_check import count_in
from rig.recording.motion_record import MotionRecord
from rig.recording.scan import LARGEST_RECORD, Scan, locked_by_writer, open_file
from rig.recording.schema import RecordedEvent, RecordingError
from rig.telemetry import ROW

_BLOCK = 4096
"""Rows of a block: enough for numpy's overhead not to count, few enough to stay in the processor's cache."""
_CHUNK_HEAD = 28
"""Bytes of a chunk's content that tell what it unpacks to."""


class Recorded(Protocol):
    """A recording, wherever its rows are."""

    @property
    def path(self) -> Path:
        """Its file."""

    @property
    def header(self) -> dict[str, Any]:
        """What the writer was given: configuration, mechanism, versions, clocks. Empty if the file is cut before it."""

    @property
    def events(self) -> tuple[RecordedEvent, ...]:
        """Events in the order of their times."""

    @property
    def motions(self) -> tuple[MotionRecord, ...]:
        """Motions by their ids, each as it was recorded last; none of recordings made before they were recorded."""

    @property
    def dropped(self) -> int:
        """Cycles that took place but have no row: as the recorder counted them, or by the rows' own counters if cut."""

    @property
    def complete(self) -> bool:
        """Whether the file is whole: closed by its writer and undamaged."""

    @property
    def underway(self) -> bool:
        """Whether its recorder was still writing when it was read: what is not there yet is not cut off."""

    @property
    def closing(self) -> dict[str, Any]:
        """Closing summary given by the owner of the writer; empty when the file is cut."""

    @property
    def doubts(self) -> tuple[str, ...]:
        """What in the file contradicts itself or a checksum, a sentence each; not that it is cut."""

    @property
    def unverified(self) -> tuple[str, ...]:
        """Parts that no checksum vouches for, as in recordings made before there were such."""

    @property
    def count(self) -> int:
        """Rows."""

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Rows]:
        """Rows `first` to before `last`, left out: to the end, in the order they were written.

        In blocks (m,) of dtype ROW; one is valid until the next.
        """

    def take(self, numbers: Sequence[int]) -> Rows:
        """The rows of these numbers, which must not fall, (m,) of dtype ROW."""


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """One recording in memory; a `Recorded`."""

    path: Path
    header: dict[str, Any]
    rows: Rows
    """Telemetry rows, (n,) of dtype ROW, in the order they were written."""
    events: tuple[RecordedEvent, ...]
    dropped: int
    complete: bool
    closing: dict[str, Any]
    doubts: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()
    motions: tuple[MotionRecord, ...] = ()
    underway: bool = False

    @property
    def count(self) -> int:
        """See `Recorded.count`."""
        return len(self.rows)

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Rows]:
        """See `Recorded.blocks`."""
        rows = self.rows[first:last]
        for start in range(0, len(rows), _BLOCK):
            yield rows[start : start + _BLOCK]

    def take(self, numbers: Sequence[int]) -> Rows:
        """See `Recorded.take`."""
        return self.rows[np.asarray(numbers, dtype=np.intp)]


class RecordingFile:
    """A recording whose rows stay on the disk; a `Recorded`. Memory does not grow with its length.

    A file cut at any byte gives every chunk that is whole in it, a damaged chunk is left out; `complete` is then false.
    The file is read through once here. It is opened again whenever rows are asked for, which raises RecordingError
    where it has changed since.

    Raises RecordingError when the file cannot be opened, is no recording, is a whole file of another program, or holds
    rows of another layout.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        with open_file(self.path) as file:
            written = locked_by_writer(
                file
            )  # before it is read: what a recorder that has left wrote is then read whole
        scan = Scan(self.path)
        closing = scan.closing or {}
        summary = closing.get("summary")
        dropped = count_in(closing, "dropped")
        self.header = scan.header
        self.events = tuple(sorted(scan.events, key=lambda event: event.t))
        self.motions = tuple(sorted(scan.motions.values(), key=lambda motion: motion.id))
        self.doubts = tuple(scan.doubts)
        self.unverified = tuple(scan.unverified)
        self.complete = scan.whole and not self.doubts and scan.closing is not None
        self.underway = written and not self.complete
        self.closing: dict[str, Any] = summary if isinstance(summary, dict) else {}
        self.count = scan.rows
        self.dropped = _missing(scan) if dropped is None else dropped
        self._parser = scan.parser
        self._places, self._lengths, self._counts = scan.chunks

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Rows]:
        """See `Recorded.blocks`."""
        block, filled = np.zeros(_BLOCK, ROW), 0
        for stretch in self._between(first, self.count if last is None else min(last, self.count)):
            while len(stretch):
                count = min(len(stretch), _BLOCK - filled)
                self._parser.place(stretch[:count], block[filled : filled + count])
                stretch, filled = stretch[count:], filled + count
                if filled == _BLOCK:
                    yield block
                    filled = 0
        if filled:
            yield block[:filled]

    def take(self, numbers: Sequence[int]) -> Rows:
        """See `Recorded.take`."""
        wanted = np.asarray(numbers, dtype=np.int64)
        ends = np.cumsum(np.array(self._counts, dtype=np.int64))
        if len(wanted) and not 0 <= wanted[0] <= wanted[-1] < self.count:
            raise IndexError(f"rows {wanted[0]} to {wanted[-1]} of {self.count}")
        rows = np.zeros(len(wanted), ROW)
        chunks = np.searchsorted(ends, wanted, "right")
        for chunk in np.unique(chunks).tolist():
            of_chunk = np.zeros(self._counts[chunk], ROW)
            filled = 0
            for stretch in self._stretches([chunk]):
                self._parser.place(stretch, of_chunk[filled : filled + len(stretch)])
                filled += len(stretch)
            here = chunks == chunk
            rows[here] = of_chunk[wanted[here] - (ends[chunk] - self._counts[chunk])]
        return rows

    def in_memory(self, rows: Rows) -> Recording:
        """The same with all or some of its rows in memory, (n,)."""
        return in_memory(self, rows)

    def _between(self, first: int, last: int) -> Iterator[Rows]:
        """Rows first to before last as they lie in their chunks; of the other chunks nothing is read."""
        ends = np.cumsum(np.array(self._counts, dtype=np.int64))
        begin, end = np.searchsorted(ends, (first, last - 1), "right").tolist()
        seen = int(ends[begin - 1]) if begin else 0
        for stretch in self._stretches(range(begin, end + 1)) if first < last else ():
            piece = stretch[max(0, first - seen) : max(0, last - seen)]
            seen += len(stretch)
            if len(piece):
                yield piece

    def _stretches(self, chunks: Sequence[int]) -> Iterator[Rows]:
        """Rows of these chunks as they lie in them."""
        try:
            with open_file(self.path) as file:
                for chunk in chunks:
                    file.seek(self._places[chunk])
                    content = file.read(self._lengths[chunk])
                    stretches = self._parser.parse(unpack(content, verify=False))
                    if sum(map(len, stretches)) != self._counts[chunk]:
                        raise ValueError
                    yield from stretches
        except OSError as error:
            raise RecordingError(f"{self.path}: {error.strerror or error}") from None
        except DAMAGE:
            raise RecordingError(f"{self.path}: has changed while it was read") from None


def in_memory(recorded: Recorded, rows: Rows) -> Recording:
    """A recording, or a part of one, with all or some of its rows in memory, (n,)."""
    return Recording(
        path=recorded.path,
        header=recorded.header,
        rows=rows,
        events=recorded.events,
        dropped=recorded.dropped,
        complete=recorded.complete,
        closing=recorded.closing,
        doubts=recorded.doubts,
        unverified=recorded.unverified,
        motions=recorded.motions,
        underway=recorded.underway,
    )


def open_recording(path: Path | str) -> Recording:
    """Read a recording into memory, which takes `size_of_rows` bytes of it. Raises as `RecordingFile`."""
    file = RecordingFile(path)
    rows = np.zeros(file.count, ROW)
    filled = 0
    for block in file.blocks():
        rows[filled : filled + len(block)] = block
        filled += len(block)
    return file.in_memory(rows)


def size_of_rows(path: Path | str) -> int:
    """Bytes of memory that a recording's rows take once read; estimated from the lengths of its chunks, a little high.

    Nothing is unpacked, what is cut or damaged counts as far as its lengths go. Raises RecordingError when the file
    cannot be opened.
    """
    length = 0
    path = Path(path)
    try:
        with open_file(path) as file:
            file.seek(len(MCAP0_MAGIC))
            while len(head := file.read(RECORD.size)) == RECORD.size:
                opcode, size = RECORD.unpack(head)
                if size > LARGEST_RECORD:
                    break
                if opcode == Opcode.CHUNK and len(begin := file.read(min(size, _CHUNK_HEAD))) == _CHUNK_HEAD:
                    length += unpacked_size(begin)
                    size -= _CHUNK_HEAD
                file.seek(size, os.SEEK_CUR)
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror or error}") from None
    return rows_in(length) * ROW.itemsize


def _missing(scan: Scan) -> int:
    """Cycles between the first and the last row that were neither skipped nor recorded."""
    if not scan.rows:
        return 0
    (first,), (last,) = scan.first, scan.last
    skipped = int(last["overruns"]) - int(first["overruns"])
    return max(0, int(last["cycle"]) - int(first["cycle"]) + 1 - scan.rows - skipped)
