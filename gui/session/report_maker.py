"""Makes a recording's report in a process of its own."""

from collections.abc import Sequence
from pathlib import Path

from pyqtgraph.Qt import QtCore

from gui.session.job_runner import JobRunner, error_text
from rig.config import Validation
from rig.recording import comparison_path, report_path
from rig.services import ReportRequest, ReportResult, report


class ReportMaker(QtCore.QObject):
    """Makes one report at a time. `finished(path, fault)`: the report and "", or "" and why there is none."""

    finished = QtCore.Signal(str, str)

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._job = JobRunner(self)
        self._job.ended.connect(self._done)
        self._print = False

    @property
    def busy(self) -> bool:
        """Whether a report is being made."""
        return self._job.busy

    def make(
        self,
        recordings: Sequence[Path],
        thresholds: Validation | None = None,
        *,
        alone: bool = False,
        pdf: bool = False,
    ) -> None:
        """Make the report of a recording, or of a run FILE#ID, beside it; of several, one of them side by side.

        Judged by these thresholds, None: as recorded; see `ReportRequest`. `pdf`: print it as well, and tell of that.
        Nothing while another is being made.
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
        """Give up a report that is being made."""
        self._job.close()

    def _done(self, made: ReportResult | None, error: Exception | None) -> None:
        if made is None:
            assert error is not None
            self.finished.emit("", error_text(error))
        else:
            self.finished.emit(str(made.main_pdf if self._print else made.main_page), "")
