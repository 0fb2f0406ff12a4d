"""A reproduced study: its claims, figures and tables, independent of their presentation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rig.papers.claims import Claim, Verdict
from rig.report import Drawing

Cell = str | float | int


@dataclass(frozen=True, slots=True)
class Numbers:
    """A table of numbers for a CSV file: column names (units in them if not SI), rows."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


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
class Study:
    """A reproduced paper. `errata` lists the errors in print that matter here."""

    name: str
    title: str
    citation: str
    summary: str
    claims: tuple[Claim, ...]
    pictures: tuple[Picture, ...]
    sheets: tuple[Sheet, ...]
    errata: tuple[str, ...]

    @property
    def counted(self) -> tuple[Claim, ...]:
        """Claims that the paper prints and that could have failed."""
        return tuple(claim for claim in self.claims if claim.counted)

    @property
    def apart(self) -> tuple[Claim, ...]:
        """Claims that are shown but not counted."""
        return tuple(claim for claim in self.claims if not claim.counted)

    def count(self, verdict: Verdict) -> int:
        """Count the counted claims with a verdict."""
        return sum(claim.verdict is verdict for claim in self.counted)

    @property
    def headline(self) -> str:
        """Return the verdicts on the claims as text."""
        return _outcome((self,))


def total(studies: Sequence[Study]) -> str:
    """Return the verdicts on the claims of several studies as text."""
    return f"{len(studies)} papers together: {_outcome(studies)}"


def _outcome(studies: Sequence[Study]) -> str:
    counted, apart = sum(len(study.counted) for study in studies), sum(len(study.apart) for study in studies)
    holds, differ, open_ = (sum(study.count(verdict) for study in studies) for verdict in Verdict)
    return (
        f"{counted} claims that could have come out otherwise: {holds} holding, {differ} differing, {open_} not "
        f"decidable; {apart} more shown, not counted"
    )


Report = Callable[[str, float], None]
"""Receives the name of the current step and the progress, 0 to 1."""
