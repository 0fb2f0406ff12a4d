"""The report as a PDF file: all that its page says, on sheets, with the figures as vectors."""

import io
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from rig.csvio import check_output
from rig.errors import InputError
from rig.recording import Recorded
from rig.report.curves import Curves
from rig.report.html import report_page
from rig.report.pages import pdf_bytes
from rig.report.plots import figure_names, figure_pages

_MARGIN = 34.0  # points
_FOOT = 16.0


def write_pdf(recording: Recorded, path: Path, *, summary: Mapping[str, Any]) -> None:
    """Write the report as a PDF file, A4 across: the same text, tables and figures as the page's; whole or not at all.

    The same every time. Raises InputError when it cannot be written.
    """
    check_output(path)
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(_document(recording, summary))
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def _document(recording: Recorded, summary: Mapping[str, Any]) -> bytes:
    from pypdf import PdfReader, PdfWriter, Transformation
    from reportlab.lib.pagesizes import A4, landscape
    from reportlab.platypus import SimpleDocTemplate

    from rig.report.flowing import flowing

    names = figure_names(summary) if recording.count > 1 else ()
    drawn = figure_pages(Curves(recording, summary), summary) if names else ()
    figures = {
        name: PdfReader(io.BytesIO(pdf_bytes(figure))).pages[0] for name, figure in zip(names, drawn, strict=True)
    }
    sizes = {name: (float(page.mediabox.width), float(page.mediabox.height)) for name, page in figures.items()}
    width, height = landscape(A4)
    frame = (width - 2 * _MARGIN - 12.0, height - 2 * _MARGIN - _FOOT - 12.0)  # reportlab's frames pad by 6 points
    story, places = flowing(report_page(recording, summary, dict.fromkeys(names, "")), sizes, frame)
    file = io.BytesIO()
    document = SimpleDocTemplate(
        file,
        pagesize=(width, height),
        leftMargin=_MARGIN,
        rightMargin=_MARGIN,
        topMargin=_MARGIN,
        bottomMargin=_MARGIN + _FOOT,
        title=f"Report on {recording.path.name}",
        author=str(recording.header.get("operator") or ""),
        invariant=1,
    )
    foot = partial(_foot, recording.path.name, summary)
    document.build(story, onFirstPage=foot, onLaterPages=foot)
    writer = PdfWriter(clone_from=io.BytesIO(file.getvalue()))
    for place in places:
        moved = Transformation().scale(place.scale).translate(*place.corner)
        writer.pages[place.page - 1].merge_transformed_page(figures[place.name], moved)
    for page in writer.pages:
        page.compress_content_streams()
    whole = io.BytesIO()
    writer.write(whole)
    return whole.getvalue()


def _foot(name: str, summary: Mapping[str, Any], canvas: Any, document: Any) -> None:
    from rig.report.flowing import SANS, SOFT

    canvas.saveState()
    canvas.setFont(SANS, 7)
    canvas.setFillColor(SOFT)
    sha256 = (summary.get("provenance") or {}).get("sha256")
    canvas.drawString(_MARGIN + 6, _MARGIN, name + (f" · sha256 {sha256[:16]}…" if sha256 else ""))
    canvas.drawRightString(document.pagesize[0] - _MARGIN - 6, _MARGIN, f"page {document.page}")
    canvas.restoreState()
