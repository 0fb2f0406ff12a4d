"""Wire format of streamed set-points and of the feedback to their sender: UDP packets and TCP lines, and their keys.

All numbers are little endian, without padding; every number of eight bytes lies at a multiple of eight, so that a C
struct of the same fields is the packet. `docs/streaming.md` has both layouts as tables, and senders in four languages.

A packet ends with the first 16 bytes of HMAC-SHA256 (RFC 2104, truncated as in RFC 4868) of all bytes before; 16 zero
bytes without a key. A line has the same fields as a packet, and the tag of the packet that they would make.
"""

import hashlib
import hmac
import math
import re
import stat
import struct
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from rig.errors import InputError
from rig.streaming.samples import ACCELERATION, END, VELOCITY

VERSION: Final = 1
TAG_SIZE: Final = 16
"""bytes of the truncated HMAC-SHA256 at the end of a packet"""
LONGEST_LINE: Final = 2048
"""bytes of a line over TCP, with its end"""
_FEEDBACK_MAGIC = b"SRFB"
_FEEDBACK = struct.Struct("<4sBBH4Q10d7d7d6d6d6d6d")
FEEDBACK_SIZE: Final = _FEEDBACK.size + TAG_SIZE
"""bytes of a feedback packet"""
_NO_TAG = bytes(TAG_SIZE)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NAN6 = (math.nan,) * 6
_LEAST_KEY, _MOST_KEY = 16, 64  # bytes


class Drop(StrEnum):
    """Why a set-point was not passed on."""

    OVERFLOW = "overflow"
    """newer ones filled the receiver's queue before its turn"""
    SYSTEM = "system"
    """the operating system had no room for it; not among those received"""
    MALFORMED = "malformed"
    """another size, magic number or version, unknown flags, a line that cannot be read"""
    KEY = "key"
    """its tag is not that of the configured key"""
    CHALLENGE = "challenge"
    """it opens a session without the receiver's number: a recorded packet, or a sender that has none yet"""
    OTHER_SESSION = "other_session"
    """another sender, or an earlier run of this one, while a session is active"""
    ENDED = "ended"
    """it comes after the end of its session"""
    DUPLICATE = "duplicate"
    """its sequence number was received before"""
    OLD = "old"
    """its sequence number lies too far back to be distinguished from a duplicate"""
    INVALID = "invalid"
    """a number is not finite, the quaternion not of unit norm, or the pose meant 10 s from when it was sent"""
    TIME = "time"
    """its time stamp contradicts the sender's clock so far; a few in a row that agree are a step of that clock"""


class SetPoint(NamedTuple):
    """A set-point on the wire.

    sent, time: s of the sender's clock, when it was sent and at which the pose is meant. given: bits as of
    `samples.SAMPLE`. motion: (19,) pose, velocity, acceleration; zero where not given.
    """

    session: int
    challenge: int
    sequence: int
    sent: float
    time: float
    given: int
    motion: tuple[float, ...]


class PacketError(Exception):
    """A packet or line that is none, or not of this key. `drop` says which."""

    def __init__(self, drop: Drop, text: str) -> None:
        self.drop = drop
        super().__init__(text)


class Feedback(NamedTuple):
    """What the rig did in one cycle, for the sender.

    state, flags: `rig.states.State`, `rig.telemetry.CycleFlag`. session, challenge: of the stream, or what a sender
    without one needs to open it. sequence, sent, received: of the newest set-point taken; s of the sender's clock and
    s of this machine's monotonic clock. cycle, t: of the telemetry row; s, rig time. answered: s, monotonic, when
    this was sent. delay: s, from the time at which a pose is meant to the time at which it is the reference.
    offset, drift with their standard uncertainties: of the sender's clock, s and s/s. jitter: s, 99th percentile of
    the delay beyond the least. reference, pose: (7,) base frame. twist: (6,) base frame. force, model: (6,) N at the
    load cells. wrench: (6,) N, N m, external, at the platform's origin in platform axes, from the cells' residuals of
    this cycle, without smoothing. NaN where unknown.
    """

    state: int = 0
    flags: int = 0
    session: int = 0
    challenge: int = 0
    sequence: int = 0
    cycle: int = 0
    t: float = math.nan
    sent: float = math.nan
    received: float = math.nan
    answered: float = math.nan
    delay: float = math.nan
    offset: float = math.nan
    offset_sigma: float = math.nan
    drift: float = math.nan
    drift_sigma: float = math.nan
    jitter: float = math.nan
    reference: Sequence[float] = (math.nan,) * 7
    pose: Sequence[float] = (math.nan,) * 7
    twist: Sequence[float] = _NAN6
    force: Sequence[float] = _NAN6
    model: Sequence[float] = _NAN6
    wrench: Sequence[float] = _NAN6


def read_key(path: Path) -> bytes:
    """The key in a file: one line of 32 to 128 hexadecimal digits, which only its owner may read.

    Raises:
        InputError: no such file, readable by others, or no key in it. The text never contains the key.
    """
    try:
        with path.open("rb") as file:
            mode = path.stat().st_mode
            text = file.read(4096).decode("ascii", "replace").strip()
    except OSError as error:
        raise InputError(f"key of the stream: {path}: {error.strerror or error}") from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"key of the stream: {path}: others may read it ({stat.filemode(mode)}): chmod 600 {path}")
    if not re.fullmatch(r"([0-9A-Fa-f]{2})+", text) or not _LEAST_KEY <= len(text) // 2 <= _MOST_KEY:
        wanted = f"one line of {2 * _LEAST_KEY} to {2 * _MOST_KEY} hexadecimal digits, an even number"
        raise InputError(f"key of the stream: {path}: {len(text)} characters, must be {wanted}")
    return bytes.fromhex(text)


def tag_of(data: bytes | memoryview, key: bytes | None) -> bytes:
    """Tag (16 bytes) of a packet's bytes before it."""
    return _NO_TAG if key is None else hmac.digest(key, data, hashlib.sha256)[:TAG_SIZE]


def check_tag(data: bytes, tag: bytes, key: bytes | None) -> None:
    """Raise PacketError unless `tag` is that of the bytes before it."""
    if not hmac.compare_digest(tag_of(data, key), tag):
        raise PacketError(Drop.KEY, "not authenticated by the configured key")


class SampleFormat:
    """Packets and lines of one kind of sample: the same header and tag, between them numbers of its own.

    Args:
        called: the kind, in messages.
        magic: first four bytes of a packet.
        count: numbers of its own.
        known: bits that `given` may have.
        fields: of a JSON line, besides those of the header.
        of_json: bits of `given`, without END, and the numbers of a JSON line.
        of_csv: the numbers of a CSV line, from the bits of `given` and the texts of its columns.
    """

    def __init__(
        self,
        called: str,
        magic: bytes,
        count: int,
        known: int,
        fields: set[str],
        of_json: Callable[[dict[str, Any]], tuple[int, tuple[float, ...]]],
        of_csv: Callable[[int, list[str]], tuple[float, ...]],
    ) -> None:
        self._called, self._magic, self._known = called, magic, known | END
        self._fields = fields | {"session", "challenge", "sequence", "sent", "time", "end", "tag"}
        self._of_json, self._of_csv = of_json, of_csv
        self._layout = struct.Struct(f"<4sBBH3Q2d{count}d")
        self._columns = 7 + count
        self.size = self._layout.size + TAG_SIZE
        """bytes of a packet"""

    def untagged(self, point: SetPoint) -> bytes:
        """The packet of a sample, whose `motion` has the numbers of this kind, without its tag."""
        return self._layout.pack(self._magic, VERSION, 0, point.given, *point[:5], *point.motion)

    def encode(self, point: SetPoint, key: bytes | None = None) -> bytes:
        """The packet of a sample, likewise, with its tag."""
        data = self.untagged(point)
        return data + tag_of(data, key)

    def decode(self, packet: bytes, key: bytes | None = None) -> SetPoint:
        """The sample of a packet, likewise.

        Raises:
            PacketError: `MALFORMED` or `KEY`.
        """
        if len(packet) != self.size:
            raise PacketError(Drop.MALFORMED, f"{len(packet)} bytes, must be {self.size}")
        magic, version, reserved, given, *numbers = self._layout.unpack_from(packet)
        if magic != self._magic or version != VERSION or reserved or given & ~self._known:
            text = f"magic {magic!r}, version {version}, flags {given}: not a {self._called}"
            raise PacketError(Drop.MALFORMED, text)
        check_tag(packet[:-TAG_SIZE], packet[-TAG_SIZE:], key)
        session, challenge, sequence, sent, time, *motion = numbers
        return SetPoint(session, challenge, sequence, sent, time, given, tuple(motion))

    def decode_line(self, line: bytes, key: bytes | None = None) -> SetPoint:
        """The sample of a line, JSON (it begins with a brace) or CSV, with or without end and UTF-8's mark, likewise.

        Raises:
            PacketError: `MALFORMED` or `KEY`.
        """
        try:
            line = bare_line(line)
            point, tag = self._read_json(line) if line.startswith(b"{") else self._read_csv(line)
            data = self.untagged(point)
            given_tag = bytes.fromhex(tag) if tag else _NO_TAG
        except (KeyError, TypeError, ValueError, OverflowError, struct.error) as error:
            raise PacketError(Drop.MALFORMED, f"line cannot be read: {error}") from None
        if point.given & ~self._known:
            raise PacketError(Drop.MALFORMED, f"flags {point.given}: unknown")
        check_tag(data, given_tag, key)
        return point

    def _read_json(self, line: bytes) -> tuple[SetPoint, str]:
        fields: dict[str, Any] = orjson.loads(line)
        if unknown := fields.keys() - self._fields:
            raise ValueError(f"unknown field {min(unknown)!r}")
        given, numbers = self._of_json(fields)
        if _checked(fields.get("end", False), bool):
            given |= END
        sent = number_of(fields["sent"])
        session, challenge = (_checked(fields.get(name, 0), int) for name in ("session", "challenge"))
        sequence, time = _checked(fields["sequence"], int), number_of(fields.get("time", sent))
        tag = _checked(fields.get("tag", ""), str)
        return SetPoint(session, challenge, sequence, sent, time, given, numbers), tag

    def _read_csv(self, line: bytes) -> tuple[SetPoint, str]:
        cells = [cell.strip() for cell in line.decode("ascii").split(",")]
        if len(cells) != self._columns:
            raise ValueError(f"{len(cells)} columns, must be {self._columns}")
        session, challenge, sequence, sent, time, given, *numbers, tag = cells
        whole = int(session or 0), int(challenge or 0), int(sequence)
        stamp, bits = float(sent), int(given or 0)
        return SetPoint(*whole, stamp, float(time or stamp), bits, self._of_csv(bits, numbers)), tag


def bare_line(line: bytes) -> bytes:
    """The line without its end and UTF-8's mark. Raises ValueError if it is too long, or a number has an underscore."""
    if len(line) > LONGEST_LINE:
        raise ValueError(f"{len(line)} bytes, at most {LONGEST_LINE}")
    line = line.removeprefix(_BYTE_ORDER_MARK).strip()
    if b"_" in line and not line.startswith(b"{"):  # Python's own, between digits
        raise ValueError("an underscore is no part of a number")
    return line


def vector_of(fields: dict[str, Any], name: str, size: int) -> tuple[float, ...]:
    """The `size` numbers of a JSON list. Raises ValueError, TypeError, KeyError."""
    values = fields[name]
    if not isinstance(values, list) or len(values) != size:
        raise ValueError(f"{name}: must be {size} numbers")
    return tuple(map(number_of, values))


def number_of(value: object) -> float:
    """A JSON number; null is what JSON has for a number that is not finite. Raises TypeError."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def _checked(value: Any, kind: type) -> Any:
    """A value of exactly this type. Raises TypeError."""
    if type(value) is not kind:
        raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return value


# -- set-points --------------------------------------------------------------------------------------------------------


def _of_json(fields: dict[str, Any]) -> tuple[int, tuple[float, ...]]:
    motion, given = vector_of(fields, "pose", 7), 0
    for name, bit in (("velocity", VELOCITY), ("acceleration", ACCELERATION)):
        if name in fields:
            given |= bit
            motion += vector_of(fields, name, 6)
        else:
            motion += (0.0,) * 6
    return given, motion


def _of_csv(given: int, cells: list[str]) -> tuple[float, ...]:
    numbers = [float(cell) for cell in cells[:7]]
    for begin, bit in ((7, VELOCITY), (13, ACCELERATION)):
        numbers += [float(cell if given & bit else cell or 0.0) for cell in cells[begin : begin + 6]]
    return tuple(numbers)


_FORMAT = SampleFormat(
    "set-point", b"SRSP", 19, VELOCITY | ACCELERATION, {"pose", "velocity", "acceleration"}, _of_json, _of_csv
)
PACKET_SIZE: Final = _FORMAT.size
"""bytes of a set-point"""
encode_set_point = _FORMAT.encode
decode_set_point = _FORMAT.decode
decode_line = _FORMAT.decode_line


def encode_json(point: SetPoint, key: bytes | None = None) -> bytes:
    """The JSON line of a set-point, with its end."""
    fields: dict[str, Any] = point._asdict()
    motion, given = fields.pop("motion"), fields.pop("given")
    fields["pose"] = motion[:7]
    if given & VELOCITY:
        fields["velocity"] = motion[7:13]
    if given & ACCELERATION:
        fields["acceleration"] = motion[13:]
    if given & END:
        fields["end"] = True
    if key is not None:
        fields["tag"] = tag_of(_FORMAT.untagged(point), key).hex()
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def encode_csv(point: SetPoint, key: bytes | None = None) -> bytes:
    """The CSV line of a set-point, with its end; columns as in `docs/streaming.md`."""
    numbers = [point.session, point.challenge, point.sequence, point.sent, point.time, point.given, *point.motion]
    tag = "" if key is None else tag_of(_FORMAT.untagged(point), key).hex()
    return ",".join([*map(repr, numbers), tag]).encode() + b"\n"


# -- feedback ----------------------------------------------------------------------------------------------------------


def encode_feedback(feedback: Feedback, key: bytes | None = None) -> bytes:
    """The packet (440 bytes) of a feedback."""
    numbers = (*feedback[2:16], *(number for vector in feedback[16:] for number in vector))
    data = _FEEDBACK.pack(_FEEDBACK_MAGIC, VERSION, feedback.state, feedback.flags, *numbers)
    return data + tag_of(data, key)


def decode_feedback(packet: bytes, key: bytes | None = None) -> Feedback:
    """The feedback of a packet.

    Raises:
        PacketError: `MALFORMED` or `KEY`.
    """
    if len(packet) != FEEDBACK_SIZE:
        raise PacketError(Drop.MALFORMED, f"{len(packet)} bytes, must be {FEEDBACK_SIZE}")
    magic, version, state, flags, *numbers = _FEEDBACK.unpack_from(packet)
    if magic != _FEEDBACK_MAGIC or version != VERSION:
        raise PacketError(Drop.MALFORMED, f"magic {magic!r}, version {version}: not a feedback")
    check_tag(packet[:-TAG_SIZE], packet[-TAG_SIZE:], key)
    vectors, start = [], 14
    for size in (7, 7, 6, 6, 6, 6):
        vectors.append(tuple(numbers[start : start + size]))
        start += size
    return Feedback(state, flags, *numbers[:14], *vectors)


def feedback_line(feedback: Feedback) -> bytes:
    """The JSON line of a feedback, with its end; null where unknown."""
    return orjson.dumps(feedback._asdict(), option=orjson.OPT_APPEND_NEWLINE)
