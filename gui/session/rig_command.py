"""A `rig` command in a process of its own, beside the app."""

import sys
from collections.abc import Sequence

from pyqtgraph.Qt import QtCore

from rig.errors import ExitCode

_END = 2000  # ms for a process that is killed


class RigCommand(QtCore.QObject):
    """Runs one command at a time.

    Signals: `told(line)` for each line of its error stream as it comes; `ended(code, output, errors)`, code as
    `rig.errors.ExitCode`, INTERNAL where it cannot be started.
    """

    told = QtCore.Signal(str)
    ended = QtCore.Signal(int, str, str)

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._process: QtCore.QProcess | None = None
        self._errors = b""
        self._seen = 0
        """bytes of the error stream that were told"""

    @property
    def busy(self) -> bool:
        """Whether a command is running."""
        return self._process is not None

    def start(self, arguments: Sequence[str]) -> None:
        """Run `rig` with these arguments. Nothing while another runs."""
        if self._process is not None:
            return
        process = QtCore.QProcess(self)
        self._process, self._errors, self._seen = process, b"", 0
        process.readyReadStandardError.connect(self._read)
        process.finished.connect(lambda code, _status: self._done(code))
        process.errorOccurred.connect(self._failed)
        process.start(sys.executable, ["-m", "rig", *arguments])

    def close(self) -> None:
        """Kill what is running; nothing is told any more. May be called again."""
        process, self._process = self._process, None
        if process is not None:
            for signal in (process.readyReadStandardError, process.finished, process.errorOccurred):
                signal.disconnect()
            process.kill()
            process.waitForFinished(_END)
            process.deleteLater()

    def _read(self) -> None:
        assert self._process is not None
        self._errors += bytes(self._process.readAllStandardError())
        *lines, _begun = self._errors[self._seen :].split(b"\n")
        for line in lines:
            self._seen += len(line) + 1
            self.told.emit(line.decode(errors="replace"))

    def _failed(self, error: QtCore.QProcess.ProcessError) -> None:
        if error == QtCore.QProcess.ProcessError.FailedToStart:
            self._process = None
            self.ended.emit(ExitCode.INTERNAL, "", f"{sys.executable} cannot be started")

    def _done(self, code: int) -> None:
        assert self._process is not None
        self._read()
        output = bytes(self._process.readAllStandardOutput()).decode(errors="replace")
        self._process.deleteLater()
        self._process = None
        self.ended.emit(code, output, self._errors.decode(errors="replace"))
