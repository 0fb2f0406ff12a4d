"""A motion as it is recorded: once when it begins, once when it has ended."""

import math
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

from rig.names import as_name
from rig.recording.schema import CDR_HEADER
from rig.states import MotionKind, MotionOutcome

if TYPE_CHECKING:
    from kinematics import Thresholds

MOTIONS_TOPIC = "/rig/motions"
MOTION_MESSAGE = "stewart_rig/msg/Motion"
_FIXED = struct.Struct("<ddddIBBxxI")
_AMPLITUDE = struct.Struct("<d")
_LENGTH = struct.Struct("<I")
_WALL = struct.Struct("<Q")


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
            "",
        ]
    )


def encode_motion(motion: MotionRecord) -> bytes:
    """CDR bytes of a motion's record."""
    name, thresholds = _text(motion.name), _text(motion.thresholds)
    numbers = (motion.start, motion.end, motion.reached, motion.duration)
    fixed = _FIXED.pack(*numbers, motion.id, motion.kind, motion.outcome, len(name))
    amplitude = _padding(len(name)) + _AMPLITUDE.pack(motion.amplitude)
    texts = fixed + name + amplitude + _LENGTH.pack(len(thresholds)) + thresholds
    return CDR_HEADER + texts + bytes(-len(texts) % _WALL.size) + _WALL.pack(motion.begun_ns)


def decode_motion(data: bytes) -> MotionRecord:
    """Motion's record of its CDR bytes, also of one made before amplitudes, thresholds or wall clocks were recorded.

    Raises ValueError or struct.error when they are damaged.
    """
    if data[:4] != CDR_HEADER:
        raise ValueError("motion: not little-endian CDR")
    start, end, reached, duration, number, kind, outcome, length = _FIXED.unpack_from(data, 4)
    begin = 4 + _FIXED.size
    name, rest = data[begin : begin + length], data[begin + length :]
    amplitude, thresholds, begun = 0.0, b"\0", 0
    if rest:
        place = len(_padding(length))
        (amplitude,) = _AMPLITUDE.unpack_from(rest, place)
        rest = rest[place + _AMPLITUDE.size :]
    if rest:
        (size,) = _LENGTH.unpack_from(rest)
        thresholds, rest = rest[_LENGTH.size : _LENGTH.size + size], rest[_LENGTH.size + size :]
        if len(thresholds) != size or len(rest) not in (0, -(len(data) - len(rest) - len(CDR_HEADER)) % 8 + _WALL.size):
            thresholds = b""
        elif rest:
            (begun,) = _WALL.unpack(rest[-_WALL.size :])
    if len(name) != length or name[-1:] != b"\0" or thresholds[-1:] != b"\0":
        raise ValueError(f"motion: {len(data) - begin} bytes of texts that are not as long as they are announced")
    known = _member(MotionKind, kind), _member(MotionOutcome, outcome)
    said, wanted = as_name(name[:-1].decode(), ""), thresholds[:-1].decode()
    return MotionRecord(number, *known, start, end, reached, duration, said, amplitude, wanted, begun)


def _text(text: str) -> bytes:
    return text.encode(errors="replace").replace(b"\0", b"") + b"\0"


def _padding(length: int) -> bytes:
    """What CDR puts between a name of so many bytes and the number after it: numbers lie at multiples of their size."""
    return bytes(-(_FIXED.size + length) % _AMPLITUDE.size)


def _member(kind: type[IntEnum], value: int) -> int:
    """The enum's member, or the number where this version has no such member."""
    try:
        return kind(value)
    except ValueError:
        return value
