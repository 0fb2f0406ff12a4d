"""What a wizard asks for runs in processes of its own: a look into files, and the service itself."""

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore

from gui.session import JobRunner, error_text
from gui.wizard.description import JobRequest, Outcome
from rig.errors import InputError
from rig.services import Contents, Event, Notice, UnobservableGeometryError, stage_text

ProbeCallback = Callable[[str, str], None]
"""called with what the files hold and "", or "" and why they cannot be used"""


class FileProbe(QtCore.QObject):
    """Looks into files. None of their rows comes into the app's memory, however long a recording is."""

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._job = JobRunner(self)
        self._job.ended.connect(self._ended)
        self._queue: list[tuple[JobRequest, ProbeCallback]] = []

    def look(self, asked: JobRequest, done: ProbeCallback) -> None:
        """Look into the files of `asked` when those that were asked for before are done."""
        self._queue.append((asked, done))
        self._next()

    def close(self) -> None:
        """End what is running and forget the rest: nothing is called back any more. May be called again."""
        self._queue.clear()
        self._job.close()

    def _next(self) -> None:
        if not self._queue or self._job.busy:
            return
        asked = self._queue[0][0]
        contents = asked.task.contents
        assert contents is not None
        try:
            request = asked.request()
        except InputError as error:
            self._ended(None, error)
        else:
            self._job.start(contents, request)

    def _ended(self, found: Contents | None, error: Exception | None) -> None:
        asked, done = self._queue.pop(0)
        if found is not None:
            doubts = "".join(f"; ⚠ {notice.text}" for notice in found.notices)
            done(found.text + doubts, "")
        elif error is not None:
            done("", _in_a_line(error, asked.files))
        self._next()


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
            self._job.start(asked.task.service, request)

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


def _in_a_line(error: Exception, files: Iterable[Path]) -> str:
    """Why files cannot be used, in one line. A fault of a file that the page names itself goes without its name."""
    names = [f"{file}: " for file in files]
    faults = error.faults if isinstance(error, InputError) else ()
    own = any(fault.startswith(name) for fault in faults for name in names)
    lines = list(faults) if own else [line.strip() for line in error_text(error).splitlines()]
    for name in names:
        lines = [line.removeprefix(name) for line in lines]
    return "; ".join(lines)
