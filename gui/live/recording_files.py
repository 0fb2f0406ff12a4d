"""Recordings as files: found in a folder, opened with their numbers, exported."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from dynamics import Mechanism, MechanismError, parse_mechanism
from gui.history import Rows
from rig.recording import Recording, open_recording
from rig.telemetry import ROW

_CHUNK = 2000
"""rows written at a time"""


@dataclass(frozen=True, slots=True)
class Found:
    """A recording in a folder."""

    path: Path
    modified: datetime
    size: int
    """bytes"""


def recordings_in(folder: Path) -> list[Found]:
    """Recordings of a folder, the newest first. Raises OSError when it cannot be read."""
    found = []
    for path in folder.iterdir():
        if path.suffix == ".mcap" and path.is_file():
            status = path.stat()
            found.append(Found(path, datetime.fromtimestamp(status.st_mtime), status.st_size))
    return sorted(found, key=lambda one: (one.modified, one.path.name), reverse=True)


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A recording in memory with its numbers; `mechanism` is None where the file has none that can be read."""

    recording: Recording
    summary: Mapping[str, Any]
    mechanism: Mechanism | None

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.recording.path.name

    @property
    def begin(self) -> float:
        """Rig time, s, at which what the numbers cover begins; the recording itself when they cover nothing."""
        begin = self.summary["window"]["begin_s"]
        rows = self.recording.rows
        return float(begin) if begin is not None else float(rows["t"][0]) if len(rows) else 0.0


def open_with_numbers(path: Path) -> Opened:
    """Open a recording and count its numbers. Raises RecordingError when it is none."""
    from rig.report import summarize  # brings matplotlib along

    recording = open_recording(path)
    return Opened(recording, summarize(recording), _mechanism(recording.header.get("mechanism")))


def _mechanism(text: Any) -> Mechanism | None:
    try:
        return parse_mechanism(text) if isinstance(text, str) else None
    except MechanismError:
        return None


def export_rows(rows: Rows, path: Path) -> None:
    """Write every field of rows (n,) as CSV, columns named as in the recording, numbered by leg or element.

    SI units; what a field means is `rig.telemetry.MEANING`. Raises OSError when the disk refuses.
    """
    names = []
    for name in ROW.names or ():
        shape = ROW[name].shape
        elements = [""] if not shape else ["_" + "_".join(str(i + 1) for i in at) for at in np.ndindex(*shape)]
        names += [name + element for element in elements]
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(",".join(names) + "\n")
        for start in range(0, len(rows), _CHUNK):
            part = rows[start : start + _CHUNK]
            columns: list[list[Any]] = []
            for name in ROW.names or ():
                columns += part[name].reshape(len(part), -1).T.tolist()
            file.writelines(",".join(map(str, line)) + "\n" for line in zip(*columns, strict=True))
