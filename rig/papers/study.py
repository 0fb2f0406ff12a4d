"""A reproduced study: its claims, figures and tables, independent of their presentation."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TextIO

from rig.papers.claims import Claim, Verdict
from rig.report import Drawing

Cell = str | float | int


@dataclass(frozen=True, slots=True)
class Numbers:
    """A table of numbers for a CSV file: column names (units in them if not SI), rows."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def write(self, file: TextIO) -> None:
        """Write the table as CSV."""
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of the paper, redrawn, and its numbers."""

    title: str
    caption: str
    drawing: Drawing
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of the paper with ours; `shown` is printed on a page, `numbers` is complete."""

    title: str
    caption: str
    header: tuple[str, ...]
    shown: tuple[tuple[str, ...], ...]
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Erratum:
    """A misprint: its place, what is printed, what is meant, and where that is shown: a claim's key or a test."""

    place: str
    printed: str
    meant: str
    shown: str


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of claims by class, of those not counted, and of listed errata."""

    reproduced: int
    erratum: int
    contradicted: int
    undecidable: int
    apart: int
    errata: int

    @property
    def counted(self) -> int:
        """Number of counted claims."""
        return self.reproduced + self.erratum + self.contradicted + self.undecidable

    @property
    def text(self) -> str:
        """Format as a sentence's part: the one text for page, command and document."""
        return (
            f"{self.counted} claims: {self.reproduced} reproduced, {self.erratum} erratum, {self.contradicted} "
            f"contradicted, {self.undecidable} not decidable; {self.apart} not counted; {self.errata} errata listed"
        )


@dataclass(frozen=True, slots=True)
class Study:
    """A reproduced paper.

    `errata` lists its misprints, `open` the inputs that it does not print and what is taken, `comments` those of
    others.
    """

    name: str
    title: str
    citation: str
    summary: str
    claims: tuple[Claim, ...]
    pictures: tuple[Picture, ...]
    sheets: tuple[Sheet, ...]
    errata: tuple[Erratum, ...]
    open: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()

    @property
    def counted(self) -> tuple[Claim, ...]:
        """Claims that the paper prints and that could have failed."""
        return tuple(claim for claim in self.claims if claim.counted)

    @property
    def apart(self) -> tuple[Claim, ...]:
        """Claims that are shown but not counted."""
        return tuple(claim for claim in self.claims if not claim.counted)

    @property
    def counts(self) -> Counts:
        """Return the numbers of its claims by class."""
        return count((self,))


def count(studies: Sequence[Study]) -> Counts:
    """Return the numbers of claims by class of studies together."""
    verdicts = [claim.verdict for study in studies for claim in study.counted]
    return Counts(
        verdicts.count(Verdict.REPRODUCED),
        verdicts.count(Verdict.ERRATUM),
        verdicts.count(Verdict.CONTRADICTED),
        verdicts.count(Verdict.UNDECIDABLE),
        sum(len(study.apart) for study in studies),
        sum(len(study.errata) for study in studies),
    )


Report = Callable[[str, float], None]
"""Receives the name of the current step and the progress, 0 to 1."""
