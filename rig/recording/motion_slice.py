"""One motion's part of a recording, usable like a whole recording."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rig.recording.chunks import Rows
from rig.recording.motion_record import MotionRecord
from rig.recording.reader import Recorded, RecordingFile
from rig.recording.readings import SensorSeries
from rig.recording.schema import RecordedEvent, RecordingError

_MARK = "#"
"""Between a recording's file and the id of a motion in it."""
MAX_COMPARED = 8
"""Runs that one report tells apart."""


class MotionPart:
    """The rows and events from a motion's beginning to its end; a `Recorded`.

    Rig time increases, so its first and last row are found by bisection, without reading all rows.

    Args:
        whole: the recording.
        number: id of the motion.

    Raises:
        RecordingError: it has no such motion, or none of its rows, or the file has changed meanwhile.
    """

    def __init__(self, whole: Recorded, number: int) -> None:
        found = next((motion for motion in whole.motions if motion.id == number), None)
        if found is None:
            raise RecordingError(f"{whole.path}: has no motion {number}; {_there(whole)}")
        self.path: Path = whole.path
        self.header: dict[str, Any] = whole.header
        self.motion: MotionRecord = found
        self.motions: tuple[MotionRecord, ...] = (found,)
        self.doubts, self.unverified = whole.doubts, whole.unverified
        self.closing: dict[str, Any] = {}
        """counts of the whole recording do not apply to a part"""
        self._whole = whole
        self.first = _place(whole, found.start, after=False)
        """number of its first row"""
        last = whole.count if np.isnan(found.end) else _place(whole, found.end, after=True)
        self.count = last - self.first
        if self.count < 1:
            raise RecordingError(f"{whole.path}: holds no telemetry of motion {number}, there is nothing to report")
        begin, end = self.take([0, self.count - 1])
        until = np.inf if np.isnan(found.end) else found.end
        self.events: tuple[RecordedEvent, ...] = tuple(
            event for event in whole.events if found.start <= event.t <= until
        )
        skipped = int(end["overruns"]) - int(begin["overruns"])
        self.dropped = max(0, int(end["cycle"]) - int(begin["cycle"]) + 1 - self.count - skipped)
        self.complete = not whole.doubts and (whole.complete or (last < whole.count and not np.isnan(found.end)))
        """also for a recording that continues or was cut off later"""
        self.underway = whole.underway and not self.complete

    @property
    def sensors(self) -> Mapping[str, SensorSeries]:
        """See `Recorded.sensors`: the readings from the motion's beginning to its end."""
        end = np.inf if np.isnan(self.motion.end) else self.motion.end
        return {name: series.between(self.motion.start, end) for name, series in self._whole.sensors.items()}

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Rows]:
        """See `Recorded.blocks`."""
        end = self.count if last is None else min(last, self.count)
        return self._whole.blocks(self.first + first, self.first + end)

    def take(self, numbers: Sequence[int]) -> Rows:
        """See `Recorded.take`."""
        return self._whole.take([self.first + number for number in numbers])


def open_part(name: Path | str) -> Recorded:
    """A recording by its path, or one motion of it by FILE#ID. Raises as `RecordingFile` and `MotionPart`."""
    path, number = split_part(name)
    whole = RecordingFile(path)
    return whole if number is None else MotionPart(whole, number)


def split_part(name: Path | str) -> tuple[Path, int | None]:
    """Path of the recording, and id of the motion where FILE#ID names one; a file of that very name is no part."""
    file, mark, number = str(name).rpartition(_MARK)
    if not mark or not number.isascii() or not number.isdecimal() or Path(name).exists():
        return Path(name), None
    return Path(file), int(number)


def part_name(recording: Path | str, number: int) -> str:
    """Name of a motion of a recording: FILE#ID."""
    return f"{recording}{_MARK}{number}"


def report_path(name: Path | str) -> Path:
    """Path of the report on a recording, or on one motion FILE#ID of it: next to it."""
    path, number = split_part(name)
    return path.with_suffix(".html") if number is None else path.with_name(f"{path.stem}-motion-{number}.html")


def comparison_path(names: Sequence[Path | str]) -> Path:
    """Path of the report that compares several: next to the first, unique for the set."""
    first, joined = report_path(names[0]), "\n".join(str(name) for name in names)
    return first.with_name(f"{first.stem}-beside-{hashlib.sha256(joined.encode()).hexdigest()[:6]}.html")


def _there(whole: Recorded) -> str:
    ids = [str(motion.id) for motion in whole.motions]
    shown = ", ".join(ids[:20]) + (", …" if len(ids) > 20 else "")
    return f"those there: {shown}" if ids else "it says of none, as those made before motions were recorded"


def _place(whole: Recorded, t: float, *, after: bool) -> int:
    """Number of rows before the time t, s, including those at it if `after`."""
    low, high = 0, whole.count
    while low < high:
        middle = (low + high) // 2
        (row,) = whole.take([middle])
        if row["t"] < t or (after and row["t"] == t):
            low = middle + 1
        else:
            high = middle
    return low
