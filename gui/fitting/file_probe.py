"""Looks into files by the service that is to work on them, one after the other, in processes of their own."""

from collections.abc import Callable, Iterable
from pathlib import Path

from pyqtgraph.Qt import QtCore

from gui.fitting.job_request import JobRequest
from gui.session import JobRunner, error_text
from rig.errors import InputError
from rig.services import Contents

ProbeCallback = Callable[[str, str], None]
"""called with what the files hold and "", or "" and why they cannot be used"""


class FileProbe(QtCore.QObject):
    """Looks into files. None of their rows comes into the app's memory, however long a recording is."""

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._job = JobRunner(self)
        self._job.ended.connect(self._ended)
        self._queue: list[tuple[JobRequest, ProbeCallback]] = []

    def look(self, asked: JobRequest, told: ProbeCallback) -> None:
        """Look into the files of `asked` when those that were asked for before are done."""
        self._queue.append((asked, told))
        self._next()

    def close(self) -> None:
        """End what is running and forget the rest: nothing is told any more. May be called again."""
        self._queue.clear()
        self._job.close()

    def _next(self) -> None:
        if not self._queue or self._job.busy:
            return
        asked = self._queue[0][0]
        assert asked.contents is not None
        try:
            request = asked.request()
        except InputError as error:
            self._ended(None, error)
        else:
            self._job.start(asked.contents, request)

    def _ended(self, found: Contents | None, error: Exception | None) -> None:
        asked, told = self._queue.pop(0)
        if found is not None:
            doubts = "".join(f"; ⚠ {' '.join(notice.text.split())}" for notice in found.notices)
            told(found.text + doubts, "")
        elif error is not None:
            told("", _in_a_line(error, asked.files))
        self._next()


def _in_a_line(error: Exception, files: Iterable[Path]) -> str:
    """Why files cannot be used, in one line. A fault of a file that the page names itself goes without its name."""
    names = [f"{file}: " for file in files]
    faults = error.faults if isinstance(error, InputError) else ()
    own = any(fault.startswith(name) for fault in faults for name in names)
    lines = list(faults) if own else [line.strip() for line in error_text(error).splitlines()]
    for name in names:
        lines = [line.removeprefix(name) for line in lines]
    return "; ".join(lines)
