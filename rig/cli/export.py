"""`rig export`: a recording's rows as a table."""

from pathlib import Path
from typing import Annotated

import typer

from rig.cli.options import check_made_of, end_doubtful, print_caveats


def export(
    recording: Annotated[Path, typer.Argument(metavar="RECORDING", help="A recording (.mcap).")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="CSV file to write; left out: beside the recording, same name."
        ),
    ] = None,
) -> None:
    """Write every cycle of a recording as CSV: commands, measurements, the model's terms, state and timing.

    One line per cycle, SI units, columns named as in the recording and numbered by leg. A recording cut off by a
    crash is exported as far as it goes. One that is damaged is exported too, and says so: exit code 5.
    """
    from rig.recording import RecordingError, RecordingFile, write_rows_csv

    target = output if output is not None else recording.with_suffix(".csv")
    check_made_of(recording, target)
    opened = RecordingFile(recording)
    if not opened.count:
        raise RecordingError(f"{recording}: holds no telemetry, there is nothing to export")
    print_caveats(opened)
    write_rows_csv(opened, target)
    typer.echo(f"{opened.count} rows: {target}")
    end_doubtful(opened)
