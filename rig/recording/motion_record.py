"""A motion as it is recorded: once when it begins, once when it has ended."""

import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

from rig.findings import Finding, finding_from_json, finding_to_json
from rig.names import as_name
from rig.recording.schema import CDR_HEADER, EventLevel, RecordedEvent
from rig.states import MotionKind, MotionOutcome, cause_text

if TYPE_CHECKING:
    from kinematics import Thresholds

MOTIONS_TOPIC = "/rig/motions"
MOTION_MESSAGE = "stewart_rig/msg/Motion"
_FIXED = struct.Struct("<ddddIBBxxI")
_AMPLITUDE = struct.Struct("<d")
_LENGTH = struct.Struct("<I")
_WALL = struct.Struct("<Q")
_CODE = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class MotionRecord:
    """One motion, as it stood when this was written.

    Raises ValueError for a start, a place on the path or an amplitude that is negative or not finite, a duration that
    is negative or no number, an end that is before the start, an id that is not 1…2³² - 1, a kind or an outcome above
    255, or a wall clock before 1970.
    """

    __pydantic_config__: ClassVar = {"ser_json_inf_nan": "constants"}

    id: int
    """counted from 1 since the engine began; rows of telemetry name it"""
    kind: MotionKind | int
    outcome: MotionOutcome | int
    """UNDERWAY at its beginning"""
    start: float
    """s, rig time of its first cycle"""
    end: float
    """s, rig time of the cycle in which it ended; not a number while it is under way"""
    reached: float
    """s of its path"""
    duration: float
    """s of its path, infinite where it has no end of its own; 0 where the drives move legs and there is no path"""
    name: str
    amplitude: float = 0.0
    """size about its start pose, 1 for the motion as it is; 0 where it was not recorded"""
    thresholds: str = ""
    """what its own file wants of its runs: [validation] as a JSON object, SI; empty where it wants nothing"""
    begun_ns: int = 0
    """wall clock of its first cycle, ns since 1970; 0 where there is none, or it was not recorded"""
    cause_code: int = 0
    """`FaultCode` of the first cause of the stop that ended it, 0 where no stop did"""
    cause: str | None = ""
    """that cause in words, None in a record made before it was recorded"""
    finding: Finding | None = None
    """what that cause was made from; None in a record made before findings were recorded"""

    @property
    def cause_text(self) -> str:
        """The first cause of the stop that ended it, as everything says it; empty where no stop did."""
        return cause_text(self.cause_code, self.cause or "")

    def __post_init__(self) -> None:
        places = (self.start, self.reached, self.amplitude, min(self.duration, 0.0))
        if not all(math.isfinite(value) and value >= 0.0 for value in places):
            raise ValueError(
                f"motion: start {self.start} s, reached {self.reached} of {self.duration} s, amplitude {self.amplitude}"
            )
        if not (math.isnan(self.end) or (math.isfinite(self.end) and self.end >= self.start)):
            raise ValueError(f"motion: ends at {self.end} s, begins at {self.start} s")
        if not 0 <= self.begun_ns < 1 << 63:
            raise ValueError(f"motion: begun {self.begun_ns} ns after 1970")
        if not (0 < self.id < 1 << 32 and 0 <= self.kind < 1 << 8 and 0 <= self.outcome < 1 << 8):
            raise ValueError(f"motion: id {self.id}, kind {self.kind}, outcome {self.outcome}")

    @property
    def own_thresholds(self) -> "Thresholds":
        """What the motion's own file wants of its runs; none where it is not what this version knows."""
        from kinematics import Thresholds  # which no listing of recordings waits for

        try:
            return Thresholds.model_validate_json(self.thresholds or "{}")
        except ValueError:
            return Thresholds()

    @property
    def t(self) -> float:
        """s, rig time of what it says: its beginning, or its end."""
        return self.start if math.isnan(self.end) else self.end


def cause_of(motion: MotionRecord, events: Iterable[RecordedEvent]) -> tuple[int, str, Finding | None]:
    """The first cause of the stop that ended a motion: its `FaultCode`, words and finding; 0, "", None for no stop.

    A recording made before causes were among its motions has `events` alone: a fault latches, and ends the motion; of
    stops that do not latch, those before the last may have been resumed.
    """
    if motion.cause is not None:
        return motion.cause_code, motion.cause_text, motion.finding
    if motion.outcome in (MotionOutcome.FINISHED, MotionOutcome.UNDERWAY):
        return 0, "", None
    during = [event for event in events if event.code and motion.start <= event.t <= motion.end]
    latched = [event for event in during if event.level >= EventLevel.ERROR]
    found = next(iter([*latched[:1], *during[-1:]]), None)
    return (0, "", None) if found is None else (found.code, cause_text(found.code, found.text), found.finding)


def motion_definition() -> str:
    """ROS 2 message definition of a motion's record."""
    return "\n".join(
        [
            "float64 start  # s, rig time of its first cycle",
            "float64 end  # s, rig time of the cycle in which it ended; not a number in the record of its beginning",
            "float64 reached  # s of its path",
            "float64 duration  # s of its path, infinite where it has no end; 0 without a path",
            "uint32 id  # Cycle.motion of its cycles",
            *(f"uint8 KIND_{kind.name}={kind.value}" for kind in MotionKind),
            "uint8 kind",
            *(f"uint8 OUTCOME_{outcome.name}={outcome.value}" for outcome in MotionOutcome),
            "uint8 outcome",
            "string name",
            "float64 amplitude  # about its start pose, 1 for the motion as it is",
            "string thresholds  # what its own file wants of its runs, a JSON object; empty where it wants nothing",
            "uint64 begun_ns  # wall clock of its first cycle, ns since 1970; 0 where there is none",
            "uint32 cause_code  # rig.states.FaultCode of the first cause of the stop that ended it, 0 where none did",
            "string cause  # in words",
            "string finding  # what the cause is made from, a JSON object; empty where there is none",
            "",
        ]
    )


def encode_motion(motion: MotionRecord) -> bytes:
    """CDR bytes of a motion's record."""
    name, thresholds, cause = _text(motion.name), _text(motion.thresholds), _text(motion.cause or "")
    numbers = (motion.start, motion.end, motion.reached, motion.duration)
    data = _FIXED.pack(*numbers, motion.id, motion.kind, motion.outcome, len(name)) + name
    data += _padding(len(data), _AMPLITUDE) + _AMPLITUDE.pack(motion.amplitude)
    data += _LENGTH.pack(len(thresholds)) + thresholds
    data += _padding(len(data), _WALL) + _WALL.pack(motion.begun_ns)
    data += _CODE.pack(motion.cause_code) + _LENGTH.pack(len(cause)) + cause
    finding = _text("" if motion.finding is None else finding_to_json(motion.finding))
    data += _padding(len(data), _LENGTH) + _LENGTH.pack(len(finding)) + finding
    return CDR_HEADER + data


def decode_motion(data: bytes) -> MotionRecord:
    """Motion's record of its CDR bytes, of any version: later ones have more at the end.

    Raises ValueError or struct.error when they are damaged.
    """
    if data[:4] != CDR_HEADER:
        raise ValueError("motion: not little-endian CDR")
    data = data[4:]
    start, end, reached, duration, number, kind, outcome, length = _FIXED.unpack_from(data)
    name, place = _taken(data, _FIXED.size, length)
    amplitude, thresholds, begun, code, cause, finding = 0.0, "", 0, 0, None, ""
    if place < len(data):
        place += len(_padding(place, _AMPLITUDE))
        (amplitude,) = _AMPLITUDE.unpack_from(data, place)
        place += _AMPLITUDE.size
    if place < len(data):
        thresholds, place = _taken(data, place + _LENGTH.size, *_LENGTH.unpack_from(data, place))
    if place < len(data):
        place += len(_padding(place, _WALL))
        (begun,) = _WALL.unpack_from(data, place)
        place += _WALL.size
    if place < len(data):
        (code,) = _CODE.unpack_from(data, place)
        place += _CODE.size
        cause, place = _taken(data, place + _LENGTH.size, *_LENGTH.unpack_from(data, place))
    if place < len(data):
        place += len(_padding(place, _LENGTH))
        finding, place = _taken(data, place + _LENGTH.size, *_LENGTH.unpack_from(data, place))
    if place != len(data):
        raise ValueError(f"motion: {len(data) - place} bytes beyond its end")
    known = _member(MotionKind, kind), _member(MotionOutcome, outcome)
    checked_name = as_name(name, "")
    return MotionRecord(
        number, *known, start, end, reached, duration, checked_name, amplitude, thresholds, begun, code, cause,
        finding_from_json(finding),
    )  # fmt: skip


def _text(text: str) -> bytes:
    return text.encode(errors="replace").replace(b"\0", b"") + b"\0"


def _taken(data: bytes, place: int, size: int) -> tuple[str, int]:
    """A text of so many bytes at a place, its end among them, and the place after it."""
    text = data[place : place + size]
    if len(text) != size or text[-1:] != b"\0":
        raise ValueError(f"motion: a text of {len(text)} bytes that is not as long as it is announced ({size} bytes)")
    return text[:-1].decode(), place + size


def _padding(place: int, number: struct.Struct) -> bytes:
    """What CDR puts at a place before a number, which lies at a multiple of its size."""
    return bytes(-place % number.size)


def _member(kind: type[IntEnum], value: int) -> int:
    """The enum's member, or the number where this version has no such member."""
    try:
        return kind(value)
    except ValueError:
        return value
