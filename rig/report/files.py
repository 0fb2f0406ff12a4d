"""The report's figures as files for publication, and the report as a PDF file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

from rig.csvio import check_output
from rig.errors import InputError
from rig.recording import Recorded
from rig.report.curves import Curves
from rig.report.pages import WIDTH
from rig.report.plots import drawn_files, figure_pages
from rig.report.saying import said

_LINE = 0.24
"""inches"""


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


def write_pdf(recording: Recorded, path: Path, *, summary: Mapping[str, Any]) -> None:
    """Write the report as a PDF file: a page of its numbers, then a page for each figure; whole or not at all.

    Raises InputError when it cannot be written.
    """
    check_output(path)
    part = path.with_name(f".{path.name}.part")
    dates = {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None}
    try:
        with PdfPages(part, metadata=dates) as pages:
            pages.savefig(_front(recording, summary))
            for figure in figure_pages(Curves(recording, summary), summary) if recording.count > 1 else ():
                pages.savefig(figure)
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def _front(recording: Recorded, summary: Mapping[str, Any]) -> Figure:
    origin = summary.get("provenance") or {}
    told = [
        str(recording.header.get("config", {}).get("name", recording.path.stem)),
        "",
        *said(summary),
        "",
        f"covers     {summary['window']['covers']}: {summary['window']['rows']} rows",
        *(f"{key:<18} {value}" for key, value in origin.items() if isinstance(value, str | int)),
    ]
    legs = (summary.get("validation") or {}).get("legs", [])
    if legs:
        told += ["", "leg      RMS, N     bias, N     peak, N         R2     lag, ms"]
    for leg in legs:
        numbers = [leg["rms_n"], leg["bias_n"], leg["peak_n"], leg["r_squared"]]
        numbers.append(None if leg["lag_s"] is None else 1e3 * leg["lag_s"])
        told.append(
            f"{leg['leg']:<4}" + "".join(f"{'-' if one is None else format(one, '.4f'):>12}" for one in numbers)
        )
    lines = [piece for line in told for piece in _broken(line)]
    figure = Figure(figsize=(WIDTH, max(4.0, _LINE * (len(lines) + 3))))
    text = "\n".join(lines)
    figure.text(0.05, 0.97, text, va="top", family="monospace", fontsize=9, parse_math=False)  # a note may have dollars
    return figure


def _broken(line: str, most: int = 110) -> list[str]:
    return [line[start : start + most] for start in range(0, max(1, len(line)), most)]
