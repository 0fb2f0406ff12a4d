"""What a recording is made of: topics, ROS 2 message definitions and the CDR bytes of rows and events."""

import math
import struct
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from rig.findings import Code, Finding, finding_from_json, finding_to_json
from rig.states import FaultCode, State, StopSeverity
from rig.telemetry import MEANING, MOST_CHANNELS, ROW, SensorChannels

CYCLE_TOPIC = "/rig/cycle"
EVENTS_TOPIC = "/rig/events"
CYCLE_MESSAGE = "stewart_rig/msg/Cycle"
EVENT_MESSAGE = "stewart_rig/msg/Event"
HEADER_METADATA = "rig"
"""Name of the metadata record that holds the header as JSON under the key `json`."""
CLOSING_METADATA = "rig.closing"
"""Name of the metadata record that a closed recording ends with, JSON as well."""

SENSOR_TOPICS = "/sensors/"
"""What the topic of an external sensor begins with; its name follows."""

JSON_KEY = "json"
DIGEST_KEY = "sha256"
"""Key beside `json` in both: SHA-256 of that text; recordings made before have none."""
LARGEST_TEXT = 4 * 1024 * 1024
"""Characters of the longest JSON text of either."""

COMMAND = "command: "
"""What the text of an event begins with, in a recording without findings, that says what a client asked for."""
INJECTED = "virtual rig: "
"""Likewise of what was injected into a virtual rig."""
_ACTIONS = ("injected", "on", "cleared", "ended", "to come")

CDR_HEADER = b"\x00\x01\x00\x00"
"""Representation identifier of plain CDR, little endian, and two bytes of options."""


class RecordingError(Exception):
    """A recording cannot be written, read or recovered."""


class EventLevel(IntEnum):
    """Severity of an event, numbered as in ROS 2's log messages."""

    INFO = 20
    WARNING = 30
    ERROR = 40
    FATAL = 50


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """Something that happened at rig time `t` (s); `code` is a `rig.states.FaultCode`, 0 where it is no fault.

    Raises ValueError for a time that is negative or not finite, a level above 255 or a code above 65535.
    """

    t: float
    level: int
    code: int
    text: str
    finding: Finding | None = None
    """None in a recording made before findings were recorded, or where this version does not know its code"""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.t) and self.t >= 0):
            raise ValueError(f"event: time {self.t} s, must be finite and not negative")
        if not (0 <= self.level < 1 << 8 and 0 <= self.code < 1 << 16):
            raise ValueError(f"event: level {self.level} of 0..255, code {self.code} of 0..65535")


@dataclass(frozen=True, slots=True)
class Injection:
    """What was done to a virtual rig at rig time `t` (s): `action` as "injected", "on", "cleared" or "ended"."""

    t: float
    action: str
    text: str


def is_command(event: RecordedEvent) -> bool:
    """Whether an event says what a client asked for, and what came of it."""
    if event.finding is None:
        return event.text.startswith(COMMAND)
    return event.finding.code is Code.COMMAND_GIVEN


def injection(event: RecordedEvent) -> Injection | None:
    """What an event says was done to a virtual rig; None where it says something else."""
    if event.finding is not None:
        details = event.finding.details
        if event.finding.code is not Code.INJECTED:
            return None
        return Injection(event.t, str(details["action"]), str(details["text"]))
    if not event.text.startswith(INJECTED):
        return None
    text = event.text.removeprefix(INJECTED)
    action = next((action for action in _ACTIONS if text.startswith(f"{action}: ")), "")
    return Injection(event.t, action, text.removeprefix(f"{action}: "))


_PACKED_FIELDS = {name: (field[0], field[1]) for name, field in (ROW.fields or {}).items()}
PACKED_SIZE = max(offset + kind.itemsize for kind, offset in _PACKED_FIELDS.values())
"""Bytes of a row without the padding at its end: what CDR has of it."""

_EVENT_FIXED = struct.Struct("<dBxHI")
_LENGTH = struct.Struct("<I")


def _constants(prefix: str, kind: str, members: type[IntEnum]) -> list[str]:
    return [f"{kind} {prefix}_{member.name}={member.value}" for member in members]


def cycle_definition() -> str:
    """ROS 2 message definition of one telemetry row: ROW's fields in ROW's order, arrays flattened in C order.

    Raises TypeError where ROW's layout is not the one CDR gives these fields.
    """
    labels = {
        "fault": _constants("FAULT", "uint16", FaultCode),
        "state": _constants("STATE", "uint8", State),
        "stop": _constants("STOP", "uint8", StopSeverity),
    }
    lines = []
    end = 0
    for name, (kind, offset) in _PACKED_FIELDS.items():
        base = kind.base
        aligned = -(-end // base.itemsize) * base.itemsize
        if offset != aligned:
            raise TypeError(f"telemetry field {name}: at byte {offset}, CDR has it at byte {aligned}")
        end = offset + kind.itemsize
        count = f"[{int(np.prod(kind.shape))}]" if kind.shape else ""
        lines += labels.get(name, [])
        lines.append(f"{base.name}{count} {name}  # {MEANING[name]}")
    return "\n".join(lines) + "\n"


def layout(definition: str) -> list[str]:
    """Types and names of the fields of a message definition, without its comments and constants."""
    lines = (line.split("#")[0].split() for line in definition.splitlines())
    return [" ".join(words) for words in lines if words and "=" not in words[-1]]


_SENSOR_FIELDS = (
    "float64 t  # s, rig time at which it was measured",
    "float64 sent  # s, the sender's own clock",
    "float64 received  # s, rig time of its arrival",
    "uint64 sequence  # the sender's count",
)
_KIND = "string KIND="


def sensor_message(name: str) -> str:
    """Name of the ROS 2 message of a sensor's readings."""
    return f"stewart_rig/msg/{name.title().replace('_', '')}Reading"


def sensor_definition(channels: SensorChannels) -> str:
    """ROS 2 message definition of a sensor's readings: stamps, then its channels."""
    values = (f"float64 {name}  # {unit}" for name, unit in zip(channels.names, channels.units, strict=True))
    return "\n".join([f"{_KIND}{channels.kind}", *_SENSOR_FIELDS, *values, ""])


def sensor_channels(name: str, definition: str) -> SensorChannels:
    """What the readings of a sensor mean, by their definition. Raises ValueError where it is none."""
    head, *lines = definition.splitlines()
    if not head.startswith(_KIND) or tuple(lines[: len(_SENSOR_FIELDS)]) != _SENSOR_FIELDS:
        raise ValueError(f"sensor {name!r}: its readings have another layout")
    names, units = [], []
    for line in lines[len(_SENSOR_FIELDS) :]:
        field, _, unit = line.partition("  # ")
        kind, _, channel = field.partition(" ")
        if kind != "float64" or not channel.isidentifier():
            raise ValueError(f"sensor {name!r}: channel {line!r}")
        names.append(channel)
        units.append(unit)
    if not 0 < len(names) <= MOST_CHANNELS:
        raise ValueError(f"sensor {name!r}: {len(names)} channels")
    return SensorChannels(name, head.removeprefix(_KIND), tuple(names), tuple(units))


def event_definition() -> str:
    """ROS 2 message definition of an event."""
    return "\n".join(
        [
            "float64 t  # s, rig time",
            *_constants("LEVEL", "uint8", EventLevel),
            "uint8 level",
            *_constants("FAULT", "uint16", FaultCode),
            "uint16 code  # FAULT_NONE where the event is none",
            "string text  # in English",
            "string finding  # what the text is made from, a JSON object; empty where there is none",
            "",
        ]
    )


def encode_cycle(row: npt.NDArray[np.void]) -> bytes:
    """CDR bytes of a row (1,) of dtype ROW."""
    return CDR_HEADER + row.tobytes()[:PACKED_SIZE]


def encode_event(event: RecordedEvent) -> bytes:
    """CDR bytes of an event."""
    text = event.text.encode(errors="replace") + b"\0"
    finding = "" if event.finding is None else finding_to_json(event.finding)
    json = finding.encode(errors="replace").replace(b"\0", b"") + b"\0"
    data = _EVENT_FIXED.pack(event.t, event.level, event.code, len(text)) + text
    return CDR_HEADER + data + b"\0" * (-len(data) % _LENGTH.size) + _LENGTH.pack(len(json)) + json


def decode_event(data: bytes) -> RecordedEvent:
    """Event of its CDR bytes, of any version: later ones have the finding.

    Raises ValueError or struct.error when they are damaged.
    """
    if data[:4] != CDR_HEADER:
        raise ValueError("event: not little-endian CDR")
    data = data[4:]
    t, level, code, length = _EVENT_FIXED.unpack_from(data)
    text, place = _text_at(data, _EVENT_FIXED.size, length)
    finding = ""
    if place < len(data):
        place += -place % _LENGTH.size
        finding, place = _text_at(data, place + _LENGTH.size, *_LENGTH.unpack_from(data, place))
    if place != len(data):
        raise ValueError(f"event: {len(data) - place} bytes beyond its end")
    return RecordedEvent(t, level, code, text, finding_from_json(finding))


def _text_at(data: bytes, place: int, size: int) -> tuple[str, int]:
    """A text of so many bytes at a place, its end among them, and the place after it."""
    text = data[place : place + size]
    if len(text) != size or text[-1:] != b"\0":
        raise ValueError(f"event: text of {len(text)} bytes where {size} are announced")
    return text[:-1].decode(), place + size
