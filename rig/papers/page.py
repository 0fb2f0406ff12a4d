"""Studies as one self-contained HTML file, with their numbers as CSV files and figures as SVG and PDF."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup, escape

from rig.csvio import check_output, whole_binary_file, whole_file
from rig.errors import InputError
from rig.papers.claims import Origin
from rig.papers.study import Numbers, Picture, Study, count
from rig.report import page_environment

_SYMBOL = re.compile(
    r"(?<![^\W\d])([^\W\d_][\u0300-\u036f]*)([_^])(?:([0-9A-Za-z]{1,3})|\{([^}]{1,6})\})(?![0-9A-Za-z_])(?:/([A-Z])\b)?"
)
"""A letter, with accents, and its index or power; for a fraction, a capital denominator."""


def write_studies(studies: Sequence[Study], folder: Path) -> tuple[Path, ...]:
    """Write the page, and each study's numbers and figures to a folder of its name; return paths, the page's first.

    The page of one study has its name, of several "papers.html". `folder` is created if missing. Every file
    is written atomically, replaces one of the same name, and the page is written last.
    Raises InputError if writing fails.
    """
    page = folder / (f"{studies[0].name}.html" if len(studies) == 1 else "papers.html")
    _make(folder)
    check_output(page)
    text = render(studies)
    written = []
    for study in studies:
        _make(folder / study.name)
        for numbers in tables(study):
            written.append(write_numbers(numbers, folder / study.name))
        for picture in study.pictures:
            written += write_drawing(picture, folder / study.name)
    with whole_file(page) as file:
        file.write(text)
    return (page, *written)


def tables(study: Study) -> tuple[Numbers, ...]:
    """Return all tables of a study that become CSV files."""
    records = [claim.record() for claim in study.claims]
    rows = tuple(tuple(_cell(value) for value in record.values()) for record in records)
    claims = Numbers("claims", tuple(records[0]), rows)
    errata = Numbers(
        "errata",
        ("place", "printed", "meant", "shown"),
        tuple((e.place, e.printed, e.meant, e.shown) for e in study.errata),
    )
    return (claims, errata, *(picture.numbers for picture in study.pictures), *(s.numbers for s in study.sheets))


def render(studies: Sequence[Study]) -> str:
    """Return the page as text."""
    title = studies[0].title if len(studies) == 1 else "Five papers, reproduced"
    return (
        paper_environment("rig.papers")
        .get_template("papers.html.j2")
        .render(title=title, studies=studies, counts=count(studies), Origin=Origin)
    )


def paper_environment(package: str) -> Environment:
    """Return the template environment of a package, with the filter `mathematics` besides those of all pages."""
    environment = page_environment(package)
    environment.filters["mathematics"] = mathematics
    return environment


def mathematics(text: str) -> Markup:
    """Mark up a text for a page, setting symbols with an index as such: F_d/F, m_u."""
    return Markup(_SYMBOL.sub(_set, str(escape(text))))


def _set(symbol: re.Match[str]) -> str:
    letter, kind, index, longer, over = symbol.groups()
    tag = "sub" if kind == "_" else "sup"
    return f"<i>{letter}</i><{tag}>{index or longer}</{tag}>" + (f"/<i>{over}</i>" if over else "")


def _cell(value: object) -> str | float | int:
    if isinstance(value, str | float | int):
        return value
    if isinstance(value, list) and not any(isinstance(part, dict) for part in value):
        return " ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if value else ""


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror}") from error


def write_numbers(numbers: Numbers, folder: Path) -> Path:
    """Write a table to a CSV file of its name; return that. Raises InputError if writing fails."""
    path = folder / f"{numbers.name}.csv"
    with whole_file(path) as file:
        numbers.write(file)
    return path


def write_drawing(picture: Picture, folder: Path) -> tuple[Path, Path]:
    """Write a figure as SVG and PDF, named as its numbers; return both. Raises InputError if writing fails."""
    svg, pdf = (folder / f"{picture.numbers.name}.{kind}" for kind in ("svg", "pdf"))
    with whole_file(svg) as text:
        text.write(picture.drawing.svg)
    with whole_binary_file(pdf) as data:
        data.write(picture.drawing.pdf)
    return svg, pdf
