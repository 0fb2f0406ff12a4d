"""Wire format of readings: UDP packets with an authentication, and lines of CSV or JSON.

All numbers are little endian, without padding; every number of eight bytes lies at a multiple of eight, as in the
set-points of a stream (`rig.streaming.packets`), whose tag and key these packets have. `docs/sensors.md` has the
layout.
"""

import hmac
import math
import struct
from typing import Any, Final, NamedTuple

import orjson

from rig.streaming import Drop, PacketError, tag_of

MAGIC: Final = b"SRRD"
VERSION: Final = 1
LONGEST: Final = 2048
"""bytes of a packet or line, at most"""
_HEAD = struct.Struct("<4sBBH2Q2d")
_TAG_SIZE = 16


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
    if len(data) > LONGEST:
        raise PacketError(Drop.MALFORMED, f"more than {LONGEST} bytes")
    if data[:4] != MAGIC:
        if key is not None:
            raise PacketError(Drop.KEY, "not a packet, which alone is authenticated")
        return decode_line(data, count)
    if len(data) != _HEAD.size + 8 * count + _TAG_SIZE:
        size = _HEAD.size + 8 * count + _TAG_SIZE
        raise PacketError(Drop.MALFORMED, f"{len(data)} bytes, must be {size} for {count} channels")
    _, version, channels, flags, session, sequence, sent, time = _HEAD.unpack_from(data)
    if version != VERSION or channels != count or flags:
        raise PacketError(Drop.MALFORMED, f"version {version}, {channels} channels, flags {flags}: not of this sensor")
    if not hmac.compare_digest(tag_of(data[:-_TAG_SIZE], key), data[-_TAG_SIZE:]):
        raise PacketError(Drop.KEY, "not authenticated by the configured key")
    return Measurement(session, sequence, sent, time, struct.unpack_from(f"<{count}d", data, _HEAD.size))


def decode_line(line: bytes, count: int) -> Measurement:
    """The reading of a line: JSON, which begins with a brace, or CSV: sequence, time, then the values.

    Raises:
        PacketError: `MALFORMED`.
    """
    try:
        if line.lstrip()[:1] == b"{":
            return _of_json(line, count)
        if b"_" in line:  # which Python takes between digits
            raise ValueError("'_' is in no number")
        cells = [cell.strip() for cell in line.decode("ascii").strip().split(",")]
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
    values = fields["values"]
    if not isinstance(values, list) or len(values) != count:
        raise ValueError(f"values: must be {count} numbers")
    time = _number(fields.get("time"))
    sequence = fields.get("sequence")
    session = fields.get("session", 0)
    if type(session) is not int or not (sequence is None or type(sequence) is int):
        raise TypeError("session and sequence: must be whole numbers")
    return Measurement(session, sequence, _number(fields.get("sent", time)), time, tuple(map(_number, values)))


def _number(value: object) -> float:
    """A JSON number; null is what JSON has for a number that is not finite."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return float(value)
