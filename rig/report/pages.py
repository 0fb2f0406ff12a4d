"""What every page of ours is made with: its template's environment, and figures as SVG and PDF."""

import base64
import gc
import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from matplotlib.figure import Figure

WIDTH = 10.5
"""Of every figure, inches."""
TITLE, TICKS = 0.3, 0.45
"""Above and below a panel, for its title and its labels, inches."""
_LEFT, _RIGHT = 0.66, 0.17


def page_environment(package: str) -> Environment:
    """Templates of a package, by its name; a value that is missing is an error, never an empty place."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=select_autoescape(["html", "j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page_text(environment: Environment, name: str) -> str:
    """A file beside the templates as it is: a script, which is no template."""
    loader = environment.loader
    assert loader is not None
    return loader.get_source(environment, name)[0]


def scripted_page(template: str, **context: Any) -> str:
    """A page of the report's that brings the script of its plots along; no other of it runs, and it loads nothing."""
    environment = page_environment("rig.report")
    environment.filters["fixed"] = fixed
    script = page_text(environment, "zoom.js").strip()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = environment.get_template(template).render(script=script, script_hash=digest, **context)
    return text.encode(errors="replace").decode()


def fixed(value: float | None, digits: int = 1, scale: float = 1.0) -> str:
    """A number with that many decimals after scaling, a dash where there is none."""
    return "–" if value is None else f"{value * scale + 0.0:.{digits}f}"  # no minus before a zero


@contextmanager
def styled(settings: Any) -> Iterator[None]:
    """matplotlib's settings while figures are made.

    Garbage is not searched for meanwhile: a figure is a hundred thousand objects, none of them garbage until it is
    saved, and searching them again and again takes a fifth of the time.
    """
    searched = gc.isenabled()
    gc.disable()
    try:
        with matplotlib.rc_context(settings):
            yield
    finally:
        if searched:
            gc.enable()


def panelled(
    height: float,
    rows: int,
    columns: int = 2,
    *,
    above: float = TITLE,
    between: float = TITLE + 0.12,
    below: float = TICKS,
    left: float = _LEFT,
    gap: float = _LEFT,
) -> Figure:
    """An empty figure for panels in so many rows and columns, or in one; all lengths in inches.

    To have the places of their labels measured takes as long as to draw them.
    """
    figure = Figure(figsize=(WIDTH, height))
    tall = (height - above - below - (rows - 1) * between) / rows
    wide = (WIDTH - left - _RIGHT - (columns - 1) * gap) / columns
    figure.subplots_adjust(
        left=left / WIDTH,
        right=1.0 - _RIGHT / WIDTH,
        bottom=below / height,
        top=1.0 - above / height,
        hspace=between / tall,
        wspace=gap / wide,
    )
    return figure


def fix_titles(figure: Figure) -> None:
    """Leave the titles where they are, unless the axis has a power of ten above it, which they have to make way for.

    Otherwise all labels of an axis are measured, only to find out that nothing is in the way. Titles are at the left.
    """
    for axes in figure.axes:
        formatter = axes.yaxis.get_major_formatter()
        formatter.set_locs(axes.get_yticks().tolist())
        if not formatter.get_offset():
            axes.set_title(axes.get_title(loc="left"), loc="left", y=1.0)


def svg_text(figure: Figure) -> str:
    """The figure as an SVG document, the same every time: without a date."""
    _lay_out(figure)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure as an SVG document and as a PDF file, both the same every time."""

    svg: str
    pdf: bytes


def drawing(figure: Figure) -> Drawing:
    """The figure in both formats."""
    pdf = pdf_bytes(figure)
    return Drawing(svg_text(figure), pdf)


def pdf_bytes(figure: Figure) -> bytes:
    """The figure as a PDF file of one page, the same every time."""
    _lay_out(figure)
    file = io.BytesIO()
    figure.savefig(file, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
    return file.getvalue()


def _lay_out(figure: Figure) -> None:
    """Give everything its place once; else it is laid out and drawn twice whenever the figure is saved."""
    fix_titles(figure)
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)
