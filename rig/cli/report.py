"""`rig report`: the numbers and the pages of recordings."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.options import JsonOption, check_made_of, end_doubtful, parse_judge, print_caveats, print_warning

if TYPE_CHECKING:
    from rig.recording import Recorded


def report(
    recordings: Annotated[
        list[Path],
        typer.Argument(metavar="RECORDING...", help="Recordings (.mcap); FILE#3 is only motion 3 of one (`rig runs`)."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="HTML file to write; left out: beside the recording, same name."
        ),
    ] = None,
    models: Annotated[
        bool | None,
        typer.Option(
            "--models/--no-models",
            help="Compare the published models with what the load cells measured. Left out: where it can be done.",
        ),
    ] = None,
    parameters: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Parameter file whose uncertainty widens the band; left out: those recorded. May be given repeatedly.",
        ),
    ] = None,
    thresholds: Annotated[
        str | None,
        typer.Option(
            metavar="CONFIG",
            help="Configuration whose [validation] judges, where the motion's file does not; left out: as recorded.",
        ),
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Judge by these and no others, as [validation] names them; repeatedly."
        ),
    ] = None,
    identify: Annotated[
        bool,
        typer.Option("--identify", help="Also say what parameters identified from its motions would leave; seconds."),
    ] = False,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write each figure there, as SVG and as PDF.")
    ] = None,
    pdf: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the report as a PDF file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a recording's report: one HTML file that needs nothing else.

    It shows the forces measured and modelled per leg, their residuals, how well the model predicts them and whether
    that is good enough by [validation] of configuration and motion, the tracking and the timing. Of several
    recordings, or runs, each gets its report, and the numbers are set side by side; with --output or --pdf they get one
    of them all instead, their curves laid over each other. A recording cut off by a crash is reported
    as far as it goes. One that is damaged is reported too, and says so: exit code 5.
    """
    from calibration import load_parameters
    from rig.errors import InputError
    from rig.recording import MOST_BESIDE, report_path, split_part
    from rig.report import compared, comparison_text, summary_lines

    together = len(recordings) > 1 and (output is not None or pdf is not None)
    if len(recordings) > 1 and figures:
        raise InputError("--figures is of one recording, not of several")
    if together and (models or identify):
        raise InputError("--models and --identify are of one recording each: leave out --output and --pdf")
    if together and len(recordings) > MOST_BESIDE:
        raise InputError(f"{len(recordings)} recordings: at most {MOST_BESIDE} can be told apart over each other")
    judge = {"thresholds": parse_judge(thresholds, threshold or ()), "alone": bool(threshold)}
    files = None if not parameters else [load_parameters(path) for path in parameters]
    opened, summaries = [], []
    for path in recordings:
        target = output if output is not None else report_path(path)
        for made in filter(None, (target, pdf)):
            check_made_of(split_part(path)[0], made)
        recording = _opened(path)
        summary = _made(recording, False if together else models, {"parameters": files, **judge})
        if identify:
            from rig.client import identifiability_of

            summary["identification"] = identifiability_of(recording)
        summary["paths"] = {"recording": str(path)}
        if not together:
            summary["paths"]["report"] = str(target)
            _write(recording, summary, target, figures, pdf)
        if not as_json:
            for line in (*summary_lines(summary), *([] if together else [f"report: {target}"])):
                typer.echo(line)
        opened.append(recording)
        summaries.append(summary)
    if len(summaries) > 1:
        beside = compared(summaries)
        paths = _write_beside(opened, summaries, output, pdf)
        if as_json:
            typer.echo(json.dumps({"recordings": summaries, "comparison": beside, "paths": paths}, indent=2))
        else:
            typer.echo("\n".join([comparison_text(beside), *(f"{what}: {path}" for what, path in paths.items())]))
    elif as_json:
        typer.echo(json.dumps(summaries[0], indent=2))
    for recording in opened:
        end_doubtful(recording)


def _opened(path: Path) -> "Recorded":
    from rig.recording import RecordingError, open_part

    opened = open_part(path)
    if not opened.count:
        raise RecordingError(f"{path}: holds no telemetry, there is nothing to report")
    print_caveats(opened)
    return opened


def _made(recording: "Recorded", models: bool | None, wanted: dict[str, Any]) -> dict[str, Any]:
    """A recording's summary with its validation, the models unless not wanted or not to be had, and its provenance."""
    from dynamics import DynamicsError
    from rig.errors import InputError
    from rig.recording import RecordingError
    from rig.report import compare_models, source_of, summarize, validate
    from rig.runs import annotations_of

    summary = summarize(recording)
    summary["validation"] = validate(recording, summary, **wanted)
    summary["provenance"] = source_of(recording)
    try:
        summary["said"] = {str(number): entry.model_dump() for number, entry in annotations_of(recording.path).items()}
    except InputError as error:  # what people said of it is not worth the report
        print_warning(str(error))
    if models is not False:
        try:
            summary["force"]["models"] = compare_models(recording, summary)
        except (DynamicsError, RecordingError):
            if models:
                raise
    return summary


def _write(
    recording: "Recorded", summary: dict[str, Any], target: Path, figures: Path | None, pdf: Path | None
) -> None:
    from rig.report import write_figures, write_pdf, write_report

    write_report(recording, target, summary=summary)
    if figures is not None:
        summary["paths"]["figures"] = [str(path) for path in write_figures(recording, figures, summary=summary)]
    if pdf is not None:
        write_pdf(recording, pdf, summary=summary)
        summary["paths"]["pdf"] = str(pdf)


def _write_beside(
    opened: "list[Recorded]", summaries: list[dict[str, Any]], output: Path | None, pdf: Path | None
) -> dict[str, str]:
    """The report of all of them, where one was asked for; what was written where."""
    from rig.report import write_comparison, write_comparison_pdf

    paths = {}
    if output is not None:
        write_comparison(opened, output, summaries=summaries)
        paths["report"] = str(output)
    if pdf is not None:
        write_comparison_pdf(opened, pdf, summaries=summaries)
        paths["pdf"] = str(pdf)
    return paths
