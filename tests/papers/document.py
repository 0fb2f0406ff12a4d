"""The document of the five papers: what the code computes stands in it as computed. As a program it writes the page.

In a row that names claims the last three cells are made from them, in a row of an erratum from the list of errata; the
tables of totals and errata stand between `<!-- made: NAME -->` and `<!-- end -->`. The rest is written by hand.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rig.papers import Claim, Erratum, Origin, Study, count
from rig.papers.claims import number

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"
SECTIONS = {
    "Lee": "lee-1982",
    "Turney": "turney-1980",
    "Dasgupta": "dasgupta-1998",
    "The iterative": "iterative-newton-euler",
    "Pedrammehr": "pedrammehr-2012",
}
"""Beginnings of the sections' headings, and the studies."""
KEY = re.compile(r"`([a-z0-9]+(?:-[a-z0-9]+)*)`")
"""A claim's key, as a row names it under "What"."""
_MADE = re.compile(r"(<!-- made: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_ROUNDING = 1e-9


def cells(line: str) -> list[str]:
    """The cells of a row of a table."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def sections(text: str) -> Iterator[tuple[str, str]]:
    """The studies' names, each with its section."""
    for section in re.split(r"^(?=## )", text, flags=re.MULTILINE):
        for start, name in SECTIONS.items():
            if section.startswith(f"## {start}"):
                yield name, section


def made(text: str, studies: Mapping[str, Study]) -> str:
    """The page with what is computed as it is computed now."""
    for name, section in sections(text):
        claims = {claim.key: claim for claim in studies[name].claims}
        errata = {erratum.place: erratum for erratum in studies[name].errata}
        rows = [_row(line, claims, errata) if line.startswith("|") else line for line in section.splitlines(True)]
        text = text.replace(section, "".join(rows))
    return _MADE.sub(lambda match: match[1] + _table(match[2], studies) + match[3], text)


def _row(line: str, claims: Mapping[str, Claim], errata: Mapping[str, Erratum]) -> str:
    row = cells(line)
    keys = KEY.findall(row[1]) if len(row) == 6 else []
    if keys:
        chosen = [claims[key] for key in keys]
        made = [
            _joined(map(_printed, chosen)),
            _joined(
                (
                    *(_size(claim.computed, claim.unit) for claim in chosen),
                    *(n for claim in chosen for n in _notes(claim)),
                )
            ),
            _joined(claim.word for claim in chosen),
        ]
    elif row[-1] == "erratum":
        made = [_joined([errata[row[0]].printed]), _joined([errata[row[0]].meant]), row[-1]]
    else:
        return line
    return f"| {' | '.join([*row[:3], *made])} |\n"


def _joined(parts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(parts)).replace("|", r"\|")


def _printed(claim: Claim) -> str:
    return claim.published if claim.origin is Origin.PAPER else "not in the paper"


def _size(value: float | tuple[int, ...], unit: str) -> str:
    return "to rounding" if isinstance(value, float) and 0.0 < abs(value) < _ROUNDING else number(value, unit)


def _notes(claim: Claim) -> tuple[str, ...]:
    if not claim.counted:
        return (claim.apart,) if claim.apart else ()
    mended = (f"mended {_size(claim.mended.computed, claim.unit)}",) if claim.mended else ()
    return (*mended, *claim.open)


def _table(name: str, studies: Mapping[str, Study]) -> str:
    if name == "totals":
        return _totals(studies)
    rows = [(erratum.place, erratum.printed, erratum.meant, _shown(erratum.shown)) for erratum in studies[name].errata]
    return _lines(("Erratum", "Printed", "Meant", "Shown by"), rows)


def _shown(shown: str) -> str:
    return shown if " " in shown else f"`{shown}`"


def _totals(studies: Mapping[str, Study]) -> str:
    header = ("study", "reproduced", "erratum", "contradicted", "not decidable", "not counted", "errata listed")
    every = {name: (study,) for name, study in studies.items()} | {"together": tuple(studies.values())}
    rows = []
    for name, some in every.items():
        counts = count(some)
        sizes = (
            counts.reproduced,
            counts.erratum,
            counts.contradicted,
            counts.undecidable,
            counts.apart,
            counts.errata,
        )
        rows.append((name, *map(str, sizes)))
    return f"{count(tuple(studies.values())).text}.\n\n" + _lines(header, rows)


def _lines(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    head, *body = (f"| {' | '.join(_joined([cell]) for cell in row)} |\n" for row in (header, *rows))
    return "".join([head, "|---" * len(header), "|\n", *body])


if __name__ == "__main__":
    from rig.papers import reproduce

    found = {study.name: study for study in reproduce()}
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
