"""Reader of recordings, whole or cut anywhere: what is whole in the file comes back."""

import json
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import zstandard
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Metadata, Schema
from mcap.writer import MCAP0_MAGIC

from rig.recording.schema import (
    CDR_HEADER,
    CLOSING_METADATA,
    CYCLE_MESSAGE,
    CYCLE_TOPIC,
    EVENTS_TOPIC,
    HEADER_METADATA,
    PACKED_SIZE,
    Event,
    RecordingError,
    cycle_definition,
    decode_event,
    layout,
)
from rig.telemetry import ROW

_LARGEST = 64 * 1024 * 1024
"""Bytes of the largest record or chunk that is believed: a damaged length must not fill the memory."""

_RECORD = struct.Struct("<BQ")
_CHUNK = struct.Struct("<QQQI")
_MESSAGE = struct.Struct("<HIQQ")
_PADDING = bytes(ROW.itemsize - PACKED_SIZE)


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """One recording in memory."""

    path: Path
    header: dict[str, Any]
    """What the writer was given: configuration, mechanism, versions, clocks. Empty if the file is cut before it."""
    rows: npt.NDArray[np.void]
    """Telemetry rows, (n,) of dtype ROW, in the order they were written."""
    events: tuple[Event, ...]
    """Events in the order of their times."""
    dropped: int
    """Cycles that took place but have no row: as the recorder counted them, or by the rows' own counters when cut."""
    complete: bool
    """Whether the file is whole: closed by its writer and undamaged."""
    closing: dict[str, Any]
    """Closing summary given by the owner of the writer; empty when the file is cut."""


def open_recording(path: Path | str) -> Recording:
    """Read a recording.

    A file cut at any byte gives every chunk that is whole in it, a damaged chunk is left out; `complete` is then false.
    Raises RecordingError when the file cannot be opened, is no recording, is a whole file of another program,
    or holds rows of another layout.
    """
    path = Path(path)
    try:
        with open(path, "rb") as file:
            return _Contents(path).read(file)
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror or error}") from None


def size_of_rows(path: Path | str) -> int:
    """Bytes of memory that a recording's rows take once read; estimated from the lengths of its chunks, a little high.

    Nothing is unpacked, what is cut or damaged counts as far as its lengths go. Raises RecordingError when the file
    cannot be opened.
    """
    length = 0
    try:
        with open(path, "rb") as file:
            file.seek(len(MCAP0_MAGIC))
            while len(head := file.read(_RECORD.size)) == _RECORD.size:
                opcode, size = _RECORD.unpack(head)
                if size > _LARGEST:
                    break
                if opcode == Opcode.CHUNK and len(chunk := file.read(_CHUNK.size)) == _CHUNK.size:
                    length += _CHUNK.unpack(chunk)[2]
                    size -= _CHUNK.size
                file.seek(size, os.SEEK_CUR)
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror or error}") from None
    return length // (_RECORD.size + _MESSAGE.size + len(CDR_HEADER) + PACKED_SIZE) * ROW.itemsize


class _Contents:
    """What has been found in a file so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: dict[str, Any] = {}
        self.closing: dict[str, Any] | None = None
        self.rows = bytearray()
        self.events: list[Event] = []
        self.topics: dict[int, str] = {}
        self.whole = False
        self.ours = False

    def read(self, file: BinaryIO) -> Recording:
        magic = file.read(len(MCAP0_MAGIC))
        if not MCAP0_MAGIC.startswith(magic):
            raise RecordingError(f"{self.path}: not an MCAP recording")
        damaged = False
        for opcode, content in _records(file):
            try:
                self.record(opcode, content)
            except (ValueError, LookupError, struct.error, McapError, zstandard.ZstdError):
                damaged = True
        if self.whole and not (self.ours or CYCLE_TOPIC in self.topics.values()):  # rows of a damaged one come back
            raise RecordingError(f"{self.path}: an MCAP file of another program: it has no stewart-rig header")
        rows = np.frombuffer(self.rows, ROW)
        closing = self.closing or {}
        dropped = closing.get("dropped")
        return Recording(
            path=self.path,
            header=self.header,
            rows=rows,
            events=tuple(sorted(self.events, key=lambda event: event.t)),
            dropped=dropped if isinstance(dropped, int) else _missing(rows),
            complete=self.whole and not damaged and self.closing is not None,
            closing=closing.get("summary", {}),
        )

    def record(self, opcode: int, content: bytes) -> None:
        """Take in one record outside the chunks. Raises one of several errors when it is damaged."""
        if opcode == Opcode.CHUNK:
            self.chunk(content)
        elif opcode == Opcode.METADATA:
            metadata = Metadata.read(_stream(content))
            self.ours |= metadata.name in (HEADER_METADATA, CLOSING_METADATA)
            if metadata.name == HEADER_METADATA:
                self.header = _json_object(metadata.metadata["json"])
            elif metadata.name == CLOSING_METADATA:
                self.closing = _json_object(metadata.metadata["json"])
        elif opcode == Opcode.FOOTER:
            self.whole = True

    def chunk(self, content: bytes) -> None:
        """Take in the messages of one chunk."""
        _, _, size, crc = _CHUNK.unpack_from(content)
        (length,) = struct.unpack_from("<I", content, _CHUNK.size)
        start = _CHUNK.size + 4 + length
        compression = content[_CHUNK.size + 4 : start]
        data = content[start + 8 :]
        if compression != b"zstd" or size > _LARGEST or zstandard.frame_content_size(data) != size:
            raise ValueError(f"chunk of {size} bytes, compression {compression!r}")
        data = zstandard.decompress(data)
        if crc and zlib.crc32(data) != crc:
            raise ValueError("chunk: checksum differs")
        position = 0
        while position < size:
            opcode, length = _RECORD.unpack_from(data, position)
            position += _RECORD.size
            self.chunk_record(opcode, data, position, position + length)
            position += length

    def chunk_record(self, opcode: int, data: bytes, start: int, stop: int) -> None:
        if opcode == Opcode.MESSAGE:
            topic = self.topics.get(_MESSAGE.unpack_from(data, start)[0])
            start += _MESSAGE.size
            if topic == CYCLE_TOPIC:
                if stop - start != len(CDR_HEADER) + PACKED_SIZE or data[start : start + 4] != CDR_HEADER:
                    raise ValueError("row: not the CDR encoding of one")
                self.rows += data[start + 4 : stop]
                self.rows += _PADDING
            elif topic == EVENTS_TOPIC:
                self.events.append(decode_event(data[start:stop]))
        elif opcode == Opcode.SCHEMA:
            schema = Schema.read(_stream(data[start:stop]))
            if schema.name == CYCLE_MESSAGE and layout(schema.data.decode()) != layout(cycle_definition()):
                raise RecordingError(f"{self.path}: its rows have another layout than this version's")
        elif opcode == Opcode.CHANNEL:
            channel = Channel.read(_stream(data[start:stop]))
            self.topics[channel.id] = channel.topic


def _records(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Every record up to the footer, opcode and content, as far as the file is whole and its lengths believable."""
    while len(head := file.read(_RECORD.size)) == _RECORD.size:
        opcode, length = _RECORD.unpack(head)
        if length > _LARGEST:
            return
        content = file.read(length)
        if len(content) < length or (opcode == Opcode.FOOTER and file.read() != MCAP0_MAGIC):
            return
        yield opcode, content


def _stream(content: bytes) -> ReadDataStream:
    return ReadDataStream(BytesIO(content))


def _json_object(text: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def _missing(rows: npt.NDArray[np.void]) -> int:
    """Cycles between the first and the last row that were neither skipped nor recorded."""
    if not len(rows):
        return 0
    first, last = rows[0], rows[-1]
    skipped = int(last["overruns"]) - int(first["overruns"])
    return max(0, int(last["cycle"]) - int(first["cycle"]) + 1 - len(rows) - skipped)
