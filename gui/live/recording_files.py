"""Recordings as files: found in a folder, opened with their numbers, exported."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from dynamics import Mechanism, MechanismError, parse_mechanism
from gui.history import Excerpt, Rows
from gui.live.outline import Outline
from gui.live.replay import Replay
from gui.live.series import FORCES
from rig.recording import Recording, RecordingError, open_recording, size_of_rows
from rig.states import State

LARGEST = 1_000_000_000
"""bytes of rows of a recording that is opened: half an hour at 500 Hz"""
QUICK = 100_000_000
"""bytes of rows that are read in about two seconds: three minutes at 500 Hz"""


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
    replay: Replay
    outlines: tuple[Outline, ...]
    """of each of `FORCES`"""
    begin: float
    """rig time, s, at which the motion begins; without one the recording itself"""

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.recording.path.name


def motion_begin(rows: Rows) -> float:
    """Rig time, s, at which the longest motion in rows (n,) begins for the first time, not the way to its start.

    Without a motion that of the first row, 0 without rows.
    """
    running = np.flatnonzero(rows["state"] == State.RUNNING)
    if not len(running):
        return float(rows["t"][0]) if len(rows) else 0.0
    path_time = rows["path_time"][running]
    starts = np.flatnonzero(np.diff(path_time, prepend=np.inf) < 0.0)  # resumed it goes on counting
    reached = np.maximum.reduceat(path_time, starts)
    first_of_the_longest = starts[np.argmax(reached >= 0.99 * reached.max())]
    return float(rows["t"][running[first_of_the_longest]])


def open_with_numbers(path: Path, obstacle: str = "") -> Opened:
    """Open a recording, count its numbers and prepare what is drawn of it.

    Raises RecordingError as `read_recording`.
    """
    from rig.report import summarize  # brings matplotlib along

    recording = read_recording(path, obstacle)
    whole = Excerpt(recording.rows)
    stretch = whole.cut(0, len(whole))
    return Opened(
        recording=recording,
        summary=summarize(recording),
        mechanism=_mechanism(recording.header.get("mechanism")),
        replay=Replay(recording.rows),
        outlines=tuple(Outline(stretch.times, panel.series[0].extract(stretch)) for panel in FORCES),
        begin=motion_begin(recording.rows),
    )


def read_recording(path: Path, obstacle: str = "") -> Recording:
    """Read a recording into the app's memory.

    Raises RecordingError when it is none, its rows take above 1 GB, or above 100 MB while there is an obstacle, in
    words, to what keeps the processor busy for long.
    """
    needed = size_of_rows(path)
    if obstacle and needed > QUICK:
        raise RecordingError(
            f"{path.name}: its rows take {needed / 1e9:.2f} GB of memory; above {QUICK / 1e9:.2f} GB: {obstacle}"
        )
    if needed > LARGEST:
        raise RecordingError(
            f"{path.name}: its rows take {needed / 1e9:.2f} GB of memory, the app gives a recording at most "
            f"{LARGEST / 1e9:.2f} GB; use `rig report`, or look at the file with PlotJuggler"
        )
    return open_recording(path)


def _mechanism(text: Any) -> Mechanism | None:
    try:
        return parse_mechanism(text) if isinstance(text, str) else None
    except MechanismError:
        return None
