"""Runs what a wizard asks for beside the app, and reads what came of it."""

import json
import tempfile
from pathlib import Path

from pyqtgraph.Qt import QtCore

from gui.fitting.job_request import JobRequest, Outcome
from gui.session import QUESTION, STEP, RigCommand, errors_and_warnings
from gui.texts import tr
from rig.errors import ExitCode

_ANSWERED = (ExitCode.OK, ExitCode.REFUSED, ExitCode.RECORDING, ExitCode.MISFIT)
"""with an object, where there is something to show"""


class FitRunner(QtCore.QObject):
    """One fit at a time, in a process of its own; what it writes goes into a folder that does not last.

    Signals: `stepped(text)` as each step begins; `questioned(text)`: what is to be done before it goes on, see
    `answer`; `finished(outcome, reason)`: an `Outcome` and "", or None and why there is none, in the command's words.
    """

    stepped = QtCore.Signal(str)
    questioned = QtCore.Signal(str)
    finished = QtCore.Signal(object, str)

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._command = RigCommand(self)
        self._command.told.connect(self._told)
        self._command.ended.connect(self._done)
        self._asked: JobRequest | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @property
    def busy(self) -> bool:
        """Whether something is running."""
        return self._command.busy

    def start(self, asked: JobRequest) -> None:
        """Run it. Nothing while another runs."""
        if self.busy:
            return
        self._asked = asked
        self._folder = tempfile.TemporaryDirectory(prefix="rig-fit-")
        self._command.start(asked.arguments(self.output))

    def answer(self) -> None:
        """What was asked for is done: it goes on."""
        self._command.answer()

    def cancel(self) -> None:
        """Give it up: nothing is left of it, nothing is told. At any time."""
        self._command.close()
        self._clean()

    @property
    def output(self) -> Path:
        """The file that is written; only while something is running."""
        assert self._folder is not None and self._asked is not None
        return Path(self._folder.name) / f"fit{self._asked.saved.suffix}"

    def _told(self, line: str) -> None:
        if line.startswith(STEP):
            self.stepped.emit(line.removeprefix(STEP))
        elif line.startswith(QUESTION):
            self.questioned.emit(line.removeprefix(QUESTION))

    def _done(self, code: int, output: str, stream: str) -> None:
        assert self._asked is not None
        errors, warnings = errors_and_warnings(stream)
        outcome, reason = None, "\n".join(errors)
        if code in _ANSWERED and output.strip():
            refused = code == ExitCode.REFUSED
            outcome = Outcome(
                asked=self._asked,
                told=json.loads(output),
                text=None if refused else self.output.read_bytes().decode(),
                refusal=reason if refused else "",
                warnings=tuple(warnings if refused else [*errors, *warnings]),
            )
        self._clean()
        if outcome is None:
            self.finished.emit(None, reason or stream.strip() or tr("the command ended with {code}").format(code=code))
        else:
            self.finished.emit(outcome, "")

    def _clean(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
