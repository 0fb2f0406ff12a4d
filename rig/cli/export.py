"""`rig export`: export of a recording's rows as a table."""

from pathlib import Path
from typing import Annotated

import typer


def export(
    recording: Annotated[Path, typer.Argument(metavar="RECORDING", help="A recording (.mcap).")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="CSV file to write; left out: next to the recording, same name."
        ),
    ] = None,
) -> None:
    """Write every cycle of a recording as CSV: commands, measurements, the model's terms, state and timing.

    One line per cycle, SI units, columns named as in the recording and numbered by leg. An incomplete recording (crash)
    is exported up to its end. A damaged one is exported with a note and exit code 5.
    """
    from rig.cli.progress import show_notices
    from rig.errors import ExitCode
    from rig.services import ExportRequest
    from rig.services import export as export_rows

    made = export_rows(ExportRequest(recording, output), show_notices)
    typer.echo(f"{made.rows} rows: {made.table}")
    if made.damaged:
        raise typer.Exit(ExitCode.RECORDING)
