"""Numbers and pages of recordings, separately or compared."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

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
    """HTML file: the report of one recording, or the comparison of several; None: one report each"""
    models: bool | None = None
    """compare the published models with the load cells; None: if possible"""
    parameters: tuple[Path, ...] = ()
    """files whose uncertainty widens the band; empty: those recorded"""
    thresholds: Validation | None = None
    """thresholds if the motion's file has none; None: as recorded"""
    alone: bool = False
    """use only `thresholds`"""
    identify: bool = False
    """also predict the residual with parameters identified from its motions"""
    figures: Path | None = None
    """folder for each figure as SVG and PDF; for one recording"""
    pdf: Path | None = None
    """PDF file of the report, or of the comparison of several"""
    friction: Literal["same", "printed"] = "same"
    """friction of the compared models: the mechanism's in each, or that of each model's paper"""

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
        """Return whether one report of all recordings is written, instead of one each."""
        return len(self.recordings) > 1 and (self.output is not None or self.pdf is not None)


@dataclass(frozen=True, slots=True)
class RecordingReport:
    """The report of one recording.

    recording: as in the request. summary: its numbers, as printed by `rig report --json`. page, figures, pdf: the
    written files. damaged: whether the recording is.
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

    reports: of each recording, in the order of the request. comparison: their numbers compared, empty for one
    recording. page, pdf: of the comparison, None if not requested.
    """

    reports: tuple[RecordingReport, ...]
    comparison: list[dict[str, Any]]
    page: Path | None = None
    pdf: Path | None = None

    @property
    def damaged(self) -> bool:
        """Return whether any recording is damaged."""
        return any(one.damaged for one in self.reports)

    @property
    def main_page(self) -> Path | None:
        """Return the page to open: the comparison's, or that of the only recording."""
        return self.page if len(self.reports) > 1 else self.reports[0].page

    @property
    def main_pdf(self) -> Path | None:
        """Return the PDF file to open: the comparison's, or that of the only recording."""
        return self.pdf if len(self.reports) > 1 else self.reports[0].pdf


def report(request: ReportRequest, progress: OnEvent = no_progress) -> ReportResult:
    """Write the reports of recordings. A truncated or damaged one is reported as far as possible.

    Events: notices on a recording; `reported` after each, with its `RecordingReport` as the value `report`.

    Raises:
        InputError: a file that cannot be read or written.
        RecordingError: a recording that cannot be read, or is empty; models that cannot be compared.
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
    """Return the report of one recording; write it unless all are compared in one."""
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
    """Return a recording's summary with validation, provenance and, if wanted and possible, the models."""
    from dynamics import DynamicsError
    from rig.report import compare_models, source_of, summarize, validate
    from rig.runs import annotations_of

    summary = summarize(recording)
    summary["validation"] = validate(
        recording, summary, parameters=files, thresholds=request.thresholds, alone=request.alone
    )
    summary["provenance"] = source_of(recording)
    try:
        found = annotations_of(recording.path)
        summary["annotations"] = {str(number): entry.model_dump() for number, entry in found.items()}
    except InputError as error:  # unreadable annotations must not prevent the report
        notices.add("annotations", str(error))
    if request.models is not False and not request.compares:
        try:
            summary["force"]["models"] = compare_models(recording, summary, request.friction)
            summary["force"]["models_friction"] = request.friction
        except (DynamicsError, RecordingError):
            if request.models:
                raise
    return summary


def _write_comparison(opened: list[Recorded], summaries: list[dict[str, Any]], request: ReportRequest) -> None:
    """Write the comparison if requested."""
    from rig.report import write_comparison, write_comparison_pdf

    if request.output is not None:
        write_comparison(opened, request.output, summaries=summaries)
    if request.pdf is not None:
        write_comparison_pdf(opened, request.pdf, summaries=summaries)
