"""What every page of ours is made with: its template's environment, and figures as SVG text."""

import io

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from matplotlib.figure import Figure


def page_environment(package: str) -> Environment:
    """Templates of a package, by its name; a value that is missing is an error, never an empty place."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=select_autoescape(["html", "j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def svg_text(figure: Figure) -> str:
    """The figure as an SVG document, the same every time: without a date."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()
