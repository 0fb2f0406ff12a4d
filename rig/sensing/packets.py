"""Wire format of readings: UDP packets with an authentication, and lines of CSV or JSON.

All numbers are little endian, without padding; every number of eight bytes lies at a multiple of eight, as in the
set-points of a stream (`rig.streaming.packets`), whose tag and key these packets have. `docs/sensors.md` has the
layout.
"""

import math
import struct
from typing import Any, Final, NamedTuple

import orjson

from rig.streaming import LONGEST_LINE, TAG_SIZE, Drop, PacketError, bare_line, check_tag, number_of, tag_of, vector_of

MAGIC: Final = b"SRRD"
VERSION: Final = 1
_HEAD = struct.Struct("<4sBBH2Q2d")


class Measurement(NamedTuple):
    """A reading on the wire.

    session: the sender's number of its run. sequence: its count, None where it does not count. sent, time: s of its
    clock, when it was sent and when it was measured; NaN where it gives none. values: of the channels.
    """

    session: int
    sequence: int | None
    sent: float
    time: float
    values: tuple[float, ...]


def encode_packet(reading: Measurement, key: bytes | None = None) -> bytes:
    """The packet (56 + 8 n bytes) of a reading of n channels, which has a sequence number."""
    count = len(reading.values)
    head = _HEAD.pack(MAGIC, VERSION, count, 0, reading.session, reading.sequence or 0, reading.sent, reading.time)
    data = head + struct.pack(f"<{count}d", *reading.values)
    return data + tag_of(data, key)


def decode(data: bytes, count: int, key: bytes | None = None) -> Measurement:
    """The reading of a packet; without a key, also of a line.

    Args:
        data: received.
        count: of the sensor's channels.
        key: of the sensor's packets, or None.

    Raises:
        PacketError: `MALFORMED` or `KEY`.
    """
    if len(data) > LONGEST_LINE:
        raise PacketError(Drop.MALFORMED, f"more than {LONGEST_LINE} bytes")
    if data[:4] != MAGIC:
        if key is not None:
            raise PacketError(Drop.KEY, "not a packet, which alone is authenticated")
        return decode_line(data, count)
    if len(data) != _HEAD.size + 8 * count + TAG_SIZE:
        size = _HEAD.size + 8 * count + TAG_SIZE
        raise PacketError(Drop.MALFORMED, f"{len(data)} bytes, must be {size} for {count} channels")
    _, version, channels, flags, session, sequence, sent, time = _HEAD.unpack_from(data)
    if version != VERSION or channels != count or flags:
        raise PacketError(Drop.MALFORMED, f"version {version}, {channels} channels, flags {flags}: not of this sensor")
    check_tag(data[:-TAG_SIZE], data[-TAG_SIZE:], key)
    return Measurement(session, sequence, sent, time, struct.unpack_from(f"<{count}d", data, _HEAD.size))


def decode_line(line: bytes, count: int) -> Measurement:
    """The reading of a line: JSON, which begins with a brace, or CSV: sequence, time, then the values.

    Raises:
        PacketError: `MALFORMED`.
    """
    try:
        line = bare_line(line)
        if line.startswith(b"{"):
            return _of_json(line, count)
        cells = [cell.strip() for cell in line.decode("ascii").split(",")]
        if len(cells) != count + 2:
            raise ValueError(f"{len(cells)} columns, must be {count + 2}: sequence, time and {count} values")
        stamp = float(cells[1] or math.nan)
        return Measurement(0, int(cells[0]) if cells[0] else None, stamp, stamp, tuple(map(float, cells[2:])))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise PacketError(Drop.MALFORMED, f"line cannot be read: {error}") from None


def _of_json(line: bytes, count: int) -> Measurement:
    fields: dict[str, Any] = orjson.loads(line)
    unknown = fields.keys() - {"session", "sequence", "sent", "time", "values"}
    if unknown:
        raise ValueError(f"unknown field {min(unknown)!r}")
    time = number_of(fields.get("time"))
    sequence = fields.get("sequence")
    session = fields.get("session", 0)
    if type(session) is not int or not (sequence is None or type(sequence) is int):
        raise TypeError("session and sequence: must be whole numbers")
    return Measurement(session, sequence, number_of(fields.get("sent", time)), time, vector_of(fields, "values", count))
