"""The runs of a recordings folder: listed, judged, compared, and annotated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rig.config import Validation
from rig.errors import InputError
from rig.runs import Catalogue, Listed, compare_runs, matches
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.request import request
from rig.services.sources import Notices

_ATTEMPTS = 5  # retries when runs end during the evaluation


@request
class RunsRequest:
    """Runs of a recordings folder, or of one recording, and the actions on them."""

    folder: Path = Path("recordings")
    search: str = ""
    """search words; empty: any run"""
    starred: bool = False
    """only starred runs"""
    runs: tuple[str, ...] = ()
    """only these, each FILE#ID; empty: all"""
    judge: bool = False
    """compute missing numbers; seconds each"""
    compare: bool = False
    """compare their numbers, the oldest first; computes missing ones"""
    thresholds: Validation | None = None
    """thresholds if the motion's file has none; None: as recorded"""
    alone: bool = False
    """use only `thresholds`"""
    name: str | None = None
    """new name of the one of `runs`; None: unchanged"""
    note: str | None = None
    """new note on the one of `runs`; None: unchanged"""
    star: bool | None = None
    """new star of the one of `runs`; None: unchanged"""

    def __post_init__(self) -> None:
        if self.changes and len(self.runs) != 1:
            raise InputError("--name, --note and --star are of one run: name it by --run FILE#ID")

    @property
    def changes(self) -> dict[str, object]:
        """Return the new annotations of the run."""
        given = (("name", self.name), ("note", self.note), ("starred", self.star))
        return {key: value for key, value in given if value is not None}


@dataclass(frozen=True, slots=True)
class RunsResult:
    """Result of the service.

    folder: of the recordings. runs: the newest first. comparison: their numbers compared; None if not
    requested.
    """

    folder: Path
    runs: tuple[Listed, ...]
    comparison: list[dict[str, Any]] | None = None


class NoRunError(InputError):
    """Requested runs are not in the folder.

    Args:
        folder: the searched folder.
        runs: the missing ones, each FILE#ID.
    """

    def __init__(self, folder: Path, runs: Sequence[str]) -> None:
        super().__init__(f"{folder}: has no run {', '.join(runs)}")
        self.folder, self.runs = folder, tuple(runs)


def list_runs(request: RunsRequest, progress: OnEvent = no_progress) -> RunsResult:
    """List the runs of a folder; judge, compare or annotate them if requested.

    Events: `counting` with the `run` being evaluated; notices of recordings that cannot be read.

    Raises:
        NoRunError: a run that is not in the folder.
        InputError: a folder that cannot be read, fewer than two runs to compare.
    """
    catalogue = Catalogue(request.folder)
    if request.changes:
        catalogue.change(request.runs[0], request.changes)
    wanted = set(request.runs)

    def listed() -> list[Listed]:
        there = catalogue.runs()
        if missing := sorted(wanted - {one.run.id for one in there}):
            raise NoRunError(request.folder, missing)
        chosen = [one for one in there if not wanted or one.run.id in wanted]
        return [one for one in chosen if matches(one, request.search) and (one.entry.starred or not request.starred)]

    counts = request.judge or request.compare
    found, uncounted = _counted(catalogue, listed, progress) if counts else (listed(), [])
    notices = Notices(progress)
    for reason in catalogue.unreadable:
        notices.add("unreadable", reason)
    for reason in uncounted:
        notices.add("uncounted", reason)
    if request.thresholds is not None:
        found = [one.judged_by(request.thresholds, alone=request.alone) for one in found]
    return RunsResult(catalogue.folder, tuple(found), _compared(found) if request.compare else None)


def _counted(
    catalogue: Catalogue, listed: Callable[[], list[Listed]], progress: OnEvent
) -> tuple[list[Listed], list[str]]:
    """Return the runs of `listed` with their numbers, and why some completed ones have none."""
    for _ in range(_ATTEMPTS):
        faults = catalogue.count(listed(), lambda run: progress(Progress("counting", values={"run": run})))
        found = listed()  # runs may have ended or grown during the evaluation
        left = [one.run.id for one in found if one.numbers is None and one.run.end is not None]
        if len(left) <= len(faults):  # one fault per run that cannot be evaluated
            return found, faults
    return found, [*faults, *(f"{run}: its recording changed while it was counted" for run in left)]


def _compared(found: list[Listed]) -> list[dict[str, Any]]:
    counted = [one for one in reversed(found) if one.numbers is not None]
    if len(counted) < 2:
        raise InputError(f"{len(counted)} of the runs chosen can be counted: two or more are needed to compare")
    return compare_runs(counted)
