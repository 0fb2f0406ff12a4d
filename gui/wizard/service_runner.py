"""Processes of a wizard: the file probe, and the service."""

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore

from gui.session import JobRunner, error_text
from gui.texts import tr
from gui.wizard.description import JobRequest, Outcome
from rig.errors import InputError
from rig.services import Contents, Event, Notice, UnobservableGeometryError, stage_text

ProbeCallback = Callable[[str, str], None]
"""Called with the files' content and "", or "" and why they cannot be used."""


class FileProbe(QtCore.QObject):
    """Probes files in a process: none of their rows use the app's memory, however long a recording is."""

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._job = JobRunner(self)
        self._job.ended.connect(self._ended)
        self._queue: list[tuple[JobRequest, ProbeCallback]] = []

    def probe(self, request: JobRequest, done: ProbeCallback) -> None:
        """Probe the files of `request` after the earlier requests."""
        self._queue.append((request, done))
        self._next()

    def close(self) -> None:
        """Cancel the probe and drop the queue; no callback is called any more. May be called again."""
        self._queue.clear()
        self._job.close()

    def _next(self) -> None:
        if not self._queue or self._job.busy:
            return
        request = self._queue[0][0]
        contents = request.task.contents
        assert contents is not None
        try:
            service_request = request.service_request()
        except InputError as error:
            self._ended(None, error)
        else:
            self._job.start(contents, service_request)

    def _ended(self, found: Contents | None, error: Exception | None) -> None:
        request, done = self._queue.pop(0)
        if found is not None:
            doubts = "".join(f"; ⚠ {notice.text}" for notice in found.notices)
            done(found.text + doubts, "")
        elif error is not None:
            done("", _in_a_line(error, request.files))
        self._next()


class FitRunner(QtCore.QObject):
    """One fit at a time, in its own process, with output in a temporary folder.

    Signals: `stepped(text, part)`: the current step and its progress from 0 to 1, None if unknown; `questioned(text)`:
    an action required from the user, see `answer`; `finished(outcome, reason)`: an `Outcome` and "", or None and the
    reason.
    """

    stepped = QtCore.Signal(str, object)
    questioned = QtCore.Signal(str)
    finished = QtCore.Signal(object, str)

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._job = JobRunner(self)
        self._job.reported.connect(self._handle_event)
        self._job.ended.connect(self._done)
        self._request: JobRequest | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @property
    def busy(self) -> bool:
        """Whether a fit is running."""
        return self._job.busy

    def start(self, request: JobRequest) -> None:
        """Start a request. Ignored while another runs."""
        if self.busy:
            return
        self._request = request
        self._folder = tempfile.TemporaryDirectory(prefix="rig-fit-")
        try:
            service_request = request.service_request(self.output)
        except InputError as error:
            self._done(None, error)
        else:
            self._job.start(request.task.service, service_request)

    def answer(self) -> None:
        """Confirm the required action; the service continues."""
        self._job.proceed()

    def cancel(self) -> None:
        """Cancel without output or signals. Always possible."""
        self._job.close()
        self._clean()

    @property
    def output(self) -> Path:
        """The output file; only while running."""
        assert self._folder is not None and self._request is not None
        return Path(self._folder.name) / f"fit{self._request.saved.suffix}"

    def _handle_event(self, event: Event) -> None:
        if isinstance(event, Notice):
            return  # the result contains them
        if event.waits:
            self.questioned.emit(stage_text(event, tr))
        else:
            self.stepped.emit(stage_text(event, tr), event.fraction)

    def _done(self, result: Any, error: Exception | None) -> None:
        assert self._request is not None
        outcome = None
        if isinstance(error, UnobservableGeometryError):
            outcome = Outcome(self._request, error.result, None, str(error))
        elif error is None:
            refusal = getattr(result, "refusal", "")
            outcome = Outcome(
                request=self._request,
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


def _in_a_line(error: Exception, files: Iterable[Path]) -> str:
    """Return why files cannot be used, in one line, without the name of a file that the page shows."""
    names = [f"{file}: " for file in files]
    faults = error.faults if isinstance(error, InputError) else ()
    own = any(fault.startswith(name) for fault in faults for name in names)
    lines = list(faults) if own else [line.strip() for line in error_text(error).splitlines()]
    for name in names:
        lines = [line.removeprefix(name) for line in lines]
    return "; ".join(lines)
