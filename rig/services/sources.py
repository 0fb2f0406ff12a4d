"""Recordings used by services, and notices on them."""

from dataclasses import dataclass
from pathlib import Path

from rig.recording import Recorded, RecordingFile, caveats
from rig.services.job import Notice, OnEvent


@dataclass(frozen=True, slots=True)
class Contents:
    """Content of a request's files, which are usable, determined without processing them.

    text: description. notices: for the user.
    """

    text: str
    notices: tuple[Notice, ...] = ()


class Notices:
    """Notices on a result: reported immediately, and collected for the result.

    Args:
        report: receives each.
    """

    def __init__(self, report: OnEvent) -> None:
        self._report = report
        self._found: list[Notice] = []

    @property
    def found(self) -> tuple[Notice, ...]:
        """Return all of them."""
        return tuple(self._found)

    def add(self, code: str, text: str, source: str = "", *, serious: bool = False) -> None:
        """Add a notice, see `Notice`."""
        notice = Notice(code, text, source, serious)
        self._found.append(notice)
        self._report(notice)

    def opened(self, path: Path) -> RecordingFile:
        """Open a recording and report its caveats. Raises RecordingError."""
        recording = RecordingFile(path)
        self.of_recording(recording)
        return recording

    def of_recording(self, recording: Recorded) -> None:
        """Report the caveats of a recording."""
        for text in caveats(recording):
            self.add("recording", text, str(recording.path), serious=bool(recording.doubts))
