"""The numbers and pages of recordings, one by one or side by side."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rig.config import Validation
from rig.errors import InputError
from rig.recording import MAX_COMPARED, Recorded, RecordingError, open_part, report_path, split_part
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.outputs import check_made_of
from rig.services.request import request
from rig.services.sources import Notices

if TYPE_CHECKING:
    from calibration import ParameterFile


@request
class ReportRequest:
    """Reports of recordings (.mcap), or of runs of them: FILE#3 is motion 3 of one."""

    recordings: tuple[Path, ...]
    output: Path | None = None
    """HTML file: of one recording its report, of several the one in which they are compared; None: each its own"""
    models: bool | None = None
    """compare the published models with the load cells; None: where it can be done"""
    parameters: tuple[Path, ...] = ()
    """files whose uncertainty widens the band; empty: those recorded"""
    thresholds: Validation | None = None
    """what judges where the motion's file does not; None: as recorded"""
    alone: bool = False
    """whether `thresholds` and no others judge"""
    identify: bool = False
    """also predict what parameters identified from its motions would leave"""
    figures: Path | None = None
    """folder for each figure as SVG and PDF; of one recording"""
    pdf: Path | None = None
    """the report as a PDF file; of several: the comparison"""

    def __post_init__(self) -> None:
        if not self.recordings:
            raise InputError("no recording to report on")
        several = len(self.recordings) > 1
        if several and self.figures is not None:
            raise InputError("--figures is of one recording, not of several")
        if self.compares and (self.models or self.identify):
            raise InputError("--models and --identify are of one recording each: leave out --output and --pdf")
        if self.compares and len(self.recordings) > MAX_COMPARED:
            raise InputError(
                f"{len(self.recordings)} recordings: at most {MAX_COMPARED} can be told apart over each other"
            )

    @property
    def compares(self) -> bool:
        """Whether one report of all recordings is written, in place of one each."""
        return len(self.recordings) > 1 and (self.output is not None or self.pdf is not None)


@dataclass(frozen=True, slots=True)
class RecordingReport:
    """The report of one recording.

    recording: as the request has it. summary: its numbers, as `rig report --json` prints them. page, figures, pdf: what
    was written. damaged: whether the recording is.
    """

    recording: Path
    summary: dict[str, Any]
    page: Path | None = None
    figures: tuple[Path, ...] = ()
    pdf: Path | None = None
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class ReportResult:
    """Result of the service.

    reports: of each recording, in the order of the request. comparison: their numbers side by side, empty of one
    recording. page, pdf: of the report that compares them, None where none was asked for.
    """

    reports: tuple[RecordingReport, ...]
    comparison: list[dict[str, Any]]
    page: Path | None = None
    pdf: Path | None = None

    @property
    def damaged(self) -> bool:
        """Whether any of the recordings is."""
        return any(one.damaged for one in self.reports)

    @property
    def main_page(self) -> Path | None:
        """The page to open: the comparison's, or that of the only recording."""
        return self.page if len(self.reports) > 1 else self.reports[0].page

    @property
    def main_pdf(self) -> Path | None:
        """The PDF file to open, likewise."""
        return self.pdf if len(self.reports) > 1 else self.reports[0].pdf


def report(request: ReportRequest, progress: OnEvent = no_progress) -> ReportResult:
    """Write the reports of recordings. One cut off by a crash, or damaged, is reported as far as it goes.

    Events: notices of what must be known of a recording; `reported` after each, whose value `report` is its
    `RecordingReport`.

    Raises:
        InputError: a file that cannot be read or written.
        RecordingError: a recording that cannot be read, or that holds nothing; models that cannot be compared.
    """
    from calibration import load_parameters
    from rig.report import compared

    files = [load_parameters(path) for path in request.parameters] or None
    opened: list[Recorded] = []
    reports: list[RecordingReport] = []
    notices = Notices(progress)
    for done, path in enumerate(request.recordings, start=1):
        target = request.output if request.output is not None else report_path(path)
        for made in filter(None, (target, request.pdf)):
            check_made_of(split_part(path)[0], made)
        recording = _opened(path, notices)
        one = _reported(recording, path, target, request, files, notices)
        opened.append(recording)
        reports.append(one)
        progress(Progress("reported", done, len(request.recordings), {"report": one}))
    if len(reports) == 1:
        return ReportResult(tuple(reports), [])
    summaries = [one.summary for one in reports]
    comparison = compared(summaries)
    _write_comparison(opened, summaries, request)
    return ReportResult(tuple(reports), comparison, request.output, request.pdf)


def _opened(path: Path, notices: Notices) -> Recorded:
    opened = open_part(path)
    if not opened.count:
        raise RecordingError(f"{path}: holds no telemetry, there is nothing to report")
    notices.of_recording(opened)
    return opened


def _reported(
    recording: Recorded,
    path: Path,
    target: Path,
    request: ReportRequest,
    files: "list[ParameterFile] | None",
    notices: Notices,
) -> RecordingReport:
    """The report of one recording, written unless all are compared in one."""
    from rig.report import write_figures, write_pdf, write_report

    summary = _numbers(recording, request, files, notices)
    if request.identify:
        from rig.client import identifiability_of

        summary["identification"] = identifiability_of(recording)
    damaged = bool(recording.doubts)
    summary["paths"] = {"recording": str(path)}
    if request.compares:
        return RecordingReport(path, summary, damaged=damaged)
    summary["paths"]["report"] = str(target)
    write_report(recording, target, summary=summary)
    figures: list[Path] = []
    if request.figures is not None:
        figures = write_figures(recording, request.figures, summary=summary)
        summary["paths"]["figures"] = [str(each) for each in figures]
    if request.pdf is not None:
        write_pdf(recording, request.pdf, summary=summary)
        summary["paths"]["pdf"] = str(request.pdf)
    return RecordingReport(path, summary, target, tuple(figures), request.pdf, damaged)


def _numbers(
    recording: Recorded, request: ReportRequest, files: "list[ParameterFile] | None", notices: Notices
) -> dict[str, Any]:
    """A recording's summary with its validation, the models unless not wanted or not to be had, and its provenance."""
    from dynamics import DynamicsError
    from rig.report import compare_models, source_of, summarize, validate
    from rig.runs import annotations_of

    summary = summarize(recording)
    summary["validation"] = validate(
        recording, summary, parameters=files, thresholds=request.thresholds, alone=request.alone
    )
    summary["provenance"] = source_of(recording)
    try:
        summary["said"] = {str(number): entry.model_dump() for number, entry in annotations_of(recording.path).items()}
    except InputError as error:  # what people noted on it is not worth the report
        notices.add("annotations", str(error))
    if request.models is not False and not request.compares:
        try:
            summary["force"]["models"] = compare_models(recording, summary)
        except (DynamicsError, RecordingError):
            if request.models:
                raise
    return summary


def _write_comparison(opened: list[Recorded], summaries: list[dict[str, Any]], request: ReportRequest) -> None:
    """The report of all of them, where one was asked for."""
    from rig.report import write_comparison, write_comparison_pdf

    if request.output is not None:
        write_comparison(opened, request.output, summaries=summaries)
    if request.pdf is not None:
        write_comparison_pdf(opened, request.pdf, summaries=summaries)
