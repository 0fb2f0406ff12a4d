"""Recordings that services work on, and what must be known of them."""

from dataclasses import dataclass
from pathlib import Path

from rig.recording import Recorded, RecordingFile, caveats
from rig.services.job import Notice, OnEvent


@dataclass(frozen=True, slots=True)
class Contents:
    """What the files of a request hold, found without working on them; they can be used.

    text: in words. notices: what must be known of them.
    """

    text: str
    notices: tuple[Notice, ...] = ()


class Notices:
    """Notices on a result: reported as they are found, and collected for the result.

    Args:
        report: receives each.
    """

    def __init__(self, report: OnEvent) -> None:
        self._report = report
        self._found: list[Notice] = []

    @property
    def found(self) -> tuple[Notice, ...]:
        """All of them."""
        return tuple(self._found)

    def add(self, code: str, text: str, source: str = "", *, serious: bool = False) -> None:
        """See `Notice`."""
        notice = Notice(code, text, source, serious)
        self._found.append(notice)
        self._report(notice)

    def opened(self, path: Path) -> RecordingFile:
        """Open a recording and report its caveats. Raises RecordingError."""
        recording = RecordingFile(path)
        self.of_recording(recording)
        return recording

    def of_recording(self, recording: Recorded) -> None:
        """Tell the caveats of a recording."""
        for text in caveats(recording):
            self.add("recording", text, str(recording.path), serious=bool(recording.doubts))
