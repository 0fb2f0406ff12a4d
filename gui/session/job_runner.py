"""A rig service in its own process."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore

from gui.texts import finding_text, tr
from rig.config import Validation
from rig.errors import ExitCode, RigError, exit_code_of
from rig.findings import Code
from rig.recording import comparison_path, report_path
from rig.services import Job, ReportRequest, ReportResult, report, start


class ReportMaker(QtCore.QObject):
    """Makes one report at a time. `finished(path, fault)`: the report and "", or "" and the reason."""

    finished = QtCore.Signal(str, str)

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._job = JobRunner(self)
        self._job.ended.connect(self._done)
        self._print = False

    @property
    def busy(self) -> bool:
        """Whether a report is in progress."""
        return self._job.busy

    def make(
        self,
        recordings: Sequence[Path],
        thresholds: Validation | None = None,
        *,
        alone: bool = False,
        pdf: bool = False,
    ) -> None:
        """Make the report of a recording, or of a run FILE#ID, next to it; of several, one side by side.

        With these thresholds, None: as recorded; see `ReportRequest`. `pdf`: also print it, and return the PDF.
        Ignored while another is in progress.
        """
        if self.busy:
            return
        several = len(recordings) > 1
        page = comparison_path(recordings) if several else report_path(recordings[0])
        self._print = pdf
        request = ReportRequest(
            tuple(recordings),
            page if several else None,
            thresholds=thresholds,
            alone=alone,
            pdf=page.with_suffix(".pdf") if pdf else None,
        )
        self._job.start(report, request)

    def close(self) -> None:
        """Cancel a report in progress."""
        self._job.close()

    def _done(self, made: ReportResult | None, error: Exception | None) -> None:
        if made is None:
            assert error is not None
            self.finished.emit("", error_text(error))
        else:
            self.finished.emit(str(made.main_pdf if self._print else made.main_page), "")


class JobRunner(QtCore.QObject):
    """Runs one service at a time; see `rig.services`.

    Signals: `reported(event)` for each event; `ended(result, error)`: the result and None, or None and the error of the
    service or its process.
    """

    reported = QtCore.Signal(object)
    ended = QtCore.Signal(object, object)

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._job: Job[Any] | None = None
        self._watches: list[QtCore.QSocketNotifier] = []

    @property
    def busy(self) -> bool:
        """Whether a service is running."""
        return self._job is not None

    def start(self, service: Callable[..., Any], request: object) -> None:
        """Run a service. Ignored while another runs."""
        if self._job is not None:
            return
        try:
            job = self._job = start(service, request)
        except (RigError, OSError) as error:
            self.ended.emit(None, error)
            return
        self.destroyed.connect(job.close)  # with a window that was not closed before
        for descriptor in job.descriptors:
            watch = QtCore.QSocketNotifier(descriptor, QtCore.QSocketNotifier.Type.Read, self)
            watch.activated.connect(lambda *_: self._poll())
            self._watches.append(watch)

    def proceed(self) -> None:
        """Confirm that the requested action is done. Ignored without a running service."""
        if self._job is not None:
            self._job.proceed()

    def cancel(self, patience: float) -> None:
        """Request the service to end at its next event, and its process within `patience` s; `ended` follows."""
        if self._job is not None:
            self._job.cancel(patience)

    def close(self) -> None:
        """Cancel the service; nothing is reported any more. May be called again."""
        job = self._release()
        if job is not None:
            job.close()

    def _poll(self) -> None:
        job = self._job
        if job is None:
            return
        self._watch(False)  # also on an ended process: its watched descriptors are closed
        for event in job.events():
            self.reported.emit(event)
            if self._job is not job:  # a slot has closed it
                return
        if not job.ended:  # use the old value: pending events come first
            self._watch(True)
            return
        self._release()
        try:
            result = job.result(0.0)
        except Exception as error:  # pass any error of the service on to the caller
            self.ended.emit(None, error)
        else:
            self.ended.emit(result, None)

    def _watch(self, wanted: bool) -> None:
        for watch in self._watches:
            watch.setEnabled(wanted)

    def _release(self) -> "Job[Any] | None":
        self._watch(False)
        for watch in self._watches:
            watch.deleteLater()
        self._watches.clear()
        job, self._job = self._job, None
        if job is not None:
            self.destroyed.disconnect(job.close)
        return job


def error_text(error: Exception) -> str:
    """Return why a service failed, translated if it is a finding, with the app's own remedy."""
    if isinstance(error, RigError) and error.exit_code != ExitCode.INTERNAL:
        text = finding_text(error.finding)
        reset = error.finding.names(Code.FAULT_BEFORE_CONNECTION)
        return tr("{reason}: press Connect, then Reset").format(reason=text) if reset else text
    return f"{type(error).__name__}: {error}" if exit_code_of(error) == ExitCode.INTERNAL else str(error)
