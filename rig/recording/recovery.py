"""Recovery of a recording whose writer never closed it."""

import fcntl
import os
from pathlib import Path

from rig.recording.reader import Recording, open_recording
from rig.recording.schema import RecordingError
from rig.recording.writer import RecordingWriter


def recover(path: Path | str) -> Recording:
    """Put a whole recording in the place of one cut anywhere; a whole one is left alone. Returns what is in it.

    The new file has every row and event that was whole, and `"recovered": true` in its closing summary. It takes the
    old one's place only once it is on the disk. Raises RecordingError when the file is no recording or is being
    written, OSError when the disk refuses.
    """
    path = Path(path)
    with open(path, "rb") as old:
        try:
            fcntl.flock(old, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RecordingError(f"{path}: is being written") from None
        recording = open_recording(path)
        if recording.complete:
            return recording
        part = path.with_name(path.name + ".part")
        part.unlink(missing_ok=True)
        with RecordingWriter(part, recording.header) as writer:
            writer.write_rows(recording.rows)
            for event in recording.events:
                writer.event(event.t, event.level, event.code, event.text)
            writer.close({**recording.closing, "recovered": True}, dropped=recording.dropped)
        os.replace(part, path)
    return open_recording(path)
