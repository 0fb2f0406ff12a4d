"""Export of a recording's rows as a table."""

from dataclasses import dataclass
from pathlib import Path

from rig.recording import RecordingError, RecordingFile, write_rows_csv
from rig.services.job import OnEvent, no_progress
from rig.services.outputs import check_made_of
from rig.services.request import request
from rig.services.sources import Notices


@request
class ExportRequest:
    """Export of every cycle of a recording (.mcap) as CSV."""

    recording: Path
    output: Path | None = None
    """CSV file; None: next to the recording, same name"""


@dataclass(frozen=True, slots=True)
class ExportResult:
    """Result: the table, its number of rows, and whether the recording is damaged."""

    table: Path
    rows: int
    damaged: bool


def export(request: ExportRequest, progress: OnEvent = no_progress) -> ExportResult:
    """Write every cycle of a recording as CSV, SI units. A cut or damaged recording is exported as far as possible.

    Events: notices on the recording.

    Raises:
        InputError: the table cannot be written.
        RecordingError: the recording cannot be read, or is empty.
    """
    target = request.output if request.output is not None else request.recording.with_suffix(".csv")
    check_made_of(request.recording, target)
    opened = RecordingFile(request.recording)
    if not opened.count:
        raise RecordingError(f"{request.recording}: holds no telemetry, there is nothing to export")
    Notices(progress).of_recording(opened)
    write_rows_csv(opened, target)
    return ExportResult(target, opened.count, bool(opened.doubts))
