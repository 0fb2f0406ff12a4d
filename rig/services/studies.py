"""Reproduction of the studies of papers."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rig.errors import FieldError
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.request import request

if TYPE_CHECKING:
    from rig.papers import Study


@request
class PaperRequest:
    """Which studies, and the output folder."""

    studies: tuple[str, ...] = ()
    """see `paper_studies`; empty: all"""
    output: Path = Path("papers")
    """folder, created if missing"""

    def __post_init__(self) -> None:
        for name in self.studies:
            if name not in (known := paper_studies()):
                raise FieldError("studies", f"{name!r} must be one of {', '.join(known)}")


@dataclass(frozen=True, slots=True, eq=False)
class PaperResult:
    """Result: the studies with their claims, the page, and its files."""

    studies: "tuple[Study, ...]"
    page: Path
    tables: tuple[Path, ...]
    figures: tuple[Path, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        from rig.papers import count

        found = {one.name: [claim.record() for claim in one.claims] for one in self.studies}
        paths = {
            "page": str(self.page),
            "tables": list(map(str, self.tables)),
            "figures": list(map(str, self.figures)),
        }
        errata = {one.name: [asdict(erratum) for erratum in one.errata] for one in self.studies}
        return {"counts": asdict(count(self.studies)), "claims": found, "errata": errata, "paths": paths}


def paper_studies() -> tuple[str, ...]:
    """Return the names of all studies."""
    from rig.papers import STUDIES

    return STUDIES


def reproduce_papers(request: PaperRequest, progress: OnEvent = no_progress) -> PaperResult:
    """Reproduce studies: their figures, tables, and the verdicts on their claims.

    Events: `reproducing` with the current `what`.

    Raises:
        InputError: a file that cannot be written.
    """
    from rig.csvio import check_folder
    from rig.papers import reproduce, write_studies

    check_folder(request.output)
    studies = reproduce(
        request.studies or paper_studies(),
        lambda what, fraction: progress(Progress("reproducing", fraction, 1.0, {"what": what})),
    )
    page, *files = write_studies(studies, request.output)
    tables, figures = (tuple(path for path in files if (path.suffix == ".csv") is csv) for csv in (True, False))
    return PaperResult(studies, page, tables, figures)
