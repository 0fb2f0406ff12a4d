"""Reader of recordings, whole or cut anywhere: one scan through the file, its intact content, and rows as CSV."""

import fcntl
import os
import stat
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import DataEnd, Footer, Metadata, Statistics
from mcap.writer import MCAP0_MAGIC

from rig.csvio import Column, write_blocks
from rig.recording.chunks import (
    DAMAGE,
    LARGEST_CHUNK,
    RECORD,
    ChunkParser,
    Rows,
    SensorLayout,
    rows_in,
    unpack,
    unpacked_size,
)
from rig.recording.metadata import check_header, count_in, parse_object
from rig.recording.motion_record import MOTIONS_TOPIC, MotionRecord
from rig.recording.readings import SensorSeries, series_of
from rig.recording.schema import (
    CLOSING_METADATA,
    CYCLE_TOPIC,
    HEADER_METADATA,
    RecordedEvent,
    RecordingError,
)
from rig.telemetry import ROW

LARGEST_RECORD = LARGEST_CHUNK + 4096
"""Bytes of the largest accepted record."""
MOST_EVENTS = 100_000
"""Events that are kept of a recording, the first ones."""
MOST_MOTIONS = 20_000
"""Motions that are kept of a recording, the first ones."""
_MOST_EVENT_TEXT = 16_000_000  # characters, of all of them
_MOST_DOUBTS = 20
_FOOTER_LENGTH = 20
_IN_DATA = (Opcode.CHUNK, Opcode.MESSAGE_INDEX, Opcode.METADATA, Opcode.ATTACHMENT)


def open_file(path: Path) -> BinaryIO:
    """Open a recording for reading. Raises RecordingError for anything but a file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe must not make it wait
    except (OSError, ValueError) as error:
        raise RecordingError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        kind = next((name for test, name in _KINDS if test(mode)), "no file")
        raise RecordingError(f"{path}: is {kind}, not a recording")
    return open(descriptor, "rb", buffering=256 * 1024)


def locked_by_writer(file: BinaryIO) -> bool:
    """Whether its writer has locked it, until the writer's end; if not, this lock lasts while it is open."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


_KINDS: list[tuple[Callable[[int], bool], str]] = [
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
]


class Scan:
    """Content and doubts of a recording file, with bounded memory.

    Raises RecordingError if it cannot be read, is no recording, is a whole file of another program, or holds rows of
    another layout.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: dict[str, Any] = {}
        self.closing: dict[str, Any] | None = None
        self.events: list[RecordedEvent] = []
        self.motions: dict[int, MotionRecord] = {}
        """by id, the last record"""
        self.rows = 0
        self.doubts: list[str] = []
        """contradictions and wrong checksums, a sentence each"""
        self.unverified: list[str] = []
        """parts without a checksum"""
        self.whole = False
        """whether the file has its end"""
        self.parser = ChunkParser(str(path))
        self.chunks: tuple[array[int], array[int], array[int]] = (array("Q"), array("Q"), array("Q"))
        """for each chunk with rows: offset and length of its content, bytes, and number of rows"""
        self.readings = 0
        """of external sensors"""
        self.reading_chunks: tuple[array[int], array[int]] = (array("Q"), array("Q"))
        """for each chunk with readings: offset and length of its content, bytes"""
        self.first: Rows = np.zeros(0, ROW)
        self.last: Rows = np.zeros(0, ROW)
        self._chunks = self._events = self._event_text = self._motions = 0
        self._statistics: Statistics | None = None
        self._ours = self._vouched = False
        self._header_read = False
        try:
            with open_file(path) as file:
                self._read(file)
        except OSError as error:
            raise RecordingError(f"{path}: {error.strerror or error}") from None

    def _doubt(self, text: str) -> None:
        if len(self.doubts) < _MOST_DOUBTS:
            self.doubts.append(text)
        elif len(self.doubts) == _MOST_DOUBTS:
            self.doubts.append("and more")

    def _read(self, file: BinaryIO) -> None:
        if not MCAP0_MAGIC.startswith(file.read(len(MCAP0_MAGIC))):
            raise RecordingError(f"{self.path}: not an MCAP recording")
        size = os.fstat(file.fileno()).st_size
        position, crc, end = len(MCAP0_MAGIC), zlib.crc32(MCAP0_MAGIC), False
        for opcode, head, content in _records(file):
            try:
                if opcode == Opcode.FOOTER and end:
                    self._finish(content, crc, file)
                    position = size
                    break
                if opcode == Opcode.DATA_END and not end:
                    self._end_data(content, crc)
                    end, crc = True, 0
                    position += len(head) + len(content)
                    continue
                if end:
                    self._summary_record(opcode, content)
                else:
                    self._data_record(opcode, content, position)
            except DAMAGE as error:
                self._doubt(f"damaged at byte {position}, what was there is left out ({error})")
            crc = zlib.crc32(content, zlib.crc32(head, crc))
            position += len(head) + len(content)
        if not self.whole and size - position > RECORD.size and _ends(file):
            self._doubt(f"damaged at byte {position}, what follows cannot be read")
        if self.whole and not (self._ours or CYCLE_TOPIC in self.parser.topics.values()):
            raise RecordingError(f"{self.path}: an MCAP file of another program: it has no stewart-rig header")
        self._compare()

    # -- records -----------------------------------------------------------------------------------------------------

    def _data_record(self, opcode: int, content: bytes, position: int) -> None:
        """One record before the end of the data. Raises one of `DAMAGE`."""
        if opcode == Opcode.CHUNK:
            self._chunk(content, position + RECORD.size)
        elif opcode == Opcode.METADATA:
            self._metadata(Metadata.read(_stream(content)))
        elif opcode == Opcode.HEADER and position == len(MCAP0_MAGIC):
            pass
        elif opcode not in _IN_DATA:
            raise ValueError(f"record of kind {opcode}")

    def _chunk(self, content: bytes, position: int) -> None:
        self._chunks += 1
        found: list[RecordedEvent] = []
        motions: list[MotionRecord] = []
        before = self.readings
        stretches = self.parser.parse(unpack(content), found.append, motions.append, self._count_readings)
        if self.readings > before:
            for place, value in zip(self.reading_chunks, (position, len(content)), strict=True):
                place.append(value)
        count = sum(map(len, stretches))
        if count:
            for column, value in zip(self.chunks, (position, len(content), count), strict=True):
                column.append(value)
            self.last = self._row(stretches[-1][-1:])
            self.first = self.first if self.rows else self._row(stretches[0][:1])
        self.rows += count
        self._events += len(found)
        self._motions += len(motions)
        for motion in motions:
            if motion.id in self.motions or len(self.motions) < MOST_MOTIONS:
                self.motions[motion.id] = motion
        for event in found:
            self._event_text += len(event.text)
            if len(self.events) == MOST_EVENTS or self._event_text > _MOST_EVENT_TEXT:
                self._event_text = _MOST_EVENT_TEXT
                break
            self.events.append(event)

    def _count_readings(self, _sensor: SensorLayout, stretch: Rows) -> None:
        self.readings += len(stretch)

    def _row(self, stretch: Rows) -> Rows:
        row = np.zeros(1, ROW)
        self.parser.place(stretch, row)
        return row

    def _metadata(self, metadata: Metadata) -> None:
        if metadata.name not in (HEADER_METADATA, CLOSING_METADATA):
            return
        self._ours = True
        if metadata.name == CLOSING_METADATA:
            self.closing, vouched = parse_object("the closing record", metadata.metadata, self.doubts)
        else:
            if self._header_read:
                self._doubt("there is more than one header; the last one counts")
            self.header, vouched = parse_object("the header", metadata.metadata, self.doubts)
            self._header_read, self._vouched = True, vouched
            check_header(self.header, self.doubts)

    def _summary_record(self, opcode: int, content: bytes) -> None:
        if opcode == Opcode.STATISTICS:
            self._statistics = Statistics.read(_stream(content))

    def _end_data(self, content: bytes, crc: int) -> None:
        stored = DataEnd.read(_stream(content)).data_section_crc
        if len(content) != 4:
            raise ValueError("end of the data")
        if not stored:
            self.unverified.append("the file as a whole")
        elif stored != crc:
            self._doubt("the file is not as it was written: the checksum over all of it differs")

    def _finish(self, content: bytes, crc: int, file: BinaryIO) -> None:
        if len(content) != _FOOTER_LENGTH or file.read(len(MCAP0_MAGIC) + 1) != MCAP0_MAGIC:
            raise ValueError("end of the file")
        stored = Footer.read(_stream(content)).summary_crc
        crc = zlib.crc32(content[:-4], zlib.crc32(RECORD.pack(Opcode.FOOTER, len(content)), crc))
        if not stored:
            self.unverified.append("the file's index")
        elif stored != crc:
            self._doubt("the file's index is not as it was written: its checksum differs")
        self.whole = True

    @property
    def _messages(self) -> int:
        return self.rows + self._events + self._motions + self.readings

    # -- what one part says of the others ----------------------------------------------------------------------------

    def _compare(self) -> None:
        if self._events > len(self.events):
            self._doubt(f"{self._events - len(self.events)} of {self._events} events are left out, they are too many")
        if not self._header_read:
            if self.rows:
                self._doubt("it has no header")
        elif not self._vouched:
            self.unverified.append("the header but for configuration and mechanism")
        elif "the file as a whole" in self.unverified or "the file's index" in self.unverified:
            self._doubt("a checksum is gone that was written")
        closing = self.closing
        if closing is None:
            if self.whole:
                self._doubt("it has no closing record")
            return
        counts = [("rows", self.rows), ("events", self._events), ("motions", self._motions)]
        if MOTIONS_TOPIC not in self.parser.topics.values():
            counts.pop()  # made before there were such records
        if self.parser.sensors:
            counts.append(("readings", self.readings))
        for name, counted in counts:
            stored = count_in(closing, name)
            if stored != counted:
                stated = "no number" if stored is None else stored
                self._doubt(f"{counted} {name} are there, its closing record says {stated}")
        if not isinstance(closing.get("summary"), dict):
            self._doubt("the closing record has no summary")
        if count_in(closing, "dropped") is None:
            self._doubt("the closing record does not say how many rows were dropped")
        if self._statistics is None:
            if self.whole:
                self._doubt("its statistics are gone")
        else:
            for what, counted, stored in (
                ("messages", self._messages, self._statistics.message_count),
                ("chunks", self._chunks, self._statistics.chunk_count),
            ):
                if counted != stored:
                    self._doubt(f"{counted} {what} are there, its statistics say {stored}")


def _records(file: BinaryIO) -> Iterator[tuple[int, bytes, bytes]]:
    """Every record, opcode, head and content, until the file ends or a length is invalid."""
    while len(head := file.read(RECORD.size)) == RECORD.size:
        opcode, length = RECORD.unpack(head)
        if length > LARGEST_RECORD:
            return
        content = file.read(length)
        if len(content) < length:
            return
        yield opcode, head, content


def _ends(file: BinaryIO) -> bool:
    """Whether the file ends like a complete one."""
    file.seek(-len(MCAP0_MAGIC), os.SEEK_END)
    return file.read() == MCAP0_MAGIC


def _stream(content: bytes) -> ReadDataStream:
    return ReadDataStream(BytesIO(content))


_BLOCK = 4096
"""Rows of a block: many enough to hide numpy's overhead, and few enough for the processor's cache."""
_CHUNK_HEAD = 28
"""Bytes at the begin of a chunk's content with its unpacked size."""


class Recorded(Protocol):
    """A recording, wherever its rows are."""

    @property
    def path(self) -> Path:
        """Its file."""

    @property
    def header(self) -> dict[str, Any]:
        """The writer's header: configuration, mechanism, versions, clocks. Empty if the file is cut before it."""

    @property
    def events(self) -> tuple[RecordedEvent, ...]:
        """Events in the order of their times."""

    @property
    def motions(self) -> tuple[MotionRecord, ...]:
        """Motions by id, with the last record of each; none in older recordings."""

    @property
    def sensors(self) -> Mapping[str, SensorSeries]:
        """Readings of the external sensors by name; none where there were no sensors."""

    @property
    def dropped(self) -> int:
        """Cycles without a row: as counted by the recorder, or by the rows' own counters if cut."""

    @property
    def complete(self) -> bool:
        """Whether the file is complete: closed by its writer and undamaged."""

    @property
    def underway(self) -> bool:
        """Whether its recorder was still writing when it was read, so that it is not cut off."""

    @property
    def closing(self) -> dict[str, Any]:
        """Closing summary given by the owner of the writer; empty when the file is cut."""

    @property
    def doubts(self) -> tuple[str, ...]:
        """Contradictions and wrong checksums in the file, a sentence each; a cut file is no doubt."""

    @property
    def unverified(self) -> tuple[str, ...]:
        """Parts without a checksum, as in older recordings."""

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
    sensors: Mapping[str, SensorSeries] = field(default_factory=dict)

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

    A file cut at any byte gives all its complete chunks, without damaged ones; `complete` is then false. The file is
    read once here. It is opened again for rows, which raises RecordingError if it has changed since.

    Raises RecordingError if the file cannot be opened, is no recording, is a whole file of another program, or holds
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
        self._reading_chunks = scan.reading_chunks
        self._sensors: Mapping[str, SensorSeries] | None = None

    @property
    def sensors(self) -> Mapping[str, SensorSeries]:
        """See `Recorded.sensors`; read into memory with the first call."""
        if self._sensors is None:
            found: dict[str, list[Rows]] = {sensor.channels.name: [] for sensor in self._parser.sensors.values()}

            def keep(sensor: SensorLayout, stretch: Rows) -> None:
                found[sensor.channels.name].append(sensor.readings(stretch))

            for _ in self._chunks_at(*self._reading_chunks, keep):
                pass
            known = {sensor.channels.name: sensor.channels for sensor in self._parser.sensors.values()}
            self._sensors = {name: series_of(known[name], readings) for name, readings in found.items()}
        return self._sensors

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
        """The recording with all or some of its rows in memory, (n,)."""
        return in_memory(self, rows)

    def _between(self, first: int, last: int) -> Iterator[Rows]:
        """Rows from first to before last by chunk; other chunks are not read."""
        ends = np.cumsum(np.array(self._counts, dtype=np.int64))
        begin, end = np.searchsorted(ends, (first, last - 1), "right").tolist()
        seen = int(ends[begin - 1]) if begin else 0
        for stretch in self._stretches(range(begin, end + 1)) if first < last else ():
            piece = stretch[max(0, first - seen) : max(0, last - seen)]
            seen += len(stretch)
            if len(piece):
                yield piece

    def _stretches(self, chunks: Sequence[int]) -> Iterator[Rows]:
        """Rows of these chunks."""
        places, lengths = ([column[chunk] for chunk in chunks] for column in (self._places, self._lengths))
        for chunk, stretches in zip(chunks, self._chunks_at(places, lengths), strict=True):
            if sum(map(len, stretches)) != self._counts[chunk]:
                raise RecordingError(f"{self.path}: has changed while it was read")
            yield from stretches

    def _chunks_at(
        self,
        places: Sequence[int],
        lengths: Sequence[int],
        on_readings: Callable[[SensorLayout, Rows], None] | None = None,
    ) -> Iterator[list[Rows]]:
        """The stretches of rows of each of these chunks; its readings go to `on_readings`."""
        try:
            with open_file(self.path) as file:
                for place, length in zip(places, lengths, strict=True):
                    file.seek(place)
                    yield self._parser.parse(unpack(file.read(length), verify=False), on_readings=on_readings)
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
        sensors=recorded.sensors,
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

    Nothing is unpacked; cut or damaged parts count by their lengths. Raises RecordingError if the file cannot be
    opened.
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


_FIELDS = [(name, at) for name in ROW.names or () for at in np.ndindex(*ROW[name].shape)]


def write_rows_csv(recording: Recorded, path: Path) -> None:
    """Write every field of a recording's rows as CSV, columns named as in it, numbered by leg or element.

    SI units; `rig.telemetry.MEANING` describes the fields.

    Raises:
        InputError: the file cannot be written; no partial file remains.
        RecordingError: the recording has changed meanwhile; likewise.
    """
    write_blocks(path, ["_".join([name, *(str(i + 1) for i in at)]) for name, at in _FIELDS], _columns(recording))


def _columns(recording: Recorded) -> Iterator[list[Column]]:
    for rows in recording.blocks():
        yield [rows[name][(..., *at)] for name, at in _FIELDS]
