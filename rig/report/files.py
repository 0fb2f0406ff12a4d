"""The report's figures as files for publication."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rig.errors import InputError
from rig.recording import Recorded
from rig.report.curves import Curves
from rig.report.plots import drawn_files


def write_figures(recording: Recorded, folder: Path, *, summary: Mapping[str, Any]) -> list[Path]:
    """Write every figure into `folder` as NAME.svg and NAME.pdf; those files, in order.

    The same every time, replacing files of the same names; the folder is made where it is missing. A recording of
    fewer than two rows has no figures. Raises InputError when the folder or a file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for name, drawn in drawn_files(Curves(recording, summary), summary) if recording.count > 1 else ():
            svg, pdf = folder / f"{name}.svg", folder / f"{name}.pdf"
            svg.write_text(drawn.svg, encoding="utf-8")
            pdf.write_bytes(drawn.pdf)
            written += [svg, pdf]
    except OSError as error:
        raise InputError(f"figures {folder}: cannot be written: {error.strerror or error}") from None
    return written
