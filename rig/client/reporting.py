"""A run's report, and the process that makes it, which loads its libraries while the rig runs."""

import contextlib
import gc
import signal
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

from rig.errors import InputError
from rig.recording import RecordingFile
from rig.runtime import ChildDiedError, ChildProcess

_TIMEOUT = 3600.0  # s; a recording may be of days


def make_report(
    recording: RecordingFile, target: Path, identify: bool = False
) -> tuple[dict[str, Any], InputError | None]:
    """Write the report on a recording with rows to an HTML file.

    Returns its numbers with the paths, and why the file could not be written, or None. With `identify` it has the
    residual after an identification, see `identifiability_of`, which takes seconds. Raises RecordingError as
    `summarize`.
    """
    from rig.report import source_of, summarize, validate, write_report  # brings matplotlib, for which no app waits

    summary = summarize(recording) | {"paths": {"recording": str(recording.path), "report": str(target)}}
    summary |= {"validation": validate(recording, summary), "provenance": source_of(recording)}
    if identify:
        from rig.client.identifiability import identifiability_of  # brings what other reports need not wait for

        summary["identification"] = identifiability_of(recording)
    try:
        write_report(recording, target, summary=summary)
    except InputError as error:
        return summary, error
    return summary, None


class ReportProcess:
    """A process that makes one report."""

    def __init__(self, identify: bool = False) -> None:
        """Nothing is started yet; identify: see `make_report`, of recordings of finished runs."""
        self._identify = identify
        self._process: ChildProcess | None = None

    def begin(self) -> None:
        """Start the process, which loads its libraries; returns at once, also if it cannot be started."""
        with contextlib.suppress(OSError):
            self._process = ChildProcess("the report", _serve, daemon=False)

    def make(
        self, recording: RecordingFile, target: Path, *, finished: bool = True
    ) -> tuple[dict[str, Any], InputError | None]:
        """See `make_report`; it is made in this process if the other was not started, or failed."""
        identify = self._identify and finished
        if self._process is not None:
            with contextlib.suppress(ChildDiedError):
                self._process.send((recording.path, target, identify))
                if (summary := self._process.receive(_TIMEOUT, "make it")) is not None:
                    return summary, None
        return make_report(recording, target, identify)

    def close(self) -> None:
        """End the process. May be called again."""
        if self._process is not None:
            self._process.end(0.0)


def _serve(connection: Connection) -> None:
    """Main function of the process: receives a recording and the report's path, sends its numbers, or None."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # an exception amid an import would be told as a fault of it
    import_module("rig.report")
    signal.signal(signal.SIGTERM, _leave)
    gc.freeze()  # what it forks, to draw, would copy what it searched for garbage
    with contextlib.suppress(EOFError, OSError):  # the owner is gone
        recording, target, identify = connection.recv()
        summary: dict[str, Any] | None = None
        with contextlib.suppress(Exception):  # whoever makes it then is told
            made, error = make_report(RecordingFile(recording), target, identify)
            summary = made if error is None else None
        connection.send(summary)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    """Exit by an exception, so that no incomplete file remains."""
    raise SystemExit(1)
