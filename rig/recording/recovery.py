"""Recovery of a recording that its writer did not close."""

import os
from pathlib import Path

from rig.recording.imported import import_notes
from rig.recording.reader import Recorded, RecordingFile, locked_by_writer, open_file
from rig.recording.schema import RecordingError
from rig.recording.writer import RecordingWriter

RECOVERED = "recovered"
"""Key of the closing summary of a recovered recording."""
DOUBTS = "doubts"
"""Further key: doubts on the original file, sentences; absent if it was only cut off."""
_LISTED = 5


def recover(path: Path | str) -> RecordingFile:
    """Replace a cut recording by a complete one; a complete one stays. Returns its content.

    The new file has every intact row and event, and `"recovered": true` in its closing summary. It replaces the old one
    only after it is on the disk. Raises RecordingError if the file is no recording or is being written, OSError if the
    disk fails.
    """
    path = Path(path)
    with open_file(path) as old:
        if locked_by_writer(old):
            raise RecordingError(f"{path}: is being written")
        recording = RecordingFile(path)
        if recording.complete:
            return recording
        part = path.with_name(path.name + ".part")
        part.unlink(missing_ok=True)
        sensors = list(recording.sensors.values())
        with RecordingWriter(part, recording.header, [series.channels for series in sensors]) as writer:
            for rows in recording.blocks():
                writer.write_rows(rows)
            for event in recording.events:
                writer.event(event.t, event.level, event.code, event.text, event.finding)
            for motion in recording.motions:
                writer.motion(motion)
            for number, series in enumerate(sensors):
                writer.write_readings(series.readings(number))
            doubts = {DOUBTS: list(recording.doubts)} if recording.doubts else {}
            writer.close({**recording.closing, RECOVERED: True, **doubts}, dropped=recording.dropped)
        os.replace(part, path)
    return RecordingFile(path)


def caveats(recording: Recorded) -> list[str]:
    """Caveats for users of a recording, a sentence each, the worst first; none for a complete one."""
    notes = [f"damaged: {doubt}" for doubt in recording.doubts]
    if not (recording.complete or recording.doubts):
        notes.append(
            "still being recorded: it covers what has reached the disk by now"
            if recording.underway
            else "cut off: it covers what reached the disk"
        )
    if recording.closing.get(RECOVERED):
        before = recording.closing.get(DOUBTS)
        listed = [str(doubt) for doubt in before][:_LISTED] if isinstance(before, list) else []
        notes.append("put together from what was left of a damaged or cut one" + "".join(f"; {one}" for one in listed))
    if recording.unverified:
        notes.append(f"not verifiable, nothing vouches for it: {', '.join(recording.unverified)}")
    return notes + import_notes(recording.header)
