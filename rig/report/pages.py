"""Common parts of all HTML and PDF pages: template environments, and figures as SVG and PDF."""

import base64
import gc
import hashlib
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape
from matplotlib.figure import Figure

WIDTH = 10.5
"""Width of every figure, inches."""
TITLE, TICKS = 0.3, 0.45
"""Margins above and below a panel for its title and labels, inches."""
_LEFT, _RIGHT = 0.66, 0.17
_COMMAND = re.compile("`([^`]+)`")


def page_environment(package: str) -> Environment:
    """Return the template environment of a package; a missing value raises an error.

    Filters: `fixed`, `prose` for a text with commands in back-ticks, and `embedded` for an SVG document in base64.
    """
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=select_autoescape(["html", "j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["fixed"] = fixed
    environment.filters["prose"] = lambda text: Markup(_COMMAND.sub(r"<code>\1</code>", str(escape(text))))
    environment.filters["embedded"] = lambda svg: base64.b64encode(svg.encode()).decode()
    return environment


def page_text(environment: Environment, name: str) -> str:
    """Return a file of the template folder unchanged, such as a script."""
    loader = environment.loader
    assert loader is not None
    return loader.get_source(environment, name)[0]


def scripted_page(template: str, **context: Any) -> str:
    """Render a report page with its plot script inline; it runs no other script and loads nothing."""
    environment = page_environment("rig.report")
    script = page_text(environment, "zoom.js").strip()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = environment.get_template(template).render(script=script, script_hash=digest, **context)
    return text.encode(errors="replace").decode()


def fixed(value: float | None, digits: int = 1, scale: float = 1.0) -> str:
    """Format a scaled number with that many decimals, None as a dash."""
    return "–" if value is None else f"{value * scale + 0.0:.{digits}f}"  # + 0.0 avoids a minus sign before zero


@contextmanager
def styled(settings: Any) -> Iterator[None]:
    """Apply matplotlib settings and pause garbage collection while figures are made.

    A figure is a hundred thousand objects, none of them garbage until it is saved; collecting takes a fifth of the
    time.
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
    """Return an empty figure for panels in a grid; all lengths in inches.

    Letting matplotlib measure the labels takes as long as drawing them.
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
    """Fix the titles' positions, unless the axis has an exponent above it that they must avoid.

    Otherwise matplotlib measures all labels of an axis to avoid overlap. Titles are left-aligned.
    """
    for axes in figure.axes:
        formatter = axes.yaxis.get_major_formatter()
        formatter.set_locs(axes.get_yticks().tolist())
        if not formatter.get_offset():
            axes.set_title(axes.get_title(loc="left"), loc="left", y=1.0)


def svg_text(figure: Figure) -> str:
    """Return the figure as a reproducible SVG document without a date."""
    _lay_out(figure)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure as an SVG document and as a PDF file, both reproducible."""

    svg: str
    pdf: bytes


def drawing(figure: Figure) -> Drawing:
    """Return the figure in both formats."""
    pdf = pdf_bytes(figure)
    return Drawing(svg_text(figure), pdf)


def pdf_bytes(figure: Figure) -> bytes:
    """Return the figure as a reproducible one-page PDF file."""
    _lay_out(figure)
    file = io.BytesIO()
    figure.savefig(file, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
    return file.getvalue()


def _lay_out(figure: Figure) -> None:
    """Lay out the figure once; otherwise each save lays it out and draws it twice."""
    fix_titles(figure)
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)
