"""`rig report`: the numbers and the pages of a recording."""

import json
from pathlib import Path
from typing import Annotated

import typer

from rig.cli.options import JsonOption, check_made_of, end_doubtful, tell_caveats


def report(
    recording: Annotated[Path, typer.Argument(metavar="RECORDING", help="A recording (.mcap).")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="HTML file to write; left out: beside the recording, same name."
        ),
    ] = None,
    models: Annotated[
        bool, typer.Option("--models", help="Also compare the published models with what the load cells measured.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Make a recording's report: one HTML file that needs nothing else.

    It shows the forces measured and modelled per leg, their residuals, the tracking and the timing. A recording cut
    off by a crash is reported as far as it goes. One that is damaged is reported too, and says so: exit code 5.
    """
    from rig.recording import RecordingError, RecordingFile
    from rig.report import summarize, write_report

    target = output if output is not None else recording.with_suffix(".html")
    check_made_of(recording, target)
    opened = RecordingFile(recording)
    if not opened.count:
        raise RecordingError(f"{recording}: holds no telemetry, there is nothing to report")
    tell_caveats(opened)
    summary = summarize(opened)
    if models:
        from rig.report import compare_models

        summary["force"]["models"] = compare_models(opened, summary)
    write_report(opened, target, summary=summary)
    if as_json:
        typer.echo(json.dumps(summary | {"paths": {"recording": str(recording), "report": str(target)}}, indent=2))
    else:
        typer.echo(f"report: {target}")
    end_doubtful(opened)
