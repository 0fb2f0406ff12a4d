"""The chunks of a recording: unpacked, verified, and taken apart into rows, in whatever version's layout."""

import re
import struct
import zlib
from collections.abc import Callable
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Schema

from rig.recording.motion_record import MOTIONS_TOPIC, MotionRecord, decode_motion
from rig.recording.readings import READING
from rig.recording.schema import (
    CDR_HEADER,
    CYCLE_MESSAGE,
    CYCLE_TOPIC,
    EVENTS_TOPIC,
    PACKED_SIZE,
    SENSOR_TOPICS,
    RecordedEvent,
    RecordingError,
    cycle_definition,
    decode_event,
    layout,
    sensor_channels,
)
from rig.telemetry import ABSENT, ROW, SensorChannels

Rows = npt.NDArray[np.void]

_FIELD = re.compile(r"(float64|uint64|uint32|uint16|uint8)(?:\[(\d+)\])? (\w+)")
_MOST = 4096  # elements of a field; a damaged definition must not fill the memory
_WITHOUT_PADDING = np.dtype(
    {"names": ["row"], "formats": [f"V{PACKED_SIZE}"], "offsets": [0], "itemsize": ROW.itemsize}
)


class RowLayout:
    """One layout of rows, by the fields of its message definition.

    Args:
        fields: types and names, as `rig.recording.schema.layout` gives them.

    `message` is the dtype of a row's message as it lies in a chunk, one after the other, its packed row the field
    `row`.

    Raises ValueError for fields that no version's rows have.
    """

    def __init__(self, fields: tuple[str, ...]) -> None:
        self._own = list(fields) == layout(cycle_definition())
        self._fields = _packed(fields)
        size = max(offset + kind.itemsize for kind, offset in (self._fields.fields or {}).values())  # type: ignore[misc]
        self.message = _message(size)
        self._padded = np.dtype({"names": ["row"], "formats": [f"V{size}"], "itemsize": self._fields.itemsize})
        if not self._own:
            _match(self._fields)

    def place(self, stretch: Rows, rows: Rows) -> None:
        """Copy packed rows (n,) into rows (n,) of dtype ROW.

        A value that a row had once is every leg's; what it did not have yet is as `rig.telemetry.ABSENT` says.
        """
        if self._own:
            rows.view(_WITHOUT_PADDING)["row"] = stretch
            return
        old = np.zeros(len(stretch), self._fields)
        old.view(self._padded)["row"] = stretch
        for name in ROW.names or ():
            if name not in (self._fields.names or ()):
                rows[name] = ABSENT[name]
            elif rows[name].size == old[name].size:
                rows[name] = old[name].reshape(rows[name].shape)
            else:
                rows[name] = old[name][:, np.newaxis]


class SensorLayout:
    """How the readings of one sensor lie in a chunk; `message` as of a `RowLayout`."""

    def __init__(self, channels: SensorChannels) -> None:
        self.channels = channels
        stamps = [("t", "<f8"), ("sent", "<f8"), ("received", "<f8"), ("sequence", "<u8")]
        self._fields = np.dtype([*stamps, ("values", "<f8", len(channels.names))])
        self.message = _message(self._fields.itemsize)

    def readings(self, stretch: Rows) -> Rows:
        """The readings (n,) of dtype `READING` of a stretch of packed ones; `sensor` is 0."""
        found = np.zeros(len(stretch), READING)
        packed = np.ascontiguousarray(stretch).view(self._fields)
        for name in ("t", "sent", "received", "sequence"):
            found[name] = packed[name]
        found["values"][:, : len(self.channels.names)] = packed["values"]
        return found


def _message(size: int) -> np.dtype[np.void]:
    """A message as it lies in a chunk, its content of `size` bytes the field `row`."""
    return np.dtype(
        [
            ("opcode", "u1"),
            ("length", "<u8"),
            ("channel", "<u2"),
            ("sequence", "<u4"),
            ("times", "<u8", 2),
            ("cdr", f"V{len(CDR_HEADER)}"),
            ("row", f"V{size}"),
        ]
    )


@cache
def own_layout() -> RowLayout:
    """The layout in which this version writes."""
    return RowLayout(tuple(layout(cycle_definition())))


def _packed(fields: tuple[str, ...]) -> np.dtype[np.void]:
    """The fields as CDR aligns them."""
    parts = []
    for field in fields:
        found = _FIELD.fullmatch(field)
        count = 1 if found is None else int(found[2] or 1)
        if found is None or not 0 < count <= _MOST:
            raise ValueError(f"row: field {field!r}")
        parts.append((found[3], found[1]) if found[2] is None else (found[3], found[1], (count,)))
    return np.dtype(parts, align=True)


def _match(old: np.dtype[np.void]) -> None:
    """Raise ValueError unless rows of `old` have become today's by fields added, or given to each leg."""
    for name in old.names or ():
        now = ROW[name] if name in (ROW.names or ()) else None
        if now is None or now.base != old[name].base or not _counts_match(old[name], now):
            raise ValueError(f"row: field {name!r}")
    missing = [name for name in ROW.names or () if name not in (old.names or ()) and name not in ABSENT]
    if missing:
        raise ValueError(f"row: without field {missing[0]!r}")


def _counts_match(old: np.dtype[np.void], now: np.dtype[np.void]) -> bool:
    counts = [int(np.prod(kind.shape)) for kind in (old, now)]
    return counts[0] == counts[1] or counts[0] == 1


LARGEST_CHUNK = 16 * 1024 * 1024
"""Bytes of the largest chunk that is believed: a damaged or hostile length must not fill the memory."""

DAMAGE = (ValueError, LookupError, struct.error, McapError, zstandard.ZstdError, RecursionError)
"""What decoding damaged bytes may raise."""

RECORD = struct.Struct("<BQ")
"""What every record begins with: opcode and length of its content."""
_CHUNK = struct.Struct("<QQQI")
_MESSAGE = struct.Struct("<HIQQ")
_CDR = np.void(CDR_HEADER)


def rows_in(unpacked: int) -> int:
    """How many rows so many bytes of unpacked chunks hold at most."""
    return unpacked // own_layout().message.itemsize


def unpacked_size(content: bytes) -> int:
    """Bytes that a chunk says it unpacks to, of the beginning of its content. Raises struct.error."""
    size: int = _CHUNK.unpack_from(content)[2]
    return size


def unpack(content: bytes, *, verify: bool = True) -> bytes:
    """The records in a chunk. Raises one of `DAMAGE`; without `verify` its checksum is not looked at."""
    _, _, size, crc = _CHUNK.unpack_from(content)
    (length,) = struct.unpack_from("<I", content, _CHUNK.size)
    start = _CHUNK.size + 4 + length
    compression = content[_CHUNK.size + 4 : start]
    data = content[start + 8 :]
    (packed,) = struct.unpack_from("<Q", content, start)
    if compression != b"zstd" or packed != len(data) or size > LARGEST_CHUNK:
        raise ValueError(f"chunk of {size} bytes, compression {compression!r}")
    if zstandard.frame_content_size(data) != size:
        raise ValueError(f"chunk: does not unpack to the {size} bytes it announces")
    data = zstandard.decompress(data)
    if verify and crc and zlib.crc32(data) != crc:
        raise ValueError("chunk: its checksum differs")
    return data


class ChunkParser:
    """Takes the chunks of one recording apart, in their order, and remembers its channels.

    name: of the recording, for messages.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.topics: dict[int, str] = {}
        self.sensors: dict[int, SensorLayout] = {}
        """of the external sensors, by their channels"""
        self._definitions: dict[int, str] = {}
        self._layout = own_layout()

    def parse(
        self,
        data: bytes,
        on_event: Callable[[RecordedEvent], Any] | None = None,
        on_motion: Callable[[MotionRecord], Any] | None = None,
        on_readings: Callable[[SensorLayout, Rows], Any] | None = None,
    ) -> list[Rows]:
        """Rows of an unpacked chunk, as they lie in it, in stretches for `place`; the rest goes where it is told.

        Raises one of `DAMAGE`, and RecordingError for rows of another layout.
        """
        stretches = []
        position, size = 0, len(data)
        while position < size:
            opcode, length = RECORD.unpack_from(data, position)
            start, stop = position + RECORD.size, position + RECORD.size + length
            if stop > size:
                raise ValueError("chunk: a record beyond its end")
            if opcode == Opcode.MESSAGE:
                channel = _MESSAGE.unpack_from(data, start)[0]
                topic = self.topics.get(channel)
                if topic == CYCLE_TOPIC:
                    stretch = _rows_from(data, position, channel, self._layout.message)
                    stretches.append(stretch)
                    stop = position + len(stretch) * self._layout.message.itemsize
                elif topic == EVENTS_TOPIC and on_event is not None:
                    on_event(decode_event(data[start + _MESSAGE.size : stop]))
                elif topic == MOTIONS_TOPIC and on_motion is not None:
                    on_motion(decode_motion(data[start + _MESSAGE.size : stop]))
                elif channel in self.sensors and on_readings is not None:
                    sensor = self.sensors[channel]
                    stretch = _rows_from(data, position, channel, sensor.message)
                    on_readings(sensor, stretch)
                    stop = position + len(stretch) * sensor.message.itemsize
            elif opcode == Opcode.SCHEMA:
                schema = Schema.read(_stream(data[start:stop]))
                self._definitions[schema.id] = schema.data.decode()
                if schema.name == CYCLE_MESSAGE:
                    self._layout = self._known(tuple(layout(schema.data.decode())))
            elif opcode == Opcode.CHANNEL:
                described = Channel.read(_stream(data[start:stop]))
                self.topics[described.id] = described.topic
                if described.topic.startswith(SENSOR_TOPICS):
                    name, definition = described.topic.removeprefix(SENSOR_TOPICS), self._definitions
                    self.sensors[described.id] = SensorLayout(sensor_channels(name, definition[described.schema_id]))
            position = stop
        return stretches

    def place(self, stretch: Rows, rows: Rows) -> None:
        """Copy a stretch (n,) from `parse` into rows (n,) of dtype ROW."""
        self._layout.place(stretch, rows)

    def _known(self, fields: tuple[str, ...]) -> RowLayout:
        try:
            return RowLayout(fields)
        except ValueError as error:
            text = f"{self._name}: its rows have another layout than this version's, and than those before: {error}"
            raise RecordingError(text) from None


def _rows_from(data: bytes, position: int, channel: int, message: np.dtype[np.void]) -> Rows:
    """The rows that follow each other from `position` on without anything else between them."""
    messages = np.frombuffer(data, message, (len(data) - position) // message.itemsize, position)
    right = messages["opcode"] == Opcode.MESSAGE
    right &= messages["length"] == message.itemsize - RECORD.size
    right &= messages["channel"] == channel
    right &= messages["cdr"] == _CDR
    messages = messages[: len(right) if right.all() else int(right.argmin())]
    if not len(messages):
        raise ValueError("row: not the CDR encoding of one")
    stretch: Rows = messages["row"]
    start = message.fields["row"][1]  # type: ignore[index]
    times = np.ndarray(len(messages), "<f8", data, position + start, (message.itemsize,))  # t comes first
    if not (np.isfinite(times) & (times >= 0.0)).all():
        raise ValueError("row: its time is not finite or negative")
    return stretch


def _stream(content: bytes) -> ReadDataStream:
    return ReadDataStream(BytesIO(content))
