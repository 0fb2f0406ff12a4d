"""The report as a PDF file: headings, sentences, cards, tables and figures of the HTML page, as vector graphics."""

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from pypdf import PdfReader, PdfWriter, Transformation
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase.pdfmetrics import registerFont, registerFontFamily, stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Flowable, KeepTogether, Paragraph, Preformatted, SimpleDocTemplate, Spacer, Table
from reportlab.platypus.doctemplate import LayoutError

from rig.csvio import check_output, whole_binary_file
from rig.errors import InputError
from rig.recording import Recorded
from rig.report.figures import Curves, figure_names, figure_pages
from rig.report.html import report_page
from rig.report.pages import pdf_bytes

SANS, BOLD, MONO = "DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono"
INK, SOFT, LINE = HexColor("#1d242b"), HexColor("#5b656f"), HexColor("#dde2e7")
_KINDS = {"good": "#00795a", "neutral": "#5b656f", "warn": "#a86a00", "bad": "#b23c00", "meant": "#5b3a8c"}
_LEVELS = {"level-warning": "#a86a00", "level-error": "#b23c00", "level-fatal": "#b23c00"}
_VOID = ("meta", "img", "br", "link", "hr")
_PAD = 3.0
_MOST_CODE = 190  # characters of a code line before it wraps
_MOST_LINES = 52  # code lines per column

TEXT = ParagraphStyle("text", fontName=SANS, fontSize=8.5, leading=11.5, textColor=INK)
NOTE = ParagraphStyle("note", TEXT, fontSize=7.5, leading=10, textColor=SOFT, spaceAfter=4)
TITLE = ParagraphStyle("title", TEXT, fontName=BOLD, fontSize=18, leading=23)
_VALUE = ParagraphStyle("value", TEXT, leading=18)
HEADING = ParagraphStyle("heading", TEXT, fontName=BOLD, fontSize=12, leading=16, spaceBefore=12, spaceAfter=2)
_CODE = ParagraphStyle("code", TEXT, fontName=MONO, fontSize=6.5, leading=8.5)
_SUMMARY = ParagraphStyle("summary", TEXT, fontName=BOLD, fontSize=9, spaceBefore=6, spaceAfter=2)


@dataclass(slots=True)
class Node:
    """An HTML element of the page."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: "list[Node | str]" = field(default_factory=list)

    @property
    def classes(self) -> list[str]:
        """Return its class names."""
        return self.attributes.get("class", "").split()

    def all(self, tag: str, classed: str = "") -> "Iterator[Node]":
        """Yield all descendants with this tag and class, in document order."""
        for child in self.children:
            if isinstance(child, Node):
                if child.tag == tag and (not classed or classed in child.classes):
                    yield child
                yield from child.all(tag, classed)

    @property
    def text(self) -> str:
        """Return the text of all descendants."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Node("")
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(node)
        if tag not in _VOID:
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        while len(self._open) > 1 and self._open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)


class Place(Flowable):  # type: ignore[misc]  # reportlab has no types
    """Placeholder for a figure, which records its position; the figure is inserted after layout.

    Args:
        name: name of the figure.
        size: its width and height, points.
    """

    def __init__(self, name: str, size: tuple[float, float]) -> None:
        super().__init__()
        self.name, self._size = name, size
        self.scale = 1.0
        self.page = 0
        self.corner = (0.0, 0.0)
        """lower left corner on the sheet, points"""

    def fit(self, width: float, height: float) -> None:
        """Shrink it to fit into this size, points."""
        self.scale = min(1.0, width / self._size[0], height / self._size[1])

    def wrap(self, *_available: float) -> tuple[float, float]:
        """Return its size, points."""
        return self.scale * self._size[0], self.scale * self._size[1]

    def draw(self) -> None:
        """Record its position."""
        self.page, self.corner = self.canv.getPageNumber(), self.canv.absolutePosition(0.0, 0.0)


@cache
def register_fonts() -> None:
    """Register matplotlib's bundled fonts, which cover every character of the report."""
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    for name in (SANS, BOLD, MONO):
        registerFont(TTFont(name, str(folder / f"{name}.ttf")))
    registerFontFamily(SANS, normal=SANS, bold=BOLD, italic=SANS, boldItalic=BOLD)


def flowing(
    page: str, sizes: Mapping[str, tuple[float, float]], frame: tuple[float, float]
) -> tuple[list[Any], list[Place]]:
    """Return the page's content as flowables in order, without screen-only parts, and the figures' placeholders.

    Args:
        page: HTML.
        sizes: width and height of each figure, points, by its name: the id of its section.
        frame: available width and height of a sheet, points.
    """
    register_fonts()
    parser = _Page()
    parser.feed(page)
    header, main = next(parser.root.all("header")), next(parser.root.all("main"))
    places = {name: Place(name, size) for name, size in sizes.items()}
    return [*_heading(header), *_body(main, places, frame)], list(places.values())


def _heading(header: Node) -> Iterator[Any]:
    kind = next((_KINDS[name] for name in header.classes if name in _KINDS), _KINDS["neutral"])
    yield Paragraph(_inline(next(header.all("h1"))), TITLE)
    for line in header.all("p"):
        warns = {"caveat", "off"} & set(line.classes)
        yield Paragraph(_inline(line), ParagraphStyle("origin", TEXT, textColor=HexColor("#a86a00") if warns else SOFT))
    for verdict in header.all("span", "verdict"):
        own = next((_KINDS[name] for name in verdict.classes if name in _KINDS), kind)
        style = ParagraphStyle("verdict", TEXT, fontName=BOLD, textColor=HexColor(own), spaceBefore=4)
        yield Paragraph(_inline(verdict), style)
    yield Spacer(1, 6)


def _body(main: Node, places: Mapping[str, Place], frame: tuple[float, float]) -> Iterator[Any]:
    for node in main.children:
        if not isinstance(node, Node):
            continue
        if "cards" in node.classes:
            yield _cards(node, frame[0])
        elif node.tag == "section":
            yield from _section(node, places, frame)
        elif node.tag == "p":
            yield Paragraph(_inline(node), NOTE)


def _section(section: Node, places: Mapping[str, Place], frame: tuple[float, float]) -> Iterator[Any]:
    heading: list[Any] = [Paragraph(_inline(next(section.all("h2"))), HEADING)]
    name = section.attributes.get("id", "")
    rest: list[Any] = []
    for node in _blocks(section):
        match node.tag:
            case "p" | "figcaption":
                (rest if rest else heading).append(Paragraph(_inline(node), NOTE))
            case "table" if "signed" in node.classes:
                rest.append(KeepTogether([Spacer(1, 10), _signed(node, frame[0])]))
            case "table":
                rest += [_table(node, frame[0]), Spacer(1, 6)]
            case "details":
                summary = Paragraph(_inline(next(node.all("summary"))), _SUMMARY)
                rest += [summary, *_code(next(node.all("pre")).text, frame[0])]
    if name in places:
        above = sum(each.wrap(*frame)[1] + each.getSpaceBefore() + each.getSpaceAfter() for each in heading)
        places[name].fit(frame[0], frame[1] - above)
        rest.insert(0, places[name])
    yield KeepTogether([*heading, *rest[:1]])
    yield from rest[1:]


def _code(text: str, width: float) -> Iterator[Any]:
    """Yield code in as many columns as its line length allows."""
    whole = text.expandtabs(4).splitlines() or [""]
    lines = [line[start : start + _MOST_CODE] for line in whole for start in range(0, len(line) or 1, _MOST_CODE)]
    across = max(1, min(3, int(_MOST_CODE / max(40, *(len(line) + 2 for line in lines)))))
    tall = min(_MOST_LINES, -(-len(lines) // across))
    columns = ["\n".join(lines[first : first + tall]) for first in range(0, len(lines), tall)]
    for first in range(0, len(columns), across):
        row = [Preformatted(column, _CODE) for column in columns[first : first + across]]
        style = [("VALIGN", (0, 0), (-1, -1), "TOP"), ("LEFTPADDING", (0, 0), (-1, -1), _PAD)]
        yield Table([row + [""] * (across - len(row))], [width / across] * across, style=style)


def _blocks(node: Node) -> Iterator[Node]:
    """Yield paragraphs, tables and collapsible sections, each once."""
    for child in node.children:
        if not isinstance(child, Node) or "still" in child.classes:
            continue
        if child.tag in ("p", "figcaption", "table", "details"):
            yield child
        else:
            yield from _blocks(child)


def _inline(node: Node) -> str:
    """Return an element's text with the markup that reportlab supports."""
    parts = []
    for child in node.children:
        if isinstance(child, str):
            parts.append(escape(child.replace("\n", " "), quote=False))
        elif "swatch" in child.classes:
            colour = child.attributes["style"].partition("background:")[2].strip()
            parts.append(f'<font color="{escape(colour)}">■</font> ')
        elif child.tag == "br":
            parts.append("<br/>")
        elif child.tag == "code":
            parts.append(f'<font face="{MONO}">{_inline(child)}</font>')
        else:
            parts.append(_inline(child))
    return "".join(parts)


def _cards(node: Node, width: float) -> Table:
    across = 4
    cells: list[Any] = []
    for card in node.all("div", "card"):
        colour = next((_KINDS[name] for name in card.classes if name in _KINDS), "#1d242b")
        name, small = next(card.all("b")), next(card.all("small"))
        value, unit = next(card.all("span", "value")), next(card.all("span", "unit"))
        figure = f'<font name="{BOLD}" size="14" color="{colour}">{_inline(value)}</font> {_inline(unit)}'
        cells.append([Paragraph(_inline(name), NOTE), Paragraph(figure, _VALUE), Paragraph(_inline(small), NOTE)])
    rows = [cells[first : first + across] for first in range(0, len(cells), across)]
    rows[-1] += [""] * (across - len(rows[-1]))
    style = [("BOX", (0, 0), (-1, -1), 0.5, LINE), ("INNERGRID", (0, 0), (-1, -1), 0.5, LINE)]
    return Table(rows, [width / across] * across, style=[*style, ("VALIGN", (0, 0), (-1, -1), "TOP")], spaceAfter=6)


def _signed(node: Node, width: float) -> Table:
    cells = [Paragraph(_inline(cell), NOTE) for cell in node.all("td")]
    style = [("GRID", (0, 0), (-1, -1), 0.7, SOFT), ("VALIGN", (0, 0), (-1, -1), "TOP")]
    return Table([cells], [width / len(cells)] * len(cells), [52.0], style=style)


def _table(node: Node, width: float) -> Table:
    rows = [[cell for cell in row.children if isinstance(cell, Node)] for row in node.all("tr")]
    across = max(sum(_spanned(cell) for cell in row) for row in rows)
    heads = int(rows[0][0].tag == "th")
    size = 7.5 if across <= 9 else 6.5
    style: list[Any] = [
        ("LINEBELOW", (0, 0), (-1, -1), 0.4, LINE),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        *[(f"{side}PADDING", (0, 0), (-1, -1), _PAD) for side in ("LEFT", "RIGHT")],
        *[(f"{side}PADDING", (0, 0), (-1, -1), 1.5) for side in ("TOP", "BOTTOM")],
    ]
    least, wanted = [0.0] * across, [0.0] * across
    cells: list[list[Any]] = []
    for number, row in enumerate(rows):
        line: list[Any] = []
        for cell in row:
            place, spanned = len(line), _spanned(cell)
            line += [_cell(cell, size, first=place == 0), *[""] * (spanned - 1)]
            if spanned > 1:
                style.append(("SPAN", (place, number), (place + spanned - 1, number)))
                continue
            font, text = BOLD if cell.tag == "th" else SANS, cell.text
            words = [stringWidth(word, font, size) for word in text.split()]
            breaks = cell.tag == "th" or "text" in cell.classes
            wanted[place] = max(wanted[place], stringWidth(text, font, size) + 12.0)
            least[place] = max(least[place], (min(max(words, default=0.0), 170.0) if breaks else sum(words)) + 12.0)
        cells.append(line + [""] * (across - len(line)))
    return Table(cells, _shared(least, wanted, width), repeatRows=heads, splitInRow=1, style=style, hAlign="LEFT")


def _shared(least: list[float], wanted: list[float], width: float) -> list[float]:
    """Distribute the width over columns: each between its minimum and its preferred width, by the same ratio."""
    if sum(wanted) <= width:
        return wanted
    spare, missing = width - sum(least), sum(wanted) - sum(least)
    if spare <= 0.0 or missing <= 0.0:
        return [one * width / sum(least) for one in least]
    return [low + (high - low) * spare / missing for low, high in zip(least, wanted, strict=True)]


def _spanned(cell: Node) -> int:
    return int(cell.attributes.get("colspan", "1"))


def _cell(cell: Node, size: float, *, first: bool) -> Paragraph:
    colour = next((_LEVELS[name] for name in cell.classes if name in _LEVELS), "")
    return Paragraph(
        _inline(cell),
        ParagraphStyle(
            "cell",
            TEXT,
            fontName=BOLD if cell.tag == "th" or colour else SANS,
            fontSize=size,
            leading=1.3 * size,
            textColor=HexColor(colour) if colour else SOFT if cell.tag == "th" else INK,
            alignment=0 if first or "text" in cell.classes else 2,
        ),
    )


_MARGIN = 34.0  # points
_FOOT = 16.0
_MOST_FOOT = 150  # characters


def write_pdf(recording: Recorded, path: Path, *, summary: Mapping[str, Any]) -> None:
    """Write the report as an A4 landscape PDF file with the page's text, tables and figures, atomically.

    The output is reproducible. Raises InputError when the file cannot be written.
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
    """Write an HTML page as a reproducible PDF file, atomically.

    Args:
        path: path of the file.
        page: HTML, with a section for each figure.
        figures: by the ids of their sections; each is saved before the next is requested.
        title: title of the document.
        foot: footer of each sheet.
        author: author of the document.

    Raises:
        InputError: the file cannot be written.
    """
    check_output(path)
    drawn = {name: pdf_bytes(figure) for name, figure in figures}
    with whole_binary_file(path) as file:
        file.write(_document(page, drawn, title, foot, author))


def _document(page: str, drawn: Mapping[str, bytes], title: str, foot: str, author: str) -> bytes:
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
    canvas.saveState()
    canvas.setFont(SANS, 7)
    canvas.setFillColor(SOFT)
    canvas.drawString(_MARGIN + 6, _MARGIN, text if len(text) <= _MOST_FOOT else f"{text[: _MOST_FOOT - 1]}…")
    canvas.drawRightString(document.pagesize[0] - _MARGIN - 6, _MARGIN, f"page {document.page}")
    canvas.restoreState()
