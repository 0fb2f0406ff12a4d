"""Makes a recording's report in a process of its own."""

from collections.abc import Sequence
from pathlib import Path

from pyqtgraph.Qt import QtCore

from gui.session.rig_command import RigCommand
from gui.texts import tr
from rig.errors import ExitCode
from rig.recording import comparison_path, report_path


class ReportMaker(QtCore.QObject):
    """Runs `rig report` beside the app. `finished(path, fault)`: the report and "", or "" and why there is none."""

    finished = QtCore.Signal(str, str)

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._command = RigCommand(self)
        self._command.ended.connect(self._done)
        self._report = Path()
        self._print: Path | None = None

    @property
    def busy(self) -> bool:
        """Whether a report is being made."""
        return self._command.busy

    def make(self, recordings: Sequence[Path], options: Sequence[str] = (), *, pdf: bool = False) -> None:
        """Make the report of a recording, or of a run FILE#ID, beside it; of several, one of them side by side.

        With these options of `rig report`; `pdf`: print it as well, and tell of that. Nothing while another is being
        made.
        """
        if self.busy:
            return
        several = len(recordings) > 1
        self._report = comparison_path(recordings) if several else report_path(recordings[0])
        self._print = self._report.with_suffix(".pdf") if pdf else None
        output = ["--output", str(self._report)] if several else []
        if self._print is not None:
            output += ["--pdf", str(self._print)]
        self._command.start(["report", *(str(one) for one in recordings), *output, *options])

    def close(self) -> None:
        """Give up a report that is being made."""
        self._command.close()

    def _done(self, code: int, output: str, errors: str) -> None:
        text = f"{errors}{output}".strip()
        of_a_damaged_one = code == ExitCode.RECORDING and f"report: {self._report}" in text
        if code == ExitCode.OK or of_a_damaged_one:
            self.finished.emit(str(self._print or self._report), "")
        else:
            self.finished.emit("", text or tr("rig report ended with {code}").format(code=code))
