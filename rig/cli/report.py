"""`rig report`: numbers and pages of recordings."""

import json
from pathlib import Path
from typing import Annotated

import typer

from rig.cli.options import JsonOption, parse_judge


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
    from rig.cli.progress import print_notice
    from rig.errors import ExitCode
    from rig.report import comparison_text, summary_lines
    from rig.services import Event, Notice, ReportRequest
    from rig.services import report as make_reports

    request = ReportRequest(
        tuple(recordings),
        output,
        models=models,
        parameters=tuple(parameters or ()),
        thresholds=parse_judge(thresholds, threshold or ()),
        alone=bool(threshold),
        identify=identify,
        figures=figures,
        pdf=pdf,
    )

    def show(event: Event) -> None:
        if isinstance(event, Notice):
            print_notice(event)
        elif not as_json:
            one = event.values["report"]
            for line in (*summary_lines(one.summary), *([] if one.page is None else [f"report: {one.page}"])):
                typer.echo(line)

    made = make_reports(request, show)
    paths = {name: str(path) for name, path in (("report", made.page), ("pdf", made.pdf)) if path is not None}
    summaries = [one.summary for one in made.reports]
    if as_json:
        several = {"recordings": summaries, "comparison": made.comparison, "paths": paths}
        typer.echo(json.dumps(several if len(summaries) > 1 else summaries[0], indent=2))
    elif len(summaries) > 1:
        typer.echo("\n".join([comparison_text(made.comparison), *(f"{what}: {path}" for what, path in paths.items())]))
    if made.damaged:
        raise typer.Exit(ExitCode.RECORDING)
