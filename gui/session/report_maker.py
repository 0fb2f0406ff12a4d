"""Makes a recording's report in a process of its own."""

import sys
from pathlib import Path

from pyqtgraph.Qt import QtCore

from rig.errors import ExitCode


class ReportMaker(QtCore.QObject):
    """Runs `rig report` beside the app. `finished(path, fault)`: the report and "", or "" and why there is none."""

    finished = QtCore.Signal(str, str)

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._process: QtCore.QProcess | None = None

    @property
    def busy(self) -> bool:
        """Whether a report is being made."""
        return self._process is not None

    def make(self, recording: Path) -> None:
        """Make the report of a recording, beside it. Nothing while another is being made."""
        if self._process is not None:
            return
        process = QtCore.QProcess(self)
        self._process = process
        process.setProcessChannelMode(QtCore.QProcess.ProcessChannelMode.MergedChannels)
        process.finished.connect(lambda code, _status: self._done(code, recording.with_suffix(".html")))
        process.errorOccurred.connect(self._failed)
        process.start(sys.executable, ["-m", "rig", "report", str(recording)])

    def close(self) -> None:
        """Give up a report that is being made."""
        if self._process is not None:
            self._process.finished.disconnect()
            self._process.errorOccurred.disconnect()
            self._process.kill()
            self._process.waitForFinished(2000)
            self._process = None

    def _failed(self, error: QtCore.QProcess.ProcessError) -> None:
        if error == QtCore.QProcess.ProcessError.FailedToStart:
            self._process = None
            self.finished.emit("", f"{sys.executable} cannot be started")

    def _done(self, code: int, report: Path) -> None:
        assert self._process is not None
        text = bytes(self._process.readAll()).decode(errors="replace").strip()
        self._process.deleteLater()
        self._process = None
        if code == ExitCode.OK or (code == ExitCode.RECORDING and f"report: {report}" in text):  # of a damaged one
            self.finished.emit(str(report), "")
        else:
            self.finished.emit("", text or f"rig report ended with {code}")
