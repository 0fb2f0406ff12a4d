"""The report as a PDF file: all that its page says, on sheets, with the figures as vectors."""

import io
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from rig.csvio import check_output, whole_binary_file
from rig.errors import InputError
from rig.recording import Recorded
from rig.report.curves import Curves
from rig.report.html import report_page
from rig.report.pages import pdf_bytes
from rig.report.plots import figure_names, figure_pages

_MARGIN = 34.0  # points
_FOOT = 16.0
_MOST_FOOT = 150  # characters


def write_pdf(recording: Recorded, path: Path, *, summary: Mapping[str, Any]) -> None:
    """Write the report as a PDF file, A4 across: the same text, tables and figures as the page's; whole or not at all.

    The same every time. Raises InputError when it cannot be written.
    """
    names = figure_names(summary) if recording.count > 1 else ()
    page = report_page(recording, summary, dict.fromkeys(names, ""))
    drawn = figure_pages(Curves(recording, summary), summary) if names else iter(())
    sha256 = (summary.get("provenance") or {}).get("sha256")
    foot = recording.path.name + (f" · sha256 {sha256[:16]}…" if sha256 else "")
    author = str(recording.header.get("operator") or "")
    write_document(
        path,
        page,
        zip(names, drawn, strict=True),
        title=f"Report on {recording.path.name}",
        foot=foot,
        author=author,
    )


def write_document(
    path: Path, page: str, figures: Iterable[tuple[str, Figure]], *, title: str, foot: str, author: str = ""
) -> None:
    """Write a page of ours as a PDF file, whole or not at all; the same every time.

    Args:
        path: of the file.
        page: HTML, a section for each figure.
        figures: by the ids of their sections; each is saved before the next is asked for.
        title: of the document.
        foot: what stands below each sheet.
        author: of the document.

    Raises:
        InputError: it cannot be written.
    """
    check_output(path)
    drawn = {name: pdf_bytes(figure) for name, figure in figures}
    with whole_binary_file(path) as file:
        file.write(_document(page, drawn, title, foot, author))


def _document(page: str, drawn: Mapping[str, bytes], title: str, foot: str, author: str) -> bytes:
    from pypdf import PdfReader, PdfWriter, Transformation
    from reportlab.lib.pagesizes import A4, landscape
    from reportlab.platypus import SimpleDocTemplate
    from reportlab.platypus.doctemplate import LayoutError

    from rig.report.pdf_layout import flowing

    figures = {name: PdfReader(io.BytesIO(pdf)).pages[0] for name, pdf in drawn.items()}
    sizes = {name: (float(one.mediabox.width), float(one.mediabox.height)) for name, one in figures.items()}
    width, height = landscape(A4)
    frame = (width - 2 * _MARGIN - 12.0, height - 2 * _MARGIN - _FOOT - 12.0)  # reportlab's frames pad by 6 points
    story, places = flowing(page, sizes, frame)
    file = io.BytesIO()
    document = SimpleDocTemplate(
        file,
        pagesize=(width, height),
        leftMargin=_MARGIN,
        rightMargin=_MARGIN,
        topMargin=_MARGIN,
        bottomMargin=_MARGIN + _FOOT,
        title=title,
        author=author,
        invariant=1,
    )
    below = partial(_foot, foot)
    try:
        document.build(story, onFirstPage=below, onLaterPages=below)
    except LayoutError as error:
        raise InputError(f"something of it is larger than a sheet: {str(error).splitlines()[0]}") from None
    writer = PdfWriter(clone_from=io.BytesIO(file.getvalue()))
    for place in places:
        moved = Transformation().scale(place.scale).translate(*place.corner)
        writer.pages[place.page - 1].merge_transformed_page(figures[place.name], moved)
    for sheet in writer.pages:
        sheet.compress_content_streams()
    whole = io.BytesIO()
    writer.write(whole)
    return whole.getvalue()


def _foot(text: str, canvas: Any, document: Any) -> None:
    from rig.report.pdf_layout import SANS, SOFT

    canvas.saveState()
    canvas.setFont(SANS, 7)
    canvas.setFillColor(SOFT)
    canvas.drawString(_MARGIN + 6, _MARGIN, text if len(text) <= _MOST_FOOT else f"{text[: _MOST_FOOT - 1]}…")
    canvas.drawRightString(document.pagesize[0] - _MARGIN - 6, _MARGIN, f"page {document.page}")
    canvas.restoreState()
