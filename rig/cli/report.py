"""`rig report`: numbers and pages of recordings."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from rig.cli.options import JsonOption, parse_choice, parse_judge

_FRICTIONS: tuple[Literal["same", "printed"], ...] = ("same", "printed")


def report(
    recordings: Annotated[
        list[Path],
        typer.Argument(metavar="RECORDING...", help="Recordings (.mcap); FILE#3 is only motion 3 of one (`rig runs`)."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="HTML file to write; left out: next to the recording, same name."
        ),
    ] = None,
    models: Annotated[
        bool | None,
        typer.Option(
            "--models/--no-models",
            help="Compare the published models with the load cells. Left out: if possible.",
        ),
    ] = None,
    friction: Annotated[
        str,
        typer.Option(
            metavar="same|printed",
            help="Friction of the compared models: the mechanism's in each, or that of each model's paper.",
        ),
    ] = "same",
    parameters: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Parameter file whose uncertainty widens the band; left out: those recorded. May be repeated.",
        ),
    ] = None,
    thresholds: Annotated[
        str | None,
        typer.Option(
            metavar="CONFIG",
            help="Configuration with the thresholds, [validation], that the motion's file lacks; left out: as "
            "recorded.",
        ),
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Use only these thresholds, named as in [validation]; may be repeated."
        ),
    ] = None,
    identify: Annotated[
        bool,
        typer.Option(
            "--identify", help="Also predict the residual with parameters identified from its motions; takes seconds."
        ),
    ] = False,
    figures: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for each figure as SVG and PDF.")] = None,
    pdf: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the report as a PDF file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a recording's report as one self-contained HTML file.

    It shows the measured and modelled forces per leg, their residuals, the verdict on the model by [validation] of
    configuration and motion, the tracking and the timing. Several recordings or runs get one report each, and a table
    of their numbers; with --output or --pdf one common report instead, with overlaid curves. An incomplete recording
    (crash) is reported up to its end. A damaged one is reported with a note and exit code 5.
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
        friction=parse_choice(friction, _FRICTIONS, "--friction"),
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
