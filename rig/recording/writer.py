"""Writer of a recording: an MCAP file of ROS 2 messages, readable after any cut, and its chunks' index."""

import fcntl
import io
import json
import math
import os
import resource
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
import numpy.typing as npt
from mcap.data_stream import RecordBuilder
from mcap.records import ChunkIndex
from mcap.writer import CompressionType, Writer

from rig.findings import Finding
from rig.recording.metadata import digest
from rig.recording.motion_record import (
    MOTION_MESSAGE,
    MOTIONS_TOPIC,
    MotionRecord,
    encode_motion,
    motion_definition,
)
from rig.recording.readings import READING
from rig.recording.schema import (
    CDR_HEADER,
    CLOSING_METADATA,
    CYCLE_MESSAGE,
    CYCLE_TOPIC,
    DIGEST_KEY,
    EVENT_MESSAGE,
    EVENTS_TOPIC,
    HEADER_METADATA,
    JSON_KEY,
    LARGEST_TEXT,
    PACKED_SIZE,
    SENSOR_TOPICS,
    EventLevel,
    RecordedEvent,
    RecordingError,
    cycle_definition,
    encode_event,
    event_definition,
    sensor_definition,
    sensor_message,
)
from rig.runtime import wait_until
from rig.telemetry import ROW, SensorChannels


class ChunkIndexes:
    """Replaces a list of `mcap.writer.Writer` that grows by more than 20 MB an hour at 500 Hz.

    It stores records in their written form; iteration gives one record with all of them.

    Args:
        folder: of the unnamed file that stores them until `close`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None

    def append(self, index: ChunkIndex) -> None:
        """Store the index of one more chunk. Raises OSError if the disk fails."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115  closed by close
        record = RecordBuilder()
        index.write(record)
        self._file.write(record.end())  # type: ignore[no-untyped-call]

    def __iter__(self) -> Iterator[Self]:
        yield self

    def write(self, stream: RecordBuilder) -> None:
        """Write all of them."""
        if self._file is not None:
            self._file.seek(0)
            stream.write(self._file.read())

    def close(self) -> None:
        """Close the file. May be called again."""
        if self._file is not None:
            with suppress(OSError):  # a full disk
                self._file.close()


_CHUNK_SIZE = 64 * 1024
_PATIENCE = 1.0  # s
_CHUNK_TIME = 500_000_000
"""ns of rig time, longest chunk, which is what a cut of the file loses."""


_BUFFER = 256 * 1024
_STAMPS = 32
"""Bytes of a reading before its values: `t`, `sent`, `received` and `sequence`, which come first in READING."""


def _private(path: str, flags: int) -> int:
    """Open a file that only its owner can read, for appending.

    The owner decides who may read a recording. A file truncated by another process stays too short, without a hole.
    """
    return os.open(path, flags | os.O_APPEND, stat.S_IRUSR | stat.S_IWUSR)


class _Counted(io.FileIO):
    """A file that counts the bytes written."""

    written = 0

    def write(self, data: Any, /) -> int:
        count = super().write(data)
        self.written += count
        return count


def _unfit_time(t: float) -> RecordingError:
    return RecordingError(f"rig time {t} s: must be finite and not negative")


class RecordingWriter:
    """Writes rows and events to a new file.

    The bytes depend only on the arguments: chunks end by size and rig time, log times are rig time after
    `header["clock"]["wall_ns"]` (0 where the header has none). Header and closing summary are JSON objects.
    sensors: the external ones, in the order of the numbers of their readings.
    Raises RecordingError if the file exists or the header is no JSON, OSError if the disk fails.
    """

    def __init__(self, path: Path | str, header: Mapping[str, Any], sensors: Sequence[SensorChannels] = ()) -> None:
        self.path = Path(path)
        self._place = self.path.absolute()  # whatever becomes the process's folder
        text = _to_json("header", header)
        self._epoch = _epoch(header)
        self.rows = 0
        """Rows written."""
        self.events = 0
        """Events written."""
        self.motions = 0
        """Records of motions written."""
        self.readings = 0
        """Readings of sensors written."""
        self._indexes = ChunkIndexes(self.path.parent)
        try:
            self._file = io.BufferedWriter(_Counted(self.path, "xb", opener=_private), _BUFFER)
        except FileExistsError:
            raise RecordingError(f"{self.path}: exists already, recordings are never overwritten") from None
        try:
            if not wait_until(self._locked, _PATIENCE):
                raise RecordingError(f"{self.path}: another process has it locked")
            self._mcap = Writer(
                self._file, chunk_size=_CHUNK_SIZE, compression=CompressionType.ZSTD, enable_data_crcs=True
            )
            self._mcap._Writer__chunk_indices = self._indexes  # type: ignore[attr-defined]  # not a list that grows
            self._mcap.start(profile="ros2", library="stewart-rig")
            self._mcap.add_metadata(HEADER_METADATA, _vouched(text))
            self._cycle = self._channel(CYCLE_TOPIC, CYCLE_MESSAGE, cycle_definition())
            self._events = self._channel(EVENTS_TOPIC, EVENT_MESSAGE, event_definition())
            self._motions = self._channel(MOTIONS_TOPIC, MOTION_MESSAGE, motion_definition())
            self._sensors = [
                (
                    self._channel(SENSOR_TOPICS + each.name, sensor_message(each.name), sensor_definition(each)),
                    _STAMPS + 8 * len(each.names),
                )
                for each in sensors
            ]
            """of each sensor: its channel, and bytes of a reading's message"""
            self._file.flush()
        except BaseException:
            self.abandon()
            self.path.unlink()
            raise
        self._chunk_start: int | None = None

    def _locked(self) -> bool:
        """Whether the file could be locked; a check by `locked_by_writer` locks it for an instant."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _channel(self, topic: str, message: str, definition: str) -> int:
        schema: int = self._mcap.register_schema(message, "ros2msg", definition.encode())
        return self._mcap.register_channel(topic, "cdr", schema)

    @property
    def size(self) -> int:
        """Size of the file so far, without the chunk being filled."""
        return self._size if self._file.closed else self._file.tell()

    def write_rows(self, rows: npt.NDArray[np.void]) -> None:
        """Append telemetry rows, (n,) of dtype ROW.

        Raises RecordingError for another dtype or a time that is negative or not finite, OSError if the disk fails.
        """
        if rows.dtype != ROW or rows.ndim != 1:
            raise RecordingError(f"rows: {rows.dtype} of {rows.ndim} axes is not a sequence of telemetry rows")
        times = rows["t"]
        unfit = times[~(np.isfinite(times) & (times >= 0.0))]
        if len(unfit):
            raise _unfit_time(float(unfit[0]))
        log_times = (self._epoch + np.rint(times * 1e9).astype(np.int64)).tolist()
        sequences = (rows["cycle"] & np.uint64(0xFFFFFFFF)).tolist()
        data = rows.tobytes()
        for index, (log_time, sequence) in enumerate(zip(log_times, sequences, strict=True)):
            start = index * ROW.itemsize
            self._add(self._cycle, log_time, CDR_HEADER + data[start : start + PACKED_SIZE], sequence)
        self.rows += len(rows)

    def event(self, t: float, level: int, code: int, text: str, finding: Finding | None = None) -> None:
        """Append an event at rig time `t` (s); an error ends its chunk, so that the cause is not lost with the tail.

        Raises ValueError for invalid numbers of an event, OSError if the disk fails.
        """
        data = encode_event(RecordedEvent(t, level, code, text.replace("\0", ""), finding))
        self._add(self._events, self._log_time(t), data, self.events)
        self.events += 1
        if level >= EventLevel.ERROR:
            self._mcap.flush()  # type: ignore[no-untyped-call]
            self._chunk_start = None

    def motion(self, motion: MotionRecord) -> None:
        """Append the record of a motion's beginning or end. Raises OSError if the disk fails."""
        self._add(self._motions, self._log_time(motion.t), encode_motion(motion), self.motions)
        self.motions += 1

    def write_readings(self, readings: npt.NDArray[np.void]) -> None:
        """Append readings of sensors, (n,) of dtype READING.

        Raises RecordingError for another dtype, an unknown sensor, or a time that is negative or not finite, OSError if
        the disk fails.
        """
        if readings.dtype != READING or readings.ndim != 1:
            raise RecordingError(f"readings: {readings.dtype} of {readings.ndim} axes is not a sequence of readings")
        data, size = readings.tobytes(), READING.itemsize
        values = READING.fields["values"][1]  # type: ignore[index]
        columns = (readings[name].tolist() for name in ("t", "received", "sensor", "sequence"))
        for place, (t, received, sensor, sequence) in enumerate(zip(*columns, strict=True)):
            if sensor >= len(self._sensors):
                raise RecordingError(f"reading of sensor {sensor + 1}: there are {len(self._sensors)}")
            channel, bytes_of_it = self._sensors[sensor]
            start = place * size
            stamps = data[start : start + _STAMPS]
            content = data[start + values : start + values + bytes_of_it - _STAMPS]
            content = CDR_HEADER + stamps + content
            # logged as it arrived, beside the rows of then: a chunk ends where times are far apart
            self._add(channel, self._log_time(received), content, sequence & 0xFFFFFFFF, self._log_time(t))
        self.readings += len(readings)

    def _log_time(self, t: float) -> int:
        if not (math.isfinite(t) and t >= 0):
            raise _unfit_time(t)
        return self._epoch + round(t * 1e9)

    def _add(self, channel: int, log_time: int, data: bytes, sequence: int, measured: int | None = None) -> None:
        if self._chunk_start is None:
            self._chunk_start = log_time
        elif abs(log_time - self._chunk_start) >= _CHUNK_TIME:
            self._mcap.flush()  # type: ignore[no-untyped-call]
            self._chunk_start = log_time
        published = log_time if measured is None else measured
        self._mcap.add_message(channel, log_time, data, publish_time=published, sequence=sequence)

    def sync(self) -> None:
        """Sync all finished chunks to the disk. Raises OSError if the disk fails."""
        self._file.flush()
        os.fdatasync(self._file.fileno())

    def verify(self) -> None:
        """Check that the written data are on the disk, at the file's own path.

        Raises RecordingError if the file was deleted, moved, replaced, truncated or appended by another process, or its
        file system has become read-only; OSError if the check fails.
        """
        own, written = os.fstat(self._file.fileno()), self._file.raw.written
        try:
            there = os.stat(self._place)
        except (FileNotFoundError, NotADirectoryError):
            there = None
        if there is None or not os.path.samestat(own, there):
            raise RecordingError(f"{self._fate(own)}, while it was written: {self._place}")
        if own.st_size != written:
            by = "truncated" if own.st_size < written else "written to by another program"
            raise RecordingError(
                f"the recording was {by}: {own.st_size} bytes are on the disk, {written} were written: {self._place}"
            )
        if os.fstatvfs(self._file.fileno()).f_flag & os.ST_RDONLY:
            raise RecordingError(f"the file system of the recording has become read-only: {self._place}")

    def _fate(self, own: os.stat_result) -> str:
        """Text of what happened to a file that is not at its path any more."""
        if own.st_nlink == 0:
            return f"the recording was deleted, with its {self.rows} rows"
        with suppress(OSError):
            now = Path(os.readlink(f"/proc/self/fd/{self._file.fileno()}"))
            if os.path.samestat(own, now.stat()):
                return f"the recording was moved to {now}"
        return "the folder of the recording was replaced, or another file system was mounted over it"

    def room(self) -> int:
        """Bytes that the file may still grow by: free for this user, and allowed to this process for one file."""
        system = os.fstatvfs(self._file.fileno())
        most, _hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        free = system.f_bavail * system.f_frsize
        return free if most == resource.RLIM_INFINITY else max(0, min(free, most - self.size))

    def close(self, summary: Mapping[str, Any] | None = None, *, dropped: int = 0) -> None:
        """Finish the file: last chunk, closing metadata, index; `dropped`: number of rows that did not arrive here.

        Raises RecordingError if the summary is no JSON object or the file is lost (see `verify`), OSError if the disk
        fails; the file is then still open, `abandon` it.
        """
        if self._file.closed:
            return
        counts = {"rows": self.rows, "events": self.events, "motions": self.motions}
        if self._sensors:
            counts["readings"] = self.readings
        closing = counts | {"dropped": dropped, "summary": dict(summary or {})}
        text = _to_json("closing summary", closing)
        self._mcap.flush()  # type: ignore[no-untyped-call]
        self._mcap.add_metadata(CLOSING_METADATA, _vouched(text))
        self._mcap.finish()  # type: ignore[no-untyped-call]
        self.sync()
        self.verify()
        self._size = self._file.tell()
        self._file.close()
        self._indexes.close()

    def abandon(self) -> None:
        """Close the file without its end; data on the disk remain readable."""
        if not self._file.closed:
            self._size = self._file.tell()
            with suppress(OSError):
                self._file.close()
        self._indexes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc_info: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


def _to_json(what: str, value: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(value, sort_keys=True, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise RecordingError(f"{what}: not a JSON object of finite numbers: {error}") from None
    if len(text) > LARGEST_TEXT:
        raise RecordingError(f"{what}: {len(text)} characters of JSON, at most {LARGEST_TEXT} go")
    return text


def _vouched(text: str) -> dict[str, str]:
    """Content of a metadata record with its own checksum, valid also before the file is closed."""
    return {JSON_KEY: text, DIGEST_KEY: digest(text)}


def _epoch(header: Mapping[str, Any]) -> int:
    clock = header.get("clock") or {}
    wall = clock.get("wall_ns", 0)
    if not isinstance(wall, int) or wall < 0:
        raise RecordingError(f"header clock.wall_ns: {wall!r} is not a count of nanoseconds since 1970")
    return wall
