"""Looks into files by the command that is to work on them, one after the other, in processes of their own."""

import json
from collections.abc import Callable

from pyqtgraph.Qt import QtCore

from gui.fitting.job_request import JobRequest
from gui.session import RigCommand, errors_and_warnings, in_a_line
from gui.texts import tr
from rig.errors import ExitCode

ProbeCallback = Callable[[str, str], None]
"""called with what the files hold and "", or "" and why they cannot be used"""


class FileProbe(QtCore.QObject):
    """Looks into files. None of their rows comes into the app's memory, however long a recording is."""

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._command = RigCommand(self)
        self._command.ended.connect(self._ended)
        self._queue: list[tuple[JobRequest, ProbeCallback]] = []

    def look(self, asked: JobRequest, told: ProbeCallback) -> None:
        """Look into the files of `asked` when those that were asked for before are done."""
        self._queue.append((asked, told))
        self._next()

    def close(self) -> None:
        """End what is running and forget the rest: nothing is told any more. May be called again."""
        self._queue.clear()
        self._command.close()

    def _next(self) -> None:
        if self._queue and not self._command.busy:
            self._command.start(self._queue[0][0].looking())

    def _ended(self, code: int, output: str, stream: str) -> None:
        asked, told = self._queue.pop(0)
        errors, warnings = errors_and_warnings(stream)
        if code == ExitCode.OK:
            doubts = "".join(f"; ⚠ {in_a_line(text, asked.files)}" for text in (*errors, *warnings))
            told(json.loads(output)["holds"] + doubts, "")
        else:
            reason = "\n".join(errors) or stream.strip() or tr("the command ended with {code}").format(code=code)
            told("", in_a_line(reason, asked.files))
        self._next()
