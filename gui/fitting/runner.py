"""Runs what a wizard asks for beside the app, and takes in what came of it."""

import tempfile
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore

from gui.fitting.job_request import JobRequest, Outcome
from gui.session import JobRunner, error_text
from rig.errors import InputError
from rig.services import Event, Notice, UnobservableGeometryError, stage_text


class FitRunner(QtCore.QObject):
    """One fit at a time, in a process of its own; what it writes goes into a folder that does not last.

    Signals: `stepped(text, part)` as each step goes on: its words, and how much of it is done from 0 to 1, None where
    that is not known; `questioned(text)`: what is to be done before it goes on, see `answer`; `finished(outcome,
    reason)`: an `Outcome` and "", or None and why there is none.
    """

    stepped = QtCore.Signal(str, object)
    questioned = QtCore.Signal(str)
    finished = QtCore.Signal(object, str)

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._job = JobRunner(self)
        self._job.reported.connect(self._take)
        self._job.ended.connect(self._done)
        self._asked: JobRequest | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @property
    def busy(self) -> bool:
        """Whether something is running."""
        return self._job.busy

    def start(self, asked: JobRequest) -> None:
        """Run it. Nothing while another runs."""
        if self.busy:
            return
        self._asked = asked
        self._folder = tempfile.TemporaryDirectory(prefix="rig-fit-")
        try:
            request = asked.request(self.output)
        except InputError as error:
            self._done(None, error)
        else:
            self._job.start(asked.service, request)

    def answer(self) -> None:
        """What was asked for is done: it goes on."""
        self._job.proceed()

    def cancel(self) -> None:
        """Give it up: nothing is left of it, nothing is told. At any time."""
        self._job.close()
        self._clean()

    @property
    def output(self) -> Path:
        """The file that is written; only while something is running."""
        assert self._folder is not None and self._asked is not None
        return Path(self._folder.name) / f"fit{self._asked.saved.suffix}"

    def _take(self, event: Event) -> None:
        if isinstance(event, Notice):
            return  # the result has them all
        if event.waits:
            self.questioned.emit(stage_text(event))
        else:
            self.stepped.emit(stage_text(event), event.fraction)

    def _done(self, result: Any, error: Exception | None) -> None:
        assert self._asked is not None
        outcome = None
        if isinstance(error, UnobservableGeometryError):
            outcome = Outcome(self._asked, error.result, None, str(error))
        elif error is None:
            refusal = getattr(result, "refusal", "")
            outcome = Outcome(
                asked=self._asked,
                result=result.as_dict(),
                text=None if refusal else self.output.read_bytes().decode(),
                refusal=refusal,
                warnings=tuple(map(_words, getattr(result, "notices", ()))),
            )
        self._clean()
        self.finished.emit(outcome, "" if outcome is not None or error is None else error_text(error))

    def _clean(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _words(notice: Notice) -> str:
    return f"{notice.source}: {notice.text}" if notice.source else notice.text
