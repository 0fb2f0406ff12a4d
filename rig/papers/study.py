"""A reproduced study: its claims, figures and tables, whatever they are shown on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rig.papers.claims import Claim, Verdict
from rig.report import Drawing

Cell = str | float | int


@dataclass(frozen=True, slots=True)
class Numbers:
    """A table of numbers, as it goes into a CSV file: column names (units in them where not SI), rows."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of the paper, drawn anew, and the numbers in it."""

    title: str
    caption: str
    drawing: Drawing
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of the paper beside ours; `shown` holds what a page prints, `numbers` all of it."""

    title: str
    caption: str
    header: tuple[str, ...]
    shown: tuple[tuple[str, ...], ...]
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Study:
    """One paper, reproduced. `errata` lists what is wrong in its print and matters here."""

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
        """The claims that the paper prints and that could have come out otherwise."""
        return tuple(claim for claim in self.claims if claim.counted)

    @property
    def apart(self) -> tuple[Claim, ...]:
        """What is shown beside them, and not counted."""
        return tuple(claim for claim in self.claims if not claim.counted)

    def count(self, verdict: Verdict) -> int:
        """How many of the counted claims came out like that."""
        return sum(claim.verdict is verdict for claim in self.counted)

    @property
    def headline(self) -> str:
        """What became of the claims, in words."""
        return _outcome((self,))


def total(studies: Sequence[Study]) -> str:
    """What became of the claims of several studies together, in words."""
    return f"{len(studies)} papers together: {_outcome(studies)}"


def _outcome(studies: Sequence[Study]) -> str:
    counted, apart = sum(len(study.counted) for study in studies), sum(len(study.apart) for study in studies)
    holds, differ, open_ = (sum(study.count(verdict) for study in studies) for verdict in Verdict)
    return (
        f"{counted} claims that could have come out otherwise: {holds} holding, {differ} differing, {open_} not "
        f"decidable; {apart} more shown, not counted"
    )


Report = Callable[[str, float], None]
"""Told the name of what is being done and how far it is, 0 to 1."""
