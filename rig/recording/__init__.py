"""Recordings: written by a process of their own, read back whole or cut."""

from rig.recording.cell_noise import recorded_cell_noise, recorded_cell_steps, recorded_rounding
from rig.recording.export import write_rows_csv
from rig.recording.imported import (
    IMPORTED,
    Finding,
    Found,
    Origin,
    finding_text,
    has_finding,
    has_tracking,
    imported_from,
)
from rig.recording.motion_record import MotionRecord, cause_of
from rig.recording.motion_slice import (
    MOST_BESIDE,
    MotionPart,
    comparison_path,
    open_part,
    part_name,
    report_path,
    split_part,
)
from rig.recording.reader import Recorded, Recording, RecordingFile, in_memory, open_recording, size_of_rows
from rig.recording.recorder import Recorder
from rig.recording.recovery import caveats, recover
from rig.recording.ring_sink import RingSink
from rig.recording.schema import (
    COMMAND,
    CYCLE_MESSAGE,
    CYCLE_TOPIC,
    INJECTED,
    EventLevel,
    Injection,
    RecordedEvent,
    RecordingError,
    cycle_definition,
    encode_cycle,
    injection,
    is_command,
)
from rig.recording.status import RecorderPhase, RecorderStatus, StatusBlock, room_text
from rig.recording.writer import RecordingWriter

__all__ = [
    "COMMAND",
    "CYCLE_MESSAGE",
    "CYCLE_TOPIC",
    "IMPORTED",
    "INJECTED",
    "MOST_BESIDE",
    "EventLevel",
    "Finding",
    "Found",
    "Injection",
    "MotionPart",
    "MotionRecord",
    "Origin",
    "Recorded",
    "RecordedEvent",
    "Recorder",
    "RecorderPhase",
    "RecorderStatus",
    "Recording",
    "RecordingError",
    "RecordingFile",
    "RecordingWriter",
    "RingSink",
    "StatusBlock",
    "cause_of",
    "caveats",
    "comparison_path",
    "cycle_definition",
    "encode_cycle",
    "finding_text",
    "has_finding",
    "has_tracking",
    "imported_from",
    "in_memory",
    "injection",
    "is_command",
    "open_part",
    "open_recording",
    "part_name",
    "recorded_cell_noise",
    "recorded_cell_steps",
    "recorded_rounding",
    "recover",
    "report_path",
    "room_text",
    "size_of_rows",
    "split_part",
    "write_rows_csv",
]
